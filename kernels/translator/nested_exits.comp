// SPDX-License-Identifier: MIT
// Nested loops with breaks, continues, a switch that falls through, and a return out of the middle.
#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i], sum = 0u;
    for (uint a = 0u; a < 8u; a++) {
        uint nibble = word >> (4u * a) & 15u;
        if (nibble == 15u)
            break;
        for (uint b = 0u; b < nibble; b++) {
            if ((b & 3u) == 2u)
                continue;
            switch (b % 5u) {
            case 0u:
                sum += 3u;
            case 1u:
                sum ^= a;
                break;
            case 2u:
                if (sum > 500u) {
                    data[i] = ~sum;
                    return;
                }
                break;
            default:
                sum = sum * 2u + 1u;
            }
        }
    }
    data[i] = sum;
}

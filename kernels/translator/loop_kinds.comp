// SPDX-License-Identifier: MIT
// Loops of every kind, three deep: with the test at the end, without one, backwards, and left two at a time.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i], sum = 0u, a = word & 7u;
    do {
        for (int b = int(word >> 3 & 7u); b >= 0; b--) {
            bool leave = false;
            uint c = 0u;
            while (true) {
                sum = sum * 3u + c;
                if (++c > (word >> 6 & 7u))
                    break;
                if ((sum & 0x3fu) == 0x2au) {
                    leave = true;
                    break;
                }
                if ((sum & 1u) != 0u)
                    continue;
                sum += uint(b);
            }
            if (leave)
                break;
        }
        sum ^= a << 16;
    } while (a-- > 1u);
    data[i] = sum;
}

// SPDX-License-Identifier: MIT
// A dense switch of sixteen cases, some of which fall through, on a number of each thread.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i], x = word >> 4;
    switch (word & 15u) {
    case 0u: x += 5u; break;
    case 1u: x *= 3u;
    case 2u: x ^= 0x55u; break;
    case 3u: x = ~x; break;
    case 4u:
    case 5u: x >>= 2;
    case 6u: x += i;
    case 7u: x ^= x << 5; break;
    case 8u: x -= 9u; break;
    case 9u: x = x * x; break;
    case 11u: x = bitfieldReverse(x); break;
    case 13u: x %= 1000u; break;
    default: x = 7u;
    }
    data[i] = x;
}

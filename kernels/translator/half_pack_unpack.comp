// SPDX-License-Identifier: MIT
// Packing to and unpacking from halves and normalised integers, of values that all devices round alike.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    vec2 exact = vec2(ivec2(word & 1023u, word >> 10 & 1023u) - 512) * 0.5;
    uint sum = packHalf2x16(exact) + floatBitsToUint(unpackHalf2x16(packHalf2x16(exact.yx)).x) * 3u;
    sum ^= packUnorm4x8(unpackUnorm4x8(word).wzyx) + packSnorm4x8(unpackSnorm4x8(word | 0x01010101u).yxwz);
    sum += packUnorm2x16(unpackUnorm2x16(word).yx);
    data[i] = sum;
}

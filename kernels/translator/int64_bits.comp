// SPDX-License-Identifier: MIT
// Bits of 64-bit integers through their halves: rotation, bit count, first and last set bit.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint64_t data[]; };

uint64_t rotated(uint64_t word, uint count) { return (word << count) | (word >> (64u - count)); }

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint64_t word = rotated(data[i], 1u + (i & 31u)) ^ rotated(data[i], 37u);
    uvec2 halves = unpackUint2x32(word & ~(1ul << (i & 63u)));
    int first = halves.x != 0u ? findLSB(halves.x) : 32 + findLSB(halves.y);
    int last = halves.y != 0u ? 32 + findMSB(halves.y) : findMSB(halves.x);
    data[i] = word + uint64_t(bitCount(halves.x) + bitCount(halves.y)) * 1000ul + uint64_t(first * 64 + last);
}

// SPDX-License-Identifier: MIT
// Single 16-bit integers: multiply-add, division, comparison, and mixing with 32 bits.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint16_t a = uint16_t(data[i]), b = uint16_t(data[i] >> 16) | uint16_t(1);
    int16_t s = int16_t(a), t = int16_t(b & uint16_t(0x7fff));
    uint16_t q = a / b, r = a % b;
    int16_t d = s / (t | int16_t(3));
    data[i] = uint(q * b + r) + (uint(int(d)) << 8) + (s < t ? 0x1000000u : 0u);
}

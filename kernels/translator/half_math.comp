// SPDX-License-Identifier: MIT
// f16 arithmetic: each operation rounds once; conversions from and to f32 and integers.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    float16_t a = float16_t(float(word & 1023u) * 0.125), b = float16_t(int(word >> 10 & 511u) - 256);
    precise float16_t sum = a + b;
    precise float16_t product = a * float16_t(0.1);
    float16_t ends = max(min(a, b), float16_t(-3.5)) + floor(a) - abs(b);
    float wide = float(sum) + float(product) * 8.0;
    data[i] = floatBitsToUint(wide) + uint(int(ends)) * 7u + (a < b ? 1u : 0u);
}

// SPDX-License-Identifier: MIT
// Pairs of f16: packed add, multiply, minimum and maximum, negation and swizzle of halves.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uvec2 from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { f16vec2 to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    f16vec2 a = f16vec2(vec2(from[i] & 255u) * 0.25), b = f16vec2(vec2(from[i] >> 8 & 255u) - 128.0);
    precise f16vec2 sum = a * b.yx + a.yx;
    precise f16vec2 difference = a.xx - b;
    to[2u * i] = max(min(sum, difference), -a);
    to[2u * i + 1u] = abs(difference.yx) + sum;
}

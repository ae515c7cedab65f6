// SPDX-License-Identifier: MIT
// 64-bit integers: add, subtract, multiply, shifts by any count, comparison, and conversion.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint64_t data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint64_t a = data[i], b = data[i + 512u];
    int64_t s = int64_t(a), t = int64_t(b);
    uint n = uint(b) & 63u;
    uint64_t x = a * b + (a << n) - (b >> (63u - n));
    int64_t y = (s >> n) ^ (s < t ? t - s : s - t);
    y += max(s, t) ^ min(s, int64_t(-5));
    data[i] = x ^ uint64_t(y) + uint64_t(uint(a)) * uint64_t(uint(b >> 32)) + uint64_t(int64_t(int(b)));
}

// SPDX-License-Identifier: MIT
// f64: sums, products, fused or not of exact values, comparison, conversion from and to integers and f32.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uvec2 from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { double to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    double a = double(from[i].x) * 0.0078125lf, b = double(int(from[i].y));
    precise double sum = a + b * 0.1lf;
    precise double product = a * (b - 0.7lf);
    precise double ends = max(min(a, b), -abs(sum)) + floor(a) + trunc(b * 0.001lf) - ceil(a * 0.5lf);
    to[2u * i] = a < b ? sum : product;
    precise double last = ends + double(float(from[i].x & 0xffffffu)) + double(uint(a)) + double(int(b * 0.5lf));
    to[2u * i + 1u] = last;
}

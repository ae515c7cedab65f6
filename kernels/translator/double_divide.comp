// SPDX-License-Identifier: MIT
// f64 division and square root: near, for the same reason as those of f32.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uvec2 from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { double to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    double a = double(from[i].x) + 0.5lf, b = double(int(from[i].y)) + 0.25lf;
    to[2u * i] = a / b;
    to[2u * i + 1u] = sqrt(a);
}

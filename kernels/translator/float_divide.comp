// SPDX-License-Identifier: MIT
// f32 division, square roots and their inverses: near, not equal, since each device rounds its own way.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { vec4 to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    float a = float(from[i] >> 8) + 0.5, b = float(int(from[i + 1024u]) >> 12) + 0.25;
    to[i] = vec4(a / b, sqrt(a), inversesqrt(a), 1.0 / b);
}

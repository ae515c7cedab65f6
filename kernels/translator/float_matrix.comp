// SPDX-License-Identifier: MIT
// Vectors and matrices of f32 whose sums are exact: dot, cross, products of matrices.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { vec4 to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uvec4 word = from[i];
    vec4 a = vec4(word & 255u) - 128.0, b = vec4(word >> 8 & 255u) - 99.0;
    mat3 m = mat3(a.xyz, b.yzw, a.wzy);
    vec3 turned = m * b.xyz + cross(a.xyz, b.xyz);
    to[i] = vec4(turned + transpose(m) * a.yzw, dot(a, b));
}

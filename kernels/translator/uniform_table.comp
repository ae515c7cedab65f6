// SPDX-License-Identifier: MIT
// A uniform block with arrays and a matrix, in a set of its own.
#version 460
layout(local_size_x = 64) in;
layout(std140, set = 1, binding = 3) uniform Table { mat4 turn; uvec4 key[8]; uint salt; };
layout(std430, set = 0, binding = 0) buffer Data { uvec4 data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    vec4 turned = turn * unpackUnorm4x8(data[i].x);
    data[i] = (data[i] ^ key[i & 7u]) + uvec4(salt, packUnorm4x8(turned), i, 0);
}

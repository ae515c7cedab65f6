// SPDX-License-Identifier: MIT
// The smallest: one load, one multiply-add, one store.
#version 460
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    to[i] = from[i] * 3u + 1u;
}

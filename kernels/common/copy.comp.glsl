// SPDX-License-Identifier: MIT
// The ceiling: reads and writes 16 bytes an invocation, neighbours beside each other.
// Push constants: how many uvec4, and how many workgroups a row.
#version 460
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uvec4 to[]; };
layout(push_constant) uniform Push { uint count, row; };

void main()
{
    uint i = (gl_WorkGroupID.x + gl_WorkGroupID.y * row) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (i < count)
        to[i] = from[i];
}

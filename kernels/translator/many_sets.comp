// SPDX-License-Identifier: MIT
// Descriptor sets with numbers that leave gaps, and a binding number far up.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(std430, set = 1, binding = 7) readonly buffer B { uvec2 b[]; };
layout(std140, set = 3, binding = 1) uniform C { uvec4 c; };
layout(std430, set = 6, binding = 30) writeonly buffer D { uint d[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    d[i] = a[i] * c.x + b[i].y * c.w;
}

// SPDX-License-Identifier: MIT
// An array of uniform blocks (std140: arrays of scalars in steps of 16 bytes), constant and dynamic indices in them.
#version 460
layout(local_size_x = 64) in;
layout(std140, set = 0, binding = 0) uniform Table { uint scalar[6]; ivec3 three; uint last; } tables[2];
layout(std430, set = 0, binding = 1) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint which = gl_WorkGroupID.x & 1u;
    data[i] += tables[which].scalar[data[i] % 6u] * 5u + uint(tables[0].three.z) - tables[1].last;
}

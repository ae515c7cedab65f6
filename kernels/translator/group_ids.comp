// SPDX-License-Identifier: MIT
// Workgroups in three dimensions: their ids, their number, global ids.
#version 460
layout(local_size_x = 4, local_size_y = 2, local_size_z = 2) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uvec3 id = gl_GlobalInvocationID, count = gl_NumWorkGroups * gl_WorkGroupSize;
    uint i = (id.z * count.y + id.y) * count.x + id.x;
    uvec3 group = gl_WorkGroupID;
    data[i] = data[i] * 3u + group.x + 10u * group.y + 100u * group.z + 1000u * gl_NumWorkGroups.z;
}

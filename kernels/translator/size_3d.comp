// SPDX-License-Identifier: MIT
// Local ids in three dimensions, packed by the hardware, in a size whose waves end within rows.
#version 460
layout(local_size_x = 7, local_size_y = 5, local_size_z = 3) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uvec3 local = gl_LocalInvocationID, group = gl_WorkGroupID;
    uint i = gl_LocalInvocationIndex + 105u * group.x;
    data[i] += local.x + 100u * local.y + 10000u * local.z + 1000000u * group.x;
}

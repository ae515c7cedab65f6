// SPDX-License-Identifier: MIT
// Reductions and scans of the subgroup; results do not depend on how wide it is.
#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) buffer To { uint total; };

void main()
{
    uint sum = subgroupAdd(from[gl_GlobalInvocationID.x]);
    if (subgroupElect())
        atomicAdd(total, sum);
}

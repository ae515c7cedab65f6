// SPDX-License-Identifier: MIT
// Votes: any, all, all equal, joined over the workgroup so that the subgroup's width does not matter.
#version 460
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint votes;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex == 0u)
        votes = 0xf0u;
    barrier();
    uint word = data[i];
    if (subgroupAny((word & 0x7fu) == 0u))
        atomicOr(votes, 1u);
    if (!subgroupAll((word & 0x3fu) != 0u))
        atomicAnd(votes, ~0x10u);
    if (subgroupAllEqual(gl_WorkGroupID.x))
        atomicOr(votes, 2u);
    if (!subgroupAllEqual(word))
        atomicAnd(votes, ~0x20u);
    if ((word & 3u) == 0u && !subgroupAll((word & 3u) == 0u)) /* of those that are here */
        atomicOr(votes, 8u);
    barrier();
    data[i] = word + votes;
}

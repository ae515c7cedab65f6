// SPDX-License-Identifier: MIT
// Ballot and its bit counts: odd words move to the front of the workgroup's part, in order.
#version 460
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };
shared uint counts[64];

void main()
{
    uint word = from[gl_GlobalInvocationID.x];
    bool keep = (word & 1u) != 0u;
    uvec4 mask = subgroupBallot(keep);
    if (subgroupElect())
        counts[gl_SubgroupID] = subgroupBallotBitCount(mask);
    barrier();
    uint before = 0u;
    for (uint i = 0u; i < gl_SubgroupID; i++)
        before += counts[i];
    if (keep)
        to[gl_WorkGroupID.x * 64u + before + subgroupBallotExclusiveBitCount(mask)] = word;
}

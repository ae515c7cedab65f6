// SPDX-License-Identifier: MIT
// Ballots taken apart: the first and last lane, single bits, inverse ballots, counts with and without the lane itself.
#version 460
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint first, last, wrong;

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    if (lane == 0u) {
        first = 1000u;
        last = 0u;
        wrong = 0u;
    }
    barrier();
    bool mine = (data[i] & 3u) == 1u;
    uvec4 mask = subgroupBallot(mine);
    uint start = lane - gl_SubgroupInvocationID;
    if (mask != uvec4(0)) {
        atomicMin(first, start + subgroupBallotFindLSB(mask));
        atomicMax(last, start + subgroupBallotFindMSB(mask));
    }
    uint inclusive = subgroupBallotInclusiveBitCount(mask), exclusive = subgroupBallotExclusiveBitCount(mask);
    if (subgroupInverseBallot(mask) != mine || subgroupBallotBitExtract(mask, gl_SubgroupInvocationID) != mine ||
        inclusive - exclusive != (mine ? 1u : 0u) || exclusive > gl_SubgroupInvocationID)
        atomicAdd(wrong, 1u);
    if (bitCount(gl_SubgroupLtMask.x) + bitCount(gl_SubgroupLtMask.y) != int(gl_SubgroupInvocationID) ||
        (mask & gl_SubgroupEqMask) != (mine ? gl_SubgroupEqMask : uvec4(0)))
        atomicAdd(wrong, 1u);
    barrier();
    data[i] = first + (last << 8) + (wrong << 16);
}

// SPDX-License-Identifier: MIT
// Ballots and sums in a loop that lanes leave at different times; only those that are left take part.
#version 460
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) buffer To { uint alive[16]; uint sums[16]; };

void main()
{
    uint word = from[gl_GlobalInvocationID.x];
    for (uint round = 0u; round < (word & 15u); round++) {
        uint count = subgroupBallotBitCount(subgroupBallot(true)), sum = subgroupAdd(word >> round);
        if (subgroupElect()) {
            atomicAdd(alive[round], count);
            atomicAdd(sums[round], sum);
        }
    }
}

// SPDX-License-Identifier: MIT
// A loop that takes the lanes with the first lane's key out, one key after the other.
#version 460
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) buffer To { uint sums[16]; uint counts[16]; };

void main()
{
    uint word = from[gl_GlobalInvocationID.x];
    uint key = word & 15u;
    for (;;) {
        uint first = subgroupBroadcastFirst(key);
        if (first == key) {
            uint sum = subgroupAdd(word >> 4), count = subgroupBallotBitCount(subgroupBallot(true));
            if (subgroupElect()) {
                atomicAdd(sums[key], sum);
                atomicAdd(counts[key], count);
            }
            break;
        }
    }
}

// SPDX-License-Identifier: MIT
// Reductions within clusters of two, four and eight lanes: the same on every width of at least eight.
#version 460
#extension GL_KHR_shader_subgroup_clustered : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    uint sum = subgroupClusteredAdd(word, 8u) + subgroupClusteredXor(word, 2u) * 3u;
    sum ^= subgroupClusteredMax(word, 4u) + subgroupClusteredMin(word, 8u);
    sum += uint(subgroupClusteredMin(int(word), 4u)) ^ subgroupClusteredOr(word & 0xff00u, 8u);
    data[i] = sum - subgroupClusteredAnd(word | 0xffu, 2u);
}

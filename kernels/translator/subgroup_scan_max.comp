// SPDX-License-Identifier: MIT
// Scans by maximum, minimum, and bits; a lane's result is compared with the plain loop over LDS.
#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint words[64];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint word = data[i];
    words[lane] = word;
    barrier();
    uint high = 0u, low = ~0u, bits = 0u;
    for (uint at = lane - gl_SubgroupInvocationID; at <= lane; at++) {
        high = max(high, words[at]);
        low = min(low, words[at]);
        bits ^= words[at];
    }
    uint right = subgroupInclusiveMax(word) == high ? 1u : 0u;
    right |= subgroupInclusiveMin(word) == low ? 2u : 0u;
    right |= subgroupInclusiveXor(word) == bits ? 4u : 0u;
    right |= subgroupExclusiveXor(word) == (bits ^ word) ? 8u : 0u;
    right |= subgroupInclusiveOr(word & 255u) >= (word & 255u) ? 16u : 0u;
    data[i] = right;
}

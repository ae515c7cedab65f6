// SPDX-License-Identifier: MIT
// Shuffles from anywhere in the subgroup, over its halves too, compared with the same through LDS.
#version 460
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint words[128];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint word = data[i], start = lane - gl_SubgroupInvocationID, last = gl_SubgroupSize - 1u;
    words[lane] = word;
    barrier();
    uint from = (word >> 7) & last, by = words[start] & last;
    bool right = subgroupShuffle(word, from) == words[start + from];
    right = right && subgroupShuffleXor(word, by) == words[start + (gl_SubgroupInvocationID ^ by)];
    right = right && subgroupShuffle(word, last - gl_SubgroupInvocationID) == words[start + last - gl_SubgroupInvocationID];
    right = right && subgroupBroadcast(word, by) == words[start + by];
    data[i] = word * 2u + (right ? 1u : 0u);
}

// SPDX-License-Identifier: MIT
// Shuffles by a lane number that is computed, by xor masks, up and down, all within eights.
#version 460
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, lane = gl_SubgroupInvocationID;
    uint word = data[i];
    uint from = (lane & ~7u) | (word & 7u);
    uint sum = subgroupShuffle(word, from) + subgroupShuffleXor(word, 1u) * 3u;
    sum ^= subgroupShuffleXor(word, 2u) + subgroupShuffleXor(word, 7u);
    uint up = subgroupShuffleUp(word, 3u), down = subgroupShuffleDown(word, 2u);
    sum += (lane & 7u) >= 3u ? up : 1u;
    sum ^= (lane & 7u) < 6u ? down : 2u;
    data[i] = sum;
}

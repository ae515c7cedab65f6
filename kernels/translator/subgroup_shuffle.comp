// SPDX-License-Identifier: MIT
// Shuffles within quads and eights, the same on any width of at least eight.
#version 460
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    word += subgroupShuffleXor(word, 5u);
    word ^= subgroupQuadSwapHorizontal(word) * 7u;
    word -= subgroupQuadBroadcast(word, 2u);
    data[i] = word;
}

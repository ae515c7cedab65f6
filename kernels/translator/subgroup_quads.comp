// SPDX-License-Identifier: MIT
// Quads: broadcast of each lane, swaps across, down and along the diagonal.
#version 460
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    uint sum = subgroupQuadBroadcast(word, 0u) + subgroupQuadBroadcast(word, 1u) * 3u;
    sum ^= subgroupQuadBroadcast(word, 3u) + subgroupQuadSwapDiagonal(word) * 5u;
    sum += subgroupQuadSwapVertical(word) ^ subgroupQuadSwapHorizontal(sum);
    data[i] = sum;
}

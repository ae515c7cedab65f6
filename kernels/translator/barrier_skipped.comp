// SPDX-License-Identifier: MIT
// Whole workgroups return before the barrier, at a number of their own or by a word in memory.
#version 460
layout(local_size_x = 96) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[96];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    if (gl_WorkGroupID.x == 1u)
        return;
    word[lane] = data[i];
    if ((data[gl_WorkGroupID.x + 2048u] & 3u) == 0u) {
        data[i] = 5u;
        return;
    }
    barrier();
    data[i] = word[95u - lane];
}

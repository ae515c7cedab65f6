// SPDX-License-Identifier: MIT
// Loops around a barrier whose length is the workgroup's number, left in the middle by a word in LDS.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[128];
shared uint total;

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint mine = data[i];
    if (lane == 0u)
        total = 0u;
    for (uint round = 0u; round < 2u + gl_WorkGroupID.x; round++) {
        word[lane] = mine;
        barrier();
        mine = mine * 3u + word[(lane + 64u + round) & 127u];
        if (lane == round)
            total += mine;
        barrier();
        if ((total & 7u) == 3u)
            break;
        barrier(); /* nobody adds to the total before all have read it */
    }
    data[i] = mine + total;
}

// SPDX-License-Identifier: MIT
// Two barriers in the arms of an if, whose condition is the same for the workgroup, and one after it.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[128];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint mine = data[i];
    if ((data[gl_WorkGroupID.x + 4096u] & 1u) != 0u) {
        word[lane] = mine * 3u;
        barrier();
        mine += word[lane ^ 127u];
    } else {
        word[lane] = mine + lane;
        barrier();
        mine ^= word[(lane + 70u) & 127u];
        barrier();
        word[lane] = mine;
    }
    barrier();
    data[i] = mine + word[(lane + 1u) & 127u];
}

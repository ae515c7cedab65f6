// SPDX-License-Identifier: MIT
// A loop around barriers whose length stands in memory, the same for the whole workgroup.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(std430, set = 0, binding = 1) readonly buffer Rounds { uint rounds[]; };
shared uint word[128];

void main()
{
    uint lane = gl_LocalInvocationIndex;
    uint mine = data[gl_GlobalInvocationID.x];
    for (uint round = rounds[gl_WorkGroupID.x] & 7u; round > 0u; round--) {
        word[lane] = mine;
        barrier();
        mine = mine * 5u + word[(lane + 1u) & 127u];
        barrier();
    }
    data[gl_GlobalInvocationID.x] = mine;
}

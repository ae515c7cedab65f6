// SPDX-License-Identifier: MIT
// A workgroup of one thread.
#version 460
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[2];

void main()
{
    word[0] = data[gl_WorkGroupID.x];
    barrier();
    word[1] = word[0] * 3u;
    barrier();
    data[gl_WorkGroupID.x] = word[1] + gl_LocalInvocationIndex + gl_NumWorkGroups.x;
}

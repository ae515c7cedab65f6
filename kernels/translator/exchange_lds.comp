// SPDX-License-Identifier: MIT
// Every thread reads what a thread of the other wave wrote.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[128];

void main()
{
    uint lane = gl_LocalInvocationIndex;
    word[lane] = data[gl_GlobalInvocationID.x] ^ lane;
    barrier();
    data[gl_GlobalInvocationID.x] = word[lane ^ 64u];
}

// SPDX-License-Identifier: MIT
// Threads of one workgroup exchange words through a buffer: the barrier orders buffer memory too.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) coherent buffer Data { uint data[]; };

void main()
{
    uint base = gl_WorkGroupID.x * 128u, lane = gl_LocalInvocationIndex;
    data[4096u + base + lane] = data[base + lane] * 9u;
    memoryBarrierBuffer();
    barrier();
    uint other = data[4096u + base + (lane ^ 64u)];
    barrier();
    data[4096u + base + (lane ^ 96u)] = other + lane;
}

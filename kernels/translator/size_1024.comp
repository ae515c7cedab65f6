// SPDX-License-Identifier: MIT
// The largest workgroup: sixteen waves of 64 or thirty-two of 32, a reduction and an exchange.
#version 460
layout(local_size_x = 1024) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[1024];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint mine = data[i];
    word[lane] = mine;
    barrier();
    for (uint distance = 512u; distance > 0u; distance >>= 1) {
        if (lane < distance)
            word[lane] += word[lane + distance];
        barrier();
    }
    data[i] = mine ^ word[0] + lane;
}

// SPDX-License-Identifier: MIT
// Branches on what is the same for the workgroup: its number, push constants, and words at uniform addresses.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint mode; uint limit; };

void main()
{
    uint i = gl_GlobalInvocationID.x, word = data[i];
    if ((gl_WorkGroupID.x & 1u) != 0u)
        word ^= 0xffffu;
    else if ((mode & 3u) == 2u)
        word += 100u;
    for (uint n = 0u; n < (limit & 15u) + gl_WorkGroupID.x; n++) {
        if ((data[4096u + n] & 1u) != 0u)
            word = word * 3u + n;
        else
            word = (word >> 1) ^ n;
    }
    data[i] = word;
}

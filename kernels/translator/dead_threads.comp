// SPDX-License-Identifier: MIT
// A grid that is larger than its data: most threads end at once, whole waves among them.
#version 460
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x * 97u;
    if (i >= uint(data.length()))
        return;
    data[i] = data[i] * 5u + gl_LocalInvocationIndex;
}

// SPDX-License-Identifier: MIT
// Insertion sort of a private array: loops whose length depends on what is in it.
#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint base = gl_GlobalInvocationID.x * 10u;
    uint words[10];
    for (int n = 0; n < 10; n++) {
        uint word = data[base + uint(n)];
        int at = n;
        while (at > 0 && words[at - 1] > word) {
            words[at] = words[at - 1];
            at--;
        }
        words[at] = word;
    }
    for (uint n = 0u; n < 10u; n++)
        data[base + n] = words[n];
}

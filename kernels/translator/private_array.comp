// SPDX-License-Identifier: MIT
// A private array with computed indices: reads and writes that no register file can index at once.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint slots[80];
    for (uint n = 0u; n < 80u; n++)
        slots[n] = data[i] * n;
    uint at = data[i];
    for (uint n = 0u; n < 30u; n++) {
        at = at * 1664525u + 1013904223u;
        slots[(at >> 16) % 80u] += slots[(at >> 8) % 80u] ^ n;
    }
    uint sum = 0u;
    for (uint n = 0u; n < 80u; n++)
        sum = sum * 31u + slots[n];
    data[i] = sum;
}

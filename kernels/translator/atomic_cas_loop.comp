// SPDX-License-Identifier: MIT
// Compare-and-swap loops: a thread tries until nobody was in between. The results are those of any order.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) coherent buffer To { uint to[8]; };

void main()
{
    uint word = from[gl_GlobalInvocationID.x];
    uint slot = word & 7u, expected, found = to[slot];
    do {
        expected = found;
        uint next = expected + (word >> 8) * 2u; /* a sum, which has no order */
        found = atomicCompSwap(to[slot], expected, next);
    } while (found != expected);
}

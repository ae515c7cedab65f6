// SPDX-License-Identifier: MIT
// Every integer atomic on a buffer: many threads on one word without the old value, and with it on a word of their own.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Shared { uint sum, low, high, all_, any_, odd; int least, most; };
layout(std430, set = 0, binding = 1) buffer Own { uint own[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = own[i];
    atomicAdd(sum, word);
    atomicMin(low, word);
    atomicMax(high, word);
    atomicAnd(all_, word | 0xff00ff00u);
    atomicOr(any_, word & 0x00f0f00fu);
    atomicXor(odd, word);
    atomicMin(least, int(word));
    atomicMax(most, int(word));
    uint old = atomicAdd(own[i], 7u) + atomicExchange(own[i + 1024u], word);
    old ^= atomicCompSwap(own[i + 2048u], own[i + 2048u] & ~(i & 1u), 9u);
    old += atomicXor(own[i + 3072u], old) * 3u + atomicMax(own[i + 4096u], word);
    own[i + 5120u] = old;
}

// SPDX-License-Identifier: MIT
// Atomics on texels: many threads on one, and with the old value on a thread's own.
#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform uimage2D counts;
layout(set = 0, binding = 1, r32ui) uniform uimage2D own;
layout(set = 0, binding = 2, r32i) uniform iimage2D ends;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(own))))
        return;
    uint word = imageLoad(own, at).x;
    imageAtomicAdd(counts, ivec2(word & 3u, 0), word);
    imageAtomicXor(counts, ivec2(word >> 2 & 3u, 1), word);
    imageAtomicOr(counts, ivec2(word >> 4 & 3u, 2), word & 0x10101010u);
    imageAtomicMax(counts, ivec2(word >> 6 & 3u, 3), word);
    imageAtomicMin(ends, ivec2(0), int(word));
    imageAtomicMax(ends, ivec2(1, 0), int(word));
    uint old = imageAtomicAdd(own, at, 5u) + imageAtomicExchange(own, at, word * 7u);
    old ^= imageAtomicCompSwap(own, at, (word & 1u) != 0u ? word * 7u : 0u, 99u);
    imageAtomicAdd(own, at, old);
}

// SPDX-License-Identifier: MIT
// Every integer atomic in LDS, without the old value on shared words, with it on a thread's own.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint bins[8];
shared int ends[2];
shared uint own[128];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint word = data[i];
    if (lane < 8u)
        bins[lane] = lane == 1u || lane == 3u ? ~0u : 0u;
    if (lane < 2u)
        ends[lane] = 0;
    own[lane] = word >> 3;
    barrier();
    atomicAdd(bins[0], word);
    atomicMin(bins[1], word);
    atomicMax(bins[2], word);
    atomicAnd(bins[3], word | 0xf0f0f0f0u);
    atomicOr(bins[4], word & 0x11001100u);
    atomicXor(bins[5], word);
    atomicAdd(bins[6 + (word & 1u)], 1u);
    atomicMin(ends[0], int(word));
    atomicMax(ends[1], int(word));
    uint old = atomicAdd(own[lane], word) ^ atomicExchange(own[lane], word * 5u);
    old += atomicCompSwap(own[lane], (lane & 1u) == 0u ? word * 5u : 1u, 77u);
    old -= atomicOr(own[lane], 0x100u) + atomicMin(own[lane], 500u);
    barrier();
    data[i] = old + own[lane] + (lane < 8u ? bins[lane] : uint(ends[lane & 1u]));
}

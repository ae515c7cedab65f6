// SPDX-License-Identifier: MIT
// Reductions of every kind, joined over the dispatch by atomics.
#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) buffer To { uint sum, low, high, all_, any_, odd; int least, most; uint product[4]; };

void main()
{
    uint word = from[gl_GlobalInvocationID.x];
    uint a = subgroupAdd(word), b = subgroupMin(word), c = subgroupMax(word);
    uint d = subgroupAnd(word | 0xfffff0f0u), e = subgroupOr(word & 0x1111u), f = subgroupXor(word);
    int g = subgroupMin(int(word)), h = subgroupMax(int(word));
    if (subgroupElect()) {
        atomicAdd(sum, a);
        atomicMin(low, b);
        atomicMax(high, c);
        atomicAnd(all_, d);
        atomicOr(any_, e);
        atomicXor(odd, f);
        atomicMin(least, g);
        atomicMax(most, h);
    }
    if ((word & 1u) != 0u) { /* of some lanes only */
        uint part = subgroupAdd(word >> 4);
        if (subgroupElect())
            atomicAdd(product[0], part);
    }
}

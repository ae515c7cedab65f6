// SPDX-License-Identifier: MIT
// Atomics on 64-bit integers, in a buffer and in LDS.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint64_t from[]; };
layout(std430, set = 0, binding = 1) buffer To { uint64_t sum, low, high, odd; uint64_t old[]; };
shared uint64_t part;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (gl_LocalInvocationIndex == 0u)
        part = 0ul;
    barrier();
    uint64_t word = from[i];
    atomicAdd(part, word);
    atomicMin(low, word);
    atomicMax(high, word);
    atomicXor(odd, word);
    barrier();
    if (gl_LocalInvocationIndex == 0u)
        atomicAdd(sum, part);
    old[i] = atomicAdd(old[i], word) + atomicExchange(old[i + 512u], word);
}

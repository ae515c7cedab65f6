// SPDX-License-Identifier: MIT
// Atomics in LDS and in a buffer; the number of workgroups in a loop's step.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) buffer To { uint bins[64]; };
layout(constant_id = 3) const uint rounds = 4u;
shared uint local_bins[64];

void main()
{
    uint lane = gl_LocalInvocationIndex;
    local_bins[lane] = 0u;
    barrier();
    for (uint round = 0u; round < rounds; round++)
        atomicAdd(local_bins[from[gl_GlobalInvocationID.x + round * gl_NumWorkGroups.x * 64u] & 63u], 1u);
    barrier();
    atomicAdd(bins[lane], local_bins[lane]);
}

// SPDX-License-Identifier: MIT
// One pass of a radix sort by four bits: counts in LDS, a scan of them, and a stable order.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };
shared uint keys[64];
shared uint starts[17];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint key = from[i] & 15u;
    keys[lane] = key;
    if (lane < 17u)
        starts[lane] = 0u;
    barrier();
    atomicAdd(starts[key + 1u], 1u);
    barrier();
    if (lane == 0u)
        for (uint n = 1u; n <= 16u; n++)
            starts[n] += starts[n - 1u];
    barrier();
    uint rank = starts[key];
    for (uint n = 0u; n < lane; n++)
        rank += keys[n] == key ? 1u : 0u;
    to[gl_WorkGroupID.x * 64u + rank] = from[i];
}

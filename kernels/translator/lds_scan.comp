// SPDX-License-Identifier: MIT
// An inclusive scan by doubling, between two halves of LDS.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint sums[2][128];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x, from = 0u;
    sums[0][lane] = data[i];
    for (uint distance = 1u; distance < 128u; distance <<= 1) {
        barrier();
        uint sum = sums[from][lane];
        if (lane >= distance)
            sum += sums[from][lane - distance];
        from ^= 1u;
        sums[from][lane] = sum;
    }
    data[i] = sums[from][lane];
}

// SPDX-License-Identifier: MIT
// Bitonic sort of a workgroup's words: two loops around a barrier.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint words[256];

void main()
{
    uint lane = gl_LocalInvocationIndex, base = gl_WorkGroupID.x * 256u;
    words[lane] = data[base + lane];
    words[lane + 128u] = data[base + lane + 128u];
    barrier();
    for (uint size = 2u; size <= 256u; size <<= 1)
        for (uint step_ = size >> 1; step_ > 0u; step_ >>= 1) {
            uint low = 2u * lane - (lane & (step_ - 1u)), high = low + step_;
            uint a = words[low], b = words[high];
            if ((a > b) == ((low & size) == 0u)) {
                words[low] = b;
                words[high] = a;
            }
            barrier();
        }
    data[base + lane] = words[lane];
    data[base + lane + 128u] = words[lane + 128u];
}

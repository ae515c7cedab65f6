// SPDX-License-Identifier: MIT
// A sum over the workgroup in LDS: eight barriers, no branch across one.
#version 460
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };
shared uint partial[256];

void main()
{
    uint lane = gl_LocalInvocationIndex;
    partial[lane] = from[gl_GlobalInvocationID.x];
    barrier();
    for (uint half_ = 128u; half_ > 0u; half_ >>= 1) {
        if (lane < half_)
            partial[lane] += partial[lane + half_];
        barrier();
    }
    if (lane == 0u)
        to[gl_WorkGroupID.x] = partial[0];
}

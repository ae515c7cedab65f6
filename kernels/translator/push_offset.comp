// SPDX-License-Identifier: MIT
// Push constants of several types, and an early return.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint count; int shift; vec2 scale; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= (count & 1023u))
        return;
    data[i] = (data[i] << (shift & 31)) ^ floatBitsToUint(scale.x + scale.y * float(i));
}

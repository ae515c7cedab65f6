// SPDX-License-Identifier: MIT
// Loads and stores of one to four words, at offsets that are constant, of the workgroup, and of the thread.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(std430, set = 0, binding = 1) buffer To { uvec2 pairs[512]; uvec4 fours[256]; uint ones[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x & 255u;
    uvec4 a = from[i], b = from[gl_WorkGroupID.x + 5u], c = from[3];
    pairs[i] = a.xz + b.yw;
    fours[i] = a.wzyx ^ c;
    ones[i] = b.x * c.y;
    pairs[i + 256u].y = a.y;
}

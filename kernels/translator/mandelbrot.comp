// SPDX-License-Identifier: MIT
// A loop in fixed point that each thread leaves at its own time: integers only, so that all agree.
#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, set = 0, binding = 0) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Push { uint seed; };

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    int cx = at.x * 96 - 2000 + int(seed & 255u), cy = at.y * 160 - 600, x = 0, y = 0;
    uint n = 0u;
    while (n < 100u && x * x + y * y < 4 << 20) {
        int next = ((x * x - y * y) >> 10) + cx;
        y = ((x * y) >> 9) + cy;
        x = next;
        n++;
    }
    to[gl_GlobalInvocationID.y * gl_NumWorkGroups.x * 8u + gl_GlobalInvocationID.x] = n;
}

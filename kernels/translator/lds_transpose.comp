// SPDX-License-Identifier: MIT
// A tile of 16 by 16 goes through LDS, its rows one word longer; local ids in two dimensions.
#version 460
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };
shared uint tile[16][17];

void main()
{
    uvec2 at = gl_LocalInvocationID.xy;
    uint base = gl_WorkGroupID.x * 256u;
    tile[at.y][at.x] = from[base + at.y * 16u + at.x];
    barrier();
    to[base + at.y * 16u + at.x] = tile[at.x][at.y];
}

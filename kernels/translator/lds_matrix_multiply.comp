// SPDX-License-Identifier: MIT
// Products of matrices by tiles of 8 by 8 in LDS: barriers around each tile.
#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer C { uint c[]; };
shared uint left[8][8], right[8][8];

void main()
{
    uvec2 at = gl_LocalInvocationID.xy;
    uint row = at.y, column = gl_WorkGroupID.x * 8u + at.x, sum = 0u;
    for (uint tile = 0u; tile < 3u; tile++) {
        left[at.y][at.x] = a[row * 24u + tile * 8u + at.x];
        right[at.y][at.x] = b[(tile * 8u + at.y) * 32u + column];
        barrier();
        for (uint k = 0u; k < 8u; k++)
            sum += left[at.y][k] * right[k][at.x];
        barrier();
    }
    c[row * 32u + column] = sum;
}

// SPDX-License-Identifier: MIT
// A step of the game of life in LDS, four times: neighbours across a tile that is its own surroundings.
#version 460
layout(local_size_x = 16, local_size_y = 8) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint cells[2][8][16];

void main()
{
    ivec2 at = ivec2(gl_LocalInvocationID.xy);
    uint i = gl_WorkGroupID.x * 128u + gl_LocalInvocationIndex, now = 0u;
    cells[0][at.y][at.x] = data[i] & 1u;
    barrier();
    for (int step_ = 0; step_ < 4; step_++) {
        uint alive = 0u;
        for (int n = 0; n < 9; n++)
            if (n != 4)
                alive += cells[now][(at.y + n / 3 + 7) & 7][(at.x + n % 3 + 15) & 15];
        now ^= 1u;
        cells[now][at.y][at.x] = alive == 3u || (alive == 2u && cells[now ^ 1u][at.y][at.x] == 1u) ? 1u : 0u;
        barrier();
    }
    data[i] = cells[now][at.y][at.x];
}

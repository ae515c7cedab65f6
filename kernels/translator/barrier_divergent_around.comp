// SPDX-License-Identifier: MIT
// Divergent code between barriers: loops and branches of each thread, then all meet again.
#version 460
layout(local_size_x = 192) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[192];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uint mine = data[i];
    for (uint round = 0u; round < 3u; round++) {
        for (uint n = mine & 7u; n > 0u; n--)
            mine = mine * 5u + n;
        word[lane] = mine;
        barrier();
        if ((mine & 1u) != 0u)
            mine += word[(lane + 65u) % 192u];
        else
            while ((mine & 3u) == 0u && mine != 0u)
                mine >>= 1;
        barrier();
    }
    data[i] = mine;
}

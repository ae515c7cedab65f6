// SPDX-License-Identifier: MIT
// Waves do different things between barriers: only the first reduces, the others wait.
#version 460
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[256];
shared uint result[4];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    word[lane] = data[i];
    barrier();
    if (lane < 64u) {
        uint sum = 0u;
        for (uint n = lane >> 4; n < 256u; n += 4u)
            sum = sum * 3u + word[n];
        if ((lane & 15u) == 0u)
            result[lane >> 4] = sum;
    }
    barrier();
    data[i] = word[lane] ^ result[lane & 3u];
}

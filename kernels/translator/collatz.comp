// SPDX-License-Identifier: MIT
// A loop that each lane leaves at its own time.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint n = data[i] & 0xffffu, steps = 0u;
    while (n > 1u && steps < 1000u) {
        n = (n & 1u) == 0u ? n >> 1 : 3u * n + 1u;
        steps++;
    }
    data[i] = steps;
}

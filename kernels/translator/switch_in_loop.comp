// SPDX-License-Identifier: MIT
// A switch within a loop: its cases continue the loop, leave it, and leave the program.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint state = data[i], steps = 0u;
    while (steps < 40u) {
        steps++;
        bool done = false;
        switch (state & 7u) {
        case 0u:
            state = (state >> 3) ^ 0x9e3779b9u;
            continue;
        case 1u:
        case 2u:
            state += 0x01000193u * steps;
            break;
        case 3u:
            if (steps > 20u) {
                data[i] = state ^ 0xdeadu;
                return;
            }
            state ^= state >> 5;
            break;
        case 4u:
            done = (state & 0xf00u) == 0u;
        default:
            state = state * 5u + 1u;
        }
        if (done)
            break;
    }
    data[i] = state + steps;
}

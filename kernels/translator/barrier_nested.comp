// SPDX-License-Identifier: MIT
// A barrier in the inner of two loops, in an arm of a switch, and in a function that is called twice.
#version 460
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint rounds; };
shared uint word[128];

uint swapped(uint mine, uint by)
{
    barrier();
    word[gl_LocalInvocationIndex] = mine;
    barrier();
    return word[gl_LocalInvocationIndex ^ by];
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint mine = data[i];
    for (uint a = 0u; a < (rounds & 1u) + 2u; a++) {
        for (uint b = 0u; b <= a; b++)
            mine += swapped(mine, 1u << b) * 3u;
        switch ((a + gl_WorkGroupID.x) & 3u) {
        case 0u:
            mine ^= swapped(mine, 64u);
            break;
        case 1u:
            mine = swapped(mine + a, 96u);
        case 2u:
            mine++;
        }
    }
    data[i] = mine;
}

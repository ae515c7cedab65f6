// SPDX-License-Identifier: MIT
// Writes a pattern into every range of a block, or counts the words of each that are not as written.
// Push constants: how many ranges, how many workgroups a row, 1 to check. A workgroup takes a range.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Block { uint words[]; };
layout(std430, set = 0, binding = 1) readonly buffer Ranges { uvec4 ranges[]; }; // first word, words, seed, unused
layout(std430, set = 0, binding = 2) buffer Wrong { uint wrong[]; };             // a count a range
layout(push_constant) uniform Push { uint count, row, check; };

// A finaliser of MurmurHash3: every word of every range differs.
uint pattern(uint seed, uint word)
{
    uint h = seed * 0x9e3779b1u + word;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

void main()
{
    uint i = gl_WorkGroupID.x + gl_WorkGroupID.y * row;
    if (i >= count)
        return;
    uvec4 range = ranges[i];
    for (uint word = gl_LocalInvocationIndex; word < range.y; word += gl_WorkGroupSize.x)
        if (check == 0u)
            words[range.x + word] = pattern(range.z, word);
        else if (words[range.x + word] != pattern(range.z, word))
            atomicAdd(wrong[i], 1u);
}

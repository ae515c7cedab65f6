// SPDX-License-Identifier: MIT
// The lowest and highest set bit, with and without sign, of 0 and -1 too.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i] >> (i & 31u);
    if (i % 7u == 0u)
        word = 0u;
    if (i % 11u == 0u)
        word = ~0u << (i & 15u);
    uvec4 found = uvec4(findLSB(word), findMSB(word), findMSB(int(word)), findMSB(int(word << 8)));
    data[i] = found.x + (found.y << 8) + (found.z << 16) + (found.w << 24);
}

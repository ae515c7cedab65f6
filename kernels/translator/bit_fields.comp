// SPDX-License-Identifier: MIT
// Bit fields: extract with and without sign, insert, reverse, count; widths of 0 and 32 among them.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i], other = data[i + 1024u];
    int offset = int(other & 31u), bits = min(int(other >> 5 & 63u), 32 - offset);
    uint a = bitfieldExtract(word, offset, bits);
    int b = bitfieldExtract(int(word), offset, bits);
    uint c = bitfieldInsert(word, other, offset, bits);
    uint d = bitfieldExtract(word, 5, 9) + uint(bitfieldExtract(int(word), 11, 13));
    data[i] = a + uint(b) * 3u + c + d + bitfieldReverse(word) + uint(bitCount(other));
}

// SPDX-License-Identifier: MIT
// A constant array with computed indices, which compilers put into memory behind the program.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
const uint table[16] = uint[](
    0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
    0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu);

void main() /* CRC-32 of a word, four bits at a time */
{
    uint i = gl_GlobalInvocationID.x, word = data[i], crc = ~0u;
    for (int n = 0; n < 8; n++) {
        crc = (crc >> 4) ^ table[(crc ^ word) & 15u];
        word >>= 4;
    }
    data[i] = ~crc;
}

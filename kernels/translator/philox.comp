// SPDX-License-Identifier: MIT
// A counter-based generator: the high halves of products, ten rounds.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uvec4 data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uvec4 x = data[i];
    uvec2 key = uvec2(i, 0x1234u);
    for (int round = 0; round < 10; round++) {
        uint high0, low0, high1, low1;
        umulExtended(0xd2511f53u, x.x, high0, low0);
        umulExtended(0xcd9e8d57u, x.z, high1, low1);
        x = uvec4(high1 ^ x.y ^ key.x, low1, high0 ^ x.w ^ key.y, low0);
        key += uvec2(0x9e3779b9u, 0xbb67ae85u);
    }
    data[i] = x;
}

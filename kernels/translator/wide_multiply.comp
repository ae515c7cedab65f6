// SPDX-License-Identifier: MIT
// The high halves of products, carries and borrows.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uvec2 data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uvec2 word = data[i];
    uint high, low, carry, borrow;
    int signed_high, signed_low;
    umulExtended(word.x, word.y, high, low);
    imulExtended(int(word.x), int(word.y), signed_high, signed_low);
    uint sum = uaddCarry(word.x, word.y, carry), difference = usubBorrow(word.x, word.y, borrow);
    data[i] = uvec2(high + low * 3u + uint(signed_high), sum ^ difference + carry * 77u + borrow * 1001u);
}

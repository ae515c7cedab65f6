// SPDX-License-Identifier: MIT
// Threads return at several places, some before they load anything, some in a loop; the rest goes on.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if ((i & 7u) == 3u)
        return;
    uint word = data[i];
    if ((word & 1u) == 0u) {
        data[i] = word >> 1;
        if ((word & 2u) == 0u)
            return;
        word ^= 0xaaaau;
    }
    for (uint n = word & 31u;; n++) {
        if (n > 40u)
            break;
        word = word * 69069u + n;
        if ((word >> 28) == 5u)
            return;
    }
    data[i] = word;
}

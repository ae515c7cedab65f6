// SPDX-License-Identifier: MIT
#include "guest.h"
/* Nested loop around a barrier. */
KERNEL(256,1,1) void bitonic(GLOBAL uint *d) {
    LDS uint s[512]; uint t = LID_X, base = GRP_X * 512;
    s[t] = d[base + t]; s[t + 256] = d[base + t + 256];
#pragma clang loop unroll(disable)
    for (uint k = 2; k <= 512; k <<= 1)
#pragma clang loop unroll(disable)
        for (uint j = k >> 1; j > 0; j >>= 1) { BARRIER();
            uint i = 2 * t - (t & (j - 1)), p = i + j; uint up = (i & k) == 0, a = s[i], b = s[p];
            if ((a > b) == up) { s[i] = b; s[p] = a; } }
    BARRIER(); d[base + t] = s[t]; d[base + t + 256] = s[t + 256];
}

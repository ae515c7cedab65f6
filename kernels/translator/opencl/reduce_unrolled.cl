// SPDX-License-Identifier: MIT
#include "guest.h"
/* The same reduction, left to the optimiser: barriers end up in straight line code. */
KERNEL(256,1,1) void reduce_unrolled(GLOBAL uint *out, const GLOBAL uint *in) {
    LDS uint s[256];
    uint t = LID_X; s[t] = in[GRP_X * 256 + t]; BARRIER();
#pragma clang loop unroll(full)
    for (uint d = 128; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; BARRIER(); }
    if (t == 0) out[GRP_X] = s[0];
}

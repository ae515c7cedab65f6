// SPDX-License-Identifier: MIT
#include "guest.h"
/* Waves that end before a barrier others wait at (legal in the ISA: an ended wave leaves the barrier's count). */
KERNEL(256,1,1) void early_exit(GLOBAL uint *o, const GLOBAL uint *in, uint n) {
    LDS uint s[256]; uint t = LID_X, i = GRP_X * 256 + t; if (i >= n) return;
    s[t] = in[i]; BARRIER(); uint q = t ^ 64; o[i] = GRP_X * 256 + q < n ? s[q] : 0; BARRIER(); s[t ^ 1] = o[i]; BARRIER(); o[i] += s[t];
}

// SPDX-License-Identifier: MIT
#include "guest.h"
/* The source design's own device test: two waves, word of thread id ^ 64. */
KERNEL(128,1,1) void pair64(GLOBAL uint *out) {
    LDS uint s[128];
    s[LID_X] = LID_X + GRP_X * 1000; BARRIER();
    out[GRP_X * 128 + LID_X] = s[LID_X ^ 64];
}

// SPDX-License-Identifier: MIT
#include "guest.h"
/* Tree reduction: a loop with a barrier in it (uniform trip count). */
KERNEL(256,1,1) void reduce_lds(GLOBAL float *out, const GLOBAL float *in, uint n) {
    LDS float s[256];
    uint t = LID_X, i = GRP_X * 1024 + t; float a = 0;
    for (uint k = 0; k < 4; k++) { uint j = i + k * 256; if (j < n) a += in[j]; }
    s[t] = a; BARRIER();
#pragma clang loop unroll(disable)
    for (uint d = 128; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; BARRIER(); }
    if (t == 0) out[GRP_X] = s[0];
}

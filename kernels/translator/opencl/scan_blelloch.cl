// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(256,1,1) void scan_blelloch(GLOBAL uint *out, GLOBAL uint *sums, const GLOBAL uint *in) {
    LDS uint s[512]; uint t = LID_X, base = GRP_X * 512;
    s[2 * t] = in[base + 2 * t]; s[2 * t + 1] = in[base + 2 * t + 1];
    uint off = 1;
#pragma clang loop unroll(disable)
    for (uint d = 256; d > 0; d >>= 1) { BARRIER();
        if (t < d) { uint a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1; s[b] += s[a]; } off *= 2; }
    if (t == 0) { sums[GRP_X] = s[511]; s[511] = 0; }
#pragma clang loop unroll(disable)
    for (uint d = 1; d < 512; d *= 2) { off >>= 1; BARRIER();
        if (t < d) { uint a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1, v = s[a]; s[a] = s[b]; s[b] += v; } }
    BARRIER();
    out[base + 2 * t] = s[2 * t]; out[base + 2 * t + 1] = s[2 * t + 1];
}

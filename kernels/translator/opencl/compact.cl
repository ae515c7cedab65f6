// SPDX-License-Identifier: MIT
#include "guest.h"
/* Stream compaction through ballot and mbcnt inside a wave, LDS between the waves. */
KERNEL(256,1,1) void compact(GLOBAL uint *out, GLOBAL uint *count, const GLOBAL uint *in, uint n, uint th) {
    LDS uint tot, base; uint i = GRP_X * 256 + LID_X; if (LID_X == 0) tot = 0; BARRIER();
    uint v = i < n ? in[i] : 0, keep = i < n && v > th, slot = 0;
    ulong m = __builtin_amdgcn_ballot_w64(keep); uint lo = (uint)m, hi = (uint)(m >> 32);
    uint below = lane_below(lo, hi), all = __builtin_popcountll(m), first = 0;
    if (lane_below(~0u, ~0u) == 0) first = LDS_ADD(&tot, all);
    first = __builtin_amdgcn_readfirstlane(first); slot = first + below; BARRIER();
    if (LID_X == 0) base = GLB_ADD(count, tot); BARRIER();
    if (keep) out[base + slot] = v;
}

// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(256,1,1) void wcompact(GLOBAL uint *out, GLOBAL uint *count, const GLOBAL uint *in, uint th) {
    uint i = GRP_X * 256 + LID_X; uint v = in[i]; uint keep = v > th;
#if WAVE==64
    ulong m = __builtin_amdgcn_ballot_w64(keep); uint lo = (uint)m, hi = (uint)(m >> 32);
    uint below = lane_below(lo, hi), all = __builtin_popcountll(m), first = 0, me = lane_below(~0u,~0u);
#else
    uint m = __builtin_amdgcn_ballot_w32(keep); uint below = __builtin_amdgcn_mbcnt_lo(m,0), all = __builtin_popcount(m), first = 0, me = __builtin_amdgcn_mbcnt_lo(~0u,0);
#endif
    if (me == 0) first = GLB_ADD(count, all);
    first = __builtin_amdgcn_readfirstlane(first);
    if (keep) out[first + below] = v;
}

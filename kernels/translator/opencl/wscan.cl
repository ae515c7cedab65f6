// SPDX-License-Identifier: MIT
#include "guest.h"
#define DPP(x,c) __builtin_amdgcn_update_dpp(0,x,c,0xf,0xf,1)
KERNEL(256,1,1) void wscan(GLOBAL uint *out, const GLOBAL uint *in) {
    uint i = GRP_X * 256 + LID_X, l = LID_X % WAVE; uint a = in[i];
    a += DPP(a, 0x111); a += DPP(a, 0x112); a += DPP(a, 0x114); a += DPP(a, 0x118);
    uint b = __builtin_amdgcn_permlanex16(a, a, ~0u, ~0u, 0, 0); if (l & 16) a += b;
#if WAVE==64
    uint c = __builtin_amdgcn_readlane(a, 31); if (l >= 32) a += c;
#endif
    out[i] = a;
}

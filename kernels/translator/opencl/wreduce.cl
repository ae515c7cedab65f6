// SPDX-License-Identifier: MIT
#include "guest.h"
#define DPP(x,c) __builtin_amdgcn_update_dpp(0,x,c,0xf,0xf,1)
/* each wave sums 64*8 words, DPP row_xmask tree, permlanex16, readlane */
KERNEL(256,1,1) void wreduce(GLOBAL uint *out, const GLOBAL uint *in) {
    uint w = GRP_X * (256/WAVE) + __builtin_amdgcn_readfirstlane(LID_X / WAVE), l = LID_X % WAVE; uint a = 0;
    for (uint k = 0; k < 8; k++) a += in[w * WAVE * 8 + k * WAVE + l];
    a += DPP(a, 0x161); a += DPP(a, 0x162); a += DPP(a, 0x164); a += DPP(a, 0x168);
    a += __builtin_amdgcn_permlanex16(a, a, 0, 0, 0, 0);
#if WAVE==64
    uint t = __builtin_amdgcn_readlane(a, 0) + __builtin_amdgcn_readlane(a, 32);
#else
    uint t = __builtin_amdgcn_readlane(a, 0);
#endif
    if (l == 0) out[w] = t;
}

// SPDX-License-Identifier: MIT
#include "guest.h"
/* float reduce+broadcast by ds_swizzle xor masks, 8 rounds of normalisation */
KERNEL(256,1,1) void wswz(GLOBAL uint *out, const GLOBAL uint *in) {
    uint i = GRP_X * 256 + LID_X; uint a = in[i];
#pragma clang loop unroll(disable)
    for (uint r = 0; r < 8; r++) { uint s = a;
        s += __builtin_amdgcn_ds_swizzle(s, 0x041f); s += __builtin_amdgcn_ds_swizzle(s, 0x081f); s += __builtin_amdgcn_ds_swizzle(s, 0x101f); s += __builtin_amdgcn_ds_swizzle(s, 0x201f); s += __builtin_amdgcn_ds_swizzle(s, 0x401f);
        a = a * 3 + (s >> 3); }
    out[i] = a;
}

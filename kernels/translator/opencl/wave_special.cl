// SPDX-License-Identifier: MIT
#include "guest.h"
/* Wave specialisation: producer and consumer waves meet at DIFFERENT s_barrier instructions, each in its own loop.
   The ISA counts arrivals, not addresses: legal guest code which no structured SPIR-V barrier expresses directly. */
KERNEL(128,1,1) void wave_special(GLOBAL uint *o, const GLOBAL uint *in, uint rounds) {
    LDS uint s[2][64]; uint t = LID_X & 63, w = __builtin_amdgcn_readfirstlane(LID_X >> 6), g = GRP_X;
    if (w == 0) { for (uint r = 0; r < rounds; r++) { s[r & 1][t] = in[(g * rounds + r) * 64 + t] * 3u; BARRIER(); } }
    else { uint a = 0; for (uint r = 0; r < rounds; r++) { BARRIER(); a += s[r & 1][63 - t]; } o[g * 64 + t] = a; }
}

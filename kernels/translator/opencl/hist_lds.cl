// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(256,1,1) void hist_lds(GLOBAL uint *hist, const GLOBAL uchar4 *px, uint n) {
    LDS uint h[256]; h[LID_X] = 0; BARRIER();
    for (uint i = GRP_X * 256 + LID_X; i < n; i += 256 * 64) {
        uchar4 p = px[i]; uint l = (77u * p.x + 150u * p.y + 29u * p.z) >> 8; LDS_ADD(&h[l], 1u); }
    BARRIER();
    if (h[LID_X]) GLB_ADD(&hist[LID_X], h[LID_X]);
}

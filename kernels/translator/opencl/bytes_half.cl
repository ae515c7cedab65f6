// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(256,1,1) void bytes_half(GLOBAL uchar4 *o, const GLOBAL uchar4 *a, const GLOBAL uchar4 *b, GLOBAL half2_t *h, const GLOBAL half2_t *g, GLOBAL ushort *us, GLOBAL char *sc) {
    uint i = GRP_X * 256 + LID_X; uchar4 p = a[i], q = b[i], r; uint al = q.w;
    r.x = (p.x * (255 - al) + q.x * al + 127) / 255; r.y = (p.y * (255 - al) + q.y * al + 127) / 255;
    r.z = (p.z * (255 - al) + q.z * al + 127) / 255; r.w = 255; o[i] = r;
    half2_t x = g[i]; h[i] = x * x + (half2_t)(half_t)0.5f; us[i] = (ushort)(us[i] * 3 + sc[i]); sc[i] = (char)(sc[i] >> 1);
}

// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(16,16,1) void stencil9(GLOBAL float *o, const GLOBAL float *in, uint w, uint h) {
    LDS float s[18][18]; int x0 = (int)(GRP_X * 16) - 1, y0 = (int)(GRP_Y * 16) - 1; uint t = LID_Y * 16 + LID_X;
    for (uint e = t; e < 324; e += 256) { int x = x0 + (int)(e % 18), y = y0 + (int)(e / 18); x = x < 0 ? 0 : x >= (int)w ? (int)w - 1 : x; y = y < 0 ? 0 : y >= (int)h ? (int)h - 1 : y; s[e / 18][e % 18] = in[(uint)y * w + (uint)x]; }
    BARRIER(); float a = 0; for (uint j = 0; j < 3; j++) for (uint i = 0; i < 3; i++) a += s[LID_Y + j][LID_X + i]; uint X = GRP_X * 16 + LID_X, Y = GRP_Y * 16 + LID_Y; if (X < w && Y < h) o[Y * w + X] = a * (1.f / 9.f);
}

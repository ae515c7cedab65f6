// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(32,8,1) void transpose(GLOBAL float *o, const GLOBAL float *in, uint w, uint h) {
    LDS float s[32][33]; uint x = GRP_X * 32 + LID_X, y = GRP_Y * 32 + LID_Y;
    for (uint i = 0; i < 32; i += 8) if (x < w && y + i < h) s[LID_Y + i][LID_X] = in[(y + i) * w + x];
    BARRIER(); x = GRP_Y * 32 + LID_X; y = GRP_X * 32 + LID_Y;
    for (uint i = 0; i < 32; i += 8) if (x < h && y + i < w) o[(y + i) * h + x] = s[LID_X][LID_Y + i];
}

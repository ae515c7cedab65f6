// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(16,16,1) void matmul_tiled(GLOBAL float *c, const GLOBAL float *a, const GLOBAL float *b, uint n) {
    LDS float ta[16][16], tb[16][17];
    uint x = LID_X, y = LID_Y, col = GRP_X * 16 + x, row = GRP_Y * 16 + y; float acc = 0;
    for (uint k = 0; k < n; k += 16) {
        ta[y][x] = a[row * n + k + x]; tb[y][x] = b[(k + y) * n + col]; BARRIER();
        for (uint j = 0; j < 16; j++) acc += ta[y][j] * tb[j][x];
        BARRIER();
    }
    c[row * n + col] = acc;
}

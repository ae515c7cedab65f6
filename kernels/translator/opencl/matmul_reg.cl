// SPDX-License-Identifier: MIT
#include "guest.h"
/* Register blocked 64x64 tile, 16x16 threads, 4x4 outputs a thread: VALU bound. */
KERNEL(16,16,1) void matmul_reg(GLOBAL float *c, const GLOBAL float *a, const GLOBAL float *b, uint n) {
    LDS float ta[16][65], tb[16][64];
    uint x = LID_X, y = LID_Y, t = y * 16 + x; float acc[4][4] = {{0}};
    for (uint k = 0; k < n; k += 16) {
        for (uint i = 0; i < 4; i++) {
            uint e = t + i * 256, r = e / 16, q = e % 16;
            ta[q][r] = a[(GRP_Y * 64 + r) * n + k + q];
            uint r2 = e / 64, q2 = e % 64; tb[r2][q2] = b[(k + r2) * n + GRP_X * 64 + q2];
        }
        BARRIER();
        for (uint j = 0; j < 16; j++)
            for (uint i = 0; i < 4; i++) for (uint m = 0; m < 4; m++) acc[i][m] += ta[j][y * 4 + i] * tb[j][x * 4 + m];
        BARRIER();
    }
    for (uint i = 0; i < 4; i++) for (uint m = 0; m < 4; m++) c[(GRP_Y * 64 + y * 4 + i) * n + GRP_X * 64 + x * 4 + m] = acc[i][m];
}

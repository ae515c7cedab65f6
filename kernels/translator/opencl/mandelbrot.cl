// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(64,1,1) void mandelbrot(GLOBAL uint *img, uint w, uint h, float scale, uint maxit) {
    uint x = GRP_X * 64 + LID_X, y = GRP_Y; if (x >= w || y >= h) return;
    float cr = (float)x * scale - 2.f, ci = (float)y * scale - 1.f, zr = 0, zi = 0; uint it = 0;
    while (it < maxit && zr * zr + zi * zi < 4.f) { float t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; it++; }
    img[y * w + x] = it;
}

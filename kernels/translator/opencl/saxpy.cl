// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(256,1,1) void saxpy(GLOBAL float *y, const GLOBAL float *x, float a, uint n) {
    uint i = GRP_X * 256 + LID_X;
    if (i < n) y[i] = a * x[i] + y[i];
}

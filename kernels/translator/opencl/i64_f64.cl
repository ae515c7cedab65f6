// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(64,1,1) void i64_f64(GLOBAL ulong *o, GLOBAL double *d, const GLOBAL ulong *a, const GLOBAL double *b) {
    uint g = GRP_X * 64 + LID_X; ulong x = a[g], y = a[g + 1] | 1; o[g] = x * y + (x / y) ^ (x >> (y & 63)); double p = b[g], q = b[g + 1];
    d[g] = p * q + p / q + (double)(long)x * 1e-9; if (p < q) d[g] += (double)(float)p;
}

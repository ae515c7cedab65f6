// SPDX-License-Identifier: MIT
#include "guest.h"
/* A real call (s_swappc_b64) and a private array that lives in scratch. */
__attribute__((noinline)) float poly(float x, const float *k, uint n) { float r = 0; for (uint i = 0; i < n; i++) r = r * x + k[i]; return r; }
KERNEL(64,1,1) void calls(GLOBAL float *o, const GLOBAL float *in, const GLOBAL uint *perm) {
    float k[16]; uint g = GRP_X * 64 + LID_X; for (uint i = 0; i < 16; i++) k[perm[i] & 15] = in[i]; o[g] = poly(in[g], k, 16) + poly(in[g] * 0.5f, k, 8);
}

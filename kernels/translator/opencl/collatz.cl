// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(256,1,1) void collatz(GLOBAL uint *o, uint base) { ulong v = base + GRP_X * 256 + LID_X; uint n = 0; while (v > 1) { v = v & 1 ? 3 * v + 1 : v >> 1; n++; } o[GRP_X * 256 + LID_X] = n; }

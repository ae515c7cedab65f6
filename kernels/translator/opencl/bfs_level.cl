// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(64,1,1) void bfs_level(GLOBAL uint *dist, GLOBAL uint *next, GLOBAL uint *nnext, const GLOBAL uint *row, const GLOBAL uint *col, const GLOBAL uint *cur, uint ncur, uint level) {
    uint i = GRP_X * 64 + LID_X; if (i >= ncur) return; uint v = cur[i];
    for (uint e = row[v]; e < row[v + 1]; e++) { uint w = col[e]; uint old = GLB_MIN(&dist[w], level); if (old > level) next[GLB_ADD(nnext, 1u)] = w; }
}

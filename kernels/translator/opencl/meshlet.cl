// SPDX-License-Identifier: MIT
#include "guest.h"
/* Mesh-shader-like: cull triangles of one cluster, compact survivors, write vertices and indices. */
KERNEL(128,1,1) void meshlet(GLOBAL float4 *vtx, GLOBAL uint *idx, GLOBAL uint *counts, const GLOBAL float4 *pos,
                             const GLOBAL uint *tri, const GLOBAL float *mvp) {
    LDS float4 clip[128]; LDS uint remap[128], nv, nt; uint t = LID_X, g = GRP_X;
    if (t == 0) { nv = 0; nt = 0; } remap[t] = ~0u;
    float4 p = pos[g * 128 + t], c;
    c.x = mvp[0] * p.x + mvp[4] * p.y + mvp[8] * p.z + mvp[12];  c.y = mvp[1] * p.x + mvp[5] * p.y + mvp[9] * p.z + mvp[13];
    c.z = mvp[2] * p.x + mvp[6] * p.y + mvp[10] * p.z + mvp[14]; c.w = mvp[3] * p.x + mvp[7] * p.y + mvp[11] * p.z + mvp[15];
    clip[t] = c; BARRIER();
    uint w = tri[g * 128 + t], a = w & 255, b = (w >> 8) & 255, d = (w >> 16) & 255;
    float4 A = clip[a & 127], B = clip[b & 127], C = clip[d & 127];
    float det = A.x * (B.y * C.w - C.y * B.w) - A.y * (B.x * C.w - C.x * B.w) + A.w * (B.x * C.y - C.x * B.y);
    uint keep = w != ~0u && det > 0.f;
    if (keep) { remap[a & 127] = 0; remap[b & 127] = 0; remap[d & 127] = 0; }
    BARRIER();
    if (remap[t] == 0) { uint s = LDS_ADD(&nv, 1u); remap[t] = s; vtx[g * 128 + s] = clip[t]; }
    BARRIER();
    if (keep) { uint s = LDS_ADD(&nt, 1u); idx[g * 128 + s] = remap[a & 127] | remap[b & 127] << 8 | remap[d & 127] << 16; }
    BARRIER();
    if (t == 0) { counts[2 * g] = nv; counts[2 * g + 1] = nt; }
}

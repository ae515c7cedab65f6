// SPDX-License-Identifier: MIT
#include "guest.h"
/* A small ray tracer: nested divergent loops with break and continue. */
KERNEL(8,8,1) void spheres(GLOBAL uint *img, const GLOBAL float4 *sp, uint n, uint w, float inv) {
    uint x = GRP_X * 8 + LID_X, y = GRP_Y * 8 + LID_Y; float ox = 0, oy = 0, oz = -3, dx = (float)x * inv - 1, dy = (float)y * inv - 1, dz = 1.5f, att = 1, r = 0;
    for (uint bounce = 0; bounce < 6; bounce++) { float il = RSQ(dx * dx + dy * dy + dz * dz); dx *= il; dy *= il; dz *= il; float best = 1e30f; uint hit = ~0u;
        for (uint i = 0; i < n; i++) { float4 s = sp[i]; float lx = s.x - ox, ly = s.y - oy, lz = s.z - oz, b = lx * dx + ly * dy + lz * dz; if (b < 0) continue;
            float q = lx * lx + ly * ly + lz * lz - b * b, rr = s.w * s.w; if (q > rr) continue; float t = b - __builtin_sqrtf(rr - q); if (t > 1e-3f && t < best) { best = t; hit = i; } }
        if (hit == ~0u) { r += att * (dy * 0.5f + 0.5f); break; } float4 s = sp[hit]; ox += dx * best; oy += dy * best; oz += dz * best;
        float k = RCP(s.w), nx = (ox - s.x) * k, ny = (oy - s.y) * k, nz = (oz - s.z) * k, d = 2 * (dx * nx + dy * ny + dz * nz); dx -= d * nx; dy -= d * ny; dz -= d * nz; att *= 0.7f; }
    img[y * w + x] = (uint)(r * 255.f);
}

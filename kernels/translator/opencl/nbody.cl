// SPDX-License-Identifier: MIT
#include "guest.h"
KERNEL(256,1,1) void nbody(GLOBAL float4 *vel, GLOBAL float4 *np, const GLOBAL float4 *pos, uint n, float dt) {
    LDS float4 s[256]; uint i = GRP_X * 256 + LID_X; float4 p = pos[i]; float ax = 0, ay = 0, az = 0;
    for (uint k = 0; k < n; k += 256) { s[LID_X] = pos[k + LID_X]; BARRIER();
        for (uint j = 0; j < 256; j++) { float4 q = s[j]; float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            float r = RSQ(dx * dx + dy * dy + dz * dz + 0.01f), f = q.w * r * r * r; ax += dx * f; ay += dy * f; az += dz * f; }
        BARRIER(); }
    float4 v = vel[i]; v.x += ax * dt; v.y += ay * dt; v.z += az * dt; vel[i] = v;
    p.x += v.x * dt; p.y += v.y * dt; p.z += v.z * dt; np[i] = p;
}

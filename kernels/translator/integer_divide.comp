// SPDX-License-Identifier: MIT
// Division and remainder of 32-bit integers: by variables, by constants, by powers of two, with signs.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint a = data[i], b = (data[i + 1024u] >> (a & 31u)) | 1u;
    int s = int(a) >> 1, t = int(b >> 1) + 1;
    if ((a & 4u) != 0u)
        t = -t;
    int q = s / t;
    uint sum = a / b + a % b * 3u + a / 7u + a % 10u + (a >> 1) / 64u;
    data[i] = sum + uint(q) + uint(s - q * t) * 5u + uint(s / 11) + uint(s / -16);
}

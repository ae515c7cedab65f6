// SPDX-License-Identifier: MIT
// SHA-256 of one block a thread: rotations, a schedule in a private array, sixty-four rounds.
#version 460
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(std430, set = 0, binding = 1) readonly buffer Rounds { uint k[64]; };

uint turned(uint x, uint n) { return x >> n | x << (32u - n); }

void main()
{
    uint base = gl_GlobalInvocationID.x * 16u;
    uint w[16], h[8] = uint[](0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu,
                              0x5be0cd19u);
    for (uint n = 0u; n < 16u; n++)
        w[n] = data[base + n];
    uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
    for (uint n = 0u; n < 64u; n++) {
        uint s = turned(e, 6u) ^ turned(e, 11u) ^ turned(e, 25u);
        uint t = last + s + ((e & f) ^ (~e & g)) + k[n] + w[n & 15u];
        uint u = (turned(a, 2u) ^ turned(a, 13u) ^ turned(a, 22u)) + ((a & b) ^ (a & c) ^ (b & c));
        last = g; g = f; f = e; e = d + t; d = c; c = b; b = a; a = t + u;
        uint x = w[(n + 1u) & 15u], y = w[(n + 14u) & 15u];
        w[n & 15u] += (turned(x, 7u) ^ turned(x, 18u) ^ x >> 3) + w[(n + 9u) & 15u] +
                      (turned(y, 17u) ^ turned(y, 19u) ^ y >> 10);
    }
    uint sums[8] = uint[](a, b, c, d, e, f, g, last);
    for (uint n = 0u; n < 8u; n++)
        data[base + n] = h[n] + sums[n];
}

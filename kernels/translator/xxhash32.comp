// SPDX-License-Identifier: MIT
// xxHash32 of a number of words that each thread has its own of: multiplies, rotations, and three loops.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };
const uint p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u, p4 = 668265263u, p5 = 374761393u;

uint turned(uint x, int n) { return x << n | x >> (32 - n); }

void main()
{
    uint i = gl_GlobalInvocationID.x, seed = from[i], count = seed & 31u, at = 0u, hash = seed + p5;
    if (count >= 4u) {
        uvec4 v = uvec4(seed + p1 + p2, seed + p2, seed, seed - p1);
        for (; at + 4u <= count; at += 4u)
            for (uint n = 0u; n < 4u; n++)
                v[n] = turned(v[n] + from[(i + at + n) & 4095u] * p2, 13) * p1;
        hash = turned(v.x, 1) + turned(v.y, 7) + turned(v.z, 12) + turned(v.w, 18);
    }
    hash += count * 4u;
    for (; at < count; at++)
        hash = turned(hash + from[(i + at) & 4095u] * p3, 17) * p4;
    hash = (hash ^ hash >> 15) * p2;
    hash = (hash ^ hash >> 13) * p3;
    to[i] = hash ^ hash >> 16;
}

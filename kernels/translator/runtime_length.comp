// SPDX-License-Identifier: MIT
// The length of open arrays: after a head, of elements of 12 bytes, and of words.
#version 460
layout(local_size_x = 64) in;
struct Three { uint x, y, z; };
layout(std430, set = 0, binding = 0) readonly buffer Heads { uint head; Three threes[]; };
layout(std430, set = 0, binding = 1) buffer Words { uint words[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint n = uint(threes.length()), m = uint(words.length());
    uint at = (i * 977u + head) % n;
    words[(i * 61u) % m] = threes[at].x + threes[n - 1u - at].z + n * 3u + m;
}

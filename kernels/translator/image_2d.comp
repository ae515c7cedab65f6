// SPDX-License-Identifier: MIT
// A 2D image of words: loads of neighbours, stores into another image, sizes, a partial last workgroup.
#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform readonly uimage2D from;
layout(set = 0, binding = 1, r32ui) uniform writeonly uimage2D to;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(from);
    if (any(greaterThanEqual(at, size)))
        return;
    uint sum = imageLoad(from, at).x * 3u + imageLoad(from, (at + ivec2(1, 2)) % size).x;
    imageStore(to, at, uvec4(sum + uint(size.x * 100 + size.y)));
}

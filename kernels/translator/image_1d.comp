// SPDX-License-Identifier: MIT
// 1D images and their arrays.
#version 460
layout(local_size_x = 16, local_size_y = 4) in;
layout(set = 0, binding = 0, r32ui) uniform uimage1D line;
layout(set = 0, binding = 1, r32i) uniform iimage1DArray lines;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(lines);
    if (any(greaterThanEqual(at, size)))
        return;
    int texel = imageLoad(lines, at).x;
    imageStore(lines, at, ivec4(texel - int(imageLoad(line, at.x).x >> 4)));
}

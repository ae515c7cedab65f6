// SPDX-License-Identifier: MIT
// Layers of a 2D array: a layer from another, and its size.
#version 460
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;
layout(set = 0, binding = 0, rg32ui) uniform readonly uimage2DArray from;
layout(set = 1, binding = 0, rg32ui) uniform writeonly uimage2DArray to;

void main()
{
    ivec3 at = ivec3(gl_GlobalInvocationID), size = imageSize(from);
    if (any(greaterThanEqual(at, size)))
        return;
    uvec2 texel = imageLoad(from, ivec3(at.xy, size.z - 1 - at.z)).yx;
    imageStore(to, at, uvec4(texel + uvec2(size.z, at.z), 0u, 0u));
}

// SPDX-License-Identifier: MIT
// A 3D image: texels of the slice before.
#version 460
layout(local_size_x = 4, local_size_y = 4, local_size_z = 4) in;
layout(set = 0, binding = 0, r32ui) uniform readonly uimage3D from;
layout(set = 0, binding = 1, rgba16ui) uniform writeonly uimage3D to;

void main()
{
    ivec3 at = ivec3(gl_GlobalInvocationID), size = imageSize(from);
    if (any(greaterThanEqual(at, size)))
        return;
    uint texel = imageLoad(from, ivec3(at.xy, (at.z + 1) % size.z)).x;
    imageStore(to, at, uvec4(texel & 0xffffu, texel >> 16, size.z, at.x));
}

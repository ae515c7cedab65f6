// SPDX-License-Identifier: MIT
// An array of images, indexed by a number that is the same for the workgroup.
#version 460
layout(local_size_x = 32) in;
layout(set = 2, binding = 5, r32ui) uniform uimage2D images[3];

void main()
{
    ivec2 at = ivec2(gl_LocalInvocationIndex, gl_WorkGroupID.x);
    uint which = gl_WorkGroupID.x % 3u;
    uint texel = imageLoad(images[which], at).x;
    imageStore(images[which], at, uvec4(texel * 5u + which));
}

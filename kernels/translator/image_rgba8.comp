// SPDX-License-Identifier: MIT
// Normalised bytes: they become floats and bytes again, exactly.
#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba8) uniform image2D image;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(image))))
        return;
    vec4 texel = imageLoad(image, at);
    imageStore(image, at, vec4(1.0 - texel.z, texel.xy, texel.w > 0.5 ? 1.5 : -0.25)); /* clamped on the way */
}

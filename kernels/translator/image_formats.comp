// SPDX-License-Identifier: MIT
// Images of other formats: signed bytes normalised, halves, ten bits a channel, short and narrow integers.
#version 460
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba8_snorm) uniform image2D snorm;
layout(set = 0, binding = 1, rgba16f) uniform image2D halves;
layout(set = 0, binding = 2, rgb10_a2ui) uniform uimage2D tens;
layout(set = 0, binding = 3, rg16i) uniform iimage2D shorts;
layout(set = 0, binding = 4, r8ui) uniform uimage2D bytes;
layout(set = 0, binding = 5, rgba32f) uniform image2D wide;

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, imageSize(snorm))))
        return;
    vec4 texel = imageLoad(snorm, at), half_ = imageLoad(halves, at);
    imageStore(snorm, at, -texel.yxwz);
    imageStore(halves, at, vec4(half_.yz * 0.5, -half_.xw));
    imageStore(wide, at, half_ + texel.x * 0.0);
    uvec4 ten = imageLoad(tens, at);
    imageStore(tens, at, uvec4(ten.zxy >> 1, 3u - ten.w));
    ivec2 two = imageLoad(shorts, at).xy;
    imageStore(shorts, at, ivec4(two.y >> 1, two.x / 3, 0, 0));
    imageStore(bytes, at, uvec4(imageLoad(bytes, at).x >> 1));
}

// SPDX-License-Identifier: MIT
// An image of floats, beside a buffer.
#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32f) uniform image2D image;
layout(std430, set = 0, binding = 1) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    ivec2 size = imageSize(image), at = ivec2(i % uint(size.x), i / uint(size.x));
    if (at.y >= size.y)
        return;
    precise float sum = imageLoad(image, at).x * 2.0 + float(data[i] & 0xffffu);
    imageStore(image, at, vec4(sum));
    data[i] = floatBitsToUint(sum);
}

// SPDX-License-Identifier: MIT
// Division and remainder of 64-bit integers, which compilers make a long sequence of.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint64_t data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint64_t a = data[i], b = (data[i + 512u] >> (uint(a) & 63u)) | 1ul;
    data[i] = a / b + (a % b) * 3ul;
}

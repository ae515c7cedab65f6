// SPDX-License-Identifier: MIT
// 8-bit integer arithmetic: wrap, shifts, comparison, conversion with and without sign.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    u8vec4 a = unpack8(data[i]);
    i8vec4 s = i8vec4(a);
    u8vec4 sum = a * uint8_t(7) + a.wxyz;
    i8vec4 low = min(s, s.yzwx) >> int8_t(1);
    uint mixed = uint(int(low.x) + int(low.w)) ^ uint(sum.y > a.z ? 1 : 0);
    data[i] = pack32(sum ^ u8vec4(low)) + mixed;
}

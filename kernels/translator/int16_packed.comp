// SPDX-License-Identifier: MIT
// Packed 16-bit integers: add, multiply, shifts, minimum and maximum of pairs, with and without sign.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    u16vec2 a = unpackUint2x16(data[i]), b = unpackUint2x16(data[i + 1024u]);
    i16vec2 s = i16vec2(a), t = i16vec2(b);
    u16vec2 u = a * b + (a << (b & uint16_t(15))) - max(a, b);
    i16vec2 v = max(s, t) - (min(s, t.yx) >> (t & int16_t(7)));
    u16vec2 w = (a >> uint16_t(3)) | (b & u16vec2(0xff0u, 0x0ffu));
    data[i] = packUint2x16(u ^ w) + packUint2x16(u16vec2(v)) * 3u;
}

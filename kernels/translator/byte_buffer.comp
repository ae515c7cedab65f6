// SPDX-License-Identifier: MIT
// Arrays of 8- and 16-bit integers in buffers: narrow loads, with and without sign, and narrow stores.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Bytes { uint8_t bytes[]; };
layout(std430, set = 0, binding = 1) readonly buffer Signed { int8_t signed_[]; };
layout(std430, set = 0, binding = 2) buffer Shorts { int16_t shorts[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Out { uint8_t to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    int sum = int(bytes[i * 3u]) + int(signed_[i + 1u]) * 3 + int(shorts[i]);
    to[i] = uint8_t(sum);
    shorts[i] = int16_t(sum >> 2);
}

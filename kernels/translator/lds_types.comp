// SPDX-License-Identifier: MIT
// LDS with bytes, halves of words, 64-bit words and structures: narrow and wide accesses.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uvec4 data[]; };
struct Pair { uint64_t wide; uvec3 three; };
shared uint8_t bytes[64];
shared int16_t shorts[64];
shared Pair pairs[64];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    uvec4 word = data[i];
    bytes[lane] = uint8_t(word.x);
    shorts[lane] = int16_t(word.y);
    pairs[lane] = Pair(packUint2x32(word.xz), word.yzw);
    barrier();
    Pair other = pairs[lane ^ 33u];
    uvec2 wide = unpackUint2x32(other.wide + uint64_t(uint(bytes[63u - lane])));
    data[i] = uvec4(wide, other.three.z + uint(int(shorts[(lane + 5u) & 63u])), other.three.x);
}

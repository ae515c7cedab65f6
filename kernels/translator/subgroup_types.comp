// SPDX-License-Identifier: MIT
// Subgroup operations on 64-bit, 16-bit and 8-bit integers, and on vectors.
#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint64_t data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint64_t word = data[i];
    uint16_t half_ = uint16_t(word);
    uint8_t byte = uint8_t(word >> 16);
    uint64_t sum = subgroupClusteredAdd(word, 4u) ^ subgroupClusteredMax(word, 8u);
    sum += uint64_t(subgroupClusteredAdd(half_, 8u)) + uint64_t(subgroupShuffleXor(half_, uint16_t(3)));
    sum ^= uint64_t(subgroupClusteredMin(byte, 4u)) << 40;
    uvec3 three = subgroupShuffleXor(uvec3(uint(word), i, uint(word >> 32)), 6u);
    data[i] = sum + uint64_t(three.x) * uint64_t(three.y) + uint64_t(three.z);
}

// SPDX-License-Identifier: MIT
// Subgroup sums and extremes of f32 with exact results, and shuffles of f64.
#version 460
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { double to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    float value = float(int(from[i] & 0xffffu) - 30000);
    float sum = subgroupClusteredAdd(value, 8u) + subgroupClusteredMax(value, 4u) - subgroupClusteredMin(value, 2u);
    double wide = double(value) * 0.5lf;
    to[i] = double(sum) + subgroupShuffleXor(wide, 4u);
}

// SPDX-License-Identifier: MIT
// Inclusive and exclusive scans of the subgroup, made scans of the workgroup by its subgroups' totals in LDS.
#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint totals[128];

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    uint scanned = subgroupInclusiveAdd(word), before = subgroupExclusiveAdd(word);
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1u)
        totals[gl_SubgroupID] = scanned;
    barrier();
    for (uint s = 0u; s < gl_SubgroupID; s++) {
        scanned += totals[s];
        before += totals[s];
    }
    data[i] = scanned;
    data[i + 1024u] = before;
}

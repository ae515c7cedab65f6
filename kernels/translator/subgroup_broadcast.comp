// SPDX-License-Identifier: MIT
// Broadcasts of the first lane that is there, and of a lane of the group's own choice.
#version 460
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint first;

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    if (lane == 0u)
        first = 999u;
    barrier();
    uint word = data[i], found = 77u;
    if ((word & 7u) == 5u) {
        found = subgroupBroadcastFirst(lane);
        atomicMin(first, found);
    }
    barrier();
    uint of_group = subgroupBroadcast(data[gl_WorkGroupID.x + 2048u], 5u);
    uint start = subgroupBroadcastFirst(lane - gl_SubgroupInvocationID);
    data[i] = first + of_group + (start + gl_SubgroupInvocationID == lane ? 1000u : 0u) + (found <= lane ? 4u : 0u);
}

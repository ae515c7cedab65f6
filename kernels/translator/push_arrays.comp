// SPDX-License-Identifier: MIT
// Push constants of 128 bytes, arrays among them that are indexed by the workgroup's number and in a loop.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uvec4 head; uint table[16]; uvec2 pair[3]; uint tail[4]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, word = data[i];
    uint sum = word * head.y + pair[gl_WorkGroupID.x % 3u].y;
    for (uint n = 0u; n < (head.z & 15u); n++)
        sum = sum * 3u + table[n];
    data[i] = sum ^ tail[3] + head.w + table[gl_WorkGroupID.x & 15u];
}

// SPDX-License-Identifier: MIT
// An array of storage blocks, indexed by constants and by a number that is the same for the workgroup.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 2) buffer Block { uint head; uint data[]; } blocks[4];

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint which = (gl_WorkGroupID.x + blocks[0].head) & 3u;
    uint word = blocks[which].data[i] + blocks[(which + 1u) & 3u].head;
    blocks[3].data[i + 1024u] = word ^ blocks[1].data[i];
    blocks[which].data[i + 2048u] = word * 3u;
}

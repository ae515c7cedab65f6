// SPDX-License-Identifier: MIT
// An array of storage blocks, indexed by a number of each thread: compilers loop over the descriptors there are.
#version 460
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; } sources[3];
layout(std430, set = 0, binding = 1) buffer To { uint to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint which = to[i] % 3u;
    to[i] = sources[nonuniformEXT(which)].from[i] ^ which;
}

// SPDX-License-Identifier: MIT
// Conditions with && and || whose right sides write memory, nested selects, and conditions kept for later.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

bool noted(uint i, uint value)
{
    data[i] += value;
    return (data[i] & 2u) != 0u;
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    bool a = (word & 1u) != 0u && noted(i, 5u);
    bool b = (word & 4u) == 0u || noted(i + 1024u, 9u);
    bool c = a != b && (noted(i, 1u) || noted(i + 2048u, 3u));
    uint chosen = a ? b ? 1u : c ? 2u : 3u : b || c ? 4u : 5u;
    data[i + 3072u] = chosen + (a ^^ c ? 16u : 0u);
}

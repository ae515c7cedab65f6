// SPDX-License-Identifier: MIT
// Functions: arguments in and out, structures returned, returns in the middle, calls in conditions.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
struct Parts { uint low; uint high; bool odd; };

Parts take_apart(uint word)
{
    if ((word & 1u) != 0u)
        return Parts(word & 0xffffu, word >> 16, true);
    return Parts(word >> 16, word & 0xffffu, false);
}

bool step_once(inout uint state, uint by, out uint before)
{
    before = state;
    if (state > 0xf0000000u)
        return false;
    state = state * 5u + by;
    return (state & 0x30u) != 0u;
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    Parts parts = take_apart(data[i]);
    uint state = parts.low, before = 0u, n = 0u;
    while (n < 20u && step_once(state, parts.high, before))
        n++;
    data[i] = state + before * 3u + n * (parts.odd ? 7u : 11u);
}

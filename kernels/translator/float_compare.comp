// SPDX-License-Identifier: MIT
// Comparisons of f32, of NaN, infinities and both zeros too, in branches and in selects.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

float special(uint word)
{
    switch (word & 7u) {
    case 0u: return uintBitsToFloat(0x7fc00000u);
    case 1u: return uintBitsToFloat(0x7f800000u);
    case 2u: return uintBitsToFloat(0xff800000u);
    case 3u: return uintBitsToFloat(0x80000000u);
    case 4u: return 0.0;
    default: return float(int(word >> 3 & 15u) - 8);
    }
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    float a = special(data[i]), b = special(data[i] >> 8);
    uint found = (a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a > b ? 4u : 0u) | (a >= b ? 8u : 0u);
    found |= (a == b ? 16u : 0u) | (a != b ? 32u : 0u) | (!(a < b) ? 64u : 0u) | (isinf(a) ? 128u : 0u);
    if (a < b || isnan(b))
        found |= 256u;
    if (!(a >= b) && !isnan(a))
        found |= 512u;
    data[i] = found;
}

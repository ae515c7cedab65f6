// SPDX-License-Identifier: MIT
// Variable-length codes read from a bit stream, a number of bits at a time: loads that depend on loads.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Bits { uint bits[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, at = i * 173u, sum = 0u;
    for (uint n = 0u; n < 12u; n++) {
        uint word = bits[(at >> 5) & 4095u], shift = at & 31u;
        if (shift != 0u)
            word = word >> shift | bits[((at >> 5) + 1u) & 4095u] << (32u - shift);
        uint length_ = min(uint(findLSB(word | 0x80u)), 7u) + 1u;
        sum = sum * 17u + (word >> length_ & ((1u << length_) - 1u)) + length_;
        at += 2u * length_;
    }
    to[i] = sum;
}

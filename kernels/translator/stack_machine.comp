// SPDX-License-Identifier: MIT
// A machine with a private stack runs words of a buffer: a switch, indexed arrays and a loop in one.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Code { uint code[]; };
layout(std430, set = 0, binding = 1) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x, top = 0u, pc = data[i] & 63u;
    uint stack[8];
    for (int n = 0; n < 8; n++)
        stack[n] = data[i] + uint(n);
    for (uint steps = 0u; steps < 50u; steps++) {
        uint word = code[(pc + (steps & 3u) * 64u) & 1023u];
        uint below = (top + 7u) & 7u;
        pc++;
        switch (word & 7u) {
        case 0u: top = (top + 1u) & 7u; stack[top] = word >> 3; break;
        case 1u: stack[below] += stack[top]; top = below; break;
        case 2u: stack[below] ^= stack[top] << 1; top = below; break;
        case 3u: if ((stack[top] & 1u) != 0u) pc += word >> 3 & 15u; break;
        case 4u: stack[top] = stack[(top - (word >> 3)) & 7u]; break;
        case 5u: stack[top] = ~stack[top]; break;
        case 6u: if (stack[top] > 0xe0000000u) steps = 50u; break;
        default: stack[top] *= 3u;
        }
    }
    data[i] = stack[top] + top + pc * 256u;
}

// SPDX-License-Identifier: MIT
// Between integers and f32: exact and rounded, with and without sign; bits as they are; parts of a float.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    float of_unsigned = float(word), of_signed = float(int(word)), small = float(word & 0xffffffu) * 0.0078125;
    uint sum = floatBitsToUint(of_unsigned) ^ floatBitsToUint(of_signed) * 3u;
    sum += uint(small) + uint(int(-small)) * 5u;
    int exponent;
    float significand = frexp(small + 1.0, exponent);
    float whole;
    float part = modf(small, whole);
    sum ^= floatBitsToUint(significand) + uint(exponent) + floatBitsToUint(ldexp(significand, int(word >> 28) - 8));
    data[i] = sum + floatBitsToUint(part) + floatBitsToUint(whole) + floatBitsToUint(mix(small, whole, part > 0.5));
}

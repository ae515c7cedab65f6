// SPDX-License-Identifier: MIT
// f32 operations that round alike everywhere: sums and products that stay precise, minimum, maximum, rounding, sign.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint word = data[i];
    float a = float(int(word << 8) >> 8) * 0.03125, b = float(word >> 8 & 0xfffffu) - 300000.0;
    precise float sum = a + b * 0.37;
    precise float product = (a - 0.1) * (b + 0.3) - sum;
    float ends = clamp(min(a, b) + abs(max(-a, b)), -1e6, 1e6);
    float rounded = floor(a) + ceil(b * 0.125) * 2.0 + trunc(a * 0.5) + roundEven(b * 0.5);
    float rest = sign(a) + step(0.0, b) + (a < b ? 4.0 : 8.0);
    data[i] = floatBitsToUint(sum) ^ floatBitsToUint(product) + floatBitsToUint(ends + rest) * 3u +
              floatBitsToUint(rounded);
}

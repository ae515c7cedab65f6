// SPDX-License-Identifier: MIT
// Specialisation constants: integers, a truth, floats, 64 bits, the length of an array, and the workgroup's size.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint rounds = 3u;
layout(constant_id = 2) const bool invert = false;
layout(constant_id = 3) const float factor = 1.5;
layout(constant_id = 4) const uint64_t wide = 5ul;
layout(constant_id = 6) const int slots = 2;
layout(constant_id = 9) const double far = 2.0lf;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
layout(std430, set = 0, binding = 1) readonly buffer Head { uint head[slots]; };
shared uint word[slots * 16];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x, x = data[i];
    if (lane < uint(slots * 16))
        word[lane] = x;
    barrier();
    for (uint n = 0u; n < rounds; n++)
        x = x * 3u + word[(x + n) % uint(slots * 16)];
    if (invert)
        x = ~x;
    x += floatBitsToUint(float(x & 0xffffu) * factor) + uint(wide >> 20) * uint(wide) + uint(far);
    data[i] = x + head[slots - 1] + gl_WorkGroupSize.x;
}

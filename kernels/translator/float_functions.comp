// SPDX-License-Identifier: MIT
// Exponentials, logarithms, powers, sine and cosine: near, within what Vulkan allows a device.
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { vec4 to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x;
    float unit = float(from[i] >> 8) / 16777216.0, turn = (unit * 2.0 - 1.0) * 3.0;
    to[2u * i] = vec4(exp2(turn), log2(unit + 0.5), pow(unit + 0.25, 1.5 + unit), exp(unit));
    to[2u * i + 1u] = vec4(sin(turn), cos(turn), atan(unit), length(vec3(unit, turn, 1.0)));
}

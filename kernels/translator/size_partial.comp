// SPDX-License-Identifier: MIT
// A last wave that is not full, with barriers and LDS.
#version 460
layout(local_size_x = 75) in;
layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
shared uint word[75];

void main()
{
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    word[lane] = data[i];
    barrier();
    uint sum = word[74u - lane];
    barrier();
    word[(lane * 2u) % 75u] = sum;
    barrier();
    data[i] = word[lane] + word[(lane + 40u) % 75u];
}

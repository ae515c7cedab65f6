// SPDX-License-Identifier: MIT
// Nested structures in std430: padding after a vec3, arrays in structures, a row-major matrix; wide loads and stores.
#version 460
layout(local_size_x = 64) in;
struct Inner { uvec3 v; uint w; uint pair[2]; };
struct Item { Inner inner[2]; uint tail; };
layout(std430, set = 0, binding = 0) buffer Items { layout(row_major) mat3x4 head; Item items[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uvec4 to[]; };

void main()
{
    uint i = gl_GlobalInvocationID.x & 255u;
    Item item = items[i];
    uint row = floatBitsToUint(head[i % 3u][i & 3u]);
    to[i] = uvec4(item.inner[0].v.zy, item.inner[1].pair[i & 1u], row + item.tail);
    items[i].inner[1].v = item.inner[0].v.yzx + item.inner[1].v;
    items[i].inner[0].pair[1] = item.inner[0].w;
}

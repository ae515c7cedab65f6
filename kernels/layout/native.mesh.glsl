// SPDX-License-Identifier: MIT
// The fixture's mesh program as a native mesh shader: the image oracle, and the anchor of time.
//
// The preamble (guestgpu.fallback) defines the shape:
//   THREADS MAX_VERTICES MAX_PRIMITIVES VERTEX_WORDS PRIMITIVE_WORDS POSITION_WORD CORNERS
//   TASK (with a task stage), and X-macros X(location, qualifier, type, name, load, word) of the outputs:
//   VERTEX_OUTPUTS(X), PRIMITIVE_OUTPUTS(X)
#version 460
#extension GL_EXT_mesh_shader : require
#extension GL_GOOGLE_include_directive : require
#include "layout_shared.h"

layout(local_size_x = THREADS) in;
#if CORNERS == 3
layout(triangles, max_vertices = MAX_VERTICES, max_primitives = MAX_PRIMITIVES) out;
#elif CORNERS == 2
layout(lines, max_vertices = MAX_VERTICES, max_primitives = MAX_PRIMITIVES) out;
#else
layout(points, max_vertices = MAX_VERTICES, max_primitives = MAX_PRIMITIVES) out;
#endif

layout(std430, set = 0, binding = BINDING_MESHLETS) readonly buffer Meshlets { uint meshlets[]; };
layout(std430, set = 0, binding = BINDING_VERTICES) readonly buffer Vertices { uint vertices[]; };
layout(std430, set = 0, binding = BINDING_INDICES) readonly buffer Indices { uint indices[]; };
layout(std430, set = 0, binding = BINDING_PRIMITIVES) readonly buffer Primitives { uint primitives[]; };

#ifdef TASK
struct Payload {
    uint first_meshlet;
    uint payload;
};
taskPayloadSharedEXT Payload task;
#else
layout(push_constant) uniform Push { uint first_workgroup, workgroups, row, tasks; };
#endif

#define DECLARE_VERTEX(l, qualifier, type, name, load, word) layout(location = l) qualifier out type name[];
#define DECLARE_PRIMITIVE(l, qualifier, type, name, load, word) layout(location = l) perprimitiveEXT out type name[];
VERTEX_OUTPUTS(DECLARE_VERTEX)
PRIMITIVE_OUTPUTS(DECLARE_PRIMITIVE)

uint task_word = 0; // with a task stage it stands in the last vertex word

uint vertex_word(uint vertex, uint word)
{
#ifdef TASK
    if (word == VERTEX_WORDS - 1)
        return task_word;
#endif
    return vertices[vertex * VERTEX_WORDS + word];
}
float vertex_float(uint vertex, uint word) { return uintBitsToFloat(vertex_word(vertex, word)); }

float smooth1(uint v, uint w) { return vertex_float(v, w); }
vec2 smooth2(uint v, uint w) { return vec2(smooth1(v, w), smooth1(v, w + 1)); }
vec3 smooth3(uint v, uint w) { return vec3(smooth2(v, w), smooth1(v, w + 2)); }
vec4 smooth4(uint v, uint w) { return vec4(smooth3(v, w), smooth1(v, w + 3)); }
uint flat1(uint v, uint w) { return vertex_word(v, w); }
uvec2 flat2(uint v, uint w) { return uvec2(flat1(v, w), flat1(v, w + 1)); }
uvec3 flat3(uint v, uint w) { return uvec3(flat2(v, w), flat1(v, w + 2)); }
uvec4 flat4(uint v, uint w) { return uvec4(flat3(v, w), flat1(v, w + 3)); }
uint primitive1(uint p, uint w) { return primitives[p * PRIMITIVE_WORDS + w]; }
uvec2 primitive2(uint p, uint w) { return uvec2(primitive1(p, w), primitive1(p, w + 1)); }
uvec3 primitive3(uint p, uint w) { return uvec3(primitive2(p, w), primitive1(p, w + 2)); }
uvec4 primitive4(uint p, uint w) { return uvec4(primitive3(p, w), primitive1(p, w + 3)); }

vec4 position_of(uint vertex)
{
    vec4 position = vec4(0, 0, 0, 1); // components past the vertex's words
    for (uint i = 0; i < min(4u, uint(VERTEX_WORDS - POSITION_WORD)); i++)
        position[i] = vertex_float(vertex, POSITION_WORD + i);
    return position;
}

uint corner_vertex(uint index_first, uint corner, uint last)
{
    uint word = indices[index_first + corner / 4];
    return min(bitfieldExtract(word, int(8 * (corner % 4)), 8), last);
}

void main()
{
#ifdef TASK
    uint linear = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
    uint meshlet = task.first_meshlet + linear;
    task_word = task.payload * 100 + gl_WorkGroupID.x * 10 + gl_NumWorkGroups.x;
#else
    uint meshlet = first_workgroup + gl_WorkGroupID.x + gl_WorkGroupID.y * row;
    if (meshlet >= workgroups) { // the surplus of the last row
        SetMeshOutputsEXT(0, 0);
        return;
    }
#endif
    uint base = meshlet * MESHLET_WORDS;
    uint vertex_count = min(meshlets[base + MESHLET_VERTEX_COUNT], MAX_VERTICES);
    uint primitive_count = min(meshlets[base + MESHLET_PRIMITIVE_COUNT], MAX_PRIMITIVES);
    if (vertex_count == 0 || primitive_count == 0)
        vertex_count = primitive_count = 0;
    SetMeshOutputsEXT(vertex_count, primitive_count);

    for (uint i = gl_LocalInvocationIndex; i < vertex_count; i += THREADS) {
        uint vertex = meshlets[base + MESHLET_VERTEX_FIRST] + i;
        gl_MeshVerticesEXT[i].gl_Position = position_of(vertex);
#if CORNERS == 1
        gl_MeshVerticesEXT[i].gl_PointSize = 1.0;
#endif
#define STORE_VERTEX(l, qualifier, type, name, load, word) name[i] = load(vertex, word);
        VERTEX_OUTPUTS(STORE_VERTEX)
    }
    uint index_first = meshlets[base + MESHLET_INDEX_FIRST], last = vertex_count - 1;
    for (uint i = gl_LocalInvocationIndex; i < primitive_count; i += THREADS) {
#if CORNERS == 3
        gl_PrimitiveTriangleIndicesEXT[i] = uvec3(corner_vertex(index_first, 3 * i, last),
            corner_vertex(index_first, 3 * i + 1, last), corner_vertex(index_first, 3 * i + 2, last));
#elif CORNERS == 2
        gl_PrimitiveLineIndicesEXT[i] =
            uvec2(corner_vertex(index_first, 2 * i, last), corner_vertex(index_first, 2 * i + 1, last));
#else
        gl_PrimitivePointIndicesEXT[i] = corner_vertex(index_first, i, last);
#endif
#define STORE_PRIMITIVE(l, qualifier, type, name, load, word) name[i] = load(primitive, word);
        uint primitive = meshlets[base + MESHLET_PRIMITIVE_FIRST] + i;
        PRIMITIVE_OUTPUTS(STORE_PRIMITIVE)
    }
}

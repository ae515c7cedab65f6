// SPDX-License-Identifier: MIT
// Reads every input, so that no driver drops an output: smooth inputs summed into image 0, flat ones into image 1.
// The preamble defines INPUTS(X), X(location, qualifier, type, name, add), with qualifier smooth, flat or perprimitiveEXT.
#version 460
#extension GL_EXT_mesh_shader : enable

#define DECLARE(l, qualifier, type, name, add) layout(location = l) qualifier in type name;
INPUTS(DECLARE)

layout(location = 0) out vec4 smooth_sum;
layout(location = 1) out vec4 flat_sum;

vec4 sums[2] = vec4[2](vec4(0, 0, 0, 1), vec4(0, 0, 0, 1)); // alpha 1: covered

void add_smooth(float v) { sums[0].x += v; }
void add_smooth(vec2 v) { sums[0].xy += v; }
void add_smooth(vec3 v) { sums[0].xyz += v; }
void add_smooth(vec4 v) { sums[0].xyz += v.xyz + v.w; }
void add_flat(uint v) { sums[1].x += float(v); }
void add_flat(uvec2 v) { sums[1].xy += vec2(v); }
void add_flat(uvec3 v) { sums[1].xyz += vec3(v); }
void add_flat(uvec4 v) { sums[1].xyz += vec3(v.xyz) + float(v.w); }

void main()
{
#define ADD(l, qualifier, type, name, add) add(name);
    INPUTS(ADD)
    smooth_sum = sums[0];
    flat_sum = sums[1];
}

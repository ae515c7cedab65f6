// SPDX-License-Identifier: MIT
// The fixture's task program as a native task shader: one workgroup a task.
#version 460
#extension GL_EXT_mesh_shader : require
#extension GL_GOOGLE_include_directive : require
#include "layout_shared.h"

layout(local_size_x = 1) in;
layout(std430, set = 0, binding = BINDING_TASKS) readonly buffer Tasks { uint tasks[]; };

struct Payload {
    uint first_meshlet;
    uint payload;
};
taskPayloadSharedEXT Payload task;

void main()
{
    uint base = gl_WorkGroupID.x * TASK_WORDS;
    task.first_meshlet = tasks[base + TASK_FIRST_MESHLET];
    task.payload = tasks[base + TASK_PAYLOAD];
    EmitMeshTasksEXT(tasks[base + TASK_GROUPS], tasks[base + TASK_GROUPS + 1], tasks[base + TASK_GROUPS + 2]);
}

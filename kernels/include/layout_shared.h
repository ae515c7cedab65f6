/* SPDX-License-Identifier: MIT */
/* Read by C and by GLSL: where the fixture's data stand. csrc/abi_check.c proves it against the structs. */
#ifndef GG_LAYOUT_SHARED_H
#define GG_LAYOUT_SHARED_H

/* Storage buffers of descriptor set 0. */
#define BINDING_AREA         0
#define BINDING_MESHLETS     1
#define BINDING_VERTICES     2
#define BINDING_INDICES      3
#define BINDING_PRIMITIVES   4
#define BINDING_TASKS        5
#define BINDING_TASK_RECORDS 6

/* Words of struct gg_meshlet. */
#define MESHLET_WORDS           8
#define MESHLET_VERTEX_FIRST    0
#define MESHLET_VERTEX_COUNT    1
#define MESHLET_INDEX_FIRST     2
#define MESHLET_PRIMITIVE_COUNT 3
#define MESHLET_PRIMITIVE_FIRST 4

/* Words of struct gg_mesh_task. */
#define TASK_WORDS         8
#define TASK_GROUPS        0
#define TASK_FIRST_MESHLET 3
#define TASK_PAYLOAD       4

#endif

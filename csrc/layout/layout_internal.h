/* SPDX-License-Identifier: MIT */
#ifndef GG_LAYOUT_INTERNAL_H
#define GG_LAYOUT_INTERNAL_H

#include <guestgpu/layout.h>

#include "../common/message.h"
#include "../spirv/spirv_builder.h"

enum {
    GG_PUSH_FIRST_WORKGROUP,
    GG_PUSH_WORKGROUPS,
    GG_PUSH_ROW,
    GG_PUSH_TASKS,
    GG_PUSH_WORDS
};

enum { /* words of the header */
    GG_HEADER_VERTEX_COUNT = 0,
    GG_HEADER_INSTANCE_COUNT = 1,
    GG_HEADER_FIRST_VERTEX = 2,
    GG_HEADER_ALLOCATOR = 4,
    GG_HEADER_DISPATCH = 5,
    GG_HEADER_NEEDED = 8,
    GG_HEADER_CAPACITY = 9,
    GG_HEADER_CUT = 10,
    GG_HEADER_INDEXED = 11,
};

/* Checks a shape and writes it to *out with its defaults filled in. */
int32_t gg_layout_check_shape(const struct gg_mesh_shape *shape, struct gg_mesh_shape *out, char **message);

/* A module under construction that sees the fixture's buffers and push constants. */
struct gg_shader {
    struct gg_spirv s;
    uint32_t buffer[GG_LAYOUT_BUFFERS]; /* variables; 0 until gg_shader_buffer() asks for it */
    uint32_t push;                      /* variable; 0 until used */
};

/* Pointer to word `index` of a storage buffer; the vertex stage declares its buffer read-only. */
uint32_t gg_shader_word(struct gg_shader *h, enum gg_layout_buffer binding, uint32_t index);
uint32_t gg_shader_load_word(struct gg_shader *h, enum gg_layout_buffer binding, uint32_t index);
uint32_t gg_shader_header(struct gg_shader *h, uint32_t word); /* pointer to a header word */
uint32_t gg_shader_push(struct gg_shader *h, uint32_t word);   /* value of a push constant */
/* Pointer to element `index` of a Workgroup array of u32. */
uint32_t gg_shader_element(struct gg_shader *h, uint32_t array, uint32_t index);
/* The fit: a constant, or from header word 9. */
uint32_t gg_shader_fit(struct gg_shader *h, const struct gg_layout_plan *plan, const struct gg_layout_options *options);

/*
 * The stage buffer, in workgroup memory, and what a mesh program and the epilogue share. A program
 * leaves behind, for every workgroup whose number is in range: both counts, the words of vertex v at
 * vertices[word * max_vertices + v] (lines, so that invocations of neighbouring vertices write
 * neighbouring words), index bytes packed four a word in corner order, and the words of primitive p
 * at primitives[word * max_primitives + p]. It need not synchronise: the epilogue begins with a barrier.
 */
struct gg_mesh_stage {
    struct gg_shader h;
    struct gg_mesh_shape shape;
    struct gg_layout_options options;
    struct gg_layout_plan plan;
    uint32_t counts, vertices, indices, primitives; /* Workgroup variables; primitives is 0 without such words */
    uint32_t slot, used;                            /* the epilogue's: first slot, vertices its primitives use */
    uint32_t thread;                                /* LocalInvocationIndex */
    uint32_t threads;                               /* constant */
    uint32_t workgroup;                             /* its number, see layout.h */
};

/*
 * Emits a mesh stage around a program: prologue, program, epilogue of the layout. `program` emits
 * straight or structured code into the open block; control must come back to its end.
 */
typedef void gg_mesh_program(struct gg_mesh_stage *stage, void *user);
int32_t gg_mesh_stage_emit(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                           gg_mesh_program *program, void *user, uint32_t **words, uint64_t *word_count,
                           char **message);

/* The parts of it. The fixture program of fixture.c is one such program. */
void gg_mesh_epilogue(struct gg_mesh_stage *stage);
/* The number of mesh workgroups that the tasks emitted: `start` of the record past the last task. */
uint32_t gg_shader_task_total(struct gg_shader *h);

#endif

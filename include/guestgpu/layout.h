/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_LAYOUT_H
#define GUESTGPU_LAYOUT_H

/*
 * The compute fallback of mesh shaders. A mesh program runs as a compute dispatch (the mesh stage),
 * leaves what it produced in workgroup memory (the stage buffer), an epilogue stores it as records in
 * one storage buffer (the area), and a generated vertex stage draws the area indirectly.
 * Words are 32 bits. Docs: docs/layouts.md.
 *
 * Header of the area, in words. 8 words in aos and soa, 16 in indexed or when asked for:
 *   0-3    VkDrawIndirectCommand; vertexCount grows by what fits, instanceCount 1; stays 0 in indexed
 *   4      allocator: slots taken; only ever grows, and may pass the fit
 *   5-7    VkDispatchIndirectCommand of the mesh stage, written by a task stage
 *   8-10   slots needed (census), capacity of the area in words (run-time fit), slots cut
 *   11-15  VkDrawIndexedIndirectCommand; indexCount grows by the slots drawn
 *
 * Storage buffers of every module here (descriptor set 0):
 *   0 area; 1 meshlets; 2 vertex words; 3 packed index bytes; 4 primitive words; 5 tasks; 6 task records
 * Push constants, in words: 0 first workgroup, 1 workgroups in all, 2 workgroups a row, 3 tasks in all.
 * A workgroup's number is push[0] + WorkGroupID.x + WorkGroupID.y * push[2]; numbers from push[1] on
 * do nothing (a count above the device's limit is dispatched as rows). With a task stage push[1] is
 * not used: the number of workgroups comes from the task records.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

#define GG_LAYOUT_HEADER_SHORT 8
#define GG_LAYOUT_HEADER_LONG  16
#define GG_LAYOUT_MAX_OUTPUT   256      /* vertices, and primitives, of one workgroup */
#define GG_LAYOUT_MAX_RECORD   128      /* words of a record */
#define GG_LAYOUT_MAX_OUTPUTS  32       /* outputs of the vertex stage */
#define GG_LAYOUT_DEFAULT_AREA 67108864 /* bytes: 64 MiB */

enum gg_layout_buffer { /* bindings, see above */
    GG_LAYOUT_BUFFER_AREA = 0,
    GG_LAYOUT_BUFFER_MESHLETS = 1,
    GG_LAYOUT_BUFFER_VERTICES = 2,
    GG_LAYOUT_BUFFER_INDICES = 3,
    GG_LAYOUT_BUFFER_PRIMITIVES = 4,
    GG_LAYOUT_BUFFER_TASKS = 5,
    GG_LAYOUT_BUFFER_TASK_RECORDS = 6,
    GG_LAYOUT_BUFFERS = 7,
    GG_LAYOUT_BUFFER_FORCE_32 = 0x7fffffff
};

enum gg_layout {
    GG_LAYOUT_UNSET = 0, /* nothing chosen: aos */
    GG_LAYOUT_AOS = 1,
    GG_LAYOUT_SOA = 2,
    GG_LAYOUT_INDEXED = 3,
    GG_LAYOUT_FORCE_32 = 0x7fffffff
};

enum gg_topology {
    GG_TOPOLOGY_TRIANGLES = 0,
    GG_TOPOLOGY_LINES = 1,
    GG_TOPOLOGY_POINTS = 2,
    GG_TOPOLOGY_FORCE_32 = 0x7fffffff
};

enum gg_output_kind {
    GG_OUTPUT_SMOOTH = 0,     /* floats, interpolated with perspective */
    GG_OUTPUT_FLAT = 1,       /* unsigned integers, flat: the provoking vertex's */
    GG_OUTPUT_POINT_SIZE = 2, /* one float to PointSize; without it points have size 1 */
    GG_OUTPUT_KIND_FORCE_32 = 0x7fffffff
};

/* One output of the vertex stage: `words` words of the record from `word` on, to `location`. */
struct gg_mesh_output {
    uint32_t kind; /* enum gg_output_kind */
    uint32_t location;
    uint32_t word;  /* in the record: vertex words first, then the primitive's; the latter only GG_OUTPUT_FLAT */
    uint32_t words; /* 1 to 4 */
};

/* What a mesh program declares. */
struct gg_mesh_shape {
    uint32_t topology;        /* enum gg_topology */
    uint32_t threads;         /* of a workgroup, 1 to 1024; 0 means 128 */
    uint32_t max_vertices;    /* 1 to 256 */
    uint32_t max_primitives;  /* 1 to 256 */
    uint32_t vertex_words;    /* 1 to 128 */
    uint32_t primitive_words; /* 0 to 127; vertex_words + primitive_words is at most 128 */
    uint32_t position_word;   /* first of the position's 4 vertex words; words past the vertex read as (0, 0, 0, 1) */
    uint32_t task;            /* 1: the mesh stage is started by a task stage */
    uint32_t output_count;
    struct gg_mesh_output outputs[GG_LAYOUT_MAX_OUTPUTS];
};

/* Deliberate faults, so that a test can show that it would notice them. Never set one otherwise. */
enum gg_layout_mutation {
    GG_MUTATION_NONE = 0,
    GG_MUTATION_ROTATED_INDICES = 1,   /* corner k of a triangle is stored as corner k + 1 */
    GG_MUTATION_LOCAL_INDICES = 2,     /* indexed: workgroup-local indices, without the base */
    GG_MUTATION_COUNT_CUT_SLOTS = 3,   /* slots that did not fit are counted into the draw */
    GG_MUTATION_CORNER_SLOTS_ONLY = 4, /* indexed: slots taken for the corners only */
    GG_MUTATION_VERTEX_STRIDE = 5,     /* the vertex stage reads with a wrong line stride */
    GG_MUTATION_FORCE_32 = 0x7fffffff
};

struct gg_layout_options {
    uint32_t layout;      /* enum gg_layout */
    uint32_t long_header; /* 1: 16 words even where 8 would do (programs that share an area with indexed ones) */
    uint32_t runtime_fit; /* 1: the fit follows header word 9 instead of area_bytes; implies the long header */
    uint32_t census;      /* 1: header words 8 and 10 are counted; implies the long header */
    uint64_t area_bytes;  /* a multiple of 4; 0 means 64 MiB */
    uint32_t mutation;    /* enum gg_layout_mutation */
    uint32_t reserved;    /* 0 */
};

/* What follows from shape and options: the fit maths. */
struct gg_layout_plan {
    uint32_t layout;       /* as emitted: indexed falls back to soa for lines, points and per-primitive words */
    uint32_t indexed;      /* 1: drawn indexed */
    uint32_t header_words; /* H: 8 or 16 */
    uint32_t corners;      /* of a primitive: 3, 2 or 1 */
    uint32_t record_words; /* vertex words + primitive words */
    uint32_t slot_words;   /* record words, and one more for the index in indexed */
    uint32_t fit;          /* slots the area holds = (area words - H) / slot words */
    uint32_t stage_bytes;  /* workgroup memory of the mesh stage */
    uint64_t area_words;
    uint64_t index_word;     /* indexed: first word of the index line; else 0 */
    uint32_t max_slots;      /* the most slots one workgroup takes */
    uint32_t max_workgroups; /* of one area without a reset: their slots stay below 2^32 */
};

/* GG_ERR_ARGUMENT names the member that is wrong; GG_ERR_LIMIT: the area is too small for one full workgroup. */
int32_t gg_layout_plan(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                       struct gg_layout_plan *plan, char **message);

/*
 * Modules, as SPIR-V 1.6 words to be freed with gg_free().
 *   mesh    the fixture program (it copies a meshlet from buffers 1-4 into the stage buffer) and the
 *           epilogue of the layout. Compute; `threads` invocations.
 *   vertex  the generated vertex stage: reads buffer 0 by VertexIndex.
 *   task    the fixture's task program: copies a task from buffer 5 to its record in buffer 6. One
 *           workgroup of one invocation a task; the same in every layout.
 *   scan    after the tasks: orders their workgroups (lower tasks first) and writes header words 5-7.
 *           One workgroup; the same in every layout.
 * With aos (or nothing) chosen the bytes never change between releases (tests/layout/golden).
 */
int32_t gg_layout_emit_mesh(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                            uint32_t **words, uint64_t *word_count, char **message);
int32_t gg_layout_emit_vertex(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                              uint32_t **words, uint64_t *word_count, char **message);
int32_t gg_layout_emit_task(uint32_t **words, uint64_t *word_count, char **message);
int32_t gg_layout_emit_scan(uint32_t **words, uint64_t *word_count, char **message);

/* Input of the fixture program: buffer 1. */
struct gg_meshlet {
    uint32_t vertex_first;    /* in buffer 2, in vertices */
    uint32_t vertex_count;    /* as the program reports it; may be above the most */
    uint32_t index_first;     /* in buffer 3, in words; four index bytes a word, corner 0 in the lowest byte */
    uint32_t primitive_count; /* likewise reported */
    uint32_t primitive_first; /* in buffer 4, in primitives */
    uint32_t reserved[3];     /* 0 */
};

/* Input of the fixture's task program: buffer 5. */
struct gg_mesh_task {
    uint32_t groups[3];     /* mesh workgroups emitted; any may be 0 */
    uint32_t first_meshlet; /* its workgroup i (linear) runs meshlet first_meshlet + i */
    uint32_t payload;       /* read by its workgroups, see below */
    uint32_t reserved[3];   /* 0 */
};

/*
 * Its output: buffer 6, one a task and one more at the end whose `start` is the total.
 * With a task stage the fixture program replaces the last vertex word of every vertex by
 * payload * 100 + WorkGroupID.x * 10 + NumWorkGroups.x, both as the task's own children see them.
 */
struct gg_task_record {
    uint32_t groups[3];
    uint32_t start; /* number of its first mesh workgroup; written by the scan */
    uint32_t first_meshlet;
    uint32_t payload;
    uint32_t reserved[2];
};

/* Everything the host model reads: the contents of buffers 1 to 5. */
struct gg_mesh_batch {
    const struct gg_meshlet *meshlets;
    const uint32_t *vertices;   /* vertex_count * vertex_words */
    const uint32_t *indices;    /* packed bytes */
    const uint32_t *primitives; /* primitive_count * primitive_words */
    const struct gg_mesh_task *tasks;
    uint32_t meshlet_count;
    uint32_t vertex_count;
    uint32_t index_words;
    uint32_t primitive_count;
    uint32_t task_count; /* 0 unless the shape has a task stage */
    uint32_t reserved;   /* 0 */
};

/*
 * The host model: the oracle of the mesh stage. Runs the workgroups in the given order (NULL: 0, 1, …)
 * on an area that was reset, and writes into `area` (plan.area_words words; an area_words below that
 * is GG_ERR_LIMIT) exactly the words that the device writes; others keep what they held. order: a
 * permutation of the workgroup numbers, or a part of it (order_count). Shares no code with the emitter.
 * GG_ERR_ARGUMENT when a meshlet points outside its arrays; nothing is guessed.
 */
int32_t gg_layout_model_mesh(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                             const struct gg_mesh_batch *batch, const uint32_t *order, uint32_t order_count,
                             uint32_t *area, uint64_t area_words, char **message);

/* Mesh workgroups of a batch: its meshlets, or what its tasks emit. */
int32_t gg_layout_model_workgroups(const struct gg_mesh_shape *shape, const struct gg_mesh_batch *batch,
                                   uint64_t *workgroups, char **message);

/*
 * What the draw of an area fetches: one record of record_words a corner, in draw order; padding
 * (indexed) included. records holds capacity corners; *corner_count receives how many there are.
 * An index or record outside the area is GG_ERR_FORMAT naming the corner: it must not happen.
 */
int32_t gg_layout_model_draw(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                             const uint32_t *area, uint64_t area_words, uint32_t *records, uint64_t capacity,
                             uint64_t *corner_count, char **message);

/*
 * The meshlets' own primitives, from the batch alone, without any layout: the corners that a draw must
 * fetch when everything fits, workgroup after workgroup in `order`; groups[i] (may be NULL) receives
 * the workgroup of corner i. Like gg_layout_model_draw without the padding.
 */
int32_t gg_layout_model_primitives(const struct gg_mesh_shape *shape, const struct gg_mesh_batch *batch,
                                   const uint32_t *order, uint32_t order_count, uint32_t *records, uint32_t *groups,
                                   uint64_t capacity, uint64_t *corner_count, char **message);

/*
 * The host's part, as commands. `area` is the area's number in the buffer table.
 */
#define GG_LAYOUT_MAX_FILLS 10

/* Fills that reset the header before the dispatches: four, three more in indexed, without overlap. */
int32_t gg_layout_record_fills(const struct gg_layout_plan *plan, const struct gg_layout_options *options,
                               uint32_t area, struct gg_command commands[GG_LAYOUT_MAX_FILLS], uint32_t *count,
                               char **message);

/* What a recording thread tracks between draws; zero-initialise it when a command buffer begins. */
struct gg_layout_recorder {
    uint32_t guest_buffer;     /* what the guest bound last */
    uint32_t guest_index_size; /* bytes an index; 0: nothing bound yet */
    uint64_t guest_offset;
    uint32_t bound_buffer;     /* what the command buffer has bound */
    uint32_t bound_index_size; /* 0: nothing bound yet */
    uint64_t bound_offset;
};

/* The guest binds its index buffer: remembered, recorded when it draws. index_size is 1, 2 or 4. */
int32_t gg_layout_recorder_bind_index(struct gg_layout_recorder *recorder, uint32_t buffer, uint64_t offset,
                                      uint32_t index_size, char **message);
/* The guest's own indexed draw: its binding first where it is not in place. At most 2 commands. */
int32_t gg_layout_recorder_draw_indexed(struct gg_layout_recorder *recorder, const uint32_t draw[5],
                                        struct gg_command commands[2], uint32_t *count, char **message);
/* The draw of the records: the plain indirect draw of the header, or the index line bound and drawn indexed. */
int32_t gg_layout_recorder_draw_records(struct gg_layout_recorder *recorder, const struct gg_layout_plan *plan,
                                        uint32_t area, struct gg_command commands[2], uint32_t *count, char **message);

/*
 * The record head of a stored translated program, 32 bytes, little-endian, with magic, version and
 * checksum; and the store's stamp, the layout switch it was written under.
 */
#define GG_LAYOUT_HEAD_BYTES 32

struct gg_layout_head {
    uint32_t layout;  /* the layout it was emitted for, as in the plan */
    uint32_t indexed; /* whether it draws indexed */
    uint32_t header_words;
    uint32_t record_words;
    uint32_t stamp; /* enum gg_layout: the switch when it was stored */
};

int32_t gg_layout_head_write(const struct gg_layout_head *head, uint8_t bytes[GG_LAYOUT_HEAD_BYTES], char **message);
int32_t gg_layout_head_read(const uint8_t *bytes, uint64_t size, struct gg_layout_head *head, char **message);
/*
 * 1 if a program stored with this head serves under the switch: it was left unset, or chooses the
 * layout that the stamp chose (unset and aos choose the same). 0: translate again.
 */
uint32_t gg_layout_head_serves(const struct gg_layout_head *head, uint32_t layout_switch);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

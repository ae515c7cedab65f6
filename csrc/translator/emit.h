/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_EMIT_H
#define GG_TRANSLATOR_EMIT_H

/*
 * IR to SPIR-V. An invocation carries k lanes of a guest wave: a lane value is k dwords, a mask k bits. Code of
 * lanes stands in rolled loops, one for each run of operations that no lane needs of another (a region);
 * what a region leaves for others goes to arrays.
 *
 * Storage buffers of the module (descriptor set 0):
 *   0 guest memory: the windows' bytes one after the other, each from a multiple of 4 on
 *   1 launch: words 0-15 user data, 16-18 first workgroup, 19 number of windows, then 6 words a window: address
 *     low and high, size in bytes low and high, first word in buffer 0, 0
 *   2 counters: accesses outside the windows: reads, writes; from word 2 on 64 locks of atomics of 64 bits, 0
 */
#include "ir.h"

#include "../spirv/spirv_builder.h"

enum {
    GG_EMIT_MEMORY = 0,
    GG_EMIT_LAUNCH = 1,
    GG_EMIT_COUNTERS = 2,
    GG_EMIT_BUFFERS = 3
};
enum {
    GG_LAUNCH_USER_DATA = 0,
    GG_LAUNCH_FIRST_GROUP = 16,
    GG_LAUNCH_WINDOWS = 19,
    GG_LAUNCH_TABLE = 20
};
#define GG_LAUNCH_WINDOW_WORDS 6u
#define GG_EMIT_FIRST_LOCK     2u
#define GG_EMIT_LOCKS          64u

struct gg_emit {
    struct gg_spirv s;
    const struct gg_ir *ir;
    const struct gg_guest_program *program;
    struct gg_arena *arena;
    uint32_t k;     /* lanes an invocation carries */
    uint32_t words; /* of a mask: (k + 31) / 32 */
    uint32_t waves; /* of a workgroup */
    uint32_t threads;
    uint32_t buffer[GG_EMIT_BUFFERS];
    uint32_t lds; /* Workgroup array, 0 without LDS */
    uint32_t lds_words;
    uint32_t wave;         /* value: this wave's number in the group */
    uint32_t group;        /* value: WorkgroupId */
    uint32_t fma32, fma64; /* functions, 0 until they are needed: emit_double.c */
    uint32_t place, load_function[GG_IR_MEM_KINDS], store_function[3]; /* emit_memory.c */
    uint32_t *region;    /* of each value: 0 for scalars, else the region that makes it */
    bool *stored;        /* of each value: it has a variable */
    bool *after_region;  /* of each scalar: the region before it must have run */
    uint32_t *variable;  /* of each value: a Function variable, an array for lanes and masks */
    uint32_t *phi_input; /* of each phi: what its predecessors write */
    uint32_t *id;        /* of each value: its id in the code that is open, 0 if it has none there */
    gg_value *ids_used;  /* values with an id, to forget them when the block ends */
    uint32_t ids_count;
    uint32_t lane;       /* in a region: index of the lane in this invocation; else 0 */
    uint32_t pc, parked; /* variables of the dispatch loop */
};

/* The module of a program in wave mode: k lanes an invocation, k the wave size. */
int32_t gg_emit_module(const struct gg_ir *ir, struct gg_arena *arena, const struct gg_guest_program *program,
                       uint32_t **words, uint64_t *word_count, char **message);

/* Which values go to variables, and which region makes them (emit_region.c). */
int32_t gg_emit_plan(struct gg_emit *e, char **message);
bool gg_emit_is_lane_op(const struct gg_ir_value *v);

/* The code of one block but for its end. */
void gg_emit_block(struct gg_emit *e, uint32_t block);

/* Operands in the code that is open. A bit is a SPIR-V bool. */
uint32_t gg_emit_word(struct gg_emit *e, gg_value value);                       /* S */
uint32_t gg_emit_bit(struct gg_emit *e, gg_value value);                        /* B */
uint32_t gg_emit_lane_word(struct gg_emit *e, gg_value value);                  /* V or S, of this lane */
uint32_t gg_emit_lane_bit(struct gg_emit *e, gg_value value);                   /* M or B, of this lane */
uint32_t gg_emit_mask_word(struct gg_emit *e, gg_value value, uint32_t word);   /* of an M, outside regions */
uint32_t gg_emit_element(struct gg_emit *e, uint32_t variable, uint32_t index); /* pointer into a Function array */

/* One operation: emit_ops.c gives the id of a lane's or scalar's result. */
uint32_t gg_emit_pure(struct gg_emit *e, const struct gg_ir_value *v, bool lane);

uint32_t gg_emit_double(struct gg_emit *e, const struct gg_ir_value *v, const uint32_t *bits); /* emit_double.c */
uint32_t gg_emit_fma32(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t c); /* of f32, rounded once */

/* emit_memory.c */
void gg_emit_memory_functions(struct gg_emit *e);
uint32_t gg_emit_memory(struct gg_emit *e, const struct gg_ir_value *v);
/* emit_update.c: the old dword at a pointer, which becomes enum gg_ir_update of it. */
uint32_t gg_emit_update(struct gg_emit *e, uint32_t kind, SpvScope scope, uint32_t pointer, uint32_t data,
                        uint32_t second);
/* emit_wide.c: atomics of 64 bits: the old low dword; of wide_high the high one. */
uint32_t gg_emit_wide(struct gg_emit *e, const struct gg_ir_value *v);
/* emit_flow.c: the dispatch loop, and the phases around it where waves meet. */
void gg_emit_flow(struct gg_emit *e);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_EMIT_H
#define GG_TRANSLATOR_EMIT_H

/*
 * IR to SPIR-V. An invocation carries k lanes of a guest wave, and wave / k invocations, a subgroup of the host,
 * carry the wave. Lane values are held in one of two ways:
 *
 *   rolled  k is the wave: a lane value is k dwords of a storage buffer or, if asked for, of an array; a mask
 *           its words. Code of lanes stands in loops, one for each run of operations that no lane needs of another
 *           (a region, emit_region.c).
 *   flat    k is smaller: a lane value is k ids, a mask k bools; each operation stands k times. Lane j * subgroup +
 *           invocation is copy j. Words of masks are made by ballots.
 *
 * Scalars are dwords; in the flat form each invocation of the subgroup computes the same.
 *
 * Memory operations of more than two lanes go through batches (emit_batch.c): their operands wait in arrays, and one
 * loop does them all, since a driver compiles each access that stands in the code.
 *
 * Storage buffers of the module (descriptor set 0):
 *   0 guest memory: the windows' bytes one after the other, each from a multiple of 4 on
 *   1 launch: words 0-15 user data, 16-18 first workgroup, 19 number of windows, then 6 words a window: address
 *     low and high, size in bytes low and high, first word in buffer 0, 0
 *   2 counters: accesses outside the windows: reads, writes; from word 2 on 64 locks of atomics of 64 bits, 0
 *   3 rolled: registers, so many words an invocation as the report says
 */
#include "ir.h"

#include "../spirv/spirv_builder.h"

enum {
    GG_EMIT_MEMORY = 0,
    GG_EMIT_LAUNCH = 1,
    GG_EMIT_COUNTERS = 2,
    GG_EMIT_REGISTERS = 3, /* rolled only */
    GG_EMIT_BUFFERS = 4
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

/* What translate.c decides before code is emitted. */
struct gg_emit_form {
    uint32_t lanes;          /* k */
    uint32_t subgroup;       /* invocations of a wave, a host subgroup; 1: no subgroup is relied on */
    bool split_waves;        /* k = 1 without subgroups: lanes never meet, the wave is only a number */
    bool shared_code;        /* memory operations go through batches, whatever k is */
    bool local_registers;    /* rolled lane values stand in Function arrays */
    bool lockstep;           /* a subgroup's invocations never run apart */
    uint32_t reconverge;     /* enum gg_translate_reconverge */
    uint32_t float_controls; /* enum gg_float_control */
    enum gg_emit_barriers {
        GG_EMIT_NO_BARRIERS = 0, /* none, or one wave that waits for itself */
        GG_EMIT_PHASES,
        GG_EMIT_RUNS
    } barriers;
    const uint32_t *run_of; /* of each block, with GG_EMIT_RUNS */
    uint32_t runs;
};

#define GG_EMIT_BATCH 8u /* accesses that one batch takes; its arrays have as many slots for each lane */

struct gg_batch {
    uint16_t op; /* enum gg_ir_opcode of the accesses that wait, 0: none do */
    uint32_t imm, count;
    gg_value values[GG_EMIT_BATCH];
    uint32_t results; /* array that the loop fills, rolled: where among the registers */
};

/* Where rolled lane values are that stand in Function arrays: by unit of k registers. */
struct gg_rolled_array {
    uint32_t variable, first;
};

struct gg_emit {
    struct gg_spirv s;
    const struct gg_ir *ir;
    const struct gg_guest_program *program;
    const struct gg_emit_form *form;
    struct gg_arena *arena;
    uint32_t k;      /* lanes an invocation carries */
    bool flat;       /* k ids a lane value, else an array */
    bool batched;    /* memory operations go through batches */
    uint32_t copies; /* ids of a lane value: k where flat, else 1 */
    uint32_t copy;   /* the one that is being emitted */
    uint32_t words;  /* of a mask: wave / 32 */
    uint32_t waves;  /* of a workgroup */
    uint32_t threads;
    uint32_t buffer[GG_EMIT_BUFFERS];
    uint32_t lds; /* Workgroup array, 0 without LDS */
    uint32_t lds_words;
    uint32_t wave;         /* value: this wave's number in the group */
    uint32_t invocation;   /* value: number of the invocation in its subgroup */
    uint32_t lane_of[64];  /* flat: value: lane of each copy */
    uint32_t group;        /* value: WorkgroupId */
    uint32_t fma32, fma64; /* functions, 0 until they are needed: emit_fma.c */
    uint32_t place, load_function[GG_IR_MEM_KINDS], store_function[3]; /* emit_memory.c */
    uint32_t *region;   /* rolled: of each value: 0 for scalars, else the region that makes it */
    bool *stored;       /* of each value: it has a variable */
    bool *after_region; /* rolled: of each scalar: the region before it must have run */
    /* By gg_emit_slot(): */
    uint32_t *variable;  /* a Function variable; rolled: of a mask an array */
    uint32_t *base;      /* rolled: where a V's dwords begin among the registers */
    uint32_t *phi_input; /* of each phi: a variable that its predecessors write; rolled V: where among the registers */
    uint32_t *high_dwords; /* of each atomic of 64 bits: an array, emit_wide.c */
    uint32_t *id;          /* in the code that is open, 0: none there */
    uint32_t *ids_used;    /* slots with an id, to forget them when the block ends */
    uint32_t ids_count;
    uint32_t register_words, first_register; /* rolled: lane values of an invocation; value: where they begin */
    struct gg_rolled_array *arrays;
    uint32_t never; /* value: 0, which no driver can know */
    uint32_t lane;  /* value: the lane that is being emitted; 0 outside lane code */
    struct gg_batch batch, scalar_batch;
    uint32_t batch_base[GG_IR_ARGS];                      /* rolled: where operands wait among the registers */
    uint32_t batch_array[2][GG_IR_ARGS], batch_result[2]; /* of scalars, of flat lanes; 0 until needed: emit_batch.c */
    uint32_t pc, parked;                                  /* variables of the dispatch loop */
    struct gg_wave_order {
        bool loads, stores; /* the program has such operations */
        uint8_t last;       /* what the block did last: enum in emit_lanes.c */
        uint32_t offset;    /* and by which instruction */
    } order[2];             /* of guest memory, of LDS */
};

/* The module of a program in a form that fits it. */
int32_t gg_emit_module(const struct gg_ir *ir, struct gg_arena *arena, const struct gg_guest_program *program,
                       const struct gg_emit_form *form, uint32_t **words, uint64_t *word_count,
                       uint32_t *register_words, char **message);

/* Which values go to variables, and which region makes them (emit_region.c). */
int32_t gg_emit_plan(struct gg_emit *e, char **message);
bool gg_emit_is_lane_op(const struct gg_emit *e, const struct gg_ir_value *v);

/* The code of one block but for its end. */
void gg_emit_block(struct gg_emit *e, uint32_t block);

/* emit_value.c: operands in the code that is open. A bit is a SPIR-V bool. */
uint32_t gg_emit_slot(const struct gg_emit *e, gg_value value);
void gg_emit_declare_variables(struct gg_emit *e);
void gg_emit_remember(struct gg_emit *e, gg_value value, uint32_t id);
void gg_emit_forget(struct gg_emit *e, uint32_t kept);                          /* all ids but the first so many */
void gg_emit_keep(struct gg_emit *e, gg_value value, uint32_t id);              /* in its variable, if it has one */
uint32_t gg_emit_word(struct gg_emit *e, gg_value value);                       /* S */
uint32_t gg_emit_bit(struct gg_emit *e, gg_value value);                        /* B */
uint32_t gg_emit_lane_word(struct gg_emit *e, gg_value value);                  /* V or S, of this lane */
uint32_t gg_emit_lane_bit(struct gg_emit *e, gg_value value);                   /* M or B, of this lane */
uint32_t gg_emit_mask_word(struct gg_emit *e, gg_value value, uint32_t word);   /* of an M, outside regions */
uint32_t gg_emit_element(struct gg_emit *e, uint32_t variable, uint32_t index); /* pointer into a Function array */
uint32_t gg_emit_rolled(struct gg_emit *e, uint32_t base, uint32_t index);      /* pointer to a rolled lane's dword */
/* for (index = 0; index < count; index++), rolled: drivers that copy the body 64 times may never be done. */
uint32_t gg_emit_begin_loop(struct gg_emit *e, struct gg_spirv_for *loop, uint32_t count);
void gg_emit_pass_to_phis(struct gg_emit *e, uint32_t from, uint32_t to);
void gg_emit_take_phis(struct gg_emit *e, const struct gg_ir_block *block);

/* emit_lanes.c: what crosses lanes, and launch state. */
uint32_t gg_emit_input(struct gg_emit *e, uint32_t which);
uint32_t gg_emit_other_lane(struct gg_emit *e, gg_value value, uint32_t lane); /* S: of a V, modulo the wave */
uint32_t gg_emit_shuffle(struct gg_emit *e, gg_value value, uint32_t lane);    /* of this lane: of the lane named */
uint32_t gg_emit_first_lane(struct gg_emit *e, gg_value mask);                 /* 0 of an empty one */
uint32_t gg_emit_any(struct gg_emit *e, gg_value mask);
uint32_t gg_emit_ballot(struct gg_emit *e, gg_value mask, uint32_t word); /* flat only */
uint32_t gg_emit_uniform(struct gg_emit *e, uint32_t word);               /* the same for the whole wave */
void gg_emit_wave_inputs(struct gg_emit *e);
uint32_t gg_emit_first_register(struct gg_emit *e); /* rolled: where this invocation's begin in buffer 3 */
/* Before a memory operation of lanes: those of the wave have done all that comes before it. */
void gg_emit_order(struct gg_emit *e, const struct gg_ir_value *v);
void gg_emit_wave_barrier(struct gg_emit *e);

/* One operation: emit_ops.c gives the id of a lane's or scalar's result. */
uint32_t gg_emit_pure(struct gg_emit *e, const struct gg_ir_value *v, bool lane);

uint32_t gg_emit_double(struct gg_emit *e, const struct gg_ir_value *v, const uint32_t *bits); /* emit_double.c */
uint32_t gg_emit_fma32(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t c); /* of f32, rounded once: emit_fma.c */

/* emit_memory.c: an access of one lane, or of the scalar unit; args as in ir_ops.def, condition apart (a bool). */
uint32_t gg_emit_access(struct gg_emit *e, uint32_t op, uint32_t imm, const uint32_t *args, uint32_t condition);
uint32_t gg_emit_access_args(uint32_t op); /* how many dwords it takes */
uint32_t gg_emit_memory(struct gg_emit *e, const struct gg_ir_value *v);
uint32_t gg_emit_place(struct gg_emit *e, uint32_t low, uint32_t high, uint32_t bytes); /* in buffer 0, ~0: nowhere */

/* emit_batch.c */
bool gg_emit_is_batchable(const struct gg_ir_value *v);
bool gg_emit_fits_batch(const struct gg_emit *e, const struct gg_batch *batch, const struct gg_ir_value *v);
bool gg_emit_waits_for(const struct gg_batch *batch, const struct gg_ir_value *v); /* it uses a result of the batch */
void gg_emit_enqueue(struct gg_emit *e, struct gg_batch *batch, gg_value value);
void gg_emit_run_batch(struct gg_emit *e, struct gg_batch *batch);

/* emit_update.c: the old dword at a pointer, which becomes enum gg_ir_update of it. */
uint32_t gg_emit_update(struct gg_emit *e, uint32_t imm, SpvScope scope, uint32_t pointer, uint32_t data,
                        uint32_t second);
/* emit_wide.c: atomics of 64 bits: the old low dword; of wide_high the high one. */
uint32_t gg_emit_wide(struct gg_emit *e, const struct gg_ir_value *v);
/* emit_flow.c: the dispatch loop, and the phases or runs where waves meet. */
void gg_emit_flow(struct gg_emit *e);

#endif

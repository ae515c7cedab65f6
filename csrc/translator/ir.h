/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_IR_H
#define GG_TRANSLATOR_IR_H

/*
 * The IR: SSA over dwords. A value is one dword of a wave (S), one dword of each lane (V), one bit of each lane
 * (M), or one bit of a wave (B). Physical registers are gone: lift.c reads and writes them while the graph is
 * built, and each read becomes the value that reaches it (ssa.c).
 *
 * Masks: what a comparison gives is M. Where it is written to scalar registers, the registers hold the words
 * mask_lo and mask_hi of it; where registers are read as a mask, that is mask(low, high). The pair cancels when
 * it meets, so a value is a mask, words, or both, by what it is and never by the name of its register.
 */

#include "cfg.h"

enum gg_ir_class {
    GG_IR_NONE = 0,
    GG_IR_S,
    GG_IR_V,
    GG_IR_M,
    GG_IR_B
};

enum gg_ir_opcode {
#define GG_IR_ROW(name, arguments, flags) GG_IR_##name,
#include "ir_ops.def"
#undef GG_IR_ROW
    GG_IR_OPCODES
};

enum gg_ir_flag {
    GG_IRF_PURE = 1 << 0,
    GG_IRF_COMMUTES = 1 << 1,
    GG_IRF_CROSSES_LANES = 1 << 2,
    GG_IRF_LOADS = 1 << 3,
    GG_IRF_STORES = 1 << 4,
    GG_IRF_LDS = 1 << 5
};

/* Launch state, imm of GG_IR_input. */
enum gg_ir_input {
    GG_IR_IN_USER_DATA = 0, /* + number, 0-15: S */
    GG_IR_IN_GROUP_X = 16,  /* S, like the two after it */
    GG_IR_IN_GROUP_Y = 17,
    GG_IR_IN_GROUP_Z = 18,
    GG_IR_IN_WAVE = 19,    /* S: number of the wave in its group */
    GG_IR_IN_LOCAL_X = 20, /* V, like the two after it */
    GG_IR_IN_LOCAL_Y = 21,
    GG_IR_IN_LOCAL_Z = 22,
    GG_IR_IN_EXISTS = 23 /* M: lanes that are threads of the group */
};

/* imm of memory operations. */
enum gg_ir_memory {
    GG_IR_MEM_U8 = 0,
    GG_IR_MEM_I8 = 1,
    GG_IR_MEM_U16 = 2,
    GG_IR_MEM_I16 = 3,
    GG_IR_MEM_32 = 4,
    GG_IR_MEM_KINDS = 5
};
#define GG_IR_MEM_AT_ANY_BYTE 8u /* beside the kind, of lds_load and lds_store: not known to be aligned (ir_align.c) */
enum gg_ir_atomic {
    GG_IR_ATOMIC_SWAP = 0,
    GG_IR_ATOMIC_ADD,
    GG_IR_ATOMIC_SUB,
    GG_IR_ATOMIC_UMIN,
    GG_IR_ATOMIC_UMAX,
    GG_IR_ATOMIC_SMIN,
    GG_IR_ATOMIC_SMAX,
    GG_IR_ATOMIC_AND,
    GG_IR_ATOMIC_OR,
    GG_IR_ATOMIC_XOR,
    GG_IR_ATOMICS
};
/* Low 8 bits of the imm of updates: atomics that a device does by comparing and swapping until nobody came between. */
enum gg_ir_update {
    GG_IR_UPDATE_CMPSWAP = 0, /* second: what the old value must equal */
    GG_IR_UPDATE_INC,         /* wraps to 0 after the data */
    GG_IR_UPDATE_DEC,         /* wraps to the data */
    GG_IR_UPDATE_CSUB,        /* not below 0 */
    GG_IR_UPDATE_RSUB,        /* data - old */
    GG_IR_UPDATE_MSKOR,       /* (old & ~data) | second */
    GG_IR_UPDATE_WRAP,        /* old >= data ? old - data : old + second */
    GG_IR_UPDATE_FCMPSWAP,    /* as floats */
    GG_IR_UPDATE_FMIN,
    GG_IR_UPDATE_FMAX,
    GG_IR_UPDATE_FADD,
    GG_IR_UPDATES
};

/* MODE, in the imm of updates and of atomics of 64 bits that are of floats; the kind is below. */
#define GG_IR_KIND            0xffu
#define GG_IR_FLUSHES_SOURCES (1u << 8) /* denormals */
#define GG_IR_FLUSHES_RESULTS (1u << 9)
#define GG_IR_IEEE            (1u << 10) /* a signalling NaN wins, quieted */

/* Low 8 bits of the imm of atomics of 64 bits. */
enum gg_ir_wide {
    GG_IR_WIDE_SWAP = 0, /* up to FMAX in the order of MUBUF and FLAT */
    GG_IR_WIDE_CMPSWAP,  /* second: what the old value must equal */
    GG_IR_WIDE_ADD,
    GG_IR_WIDE_SUB,
    GG_IR_WIDE_NONE,
    GG_IR_WIDE_SMIN,
    GG_IR_WIDE_UMIN,
    GG_IR_WIDE_SMAX,
    GG_IR_WIDE_UMAX,
    GG_IR_WIDE_AND,
    GG_IR_WIDE_OR,
    GG_IR_WIDE_XOR,
    GG_IR_WIDE_INC, /* wraps to 0 after the data */
    GG_IR_WIDE_DEC, /* wraps to the data */
    GG_IR_WIDE_FCMPSWAP,
    GG_IR_WIDE_FMIN,
    GG_IR_WIDE_FMAX,
    GG_IR_WIDE_RSUB,    /* data - old */
    GG_IR_WIDE_MSKOR,   /* (old & ~data) | second */
    GG_IR_WIDE_CONDXCHG /* each dword whose data has its highest bit set */
};

typedef uint32_t gg_value; /* number of a value; 0 is none */

#define GG_IR_ARGS 7 /* gg_ir_make() takes four */

struct gg_ir_value {
    uint16_t op;    /* enum gg_ir_opcode */
    uint8_t class;  /* enum gg_ir_class of the result; NONE: it has none */
    uint8_t unused; /* 0 */
    uint32_t block;
    uint32_t offset;          /* of the guest instruction it came from */
    uint32_t imm;             /* of a phi: the register that it stands for */
    gg_value arg[GG_IR_ARGS]; /* of a phi: arg[0] is the first of its arguments in gg_ir.phi_args */
    gg_value older;           /* until all are made: the one before it in a list of gg_ir */
};

enum gg_ir_end {
    GG_IR_JUMP = 0,
    GG_IR_BRANCH,
    GG_IR_EXIT,
    GG_IR_BARRIER
};

struct gg_ir_block {
    gg_value *values; /* in order, phis first: when gg_ssa_finish() has seen to it */
    uint32_t count;
    uint32_t end; /* enum gg_ir_end; a BARRIER goes on to succ[0] */
    gg_value condition;
    uint32_t succ[2]; /* of a BRANCH: [0] if the condition holds; GG_NO_BLOCK */
    uint32_t pred_first, preds;
};

struct gg_ir {
    struct gg_arena *arena;
    struct gg_ir_value *values; /* [0] is none */
    uint32_t value_count, value_capacity;
    struct gg_ir_block *blocks; /* the graph's, and one before its entry: blocks[entry] */
    uint32_t block_count, entry;
    uint32_t *preds;
    gg_value *phi_args;
    uint32_t phi_arg_count, phi_arg_capacity;
    uint32_t wave; /* 32 or 64 */
    uint32_t phi_count;
    gg_value last_phi, last_store; /* lists of these values, the last first */
    gg_value *newest;              /* the same for pure ones, by hash */
};

extern const struct gg_ir_op_info {
    const char *name;
    uint8_t arguments, flags;
} gg_ir_ops[GG_IR_OPCODES];

static inline bool gg_ir_is_memory(const struct gg_ir_value *v)
{
    return gg_ir_ops[v->op].flags & (GG_IRF_LOADS | GG_IRF_STORES);
}

/* Makes the blocks of a graph, still empty. */
int32_t gg_ir_init(struct gg_ir *ir, struct gg_arena *arena, const struct gg_cfg *cfg, uint32_t wave, char **message);

/*
 * Appends an operation to a block and returns its value; or folds it into a constant or an older value, in which
 * case nothing is appended. `at` gives block and guest offset. When memory runs out 0 is returned, and the
 * arena remembers.
 */
struct gg_ir_place {
    uint32_t block, offset;
};
gg_value gg_ir_make(struct gg_ir *ir, struct gg_ir_place at, enum gg_ir_opcode op, enum gg_ir_class class, uint32_t imm,
                    gg_value a, gg_value b, gg_value c, gg_value d);
/* With all arguments, 0 behind the last: of operations that have more than four, or any number. */
gg_value gg_ir_make_wide(struct gg_ir *ir, struct gg_ir_place at, enum gg_ir_opcode op, enum gg_ir_class class,
                         uint32_t imm, const gg_value *args);
gg_value gg_ir_constant(struct gg_ir *ir, struct gg_ir_place at, enum gg_ir_class class, uint32_t imm);
/* A phi with room for the block's predecessors, its arguments still 0. */
gg_value gg_ir_phi(struct gg_ir *ir, uint32_t block, enum gg_ir_class class, uint32_t reg);

bool gg_ir_is_constant(const struct gg_ir *ir, gg_value value, uint32_t *bits);

/* An operation of two constant dwords (of `not`: one); false: not one that is folded. */
bool gg_ir_fold(enum gg_ir_opcode op, uint32_t a, uint32_t b, uint32_t *bits);

/* Brings the values into an order, and gives them numbers, that follow from what they are (ir_order.c). */
int32_t gg_ir_order(struct gg_ir *ir, char **message);

/* Marks the accesses of LDS that may stand at any byte. */
int32_t gg_ir_align(struct gg_ir *ir, char **message);

/* Text, for people and for tests; freed with gg_free(). NULL when memory runs out. */
char *gg_ir_print(const struct gg_ir *ir);

/* Checks every rule of the form; GG_ERR_FORMAT names block, value and rule. `step` stands in the message. */
int32_t gg_ir_validate(const struct gg_ir *ir, const char *step, char **message);

#endif

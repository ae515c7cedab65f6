/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_LIFT_H
#define GG_TRANSLATOR_LIFT_H

/* Guest instructions to IR. One file a unit of the hardware; each returns GG_ERR_UNSUPPORTED for what it does not know. */
#include "ssa.h"

struct gg_mode { /* the register MODE, as far as it is known at a place whatever way led there */
    uint32_t bits, known;
};

struct gg_lift {
    struct gg_ir *ir;
    struct gg_ssa ssa;
    const struct gg_cfg *cfg;
    const struct gg_guest_program *program;
    const struct gg_inst *inst; /* being lifted */
    struct gg_ir_place at;
    gg_value exec; /* of this instruction, as a mask; 0 until asked for */
    uint32_t wave;
    struct gg_mode mode;    /* before this instruction */
    struct gg_mode *modes;  /* at the begin of each block of the graph */
    bool lacks_operand;     /* a source was asked for that is of no known kind */
    bool lacks_mode;        /* bits of MODE were asked for that are not known */
    bool takes_time;        /* some instruction asks for the time */
    const char *why;        /* more about a refusal, or NULL */
    gg_value (*address)[2]; /* of each of cfg.jumps: where it goes, low and high dword */
};

/*
 * The whole program. A refusal names offset and instruction. The graph is built anew, with the targets, where the
 * program jumps to addresses in registers.
 */
int32_t gg_lift_program(struct gg_ir *ir, struct gg_arena *arena, struct gg_cfg *cfg,
                        const struct gg_guest_program *program, char **message);

/*
 * MODE (lift_mode.c). What it is at the begin of each block is found before lifting; gg_l_mode() gives bits of it where
 * the instruction is that is being lifted.
 */
int32_t gg_l_find_modes(struct gg_lift *l, char **message);
void gg_l_follow_mode(struct gg_lift *l, const struct gg_inst *inst);
uint32_t gg_l_mode(struct gg_lift *l, uint32_t at, uint32_t bits);

/*
 * Looks up where the jumps by register go (lift_jump.c), all blocks being lifted. *jumps: the jumps with all targets
 * found up to now; *grown: some have more than the graph has.
 */
int32_t gg_l_find_targets(struct gg_lift *l, struct gg_jump **jumps, bool *grown, char **message);
void gg_l_set_return(struct gg_lift *l);    /* of a call: dst[0] gets the address of the next instruction */
gg_value gg_l_subvector(struct gg_lift *l); /* B: s_subvector_loop_* branches */
/* How a block ends that goes where a register says, or is part of such a jump's chain. */
void gg_l_end_jump(struct gg_lift *l, uint32_t b);

/* The units; GG_OK, or GG_ERR_UNSUPPORTED without a message. */
int32_t gg_lift_scalar(struct gg_lift *l);
int32_t gg_lift_mode(struct gg_lift *l); /* hardware registers */
int32_t gg_lift_sopc(struct gg_lift *l);
int32_t gg_lift_sopk(struct gg_lift *l);
int32_t gg_lift_vector(struct gg_lift *l);
int32_t gg_lift_compare(struct gg_lift *l);
int32_t gg_lift_memory(struct gg_lift *l);
int32_t gg_lift_lds(struct gg_lift *l);
int32_t gg_lift_lanes(struct gg_lift *l); /* of any unit */
int32_t gg_lift_bits(struct gg_lift *l);
int32_t gg_lift_ds(struct gg_lift *l); /* the rarer ones */
int32_t gg_lift_buffer(struct gg_lift *l);
int32_t gg_lift_format(struct gg_lift *l); /* typed loads of MUBUF and MTBUF */
int32_t gg_lift_atomic(struct gg_lift *l); /* of DS, FLAT, GLOBAL and MUBUF */
int32_t gg_lift_smem(struct gg_lift *l);
int32_t gg_lift_image(struct gg_lift *l);

/* Shorthands. S and V results. */
gg_value gg_l1(struct gg_lift *l, enum gg_ir_opcode op, enum gg_ir_class class, gg_value a);
gg_value gg_l2(struct gg_lift *l, enum gg_ir_opcode op, enum gg_ir_class class, gg_value a, gg_value b);
gg_value gg_l3(struct gg_lift *l, enum gg_ir_opcode op, enum gg_ir_class class, gg_value a, gg_value b, gg_value c);
gg_value gg_lk(struct gg_lift *l, uint32_t bits); /* a constant dword */
gg_value gg_l_select(struct gg_lift *l, enum gg_ir_class class, gg_value condition, gg_value a, gg_value b);
gg_value gg_l_not_zero(struct gg_lift *l, gg_value word); /* B */

/* Registers. */
gg_value gg_l_sgpr(struct gg_lift *l, uint32_t number);
void gg_l_set_sgpr(struct gg_lift *l, uint32_t number, gg_value value);
gg_value gg_l_scc(struct gg_lift *l);
void gg_l_set_scc(struct gg_lift *l, gg_value bit);
gg_value gg_l_mask_at(struct gg_lift *l, uint32_t number); /* M: the mask that stands in scalar registers */
void gg_l_set_mask_at(struct gg_lift *l, uint32_t number, gg_value mask);
gg_value gg_l_exec(struct gg_lift *l);
gg_value gg_l_vgpr(struct gg_lift *l, uint32_t number);
void gg_l_set_vgpr(struct gg_lift *l, uint32_t number, gg_value value); /* for the lanes of EXEC */
bool gg_l_is_shared(const struct gg_lift *l, uint32_t number);          /* a VGPR, by the halves of a wave64 */
void gg_l_write_vgpr(struct gg_lift *l, uint32_t number, gg_value mask, gg_value value); /* lanes of a mask */

/* Operands of the instruction: dword i of one; 0 when its kind cannot be read here. */
gg_value gg_l_scalar(struct gg_lift *l, const struct gg_operand *operand, uint32_t i);
/* Dword i of a scalar source, and of the scalar result, of the instruction. */
gg_value gg_l_source(struct gg_lift *l, uint32_t which, uint32_t i);
void gg_l_set_result(struct gg_lift *l, uint32_t i, gg_value value);
gg_value gg_l_vector(struct gg_lift *l, const struct gg_operand *operand, uint32_t i); /* S or V */
gg_value gg_l_mask(struct gg_lift *l, const struct gg_operand *operand);

#endif

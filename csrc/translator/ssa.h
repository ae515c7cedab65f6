/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_SSA_H
#define GG_TRANSLATOR_SSA_H

/*
 * Physical registers to values while the IR is built (Braun et al., "Simple and Efficient Construction of
 * Static Single Assignment Form"): a read gives the value that reaches it, with phis where several do.
 */
#include "ir.h"

enum gg_register { /* the 128 scalar dwords have their numbers of enum gg_sgpr */
    GG_REG_SCC = GG_SGPR_FILE,
    GG_REG_FLAT_SCRATCH,                   /* two dwords */
    GG_REG_TIME = GG_REG_FLAT_SCRATCH + 2, /* two dwords: instructions executed, where the program asks for it */
    GG_REG_VGPR = GG_REG_TIME + 2,
    GG_REG_COUNT = GG_REG_VGPR + 256
};

struct gg_incomplete {
    struct gg_incomplete *next;
    uint32_t reg;
    gg_value phi;
};

struct gg_ssa {
    struct gg_ir *ir;
    gg_value *reaching;                /* block * GG_REG_COUNT + register */
    struct gg_incomplete **incomplete; /* by block */
    uint32_t *waiting;                 /* by block: predecessors that are not filled yet */
};

int32_t gg_ssa_begin(struct gg_ssa *ssa, struct gg_ir *ir, char **message);
gg_value gg_ssa_read(struct gg_ssa *ssa, uint32_t block, uint32_t reg);
void gg_ssa_write(struct gg_ssa *ssa, uint32_t block, uint32_t reg, gg_value value);
/* All of a block's instructions are there: its successors may learn what it writes. */
void gg_ssa_filled(struct gg_ssa *ssa, uint32_t block);
/* Removes phis that choose between one value and themselves, and values that nothing uses. */
int32_t gg_ssa_finish(struct gg_ssa *ssa, char **message);

#endif

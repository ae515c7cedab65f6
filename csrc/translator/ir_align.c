/* SPDX-License-Identifier: MIT */
/*
 * Which accesses of LDS may stand at any byte: those whose address is not seen to be a multiple of their size. How
 * many low bits of a value are 0 is taken for as many as can be, and lowered until nothing changes; so the addresses
 * of loops keep theirs.
 */
#include "ir.h"

#include "arena.h"
#include "message.h"

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t of_constant(uint32_t bits)
{
    uint32_t count = 0;
    while (count < 32 && !(bits >> count & 1))
        count++;
    return count;
}

/* zeros: what is known of the others. */
static uint32_t low_zeros(const struct gg_ir *ir, const uint8_t *zeros, const struct gg_ir_value *v, uint32_t preds)
{
    const gg_value *arg = v->arg;
    uint32_t bits, found = 32;
    switch (v->op) {
    case GG_IR_constant:
        return of_constant(v->imm);
    case GG_IR_phi:
        for (uint32_t i = 0; i < preds; i++)
            found = least(found, zeros[ir->phi_args[arg[0] + i]]);
        return found;
    case GG_IR_add:
    case GG_IR_sub:
    case GG_IR_or:
    case GG_IR_xor:
    case GG_IR_min_u:
    case GG_IR_max_u:
    case GG_IR_min_i:
    case GG_IR_max_i:
        return least(zeros[arg[0]], zeros[arg[1]]);
    case GG_IR_and:
        return zeros[arg[0]] > zeros[arg[1]] ? zeros[arg[0]] : zeros[arg[1]];
    case GG_IR_mul:
        return least(32, zeros[arg[0]] + zeros[arg[1]]);
    case GG_IR_shl:
        return least(32, zeros[arg[0]] + (gg_ir_is_constant(ir, arg[1], &bits) ? bits & 31 : 0));
    case GG_IR_select:
        return least(zeros[arg[1]], zeros[arg[2]]);
    case GG_IR_write_lane:
        return least(zeros[arg[0]], zeros[arg[2]]);
    case GG_IR_read_lane:
    case GG_IR_first_lane:
    case GG_IR_shuffle:
        return zeros[arg[0]];
    default:
        return 0;
    }
}

static bool lower(const struct gg_ir *ir, uint8_t *zeros)
{
    bool changed = false;
    for (uint32_t b = 0; b < ir->block_count; b++)
        for (uint32_t i = 0; i < ir->blocks[b].count; i++) {
            gg_value value = ir->blocks[b].values[i];
            uint32_t found = low_zeros(ir, zeros, &ir->values[value], ir->blocks[b].preds);
            changed |= found != zeros[value];
            zeros[value] = (uint8_t)found;
        }
    return changed;
}

static bool is_access(const struct gg_ir_value *v) { return v->op == GG_IR_lds_load || v->op == GG_IR_lds_store; }

int32_t gg_ir_align(struct gg_ir *ir, char **message)
{
    static const uint32_t needed[GG_IR_MEM_KINDS] = {0, 0, 1, 1, 2};
    uint32_t accesses = 0;
    for (uint32_t i = 1; i < ir->value_count; i++)
        accesses += is_access(&ir->values[i]);
    if (!accesses)
        return GG_OK;
    uint8_t *zeros = gg_arena_alloc(ir->arena, ir->value_count, sizeof *zeros);
    if (!zeros)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    for (uint32_t i = 0; i < ir->value_count; i++)
        zeros[i] = 32;
    while (lower(ir, zeros))
        ;
    for (uint32_t i = 1; i < ir->value_count; i++) {
        struct gg_ir_value *v = &ir->values[i];
        if (is_access(v) && zeros[v->arg[0]] < needed[v->imm])
            v->imm |= GG_IR_MEM_AT_ANY_BYTE;
    }
    gg_arena_return(ir->arena, zeros);
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * The hardware registers, of which MODE is not a value of the IR but known where the code is translated: programs set
 * it to constants, around a division say. Where ways meet that disagree, the bits in which they do are not known, and
 * an operation that depends on them is refused.
 */
#include "lift_wide.h"

#include "message.h"

enum hardware_register {
    HW_MODE = 1,
    HW_STATUS = 2,
    HW_SH_MEM_BASES = 15,
    HW_FLAT_SCR_LO = 20,
    HW_FLAT_SCR_HI = 21,
    HW_SHADER_CYCLES = 29
};

#define MESSAGE_INTERRUPT 1u

#define MODE_FP16_OVFL (1u << 23)

/* Where FLAT addresses mean scratch and LDS, bits 48 and up: as the interpreter has them. */
#define SH_MEM_BASES 0x00020001u

/* The constant that a scalar register holds before an instruction, by a move shortly before it. */
static bool moved_constant(const struct gg_inst *insts, uint32_t count, uint32_t reg, uint32_t *value)
{
    for (uint32_t i = count; i-- > 0;) {
        const struct gg_operand *dst = insts[i].dst;
        for (int d = 0; d < 2; d++) {
            uint32_t width = dst[d].width ? dst[d].width : 2; /* of a mask */
            if (dst[d].kind != GG_OPERAND_SGPR || reg < dst[d].value || reg >= dst[d].value + width)
                continue;
            const struct gg_operand *from = &insts[i].src[0];
            bool constant = from->kind == GG_OPERAND_INLINE_INT || from->kind == GG_OPERAND_INLINE_FLOAT ||
                            from->kind == GG_OPERAND_LITERAL;
            *value = insts[i].op == GG_OP_s_movk_i32 ? (uint32_t)insts[i].imm : (uint32_t)gg_operand_constant(from);
            return insts[i].op == GG_OP_s_movk_i32 || (insts[i].op == GG_OP_s_mov_b32 && constant);
        }
    }
    return false;
}

static void set(struct gg_mode *mode, uint32_t mask, uint32_t bits, bool known)
{
    mode->bits = (mode->bits & ~mask) | (known ? bits & mask : 0);
    mode->known = known ? mode->known | mask : mode->known & ~mask;
}

/* What an instruction does to MODE; before: those of its block that come before it. */
static void follow(struct gg_mode *mode, const struct gg_inst *inst, uint32_t before)
{
    uint32_t select = (uint32_t)inst->imm, at = select >> 6 & 31, bits = (select >> 11 & 31) + 1, value = 0;
    bool sets = inst->op == GG_OP_s_setreg_b32 || inst->op == GG_OP_s_setreg_imm32_b32;
    if (inst->op == GG_OP_s_round_mode)
        set(mode, 0xf, select, true);
    else if (inst->op == GG_OP_s_denorm_mode)
        set(mode, 0xf0, select << 4, true);
    if (!sets || (select & 63) != HW_MODE)
        return;
    bool known = true;
    if (inst->op == GG_OP_s_setreg_imm32_b32)
        value = (uint32_t)gg_operand_constant(&inst->src[0]);
    else
        known =
            inst->src[0].kind == GG_OPERAND_SGPR && moved_constant(inst - before, before, inst->src[0].value, &value);
    set(mode, (uint32_t)(((UINT64_C(1) << bits) - 1) << at), value << at, known);
}

void gg_l_follow_mode(struct gg_lift *l, const struct gg_inst *inst)
{
    const struct gg_inst *first = &l->cfg->insts[l->cfg->blocks[l->at.block].first];
    follow(&l->mode, inst, (uint32_t)(inst - first));
}

static bool meet(struct gg_mode *to, bool reached, const struct gg_mode *from)
{
    struct gg_mode old = *to;
    if (!reached)
        *to = *from;
    else
        to->known &= from->known & ~(to->bits ^ from->bits);
    to->bits &= to->known;
    return !reached || to->known != old.known;
}

int32_t gg_l_find_modes(struct gg_lift *l, char **message)
{
    const struct gg_cfg *cfg = l->cfg;
    uint32_t rsrc1 = l->program->rsrc1;
    l->modes = gg_arena_alloc(l->ir->arena, cfg->block_count, sizeof *l->modes);
    bool *reached = gg_arena_alloc(l->ir->arena, cfg->block_count, sizeof *reached);
    if (!l->modes || !reached)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    l->modes[cfg->entry] =
        (struct gg_mode){(rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9, UINT32_MAX};
    reached[cfg->entry] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < cfg->block_count; i++) {
            const struct gg_block *block = &cfg->blocks[cfg->rpo[i]];
            struct gg_mode mode = l->modes[cfg->rpo[i]];
            for (uint32_t n = 0; n < block->count; n++)
                follow(&mode, &cfg->insts[block->first + n], n);
            for (int s = 0; s < 2; s++) {
                uint32_t to = block->succ[s];
                if (to == GG_NO_BLOCK)
                    continue;
                changed |= meet(&l->modes[to], reached[to], &mode);
                reached[to] = true;
            }
        }
    }
    return GG_OK;
}

uint32_t gg_l_mode(struct gg_lift *l, uint32_t at, uint32_t bits)
{
    uint32_t mask = ((1u << bits) - 1) << at;
    l->lacks_mode |= (l->mode.known & mask) != mask;
    return (l->mode.bits & mask) >> at;
}

/* ---- instructions ---- */

static gg_value status(struct gg_lift *l)
{
    const uint32_t masks[2] = {GG_SGPR_EXEC_LO, GG_SGPR_VCC_LO};
    gg_value word = gg_l1(l, GG_IR_bool_word, GG_IR_S, gg_l_scc(l));
    for (uint32_t i = 0; i < 2; i++) {
        gg_value any = gg_l1(l, GG_IR_any, GG_IR_B, gg_l_mask_at(l, masks[i]));
        gg_value none = gg_l1(l, GG_IR_bool_word, GG_IR_S, gg_l1(l, GG_IR_not, GG_IR_B, any));
        word = gg_l2(l, GG_IR_or, GG_IR_S, word, gg_l2(l, GG_IR_shl, GG_IR_S, none, gg_lk(l, 9 + i)));
    }
    return word;
}

static int32_t get_register(struct gg_lift *l)
{
    uint32_t select = (uint32_t)l->inst->imm, at = select >> 6 & 31, bits = (select >> 11 & 31) + 1,
             which = select & 63;
    gg_value value;
    switch (which) {
    case HW_MODE: {
        uint32_t mask = (uint32_t)(((UINT64_C(1) << bits) - 1) << at);
        l->lacks_mode |= (l->mode.known & mask) != mask;
        value = gg_lk(l, l->mode.bits);
        break;
    }
    case HW_STATUS:
        value = status(l);
        break;
    case HW_SH_MEM_BASES:
        value = gg_lk(l, SH_MEM_BASES);
        break;
    case HW_SHADER_CYCLES:
        value = gg_l2(l, GG_IR_and, GG_IR_S, gg_l_time(l).low, gg_lk(l, 0xfffff));
        break;
    case HW_FLAT_SCR_LO:
    case HW_FLAT_SCR_HI:
        value = gg_ssa_read(&l->ssa, l->at.block, GG_REG_FLAT_SCRATCH + which - HW_FLAT_SCR_LO);
        break;
    default:
        l->why = "a hardware register that is not known";
        return GG_ERR_UNSUPPORTED;
    }
    gg_l_set_result(l, 0, bits == 32 ? value : gg_l_part(l, GG_IR_S, value, at, bits, false));
    return GG_OK;
}

static int32_t set_register(struct gg_lift *l)
{
    uint32_t select = (uint32_t)l->inst->imm, at = select >> 6 & 31, bits = (select >> 11 & 31) + 1,
             which = select & 63;
    uint32_t mask = (uint32_t)(((UINT64_C(1) << bits) - 1) << at);
    if (which == HW_MODE) { /* gg_l_follow_mode() does it */
        struct gg_mode after = l->mode;
        follow(&after, l->inst, (uint32_t)(l->inst - &l->cfg->insts[l->cfg->blocks[l->at.block].first]));
        l->why = "FP16_OVFL";
        return !(after.known & MODE_FP16_OVFL) || after.bits & MODE_FP16_OVFL ? GG_ERR_UNSUPPORTED : GG_OK;
    }
    if (which != HW_FLAT_SCR_LO && which != HW_FLAT_SCR_HI) {
        l->why = "a hardware register that is not known";
        return GG_ERR_UNSUPPORTED;
    }
    uint32_t reg = GG_REG_FLAT_SCRATCH + which - HW_FLAT_SCR_LO;
    gg_value source = gg_l_source(l, 0, 0), old = gg_ssa_read(&l->ssa, l->at.block, reg);
    gg_value moved = gg_l2(l, GG_IR_shl, GG_IR_S, source, gg_lk(l, at));
    gg_value placed = gg_l2(l, GG_IR_and, GG_IR_S, moved, gg_lk(l, mask));
    gg_value kept = gg_l2(l, GG_IR_and, GG_IR_S, old, gg_lk(l, ~mask));
    gg_ssa_write(&l->ssa, l->at.block, reg, gg_l2(l, GG_IR_or, GG_IR_S, placed, kept));
    return GG_OK;
}

/*
 * Time is the number of instructions that the wave has executed, with the one that asks: it goes on, and is the same
 * everywhere. Each block adds its own.
 */
static bool takes_time(const struct gg_inst *inst)
{
    bool cycles = inst->op == GG_OP_s_getreg_b32 && (inst->imm & 63) == HW_SHADER_CYCLES;
    return cycles || inst->op == GG_OP_s_memtime || inst->op == GG_OP_s_memrealtime;
}

void gg_l_begin_time(struct gg_lift *l)
{
    l->takes_time = false;
    for (uint32_t i = 0; i < l->cfg->inst_count; i++)
        l->takes_time |= takes_time(&l->cfg->insts[i]);
}

static struct gg_pair time_after(struct gg_lift *l, uint32_t instructions)
{
    gg_value carry, low = gg_ssa_read(&l->ssa, l->at.block, GG_REG_TIME);
    gg_value high = gg_ssa_read(&l->ssa, l->at.block, GG_REG_TIME + 1), zero = gg_lk(l, 0);
    low = gg_l_add_carry(l, GG_IR_S, low, gg_lk(l, instructions), 0, &carry);
    return (struct gg_pair){low, gg_l_add_carry(l, GG_IR_S, high, zero, carry, NULL)};
}

struct gg_pair gg_l_time(struct gg_lift *l)
{
    const struct gg_inst *first = &l->cfg->insts[l->cfg->blocks[l->at.block].first];
    return time_after(l, (uint32_t)(l->inst - first) + 1);
}

void gg_l_end_time(struct gg_lift *l, uint32_t instructions)
{
    if (!l->takes_time || !instructions)
        return;
    struct gg_pair now = time_after(l, instructions);
    gg_ssa_write(&l->ssa, l->at.block, GG_REG_TIME, now.low);
    gg_ssa_write(&l->ssa, l->at.block, GG_REG_TIME + 1, now.high);
}

int32_t gg_lift_mode(struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_s_sendmsg: /* nobody in a compute program's memory sees an interrupt */
        l->why = "a message that is not a compute program's";
        return ((uint32_t)l->inst->imm & 15) == MESSAGE_INTERRUPT ? GG_OK : GG_ERR_UNSUPPORTED;
    case GG_OP_s_round_mode:
    case GG_OP_s_denorm_mode:
        return GG_OK;
    case GG_OP_s_getreg_b32:
        return get_register(l);
    case GG_OP_s_setreg_b32:
    case GG_OP_s_setreg_imm32_b32:
        return set_register(l);
    default:
        return GG_ERR_UNSUPPORTED;
    }
}

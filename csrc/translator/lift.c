/* SPDX-License-Identifier: MIT */
/* Registers and operands as values, and the walk over the program. */
#include "lift_buffer.h"
#include "lift_float.h"

#include "message.h"

gg_value gg_l1(struct gg_lift *l, enum gg_ir_opcode op, enum gg_ir_class class, gg_value a)
{
    return gg_ir_make(l->ir, l->at, op, class, 0, a, 0, 0, 0);
}

gg_value gg_l2(struct gg_lift *l, enum gg_ir_opcode op, enum gg_ir_class class, gg_value a, gg_value b)
{
    return gg_ir_make(l->ir, l->at, op, class, 0, a, b, 0, 0);
}

gg_value gg_l3(struct gg_lift *l, enum gg_ir_opcode op, enum gg_ir_class class, gg_value a, gg_value b, gg_value c)
{
    return gg_ir_make(l->ir, l->at, op, class, 0, a, b, c, 0);
}

gg_value gg_lk(struct gg_lift *l, uint32_t bits) { return gg_ir_constant(l->ir, l->at, GG_IR_S, bits); }

gg_value gg_l_select(struct gg_lift *l, enum gg_ir_class class, gg_value condition, gg_value a, gg_value b)
{
    return gg_l3(l, GG_IR_select, class, condition, a, b);
}

gg_value gg_l_not_zero(struct gg_lift *l, gg_value word)
{
    gg_value zero = gg_l2(l, GG_IR_eq, GG_IR_B, word, gg_lk(l, 0));
    return gg_l1(l, GG_IR_not, GG_IR_B, zero);
}

gg_value gg_l_sgpr(struct gg_lift *l, uint32_t number)
{
    return number == GG_SGPR_NULL ? gg_lk(l, 0) : gg_ssa_read(&l->ssa, l->at.block, number);
}

void gg_l_set_sgpr(struct gg_lift *l, uint32_t number, gg_value value)
{
    if (number == GG_SGPR_NULL)
        return;
    gg_ssa_write(&l->ssa, l->at.block, number, value);
    if (number >= GG_SGPR_EXEC_LO)
        l->exec = 0;
}

gg_value gg_l_scc(struct gg_lift *l) { return gg_ssa_read(&l->ssa, l->at.block, GG_REG_SCC); }
void gg_l_set_scc(struct gg_lift *l, gg_value bit) { gg_ssa_write(&l->ssa, l->at.block, GG_REG_SCC, bit); }

gg_value gg_l_mask_at(struct gg_lift *l, uint32_t number)
{
    gg_value low = gg_l_sgpr(l, number);
    gg_value high = l->wave == 64 ? gg_l_sgpr(l, number == GG_SGPR_NULL ? number : number + 1) : gg_lk(l, 0);
    return gg_l2(l, GG_IR_mask, GG_IR_M, low, high);
}

void gg_l_set_mask_at(struct gg_lift *l, uint32_t number, gg_value mask)
{
    gg_value low = gg_l1(l, GG_IR_mask_lo, GG_IR_S, mask);
    gg_value high = l->wave == 64 ? gg_l1(l, GG_IR_mask_hi, GG_IR_S, mask) : 0;
    gg_l_set_sgpr(l, number, low);
    if (high && number != GG_SGPR_NULL)
        gg_l_set_sgpr(l, number + 1, high);
}

gg_value gg_l_exec(struct gg_lift *l)
{
    if (!l->exec)
        l->exec = gg_l_mask_at(l, GG_SGPR_EXEC_LO);
    return l->exec;
}

gg_value gg_l_vgpr(struct gg_lift *l, uint32_t number)
{
    return gg_ssa_read(&l->ssa, l->at.block, GG_REG_VGPR + number);
}

void gg_l_set_vgpr(struct gg_lift *l, uint32_t number, gg_value value)
{
    gg_l_write_vgpr(l, number, gg_l_exec(l), value);
}

bool gg_l_is_shared(const struct gg_lift *l, uint32_t number)
{
    const struct gg_guest_program *p = l->program;
    uint32_t own = p->vgprs ? p->vgprs : ((p->rsrc1 & 63) + 1) * 4;
    return l->wave == 64 && p->rsrc3 & 15 && number >= own;
}

/*
 * A shared VGPR has one dword for lane n and lane n + 32. The halves of a wave64 are executed one after the other: of
 * two that write it the upper one's value stays.
 */
static gg_value shared_result(struct gg_lift *l, gg_value mask, gg_value value, gg_value old)
{
    gg_value lane = gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0), one = gg_lk(l, 1), none = gg_lk(l, 0);
    gg_value writes = gg_l_select(l, GG_IR_V, mask, one, none), result = old;
    for (uint32_t half = 0; half < 2; half++) {
        gg_value index = gg_l2(l, half ? GG_IR_or : GG_IR_and, GG_IR_V, lane, gg_lk(l, half ? 32 : 31));
        gg_value wrote = gg_l2(l, GG_IR_shuffle, GG_IR_V, writes, index);
        gg_value is_it = gg_l2(l, GG_IR_eq, GG_IR_M, wrote, one), there = value;
        if (l->ir->values[value].class == GG_IR_V)
            there = gg_l2(l, GG_IR_shuffle, GG_IR_V, value, index);
        result = gg_l_select(l, GG_IR_V, is_it, there, result);
    }
    return result;
}

void gg_l_write_vgpr(struct gg_lift *l, uint32_t number, gg_value mask, gg_value value)
{
    gg_value old = gg_l_vgpr(l, number);
    gg_value made =
        gg_l_is_shared(l, number) ? shared_result(l, mask, value, old) : gg_l_select(l, GG_IR_V, mask, value, old);
    gg_ssa_write(&l->ssa, l->at.block, GG_REG_VGPR + number, made);
}

/* The dword of LDS that M0 names: its address, and in bits 16-18 its kind. */
static gg_value lds_direct(struct gg_lift *l)
{
    static const struct {
        uint32_t kind;
        enum gg_ir_memory access;
    } kinds[] = {{0, GG_IR_MEM_U8}, {1, GG_IR_MEM_U16}, {2, GG_IR_MEM_32}, {3, GG_IR_MEM_U8},
                 {4, GG_IR_MEM_I8}, {5, GG_IR_MEM_I16}, {6, GG_IR_MEM_U8}, {7, GG_IR_MEM_U8}};
    gg_value m0 = gg_l_sgpr(l, GG_SGPR_M0), at = gg_l2(l, GG_IR_and, GG_IR_S, m0, gg_lk(l, 0xffff)), made = gg_lk(l, 0);
    gg_value kind = gg_l_part(l, GG_IR_S, m0, 16, 3, false);
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        gg_value is_it = gg_l2(l, GG_IR_eq, GG_IR_B, kind, gg_lk(l, kinds[i].kind));
        uint32_t known;
        if (gg_ir_is_constant(l->ir, is_it, &known) && !known)
            continue;
        gg_value all = gg_ir_constant(l->ir, l->at, GG_IR_M, 1);
        gg_value loaded = gg_ir_make(l->ir, l->at, GG_IR_lds_load, GG_IR_V, kinds[i].access, at, all, 0, 0);
        made = gg_l_select(l, GG_IR_V, is_it, loaded, made);
    }
    return made;
}

/* Dword i of a special source; of the apertures 32 bits are the high ones. */
static gg_value special(struct gg_lift *l, const struct gg_operand *operand, uint32_t i)
{
    uint32_t which = operand->value;
    bool high = i || operand->width < 2;
    switch (which) {
    case GG_SPECIAL_SHARED_BASE:
    case GG_SPECIAL_PRIVATE_BASE:
        return gg_lk(l, !high ? 0 : which == GG_SPECIAL_SHARED_BASE ? GG_FLAT_SHARED : GG_FLAT_PRIVATE);
    case GG_SPECIAL_SHARED_LIMIT:
    case GG_SPECIAL_PRIVATE_LIMIT:
        return gg_lk(l, !high ? UINT32_MAX : which == GG_SPECIAL_SHARED_LIMIT ? GG_FLAT_SHARED : GG_FLAT_PRIVATE);
    default:
        break;
    }
    if (i)
        return gg_lk(l, 0);
    switch (which) {
    case GG_SPECIAL_SCC:
        return gg_l1(l, GG_IR_bool_word, GG_IR_S, gg_l_scc(l));
    case GG_SPECIAL_EXECZ:
    case GG_SPECIAL_VCCZ: {
        gg_value mask = which == GG_SPECIAL_EXECZ ? gg_l_exec(l) : gg_l_mask_at(l, GG_SGPR_VCC_LO);
        gg_value any = gg_l1(l, GG_IR_any, GG_IR_B, mask);
        return gg_l1(l, GG_IR_bool_word, GG_IR_S, gg_l1(l, GG_IR_not, GG_IR_B, any));
    }
    default:
        l->lacks_operand = true;
        l->why = "a source that is not known";
        return gg_lk(l, 0);
    }
}

gg_value gg_l_scalar(struct gg_lift *l, const struct gg_operand *operand, uint32_t i)
{
    switch (operand->kind) {
    case GG_OPERAND_SGPR:
        return gg_l_sgpr(l, operand->value == GG_SGPR_NULL ? GG_SGPR_NULL : operand->value + i);
    case GG_OPERAND_INLINE_INT:
    case GG_OPERAND_INLINE_FLOAT:
    case GG_OPERAND_LITERAL:
        return gg_lk(l, (uint32_t)(gg_operand_constant(operand) >> 32 * i));
    case GG_OPERAND_SPECIAL:
        return special(l, operand, i);
    default:
        l->lacks_operand = true;
        return 0;
    }
}

gg_value gg_l_vector(struct gg_lift *l, const struct gg_operand *operand, uint32_t i)
{
    if (operand->kind == GG_OPERAND_SPECIAL && operand->value == GG_SPECIAL_LDS_DIRECT)
        return i ? gg_lk(l, 0) : lds_direct(l);
    return operand->kind == GG_OPERAND_VGPR ? gg_l_vgpr(l, operand->value + i) : gg_l_scalar(l, operand, i);
}

gg_value gg_l_mask(struct gg_lift *l, const struct gg_operand *operand)
{
    if (operand->kind == GG_OPERAND_SGPR)
        return gg_l_mask_at(l, operand->value);
    gg_value low = gg_l_scalar(l, operand, 0), high = l->wave == 64 ? gg_l_scalar(l, operand, 1) : gg_lk(l, 0);
    return low && high ? gg_l2(l, GG_IR_mask, GG_IR_M, low, high) : 0;
}

/* ---- the walk ---- */

static gg_value input(struct gg_lift *l, enum gg_ir_class class, uint32_t which)
{
    return gg_ir_make(l->ir, l->at, GG_IR_input, class, which, 0, 0, 0, 0);
}

/* Waves in the group, this wave's number, and whether it is the first: gfx1030 has the number at bit 20, gfx1013 at 6. */
static gg_value group_size(struct gg_lift *l)
{
    const uint32_t *t = l->program->threads;
    uint32_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= t[i] ? t[i] : 1;
    uint32_t waves = (threads + l->wave - 1) / l->wave;
    gg_value wave = input(l, GG_IR_S, GG_IR_IN_WAVE);
    gg_value is_first = gg_l2(l, GG_IR_eq, GG_IR_B, wave, gg_lk(l, 0));
    gg_value first = gg_l_select(l, GG_IR_S, is_first, gg_lk(l, 0x80000000u), gg_lk(l, 0));
    uint32_t places = l->program->target.gpu == GG_GUEST_GFX1013 ? 1u << 6 : 1u << 20 | 1u << 6; /* see interp.c */
    gg_value number = gg_l2(l, GG_IR_mul, GG_IR_S, wave, gg_lk(l, places));
    return gg_l2(l, GG_IR_or, GG_IR_S, gg_l2(l, GG_IR_or, GG_IR_S, number, first), gg_lk(l, waves));
}

static gg_value scratch_offset(struct gg_lift *l)
{
    gg_value wave = input(l, GG_IR_S, GG_IR_IN_WAVE);
    return gg_l2(l, GG_IR_mul, GG_IR_S, wave, gg_lk(l, l->program->scratch_bytes * l->wave));
}

/* What the hardware has put into the registers; see struct gg_guest_program. */
static void launch_state(struct gg_lift *l)
{
    const struct gg_guest_program *p = l->program;
    gg_value zero = gg_lk(l, 0);
    for (uint32_t r = 0; r < GG_REG_COUNT; r++)
        gg_ssa_write(&l->ssa, l->at.block, r, zero);
    gg_ssa_write(&l->ssa, l->at.block, GG_REG_SCC, gg_ir_constant(l->ir, l->at, GG_IR_B, 0));
    gg_value broadcast = gg_l_select(l, GG_IR_V, gg_ir_constant(l->ir, l->at, GG_IR_M, 1), zero, zero);
    for (uint32_t v = 0; v < 256; v++)
        gg_ssa_write(&l->ssa, l->at.block, GG_REG_VGPR + v, broadcast);
    uint32_t at = 0, user = p->rsrc2 >> 1 & 0x1f;
    for (; at < user && at < GG_GUEST_USER_DATA; at++)
        gg_l_set_sgpr(l, at, input(l, GG_IR_S, GG_IR_IN_USER_DATA + at));
    for (uint32_t axis = 0; axis < 3; axis++)
        if (p->rsrc2 >> (7 + axis) & 1)
            gg_l_set_sgpr(l, at++, input(l, GG_IR_S, GG_IR_IN_GROUP_X + axis));
    if (p->rsrc2 >> 10 & 1)
        gg_l_set_sgpr(l, at++, group_size(l));
    if (p->rsrc2 & 1) /* scratch: this wave's place in the group's */
        gg_l_set_sgpr(l, at++, scratch_offset(l));
    gg_value carry, wave_offset = scratch_offset(l), base[2];
    for (uint32_t i = 0; i < 2; i++)
        base[i] = gg_lk(l, (uint32_t)(p->scratch_address >> 32 * i));
    base[0] = gg_l_add_carry(l, GG_IR_S, base[0], wave_offset, 0, &carry);
    base[1] = gg_l_add_carry(l, GG_IR_S, base[1], zero, carry, NULL);
    for (uint32_t i = 0; i < 2; i++)
        gg_ssa_write(&l->ssa, l->at.block, GG_REG_FLAT_SCRATCH + i, base[i]);
    uint32_t local = p->rsrc2 >> 11 & 3;
    for (uint32_t axis = 0; axis <= local && axis < 3; axis++)
        gg_ssa_write(&l->ssa, l->at.block, GG_REG_VGPR + axis, input(l, GG_IR_V, GG_IR_IN_LOCAL_X + axis));
    uint32_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= p->threads[i] ? p->threads[i] : 1;
    gg_l_set_mask_at(l, GG_SGPR_EXEC_LO,
                     threads % l->wave ? input(l, GG_IR_M, GG_IR_IN_EXISTS) : gg_ir_constant(l->ir, l->at, GG_IR_M, 1));
}

static int32_t unsupported(const struct gg_lift *l, char **message)
{
    const char *why = l->lacks_mode ? "MODE differs by the way that led here" : l->why;
    return gg_fail(message, GG_ERR_UNSUPPORTED, "offset 0x%x: %s is not translated%s%s", l->inst->offset,
                   gg_inst_info(l->inst)->name, why ? ": " : "", why ? why : "");
}

static int32_t lift_inst(struct gg_lift *l)
{
    switch (l->inst->format) {
    case GG_FORMAT_SOP1:
    case GG_FORMAT_SOP2:
    case GG_FORMAT_SOPC:
    case GG_FORMAT_SOPK:
    case GG_FORMAT_SOPP:
        return gg_lift_scalar(l);
    case GG_FORMAT_VOPC:
        return gg_lift_compare(l);
    case GG_FORMAT_VOP1:
    case GG_FORMAT_VOP2:
    case GG_FORMAT_VOP3:
        return gg_inst_info(l->inst)->format == GG_FORMAT_VOPC ? gg_lift_compare(l) : gg_lift_vector(l);
    case GG_FORMAT_VOP3P:
        return gg_lift_packed(l);
    case GG_FORMAT_SMEM:
    case GG_FORMAT_MUBUF:
    case GG_FORMAT_MTBUF:
    case GG_FORMAT_FLAT:
    case GG_FORMAT_GLOBAL:
    case GG_FORMAT_SCRATCH:
        return gg_lift_memory(l);
    case GG_FORMAT_DS:
        return gg_lift_lds(l);
    case GG_FORMAT_MIMG:
        return gg_lift_image(l);
    case GG_FORMAT_EXP:
    case GG_FORMAT_VINTRP:
        l->why = "it is not for compute programs";
        return GG_ERR_UNSUPPORTED;
    default:
        return GG_ERR_UNSUPPORTED;
    }
}

static gg_value branch_condition(struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_s_cbranch_scc1:
        return gg_l_scc(l);
    case GG_OP_s_cbranch_scc0:
        return gg_l1(l, GG_IR_not, GG_IR_B, gg_l_scc(l));
    case GG_OP_s_cbranch_execnz:
        return gg_l1(l, GG_IR_any, GG_IR_B, gg_l_exec(l));
    case GG_OP_s_cbranch_vccnz:
        return gg_l1(l, GG_IR_any, GG_IR_B, gg_l_mask_at(l, GG_SGPR_VCC_LO));
    case GG_OP_s_cbranch_execz:
        return gg_l1(l, GG_IR_not, GG_IR_B, gg_l1(l, GG_IR_any, GG_IR_B, gg_l_exec(l)));
    case GG_OP_s_cbranch_cdbgsys: /* no debugger */
    case GG_OP_s_cbranch_cdbguser:
    case GG_OP_s_cbranch_cdbgsys_or_user:
    case GG_OP_s_cbranch_cdbgsys_and_user:
        return gg_ir_constant(l->ir, l->at, GG_IR_B, 0);
    case GG_OP_s_subvector_loop_begin:
    case GG_OP_s_subvector_loop_end:
        return gg_l_subvector(l);
    case GG_OP_s_cbranch_vccz:
        return gg_l1(l, GG_IR_not, GG_IR_B, gg_l1(l, GG_IR_any, GG_IR_B, gg_l_mask_at(l, GG_SGPR_VCC_LO)));
    default:
        return 0;
    }
}

/* How the block ends, by its last instruction. */
static int32_t end_block(struct gg_lift *l, struct gg_ir_block *block, char **message)
{
    uint32_t flags = gg_inst_info(l->inst)->flags;
    if (l->inst->op == GG_OP_s_call_b64)
        gg_l_set_return(l);
    if (flags & GG_OPF_BARRIER)
        block->end = GG_IR_BARRIER;
    else if (flags & GG_OPF_END)
        block->end = GG_IR_EXIT;
    else if (flags & GG_OPF_COND)
        block->end = GG_IR_BRANCH;
    if (block->end == GG_IR_BARRIER || (!(flags & GG_OPF_BRANCH) && block->succ[0] == GG_NO_BLOCK)) {
        block->succ[0] = block->succ[0] == GG_NO_BLOCK ? block->succ[1] : block->succ[0];
        block->succ[1] = GG_NO_BLOCK;
    }
    if (block->end != GG_IR_BRANCH)
        return GG_OK;
    block->condition = branch_condition(l);
    return block->condition ? GG_OK : unsupported(l, message);
}

static int32_t lift_block(struct gg_lift *l, uint32_t b, char **message)
{
    const struct gg_block *from = &l->cfg->blocks[b];
    l->at.block = b;
    l->exec = 0;
    l->mode = l->modes[b];
    for (uint32_t i = 0; i < from->count; i++) {
        l->inst = &l->cfg->insts[from->first + i];
        l->at.offset = l->inst->offset;
        l->why = NULL;
        bool control = gg_inst_info(l->inst)->flags & (GG_OPF_BRANCH | GG_OPF_TERMINATOR | GG_OPF_BARRIER);
        if (!control && (lift_inst(l) || l->lacks_mode || l->lacks_operand))
            return unsupported(l, message);
        gg_l_follow_mode(l, l->inst);
        if (l->ir->arena->failed)
            return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    }
    gg_l_end_time(l, from->count);
    int32_t result = GG_OK;
    if (from->jump != GG_NO_BLOCK)
        gg_l_end_jump(l, b);
    else
        result = end_block(l, &l->ir->blocks[b], message);
    if (!result)
        gg_ssa_filled(&l->ssa, b);
    return result;
}

static int32_t lift_blocks(struct gg_lift *l, char **message)
{
    int32_t result = gg_ir_init(l->ir, l->ir->arena, l->cfg, l->wave, message);
    if (!result)
        result = gg_ssa_begin(&l->ssa, l->ir, message);
    if (result)
        return result;
    l->address = gg_arena_alloc(l->ir->arena, l->cfg->jump_count, sizeof *l->address);
    if (!result)
        result = gg_l_find_modes(l, message);
    if (result)
        return result;
    if (!l->address)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    gg_l_begin_time(l);
    l->at = (struct gg_ir_place){.block = l->ir->entry};
    launch_state(l);
    gg_ssa_filled(&l->ssa, l->ir->entry);
    for (uint32_t i = 0; !result && i < l->cfg->block_count; i++)
        result = lift_block(l, l->cfg->rpo[i], message);
    return result;
}

int32_t gg_lift_program(struct gg_ir *ir, struct gg_arena *arena, struct gg_cfg *cfg,
                        const struct gg_guest_program *program, char **message)
{
    struct gg_lift l = {
        .ir = ir, .cfg = cfg, .program = program, .wave = program->target.wave ? program->target.wave : 32};
    *ir = (struct gg_ir){.arena = arena};
    if (program->rsrc1 >> 26 & 1)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "RSRC1: FP16_OVFL is not translated");
    int32_t result = lift_blocks(&l, message);
    for (bool grown = cfg->jump_count; !result && grown;) { /* new targets bring new code, which may have new targets */
        struct gg_jump *jumps;
        uint32_t count = cfg->jump_count;
        result = gg_l_find_targets(&l, &jumps, &grown, message);
        if (!result && grown)
            result = gg_cfg_build_jumps(cfg, arena, program, jumps, count, message);
        if (!result && grown)
            result = lift_blocks(&l, message);
    }
    return result ? result : gg_ssa_finish(&l.ssa, message);
}

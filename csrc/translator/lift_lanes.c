/* SPDX-License-Identifier: MIT */
/* What crosses lanes by patterns, and registers named at run time: permlane,
 * swizzle, permute, relative moves. */
#include "lift_wide.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

static gg_value this_lane(struct gg_lift *l) { return gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0); }

/* M: the lane that each lane names is active. */
static gg_value is_active(struct gg_lift *l, gg_value lane)
{
    gg_value active = gg_l_select(l, GG_IR_V, gg_l_exec(l), k(l, 1), k(l, 0));
    return gg_l2(l, GG_IR_eq, GG_IR_M, gg_l2(l, GG_IR_shuffle, GG_IR_V, active, lane), k(l, 1));
}

/* Each lane of a row of 16 names another of the row, or of the row beside it,
 * by four bits of two scalars. */
static int32_t lift_permlane(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    gg_value data = gg_l_vector(l, &inst->src[0], 0);
    gg_value low = gg_l_scalar(l, &inst->src[1], 0), high = gg_l_scalar(l, &inst->src[2], 0);
    if (!data || !low || !high)
        return GG_ERR_UNSUPPORTED;
    gg_value lane = this_lane(l);
    gg_value is_high = gg_l2(l, GG_IR_eq, GG_IR_M, v2(l, GG_IR_and, lane, k(l, 8)), k(l, 8));
    gg_value selects = gg_l_select(l, GG_IR_V, is_high, high, low);
    gg_value shift = v2(l, GG_IR_shl, v2(l, GG_IR_and, lane, k(l, 7)), k(l, 2));
    gg_value in_row = v2(l, GG_IR_and, v2(l, GG_IR_shr, selects, shift), k(l, 15));
    gg_value row = v2(l, GG_IR_and, lane, k(l, ~15u));
    if (inst->op == GG_OP_v_permlanex16_b32)
        row = v2(l, GG_IR_xor, row, k(l, 16));
    gg_value from = v2(l, GG_IR_or, row, in_row), result = gg_l2(l, GG_IR_shuffle, GG_IR_V, data, from);
    bool fetch_inactive = inst->op_sel & 1, bound_control = inst->op_sel & 2;
    if (!fetch_inactive) {
        gg_value otherwise = bound_control ? k(l, 0) : gg_l_vgpr(l, inst->dst[0].value);
        result = gg_l_select(l, GG_IR_V, is_active(l, from), result, otherwise);
    }
    gg_l_set_vgpr(l, inst->dst[0].value, result);
    return GG_OK;
}

/* The lane of its 32 that each lane reads by the offset of ds_swizzle; at: its
 * own number there. */
static gg_value swizzled(struct gg_lift *l, uint32_t offset, gg_value at)
{
    uint32_t mask = offset & 31;
    if (offset >= 0xe000) { /* as a fast Fourier transform wants it: the low bits
                             stay, those above are reversed */
        gg_value reversed = v2(l, GG_IR_shr, gg_l1(l, GG_IR_bitreverse, GG_IR_V, at), k(l, 27));
        gg_value moved = v2(l, GG_IR_shr, reversed, k(l, (uint32_t)__builtin_popcount(mask)));
        return v2(l, GG_IR_or, moved, v2(l, GG_IR_and, at, k(l, mask)));
    }
    if (offset >= 0xc000) { /* rotate, all but the bits of the mask */
        gg_value moved = v2(l, offset & 0x400 ? GG_IR_sub : GG_IR_add, at, k(l, offset >> 5 & 31));
        return v2(l, GG_IR_or, v2(l, GG_IR_and, at, k(l, mask)), v2(l, GG_IR_and, moved, k(l, ~mask & 31)));
    }
    if (offset >= 0x8000) { /* in each four */
        gg_value shift = v2(l, GG_IR_shl, v2(l, GG_IR_and, at, k(l, 3)), k(l, 1));
        gg_value in_quad = v2(l, GG_IR_and, v2(l, GG_IR_shr, k(l, offset), shift), k(l, 3));
        return v2(l, GG_IR_or, v2(l, GG_IR_and, at, k(l, 28)), in_quad);
    }
    gg_value kept = v2(l, GG_IR_or, v2(l, GG_IR_and, at, k(l, mask)), k(l, offset >> 5 & 31));
    return v2(l, GG_IR_xor, kept, k(l, offset >> 10 & 31));
}

static int32_t lift_swizzle(struct gg_lift *l)
{
    gg_value data = gg_l_vector(l, &l->inst->src[0], 0), lane = this_lane(l);
    if (!data)
        return GG_ERR_UNSUPPORTED;
    gg_value at = v2(l, GG_IR_and, lane, k(l, 31)), from = swizzled(l, (uint32_t)l->inst->imm & 0xffff, at);
    if (l->wave == 64)
        from = v2(l, GG_IR_or, from, v2(l, GG_IR_and, lane, k(l, 32)));
    gg_value offered = gg_l_select(l, GG_IR_V, gg_l_exec(l), data, k(l, 0));
    gg_l_set_vgpr(l, l->inst->dst[0].value, gg_l2(l, GG_IR_shuffle, GG_IR_V, offered, from));
    return GG_OK;
}

/* The word of a mask that holds the lane's own half. */
static gg_value own_word(struct gg_lift *l, gg_value mask)
{
    gg_value low = gg_l1(l, GG_IR_mask_lo, GG_IR_S, mask);
    if (l->wave == 32)
        return low;
    gg_value is_low = gg_l2(l, GG_IR_lt_u, GG_IR_M, this_lane(l), k(l, 32));
    return gg_l_select(l, GG_IR_V, is_low, low, gg_l1(l, GG_IR_mask_hi, GG_IR_S, mask));
}

/*
 * ds_permute: each lane sends to the lane that it names, of its own 32; of
 * several the last wins. A receiver finds its senders by five masks, one for
 * each bit of the numbers that are named.
 */
static int32_t lift_permute(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    gg_value base = gg_l_vector(l, &inst->src[0], 0), data = gg_l_vector(l, &inst->src[1], 0), lane = this_lane(l);
    if (!base || !data)
        return GG_ERR_UNSUPPORTED;
    gg_value address = v2(l, GG_IR_add, base, k(l, (uint32_t)inst->imm)), senders = own_word(l, gg_l_exec(l));
    for (uint32_t bit = 0; bit < 5; bit++) {
        gg_value named = v2(l, GG_IR_and, address, k(l, 4u << bit)), own = v2(l, GG_IR_and, lane, k(l, 1u << bit));
        gg_value is_set = gg_l2(l, GG_IR_eq, GG_IR_M, named, k(l, 4u << bit));
        gg_value clear = gg_l2(l, GG_IR_eq, GG_IR_M, own, k(l, 0)), word = own_word(l, is_set);
        gg_value inverted = gg_l_select(l, GG_IR_V, clear, k(l, UINT32_MAX), k(l, 0));
        senders = v2(l, GG_IR_and, senders, v2(l, GG_IR_xor, word, inverted));
    }
    gg_value last = v2(l, GG_IR_and, gg_l1(l, GG_IR_find_msb, GG_IR_V, senders), k(l, 31));
    gg_value from = v2(l, GG_IR_or, last, v2(l, GG_IR_and, lane, k(l, 32)));
    gg_value moved = gg_l2(l, GG_IR_shuffle, GG_IR_V, data, from);
    gg_value none = gg_l2(l, GG_IR_eq, GG_IR_M, senders, k(l, 0));
    gg_l_set_vgpr(l, inst->dst[0].value, gg_l_select(l, GG_IR_V, none, k(l, 0), moved));
    return GG_OK;
}

/*
 * Relative moves name a register by M0. Registers are values here, so a read is
 * a chain of selects over all that can be named, and a write is a select in
 * each of them: work in proportion to the program's registers, twice the price
 * of a move for each. Beyond the last register a read gives the first one, and
 * a write does nothing.
 */
static gg_value read_relative(struct gg_lift *l, enum gg_ir_class class, uint32_t first, uint32_t end, gg_value by)
{
    uint32_t file = class == GG_IR_V ? GG_REG_VGPR : 0;
    gg_value result = gg_ssa_read(&l->ssa, l->at.block, file);
    for (uint32_t r = first; r < end; r++) {
        gg_value is_it = gg_l2(l, GG_IR_eq, GG_IR_B, by, k(l, r - first));
        result = gg_l_select(l, class, is_it, gg_ssa_read(&l->ssa, l->at.block, file + r), result);
    }
    return result;
}

static void write_relative(struct gg_lift *l, enum gg_ir_class class, uint32_t first, uint32_t end, gg_value by,
                           gg_value value)
{
    for (uint32_t r = first; r < end; r++) {
        gg_value is_it = gg_l2(l, GG_IR_eq, GG_IR_B, by, k(l, r - first));
        gg_value old = class == GG_IR_V ? gg_l_vgpr(l, r) : gg_l_sgpr(l, r);
        gg_value made = gg_l_select(l, class, is_it, value, old);
        if (class == GG_IR_V)
            gg_l_set_vgpr(l, r, made);
        else
            gg_l_set_sgpr(l, r, made);
    }
}

/* The scalar registers that M0 can name: those of the program and VCC. */
#define SCALARS (GG_SGPR_VCC_HI + 1u)

static uint32_t vgprs_of(const struct gg_lift *l)
{
    uint32_t stated = l->program->vgprs;
    if (!stated) /* in units of 4 of wave64, 8 of wave32 */
        stated = ((l->program->rsrc1 & 0x3f) + 1) * (l->wave == 64 ? 4 : 8);
    return stated < 256 ? stated : 256;
}

/* What M0 adds to the source, and to the destination. */
static void relative_offsets(struct gg_lift *l, bool two, gg_value *source, gg_value *destination)
{
    gg_value m0 = gg_l_sgpr(l, GG_SGPR_M0);
    *source = two ? gg_l_part(l, GG_IR_S, m0, 0, 10, false) : m0;
    *destination = two ? gg_l_part(l, GG_IR_S, m0, 16, 10, false) : m0;
}

static int32_t lift_vector_relative(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    bool two = inst->op == GG_OP_v_movrelsd_2_b32 || inst->op == GG_OP_v_swaprel_b32;
    bool from_any = inst->op != GG_OP_v_movreld_b32, to_any = inst->op != GG_OP_v_movrels_b32;
    uint32_t end = vgprs_of(l), to = inst->dst[0].value, from = inst->src[0].value;
    gg_value source_by, by;
    l->why = inst->form != GG_FORM_PLAIN ? "its SDWA and DPP forms" : "a source that is no vector register";
    if (inst->form != GG_FORM_PLAIN || (from_any && inst->src[0].kind != GG_OPERAND_VGPR))
        return GG_ERR_UNSUPPORTED;
    relative_offsets(l, two, &source_by, &by);
    gg_value value = from_any ? read_relative(l, GG_IR_V, from, end, source_by) : gg_l_vector(l, &inst->src[0], 0);
    if (!value)
        return GG_ERR_UNSUPPORTED;
    if (!to_any) {
        gg_l_set_vgpr(l, to, value);
        return GG_OK;
    }
    gg_value old = inst->op == GG_OP_v_swaprel_b32 ? read_relative(l, GG_IR_V, to, end, by) : 0;
    write_relative(l, GG_IR_V, to, end, by, value);
    if (old)
        write_relative(l, GG_IR_V, from, end, source_by, old);
    return GG_OK;
}

static int32_t lift_scalar_relative(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    bool two = inst->op == GG_OP_s_movrelsd_2_b32;
    bool from_any = two || inst->op == GG_OP_s_movrels_b32 || inst->op == GG_OP_s_movrels_b64;
    bool to_any = two || !from_any;
    uint32_t width = inst->dst[0].width, to = inst->dst[0].value, from = inst->src[0].value;
    gg_value source_by, by, value[2] = {0};
    bool beyond = (from_any && (inst->src[0].kind != GG_OPERAND_SGPR || from >= SCALARS)) || (to_any && to >= SCALARS);
    l->why = "registers above VCC";
    if (beyond || width > 2)
        return GG_ERR_UNSUPPORTED;
    relative_offsets(l, two, &source_by, &by);
    for (uint32_t i = 0; i < width; i++) { /* the last register of a pair may be
                                            VCC_HI: ends differ by one */
        value[i] = from_any ? read_relative(l, GG_IR_S, from + i, SCALARS - width + 1 + i, source_by)
                            : gg_l_scalar(l, &inst->src[0], i);
        if (!value[i])
            return GG_ERR_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < width; i++) {
        if (to_any)
            write_relative(l, GG_IR_S, to + i, SCALARS - width + 1 + i, by, value[i]);
        else
            gg_l_set_sgpr(l, to == GG_SGPR_NULL ? to : to + i, value[i]);
    }
    return GG_OK;
}

static int32_t lift_swap(struct gg_lift *l)
{
    uint32_t a = l->inst->dst[0].value, b = l->inst->src[0].value;
    gg_value of_a = gg_l_vgpr(l, a), of_b = gg_l_vgpr(l, b);
    if (l->inst->src[0].kind != GG_OPERAND_VGPR)
        return GG_ERR_UNSUPPORTED;
    gg_l_set_vgpr(l, a, of_b);
    gg_l_set_vgpr(l, b, of_a);
    return GG_OK;
}

int32_t gg_lift_lanes(struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_v_permlane16_b32:
    case GG_OP_v_permlanex16_b32:
        return lift_permlane(l);
    case GG_OP_ds_swizzle_b32:
        return lift_swizzle(l);
    case GG_OP_ds_permute_b32:
        return lift_permute(l);
    case GG_OP_v_movreld_b32:
    case GG_OP_v_movrels_b32:
    case GG_OP_v_movrelsd_b32:
    case GG_OP_v_movrelsd_2_b32:
    case GG_OP_v_swaprel_b32:
        return lift_vector_relative(l);
    case GG_OP_s_movreld_b32:
    case GG_OP_s_movreld_b64:
    case GG_OP_s_movrels_b32:
    case GG_OP_s_movrels_b64:
    case GG_OP_s_movrelsd_2_b32:
        return lift_scalar_relative(l);
    case GG_OP_v_swap_b32:
        return lift_swap(l);
    default:
        return GG_ERR_UNSUPPORTED;
    }
}

/* SPDX-License-Identifier: MIT */
#include "lift_float.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

/* Where a DPP lane reads from, and whether there is such a lane in its row. */
struct dpp {
    gg_value lane;  /* V */
    gg_value valid; /* M; 0: always */
};

static gg_value this_lane(struct gg_lift *l) { return gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0); }

/* lane with its low bits replaced by those of `low`; mask is the low bits. */
static gg_value with_low(struct gg_lift *l, gg_value lane, uint32_t mask, gg_value low)
{
    return v2(l, GG_IR_or, v2(l, GG_IR_and, lane, k(l, ~mask)), v2(l, GG_IR_and, low, k(l, mask)));
}

static bool dpp16_source(struct gg_lift *l, struct dpp *d)
{
    uint32_t ctrl = l->inst->dpp16.ctrl, n = ctrl & 15;
    gg_value lane = this_lane(l), in_row = v2(l, GG_IR_and, lane, k(l, 15));
    *d = (struct dpp){0};
    if (ctrl < 0x100) { /* quad_perm: two bits for each lane of four */
        gg_value shift = v2(l, GG_IR_shl, v2(l, GG_IR_and, lane, k(l, 3)), k(l, 1));
        d->lane = with_low(l, lane, 3, v2(l, GG_IR_shr, k(l, ctrl), shift));
        return true;
    }
    switch (ctrl & ~15u) {
    case 0x100: /* row_shl: from the lane n above */
        d->lane = v2(l, GG_IR_add, lane, k(l, n));
        d->valid = gg_l2(l, GG_IR_lt_u, GG_IR_M, in_row, k(l, 16 - n));
        return n != 0;
    case 0x110: /* row_shr */
        d->lane = v2(l, GG_IR_sub, lane, k(l, n));
        d->valid = gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, n - 1), in_row);
        return n != 0;
    case 0x120: /* row_ror */
        d->lane = with_low(l, lane, 15, v2(l, GG_IR_sub, in_row, k(l, n)));
        return n != 0;
    case 0x140: /* row_mirror, row_half_mirror */
        d->lane = v2(l, GG_IR_xor, lane, k(l, n ? 7 : 15));
        return n < 2;
    case 0x150: /* row_share */
        d->lane = with_low(l, lane, 15, k(l, n));
        return true;
    case 0x160: /* row_xmask */
        d->lane = v2(l, GG_IR_xor, lane, k(l, n));
        return true;
    default:
        return false;
    }
}

/* M: lanes whose row and bank a DPP instruction writes. */
static gg_value rows_and_banks(struct gg_lift *l)
{
    gg_value lane = this_lane(l);
    gg_value row = v2(l, GG_IR_and, v2(l, GG_IR_shr, lane, k(l, 4)), k(l, 3));
    gg_value bank = v2(l, GG_IR_and, v2(l, GG_IR_shr, lane, k(l, 2)), k(l, 3));
    gg_value in_row = v2(l, GG_IR_shr, k(l, l->inst->dpp16.row_mask), row);
    gg_value in_bank = v2(l, GG_IR_shr, k(l, l->inst->dpp16.bank_mask), bank);
    gg_value both = v2(l, GG_IR_and, v2(l, GG_IR_and, in_row, in_bank), k(l, 1));
    return gg_l2(l, GG_IR_eq, GG_IR_M, both, k(l, 1));
}

static int32_t read_dpp(struct gg_lift *l, struct gg_sources *s)
{
    bool eight = l->inst->form == GG_FORM_DPP8;
    bool fetch_inactive = eight ? l->inst->dpp8.fi : l->inst->dpp16.fi;
    struct dpp d = {0};
    if (eight) {
        gg_value lane = this_lane(l), in_eight = v2(l, GG_IR_and, lane, k(l, 7));
        gg_value shift = v2(l, GG_IR_mul, in_eight, k(l, 3));
        d.lane = with_low(l, lane, 7, v2(l, GG_IR_shr, k(l, l->inst->dpp8.select), shift));
    } else if (!dpp16_source(l, &d)) {
        return GG_ERR_UNSUPPORTED;
    }
    if (!fetch_inactive) {
        gg_value active = gg_l_select(l, GG_IR_V, gg_l_exec(l), k(l, 1), k(l, 0));
        gg_value there = gg_l2(l, GG_IR_shuffle, GG_IR_V, active, d.lane);
        gg_value is_active = gg_l2(l, GG_IR_eq, GG_IR_M, there, k(l, 1));
        d.valid = d.valid ? gg_l2(l, GG_IR_and, GG_IR_M, d.valid, is_active) : is_active;
    }
    gg_value moved = gg_l2(l, GG_IR_shuffle, GG_IR_V, s->value[0], d.lane);
    s->value[0] = d.valid ? gg_l_select(l, GG_IR_V, d.valid, moved, k(l, 0)) : moved;
    if (eight)
        return GG_OK;
    s->write = gg_l2(l, GG_IR_and, GG_IR_M, gg_l_exec(l), rows_and_banks(l));
    if (d.valid && !l->inst->dpp16.bound_ctrl)
        s->write = gg_l2(l, GG_IR_and, GG_IR_M, s->write, d.valid);
    return GG_OK;
}

static gg_value sdwa_part(struct gg_lift *l, gg_value value, uint32_t select, bool is_signed)
{
    if (select == GG_SDWA_DWORD)
        return value;
    if (select >= GG_SDWA_WORD_0)
        return gg_l_part(l, GG_IR_V, value, 16 * (select - GG_SDWA_WORD_0), 16, is_signed);
    return gg_l_part(l, GG_IR_V, value, 8 * select, 8, is_signed);
}

static bool is_float(uint32_t type) { return type == GG_TYPE_F32 || type == GG_TYPE_F16; }
static bool is_half(uint32_t type) { return type >= GG_TYPE_B16 && type <= GG_TYPE_F16; }
static bool is_pair(uint32_t type) { return type >= GG_TYPE_PK_F16 && type <= GG_TYPE_PK_U16; }
static bool is_dword(uint32_t type) { return type >= GG_TYPE_B16 && type <= GG_TYPE_F32; }

int32_t gg_l_read_sources(struct gg_lift *l, struct gg_sources *s)
{
    const struct gg_inst *inst = l->inst;
    *s = (struct gg_sources){0};
    for (uint32_t i = 0; i < 3; i++) {
        const struct gg_operand *operand = &inst->src[i];
        if (operand->kind == GG_OPERAND_NONE || operand->type == GG_TYPE_MASK)
            continue;
        s->value[i] = gg_l_vector(l, operand, 0);
        bool modified = (inst->neg | inst->abs) >> i & 1;
        if (!s->value[i] || (modified && !is_dword(operand->type) && !is_pair(operand->type)))
            return GG_ERR_UNSUPPORTED;
    }
    if (inst->form == GG_FORM_SDWA)
        for (uint32_t i = 0; i < 2 && s->value[i]; i++) {
            if (!is_dword(inst->src[i].type) && !is_pair(inst->src[i].type))
                return GG_ERR_UNSUPPORTED;
            s->value[i] = sdwa_part(l, s->value[i], inst->sdwa.src_sel[i], inst->sdwa.sext >> i & 1);
        }
    if (inst->form == GG_FORM_DPP16 || inst->form == GG_FORM_DPP8) {
        int32_t result = read_dpp(l, s);
        if (result)
            return result;
    }
    for (uint32_t i = 0; i < 3; i++) {
        bool half = s->value[i] && is_half(inst->src[i].type);
        uint32_t sign = half ? 0x8000u : 0x80000000u;
        if (half) /* the other half is nobody's */
            s->value[i] = gg_l_part(l, GG_IR_V, s->value[i],
                                    inst->format == GG_FORMAT_VOP3 ? 16 * (inst->op_sel >> i & 1u) : 0, 16, false);
        if (inst->abs >> i & 1)
            s->value[i] = v2(l, GG_IR_and, s->value[i], k(l, sign - 1));
        if (inst->neg >> i & 1)
            s->value[i] = v2(l, GG_IR_xor, s->value[i], k(l, sign));
    }
    return GG_OK;
}

/* The dword that an SDWA destination takes: a part of the old one replaced, or the rest zero or signs. */
static gg_value sdwa_result(struct gg_lift *l, gg_value value, gg_value old)
{
    uint32_t select = l->inst->sdwa.dst_sel;
    if (select == GG_SDWA_DWORD)
        return value;
    uint32_t width = select >= GG_SDWA_WORD_0 ? 16 : 8;
    uint32_t offset = select >= GG_SDWA_WORD_0 ? 16 * (select - GG_SDWA_WORD_0) : 8 * select;
    uint32_t bits = ((1u << width) - 1) << offset;
    gg_value placed = v2(l, GG_IR_and, v2(l, GG_IR_shl, value, k(l, offset)), k(l, bits));
    switch (l->inst->sdwa.dst_unused) {
    case GG_SDWA_UNUSED_PRESERVE:
        return v2(l, GG_IR_or, placed, v2(l, GG_IR_and, old, k(l, ~bits)));
    case GG_SDWA_UNUSED_SEXT: {
        gg_value top = v2(l, GG_IR_shl, value, k(l, 32 - width));
        gg_value extended = v2(l, GG_IR_sar, top, k(l, 32 - width));
        return v2(l, GG_IR_shl, extended, k(l, offset));
    }
    default:
        return placed;
    }
}

void gg_l_write_result(struct gg_lift *l, const struct gg_sources *s, gg_value value)
{
    uint32_t reg = GG_REG_VGPR + l->inst->dst[0].value;
    gg_value old = gg_ssa_read(&l->ssa, l->at.block, reg);
    if (l->inst->form == GG_FORM_SDWA)
        value = sdwa_result(l, value, old);
    else if (is_half(l->inst->dst[0].type)) /* the other half of the register stays */
        value = gg_l_in_half(l, value, old, l->inst->format == GG_FORMAT_VOP3 && l->inst->op_sel & 8);
    gg_value write = s->write ? s->write : gg_l_exec(l);
    gg_l_write_vgpr(l, l->inst->dst[0].value, write, value);
}

gg_value gg_l_in_half(struct gg_lift *l, gg_value value, gg_value old, bool high)
{
    gg_value kept = v2(l, GG_IR_and, old, k(l, high ? 0xffffu : 0xffff0000u));
    gg_value placed = high ? v2(l, GG_IR_shl, value, k(l, 16)) : v2(l, GG_IR_and, value, k(l, 0xffffu));
    return v2(l, GG_IR_or, kept, placed);
}

/* To 0..1; a NaN to 0 where MODE says so. */
static gg_value clamp(struct gg_lift *l, gg_value value)
{
    gg_value positive = gg_l2(l, GG_IR_flt, GG_IR_M, k(l, 0), value);
    gg_value clamped = gg_l_select(l, GG_IR_V, positive, v2(l, GG_IR_fmin, value, k(l, 0x3f800000u)), k(l, 0));
    return gg_l_dx10_clamp(l) ? clamped : gg_l_select(l, GG_IR_V, gg_l_is_nan_bits(l, value), value, clamped);
}

gg_value gg_l_float_result(struct gg_lift *l, gg_value value)
{
    static const uint32_t factors[4] = {0, 0x40000000u, 0x40800000u, 0x3f000000u}; /* 2, 4, 1/2 */
    uint32_t type = l->inst->dst[0].type;
    if (!is_float(type))
        return value;
    /* The hardware multiplies only where denormal results are flushed and IEEE mode is off. */
    bool multiplies = l->inst->omod && !gg_l_ieee(l) && !gg_l_keeps_results(l, type);
    bool fixes_up = l->inst->op == GG_OP_v_div_fixup_f32 || l->inst->op == GG_OP_v_div_fixup_f16; /* passes it on */
    if (!fixes_up || multiplies)
        value = gg_l_flush_result(l, type, value);
    bool clamps = l->inst->flags & GG_INST_CLAMP;
    if (!multiplies && !clamps)
        return value;
    value = type == GG_TYPE_F16 ? gg_l_half_to_float(l, value) : value;
    if (multiplies) {
        value = v2(l, GG_IR_fmul, value, k(l, factors[l->inst->omod]));
        value = type == GG_TYPE_F16 ? gg_l_half_to_float(l, gg_l_flush(l, type, gg_l_float_to_half(l, value, false)))
                                    : gg_l_flush(l, type, value);
        gg_value is_zero = gg_l2(l, GG_IR_feq, GG_IR_M, value, k(l, 0));
        value = gg_l_select(l, GG_IR_V, is_zero, k(l, 0), value);
    }
    value = clamps ? clamp(l, value) : value;
    return type == GG_TYPE_F16 ? gg_l_float_to_half(l, value, false) : value;
}

gg_value gg_l_source(struct gg_lift *l, uint32_t which, uint32_t i) { return gg_l_scalar(l, &l->inst->src[which], i); }

void gg_l_set_result(struct gg_lift *l, uint32_t i, gg_value value)
{
    uint32_t number = l->inst->dst[0].value;
    gg_l_set_sgpr(l, number == GG_SGPR_NULL ? number : number + i, value);
}

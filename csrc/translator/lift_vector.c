/* SPDX-License-Identifier: MIT */
/* The vector unit: VOP1, VOP2, VOP3 on dwords. Comparisons are in lift_compare.c, sources and results in lift_operand.c. */
#include "lift_float.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value v1(struct gg_lift *l, enum gg_ir_opcode op, gg_value a) { return gg_l1(l, op, GG_IR_V, a); }

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

static gg_value negate(struct gg_lift *l, gg_value a) { return v2(l, GG_IR_xor, a, k(l, 0x80000000u)); }

static gg_value part(struct gg_lift *l, gg_value a, uint32_t offset, uint32_t width, bool is_signed)
{
    return gg_l_part(l, GG_IR_V, a, offset, width, is_signed);
}

/* The middle of three. */
static gg_value median(struct gg_lift *l, enum gg_ir_opcode min, enum gg_ir_opcode max, const gg_value *s)
{
    gg_value low = v2(l, min, s[0], s[1]), high = v2(l, max, s[0], s[1]);
    return v2(l, max, low, v2(l, min, high, s[2]));
}

/* Lanes below this one whose bit of a word is set; word `half` of the wave's mask. */
static gg_value lanes_below(struct gg_lift *l, gg_value word, gg_value add, uint32_t half)
{
    gg_value lane = gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0);
    gg_value in_half = v2(l, GG_IR_and, lane, k(l, 31));
    gg_value one = v2(l, GG_IR_shl, k(l, 1), in_half);
    gg_value below = v2(l, GG_IR_sub, one, k(l, 1));
    gg_value is_high = gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 31), lane);
    /* Lanes of the other half have all of the low word below them, and none of the high one. */
    gg_value bits = half ? gg_l_select(l, GG_IR_V, is_high, below, k(l, 0))
                         : gg_l_select(l, GG_IR_V, is_high, k(l, UINT32_MAX), below);
    gg_value set = v2(l, GG_IR_and, word, bits);
    return v2(l, GG_IR_add, v1(l, GG_IR_bitcount, set), add);
}

/* D.byte = the byte of {s0, s1} that the selector names, of v_perm_b32: 0-7 bytes, 12 zero, 13 and up ones; 8-11 signs. */
static gg_value permute_byte(struct gg_lift *l, const gg_value *s, uint32_t i)
{
    gg_value selector = part(l, s[2], 8 * i, 8, false);
    gg_value shift = v2(l, GG_IR_shl, v2(l, GG_IR_and, selector, k(l, 3)), k(l, 3));
    gg_value low = v2(l, GG_IR_and, v2(l, GG_IR_shr, s[1], shift), k(l, 0xff));
    gg_value high = v2(l, GG_IR_and, v2(l, GG_IR_shr, s[0], shift), k(l, 0xff));
    gg_value from_high = gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 3), selector);
    gg_value byte = gg_l_select(l, GG_IR_V, from_high, high, low);
    /* 8 to 11: the sign of byte 1, 3, 5 or 7. */
    gg_value odd = v2(l, GG_IR_or, v2(l, GG_IR_shl, v2(l, GG_IR_and, selector, k(l, 1)), k(l, 4)), k(l, 15));
    gg_value word = gg_l_select(l, GG_IR_V, gg_l2(l, GG_IR_lt_u, GG_IR_M, selector, k(l, 10)), s[1], s[0]);
    gg_value sign = v2(l, GG_IR_and, v2(l, GG_IR_shr, word, odd), k(l, 1));
    gg_value signs = v2(l, GG_IR_and, v2(l, GG_IR_sub, k(l, 0), sign), k(l, 0xff));
    gg_value is_sign = gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 7), selector);
    byte = gg_l_select(l, GG_IR_V, is_sign, signs, byte);
    byte = gg_l_select(l, GG_IR_V, gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 11), selector), k(l, 0), byte);
    byte = gg_l_select(l, GG_IR_V, gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 12), selector), k(l, 0xff), byte);
    return v2(l, GG_IR_shl, byte, k(l, 8 * i));
}

static gg_value permute(struct gg_lift *l, const gg_value *s)
{
    gg_value low = v2(l, GG_IR_or, permute_byte(l, s, 0), permute_byte(l, s, 1));
    return v2(l, GG_IR_or, low, v2(l, GG_IR_or, permute_byte(l, s, 2), permute_byte(l, s, 3)));
}

/* Integer operations with one dword of result; 0 for others. */
static gg_value integer(struct gg_lift *l, const gg_value *s)
{
    switch (l->inst->op) {
    case GG_OP_v_mov_b32:
        return s[0];
    case GG_OP_v_not_b32:
        return v1(l, GG_IR_not, s[0]);
    case GG_OP_v_bfrev_b32:
        return v1(l, GG_IR_bitreverse, s[0]);
    case GG_OP_v_ffbh_u32:
        return gg_l_leading(l, GG_IR_V, s[0], false);
    case GG_OP_v_ffbh_i32:
        return gg_l_leading(l, GG_IR_V, s[0], true);
    case GG_OP_v_ffbl_b32:
        return v1(l, GG_IR_find_lsb, s[0]);
    case GG_OP_v_and_b32:
        return v2(l, GG_IR_and, s[0], s[1]);
    case GG_OP_v_or_b32:
        return v2(l, GG_IR_or, s[0], s[1]);
    case GG_OP_v_xor_b32:
        return v2(l, GG_IR_xor, s[0], s[1]);
    case GG_OP_v_xnor_b32:
        return v1(l, GG_IR_not, v2(l, GG_IR_xor, s[0], s[1]));
    case GG_OP_v_lshlrev_b32:
        return v2(l, GG_IR_shl, s[1], s[0]);
    case GG_OP_v_lshrrev_b32:
        return v2(l, GG_IR_shr, s[1], s[0]);
    case GG_OP_v_ashrrev_i32:
        return v2(l, GG_IR_sar, s[1], s[0]);
    case GG_OP_v_min_i32:
        return v2(l, GG_IR_min_i, s[0], s[1]);
    case GG_OP_v_max_i32:
        return v2(l, GG_IR_max_i, s[0], s[1]);
    case GG_OP_v_min_u32:
        return v2(l, GG_IR_min_u, s[0], s[1]);
    case GG_OP_v_max_u32:
        return v2(l, GG_IR_max_u, s[0], s[1]);
    case GG_OP_v_add_nc_u32:
    case GG_OP_v_add_nc_i32:
        return v2(l, GG_IR_add, s[0], s[1]);
    case GG_OP_v_sub_nc_u32:
    case GG_OP_v_sub_nc_i32:
        return v2(l, GG_IR_sub, s[0], s[1]);
    case GG_OP_v_subrev_nc_u32:
        return v2(l, GG_IR_sub, s[1], s[0]);
    case GG_OP_v_mul_lo_u32:
    case GG_OP_v_mul_lo_i32:
        return v2(l, GG_IR_mul, s[0], s[1]);
    case GG_OP_v_mul_hi_u32:
        return v2(l, GG_IR_mulhi_u, s[0], s[1]);
    case GG_OP_v_mul_hi_i32:
        return v2(l, GG_IR_mulhi_i, s[0], s[1]);
    case GG_OP_v_mul_u32_u24:
        return v2(l, GG_IR_mul, part(l, s[0], 0, 24, false), part(l, s[1], 0, 24, false));
    case GG_OP_v_mul_i32_i24:
        return v2(l, GG_IR_mul, part(l, s[0], 0, 24, true), part(l, s[1], 0, 24, true));
    case GG_OP_v_mul_hi_u32_u24:
        return v2(l, GG_IR_mulhi_u, part(l, s[0], 0, 24, false), part(l, s[1], 0, 24, false));
    case GG_OP_v_mul_hi_i32_i24:
        return v2(l, GG_IR_mulhi_i, part(l, s[0], 0, 24, true), part(l, s[1], 0, 24, true));
    case GG_OP_v_mad_u32_u24:
        return v2(l, GG_IR_add, v2(l, GG_IR_mul, part(l, s[0], 0, 24, false), part(l, s[1], 0, 24, false)), s[2]);
    case GG_OP_v_mad_i32_i24:
        return v2(l, GG_IR_add, v2(l, GG_IR_mul, part(l, s[0], 0, 24, true), part(l, s[1], 0, 24, true)), s[2]);
    case GG_OP_v_add3_u32:
        return v2(l, GG_IR_add, v2(l, GG_IR_add, s[0], s[1]), s[2]);
    case GG_OP_v_lshl_add_u32:
        return v2(l, GG_IR_add, v2(l, GG_IR_shl, s[0], s[1]), s[2]);
    case GG_OP_v_add_lshl_u32:
        return v2(l, GG_IR_shl, v2(l, GG_IR_add, s[0], s[1]), s[2]);
    case GG_OP_v_xad_u32:
        return v2(l, GG_IR_add, v2(l, GG_IR_xor, s[0], s[1]), s[2]);
    case GG_OP_v_lshl_or_b32:
        return v2(l, GG_IR_or, v2(l, GG_IR_shl, s[0], s[1]), s[2]);
    case GG_OP_v_and_or_b32:
        return v2(l, GG_IR_or, v2(l, GG_IR_and, s[0], s[1]), s[2]);
    case GG_OP_v_or3_b32:
        return v2(l, GG_IR_or, v2(l, GG_IR_or, s[0], s[1]), s[2]);
    case GG_OP_v_xor3_b32:
        return v2(l, GG_IR_xor, v2(l, GG_IR_xor, s[0], s[1]), s[2]);
    case GG_OP_v_bfi_b32: {
        gg_value in = v2(l, GG_IR_and, s[0], s[1]), out = v2(l, GG_IR_and, v1(l, GG_IR_not, s[0]), s[2]);
        return v2(l, GG_IR_or, in, out);
    }
    case GG_OP_v_bfe_u32:
    case GG_OP_v_bfe_i32: {
        gg_value offset = v2(l, GG_IR_and, s[1], k(l, 31)), width = v2(l, GG_IR_and, s[2], k(l, 31));
        return gg_l_field(l, GG_IR_V, s[0], offset, width, l->inst->op == GG_OP_v_bfe_i32);
    }
    case GG_OP_v_bfm_b32: {
        gg_value ones = v2(l, GG_IR_sub, v2(l, GG_IR_shl, k(l, 1), s[0]), k(l, 1));
        return v2(l, GG_IR_shl, ones, s[1]);
    }
    case GG_OP_v_alignbit_b32:
    case GG_OP_v_alignbyte_b32: {
        bool bytes = l->inst->op == GG_OP_v_alignbyte_b32;
        gg_value count =
            bytes ? v2(l, GG_IR_shl, v2(l, GG_IR_and, s[2], k(l, 3)), k(l, 3)) : v2(l, GG_IR_and, s[2], k(l, 31));
        return gg_l_shift64(l, GG_IR_V, GG_SHIFT_RIGHT, (struct gg_pair){s[1], s[0]}, count).low;
    }
    case GG_OP_v_bcnt_u32_b32:
        return v2(l, GG_IR_add, v1(l, GG_IR_bitcount, s[0]), s[1]);
    case GG_OP_v_mbcnt_lo_u32_b32:
        return lanes_below(l, s[0], s[1], 0);
    case GG_OP_v_mbcnt_hi_u32_b32:
        return lanes_below(l, s[0], s[1], 1);
    case GG_OP_v_min3_i32:
        return v2(l, GG_IR_min_i, v2(l, GG_IR_min_i, s[0], s[1]), s[2]);
    case GG_OP_v_min3_u32:
        return v2(l, GG_IR_min_u, v2(l, GG_IR_min_u, s[0], s[1]), s[2]);
    case GG_OP_v_max3_i32:
        return v2(l, GG_IR_max_i, v2(l, GG_IR_max_i, s[0], s[1]), s[2]);
    case GG_OP_v_max3_u32:
        return v2(l, GG_IR_max_u, v2(l, GG_IR_max_u, s[0], s[1]), s[2]);
    case GG_OP_v_med3_i32:
        return median(l, GG_IR_min_i, GG_IR_max_i, s);
    case GG_OP_v_med3_u32:
        return median(l, GG_IR_min_u, GG_IR_max_u, s);
    case GG_OP_v_perm_b32:
        return permute(l, s);
    case GG_OP_v_sad_u32: {
        gg_value larger = v2(l, GG_IR_max_u, s[0], s[1]), smaller = v2(l, GG_IR_min_u, s[0], s[1]);
        return v2(l, GG_IR_add, v2(l, GG_IR_sub, larger, smaller), s[2]);
    }
    default:
        return 0;
    }
}

/* Floats of 32 bits; 0 for others. */
static gg_value floating(struct gg_lift *l, const gg_value *s)
{
    switch (l->inst->op) {
    case GG_OP_v_add_f32:
        return v2(l, GG_IR_fadd, s[0], s[1]);
    case GG_OP_v_sub_f32:
        return v2(l, GG_IR_fadd, s[0], negate(l, s[1]));
    case GG_OP_v_subrev_f32:
        return v2(l, GG_IR_fadd, s[1], negate(l, s[0]));
    case GG_OP_v_mul_f32:
        return v2(l, GG_IR_fmul, s[0], s[1]);
    case GG_OP_v_min_f32:
        return gg_l_least(l, false, s[0], s[1]);
    case GG_OP_v_max_f32:
        return gg_l_least(l, true, s[0], s[1]);
    case GG_OP_v_fma_f32:
    case GG_OP_v_fmamk_f32:
    case GG_OP_v_fmaak_f32:
        return gg_l3(l, GG_IR_ffma, GG_IR_V, s[0], s[1], s[2]);
    case GG_OP_v_fmac_f32:
        return gg_l3(l, GG_IR_ffma, GG_IR_V, s[0], s[1],
                     gg_l_flush_source(l, GG_TYPE_F32, gg_l_vgpr(l, l->inst->dst[0].value)));
    case GG_OP_v_min3_f32:
        return gg_l_least(l, false, gg_l_least(l, false, s[0], s[1]), s[2]);
    case GG_OP_v_max3_f32:
        return gg_l_least(l, true, gg_l_least(l, true, s[0], s[1]), s[2]);
    case GG_OP_v_floor_f32:
        return v1(l, GG_IR_ffloor, s[0]);
    case GG_OP_v_ceil_f32:
        return v1(l, GG_IR_fceil, s[0]);
    case GG_OP_v_trunc_f32:
        return v1(l, GG_IR_ftrunc, s[0]);
    case GG_OP_v_rndne_f32:
        return v1(l, GG_IR_frint, s[0]);
    case GG_OP_v_rcp_f32:
    case GG_OP_v_rcp_iflag_f32:
        return v1(l, GG_IR_frcp, s[0]);
    case GG_OP_v_rsq_f32:
        return v1(l, GG_IR_frsq, s[0]);
    case GG_OP_v_sqrt_f32:
        return v1(l, GG_IR_fsqrt, s[0]);
    case GG_OP_v_exp_f32:
        return v1(l, GG_IR_fexp2, s[0]);
    case GG_OP_v_log_f32:
        return v1(l, GG_IR_flog2, s[0]);
    case GG_OP_v_sin_f32:
        return v1(l, GG_IR_fsin, s[0]);
    case GG_OP_v_cos_f32:
        return v1(l, GG_IR_fcos, s[0]);
    case GG_OP_v_cvt_f32_i32:
        return v1(l, GG_IR_i2f, s[0]);
    case GG_OP_v_cvt_f32_u32:
        return v1(l, GG_IR_u2f, s[0]);
    case GG_OP_v_cvt_u32_f32:
        return v1(l, GG_IR_f2u, s[0]);
    case GG_OP_v_cvt_i32_f32:
        return v1(l, GG_IR_f2i, s[0]);
    case GG_OP_v_cvt_f32_ubyte0:
        return v1(l, GG_IR_u2f, part(l, s[0], 0, 8, false));
    case GG_OP_v_cvt_f32_ubyte1:
        return v1(l, GG_IR_u2f, part(l, s[0], 8, 8, false));
    case GG_OP_v_cvt_f32_ubyte2:
        return v1(l, GG_IR_u2f, part(l, s[0], 16, 8, false));
    case GG_OP_v_cvt_f32_ubyte3:
        return v1(l, GG_IR_u2f, part(l, s[0], 24, 8, false));
    default:
        return 0;
    }
}

/* a op b with carries: dst[1] and src[2] are masks. */
static int32_t lift_carry(struct gg_lift *l, const struct gg_sources *s, bool subtract, bool reverse, bool carries_in)
{
    gg_value a = s->value[reverse], b = s->value[!reverse], out = 0;
    gg_value in = carries_in ? gg_l_mask(l, &l->inst->src[2]) : 0;
    if (carries_in && !in)
        return GG_ERR_UNSUPPORTED;
    gg_value result =
        subtract ? gg_l_sub_borrow(l, GG_IR_V, a, b, in, &out) : gg_l_add_carry(l, GG_IR_V, a, b, in, &out);
    if (l->inst->flags & GG_INST_CLAMP)
        result = gg_l_select(l, GG_IR_V, out, k(l, subtract ? 0 : UINT32_MAX), result);
    out = gg_l2(l, GG_IR_and, GG_IR_M, out, s->write ? s->write : gg_l_exec(l));
    gg_l_write_result(l, s, result);
    gg_l_set_mask_at(l, l->inst->dst[1].value, out);
    return GG_OK;
}

static int32_t lift_mad64(struct gg_lift *l, const struct gg_sources *s, bool is_signed)
{
    gg_value low = v2(l, GG_IR_mul, s->value[0], s->value[1]);
    gg_value high = v2(l, is_signed ? GG_IR_mulhi_i : GG_IR_mulhi_u, s->value[0], s->value[1]);
    gg_value c[2] = {gg_l_vector(l, &l->inst->src[2], 0), gg_l_vector(l, &l->inst->src[2], 1)}, carry, out;
    gg_value sum_low = gg_l_add_carry(l, GG_IR_V, low, c[0], 0, &carry);
    gg_value sum_high = gg_l_add_carry(l, GG_IR_V, high, c[1], carry, &out);
    if (is_signed) { /* bit 64 of the sum: the signs and the carry into it */
        gg_value signs = v2(l, GG_IR_xor, high, c[1]);
        gg_value differ = gg_l2(l, GG_IR_lt_i, GG_IR_M, signs, k(l, 0));
        out = gg_l2(l, GG_IR_xor, GG_IR_M, out, differ);
    }
    out = gg_l2(l, GG_IR_and, GG_IR_M, out, gg_l_exec(l));
    uint32_t dst = l->inst->dst[0].value;
    gg_l_set_vgpr(l, dst, sum_low);
    gg_l_set_vgpr(l, dst + 1, sum_high);
    gg_l_set_mask_at(l, l->inst->dst[1].value, out);
    return GG_OK;
}

static int32_t lift_shift64(struct gg_lift *l, const struct gg_sources *s, enum gg_shift kind)
{
    struct gg_pair a = {gg_l_vector(l, &l->inst->src[1], 0), gg_l_vector(l, &l->inst->src[1], 1)};
    struct gg_pair result = gg_l_shift64(l, GG_IR_V, kind, a, s->value[0]);
    gg_l_set_vgpr(l, l->inst->dst[0].value, result.low);
    gg_l_set_vgpr(l, l->inst->dst[0].value + 1, result.high);
    return GG_OK;
}

static int32_t lift_lanes(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    gg_value a = gg_l_vector(l, &inst->src[0], 0);
    if (!a)
        return GG_ERR_UNSUPPORTED;
    if (inst->op == GG_OP_v_readfirstlane_b32) {
        gg_l_set_sgpr(l, inst->dst[0].value, gg_l2(l, GG_IR_first_lane, GG_IR_S, a, gg_l_exec(l)));
        return GG_OK;
    }
    gg_value lane = gg_l_scalar(l, &inst->src[1], 0);
    if (!lane)
        return GG_ERR_UNSUPPORTED;
    if (inst->op == GG_OP_v_readlane_b32) {
        gg_l_set_sgpr(l, inst->dst[0].value, gg_l2(l, GG_IR_read_lane, GG_IR_S, a, lane));
        return GG_OK;
    }
    /* v_writelane goes past EXEC. */
    uint32_t number = inst->dst[0].value;
    if (gg_l_is_shared(l, number)) {
        gg_value own = gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0);
        gg_value named = gg_l2(l, GG_IR_and, GG_IR_S, lane, gg_lk(l, l->wave - 1));
        gg_l_write_vgpr(l, number, gg_l2(l, GG_IR_eq, GG_IR_M, own, named), a);
        return GG_OK;
    }
    gg_value old = gg_l_vgpr(l, number);
    gg_ssa_write(&l->ssa, l->at.block, GG_REG_VGPR + number, gg_l3(l, GG_IR_write_lane, GG_IR_V, old, lane, a));
    return GG_OK;
}

/* Of f32 these flush denormals in and out, whatever MODE says. */
static bool is_approximate(uint32_t op)
{
    return op == GG_OP_v_rcp_f32 || op == GG_OP_v_rcp_iflag_f32 || op == GG_OP_v_rsq_f32 || op == GG_OP_v_sqrt_f32 ||
           op == GG_OP_v_exp_f32 || op == GG_OP_v_log_f32 || op == GG_OP_v_sin_f32 || op == GG_OP_v_cos_f32;
}

/* Whether a source's denormals are MODE's matter: not of a quotient that is only fixed up, nor where they are 0. */
static bool flushes(const struct gg_inst *inst, uint32_t source)
{
    uint32_t type = inst->src[source].type, op = inst->op;
    bool fixed = op == GG_OP_v_div_fixup_f32 || op == GG_OP_v_div_fixup_f16;
    bool normalises = op == GG_OP_v_cvt_norm_i16_f16 || op == GG_OP_v_cvt_norm_u16_f16 ||
                      op == GG_OP_v_cvt_pknorm_i16_f16 || op == GG_OP_v_cvt_pknorm_u16_f16;
    return (type == GG_TYPE_F32 || type == GG_TYPE_F16) && !(fixed && source == 0) && !normalises;
}

int32_t gg_lift_vector(struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_v_nop:
    case GG_OP_v_pipeflush:
    case GG_OP_v_clrexcp:
        return GG_OK;
    case GG_OP_v_qsad_pk_u16_u8:
    case GG_OP_v_mqsad_pk_u16_u8:
    case GG_OP_v_mqsad_u32_u8:
        return gg_lift_quad_differences(l);
    case GG_OP_v_readfirstlane_b32:
    case GG_OP_v_readlane_b32:
    case GG_OP_v_writelane_b32:
        return lift_lanes(l);
    case GG_OP_v_permlane16_b32:
    case GG_OP_v_permlanex16_b32:
    case GG_OP_v_movreld_b32:
    case GG_OP_v_movrels_b32:
    case GG_OP_v_movrelsd_b32:
    case GG_OP_v_movrelsd_2_b32:
    case GG_OP_v_swap_b32:
    case GG_OP_v_swaprel_b32:
        return gg_lift_lanes(l);
    default:
        break;
    }
    if (l->inst->op == GG_OP_v_dot2c_f32_f16 || l->inst->op == GG_OP_v_dot4c_i32_i8 ||
        l->inst->op == GG_OP_v_pk_fmac_f16)
        return gg_lift_packed(l);
    if (l->inst->src[0].type == GG_TYPE_F64 || l->inst->dst[0].type == GG_TYPE_F64)
        return gg_lift_double(l);
    struct gg_sources s;
    int32_t result = gg_l_read_sources(l, &s);
    if (result)
        return result;
    switch (l->inst->op) {
    case GG_OP_v_cndmask_b32: {
        gg_value mask = gg_l_mask(l, &l->inst->src[2]);
        if (!mask)
            return GG_ERR_UNSUPPORTED;
        gg_l_write_result(l, &s, gg_l_select(l, GG_IR_V, mask, s.value[1], s.value[0]));
        return GG_OK;
    }
    case GG_OP_v_add_co_u32:
        return lift_carry(l, &s, false, false, false);
    case GG_OP_v_sub_co_u32:
        return lift_carry(l, &s, true, false, false);
    case GG_OP_v_subrev_co_u32:
        return lift_carry(l, &s, true, true, false);
    case GG_OP_v_add_co_ci_u32:
        return lift_carry(l, &s, false, false, true);
    case GG_OP_v_sub_co_ci_u32:
        return lift_carry(l, &s, true, false, true);
    case GG_OP_v_subrev_co_ci_u32:
        return lift_carry(l, &s, true, true, true);
    case GG_OP_v_mad_u64_u32:
        return lift_mad64(l, &s, false);
    case GG_OP_v_mad_i64_i32:
        return lift_mad64(l, &s, true);
    case GG_OP_v_lshlrev_b64:
        return lift_shift64(l, &s, GG_SHIFT_LEFT);
    case GG_OP_v_lshrrev_b64:
        return lift_shift64(l, &s, GG_SHIFT_RIGHT);
    case GG_OP_v_ashrrev_i64:
        return lift_shift64(l, &s, GG_SHIFT_ARITHMETIC);
    default:
        break;
    }
    gg_value made = integer(l, s.value);
    if (made) {
        gg_value clamped = l->inst->flags & GG_INST_CLAMP ? gg_lift_clamped(l, s.value) : 0;
        gg_l_write_result(l, &s, clamped ? clamped : made); /* others have the bit, and nothing to clamp */
        return GG_OK;
    }
    made = gg_lift_half_integer(l, s.value);
    if (made) {
        gg_l_write_result(l, &s, made);
        return GG_OK;
    }
    for (uint32_t i = 0; i < 3; i++)
        if (s.value[i] && flushes(l->inst, i))
            s.value[i] = gg_l_flush_source(l, l->inst->src[i].type, s.value[i]);
    bool approximate = is_approximate(l->inst->op);
    if (approximate)
        s.value[0] = gg_l_flush(l, GG_TYPE_F32, s.value[0]);
    made = floating(l, s.value);
    if (made && l->inst->src[0].type == GG_TYPE_F32 && !gg_l_rounds_to_even(l, GG_TYPE_F32))
        return GG_ERR_UNSUPPORTED;
    if (approximate)
        made = gg_l_flush(l, GG_TYPE_F32, made);
    if (!made)
        made = gg_lift_half_float(l, s.value);
    if (!made)
        return gg_lift_single(l, &s);
    gg_l_write_result(l, &s, gg_l_float_result(l, made));
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * Two 16-bit operations in one dword, dot products and v_fma_mix. Each half of a result chooses its half of each
 * source by op_sel or op_sel_hi, and its sign by neg or neg_hi.
 */
#include "lift_float.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }
static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}
static bool clamps(const struct gg_lift *l) { return l->inst->flags & GG_INST_CLAMP; }

static gg_value part(struct gg_lift *l, gg_value a, uint32_t offset, uint32_t width, bool is_signed)
{
    return gg_l_part(l, GG_IR_V, a, offset, width, is_signed);
}

/* The half of a source that goes into one half of the result; VOP2 has no choice. */
static uint32_t half_shift(const struct gg_lift *l, uint32_t source, bool high)
{
    if (l->inst->format != GG_FORMAT_VOP3P)
        return high ? 16 : 0;
    uint32_t select = high ? l->inst->op_sel_hi : l->inst->op_sel;
    return 16 * (select >> source & 1);
}

static gg_value float_half(struct gg_lift *l, const gg_value *s, uint32_t source, bool high)
{
    gg_value half = part(l, s[source], half_shift(l, source, high), 16, false);
    if ((high ? l->inst->neg_hi : l->inst->neg) >> source & 1)
        half = v2(l, GG_IR_xor, half, k(l, 0x8000));
    return gg_l_half_to_float(l, gg_l_flush_source(l, GG_TYPE_F16, half));
}

static gg_value joined(struct gg_lift *l, gg_value low, gg_value high)
{
    return v2(l, GG_IR_or, v2(l, GG_IR_and, low, k(l, 0xffff)), v2(l, GG_IR_shl, high, k(l, 16)));
}

/* ---- integers ---- */

static gg_value integer_half(struct gg_lift *l, const gg_value *s, bool high)
{
    uint32_t op = l->inst->op;
    bool is_signed = op == GG_OP_v_pk_mad_i16 || op == GG_OP_v_pk_add_i16 || op == GG_OP_v_pk_sub_i16 ||
                     op == GG_OP_v_pk_max_i16 || op == GG_OP_v_pk_min_i16 || op == GG_OP_v_pk_ashrrev_i16;
    gg_value a = part(l, s[0], half_shift(l, 0, high), 16, is_signed), made;
    gg_value b = part(l, s[1], half_shift(l, 1, high), 16, is_signed);
    switch (op) {
    case GG_OP_v_pk_mad_i16:
    case GG_OP_v_pk_mad_u16:
        made = v2(l, GG_IR_add, v2(l, GG_IR_mul, a, b), part(l, s[2], half_shift(l, 2, high), 16, is_signed));
        break;
    case GG_OP_v_pk_add_i16:
    case GG_OP_v_pk_add_u16:
        made = v2(l, GG_IR_add, a, b);
        break;
    case GG_OP_v_pk_sub_i16:
        made = v2(l, GG_IR_sub, a, b);
        break;
    case GG_OP_v_pk_sub_u16:
        made = v2(l, GG_IR_sub, a, b);
        return clamps(l) ? v2(l, GG_IR_max_i, made, k(l, 0)) : made;
    case GG_OP_v_pk_mul_lo_u16:
        return v2(l, GG_IR_mul, a, b);
    case GG_OP_v_pk_lshlrev_b16:
        return v2(l, GG_IR_shl, b, v2(l, GG_IR_and, a, k(l, 15)));
    case GG_OP_v_pk_lshrrev_b16:
        return v2(l, GG_IR_shr, b, v2(l, GG_IR_and, a, k(l, 15)));
    case GG_OP_v_pk_ashrrev_i16:
        return v2(l, GG_IR_sar, b, v2(l, GG_IR_and, a, k(l, 15)));
    case GG_OP_v_pk_max_i16:
        return v2(l, GG_IR_max_i, a, b);
    case GG_OP_v_pk_min_i16:
        return v2(l, GG_IR_min_i, a, b);
    case GG_OP_v_pk_max_u16:
        return v2(l, GG_IR_max_u, a, b);
    case GG_OP_v_pk_min_u16:
        return v2(l, GG_IR_min_u, a, b);
    default:
        return 0;
    }
    if (!clamps(l))
        return made;
    return is_signed ? gg_l_clamp_integer(l, made, -32768, 32767) : v2(l, GG_IR_min_u, made, k(l, 0xffff));
}

/* ---- halves ---- */

/* To 0..1; a NaN to 0 where MODE says so. */
static gg_value unit(struct gg_lift *l, gg_value value)
{
    gg_value positive = gg_l2(l, GG_IR_flt, GG_IR_M, k(l, 0), value);
    gg_value clamped = gg_l_select(l, GG_IR_V, positive, v2(l, GG_IR_fmin, value, k(l, 0x3f800000)), k(l, 0));
    return gg_l_dx10_clamp(l) ? clamped : gg_l_select(l, GG_IR_V, gg_l_is_nan_bits(l, value), value, clamped);
}

static gg_value half_result(struct gg_lift *l, gg_value single)
{
    gg_value half = gg_l_flush_result(l, GG_TYPE_F16, gg_l_float_to_half(l, single, false));
    return clamps(l) ? gg_l_float_to_half(l, unit(l, gg_l_half_to_float(l, half)), false) : half;
}

static gg_value signalling(struct gg_lift *l, gg_value half)
{
    gg_value magnitude = v2(l, GG_IR_and, half, k(l, 0x7fff));
    gg_value nan = gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 0x7c00), magnitude);
    return gg_l2(l, GG_IR_and, GG_IR_M, nan, gg_l2(l, GG_IR_lt_u, GG_IR_M, magnitude, k(l, 0x7e00)));
}

static gg_value least_half(struct gg_lift *l, const gg_value *s, bool high, bool most)
{
    gg_value a = float_half(l, s, 0, high), b = float_half(l, s, 1, high);
    gg_value made = gg_l_least_number(l, most, a, b);
    for (uint32_t i = 2; gg_l_ieee(l) && i-- > 0;) { /* a is the quiet NaN already */
        gg_value raw = part(l, s[i], half_shift(l, i, high), 16, false);
        made = gg_l_select(l, GG_IR_V, signalling(l, raw), i ? b : a, made);
    }
    return half_result(l, made);
}

static gg_value packed_half(struct gg_lift *l, const gg_value *s, bool high)
{
    gg_value a, b, c;
    switch (l->inst->op) {
    case GG_OP_v_pk_min_f16:
        return least_half(l, s, high, false);
    case GG_OP_v_pk_max_f16:
        return least_half(l, s, high, true);
    case GG_OP_v_pk_add_f16:
        a = float_half(l, s, 0, high);
        b = float_half(l, s, 1, high);
        return half_result(l, v2(l, GG_IR_fadd, a, b));
    case GG_OP_v_pk_mul_f16:
        a = float_half(l, s, 0, high);
        b = float_half(l, s, 1, high);
        return half_result(l, v2(l, GG_IR_fmul, a, b));
    case GG_OP_v_pk_fma_f16:
    case GG_OP_v_pk_fmac_f16:
        a = float_half(l, s, 0, high);
        b = float_half(l, s, 1, high);
        c = float_half(l, s, 2, high);
        return half_result(l, gg_l_half_fma(l, a, b, c));
    default:
        return 0;
    }
}

/* ---- dot products ---- */

/* The products are exact; the high one is added last, and each addition rounds. */
static gg_value dot_halves(struct gg_lift *l, const gg_value *s, gg_value addend)
{
    for (int high = 0; high < 2; high++) {
        gg_value a = float_half(l, s, 0, high), b = float_half(l, s, 1, high);
        gg_value sum = v2(l, GG_IR_fadd, v2(l, GG_IR_fmul, a, b), gg_l_flush_source(l, GG_TYPE_F32, addend));
        addend = gg_l_flush_result(l, GG_TYPE_F32, sum);
    }
    return addend;
}

/* Fields of `bits` bits, multiplied and added to c; with clamp the sum is kept in 32 bits. */
static gg_value dot_integers(struct gg_lift *l, const gg_value *s, uint32_t bits, bool is_signed, gg_value c)
{
    gg_value sum = c, high = is_signed ? v2(l, GG_IR_sar, c, k(l, 31)) : k(l, 0);
    for (uint32_t at = 0; at < 32; at += bits) {
        bool halves = bits == 16 && at;
        uint32_t x = bits == 16 ? half_shift(l, 0, halves) : at, y = bits == 16 ? half_shift(l, 1, halves) : at;
        gg_value product = v2(l, GG_IR_mul, part(l, s[0], x, bits, is_signed), part(l, s[1], y, bits, is_signed));
        gg_value carry = 0, product_high = is_signed ? v2(l, GG_IR_sar, product, k(l, 31)) : k(l, 0);
        sum = gg_l_add_carry(l, GG_IR_V, sum, product, 0, clamps(l) ? &carry : NULL);
        if (clamps(l))
            high = gg_l_add_carry(l, GG_IR_V, high, product_high, carry, NULL);
    }
    if (!clamps(l))
        return sum;
    gg_value fits = gg_l2(l, GG_IR_eq, GG_IR_M, high, is_signed ? v2(l, GG_IR_sar, sum, k(l, 31)) : k(l, 0));
    gg_value limit =
        is_signed ? v2(l, GG_IR_xor, v2(l, GG_IR_sar, high, k(l, 31)), k(l, 0x7fffffff)) : k(l, UINT32_MAX);
    return gg_l_select(l, GG_IR_V, fits, sum, limit);
}

static gg_value dot(struct gg_lift *l, const gg_value *s)
{
    switch (l->inst->op) {
    case GG_OP_v_dot2_f32_f16:
        return dot_halves(l, s, l->inst->neg & 4 ? v2(l, GG_IR_xor, s[2], k(l, 0x80000000)) : s[2]);
    case GG_OP_v_dot2c_f32_f16:
        return dot_halves(l, s, s[2]);
    case GG_OP_v_dot2_i32_i16:
        return dot_integers(l, s, 16, true, s[2]);
    case GG_OP_v_dot2_u32_u16:
        return dot_integers(l, s, 16, false, s[2]);
    case GG_OP_v_dot4c_i32_i8:
    case GG_OP_v_dot4_i32_i8:
        return dot_integers(l, s, 8, true, s[2]);
    case GG_OP_v_dot4_u32_u8:
        return dot_integers(l, s, 8, false, s[2]);
    case GG_OP_v_dot8_i32_i4:
        return dot_integers(l, s, 4, true, s[2]);
    case GG_OP_v_dot8_u32_u4:
        return dot_integers(l, s, 4, false, s[2]);
    default:
        return 0;
    }
}

/* A source of v_fma_mix: an f16 half where op_sel_hi says so, else f32. */
static gg_value mixed_source(struct gg_lift *l, const gg_value *s, uint32_t source)
{
    const struct gg_inst *inst = l->inst;
    gg_value value = s[source];
    if (inst->op_sel_hi >> source & 1) {
        gg_value half = part(l, value, 16 * (inst->op_sel >> source & 1u), 16, false);
        value = gg_l_half_to_float(l, gg_l_flush_source(l, GG_TYPE_F16, half));
    }
    if (inst->abs >> source & 1)
        value = v2(l, GG_IR_and, value, k(l, 0x7fffffff));
    if (inst->neg >> source & 1)
        value = v2(l, GG_IR_xor, value, k(l, 0x80000000));
    return gg_l_flush_source(l, GG_TYPE_F32, value);
}

static gg_value mixed(struct gg_lift *l, const gg_value *s)
{
    uint32_t op = l->inst->op;
    if (op != GG_OP_v_fma_mix_f32 && op != GG_OP_v_fma_mixlo_f16 && op != GG_OP_v_fma_mixhi_f16)
        return 0;
    gg_value a = mixed_source(l, s, 0), b = mixed_source(l, s, 1), c = mixed_source(l, s, 2);
    gg_value value = gg_l_flush_result(l, GG_TYPE_F32, gg_l3(l, GG_IR_ffma, GG_IR_V, a, b, c));
    value = clamps(l) ? unit(l, value) : value;
    if (op == GG_OP_v_fma_mix_f32)
        return value;
    gg_value half = gg_l_flush_result(l, GG_TYPE_F16, gg_l_float_to_half(l, value, false));
    return gg_l_in_half(l, half, gg_l_vgpr(l, l->inst->dst[0].value), op == GG_OP_v_fma_mixhi_f16);
}

int32_t gg_lift_packed(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    struct gg_sources sources = {0};
    gg_value *s = sources.value;
    bool rounds = gg_l_rounds_to_even(l, GG_TYPE_F16) && gg_l_rounds_to_even(l, GG_TYPE_F32);
    if (inst->format == GG_FORMAT_VOP3P) {
        for (uint32_t i = 0; i < 3 && inst->src[i].kind != GG_OPERAND_NONE; i++)
            if (!(s[i] = gg_l_vector(l, &inst->src[i], 0)))
                return GG_ERR_UNSUPPORTED;
    } else { /* DPP is for the first source */
        int32_t result = gg_l_read_sources(l, &sources);
        if (result)
            return result;
        s[2] = gg_l_vgpr(l, inst->dst[0].value);
    }
    gg_value made = dot(l, s);
    made = made ? made : mixed(l, s);
    if (!made) {
        gg_value low = integer_half(l, s, false), high = low ? integer_half(l, s, true) : 0;
        low = low ? low : packed_half(l, s, false);
        high = high ? high : packed_half(l, s, true);
        made = low && high ? joined(l, low, high) : 0;
    }
    bool is_float = inst->src[0].type == GG_TYPE_PK_F16 || inst->src[0].type == GG_TYPE_MIX;
    if (!made || (is_float && !rounds))
        return GG_ERR_UNSUPPORTED;
    if (inst->format == GG_FORMAT_VOP3P) /* a whole dword, whatever its type */
        gg_l_set_vgpr(l, inst->dst[0].value, made);
    else
        gg_l_write_result(l, &sources, made);
    return GG_OK;
}

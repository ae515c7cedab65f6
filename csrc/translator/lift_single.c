/* SPDX-License-Identifier: MIT */
/* Floats of 32 bits: division, exponents, cube maps, legacy products, conversions. The common ones are in lift_vector.c. */
#include "lift_float.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }
static gg_value v1(struct gg_lift *l, enum gg_ir_opcode op, gg_value a) { return gg_l1(l, op, GG_IR_V, a); }
static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}
static gg_value m2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_M, a, b);
}
static gg_value choose(struct gg_lift *l, gg_value c, gg_value a, gg_value b)
{
    return gg_l_select(l, GG_IR_V, c, a, b);
}
static gg_value negate(struct gg_lift *l, gg_value a) { return v2(l, GG_IR_xor, a, k(l, 0x80000000)); }
static gg_value absolute(struct gg_lift *l, gg_value a) { return v2(l, GG_IR_and, a, k(l, 0x7fffffff)); }

static gg_value either_zero(struct gg_lift *l, gg_value a, gg_value b)
{
    return m2(l, GG_IR_or, m2(l, GG_IR_feq, a, k(l, 0)), m2(l, GG_IR_feq, b, k(l, 0)));
}

/* A product in which zero wins over everything. */
static gg_value legacy_mul(struct gg_lift *l, gg_value a, gg_value b)
{
    return choose(l, either_zero(l, a, b), k(l, 0), v2(l, GG_IR_fmul, a, b));
}

static gg_value legacy_fma(struct gg_lift *l, gg_value a, gg_value b, gg_value c)
{
    gg_value fused = gg_l3(l, GG_IR_ffma, GG_IR_V, a, b, c);
    return choose(l, either_zero(l, a, b), v2(l, GG_IR_fadd, c, k(l, 0)), fused);
}

/* Two roundings, and no denormals whatever MODE says. */
static gg_value mad(struct gg_lift *l, bool legacy, gg_value a, gg_value b, gg_value c)
{
    a = gg_l_flush(l, GG_TYPE_F32, a);
    b = gg_l_flush(l, GG_TYPE_F32, b);
    c = gg_l_flush(l, GG_TYPE_F32, c);
    gg_value product = gg_l_flush(l, GG_TYPE_F32, legacy ? legacy_mul(l, a, b) : v2(l, GG_IR_fmul, a, b));
    return gg_l_flush(l, GG_TYPE_F32, v2(l, GG_IR_fadd, product, c));
}

static gg_value median(struct gg_lift *l, const gg_value *s)
{
    gg_value nan = m2(l, GG_IR_or, gg_l_is_nan_bits(l, s[0]), gg_l_is_nan_bits(l, s[1]));
    nan = m2(l, GG_IR_or, nan, gg_l_is_nan_bits(l, s[2]));
    gg_value low = gg_l_least(l, false, s[0], s[1]), high = gg_l_least(l, true, s[0], s[1]);
    gg_value middle = gg_l_least(l, true, low, gg_l_least(l, false, high, s[2]));
    return choose(l, nan, gg_l_least(l, false, low, s[2]), middle);
}

/* x - floor(x), kept below 1 where the subtraction would round up to it. */
static gg_value fraction(struct gg_lift *l, gg_value a)
{
    gg_value part = v2(l, GG_IR_fadd, a, negate(l, v1(l, GG_IR_ffloor, a)));
    return choose(l, m2(l, GG_IR_eq, part, k(l, 0x3f800000)), k(l, 0x3f7fffff), part);
}

static gg_value cube(struct gg_lift *l, const gg_value *s)
{
    gg_value x = s[0], y = s[1], z = s[2], ax = absolute(l, x), ay = absolute(l, y), az = absolute(l, z);
    gg_value on_z = m2(l, GG_IR_and, m2(l, GG_IR_fle, ax, az), m2(l, GG_IR_fle, ay, az));
    gg_value on_y = m2(l, GG_IR_fle, ax, ay); /* where it is not on_z */
    gg_value major = choose(l, on_z, z, choose(l, on_y, y, x)), below = m2(l, GG_IR_flt, major, k(l, 0));
    switch (l->inst->op) {
    case GG_OP_v_cubeid_f32: {
        gg_value face = choose(l, on_z, k(l, 4), choose(l, on_y, k(l, 2), k(l, 0)));
        return v1(l, GG_IR_u2f, v2(l, GG_IR_add, face, choose(l, below, k(l, 1), k(l, 0))));
    }
    case GG_OP_v_cubesc_f32: {
        gg_value from_x = choose(l, below, z, negate(l, z)), from_z = choose(l, below, negate(l, x), x);
        return choose(l, on_z, from_z, choose(l, on_y, x, from_x));
    }
    case GG_OP_v_cubetc_f32: {
        gg_value from_y = choose(l, below, negate(l, z), z), other = negate(l, y);
        return choose(l, on_z, other, choose(l, on_y, from_y, other));
    }
    default:
        return v2(l, GG_IR_fmul, major, k(l, 0x40000000));
    }
}

/* The nearest integer, halves up. */
static gg_value nearest_up(struct gg_lift *l, gg_value a)
{
    gg_value down = v1(l, GG_IR_ffloor, a), rest = v2(l, GG_IR_fadd, a, negate(l, down));
    gg_value up = choose(l, m2(l, GG_IR_fle, k(l, 0x3f000000), rest), k(l, 0x3f800000), k(l, 0));
    return v1(l, GG_IR_f2i, v2(l, GG_IR_fadd, down, up));
}

static gg_value packed_byte(struct gg_lift *l, const gg_value *s)
{
    gg_value byte = v2(l, GG_IR_min_u, v1(l, GG_IR_f2u, v1(l, GG_IR_frint, s[0])), k(l, 255));
    gg_value shift = v2(l, GG_IR_shl, v2(l, GG_IR_and, s[1], k(l, 3)), k(l, 3));
    gg_value hole = v1(l, GG_IR_not, v2(l, GG_IR_shl, k(l, 255), shift));
    return v2(l, GG_IR_or, v2(l, GG_IR_and, s[2], hole), v2(l, GG_IR_shl, byte, shift));
}

/* The last step of a division: a large quotient was scaled down, a small one up. */
static gg_value div_fmas(struct gg_lift *l, const gg_value *s)
{
    gg_value value = gg_l3(l, GG_IR_ffma, GG_IR_V, s[0], s[1], s[2]), exponent = absolute(l, s[2]);
    gg_value large = m2(l, GG_IR_lt_u, k(l, 0x3fffffff), exponent); /* biased, above 127 */
    gg_value scaled =
        gg_l_scale(l, gg_l_flush_result(l, GG_TYPE_F32, value), choose(l, large, k(l, 64), k(l, 0u - 64)));
    return choose(l, gg_l_mask_at(l, GG_SGPR_VCC_LO), scaled, value);
}

/* One operand of a division, scaled so that the iteration neither overflows nor loses denormals. */
static int32_t div_scale(struct gg_lift *l, const struct gg_sources *s)
{
    gg_value value = s->value[0], d = absolute(l, s->value[1]), n = absolute(l, s->value[2]), zero = k(l, 0);
    gg_value none = m2(l, GG_IR_or, m2(l, GG_IR_eq, d, zero), m2(l, GG_IR_eq, n, zero));
    gg_value much = k(l, 0x7f7fffff), d_finite = gg_l1(l, GG_IR_not, GG_IR_M, m2(l, GG_IR_lt_u, much, d));
    gg_value finite = m2(l, GG_IR_and, d_finite, gg_l1(l, GG_IR_not, GG_IR_M, m2(l, GG_IR_lt_u, much, n)));
    gg_value small_reciprocal = m2(l, GG_IR_and, d_finite, m2(l, GG_IR_lt_u, k(l, 0x7e800000), d));
    /* n / d is denormal: by the difference of the exponents, where it is -126 or -150 by the mantissas too. */
    gg_value apart = v2(l, GG_IR_sub, gg_l_exponent(l, n), gg_l_exponent(l, d));
    gg_value n_mantissa = gg_l_mantissa(l, n), d_mantissa = gg_l_mantissa(l, d);
    gg_value less = choose(l, m2(l, GG_IR_lt_u, n_mantissa, d_mantissa), k(l, 1), zero);
    gg_value greater = choose(l, m2(l, GG_IR_lt_u, d_mantissa, n_mantissa), k(l, 1), zero);
    gg_value under = m2(l, GG_IR_lt_i, apart, v2(l, GG_IR_add, less, k(l, 0u - 126)));
    gg_value over = m2(l, GG_IR_lt_i, k(l, 0u - 150), v2(l, GG_IR_add, apart, greater));
    gg_value small_quotient = m2(l, GG_IR_and, m2(l, GG_IR_and, under, over), finite);
    gg_value d_denormal = m2(l, GG_IR_lt_u, d, k(l, 0x800000));
    gg_value fields = v2(l, GG_IR_sub, v2(l, GG_IR_shr, n, k(l, 23)), v2(l, GG_IR_shr, d, k(l, 23)));
    gg_value wide = m2(l, GG_IR_lt_i, k(l, 95), fields), tiny = m2(l, GG_IR_lt_u, n, k(l, 24u << 23));
    gg_value is_d = m2(l, GG_IR_eq, value, s->value[1]), is_n = m2(l, GG_IR_eq, value, s->value[2]);
    gg_value up = k(l, 64), down = k(l, 0u - 64);
    gg_value scale = choose(l, tiny, up, zero);
    scale = choose(l, small_quotient, choose(l, is_n, up, zero), scale);
    scale = choose(l, small_reciprocal,
                   choose(l, m2(l, GG_IR_and, small_quotient, gg_l1(l, GG_IR_not, GG_IR_M, is_d)), zero, down), scale);
    scale = choose(l, d_denormal, up, scale);
    scale = choose(l, wide, choose(l, is_d, up, zero), scale);
    gg_value unscaled = m2(l, GG_IR_eq, scale, zero);
    gg_value made = choose(l, unscaled, value, gg_l_scale(l, value, scale));
    gg_value carry = m2(l, GG_IR_or, wide, m2(l, GG_IR_and, small_quotient, gg_l1(l, GG_IR_not, GG_IR_M, d_denormal)));
    carry = m2(l, GG_IR_and, carry, gg_l1(l, GG_IR_not, GG_IR_M, none));
    gg_l_write_result(l, s, gg_l_float_result(l, choose(l, none, k(l, 0x7fc00000), made)));
    gg_l_set_mask_at(l, l->inst->dst[1].value, m2(l, GG_IR_and, carry, gg_l_exec(l)));
    return GG_OK;
}

/* The lighting product: -max where the exponentiation that follows would be undefined. */
static gg_value mullit(struct gg_lift *l, const gg_value *s)
{
    gg_value least = k(l, 0xff7fffff), positive = m2(l, GG_IR_flt, k(l, 0), s[2]);
    gg_value low = m2(l, GG_IR_lt_u, k(l, 0xff7ffffe), s[1]); /* -max, -infinity and NaNs with a sign */
    gg_value bad = m2(l, GG_IR_or, low, gg_l_is_nan_bits(l, s[1]));
    gg_value good = m2(l, GG_IR_and, positive, gg_l1(l, GG_IR_not, GG_IR_M, bad));
    return choose(l, good, legacy_mul(l, s[0], s[1]), least);
}

static gg_value floating(struct gg_lift *l, const gg_value *s)
{
    gg_value old;
    switch (l->inst->op) {
    case GG_OP_v_fract_f32:
        return fraction(l, s[0]);
    case GG_OP_v_med3_f32:
        return median(l, s);
    case GG_OP_v_mul_legacy_f32:
        return legacy_mul(l, s[0], s[1]);
    case GG_OP_v_mullit_f32:
        return mullit(l, s);
    case GG_OP_v_fma_legacy_f32:
        return legacy_fma(l, s[0], s[1], s[2]);
    case GG_OP_v_fmac_legacy_f32:
        old = gg_l_flush_source(l, GG_TYPE_F32, gg_l_vgpr(l, l->inst->dst[0].value));
        return legacy_fma(l, s[0], s[1], old);
    case GG_OP_v_mad_f32:
    case GG_OP_v_madmk_f32:
    case GG_OP_v_madak_f32:
    case GG_OP_v_mad_legacy_f32:
        return mad(l, l->inst->op == GG_OP_v_mad_legacy_f32, s[0], s[1], s[2]);
    case GG_OP_v_mac_f32:
    case GG_OP_v_mac_legacy_f32:
        old = gg_l_vgpr(l, l->inst->dst[0].value);
        return mad(l, l->inst->op == GG_OP_v_mac_legacy_f32, s[0], s[1], old);
    case GG_OP_v_ldexp_f32:
        return gg_l_scale(l, s[0], s[1]);
    case GG_OP_v_frexp_mant_f32:
        return gg_l_mantissa(l, s[0]);
    case GG_OP_v_cubeid_f32:
    case GG_OP_v_cubesc_f32:
    case GG_OP_v_cubetc_f32:
    case GG_OP_v_cubema_f32:
        return cube(l, s);
    case GG_OP_v_div_fmas_f32:
        return div_fmas(l, s);
    case GG_OP_v_div_fixup_f32:
        return gg_l_div_fixup(l, GG_TYPE_F32, (struct gg_pair[]){{0, s[0]}, {0, s[1]}, {0, s[2]}}).high;
    case GG_OP_v_cvt_off_f32_i4: /* sixteenths of a signed nibble */
        return v2(l, GG_IR_fmul, v1(l, GG_IR_i2f, gg_l_part(l, GG_IR_V, s[0], 0, 4, true)), k(l, 0x3d800000));
    default:
        return 0;
    }
}

static gg_value whole(struct gg_lift *l, const gg_value *s)
{
    switch (l->inst->op) {
    case GG_OP_v_frexp_exp_i32_f32:
        return gg_l_exponent(l, s[0]);
    case GG_OP_v_cvt_flr_i32_f32:
        return v1(l, GG_IR_f2i, v1(l, GG_IR_ffloor, s[0]));
    case GG_OP_v_cvt_rpi_i32_f32:
        return nearest_up(l, s[0]);
    case GG_OP_v_cvt_pk_u8_f32:
        return packed_byte(l, s);
    default:
        return 0;
    }
}

int32_t gg_lift_single(struct gg_lift *l, const struct gg_sources *s)
{
    if (!gg_l_rounds_to_even(l, GG_TYPE_F32))
        return GG_ERR_UNSUPPORTED;
    if (l->inst->op == GG_OP_v_div_scale_f32)
        return div_scale(l, s);
    gg_value made = floating(l, s->value);
    made = made ? gg_l_float_result(l, made) : whole(l, s->value);
    if (!made)
        return GG_ERR_UNSUPPORTED;
    gg_l_write_result(l, s, made);
    return GG_OK;
}

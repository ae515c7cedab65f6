/* SPDX-License-Identifier: MIT */
/* Operations on 16 bits and on bytes, integers with clamp, and f16. Sources come as gg_l_read_sources() leaves them. */
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
static bool clamps(const struct gg_lift *l) { return l->inst->flags & GG_INST_CLAMP; }

static gg_value part(struct gg_lift *l, gg_value a, uint32_t offset, uint32_t width, bool is_signed)
{
    return gg_l_part(l, GG_IR_V, a, offset, width, is_signed);
}

/* ---- integers of 32 bits ---- */

/* a + b for two pairs, clamped to 32 bits where the instruction says so; sums of any sign. */
static gg_value sum_clamped(struct gg_lift *l, struct gg_pair a, struct gg_pair b, bool is_signed)
{
    gg_value carry = 0, low = gg_l_add_carry(l, GG_IR_V, a.low, b.low, 0, clamps(l) ? &carry : NULL);
    if (!clamps(l))
        return low;
    gg_value high = gg_l_add_carry(l, GG_IR_V, a.high, b.high, carry, NULL);
    gg_value negative = m2(l, GG_IR_lt_i, high, k(l, 0));
    if (is_signed) {
        gg_value limit = choose(l, negative, k(l, 0x80000000), k(l, 0x7fffffff));
        return choose(l, m2(l, GG_IR_eq, high, v2(l, GG_IR_sar, low, k(l, 31))), low, limit);
    }
    return choose(l, m2(l, GG_IR_eq, high, k(l, 0)), low, choose(l, negative, k(l, 0), k(l, UINT32_MAX)));
}

static struct gg_pair widened(struct gg_lift *l, gg_value a, bool is_signed)
{
    return (struct gg_pair){a, is_signed ? v2(l, GG_IR_sar, a, k(l, 31)) : k(l, 0)};
}

static struct gg_pair product(struct gg_lift *l, gg_value a, gg_value b, bool is_signed)
{
    gg_value low = v2(l, GG_IR_mul, a, b);
    return (struct gg_pair){low, clamps(l) ? v2(l, is_signed ? GG_IR_mulhi_i : GG_IR_mulhi_u, a, b) : 0};
}

/* a - b, each of 32 bits. */
static gg_value difference_clamped(struct gg_lift *l, gg_value a, gg_value b, bool is_signed)
{
    struct gg_pair x = widened(l, a, is_signed), y = widened(l, b, is_signed);
    gg_value borrow, low = gg_l_sub_borrow(l, GG_IR_V, x.low, y.low, 0, &borrow);
    gg_value high = gg_l_sub_borrow(l, GG_IR_V, x.high, y.high, borrow, NULL);
    return sum_clamped(l, (struct gg_pair){low, high}, (struct gg_pair){k(l, 0), k(l, 0)}, is_signed);
}

static gg_value absolute_difference(struct gg_lift *l, gg_value a, gg_value b)
{
    return v2(l, GG_IR_sub, v2(l, GG_IR_max_u, a, b), v2(l, GG_IR_min_u, a, b));
}

/* |a - b| of the fields of `width` bits, added up; masked: fields of b that are 0 do not count. */
static gg_value differences(struct gg_lift *l, const gg_value *s, uint32_t width, bool masked)
{
    gg_value sum = 0;
    for (uint32_t at = 0; at < 32; at += width) {
        gg_value b = part(l, s[1], at, width, false), one = absolute_difference(l, part(l, s[0], at, width, false), b);
        if (masked)
            one = choose(l, m2(l, GG_IR_eq, b, k(l, 0)), k(l, 0), one);
        sum = sum ? v2(l, GG_IR_add, sum, one) : one;
    }
    return sum;
}

/* Four sums of differences, of a window that slides over the eight bytes of the first source. */
int32_t gg_lift_quad_differences(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    bool wide = inst->op == GG_OP_v_mqsad_u32_u8, masked = inst->op != GG_OP_v_qsad_pk_u16_u8;
    struct gg_pair window = {gg_l_vector(l, &inst->src[0], 0), gg_l_vector(l, &inst->src[0], 1)};
    gg_value reference = gg_l_vector(l, &inst->src[1], 0), sum[4];
    for (uint32_t i = 0; i < 4; i++) {
        gg_value old = gg_l_vector(l, &inst->src[2], wide ? i : i / 2);
        old = wide ? old : part(l, old, 16 * (i % 2), 16, false);
        gg_value bytes = gg_l_shift64(l, GG_IR_V, GG_SHIFT_RIGHT, window, k(l, 8 * i)).low;
        gg_value difference = differences(l, (const gg_value[]){bytes, reference}, 8, masked);
        sum[i] = wide ? sum_clamped(l, widened(l, difference, false), widened(l, old, false), false)
                      : v2(l, GG_IR_add, difference, old);
        if (!wide)
            sum[i] = clamps(l) ? v2(l, GG_IR_min_u, sum[i], k(l, 0xffff)) : v2(l, GG_IR_and, sum[i], k(l, 0xffff));
    }
    for (uint32_t i = 0; !wide && i < 2; i++)
        sum[i] = v2(l, GG_IR_or, sum[2 * i], v2(l, GG_IR_shl, sum[2 * i + 1], k(l, 16)));
    for (uint32_t i = 0; i < (wide ? 4u : 2u); i++)
        gg_l_set_vgpr(l, inst->dst[0].value + i, sum[i]);
    return GG_OK;
}

gg_value gg_lift_clamped(struct gg_lift *l, const gg_value *s)
{
    switch (l->inst->op) {
    case GG_OP_v_add_nc_u32:
        return sum_clamped(l, widened(l, s[0], false), widened(l, s[1], false), false);
    case GG_OP_v_add_nc_i32:
        return sum_clamped(l, widened(l, s[0], true), widened(l, s[1], true), true);
    case GG_OP_v_sub_nc_u32:
        return difference_clamped(l, s[0], s[1], false);
    case GG_OP_v_subrev_nc_u32:
        return difference_clamped(l, s[1], s[0], false);
    case GG_OP_v_sub_nc_i32:
        return difference_clamped(l, s[0], s[1], true);
    case GG_OP_v_mad_u32_u24: {
        struct gg_pair wide = product(l, part(l, s[0], 0, 24, false), part(l, s[1], 0, 24, false), false);
        return sum_clamped(l, wide, widened(l, s[2], false), false);
    }
    case GG_OP_v_mad_i32_i24: {
        struct gg_pair wide = product(l, part(l, s[0], 0, 24, true), part(l, s[1], 0, 24, true), true);
        return sum_clamped(l, wide, widened(l, s[2], true), true);
    }
    case GG_OP_v_sad_u32: {
        gg_value difference = absolute_difference(l, s[0], s[1]);
        return sum_clamped(l, widened(l, difference, false), widened(l, s[2], false), false);
    }
    default:
        return 0;
    }
}

/* ---- integers of 16 bits and of bytes ---- */

/* (a + b + 1 bit of c) / 2 for each byte. */
static gg_value lerp(struct gg_lift *l, const gg_value *s)
{
    gg_value made = 0;
    for (uint32_t at = 0; at < 32; at += 8) {
        gg_value sum = v2(l, GG_IR_add, part(l, s[0], at, 8, false), part(l, s[1], at, 8, false));
        gg_value byte = v2(l, GG_IR_shr, v2(l, GG_IR_add, sum, part(l, s[2], at, 1, false)), k(l, 1));
        gg_value placed = v2(l, GG_IR_shl, byte, k(l, at));
        made = made ? v2(l, GG_IR_or, made, placed) : placed;
    }
    return made;
}

static gg_value packed(struct gg_lift *l, gg_value low, gg_value high)
{
    return v2(l, GG_IR_or, v2(l, GG_IR_and, low, k(l, 0xffff)), v2(l, GG_IR_shl, high, k(l, 16)));
}

static gg_value signed_16(struct gg_lift *l, const gg_value *s)
{
    gg_value x = part(l, s[0], 0, 16, true), y = s[1] ? part(l, s[1], 0, 16, true) : 0, made;
    gg_value z = s[2] ? part(l, s[2], 0, 16, true) : 0;
    switch (l->inst->op) {
    case GG_OP_v_add_nc_i16:
        made = v2(l, GG_IR_add, x, y);
        break;
    case GG_OP_v_sub_nc_i16:
        made = v2(l, GG_IR_sub, x, y);
        break;
    case GG_OP_v_mad_i16:
        made = v2(l, GG_IR_add, v2(l, GG_IR_mul, x, y), z);
        break;
    case GG_OP_v_min_i16:
        return v2(l, GG_IR_min_i, x, y);
    case GG_OP_v_max_i16:
        return v2(l, GG_IR_max_i, x, y);
    case GG_OP_v_min3_i16:
        return v2(l, GG_IR_min_i, v2(l, GG_IR_min_i, x, y), z);
    case GG_OP_v_max3_i16:
        return v2(l, GG_IR_max_i, v2(l, GG_IR_max_i, x, y), z);
    case GG_OP_v_med3_i16: {
        gg_value low = v2(l, GG_IR_min_i, x, y), high = v2(l, GG_IR_max_i, x, y);
        return v2(l, GG_IR_max_i, low, v2(l, GG_IR_min_i, high, z));
    }
    case GG_OP_v_ashrrev_i16:
        return v2(l, GG_IR_sar, y, v2(l, GG_IR_and, s[0], k(l, 15)));
    default:
        return 0;
    }
    return clamps(l) ? gg_l_clamp_integer(l, made, -32768, 32767) : made;
}

static gg_value unsigned_16(struct gg_lift *l, const gg_value *s)
{
    gg_value most = k(l, 0xffff), made;
    switch (l->inst->op) {
    case GG_OP_v_add_nc_u16:
        made = v2(l, GG_IR_add, s[0], s[1]);
        return clamps(l) ? v2(l, GG_IR_min_u, made, most) : made;
    case GG_OP_v_sub_nc_u16:
        made = v2(l, GG_IR_sub, s[0], s[1]);
        return clamps(l) ? v2(l, GG_IR_max_i, made, k(l, 0)) : made;
    case GG_OP_v_mad_u16:
        made = v2(l, GG_IR_add, v2(l, GG_IR_mul, s[0], s[1]), s[2]);
        return clamps(l) ? v2(l, GG_IR_min_u, made, most) : made;
    case GG_OP_v_mul_lo_u16:
        return v2(l, GG_IR_mul, s[0], s[1]);
    case GG_OP_v_lshrrev_b16:
        return v2(l, GG_IR_shr, s[1], v2(l, GG_IR_and, s[0], k(l, 15)));
    case GG_OP_v_lshlrev_b16:
        return v2(l, GG_IR_shl, s[1], v2(l, GG_IR_and, s[0], k(l, 15)));
    case GG_OP_v_min_u16:
        return v2(l, GG_IR_min_u, s[0], s[1]);
    case GG_OP_v_max_u16:
        return v2(l, GG_IR_max_u, s[0], s[1]);
    case GG_OP_v_min3_u16:
        return v2(l, GG_IR_min_u, v2(l, GG_IR_min_u, s[0], s[1]), s[2]);
    case GG_OP_v_max3_u16:
        return v2(l, GG_IR_max_u, v2(l, GG_IR_max_u, s[0], s[1]), s[2]);
    case GG_OP_v_med3_u16: {
        gg_value low = v2(l, GG_IR_min_u, s[0], s[1]), high = v2(l, GG_IR_max_u, s[0], s[1]);
        return v2(l, GG_IR_max_u, low, v2(l, GG_IR_min_u, high, s[2]));
    }
    default:
        return 0;
    }
}

gg_value gg_lift_half_integer(struct gg_lift *l, const gg_value *s)
{
    switch (l->inst->op) {
    case GG_OP_v_pack_b32_f16: /* f16 by its modifiers alone: no bit changes */
        return packed(l, s[0], s[1]);
    case GG_OP_v_mad_u32_u16:
        return sum_clamped(l, product(l, s[0], s[1], false), widened(l, s[2], false), false);
    case GG_OP_v_mad_i32_i16: {
        struct gg_pair wide = product(l, part(l, s[0], 0, 16, true), part(l, s[1], 0, 16, true), true);
        return sum_clamped(l, wide, widened(l, s[2], true), true);
    }
    case GG_OP_v_sad_u8:
        return sum_clamped(l, widened(l, differences(l, s, 8, false), false), widened(l, s[2], false), false);
    case GG_OP_v_msad_u8:
        return sum_clamped(l, widened(l, differences(l, s, 8, true), false), widened(l, s[2], false), false);
    case GG_OP_v_sad_u16:
        return sum_clamped(l, widened(l, differences(l, s, 16, false), false), widened(l, s[2], false), false);
    case GG_OP_v_sad_hi_u8: {
        gg_value up = v2(l, GG_IR_shl, differences(l, s, 8, false), k(l, 16));
        return sum_clamped(l, widened(l, up, false), widened(l, s[2], false), false);
    }
    case GG_OP_v_lerp_u8:
        return lerp(l, s);
    case GG_OP_v_cvt_pk_u16_u32:
        return packed(l, v2(l, GG_IR_min_u, s[0], k(l, 0xffff)), v2(l, GG_IR_min_u, s[1], k(l, 0xffff)));
    case GG_OP_v_cvt_pk_i16_i32:
        return packed(l, gg_l_clamp_integer(l, s[0], -32768, 32767), gg_l_clamp_integer(l, s[1], -32768, 32767));
    case GG_OP_v_sat_pk_u8_i16: {
        gg_value low = gg_l_clamp_integer(l, part(l, s[0], 0, 16, true), 0, 255);
        gg_value high = gg_l_clamp_integer(l, part(l, s[0], 16, 16, true), 0, 255);
        return v2(l, GG_IR_or, low, v2(l, GG_IR_shl, high, k(l, 8)));
    }
    default:
        break;
    }
    gg_value made = unsigned_16(l, s);
    made = made ? made : signed_16(l, s);
    return made ? v2(l, GG_IR_and, made, k(l, 0xffff)) : 0;
}

/* ---- f16 ---- */

/* One source of f16 as f32; another, and one that is not there, as it is. */
static gg_value wide_source(struct gg_lift *l, const gg_value *s, uint32_t i)
{
    return s[i] && l->inst->src[i].type == GG_TYPE_F16 ? gg_l_half_to_float(l, s[i]) : s[i];
}

/* The minimum, or maximum, of two halves as f32; what IEEE mode makes of signalling NaNs was lost in widening them. */
static gg_value least(struct gg_lift *l, bool most, gg_value a, gg_value b)
{
    gg_value x = gg_l_half_to_float(l, a), y = gg_l_half_to_float(l, b);
    gg_value made = gg_l_float_to_half(l, gg_l_least_number(l, most, x, y), false);
    if (!gg_l_ieee(l))
        return made;
    for (int i = 0; i < 2; i++) { /* the first source's NaN comes before the second's */
        gg_value nan = i ? a : b, magnitude = v2(l, GG_IR_and, nan, k(l, 0x7fff));
        gg_value signalling =
            m2(l, GG_IR_and, m2(l, GG_IR_lt_u, k(l, 0x7c00), magnitude), m2(l, GG_IR_lt_u, magnitude, k(l, 0x7e00)));
        made = choose(l, signalling, v2(l, GG_IR_or, nan, k(l, 0x200)), made);
    }
    return made;
}

static gg_value negate(struct gg_lift *l, gg_value a) { return v2(l, GG_IR_xor, a, k(l, 0x80000000u)); }

/* 1 / sqrt(a), from two operations that round well. */
static gg_value reciprocal_root(struct gg_lift *l, gg_value a) { return v1(l, GG_IR_frcp, v1(l, GG_IR_fsqrt, a)); }

static gg_value integer_result(struct gg_lift *l, gg_value a, bool is_signed)
{
    gg_value made = v1(l, is_signed ? GG_IR_f2i : GG_IR_f2u, a);
    made = is_signed ? gg_l_clamp_integer(l, made, -32768, 32767) : v2(l, GG_IR_min_u, made, k(l, 0xffff));
    return v2(l, GG_IR_and, made, k(l, 0xffff));
}

/* What stays in f32 until it is rounded to a half; 0 of other operations. */
static gg_value rounded_once(struct gg_lift *l, const gg_value *s)
{
    gg_value a = wide_source(l, s, 0), b = wide_source(l, s, 1), c = wide_source(l, s, 2);
    switch (l->inst->op) {
    case GG_OP_v_add_f16:
        return v2(l, GG_IR_fadd, a, b);
    case GG_OP_v_sub_f16:
        return v2(l, GG_IR_fadd, a, negate(l, b));
    case GG_OP_v_subrev_f16:
        return v2(l, GG_IR_fadd, negate(l, a), b);
    case GG_OP_v_mul_f16:
        return v2(l, GG_IR_fmul, a, b);
    case GG_OP_v_fma_f16:
    case GG_OP_v_fmamk_f16:
    case GG_OP_v_fmaak_f16:
        return gg_l_half_fma(l, a, b, c);
    case GG_OP_v_fmac_f16: {
        uint32_t shift = l->inst->format == GG_FORMAT_VOP3 && l->inst->op_sel & 8 ? 16 : 0;
        gg_value old = part(l, gg_l_vgpr(l, l->inst->dst[0].value), shift, 16, false);
        return gg_l_half_fma(l, a, b, gg_l_half_to_float(l, gg_l_flush_source(l, GG_TYPE_F16, old)));
    }
    case GG_OP_v_floor_f16:
        return v1(l, GG_IR_ffloor, a);
    case GG_OP_v_ceil_f16:
        return v1(l, GG_IR_fceil, a);
    case GG_OP_v_trunc_f16:
        return v1(l, GG_IR_ftrunc, a);
    case GG_OP_v_rndne_f16:
        return v1(l, GG_IR_frint, a);
    case GG_OP_v_rcp_f16:
        return v1(l, GG_IR_frcp, a);
    case GG_OP_v_sqrt_f16:
        return v1(l, GG_IR_fsqrt, a);
    case GG_OP_v_rsq_f16:
        return reciprocal_root(l, a);
    case GG_OP_v_log_f16:
        return v1(l, GG_IR_flog2, a);
    case GG_OP_v_exp_f16:
        return v1(l, GG_IR_fexp2, a);
    case GG_OP_v_sin_f16:
        return v1(l, GG_IR_fsin, a);
    case GG_OP_v_cos_f16:
        return v1(l, GG_IR_fcos, a);
    case GG_OP_v_ldexp_f16: /* a half times 2^60 or 2^-60 is a normal float */
        return v2(l, GG_IR_fmul, a, gg_l_power(l, gg_l_clamp_integer(l, part(l, s[1], 0, 16, true), -60, 60)));
    case GG_OP_v_frexp_mant_f16:
        return gg_l_mantissa(l, a);
    case GG_OP_v_cvt_f16_f32:
        return a;
    case GG_OP_v_cvt_f16_u16:
        return v1(l, GG_IR_u2f, a);
    case GG_OP_v_cvt_f16_i16:
        return v1(l, GG_IR_i2f, part(l, a, 0, 16, true));
    default:
        return 0;
    }
}

gg_value gg_lift_half_float(struct gg_lift *l, const gg_value *s)
{
    gg_value low, high;
    if (!gg_l_rounds_to_even(l, GG_TYPE_F16) && l->inst->op != GG_OP_v_cvt_pkrtz_f16_f32)
        return 0;
    gg_value once = rounded_once(l, s);
    if (once)
        return gg_l_float_to_half(l, once, false);
    switch (l->inst->op) {
    case GG_OP_v_min_f16:
        return least(l, false, s[0], s[1]);
    case GG_OP_v_max_f16:
        return least(l, true, s[0], s[1]);
    case GG_OP_v_min3_f16:
        return least(l, false, least(l, false, s[0], s[1]), s[2]);
    case GG_OP_v_max3_f16:
        return least(l, true, least(l, true, s[0], s[1]), s[2]);
    case GG_OP_v_med3_f16: {
        gg_value any = 0;
        for (int i = 0; i < 3; i++) {
            gg_value nan = m2(l, GG_IR_lt_u, k(l, 0x7c00), v2(l, GG_IR_and, s[i], k(l, 0x7fff)));
            any = any ? m2(l, GG_IR_or, any, nan) : nan;
        }
        gg_value bottom = least(l, false, s[0], s[1]), top = least(l, true, s[0], s[1]);
        gg_value middle = least(l, true, bottom, least(l, false, top, s[2]));
        return choose(l, any, least(l, false, bottom, s[2]), middle);
    }
    case GG_OP_v_fract_f16: {
        gg_value a = wide_source(l, s, 0), down = v1(l, GG_IR_ffloor, a);
        gg_value made = gg_l_float_to_half(l, v2(l, GG_IR_fadd, a, negate(l, down)), false);
        return choose(l, m2(l, GG_IR_eq, made, k(l, 0x3c00)), k(l, 0x3bff), made);
    }
    case GG_OP_v_frexp_exp_i16_f16:
        return v2(l, GG_IR_and, gg_l_exponent(l, wide_source(l, s, 0)), k(l, 0xffff));
    case GG_OP_v_div_fixup_f16:
        return gg_l_div_fixup(l, GG_TYPE_F16, (struct gg_pair[]){{0, s[0]}, {0, s[1]}, {0, s[2]}}).high;
    case GG_OP_v_cvt_f32_f16:
        return wide_source(l, s, 0);
    case GG_OP_v_cvt_u16_f16:
        return integer_result(l, wide_source(l, s, 0), false);
    case GG_OP_v_cvt_i16_f16:
        return integer_result(l, wide_source(l, s, 0), true);
    case GG_OP_v_cvt_norm_i16_f16:
        return gg_l_normalised(l, wide_source(l, s, 0), true);
    case GG_OP_v_cvt_norm_u16_f16:
        return gg_l_normalised(l, wide_source(l, s, 0), false);
    case GG_OP_v_cvt_pknorm_i16_f16:
    case GG_OP_v_cvt_pknorm_i16_f32:
        low = gg_l_normalised(l, wide_source(l, s, 0), true);
        return packed(l, low, gg_l_normalised(l, wide_source(l, s, 1), true));
    case GG_OP_v_cvt_pknorm_u16_f16:
    case GG_OP_v_cvt_pknorm_u16_f32:
        low = gg_l_normalised(l, wide_source(l, s, 0), false);
        return packed(l, low, gg_l_normalised(l, wide_source(l, s, 1), false));
    case GG_OP_v_cvt_pkrtz_f16_f32:
        low = gg_l_flush_result(l, GG_TYPE_F16, gg_l_float_to_half(l, s[0], true));
        high = gg_l_flush_result(l, GG_TYPE_F16, gg_l_float_to_half(l, s[1], true));
        return packed(l, low, high);
    default:
        return 0;
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Floats of 64 bits. An operation's result is two IR values, its low and its high dword, which the emitter makes of
 * the same SPIR-V operation (imm of the IR operation: which dword); a driver computes it once.
 *
 * Accuracy: v_rcp_f64 and v_rsq_f64 give the rounded quotient, where the hardware gives 29 bits or so of it: programs
 * iterate behind them, and are right with either.
 */
#include "lift_float.h"

struct wide {
    gg_value word[2];
};

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }
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
static gg_value not_of(struct gg_lift *l, gg_value a) { return gg_l1(l, GG_IR_not, GG_IR_M, a); }

static struct wide constant(struct gg_lift *l, uint32_t high) { return (struct wide){{k(l, 0), k(l, high)}}; }

static struct wide select_wide(struct gg_lift *l, gg_value c, struct wide a, struct wide b)
{
    return (struct wide){{choose(l, c, a.word[0], b.word[0]), choose(l, c, a.word[1], b.word[1])}};
}

/* An operation of one to three doubles, or of a dword (b and c NULL, a->word[1] 0), that gives a double. */
static struct wide operate(struct gg_lift *l, enum gg_ir_opcode op, const struct wide *a, const struct wide *b,
                           const struct wide *c)
{
    const gg_value args[GG_IR_ARGS] = {a->word[0],         a->word[1],         b ? b->word[0] : 0,
                                       b ? b->word[1] : 0, c ? c->word[0] : 0, c ? c->word[1] : 0};
    struct wide made;
    for (uint32_t i = 0; i < 2; i++)
        made.word[i] = gg_ir_make_wide(l->ir, l->at, op, GG_IR_V, i, args);
    return made;
}

gg_value gg_l_double_compare(struct gg_lift *l, enum gg_ir_opcode op, const gg_value *a, const gg_value *b)
{
    return gg_ir_make(l->ir, l->at, op, GG_IR_M, 0, a[0], a[1], b[0], b[1]);
}

static struct wide negated(struct gg_lift *l, struct wide a)
{
    a.word[1] = v2(l, GG_IR_xor, a.word[1], k(l, 0x80000000));
    return a;
}

static gg_value magnitude(struct gg_lift *l, struct wide a) { return v2(l, GG_IR_and, a.word[1], k(l, 0x7fffffff)); }

static gg_value low_is_zero(struct gg_lift *l, struct wide a) { return m2(l, GG_IR_eq, a.word[0], k(l, 0)); }

/* M: the high dword of the magnitude, with a bit for the low one, is above a limit: NaN above 0x7ff00000. */
static gg_value above(struct gg_lift *l, struct wide a, uint32_t limit)
{
    gg_value rest = choose(l, low_is_zero(l, a), k(l, 0), k(l, 1));
    return m2(l, GG_IR_lt_u, k(l, limit), v2(l, GG_IR_or, magnitude(l, a), rest));
}

static gg_value is_nan(struct gg_lift *l, struct wide a) { return above(l, a, 0x7ff00000); }
static gg_value is_zero(struct gg_lift *l, struct wide a) { return not_of(l, above(l, a, 0)); }

/* ---- sums and products with a constant 0, in integers: devices take them for x and 0, whatever x is ---- */

static bool is_constant_zero(struct gg_lift *l, struct wide a)
{
    uint32_t low, high;
    return gg_ir_is_constant(l->ir, a.word[0], &low) && gg_ir_is_constant(l->ir, a.word[1], &high) && !low &&
           !(high & 0x7fffffff);
}

static struct wide quieted(struct gg_lift *l, struct wide a)
{
    a.word[1] = choose(l, is_nan(l, a), v2(l, GG_IR_or, a.word[1], k(l, 0x80000)), a.word[1]);
    return a;
}

static struct wide zero_product(struct gg_lift *l, struct wide a, struct wide b)
{
    gg_value sign = v2(l, GG_IR_and, v2(l, GG_IR_xor, a.word[1], b.word[1]), k(l, 0x80000000));
    gg_value infinite = m2(l, GG_IR_or, above(l, a, 0x7fefffff), above(l, b, 0x7fefffff));
    return (struct wide){{k(l, 0), choose(l, infinite, k(l, 0x7ff80000), sign)}};
}

/* a + b, of which a is 0 of some sign, or a NaN. */
static struct wide zero_sum(struct gg_lift *l, struct wide a, struct wide b)
{
    struct wide both = {{k(l, 0), v2(l, GG_IR_and, a.word[1], b.word[1])}};
    struct wide made = select_wide(l, is_zero(l, b), both, quieted(l, b));
    return select_wide(l, is_nan(l, a), a, made);
}

/* a * b + 0: only a product that is 0 itself loses its sign. */
static struct wide product_and_zero(struct gg_lift *l, struct wide a, struct wide b, struct wide zero)
{
    struct wide product = operate(l, GG_IR_dmul, &a, &b, NULL);
    gg_value exact = m2(l, GG_IR_and, m2(l, GG_IR_or, is_zero(l, a), is_zero(l, b)), is_zero(l, product));
    return select_wide(l, exact, zero_sum(l, zero, product), product);
}

static struct wide of_one(struct gg_lift *l, enum gg_ir_opcode op, struct wide a)
{
    return operate(l, op, &a, NULL, NULL);
}

static struct wide of_two(struct gg_lift *l, enum gg_ir_opcode op, struct wide a, struct wide b)
{
    bool left = is_constant_zero(l, a), right = is_constant_zero(l, b);
    if (op == GG_IR_dmul && (left || right))
        return zero_product(l, a, b);
    if (op == GG_IR_dadd && (left || right))
        return left ? zero_sum(l, a, b) : zero_sum(l, b, a);
    return operate(l, op, &a, &b, NULL);
}

static struct wide fused(struct gg_lift *l, struct wide a, struct wide b, struct wide c)
{
    if (is_constant_zero(l, a) || is_constant_zero(l, b))
        return zero_sum(l, zero_product(l, a, b), c);
    return is_constant_zero(l, c) ? product_and_zero(l, a, b, c) : operate(l, GG_IR_dfma, &a, &b, &c);
}

static struct wide flushed(struct gg_lift *l, struct wide a)
{
    uint32_t low, high; /* a constant stays one, so that a 0 is seen to be that */
    if (gg_ir_is_constant(l->ir, a.word[0], &low) && gg_ir_is_constant(l->ir, a.word[1], &high))
        return high & 0x7ff00000 ? a : (struct wide){{k(l, 0), k(l, high & 0x80000000)}};
    gg_value denormal = m2(l, GG_IR_lt_u, magnitude(l, a), k(l, 0x00100000));
    gg_value sign = v2(l, GG_IR_and, a.word[1], k(l, 0x80000000));
    return select_wide(l, denormal, (struct wide){{k(l, 0), sign}}, a);
}

bool gg_l_double_source(struct gg_lift *l, uint32_t i, gg_value *words)
{
    const struct gg_operand *operand = &l->inst->src[i];
    struct wide a = {{gg_l_vector(l, operand, 0), gg_l_vector(l, operand, 1)}};
    if (!a.word[0] || !a.word[1])
        return false;
    if (l->inst->abs >> i & 1)
        a.word[1] = v2(l, GG_IR_and, a.word[1], k(l, 0x7fffffff));
    if (l->inst->neg >> i & 1)
        a.word[1] = v2(l, GG_IR_xor, a.word[1], k(l, 0x80000000));
    words[0] = a.word[0];
    words[1] = a.word[1];
    return true;
}

void gg_l_double_flush_source(struct gg_lift *l, gg_value *words)
{
    if (gg_l_keeps_sources(l, GG_TYPE_F64))
        return;
    struct wide a = flushed(l, (struct wide){{words[0], words[1]}});
    words[0] = a.word[0];
    words[1] = a.word[1];
}

/* Minimum, or maximum: -0 is below +0, and a NaN loses, but for a signalling one in IEEE mode. */
static struct wide least(struct gg_lift *l, bool most, struct wide a, struct wide b)
{
    gg_value below = gg_l_double_compare(l, GG_IR_dlt, most ? b.word : a.word, most ? a.word : b.word);
    gg_value same = gg_l_double_compare(l, GG_IR_deq, a.word, b.word); /* zeros differ in their signs only */
    struct wide equal = {{a.word[0], v2(l, most ? GG_IR_and : GG_IR_or, a.word[1], b.word[1])}};
    struct wide made = select_wide(l, same, equal, select_wide(l, below, a, b));
    made = select_wide(l, is_nan(l, a), b, select_wide(l, is_nan(l, b), a, made));
    for (int i = 0; gg_l_ieee(l) && i < 2; i++) { /* the first source's NaN comes before the second's */
        struct wide nan = i ? a : b;
        gg_value quiet = m2(l, GG_IR_lt_u, k(l, 0), v2(l, GG_IR_and, nan.word[1], k(l, 0x80000)));
        made = select_wide(l, m2(l, GG_IR_and, is_nan(l, nan), not_of(l, quiet)), quieted(l, nan), made);
    }
    return made;
}

/* The fraction's high bits and the exponent that goes with 0.5 <= mantissa < 1, denormals included. */
static struct wide mantissa(struct gg_lift *l, struct wide a, gg_value *exponent)
{
    gg_value is_denormal = m2(l, GG_IR_lt_u, magnitude(l, a), k(l, 0x00100000));
    struct wide up = of_two(l, GG_IR_dmul, a, constant(l, 0x43500000)); /* 2^54 makes it normal */
    struct wide normal = select_wide(l, is_denormal, up, a);
    gg_value field = v2(l, GG_IR_shr, magnitude(l, normal), k(l, 20));
    gg_value special = m2(l, GG_IR_or, is_zero(l, a), m2(l, GG_IR_lt_u, k(l, 0x7fefffff), magnitude(l, a)));
    gg_value bias = choose(l, is_denormal, k(l, 1022 + 54), k(l, 1022));
    *exponent = choose(l, special, k(l, 0), v2(l, GG_IR_sub, field, bias));
    gg_value rest = v2(l, GG_IR_and, normal.word[1], k(l, 0x800fffff));
    struct wide made = {{normal.word[0], v2(l, GG_IR_or, rest, k(l, 1022u << 20))}};
    return select_wide(l, special, quieted(l, a), made);
}

static struct wide power(struct gg_lift *l, gg_value exponent)
{
    return (struct wide){{k(l, 0), v2(l, GG_IR_shl, v2(l, GG_IR_add, exponent, k(l, 1023)), k(l, 20))}};
}

/* a * 2^by, rounded once: two factors, of which the first is exact. */
static struct wide scaled(struct gg_lift *l, struct wide a, gg_value by)
{
    gg_value exponent;
    struct wide part = mantissa(l, a, &exponent);
    gg_value total = v2(l, GG_IR_add, exponent, gg_l_clamp_integer(l, by, -8192, 8192));
    total = gg_l_clamp_integer(l, total, -1200, 1200);
    gg_value down = m2(l, GG_IR_lt_i, total, k(l, 0));
    gg_value first = choose(l, down, k(l, 0u - 600), k(l, 600));
    struct wide made = of_two(l, GG_IR_dmul, part, power(l, first));
    made = of_two(l, GG_IR_dmul, made, power(l, v2(l, GG_IR_sub, total, first)));
    gg_value special = m2(l, GG_IR_or, is_zero(l, a), m2(l, GG_IR_lt_u, k(l, 0x7fefffff), magnitude(l, a)));
    return select_wide(l, special, part, made);
}

/* x - floor(x), kept below 1 where the subtraction would round up to it. */
static struct wide fraction(struct gg_lift *l, struct wide a)
{
    struct wide made = of_two(l, GG_IR_dadd, a, negated(l, of_one(l, GG_IR_dfloor, a)));
    gg_value is_one = m2(l, GG_IR_eq, made.word[1], k(l, 0x3ff00000));
    return select_wide(l, is_one, (struct wide){{k(l, UINT32_MAX), k(l, 0x3fefffff)}}, made);
}

static struct wide div_fmas(struct gg_lift *l, const struct wide *s)
{
    struct wide value = fused(l, s[0], s[1], s[2]);
    gg_value large = m2(l, GG_IR_lt_u, k(l, 0x3fffffff), magnitude(l, s[2])); /* biased, above 1023 */
    struct wide moved = scaled(l, value, choose(l, large, k(l, 128), k(l, 0u - 128)));
    return select_wide(l, gg_l_mask_at(l, GG_SGPR_VCC_LO), moved, value);
}

/* As in lift_single.c; quotients are compared as doubles, whose own rounding says whether they are denormal. */
static struct wide div_scale(struct gg_lift *l, const struct wide *s, gg_value *carry)
{
    struct wide value = s[0], d = s[1], n = s[2];
    gg_value none = m2(l, GG_IR_or, is_zero(l, d), is_zero(l, n));
    struct wide reciprocal = of_two(l, GG_IR_ddiv, constant(l, 0x3ff00000), d), quotient = of_two(l, GG_IR_ddiv, n, d);
    gg_value tiny_limit = k(l, 0x00100000), zero = k(l, 0);
    gg_value small_reciprocal =
        m2(l, GG_IR_and, m2(l, GG_IR_lt_u, magnitude(l, reciprocal), tiny_limit), not_of(l, is_zero(l, reciprocal)));
    gg_value small_quotient =
        m2(l, GG_IR_and, m2(l, GG_IR_lt_u, magnitude(l, quotient), tiny_limit), not_of(l, is_zero(l, quotient)));
    gg_value d_denormal = m2(l, GG_IR_lt_u, magnitude(l, d), tiny_limit);
    gg_value fields =
        v2(l, GG_IR_sub, v2(l, GG_IR_shr, magnitude(l, n), k(l, 20)), v2(l, GG_IR_shr, magnitude(l, d), k(l, 20)));
    gg_value wide = m2(l, GG_IR_lt_i, k(l, 767), fields), tiny = m2(l, GG_IR_lt_u, magnitude(l, n), k(l, 54u << 20));
    gg_value is_d =
        m2(l, GG_IR_and, m2(l, GG_IR_eq, value.word[0], d.word[0]), m2(l, GG_IR_eq, value.word[1], d.word[1]));
    gg_value is_n =
        m2(l, GG_IR_and, m2(l, GG_IR_eq, value.word[0], n.word[0]), m2(l, GG_IR_eq, value.word[1], n.word[1]));
    gg_value up = k(l, 128), down = k(l, 0u - 128), scale = choose(l, tiny, up, zero);
    scale = choose(l, small_quotient, choose(l, is_n, up, zero), scale);
    scale =
        choose(l, small_reciprocal, choose(l, m2(l, GG_IR_and, small_quotient, not_of(l, is_d)), zero, down), scale);
    scale = choose(l, d_denormal, up, scale);
    scale = choose(l, wide, choose(l, is_d, up, zero), scale);
    *carry = m2(l, GG_IR_or, wide, m2(l, GG_IR_and, small_quotient, not_of(l, d_denormal)));
    *carry = m2(l, GG_IR_and, *carry, not_of(l, none));
    struct wide made = select_wide(l, m2(l, GG_IR_eq, scale, zero), value, scaled(l, value, scale));
    return select_wide(l, none, constant(l, 0x7ff80000), made);
}

/* Word `which` (V) of 2/pi, 0 behind the 1201 bits that the hardware knows. */
static gg_value two_over_pi(struct gg_lift *l, gg_value which)
{
    static const uint32_t words[] = {0xa2f9836e, 0x4e441529,
                                     0xfc2757d1, 0xf534ddc0,
                                     0xdb629599, 0x3c439041,
                                     0xfe5163ab, 0xdebbc561,
                                     0xb7246e3a, 0x424dd2e0,
                                     0x06492eea, 0x09d1921c,
                                     0xfe1deb1c, 0xb129a73e,
                                     0xe88235f5, 0x2ebb4484,
                                     0xe99c7026, 0xb45f7e41,
                                     0x3991d639, 0x835339f4,
                                     0x9c845f8b, 0xbdf9283b,
                                     0x1ff897ff, 0xde05980f,
                                     0xef2f118b, 0x5a0a6d1f,
                                     0x6d367ecf, 0x27cb09b7,
                                     0x4f463f66, 0x9e5fea2d,
                                     0x7527bac7, 0xebe5f17b,
                                     0x3d0739f7, 0x8a5292ea,
                                     0x6bfb5fb1, 0x1f8d5d08,
                                     0x56033046, 0xfc7b6bab & 0xffff8000};
    gg_value made = k(l, 0);
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        made = choose(l, m2(l, GG_IR_eq, which, k(l, i)), k(l, words[i]), made);
    return made;
}

/* 53 bits of 2/pi for the reduction of large arguments: part s[1], past what the exponent of s[0] makes whole. */
static struct wide trig_preop(struct gg_lift *l, const struct wide *s)
{
    gg_value exponent = v2(l, GG_IR_shr, magnitude(l, s[0]), k(l, 20));
    gg_value beyond = v2(l, GG_IR_sub, v2(l, GG_IR_max_u, exponent, k(l, 1077)), k(l, 1077));
    gg_value segment = v2(l, GG_IR_mul, v2(l, GG_IR_and, s[1].word[0], k(l, 31)), k(l, 53));
    gg_value shift = v2(l, GG_IR_add, segment, beyond), first = v2(l, GG_IR_shr, shift, k(l, 5));
    gg_value by = v2(l, GG_IR_sub, k(l, 32), v2(l, GG_IR_and, shift, k(l, 31))), word[3];
    for (uint32_t i = 0; i < 3; i++)
        word[i] = two_over_pi(l, v2(l, GG_IR_add, first, k(l, i)));
    gg_value high = gg_l_shift64(l, GG_IR_V, GG_SHIFT_RIGHT, (struct gg_pair){word[1], word[0]}, by).low;
    gg_value low = gg_l_shift64(l, GG_IR_V, GG_SHIFT_RIGHT, (struct gg_pair){word[2], word[1]}, by).low;
    struct gg_pair part = gg_l_shift64(l, GG_IR_V, GG_SHIFT_RIGHT, (struct gg_pair){low, high}, k(l, 11));
    struct wide top = of_one(l, GG_IR_u2d, (struct wide){{part.high, 0}});
    struct wide rest = of_one(l, GG_IR_u2d, (struct wide){{part.low, 0}});
    struct wide number = of_two(l, GG_IR_dadd, of_two(l, GG_IR_dmul, top, constant(l, 0x41f00000)), rest);
    gg_value large = choose(l, m2(l, GG_IR_lt_u, k(l, 1967), exponent), k(l, 128 - 53), k(l, 0u - 53));
    return scaled(l, number, v2(l, GG_IR_sub, large, shift));
}

static bool floating(struct gg_lift *l, const struct wide *s, struct wide *made)
{
    switch (l->inst->op) {
    case GG_OP_v_add_f64:
        *made = of_two(l, GG_IR_dadd, s[0], s[1]);
        return true;
    case GG_OP_v_mul_f64:
        *made = of_two(l, GG_IR_dmul, s[0], s[1]);
        return true;
    case GG_OP_v_fma_f64:
        *made = fused(l, s[0], s[1], s[2]);
        return true;
    case GG_OP_v_min_f64:
        *made = least(l, false, s[0], s[1]);
        return true;
    case GG_OP_v_max_f64:
        *made = least(l, true, s[0], s[1]);
        return true;
    case GG_OP_v_floor_f64:
        *made = of_one(l, GG_IR_dfloor, s[0]);
        return true;
    case GG_OP_v_ceil_f64:
        *made = of_one(l, GG_IR_dceil, s[0]);
        return true;
    case GG_OP_v_trunc_f64:
        *made = of_one(l, GG_IR_dtrunc, s[0]);
        return true;
    case GG_OP_v_rndne_f64:
        *made = of_one(l, GG_IR_drint, s[0]);
        return true;
    case GG_OP_v_fract_f64:
        *made = fraction(l, s[0]);
        return true;
    case GG_OP_v_rcp_f64:
        *made = of_two(l, GG_IR_ddiv, constant(l, 0x3ff00000), s[0]);
        return true;
    case GG_OP_v_sqrt_f64:
        *made = of_one(l, GG_IR_dsqrt, s[0]);
        return true;
    case GG_OP_v_rsq_f64:
        *made = of_two(l, GG_IR_ddiv, constant(l, 0x3ff00000), of_one(l, GG_IR_dsqrt, s[0]));
        return true;
    case GG_OP_v_ldexp_f64:
        *made = scaled(l, s[0], s[1].word[0]);
        return true;
    case GG_OP_v_trig_preop_f64:
        *made = trig_preop(l, s);
        return true;
    case GG_OP_v_div_fmas_f64:
        *made = div_fmas(l, s);
        return true;
    case GG_OP_v_div_fixup_f64: {
        struct gg_pair pairs[3];
        for (int i = 0; i < 3; i++)
            pairs[i] = (struct gg_pair){s[i].word[0], s[i].word[1]};
        struct gg_pair fixed = gg_l_div_fixup(l, GG_TYPE_F64, pairs);
        *made = (struct wide){{fixed.low, fixed.high}};
        return true;
    }
    case GG_OP_v_frexp_mant_f64: {
        gg_value exponent;
        *made = mantissa(l, s[0], &exponent);
        return true;
    }
    case GG_OP_v_cvt_f64_i32:
        *made = of_one(l, GG_IR_i2d, s[0]);
        return true;
    case GG_OP_v_cvt_f64_u32:
        *made = of_one(l, GG_IR_u2d, s[0]);
        return true;
    case GG_OP_v_cvt_f64_f32:
        *made = of_one(l, GG_IR_f2d, s[0]);
        return true;
    default:
        return false;
    }
}

/* Operations that give a dword. */
static gg_value narrow(struct gg_lift *l, struct wide a)
{
    gg_value exponent;
    switch (l->inst->op) {
    case GG_OP_v_cvt_i32_f64:
        return gg_l2(l, GG_IR_d2i, GG_IR_V, a.word[0], a.word[1]);
    case GG_OP_v_cvt_u32_f64:
        return gg_l2(l, GG_IR_d2u, GG_IR_V, a.word[0], a.word[1]);
    case GG_OP_v_cvt_f32_f64:
        return gg_l_float_result(l, gg_l2(l, GG_IR_d2f, GG_IR_V, a.word[0], a.word[1]));
    case GG_OP_v_frexp_exp_i32_f64:
        mantissa(l, a, &exponent);
        return exponent;
    default:
        return 0;
    }
}

/* omod and clamp, as gg_l_float_result() has them. */
static struct wide finished(struct gg_lift *l, struct wide a)
{
    static const uint32_t factors[4] = {0, 0x40000000u, 0x40100000u, 0x3fe00000u}; /* 2, 4, 1/2 */
    bool keeps = gg_l_keeps_results(l, GG_TYPE_F64), multiplies = l->inst->omod && !gg_l_ieee(l) && !keeps;
    a = keeps || (l->inst->op == GG_OP_v_div_fixup_f64 && !multiplies) ? a : flushed(l, a);
    if (multiplies) {
        a = flushed(l, of_two(l, GG_IR_dmul, a, constant(l, factors[l->inst->omod])));
        a = select_wide(l, is_zero(l, a), constant(l, 0), a);
    }
    if (!(l->inst->flags & GG_INST_CLAMP))
        return a;
    struct wide zero = constant(l, 0), one = constant(l, 0x3ff00000);
    struct wide clamped = select_wide(l, gg_l_double_compare(l, GG_IR_dlt, one.word, a.word), one, a);
    clamped = select_wide(l, gg_l_double_compare(l, GG_IR_dlt, zero.word, a.word), clamped, zero);
    return gg_l_dx10_clamp(l) ? clamped : select_wide(l, is_nan(l, a), a, clamped);
}

/* A source of any type, with its modifiers, denormals as MODE has them. */
static bool read_source(struct gg_lift *l, uint32_t i, struct wide *a)
{
    uint32_t type = l->inst->src[i].type;
    if (type == GG_TYPE_F64) {
        if (!gg_l_double_source(l, i, a->word))
            return false;
        if (l->inst->op != GG_OP_v_div_fixup_f64 || i != 0) /* a quotient is only fixed up */
            gg_l_double_flush_source(l, a->word);
        return true;
    }
    gg_value word = gg_l_vector(l, &l->inst->src[i], 0);
    if (!word)
        return false;
    if (l->inst->abs >> i & 1)
        word = v2(l, GG_IR_and, word, k(l, 0x7fffffff));
    if (l->inst->neg >> i & 1)
        word = v2(l, GG_IR_xor, word, k(l, 0x80000000));
    a->word[0] = type == GG_TYPE_F32 ? gg_l_flush_source(l, type, word) : word;
    return true;
}

int32_t gg_lift_double(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    struct wide s[3] = {0}, made;
    if (!gg_l_rounds_to_even(l, GG_TYPE_F64) || inst->form != GG_FORM_PLAIN)
        return GG_ERR_UNSUPPORTED;
    for (uint32_t i = 0; i < 3 && inst->src[i].kind != GG_OPERAND_NONE; i++)
        if (!read_source(l, i, &s[i]))
            return GG_ERR_UNSUPPORTED;
    gg_value carry = 0;
    if (inst->op == GG_OP_v_div_scale_f64) {
        made = div_scale(l, s, &carry);
        carry = m2(l, GG_IR_and, carry, gg_l_exec(l));
    } else if (!floating(l, s, &made)) {
        gg_value word = narrow(l, s[0]);
        if (!word)
            return GG_ERR_UNSUPPORTED;
        gg_l_set_vgpr(l, inst->dst[0].value, word);
        return GG_OK;
    }
    made = finished(l, made);
    gg_l_set_vgpr(l, inst->dst[0].value, made.word[0]);
    gg_l_set_vgpr(l, inst->dst[0].value + 1, made.word[1]);
    if (carry) /* last: it may be EXEC */
        gg_l_set_mask_at(l, inst->dst[1].value, carry);
    return GG_OK;
}

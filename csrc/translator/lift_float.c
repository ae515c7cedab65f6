/* SPDX-License-Identifier: MIT */
/* MODE, conversions between halves and floats, and what other files need of floats. */
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

/* Two bits each of rounding for f32 and for the others, then of denormals. */
static uint32_t mode_bits(struct gg_lift *l, uint32_t type, uint32_t at)
{
    return gg_l_mode(l, at + (type == GG_TYPE_F32 ? 0 : 2), 2);
}

bool gg_l_rounds_to_even(struct gg_lift *l, uint32_t type) { return mode_bits(l, type, 0) == 0; }
bool gg_l_keeps_sources(struct gg_lift *l, uint32_t type) { return mode_bits(l, type, 4) & 1; }
bool gg_l_keeps_results(struct gg_lift *l, uint32_t type) { return mode_bits(l, type, 4) & 2; }
bool gg_l_dx10_clamp(struct gg_lift *l) { return gg_l_mode(l, 8, 1); }
bool gg_l_ieee(struct gg_lift *l) { return gg_l_mode(l, 9, 1); }

gg_value gg_l_flush(struct gg_lift *l, uint32_t type, gg_value a)
{
    bool half = type == GG_TYPE_F16;
    uint32_t known;
    if (gg_ir_is_constant(l->ir, a, &known))
        return known & (half ? 0x7c00u : 0x7f800000u) ? a : k(l, known & (half ? 0x8000u : 0x80000000u));
    gg_value exponent = v2(l, GG_IR_and, a, k(l, half ? 0x7c00u : 0x7f800000u));
    gg_value sign = v2(l, GG_IR_and, a, k(l, half ? 0x8000u : 0x80000000u));
    return choose(l, m2(l, GG_IR_eq, exponent, k(l, 0)), sign, a);
}

gg_value gg_l_flush_source(struct gg_lift *l, uint32_t type, gg_value a)
{
    return gg_l_keeps_sources(l, type) ? a : gg_l_flush(l, type, a);
}

gg_value gg_l_flush_result(struct gg_lift *l, uint32_t type, gg_value a)
{
    return gg_l_keeps_results(l, type) ? a : gg_l_flush(l, type, a);
}

/* Of a constant here, so that products with 0 are seen to be that (fold_float_zero() in ir.c). */
static uint32_t widened(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00)
        return sign | 0x7f800000 | magnitude << 13 | (magnitude > 0x7c00 ? 0x400000 : 0);
    if (magnitude >= 0x400)
        return sign | ((magnitude << 13) + (112u << 23));
    uint32_t exponent = 113;
    for (; magnitude && !(magnitude & 0x400); magnitude <<= 1)
        exponent--;
    return magnitude ? sign | exponent << 23 | (magnitude & 0x3ff) << 13 : sign;
}

gg_value gg_l_half_to_float(struct gg_lift *l, gg_value half)
{
    uint32_t known;
    if (gg_ir_is_constant(l->ir, half, &known))
        return k(l, widened(known));
    gg_value sign = v2(l, GG_IR_shl, v2(l, GG_IR_and, half, k(l, 0x8000)), k(l, 16));
    gg_value magnitude = v2(l, GG_IR_and, half, k(l, 0x7fff));
    gg_value moved = v2(l, GG_IR_shl, magnitude, k(l, 13));
    gg_value normal = v2(l, GG_IR_add, moved, k(l, 112u << 23));
    gg_value denormal = v2(l, GG_IR_fmul, v1(l, GG_IR_u2f, magnitude), k(l, 0x33800000)); /* 2^-24 */
    gg_value special = v2(l, GG_IR_or, moved, k(l, 0x7f800000));
    gg_value quiet = v2(l, GG_IR_or, special, k(l, 0x00400000));
    special = choose(l, m2(l, GG_IR_eq, magnitude, k(l, 0x7c00)), special, quiet);
    gg_value finite = choose(l, m2(l, GG_IR_lt_u, magnitude, k(l, 0x400)), denormal, normal);
    gg_value is_finite = m2(l, GG_IR_lt_u, magnitude, k(l, 0x7c00));
    return v2(l, GG_IR_or, sign, choose(l, is_finite, finite, special));
}

gg_value gg_l_float_to_half(struct gg_lift *l, gg_value single, bool to_zero)
{
    gg_value sign = v2(l, GG_IR_and, v2(l, GG_IR_shr, single, k(l, 16)), k(l, 0x8000));
    gg_value magnitude = v2(l, GG_IR_and, single, k(l, 0x7fffffff));
    gg_value normal = v2(l, GG_IR_sub, magnitude, k(l, 112u << 23)), denormal;
    if (to_zero) {
        denormal = v1(l, GG_IR_f2u, v2(l, GG_IR_fmul, magnitude, k(l, 0x4b800000))); /* 2^24 */
    } else {
        gg_value odd = v2(l, GG_IR_and, v2(l, GG_IR_shr, magnitude, k(l, 13)), k(l, 1));
        normal = v2(l, GG_IR_add, v2(l, GG_IR_add, normal, k(l, 0xfff)), odd);
        /* 0.5 has its lowest bit where a denormal half has its own: the addition rounds there. */
        denormal = v2(l, GG_IR_sub, v2(l, GG_IR_fadd, magnitude, k(l, 0x3f000000)), k(l, 0x3f000000));
    }
    normal = v2(l, GG_IR_min_u, v2(l, GG_IR_shr, normal, k(l, 13)), k(l, to_zero ? 0x7bff : 0x7c00));
    gg_value nan =
        v2(l, GG_IR_or, v2(l, GG_IR_shr, v2(l, GG_IR_and, magnitude, k(l, 0x7fffff)), k(l, 13)), k(l, 0x7e00));
    gg_value made = choose(l, m2(l, GG_IR_lt_u, magnitude, k(l, 0x38800000)), denormal, normal);
    if (to_zero)
        made = choose(l, m2(l, GG_IR_eq, magnitude, k(l, 0x7f800000)), k(l, 0x7c00), made);
    made = choose(l, m2(l, GG_IR_lt_u, k(l, 0x7f800000), magnitude), nan, made);
    return v2(l, GG_IR_or, sign, made);
}

gg_value gg_l_half_fma(struct gg_lift *l, gg_value a, gg_value b, gg_value c)
{
    /* The product has 22 bits: exact. Of the sum Knuth's two-sum gives the error, exact as well. */
    gg_value negate = k(l, 0x80000000), product = v2(l, GG_IR_fmul, a, b);
    gg_value sum = v2(l, GG_IR_fadd, product, c);
    gg_value part = v2(l, GG_IR_fadd, sum, v2(l, GG_IR_xor, product, negate));
    gg_value rest = v2(l, GG_IR_fadd, sum, v2(l, GG_IR_xor, part, negate));
    gg_value error_c = v2(l, GG_IR_fadd, c, v2(l, GG_IR_xor, part, negate));
    gg_value error = v2(l, GG_IR_fadd, v2(l, GG_IR_fadd, product, v2(l, GG_IR_xor, rest, negate)), error_c);
    /* Rounded to odd: where the sum is not exact and even, the odd neighbour on the side of the error. */
    gg_value size = v2(l, GG_IR_and, error, k(l, 0x7fffffff));
    gg_value inexact = m2(l, GG_IR_and, m2(l, GG_IR_lt_u, k(l, 0), size), m2(l, GG_IR_lt_u, size, k(l, 0x7f800000)));
    gg_value even = m2(l, GG_IR_eq, v2(l, GG_IR_and, sum, k(l, 1)), k(l, 0));
    gg_value opposite = v2(l, GG_IR_sar, v2(l, GG_IR_xor, sum, error), k(l, 31)); /* -1 or 0 */
    gg_value odd = v2(l, GG_IR_add, sum, v2(l, GG_IR_or, opposite, k(l, 1)));
    return choose(l, m2(l, GG_IR_and, inexact, even), odd, sum);
}

gg_value gg_l_is_nan_bits(struct gg_lift *l, gg_value a)
{
    return m2(l, GG_IR_lt_u, k(l, 0x7f800000), v2(l, GG_IR_and, a, k(l, 0x7fffffff)));
}

static gg_value is_signalling(struct gg_lift *l, gg_value a)
{
    gg_value quiet = m2(l, GG_IR_eq, v2(l, GG_IR_and, a, k(l, 0x400000)), k(l, 0));
    return m2(l, GG_IR_and, gg_l_is_nan_bits(l, a), quiet);
}

gg_value gg_l_least_number(struct gg_lift *l, bool most, gg_value a, gg_value b)
{
    /* Equal ones differ as zeros at most, by their signs. */
    gg_value equal = v2(l, most ? GG_IR_and : GG_IR_or, a, b);
    return choose(l, m2(l, GG_IR_feq, a, b), equal, v2(l, most ? GG_IR_fmax : GG_IR_fmin, a, b));
}

gg_value gg_l_least(struct gg_lift *l, bool most, gg_value a, gg_value b)
{
    gg_value made = gg_l_least_number(l, most, a, b);
    if (!gg_l_ieee(l))
        return made;
    made = choose(l, is_signalling(l, b), v2(l, GG_IR_or, b, k(l, 0x400000)), made);
    return choose(l, is_signalling(l, a), v2(l, GG_IR_or, a, k(l, 0x400000)), made);
}

gg_value gg_l_class(struct gg_lift *l, uint32_t type, gg_value low, gg_value high, gg_value classes)
{
    uint32_t top = type == GG_TYPE_F16 ? 15 : 31;
    uint32_t infinity = type == GG_TYPE_F16 ? 0x7c00u : type == GG_TYPE_F32 ? 0x7f800000u : 0x7ff00000u;
    uint32_t quiet = type == GG_TYPE_F16 ? 0x200u : type == GG_TYPE_F32 ? 0x400000u : 0x80000u;
    uint32_t least = type == GG_TYPE_F16 ? 0x400u : type == GG_TYPE_F32 ? 0x800000u : 0x100000u; /* normal */
    gg_value negative = m2(l, GG_IR_lt_u, k(l, (1u << top) - 1), high);
    gg_value magnitude = v2(l, GG_IR_and, high, k(l, (1u << top) - 1));
    gg_value whole = magnitude; /* with a bit for what stands in the low dword */
    if (type == GG_TYPE_F64) {
        gg_value any = choose(l, m2(l, GG_IR_eq, low, k(l, 0)), k(l, 0), k(l, 1));
        whole = v2(l, GG_IR_or, magnitude, any);
    }
    gg_value is_nan = m2(l, GG_IR_lt_u, k(l, infinity), whole), is_infinite = m2(l, GG_IR_eq, whole, k(l, infinity));
    gg_value is_zero = m2(l, GG_IR_eq, whole, k(l, 0)), is_denormal = m2(l, GG_IR_lt_u, magnitude, k(l, least));
    /* 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +inf */
    gg_value number = choose(l, is_denormal, k(l, 4), k(l, 3));
    number = choose(l, is_zero, k(l, 5), choose(l, is_infinite, k(l, 2), number));
    number = choose(l, negative, number, v2(l, GG_IR_sub, k(l, 11), number));
    gg_value is_quiet = m2(l, GG_IR_lt_u, k(l, 0), v2(l, GG_IR_and, high, k(l, quiet)));
    number = choose(l, is_nan, choose(l, is_quiet, k(l, 1), k(l, 0)), number);
    gg_value bit = v2(l, GG_IR_and, v2(l, GG_IR_shr, classes, number), k(l, 1));
    return m2(l, GG_IR_eq, bit, k(l, 1));
}

gg_value gg_l_clamp_integer(struct gg_lift *l, gg_value a, int32_t low, int32_t high)
{
    return v2(l, GG_IR_min_i, v2(l, GG_IR_max_i, a, k(l, (uint32_t)low)), k(l, (uint32_t)high));
}

/* The significand without its top bit, and the exponent that goes with 0.5 <= mantissa < 1. */
static void normalise(struct gg_lift *l, gg_value a, gg_value *fraction, gg_value *exponent)
{
    gg_value magnitude = v2(l, GG_IR_and, a, k(l, 0x7fffffff)), top = v1(l, GG_IR_find_msb, magnitude);
    gg_value is_denormal = m2(l, GG_IR_lt_u, magnitude, k(l, 0x800000));
    gg_value up = v2(l, GG_IR_shl, magnitude, v2(l, GG_IR_sub, k(l, 23), top));
    *fraction = v2(l, GG_IR_and, choose(l, is_denormal, up, magnitude), k(l, 0x7fffff));
    gg_value field = v2(l, GG_IR_sub, v2(l, GG_IR_shr, magnitude, k(l, 23)), k(l, 126));
    *exponent = choose(l, is_denormal, v2(l, GG_IR_sub, top, k(l, 148)), field);
}

/* M: zero, infinity and NaN, which go through what only rescales. */
static gg_value is_special(struct gg_lift *l, gg_value a)
{
    gg_value magnitude = v2(l, GG_IR_and, a, k(l, 0x7fffffff));
    gg_value zero = m2(l, GG_IR_eq, magnitude, k(l, 0));
    return m2(l, GG_IR_or, zero, m2(l, GG_IR_lt_u, k(l, 0x7f7fffff), magnitude));
}

static gg_value quieted(struct gg_lift *l, gg_value a)
{
    return choose(l, gg_l_is_nan_bits(l, a), v2(l, GG_IR_or, a, k(l, 0x400000)), a);
}

gg_value gg_l_mantissa(struct gg_lift *l, gg_value a)
{
    gg_value fraction, exponent;
    normalise(l, a, &fraction, &exponent);
    gg_value sign = v2(l, GG_IR_and, a, k(l, 0x80000000));
    gg_value made = v2(l, GG_IR_or, v2(l, GG_IR_or, fraction, k(l, 126u << 23)), sign);
    return choose(l, is_special(l, a), quieted(l, a), made);
}

gg_value gg_l_exponent(struct gg_lift *l, gg_value a)
{
    gg_value fraction, exponent;
    normalise(l, a, &fraction, &exponent);
    return choose(l, is_special(l, a), k(l, 0), exponent);
}

gg_value gg_l_power(struct gg_lift *l, gg_value exponent)
{
    return v2(l, GG_IR_shl, v2(l, GG_IR_add, exponent, k(l, 127)), k(l, 23));
}

gg_value gg_l_scale(struct gg_lift *l, gg_value a, gg_value power)
{
    /* In two factors, of which the first is exact; beyond the limits all is 0 or infinite. */
    gg_value total = v2(l, GG_IR_add, gg_l_exponent(l, a), gg_l_clamp_integer(l, power, -1000, 1000));
    total = gg_l_clamp_integer(l, total, -200, 190);
    gg_value down = m2(l, GG_IR_lt_i, total, k(l, 0)), mantissa = gg_l_mantissa(l, a);
    gg_value first = choose(l, down, k(l, (127u - 100) << 23), k(l, (127u + 64) << 23));
    gg_value rest = v2(l, GG_IR_add, total, choose(l, down, k(l, 100), k(l, 0u - 64)));
    gg_value made = v2(l, GG_IR_fmul, v2(l, GG_IR_fmul, mantissa, first), gg_l_power(l, rest));
    return choose(l, is_special(l, a), mantissa, made);
}

gg_value gg_l_normalised(struct gg_lift *l, gg_value a, bool is_signed)
{
    gg_value low = k(l, is_signed ? 0xbf800000u : 0), one = k(l, 0x3f800000u);
    gg_value number = choose(l, gg_l_is_nan_bits(l, a), k(l, 0), a);
    gg_value within = v2(l, GG_IR_fmin, v2(l, GG_IR_fmax, number, low), one);
    /* Times 2^n - 1, rounded to odd, so that a tie is one. */
    gg_value top = k(l, is_signed ? 0x47000000u : 0x47800000u), minus = v2(l, GG_IR_xor, within, k(l, 0x80000000));
    gg_value scaled = gg_l_half_fma(l, within, top, minus);
    return v2(l, GG_IR_and, v1(l, GG_IR_f2i, v1(l, GG_IR_frint, scaled)), k(l, 0xffff));
}

struct gg_pair gg_l_div_fixup(struct gg_lift *l, uint32_t type, const struct gg_pair *s)
{
    bool half = type == GG_TYPE_F16, wide = type == GG_TYPE_F64;
    uint32_t sign_bit = half ? 0x8000u : 0x80000000u, infinity = half ? 0x7c00u : wide ? 0x7ff00000u : 0x7f800000u;
    uint32_t quiet = half ? 0x200u : wide ? 0x80000u : 0x400000u, shift = half ? 10 : wide ? 20 : 23;
    uint32_t least = half ? 25 : wide ? 1075 : 150;
    gg_value zero = k(l, 0), sign = v2(l, GG_IR_and, v2(l, GG_IR_xor, s[1].high, s[2].high), k(l, sign_bit));
    gg_value magnitude[3], field[3]; /* with a bit for what stands in the low dword */
    for (int i = 0; i < 3; i++) {
        magnitude[i] = v2(l, GG_IR_and, s[i].high, k(l, sign_bit - 1));
        field[i] = v2(l, GG_IR_shr, magnitude[i], k(l, shift));
        if (wide)
            magnitude[i] = v2(l, GG_IR_or, magnitude[i], choose(l, m2(l, GG_IR_eq, s[i].low, zero), zero, k(l, 1)));
    }
    gg_value apart = v2(l, GG_IR_sub, field[2], field[1]), is_small = m2(l, GG_IR_lt_i, apart, k(l, 0u - least));
    gg_value much = k(l, infinity), below_zero = m2(l, GG_IR_eq, magnitude[1], zero);
    gg_value above_zero = m2(l, GG_IR_eq, magnitude[2], zero), below_much = m2(l, GG_IR_eq, magnitude[1], much);
    gg_value above_much = m2(l, GG_IR_eq, magnitude[2], much);
    gg_value run_over = m2(l, GG_IR_lt_u, k(l, infinity - 1), magnitude[0]);
    gg_value to_zero = m2(l, GG_IR_or, m2(l, GG_IR_or, below_much, above_zero), is_small);
    gg_value invalid =
        m2(l, GG_IR_or, m2(l, GG_IR_and, below_zero, above_zero), m2(l, GG_IR_and, below_much, above_much));
    gg_value signed_much = v2(l, GG_IR_or, sign, much), number = v2(l, GG_IR_and, s[0].high, k(l, sign_bit - 1));
    gg_value high = choose(l, run_over, signed_much, v2(l, GG_IR_or, sign, number));
    gg_value drops_low = run_over; /* M: where the low dword is 0 */
    high = choose(l, to_zero, sign, high);
    drops_low = m2(l, GG_IR_or, drops_low, to_zero);
    gg_value to_much = m2(l, GG_IR_or, below_zero, above_much);
    high = choose(l, to_much, signed_much, high);
    drops_low = m2(l, GG_IR_or, drops_low, to_much);
    high = choose(l, invalid, k(l, sign_bit | infinity | quiet), high);
    gg_value low = wide ? choose(l, drops_low, zero, s[0].low) : 0;
    for (int i = 1; i < 3; i++) { /* the numerator's NaN comes before the denominator's */
        gg_value nan = m2(l, GG_IR_lt_u, much, magnitude[i]);
        high = choose(l, nan, v2(l, GG_IR_or, s[i].high, k(l, quiet)), high);
        low = wide ? choose(l, nan, s[i].low, low) : 0;
    }
    return (struct gg_pair){low, high};
}

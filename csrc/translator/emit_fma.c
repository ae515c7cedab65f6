/* SPDX-License-Identifier: MIT */
/*
 * Products with a sum, rounded once: GLSL.std.450's Fma may round twice, and does on lavapipe. Both are functions of
 * the module, of additions and products that each round to nearest even.
 */
#include "emit_double.h"

#include <spirv/unified1/GLSL.std.450.h>

static uint32_t add(struct gg_emit *e, uint32_t a, uint32_t b) { return gg_emit_exact_double(e, SpvOpFAdd, a, b); }
static uint32_t sub(struct gg_emit *e, uint32_t a, uint32_t b) { return gg_emit_exact_double(e, SpvOpFSub, a, b); }
static uint32_t mul(struct gg_emit *e, uint32_t a, uint32_t b) { return gg_emit_exact_double(e, SpvOpFMul, a, b); }
static uint32_t real(struct gg_emit *e, uint32_t high) { return gg_emit_double_constant(e, high); }
static uint32_t k(struct gg_emit *e, uint32_t bits) { return gg_spirv_const(&e->s, bits); }

static uint32_t word(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_u32(&e->s), 2, a, b);
}

static uint32_t word_k(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t bits) { return word(e, op, a, k(e, bits)); }

static uint32_t test(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_bool(&e->s), 2, a, b);
}

static uint32_t choose(struct gg_emit *e, uint32_t condition, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, SpvOpSelect, gg_emit_f64(e), 3, condition, a, b);
}

/* Of a signed number. */
static uint32_t limit(struct gg_emit *e, uint32_t a, int32_t low, int32_t high)
{
    uint32_t set = gg_spirv_import(&e->s, "GLSL.std.450"), u32 = gg_spirv_u32(&e->s);
    uint32_t least = k(e, (uint32_t)low), most = k(e, (uint32_t)high);
    a = gg_spirv_op(&e->s, SpvOpExtInst, u32, 4, set, GLSLstd450SMax, a, least);
    return gg_spirv_op(&e->s, SpvOpExtInst, u32, 4, set, GLSLstd450SMin, a, most);
}

static uint32_t is_zero(struct gg_emit *e, uint32_t a) { return test(e, SpvOpFOrdEqual, a, real(e, 0)); }

/* Of the high dword. */
static uint32_t magnitude(struct gg_emit *e, uint32_t a)
{
    return word_k(e, SpvOpBitwiseAnd, gg_emit_dword_of(e, a, 1), 0x7fffffff);
}

/* Knuth: the sum, and what its rounding lost. */
static uint32_t two_sum(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t *error)
{
    uint32_t sum = add(e, a, b), part = sub(e, sum, a), rest = sub(e, sum, part);
    uint32_t lost_a = sub(e, a, rest), lost_b = sub(e, b, part);
    *error = add(e, lost_a, lost_b);
    return sum;
}

/* Veltkamp: a in two halves of 26 bits. */
static uint32_t split(struct gg_emit *e, uint32_t a, uint32_t *low)
{
    uint32_t scaled = mul(e, a, real(e, 0x41a00000)); /* 2^27; with a itself 2^27 + 1 */
    uint32_t wide = add(e, scaled, a), high = sub(e, wide, sub(e, wide, a));
    *low = sub(e, a, high);
    return high;
}

/* Dekker: the product, and what its rounding lost. */
static uint32_t two_product(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t *error)
{
    uint32_t product = mul(e, a, b), a_low, b_low, a_high = split(e, a, &a_low), b_high = split(e, b, &b_low);
    uint32_t rest = sub(e, mul(e, a_high, b_high), product);
    rest = add(e, rest, mul(e, a_high, b_low));
    rest = add(e, rest, mul(e, a_low, b_high));
    *error = add(e, rest, mul(e, a_low, b_low));
    return product;
}

/* a + b rounded to odd: where the sum is not exact and even, its odd neighbour on the side of the error. */
static uint32_t odd_sum(struct gg_emit *e, uint32_t a, uint32_t b)
{
    struct gg_spirv *s = &e->s;
    uint32_t error, sum = two_sum(e, a, b, &error), zero = k(e, 0);
    uint32_t low = gg_emit_dword_of(e, sum, 0), high = gg_emit_dword_of(e, sum, 1);
    uint32_t even = test(e, SpvOpIEqual, word_k(e, SpvOpBitwiseAnd, low, 1), zero);
    uint32_t inexact = test(e, SpvOpFOrdNotEqual, error, real(e, 0));
    uint32_t signs = word(e, SpvOpBitwiseXor, high, gg_emit_dword_of(e, error, 1));
    uint32_t opposite = word_k(e, SpvOpShiftRightLogical, signs, 31);
    /* Down by one borrows where the low dword is 0; up by one is to set an even number's lowest bit. */
    uint32_t borrow = gg_spirv_select(s, test(e, SpvOpIEqual, low, zero), opposite, zero);
    uint32_t down = word_k(e, SpvOpISub, low, 1), up = word_k(e, SpvOpBitwiseOr, low, 1);
    uint32_t odd_low = gg_spirv_select(s, test(e, SpvOpINotEqual, opposite, zero), down, up);
    uint32_t odd = gg_emit_as_double(e, odd_low, word(e, SpvOpISub, high, borrow));
    return choose(e, test(e, SpvOpLogicalAnd, inexact, even), odd, sum);
}

/* 2^exponent, which must be a normal number. */
static uint32_t power(struct gg_emit *e, uint32_t exponent)
{
    uint32_t field = word_k(e, SpvOpShiftLeftLogical, word_k(e, SpvOpIAdd, exponent, 1023), 20);
    return gg_emit_as_double(e, k(e, 0), field);
}

static uint32_t with_sign(struct gg_emit *e, uint32_t a, uint32_t sign)
{
    uint32_t low = gg_emit_dword_of(e, a, 0), high = gg_emit_dword_of(e, a, 1);
    return gg_emit_as_double(e, low, word(e, SpvOpBitwiseOr, high, sign));
}

/* A number as m * 2^exponent with 1 <= |m| < 2. A zero stays, with an exponent below every product's. */
static uint32_t normal(struct gg_emit *e, uint32_t a, uint32_t *exponent)
{
    struct gg_spirv *s = &e->s;
    uint32_t least = k(e, 0x00100000), small_bias = k(e, 1023 + 54), usual_bias = k(e, 1023), far = k(e, 0u - 4096);
    uint32_t denormal = gg_spirv_less(s, magnitude(e, a), least), none = is_zero(e, a);
    uint32_t made = choose(e, denormal, mul(e, a, real(e, 0x43500000)), a); /* 2^54 makes it normal */
    uint32_t low = gg_emit_dword_of(e, made, 0), high = gg_emit_dword_of(e, made, 1);
    uint32_t field = word_k(e, SpvOpBitwiseAnd, word_k(e, SpvOpShiftRightLogical, high, 20), 0x7ff);
    uint32_t bias = gg_spirv_select(s, denormal, small_bias, usual_bias);
    *exponent = gg_spirv_select(s, none, far, word(e, SpvOpISub, field, bias));
    high = word_k(e, SpvOpBitwiseOr, word_k(e, SpvOpBitwiseAnd, high, 0x800fffff), 0x3ff00000);
    return choose(e, none, a, gg_emit_as_double(e, low, high));
}

static uint32_t is_infinite_or_nan(struct gg_emit *e, uint32_t a)
{
    uint32_t most = k(e, 0x7fefffff);
    return gg_spirv_less(&e->s, most, magnitude(e, a));
}

/* The product and the sum as they are where a factor is zero, infinite or no number. */
static uint32_t is_plain(struct gg_emit *e, uint32_t a)
{
    uint32_t none = is_zero(e, a);
    return test(e, SpvOpLogicalOr, none, is_infinite_or_nan(e, a));
}

/*
 * After Boldo and Melquiond: the product and what it lost, added to c with what the sums lose; the two small parts
 * rounded to odd, so that the last sum rounds as all of it would. That needs numbers whose parts neither overflow nor
 * underflow: the factors' exponents are taken out, and c's moves along, as far as it matters, and comes back with the
 * result's. A denormal result is rounded where its lowest bit is, by a sum with the power of two that has that bit.
 */
static uint32_t fma64_function(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t f64 = gg_emit_f64(e), p[3], exponent[3], m[3];
    struct gg_spirv_function f;
    uint32_t function = gg_spirv_begin_function(s, &f, "fma64", f64, 3, (const uint32_t[]){f64, f64, f64}, p);
    for (int i = 0; i < 3; i++)
        m[i] = normal(e, p[i], &exponent[i]);
    /* 200 apart, the smaller one is no more than a direction to round in. */
    uint32_t of_product = gg_spirv_add(s, exponent[0], exponent[1]);
    uint32_t apart = word(e, SpvOpISub, exponent[2], of_product), near = limit(e, apart, -200, 200);
    uint32_t beyond = limit(e, word_k(e, SpvOpISub, apart, 200), 0, 8192);
    uint32_t scale = gg_spirv_add(s, of_product, beyond), addend = mul(e, m[2], power(e, near));

    uint32_t lost, product = two_product(e, m[0], m[1], &lost), lost_too, rest;
    uint32_t small = two_sum(e, addend, lost, &lost_too), sum = two_sum(e, product, small, &rest);
    uint32_t tail = odd_sum(e, lost_too, rest), fused = add(e, sum, tail);

    uint32_t sign = word_k(e, SpvOpBitwiseAnd, gg_emit_dword_of(e, fused, 1), 0x80000000);
    uint32_t low = gg_emit_dword_of(e, fused, 0), size = gg_emit_as_double(e, low, magnitude(e, fused));
    uint32_t base = k(e, 0u - 1022), least = power(e, limit(e, word(e, SpvOpISub, base, scale), -1022, 1023));
    uint32_t lowest = with_sign(e, least, sign), moved = two_sum(e, lowest, sum, &rest);
    uint32_t rounded = sub(e, add(e, moved, odd_sum(e, rest, tail)), lowest);
    uint32_t made = choose(e, test(e, SpvOpFOrdLessThanEqual, size, least), rounded, fused);

    uint32_t first = limit(e, scale, -1000, 1000), second = limit(e, word(e, SpvOpISub, scale, first), -1022, 1023);
    made = mul(e, made, power(e, first));
    made = with_sign(e, mul(e, made, power(e, second)), sign); /* zeros have it too */
    made = choose(e, is_infinite_or_nan(e, p[2]), p[2], made);
    uint32_t plain = is_plain(e, p[0]);
    plain = test(e, SpvOpLogicalOr, plain, is_plain(e, p[1]));
    gg_spirv_end_function(s, &f, choose(e, plain, add(e, mul(e, p[0], p[1]), p[2]), made));
    return function;
}

uint32_t gg_emit_fma64(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t c)
{
    if (!e->fma64)
        e->fma64 = fma64_function(e);
    return gg_spirv_op(&e->s, SpvOpFunctionCall, gg_emit_f64(e), 4, e->fma64, a, b, c);
}

uint32_t gg_emit_fma32(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t c)
{
    struct gg_spirv *s = &e->s;
    uint32_t f32 = gg_spirv_f32(s), f64 = gg_emit_f64(e), p[3];
    if (!e->fma32) { /* in 64 bits the product is exact, and the sum is rounded to odd before it is rounded to 32 */
        struct gg_spirv_function f;
        e->fma32 = gg_spirv_begin_function(s, &f, "fma32", f32, 3, (const uint32_t[]){f32, f32, f32}, p);
        for (int i = 0; i < 3; i++)
            p[i] = gg_spirv_op(s, SpvOpFConvert, f64, 1, p[i]);
        uint32_t product = mul(e, p[0], p[1]), sum = odd_sum(e, product, p[2]);
        gg_spirv_end_function(s, &f, gg_spirv_op(s, SpvOpFConvert, f32, 1, sum));
    }
    return gg_spirv_op(s, SpvOpFunctionCall, f32, 4, e->fma32, a, b, c);
}

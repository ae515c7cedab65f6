/* SPDX-License-Identifier: MIT */
/* Floats of 64 bits: dwords in, one dword or bool out. The module has the capability Float64 where this is used. */
#include "emit.h"

#include <spirv/unified1/GLSL.std.450.h>

static uint32_t type_of(struct gg_emit *e)
{
    gg_spirv_capability(&e->s, SpvCapabilityFloat64);
    return gg_spirv_type(&e->s, SpvOpTypeFloat, 1, 64);
}

static uint32_t as_double(struct gg_emit *e, uint32_t low, uint32_t high)
{
    uint32_t pair = gg_spirv_vector(&e->s, gg_spirv_u32(&e->s), 2), f64 = type_of(e);
    uint32_t words = gg_spirv_op(&e->s, SpvOpCompositeConstruct, pair, 2, low, high);
    return gg_spirv_op(&e->s, SpvOpBitcast, f64, 1, words);
}

static uint32_t dword_of(struct gg_emit *e, uint32_t value, uint32_t which)
{
    uint32_t u32 = gg_spirv_u32(&e->s), pair = gg_spirv_vector(&e->s, u32, 2);
    uint32_t words = gg_spirv_op(&e->s, SpvOpBitcast, pair, 1, value);
    return gg_spirv_extract(&e->s, u32, words, which);
}

static uint32_t constant(struct gg_emit *e, uint32_t high)
{
    uint32_t zero = gg_spirv_const(&e->s, 0), top = gg_spirv_const(&e->s, high);
    return as_double(e, zero, top);
}

static uint32_t extended(struct gg_emit *e, uint32_t which, uint32_t a)
{
    uint32_t set = gg_spirv_import(&e->s, "GLSL.std.450");
    return gg_spirv_op(&e->s, SpvOpExtInst, type_of(e), 3, set, which, a);
}

/* No compiler may contract these: the guest rounds each. */
static uint32_t exact(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    uint32_t result = gg_spirv_op(&e->s, op, type_of(e), 2, a, b);
    gg_spirv_decorate(&e->s, result, SpvDecorationNoContraction, 0);
    return result;
}

static uint32_t add(struct gg_emit *e, uint32_t a, uint32_t b) { return exact(e, SpvOpFAdd, a, b); }
static uint32_t sub(struct gg_emit *e, uint32_t a, uint32_t b) { return exact(e, SpvOpFSub, a, b); }
static uint32_t mul(struct gg_emit *e, uint32_t a, uint32_t b) { return exact(e, SpvOpFMul, a, b); }

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
    uint32_t scaled = mul(e, a, constant(e, 0x41a00000)); /* 2^27; with a itself 2^27 + 1 */
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
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), error, sum = two_sum(e, a, b, &error);
    uint32_t zero = constant(e, 0), inexact = gg_spirv_op(s, SpvOpFOrdNotEqual, boolean, 2, error, zero);
    uint32_t low = dword_of(e, sum, 0), high = dword_of(e, sum, 1), one = gg_spirv_const(s, 1),
             none = gg_spirv_const(s, 0);
    uint32_t lowest = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, low, one);
    uint32_t even = gg_spirv_op(s, SpvOpIEqual, boolean, 2, lowest, none);
    uint32_t signs = gg_spirv_op(s, SpvOpBitwiseXor, u32, 2, high, dword_of(e, error, 1));
    uint32_t shift = gg_spirv_const(s, 31), opposite = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, signs, shift);
    /* Down by one borrows where the low dword is 0; up by one is to set an even number's lowest bit. */
    uint32_t low_zero = gg_spirv_op(s, SpvOpIEqual, boolean, 2, low, none);
    uint32_t borrow = gg_spirv_select(s, low_zero, opposite, none);
    uint32_t down_low = gg_spirv_op(s, SpvOpISub, u32, 2, low, one),
             up_low = gg_spirv_op(s, SpvOpBitwiseOr, u32, 2, low, one);
    uint32_t is_opposite = gg_spirv_op(s, SpvOpINotEqual, boolean, 2, opposite, none);
    uint32_t odd_low = gg_spirv_select(s, is_opposite, down_low, up_low);
    uint32_t odd_high = gg_spirv_op(s, SpvOpISub, u32, 2, high, borrow);
    uint32_t moves = gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, inexact, even);
    uint32_t made_low = gg_spirv_select(s, moves, odd_low, low), made_high = gg_spirv_select(s, moves, odd_high, high);
    return as_double(e, made_low, made_high);
}

/*
 * a * b + c rounded once (Boldo and Melquiond): GLSL.std.450's Fma may round twice, and does on lavapipe. Where a
 * factor is above 2^996 or so its parts overflow, and where the product is below 2^-969 the errors underflow: there
 * the result may be rounded twice.
 */
static uint32_t fma_function(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t f64 = type_of(e), p[3], types[3] = {f64, f64, f64}, boolean = gg_spirv_bool(s);
    struct gg_spirv_function f;
    e->fma64 = gg_spirv_begin_function(s, &f, "fma64", f64, 3, types, p);
    uint32_t lost, product = two_product(e, p[0], p[1], &lost), lost_sum, small = two_sum(e, p[2], lost, &lost_sum);
    uint32_t rest, sum = two_sum(e, product, small, &rest), odd = odd_sum(e, lost_sum, rest);
    uint32_t fused = add(e, sum, odd), plain = add(e, mul(e, p[0], p[1]), p[2]);
    /* Infinities and NaNs make NaNs of the errors, and a zero needs its sign; there the plain operations are right. */
    uint32_t zero = constant(e, 0), is_number = gg_spirv_op(s, SpvOpFOrdNotEqual, boolean, 2, fused, zero);
    uint32_t is_nan = gg_spirv_op(s, SpvOpIsNan, boolean, 1, fused);
    uint32_t broken =
        gg_spirv_op(s, SpvOpLogicalOr, boolean, 2, gg_spirv_op(s, SpvOpLogicalNot, boolean, 1, is_number), is_nan);
    uint32_t made = gg_spirv_op(s, SpvOpSelect, f64, 3, broken, plain, fused);
    gg_spirv_end_function(s, &f, made);
    return e->fma64;
}

uint32_t gg_emit_fma32(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t c)
{
    struct gg_spirv *s = &e->s;
    uint32_t f32 = gg_spirv_f32(s), f64 = type_of(e), p[3];
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

/* Truncates, saturates, 0 of NaN: what OpConvertFToU leaves undefined. */
static uint32_t to_integer(struct gg_emit *e, uint32_t a, bool is_signed)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), zero = gg_spirv_const(s, 0), f64 = type_of(e);
    uint32_t whole = extended(e, GLSLstd450Trunc, a);
    uint32_t low = constant(e, is_signed ? 0xc1e00000u : 0), limit = constant(e, is_signed ? 0x41e00000u : 0x41f00000u);
    uint32_t too_low = gg_spirv_op(s, SpvOpFOrdLessThanEqual, boolean, 2, whole, low);
    uint32_t too_high = gg_spirv_op(s, SpvOpFOrdGreaterThanEqual, boolean, 2, whole, limit);
    uint32_t nan = gg_spirv_op(s, SpvOpIsNan, boolean, 1, a), nothing = constant(e, 0);
    uint32_t outside = gg_spirv_op(s, SpvOpLogicalOr, boolean, 2, too_low, too_high);
    outside = gg_spirv_op(s, SpvOpLogicalOr, boolean, 2, outside, nan);
    uint32_t safe = gg_spirv_op(s, SpvOpSelect, f64, 3, outside, nothing, whole), made;
    if (is_signed) {
        uint32_t i32 = gg_spirv_type(s, SpvOpTypeInt, 2, 32, 1);
        made = gg_spirv_op(s, SpvOpBitcast, u32, 1, gg_spirv_op(s, SpvOpConvertFToS, i32, 1, safe));
    } else {
        made = gg_spirv_op(s, SpvOpConvertFToU, u32, 1, safe);
    }
    made = gg_spirv_select(s, too_low, gg_spirv_const(s, is_signed ? 0x80000000u : 0), made);
    made = gg_spirv_select(s, too_high, gg_spirv_const(s, is_signed ? 0x7fffffffu : UINT32_MAX), made);
    return gg_spirv_select(s, nan, zero, made);
}

/* From a dword. */
static uint32_t from_word(struct gg_emit *e, const struct gg_ir_value *v, uint32_t bits)
{
    struct gg_spirv *s = &e->s;
    uint32_t f64 = type_of(e), made;
    if (v->op == GG_IR_f2d) {
        uint32_t f32 = gg_spirv_f32(s);
        made = gg_spirv_op(s, SpvOpFConvert, f64, 1, gg_spirv_op(s, SpvOpBitcast, f32, 1, bits));
    } else {
        made = gg_spirv_op(s, v->op == GG_IR_i2d ? SpvOpConvertSToF : SpvOpConvertUToF, f64, 1, bits);
    }
    return dword_of(e, made, v->imm);
}

uint32_t gg_emit_double(struct gg_emit *e, const struct gg_ir_value *v, const uint32_t *bits)
{
    struct gg_spirv *s = &e->s;
    if (v->op == GG_IR_f2d || v->op == GG_IR_i2d || v->op == GG_IR_u2d)
        return from_word(e, v, bits[0]);
    uint32_t boolean = gg_spirv_bool(s), a = as_double(e, bits[0], bits[1]),
             b = bits[2] ? as_double(e, bits[2], bits[3]) : 0;
    switch (v->op) {
    case GG_IR_dadd:
        return dword_of(e, add(e, a, b), v->imm);
    case GG_IR_dmul:
        return dword_of(e, mul(e, a, b), v->imm);
    case GG_IR_ddiv:
        return dword_of(e, exact(e, SpvOpFDiv, a, b), v->imm);
    case GG_IR_dfma: {
        uint32_t c = as_double(e, bits[4], bits[5]), function = e->fma64 ? e->fma64 : fma_function(e);
        uint32_t made = gg_spirv_op(s, SpvOpFunctionCall, type_of(e), 4, function, a, b, c);
        return dword_of(e, made, v->imm);
    }
    case GG_IR_dsqrt:
        return dword_of(e, extended(e, GLSLstd450Sqrt, a), v->imm);
    case GG_IR_dfloor:
        return dword_of(e, extended(e, GLSLstd450Floor, a), v->imm);
    case GG_IR_dceil:
        return dword_of(e, extended(e, GLSLstd450Ceil, a), v->imm);
    case GG_IR_dtrunc:
        return dword_of(e, extended(e, GLSLstd450Trunc, a), v->imm);
    case GG_IR_drint:
        return dword_of(e, extended(e, GLSLstd450RoundEven, a), v->imm);
    case GG_IR_deq:
        return gg_spirv_op(s, SpvOpFOrdEqual, boolean, 2, a, b);
    case GG_IR_dlt:
        return gg_spirv_op(s, SpvOpFOrdLessThan, boolean, 2, a, b);
    case GG_IR_dle:
        return gg_spirv_op(s, SpvOpFOrdLessThanEqual, boolean, 2, a, b);
    case GG_IR_d2f: {
        uint32_t f32 = gg_spirv_f32(s), u32 = gg_spirv_u32(s);
        return gg_spirv_op(s, SpvOpBitcast, u32, 1, gg_spirv_op(s, SpvOpFConvert, f32, 1, a));
    }
    default:
        return to_integer(e, a, v->op == GG_IR_d2i);
    }
}

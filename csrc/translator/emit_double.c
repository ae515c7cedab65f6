/* SPDX-License-Identifier: MIT */
/* Floats of 64 bits: dwords in, one dword or bool out. The module has the capability Float64 where this is used. */
#include "emit_double.h"

#include <spirv/unified1/GLSL.std.450.h>

uint32_t gg_emit_f64(struct gg_emit *e)
{
    gg_spirv_capability(&e->s, SpvCapabilityFloat64);
    return gg_spirv_type(&e->s, SpvOpTypeFloat, 1, 64);
}

uint32_t gg_emit_as_double(struct gg_emit *e, uint32_t low, uint32_t high)
{
    uint32_t pair = gg_spirv_vector(&e->s, gg_spirv_u32(&e->s), 2), f64 = gg_emit_f64(e);
    uint32_t words = gg_spirv_op(&e->s, SpvOpCompositeConstruct, pair, 2, low, high);
    return gg_spirv_op(&e->s, SpvOpBitcast, f64, 1, words);
}

uint32_t gg_emit_dword_of(struct gg_emit *e, uint32_t value, uint32_t which)
{
    uint32_t u32 = gg_spirv_u32(&e->s), pair = gg_spirv_vector(&e->s, u32, 2);
    uint32_t words = gg_spirv_op(&e->s, SpvOpBitcast, pair, 1, value);
    return gg_spirv_extract(&e->s, u32, words, which);
}

uint32_t gg_emit_double_constant(struct gg_emit *e, uint32_t high)
{
    uint32_t zero = gg_spirv_const(&e->s, 0), top = gg_spirv_const(&e->s, high);
    return gg_emit_as_double(e, zero, top);
}

uint32_t gg_emit_exact_double(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    uint32_t result = gg_spirv_op(&e->s, op, gg_emit_f64(e), 2, a, b);
    gg_spirv_decorate(&e->s, result, SpvDecorationNoContraction, 0);
    return result;
}

static uint32_t extended(struct gg_emit *e, uint32_t which, uint32_t a)
{
    uint32_t set = gg_spirv_import(&e->s, "GLSL.std.450");
    return gg_spirv_op(&e->s, SpvOpExtInst, gg_emit_f64(e), 3, set, which, a);
}

/* Truncates, saturates, 0 of NaN: what OpConvertFToU leaves undefined. */
static uint32_t to_integer(struct gg_emit *e, uint32_t a, bool is_signed)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), zero = gg_spirv_const(s, 0), f64 = gg_emit_f64(e);
    uint32_t whole = extended(e, GLSLstd450Trunc, a);
    uint32_t low = gg_emit_double_constant(e, is_signed ? 0xc1e00000u : 0),
             limit = gg_emit_double_constant(e, is_signed ? 0x41e00000u : 0x41f00000u);
    uint32_t too_low = gg_spirv_op(s, SpvOpFOrdLessThanEqual, boolean, 2, whole, low);
    uint32_t too_high = gg_spirv_op(s, SpvOpFOrdGreaterThanEqual, boolean, 2, whole, limit);
    uint32_t nan = gg_spirv_op(s, SpvOpIsNan, boolean, 1, a), nothing = gg_emit_double_constant(e, 0);
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
    uint32_t f64 = gg_emit_f64(e), made;
    if (v->op == GG_IR_f2d) {
        uint32_t f32 = gg_spirv_f32(s);
        made = gg_spirv_op(s, SpvOpFConvert, f64, 1, gg_spirv_op(s, SpvOpBitcast, f32, 1, bits));
    } else {
        made = gg_spirv_op(s, v->op == GG_IR_i2d ? SpvOpConvertSToF : SpvOpConvertUToF, f64, 1, bits);
    }
    return gg_emit_dword_of(e, made, v->imm);
}

uint32_t gg_emit_double(struct gg_emit *e, const struct gg_ir_value *v, const uint32_t *bits)
{
    struct gg_spirv *s = &e->s;
    if (v->op == GG_IR_f2d || v->op == GG_IR_i2d || v->op == GG_IR_u2d)
        return from_word(e, v, bits[0]);
    uint32_t boolean = gg_spirv_bool(s), a = gg_emit_as_double(e, bits[0], bits[1]),
             b = bits[2] ? gg_emit_as_double(e, bits[2], bits[3]) : 0;
    switch (v->op) {
    case GG_IR_dadd:
        return gg_emit_dword_of(e, gg_emit_exact_double(e, SpvOpFAdd, a, b), v->imm);
    case GG_IR_dmul:
        return gg_emit_dword_of(e, gg_emit_exact_double(e, SpvOpFMul, a, b), v->imm);
    case GG_IR_ddiv:
        return gg_emit_dword_of(e, gg_emit_exact_double(e, SpvOpFDiv, a, b), v->imm);
    case GG_IR_dfma:
        return gg_emit_dword_of(e, gg_emit_fma64(e, a, b, gg_emit_as_double(e, bits[4], bits[5])), v->imm);
    case GG_IR_dsqrt:
        return gg_emit_dword_of(e, extended(e, GLSLstd450Sqrt, a), v->imm);
    case GG_IR_dfloor:
        return gg_emit_dword_of(e, extended(e, GLSLstd450Floor, a), v->imm);
    case GG_IR_dceil:
        return gg_emit_dword_of(e, extended(e, GLSLstd450Ceil, a), v->imm);
    case GG_IR_dtrunc:
        return gg_emit_dword_of(e, extended(e, GLSLstd450Trunc, a), v->imm);
    case GG_IR_drint:
        return gg_emit_dword_of(e, extended(e, GLSLstd450RoundEven, a), v->imm);
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

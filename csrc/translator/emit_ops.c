/* SPDX-License-Identifier: MIT */
/* Pure operations on one dword or one bit: the same for a scalar and for a lane. */
#include "emit.h"

#include <spirv/unified1/GLSL.std.450.h>

static uint32_t ext(struct gg_emit *e, uint32_t type, uint32_t which, unsigned count, uint32_t a, uint32_t b,
                    uint32_t c)
{
    uint32_t set = gg_spirv_import(&e->s, "GLSL.std.450");
    if (count == 1)
        return gg_spirv_op(&e->s, SpvOpExtInst, type, 3, set, which, a);
    if (count == 2)
        return gg_spirv_op(&e->s, SpvOpExtInst, type, 4, set, which, a, b);
    return gg_spirv_op(&e->s, SpvOpExtInst, type, 5, set, which, a, b, c);
}

static uint32_t as_float(struct gg_emit *e, uint32_t bits)
{
    uint32_t f32 = gg_spirv_f32(&e->s);
    return gg_spirv_op(&e->s, SpvOpBitcast, f32, 1, bits);
}

static uint32_t as_bits(struct gg_emit *e, uint32_t value)
{
    return gg_spirv_op(&e->s, SpvOpBitcast, gg_spirv_u32(&e->s), 1, value);
}

/* a + b and the like, which no compiler may contract: the guest rounds each. */
static uint32_t exact(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    uint32_t f32 = gg_spirv_f32(&e->s), result = gg_spirv_op(&e->s, op, f32, 2, a, b);
    gg_spirv_decorate(&e->s, result, SpvDecorationNoContraction, 0);
    return result;
}

static uint32_t high_product(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), pair = gg_spirv_type(s, SpvOpTypeStruct, 2, u32, u32);
    uint32_t product = gg_spirv_op(s, op, pair, 2, a, b);
    return gg_spirv_extract(s, u32, product, 1);
}

static uint32_t shifted(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t count)
{
    struct gg_spirv *s = &e->s;
    uint32_t low = gg_spirv_const(s, 31), masked = gg_spirv_op(s, SpvOpBitwiseAnd, gg_spirv_u32(s), 2, count, low);
    return gg_spirv_op(s, op, gg_spirv_u32(s), 2, a, masked);
}

/* Truncates, saturates, 0 of NaN: what OpConvertFToU leaves undefined. */
static uint32_t to_integer(struct gg_emit *e, uint32_t a, bool is_signed)
{
    struct gg_spirv *s = &e->s;
    uint32_t f32 = gg_spirv_f32(s), u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s);
    uint32_t low = gg_spirv_constant(s, f32, is_signed ? 0xcf000000u : 0u);           /* -2^31 or 0 */
    uint32_t high = gg_spirv_constant(s, f32, is_signed ? 0x4effffffu : 0x4f7fffffu); /* the largest below the limit */
    uint32_t limit = gg_spirv_constant(s, f32, is_signed ? 0x4f000000u : 0x4f800000u);
    uint32_t above = ext(e, f32, GLSLstd450NMax, 2, a, low, 0), within = ext(e, f32, GLSLstd450NMin, 2, above, high, 0);
    uint32_t converted = is_signed
                             ? gg_spirv_op(s, SpvOpConvertFToS, gg_spirv_type(s, SpvOpTypeInt, 2, 32, 1), 1, within)
                             : gg_spirv_op(s, SpvOpConvertFToU, u32, 1, within);
    if (is_signed)
        converted = as_bits(e, converted);
    uint32_t too_high = gg_spirv_op(s, SpvOpFOrdGreaterThanEqual, boolean, 2, a, limit);
    uint32_t most = gg_spirv_const(s, is_signed ? 0x7fffffffu : UINT32_MAX), zero = gg_spirv_const(s, 0);
    uint32_t clamped = gg_spirv_select(s, too_high, most, converted);
    uint32_t nan = gg_spirv_op(s, SpvOpIsNan, boolean, 1, a);
    return gg_spirv_select(s, nan, zero, clamped);
}

static uint32_t float_op(struct gg_emit *e, const struct gg_ir_value *v, const uint32_t *bits)
{
    struct gg_spirv *s = &e->s;
    uint32_t f32 = gg_spirv_f32(s), boolean = gg_spirv_bool(s), a = as_float(e, bits[0]);
    uint32_t b = v->arg[1] ? as_float(e, bits[1]) : 0, c = v->arg[2] ? as_float(e, bits[2]) : 0;
    switch (v->op) {
    case GG_IR_fadd:
        return as_bits(e, exact(e, SpvOpFAdd, a, b));
    case GG_IR_fmul:
        return as_bits(e, exact(e, SpvOpFMul, a, b));
    case GG_IR_ffma:
        return as_bits(e, gg_emit_fma32(e, a, b, c));
    case GG_IR_fmin:
        return as_bits(e, ext(e, f32, GLSLstd450NMin, 2, a, b, 0));
    case GG_IR_fmax:
        return as_bits(e, ext(e, f32, GLSLstd450NMax, 2, a, b, 0));
    case GG_IR_feq:
        return gg_spirv_op(s, SpvOpFOrdEqual, boolean, 2, a, b);
    case GG_IR_flt:
        return gg_spirv_op(s, SpvOpFOrdLessThan, boolean, 2, a, b);
    case GG_IR_fle:
        return gg_spirv_op(s, SpvOpFOrdLessThanEqual, boolean, 2, a, b);
    case GG_IR_fisnan:
        return gg_spirv_op(s, SpvOpIsNan, boolean, 1, a);
    case GG_IR_ffloor:
        return as_bits(e, ext(e, f32, GLSLstd450Floor, 1, a, 0, 0));
    case GG_IR_fceil:
        return as_bits(e, ext(e, f32, GLSLstd450Ceil, 1, a, 0, 0));
    case GG_IR_ftrunc:
        return as_bits(e, ext(e, f32, GLSLstd450Trunc, 1, a, 0, 0));
    case GG_IR_frint:
        return as_bits(e, ext(e, f32, GLSLstd450RoundEven, 1, a, 0, 0));
    case GG_IR_frcp: {
        uint32_t one = gg_spirv_constant(s, f32, 0x3f800000u);
        return as_bits(e, gg_spirv_op(s, SpvOpFDiv, f32, 2, one, a));
    }
    case GG_IR_frsq:
        return as_bits(e, ext(e, f32, GLSLstd450InverseSqrt, 1, a, 0, 0));
    case GG_IR_fsqrt:
        return as_bits(e, ext(e, f32, GLSLstd450Sqrt, 1, a, 0, 0));
    case GG_IR_fexp2:
        return as_bits(e, ext(e, f32, GLSLstd450Exp2, 1, a, 0, 0));
    case GG_IR_flog2:
        return as_bits(e, ext(e, f32, GLSLstd450Log2, 1, a, 0, 0));
    case GG_IR_fsin:
    case GG_IR_fcos: {
        uint32_t turn = gg_spirv_constant(s, f32, 0x40c90fdbu);
        uint32_t radians = exact(e, SpvOpFMul, a, turn);
        return as_bits(e, ext(e, f32, v->op == GG_IR_fsin ? GLSLstd450Sin : GLSLstd450Cos, 1, radians, 0, 0));
    }
    case GG_IR_f2u:
        return to_integer(e, a, false);
    case GG_IR_f2i:
        return to_integer(e, a, true);
    default:
        return 0;
    }
}

static uint32_t integer_op(struct gg_emit *e, const struct gg_ir_value *v, const uint32_t *a)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), f32;
    switch (v->op) {
    case GG_IR_add:
        return gg_spirv_op(s, SpvOpIAdd, u32, 2, a[0], a[1]);
    case GG_IR_sub:
        return gg_spirv_op(s, SpvOpISub, u32, 2, a[0], a[1]);
    case GG_IR_mul:
        return gg_spirv_op(s, SpvOpIMul, u32, 2, a[0], a[1]);
    case GG_IR_mulhi_u:
        return high_product(e, SpvOpUMulExtended, a[0], a[1]);
    case GG_IR_mulhi_i:
        return high_product(e, SpvOpSMulExtended, a[0], a[1]);
    case GG_IR_and:
        return gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, a[0], a[1]);
    case GG_IR_or:
        return gg_spirv_op(s, SpvOpBitwiseOr, u32, 2, a[0], a[1]);
    case GG_IR_xor:
        return gg_spirv_op(s, SpvOpBitwiseXor, u32, 2, a[0], a[1]);
    case GG_IR_not:
        return gg_spirv_op(s, SpvOpNot, u32, 1, a[0]);
    case GG_IR_shl:
        return shifted(e, SpvOpShiftLeftLogical, a[0], a[1]);
    case GG_IR_shr:
        return shifted(e, SpvOpShiftRightLogical, a[0], a[1]);
    case GG_IR_sar:
        return shifted(e, SpvOpShiftRightArithmetic, a[0], a[1]);
    case GG_IR_min_u:
        return gg_spirv_min(s, a[0], a[1]);
    case GG_IR_max_u:
        return gg_spirv_max(s, a[0], a[1]);
    case GG_IR_min_i:
        return ext(e, u32, GLSLstd450SMin, 2, a[0], a[1], 0); /* NVIDIA's driver takes a select of u32 for unsigned */
    case GG_IR_max_i:
        return ext(e, u32, GLSLstd450SMax, 2, a[0], a[1], 0);
    case GG_IR_bitcount:
        return gg_spirv_op(s, SpvOpBitCount, u32, 1, a[0]);
    case GG_IR_bitreverse:
        return gg_spirv_op(s, SpvOpBitReverse, u32, 1, a[0]);
    case GG_IR_find_lsb:
        return ext(e, u32, GLSLstd450FindILsb, 1, a[0], 0, 0);
    case GG_IR_find_msb:
        return ext(e, u32, GLSLstd450FindUMsb, 1, a[0], 0, 0);
    case GG_IR_eq:
        return gg_spirv_op(s, SpvOpIEqual, boolean, 2, a[0], a[1]);
    case GG_IR_lt_u:
        return gg_spirv_less(s, a[0], a[1]);
    case GG_IR_lt_i:
        return gg_spirv_op(s, SpvOpSLessThan, boolean, 2, a[0], a[1]);
    case GG_IR_u2f:
        f32 = gg_spirv_f32(s);
        return as_bits(e, gg_spirv_op(s, SpvOpConvertUToF, f32, 1, a[0]));
    case GG_IR_i2f:
        f32 = gg_spirv_f32(s);
        return as_bits(e, gg_spirv_op(s, SpvOpConvertSToF, f32, 1, a[0]));
    default:
        return 0;
    }
}

/* Operations on bools: B, or flat M. */
static uint32_t bit_op(struct gg_emit *e, const struct gg_ir_value *v)
{
    struct gg_spirv *s = &e->s;
    uint32_t a = gg_emit_lane_bit(e, v->arg[0]), b = v->arg[1] ? gg_emit_lane_bit(e, v->arg[1]) : 0;
    uint32_t boolean = gg_spirv_bool(s);
    switch (v->op) {
    case GG_IR_and:
        return gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, a, b);
    case GG_IR_or:
        return gg_spirv_op(s, SpvOpLogicalOr, boolean, 2, a, b);
    case GG_IR_xor:
        return gg_spirv_op(s, SpvOpLogicalNotEqual, boolean, 2, a, b);
    case GG_IR_not:
        return gg_spirv_op(s, SpvOpLogicalNot, boolean, 1, a);
    default:
        return 0;
    }
}

uint32_t gg_emit_pure(struct gg_emit *e, const struct gg_ir_value *v, bool lane)
{
    bool of_bits = v->op == GG_IR_and || v->op == GG_IR_or || v->op == GG_IR_xor || v->op == GG_IR_not;
    if (of_bits && (v->class == GG_IR_B || v->class == GG_IR_M))
        return bit_op(e, v);
    if (v->op == GG_IR_select) {
        uint32_t condition = lane ? gg_emit_lane_bit(e, v->arg[0]) : gg_emit_bit(e, v->arg[0]);
        uint32_t yes = lane ? gg_emit_lane_word(e, v->arg[1]) : gg_emit_word(e, v->arg[1]);
        uint32_t no = lane ? gg_emit_lane_word(e, v->arg[2]) : gg_emit_word(e, v->arg[2]);
        return gg_spirv_select(&e->s, condition, yes, no);
    }
    uint32_t bits[GG_IR_ARGS] = {0};
    for (int i = 0; i < GG_IR_ARGS && v->arg[i]; i++)
        bits[i] = lane ? gg_emit_lane_word(e, v->arg[i]) : gg_emit_word(e, v->arg[i]);
    if (v->op >= GG_IR_dadd && v->op <= GG_IR_d2u)
        return gg_emit_double(e, v, bits);
    uint32_t made = integer_op(e, v, bits);
    return made ? made : float_op(e, v, bits);
}

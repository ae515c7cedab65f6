/* SPDX-License-Identifier: MIT */
/* Atomics that SPIR-V lacks, as loops around a compare and exchange. */
#include "emit.h"

static uint32_t u32_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_u32(&e->s), 2, a, b);
}

static uint32_t bool_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_bool(&e->s), 2, a, b);
}

/* ---- floats, as bits ---- */

static uint32_t magnitude(struct gg_emit *e, uint32_t a)
{
    return u32_op(e, SpvOpBitwiseAnd, a, gg_spirv_const(&e->s, 0x7fffffff));
}

static uint32_t flushed(struct gg_emit *e, uint32_t a, bool flush)
{
    struct gg_spirv *s = &e->s;
    if (!flush)
        return a;
    uint32_t normal = gg_spirv_const(s, 0x00800000), sign = u32_op(e, SpvOpBitwiseAnd, a, gg_spirv_const(s, 1u << 31));
    return gg_spirv_select(s, gg_spirv_less(s, magnitude(e, a), normal), sign, a);
}

static uint32_t is_nan(struct gg_emit *e, uint32_t a)
{
    uint32_t infinity = gg_spirv_const(&e->s, 0x7f800000);
    return gg_spirv_less(&e->s, infinity, magnitude(e, a));
}

/* Unsigned numbers in the order of the floats, -0 below 0. */
static uint32_t in_order(struct gg_emit *e, uint32_t a)
{
    struct gg_spirv *s = &e->s;
    uint32_t sign = gg_spirv_const(s, 1u << 31), all = gg_spirv_const(s, UINT32_MAX);
    uint32_t positive = gg_spirv_less(s, a, sign);
    return u32_op(e, SpvOpBitwiseXor, a, gg_spirv_select(s, positive, sign, all));
}

/* A number beats a NaN; in IEEE mode a signalling NaN, the old value's before the data's, beats all. */
static uint32_t least(struct gg_emit *e, uint32_t imm, bool most, uint32_t a, uint32_t b)
{
    struct gg_spirv *s = &e->s;
    uint32_t first = in_order(e, a), second = in_order(e, b), quiet = gg_spirv_const(s, 0x400000);
    uint32_t zero = gg_spirv_const(s, 0), second_less = gg_spirv_less(s, second, first);
    uint32_t made = most ? gg_spirv_select(s, second_less, a, b) : gg_spirv_select(s, second_less, b, a);
    uint32_t nan[2] = {0};
    nan[0] = is_nan(e, a);
    nan[1] = is_nan(e, b);
    made = gg_spirv_select(s, nan[0], b, gg_spirv_select(s, nan[1], a, made));
    made = flushed(e, made, imm & GG_IR_FLUSHES_RESULTS);
    for (int i = 1; imm & GG_IR_IEEE && i >= 0; i--) {
        uint32_t value = i ? b : a, signals = bool_op(e, SpvOpIEqual, u32_op(e, SpvOpBitwiseAnd, value, quiet), zero);
        signals = bool_op(e, SpvOpLogicalAnd, signals, nan[i]);
        made = gg_spirv_select(s, signals, u32_op(e, SpvOpBitwiseOr, value, quiet), made);
    }
    return made;
}

static uint32_t equal_floats(struct gg_emit *e, uint32_t a, uint32_t b)
{
    uint32_t any = u32_op(e, SpvOpBitwiseOr, a, b), zero = gg_spirv_const(&e->s, 0);
    uint32_t zeros = bool_op(e, SpvOpIEqual, magnitude(e, any), zero), same = bool_op(e, SpvOpIEqual, a, b);
    uint32_t nan = is_nan(e, a), numbers = gg_spirv_op(&e->s, SpvOpLogicalNot, gg_spirv_bool(&e->s), 1, nan);
    return bool_op(e, SpvOpLogicalAnd, bool_op(e, SpvOpLogicalOr, same, zeros), numbers);
}

static uint32_t sum(struct gg_emit *e, uint32_t imm, uint32_t a, uint32_t b)
{
    struct gg_spirv *s = &e->s;
    uint32_t f32 = gg_spirv_f32(s), left = gg_spirv_op(s, SpvOpBitcast, f32, 1, a);
    uint32_t made = gg_spirv_op(s, SpvOpFAdd, f32, 2, left, gg_spirv_op(s, SpvOpBitcast, f32, 1, b));
    gg_spirv_decorate(s, made, SpvDecorationNoContraction, 0);
    return flushed(e, gg_spirv_op(s, SpvOpBitcast, gg_spirv_u32(s), 1, made), imm & GG_IR_FLUSHES_RESULTS);
}

static uint32_t float_result(struct gg_emit *e, uint32_t imm, uint32_t old, uint32_t data, uint32_t second)
{
    uint32_t kind = imm & GG_IR_KIND, a = flushed(e, old, imm & GG_IR_FLUSHES_SOURCES);
    uint32_t b = flushed(e, kind == GG_IR_UPDATE_FCMPSWAP ? second : data, imm & GG_IR_FLUSHES_SOURCES);
    if (kind == GG_IR_UPDATE_FCMPSWAP)
        return gg_spirv_select(&e->s, equal_floats(e, a, b), data, old);
    return kind == GG_IR_UPDATE_FADD ? sum(e, imm, a, b) : least(e, imm, kind == GG_IR_UPDATE_FMAX, a, b);
}

/* What the dword becomes. */
static uint32_t result_of(struct gg_emit *e, uint32_t imm, uint32_t old, uint32_t data, uint32_t second)
{
    struct gg_spirv *s = &e->s;
    uint32_t zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    switch (imm & GG_IR_KIND) {
    case GG_IR_UPDATE_CMPSWAP:
        return gg_spirv_select(s, bool_op(e, SpvOpIEqual, old, second), data, old);
    case GG_IR_UPDATE_INC: {
        uint32_t next = gg_spirv_add(s, old, one);
        return gg_spirv_select(s, gg_spirv_less(s, old, data), next, zero);
    }
    case GG_IR_UPDATE_DEC: { /* 0 - 1 is above all data */
        uint32_t next = u32_op(e, SpvOpISub, old, one);
        return gg_spirv_select(s, gg_spirv_less(s, next, data), next, data);
    }
    case GG_IR_UPDATE_CSUB:
        return gg_spirv_select(s, gg_spirv_less(s, old, data), zero, u32_op(e, SpvOpISub, old, data));
    case GG_IR_UPDATE_RSUB:
        return u32_op(e, SpvOpISub, data, old);
    case GG_IR_UPDATE_MSKOR: {
        uint32_t kept = gg_spirv_op(s, SpvOpNot, gg_spirv_u32(s), 1, data);
        return u32_op(e, SpvOpBitwiseOr, u32_op(e, SpvOpBitwiseAnd, old, kept), second);
    }
    case GG_IR_UPDATE_WRAP: {
        uint32_t up = gg_spirv_add(s, old, second), down = u32_op(e, SpvOpISub, old, data);
        return gg_spirv_select(s, gg_spirv_less(s, old, data), up, down);
    }
    default:
        return float_result(e, imm, old, data, second);
    }
}

uint32_t gg_emit_update(struct gg_emit *e, uint32_t imm, SpvScope scope, uint32_t pointer, uint32_t data,
                        uint32_t second)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    uint32_t relaxed = gg_spirv_const(s, SpvMemorySemanticsMaskNone), reach = gg_spirv_const(s, (uint32_t)scope);
    uint32_t seen = gg_spirv_local(s, u32, "seen"), done = gg_spirv_local(s, u32, "done");
    gg_spirv_store(s, seen, gg_spirv_op(s, SpvOpAtomicLoad, u32, 3, pointer, reach, relaxed));
    gg_spirv_store(s, done, zero);
    struct gg_spirv_while loop;
    gg_spirv_begin_while(s, &loop);
    uint32_t is_done = gg_spirv_load(s, u32, done);
    gg_spirv_while_body(s, &loop, bool_op(e, SpvOpIEqual, is_done, zero));
    uint32_t old = gg_spirv_load(s, u32, seen), made = result_of(e, imm, old, data, second);
    uint32_t found = gg_spirv_op(s, SpvOpAtomicCompareExchange, u32, 6, pointer, reach, relaxed, relaxed, made, old);
    gg_spirv_store(s, seen, found);
    gg_spirv_store(s, done, gg_spirv_select(s, bool_op(e, SpvOpIEqual, found, old), one, zero));
    gg_spirv_end_while(s, &loop);
    return gg_spirv_load(s, u32, seen);
}

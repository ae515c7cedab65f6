/* SPDX-License-Identifier: MIT */
/* Atomics that SPIR-V lacks, as loops around a compare and exchange. */
#include "emit.h"

#include <spirv/unified1/GLSL.std.450.h>

static uint32_t u32_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_u32(&e->s), 2, a, b);
}

static uint32_t bool_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_bool(&e->s), 2, a, b);
}

/* What the dword becomes when it holds floats: minimum and maximum let a number beat a NaN. */
static uint32_t float_result(struct gg_emit *e, uint32_t kind, uint32_t old, uint32_t data, uint32_t second)
{
    struct gg_spirv *s = &e->s;
    uint32_t f32 = gg_spirv_f32(s), a = gg_spirv_op(s, SpvOpBitcast, f32, 1, old), result;
    uint32_t b = gg_spirv_op(s, SpvOpBitcast, f32, 1, kind == GG_IR_UPDATE_FCMPSWAP ? second : data);
    if (kind == GG_IR_UPDATE_FCMPSWAP)
        return gg_spirv_select(s, bool_op(e, SpvOpFOrdEqual, a, b), data, old);
    if (kind == GG_IR_UPDATE_FADD) {
        result = gg_spirv_op(s, SpvOpFAdd, f32, 2, a, b);
    } else {
        uint32_t set = gg_spirv_import(s, "GLSL.std.450");
        uint32_t which = kind == GG_IR_UPDATE_FMIN ? GLSLstd450NMin : GLSLstd450NMax;
        result = gg_spirv_op(s, SpvOpExtInst, f32, 4, set, which, a, b);
    }
    return gg_spirv_op(s, SpvOpBitcast, gg_spirv_u32(s), 1, result);
}

/* What the dword becomes. */
static uint32_t result_of(struct gg_emit *e, uint32_t kind, uint32_t old, uint32_t data, uint32_t second)
{
    struct gg_spirv *s = &e->s;
    uint32_t zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    switch (kind) {
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
        return float_result(e, kind, old, data, second);
    }
}

uint32_t gg_emit_update(struct gg_emit *e, uint32_t kind, SpvScope scope, uint32_t pointer, uint32_t data,
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
    uint32_t old = gg_spirv_load(s, u32, seen), made = result_of(e, kind, old, data, second);
    uint32_t found = gg_spirv_op(s, SpvOpAtomicCompareExchange, u32, 6, pointer, reach, relaxed, relaxed, made, old);
    gg_spirv_store(s, seen, found);
    gg_spirv_store(s, done, gg_spirv_select(s, bool_op(e, SpvOpIEqual, found, old), one, zero));
    gg_spirv_end_while(s, &loop);
    return gg_spirv_load(s, u32, seen);
}

/* SPDX-License-Identifier: MIT */
/*
 * Atomics of 64 bits, in memory and in LDS that are arrays of 32-bit words: the two words are read and written under
 * one of the locks behind the counters. A lane takes the lock, works and gives it back in one pass of a loop, so that
 * lanes that a device runs in step cannot wait for each other. Plain accesses do not ask for the lock: they see
 * both words of a value only where the program orders them, by a barrier or otherwise.
 */
#include "emit.h"

struct words {
    uint32_t low, high;
};

static uint32_t u32_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_u32(&e->s), 2, a, b);
}

static uint32_t bool_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_bool(&e->s), 2, a, b);
}

static uint32_t not_of(struct gg_emit *e, uint32_t a)
{
    return gg_spirv_op(&e->s, SpvOpLogicalNot, gg_spirv_bool(&e->s), 1, a);
}

static uint32_t constant(struct gg_emit *e, uint32_t bits) { return gg_spirv_const(&e->s, bits); }

static struct words both(struct gg_emit *e, SpvOp op, struct words a, struct words b)
{
    uint32_t low = u32_op(e, op, a.low, b.low);
    return (struct words){low, u32_op(e, op, a.high, b.high)};
}

static struct words choose(struct gg_emit *e, uint32_t condition, struct words a, struct words b)
{
    uint32_t low = gg_spirv_select(&e->s, condition, a.low, b.low);
    return (struct words){low, gg_spirv_select(&e->s, condition, a.high, b.high)};
}

static uint32_t equal(struct gg_emit *e, struct words a, struct words b)
{
    uint32_t low = bool_op(e, SpvOpIEqual, a.low, b.low), high = bool_op(e, SpvOpIEqual, a.high, b.high);
    return bool_op(e, SpvOpLogicalAnd, low, high);
}

static uint32_t less(struct gg_emit *e, struct words a, struct words b, bool is_signed)
{
    uint32_t high = bool_op(e, is_signed ? SpvOpSLessThan : SpvOpULessThan, a.high, b.high);
    uint32_t same = bool_op(e, SpvOpIEqual, a.high, b.high), low = bool_op(e, SpvOpULessThan, a.low, b.low);
    uint32_t within = bool_op(e, SpvOpLogicalAnd, same, low);
    return bool_op(e, SpvOpLogicalOr, high, within);
}

static struct words sum(struct gg_emit *e, struct words a, struct words b)
{
    uint32_t low = u32_op(e, SpvOpIAdd, a.low, b.low), carries = bool_op(e, SpvOpULessThan, low, a.low);
    uint32_t one = constant(e, 1), zero = constant(e, 0), carry = gg_spirv_select(&e->s, carries, one, zero);
    uint32_t high = u32_op(e, SpvOpIAdd, a.high, b.high);
    return (struct words){low, u32_op(e, SpvOpIAdd, high, carry)};
}

static struct words difference(struct gg_emit *e, struct words a, struct words b)
{
    uint32_t low = u32_op(e, SpvOpISub, a.low, b.low), borrows = bool_op(e, SpvOpULessThan, a.low, b.low);
    uint32_t one = constant(e, 1), zero = constant(e, 0), borrow = gg_spirv_select(&e->s, borrows, one, zero);
    uint32_t high = u32_op(e, SpvOpISub, a.high, b.high);
    return (struct words){low, u32_op(e, SpvOpISub, high, borrow)};
}

/* ---- doubles, as bits ---- */

static uint32_t magnitude(struct gg_emit *e, struct words a)
{
    return u32_op(e, SpvOpBitwiseAnd, a.high, constant(e, 0x7fffffff));
}

static struct words flushed(struct gg_emit *e, struct words a, bool flush)
{
    if (!flush)
        return a;
    uint32_t sign = u32_op(e, SpvOpBitwiseAnd, a.high, constant(e, 0x80000000u));
    uint32_t is_denormal = bool_op(e, SpvOpULessThan, magnitude(e, a), constant(e, 0x00100000));
    return choose(e, is_denormal, (struct words){constant(e, 0), sign}, a);
}

static uint32_t is_nan(struct gg_emit *e, struct words a)
{
    struct words infinity = {constant(e, 0), constant(e, 0x7ff00000)}, absolute = {a.low, magnitude(e, a)};
    return less(e, infinity, absolute, false);
}

static uint32_t is_signalling(struct gg_emit *e, struct words a)
{
    uint32_t bit = u32_op(e, SpvOpBitwiseAnd, a.high, constant(e, 0x80000));
    uint32_t quiet = bool_op(e, SpvOpINotEqual, bit, constant(e, 0));
    return bool_op(e, SpvOpLogicalAnd, is_nan(e, a), not_of(e, quiet));
}

/* Whole numbers in the order of the doubles, -0 below 0. */
static struct words in_order(struct gg_emit *e, struct words a)
{
    uint32_t negative = bool_op(e, SpvOpSLessThan, a.high, constant(e, 0)), ones = constant(e, UINT32_MAX);
    struct words turned = both(e, SpvOpBitwiseXor, a, (struct words){ones, constant(e, 0x7fffffff)});
    return choose(e, negative, turned, a);
}

static struct words least(struct gg_emit *e, uint32_t imm, bool most, struct words a, struct words b)
{
    a = flushed(e, a, imm & GG_IR_FLUSHES_SOURCES);
    b = flushed(e, b, imm & GG_IR_FLUSHES_SOURCES);
    struct words x = in_order(e, most ? b : a), y = in_order(e, most ? a : b);
    struct words made = choose(e, less(e, y, x, true), b, a);
    made = choose(e, is_nan(e, a), b, choose(e, is_nan(e, b), a, made));
    made = flushed(e, made, imm & GG_IR_FLUSHES_RESULTS);
    for (int i = 1; imm & GG_IR_IEEE && i >= 0; i--) { /* the old value's NaN comes before the data's */
        struct words nan = i ? b : a, quieted = nan;
        quieted.high = u32_op(e, SpvOpBitwiseOr, nan.high, constant(e, 0x80000));
        made = choose(e, is_signalling(e, nan), quieted, made);
    }
    return made;
}

static uint32_t equal_doubles(struct gg_emit *e, uint32_t imm, struct words a, struct words b)
{
    a = flushed(e, a, imm & GG_IR_FLUSHES_SOURCES);
    b = flushed(e, b, imm & GG_IR_FLUSHES_SOURCES);
    struct words any = both(e, SpvOpBitwiseOr, a, b), zero = {constant(e, 0), constant(e, 0)};
    any.high = magnitude(e, any);
    uint32_t zeros = equal(e, any, zero), same = bool_op(e, SpvOpLogicalOr, equal(e, a, b), zeros);
    uint32_t numbers = bool_op(e, SpvOpLogicalAnd, not_of(e, is_nan(e, a)), not_of(e, is_nan(e, b)));
    return bool_op(e, SpvOpLogicalAnd, same, numbers);
}

/* Exchanged if the highest bit of the data is set, without that bit. */
static uint32_t conditional_exchange(struct gg_emit *e, uint32_t old, uint32_t data)
{
    uint32_t set = bool_op(e, SpvOpSLessThan, data, constant(e, 0));
    return gg_spirv_select(&e->s, set, u32_op(e, SpvOpBitwiseAnd, data, constant(e, 0x7fffffff)), old);
}

/* What memory holds after. */
static struct words result_of(struct gg_emit *e, uint32_t imm, struct words old, struct words data, struct words second)
{
    struct words zero = {constant(e, 0), constant(e, 0)}, one = {constant(e, 1), constant(e, 0)};
    switch (imm & GG_IR_KIND) {
    case GG_IR_WIDE_SWAP:
        return data;
    case GG_IR_WIDE_CMPSWAP:
        return choose(e, equal(e, old, second), data, old);
    case GG_IR_WIDE_ADD:
        return sum(e, old, data);
    case GG_IR_WIDE_SUB:
        return difference(e, old, data);
    case GG_IR_WIDE_RSUB:
        return difference(e, data, old);
    case GG_IR_WIDE_SMIN:
        return choose(e, less(e, old, data, true), old, data);
    case GG_IR_WIDE_UMIN:
        return choose(e, less(e, old, data, false), old, data);
    case GG_IR_WIDE_SMAX:
        return choose(e, less(e, old, data, true), data, old);
    case GG_IR_WIDE_UMAX:
        return choose(e, less(e, old, data, false), data, old);
    case GG_IR_WIDE_AND:
        return both(e, SpvOpBitwiseAnd, old, data);
    case GG_IR_WIDE_OR:
        return both(e, SpvOpBitwiseOr, old, data);
    case GG_IR_WIDE_XOR:
        return both(e, SpvOpBitwiseXor, old, data);
    case GG_IR_WIDE_INC: /* wraps to 0 after the data */
        return choose(e, less(e, old, data, false), sum(e, old, one), zero);
    case GG_IR_WIDE_DEC: { /* wraps to the data; 0 - 1 is above all data */
        struct words next = difference(e, old, one);
        return choose(e, less(e, next, data, false), next, data);
    }
    case GG_IR_WIDE_MSKOR: {
        struct words ones = {constant(e, UINT32_MAX), constant(e, UINT32_MAX)};
        struct words kept = both(e, SpvOpBitwiseAnd, old, both(e, SpvOpBitwiseXor, data, ones));
        return both(e, SpvOpBitwiseOr, kept, second);
    }
    case GG_IR_WIDE_CONDXCHG: {
        uint32_t low = conditional_exchange(e, old.low, data.low);
        return (struct words){low, conditional_exchange(e, old.high, data.high)};
    }
    case GG_IR_WIDE_FCMPSWAP:
        return choose(e, equal_doubles(e, imm, old, second), data, old);
    default:
        return least(e, imm, (imm & GG_IR_KIND) == GG_IR_WIDE_FMAX, old, data);
    }
}

/* ---- the lock ---- */

static uint32_t storage_word(struct gg_emit *e, uint32_t binding, uint32_t index)
{
    uint32_t pointer = gg_spirv_pointer(&e->s, SpvStorageClassStorageBuffer, gg_spirv_u32(&e->s));
    return gg_spirv_op(&e->s, SpvOpAccessChain, pointer, 3, e->buffer[binding], constant(e, 0), index);
}

static uint32_t lds_word(struct gg_emit *e, uint32_t index)
{
    uint32_t pointer = gg_spirv_pointer(&e->s, SpvStorageClassWorkgroup, gg_spirv_u32(&e->s));
    return gg_spirv_op(&e->s, SpvOpAccessChain, pointer, 2, e->lds, index);
}

struct target {
    uint32_t pointer[2]; /* of the two words */
    uint32_t lock;       /* pointer */
    uint32_t old[2];     /* variables that take the old words */
};

static void under_lock(struct gg_emit *e, const struct target *t, uint32_t imm, struct words data, struct words second)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = constant(e, 0), one = constant(e, 1);
    uint32_t device = constant(e, SpvScopeDevice), relaxed = constant(e, SpvMemorySemanticsMaskNone);
    uint32_t memory = SpvMemorySemanticsUniformMemoryMask | SpvMemorySemanticsWorkgroupMemoryMask;
    uint32_t take = constant(e, SpvMemorySemanticsAcquireMask | memory);
    uint32_t give = constant(e, SpvMemorySemanticsReleaseMask | memory), done = gg_spirv_local(s, u32, "done");
    gg_spirv_store(s, done, zero);
    struct gg_spirv_while loop;
    struct gg_spirv_if mine;
    gg_spirv_begin_while(s, &loop);
    uint32_t is_done = gg_spirv_load(s, u32, done);
    gg_spirv_while_body(s, &loop, bool_op(e, SpvOpIEqual, is_done, zero));
    uint32_t held = gg_spirv_op(s, SpvOpAtomicCompareExchange, u32, 6, t->lock, device, take, relaxed, one, zero);
    gg_spirv_begin_if(s, &mine, bool_op(e, SpvOpIEqual, held, zero));
    struct words old;
    old.low = gg_spirv_op(s, SpvOpAtomicLoad, u32, 3, t->pointer[0], device, relaxed);
    old.high = gg_spirv_op(s, SpvOpAtomicLoad, u32, 3, t->pointer[1], device, relaxed);
    struct words made = result_of(e, imm, old, data, second);
    gg_spirv_do(s, SpvOpAtomicStore, 4, t->pointer[0], device, relaxed, made.low);
    gg_spirv_do(s, SpvOpAtomicStore, 4, t->pointer[1], device, relaxed, made.high);
    gg_spirv_store(s, t->old[0], old.low);
    gg_spirv_store(s, t->old[1], old.high);
    gg_spirv_do(s, SpvOpAtomicStore, 4, t->lock, device, give, zero);
    gg_spirv_store(s, done, one);
    gg_spirv_end_if(s, &mine);
    gg_spirv_end_while(s, &loop);
}

/* The lock of an address: one of a few, so that groups at work in different places rarely meet. */
static uint32_t lock_of(struct gg_emit *e, uint32_t low)
{
    uint32_t line = u32_op(e, SpvOpShiftRightLogical, low, constant(e, 3));
    uint32_t number = u32_op(e, SpvOpBitwiseAnd, line, constant(e, GG_EMIT_LOCKS - 1));
    return storage_word(e, GG_EMIT_COUNTERS, gg_spirv_add(&e->s, number, constant(e, GG_EMIT_FIRST_LOCK)));
}

static struct words lane_words(struct gg_emit *e, const gg_value *arg)
{
    uint32_t low = gg_emit_lane_word(e, arg[0]);
    return (struct words){low, gg_emit_lane_word(e, arg[1])};
}

struct operands { /* read before any condition: what is loaded once stays good for the whole region */
    uint32_t low, high;
    struct words data, second;
};

static void in_memory(struct gg_emit *e, const struct gg_ir_value *v, const struct operands *o, struct target *t)
{
    struct gg_spirv *s = &e->s;
    uint32_t none = constant(e, UINT32_MAX);
    uint32_t at = gg_emit_place(e, o->low, o->high, 8);
    uint32_t there = bool_op(e, SpvOpINotEqual, at, none), one = constant(e, 1);
    struct gg_spirv_if block;
    gg_spirv_begin_if(s, &block, there);
    uint32_t index = u32_op(e, SpvOpShiftRightLogical, at, constant(e, 2));
    t->pointer[0] = storage_word(e, GG_EMIT_MEMORY, index);
    t->pointer[1] = storage_word(e, GG_EMIT_MEMORY, gg_spirv_add(s, index, one));
    t->lock = lock_of(e, o->low);
    under_lock(e, t, v->imm, o->data, o->second);
    gg_spirv_end_if(s, &block);
    gg_spirv_begin_if(s, &block, not_of(e, there));
    gg_spirv_atomic(s, SpvOpAtomicIAdd, SpvScopeDevice, storage_word(e, GG_EMIT_COUNTERS, one), one);
    gg_spirv_end_if(s, &block);
}

static void in_lds(struct gg_emit *e, const struct gg_ir_value *v, const struct operands *o, struct target *t)
{
    struct gg_spirv *s = &e->s;
    uint32_t limit = constant(e, e->lds_words >= 2 ? 4 * e->lds_words - 7 : 0);
    struct gg_spirv_if block;
    gg_spirv_begin_if(s, &block, gg_spirv_less(s, o->low, limit));
    uint32_t index = u32_op(e, SpvOpShiftRightLogical, o->low, constant(e, 2));
    t->pointer[0] = lds_word(e, index);
    t->pointer[1] = lds_word(e, gg_spirv_add(s, index, constant(e, 1)));
    t->lock = lock_of(e, o->low);
    under_lock(e, t, v->imm, o->data, o->second);
    gg_spirv_end_if(s, &block);
}

uint32_t gg_emit_wide(struct gg_emit *e, const struct gg_ir_value *v)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = constant(e, 0);
    uint32_t element = e->flat ? constant(e, e->copy) : e->lane;
    if (v->op == GG_IR_wide_high)
        return gg_spirv_load(s, u32, gg_emit_element(e, e->high_dwords[v->arg[0]], element));
    bool lds = v->op == GG_IR_lds_wide_update;
    uint32_t *highs = &e->high_dwords[v - e->ir->values];
    if (!*highs)
        *highs = gg_spirv_local(s, gg_spirv_array(s, u32, e->k), "high_dwords");
    struct target t = {.old = {gg_spirv_local(s, u32, "old_low"), gg_emit_element(e, *highs, element)}};
    gg_spirv_store(s, t.old[0], zero);
    gg_spirv_store(s, t.old[1], zero);
    uint32_t low = gg_emit_lane_word(e, v->arg[0]), active = gg_emit_lane_bit(e, v->arg[lds ? 5 : 6]);
    struct operands o = {.low = u32_op(e, SpvOpBitwiseAnd, low, constant(e, ~7u))};
    o.high = lds ? 0 : gg_emit_lane_word(e, v->arg[1]);
    o.data = lane_words(e, v->arg + (lds ? 1 : 2));
    o.second = lane_words(e, v->arg + (lds ? 3 : 4));
    if (lds && !e->lds)
        return zero;
    struct gg_spirv_if lane;
    gg_spirv_begin_if(s, &lane, active);
    if (lds)
        in_lds(e, v, &o, &t);
    else
        in_memory(e, v, &o, &t);
    gg_spirv_end_if(s, &lane);
    return gg_spirv_load(s, u32, t.old[0]);
}

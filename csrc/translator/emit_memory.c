/* SPDX-License-Identifier: MIT */
/*
 * Guest memory and LDS. Accesses outside the windows, or outside LDS, read 0 and store nothing; those to the
 * windows are counted. A dword or half may stand at any byte; of LDS, those that ir_align.c has marked. Parts of a
 * dword are stored by atomics, since another lane may store its other bytes at the same time.
 */
#include "emit.h"

static uint32_t buffer_word(struct gg_emit *e, uint32_t binding, uint32_t index)
{
    struct gg_spirv *s = &e->s;
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassStorageBuffer, gg_spirv_u32(s)), zero = gg_spirv_const(s, 0);
    return gg_spirv_op(s, SpvOpAccessChain, pointer, 3, e->buffer[binding], zero, index);
}

static uint32_t load_word(struct gg_emit *e, uint32_t binding, uint32_t index)
{
    uint32_t pointer = buffer_word(e, binding, index);
    return gg_spirv_load(&e->s, gg_spirv_u32(&e->s), pointer);
}

static uint32_t u32_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_u32(&e->s), 2, a, b);
}

static uint32_t equal(struct gg_emit *e, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, SpvOpIEqual, gg_spirv_bool(&e->s), 2, a, b);
}

/*
 * guest_place(low, high, bytes): the first byte's place in the memory buffer, in bytes; all ones unless all of
 * the access lies in one window. Drivers inline it at each access, so it is short.
 */
static uint32_t place_function(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), types[3] = {u32, u32, u32}, p[3];
    struct gg_spirv_function f;
    uint32_t id = gg_spirv_begin_function(s, &f, "guest_place", u32, 3, types, p);
    uint32_t found = gg_spirv_local(s, u32, "found"), boolean = gg_spirv_bool(s);
    uint32_t none = gg_spirv_const(s, UINT32_MAX), one = gg_spirv_const(s, 1), zero = gg_spirv_const(s, 0);
    uint32_t end = gg_spirv_const(s, GG_LAUNCH_TABLE), two = gg_spirv_const(s, 2);
    uint32_t stride = gg_spirv_const(s, GG_LAUNCH_WINDOW_WORDS), count_at = gg_spirv_const(s, GG_LAUNCH_WINDOWS);
    gg_spirv_store(s, found, none);
    uint32_t entries = gg_spirv_mul(s, load_word(e, GG_EMIT_LAUNCH, count_at), stride);
    uint32_t limit = gg_spirv_add(s, entries, end);
    struct gg_spirv_for loop;
    uint32_t base = gg_spirv_begin_for(s, &loop, end, limit, stride), member[5];
    for (uint32_t m = 0; m < 5; m++) {
        uint32_t offset = gg_spirv_const(s, m);
        member[m] = load_word(e, GG_EMIT_LAUNCH, gg_spirv_add(s, base, offset));
    }
    /* offset = address - window's; it and offset + bytes must lie within the size. Windows are below 4 GiB. */
    uint32_t low = u32_op(e, SpvOpISub, p[0], member[0]), borrow = gg_spirv_less(s, p[0], member[0]);
    uint32_t borrowed = gg_spirv_select(s, borrow, one, zero), expected = gg_spirv_add(s, member[1], borrowed);
    uint32_t same_high = equal(e, p[1], expected), begins = gg_spirv_less(s, low, member[2]);
    uint32_t room = u32_op(e, SpvOpISub, member[2], low);
    uint32_t ends = gg_spirv_op(s, SpvOpUGreaterThanEqual, boolean, 2, room, p[2]);
    uint32_t both = gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, begins, ends);
    uint32_t inside = gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, same_high, both);
    uint32_t place = gg_spirv_add(s, u32_op(e, SpvOpShiftLeftLogical, member[4], two), low);
    uint32_t before = gg_spirv_load(s, u32, found);
    gg_spirv_store(s, found, gg_spirv_select(s, inside, place, before));
    gg_spirv_end_for(s, &loop);
    gg_spirv_end_function(s, &f, gg_spirv_load(s, u32, found));
    return id;
}

/* Functions are made when they are first needed. */
uint32_t gg_emit_place(struct gg_emit *e, uint32_t low, uint32_t high, uint32_t bytes)
{
    struct gg_spirv *s = &e->s;
    if (!e->place)
        e->place = place_function(e);
    uint32_t size = gg_spirv_const(s, bytes);
    return gg_spirv_op(s, SpvOpFunctionCall, gg_spirv_u32(s), 4, e->place, low, high, size);
}

static void count_outside(struct gg_emit *e, uint32_t which, uint32_t amount)
{
    uint32_t index = gg_spirv_const(&e->s, which);
    gg_spirv_atomic(&e->s, SpvOpAtomicIAdd, SpvScopeDevice, buffer_word(e, GG_EMIT_COUNTERS, index), amount);
}

static const uint32_t bytes_of[GG_IR_MEM_KINDS] = {1, 1, 2, 2, 4};

/* A part of a dword, sign-extended or not. */
static uint32_t extend(struct gg_emit *e, uint32_t word, uint32_t kind)
{
    uint32_t bits = 8 * bytes_of[kind];
    if (bits == 32)
        return word;
    uint32_t up = gg_spirv_const(&e->s, 32 - bits), high = u32_op(e, SpvOpShiftLeftLogical, word, up);
    bool is_signed = kind == GG_IR_MEM_I8 || kind == GG_IR_MEM_I16;
    return u32_op(e, is_signed ? SpvOpShiftRightArithmetic : SpvOpShiftRightLogical, high, up);
}

static uint32_t lds_word(struct gg_emit *e, uint32_t index)
{
    uint32_t pointer = gg_spirv_pointer(&e->s, SpvStorageClassWorkgroup, gg_spirv_u32(&e->s));
    return gg_spirv_op(&e->s, SpvOpAccessChain, pointer, 2, e->lds, index);
}

static uint32_t pointer_to(struct gg_emit *e, bool lds, uint32_t index)
{
    return lds ? lds_word(e, index) : buffer_word(e, GG_EMIT_MEMORY, index);
}

/* Of one or two dwords: the one that contains the access's first byte, and the one of its last. */
static uint32_t load_at_any_byte(struct gg_emit *e, bool lds, uint32_t at, uint32_t kind)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), two = gg_spirv_const(s, 2), three = gg_spirv_const(s, 3);
    uint32_t index = u32_op(e, SpvOpShiftRightLogical, at, two), byte = u32_op(e, SpvOpBitwiseAnd, at, three);
    uint32_t shift = u32_op(e, SpvOpShiftLeftLogical, byte, three);
    uint32_t word = gg_spirv_load(s, u32, pointer_to(e, lds, index));
    uint32_t joined = u32_op(e, SpvOpShiftRightLogical, word, shift);
    if (bytes_of[kind] > 1) {
        uint32_t span = gg_spirv_const(s, bytes_of[kind] - 1), one = gg_spirv_const(s, 1), all = gg_spirv_const(s, 31);
        uint32_t last_byte = gg_spirv_add(s, at, span), last = u32_op(e, SpvOpShiftRightLogical, last_byte, two);
        uint32_t next = gg_spirv_load(s, u32, pointer_to(e, lds, last)), back = u32_op(e, SpvOpBitwiseXor, shift, all);
        uint32_t high = u32_op(e, SpvOpShiftLeftLogical, u32_op(e, SpvOpShiftLeftLogical, next, one), back);
        uint32_t crosses = gg_spirv_op(s, SpvOpINotEqual, gg_spirv_bool(s), 2, index, last);
        joined = gg_spirv_select(s, crosses, u32_op(e, SpvOpBitwiseOr, joined, high), joined);
    }
    return extend(e, joined, kind);
}

/* load(low, high, amount to count outside): whole or nothing, at any byte. */
static uint32_t load_function(struct gg_emit *e, uint32_t kind)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), types[3] = {u32, u32, u32}, p[3];
    struct gg_spirv_function f;
    uint32_t id = gg_spirv_begin_function(s, &f, "guest_load", u32, 3, types, p);
    uint32_t result = gg_spirv_local(s, u32, "result"), zero = gg_spirv_const(s, 0);
    uint32_t none = gg_spirv_const(s, UINT32_MAX);
    gg_spirv_store(s, result, zero);
    uint32_t at = gg_emit_place(e, p[0], p[1], bytes_of[kind]), missing = equal(e, at, none);
    uint32_t good = gg_spirv_op(s, SpvOpLogicalNot, gg_spirv_bool(s), 1, missing);
    struct gg_spirv_if block;
    gg_spirv_begin_if(s, &block, good);
    gg_spirv_store(s, result, load_at_any_byte(e, false, at, kind));
    gg_spirv_end_if(s, &block);
    gg_spirv_begin_if(s, &block, missing);
    count_outside(e, 0, p[2]);
    gg_spirv_end_if(s, &block);
    gg_spirv_end_function(s, &f, gg_spirv_load(s, u32, result));
    return id;
}

/* Clears bits of a dword, then sets some: other lanes' bytes in it stay. */
static void merge(struct gg_emit *e, uint32_t pointer, SpvScope scope, uint32_t keep, uint32_t set)
{
    gg_spirv_atomic(&e->s, SpvOpAtomicAnd, scope, pointer, keep);
    gg_spirv_atomic(&e->s, SpvOpAtomicOr, scope, pointer, set);
}

/* Where `good` holds: an aligned dword as such; others as parts of one or two dwords. */
static void store_at_any_byte(struct gg_emit *e, bool lds, uint32_t at, uint32_t data, uint32_t bytes, uint32_t good)
{
    struct gg_spirv *s = &e->s;
    SpvScope scope = lds ? SpvScopeWorkgroup : SpvScopeDevice;
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    uint32_t two = gg_spirv_const(s, 2), three = gg_spirv_const(s, 3);
    uint32_t mask = gg_spirv_const(s, bytes == 4 ? UINT32_MAX : (1u << 8 * bytes) - 1);
    uint32_t byte = u32_op(e, SpvOpBitwiseAnd, at, three), shift = u32_op(e, SpvOpShiftLeftLogical, byte, three);
    uint32_t index = u32_op(e, SpvOpShiftRightLogical, at, two), partly = good;
    struct gg_spirv_if block;
    if (bytes == 4) {
        uint32_t aligned = equal(e, byte, zero), whole = gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, good, aligned);
        gg_spirv_begin_if(s, &block, whole);
        gg_spirv_store(s, pointer_to(e, lds, index), data);
        gg_spirv_end_if(s, &block);
        uint32_t odd = gg_spirv_op(s, SpvOpLogicalNot, boolean, 1, aligned);
        partly = gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, good, odd);
    }
    gg_spirv_begin_if(s, &block, partly);
    uint32_t part = u32_op(e, SpvOpBitwiseAnd, data, mask), bits = u32_op(e, SpvOpShiftLeftLogical, mask, shift);
    uint32_t keep = gg_spirv_op(s, SpvOpNot, u32, 1, bits), set = u32_op(e, SpvOpShiftLeftLogical, part, shift);
    merge(e, pointer_to(e, lds, index), scope, keep, set);
    if (bytes > 1) { /* what does not fit goes to the next dword; in two steps, since shifts by 32 do not exist */
        uint32_t rest = u32_op(e, SpvOpBitwiseXor, shift, gg_spirv_const(s, 31));
        uint32_t over = u32_op(e, SpvOpShiftRightLogical, u32_op(e, SpvOpShiftRightLogical, mask, one), rest);
        uint32_t data_over = u32_op(e, SpvOpShiftRightLogical, u32_op(e, SpvOpShiftRightLogical, part, one), rest);
        uint32_t crosses = gg_spirv_op(s, SpvOpINotEqual, boolean, 2, over, zero);
        struct gg_spirv_if next;
        gg_spirv_begin_if(s, &next, crosses);
        uint32_t kept = gg_spirv_op(s, SpvOpNot, u32, 1, over), after = gg_spirv_add(s, index, one);
        merge(e, pointer_to(e, lds, after), scope, kept, data_over);
        gg_spirv_end_if(s, &next);
    }
    gg_spirv_end_if(s, &block);
}

/* store(low, high, data) */
static uint32_t store_function(struct gg_emit *e, uint32_t bytes)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), nothing = gg_spirv_type(s, SpvOpTypeVoid, 0), types[3] = {u32, u32, u32}, p[3];
    struct gg_spirv_function f;
    uint32_t id = gg_spirv_begin_function(s, &f, "guest_store", nothing, 3, types, p);
    uint32_t none = gg_spirv_const(s, UINT32_MAX), at = gg_emit_place(e, p[0], p[1], bytes);
    uint32_t missing = equal(e, at, none), good = gg_spirv_op(s, SpvOpLogicalNot, gg_spirv_bool(s), 1, missing);
    store_at_any_byte(e, false, at, p[2], bytes, good);
    struct gg_spirv_if block;
    gg_spirv_begin_if(s, &block, missing);
    count_outside(e, 1, gg_spirv_const(s, 1));
    gg_spirv_end_if(s, &block);
    gg_spirv_end_function(s, &f, 0);
    return id;
}

static const SpvOp atomics[GG_IR_ATOMICS] = {SpvOpAtomicExchange, SpvOpAtomicIAdd, SpvOpAtomicISub, SpvOpAtomicUMin,
                                             SpvOpAtomicUMax,     SpvOpAtomicSMin, SpvOpAtomicSMax, SpvOpAtomicAnd,
                                             SpvOpAtomicOr,       SpvOpAtomicXor};

/* The lane takes part, and its access of so many bytes lies in LDS: what is not is never even addressed. */
static uint32_t in_lds(struct gg_emit *e, uint32_t at, uint32_t bytes, uint32_t active)
{
    struct gg_spirv *s = &e->s;
    uint32_t limit = gg_spirv_const(s, e->lds_words * 4 >= bytes ? e->lds_words * 4 - bytes + 1 : 0);
    return gg_spirv_op(s, SpvOpLogicalAnd, gg_spirv_bool(s), 2, active, gg_spirv_less(s, at, limit));
}

/* The old dword; the atomic or update of the value is done to it. */
static uint32_t atomic_on(struct gg_emit *e, uint32_t imm, SpvScope scope, uint32_t pointer, uint32_t data,
                          uint32_t second)
{
    if (second)
        return gg_emit_update(e, imm, scope, pointer, data, second);
    return gg_spirv_atomic(&e->s, atomics[imm], scope, pointer, data);
}

static uint32_t lds_access(struct gg_emit *e, uint32_t op, uint32_t imm, const uint32_t *args, uint32_t condition)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), two = gg_spirv_const(s, 2),
             three = gg_spirv_const(s, 3);
    bool loads = op == GG_IR_lds_load, atomic = op == GG_IR_lds_update || op == GG_IR_lds_atomic;
    if (!e->lds)
        return loads || atomic ? zero : 0;
    bool anywhere = !atomic && imm & GG_IR_MEM_AT_ANY_BYTE;
    uint32_t kind = imm & ~GG_IR_MEM_AT_ANY_BYTE, bytes = atomic ? 4 : bytes_of[kind];
    /* Atomics are done to the dword that contains their address; others are aligned, or may stand at any byte. */
    uint32_t at = atomic ? u32_op(e, SpvOpBitwiseAnd, args[0], gg_spirv_const(s, ~3u)) : args[0];
    uint32_t result = loads || atomic ? gg_spirv_local(s, u32, "lds_result") : 0;
    if (result)
        gg_spirv_store(s, result, zero);
    struct gg_spirv_if block;
    gg_spirv_begin_if(s, &block, in_lds(e, at, bytes, condition));
    uint32_t index = u32_op(e, SpvOpShiftRightLogical, at, two), pointer = lds_word(e, index);
    uint32_t shift = u32_op(e, SpvOpShiftLeftLogical, u32_op(e, SpvOpBitwiseAnd, at, three), three);
    if (atomic) {
        uint32_t second = op == GG_IR_lds_update ? args[2] : 0;
        gg_spirv_store(s, result, atomic_on(e, imm, SpvScopeWorkgroup, pointer, args[1], second));
    } else if (anywhere && loads) {
        gg_spirv_store(s, result, load_at_any_byte(e, true, at, kind));
    } else if (anywhere) {
        store_at_any_byte(e, true, at, args[1], bytes, gg_spirv_truth(s, true));
    } else if (loads) {
        uint32_t word = u32_op(e, SpvOpShiftRightLogical, gg_spirv_load(s, u32, pointer), shift);
        gg_spirv_store(s, result, extend(e, word, kind));
    } else if (bytes == 4) {
        gg_spirv_store(s, pointer, args[1]);
    } else {
        uint32_t mask = gg_spirv_const(s, bytes == 1 ? 0xff : 0xffff);
        uint32_t keep = gg_spirv_op(s, SpvOpNot, u32, 1, u32_op(e, SpvOpShiftLeftLogical, mask, shift));
        uint32_t set = u32_op(e, SpvOpShiftLeftLogical, u32_op(e, SpvOpBitwiseAnd, args[1], mask), shift);
        merge(e, pointer, SpvScopeWorkgroup, keep, set);
    }
    gg_spirv_end_if(s, &block);
    return result ? gg_spirv_load(s, u32, result) : 0;
}

static uint32_t atomic_access(struct gg_emit *e, uint32_t op, uint32_t imm, const uint32_t *args, uint32_t condition)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), none = gg_spirv_const(s, UINT32_MAX);
    uint32_t two = gg_spirv_const(s, 2), boolean = gg_spirv_bool(s), result = gg_spirv_local(s, u32, "atomic_result");
    gg_spirv_store(s, result, zero);
    struct gg_spirv_if lane, block;
    gg_spirv_begin_if(s, &lane, condition);
    uint32_t aligned = u32_op(e, SpvOpBitwiseAnd, args[0], gg_spirv_const(s, ~3u));
    uint32_t at = gg_emit_place(e, aligned, args[1], 4);
    uint32_t there = gg_spirv_op(s, SpvOpINotEqual, boolean, 2, at, none);
    gg_spirv_begin_if(s, &block, there);
    uint32_t pointer = buffer_word(e, GG_EMIT_MEMORY, u32_op(e, SpvOpShiftRightLogical, at, two));
    uint32_t second = op == GG_IR_update ? args[3] : 0;
    gg_spirv_store(s, result, atomic_on(e, imm, SpvScopeDevice, pointer, args[2], second));
    gg_spirv_end_if(s, &block);
    gg_spirv_begin_if(s, &block, gg_spirv_op(s, SpvOpLogicalNot, boolean, 1, there));
    count_outside(e, 1, gg_spirv_const(s, 1));
    gg_spirv_end_if(s, &block);
    gg_spirv_end_if(s, &lane);
    return gg_spirv_load(s, u32, result);
}

/* A scalar's access is one, though each invocation of the wave makes it. */
static uint32_t load(struct gg_emit *e, uint32_t kind, const uint32_t *args, bool scalar)
{
    struct gg_spirv *s = &e->s;
    if (!e->load_function[kind])
        e->load_function[kind] = load_function(e, kind);
    uint32_t amount = gg_spirv_const(s, 1), zero = gg_spirv_const(s, 0);
    if (scalar && e->flat) {
        uint32_t first = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, e->lane_of[0], zero);
        amount = gg_spirv_select(s, first, amount, zero);
    }
    return gg_spirv_op(s, SpvOpFunctionCall, gg_spirv_u32(s), 4, e->load_function[kind], args[0], args[1], amount);
}

static void store(struct gg_emit *e, uint32_t kind, const uint32_t *args)
{
    uint32_t which = bytes_of[kind] == 4 ? 2 : bytes_of[kind] - 1;
    if (!e->store_function[which])
        e->store_function[which] = store_function(e, bytes_of[kind]);
    uint32_t nothing = gg_spirv_type(&e->s, SpvOpTypeVoid, 0);
    gg_spirv_op(&e->s, SpvOpFunctionCall, nothing, 4, e->store_function[which], args[0], args[1], args[2]);
}

uint32_t gg_emit_access_args(uint32_t op)
{
    return op == GG_IR_load_word ? gg_ir_ops[op].arguments : gg_ir_ops[op].arguments - 1u;
}

uint32_t gg_emit_access(struct gg_emit *e, uint32_t op, uint32_t imm, const uint32_t *args, uint32_t condition)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), result;
    struct gg_spirv_if block;
    switch (op) {
    case GG_IR_load_word:
        return load(e, imm, args, true);
    case GG_IR_load_word_if:
    case GG_IR_load:
        result = gg_spirv_local(s, u32, "load_result");
        gg_spirv_store(s, result, zero);
        gg_spirv_begin_if(s, &block, condition);
        gg_spirv_store(s, result, load(e, imm, args, op == GG_IR_load_word_if));
        gg_spirv_end_if(s, &block);
        return gg_spirv_load(s, u32, result);
    case GG_IR_store:
        gg_spirv_begin_if(s, &block, condition);
        store(e, imm, args);
        gg_spirv_end_if(s, &block);
        return 0;
    case GG_IR_atomic:
    case GG_IR_update:
        return atomic_access(e, op, imm, args, condition);
    default:
        return lds_access(e, op, imm, args, condition);
    }
}

uint32_t gg_emit_memory(struct gg_emit *e, const struct gg_ir_value *v)
{
    if (!gg_emit_is_batchable(v))
        return gg_emit_wide(e, v);
    uint32_t args[GG_IR_ARGS] = {0}, count = gg_emit_access_args(v->op), condition = 0;
    for (uint32_t i = 0; i < count; i++)
        args[i] = gg_emit_lane_word(e, v->arg[i]);
    if (count < gg_ir_ops[v->op].arguments)
        condition = gg_emit_lane_bit(e, v->arg[count]);
    uint32_t made = gg_emit_access(e, v->op, v->imm, args, condition);
    return v->class == GG_IR_S ? gg_emit_uniform(e, made) : made;
}

/* SPDX-License-Identifier: MIT */
/*
 * What crosses lanes, and launch state. Rolled, another lane is another element of an array. Flat, it is another
 * copy, in another invocation of the subgroup: lane n is copy n / subgroup of invocation n % subgroup.
 */
#include "emit.h"

#include <spirv/unified1/GLSL.std.450.h>

static uint32_t u32_op(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b)
{
    return gg_spirv_op(&e->s, op, gg_spirv_u32(&e->s), 2, a, b);
}

static uint32_t subgroup_scope(struct gg_emit *e) { return gg_spirv_const(&e->s, SpvScopeSubgroup); }

/* ---- launch state ---- */

static uint32_t launch_word(struct gg_emit *e, uint32_t word)
{
    struct gg_spirv *s = &e->s;
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassStorageBuffer, gg_spirv_u32(s));
    uint32_t zero = gg_spirv_const(s, 0), index = gg_spirv_const(s, word);
    uint32_t at = gg_spirv_op(s, SpvOpAccessChain, pointer, 3, e->buffer[GG_EMIT_LAUNCH], zero, index);
    return gg_spirv_load(s, gg_spirv_u32(s), at);
}

/* Which wave and lanes this invocation carries. */
void gg_emit_wave_inputs(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s);
    if (e->batched) { /* there are never 2^31 windows */
        uint32_t windows = launch_word(e, GG_LAUNCH_WINDOWS), top = gg_spirv_const(s, 31);
        e->never = u32_op(e, SpvOpShiftRightLogical, windows, top);
    }
    if (!e->flat || e->form->split_waves) {
        uint32_t index = gg_spirv_builtin(s, SpvStorageClassInput, u32, SpvBuiltInLocalInvocationIndex, "local_index");
        uint32_t number = gg_spirv_load(s, u32, index), wave = gg_spirv_const(s, e->ir->wave);
        e->wave = e->flat ? u32_op(e, SpvOpUDiv, number, wave) : number;
        if (e->flat)
            e->lane_of[0] = u32_op(e, SpvOpUMod, number, wave);
        return;
    }
    gg_spirv_capability(s, SpvCapabilityGroupNonUniform);
    uint32_t wave = gg_spirv_builtin(s, SpvStorageClassInput, u32, SpvBuiltInSubgroupId, "subgroup");
    uint32_t index =
        gg_spirv_builtin(s, SpvStorageClassInput, u32, SpvBuiltInSubgroupLocalInvocationId, "subgroup_invocation");
    e->wave = gg_spirv_load(s, u32, wave);
    e->invocation = gg_spirv_load(s, u32, index);
    for (uint32_t j = 0; j < e->k; j++)
        e->lane_of[j] = gg_spirv_add(s, e->invocation, gg_spirv_const(s, j * e->form->subgroup));
}

uint32_t gg_emit_first_register(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), vec3 = gg_spirv_vector(s, u32, 3);
    uint32_t counts =
        gg_spirv_load(s, vec3, gg_spirv_builtin(s, SpvStorageClassInput, vec3, SpvBuiltInNumWorkgroups, "groups"));
    uint32_t linear = gg_spirv_extract(s, u32, e->group, 2);
    for (uint32_t axis = 2; axis-- > 0;) {
        uint32_t count = gg_spirv_extract(s, u32, counts, axis), own = gg_spirv_extract(s, u32, e->group, axis);
        linear = gg_spirv_add(s, gg_spirv_mul(s, linear, count), own);
    }
    uint32_t waves = gg_spirv_const(s, e->waves), words = gg_spirv_const(s, e->register_words);
    uint32_t first = gg_spirv_mul(s, linear, waves), invocation = gg_spirv_add(s, first, e->wave);
    return gg_spirv_mul(s, invocation, words);
}

/* Of a lane: its thread's local id, or whether there is such a thread. */
static uint32_t lane_input(struct gg_emit *e, uint32_t which)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), lanes = gg_spirv_const(s, e->ir->wave);
    uint32_t first = gg_spirv_mul(s, e->wave, lanes), thread = gg_spirv_add(s, first, e->lane);
    if (which == GG_IR_IN_EXISTS)
        return gg_spirv_less(s, thread, gg_spirv_const(s, e->threads));
    uint32_t x = gg_spirv_const(s, e->program->threads[0] ? e->program->threads[0] : 1);
    uint32_t y = gg_spirv_const(s, e->program->threads[1] ? e->program->threads[1] : 1);
    if (which == GG_IR_IN_LOCAL_X)
        return gg_spirv_op(s, SpvOpUMod, u32, 2, thread, x);
    uint32_t row = gg_spirv_op(s, SpvOpUDiv, u32, 2, thread, x);
    return gg_spirv_op(s, which == GG_IR_IN_LOCAL_Y ? SpvOpUMod : SpvOpUDiv, u32, 2, row, y);
}

uint32_t gg_emit_input(struct gg_emit *e, uint32_t which)
{
    if (which < GG_IR_IN_GROUP_X)
        return launch_word(e, GG_LAUNCH_USER_DATA + which);
    if (which == GG_IR_IN_WAVE)
        return e->wave;
    if (which >= GG_IR_IN_LOCAL_X)
        return lane_input(e, which);
    uint32_t axis = which - GG_IR_IN_GROUP_X, first = launch_word(e, GG_LAUNCH_FIRST_GROUP + axis);
    uint32_t own = gg_spirv_extract(&e->s, gg_spirv_u32(&e->s), e->group, axis);
    return gg_spirv_add(&e->s, first, own);
}

/* ---- other lanes ---- */

/* A lane's number, modulo the wave, in copy and invocation. */
static uint32_t wrapped(struct gg_emit *e, uint32_t lane)
{
    return u32_op(e, SpvOpBitwiseAnd, lane, gg_spirv_const(&e->s, e->ir->wave - 1));
}

static uint32_t copy_of(struct gg_emit *e, uint32_t lane)
{
    return u32_op(e, SpvOpUDiv, lane, gg_spirv_const(&e->s, e->form->subgroup));
}

/* Of the invocation that carries the lane. All invocations are active: control flow is the wave's. */
static uint32_t shuffled(struct gg_emit *e, uint32_t word, uint32_t lane)
{
    struct gg_spirv *s = &e->s;
    gg_spirv_capability(s, SpvCapabilityGroupNonUniformShuffle);
    uint32_t scope = subgroup_scope(e), last = gg_spirv_const(s, e->form->subgroup - 1);
    uint32_t from = u32_op(e, SpvOpBitwiseAnd, lane, last);
    return gg_spirv_op(s, SpvOpGroupNonUniformShuffle, gg_spirv_u32(s), 3, scope, word, from);
}

static uint32_t copy_word(struct gg_emit *e, gg_value value, uint32_t copy)
{
    uint32_t outer = e->copy;
    e->copy = copy;
    uint32_t word = gg_emit_lane_word(e, value);
    e->copy = outer;
    return word;
}

static uint32_t rolled_lane(struct gg_emit *e, gg_value value, uint32_t lane)
{
    return gg_spirv_load(&e->s, gg_spirv_u32(&e->s), gg_emit_rolled(e, e->base[value], wrapped(e, lane)));
}

uint32_t gg_emit_other_lane(struct gg_emit *e, gg_value value, uint32_t lane)
{
    struct gg_spirv *s = &e->s;
    if (e->ir->values[value].class != GG_IR_V)
        return gg_emit_word(e, value);
    if (!e->flat)
        return rolled_lane(e, value, lane);
    uint32_t at = wrapped(e, lane), copy = copy_of(e, at), word = copy_word(e, value, 0);
    for (uint32_t j = 1; j < e->k; j++) { /* the whole wave names one lane: one shuffle does */
        uint32_t other = copy_word(e, value, j), number = gg_spirv_const(s, j);
        uint32_t is_it = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, copy, number);
        word = gg_spirv_select(s, is_it, other, word);
    }
    return shuffled(e, word, at);
}

uint32_t gg_emit_shuffle(struct gg_emit *e, gg_value value, uint32_t lane)
{
    struct gg_spirv *s = &e->s;
    if (e->ir->values[value].class != GG_IR_V)
        return gg_emit_word(e, value);
    if (!e->flat)
        return rolled_lane(e, value, lane);
    uint32_t at = wrapped(e, lane), copy = copy_of(e, at), word = shuffled(e, copy_word(e, value, 0), at);
    for (uint32_t j = 1; j < e->k; j++) {
        uint32_t other = shuffled(e, copy_word(e, value, j), at), number = gg_spirv_const(s, j);
        uint32_t is_it = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, copy, number);
        word = gg_spirv_select(s, is_it, other, word);
    }
    return word;
}

uint32_t gg_emit_first_lane(struct gg_emit *e, gg_value mask)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), set = gg_spirv_import(s, "GLSL.std.450");
    uint32_t result = gg_spirv_const(s, 0), zero = result;
    for (uint32_t w = e->words; w-- > 0;) {
        uint32_t word = gg_emit_mask_word(e, mask, w), base = gg_spirv_const(s, 32 * w);
        uint32_t lowest = gg_spirv_op(s, SpvOpExtInst, u32, 3, set, (uint32_t)GLSLstd450FindILsb, word);
        uint32_t lane = gg_spirv_add(s, base, lowest);
        uint32_t empty = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, word, zero);
        result = gg_spirv_select(s, empty, result, lane);
    }
    return result;
}

static uint32_t copy_bit(struct gg_emit *e, gg_value mask, uint32_t copy)
{
    uint32_t outer = e->copy;
    e->copy = copy;
    uint32_t bit = gg_emit_lane_bit(e, mask);
    e->copy = outer;
    return bit;
}

/* Lanes 32 * word and up of a mask: ballots of its copies, side by side. */
uint32_t gg_emit_ballot(struct gg_emit *e, gg_value mask, uint32_t word)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), scope = subgroup_scope(e), subgroup = e->form->subgroup, result = 0;
    uint32_t vector = gg_spirv_vector(s, u32, 4);
    gg_spirv_capability(s, SpvCapabilityGroupNonUniformBallot);
    for (uint32_t j = 0; j < e->k; j++) {
        uint32_t first = j * subgroup;
        if (subgroup <= 32 && first / 32 != word)
            continue;
        uint32_t bit = copy_bit(e, mask, j), all = gg_spirv_op(s, SpvOpGroupNonUniformBallot, vector, 2, scope, bit);
        uint32_t part = gg_spirv_extract(s, u32, all, subgroup > 32 ? word : 0);
        if (subgroup < 32 && first % 32)
            part = u32_op(e, SpvOpShiftLeftLogical, part, gg_spirv_const(s, first % 32));
        result = result ? u32_op(e, SpvOpBitwiseOr, result, part) : part;
    }
    return result ? result : gg_spirv_const(s, 0);
}

uint32_t gg_emit_any(struct gg_emit *e, gg_value mask)
{
    struct gg_spirv *s = &e->s;
    uint32_t boolean = gg_spirv_bool(s);
    if (e->flat) {
        uint32_t scope = subgroup_scope(e), some = copy_bit(e, mask, 0);
        for (uint32_t j = 1; j < e->k; j++)
            some = gg_spirv_op(s, SpvOpLogicalOr, boolean, 2, some, copy_bit(e, mask, j));
        gg_spirv_capability(s, SpvCapabilityGroupNonUniformVote);
        return gg_spirv_op(s, SpvOpGroupNonUniformAny, boolean, 2, scope, some);
    }
    uint32_t word = gg_emit_mask_word(e, mask, 0), zero = gg_spirv_const(s, 0);
    if (e->words > 1) {
        uint32_t high = gg_emit_mask_word(e, mask, 1);
        word = u32_op(e, SpvOpBitwiseOr, word, high);
    }
    return gg_spirv_op(s, SpvOpINotEqual, boolean, 2, word, zero);
}

/* What memory gives may differ between invocations while others write; a wave's scalar is one. */
uint32_t gg_emit_uniform(struct gg_emit *e, uint32_t word)
{
    if (!e->flat || e->form->subgroup == 1)
        return word;
    gg_spirv_capability(&e->s, SpvCapabilityGroupNonUniformBallot);
    return gg_spirv_op(&e->s, SpvOpGroupNonUniformBroadcastFirst, gg_spirv_u32(&e->s), 2, subgroup_scope(e), word);
}

/* ---- order between the lanes of a wave ---- */

enum {
    LAST_UNKNOWN = 0, /* the block before may have done anything */
    LAST_LOADS,
    LAST_STORES, /* or atomics */
    LAST_NOTHING /* a barrier stands right before */
};

/* A wave does one instruction after the other; a host's invocations may run apart between barriers. */
void gg_emit_wave_barrier(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    if (!e->flat || e->form->subgroup == 1)
        return;
    uint32_t scope = subgroup_scope(e);
    uint32_t semantics =
        gg_spirv_const(s, SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask |
                              SpvMemorySemanticsUniformMemoryMask);
    if (e->form->lockstep)
        gg_spirv_do(s, SpvOpMemoryBarrier, 2, scope, semantics);
    else
        gg_spirv_do(s, SpvOpControlBarrier, 3, scope, scope, semantics);
    e->order[0].last = e->order[1].last = LAST_NOTHING;
}

void gg_emit_order(struct gg_emit *e, const struct gg_ir_value *v)
{
    struct gg_wave_order *order = &e->order[(gg_ir_ops[v->op].flags & GG_IRF_LDS) != 0];
    bool stores = gg_ir_ops[v->op].flags & GG_IRF_STORES;
    if (!order->stores)
        return;
    bool same_instruction = order->last != LAST_UNKNOWN && order->offset == v->offset;
    bool stores_follow = stores && order->last != LAST_NOTHING && !same_instruction;
    if (order->last == LAST_UNKNOWN || stores_follow || (!stores && order->last == LAST_STORES))
        gg_emit_wave_barrier(e);
    order->last = stores ? LAST_STORES : LAST_LOADS;
    order->offset = v->offset;
}

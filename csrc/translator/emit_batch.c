/* SPDX-License-Identifier: MIT */
/*
 * Batches: memory operations of one kind that wait for each other's loop. A driver compiles every access that
 * stands in the code, a few hundred instructions each; here up to GG_EMIT_BATCH of them, of all lanes, share one.
 * Operands of access i and lane n stand at i * k + n of an array for each operand. Order stays the program's: first
 * by instruction, then by lane.
 */
#include "emit.h"

/* Atomics of 64 bits have two results and a lock of their own: they stand where they are. */
bool gg_emit_is_batchable(const struct gg_ir_value *v)
{
    return gg_ir_is_memory(v) && v->op != GG_IR_wide_update && v->op != GG_IR_lds_wide_update;
}

static bool of_lanes(const struct gg_batch *batch)
{
    return batch->op != GG_IR_load_word && batch->op != GG_IR_load_word_if;
}

bool gg_emit_fits_batch(const struct gg_emit *e, const struct gg_batch *batch, const struct gg_ir_value *v)
{
    if (!batch->op)
        return true;
    if (batch->op != v->op || batch->imm != v->imm || batch->count == GG_EMIT_BATCH || !gg_emit_is_batchable(v))
        return false;
    /* Flat, other invocations' stores by an instruction must have been done before the next one's. */
    bool stores = gg_ir_ops[v->op].flags & GG_IRF_STORES;
    return !stores || !e->flat || e->ir->values[batch->values[0]].offset == v->offset;
}

bool gg_emit_waits_for(const struct gg_batch *batch, const struct gg_ir_value *v)
{
    for (uint32_t i = 0; batch->op && i < batch->count; i++)
        for (int a = 0; a < GG_IR_ARGS && v->arg[a]; a++)
            if (v->arg[a] == batch->values[i])
                return true;
    return false;
}

/* Pointer to the place of one operand. */
static uint32_t operand(struct gg_emit *e, bool lanes, uint32_t which, uint32_t index)
{
    struct gg_spirv *s = &e->s;
    if (lanes && !e->flat)
        return gg_emit_rolled(e, e->batch_base[which], index);
    if (!e->batch_array[lanes][which]) {
        uint32_t array = gg_spirv_array(s, gg_spirv_u32(s), GG_EMIT_BATCH * (lanes ? e->k : 1));
        e->batch_array[lanes][which] = gg_spirv_local(s, array, "operand");
    }
    return gg_emit_element(e, e->batch_array[lanes][which], index);
}

/* The operands of one access of one lane, to their places. */
static void put(struct gg_emit *e, const struct gg_ir_value *v, bool lanes, uint32_t index)
{
    struct gg_spirv *s = &e->s;
    uint32_t count = gg_emit_access_args(v->op);
    for (uint32_t a = 0; a < count; a++) {
        uint32_t word = gg_emit_lane_word(e, v->arg[a]);
        gg_spirv_store(s, operand(e, lanes, a, index), word);
    }
    if (count == gg_ir_ops[v->op].arguments)
        return;
    uint32_t bit = gg_emit_lane_bit(e, v->arg[count]), one = gg_spirv_const(s, 1), zero = gg_spirv_const(s, 0);
    uint32_t word = gg_spirv_select(s, bit, one, zero);
    gg_spirv_store(s, operand(e, lanes, count, index), word);
}

void gg_emit_enqueue(struct gg_emit *e, struct gg_batch *batch, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    batch->op = v->op;
    batch->imm = v->imm;
    if (!e->flat && of_lanes(batch)) { /* rolled: in the lane loop, where the operands are */
        uint32_t base = gg_spirv_const(&e->s, batch->count * e->k);
        put(e, v, true, gg_spirv_add(&e->s, e->lane, base));
        if (!batch->count)
            batch->results = e->base[value];
    }
    batch->values[batch->count++] = value;
}

static void put_all(struct gg_emit *e, const struct gg_batch *batch, bool lanes)
{
    for (uint32_t i = 0; i < batch->count; i++)
        for (e->copy = 0; e->copy < (lanes ? e->copies : 1); e->copy++) {
            if (lanes)
                e->lane = e->lane_of[e->copy];
            put(e, &e->ir->values[batch->values[i]], lanes, gg_spirv_const(&e->s, i * (lanes ? e->k : 1) + e->copy));
        }
    e->copy = e->lane = 0;
}

static void take_all(struct gg_emit *e, const struct gg_batch *batch, bool lanes)
{
    struct gg_spirv *s = &e->s;
    for (uint32_t i = 0; i < batch->count; i++)
        for (e->copy = 0; e->copy < (lanes ? e->copies : 1); e->copy++) {
            uint32_t index = gg_spirv_const(s, i * (lanes ? e->k : 1) + e->copy);
            uint32_t word = gg_spirv_load(s, gg_spirv_u32(s), gg_emit_element(e, batch->results, index));
            word = lanes ? word : gg_emit_uniform(e, word);
            gg_emit_remember(e, batch->values[i], word);
            gg_emit_keep(e, batch->values[i], word);
        }
    e->copy = 0;
}

static void loop_over(struct gg_emit *e, const struct gg_batch *batch, bool lanes)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), args[GG_IR_ARGS] = {0}, condition = 0;
    uint32_t count = gg_emit_access_args(batch->op);
    struct gg_spirv_for loop;
    uint32_t index = gg_emit_begin_loop(e, &loop, batch->count * (lanes ? e->k : 1));
    for (uint32_t a = 0; a < count; a++)
        args[a] = gg_spirv_load(s, u32, operand(e, lanes, a, index));
    if (count < gg_ir_ops[batch->op].arguments) {
        uint32_t word = gg_spirv_load(s, u32, operand(e, lanes, count, index));
        condition = gg_spirv_op(s, SpvOpINotEqual, gg_spirv_bool(s), 2, word, zero);
    }
    uint32_t made = gg_emit_access(e, batch->op, batch->imm, args, condition);
    if (made && lanes && !e->flat)
        gg_spirv_store(s, gg_emit_rolled(e, batch->results, index), made);
    else if (made)
        gg_spirv_store(s, gg_emit_element(e, batch->results, index), made);
    gg_spirv_end_for(s, &loop);
}

void gg_emit_run_batch(struct gg_emit *e, struct gg_batch *batch)
{
    struct gg_spirv *s = &e->s;
    if (!batch->op)
        return;
    bool lanes = of_lanes(batch), rolled = lanes && !e->flat;
    const struct gg_ir_value *first = &e->ir->values[batch->values[0]];
    bool results = first->class != GG_IR_NONE;
    if (!lanes && batch->count == 1) {
        uint32_t made = gg_emit_memory(e, first);
        gg_emit_remember(e, batch->values[0], made);
        gg_emit_keep(e, batch->values[0], made);
        *batch = (struct gg_batch){0};
        return;
    }
    if (!rolled) {
        if (lanes)
            gg_emit_order(e, first);
        if (results && !e->batch_result[lanes]) {
            uint32_t array = gg_spirv_array(s, gg_spirv_u32(s), GG_EMIT_BATCH * (lanes ? e->k : 1));
            e->batch_result[lanes] = gg_spirv_local(s, array, "result");
        }
        batch->results = results ? e->batch_result[lanes] : 0;
        put_all(e, batch, lanes);
    }
    loop_over(e, batch, lanes);
    if (!rolled && results)
        take_all(e, batch, lanes);
    *batch = (struct gg_batch){0};
}

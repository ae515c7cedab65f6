/* SPDX-License-Identifier: MIT */
/*
 * Control flow as a dispatch loop: a switch over the number of the block that comes next. Where the waves of a
 * group meet at barriers, phases around it: every invocation runs until it is parked at some s_barrier or
 * has ended, then all meet at one control barrier, and so on while any is alive. Arrivals are counted, places
 * are not, and an ended wave no longer counts: that is what the ISA means.
 */
#include "emit.h"

static uint32_t predecessor(const struct gg_ir *ir, uint32_t from, uint32_t to)
{
    uint32_t which = 0;
    while (ir->preds[ir->blocks[to].pred_first + which] != from)
        which++;
    return which;
}

/* Writes what a block hands to its successor's phis: words and masks one by one, lane values in one loop. */
static void pass_to_phis(struct gg_emit *e, uint32_t from, uint32_t to)
{
    const struct gg_ir_block *block = &e->ir->blocks[to];
    struct gg_spirv *s = &e->s;
    uint32_t which = predecessor(e->ir, from, to), lanes = 0;
    uint32_t zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1), k = gg_spirv_const(s, e->k);
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        const struct gg_ir_value *phi = &e->ir->values[block->values[i]];
        gg_value arg = e->ir->phi_args[phi->arg[0] + which];
        uint32_t input = e->phi_input[block->values[i]];
        if (phi->class == GG_IR_S) {
            gg_spirv_store(s, input, gg_emit_word(e, arg));
        } else if (phi->class == GG_IR_B) {
            uint32_t bit = gg_emit_bit(e, arg);
            gg_spirv_store(s, input, gg_spirv_select(s, bit, one, zero));
        } else if (phi->class == GG_IR_M) {
            for (uint32_t w = 0; w < e->words; w++) {
                uint32_t index = gg_spirv_const(s, w), word = gg_emit_mask_word(e, arg, w);
                gg_spirv_store(s, gg_emit_element(e, input, index), word);
            }
        } else {
            lanes++;
            if (e->ir->values[arg].class != GG_IR_V)
                gg_emit_word(e, arg); /* before the loop begins */
        }
    }
    if (!lanes)
        return;
    struct gg_spirv_for loop;
    e->lane = gg_spirv_begin_for(s, &loop, zero, k, one);
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        const struct gg_ir_value *phi = &e->ir->values[block->values[i]];
        if (phi->class != GG_IR_V)
            continue;
        uint32_t word = gg_emit_lane_word(e, e->ir->phi_args[phi->arg[0] + which]);
        gg_spirv_store(s, gg_emit_element(e, e->phi_input[block->values[i]], e->lane), word);
    }
    gg_spirv_end_for(s, &loop);
    e->lane = 0;
}

static void end_block(struct gg_emit *e, uint32_t b)
{
    const struct gg_ir_block *block = &e->ir->blocks[b];
    struct gg_spirv *s = &e->s;
    for (int i = 0; i < 2; i++)
        if (block->succ[i] != GG_NO_BLOCK && (i == 0 || block->succ[1] != block->succ[0]))
            pass_to_phis(e, b, block->succ[i]);
    uint32_t exit = gg_spirv_const(s, e->ir->block_count), next[2];
    for (int i = 0; i < 2; i++)
        next[i] = block->succ[i] == GG_NO_BLOCK ? exit : gg_spirv_const(s, block->succ[i]);
    uint32_t to = next[0];
    if (block->end == GG_IR_BRANCH)
        to = gg_spirv_select(s, gg_emit_bit(e, block->condition), next[0], next[1]);
    else if (block->end == GG_IR_JUMP && block->succ[0] == GG_NO_BLOCK)
        to = next[1];
    gg_spirv_store(s, e->pc, to);
    if (block->end == GG_IR_BARRIER && e->parked)
        gg_spirv_store(s, e->parked, gg_spirv_const(s, 1));
}

/* while (pc is no exit and not parked) switch (pc) { … } */
static void dispatch_loop(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t n = e->ir->block_count, u32 = gg_spirv_u32(s), exit = gg_spirv_const(s, n), zero = gg_spirv_const(s, 0);
    struct gg_spirv_while loop;
    gg_spirv_begin_while(s, &loop);
    uint32_t at = gg_spirv_load(s, u32, e->pc);
    uint32_t running = gg_spirv_less(s, at, exit);
    if (e->parked) {
        uint32_t parked = gg_spirv_load(s, u32, e->parked),
                 free_to_run = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, parked, zero);
        running = gg_spirv_op(s, SpvOpLogicalAnd, gg_spirv_bool(s), 2, running, free_to_run);
    }
    gg_spirv_while_body(s, &loop, running);
    struct gg_spirv_switch cases;
    gg_spirv_begin_switch(s, &cases, at, n);
    for (uint32_t b = 0; b < n; b++) {
        gg_spirv_case(s, &cases, b);
        gg_emit_block(e, b);
        end_block(e, b);
    }
    gg_spirv_end_switch(s, &cases);
    gg_spirv_end_while(s, &loop);
}

static bool has_barrier(const struct gg_ir *ir)
{
    for (uint32_t b = 0; b < ir->block_count; b++)
        if (ir->blocks[b].end == GG_IR_BARRIER)
            return true;
    return false;
}

/* s_barrier orders buffer memory as well. */
static void meet(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t workgroup = gg_spirv_const(s, SpvScopeWorkgroup);
    uint32_t semantics =
        gg_spirv_const(s, SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask |
                              SpvMemorySemanticsUniformMemoryMask);
    gg_spirv_do(s, SpvOpControlBarrier, 3, workgroup, workgroup, semantics);
}

/* Two slots, tagged with the phase: one is written before the phase's barrier and read behind it. */
static void phases(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1), two = gg_spirv_const(s, 2);
    uint32_t array = gg_spirv_array(s, u32, 2), slots = gg_spirv_global(s, SpvStorageClassWorkgroup, array, "alive");
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassWorkgroup, u32), boolean = gg_spirv_bool(s);
    uint32_t phase = gg_spirv_local(s, u32, "phase"), alive = gg_spirv_local(s, u32, "some_alive");
    uint32_t scope = gg_spirv_const(s, SpvScopeWorkgroup), relaxed = gg_spirv_const(s, SpvMemorySemanticsMaskNone);
    struct gg_spirv_if first;
    gg_spirv_begin_if(s, &first, gg_spirv_op(s, SpvOpIEqual, boolean, 2, e->wave, zero));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t slot = gg_spirv_op(s, SpvOpAccessChain, pointer, 2, slots, i ? one : zero);
        gg_spirv_do(s, SpvOpAtomicStore, 4, slot, scope, relaxed, zero);
    }
    gg_spirv_end_if(s, &first);
    meet(e);
    gg_spirv_store(s, phase, one);
    gg_spirv_store(s, alive, one);
    struct gg_spirv_while loop;
    gg_spirv_begin_while(s, &loop);
    uint32_t some = gg_spirv_op(s, SpvOpINotEqual, boolean, 2, gg_spirv_load(s, u32, alive), zero);
    gg_spirv_while_body(s, &loop, some);
    gg_spirv_store(s, e->parked, zero);
    dispatch_loop(e);
    uint32_t number = gg_spirv_load(s, u32, phase);
    uint32_t slot = gg_spirv_op(s, SpvOpAccessChain, pointer, 2, slots, gg_spirv_op(s, SpvOpUMod, u32, 2, number, two));
    uint32_t parked = gg_spirv_op(s, SpvOpINotEqual, boolean, 2, gg_spirv_load(s, u32, e->parked), zero);
    struct gg_spirv_if vote;
    gg_spirv_begin_if(s, &vote, parked);
    gg_spirv_do(s, SpvOpAtomicStore, 4, slot, scope, relaxed, number);
    gg_spirv_end_if(s, &vote);
    meet(e);
    uint32_t seen = gg_spirv_op(s, SpvOpAtomicLoad, u32, 3, slot, scope, relaxed);
    uint32_t tagged = gg_spirv_op(s, SpvOpIEqual, boolean, 2, seen, number);
    gg_spirv_store(s, alive, gg_spirv_select(s, tagged, one, zero));
    gg_spirv_store(s, phase, gg_spirv_add(s, number, one));
    gg_spirv_end_while(s, &loop);
}

void gg_emit_flow(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    bool waves_meet = e->waves > 1 && has_barrier(e->ir);
    e->pc = gg_spirv_local(s, gg_spirv_u32(s), "pc");
    gg_spirv_store(s, e->pc, gg_spirv_const(s, e->ir->entry));
    if (waves_meet) {
        e->parked = gg_spirv_local(s, gg_spirv_u32(s), "parked");
        phases(e);
    } else {
        dispatch_loop(e);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Control flow as a dispatch loop: a switch over the number of the block that comes next. Where the waves of a
 * group meet at barriers there are two ways.
 *
 * Phases: every invocation runs until it is parked at some s_barrier or has ended, then all meet at one control
 * barrier, and so on while any is alive. Arrivals are counted, places are not, and an ended wave no longer counts:
 * that is what the ISA means.
 *
 * Runs, the published rule: blocks in the order of their addresses, cut behind each s_barrier. A dispatch loop for
 * each run, a control barrier between two of them, so that every invocation passes each once. Only for programs
 * that leave a run at its s_barrier or for good (translate.c refuses others).
 */
#include "emit.h"

/* Names of the places to go to: cases of the switch, and the run that holds it. */
struct flow {
    struct gg_emit *e;
    uint32_t *number; /* of each block: its case */
    uint32_t run_variable;
};

static uint32_t case_of(const struct flow *f, uint32_t block)
{
    return block == GG_NO_BLOCK ? f->e->ir->block_count : f->number[block];
}

static uint32_t run_of(const struct flow *f, uint32_t block)
{
    return block == GG_NO_BLOCK ? f->e->form->runs : f->e->form->run_of[block];
}

static void end_block(const struct flow *f, uint32_t b)
{
    struct gg_emit *e = f->e;
    const struct gg_ir_block *block = &e->ir->blocks[b];
    struct gg_spirv *s = &e->s;
    for (int i = 0; i < 2; i++)
        if (block->succ[i] != GG_NO_BLOCK && (i == 0 || block->succ[1] != block->succ[0]))
            gg_emit_pass_to_phis(e, b, block->succ[i]);
    uint32_t only = block->succ[block->end == GG_IR_JUMP && block->succ[0] == GG_NO_BLOCK];
    if (block->end == GG_IR_BRANCH) {
        uint32_t bit = gg_emit_bit(e, block->condition);
        uint32_t yes = gg_spirv_const(s, case_of(f, block->succ[0])),
                 no = gg_spirv_const(s, case_of(f, block->succ[1]));
        gg_spirv_store(s, e->pc, gg_spirv_select(s, bit, yes, no));
        if (f->run_variable) {
            yes = gg_spirv_const(s, run_of(f, block->succ[0]));
            no = gg_spirv_const(s, run_of(f, block->succ[1]));
            gg_spirv_store(s, f->run_variable, gg_spirv_select(s, bit, yes, no));
        }
    } else {
        gg_spirv_store(s, e->pc, gg_spirv_const(s, case_of(f, only)));
        if (f->run_variable)
            gg_spirv_store(s, f->run_variable, gg_spirv_const(s, run_of(f, only)));
    }
    if (block->end != GG_IR_BARRIER)
        return;
    if (e->parked)
        gg_spirv_store(s, e->parked, gg_spirv_const(s, 1));
    else if (e->form->barriers == GG_EMIT_NO_BARRIERS)
        gg_emit_wave_barrier(e);
}

/* The code of the blocks of a run, of all blocks without runs. */
static void cases(const struct flow *f, uint32_t selector, uint32_t run)
{
    struct gg_emit *e = f->e;
    struct gg_spirv *s = &e->s;
    uint32_t count = 0;
    for (uint32_t b = 0; b < e->ir->block_count; b++)
        count += !f->run_variable || run_of(f, b) == run;
    struct gg_spirv_switch block;
    gg_spirv_begin_switch(s, &block, selector, count);
    for (uint32_t b = 0; b < e->ir->block_count; b++) {
        if (f->run_variable && run_of(f, b) != run)
            continue;
        gg_spirv_case(s, &block, f->number[b]);
        gg_emit_block(e, b);
        end_block(f, b);
    }
    gg_spirv_end_switch(s, &block);
}

/* while (pc is no exit and not parked) switch (pc) { … }, or while it is in the run */
static void dispatch_loop(const struct flow *f, uint32_t run)
{
    struct gg_emit *e = f->e;
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), zero = gg_spirv_const(s, 0), running;
    uint32_t exit = gg_spirv_const(s, e->ir->block_count);
    struct gg_spirv_while loop;
    gg_spirv_begin_while(s, &loop);
    uint32_t at = gg_spirv_load(s, u32, e->pc);
    if (f->run_variable) {
        uint32_t this_run = gg_spirv_const(s, run), now = gg_spirv_load(s, u32, f->run_variable);
        running = gg_spirv_op(s, SpvOpIEqual, boolean, 2, now, this_run);
    } else {
        running = gg_spirv_less(s, at, exit);
    }
    if (e->parked) {
        uint32_t parked = gg_spirv_load(s, u32, e->parked),
                 free_to_run = gg_spirv_op(s, SpvOpIEqual, boolean, 2, parked, zero);
        running = gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, running, free_to_run);
    }
    gg_spirv_while_body(s, &loop, running);
    cases(f, at, run);
    gg_spirv_end_while(s, &loop);
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
static void phases(const struct flow *f)
{
    struct gg_emit *e = f->e;
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
    dispatch_loop(f, 0);
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
    const struct gg_emit_form *form = e->form;
    struct flow f = {.e = e, .number = gg_arena_alloc(e->arena, e->ir->block_count, sizeof *f.number)};
    uint32_t *used = gg_arena_alloc(e->arena, form->runs ? form->runs : 1, sizeof *used);
    if (!f.number || !used) {
        s->failed = true; /* gg_spirv_finish() says it */
        return;
    }
    for (uint32_t b = 0; b < e->ir->block_count; b++)
        f.number[b] = used[form->barriers == GG_EMIT_RUNS ? form->run_of[b] : 0]++;
    e->pc = gg_spirv_local(s, gg_spirv_u32(s), "pc");
    gg_spirv_store(s, e->pc, gg_spirv_const(s, f.number[e->ir->entry]));
    if (form->barriers == GG_EMIT_PHASES) {
        e->parked = gg_spirv_local(s, gg_spirv_u32(s), "parked");
        phases(&f);
    } else if (form->barriers == GG_EMIT_RUNS) {
        f.run_variable = gg_spirv_local(s, gg_spirv_u32(s), "run");
        gg_spirv_store(s, f.run_variable, gg_spirv_const(s, form->run_of[e->ir->entry]));
        for (uint32_t run = 0; run < form->runs; run++) {
            if (run)
                meet(e);
            dispatch_loop(&f, run);
        }
    } else {
        dispatch_loop(&f, 0);
    }
}

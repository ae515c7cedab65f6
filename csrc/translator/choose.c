/* SPDX-License-Identifier: MIT */
#include "choose.h"

#include "message.h"

#include <stdlib.h>

static uint32_t threads_of(const struct gg_guest_program *program)
{
    uint32_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= program->threads[i] ? program->threads[i] : 1;
    return threads;
}

uint32_t gg_waves_of(const struct gg_guest_program *program)
{
    uint32_t wave = program->target.wave ? program->target.wave : 32;
    return (threads_of(program) + wave - 1) / wave;
}

/* ---- lanes ---- */

/*
 * May the lanes of a wave be spread over invocations that know nothing of each other? Not if something crosses
 * lanes, a branch on EXEC included. In a group of one wave compilers drop barriers, since a wave does one
 * instruction after the other: there what lanes store must not be loaded.
 */
static int32_t check_split(const struct gg_ir *ir, bool one_wave, char **message)
{
    const struct gg_ir_value *load[2] = {0}, *store[2] = {0};
    for (uint32_t b = 0; b < ir->block_count; b++)
        for (uint32_t i = 0; i < ir->blocks[b].count; i++) {
            const struct gg_ir_value *v = &ir->values[ir->blocks[b].values[i]];
            uint8_t flags = gg_ir_ops[v->op].flags;
            bool lds = flags & GG_IRF_LDS;
            if (flags & GG_IRF_CROSSES_LANES)
                return gg_fail(message, GG_ERR_ARGUMENT,
                               "offset 0x%x: 1 lane an invocation: %s needs the lanes of a wave in one subgroup",
                               v->offset, gg_ir_ops[v->op].name);
            if (flags & GG_IRF_LOADS && v->op != GG_IR_load_word && v->op != GG_IR_load_word_if)
                load[lds] = v;
            if (flags & GG_IRF_STORES)
                store[lds] = v;
        }
    for (int lds = 0; one_wave && lds < 2; lds++)
        if (load[lds] && store[lds])
            return gg_fail(message, GG_ERR_ARGUMENT,
                           "offset 0x%x: 1 lane an invocation: a group of one wave loads at 0x%x what its lanes may "
                           "have stored, without a barrier",
                           store[lds]->offset, load[lds]->offset);
    return GG_OK;
}

static int32_t choose_lanes(const struct gg_ir *ir, const struct gg_guest_program *program,
                            const struct gg_translate_options *options, struct gg_emit_form *form, char **message)
{
    uint32_t wave = ir->wave, subgroup = options->subgroup;
    bool fits = subgroup && subgroup <= wave && (subgroup & (subgroup - 1)) == 0;
    uint32_t lanes = options->lanes ? options->lanes : fits ? wave / subgroup : wave;
    *form = (struct gg_emit_form){.shared_code = options->shared_code != 0,
                                  .lanes = lanes,
                                  .subgroup = 1,
                                  .local_registers = options->local_registers != 0,
                                  .lockstep = options->lockstep != 0,
                                  .reconverge = options->reconverge,
                                  .float_controls = options->float_controls};
    if (options->subgroup & (options->subgroup - 1))
        return gg_fail(message, GG_ERR_ARGUMENT, "translation: subgroups of %u, must be a power of two", subgroup);
    if (lanes == wave)
        return GG_OK;
    if (fits && lanes == wave / subgroup) {
        form->subgroup = subgroup;
        return GG_OK;
    }
    if (lanes != 1)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "translation: %u lanes an invocation; with waves of %u and subgroups of %u, %u%s%u are possible",
                       lanes, wave, subgroup, wave, fits ? ", " : " and ", fits ? wave / subgroup : 1);
    form->split_waves = true;
    return check_split(ir, gg_waves_of(program) == 1, message);
}

/* ---- runs ---- */

static const struct gg_inst *last_inst(const struct gg_cfg *cfg, uint32_t block)
{
    const struct gg_block *b = &cfg->blocks[block];
    return &cfg->insts[b->first + b->count - 1];
}

/* Where the run ends: the barrier of its last block. */
static uint32_t barrier_offset(const struct gg_ir *ir, const struct gg_cfg *cfg, uint32_t run)
{
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (ir->blocks[b].end == GG_IR_BARRIER && run-- == 0)
            return last_inst(cfg, b)->offset;
    return 0;
}

static int32_t check_edge(const struct gg_ir *ir, const struct gg_cfg *cfg, const uint32_t *run_of, uint32_t from,
                          uint32_t to, char **message)
{
    if (to == GG_NO_BLOCK || run_of[from] == run_of[to])
        return GG_OK;
    if (ir->blocks[from].end == GG_IR_BARRIER && run_of[to] == run_of[from] + 1)
        return GG_OK;
    uint32_t lower = run_of[from] < run_of[to] ? run_of[from] : run_of[to];
    const struct gg_inst *branch = last_inst(cfg, from);
    return gg_fail(message, GG_ERR_UNSUPPORTED,
                   "offset 0x%x: branch_between_runs: %s leads %s to 0x%x, over the s_barrier at 0x%x (strict)",
                   branch->offset, gg_inst_info(branch)->name, run_of[from] < run_of[to] ? "on" : "back",
                   cfg->insts[cfg->blocks[to].first].offset, barrier_offset(ir, cfg, lower));
}

/* Blocks in the order of their addresses, cut behind each s_barrier. */
static int32_t cut_runs(const struct gg_ir *ir, const struct gg_cfg *cfg, struct gg_arena *arena,
                        struct gg_emit_form *form, char **message)
{
    uint32_t *run_of = gg_arena_alloc(arena, ir->block_count, sizeof *run_of);
    if (!run_of)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        if (!cfg->blocks[b].count) /* blocks without an address are made for jumps through registers */
            return gg_fail(message, GG_ERR_UNSUPPORTED,
                           "run cut: a program with jumps through registers has no order of runs (strict)");
        run_of[b] = form->runs;
        form->runs += ir->blocks[b].end == GG_IR_BARRIER;
    }
    form->runs++;
    run_of[ir->entry] = run_of[cfg->entry];
    form->run_of = run_of;
    int32_t result = GG_OK;
    for (uint32_t b = 0; !result && b < cfg->block_count; b++)
        for (int i = 0; !result && i < 2; i++)
            result = check_edge(ir, cfg, run_of, b, ir->blocks[b].succ[i], message);
    return result;
}

int32_t gg_choose_form(const struct gg_ir *ir, const struct gg_cfg *cfg, struct gg_arena *arena,
                       const struct gg_guest_program *program, const struct gg_translate_options *options,
                       struct gg_emit_form *form, char **message)
{
    int32_t result = choose_lanes(ir, program, options, form, message);
    if (result)
        return result;
    bool barrier = false;
    for (uint32_t b = 0; b < ir->block_count; b++)
        barrier |= ir->blocks[b].end == GG_IR_BARRIER;
    bool several = gg_waves_of(program) > 1;
    if (!barrier || !(several || form->split_waves || options->barriers == GG_BARRIERS_PHASE))
        return GG_OK;
    if (options->barriers != GG_BARRIERS_STRICT) {
        form->barriers = GG_EMIT_PHASES;
        return GG_OK;
    }
    if (form->split_waves)
        return gg_fail(message, GG_ERR_UNSUPPORTED,
                       "group_meets: 1 lane an invocation, and the group waits at an s_barrier (strict)");
    form->barriers = GG_EMIT_RUNS;
    return cut_runs(ir, cfg, arena, form, message);
}

/* ---- why ---- */

static const char *barrier_reason(const struct gg_translate_options *options, const struct gg_emit_form *form)
{
    if (form->barriers == GG_EMIT_NO_BARRIERS)
        return "the group is one wave, which waits for nobody";
    if (options->barriers == GG_BARRIERS_STRICT)
        return "asked for; no branch leads from one run into another";
    return options->barriers == GG_BARRIERS_PHASE ? "asked for" : "waves may meet at different barriers";
}

bool gg_choose_explain(const struct gg_cfg *cfg, const struct gg_translate_options *options,
                       const struct gg_emit_form *form, struct gg_translate_report *report)
{
    static const char *const barriers[] = {"one wave", "phase", "run cut"};
    struct gg_translate_decision *list = malloc((1 + cfg->loop_count + report->barriers) * sizeof *list);
    if (!list)
        return false;
    uint32_t count = 0;
    bool wave = form->subgroup == 1 && !form->split_waves;
    const char *why = options->lanes ? "asked for"
                      : wave         ? "no subgroup that the wave is a multiple of was given"
                                     : "the device can require full subgroups of that size";
    const char *lanes = wave ? "wave" : form->split_waves ? "lane" : "subgroup";
    list[count++] = (struct gg_translate_decision){.subject = GG_SUBJECT_LANES, .choice = lanes, .reason = why};
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        const struct gg_block *header = &cfg->blocks[cfg->loops[l].header];
        list[count++] = (struct gg_translate_decision){
            .subject = GG_SUBJECT_LOOP,
            .offset = header->count ? cfg->insts[header->first].offset : 0,
            .choice = "dispatch",
            .reason = options->flow == GG_FLOW_DISPATCH ? "asked for" : "the only form so far"};
    }
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct gg_block *block = &cfg->blocks[b];
        if (!block->count || !(gg_inst_info(last_inst(cfg, b))->flags & GG_OPF_BARRIER))
            continue;
        list[count++] = (struct gg_translate_decision){.subject = GG_SUBJECT_BARRIER,
                                                       .offset = last_inst(cfg, b)->offset,
                                                       .choice = barriers[form->barriers],
                                                       .reason = barrier_reason(options, form)};
    }
    report->decisions = list;
    report->decision_count = count;
    return true;
}

/* SPDX-License-Identifier: MIT */
/* The way of a program through the translator, from top to bottom. */
#include "choose.h"
#include "lift.h"

#include "message.h"

#include <stdlib.h>

struct translation {
    struct gg_arena arena;
    struct gg_cfg cfg;
    struct gg_ir ir;
    struct gg_emit_form form;
};

/* Everything before code is emitted. */
static int32_t analyse(struct translation *t, const struct gg_guest_program *program, char **message)
{
    /* Blocks first: what cannot be reached is never decoded, and constants stand behind the code. */
    int32_t result = gg_cfg_build(&t->cfg, &t->arena, program, message);
    /* Registers become values while instructions are lifted; phis that choose nothing go at the end. */
    if (!result)
        result = gg_lift_program(&t->ir, &t->arena, &t->cfg, program, message);
    if (!result)
        result = gg_ir_align(&t->ir, message);
#ifndef NDEBUG
    if (!result)
        result = gg_ir_validate(&t->ir, "lift", message);
#endif
    return result;
}

static int32_t check_program(const struct gg_guest_program *program, char **message)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= program->threads[i] ? program->threads[i] : 1;
    if (threads > 1024)
        return gg_fail(message, GG_ERR_LIMIT, "program: %llu threads in a workgroup, the most is 1024",
                       (unsigned long long)threads);
    if (program->lds_bytes > 65536)
        return gg_fail(message, GG_ERR_LIMIT, "program: %u bytes of LDS, the most is 65536", program->lds_bytes);
    if (program->target.wave && program->target.wave != 32 && program->target.wave != 64)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: waves of %u lanes, must be 32 or 64", program->target.wave);
    return GG_OK;
}

static int32_t check_options(const struct gg_translate_options *options, char **message)
{
    if (options->flow > GG_FLOW_DISPATCH)
        return gg_fail(message, GG_ERR_ARGUMENT, "translation: no such flow: %u", options->flow);
    if (options->barriers > GG_BARRIERS_PHASE)
        return gg_fail(message, GG_ERR_ARGUMENT, "translation: no such barriers: %u", options->barriers);
    if (options->reconverge > GG_RECONVERGE_MAXIMAL)
        return gg_fail(message, GG_ERR_ARGUMENT, "translation: no such reconvergence: %u", options->reconverge);
    return GG_OK;
}

/* A module begins with what it needs of a device. */
static uint32_t features_of(const uint32_t *words, uint64_t count)
{
    static const struct {
        SpvCapability capability;
        uint32_t feature;
    } known[] = {
        {SpvCapabilityFloat64, GG_FEATURE_FLOAT64},
        {SpvCapabilityGroupNonUniformVote, GG_FEATURE_SUBGROUP_VOTE},
        {SpvCapabilityGroupNonUniformBallot, GG_FEATURE_SUBGROUP_BALLOT},
        {SpvCapabilityGroupNonUniformShuffle, GG_FEATURE_SUBGROUP_SHUFFLE},
        {SpvCapabilityInt64, GG_FEATURE_INT64},
        {SpvCapabilityInt64Atomics, GG_FEATURE_INT64_ATOMICS},
    };
    uint32_t features = 0;
    for (uint64_t at = 5; at + 1 < count && (words[at] & SpvOpCodeMask) == SpvOpCapability; at += 2)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            features |= words[at + 1] == (uint32_t)known[i].capability ? known[i].feature : 0;
    return features;
}

static void fill_report(const struct translation *t, const struct gg_guest_program *program,
                        struct gg_translate_report *report)
{
    const struct gg_emit_form *form = &t->form;
    bool flat = form->lanes < t->ir.wave;
    uint32_t invocations = form->split_waves ? t->ir.wave : form->subgroup;
    *report = (struct gg_translate_report){.instructions = t->cfg.inst_count,
                                           .blocks = t->cfg.block_count,
                                           .loops = t->cfg.loop_count,
                                           .phases = form->barriers == GG_EMIT_PHASES,
                                           .lanes = form->lanes,
                                           .subgroup = flat && !form->split_waves ? form->subgroup : 0,
                                           .invocations = gg_waves_of(program) * invocations,
                                           .lds_words = program->lds_bytes / 4,
                                           .groups_at_once = program->scratch_bytes ? 1 : 0,
                                           .reconverge = flat ? form->reconverge : 0};
    for (uint32_t l = 0; l < t->cfg.loop_count; l++)
        report->irreducible_loops += t->cfg.loops[l].irreducible;
    for (uint32_t b = 0; b < t->ir.block_count; b++) {
        report->barriers += t->ir.blocks[b].end == GG_IR_BARRIER;
        report->values += t->ir.blocks[b].count;
    }
}

int32_t gg_translator_translate(const struct gg_guest_program *program, const struct gg_translate_options *options,
                                uint32_t **words, uint64_t *word_count, struct gg_translate_report *report,
                                char **message)
{
    struct translation t = {0};
    struct gg_translate_report found;
    uint32_t *made = NULL;
    uint64_t count = 0;
    uint32_t register_words = 0;
    int32_t result = check_program(program, message);
    if (!result)
        result = check_options(options, message);
    if (!result)
        result = analyse(&t, program, message);
    if (!result)
        result = gg_choose_form(&t.ir, &t.cfg, &t.arena, program, options, &t.form, message);
    if (!result)
        result = gg_emit_module(&t.ir, &t.arena, program, &t.form, &made, &count, &register_words, message);
    if (!result) {
        fill_report(&t, program, &found);
        found.features = features_of(made, count);
        found.register_words = register_words;
        if (!gg_choose_explain(&t.cfg, options, &t.form, &found))
            result = gg_fail(message, GG_ERR_MEMORY, "translation: out of memory for its report");
    }
    gg_arena_finish(&t.arena);
    if (result) {
        gg_free(made);
        return result;
    }
    *words = made;
    *word_count = count;
    *report = found;
    return GG_OK;
}

int32_t gg_translator_ir(const struct gg_guest_program *program, char **text, char **message)
{
    struct translation t = {0};
    int32_t result = check_program(program, message);
    if (!result)
        result = analyse(&t, program, message);
    char *printed = result ? NULL : gg_ir_print(&t.ir);
    gg_arena_finish(&t.arena);
    if (!result && !printed)
        return gg_fail(message, GG_ERR_MEMORY, "IR: out of memory for its text");
    if (!result)
        *text = printed;
    return result ? result : gg_succeed(message);
}

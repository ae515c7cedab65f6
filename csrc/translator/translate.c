/* SPDX-License-Identifier: MIT */
/* The way of a program through the translator, from top to bottom. */
#include "emit.h"
#include "lift.h"

#include "message.h"

#include <stdlib.h>

struct translation {
    struct gg_arena arena;
    struct gg_cfg cfg;
    struct gg_ir ir;
};

/* Everything before code is emitted. */
static int32_t analyse(struct translation *t, const struct gg_guest_program *program, char **message)
{
    /* Blocks first: what cannot be reached is never decoded, and constants stand behind the code. */
    int32_t result = gg_cfg_build(&t->cfg, &t->arena, program, message);
    /* Registers become values while instructions are lifted; phis that choose nothing go at the end. */
    if (!result)
        result = gg_lift_program(&t->ir, &t->arena, &t->cfg, program, message);
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

static void fill_report(const struct translation *t, const struct gg_guest_program *program,
                        struct gg_translate_report *report)
{
    uint32_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= program->threads[i] ? program->threads[i] : 1;
    *report = (struct gg_translate_report){.instructions = t->cfg.inst_count,
                                           .blocks = t->cfg.block_count,
                                           .loops = t->cfg.loop_count,
                                           .lanes = t->ir.wave,
                                           .invocations = (threads + t->ir.wave - 1) / t->ir.wave,
                                           .lds_words = program->lds_bytes / 4};
    for (uint32_t l = 0; l < t->cfg.loop_count; l++)
        report->irreducible_loops += t->cfg.loops[l].irreducible;
    for (uint32_t b = 0; b < t->ir.block_count; b++) {
        report->barriers += t->ir.blocks[b].end == GG_IR_BARRIER;
        report->values += t->ir.blocks[b].count;
    }
    report->phases = report->barriers && report->invocations > 1;
}

int32_t gg_translator_translate(const struct gg_guest_program *program, const struct gg_translate_options *options,
                                uint32_t **words, uint64_t *word_count, struct gg_translate_report *report,
                                char **message)
{
    struct translation t = {0};
    uint32_t wave = program->target.wave ? program->target.wave : 32;
    int32_t result = check_program(program, message);
    if (!result && options->lanes && options->lanes != wave)
        result = gg_fail(message, GG_ERR_UNSUPPORTED, "translation: %u lanes an invocation; the wave's %u are possible",
                         options->lanes, wave);
    if (!result)
        result = analyse(&t, program, message);
    if (!result)
        result = gg_emit_module(&t.ir, &t.arena, program, words, word_count, message);
    if (!result)
        fill_report(&t, program, report);
    gg_arena_finish(&t.arena);
    return result;
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

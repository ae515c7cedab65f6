/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_CHOOSE_H
#define GG_TRANSLATOR_CHOOSE_H

/* Which form a program's module takes: lanes an invocation, and how its waves meet; and why. */
#include "emit.h"

#include <guestgpu/translator.h>

/*
 * *form, its arrays in the arena. GG_ERR_ARGUMENT: lanes that do not fit the wave, the subgroup or the program;
 * GG_ERR_UNSUPPORTED: what `strict` refuses, with the rule's name and the offsets of branch and barrier.
 */
int32_t gg_choose_form(const struct gg_ir *ir, const struct gg_cfg *cfg, struct gg_arena *arena,
                       const struct gg_guest_program *program, const struct gg_translate_options *options,
                       struct gg_emit_form *form, char **message);

/* The report's list, to be freed; false when memory runs out. */
bool gg_choose_explain(const struct gg_cfg *cfg, const struct gg_translate_options *options,
                       const struct gg_emit_form *form, struct gg_translate_report *report);

uint32_t gg_waves_of(const struct gg_guest_program *program);

#endif

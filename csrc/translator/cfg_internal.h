/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_CFG_INTERNAL_H
#define GG_TRANSLATOR_CFG_INTERNAL_H

#include "cfg.h"

/* Fills in reverse postorder, dominators and the loop forest of a graph whose blocks and edges stand (dominators.c). */
int32_t gg_cfg_analyse(struct gg_cfg *cfg, struct gg_arena *arena, char **message);

#endif

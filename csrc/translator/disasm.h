/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_DISASM_H
#define GG_TRANSLATOR_DISASM_H

#include "decode.h"

#define GG_DISASM_MAX 256 /* characters of an instruction's text, with the terminating zero */

/* The instruction as LLVM 19 writes it, without the tab in front: "v_add_f32_e32 v1, v2, v3". */
void gg_disasm(const struct gg_guest_target *target, const struct gg_inst *inst, char text[GG_DISASM_MAX]);

#endif

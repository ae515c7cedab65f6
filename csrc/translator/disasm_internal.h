/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_DISASM_INTERNAL_H
#define GG_TRANSLATOR_DISASM_INTERNAL_H

/* What the parts of the disassembler share: disasm.c (operands), disasm_format.c (the formats). */
#include "disasm.h"

struct gg_text {
    char *data; /* GG_DISASM_MAX characters */
    size_t length;
    uint32_t items; /* operands so far */
};

void gg_text_add(struct gg_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What separates the next operand from what is there. */
void gg_text_item(struct gg_text *t);
void gg_text_operand(struct gg_text *t, const struct gg_operand *o); /* NONE as "off" */
void gg_text_next(struct gg_text *t, const struct gg_operand *o);    /* with its separator; nothing where NONE */

/* Operands and modifiers by format; the mnemonic is there. */
void gg_text_control(struct gg_text *t, bool gfx1013, const struct gg_inst *inst); /* SOPK, SOPP */
void gg_text_vector(struct gg_text *t, const struct gg_inst *inst);
void gg_text_memory(struct gg_text *t, const struct gg_inst *inst); /* the rest: SMEM, DS, buffers, images, EXP */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Any words, decoded at every offset and written as text. What is decoded must have registers that exist, fit
 * into the words that it says it has, and need all of them; what is not must say where in one line.
 */
#include "input.h"
#include "translator/disasm.h"

#include <guestgpu/translator.h>
#include <string.h>

static void look_at_operand(const struct gg_operand *o)
{
    MUST(o->kind < GG_OPERAND_KIND_COUNT && o->type < GG_TYPE_COUNT);
    if (o->kind == GG_OPERAND_SGPR)
        MUST(o->value + (o->value == GG_SGPR_NULL ? 1u : o->width) <= GG_SGPR_FILE && o->width);
    if (o->kind == GG_OPERAND_VGPR)
        MUST(o->value + o->width <= 256 && o->width);
    gg_operand_constant(o);
}

static void look_at_inst(const struct gg_guest_target *target, const struct gg_inst *inst)
{
    char text[GG_DISASM_MAX];
    MUST(inst->op > GG_OP_invalid && inst->op < GG_OP_COUNT && inst->format < GG_FORMAT_COUNT);
    for (int i = 0; i < GG_OP_DSTS; i++) {
        look_at_operand(&inst->dst[i]);
        MUST(inst->dst[i].kind <= GG_OPERAND_VGPR);
    }
    for (int i = 0; i < GG_OP_SRCS; i++)
        if (!inst->nsa || i) /* separate registers have no range */
            look_at_operand(&inst->src[i]);
    gg_disasm(target, inst, text);
    size_t length = strlen(text);
    MUST(length > 4 && length < GG_DISASM_MAX - 1);
    for (size_t i = 0; i < length; i++)
        MUST(text[i] >= ' ' && text[i] <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    const struct gg_guest_target target = {data[0] & 1, data[0] & 2 ? 64 : 32};
    uint64_t count = (size - 1) / 4;
    uint32_t *words = malloc(4 * count); /* of exactly this size: the sanitizer sees what is read beyond */
    if (!words)
        return 0;
    memcpy(words, data + 1, 4 * count);
    for (uint64_t at = 0; at < count; at++) {
        struct gg_inst inst, shorter;
        char *message = NULL;
        int32_t result = gg_decode(&target, words, count, at, &inst, &message);
        MUST((result == GG_OK) == !message);
        MUST(result == GG_OK || result == GG_ERR_FORMAT || result == GG_ERR_UNSUPPORTED);
        MUST(result == GG_OK || (strstr(message, "offset 0x") && !strchr(message, '\n')));
        gg_free(message);
        if (result != GG_OK)
            continue;
        MUST(inst.words >= 1 && inst.words <= 5 && at + inst.words <= count && inst.offset == 4 * at);
        look_at_inst(&target, &inst);
        MUST(gg_decode(&target, words, at + inst.words, at, &shorter, NULL) == GG_OK);
        MUST(!memcmp(&inst, &shorter, sizeof inst));
        MUST(gg_decode(&target, words, at + inst.words - 1, at, &shorter, NULL) == GG_ERR_FORMAT);
    }
    char *text = NULL;
    int32_t all = gg_translator_disassemble(&target, words, count, &text, NULL);
    MUST((all == GG_OK) == (text != NULL));
    MUST(gg_translator_decode(&target, words, count, NULL, NULL) == all);
    gg_free(text);
    free(words);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The public view of decoding: counting and the opcode table. */
#include "decode.h"

#include "message.h"

#include <stdio.h>

int32_t gg_translator_decode(const struct gg_guest_target *target, const uint32_t *words, uint64_t word_count,
                             uint64_t *instruction_count, char **message)
{
    gg_succeed(message);
    if (!words && word_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "decode: words is NULL");
    uint64_t count = 0;
    for (uint64_t at = 0; at < word_count; count++) {
        struct gg_inst inst;
        int32_t result = gg_decode(target, words, word_count, at, &inst, message);
        if (result != GG_OK)
            return result;
        at += inst.words;
    }
    if (instruction_count)
        *instruction_count = count;
    return GG_OK;
}

uint32_t gg_translator_opcode_count(void) { return GG_OP_COUNT - 1; }

int32_t gg_translator_opcode(uint32_t index, struct gg_opcode *opcode, char **message)
{
    gg_succeed(message);
    if (!opcode || index >= GG_OP_COUNT - 1)
        return gg_fail(message, GG_ERR_ARGUMENT, opcode ? "opcode %u: there are %u" : "opcode %u of %u: no struct",
                       index, GG_OP_COUNT - 1);
    const struct gg_op_info *info = &gg_op_infos[index + 1];
    *opcode = (struct gg_opcode){.code = info->code, .flags = info->flags, .only = info->target};
    snprintf(opcode->name, sizeof opcode->name, "%s", info->name);
    snprintf(opcode->format, sizeof opcode->format, "%s", gg_format_name(info->format));
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * Any words, translated: it ends with a module or with one line that says where it stopped, it reads no word
 * beyond the program, and the same program gives the same bytes.
 *
 * Bytes: flags (target, wave, LDS, scratch; upper half: the form), threads / 4, then the program.
 */
#include "input.h"

#include <guestgpu/translator.h>
#include <string.h>

static int32_t translate(const struct gg_guest_program *program, uint32_t form, uint32_t **words, uint64_t *count)
{
    const struct gg_translate_options options = {.barriers = form % 3,
                                                 .subgroup = form & 4 ? 8 : 0,
                                                 .lanes = form & 8 ? 1 : 0,
                                                 .shared_code = form & 1,
                                                 .lockstep = form >> 1 & 1};
    struct gg_translate_report report = {0};
    char *message = NULL;
    *words = NULL;
    int32_t result = gg_translator_translate(program, &options, words, count, &report, &message);
    MUST((result == GG_OK) == (message == NULL) && (result == GG_OK) == (*words != NULL));
    MUST(result == GG_OK || result == GG_ERR_FORMAT || result == GG_ERR_UNSUPPORTED || result == GG_ERR_LIMIT ||
         result == GG_ERR_ARGUMENT);
    MUST(!message || (*message && !strchr(message, '\n')));
    if (result == GG_ERR_UNSUPPORTED) /* or a rule of `strict` that looks at the whole program */
        MUST(strstr(message, "offset 0x") || options.barriers == GG_BARRIERS_STRICT);
    if (result == GG_OK) {
        MUST(*count > 5 && (*words)[0] == 0x07230203 && report.invocations && report.blocks);
        for (uint32_t i = 0; i < report.decision_count; i++)
            MUST(*report.decisions[i].choice && *report.decisions[i].reason);
    }
    gg_free(report.decisions);
    gg_free(message);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    uint32_t flags = take_byte(&in), threads = 4 * take_byte(&in);
    uint64_t count = in.size / 4;
    if (!count)
        return 0;
    uint32_t *code = malloc(4 * count); /* of exactly this size: the sanitizer sees what is read beyond */
    if (!code)
        return 0;
    memcpy(code, in.data, 4 * count);
    const struct gg_guest_program program = {.words = code,
                                             .word_count = count,
                                             .target = {flags & 1, flags & 2 ? 64 : 32},
                                             .rsrc2 = 2 * 4 | 7u << 7, /* user data in s0-s3, then workgroup ids */
                                             .vgprs = 64,
                                             .threads = {threads},
                                             .lds_bytes = flags & 4 ? 4096 : 0,
                                             .scratch_bytes = flags & 8 ? 64 : 0,
                                             .scratch_address = 0x10000};
    uint32_t *words = NULL, *again = NULL;
    uint64_t word_count = 0, again_count = 0;
    int32_t result = translate(&program, flags >> 4, &words, &word_count);
    MUST(translate(&program, flags >> 4, &again, &again_count) == result);
    if (result == GG_OK)
        MUST(word_count == again_count && !memcmp(words, again, 4 * word_count));
    gg_free(words);
    gg_free(again);
    char *text = NULL, *message = NULL;
    MUST((gg_translator_ir(&program, &text, &message) == GG_OK) == (text != NULL));
    gg_free(text);
    gg_free(message);
    free(code);
    return 0;
}

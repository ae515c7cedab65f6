/* SPDX-License-Identifier: MIT */
/* What decoding and translating cost, timed where no caller's language is in the way. */
#include <guestgpu/translator.h>

#include "message.h"

#include <time.h>

/* The thread's own: other processes on a busy machine do not count. */
static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int32_t translate(const struct gg_guest_program *program, const struct gg_translate_options *options,
                         char **message)
{
    uint32_t *words = NULL;
    uint64_t count = 0;
    struct gg_translate_report report;
    int32_t result = gg_translator_translate(program, options, &words, &count, &report, message);
    gg_free(words);
    if (!result)
        gg_free(report.decisions);
    return result;
}

int32_t gg_translator_time(const struct gg_guest_program *program, const struct gg_translate_options *options,
                           uint32_t rounds, uint64_t *nanoseconds, char **message)
{
    gg_succeed(message);
    if (!program || !rounds || !nanoseconds)
        return gg_fail(message, GG_ERR_ARGUMENT, "time: %s", !program ? "no program" : "no rounds, or no output");
    uint64_t begin = now();
    for (uint32_t i = 0; i < rounds; i++) {
        int32_t result =
            options ? translate(program, options, message)
                    : gg_translator_decode(&program->target, program->words, program->word_count, NULL, message);
        if (result)
            return result;
    }
    *nanoseconds = now() - begin;
    return GG_OK;
}

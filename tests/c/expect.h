/* SPDX-License-Identifier: MIT */
#ifndef GG_TEST_EXPECT_H
#define GG_TEST_EXPECT_H

#include <guestgpu/guestgpu.h>

#include "test.h"

#include <string.h>

/*
 * Expects `wanted`; on failure a message of one line that contains `text` (NULL: any), on success none. Frees the
 * message.
 * Usage: expect("what", gg_verb(..., &message), GG_ERR_LIMIT, &message, "text");
 */
static inline void expect(const char *what, int32_t got, int32_t wanted, char **message, const char *text)
{
    const char *line = *message ? *message : "no message";
    CHECK(got == wanted, "%s: %s (%s) instead of %s", what, gg_result_string(got), line, gg_result_string(wanted));
    CHECK((got == GG_OK) == (*message == NULL), "%s: %s with %s", what, gg_result_string(got), line);
    if (got && text)
        CHECK(strstr(line, text), "%s: \"%s\" lacks \"%s\"", what, line, text);
    CHECK(!strchr(line, '\n'), "%s: more than one line", what);
    gg_free(*message);
    *message = NULL;
}

static inline void expect_ok(const char *what, int32_t got, char **message) { expect(what, got, GG_OK, message, NULL); }

/* Compares two arrays of words and says where the first difference is. */
static inline void expect_words(const char *what, const uint32_t *got, const uint32_t *wanted, uint64_t count)
{
    uint64_t at = 0;
    while (at < count && got[at] == wanted[at])
        at++;
    CHECK(at == count, "%s: word %llu of %llu is %#x instead of %#x", what, (unsigned long long)at,
          (unsigned long long)count, at < count ? got[at] : 0, at < count ? wanted[at] : 0);
}

#endif

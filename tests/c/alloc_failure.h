/* SPDX-License-Identifier: MIT */
#ifndef GG_TEST_ALLOC_FAILURE_H
#define GG_TEST_ALLOC_FAILURE_H

/*
 * Memory runs out at every single allocation in turn: once for that one only, once for all from there on.
 * Each must give GG_ERR_MEMORY, leave the outputs alone and leak nothing. csrc/Makefile links programs with this
 * with --wrap, so that the allocations of library and test, and only those, come here.
 */
#include "expect.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void __wrap_free(void *pointer);

static unsigned asked, fail_at = UINT_MAX;
static bool fail_on; /* all later ones as well */
static long living;

static bool fails(void)
{
    unsigned number = asked++;
    return number == fail_at || (fail_on && number > fail_at);
}

void *__wrap_malloc(size_t size)
{
    void *pointer = fails() ? NULL : __real_malloc(size);
    living += pointer != NULL;
    return pointer;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *pointer = fails() ? NULL : __real_calloc(count, size);
    living += pointer != NULL;
    return pointer;
}

void *__wrap_realloc(void *old, size_t size)
{
    void *pointer = fails() ? NULL : __real_realloc(old, size);
    living += pointer && !old;
    return pointer;
}

void __wrap_free(void *pointer)
{
    living -= pointer != NULL;
    __real_free(pointer);
}

/* What a call gave: words to be freed, or words written into static arrays, and how many. */
struct output {
    uint32_t *words;
    uint64_t count;
    uint32_t area[64];
};

struct call {
    const char *name;
    int32_t (*call)(struct output *o, char **message);
    unsigned at_least; /* allocations: fewer would mean that they no longer come by here */
};

static unsigned succeed(const struct call *c, struct output *o)
{
    char *message = NULL;
    memset(o, 0, sizeof *o);
    asked = 0;
    fail_at = UINT_MAX;
    expect_ok(c->name, c->call(o, &message), &message);
    return asked;
}

static void fail(const struct call *c, unsigned at, bool on, char **message)
{
    static const struct output untouched;
    struct output o = {0};
    long before = living;
    asked = 0;
    fail_at = at;
    fail_on = on;
    int32_t result = c->call(&o, message);
    fail_at = UINT_MAX;
    CHECK(result == GG_ERR_MEMORY, "%s: allocation %u: %s", c->name, at, gg_result_string(result));
    CHECK(!memcmp(&o, &untouched, sizeof o), "%s: allocation %u: outputs were written", c->name, at);
    if (message) {
        CHECK(on || *message, "%s: allocation %u: no message, but there was memory for one", c->name, at);
        CHECK(!on || !*message, "%s: allocation %u: %s", c->name, at, *message);
        CHECK(!*message || strstr(*message, "memory"), "%s: %s", c->name, *message);
        gg_free(*message);
    }
    CHECK(living == before, "%s: allocation %u: %ld leaked", c->name, at, living - before);
    if (!result)
        gg_free(o.words);
}

/* Runs a call with enough memory, then without, then with again. */
static inline void run_out_of_memory(const struct call *c)
{
    struct output first, again;
    long before = living;
    unsigned allocations = succeed(c, &first);
    CHECK(allocations >= c->at_least, "%s: %u allocations seen", c->name, allocations);
    for (unsigned at = 0; at < allocations; at++) {
        char *message = "stale";
        fail(c, at, false, &message);
        message = "stale";
        fail(c, at, true, &message);
        fail(c, at, false, NULL);
    }
    succeed(c, &again);
    CHECK(first.count == again.count, "%s: another result afterwards", c->name);
    if (first.words && again.words && first.count == again.count)
        expect_words(c->name, again.words, first.words, first.count);
    gg_free(first.words);
    gg_free(again.words);
    CHECK(living == before, "%s: %ld leaked", c->name, living - before);
}

#endif

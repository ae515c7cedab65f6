/* SPDX-License-Identifier: MIT */
/* Result codes and messages; memory with one lifetime. */
#include "common/arena.h"
#include "common/message.h"

#include "expect.h"

static void test_results(void)
{
    static const struct {
        int32_t code;
        const char *name;
    } codes[] = {
        {0, "GG_OK"},
        {-1, "GG_ERR_ARGUMENT"},
        {-2, "GG_ERR_MEMORY"},
        {-3, "GG_ERR_UNSUPPORTED"},
        {-4, "GG_ERR_FORMAT"},
        {-5, "GG_ERR_LIMIT"},
        {-6, "GG_ERR_NO_DEVICE"},
        {-7, "GG_ERR_DEVICE"},
        {-8, "GG_ERR_DEVICE_LOST"},
        {-9, "GG_ERR_TIMEOUT"},
        {-10, "GG_ERR_VALIDATION"},
        {-11, "GG_ERR_COMPILE"},
        {-12, "unknown result"},
        {1, "unknown result"},
        {INT32_MIN, "unknown result"},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        CHECK(!strcmp(gg_result_string(codes[i].code), codes[i].name), "%d is %s", codes[i].code,
              gg_result_string(codes[i].code));
    CHECK(gg_abi_version() == GG_ABI_VERSION, "version %u", gg_abi_version());
    gg_free(NULL);
}

static void test_messages(void)
{
    char *message = "stale";
    CHECK(gg_fail(&message, GG_ERR_LIMIT, "%s: %u words of %u", "area", 7u, 6u) == GG_ERR_LIMIT, "the result is kept");
    CHECK(message && !strcmp(message, "area: 7 words of 6"), "%s", message ? message : "no message");
    gg_free(message);
    CHECK(gg_succeed(&message) == GG_OK && !message, "success leaves no message");
    CHECK(gg_fail(NULL, GG_ERR_FORMAT, "%d", 1) == GG_ERR_FORMAT && gg_succeed(NULL) == GG_OK,
          "nobody wants a message");
}

static bool is_clear(const unsigned char *memory, size_t count)
{
    while (count && !*memory)
        memory++, count--;
    return !count;
}

/* What was returned is given out again, cleared, and not twice; what shares its chunk with others stays theirs. */
static void test_returned_memory(void)
{
    const size_t large = (size_t)1 << 20;
    struct gg_arena arena = {0};
    unsigned char *small = gg_arena_alloc(&arena, 16, 1), *first = gg_arena_alloc(&arena, large, 1);
    memset(small, 0xaa, 16);
    memset(first, 0xaa, large);
    gg_arena_return(&arena, small);
    gg_arena_return(&arena, first + 16);
    unsigned char *other = gg_arena_alloc(&arena, large, 1);
    CHECK(other < first || other >= first + large, "memory in use was given out");
    gg_arena_return(&arena, first);
    gg_arena_return(&arena, first);
    unsigned char *half = gg_arena_alloc(&arena, large / 2, 1), *rest = gg_arena_alloc(&arena, large / 2, 1);
    CHECK(half == first && rest == first + large / 2, "returned memory is not given out again");
    CHECK(is_clear(half, large / 2) && is_clear(rest, large / 2), "returned memory is not cleared");
    unsigned char *more = gg_arena_alloc(&arena, large / 2, 1);
    CHECK(more < first || more >= first + large, "returned memory was given out twice");
    CHECK(*small == 0xaa && !arena.failed, "a small allocation is no longer its owner's");
    gg_arena_finish(&arena);
}

int main(void)
{
    test_returned_memory();
    test_results();
    test_messages();
    return test_result();
}

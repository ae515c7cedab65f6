/* SPDX-License-Identifier: MIT */
/* The pool without memory: each allocation, and each block, refused in turn leaves all as it was. */
#include "alloc_failure.h"
#include "message.h"
#include "pool_model.h"

#include <guestgpu/suballoc_speed.h>

static struct gg_pool *create(struct model *m)
{
    const struct gg_pool_config config = {
        .block_size = 1 << 20, .user = m, .block_create = model_block_create, .block_destroy = model_block_destroy};
    struct gg_pool *pool = NULL;
    char *message = NULL;
    expect_ok("create", gg_pool_create(&config, &pool, &message), &message);
    return pool;
}

static void same(const struct gg_pool_statistics *a, const struct gg_pool_statistics *b)
{
    CHECK(a->capacity == b->capacity && a->requested == b->requested && a->rounding == b->rounding &&
              a->padding == b->padding && a->free == b->free && a->live == b->live && a->blocks == b->blocks &&
              a->slabs == b->slabs && a->free_ranges == b->free_ranges,
          "a failed allocation changed something");
}

/* Before each of many allocations: with every malloc() that it needs refused, and with the block refused. */
static void every_failure(void)
{
    static const uint64_t sizes[] = {100, 300, 5000, 60000, 70000, 900000, 3000000, 24};
    struct model m = {.granularity = 1};
    struct gg_pool *pool = create(&m);
    unsigned memory = 0, blocks = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        uint64_t size = sizes[i % 16 < 8 ? i % 8 : i % 4], alignment = i % 3 ? 16 : 256;
        struct gg_pool_statistics before, after;
        struct gg_pool_place place = {0};
        char *message = NULL;
        gg_pool_statistics(pool, &before);
        int32_t result = GG_ERR_MEMORY;
        for (unsigned at = 0; result == GG_ERR_MEMORY; at++) {
            asked = 0;
            fail_at = at;
            fail_on = m.refuse = true;
            result = gg_pool_allocate(pool, size, alignment, 0, &place);
            fail_at = UINT_MAX;
            fail_on = m.refuse = false;
            CHECK(result == GG_OK || result == GG_ERR_MEMORY || result == GG_ERR_DEVICE, "%s",
                  gg_result_string(result));
            memory += result == GG_ERR_MEMORY;
            blocks += result == GG_ERR_DEVICE;
            gg_pool_statistics(pool, &after);
            if (result)
                same(&before, &after);
            expect_ok("check", gg_pool_check(pool, &message), &message);
        }
        if (result)
            result = gg_pool_allocate(pool, size, alignment, 0, &place);
        CHECK(result == GG_OK, "with memory: %s", gg_result_string(result));
        const char *wrong = model_add(&m, &place, size, alignment, 0);
        CHECK(!wrong, "%s", wrong);
    }
    const char *wrong = model_compare(&m, pool);
    CHECK(!wrong, "%s", wrong);
    CHECK(blocks > 100 && memory > 3, "%u blocks refused, %u allocations", blocks, memory);
    gg_pool_destroy(pool);
    CHECK(m.block_count == 0 && !m.broken, "blocks are left");
    free(m.ranges);
}

static int32_t create_only(struct output *o, char **m)
{
    struct gg_pool *pool = NULL;
    int32_t result = gg_pool_create(&(struct gg_pool_config){0}, &pool, m);
    gg_pool_destroy(pool);
    o->count = !result;
    return result;
}

static int32_t run_tiny(struct output *o, char **m)
{
    struct gg_trace *trace;
    struct gg_trace_round round;
    const struct gg_trace_params params = {.kind = GG_TRACE_TINY, .live = 100};
    const struct gg_allocator *allocator = gg_own_allocator(0);
    int32_t result = gg_trace_create(&params, &trace, m);
    if (result)
        return result;
    void *state = allocator->create(1 << 20, 100);
    result = state ? gg_trace_run(trace, allocator, state, &round, m) : gg_fail(m, GG_ERR_MEMORY, "no memory");
    if (state)
        allocator->destroy(state);
    gg_trace_destroy(trace);
    o->count = result ? 0 : round.operations;
    return result;
}

int main(void)
{
    static const struct call calls[] = {{"pool", create_only, 1}, {"trace", run_tiny, 7}};
    for (size_t i = 0; i < COUNT(calls); i++)
        run_out_of_memory(&calls[i]);
    long before = living;
    every_failure();
    CHECK(living == before, "%ld leaked", living - before);
    return test_result();
}

/* SPDX-License-Identifier: MIT */
/*
 * The pool against a naive list, and what it must refuse.
 * usage: test_pool [OPERATIONS]: in all, 300000 by default; `make test-deep` asks for ten million
 */
#include <guestgpu/suballoc_pool.h>

#include "expect.h"
#include "pool_model.h"
#include "suballoc/pool_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct gg_pool *create(struct gg_pool_config config)
{
    struct gg_pool *pool = NULL;
    char *message = NULL;
    expect_ok("create", gg_pool_create(&config, &pool, &message), &message);
    return pool;
}

static void check(const char *what, struct gg_pool *pool)
{
    char *message = NULL;
    expect_ok(what, gg_pool_check(pool, &message), &message);
}

static uint64_t draw_size(uint64_t *state)
{
    static const uint64_t populous[] = {1500, 2048, 5000, 11088, 12240, 15000}; /* of the same size: slots */
    uint64_t of = draw(state) % 100;
    if (of < 15)
        return populous[draw(state) % COUNT(populous)];
    if (of < 60)
        return 1 + draw(state) % 1100;
    if (of < 90)
        return 1 + draw(state) % (UINT64_C(1) << (8 + draw(state) % 10));
    return of < 98 ? 65536 * (1 + draw(state) % 8) - draw(state) % 3 : 1 + draw(state) % (3 << 20);
}

static void random_operations(uint64_t seed, uint64_t operations, uint64_t granularity, uint64_t most_live)
{
    struct model m = {.granularity = granularity};
    struct gg_pool *pool = create((struct gg_pool_config){.block_size = 1 << 20,
                                                          .granularity = granularity,
                                                          .max_blocks = 40,
                                                          .user = &m,
                                                          .block_create = model_block_create,
                                                          .block_destroy = model_block_destroy});
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1, refused = 0, stale = 0;
    bool growing = true;
    for (uint64_t i = 0; i < operations && !test_failures; i++) {
        if (m.count >= most_live || draw(&state) % 4096 == 0)
            growing = false;
        if (m.count < most_live / 8)
            growing = true;
        if (!m.count || draw(&state) % 8 < (growing ? 5 : 3)) {
            uint64_t size = draw_size(&state), alignment = UINT64_C(1) << draw(&state) % (draw(&state) % 8 ? 9 : 21);
            uint32_t kind = (uint32_t)(draw(&state) % 16 ? draw(&state) % 3 : GG_POOL_KIND_MSAA);
            struct gg_pool_place place = {0};
            m.refuse = draw(&state) % 4 == 0;
            int32_t result = gg_pool_allocate(pool, size, alignment, kind, &place);
            CHECK(!result || result == GG_ERR_LIMIT || (result == GG_ERR_DEVICE && m.refuse), "seed %llu, %llu: %s",
                  (unsigned long long)seed, (unsigned long long)i, gg_result_string(result));
            CHECK(!result || !place.handle, "a failure wrote its output");
            refused += result != 0;
            const char *wrong = result ? NULL : model_add(&m, &place, size, alignment, kind);
            CHECK(!wrong, "seed %llu, operation %llu: %s", (unsigned long long)seed, (unsigned long long)i, wrong);
        } else {
            size_t at = draw(&state) % m.count;
            uint64_t handle = m.ranges[at].handle;
            CHECK(gg_pool_free(pool, handle) == GG_OK, "seed %llu, %llu: free", (unsigned long long)seed,
                  (unsigned long long)i);
            model_remove(&m, at);
            stale = handle;
            CHECK(gg_pool_free(pool, stale) == GG_ERR_ARGUMENT, "seed %llu, %llu: freed twice",
                  (unsigned long long)seed, (unsigned long long)i);
        }
        if (draw(&state) % 1024 == 0) {
            check("a sample", pool);
            const char *wrong = model_compare(&m, pool);
            CHECK(!wrong, "seed %llu, operation %llu: %s", (unsigned long long)seed, (unsigned long long)i, wrong);
        }
        if (draw(&state) % 8192 == 0)
            CHECK(gg_pool_trim(pool) == GG_OK, "trim");
    }
    CHECK(operations < 10000 || refused, "no request was refused");
    while (m.count && !test_failures) {
        CHECK(gg_pool_free(pool, m.ranges[m.count - 1].handle) == GG_OK, "the last frees");
        model_remove(&m, m.count - 1);
    }
    struct gg_pool_statistics s;
    gg_pool_statistics(pool, &s);
    CHECK(s.free_ranges == s.blocks && s.free == s.capacity && s.blocks <= 1 && !s.slabs && !s.requested &&
              !s.rounding && !s.padding,
          "%llu ranges in %llu blocks", (unsigned long long)s.free_ranges, (unsigned long long)s.blocks);
    check("empty", pool);
    CHECK(gg_pool_trim(pool) == GG_OK && m.block_count == 0, "blocks are left");
    check("trimmed", pool);
    CHECK(!m.broken, "%s", m.broken);
    gg_pool_destroy(pool);
    free(m.ranges);
}

static void bad_input(void)
{
    struct gg_pool *pool = NULL;
    char *message = NULL;
    static const struct {
        struct gg_pool_config config;
        const char *text;
    } configs[] = {
        {{.block_size = 1024}, "block_size 1024"},
        {{.block_size = UINT64_MAX}, "block_size"},
        {{.block_size = UINT64_C(1) << 40}, "64 GiB"},
        {{.granularity = 3}, "granularity 3"},
        {{.granularity = 1 << 17}, "granularity"},
        {{.max_blocks = 65536}, "max_blocks"},
        {{.locked = 2}, "locked"},
        {{.reserved = 1}, "reserved"},
    };
    for (size_t i = 0; i < COUNT(configs); i++)
        expect("config", gg_pool_create(&configs[i].config, &pool, &message), GG_ERR_ARGUMENT, &message,
               configs[i].text);
    expect("config", gg_pool_create(NULL, &pool, &message), GG_ERR_ARGUMENT, &message, "config");
    gg_pool_destroy(NULL);

    pool = create((struct gg_pool_config){.block_size = 1 << 20, .max_blocks = 1, .no_dedicated = 1});
    struct gg_pool *other = create((struct gg_pool_config){0});
    const uint64_t most = UINT64_MAX;
    const struct {
        uint64_t size, alignment;
        uint32_t kind;
        int32_t wanted;
    } requests[] = {
        {0, 1, 0, GG_ERR_ARGUMENT},
        {16, 0, 0, GG_ERR_ARGUMENT},
        {16, 3, 0, GG_ERR_ARGUMENT},
        {16, 2 << 20, 0, GG_ERR_ARGUMENT},
        {16, 16, 4, GG_ERR_ARGUMENT},
        {16, 1ull << 63, 0, GG_ERR_ARGUMENT},
        {most, 1, 0, GG_ERR_LIMIT},
        {most - 15, 16, 0, GG_ERR_LIMIT},
        {most - 65535, 1 << 20, 3, GG_ERR_LIMIT},
        {1ull << 63, 4096, 2, GG_ERR_LIMIT},
        {(1 << 20) + 1, 1, 0, GG_ERR_LIMIT},
        {2 << 20, 1, 0, GG_ERR_LIMIT},
        {1ull << 48, 1, 0, GG_ERR_LIMIT},
        {(1ull << 48) + 1, 1, 0, GG_ERR_LIMIT},
    };
    for (size_t i = 0; i < COUNT(requests); i++) {
        struct gg_pool_place place = {.handle = 77};
        int32_t got = gg_pool_allocate(pool, requests[i].size, requests[i].alignment, requests[i].kind, &place);
        CHECK(got == requests[i].wanted && place.handle == 77, "request %zu: %s", i, gg_result_string(got));
        got = gg_pool_allocate(other, requests[i].size, requests[i].alignment, requests[i].kind, &place);
        CHECK(got ? place.handle == 77 : requests[i].size <= GG_POOL_MAX_BLOCK, "request %zu of the default pool: %s",
              i, gg_result_string(got));
    }
    struct gg_pool_place tiny, medium, large;
    CHECK(!gg_pool_allocate(pool, 100, 16, 0, &tiny) && !gg_pool_allocate(pool, 5000, 16, 0, &medium) &&
              !gg_pool_allocate(pool, 70000, 16, 0, &large),
          "three tiers");
    const uint64_t live[] = {tiny.handle, medium.handle, large.handle};
    struct gg_pool_range range;
    for (size_t i = 0; i < COUNT(live); i++) {
        CHECK(gg_pool_free(other, live[i]) == GG_ERR_ARGUMENT, "another pool's handle %zu", i);
        for (uint32_t bit = 0; bit < 64; bit++)
            CHECK(gg_pool_query(pool, live[i] ^ UINT64_C(1) << bit, &range) == GG_ERR_ARGUMENT, "handle %zu, bit %u", i,
                  bit);
        CHECK(gg_pool_query(pool, live[i], &range) == GG_OK && range.tier == i, "handle %zu", i);
    }
    uint64_t state = 1;
    for (uint32_t i = 0; i < 10000; i++)
        gg_pool_query(pool, draw(&state), &range);
    CHECK(gg_pool_free(pool, 0) == GG_ERR_ARGUMENT && gg_pool_free(pool, UINT64_MAX) == GG_ERR_ARGUMENT, "no handles");
    for (size_t i = 0; i < COUNT(live); i++) {
        CHECK(gg_pool_free(pool, live[i]) == GG_OK, "free %zu", i);
        CHECK(gg_pool_free(pool, live[i]) == GG_ERR_ARGUMENT, "double free %zu", i);
    }
    /* The same places again: records are used again, and the old handles are stale. */
    CHECK(!gg_pool_allocate(pool, 100, 16, 0, &tiny) && !gg_pool_allocate(pool, 5000, 16, 0, &medium) &&
              !gg_pool_allocate(pool, 70000, 16, 0, &large),
          "three tiers again");
    for (size_t i = 0; i < COUNT(live); i++)
        CHECK(gg_pool_free(pool, live[i]) == GG_ERR_ARGUMENT, "stale %zu", i);
    CHECK(gg_pool_free(NULL, 1) && gg_pool_query(pool, tiny.handle, NULL) && gg_pool_statistics(pool, NULL) &&
              gg_pool_trim(NULL) && gg_pool_walk(pool, NULL, 1, NULL) && gg_pool_allocate(NULL, 1, 1, 0, &tiny),
          "NULL");
    check("bad input", pool);
    gg_pool_destroy(pool);
    gg_pool_destroy(other);
}

/* S7: a request larger than the block, empty and half full. */
static void larger_than_the_block(void)
{
    const uint64_t block = 1 << 20;
    struct gg_pool *pool = create((struct gg_pool_config){.block_size = block, .max_blocks = 1, .no_dedicated = 1});
    struct gg_pool_place place, half;
    CHECK(gg_pool_allocate(pool, block + 1, 1, 0, &place) == GG_ERR_LIMIT, "one byte more");
    CHECK(gg_pool_allocate(pool, 2 * block, 1, 0, &place) == GG_ERR_LIMIT, "twice");
    CHECK(gg_pool_allocate(pool, block / 2, 1, 0, &half) == GG_OK, "half");
    CHECK(gg_pool_allocate(pool, block + 1, 1, 0, &place) == GG_ERR_LIMIT, "one byte more");
    CHECK(gg_pool_allocate(pool, block / 2 + 1, 1, 0, &place) == GG_ERR_LIMIT, "more than is left");
    check("S7", pool);
    CHECK(gg_pool_free(pool, half.handle) == GG_OK, "free");
    CHECK(gg_pool_allocate(pool, block, block, 0, &place) == GG_OK && !place.offset, "the whole block");
    check("S7", pool);
    gg_pool_destroy(pool);
    /* Where they may be, blocks of their own: of whole pages, and gone at once. */
    struct model m = {.granularity = 1};
    pool = create((struct gg_pool_config){
        .block_size = block, .user = &m, .block_create = model_block_create, .block_destroy = model_block_destroy});
    CHECK(gg_pool_allocate(pool, 2 * block + 1, block, 0, &place) == GG_OK, "dedicated");
    CHECK(m.block_count == 1 && m.blocks[place.block] == 2 * block + 65536, "a block of its own");
    CHECK(gg_pool_free(pool, place.handle) == GG_OK && m.block_count == 0, "gone");
    gg_pool_destroy(pool);
}

/* S11: sizes around the smallest unit; never two live results at one offset. */
static void below_the_unit(void)
{
    static const uint64_t sizes[] = {1, 2, 7, 8, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025};
    struct model m = {.granularity = 1, .blocks = {1 << 20}};
    struct gg_pool *pool = create((struct gg_pool_config){.block_size = 1 << 20, .max_blocks = 1});
    for (uint32_t again = 0; again < 50; again++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            struct gg_pool_place place;
            uint64_t alignment = UINT64_C(1) << (again + i) % 11;
            CHECK(gg_pool_allocate(pool, sizes[i], alignment, 0, &place) == GG_OK, "S11: %zu", i);
            const char *wrong = model_add(&m, &place, sizes[i], alignment, 0);
            CHECK(!wrong, "S11: size %llu: %s", (unsigned long long)sizes[i], wrong);
        }
    check("S11", pool);
    gg_pool_destroy(pool);
    free(m.ranges);
}

/* Gaps of floor-256 resources are used: 304 + 208 bytes a period of 512. */
static void gaps(void)
{
    struct gg_pool *pool = create((struct gg_pool_config){0});
    struct gg_pool_place place;
    uint64_t end = 0;
    for (uint32_t i = 0; i < 2000; i++)
        for (uint32_t gap = 0; gap < 2; gap++) {
            CHECK(gg_pool_allocate(pool, gap ? 208 : 304, gap ? 16 : 256, 0, &place) == GG_OK, "gap");
            end = place.offset + 304 > end ? place.offset + 304 : end;
        }
    CHECK(end < 2000 * 512 * 5 / 4, "%llu bytes for 2000 periods", (unsigned long long)end);
    check("gaps", pool);
    gg_pool_destroy(pool);
}

struct worker {
    struct gg_pool *pool;
    uint64_t seed, failures;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint64_t handles[64] = {0}, state = worker->seed;
    for (uint32_t i = 0; i < 4000; i++) {
        uint64_t *handle = &handles[draw(&state) % COUNT(handles)];
        struct gg_pool_place place;
        if (*handle)
            worker->failures += gg_pool_free(worker->pool, *handle) != GG_OK;
        worker->failures += gg_pool_allocate(worker->pool, draw_size(&state), 16, 0, &place) != GG_OK;
        *handle = place.handle;
    }
    for (size_t i = 0; i < COUNT(handles); i++)
        worker->failures += handles[i] && gg_pool_free(worker->pool, handles[i]) != GG_OK;
    return NULL;
}

static void threads(void)
{
    struct gg_pool *pool = create((struct gg_pool_config){.locked = 1});
    struct worker workers[4];
    pthread_t started[COUNT(workers)];
    for (size_t i = 0; i < COUNT(workers); i++) {
        workers[i] = (struct worker){pool, i + 1, 0};
        CHECK(!pthread_create(&started[i], NULL, work, &workers[i]), "thread");
    }
    for (uint32_t i = 0; i < 20; i++)
        check("while others work", pool);
    for (size_t i = 0; i < COUNT(workers); i++) {
        pthread_join(started[i], NULL);
        CHECK(!workers[i].failures, "thread %zu: %llu failed", i, (unsigned long long)workers[i].failures);
    }
    struct gg_pool_statistics s;
    CHECK(!gg_pool_statistics(pool, &s) && !s.live && s.free_ranges == s.blocks, "something is left");
    check("threads", pool);
    gg_pool_destroy(pool);
}

/* Allocates until there is no room: sizes from `size` on, which differ, so that none is populous. */
static void fill_up(struct gg_pool *pool, uint64_t size, uint64_t alignment)
{
    struct gg_pool_place place;
    for (uint64_t i = 0; !gg_pool_allocate(pool, size + 16 * (i % 64), alignment, 0, &place);)
        i++;
}

/*
 * Holes of many bins that are large enough, but for the alignment; then one that is large enough wherever it begins. It
 * must be found, though more ranges come before it than are looked at.
 */
static void a_sure_hole(void)
{
    enum {
        SIZE = 2048,
        HOLES = 40
    };
    struct gg_pool *pool = create((struct gg_pool_config){.block_size = 4 << 20, .max_blocks = 1, .no_dedicated = 1});
    uint64_t holes[HOLES], count = 0, state = 7;
    struct gg_pool_place sure, place;
    CHECK(gg_pool_allocate(pool, 20000, 16, 0, &sure) == GG_OK, "the sure one");
    for (bool chosen = false; count < HOLES;) {
        uint64_t size = SIZE + 128 + 16 * (draw(&state) % 56);
        CHECK(gg_pool_allocate(pool, size, 128, 0, &place) == GG_OK, "a filler");
        chosen = !chosen && (0 - place.offset) % SIZE > size + 128 - SIZE;
        if (chosen)
            holes[count++] = place.handle;
    }
    for (uint64_t size = 30000; size > 3200; size = size * 3 / 4)
        fill_up(pool, size, 16);
    fill_up(pool, 3200, 16);
    for (uint64_t i = 0; i < count; i++)
        CHECK(gg_pool_free(pool, holes[i]) == GG_OK, "a hole");
    while (!gg_pool_allocate(pool, SIZE, SIZE, 0, &place)) {
    }
    CHECK(gg_pool_free(pool, sure.handle) == GG_OK, "the sure hole");
    CHECK(gg_pool_allocate(pool, SIZE, SIZE, 0, &place) == GG_OK, "a hole that is sure was not found");
    check("after holes", pool);
    gg_pool_destroy(pool);
}

#ifndef NDEBUG
/* The child does what the books would never do. */
static void dies(const char *what, bool twice)
{
    struct gg_pool *pool = create((struct gg_pool_config){0});
    struct gg_pool_place place;
    CHECK(gg_pool_allocate(pool, 100, 16, 0, &place) == GG_OK, "allocate");
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL, "stderr");
        if (twice)
            gg_shadow_take(pool, place.block, place.offset + 96, 16);
        else
            gg_shadow_give(pool, place.block, place.offset + 96, 32);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s", what);
    gg_pool_destroy(pool);
}
#endif

int main(int argc, char **argv)
{
    static const uint64_t granularities[] = {1, 1024, 65536}, live[] = {30, 400, 4000};
    uint64_t operations = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000;
    bad_input();
    larger_than_the_block();
    below_the_unit();
    gaps();
    threads();
    a_sure_hole();
#ifndef NDEBUG
    dies("given out twice", true);
    dies("given back, and never given out", false);
#endif
    for (uint64_t seed = 0; seed < 9; seed++)
        random_operations(seed + 1, operations / 9, granularities[seed % 3], live[seed / 3]);
    return test_result();
}

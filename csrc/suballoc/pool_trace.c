/* SPDX-License-Identifier: MIT */
/*
 * Traces timed where no caller's language is in the way. Sizes, alignments and orders are drawn before the clock
 * starts; the handles lie in an array that the loop walks, as those of an application would.
 */
#include <guestgpu/suballoc_pool.h>

#include "message.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    MOST_ROUNDS = 64,
    HOLES_TRIED = 1000,
    HOLE = 2176,
    HOLE_ALIGNMENT = 2048
};

struct request {
    uint64_t size;
    uint32_t alignment, kind;
};

/* What a trace is made of: `live` requests that fill the pool, then `pairs` of a free and an allocation. */
struct trace {
    struct request *requests; /* live + pairs */
    uint32_t *victims;        /* live: the order of the frees at the end; then what each pair frees */
    uint64_t live, pairs;
    uint64_t peak; /* most bytes live */
    uint64_t *handles;
};

struct round {
    double all, allocate, free, worst; /* ns: of pairs, or of all operations; of filling and emptying */
    uint64_t end;
    double books;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t bound) { return draw(state) % bound; }

/* 20 % 8, 35 % 16, 7 % 64, 3 % 128, 35 % 256. */
static uint32_t draw_floor(uint64_t *state)
{
    uint64_t percent = below(state, 100);
    return percent < 20 ? 8 : percent < 55 ? 16 : percent < 62 ? 64 : percent < 65 ? 128 : 256;
}

static struct request draw_mixed(uint64_t *state)
{
    uint64_t percent = below(state, 100);
    if (percent < 90)
        return (struct request){32 + below(state, 481), draw_floor(state), GG_POOL_KIND_BUFFER};
    if (percent < 99) {
        uint64_t size = 4096 * (1 + below(state, 16));
        return (struct request){size, below(state, 2) ? 4096 : 65536, GG_POOL_KIND_OPTIMAL_IMAGE};
    }
    return (struct request){65536 * (64 + below(state, 193)), 4 << 20, GG_POOL_KIND_MSAA};
}

static struct request draw_request(const struct gg_pool_time_params *params, uint64_t *state, uint64_t i)
{
    switch (params->trace) {
    case GG_POOL_TRACE_STEADY: {
        double share = (double)(draw(state) >> 11) / (double)(UINT64_C(1) << 53);
        return (struct request){(uint64_t)(16 * exp2(12 * share)), 8u << below(state, 6), GG_POOL_KIND_BUFFER};
    }
    case GG_POOL_TRACE_TINY:
        return (struct request){32 + below(state, 481), 16, GG_POOL_KIND_BUFFER};
    case GG_POOL_TRACE_TINY_FLOORS:
        return (struct request){32 + below(state, 481), draw_floor(state), GG_POOL_KIND_BUFFER};
    case GG_POOL_TRACE_MIXED:
        return draw_mixed(state);
    default:
        return (struct request){params->sizes[i], (uint32_t)params->alignments[i], GG_POOL_KIND_BUFFER};
    }
}

static void trace_finish(struct trace *trace)
{
    free(trace->requests);
    free(trace->victims);
    free(trace->handles);
}

static int32_t trace_init(struct trace *trace, const struct gg_pool_time_params *params)
{
    uint64_t live = trace->live, pairs = trace->pairs, state = params->seed;
    trace->requests = calloc(live + pairs, sizeof *trace->requests);
    trace->victims = calloc(live + pairs, sizeof *trace->victims);
    trace->handles = calloc(live, sizeof *trace->handles);
    uint64_t *sizes = calloc(live, sizeof *sizes), bytes = 0;
    if (!trace->requests || !trace->victims || !trace->handles || !sizes) {
        free(sizes);
        return GG_ERR_MEMORY;
    }
    for (uint64_t i = 0; i < live; i++) {
        trace->requests[i] = draw_request(params, &state, i);
        trace->victims[i] = (uint32_t)i;
        bytes += sizes[i] = trace->requests[i].size;
    }
    trace->peak = bytes;
    for (uint64_t i = live; i < live + pairs; i++) {
        uint32_t victim = trace->victims[i] = (uint32_t)below(&state, live);
        trace->requests[i] = draw_request(params, &state, i);
        bytes += trace->requests[i].size - sizes[victim];
        sizes[victim] = trace->requests[i].size;
        trace->peak = bytes > trace->peak ? bytes : trace->peak;
    }
    for (uint64_t i = live; i > 1; i--) {
        uint64_t j = below(&state, i);
        uint32_t swapped = trace->victims[i - 1];
        trace->victims[i - 1] = trace->victims[j];
        trace->victims[j] = swapped;
    }
    free(sizes);
    return GG_OK;
}

/* The pool is given to the loop as functions would be; without one only the loop is run. */
static int32_t allocate(struct gg_pool *pool, const struct request *request, uint64_t *handle, uint64_t *end)
{
    struct gg_pool_place place = {.handle = request->size};
    if (pool) {
        int32_t result = gg_pool_allocate(pool, request->size, request->alignment, request->kind, &place);
        if (result)
            return result;
    }
    uint64_t last = place.offset + request->size;
    *end = last > *end ? last : *end;
    *handle = place.handle;
    return GG_OK;
}

static int32_t release(struct gg_pool *pool, uint64_t *handle)
{
    int32_t result = pool ? gg_pool_free(pool, *handle) : GG_OK;
    *handle = 0;
    return result;
}

static int32_t run_round(const struct trace *trace, struct gg_pool *pool, struct round *round)
{
    int32_t result = GG_OK;
    *round = (struct round){0};
    uint64_t begin = now();
    for (uint64_t i = 0; i < trace->live && !result; i++)
        result = allocate(pool, &trace->requests[i], &trace->handles[i], &round->end);
    uint64_t filled = now();
    for (uint64_t i = trace->live; i < trace->live + trace->pairs && !result; i++) {
        uint64_t *handle = &trace->handles[trace->victims[i]];
        result = release(pool, handle);
        if (!result)
            result = allocate(pool, &trace->requests[i], handle, &round->end);
    }
    uint64_t paired = now();
    if (pool) {
        struct gg_pool_statistics statistics;
        gg_pool_statistics(pool, &statistics);
        round->books = (double)statistics.books / (double)trace->live;
    }
    uint64_t emptying = now();
    for (uint64_t i = 0; i < trace->live && !result; i++)
        result = release(pool, &trace->handles[trace->victims[i]]);
    uint64_t end = now();
    double live = (double)trace->live, pairs = (double)trace->pairs;
    round->allocate = (double)(filled - begin) / live;
    round->free = (double)(end - emptying) / live;
    round->all = trace->pairs ? (double)(paired - filled) / (2 * pairs) : (round->allocate + round->free) / 2;
    return result;
}

/* The same once more, each operation by the clock. */
static int32_t run_worst(const struct trace *trace, struct gg_pool *pool, double *worst)
{
    int32_t result = GG_OK;
    uint64_t end = 0, longest = 0;
    for (uint64_t i = 0; i < trace->live + 2 * trace->pairs + trace->live && !result; i++) {
        uint64_t begin = clock_ns(CLOCK_MONOTONIC), pair = (i - trace->live) / 2 + trace->live;
        if (i < trace->live)
            result = allocate(pool, &trace->requests[i], &trace->handles[i], &end);
        else if (i >= trace->live + 2 * trace->pairs)
            result = release(pool, &trace->handles[trace->victims[i - trace->live - 2 * trace->pairs]]);
        else if ((i - trace->live) % 2)
            result = allocate(pool, &trace->requests[pair], &trace->handles[trace->victims[pair]], &end);
        else
            result = release(pool, &trace->handles[trace->victims[pair]]);
        uint64_t took = clock_ns(CLOCK_MONOTONIC) - begin;
        longest = took > longest ? took : longest;
    }
    *worst = (double)longest;
    return result;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(double *samples, uint32_t count, double *best, double *median)
{
    qsort(samples, count, sizeof *samples, compare);
    *best = samples[0];
    *median = count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static int32_t time_trace(struct gg_pool *pool, const struct gg_pool_time_params *params, struct trace *trace,
                          struct gg_pool_time_report *report)
{
    double all[MOST_ROUNDS], allocations[MOST_ROUNDS], frees[MOST_ROUNDS];
    struct round round = {0}, loop = {0};
    uint32_t rounds = params->rounds ? params->rounds : 5, counted = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        int32_t result = run_round(trace, pool, &round);
        if (result)
            return result;
        if (i || rounds == 1) {
            all[counted] = round.all;
            allocations[counted] = round.allocate;
            frees[counted++] = round.free;
        }
    }
    run_round(trace, NULL, &loop);
    summarise(all, counted, &report->best_ns, &report->median_ns);
    summarise(allocations, counted, &report->best_allocate_ns, &report->median_allocate_ns);
    summarise(frees, counted, &report->best_free_ns, &report->median_free_ns);
    report->loop_ns = loop.all;
    report->utilisation = (double)trace->peak / (double)round.end;
    report->highest_end = round.end;
    report->books_per_live = round.books;
    report->operations = trace->pairs ? 2 * trace->pairs : 2 * trace->live;
    return run_worst(trace, pool, &report->worst_ns);
}

/*
 * Resources of 2176 bytes in a row, of which some are freed: holes in which 2048 bytes fit, but not at a multiple of
 * 2048. Then such a request, again and again.
 */
static int32_t time_holes(struct gg_pool *pool, uint64_t holes, struct gg_pool_time_report *report)
{
    const struct request filler = {HOLE, 128, GG_POOL_KIND_BUFFER};
    const struct request unlucky = {HOLE_ALIGNMENT, HOLE_ALIGNMENT, GG_POOL_KIND_BUFFER};
    uint64_t count = 0, end = 0, *freed = calloc(holes, sizeof *freed);
    double samples[HOLES_TRIED];
    int32_t result = freed ? GG_OK : GG_ERR_MEMORY;
    for (bool was_freed = false; count < holes && !result;) {
        struct gg_pool_place place;
        result = gg_pool_allocate(pool, filler.size, filler.alignment, filler.kind, &place);
        was_freed = !was_freed && !result && (0 - place.offset) % HOLE_ALIGNMENT > HOLE - HOLE_ALIGNMENT;
        if (was_freed)
            freed[count++] = place.handle;
    }
    for (uint64_t i = 0; i < count && !result; i++)
        result = release(pool, &freed[i]);
    for (uint32_t i = 0; i < HOLES_TRIED && !result; i++) {
        uint64_t handle, begin = clock_ns(CLOCK_MONOTONIC);
        result = allocate(pool, &unlucky, &handle, &end);
        samples[i] = (double)(clock_ns(CLOCK_MONOTONIC) - begin);
    }
    free(freed);
    if (result)
        return result;
    struct gg_pool_statistics statistics;
    gg_pool_statistics(pool, &statistics);
    summarise(samples, HOLES_TRIED, &report->best_ns, &report->median_ns);
    report->worst_ns = samples[HOLES_TRIED - 1];
    report->operations = HOLES_TRIED;
    report->highest_end = end;
    report->books_per_live = (double)statistics.books / (double)statistics.live;
    report->utilisation = (double)statistics.requested / (double)end;
    return GG_OK;
}

static int32_t check_params(const struct gg_pool_time_params *params, const struct gg_pool_time_report *report,
                            char **message)
{
    if (!params || !report)
        return gg_fail(message, GG_ERR_ARGUMENT, "pool trace: no %s", params ? "output" : "parameters");
    if (params->trace > GG_POOL_TRACE_HOLES)
        return gg_fail(message, GG_ERR_ARGUMENT, "pool trace: there is no trace %u", params->trace);
    if (params->rounds > MOST_ROUNDS || params->live > 1 << 28 || params->pairs > 1 << 28)
        return gg_fail(message, GG_ERR_ARGUMENT, "pool trace: more than %u rounds, or 2^28 resources or pairs",
                       MOST_ROUNDS);
    if (params->trace == GG_POOL_TRACE_SCENE && (!params->sizes || !params->alignments || !params->live))
        return gg_fail(message, GG_ERR_ARGUMENT, "pool trace: a scene needs sizes and alignments");
    return GG_OK;
}

int32_t gg_pool_time(const struct gg_pool_time_params *params, struct gg_pool_time_report *report, char **message)
{
    gg_succeed(message);
    int32_t result = check_params(params, report, message);
    if (result)
        return result;
    bool steady = params->trace == GG_POOL_TRACE_STEADY || params->trace == GG_POOL_TRACE_MIXED;
    struct trace trace = {.live = params->live ? params->live : steady ? 100000 : 1000000};
    trace.pairs = !steady ? 0 : params->pairs ? params->pairs : 5 * trace.live;
    struct gg_pool_config config = {.block_size = params->block_size ? params->block_size : GG_POOL_MAX_BLOCK};
    struct gg_pool *pool = NULL;
    struct gg_pool_time_report measured = {0};
    result = gg_pool_create(&config, &pool, message);
    if (result)
        return result;
    if (params->trace == GG_POOL_TRACE_HOLES) {
        result = time_holes(pool, trace.live, &measured);
    } else {
        result = trace_init(&trace, params);
        if (!result)
            result = time_trace(pool, params, &trace, &measured);
    }
    trace_finish(&trace);
    gg_pool_destroy(pool);
    if (result)
        return gg_fail(message, result, "pool trace: %s",
                       result == GG_ERR_MEMORY ? "no memory" : "a resource has no room in a block");
    *report = measured;
    return GG_OK;
}

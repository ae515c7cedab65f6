/* SPDX-License-Identifier: MIT */
/* The loops that run a trace on an allocator (suballoc_speed.h): timed, timed one by one, and looked at. */
#include "trace.h"

#include "message.h"

#include <guestgpu/suballoc_pool.h>

#include <stdlib.h>
#include <time.h>

enum {
    HOLE = 2176, /* in which 2048 bytes fit, but not at a multiple of 2048 */
    HOLE_ALIGNMENT = 2048,
    HOLES_TRIED = 1000
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* An allocator at work. Without one only the loop is run. */
struct subject {
    const struct gg_allocator *functions;
    void *state;
    uint64_t end;  /* the highest */
    uint64_t base; /* of the chunk that is filled, where chunks are cleared */
};

static int32_t allocate(struct subject *subject, const struct gg_request *request, uint64_t *handle, uint64_t *offset)
{
    *handle = request->size;
    *offset = 0;
    const struct gg_allocator *functions = subject->functions;
    if (functions) {
        int32_t result =
            functions->allocate(subject->state, request->size, request->alignment, request->kind, handle, offset);
        if (result)
            return result < 0 ? result : GG_ERR_LIMIT;
    }
    uint64_t last = subject->base + *offset + request->size;
    subject->end = last > subject->end ? last : subject->end;
    return GG_OK;
}

static void release(const struct subject *subject, uint64_t *handle)
{
    if (subject->functions)
        subject->functions->free(subject->state, *handle);
    *handle = 0;
}

/* A slice, in a chunk that is cleared when it is full. */
static int32_t bump(const struct gg_trace *trace, struct subject *subject, const struct gg_request *request)
{
    uint64_t offset;
    int32_t result = allocate(subject, request, &trace->handles[0], &offset);
    if (!result)
        return GG_OK;
    subject->functions->clear(subject->state);
    subject->base += trace->capacity;
    return allocate(subject, request, &trace->handles[0], &offset);
}

static int32_t fill(const struct gg_trace *trace, struct subject *subject)
{
    int32_t result = GG_OK;
    uint64_t offset;
    if (trace->kind == GG_TRACE_SLICES)
        for (uint64_t i = 0; i < trace->live && !result; i++)
            result = bump(trace, subject, &trace->requests[i]);
    else
        for (uint64_t i = 0; i < trace->live && !result; i++)
            result = allocate(subject, &trace->requests[i], &trace->handles[i], &offset);
    return result;
}

static int32_t run_pairs(const struct gg_trace *trace, struct subject *subject)
{
    int32_t result = GG_OK;
    uint64_t offset;
    for (uint64_t i = trace->live; i < trace->live + trace->pairs && !result; i++) {
        uint64_t *handle = &trace->handles[trace->victims[i]];
        release(subject, handle);
        result = allocate(subject, &trace->requests[i], handle, &offset);
    }
    return result;
}

static void empty(const struct gg_trace *trace, struct subject *subject)
{
    if (trace->kind == GG_TRACE_SLICES) {
        if (subject->functions)
            subject->functions->clear(subject->state);
        return;
    }
    for (uint64_t i = 0; i < trace->live; i++)
        release(subject, &trace->handles[trace->victims[i]]);
}

static int32_t check(const struct gg_trace *trace, const struct gg_allocator *allocator, char **message)
{
    if (!allocator)
        return GG_OK;
    if (allocator->version != GG_ALLOCATOR_VERSION)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "trace: an allocator of version %u, this is version %u",
                       allocator->version, GG_ALLOCATOR_VERSION);
    if (!allocator->allocate || (trace->kind == GG_TRACE_SLICES ? !allocator->clear : !allocator->free))
        return gg_fail(message, GG_ERR_UNSUPPORTED, "trace: %s cannot %s", allocator->name,
                       trace->kind == GG_TRACE_SLICES ? "free all at once" : "free");
    return GG_OK;
}

/* A failed run leaves resources behind, and the allocator to its owner. */
static int32_t failed(int32_t result, const struct gg_allocator *allocator, char **message)
{
    return gg_fail(message, result, "trace: %s has no %s for a resource", allocator->name,
                   result == GG_ERR_MEMORY ? "memory" : "room");
}

int32_t gg_trace_run(struct gg_trace *trace, const struct gg_allocator *allocator, void *state,
                     struct gg_trace_round *round, char **message)
{
    gg_succeed(message);
    if (trace->kind == GG_TRACE_HOLES)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "trace: holes have no rounds");
    int32_t result = check(trace, allocator, message);
    if (result)
        return result;
    struct subject subject = {.functions = allocator, .state = state};
    uint64_t begin = now();
    result = fill(trace, &subject);
    uint64_t filled = now();
    if (!result)
        result = run_pairs(trace, &subject);
    uint64_t paired = now();
    if (result)
        return failed(result, allocator, message);
    bool known = allocator && allocator->books;
    double books = known ? (double)allocator->books(state) / (double)trace->live : allocator ? -1 : 0;
    uint64_t emptying = now();
    empty(trace, &subject);
    uint64_t end = now();
    double live = (double)trace->live, operations = trace->pairs ? 2 * (double)trace->pairs : 2 * live;
    double whole = trace->pairs ? (double)(paired - filled) : (double)(filled - begin + (end - emptying));
    *round = (struct gg_trace_round){
        .ns = trace->kind == GG_TRACE_SLICES ? whole / live : whole / operations,
        .allocate_ns = (double)(filled - begin) / live,
        .free_ns = (double)(end - emptying) / live,
        .books = books,
        .operations = trace->kind == GG_TRACE_SLICES ? trace->live : (uint64_t)operations,
        .highest_end = subject.end,
    };
    if (allocator && !allocator->addresses)
        round->utilisation = (double)trace->peak / (double)subject.end;
    return GG_OK;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void summarise(uint64_t *samples, uint64_t count, struct gg_trace_worst *worst)
{
    qsort(samples, count, sizeof *samples, compare);
    *worst = (struct gg_trace_worst){.worst_ns = (double)samples[count - 1],
                                     .p999_ns = (double)samples[(count - 1) - (count - 1) / 1000],
                                     .median_ns = (double)samples[count / 2],
                                     .operations = count};
}

static int32_t worst_of_trace(const struct gg_trace *trace, struct subject *subject, uint64_t *samples)
{
    int32_t result = GG_OK;
    uint64_t offset, pairs = trace->live + 2 * trace->pairs;
    bool slices = trace->kind == GG_TRACE_SLICES;
    for (uint64_t i = 0; i < pairs + (slices ? 0 : trace->live) && !result; i++) {
        uint64_t begin = clock_ns(CLOCK_MONOTONIC), pair = (i - trace->live) / 2 + trace->live;
        if (slices)
            result = bump(trace, subject, &trace->requests[i]);
        else if (i < trace->live)
            result = allocate(subject, &trace->requests[i], &trace->handles[i], &offset);
        else if (i >= pairs)
            release(subject, &trace->handles[trace->victims[i - pairs]]);
        else if ((i - trace->live) % 2)
            result = allocate(subject, &trace->requests[pair], &trace->handles[trace->victims[pair]], &offset);
        else
            release(subject, &trace->handles[trace->victims[pair]]);
        samples[i] = clock_ns(CLOCK_MONOTONIC) - begin;
    }
    if (slices && subject->functions)
        subject->functions->clear(subject->state);
    return result;
}

/*
 * Fillers in a row, up to the end of what is managed; every other that would not serve the request is freed. Then the
 * request, again and again: it fits nowhere, or hardly anywhere.
 */
static int32_t worst_of_holes(const struct gg_trace *trace, struct subject *subject, uint64_t *samples, uint64_t *tried)
{
    const struct gg_request unlucky = {HOLE_ALIGNMENT, HOLE_ALIGNMENT, GG_POOL_KIND_BUFFER};
    uint64_t count = 0, kept = 0, most = gg_fillers(trace), offset, handles[HOLES_TRIED] = {0};
    uint64_t *fillers = calloc(most, sizeof *fillers);
    if (!fillers)
        return GG_ERR_MEMORY;
    for (bool chosen = false; count + kept < most;) {
        uint64_t handle;
        if (allocate(subject, &trace->requests[0], &handle, &offset))
            break;
        chosen = !chosen && count < trace->live && (0 - offset) % HOLE_ALIGNMENT > HOLE - HOLE_ALIGNMENT;
        *(chosen ? &trace->handles[count++] : &fillers[kept++]) = handle;
    }
    for (uint64_t i = 0; i < count; i++)
        release(subject, &trace->handles[i]);
    uint64_t served = 0, end = clock_ns(CLOCK_MONOTONIC) + 2000000000u;
    for (*tried = 0; *tried < HOLES_TRIED; ++*tried) {
        uint64_t begin = clock_ns(CLOCK_MONOTONIC);
        if (begin > end)
            break;
        bool was_served = !allocate(subject, &unlucky, &handles[served], &offset);
        samples[*tried] = clock_ns(CLOCK_MONOTONIC) - begin;
        served += was_served;
    }
    for (uint64_t i = 0; i < served; i++)
        release(subject, &handles[i]);
    for (uint64_t i = 0; i < kept; i++)
        release(subject, &fillers[i]);
    free(fillers);
    return GG_OK;
}

int32_t gg_trace_run_worst(struct gg_trace *trace, const struct gg_allocator *allocator, void *state,
                           struct gg_trace_worst *worst, char **message)
{
    gg_succeed(message);
    int32_t result = check(trace, allocator, message);
    if (result)
        return result;
    bool holes = trace->kind == GG_TRACE_HOLES;
    if (holes && !allocator)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "trace: holes need an allocator");
    uint64_t count = holes ? HOLES_TRIED : 2 * trace->live + 2 * trace->pairs;
    uint64_t *samples = calloc(count, sizeof *samples);
    if (!samples)
        return gg_fail(message, GG_ERR_MEMORY, "trace: no memory");
    struct subject subject = {.functions = allocator, .state = state};
    if (holes)
        result = worst_of_holes(trace, &subject, samples, &count);
    else
        result = worst_of_trace(trace, &subject, samples);
    if (!result)
        summarise(samples, trace->kind == GG_TRACE_SLICES ? trace->live : count, worst);
    free(samples);
    return result ? failed(result, allocator, message) : GG_OK;
}

struct range {
    uint64_t begin, end;
};

static int compare_ranges(const void *a, const void *b)
{
    uint64_t x = ((const struct range *)a)->begin, y = ((const struct range *)b)->begin;
    return (x > y) - (x < y);
}

static int32_t prove_disjoint(struct range *ranges, uint64_t count, const char *name, char **message)
{
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    for (uint64_t i = 1; i < count; i++)
        if (ranges[i].begin < ranges[i - 1].end)
            return gg_fail(message, GG_ERR_FORMAT, "trace: %s: ranges overlap at offset %llu", name,
                           (unsigned long long)ranges[i].begin);
    return GG_OK;
}

/* Runs what a round runs, without the slices' clearing: `ranges` are those that are live. */
static int32_t prove_trace(const struct gg_trace *trace, struct subject *subject, struct range *ranges, char **message)
{
    const char *name = subject->functions->name;
    uint64_t count = 0, offset;
    for (uint64_t i = 0; i < trace->live + trace->pairs; i++) {
        uint64_t at = i < trace->live ? i : trace->victims[i];
        const struct gg_request *request = &trace->requests[i];
        if (i >= trace->live)
            release(subject, &trace->handles[at]);
        int32_t result = allocate(subject, request, &trace->handles[at], &offset);
        if (result && trace->kind == GG_TRACE_SLICES) /* the chunk is full */
            break;
        if (result)
            return failed(result, subject->functions, message);
        if (offset % request->alignment)
            return gg_fail(message, GG_ERR_FORMAT, "trace: %s: offset %llu is no multiple of %u", name,
                           (unsigned long long)offset, request->alignment);
        ranges[at] = (struct range){offset, offset + request->size};
        count = at >= count ? at + 1 : count;
    }
    int32_t result = prove_disjoint(ranges, count, name, message);
    empty(trace, subject);
    return result;
}

int32_t gg_trace_prove(struct gg_trace *trace, const struct gg_allocator *allocator, void *state, char **message)
{
    gg_succeed(message);
    if (!allocator)
        return gg_fail(message, GG_ERR_ARGUMENT, "trace: no allocator");
    int32_t result = check(trace, allocator, message);
    if (result)
        return result;
    struct range *ranges = calloc(trace->live, sizeof *ranges);
    if (!ranges)
        return gg_fail(message, GG_ERR_MEMORY, "trace: no memory");
    struct subject subject = {.functions = allocator, .state = state};
    result = prove_trace(trace, &subject, ranges, message);
    free(ranges);
    return result;
}

/* SPDX-License-Identifier: MIT */
/* What the traces are made of (suballoc_speed.h). */
#include "trace.h"

#include "message.h"

#include <guestgpu/suballoc_pool.h>

#include <math.h>
#include <stdlib.h>

enum {
    MOST = 1 << 28,
    SPARE = 3 /* times the bytes live: what allocators get, as some waste more than others */
};

static uint64_t below(uint64_t *state, uint64_t bound) { return gg_draw(state) % bound; }

/* 20 % 8, 35 % 16, 7 % 64, 3 % 128, 35 % 256. */
static uint32_t draw_floor(uint64_t *state)
{
    uint64_t percent = below(state, 100);
    return percent < 20 ? 8 : percent < 55 ? 16 : percent < 62 ? 64 : percent < 65 ? 128 : 256;
}

static struct gg_request draw_mixed(uint64_t *state)
{
    uint64_t percent = below(state, 100);
    if (percent < 90)
        return (struct gg_request){32 + below(state, 481), draw_floor(state), GG_POOL_KIND_BUFFER};
    if (percent < 99) {
        uint64_t size = 4096 * (1 + below(state, 16));
        return (struct gg_request){size, below(state, 2) ? 4096 : 65536, GG_POOL_KIND_OPTIMAL_IMAGE};
    }
    return (struct gg_request){65536 * (64 + below(state, 193)), 4 << 20, GG_POOL_KIND_MSAA};
}

/* From `least` to `most` by the logarithm. */
static uint64_t draw_size(uint64_t *state, double least, double most)
{
    double share = (double)(gg_draw(state) >> 11) / (double)(UINT64_C(1) << 53);
    return (uint64_t)(least * exp2(log2(most / least) * share));
}

static struct gg_request draw_request(const struct gg_trace_params *params, uint64_t *state, uint64_t i)
{
    switch (params->kind) {
    case GG_TRACE_STEADY: {
        uint64_t size = draw_size(state, 16, 65536);
        return (struct gg_request){size, 8u << below(state, 6), GG_POOL_KIND_BUFFER};
    }
    case GG_TRACE_TINY:
        return (struct gg_request){32 + below(state, 481), 16, GG_POOL_KIND_BUFFER};
    case GG_TRACE_TINY_FLOORS:
        return (struct gg_request){32 + below(state, 481), draw_floor(state), GG_POOL_KIND_BUFFER};
    case GG_TRACE_MIXED:
        return draw_mixed(state);
    case GG_TRACE_SLICES: {
        uint64_t size = 16 + below(state, 4081);
        return (struct gg_request){size, 16u << below(state, 5), GG_POOL_KIND_BUFFER};
    }
    case GG_TRACE_SCENE:
        return (struct gg_request){params->sizes[i], (uint32_t)params->alignments[i], GG_POOL_KIND_BUFFER};
    default: /* the fillers between which there are holes */
        return (struct gg_request){2176, 128, GG_POOL_KIND_BUFFER};
    }
}

/* Draws the requests, and keeps account of the bytes that are live. */
static void draw_all(struct gg_trace *trace, const struct gg_trace_params *params, uint64_t *sizes)
{
    uint64_t live = trace->live, state = params->seed, bytes = 0;
    for (uint64_t i = 0; i < live; i++) {
        trace->requests[i] = draw_request(params, &state, i);
        trace->victims[i] = (uint32_t)i;
        bytes += sizes[i] = trace->requests[i].size;
    }
    trace->peak = bytes;
    for (uint64_t i = live; i < live + trace->pairs; i++) {
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
}

static int32_t check(const struct gg_trace_params *params, char **message)
{
    if (params->kind > GG_TRACE_SLICES || params->reserved)
        return gg_fail(message, GG_ERR_ARGUMENT, "trace: there is no trace %u", params->kind);
    if (params->live > MOST || params->pairs > MOST)
        return gg_fail(message, GG_ERR_ARGUMENT, "trace: more than 2^28 resources or pairs");
    if (params->kind != GG_TRACE_SCENE)
        return GG_OK;
    if (!params->sizes || !params->alignments || !params->live)
        return gg_fail(message, GG_ERR_ARGUMENT, "trace: a scene needs sizes and alignments");
    for (uint64_t i = 0; i < params->live; i++) {
        uint64_t size = params->sizes[i], alignment = params->alignments[i];
        if (!size || size > GG_POOL_MAX_BLOCK || !alignment || alignment & (alignment - 1) || alignment > 4 << 20)
            return gg_fail(message, GG_ERR_ARGUMENT,
                           "trace: resource %llu: size %llu must be 1 to 2^36, alignment %llu a power of two to 4 MiB",
                           (unsigned long long)i, (unsigned long long)size, (unsigned long long)alignment);
    }
    return GG_OK;
}

int32_t gg_trace_create(const struct gg_trace_params *params, struct gg_trace **made, char **message)
{
    gg_succeed(message);
    if (!params || !made)
        return gg_fail(message, GG_ERR_ARGUMENT, "trace: no %s", params ? "output" : "parameters");
    int32_t result = check(params, message);
    if (result)
        return result;
    bool steady = params->kind == GG_TRACE_STEADY || params->kind == GG_TRACE_MIXED;
    struct gg_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return gg_fail(message, GG_ERR_MEMORY, "trace: no memory");
    trace->kind = params->kind;
    trace->live = params->live ? params->live : steady ? 100000 : 1000000;
    trace->pairs = !steady ? 0 : params->pairs ? params->pairs : 5 * trace->live;
    trace->requests = calloc(trace->live + trace->pairs, sizeof *trace->requests);
    trace->victims = calloc(trace->live + trace->pairs, sizeof *trace->victims);
    trace->handles = calloc(trace->live, sizeof *trace->handles);
    uint64_t *sizes = calloc(trace->live, sizeof *sizes);
    bool made_all = trace->requests && trace->victims && trace->handles && sizes;
    if (made_all)
        draw_all(trace, params, sizes);
    free(sizes);
    if (!made_all) {
        gg_trace_destroy(trace);
        return gg_fail(message, GG_ERR_MEMORY, "trace: no memory");
    }
    /* Holes: all of it is filled, so that a request that fits in no hole fits nowhere. */
    trace->capacity = trace->kind == GG_TRACE_SLICES  ? 4 << 20
                      : trace->kind == GG_TRACE_HOLES ? gg_fillers(trace) * trace->requests[0].size
                                                      : SPARE * (trace->peak >> 22) * (4 << 20) + (64 << 20);
    *made = trace;
    return GG_OK;
}

void gg_trace_destroy(struct gg_trace *trace)
{
    if (!trace)
        return;
    free(trace->requests);
    free(trace->victims);
    free(trace->handles);
    free(trace);
}

int32_t gg_trace_needs(const struct gg_trace *trace, uint64_t *capacity, uint64_t *most_live)
{
    *capacity = trace->capacity;
    *most_live = trace->kind == GG_TRACE_HOLES ? gg_fillers(trace) : trace->live;
    return GG_OK;
}

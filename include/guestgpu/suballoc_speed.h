/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_SUBALLOC_SPEED_H
#define GUESTGPU_SUBALLOC_SPEED_H

/*
 * Allocators timed on the same traces, by loops in C. An allocator is a table of functions: the pool is one, and any
 * peer that somebody writes such a table for is another (experiments/suballoc_speed/README.md, "Peers").
 *
 * Sizes, alignments and orders are drawn before the clock starts; handles lie in an array that the loop walks, as those
 * of an application would.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

#define GG_ALLOCATOR_VERSION 1

/*
 * A peer is a shared library that exports `const struct gg_allocator *gg_peer(uint32_t index)`: NULL from the first
 * index on that it has none for. One thread calls. `kind` is enum gg_pool_kind.
 */
struct gg_allocator {
    uint32_t version;   /* GG_ALLOCATOR_VERSION */
    uint32_t addresses; /* 1: offsets are addresses of memory, so that no highest end can be told from them */
    const char *name;
    /* An allocator of offsets below `capacity`; NULL when it has no memory, or cannot have so many. */
    void *(*create)(uint64_t capacity, uint64_t most_live);
    void (*destroy)(void *state);
    /* 0, or another value when there is no room. The handle need not be the offset. */
    int32_t (*allocate)(void *state, uint64_t size, uint64_t alignment, uint32_t kind, uint64_t *handle,
                        uint64_t *offset);
    void (*free)(void *state, uint64_t handle); /* NULL: only all at once */
    void (*clear)(void *state);                 /* frees all at once; NULL: it cannot */
    uint64_t (*books)(void *state);             /* bytes of host memory beside what is managed; NULL: unknown */
};

/* The ones that come along, NULL after the last: pool, pool-locked, slices (GG_TRACE_SLICES only), malloc. */
const struct gg_allocator *gg_own_allocator(uint32_t index);

/* Each the same for the same seed. An operation is an allocation or a free. */
enum gg_trace_kind {
    GG_TRACE_STEADY = 0,      /* 16 B to 64 KiB by the logarithm, alignment 8 to 256; one freed, one allocated */
    GG_TRACE_TINY = 1,        /* 32 to 512 B, alignment 16; all allocated, all freed in random order */
    GG_TRACE_TINY_FLOORS = 2, /* as tiny, with alignments 8 to 256 as uses of buffers have them */
    GG_TRACE_MIXED = 3,       /* steady: 90 % tiny with floors, 9 % textures 4 to 64 KiB, 1 % MSAA 4 to 16 MiB */
    GG_TRACE_SCENE = 4,       /* the caller's sizes and alignments: loaded in order, freed in random order */
    GG_TRACE_HOLES = 5,       /* a request of 2 KiB at 2 KiB beside `live` holes in which it fits only elsewhere */
    GG_TRACE_SLICES = 6,      /* 16 to 4096 B, alignment 16 to 256, in chunks of 4 MiB that are cleared when full */
    GG_TRACE_KIND_FORCE_32 = 0x7fffffff
};

struct gg_trace_params {
    uint32_t kind; /* enum gg_trace_kind */
    uint32_t reserved;
    uint64_t live;  /* resources; 0 means 100000 (steady, mixed) or a million; scene: the array's length */
    uint64_t pairs; /* steady, mixed: frees and allocations a round; 0 means 5 times `live` */
    uint64_t seed;
    const uint64_t *sizes; /* scene */
    const uint64_t *alignments;
};

/* Nanoseconds are thread CPU time of the whole loop by its operations, the loop's own included. */
struct gg_trace_round {
    double ns;
    double allocate_ns; /* allocations alone; steady and mixed: filling up */
    double free_ns;     /* frees alone; steady and mixed: emptying */
    double utilisation; /* most bytes live / highest end; 0: the allocator gives addresses */
    double books;       /* bytes a resource, with all live; negative: unknown */
    uint64_t operations;
    uint64_t highest_end;
};

struct gg_trace_worst {
    double worst_ns; /* of one operation, by the wall clock: what interrupts it counts */
    double p999_ns;
    double median_ns;
    uint64_t operations;
};

struct gg_trace;

int32_t gg_trace_create(const struct gg_trace_params *params, struct gg_trace **trace, char **message);
void gg_trace_destroy(struct gg_trace *trace);
/* Enough for allocators that waste some: what `create` of an allocator is called with. */
int32_t gg_trace_needs(const struct gg_trace *trace, uint64_t *capacity, uint64_t *most_live);

/*
 * All operations once; nothing is live before and after. `allocator` NULL: the loop alone. GG_ERR_LIMIT: it had no
 * room; GG_ERR_UNSUPPORTED: a function that the trace needs is missing. HOLES has no rounds.
 */
int32_t gg_trace_run(struct gg_trace *trace, const struct gg_allocator *allocator, void *state,
                     struct gg_trace_round *round, char **message);
/* The same, each operation by the clock; HOLES: the requests beside the holes, for two seconds at most. */
int32_t gg_trace_run_worst(struct gg_trace *trace, const struct gg_allocator *allocator, void *state,
                           struct gg_trace_worst *worst, char **message);
/* Looks at what an allocator gives out: GG_ERR_FORMAT where an alignment is not met, or two live ranges overlap. */
int32_t gg_trace_prove(struct gg_trace *trace, const struct gg_allocator *allocator, void *state, char **message);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

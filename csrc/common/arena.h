/* SPDX-License-Identifier: MIT */
#ifndef GG_COMMON_ARENA_H
#define GG_COMMON_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory with one lifetime: that of a translation, say. Nothing is freed before all is. When memory runs
 * out `failed` stays set and NULL is returned; callers may check once, at the end of a step.
 */
struct gg_arena_chunk;
struct gg_arena {
    struct gg_arena_chunk *chunks;   /* the first is the one in use */
    struct gg_arena_chunk *large;    /* one allocation each */
    struct gg_arena_chunk *returned; /* of those, given out again */
    bool failed;
};

/* Zeroed memory, aligned for any type; size 0 gives a valid pointer. NULL only when memory ran out. */
void *gg_arena_alloc(struct gg_arena *arena, size_t count, size_t size);
/* The same but for what it holds: anything. */
void *gg_arena_alloc_raw(struct gg_arena *arena, size_t count, size_t size);
/* A larger copy of an array of the arena: `used` items are kept, the rest is zero. The old one is left behind. */
void *gg_arena_grow(struct gg_arena *arena, const void *old, size_t used, size_t count, size_t size);
/* Nobody needs this allocation any more: if it was large its memory is given out again. */
void gg_arena_return(struct gg_arena *arena, const void *memory);
void gg_arena_finish(struct gg_arena *arena);

#endif

/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)
#define LARGE_BYTES (CHUNK_BYTES / 4) /* the most that a shared chunk is begun for */

struct gg_arena_chunk {
    struct gg_arena_chunk *next;
    size_t used, size;
    max_align_t data[];
};

static void *take(struct gg_arena_chunk *chunk, size_t bytes, bool clear)
{
    void *memory = (char *)chunk->data + chunk->used;
    chunk->used += bytes;
    return clear ? memset(memory, 0, bytes) : memory;
}

/* A large one: in memory that was returned, or in a chunk of its own. calloc(): pages that nobody touches stay away. */
static void *alloc_large(struct gg_arena *arena, size_t bytes, bool clear)
{
    for (struct gg_arena_chunk *chunk = arena->returned; chunk; chunk = chunk->next)
        if (chunk->size - chunk->used >= bytes)
            return take(chunk, bytes, clear);
    struct gg_arena_chunk *chunk = clear ? calloc(1, sizeof *chunk + bytes) : malloc(sizeof *chunk + bytes);
    if (!chunk) {
        arena->failed = true;
        return NULL;
    }
    *chunk = (struct gg_arena_chunk){.next = arena->large, .used = bytes, .size = bytes};
    arena->large = chunk;
    return chunk->data;
}

static void *alloc(struct gg_arena *arena, size_t count, size_t size, bool clear)
{
    const size_t align = sizeof(max_align_t);
    if (size && count > (SIZE_MAX / 2) / size) {
        arena->failed = true;
        return NULL;
    }
    size_t bytes = (count * size + align - 1) / align * align;
    if (bytes > LARGE_BYTES)
        return alloc_large(arena, bytes, clear);
    struct gg_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) {
        chunk = malloc(sizeof *chunk + CHUNK_BYTES);
        if (!chunk) {
            arena->failed = true;
            return NULL;
        }
        *chunk = (struct gg_arena_chunk){.next = arena->chunks, .size = CHUNK_BYTES};
        arena->chunks = chunk;
    }
    return take(chunk, bytes, clear);
}

void *gg_arena_alloc(struct gg_arena *arena, size_t count, size_t size) { return alloc(arena, count, size, true); }
void *gg_arena_alloc_raw(struct gg_arena *arena, size_t count, size_t size) { return alloc(arena, count, size, false); }

void *gg_arena_grow(struct gg_arena *arena, const void *old, size_t used, size_t count, size_t size)
{
    void *memory = gg_arena_alloc(arena, count, size);
    if (memory && used)
        memcpy(memory, old, used * size);
    return memory;
}

void gg_arena_return(struct gg_arena *arena, const void *memory)
{
    struct gg_arena_chunk **link = &arena->large;
    while (*link && (*link)->data != memory)
        link = &(*link)->next;
    struct gg_arena_chunk *chunk = *link;
    if (!chunk)
        return;
    *link = chunk->next;
    chunk->next = arena->returned;
    chunk->used = 0;
    arena->returned = chunk;
}

static void free_list(struct gg_arena_chunk *chunk)
{
    for (struct gg_arena_chunk *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
}

void gg_arena_finish(struct gg_arena *arena)
{
    free_list(arena->chunks);
    free_list(arena->large);
    free_list(arena->returned);
    *arena = (struct gg_arena){0};
}

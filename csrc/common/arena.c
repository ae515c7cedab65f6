/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

struct gg_arena_chunk {
    struct gg_arena_chunk *next;
    size_t used, size;
    bool alone; /* one allocation */
    max_align_t data[];
};

/* A chunk of its own, behind the one in use. Zeroed by calloc(): pages that nobody touches are never there. */
static void *alone(struct gg_arena *arena, size_t bytes)
{
    struct gg_arena_chunk *chunk = calloc(1, sizeof *chunk + bytes), *first = arena->chunks;
    if (!chunk) {
        arena->failed = true;
        return NULL;
    }
    *chunk = (struct gg_arena_chunk){.next = first ? first->next : NULL, .used = bytes, .size = bytes, .alone = true};
    if (first)
        first->next = chunk;
    else
        arena->chunks = chunk;
    return chunk->data;
}

void *gg_arena_alloc(struct gg_arena *arena, size_t count, size_t size)
{
    const size_t align = sizeof(max_align_t);
    if (size && count > (SIZE_MAX / 2) / size) {
        arena->failed = true;
        return NULL;
    }
    size_t bytes = (count * size + align - 1) / align * align;
    struct gg_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < bytes) {
        if (bytes > CHUNK_BYTES / 4)
            return alone(arena, bytes);
        chunk = malloc(sizeof *chunk + CHUNK_BYTES);
        if (!chunk) {
            arena->failed = true;
            return NULL;
        }
        *chunk = (struct gg_arena_chunk){.next = arena->chunks, .size = CHUNK_BYTES};
        arena->chunks = chunk;
    }
    void *memory = (char *)chunk->data + chunk->used;
    chunk->used += bytes;
    return memset(memory, 0, bytes);
}

void *gg_arena_grow(struct gg_arena *arena, const void *old, size_t used, size_t count, size_t size)
{
    void *memory = gg_arena_alloc(arena, count, size);
    if (memory && used)
        memcpy(memory, old, used * size);
    return memory;
}

void gg_arena_return(struct gg_arena *arena, const void *memory)
{
    struct gg_arena_chunk **link = &arena->chunks;
    while (*link && (*link)->data != memory)
        link = &(*link)->next;
    struct gg_arena_chunk *chunk = *link;
    if (!chunk || !chunk->alone)
        return;
    *link = chunk->next;
    *chunk = (struct gg_arena_chunk){.next = arena->chunks, .size = chunk->size};
    arena->chunks = chunk;
}

void gg_arena_finish(struct gg_arena *arena)
{
    for (struct gg_arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (struct gg_arena){0};
}

/* SPDX-License-Identifier: MIT */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

struct gg_arena_chunk {
    struct gg_arena_chunk *next;
    size_t used, size;
    max_align_t data[];
};

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
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + room);
        if (!chunk) {
            arena->failed = true;
            return NULL;
        }
        *chunk = (struct gg_arena_chunk){.next = arena->chunks, .size = room};
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

void gg_arena_finish(struct gg_arena *arena)
{
    for (struct gg_arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (struct gg_arena){0};
}

/* SPDX-License-Identifier: MIT */
/* Nodes and slabs as numbered records. Chunks are never moved and never given back before the pool is. */
#include "pool_internal.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct gg_node) == 32, "two nodes a cache line");
_Static_assert(sizeof(struct gg_slab) == 64, "one slab a cache line");
_Static_assert(sizeof(struct gg_class) == 64, "one class a cache line");

enum {
    LINE = 64
};

/* malloc() returns a multiple of 16, so that there is room for its pointer before the line. */
void *gg_lines_alloc(size_t bytes)
{
    char *raw = malloc(bytes + LINE);
    if (!raw)
        return NULL;
    char *lines = raw + (LINE - (uintptr_t)raw % LINE);
    memcpy(lines - sizeof raw, &raw, sizeof raw);
    return lines;
}

void gg_lines_free(void *lines)
{
    char *raw;
    if (!lines)
        return;
    memcpy(&raw, (char *)lines - sizeof raw, sizeof raw);
    free(raw);
}

static bool reserve(struct gg_records *records, uint32_t wanted, size_t size)
{
    while (records->unused_count + (records->chunk_count << GG_CHUNK_SHIFT) - records->count < wanted) {
        if (records->chunk_count == records->chunk_capacity) {
            uint32_t capacity = records->chunk_capacity ? 2 * records->chunk_capacity : 8;
            char **chunks = realloc(records->chunks, capacity * sizeof *chunks);
            if (!chunks)
                return false;
            records->chunks = chunks;
            records->chunk_capacity = capacity;
        }
        char *chunk = gg_lines_alloc(size << GG_CHUNK_SHIFT);
        if (!chunk)
            return false;
        records->chunks[records->chunk_count++] = chunk;
        if (!records->count)
            records->count = 1; /* number 0 is none */
    }
    return true;
}

bool gg_nodes_reserve(struct gg_pool *pool, uint32_t wanted)
{
    return reserve(&pool->nodes, wanted, sizeof(struct gg_node));
}

bool gg_slabs_reserve(struct gg_pool *pool, uint32_t wanted)
{
    return reserve(&pool->slabs, wanted, sizeof(struct gg_slab));
}

uint32_t gg_node_take(struct gg_pool *pool)
{
    uint32_t i = pool->nodes.unused;
    if (i) {
        pool->nodes.unused = gg_node(pool, i)->next;
        pool->nodes.unused_count--;
        return i;
    }
    i = pool->nodes.count++;
    *gg_node(pool, i) = (struct gg_node){.generation = pool->salt};
    return i;
}

void gg_node_return(struct gg_pool *pool, uint32_t i)
{
    struct gg_node *node = gg_node(pool, i);
    node->state = GG_NODE_UNUSED;
    node->next = pool->nodes.unused;
    pool->nodes.unused = i;
    pool->nodes.unused_count++;
}

uint32_t gg_slab_take(struct gg_pool *pool)
{
    uint32_t i = pool->slabs.unused;
    if (i) {
        pool->slabs.unused = gg_slab(pool, i)->next;
        pool->slabs.unused_count--;
        return i;
    }
    i = pool->slabs.count++;
    *gg_slab(pool, i) = (struct gg_slab){.generation = (uint16_t)pool->salt};
    return i;
}

void gg_slab_return(struct gg_pool *pool, uint32_t i)
{
    struct gg_slab *slab = gg_slab(pool, i);
    /* Every slot free: no handle finds anything here, whatever its generation. */
    *slab = (struct gg_slab){.free = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                             .generation = (uint16_t)(slab->generation + 1),
                             .next = pool->slabs.unused};
    pool->slabs.unused = i;
    pool->slabs.unused_count++;
}

void gg_records_finish(struct gg_records *records)
{
    for (uint32_t i = 0; i < records->chunk_count; i++)
        gg_lines_free(records->chunks[i]);
    free(records->chunks);
}

uint64_t gg_records_bytes(const struct gg_records *records, uint64_t size)
{
    return ((size << GG_CHUNK_SHIFT) + LINE) * records->chunk_count + records->chunk_capacity * sizeof(char *);
}

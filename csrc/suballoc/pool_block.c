/* SPDX-License-Identifier: MIT */
/* Where nodes come from: heaps take segments of pages, pages come from blocks, blocks from the caller. */
#include "pool_internal.h"

#include <stdlib.h>

enum {
    SEGMENT_LEAST = 4, /* pages: what a heap asks for at first, */
    SEGMENT_MOST = 16, /* and when it is large */
    SEGMENT_SHARE = 8  /* in between a share of what it has */
};

static struct gg_fit *pages_of(struct gg_pool *pool) { return &pool->fits[GG_LEVEL_PAGES]; }

/* One node, free and in no bin, that is all of a segment or block. */
static uint32_t whole(struct gg_pool *pool, uint32_t level, uint32_t block, uint32_t owner, uint32_t start,
                      uint32_t size)
{
    uint32_t i = gg_node_take(pool);
    struct gg_node *node = gg_node(pool, i);
    uint32_t generation = node->generation;
    *node = (struct gg_node){.start = start,
                             .size = size,
                             .prev = GG_FIRST | owner,
                             .generation = generation,
                             .block = (uint16_t)block,
                             .level = (uint8_t)level,
                             .state = GG_NODE_FREE};
    pool->fits[level].units += size;
    return i;
}

/* A block in which `bytes` fit at its start; *first is its one node, free. */
static int32_t block_create(struct gg_pool *pool, uint64_t bytes, uint32_t *first)
{
    const struct gg_pool_config *config = &pool->config;
    bool dedicated = bytes > config->block_size;
    if (pool->blocks_live == config->max_blocks || (dedicated && config->no_dedicated) || bytes > GG_POOL_MAX_BLOCK)
        return GG_ERR_LIMIT;
    uint64_t size = dedicated ? (bytes + GG_POOL_PAGE - 1) / GG_POOL_PAGE * GG_POOL_PAGE : config->block_size;
    uint32_t number = pool->block_count;
    if (pool->blocks_live < pool->block_count) {
        for (number = 0; pool->blocks[number].size;)
            number++;
    } else if (number == pool->block_capacity) {
        uint32_t capacity = number ? 2 * number : 8;
        struct gg_block *blocks = realloc(pool->blocks, capacity * sizeof *blocks);
        if (!blocks)
            return GG_ERR_MEMORY;
        pool->blocks = blocks;
        pool->block_capacity = capacity;
    }
    if (config->block_create) {
        int32_t result = config->block_create(config->user, number, size);
        if (result)
            return result < 0 ? result : GG_ERR_MEMORY;
    }
    uint32_t i = *first = whole(pool, GG_LEVEL_PAGES, number, number, 0, (uint32_t)(size >> GG_PAGE_SHIFT));
    gg_fit_insert(pool, pages_of(pool), i);
    pool->blocks[number] = (struct gg_block){.size = size, .first = i, .dedicated = dedicated};
    gg_shadow_create(&pool->blocks[number]);
    pool->block_count += number == pool->block_count;
    pool->blocks_live++;
    pool->capacity += size;
    return GG_OK;
}

void gg_block_destroy(struct gg_pool *pool, uint32_t block)
{
    struct gg_block gone = pool->blocks[block];
    gg_shadow_destroy(&gone);
    pool->blocks[block] = (struct gg_block){0};
    pool->blocks_live--;
    pool->capacity -= gone.size;
    if (pool->config.block_destroy)
        pool->config.block_destroy(pool->config.user, block, gone.size);
}

static uint32_t pages_carve(struct gg_pool *pool, uint32_t i, uint32_t pad, uint64_t bytes, enum gg_node_state state)
{
    if (pool->kept == gg_node(pool, i)->block + 1u)
        pool->kept = 0;
    return gg_fit_carve(pool, pages_of(pool), i, pad, bytes, state);
}

int32_t gg_pages_take(struct gg_pool *pool, uint64_t bytes, uint64_t alignment, uint32_t *taken)
{
    if (bytes > GG_POOL_MAX_BLOCK)
        return GG_ERR_LIMIT;
    uint32_t size = (uint32_t)((bytes + GG_POOL_PAGE - 1) >> GG_PAGE_SHIFT), pad;
    uint32_t pages = alignment > GG_POOL_PAGE ? (uint32_t)(alignment >> GG_PAGE_SHIFT) : 1;
    uint32_t i = gg_fit_find(pool, pages_of(pool), size, pages, &pad);
    if (!i) {
        int32_t result = block_create(pool, bytes, &i);
        if (result)
            return result;
        pad = 0;
    }
    *taken = pages_carve(pool, i, pad, bytes, GG_NODE_LIVE);
    return GG_OK;
}

/* Pages for a heap: as many as it would like, where there are as many; otherwise one. The node is in no bin. */
static int32_t segment_create(struct gg_pool *pool, uint32_t heap, uint32_t *segment)
{
    struct gg_fit *pages = pages_of(pool);
    uint32_t pad, wish = (uint32_t)(pool->fits[heap].units >> (GG_PAGE_SHIFT - GG_UNIT_SHIFT)) / SEGMENT_SHARE;
    wish = wish < SEGMENT_LEAST ? SEGMENT_LEAST : wish > SEGMENT_MOST ? SEGMENT_MOST : wish;
    uint32_t i = gg_fit_find(pool, pages, wish, 1, &pad);
    if (!i)
        i = gg_fit_find(pool, pages, 1, 1, &pad);
    if (!i) {
        int32_t result = block_create(pool, GG_POOL_PAGE, &i);
        if (result)
            return result;
    }
    uint32_t size = gg_node(pool, i)->size < wish ? gg_node(pool, i)->size : wish;
    i = pages_carve(pool, i, 0, (uint64_t)size << GG_PAGE_SHIFT, GG_NODE_SEGMENT);
    struct gg_node *node = gg_node(pool, i);
    const uint32_t shift = GG_PAGE_SHIFT - GG_UNIT_SHIFT;
    *segment = node->aux = whole(pool, heap, node->block, i, node->start << shift, size << shift);
    return GG_OK;
}

int32_t gg_heap_take(struct gg_pool *pool, uint32_t heap, uint64_t bytes, uint64_t alignment, enum gg_node_state state,
                     uint32_t *taken)
{
    struct gg_fit *fit = &pool->fits[heap];
    uint32_t size = (uint32_t)((bytes + 15) >> GG_UNIT_SHIFT), pad;
    uint32_t units = alignment > 16 ? (uint32_t)(alignment >> GG_UNIT_SHIFT) : 1;
    uint32_t i = gg_fit_find(pool, fit, size, units, &pad);
    if (!i) {
        int32_t result = segment_create(pool, heap, &i);
        if (result)
            return result;
        gg_fit_insert(pool, fit, i);
        pad = 0; /* it begins at a page, and no alignment here is larger */
    }
    *taken = gg_fit_carve(pool, fit, i, pad, bytes, state);
    return GG_OK;
}

static void block_emptied(struct gg_pool *pool, uint32_t i)
{
    uint32_t block = gg_node(pool, i)->block;
    if (!pool->blocks[block].dedicated && !pool->kept) {
        pool->kept = block + 1;
        gg_fit_insert(pool, pages_of(pool), i);
        return;
    }
    pages_of(pool)->units -= gg_node(pool, i)->size;
    gg_node_return(pool, i);
    gg_block_destroy(pool, block);
}

void gg_node_release(struct gg_pool *pool, uint32_t i)
{
    uint32_t level = gg_node(pool, i)->level;
    i = gg_fit_release(pool, &pool->fits[level], i);
    if (i && level != GG_LEVEL_PAGES) {
        const struct gg_node *node = gg_node(pool, i);
        uint32_t segment = node->prev & ~GG_FIRST;
        pool->fits[level].units -= node->size;
        gg_node_return(pool, i);
        i = gg_fit_release(pool, pages_of(pool), segment);
    }
    if (i)
        block_emptied(pool, i);
}

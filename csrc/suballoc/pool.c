/* SPDX-License-Identifier: MIT */
/* The pool's functions: what is refused, which tier serves what is not, and the lock. */
#include "pool_internal.h"

#include "message.h"

#include <stdlib.h>

static bool power_of_two(uint64_t value) { return value && !(value & (value - 1)); }

static int32_t check_config(const struct gg_pool_config *config, char **message)
{
    if (config->block_size % GG_POOL_PAGE || config->block_size > GG_POOL_MAX_BLOCK)
        return gg_fail(message, GG_ERR_ARGUMENT, "pool: block_size %llu is not a multiple of 64 KiB up to 64 GiB",
                       (unsigned long long)config->block_size);
    if (config->granularity && (!power_of_two(config->granularity) || config->granularity > GG_POOL_PAGE))
        return gg_fail(message, GG_ERR_ARGUMENT, "pool: granularity %llu is not a power of two up to 64 KiB",
                       (unsigned long long)config->granularity);
    if (config->max_blocks > GG_MAX_BLOCKS || config->no_dedicated > 1 || config->locked > 1 || config->reserved)
        return gg_fail(message, GG_ERR_ARGUMENT, "pool: %s",
                       config->max_blocks > GG_MAX_BLOCKS ? "max_blocks is above 65535"
                                                          : "no_dedicated and locked are 0 or 1, reserved is 0");
    return GG_OK;
}

int32_t gg_pool_create(const struct gg_pool_config *config, struct gg_pool **out, char **message)
{
    gg_succeed(message);
    if (!config || !out)
        return gg_fail(message, GG_ERR_ARGUMENT, "pool: no %s", config ? "output" : "config");
    int32_t result = check_config(config, message);
    if (result)
        return result;
    struct gg_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return gg_fail(message, GG_ERR_MEMORY, "pool: no memory");
    pool->config = *config;
    if (!config->block_size)
        pool->config.block_size = (uint64_t)64 << 20;
    if (!config->max_blocks)
        pool->config.max_blocks = GG_MAX_BLOCKS;
    /* Down to 16 bytes no two resources share a granule anyway. */
    pool->heaps = config->granularity > 1u << GG_UNIT_SHIFT ? 2 : 1;
    pool->salt = (uint32_t)(((uintptr_t)pool >> 4) * 0x9e3779b1u >> 7);
    /* No request for a heap is smaller than a tiny resource is large, so smaller rests would serve nobody. */
    for (uint32_t heap = 0; heap < GG_HEAPS; heap++)
        gg_fit_init(&pool->fits[heap], heap, GG_UNIT_SHIFT, GG_POOL_TINY >> GG_UNIT_SHIFT);
    gg_fit_init(&pool->fits[GG_LEVEL_PAGES], GG_LEVEL_PAGES, GG_PAGE_SHIFT, 1);
    if (config->locked && pthread_mutex_init(&pool->mutex, NULL)) {
        free(pool);
        return gg_fail(message, GG_ERR_MEMORY, "pool: no mutex");
    }
    *out = pool;
    return GG_OK;
}

void gg_pool_destroy(struct gg_pool *pool)
{
    if (!pool)
        return;
    for (uint32_t block = 0; block < pool->block_count; block++)
        if (pool->blocks[block].size)
            gg_block_destroy(pool, block);
    free(pool->blocks);
    gg_records_finish(&pool->nodes);
    gg_records_finish(&pool->slabs);
    if (pool->config.locked)
        pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

static void lock(struct gg_pool *pool)
{
    if (pool->config.locked)
        pthread_mutex_lock(&pool->mutex);
}

static void unlock(struct gg_pool *pool)
{
    if (pool->config.locked)
        pthread_mutex_unlock(&pool->mutex);
}

static int32_t node_allocate(struct gg_pool *pool, uint32_t heap, bool large, uint64_t size, uint64_t alignment,
                             struct gg_pool_place *place)
{
    uint32_t i;
    if (!gg_nodes_reserve(pool, GG_NODES_OF_AN_OPERATION))
        return GG_ERR_MEMORY;
    int32_t result =
        large ? gg_pages_take(pool, size, alignment, &i) : gg_heap_take(pool, heap, size, alignment, GG_NODE_LIVE, &i);
    if (result)
        return result;
    struct gg_node *node = gg_node(pool, i);
    node->aux = (uint32_t)__builtin_ctzll(alignment);
    pool->live++;
    pool->requested += size;
    pool->rounding += node->waste & ((1u << pool->fits[node->level].shift) - 1);
    place->handle = (uint64_t)GG_HANDLE_NODE << 62 | (uint64_t)i << 32 | node->generation;
    place->offset = gg_node_offset(pool, node);
    place->block = node->block;
    place->tier = large ? GG_POOL_TIER_LARGE : GG_POOL_TIER_MEDIUM;
    return GG_OK;
}

static int32_t allocate(struct gg_pool *pool, uint64_t size, uint64_t alignment, uint32_t kind,
                        struct gg_pool_place *place)
{
    if (!size || !power_of_two(alignment) || alignment > pool->config.block_size || kind > GG_POOL_KIND_MSAA)
        return GG_ERR_ARGUMENT;
    uint32_t heap = kind >= GG_POOL_KIND_OPTIMAL_IMAGE && pool->heaps == 2;
    bool large = size >= GG_POOL_PAGE || alignment > GG_POOL_PAGE || kind == GG_POOL_KIND_MSAA;
    if (!large && size <= GG_POOL_TINY && alignment <= GG_POOL_TINY)
        return gg_tiny_allocate(pool, heap, (uint32_t)size, (uint32_t)alignment, place);
    return node_allocate(pool, heap, large, size, alignment, place);
}

int32_t gg_pool_allocate(struct gg_pool *pool, uint64_t size, uint64_t alignment, uint32_t kind,
                         struct gg_pool_place *place)
{
    if (!pool || !place)
        return GG_ERR_ARGUMENT;
    lock(pool);
    int32_t result = allocate(pool, size, alignment, kind, place);
    unlock(pool);
    return result;
}

static uint32_t node_find(const struct gg_pool *pool, uint64_t handle)
{
    uint32_t i = handle >> 32 & ((1u << 30) - 1);
    if (!i || i >= pool->nodes.count)
        return 0;
    const struct gg_node *node = gg_node(pool, i);
    return node->state == GG_NODE_LIVE && node->generation == (uint32_t)handle ? i : 0;
}

static int32_t release(struct gg_pool *pool, uint64_t handle)
{
    if (gg_handle_tag(handle) == GG_HANDLE_TINY) {
        int32_t result = gg_tiny_free(pool, handle);
        if (result)
            return result;
    } else {
        uint32_t i = gg_handle_tag(handle) == GG_HANDLE_NODE ? node_find(pool, handle) : 0;
        if (!i)
            return GG_ERR_ARGUMENT;
        const struct gg_node *node = gg_node(pool, i);
        pool->live--;
        pool->requested -= gg_node_bytes(pool, node) - node->waste;
        pool->rounding -= node->waste & ((1u << pool->fits[node->level].shift) - 1);
        gg_node_release(pool, i);
    }
    if (!pool->live)
        gg_slabs_trim(pool);
    return GG_OK;
}

int32_t gg_pool_free(struct gg_pool *pool, uint64_t handle)
{
    if (!pool)
        return GG_ERR_ARGUMENT;
    lock(pool);
    int32_t result = release(pool, handle);
    unlock(pool);
    return result;
}

static int32_t query(const struct gg_pool *pool, uint64_t handle, struct gg_pool_range *range)
{
    if (gg_handle_tag(handle) == GG_HANDLE_TINY) {
        uint32_t slot, waste;
        const struct gg_slab *slab = gg_tiny_find(pool, handle, &slot, &waste);
        if (!slab)
            return GG_ERR_ARGUMENT;
        *range = (struct gg_pool_range){.offset = gg_slab_offset(slab, slot),
                                        .size = gg_slab_slot_bytes(slab) - waste,
                                        .block = slab->block,
                                        .tier = GG_POOL_TIER_TINY};
        return GG_OK;
    }
    uint32_t i = gg_handle_tag(handle) == GG_HANDLE_NODE ? node_find(pool, handle) : 0;
    if (!i)
        return GG_ERR_ARGUMENT;
    const struct gg_node *node = gg_node(pool, i);
    *range = (struct gg_pool_range){.offset = gg_node_offset(pool, node),
                                    .size = gg_node_bytes(pool, node) - node->waste,
                                    .block = node->block,
                                    .tier = node->level == GG_LEVEL_PAGES ? GG_POOL_TIER_LARGE : GG_POOL_TIER_MEDIUM};
    return GG_OK;
}

int32_t gg_pool_query(struct gg_pool *pool, uint64_t handle, struct gg_pool_range *range)
{
    if (!pool || !range)
        return GG_ERR_ARGUMENT;
    lock(pool);
    int32_t result = query(pool, handle, range);
    unlock(pool);
    return result;
}

int32_t gg_pool_statistics(struct gg_pool *pool, struct gg_pool_statistics *statistics)
{
    if (!pool || !statistics)
        return GG_ERR_ARGUMENT;
    lock(pool);
    *statistics = (struct gg_pool_statistics){
        .capacity = pool->capacity,
        .requested = pool->requested,
        .rounding = pool->rounding,
        .padding = pool->padding,
        .free = pool->capacity - pool->requested - pool->rounding - pool->padding,
        .books = sizeof *pool + pool->block_capacity * sizeof *pool->blocks +
                 gg_records_bytes(&pool->nodes, sizeof(struct gg_node)) +
                 gg_records_bytes(&pool->slabs, sizeof(struct gg_slab)),
        .live = pool->live,
        .blocks = pool->blocks_live,
        .slabs = pool->slab_count,
        .free_ranges = pool->fits[0].ranges + pool->fits[1].ranges + pool->fits[GG_LEVEL_PAGES].ranges,
    };
    unlock(pool);
    return GG_OK;
}

int32_t gg_pool_trim(struct gg_pool *pool)
{
    if (!pool)
        return GG_ERR_ARGUMENT;
    lock(pool);
    gg_slabs_trim(pool);
    if (pool->kept) {
        uint32_t block = pool->kept - 1, i = pool->blocks[block].first;
        pool->kept = 0;
        gg_fit_remove(pool, &pool->fits[GG_LEVEL_PAGES], i);
        pool->fits[GG_LEVEL_PAGES].units -= gg_node(pool, i)->size;
        gg_node_return(pool, i);
        gg_block_destroy(pool, block);
    }
    unlock(pool);
    return GG_OK;
}

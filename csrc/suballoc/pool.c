/* SPDX-License-Identifier: MIT */
/* The pool's functions: what is refused, which tier serves what is not, and the lock. */
#include "pool_internal.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

/* What the short ways end in: inlined, it would cost them registers. */
#define NOINLINE __attribute__((noinline))

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

static void free_classes(struct gg_pool *pool)
{
    for (uint32_t heap = 0; heap < GG_HEAPS; heap++)
        gg_lines_free(pool->classes[heap]);
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
    for (uint32_t heap = 0; heap < pool->heaps; heap++) {
        pool->classes[heap] = gg_lines_alloc(GG_CLASSES * sizeof *pool->classes[heap]);
        if (!pool->classes[heap]) {
            free_classes(pool);
            free(pool);
            return gg_fail(message, GG_ERR_MEMORY, "pool: no memory");
        }
        memset(pool->classes[heap], 0, GG_CLASSES * sizeof *pool->classes[heap]);
    }
    pool->classes_of[GG_POOL_KIND_BUFFER] = pool->classes_of[GG_POOL_KIND_LINEAR_IMAGE] = pool->classes[0];
    pool->classes_of[GG_POOL_KIND_OPTIMAL_IMAGE] = pool->classes[pool->heaps - 1];
    pool->salt = (uint32_t)(((uintptr_t)pool >> 4) * 0x9e3779b1u >> 7);
    /* No request for a heap is smaller than a tiny resource is large, so smaller rests would serve nobody. */
    for (uint32_t heap = 0; heap < GG_HEAPS; heap++)
        gg_fit_init(&pool->fits[heap], heap, GG_UNIT_SHIFT, GG_POOL_TINY >> GG_UNIT_SHIFT);
    gg_fit_init(&pool->fits[GG_LEVEL_PAGES], GG_LEVEL_PAGES, GG_PAGE_SHIFT, 1);
    if (config->locked && pthread_mutex_init(&pool->mutex, NULL)) {
        free_classes(pool);
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
    free_classes(pool);
    if (pool->config.locked)
        pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

/* The class whose singles a node is one of; NULL: it is too large for slots. */
static struct gg_class *class_of_single(const struct gg_pool *pool, uint32_t heap, uint64_t size, uint64_t alignment)
{
    uint32_t stride;
    if (!gg_class_exists(size, alignment))
        return NULL;
    return gg_class(pool, gg_class_of(heap, (uint32_t)size, (uint32_t)alignment, &stride));
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
    uint32_t rounding = node->waste & ((1u << pool->fits[node->level].shift) - 1);
    node->aux = (uint32_t)__builtin_ctzll(alignment);
    pool->live++;
    pool->requested += size;
    pool->rounding += rounding;
    pool->held += size + rounding;
    place->handle = (uint64_t)GG_HANDLE_NODE << 62 | (uint64_t)i << 32 | node->generation;
    place->offset = gg_node_offset(pool, node);
    place->block = node->block;
    place->tier = large ? GG_POOL_TIER_LARGE : GG_POOL_TIER_MEDIUM;
    gg_shadow_take(pool, place->block, place->offset, size);
    return GG_OK;
}

static void node_free(struct gg_pool *pool, uint32_t i)
{
    const struct gg_node *node = gg_node(pool, i);
    uint64_t size = gg_node_bytes(pool, node) - node->waste;
    uint32_t rounding = node->waste & ((1u << pool->fits[node->level].shift) - 1);
    if (node->level != GG_LEVEL_PAGES) {
        struct gg_class *class = class_of_single(pool, node->level, size, UINT64_C(1) << node->aux);
        if (class)
            class->singles--;
    }
    pool->live--;
    pool->requested -= size;
    pool->rounding -= rounding;
    pool->held -= size + rounding;
    gg_shadow_give(pool, node->block, gg_node_offset(pool, node), size);
    gg_node_release(pool, i);
}

/* The first slot that the class has claimed. */
static inline int32_t slot_allocate(struct gg_pool *pool, struct gg_class *class, uint32_t size, uint32_t stride,
                                    struct gg_pool_place *place)
{
    uint32_t slot = (uint32_t)__builtin_ctzll(class->bits), waste = stride - size;
    class->bits &= class->bits - 1;
    pool->requested += size;
    pool->rounding += waste & 15;
    place->handle = (class->handle | (uint64_t)slot << 26) ^ ((uint64_t)waste << 16 | waste);
    place->offset = class->offset + (uint64_t)slot * class->period;
    place->block = class->block;
    place->tier = class->tier;
    gg_shadow_take(pool, place->block, place->offset, size);
    return GG_OK;
}

/* What no slot is claimed for, or is too large or too strictly aligned for slots. */
static NOINLINE int32_t allocate_slowly(struct gg_pool *pool, uint64_t size, uint64_t alignment, uint32_t kind,
                                        struct gg_pool_place *place)
{
    if (!size || !power_of_two(alignment) || alignment > pool->config.block_size || kind > GG_POOL_KIND_MSAA)
        return GG_ERR_ARGUMENT;
    uint32_t heap = kind >= GG_POOL_KIND_OPTIMAL_IMAGE && pool->heaps == 2, stride;
    bool large = size >= GG_POOL_PAGE || alignment > GG_POOL_PAGE || kind == GG_POOL_KIND_MSAA;
    struct gg_class *class = NULL;
    if (!large && gg_class_exists(size, alignment)) {
        uint32_t number = gg_class_of(heap, (uint32_t)size, (uint32_t)alignment, &stride);
        class = gg_class(pool, number);
        int32_t result = class->bits ? GG_OK : gg_class_refill(pool, number);
        if (!result)
            return slot_allocate(pool, class, (uint32_t)size, stride, place);
        if (result != GG_ERR_LIMIT || stride <= GG_POOL_TINY)
            return result;
    }
    int32_t result = node_allocate(pool, heap, large, size, alignment, place);
    if (!result && class)
        class->singles++;
    return result;
}

static NOINLINE int32_t allocate_locked(struct gg_pool *pool, uint64_t size, uint64_t alignment, uint32_t kind,
                                        struct gg_pool_place *place)
{
    pthread_mutex_lock(&pool->mutex);
    int32_t result = allocate_slowly(pool, size, alignment, kind, place);
    pthread_mutex_unlock(&pool->mutex);
    return result;
}

/* The short way is for slots that are claimed. All else is a call at its end, so that it saves no registers. */
int32_t gg_pool_allocate(struct gg_pool *pool, uint64_t size, uint64_t alignment, uint32_t kind,
                         struct gg_pool_place *place)
{
    if (!pool || !place)
        return GG_ERR_ARGUMENT;
    if (pool->config.locked)
        return allocate_locked(pool, size, alignment, kind, place);
    if (size - 1 < GG_SLAB_STRIDE - GG_SLAB_ALIGNMENT && alignment - 1 < GG_SLAB_ALIGNMENT &&
        !(alignment & (alignment - 1)) && kind < GG_POOL_KIND_MSAA) {
        uint32_t stride;
        struct gg_class *class = &pool->classes_of[kind][gg_class_of(0, (uint32_t)size, (uint32_t)alignment, &stride)];
        if (class->bits)
            return slot_allocate(pool, class, (uint32_t)size, stride, place);
    }
    return allocate_slowly(pool, size, alignment, kind, place);
}

static uint32_t node_find(const struct gg_pool *pool, uint64_t handle)
{
    uint32_t i = handle >> 32 & ((1u << 30) - 1);
    if (!i || i >= pool->nodes.count)
        return 0;
    const struct gg_node *node = gg_node(pool, i);
    return node->state == GG_NODE_LIVE && node->generation == (uint32_t)handle ? i : 0;
}

static NOINLINE int32_t release_node(struct gg_pool *pool, uint64_t handle)
{
    uint32_t i = gg_handle_tag(handle) == GG_HANDLE_NODE ? node_find(pool, handle) : 0;
    if (!i)
        return GG_ERR_ARGUMENT;
    node_free(pool, i);
    if (!pool->requested)
        gg_slabs_trim(pool);
    return GG_OK;
}

static NOINLINE int32_t slot_freed(struct gg_pool *pool, uint32_t slab, bool was_full)
{
    gg_slot_freed(pool, slab, was_full);
    return GG_OK;
}

static inline int32_t release_slot(struct gg_pool *pool, uint64_t handle)
{
    struct gg_slab *slab = gg_slot_find(pool, handle);
    if (!slab)
        return GG_ERR_ARGUMENT;
    struct gg_handle_slot at = gg_handle_slot(handle);
    uint32_t bytes = gg_slab_slot_bytes(slab), words = slab->words, used = slab->used - 1u;
    gg_shadow_give(pool, slab->block, gg_slab_offset(slab, at.word * 64 + at.bit), bytes - at.waste);
    slab->free[at.word] |= UINT64_C(1) << at.bit;
    slab->words = (uint8_t)(words | 1u << at.word);
    slab->used = (uint16_t)used;
    pool->live--;
    pool->held -= bytes;
    pool->rounding -= at.waste & 15;
    uint64_t requested = pool->requested -= bytes - at.waste;
    return words & 15 && used && requested ? GG_OK : slot_freed(pool, at.slab, !(words & 15));
}

static NOINLINE int32_t release_locked(struct gg_pool *pool, uint64_t handle)
{
    pthread_mutex_lock(&pool->mutex);
    int32_t result = gg_handle_tag(handle) == GG_HANDLE_SLOT ? release_slot(pool, handle) : release_node(pool, handle);
    pthread_mutex_unlock(&pool->mutex);
    return result;
}

int32_t gg_pool_free(struct gg_pool *pool, uint64_t handle)
{
    if (!pool)
        return GG_ERR_ARGUMENT;
    if (pool->config.locked)
        return release_locked(pool, handle);
    return gg_handle_tag(handle) == GG_HANDLE_SLOT ? release_slot(pool, handle) : release_node(pool, handle);
}

static int32_t query(const struct gg_pool *pool, uint64_t handle, struct gg_pool_range *range)
{
    if (gg_handle_tag(handle) == GG_HANDLE_SLOT) {
        const struct gg_slab *slab = gg_slot_find(pool, handle);
        if (!slab)
            return GG_ERR_ARGUMENT;
        struct gg_handle_slot at = gg_handle_slot(handle);
        *range = (struct gg_pool_range){.offset = gg_slab_offset(slab, at.word * 64 + at.bit),
                                        .size = gg_slab_slot_bytes(slab) - at.waste,
                                        .block = slab->block,
                                        .tier = gg_slab_tier(slab)};
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
    gg_pool_lock(pool);
    int32_t result = query(pool, handle, range);
    gg_pool_unlock(pool);
    return result;
}

int32_t gg_pool_statistics(struct gg_pool *pool, struct gg_pool_statistics *statistics)
{
    if (!pool || !statistics)
        return GG_ERR_ARGUMENT;
    gg_pool_lock(pool);
    uint64_t slots, bytes;
    gg_claims(pool, &slots, &bytes);
    uint64_t held = pool->held - bytes;
    *statistics = (struct gg_pool_statistics){
        .capacity = pool->capacity,
        .requested = pool->requested,
        .rounding = pool->rounding,
        .padding = held - pool->requested - pool->rounding,
        .free = pool->capacity - held,
        .books = sizeof *pool + pool->heaps * GG_CLASSES * sizeof(struct gg_class) +
                 pool->block_capacity * sizeof *pool->blocks + gg_records_bytes(&pool->nodes, sizeof(struct gg_node)) +
                 gg_records_bytes(&pool->slabs, sizeof(struct gg_slab)),
        .live = pool->live - slots,
        .blocks = pool->blocks_live,
        .slabs = pool->slab_count,
        .free_ranges = pool->fits[0].ranges + pool->fits[1].ranges + pool->fits[GG_LEVEL_PAGES].ranges,
    };
    gg_pool_unlock(pool);
    return GG_OK;
}

int32_t gg_pool_trim(struct gg_pool *pool)
{
    if (!pool)
        return GG_ERR_ARGUMENT;
    gg_pool_lock(pool);
    gg_slabs_trim(pool);
    if (pool->kept) {
        uint32_t block = pool->kept - 1, i = pool->blocks[block].first;
        pool->kept = 0;
        gg_fit_remove(pool, &pool->fits[GG_LEVEL_PAGES], i);
        pool->fits[GG_LEVEL_PAGES].units -= gg_node(pool, i)->size;
        gg_node_return(pool, i);
        gg_block_destroy(pool, block);
    }
    gg_pool_unlock(pool);
    return GG_OK;
}

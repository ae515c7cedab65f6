/* SPDX-License-Identifier: MIT */
#ifndef GG_TEST_POOL_MODEL_H
#define GG_TEST_POOL_MODEL_H

/*
 * The oracle of the pool: live ranges as a sorted array, and nothing clever. What the pool hands out must overlap
 * nothing, be aligned, lie in a block that exists, and share no granule with a resource of the other kind.
 */
#include <guestgpu/suballoc_pool.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODEL_BLOCKS = 1024
};

struct model_range {
    uint64_t handle, offset, size;
    uint32_t block, optimal;
};

struct model {
    struct model_range *ranges; /* by block and offset */
    size_t count, capacity;
    uint64_t granularity, requested;
    uint64_t blocks[MODEL_BLOCKS]; /* sizes, as the hooks say */
    uint32_t block_count;
    bool refuse;        /* the next block */
    const char *broken; /* what the hooks saw */
};

static inline int32_t model_block_create(void *user, uint32_t block, uint64_t size)
{
    struct model *m = user;
    if (m->refuse)
        return GG_ERR_DEVICE;
    if (block >= MODEL_BLOCKS || m->blocks[block] || !size)
        m->broken = "a block was created twice";
    else
        m->blocks[block] = size;
    m->block_count++;
    return GG_OK;
}

static inline void model_block_destroy(void *user, uint32_t block, uint64_t size)
{
    struct model *m = user;
    if (block >= MODEL_BLOCKS || m->blocks[block] != size)
        m->broken = "a block was destroyed that does not exist so";
    else
        m->blocks[block] = 0;
    m->block_count--;
}

static inline bool model_before(const struct model_range *a, uint32_t block, uint64_t offset)
{
    return a->block < block || (a->block == block && a->offset < offset);
}

static inline size_t model_find(const struct model *m, uint32_t block, uint64_t offset)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (model_before(&m->ranges[middle], block, offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool model_conflict(const struct model *m, const struct model_range *a, const struct model_range *b)
{
    if (a->block != b->block)
        return false;
    if (a->offset + a->size > b->offset)
        return true;
    return a->optimal != b->optimal && (a->offset + a->size - 1) / m->granularity == b->offset / m->granularity;
}

/* Notes what was allocated; returns what is wrong with it, or NULL. */
static inline const char *model_add(struct model *m, const struct gg_pool_place *place, uint64_t size,
                                    uint64_t alignment, uint32_t kind)
{
    const struct model_range range = {place->handle, place->offset, size, place->block,
                                      kind >= GG_POOL_KIND_OPTIMAL_IMAGE};
    if (!place->handle)
        return "handle 0";
    if (place->offset % alignment)
        return "not aligned";
    if (place->block >= MODEL_BLOCKS || place->offset > m->blocks[place->block] ||
        size > m->blocks[place->block] - place->offset)
        return "not in a block";
    size_t at = model_find(m, range.block, range.offset);
    if (at < m->count && model_conflict(m, &range, &m->ranges[at]))
        return "in conflict with what follows";
    if (at && model_conflict(m, &m->ranges[at - 1], &range))
        return "in conflict with what is before";
    if (m->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 64;
        m->ranges = realloc(m->ranges, m->capacity * sizeof *m->ranges);
        if (!m->ranges)
            abort();
    }
    memmove(&m->ranges[at + 1], &m->ranges[at], (m->count - at) * sizeof range);
    m->ranges[at] = range;
    m->count++;
    m->requested += size;
    return NULL;
}

static inline void model_remove(struct model *m, size_t at)
{
    m->requested -= m->ranges[at].size;
    memmove(&m->ranges[at], &m->ranges[at + 1], (--m->count - at) * sizeof *m->ranges);
}

/* The pool's own view beside the model's; returns what differs, or NULL. */
static inline const char *model_compare(const struct model *m, struct gg_pool *pool)
{
    struct gg_pool_statistics s;
    uint64_t count = 0;
    struct gg_pool_range *ranges = calloc(m->count + 1, sizeof *ranges), range;
    const char *wrong = m->broken;
    if (!ranges || gg_pool_statistics(pool, &s) || gg_pool_walk(pool, ranges, m->count + 1, &count))
        wrong = "a call that cannot fail failed";
    else if (s.requested != m->requested || s.live != m->count || s.blocks != m->block_count)
        wrong = "statistics";
    else if (s.requested + s.rounding + s.padding + s.free != s.capacity || s.free > s.capacity)
        wrong = "statistics do not add up";
    else if (count != m->count)
        wrong = "the walk's count";
    for (size_t i = 0; i < m->count && !wrong; i++) {
        const struct model_range *live = &m->ranges[i];
        if (ranges[i].offset != live->offset || ranges[i].block != live->block || ranges[i].size < live->size)
            wrong = "a range of the walk";
        else if (gg_pool_query(pool, live->handle, &range) || range.offset != live->offset ||
                 range.size != live->size || range.block != live->block || range.tier != ranges[i].tier)
            wrong = "a query";
    }
    free(ranges);
    return wrong;
}

#endif

/* SPDX-License-Identifier: MIT */
/* What looks at everything: the walk over live ranges, and the check of every rule that the records obey. */
#include "pool_internal.h"

#include "message.h"

struct walk {
    struct gg_pool_range *ranges;
    uint64_t capacity, count;
};

static void found(struct walk *walk, uint64_t offset, uint64_t size, uint32_t block, uint32_t tier)
{
    if (walk->count < walk->capacity)
        walk->ranges[walk->count] = (struct gg_pool_range){offset, size, block, tier};
    walk->count++;
}

static void walk_slot(const struct gg_pool *pool, struct walk *walk, const struct gg_slab *slab, uint32_t slot)
{
    if (!gg_slab_is_free(slab, slot) && !gg_slab_is_claimed(pool, slab, slot / 64, slot % 64))
        found(walk, gg_slab_offset(slab, slot), gg_slab_slot_bytes(slab), slab->block, gg_slab_tier(slab));
}

static void walk_chain(const struct gg_pool *pool, struct walk *walk, uint32_t i)
{
    for (; i; i = gg_node(pool, i)->next) {
        const struct gg_node *node = gg_node(pool, i);
        if (node->state == GG_NODE_SEGMENT) /* its nodes are no segments: one level deep */
            walk_chain(pool, walk, node->aux);
        if (node->state == GG_NODE_LIVE)
            found(walk, gg_node_offset(pool, node), gg_node_bytes(pool, node) - node->waste, node->block,
                  node->level == GG_LEVEL_PAGES ? GG_POOL_TIER_LARGE : GG_POOL_TIER_MEDIUM);
        if (node->state != GG_NODE_SLAB)
            continue;
        const struct gg_slab *slab = gg_slab(pool, node->aux);
        for (uint32_t slot = 0; slot <= slab->last; slot++) {
            walk_slot(pool, walk, slab, slot);
            if (slab->twin)
                walk_slot(pool, walk, gg_slab(pool, slab->twin), slot);
        }
    }
}

int32_t gg_pool_walk(struct gg_pool *pool, struct gg_pool_range *ranges, uint64_t capacity, uint64_t *count)
{
    if (!pool || !count || (capacity && !ranges))
        return GG_ERR_ARGUMENT;
    gg_pool_lock(pool);
    struct walk walk = {ranges, capacity, 0};
    for (uint32_t block = 0; block < pool->block_count; block++)
        if (pool->blocks[block].size)
            walk_chain(pool, &walk, pool->blocks[block].first);
    *count = walk.count;
    gg_pool_unlock(pool);
    return GG_OK;
}

int32_t gg_pool_blocks(struct gg_pool *pool, uint64_t *sizes, uint64_t capacity, uint64_t *count)
{
    if (!pool || !count || (capacity && !sizes))
        return GG_ERR_ARGUMENT;
    gg_pool_lock(pool);
    for (uint32_t block = 0; block < pool->block_count && block < capacity; block++)
        sizes[block] = pool->blocks[block].size;
    *count = pool->block_count;
    gg_pool_unlock(pool);
    return GG_OK;
}

/* What was seen on the way, to be compared with what the pool counts. */
struct seen {
    const struct gg_pool *pool;
    char **message;
    uint64_t nodes, slabs, open_slabs, live;
    uint64_t used, free; /* bytes */
    uint64_t ranges[GG_HEAPS + 1], units[GG_HEAPS + 1];
    uint64_t slots[GG_HEAPS << GG_CLASS_BITS], singles[GG_HEAPS << GG_CLASS_BITS];
};

#define BROKEN(...) return gg_fail(seen->message, GG_ERR_FORMAT, "pool: " __VA_ARGS__)

static int32_t check_slab(struct seen *seen, uint32_t i, uint32_t node_number)
{
    const struct gg_pool *pool = seen->pool;
    if (!i || i >= pool->slabs.count)
        BROKEN("node %u: slab %u does not exist", node_number, i);
    const struct gg_slab *slab = gg_slab(pool, i);
    const struct gg_node *node = gg_node(pool, node_number);
    uint32_t slots = slab->last + 1u, bytes = gg_slab_slot_bytes(slab), free = 0;
    for (uint32_t word = 0; word < 4; word++) {
        uint64_t exist = gg_slab_slots(slab, word);
        if ((slab->words >> word & 1) != ((slab->free[word] & exist) != 0))
            BROKEN("slab %u: the bits are wrong about word %u", i, word);
        if (~slab->free[word] & ~exist)
            BROKEN("slab %u: slots beyond %u are used", i, slots);
        free += (uint32_t)__builtin_popcountll(slab->free[word] & exist);
    }
    if (free + slab->used != slots)
        BROKEN("slab %u: %u slots free and %u used, of %u", i, free, slab->used, slots);
    uint32_t claimed = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        bool is_claimed = gg_slab_is_claimed(pool, slab, slot / 64, slot % 64);
        claimed += is_claimed;
        if (gg_slab_is_free(slab, slot) && is_claimed)
            BROKEN("slab %u: slot %u is free and claimed", i, slot);
    }
    const struct gg_class *class = gg_class(pool, slab->class);
    if ((class->slab == i ? (uint32_t)__builtin_popcountll(class->bits) : 0) != claimed)
        BROKEN("slab %u: %u slots claimed, which its class does not know", i, claimed);
    if (slab->node != node_number || slab->block != node->block)
        BROKEN("slab %u: it lies in node %u of block %u, not in %u of %u", i, slab->node, slab->block, node_number,
               node->block);
    uint64_t begin = gg_node_offset(pool, node), end = begin + gg_node_bytes(pool, node) - node->waste;
    if (gg_slab_offset(slab, 0) < begin || gg_slab_offset(slab, slab->last) + bytes > end)
        BROKEN("slab %u: slots reach beyond node %u", i, node_number);
    uint32_t alignment = bytes & (0u - bytes);
    if (gg_slab_offset(slab, 0) % (alignment < GG_SLAB_ALIGNMENT ? alignment : GG_SLAB_ALIGNMENT))
        BROKEN("slab %u: slots of %u bytes begin at %llu", i, bytes, (unsigned long long)gg_slab_offset(slab, 0));
    if (slab->class >> GG_CLASS_BITS != node->level)
        BROKEN("slab %u: a class of heap %u in heap %u", i, slab->class >> GG_CLASS_BITS, node->level);
    seen->slabs++;
    seen->open_slabs += free != 0;
    seen->live += slab->used;
    seen->used += (uint64_t)slab->used * bytes;
    seen->free += (uint64_t)free * bytes;
    seen->slots[slab->class] += slots;
    return GG_OK;
}

static int32_t check_slabs_of(struct seen *seen, uint32_t number)
{
    const struct gg_pool *pool = seen->pool;
    const struct gg_node *node = gg_node(pool, number);
    int32_t result = check_slab(seen, node->aux, number);
    if (result)
        return result;
    const struct gg_slab *slab = gg_slab(pool, node->aux);
    uint32_t period = (uint32_t)slab->period << GG_UNIT_SHIFT, gap = period - gg_slab_slot_bytes(slab);
    if ((gap != 0) != (slab->twin != 0))
        BROKEN("slab %u: gaps of %u bytes, and twin %u", node->aux, gap, slab->twin);
    if ((uint64_t)period * (slab->last + 1u) != gg_node_bytes(pool, node) - node->waste)
        BROKEN("slab %u: it does not fill node %u", node->aux, number);
    seen->used += node->waste;
    if (!slab->twin)
        return GG_OK;
    result = check_slab(seen, slab->twin, number);
    if (result)
        return result;
    const struct gg_slab *twin = gg_slab(pool, slab->twin);
    if (twin->twin != node->aux || twin->period != slab->period || twin->last != slab->last ||
        gg_slab_slot_bytes(twin) != gap || gg_slab_offset(twin, 0) != gg_slab_offset(slab, 0) + period - gap)
        BROKEN("slabs %u and %u: not each other's gaps", node->aux, slab->twin);
    return GG_OK;
}

static int32_t check_chain(struct seen *seen, uint32_t first, uint32_t level, uint32_t owner, uint32_t start,
                           uint32_t size, uint32_t block);

static int32_t check_node(struct seen *seen, uint32_t i)
{
    const struct gg_pool *pool = seen->pool;
    const struct gg_node *node = gg_node(pool, i);
    uint32_t slack = node->waste >> pool->fits[node->level].shift;
    const uint32_t up = GG_PAGE_SHIFT - GG_UNIT_SHIFT;
    if ((node->state == GG_NODE_LIVE || node->state == GG_NODE_SLAB) && slack >= 2 * pool->fits[node->level].least)
        BROKEN("node %u: %u units that nobody asked for", i, slack);
    switch (node->state) {
    case GG_NODE_FREE:
        seen->free += gg_node_bytes(pool, node);
        seen->ranges[node->level]++;
        return GG_OK;
    case GG_NODE_LIVE:
        if (gg_node_offset(pool, node) & ((UINT64_C(1) << node->aux) - 1))
            BROKEN("node %u: it is not aligned to 2^%u", i, node->aux);
        seen->live++;
        seen->used += gg_node_bytes(pool, node);
        uint64_t size = gg_node_bytes(pool, node) - node->waste, alignment = UINT64_C(1) << node->aux;
        uint32_t stride;
        if (node->level != GG_LEVEL_PAGES && gg_class_exists(size, alignment))
            seen->singles[gg_class_of(node->level, (uint32_t)size, (uint32_t)alignment, &stride)]++;
        return GG_OK;
    case GG_NODE_SLAB:
        if (node->level == GG_LEVEL_PAGES)
            break;
        return check_slabs_of(seen, i);
    case GG_NODE_SEGMENT:
        if (node->level != GG_LEVEL_PAGES || !node->aux || node->aux >= pool->nodes.count)
            break;
        return check_chain(seen, node->aux, gg_node(pool, node->aux)->level, i, node->start << up, node->size << up,
                           node->block);
    }
    BROKEN("node %u: state %u at level %u", i, node->state, node->level);
}

/* Neighbours without gaps, from `start` on, `size` units in all. */
static int32_t check_chain(struct seen *seen, uint32_t first, uint32_t level, uint32_t owner, uint32_t start,
                           uint32_t size, uint32_t block)
{
    const struct gg_pool *pool = seen->pool;
    uint32_t prev = GG_FIRST | owner, at = start;
    bool free = false;
    for (uint32_t i = first; i; i = gg_node(pool, i)->next) {
        if (i >= pool->nodes.count)
            BROKEN("node %u: the next one is %u of %u", prev, i, pool->nodes.count);
        const struct gg_node *node = gg_node(pool, i);
        if (node->level != level || node->block != block || node->prev != prev)
            BROKEN("node %u: level %u, block %u, after %#x instead of %u, %u, %#x", i, node->level, node->block,
                   node->prev, level, block, prev);
        if (node->start != at || !node->size || node->size > size - (at - start))
            BROKEN("node %u: [%u, +%u) at %u of [%u, +%u)", i, node->start, node->size, at, start, size);
        if (free && node->state == GG_NODE_FREE)
            BROKEN("nodes %u and %u: free neighbours", prev, i);
        int32_t result = check_node(seen, i);
        if (result)
            return result;
        free = node->state == GG_NODE_FREE;
        at += node->size;
        prev = i;
        seen->nodes++;
    }
    if (at - start != size)
        BROKEN("block %u: %u of %u units at %u of level %u are in no node", block, size - (at - start), size, start,
               level);
    if (level != GG_LEVEL_PAGES && free && prev == first)
        BROKEN("node %u: a segment with nothing in it", owner);
    seen->units[level] += size;
    return GG_OK;
}

static int32_t check_fit(struct seen *seen, uint32_t level)
{
    const struct gg_pool *pool = seen->pool;
    const struct gg_fit *fit = &pool->fits[level];
    uint64_t ranges = 0;
    for (uint32_t bin = 0; bin < GG_FIT_ROWS * GG_FIT_BINS; bin++) {
        uint32_t row = bin / GG_FIT_BINS, column = bin % GG_FIT_BINS, prev = 0;
        if ((fit->head[row][column] != 0) != (fit->bins[row] >> column & 1) ||
            (fit->bins[row] != 0) != (fit->rows >> row & 1))
            BROKEN("level %u: the bits are wrong about bin %u", level, bin);
        for (uint32_t i = fit->head[row][column]; i; i = gg_node(pool, i)->free_next) {
            const struct gg_node *node = gg_node(pool, i);
            if (node->state != GG_NODE_FREE || node->level != level || gg_fit_bin(node->size) != bin ||
                node->free_prev != prev || ++ranges > pool->nodes.count)
                BROKEN("level %u: node %u is wrong in bin %u", level, i, bin);
            prev = i;
        }
    }
    if (ranges != fit->ranges || ranges != seen->ranges[level] || seen->units[level] != fit->units)
        BROKEN("level %u: %llu ranges in bins, %llu counted, %llu there; %llu units counted, %llu there", level,
               (unsigned long long)ranges, (unsigned long long)fit->ranges, (unsigned long long)seen->ranges[level],
               (unsigned long long)fit->units, (unsigned long long)seen->units[level]);
    return GG_OK;
}

static int32_t check_class(struct seen *seen, uint32_t number, uint64_t *listed)
{
    const struct gg_pool *pool = seen->pool;
    const struct gg_class *class = gg_class(pool, number);
    uint32_t prev = 0, at = number & ((1u << GG_CLASS_BITS) - 1);
    for (uint32_t i = class->head; i; i = gg_slab(pool, i)->next) {
        const struct gg_slab *slab = gg_slab(pool, i);
        if (slab->class != number || !(slab->words & 15) || slab->prev != prev || ++*listed > pool->slabs.count)
            BROKEN("slab %u: wrong in the list of class %u", i, number);
        prev = i;
    }
    if (class->slots != seen->slots[number] || class->singles != seen->singles[number])
        BROKEN("class %u: %u slots and %u singles counted, %llu and %llu there", number, class->slots, class->singles,
               (unsigned long long)seen->slots[number], (unsigned long long)seen->singles[number]);
    if ((pool->classes_used[number >> GG_CLASS_BITS][at / 64] >> at % 64 & 1) != (class->slots != 0))
        BROKEN("class %u: the bits are wrong about it", number);
    if (class->bits && gg_slab(pool, class->slab)->class != number)
        BROKEN("class %u: it claims slots of slab %u", number, class->slab);
    return GG_OK;
}

static int32_t check_classes(struct seen *seen)
{
    const struct gg_pool *pool = seen->pool;
    uint64_t listed = 0;
    for (uint32_t heap = 0; heap < pool->heaps; heap++)
        for (uint32_t at = 0; at < GG_CLASSES; at++) {
            int32_t result = check_class(seen, heap << GG_CLASS_BITS | at, &listed);
            if (result)
                return result;
        }
    if (listed != seen->open_slabs || pool->slab_count != seen->slabs)
        BROKEN("%llu slabs with free slots in lists, %llu there; %llu slabs counted, %llu there",
               (unsigned long long)listed, (unsigned long long)seen->open_slabs, (unsigned long long)pool->slab_count,
               (unsigned long long)seen->slabs);
    return GG_OK;
}

static int32_t check_records(struct seen *seen)
{
    const struct gg_pool *pool = seen->pool;
    uint32_t nodes = 0, slabs = 0;
    for (uint32_t i = pool->nodes.unused; i && nodes < pool->nodes.count; i = gg_node(pool, i)->next, nodes++)
        if (gg_node(pool, i)->state != GG_NODE_UNUSED)
            BROKEN("node %u: unused, and in state %u", i, gg_node(pool, i)->state);
    for (uint32_t i = pool->slabs.unused; i && slabs < pool->slabs.count; i = gg_slab(pool, i)->next)
        slabs++;
    if (nodes != pool->nodes.unused_count || (pool->nodes.count && nodes + seen->nodes + 1 != pool->nodes.count))
        BROKEN("%u nodes unused, %u counted, %llu used, of %u", nodes, pool->nodes.unused_count,
               (unsigned long long)seen->nodes, pool->nodes.count);
    if (slabs != pool->slabs.unused_count || (pool->slabs.count && slabs + seen->slabs + 1 != pool->slabs.count))
        BROKEN("%u slabs unused, %u counted, %llu used, of %u", slabs, pool->slabs.unused_count,
               (unsigned long long)seen->slabs, pool->slabs.count);
    return GG_OK;
}

static int32_t check_totals(struct seen *seen, uint64_t capacity, uint32_t blocks)
{
    const struct gg_pool *pool = seen->pool;
    if (capacity != pool->capacity || blocks != pool->blocks_live)
        BROKEN("%u blocks of %llu bytes, %u of %llu counted", blocks, (unsigned long long)capacity, pool->blocks_live,
               (unsigned long long)pool->capacity);
    if (pool->held != seen->used || pool->held + seen->free != capacity || pool->live != seen->live ||
        pool->requested + pool->rounding > pool->held)
        BROKEN("%llu bytes held (requested %llu, rounding %llu) for %llu live; there are %llu used, %llu free, of "
               "%llu, %llu live",
               (unsigned long long)pool->held, (unsigned long long)pool->requested, (unsigned long long)pool->rounding,
               (unsigned long long)pool->live, (unsigned long long)seen->used, (unsigned long long)seen->free,
               (unsigned long long)capacity, (unsigned long long)seen->live);
    return GG_OK;
}

static int32_t check_all(struct gg_pool *pool, char **message)
{
    struct seen all = {.pool = pool, .message = message}, *seen = &all;
    uint64_t capacity = 0;
    uint32_t blocks = 0;
    for (uint32_t b = 0; b < pool->block_count; b++) {
        const struct gg_block *block = &pool->blocks[b];
        if (!block->size)
            continue;
        int32_t result =
            check_chain(seen, block->first, GG_LEVEL_PAGES, b, 0, (uint32_t)(block->size >> GG_PAGE_SHIFT), b);
        if (result)
            return result;
        const struct gg_node *first = gg_node(pool, block->first);
        if ((first->state == GG_NODE_FREE && !first->next) != (pool->kept == b + 1))
            BROKEN("block %u: %s", b,
                   pool->kept == b + 1 ? "kept as empty, and it is not" : "empty, and not given back");
        capacity += block->size;
        blocks++;
    }
    int32_t result = check_totals(seen, capacity, blocks);
    for (uint32_t level = 0; !result && level <= GG_LEVEL_PAGES; level++)
        result = check_fit(seen, level);
    if (!result)
        result = check_classes(seen);
    return result ? result : check_records(seen);
}

int32_t gg_pool_check(struct gg_pool *pool, char **message)
{
    gg_succeed(message);
    if (!pool)
        return gg_fail(message, GG_ERR_ARGUMENT, "pool: none");
    gg_pool_lock(pool);
    int32_t result = check_all(pool, message);
    gg_pool_unlock(pool);
    return result;
}

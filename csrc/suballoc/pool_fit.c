/* SPDX-License-Identifier: MIT */
/*
 * Two-level segregated fit with alignment. A request looks at a few ranges of its own bin, then at a few of each of
 * the next bins, and at last takes the first range of a bin whose every range is large enough wherever it begins: the
 * number of ranges looked at is bounded, and none is taken larger than needed only because of its alignment.
 */
#include "pool_internal.h"

enum {
    OWN_BIN = 3,
    NEXT_BINS = 4,
    NEXT_RANGES = 2,
    PAGE_RANGES = 64
}; /* ranges looked at */

void gg_fit_init(struct gg_fit *fit, uint32_t level, uint32_t shift, uint32_t least)
{
    *fit = (struct gg_fit){.level = level, .shift = shift, .least = least};
}

uint32_t gg_fit_bin(uint32_t size)
{
    if (size < GG_FIT_BINS)
        return size;
    uint32_t log = 31u - (uint32_t)__builtin_clz(size);
    return (log - 3) * GG_FIT_BINS + (size >> (log - 4)) % GG_FIT_BINS;
}

/* The first bin whose ranges are all at least this large. */
static uint32_t bin_above(uint32_t size)
{
    if (size < GG_FIT_BINS)
        return size;
    uint32_t log = 31u - (uint32_t)__builtin_clz(size);
    return gg_fit_bin(size + (1u << (log - 4)) - 1);
}

/* The first bin from here on that is not empty; UINT32_MAX when all are. */
static uint32_t next_bin(const struct gg_fit *fit, uint32_t from)
{
    uint32_t row = from / GG_FIT_BINS;
    if (row >= GG_FIT_ROWS)
        return UINT32_MAX;
    uint32_t bins = fit->bins[row] & 0xffffu << from % GG_FIT_BINS;
    if (!bins) {
        uint32_t rows = fit->rows & ~0u << row & ~(1u << row);
        if (!rows)
            return UINT32_MAX;
        row = (uint32_t)__builtin_ctz(rows);
        bins = fit->bins[row];
    }
    return row * GG_FIT_BINS + (uint32_t)__builtin_ctz(bins);
}

static uint32_t head_of(const struct gg_fit *fit, uint32_t bin)
{
    return fit->head[bin / GG_FIT_BINS][bin % GG_FIT_BINS];
}

void gg_fit_insert(struct gg_pool *pool, struct gg_fit *fit, uint32_t i)
{
    struct gg_node *node = gg_node(pool, i);
    uint32_t bin = gg_fit_bin(node->size), row = bin / GG_FIT_BINS;
    uint32_t *head = &fit->head[row][bin % GG_FIT_BINS];
    node->state = GG_NODE_FREE;
    node->free_prev = 0;
    node->free_next = *head;
    if (*head)
        gg_node(pool, *head)->free_prev = i;
    *head = i;
    fit->bins[row] = (uint16_t)(fit->bins[row] | 1u << bin % GG_FIT_BINS);
    fit->rows |= 1u << row;
    fit->ranges++;
}

void gg_fit_remove(struct gg_pool *pool, struct gg_fit *fit, uint32_t i)
{
    struct gg_node *node = gg_node(pool, i);
    if (node->free_next)
        gg_node(pool, node->free_next)->free_prev = node->free_prev;
    fit->ranges--;
    if (node->free_prev) {
        gg_node(pool, node->free_prev)->free_next = node->free_next;
        return;
    }
    uint32_t bin = gg_fit_bin(node->size), row = bin / GG_FIT_BINS;
    fit->head[row][bin % GG_FIT_BINS] = node->free_next;
    if (node->free_next)
        return;
    fit->bins[row] = (uint16_t)(fit->bins[row] & ~(1u << bin % GG_FIT_BINS));
    if (!fit->bins[row])
        fit->rows &= ~(1u << row);
}

/* One of the first `ranges` of a bin in which it fits, or 0. */
static uint32_t look(const struct gg_pool *pool, uint32_t i, uint32_t ranges, uint32_t size, uint32_t mask,
                     uint32_t *pad)
{
    for (; i && ranges; ranges--) {
        const struct gg_node *node = gg_node(pool, i);
        *pad = (0u - node->start) & mask;
        if (node->size >= size && node->size - size >= *pad)
            return i;
        i = node->free_next;
    }
    return 0;
}

/*
 * Of pages, the range of which the least is left: it looks at all of the first bin in which one fits, since what is
 * lost here is lost in megabytes.
 */
static uint32_t find_pages(const struct gg_pool *pool, const struct gg_fit *fit, uint32_t size, uint32_t mask,
                           uint32_t *pad)
{
    uint32_t best = 0, least = UINT32_MAX, ranges = PAGE_RANGES;
    for (uint32_t bin = next_bin(fit, gg_fit_bin(size)); bin != UINT32_MAX && ranges && !best;
         bin = next_bin(fit, bin + 1))
        for (uint32_t i = head_of(fit, bin); i && ranges; ranges--) {
            const struct gg_node *node = gg_node(pool, i);
            uint32_t before = (0u - node->start) & mask;
            if (node->size >= size && node->size - size >= before && node->size - size - before < least) {
                least = node->size - size - before;
                *pad = before;
                best = i;
            }
            i = node->free_next;
        }
    return best;
}

uint32_t gg_fit_find(const struct gg_pool *pool, const struct gg_fit *fit, uint32_t size, uint32_t alignment,
                     uint32_t *pad)
{
    uint32_t mask = alignment - 1, bin = gg_fit_bin(size), sure = bin_above(size + mask);
    bool pages = fit->level == GG_LEVEL_PAGES;
    uint32_t found =
        pages ? find_pages(pool, fit, size, mask, pad) : look(pool, head_of(fit, bin), OWN_BIN, size, mask, pad);
    if (found)
        return found;
    for (uint32_t bins = 0; bins < NEXT_BINS && !pages; bins++) {
        bin = next_bin(fit, bin + 1);
        if (bin == UINT32_MAX)
            return 0;
        found = look(pool, head_of(fit, bin), NEXT_RANGES, size, mask, pad);
        if (found)
            return found;
    }
    bin = next_bin(fit, sure > bin || pages ? sure : bin + 1);
    return bin == UINT32_MAX ? 0 : look(pool, head_of(fit, bin), 1, size, mask, pad);
}

/* Cuts a node in two; the second part is new, in no bin, and returned. */
static uint32_t split(struct gg_pool *pool, uint32_t i, uint32_t size)
{
    uint32_t j = gg_node_take(pool);
    struct gg_node *node = gg_node(pool, i), *rest = gg_node(pool, j);
    rest->start = node->start + size;
    rest->size = node->size - size;
    rest->prev = i;
    rest->next = node->next;
    rest->block = node->block;
    rest->level = node->level;
    if (node->next)
        gg_node(pool, node->next)->prev = j;
    node->next = j;
    node->size = size;
    return j;
}

/* Units at the end of a node in use that are there only because they were too few for a node. */
static void give_slack(struct gg_pool *pool, const struct gg_fit *fit, struct gg_node *node, uint32_t units)
{
    node->size += units;
    node->waste += units << fit->shift;
    pool->held += (uint64_t)units << fit->shift;
}

static uint32_t take_slack(struct gg_pool *pool, const struct gg_fit *fit, struct gg_node *node)
{
    uint32_t units = node->waste >> fit->shift;
    node->size -= units;
    node->waste -= units << fit->shift;
    pool->held -= (uint64_t)units << fit->shift;
    return units;
}

uint32_t gg_fit_carve(struct gg_pool *pool, struct gg_fit *fit, uint32_t i, uint32_t pad, uint64_t bytes,
                      enum gg_node_state state)
{
    uint32_t size = (uint32_t)((bytes + (1u << fit->shift) - 1) >> fit->shift);
    struct gg_node *node = gg_node(pool, i);
    gg_fit_remove(pool, fit, i);
    if (pad && pad < fit->least && !(node->prev & GG_FIRST)) {
        give_slack(pool, fit, gg_node(pool, node->prev), pad);
        node->start += pad;
        node->size -= pad;
    } else if (pad) { /* the first node of a segment stays the first */
        uint32_t taken = split(pool, i, pad);
        gg_fit_insert(pool, fit, i);
        i = taken;
        node = gg_node(pool, i);
    }
    uint32_t slack = node->size - size;
    if (slack >= fit->least) {
        gg_fit_insert(pool, fit, split(pool, i, size));
        slack = 0;
    }
    node->size = size;
    node->waste = (uint32_t)(((uint64_t)size << fit->shift) - bytes);
    if (slack)
        give_slack(pool, fit, node, slack);
    node->state = (uint8_t)state;
    return i;
}

static void absorb(struct gg_pool *pool, uint32_t i, uint32_t next)
{
    struct gg_node *node = gg_node(pool, i), *gone = gg_node(pool, next);
    node->size += gone->size;
    node->next = gone->next;
    if (gone->next)
        gg_node(pool, gone->next)->prev = i;
    gg_node_return(pool, next);
}

uint32_t gg_fit_release(struct gg_pool *pool, struct gg_fit *fit, uint32_t i)
{
    struct gg_node *node = gg_node(pool, i);
    node->generation++;
    uint32_t slack = take_slack(pool, fit, node);
    node->size += slack; /* it is free now, as the rest is */
    node->state = GG_NODE_FREE;
    if (!(node->prev & GG_FIRST)) {
        uint32_t before = node->prev;
        struct gg_node *prev = gg_node(pool, before);
        if (prev->state == GG_NODE_FREE) {
            gg_fit_remove(pool, fit, before);
            absorb(pool, before, i);
            i = before;
            node = prev;
        } else {
            slack = take_slack(pool, fit, prev);
            node->start -= slack;
            node->size += slack;
        }
    }
    if (node->next && gg_node(pool, node->next)->state == GG_NODE_FREE) {
        gg_fit_remove(pool, fit, node->next);
        absorb(pool, i, node->next);
    }
    if (node->prev & GG_FIRST && !node->next)
        return i;
    gg_fit_insert(pool, fit, i);
    return 0;
}

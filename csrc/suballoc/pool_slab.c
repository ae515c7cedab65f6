/* SPDX-License-Identifier: MIT */
/*
 * Tiny resources. A slab is a row of equal slots at multiples of a period. For most classes the period is the slot: a
 * size rounded up to its alignment, so that alignment costs nothing more. Resources at multiples of 256 bytes whose
 * size is none leave gaps; each gap is a slot of a second slab, the twin, in the class that the gap has the size of.
 * Its slots are as well aligned as that class promises, since the period is a multiple of 256.
 */
#include "pool_internal.h"

enum {
    SLOTS = 256,       /* bits of a slab */
    SLAB_LEAST = 4096, /* bytes of the first slab of a class, */
    SLAB_MOST = 65536, /* and of the largest */
    SLAB_SHARE = 8,    /* in between a share of what the class has */
    GAP = 256          /* the alignment whose gaps are used */
};

static void list_push(struct gg_pool *pool, uint32_t i)
{
    struct gg_slab *slab = gg_slab(pool, i);
    uint32_t *head = &pool->classes[slab->class].head;
    slab->prev = 0;
    slab->next = *head;
    if (*head)
        gg_slab(pool, *head)->prev = i;
    *head = i;
}

static void list_remove(struct gg_pool *pool, uint32_t i)
{
    const struct gg_slab *slab = gg_slab(pool, i);
    if (slab->next)
        gg_slab(pool, slab->next)->prev = slab->prev;
    if (slab->prev)
        gg_slab(pool, slab->prev)->next = slab->next;
    else
        pool->classes[slab->class].head = slab->next;
}

static uint32_t slab_init(struct gg_pool *pool, uint32_t class, const struct gg_node *node, uint32_t node_number,
                          uint32_t offset, uint32_t period, uint32_t slots)
{
    uint32_t i = gg_slab_take(pool);
    struct gg_slab *slab = gg_slab(pool, i);
    *slab = (struct gg_slab){.base = node->start + (offset >> GG_UNIT_SHIFT),
                             .generation = slab->generation,
                             .node = node_number,
                             .block = node->block,
                             .class = (uint8_t)class,
                             .period = (uint8_t)((period >> GG_UNIT_SHIFT) - 1),
                             .last = (uint8_t)(slots - 1)};
    for (uint32_t word = 0; 64 * word < slots; word++) {
        uint32_t bits = slots - 64 * word;
        slab->free[word] = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        slab->summary = (uint8_t)(slab->summary | 1u << word);
    }
    pool->classes[class].slots += slots;
    pool->slab_count++;
    list_push(pool, i);
    return i;
}

/* A slab for a class, and its twin where there are gaps. */
static int32_t slab_create(struct gg_pool *pool, uint32_t heap, uint32_t class)
{
    uint32_t number = class % GG_CLASSES, half = GG_CLASSES / 2;
    uint32_t slot = (number % half + 1) << GG_UNIT_SHIFT;
    uint32_t period = number < half ? slot : (slot + GAP - 1) / GAP * GAP;
    uint32_t bytes = pool->classes[class].slots * (uint64_t)period / SLAB_SHARE > SLAB_MOST
                         ? SLAB_MOST
                         : pool->classes[class].slots * period / SLAB_SHARE;
    uint32_t slots = (bytes < SLAB_LEAST ? SLAB_LEAST : bytes) / period;
    slots = slots > SLOTS ? SLOTS : slots;
    uint32_t taken;
    if (!gg_nodes_reserve(pool, GG_NODES_OF_AN_OPERATION) || !gg_slabs_reserve(pool, 2))
        return GG_ERR_MEMORY;
    int32_t result = gg_heap_take(pool, heap, (uint64_t)slots * period, period & (0u - period), GG_NODE_SLAB, &taken);
    if (result)
        return result;
    struct gg_node *node = gg_node(pool, taken);
    uint32_t front = slab_init(pool, class, node, taken, 0, period, slots);
    node->aux = front;
    if (slot < period) {
        uint32_t gap = heap * GG_CLASSES + ((period - slot) >> GG_UNIT_SHIFT) - 1;
        uint32_t twin = slab_init(pool, gap, node, taken, slot, period, slots);
        gg_slab(pool, front)->twin = twin;
        gg_slab(pool, twin)->twin = front;
    }
    return GG_OK;
}

static void slab_destroy(struct gg_pool *pool, uint32_t i)
{
    struct gg_slab *slab = gg_slab(pool, i);
    list_remove(pool, i);
    pool->classes[slab->class].slots -= slab->last + 1u;
    pool->slab_count--;
    gg_slab_return(pool, i);
}

/* Gives back a slab with its twin. Both are empty, so that both are in lists. */
static void release(struct gg_pool *pool, uint32_t i)
{
    const struct gg_slab *slab = gg_slab(pool, i);
    uint32_t node = slab->node, twin = slab->twin;
    slab_destroy(pool, i);
    if (twin)
        slab_destroy(pool, twin);
    gg_node_release(pool, node);
}

int32_t gg_tiny_allocate(struct gg_pool *pool, uint32_t heap, uint32_t size, uint32_t alignment,
                         struct gg_pool_place *place)
{
    uint32_t mask = alignment > 16 ? alignment - 1 : 15;
    uint32_t stride = (size + mask) & ~mask, class = heap * GG_CLASSES + (stride >> GG_UNIT_SHIFT) - 1;
    if (alignment == GAP && stride - size >= 16) {
        stride = (size + 15) & ~15u;
        class = heap * GG_CLASSES + GG_CLASSES / 2 + (stride >> GG_UNIT_SHIFT) - 1;
    }
    struct gg_class *list = &pool->classes[class];
    if (!list->head) {
        int32_t result = slab_create(pool, heap, class);
        if (result)
            return result;
    }
    uint32_t i = list->head;
    struct gg_slab *slab = gg_slab(pool, i);
    uint32_t word = (uint32_t)__builtin_ctz(slab->summary);
    uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(slab->free[word]);
    slab->free[word] &= slab->free[word] - 1;
    if (!slab->free[word]) {
        slab->summary = (uint8_t)(slab->summary & (slab->summary - 1));
        if (!slab->summary)
            list_remove(pool, i);
    }
    slab->live++;
    uint32_t waste = stride - size;
    pool->live++;
    pool->requested += size;
    pool->rounding += waste & 15;
    pool->padding += waste & ~15u;
    place->handle = (uint64_t)GG_HANDLE_TINY << 62 | (uint64_t)i << 34 | (uint64_t)slot << 26 | (uint64_t)waste << 16 |
                    (uint16_t)(slab->generation + waste);
    place->offset = gg_slab_offset(slab, slot);
    place->block = slab->block;
    place->tier = GG_POOL_TIER_TINY;
    return GG_OK;
}

struct gg_slab *gg_tiny_find(const struct gg_pool *pool, uint64_t handle, uint32_t *slot, uint32_t *waste)
{
    uint32_t i = handle >> 34 & ((1u << 28) - 1);
    *slot = handle >> 26 & 0xff;
    *waste = handle >> 16 & 0x3ff;
    if (!i || i >= pool->slabs.count)
        return NULL;
    struct gg_slab *slab = gg_slab(pool, i);
    if (*slot > slab->last || gg_slab_is_free(slab, *slot) || *waste >= gg_slab_slot_bytes(slab) ||
        (uint16_t)handle != (uint16_t)(slab->generation + *waste))
        return NULL;
    return slab;
}

int32_t gg_tiny_free(struct gg_pool *pool, uint64_t handle)
{
    uint32_t slot, waste;
    struct gg_slab *slab = gg_tiny_find(pool, handle, &slot, &waste);
    if (!slab)
        return GG_ERR_ARGUMENT;
    uint32_t i = handle >> 34 & ((1u << 28) - 1);
    slab->free[slot / 64] |= UINT64_C(1) << slot % 64;
    if (!slab->summary)
        list_push(pool, i);
    slab->summary = (uint8_t)(slab->summary | 1u << slot / 64);
    pool->live--;
    pool->requested -= gg_slab_slot_bytes(slab) - waste;
    pool->rounding -= waste & 15;
    pool->padding -= waste & ~15u;
    /* An empty slab is kept only while its class has no other with free slots. */
    if (!--slab->live && (slab->next || slab->prev) && (!slab->twin || !gg_slab(pool, slab->twin)->live))
        release(pool, i);
    return GG_OK;
}

void gg_slabs_trim(struct gg_pool *pool)
{
    for (uint32_t class = 0; pool->slab_count && class < GG_HEAPS * GG_CLASSES; class ++)
        for (uint32_t i = pool->classes[class].head; i;) {
            const struct gg_slab *slab = gg_slab(pool, i);
            uint32_t next = slab->next;
            if (next && next == slab->twin)
                next = gg_slab(pool, next)->next;
            if (!slab->live && (!slab->twin || !gg_slab(pool, slab->twin)->live))
                release(pool, i);
            i = next;
        }
}

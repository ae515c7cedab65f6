/* SPDX-License-Identifier: MIT */
/*
 * Slots. A slab is a row of equal slots at multiples of a period. For most classes the period is the slot: a size
 * rounded up to its alignment, so that alignment costs nothing more. Tiny resources at multiples of 256 bytes whose
 * size is none leave gaps; each gap is a slot of a second slab, the twin, in the class that the gap has the size of.
 * Its slots are as well aligned as that class promises, since the period is a multiple of 256.
 */
#include "pool_internal.h"

#include <string.h>

enum {
    SLOTS = 256,       /* bits of a slab */
    SLAB_LEAST = 8192, /* bytes of the first slab of a class, */
    SLAB_MOST = 65536, /* and of the largest */
    SLAB_SHARE = 4,    /* in between a share of what the class has */
    MANY = 24,         /* resources above the tiny size with one stride: from there on they get slabs, */
    MEDIUM_SHARE = 8,  /* of a smaller share, since their slots are larger, */
    MEDIUM_LEAST = 4   /* with at least so many slots */
};

/* Last in the list: by its turn more of its slots are free, so that fewer claims are made. */
static void list_push(struct gg_pool *pool, uint32_t i)
{
    struct gg_slab *slab = gg_slab(pool, i);
    struct gg_class *class = gg_class(pool, slab->class);
    slab->prev = class->tail;
    slab->next = 0;
    *(class->tail ? &gg_slab(pool, class->tail)->next : &class->head) = i;
    class->tail = i;
}

static void list_remove(struct gg_pool *pool, uint32_t i)
{
    const struct gg_slab *slab = gg_slab(pool, i);
    struct gg_class *class = gg_class(pool, slab->class);
    *(slab->next ? &gg_slab(pool, slab->next)->prev : &class->tail) = slab->prev;
    *(slab->prev ? &gg_slab(pool, slab->prev)->next : &class->head) = slab->next;
}

static void mark_used(struct gg_pool *pool, uint32_t class, bool used)
{
    uint32_t number = class & ((1u << GG_CLASS_BITS) - 1);
    uint64_t *word = &pool->classes_used[class >> GG_CLASS_BITS][number / 64], bit = UINT64_C(1) << number % 64;
    *word = used ? *word | bit : *word & ~bit;
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
                             .class = (uint16_t)class,
                             .period = (uint16_t)(period >> GG_UNIT_SHIFT),
                             .last = (uint8_t)(slots - 1)};
    memset(slab->free, 0xff, sizeof slab->free);
    slab->words = (uint8_t)((1u << (slots + 63) / 64) - 1);
    gg_class(pool, class)->slots += slots;
    mark_used(pool, class, true);
    pool->slab_count++;
    list_push(pool, i);
    return i;
}

/* How many slots the next slab of a class has. */
static uint32_t slots_for(const struct gg_class *class, uint32_t period)
{
    if (period > GG_POOL_TINY) {
        uint32_t slots = (class->slots + class->singles) / MEDIUM_SHARE, most = SLAB_MOST / period;
        return slots < MEDIUM_LEAST ? MEDIUM_LEAST : slots > most ? most : slots;
    }
    uint64_t bytes = (uint64_t)class->slots * period / SLAB_SHARE;
    bytes = bytes < SLAB_LEAST ? SLAB_LEAST : bytes > SLAB_MOST ? SLAB_MOST : bytes;
    return bytes / period > SLOTS ? SLOTS : (uint32_t)bytes / period;
}

/* A slab for a class, and its twin where there are gaps. */
static int32_t slab_create(struct gg_pool *pool, uint32_t number)
{
    const struct gg_class *class = gg_class(pool, number);
    uint32_t heap = number >> GG_CLASS_BITS, slot = (number % GG_CLASS_GAPS + 1) << GG_UNIT_SHIFT;
    uint32_t period = number & GG_CLASS_GAPS ? (slot + GG_SLAB_GAP - 1) / GG_SLAB_GAP * GG_SLAB_GAP : slot;
    uint32_t alignment = period & (0u - period), slots = slots_for(class, period), taken;
    if (!gg_nodes_reserve(pool, GG_NODES_OF_AN_OPERATION) || !gg_slabs_reserve(pool, 2))
        return GG_ERR_MEMORY;
    int32_t result = gg_heap_take(pool, heap, (uint64_t)slots * period,
                                  alignment < GG_SLAB_ALIGNMENT ? alignment : GG_SLAB_ALIGNMENT, GG_NODE_SLAB, &taken);
    if (result)
        return result;
    struct gg_node *node = gg_node(pool, taken);
    uint32_t front = slab_init(pool, number, node, taken, 0, period, slots);
    node->aux = front;
    if (slot < period) {
        uint32_t gap = heap << GG_CLASS_BITS | (((period - slot) >> GG_UNIT_SHIFT) - 1);
        uint32_t twin = slab_init(pool, gap, node, taken, slot, period, slots);
        gg_slab(pool, front)->twin = twin;
        gg_slab(pool, twin)->twin = front;
    }
    return GG_OK;
}

static void slab_destroy(struct gg_pool *pool, uint32_t i)
{
    struct gg_slab *slab = gg_slab(pool, i);
    struct gg_class *class = gg_class(pool, slab->class);
    list_remove(pool, i);
    if (class->slab == i)
        class->slab = 0; /* with no claimed slot: it would be used */
    class->slots -= slab->last + 1u;
    if (!class->slots)
        mark_used(pool, slab->class, false);
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

int32_t gg_class_refill(struct gg_pool *pool, uint32_t number)
{
    struct gg_class *class = gg_class(pool, number);
    if (!class->head) {
        bool medium = !(number & GG_CLASS_GAPS) && (number % GG_CLASS_GAPS) >= GG_POOL_TINY >> GG_UNIT_SHIFT;
        if (medium && class->slots + class->singles < MANY)
            return GG_ERR_LIMIT;
        int32_t result = slab_create(pool, number);
        if (result)
            return result;
    }
    if (class->slab)
        gg_slab(pool, class->slab)->words &= 15;
    uint32_t i = class->head;
    struct gg_slab *slab = gg_slab(pool, i);
    uint32_t word = (uint32_t)__builtin_ctz(slab->words), count;
    uint64_t exist = gg_slab_slots(slab, word);
    class->bits = slab->free[word] & exist;
    class->slab = i;
    class->block = slab->block;
    class->tier = gg_slab_tier(slab);
    class->period = (uint32_t)slab->period << GG_UNIT_SHIFT;
    class->offset = gg_slab_offset(slab, word * 64);
    class->handle =
        (uint64_t)GG_HANDLE_SLOT << 62 | (uint64_t)i << 34 | (uint64_t)word << 32 | (uint64_t)slab->generation;
    count = (uint32_t)__builtin_popcountll(class->bits);
    slab->free[word] = ~exist;
    slab->used = (uint16_t)(slab->used + count);
    slab->words = (uint8_t)((gg_slab_free_words(slab) & ~(1u << word)) | 16u << word);
    if (!gg_slab_free_words(slab))
        list_remove(pool, i);
    pool->live += count;
    pool->held += (uint64_t)count * gg_slab_slot_bytes(slab);
    return GG_OK;
}

/* Claimed slots are free again. */
static void give_back(struct gg_pool *pool, struct gg_class *class)
{
    if (!class->bits)
        return;
    struct gg_slab *slab = gg_slab(pool, class->slab);
    uint32_t word = (uint32_t)__builtin_ctz(slab->words >> 4u), count = (uint32_t)__builtin_popcountll(class->bits);
    if (!gg_slab_free_words(slab))
        list_push(pool, class->slab);
    slab->free[word] |= class->bits;
    slab->words = (uint8_t)(gg_slab_free_words(slab) | 1u << word);
    slab->used = (uint16_t)(slab->used - count);
    pool->live -= count;
    pool->held -= (uint64_t)count * gg_slab_slot_bytes(slab);
    class->bits = 0;
    class->slab = 0;
}

void gg_slot_freed(struct gg_pool *pool, uint32_t i, bool was_full)
{
    const struct gg_slab *slab = gg_slab(pool, i);
    if (was_full)
        list_push(pool, i);
    /* An empty slab is kept only while its class has no other with free slots. */
    if (!slab->used && (slab->next || slab->prev) && (!slab->twin || !gg_slab(pool, slab->twin)->used))
        release(pool, i);
    if (!pool->requested)
        gg_slabs_trim(pool);
}

/* The first class from this one on that has slabs; GG_CLASSES when there is none. */
static uint32_t next_used(const struct gg_pool *pool, uint32_t heap, uint32_t at)
{
    while (at < GG_CLASSES) {
        uint64_t rest = pool->classes_used[heap][at / 64] >> at % 64;
        if (rest)
            return at + (uint32_t)__builtin_ctzll(rest);
        at = (at | 63) + 1;
    }
    return at;
}

static void release_empty(struct gg_pool *pool, const struct gg_class *class)
{
    for (uint32_t i = class->head; i;) {
        const struct gg_slab *slab = gg_slab(pool, i);
        uint32_t next = slab->next; /* no twin: that is in another class */
        if (!slab->used && (!slab->twin || !gg_slab(pool, slab->twin)->used))
            release(pool, i);
        i = next;
    }
}

void gg_slabs_trim(struct gg_pool *pool)
{
    for (uint32_t heap = 0; heap < pool->heaps; heap++)
        for (uint32_t at = next_used(pool, heap, 0); at < GG_CLASSES; at = next_used(pool, heap, at + 1))
            give_back(pool, &pool->classes[heap][at]);
    for (uint32_t heap = 0; heap < pool->heaps; heap++)
        for (uint32_t at = next_used(pool, heap, 0); at < GG_CLASSES; at = next_used(pool, heap, at + 1))
            release_empty(pool, &pool->classes[heap][at]);
}

void gg_claims(const struct gg_pool *pool, uint64_t *slots, uint64_t *bytes)
{
    *slots = *bytes = 0;
    for (uint32_t heap = 0; heap < pool->heaps; heap++)
        for (uint32_t at = next_used(pool, heap, 0); at < GG_CLASSES; at = next_used(pool, heap, at + 1)) {
            uint32_t count = (uint32_t)__builtin_popcountll(pool->classes[heap][at].bits);
            *slots += count;
            *bytes += (uint64_t)count * ((at % GG_CLASS_GAPS + 1) << GG_UNIT_SHIFT);
        }
}

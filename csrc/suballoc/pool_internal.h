/* SPDX-License-Identifier: MIT */
#ifndef GG_SUBALLOC_POOL_INTERNAL_H
#define GG_SUBALLOC_POOL_INTERNAL_H

#include <guestgpu/suballoc_pool.h>

#include <pthread.h>
#include <stdbool.h>

/*
 * Blocks are divided into nodes of whole pages (the fit `pages`). A page node is free, a large resource, or a segment
 * of a heap. A segment is divided into nodes of 16-byte units (the fit of that heap): free, a medium resource, or a
 * slab. Each level is a chain of nodes without gaps, in which no two neighbours are free.
 *
 * There are two heaps where linear and optimal resources must not share a granule: segments are whole pages, and the
 * granularity is at most a page, so that they never do.
 *
 * Records are numbered from 1; 0 is none. They lie in chunks that never move, so that no operation copies them all.
 */
enum {
    GG_UNIT_SHIFT = 4,
    GG_PAGE_SHIFT = 16,
    GG_CHUNK_SHIFT = 10, /* records of a chunk */
    GG_CHUNK_MASK = (1 << GG_CHUNK_SHIFT) - 1,
    GG_HEAPS = 2,
    GG_CLASSES = 128, /* of a heap: strides 16 to 1024, and the same sizes at multiples of 256 */
    GG_LEVEL_PAGES = GG_HEAPS,
    GG_MAX_BLOCKS = 65535
};

enum gg_node_state {
    GG_NODE_UNUSED,
    GG_NODE_FREE,
    GG_NODE_LIVE,
    GG_NODE_SEGMENT,
    GG_NODE_SLAB
};

#define GG_FIRST 0x80000000u /* in `prev`: no node before; the rest is the page node, or the block, that it lies in */

/* Half a cache line. */
struct gg_node {
    uint32_t start, size; /* in units of its level, from the start of the block */
    uint32_t prev, next;  /* neighbours; an unused node: next is the next unused one */
    union {
        struct {
            uint32_t free_prev, free_next; /* the bin */
        };
        struct {
            uint32_t waste; /* bytes at the end that nobody asked for */
            uint32_t aux;   /* segment: its first node; slab: the slab; live: log2 of the alignment */
        };
    };
    uint32_t generation; /* one more with every free */
    uint16_t block;
    uint8_t state; /* enum gg_node_state */
    uint8_t level; /* a heap, or GG_LEVEL_PAGES */
};

/* A cache line: all that an allocation or a free of a tiny resource looks at, but for the head of its class. */
struct gg_slab {
    uint64_t free[4]; /* a bit a slot */
    uint32_t base;    /* in 16-byte units; slot s begins s periods later */
    uint32_t generation;
    uint32_t prev, next; /* slabs of the class with free slots; an unused slab: next */
    uint32_t node;       /* what it lies in */
    uint32_t twin;       /* the slab in the gaps of this one, or in whose gaps this one lies */
    uint16_t block;
    uint16_t live;
    uint8_t class;   /* heap * GG_CLASSES + class */
    uint8_t summary; /* a bit for each word with free slots */
    uint8_t period;  /* in units, less one */
    uint8_t last;    /* slots, less one */
};

/* Two-level segregated fit. A row is a power of two, divided into 16 bins; below 16 every size has its own. */
enum {
    GG_FIT_ROWS = 29,
    GG_FIT_BINS = 16
};
struct gg_fit {
    uint32_t rows;
    uint32_t shift; /* log2 of a unit's bytes */
    uint32_t least; /* a rest below this makes no node: it stays with its neighbour until either is freed */
    uint32_t level;
    uint64_t units;  /* managed in all */
    uint64_t ranges; /* free nodes */
    uint16_t bins[GG_FIT_ROWS];
    uint32_t head[GG_FIT_ROWS][GG_FIT_BINS];
};

struct gg_class {
    uint32_t head; /* slabs with free slots */
    uint32_t slots;
};

struct gg_block {
    uint64_t size; /* 0: this number is not in use */
    uint32_t first;
    uint32_t dedicated;
};

/* Records of one kind, in chunks of cache lines. */
struct gg_records {
    char **chunks;
    uint32_t chunk_count, chunk_capacity;
    uint32_t count;  /* given out at some time; the first is never used */
    uint32_t unused; /* list of those given back */
    uint32_t unused_count;
};

struct gg_pool {
    struct gg_records nodes, slabs;
    uint64_t requested, rounding, padding, live;
    struct gg_class classes[GG_HEAPS * GG_CLASSES];
    struct gg_fit fits[GG_HEAPS + 1];
    struct gg_block *blocks;
    uint32_t block_count, block_capacity, blocks_live;
    uint32_t kept; /* 1 + the empty block that is kept, or 0 */
    uint64_t capacity, slab_count;
    uint32_t salt; /* where generations begin, so that other pools' handles differ */
    uint32_t heaps;
    struct gg_pool_config config;
    pthread_mutex_t mutex;
};

static inline struct gg_node *gg_node(const struct gg_pool *pool, uint32_t i)
{
    return (struct gg_node *)(void *)pool->nodes.chunks[i >> GG_CHUNK_SHIFT] + (i & GG_CHUNK_MASK);
}

static inline struct gg_slab *gg_slab(const struct gg_pool *pool, uint32_t i)
{
    return (struct gg_slab *)(void *)pool->slabs.chunks[i >> GG_CHUNK_SHIFT] + (i & GG_CHUNK_MASK);
}

static inline uint64_t gg_node_bytes(const struct gg_pool *pool, const struct gg_node *node)
{
    return (uint64_t)node->size << pool->fits[node->level].shift;
}

static inline uint64_t gg_node_offset(const struct gg_pool *pool, const struct gg_node *node)
{
    return (uint64_t)node->start << pool->fits[node->level].shift;
}

/* The size of a slot, which is also its class's stride when it has no gaps. */
static inline uint32_t gg_slab_slot_bytes(const struct gg_slab *slab)
{
    return (slab->class % (GG_CLASSES / 2) + 1u) << GG_UNIT_SHIFT;
}

static inline uint64_t gg_slab_offset(const struct gg_slab *slab, uint32_t slot)
{
    return ((uint64_t)slab->base + (uint64_t)slot * (slab->period + 1u)) << GG_UNIT_SHIFT;
}

static inline bool gg_slab_is_free(const struct gg_slab *slab, uint32_t slot)
{
    return slab->free[slot / 64] >> slot % 64 & 1;
}

/* pool_records.c: after a reservation the next `wanted` records cannot fail. */
bool gg_nodes_reserve(struct gg_pool *pool, uint32_t wanted);
bool gg_slabs_reserve(struct gg_pool *pool, uint32_t wanted);
uint32_t gg_node_take(struct gg_pool *pool);
void gg_node_return(struct gg_pool *pool, uint32_t i);
uint32_t gg_slab_take(struct gg_pool *pool);
void gg_slab_return(struct gg_pool *pool, uint32_t i);
void gg_records_finish(struct gg_records *records);
uint64_t gg_records_bytes(const struct gg_records *records, uint64_t size);

/* pool_fit.c */
void gg_fit_init(struct gg_fit *fit, uint32_t level, uint32_t shift, uint32_t least);
uint32_t gg_fit_bin(uint32_t size);
void gg_fit_insert(struct gg_pool *pool, struct gg_fit *fit, uint32_t i);
void gg_fit_remove(struct gg_pool *pool, struct gg_fit *fit, uint32_t i);
/* A free node in which `size` units fit at a multiple of `alignment`, `*pad` units from its start; or 0. */
uint32_t gg_fit_find(const struct gg_pool *pool, const struct gg_fit *fit, uint32_t size, uint32_t alignment,
                     uint32_t *pad);
/* Takes `bytes` there; at most two nodes are needed for the rests. The taken node is returned, in `state`. */
uint32_t gg_fit_carve(struct gg_pool *pool, struct gg_fit *fit, uint32_t i, uint32_t pad, uint64_t bytes,
                      enum gg_node_state state);
/* Gives a node back. When it is all of its segment or block now it is in no bin, and is returned; otherwise 0. */
uint32_t gg_fit_release(struct gg_pool *pool, struct gg_fit *fit, uint32_t i);

/* pool_block.c: nodes of the levels, with segments and blocks made and given back as needed. */
enum {
    GG_NODES_OF_AN_OPERATION = 8
};
int32_t gg_pages_take(struct gg_pool *pool, uint64_t bytes, uint64_t alignment, uint32_t *taken);
int32_t gg_heap_take(struct gg_pool *pool, uint32_t heap, uint64_t bytes, uint64_t alignment, enum gg_node_state state,
                     uint32_t *taken);
void gg_node_release(struct gg_pool *pool, uint32_t i);
void gg_block_destroy(struct gg_pool *pool, uint32_t block);

/* pool_slab.c */
int32_t gg_tiny_allocate(struct gg_pool *pool, uint32_t heap, uint32_t size, uint32_t alignment,
                         struct gg_pool_place *place);
int32_t gg_tiny_free(struct gg_pool *pool, uint64_t handle);
/* The slab, slot and unused bytes that a handle names, when it is live; else NULL. */
struct gg_slab *gg_tiny_find(const struct gg_pool *pool, uint64_t handle, uint32_t *slot, uint32_t *waste);
void gg_slabs_trim(struct gg_pool *pool);

/* Handles. Tiny: 2, slab (28 bits), slot (8), waste (10), generation + waste (16). Others: 1, node (30), generation. */
enum {
    GG_HANDLE_NODE = 1,
    GG_HANDLE_TINY = 2
};
static inline uint32_t gg_handle_tag(uint64_t handle) { return (uint32_t)(handle >> 62); }

#endif

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
    GG_CLASS_GAPS = 1024,            /* from here on: tiny sizes whose slots are at multiples of 256 */
    GG_CLASSES = GG_CLASS_GAPS + 64, /* of a heap: strides of 16 bytes to 16 KiB, in steps of 16 */
    GG_CLASS_BITS = 11,
    GG_SLAB_GAP = 256,                               /* the alignment whose gaps are used */
    GG_SLAB_ALIGNMENT = 1024,                        /* the largest that slots are good for */
    GG_SLAB_STRIDE = GG_CLASS_GAPS << GG_UNIT_SHIFT, /* the largest */
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

/*
 * A cache line: all that a free of a slot looks at. Slots are free, live, or claimed: a class takes the free slots of
 * one word at a time out of a slab and allocates from those, so that an allocation looks at the class alone.
 */
struct gg_slab {
    uint64_t free[4];    /* a bit a slot */
    uint32_t base;       /* in 16-byte units; slot s begins s periods later */
    uint32_t prev, next; /* slabs of the class with free slots; an unused slab: next */
    uint32_t node;       /* what it lies in */
    uint32_t twin;       /* the slab in the gaps of this one, or in whose gaps this one lies */
    uint16_t generation;
    uint16_t block;
    uint16_t used;   /* slots live or claimed */
    uint16_t class;  /* heap, class: gg_class() */
    uint16_t period; /* in units */
    uint8_t words;   /* bits 0 to 3: those with free slots; 4 to 7: the last one that was claimed */
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

/* A cache line as well. */
struct gg_class {
    uint64_t bits;   /* claimed slots of a word */
    uint64_t handle; /* of that word's first slot, when nothing of it is wasted */
    uint64_t offset; /* of that slot */
    uint32_t period;
    uint32_t block;
    uint32_t tier;
    uint32_t slab;    /* whose word it is; 0: none */
    uint32_t head;    /* slabs with free slots, */
    uint32_t tail;    /* from the first to the last */
    uint32_t slots;   /* of all its slabs */
    uint32_t singles; /* live nodes of this stride: there is no slab until they are many */
    uint32_t padding[2];
};

struct gg_block {
    uint64_t size; /* 0: this number is not in use */
    uint32_t first;
    uint32_t dedicated;
    uint64_t *shadow; /* debug builds: a bit for each unit that something lies in */
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
    /*
     * Bytes and number of what is live; `held` and `live` count claimed slots as well. They are kept apart, so that no
     * compiler makes vectors of them: what one call has just stored is added to by the next.
     */
    uint64_t requested;
    struct gg_class *classes[GG_HEAPS];
    uint64_t rounding;
    struct gg_class *classes_of[GG_POOL_KIND_MSAA]; /* by the kind of resource */
    uint64_t held;
    uint64_t capacity;
    uint64_t live;
    uint64_t classes_used[GG_HEAPS][GG_CLASSES / 64]; /* those with slabs */
    struct gg_fit fits[GG_HEAPS + 1];
    struct gg_block *blocks;
    uint32_t block_count, block_capacity, blocks_live;
    uint32_t kept; /* 1 + the empty block that is kept, or 0 */
    uint64_t slab_count;
    uint32_t salt; /* where generations begin, so that other pools' handles differ */
    uint32_t heaps;
    struct gg_pool_config config;
    pthread_mutex_t mutex;
};

/* Nothing, unless the pool is one that any thread may call. */
static inline void gg_pool_lock(struct gg_pool *pool)
{
    if (pool->config.locked)
        pthread_mutex_lock(&pool->mutex);
}

static inline void gg_pool_unlock(struct gg_pool *pool)
{
    if (pool->config.locked)
        pthread_mutex_unlock(&pool->mutex);
}

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

static inline struct gg_class *gg_class(const struct gg_pool *pool, uint32_t class)
{
    return &pool->classes[class >> GG_CLASS_BITS][class & ((1u << GG_CLASS_BITS) - 1)];
}

/* The size of a slot, which is also its class's stride when it has no gaps. */
static inline uint32_t gg_slab_slot_bytes(const struct gg_slab *slab)
{
    return (slab->class % GG_CLASS_GAPS + 1u) << GG_UNIT_SHIFT;
}

static inline uint64_t gg_slab_offset(const struct gg_slab *slab, uint32_t slot)
{
    return ((uint64_t)slab->base + (uint64_t)slot * slab->period) << GG_UNIT_SHIFT;
}

static inline uint32_t gg_slab_tier(const struct gg_slab *slab)
{
    return gg_slab_slot_bytes(slab) <= GG_POOL_TINY ? GG_POOL_TIER_TINY : GG_POOL_TIER_MEDIUM;
}

static inline bool gg_slab_is_free(const struct gg_slab *slab, uint32_t slot)
{
    return slab->free[slot / 64] >> slot % 64 & 1;
}

/* The words with free slots, a bit each. */
static inline uint32_t gg_slab_free_words(const struct gg_slab *slab) { return slab->words & 15u; }

/* Slots that nobody has, though they are not free. */
static inline bool gg_slab_is_claimed(const struct gg_pool *pool, const struct gg_slab *slab, uint32_t word,
                                      uint32_t bit)
{
    return slab->words & 16u << word && gg_class(pool, slab->class)->bits >> bit & 1;
}

/* The bits of a word whose slots exist. */
static inline uint64_t gg_slab_slots(const struct gg_slab *slab, uint32_t word)
{
    uint32_t slots = slab->last + 1u;
    return slots >= 64 * (word + 1) ? UINT64_MAX : slots <= 64 * word ? 0 : (UINT64_C(1) << slots % 64) - 1;
}

/* pool_records.c: after a reservation the next `wanted` records cannot fail. */
bool gg_nodes_reserve(struct gg_pool *pool, uint32_t wanted);
bool gg_slabs_reserve(struct gg_pool *pool, uint32_t wanted);
uint32_t gg_node_take(struct gg_pool *pool);
void gg_node_return(struct gg_pool *pool, uint32_t i);
uint32_t gg_slab_take(struct gg_pool *pool);
void gg_slab_return(struct gg_pool *pool, uint32_t i);
/* Whole cache lines. */
void *gg_lines_alloc(size_t bytes);
void gg_lines_free(void *lines);
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

/* pool_shadow.c: what is given out twice, or given back and was not, ends the program; nothing in release builds. */
#ifndef NDEBUG
void gg_shadow_create(struct gg_block *block);
void gg_shadow_destroy(struct gg_block *block);
void gg_shadow_take(struct gg_pool *pool, uint32_t block, uint64_t offset, uint64_t size);
void gg_shadow_give(struct gg_pool *pool, uint32_t block, uint64_t offset, uint64_t size);
#else
static inline void gg_shadow_create(struct gg_block *block) { (void)block; }
static inline void gg_shadow_destroy(struct gg_block *block) { (void)block; }
static inline void gg_shadow_take(struct gg_pool *pool, uint32_t block, uint64_t offset, uint64_t size)
{
    (void)pool, (void)block, (void)offset, (void)size;
}
static inline void gg_shadow_give(struct gg_pool *pool, uint32_t block, uint64_t offset, uint64_t size)
{
    (void)pool, (void)block, (void)offset, (void)size;
}
#endif

/* pool_slab.c */
/* Larger, or more strictly aligned: no slots. */
static inline bool gg_class_exists(uint64_t size, uint64_t alignment)
{
    return size <= GG_SLAB_STRIDE - GG_SLAB_ALIGNMENT && alignment <= GG_SLAB_ALIGNMENT;
}

/* Where a size goes: the class of its stride, its size rounded up to its alignment. */
static inline uint32_t gg_class_of(uint32_t heap, uint32_t size, uint32_t alignment, uint32_t *slot)
{
    uint32_t mask = alignment > 16 ? alignment - 1 : 15, stride = (size + mask) & ~mask, packed = (size + 15) & ~15u;
    /* Without a branch: alignments come in no order. */
    uint32_t gaps = (alignment == GG_SLAB_GAP) & (packed < stride) & (size <= GG_POOL_TINY);
    stride ^= (stride ^ packed) & (0u - gaps);
    *slot = stride;
    return heap << GG_CLASS_BITS | gaps * GG_CLASS_GAPS | ((stride >> GG_UNIT_SHIFT) - 1);
}
/* Claims slots for a class that has none; GG_ERR_LIMIT: a node will do, as there are few of this stride. */
int32_t gg_class_refill(struct gg_pool *pool, uint32_t class);
/* What a free leads to, beyond the slot itself. */
void gg_slot_freed(struct gg_pool *pool, uint32_t slab, bool was_full);
void gg_slabs_trim(struct gg_pool *pool);
/* Slots claimed by all classes, and their bytes. */
void gg_claims(const struct gg_pool *pool, uint64_t *slots, uint64_t *bytes);

/*
 * Handles. Slots: 2, slab (28 bits), slot (8), waste (10), generation ^ waste (16). Others: 1, node (30), generation.
 */
enum {
    GG_HANDLE_NODE = 1,
    GG_HANDLE_SLOT = 2
};
static inline uint32_t gg_handle_tag(uint64_t handle) { return (uint32_t)(handle >> 62); }

struct gg_handle_slot {
    uint32_t slab, word, bit, waste;
};

static inline struct gg_handle_slot gg_handle_slot(uint64_t handle)
{
    return (struct gg_handle_slot){handle >> 34 & ((1u << 28) - 1), handle >> 32 & 3, handle >> 26 & 63,
                                   handle >> 16 & 0x3ff};
}

/* The slab of a live slot, or NULL. */
static inline struct gg_slab *gg_slot_find(const struct gg_pool *pool, uint64_t handle)
{
    struct gg_handle_slot at = gg_handle_slot(handle);
    if (!at.slab || at.slab >= pool->slabs.count)
        return NULL;
    struct gg_slab *slab = gg_slab(pool, at.slab);
    if (slab->free[at.word] >> at.bit & 1 || at.waste >= gg_slab_slot_bytes(slab) ||
        (uint16_t)(handle ^ at.waste) != slab->generation)
        return NULL;
    return gg_slab_is_claimed(pool, slab, at.word, at.bit) ? NULL : slab;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_SUBALLOC_POOL_H
#define GUESTGPU_SUBALLOC_POOL_H

/*
 * A pool places resources in blocks of memory: very many tiny buffers beside a few large aligned ones. It works on
 * numbers alone; its books lie outside the memory that it manages, so a block may be device memory, or nothing at all.
 *
 *   tiny     size and alignment at most 1 KiB: slots of slabs, one bit a slot
 *   medium   below 64 KiB: slots as well, up to 15 KiB, where many have the same size; else a two-level segregated fit,
 *            in steps of 16 bytes
 *   large    from 64 KiB in size or alignment, and every MSAA image: the same fit, in pages of 64 KiB
 *
 * Every operation touches a bounded number of records, however many resources there are; beside that only a hook or
 * malloc() can take long. The bound is largest for the free of the last resource, which gives back what slabs each size
 * still has. gg_pool_walk(), gg_pool_check() and gg_pool_trim() look at everything.
 *
 * Handles are never 0. What gg_pool_free() and gg_pool_query() refuse with GG_ERR_ARGUMENT:
 *   - any handle that was freed and whose place is free now: a double free;
 *   - a stale handle of a resource that has a record, also when its place is used again, until the 32-bit generation
 *     of that record comes round;
 *   - a stale handle of a slot once its slab has been given back (16 bits of generation). While the slab lives, a slot
 *     that was given out again looks the same: *that is not caught*, since nothing is stored per object;
 *   - a handle that no pool made, or another pool's, but for a chance of one in 65536 (slots) or 2^32.
 * Whatever the handle, nothing is read or written out of bounds.
 *
 * A pool belongs to one thread at a time, unless `locked` is set: then each call holds a mutex, also around hooks.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

#define GG_POOL_PAGE      65536       /* sizes of blocks are multiples of it */
#define GG_POOL_MAX_BLOCK 68719476736 /* 64 GiB */
#define GG_POOL_TINY      1024        /* the largest tiny resource */

struct gg_pool;

enum gg_pool_kind {
    GG_POOL_KIND_BUFFER = 0,
    GG_POOL_KIND_LINEAR_IMAGE = 1,
    GG_POOL_KIND_OPTIMAL_IMAGE = 2,
    GG_POOL_KIND_MSAA = 3,
    GG_POOL_KIND_FORCE_32 = 0x7fffffff
};

enum gg_pool_tier {
    GG_POOL_TIER_TINY = 0,
    GG_POOL_TIER_MEDIUM = 1,
    GG_POOL_TIER_LARGE = 2,
    GG_POOL_TIER_FORCE_32 = 0x7fffffff
};

struct gg_pool_config {
    uint64_t block_size;   /* a multiple of 64 KiB; 0 means 64 MiB */
    uint64_t granularity;  /* bufferImageGranularity: a power of two up to 64 KiB; 0 means 1 */
    uint32_t max_blocks;   /* at a time; 0 means 65535, the most there can be */
    uint32_t no_dedicated; /* 1: what is larger than a block is refused; 0: it gets a block of its own */
    uint32_t locked;       /* 1: any thread may call at any time */
    uint32_t reserved;     /* 0 */
    void *user;
    /*
     * Each may be NULL. A block's number is used again after its destruction. Creation fails with a negative result,
     * which gg_pool_allocate() returns. Hooks must not call the pool.
     */
    int32_t (*block_create)(void *user, uint32_t block, uint64_t size);
    void (*block_destroy)(void *user, uint32_t block, uint64_t size);
};

struct gg_pool_place {
    uint64_t handle;
    uint64_t offset; /* in the block */
    uint32_t block;
    uint32_t tier; /* enum gg_pool_tier */
};

/* A live range. A walk gives `size` in whole slots; a query gives the size asked for. */
struct gg_pool_range {
    uint64_t offset;
    uint64_t size;
    uint32_t block;
    uint32_t tier; /* enum gg_pool_tier */
};

/* requested + rounding + padding + free = capacity. Bytes, but for the counts. */
struct gg_pool_statistics {
    uint64_t capacity;  /* of all blocks */
    uint64_t requested; /* by what is live */
    uint64_t rounding;  /* up to 16 bytes, or to whole pages */
    uint64_t padding;   /* up to the alignment, and rests too small for another resource */
    uint64_t free;
    uint64_t books; /* host memory of the pool itself */
    uint64_t live;  /* resources */
    uint64_t blocks;
    uint64_t slabs;
    uint64_t free_ranges; /* outside slabs: equal to `blocks` when nothing is live */
};

int32_t gg_pool_create(const struct gg_pool_config *config, struct gg_pool **pool, char **message);
/* Destroys its blocks as well, whatever is live. NULL is allowed. */
void gg_pool_destroy(struct gg_pool *pool);

/*
 * GG_ERR_ARGUMENT: size 0, an alignment that is no power of two or above the block, an unknown kind. GG_ERR_LIMIT: it
 * is larger than a block may be, or no block has room and there may be no more. GG_ERR_MEMORY: no memory for the books.
 * Or what block_create returned. After a failure all is as it was.
 */
int32_t gg_pool_allocate(struct gg_pool *pool, uint64_t size, uint64_t alignment, uint32_t kind,
                         struct gg_pool_place *place);
int32_t gg_pool_free(struct gg_pool *pool, uint64_t handle);
int32_t gg_pool_query(struct gg_pool *pool, uint64_t handle, struct gg_pool_range *range);
int32_t gg_pool_statistics(struct gg_pool *pool, struct gg_pool_statistics *statistics);

/* Live ranges by block and offset, as far as `capacity` goes; *count is how many there are. `ranges` may be NULL. */
int32_t gg_pool_walk(struct gg_pool *pool, struct gg_pool_range *ranges, uint64_t capacity, uint64_t *count);

/* Sizes of blocks by their number, 0 for a number that is not in use; otherwise as gg_pool_walk(). */
int32_t gg_pool_blocks(struct gg_pool *pool, uint64_t *sizes, uint64_t capacity, uint64_t *count);

/*
 * A pool keeps the last slab of a size when it becomes empty, and one empty block. This gives them back. When nothing
 * is live slabs are given back by themselves, so that every block is one free range.
 */
int32_t gg_pool_trim(struct gg_pool *pool);

/* Looks at every record. GG_ERR_FORMAT: a rule is broken, and the message says which and where. */
int32_t gg_pool_check(struct gg_pool *pool, char **message);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

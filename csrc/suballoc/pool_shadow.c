/* SPDX-License-Identifier: MIT */
/*
 * Debug builds only: a bit for each 16 bytes of every block says whether a resource lies there, whatever the books say.
 * The bits are mapped, not allocated: untouched ones cost nothing, and tests of malloc() failures see none of it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "pool_internal.h"

#ifndef NDEBUG

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static size_t mapped_bytes(uint64_t size) { return (size_t)(size >> GG_UNIT_SHIFT) / 8; }

void gg_shadow_create(struct gg_block *block)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *bits = mmap(NULL, mapped_bytes(block->size), PROT_READ | PROT_WRITE, flags, -1, 0);
    block->shadow = bits == MAP_FAILED ? NULL : bits; /* without address space nothing is looked at */
}

void gg_shadow_destroy(struct gg_block *block)
{
    if (block->shadow)
        munmap(block->shadow, mapped_bytes(block->size));
}

static _Noreturn void broken(const char *what, uint32_t block, uint64_t offset, uint64_t size)
{
    fprintf(stderr, "pool: block %" PRIu32 ": [%" PRIu64 ", +%" PRIu64 ") %s\n", block, offset, size, what);
    abort();
}

/* All bits of a range from one value to the other. */
static void turn(struct gg_pool *pool, uint32_t number, uint64_t offset, uint64_t size, bool on)
{
    const struct gg_block *block = &pool->blocks[number];
    if (number >= pool->block_count || offset > block->size || size > block->size - offset)
        broken("lies outside of its block", number, offset, size);
    if (!block->shadow)
        return;
    uint64_t first = offset >> GG_UNIT_SHIFT, end = (offset + size + 15) >> GG_UNIT_SHIFT;
    for (uint64_t at = first; at < end;) {
        uint64_t last = (at | 63) + 1, count = (last < end ? last : end) - at;
        uint64_t mask = (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << at % 64,
                 *word = &block->shadow[at / 64];
        if ((*word & mask) != (on ? 0 : mask))
            broken(on ? "is given out, and something lies there" : "is given back, and not all of it was given out",
                   number, offset, size);
        *word ^= mask;
        at += count;
    }
}

void gg_shadow_take(struct gg_pool *pool, uint32_t block, uint64_t offset, uint64_t size)
{
    turn(pool, block, offset, size, true);
}

void gg_shadow_give(struct gg_pool *pool, uint32_t block, uint64_t offset, uint64_t size)
{
    turn(pool, block, offset, size, false);
}

#endif

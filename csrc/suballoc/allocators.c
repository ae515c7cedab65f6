/* SPDX-License-Identifier: MIT */
/* What comes along to be timed (suballoc_speed.h): our own, and the C library's as a mark that everybody knows. */
#include <guestgpu/suballoc_pool.h>
#include <guestgpu/suballoc_slices.h>
#include <guestgpu/suballoc_speed.h>

#include <stdlib.h>

static void *pool_create_as(uint64_t capacity, uint32_t locked)
{
    const uint64_t page = GG_POOL_PAGE;
    struct gg_pool_config config = {
        .block_size = (capacity + page - 1) / page * page, .max_blocks = 1, .locked = locked};
    struct gg_pool *pool = NULL;
    return gg_pool_create(&config, &pool, NULL) ? NULL : pool;
}

static void *pool_create(uint64_t capacity, uint64_t most_live)
{
    (void)most_live;
    return pool_create_as(capacity, 0);
}

static void *locked_create(uint64_t capacity, uint64_t most_live)
{
    (void)most_live;
    return pool_create_as(capacity, 1);
}

static void pool_destroy(void *state) { gg_pool_destroy(state); }

static int32_t pool_allocate(void *state, uint64_t size, uint64_t alignment, uint32_t kind, uint64_t *handle,
                             uint64_t *offset)
{
    struct gg_pool_place place;
    int32_t result = gg_pool_allocate(state, size, alignment, kind, &place);
    if (result)
        return result;
    *handle = place.handle;
    *offset = place.offset;
    return GG_OK;
}

static void pool_free(void *state, uint64_t handle) { gg_pool_free(state, handle); }

static uint64_t pool_books(void *state)
{
    struct gg_pool_statistics statistics;
    gg_pool_statistics(state, &statistics);
    return statistics.books;
}

/* Slices whose chunks are numbers: nothing is written. A batch completes with each chunk. */
struct slices {
    struct gg_slices *slices;
    uint64_t capacity, batch, chunks;
    char place[64]; /* what chunks are said to be */
};

static int32_t chunk_create(void *user, uint64_t bytes, struct gg_slices_chunk *chunk)
{
    struct slices *state = user;
    *chunk = (struct gg_slices_chunk){.host = state->place, .memory = bytes * state->chunks++};
    return GG_OK;
}

static void chunk_destroy(void *user, const struct gg_slices_chunk *chunk)
{
    (void)user;
    (void)chunk;
}

static void slices_destroy(void *state)
{
    struct slices *slices = state;
    gg_slices_destroy(slices->slices);
    free(slices);
}

static int32_t slices_begin(struct slices *state)
{
    struct gg_slices_config config = {
        .chunk_bytes = state->capacity, .create = chunk_create, .destroy = chunk_destroy, .user = state};
    state->chunks = 0;
    int32_t result = gg_slices_create(&config, &state->slices, NULL);
    return result ? result : gg_slices_open_batch(state->slices, &state->batch);
}

static void *slices_create(uint64_t capacity, uint64_t most_live)
{
    (void)most_live;
    struct slices *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->capacity = capacity;
    if (slices_begin(state)) {
        slices_destroy(state);
        return NULL;
    }
    return state;
}

static int32_t next_batch(struct slices *state)
{
    gg_slices_complete_batch(state->slices, state->batch);
    return gg_slices_open_batch(state->slices, &state->batch);
}

static int32_t slices_allocate(void *state, uint64_t size, uint64_t alignment, uint32_t kind, uint64_t *handle,
                               uint64_t *offset)
{
    (void)kind;
    struct slices *slices = state;
    struct gg_slice slice;
    void *host;
    if (!slices->slices)
        return GG_ERR_MEMORY;
    int32_t result = gg_slices_reserve(slices->slices, (uint32_t)size, (uint32_t)alignment, &slice, &host);
    if (result)
        return result;
    *handle = *offset = slice.memory + slice.offset;
    return slice.offset ? GG_OK : next_batch(slices);
}

/* Chunks are numbered from 0 again. Without memory the next allocation fails. */
static void slices_clear(void *state)
{
    struct slices *slices = state;
    gg_slices_destroy(slices->slices);
    slices->slices = NULL;
    slices_begin(slices);
}

static uint64_t slices_books(void *state)
{
    struct slices *slices = state;
    struct gg_slices_stats stats = {0};
    if (slices->slices)
        gg_slices_stats(slices->slices, &stats);
    return stats.books;
}

static void *malloc_create(uint64_t capacity, uint64_t most_live)
{
    (void)capacity;
    (void)most_live;
    static char state;
    return &state;
}

static void malloc_destroy(void *state) { (void)state; }

static int32_t malloc_allocate(void *state, uint64_t size, uint64_t alignment, uint32_t kind, uint64_t *handle,
                               uint64_t *offset)
{
    (void)state;
    (void)kind;
    void *memory = alignment <= 16 ? malloc(size) : aligned_alloc(alignment, (size + alignment - 1) & (0 - alignment));
    *handle = *offset = (uint64_t)(uintptr_t)memory;
    return memory ? GG_OK : GG_ERR_MEMORY;
}

static void malloc_free(void *state, uint64_t handle)
{
    (void)state;
    free((void *)(uintptr_t)handle);
}

const struct gg_allocator *gg_own_allocator(uint32_t index)
{
    static const struct gg_allocator allocators[] = {
        {.version = GG_ALLOCATOR_VERSION,
         .name = "pool",
         .create = pool_create,
         .destroy = pool_destroy,
         .allocate = pool_allocate,
         .free = pool_free,
         .books = pool_books},
        {.version = GG_ALLOCATOR_VERSION,
         .name = "pool-locked",
         .create = locked_create,
         .destroy = pool_destroy,
         .allocate = pool_allocate,
         .free = pool_free,
         .books = pool_books},
        {.version = GG_ALLOCATOR_VERSION,
         .name = "slices",
         .create = slices_create,
         .destroy = slices_destroy,
         .allocate = slices_allocate,
         .clear = slices_clear,
         .books = slices_books},
        {.version = GG_ALLOCATOR_VERSION,
         .name = "malloc",
         .addresses = 1,
         .create = malloc_create,
         .destroy = malloc_destroy,
         .allocate = malloc_allocate,
         .free = malloc_free},
    };
    return index < sizeof allocators / sizeof allocators[0] ? &allocators[index] : NULL;
}

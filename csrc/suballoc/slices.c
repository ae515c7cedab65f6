/* SPDX-License-Identifier: MIT */
/* Slices of chunks (suballoc_slices.h): a bump allocator, a table of what was copied, and who still needs a chunk. */
#include <guestgpu/suballoc_slices.h>

#include "message.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#ifndef NDEBUG
#define XXH_NO_INLINE_HINTS 1 /* gcc 14 cannot inline all that xxHash 0.8.3 insists on without -O2 */
#endif
#include <xxhash.h>

#define HOST_ALIGNMENT 4096
#define TABLE_LEAST    1024

struct chunk {
    struct gg_slices_chunk at;
    uint64_t holds;   /* batches that bound one of its slices and have not completed */
    uint64_t held_by; /* the latest of them */
};

struct batch {
    uint64_t number, bytes;
    struct chunk **chunks; /* that it holds */
    uint32_t count, capacity;
};

/* A slice of the current chunk that may be found again. */
struct note {
    uint64_t hash, generation;
    uint64_t batch; /* the latest that was charged for it */
    uint32_t offset, size, took;
    uint32_t era; /* other than that of the slices: an empty place */
};

struct gg_slices {
    struct gg_slices_config config;
    struct chunk *current;
    uint64_t used; /* bytes of the current chunk, up to the end of its last slice */
    uint64_t
        charged;    /* of these, what batches have been charged: the open one is charged the rest when somebody asks */
    uint64_t spent; /* bytes of the chunks before, without their tails */
    uint64_t room;  /* the current chunk's bytes while the open batch holds it, else 0 */
    uint64_t epoch, alive, last_batch;
    bool open; /* the last of the batches takes draws */
    struct batch *batches;
    uint32_t batch_count, batch_capacity;
    struct note *notes; /* a power of two of places, probed one after the other */
    uint64_t places, noted;
    uint32_t era;
    struct gg_slices_stats counted; /* what cannot be computed from the rest */
};

/* ---- chunks ---- */

static int32_t plain_create(void *user, uint64_t bytes, struct gg_slices_chunk *chunk)
{
    (void)user;
    chunk->host = aligned_alloc(HOST_ALIGNMENT, bytes);
    chunk->memory = (uint64_t)(uintptr_t)chunk->host;
    return chunk->host ? GG_OK : GG_ERR_MEMORY;
}

static void plain_destroy(void *user, const struct gg_slices_chunk *chunk)
{
    (void)user;
    free(chunk->host);
}

static int32_t chunk_create(struct gg_slices *slices, struct chunk **made)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        return GG_ERR_MEMORY;
    int32_t result = slices->config.create(slices->config.user, slices->config.chunk_bytes, &chunk->at);
    if (!result && !chunk->at.host)
        result = GG_ERR_MEMORY;
    if (result) {
        free(chunk);
        return result;
    }
    slices->alive++;
    slices->counted.chunks_made++;
    *made = chunk;
    return GG_OK;
}

static void chunk_destroy_if_free(struct gg_slices *slices, struct chunk *chunk)
{
    if (!chunk || chunk->holds || chunk == slices->current)
        return;
    slices->config.destroy(slices->config.user, &chunk->at);
    slices->alive--;
    free(chunk);
}

/* ---- what was copied ---- */

static void forget(struct gg_slices *slices)
{
    slices->noted = 0;
    if (++slices->era == 0) { /* came round: places of that era would count again */
        memset(slices->notes, 0, slices->places * sizeof *slices->notes);
        slices->era = 1;
    }
}

static uint64_t hash_of(const struct gg_slice_input *input)
{
    return XXH3_64bits_withSeed(input->bytes, input->size, input->generation);
}

static struct note *free_place(const struct gg_slices *slices, struct note *notes, uint64_t places, uint64_t hash)
{
    uint64_t at = hash & (places - 1);
    while (notes[at].era == slices->era)
        at = (at + 1) & (places - 1);
    return &notes[at];
}

static bool reserve_note(struct gg_slices *slices)
{
    if (4 * (slices->noted + 1) <= 3 * slices->places)
        return true;
    uint64_t places = slices->places ? 2 * slices->places : TABLE_LEAST;
    struct note *notes = calloc(places, sizeof *notes);
    if (!notes)
        return false;
    for (uint64_t i = 0; i < slices->places; i++)
        if (slices->notes[i].era == slices->era)
            *free_place(slices, notes, places, slices->notes[i].hash) = slices->notes[i];
    free(slices->notes);
    slices->notes = notes;
    slices->places = places;
    return true;
}

/* Its bytes are compared, whatever the hash says, and it must meet the alignment. */
static struct note *find(const struct gg_slices *slices, const struct gg_slice_input *input, uint64_t hash)
{
    if (!slices->noted)
        return NULL;
    const unsigned char *host = slices->current->at.host;
    for (uint64_t at = hash & (slices->places - 1);; at = (at + 1) & (slices->places - 1)) {
        struct note *note = &slices->notes[at];
        if (note->era != slices->era)
            return NULL;
        if (note->hash == hash && note->generation == input->generation && note->size == input->size &&
            !(note->offset & (input->alignment - 1)) && !memcmp(host + note->offset, input->bytes, input->size))
            return note;
    }
}

/* ---- batches ---- */

static struct batch *open_batch(const struct gg_slices *slices)
{
    return slices->open ? &slices->batches[slices->batch_count - 1] : NULL;
}

static struct batch *find_batch(const struct gg_slices *slices, uint64_t number)
{
    for (uint32_t i = 0; i < slices->batch_count; i++)
        if (slices->batches[i].number == number)
            return &slices->batches[i];
    return NULL;
}

static bool reserve_hold(struct batch *batch)
{
    if (batch->count < batch->capacity)
        return true;
    uint32_t capacity = batch->capacity ? 2 * batch->capacity : 4;
    struct chunk **chunks = realloc(batch->chunks, capacity * sizeof(struct chunk *));
    if (!chunks)
        return false;
    batch->chunks = chunks;
    batch->capacity = capacity;
    return true;
}

/* The open batch holds the current chunk. Its place in the list has been reserved. */
static void hold(struct gg_slices *slices)
{
    struct batch *batch = open_batch(slices);
    struct chunk *chunk = slices->current;
    slices->room = slices->config.chunk_bytes;
    if (chunk->held_by == batch->number)
        return;
    batch->chunks[batch->count++] = chunk;
    chunk->holds++;
    chunk->held_by = batch->number;
}

/* The open batch is charged what was taken since. */
static void charge(struct gg_slices *slices)
{
    struct batch *batch = open_batch(slices);
    if (batch)
        batch->bytes += slices->used - slices->charged;
    slices->charged = slices->used;
}

static void release(struct gg_slices *slices, struct batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->chunks[i]->holds--;
        chunk_destroy_if_free(slices, batch->chunks[i]);
    }
    free(batch->chunks);
}

int32_t gg_slices_open_batch(struct gg_slices *slices, uint64_t *batch)
{
    if (slices->batch_count == slices->batch_capacity) {
        uint32_t capacity = slices->batch_capacity ? 2 * slices->batch_capacity : 8;
        struct batch *batches = realloc(slices->batches, capacity * sizeof *batches);
        if (!batches)
            return GG_ERR_MEMORY;
        slices->batches = batches;
        slices->batch_capacity = capacity;
    }
    charge(slices);
    slices->batches[slices->batch_count++] = (struct batch){.number = ++slices->last_batch};
    slices->open = true;
    slices->room = 0;
    *batch = slices->last_batch;
    return GG_OK;
}

int32_t gg_slices_complete_batch(struct gg_slices *slices, uint64_t number)
{
    struct batch *batch = find_batch(slices, number);
    if (!batch)
        return GG_ERR_ARGUMENT;
    if (batch == open_batch(slices)) {
        charge(slices);
        slices->open = false;
        slices->room = 0;
    }
    release(slices, batch);
    size_t after = (size_t)(&slices->batches[slices->batch_count] - (batch + 1));
    memmove(batch, batch + 1, after * sizeof *batch);
    slices->batch_count--;
    return GG_OK;
}

int32_t gg_slices_batch_bytes(const struct gg_slices *slices, uint64_t number, uint64_t *bytes)
{
    const struct batch *batch = find_batch(slices, number);
    if (!batch)
        return GG_ERR_ARGUMENT;
    *bytes = batch->bytes + (batch == open_batch(slices) ? slices->used - slices->charged : 0);
    return GG_OK;
}

/* ---- slices ---- */

static inline bool is_power_of_two(uint64_t a) { return a && !(a & (a - 1)); }

static inline int32_t check_room(const struct gg_slices *slices, uint32_t size, uint32_t alignment)
{
    if (!size || !is_power_of_two(alignment) || alignment > GG_SLICES_INPUT_BYTES || !slices->open)
        return GG_ERR_ARGUMENT;
    return size > GG_SLICES_INPUT_BYTES ? GG_ERR_LIMIT : GG_OK;
}

/* The chunk is full: its tail is charged, and nothing of it is found again. */
static uint64_t replace(struct gg_slices *slices, struct chunk *chunk)
{
    struct chunk *full = slices->current;
    uint64_t tail = full ? slices->config.chunk_bytes - slices->used : 0;
    charge(slices);
    open_batch(slices)->bytes += tail;
    slices->spent += slices->used;
    slices->counted.tail += tail;
    slices->current = chunk;
    slices->used = slices->charged = 0;
    forget(slices);
    chunk_destroy_if_free(slices, full);
    return tail;
}

/* What take_room() needs where its short way does not do: a batch that holds a chunk with room. */
static int32_t make_room(struct gg_slices *slices, uint64_t end, uint64_t *tail)
{
    if (!reserve_hold(open_batch(slices)))
        return GG_ERR_MEMORY;
    if (!slices->current || end > slices->config.chunk_bytes) {
        struct chunk *chunk;
        int32_t result = chunk_create(slices, &chunk);
        if (result)
            return result;
        *tail = replace(slices, chunk);
    }
    hold(slices);
    return GG_OK;
}

/* Room in the current chunk, or at the beginning of a new one; *tail is that of the old one. */
static inline int32_t take_room(struct gg_slices *slices, uint32_t size, uint32_t alignment, struct gg_slice *slice,
                                uint64_t *tail)
{
    int32_t result = check_room(slices, size, alignment);
    if (result)
        return result;
    uint64_t mask = alignment - 1u, offset = (slices->used + mask) & ~mask;
    *tail = 0;
    if (offset + size > slices->room) {
        result = make_room(slices, offset + size, tail);
        if (result)
            return result;
        /* Padding is what the slice's own place needs: known only now, and counted once. */
        offset = (slices->used + mask) & ~mask;
    }
    uint64_t took = offset + size - slices->used;
    slices->used = offset + size;
    slices->counted.copies++;
    slices->counted.useful += size;
    *slice =
        (struct gg_slice){.memory = slices->current->at.memory, .offset = (uint32_t)offset, .charged = *tail + took};
    return GG_OK;
}

int32_t gg_slices_reserve(struct gg_slices *slices, uint32_t size, uint32_t alignment, struct gg_slice *slice,
                          void **host)
{
    uint64_t tail;
    int32_t result = take_room(slices, size, alignment ? alignment : 1, slice, &tail);
    if (!result)
        *host = (unsigned char *)slices->current->at.host + slice->offset;
    return result;
}

static int32_t copy(struct gg_slices *slices, const struct gg_slice_input *input, uint64_t hash, struct gg_slice *slice)
{
    uint64_t tail;
    if (slices->epoch && !reserve_note(slices))
        return GG_ERR_MEMORY;
    int32_t result = take_room(slices, input->size, input->alignment, slice, &tail);
    if (result)
        return result;
    memcpy((unsigned char *)slices->current->at.host + slice->offset, input->bytes, input->size);
    if (slices->epoch) {
        *free_place(slices, slices->notes, slices->places, hash) = (struct note){
            .hash = hash,
            .generation = input->generation,
            .batch = slices->last_batch,
            .offset = slice->offset,
            .size = input->size,
            .took = (uint32_t)(slice->charged - tail),
            .era = slices->era,
        };
        slices->noted++;
    }
    return GG_OK;
}

int32_t gg_slices_bind(struct gg_slices *slices, const struct gg_slice_input *given, struct gg_slice *slice)
{
    struct gg_slice_input input = *given;
    input.alignment = input.alignment ? input.alignment : 1;
    int32_t result = input.bytes ? check_room(slices, input.size, input.alignment) : GG_ERR_ARGUMENT;
    if (result)
        return result;
    uint64_t hash = slices->epoch ? hash_of(&input) : 0;
    struct note *note = find(slices, &input, hash);
    if (!note)
        return copy(slices, &input, hash, slice);
    struct batch *batch = open_batch(slices);
    if (!reserve_hold(batch))
        return GG_ERR_MEMORY;
    hold(slices);
    uint64_t charged = note->batch == batch->number ? 0 : note->took;
    note->batch = batch->number;
    batch->bytes += charged;
    slices->counted.reuses++;
    *slice = (struct gg_slice){
        .memory = slices->current->at.memory, .offset = note->offset, .reused = 1, .charged = charged};
    return GG_OK;
}

int32_t gg_slices_set_epoch(struct gg_slices *slices, uint64_t epoch)
{
    if (epoch && epoch == slices->epoch)
        return GG_ERR_ARGUMENT;
    slices->epoch = epoch;
    forget(slices);
    return GG_OK;
}

/* ---- all of them ---- */

int32_t gg_slices_create(const struct gg_slices_config *config, struct gg_slices **made, char **message)
{
    uint64_t bytes = config->chunk_bytes ? config->chunk_bytes : GG_SLICES_CHUNK_BYTES;
    gg_succeed(message);
    if (!is_power_of_two(bytes) || bytes < GG_SLICES_INPUT_BYTES || bytes > UINT64_C(1) << 30)
        return gg_fail(message, GG_ERR_ARGUMENT, "slices: chunks of %llu bytes, must be a power of two, 4096 to 2^30",
                       (unsigned long long)bytes);
    if (!config->create != !config->destroy)
        return gg_fail(message, GG_ERR_ARGUMENT, "slices: one hook of two: create and destroy belong together");
    struct gg_slices *slices = calloc(1, sizeof *slices);
    if (!slices)
        return gg_fail(message, GG_ERR_MEMORY, "slices: out of memory");
    slices->config = *config;
    slices->config.chunk_bytes = bytes;
    slices->config.create = config->create ? config->create : plain_create;
    slices->config.destroy = config->destroy ? config->destroy : plain_destroy;
    slices->era = 1;
    *made = slices;
    return GG_OK;
}

void gg_slices_destroy(struct gg_slices *slices)
{
    if (!slices)
        return;
    for (uint32_t i = 0; i < slices->batch_count; i++)
        release(slices, &slices->batches[i]);
    struct chunk *last = slices->current;
    slices->current = NULL;
    chunk_destroy_if_free(slices, last);
    free(slices->batches);
    free(slices->notes);
    free(slices);
}

void gg_slices_stats(const struct gg_slices *slices, struct gg_slices_stats *stats)
{
    *stats = slices->counted;
    stats->padding = slices->spent + slices->used - stats->useful;
    stats->chunks = slices->alive;
    stats->noted = slices->noted;
    stats->open_batches = slices->batch_count;
    stats->books = sizeof *slices + slices->places * sizeof *slices->notes +
                   slices->batch_capacity * sizeof *slices->batches + slices->alive * sizeof(struct chunk);
    for (uint32_t i = 0; i < slices->batch_count; i++)
        stats->books += slices->batches[i].capacity * sizeof(struct chunk *);
}

/* ---- invariants ---- */

static int32_t broken(char **message, const char *what) { return gg_fail(message, GG_ERR_FORMAT, "slices: %s", what); }

static int32_t check_notes(const struct gg_slices *slices, char **message)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < slices->places; i++) {
        const struct note *note = &slices->notes[i];
        if (note->era != slices->era)
            continue;
        count++;
        if (!slices->current || (uint64_t)note->offset + note->size > slices->used || note->took < note->size)
            return broken(message, "a noted slice lies outside what was given out");
        const unsigned char *bytes = (const unsigned char *)slices->current->at.host + note->offset;
        if (XXH3_64bits_withSeed(bytes, note->size, note->generation) != note->hash)
            return broken(message, "the bytes of a noted slice have changed");
    }
    return count == slices->noted ? GG_OK : broken(message, "the number of noted slices is wrong");
}

int32_t gg_slices_check(const struct gg_slices *slices, char **message)
{
    const struct gg_slices_stats *n = &slices->counted; /* but padding, which follows from the rest */
    gg_succeed(message);
    uint64_t full = slices->current ? n->chunks_made - 1 : 0, holds = 0, listed = 0;
    if (slices->used > slices->config.chunk_bytes || slices->charged > slices->used)
        return broken(message, "more is used than the chunk has");
    if (slices->spent + n->tail != full * slices->config.chunk_bytes || n->useful > slices->spent + slices->used)
        return broken(message, "useful bytes, padding and tails are not what the chunks had");
    const struct batch *open = open_batch(slices);
    bool held = open && slices->current && slices->current->held_by == open->number;
    if (slices->room != (held ? slices->config.chunk_bytes : 0))
        return broken(message, "the open batch holds the chunk, and it is not known, or the other way round");
    if (!slices->epoch && slices->noted)
        return broken(message, "slices are noted without an epoch");
    for (uint32_t i = 0; i < slices->batch_count; i++)
        for (uint32_t c = 0; c < slices->batches[i].count; c++) {
            const struct chunk *chunk = slices->batches[i].chunks[c];
            bool first = true; /* mention of this chunk: its holds count once */
            for (uint32_t j = 0; j <= i && first; j++)
                for (uint32_t d = 0; d < (j < i ? slices->batches[j].count : c) && first; d++)
                    first = slices->batches[j].chunks[d] != chunk;
            holds += first ? chunk->holds : 0;
            listed++;
        }
    if (holds != listed)
        return broken(message, "a chunk is held by other batches than it counts");
    return check_notes(slices, message);
}

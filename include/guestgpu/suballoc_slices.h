/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_SUBALLOC_SLICES_H
#define GUESTGPU_SUBALLOC_SLICES_H

/*
 * Slices: small read-only inputs of draws, copied once an epoch into chunks of host-visible memory instead of into a
 * buffer each. (Rules: docs/suballoc.md, "Slices".)
 *
 *  - An input is found again by its bytes (a hash, confirmed by comparing them), within the collect epoch and the
 *    generation under which it was copied: a store to the input's memory gives it a new generation, which its owner
 *    passes in, and a new epoch ends all reuse. Without an epoch every input is copied, and none is noted.
 *  - In a chunk offsets only grow; a full chunk is replaced, never rewound, and with it goes what was noted of it.
 *    A chunk lives as long as it is the current one, or a batch that bound one of its slices has not completed.
 *  - A new slice charges the open batch the space it took, padding included, and the one that replaces a chunk also
 *    the tail that stays unused: all of a chunk's capacity is charged once. A slice found again charges a later batch
 *    once, by the space it took, and nothing to the batch that has it already.
 *
 * One thread at a time.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

#define GG_SLICES_CHUNK_BYTES 4194304 /* 4 MiB */
#define GG_SLICES_INPUT_BYTES 4096    /* the largest input; others take the pool */

/* Memory of a chunk: host, mapped for as long as the chunk lives; memory: the owner's name for it. */
struct gg_slices_chunk {
    void *host;
    uint64_t memory;
};

/*
 * create: GG_OK and *chunk filled, or another result, which the caller of gg_slices_bind() gets, nothing changed.
 * The memory is aligned to the largest alignment that is asked for. Both NULL: plain memory, aligned to 4096.
 */
struct gg_slices_config {
    uint64_t chunk_bytes; /* a power of two, 4 KiB to 1 GiB; 0: GG_SLICES_CHUNK_BYTES */
    int32_t (*create)(void *user, uint64_t bytes, struct gg_slices_chunk *chunk);
    void (*destroy)(void *user, const struct gg_slices_chunk *chunk);
    void *user;
};

struct gg_slice_input {
    const void *bytes;
    uint32_t size;       /* 1 to GG_SLICES_INPUT_BYTES */
    uint32_t alignment;  /* a power of two, at most GG_SLICES_INPUT_BYTES; 0: 1 */
    uint64_t generation; /* of the memory that the input was read from */
};

struct gg_slice {
    uint64_t memory;  /* the chunk's */
    uint32_t offset;  /* in bytes, from the chunk's beginning */
    uint32_t reused;  /* 1: found again, not copied */
    uint64_t charged; /* bytes that the open batch is charged by this call */
};

struct gg_slices_stats {
    uint64_t chunks; /* alive */
    uint64_t chunks_made;
    uint64_t copies, reuses;
    uint64_t useful, padding, tail; /* bytes of all slices ever copied, of their alignment, and left unused in chunks */
    uint64_t noted;                 /* slices that may be found again */
    uint64_t open_batches;          /* not completed */
    uint64_t books;                 /* bytes that the books take */
};

struct gg_slices;

int32_t gg_slices_create(const struct gg_slices_config *config, struct gg_slices **slices, char **message);
/* Batches need not have completed: whoever destroys says that the device is done. NULL is allowed. */
void gg_slices_destroy(struct gg_slices *slices);

/* Begins a collect epoch, other than the one before: nothing noted is found again. 0: no epoch, memoisation off. */
int32_t gg_slices_set_epoch(struct gg_slices *slices, uint64_t epoch);

/* Opens the next batch; the one before is closed by it. Its number, never 0, names it in what follows. */
int32_t gg_slices_open_batch(struct gg_slices *slices, uint64_t *batch);
/* The device is done with a closed batch or the open one. GG_ERR_ARGUMENT: no such batch, or it completed before. */
int32_t gg_slices_complete_batch(struct gg_slices *slices, uint64_t batch);
/* What a batch that has not completed was charged, in bytes. */
int32_t gg_slices_batch_bytes(const struct gg_slices *slices, uint64_t batch, uint64_t *bytes);

/*
 * A slice with the input's bytes, for a draw of the open batch. GG_ERR_LIMIT: larger than GG_SLICES_INPUT_BYTES;
 * GG_ERR_ARGUMENT: no bytes, no open batch, an alignment that is no power of two or too large; GG_ERR_MEMORY, or what
 * the hook returned. On failure nothing has changed.
 */
int32_t gg_slices_bind(struct gg_slices *slices, const struct gg_slice_input *input, struct gg_slice *slice);

/*
 * Room that the caller fills by *host itself, before the batch is submitted: placed, charged and held as a slice that
 * is copied, but never found again. Sizes, alignments and failures as above.
 */
int32_t gg_slices_reserve(struct gg_slices *slices, uint32_t size, uint32_t alignment, struct gg_slice *slice,
                          void **host);

void gg_slices_stats(const struct gg_slices *slices, struct gg_slices_stats *stats);
/* Walks every invariant; GG_ERR_FORMAT names the one that is broken. */
int32_t gg_slices_check(const struct gg_slices *slices, char **message);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Slices: every rule of the spec's section 3 by name, then random draws against a model that keeps all bytes that
 * were ever bound, and every failure of memory and of the hook in turn.
 */
#include <guestgpu/suballoc_slices.h>

#include "alloc_failure.h"

#define CHUNK 8192

static unsigned chunks_alive, chunks_asked, chunk_fails_at = UINT_MAX;
static unsigned char memory[512][CHUNK] __attribute__((aligned(4096)));
static bool taken[512];

static int32_t create(void *user, uint64_t bytes, struct gg_slices_chunk *chunk)
{
    CHECK(user == (void *)memory && bytes == CHUNK, "the hook gets what was configured");
    if (chunks_asked++ == chunk_fails_at)
        return GG_ERR_DEVICE;
    for (unsigned i = 0; i < COUNT(memory); i++)
        if (!taken[i]) {
            taken[i] = true;
            chunks_alive++;
            *chunk = (struct gg_slices_chunk){.host = memory[i], .memory = 100 + i};
            return GG_OK;
        }
    return GG_ERR_MEMORY;
}

static void destroy(void *user, const struct gg_slices_chunk *chunk)
{
    CHECK(user == (void *)memory && taken[chunk->memory - 100], "a chunk is destroyed once");
    taken[chunk->memory - 100] = false;
    memset(memory[chunk->memory - 100], 0xdd, CHUNK); /* who reads it after its end sees so */
    chunks_alive--;
}

static const struct gg_slices_config config = {
    .chunk_bytes = CHUNK, .create = create, .destroy = destroy, .user = memory};

static struct gg_slices *begin(uint64_t epoch)
{
    struct gg_slices *slices = NULL;
    char *message = NULL;
    expect_ok("create", gg_slices_create(&config, &slices, &message), &message);
    CHECK(gg_slices_set_epoch(slices, epoch) == GG_OK, "the first epoch");
    return slices;
}

static void check(const struct gg_slices *slices)
{
    char *message = NULL;
    expect_ok("check", gg_slices_check(slices, &message), &message);
}

static void end(struct gg_slices *slices)
{
    check(slices);
    gg_slices_destroy(slices);
    CHECK(!chunks_alive, "%u chunks outlive all", chunks_alive);
}

static uint64_t open(struct gg_slices *slices)
{
    uint64_t batch = 0;
    CHECK(gg_slices_open_batch(slices, &batch) == GG_OK && batch, "a batch opens");
    return batch;
}

static struct gg_slice bind(struct gg_slices *slices, const void *bytes, uint32_t size, uint32_t alignment,
                            uint64_t generation)
{
    struct gg_slice slice = {0};
    const struct gg_slice_input input = {bytes, size, alignment, generation};
    int32_t result = gg_slices_bind(slices, &input, &slice);
    CHECK(result == GG_OK, "%u bytes: %s", size, gg_result_string(result));
    CHECK(!memcmp(memory[slice.memory - 100] + slice.offset, bytes, size), "the slice has the input's bytes");
    CHECK(!alignment || slice.offset % alignment == 0, "offset %u at %u", slice.offset, alignment);
    return slice;
}

static uint64_t bytes_of(const struct gg_slices *slices, uint64_t batch)
{
    uint64_t bytes = UINT64_MAX;
    CHECK(gg_slices_batch_bytes(slices, batch, &bytes) == GG_OK, "batch %llu", (unsigned long long)batch);
    return bytes;
}

static void placement_and_alignment(void)
{
    struct gg_slices *slices = begin(1);
    uint64_t batch = open(slices);
    struct gg_slice a = bind(slices, "abc", 3, 1, 0), b = bind(slices, "defg", 4, 256, 0),
                    c = bind(slices, "h", 1, 0, 0);
    CHECK(a.offset == 0 && a.charged == 3, "the first begins the chunk");
    CHECK(b.offset == 256 && b.charged == 253 + 4, "padding is charged: %llu", (unsigned long long)b.charged);
    CHECK(c.offset == 260 && c.charged == 1, "an alignment of 0 is 1");
    CHECK(bytes_of(slices, batch) == 261, "the batch has the sum");
    end(slices);
}

static void whole_charge_of_a_chunk(uint32_t size, uint32_t alignment)
{
    struct gg_slices *slices = begin(1);
    uint64_t batch = open(slices), charged = 0, last = 0;
    for (uint32_t i = 0;; i++) {
        unsigned char bytes[4096] = {0};
        memcpy(bytes, &i, sizeof i);
        struct gg_slice slice = bind(slices, bytes, size, alignment, 0);
        if (slice.memory == 101) { /* replaces the chunk: charged its tail, and itself */
            last = slice.charged;
            CHECK(slice.offset == 0 && last >= size, "the new chunk is begun");
            break;
        }
        charged += slice.charged;
    }
    CHECK(charged + last - size == CHUNK, "slices of %u at %u: %llu of %u bytes charged", size, alignment,
          (unsigned long long)(charged + last - size), CHUNK);
    CHECK(bytes_of(slices, batch) == CHUNK + size, "the batch covers both chunks");
    end(slices);
}

static void reuse_within_an_epoch(void)
{
    struct gg_slices *slices = begin(1);
    uint64_t first = open(slices);
    struct gg_slice a = bind(slices, "0123", 4, 4, 7), b = bind(slices, "0123", 4, 4, 7);
    CHECK(b.reused && b.offset == a.offset && !b.charged, "found again, without a second charge");
    CHECK(bytes_of(slices, first) == 4, "once");
    uint64_t second = open(slices);
    b = bind(slices, "0123", 4, 4, 7);
    CHECK(b.reused && b.charged == 4, "a later batch is charged once");
    b = bind(slices, "0123", 4, 4, 7);
    CHECK(b.reused && !b.charged && bytes_of(slices, second) == 4, "and once only");
    CHECK(!bind(slices, "012", 3, 1, 7).reused, "another size is another input");
    CHECK(!bind(slices, "0124", 4, 4, 7).reused, "so are other bytes");
    end(slices);
}

static void an_alignment_that_the_slice_lacks(void)
{
    struct gg_slices *slices = begin(1);
    open(slices);
    bind(slices, "x", 1, 1, 0);
    struct gg_slice a = bind(slices, "yyyy", 4, 1, 0), b = bind(slices, "yyyy", 4, 16, 0),
                    c = bind(slices, "yyyy", 4, 8, 0);
    CHECK(a.offset == 1 && !b.reused && b.offset == 16, "copied to where it is aligned");
    CHECK(c.reused && c.offset == 16, "and found there");
    end(slices);
}

static void memoisation_off(void)
{
    struct gg_slices *slices = begin(0);
    struct gg_slices_stats stats;
    open(slices);
    struct gg_slice a = bind(slices, "0123", 4, 4, 7), b = bind(slices, "0123", 4, 4, 7);
    CHECK(!a.reused && !b.reused && b.offset == 4 && b.charged == 4, "a copy each time");
    gg_slices_stats(slices, &stats);
    CHECK(stats.copies == 2 && !stats.noted, "nothing is noted");
    CHECK(gg_slices_set_epoch(slices, 5) == GG_OK, "an epoch");
    CHECK(!bind(slices, "0123", 4, 4, 7).reused, "what was copied before is not found");
    end(slices);
}

static void stores_and_epochs(void)
{
    struct gg_slices *slices = begin(1);
    open(slices);
    struct gg_slice a = bind(slices, "0123", 4, 4, 7), b = bind(slices, "0123", 4, 4, 8);
    CHECK(!b.reused && b.offset != a.offset, "a store to the input ends its reuse, though its bytes are the same");
    CHECK(bind(slices, "0123", 4, 4, 8).reused, "the new generation's is found");
    CHECK(gg_slices_set_epoch(slices, 1) == GG_ERR_ARGUMENT, "an epoch is not begun twice");
    CHECK(gg_slices_set_epoch(slices, 2) == GG_OK && !bind(slices, "0123", 4, 4, 8).reused, "a new epoch ends it too");
    CHECK(gg_slices_set_epoch(slices, 0) == GG_OK && gg_slices_set_epoch(slices, 0) == GG_OK, "off, twice");
    end(slices);
}

static void life_of_a_chunk(void)
{
    static unsigned char big[4096];
    struct gg_slices *slices = begin(1);
    uint64_t first = open(slices);
    struct gg_slice a = bind(slices, "0123", 4, 4, 0);
    uint64_t second = open(slices);
    CHECK(bind(slices, "0123", 4, 4, 0).reused, "two batches have it");
    bind(slices, big, 4096, 1, 0);
    big[0] = 1;
    CHECK(bind(slices, big, 4096, 1, 0).memory != a.memory && chunks_alive == 2, "a full chunk is replaced");
    CHECK(!bind(slices, "0123", 4, 4, 0).reused, "its slices are forgotten");
    check(slices);
    CHECK(gg_slices_complete_batch(slices, first) == GG_OK && chunks_alive == 2, "the second batch still has it");
    CHECK(!memcmp(memory[a.memory - 100], "0123", 4), "its bytes stand");
    CHECK(gg_slices_complete_batch(slices, first) == GG_ERR_ARGUMENT, "a batch completes once");
    CHECK(gg_slices_complete_batch(slices, second) == GG_OK && chunks_alive == 1, "it ends with its last batch");
    uint64_t bytes;
    CHECK(gg_slices_batch_bytes(slices, second, &bytes) == GG_ERR_ARGUMENT, "a completed batch is gone");
    struct gg_slice none;
    const struct gg_slice_input input = {"x", 1, 1, 0};
    CHECK(gg_slices_bind(slices, &input, &none) == GG_ERR_ARGUMENT, "no open batch");
    uint64_t third = open(slices);
    CHECK(bind(slices, "0123", 4, 4, 0).reused && bytes_of(slices, third) == 4, "the current chunk goes on");
    end(slices);
}

static void bad_input(void)
{
    static const unsigned char big[GG_SLICES_INPUT_BYTES + 1];
    const struct {
        struct gg_slice_input input;
        int32_t wanted;
        const char *what;
    } bad[] = {
        {{NULL, 4, 4, 0}, GG_ERR_ARGUMENT, "no bytes"},
        {{big, 0, 4, 0}, GG_ERR_ARGUMENT, "no size"},
        {{big, 4, 3, 0}, GG_ERR_ARGUMENT, "an alignment of 3"},
        {{big, 4, 8192, 0}, GG_ERR_ARGUMENT, "an alignment above the limit"},
        {{big, sizeof big, 4, 0}, GG_ERR_LIMIT, "an input above the limit"},
        {{big, UINT32_MAX, 4, 0}, GG_ERR_LIMIT, "the largest size"},
    };
    struct gg_slices *slices = begin(1);
    uint64_t batch = open(slices);
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct gg_slice slice;
        CHECK(gg_slices_bind(slices, &bad[i].input, &slice) == bad[i].wanted, "%s", bad[i].what);
    }
    CHECK(!chunks_alive && !bytes_of(slices, batch), "nothing has changed");
    CHECK(bind(slices, big, GG_SLICES_INPUT_BYTES, 4096, 0).charged == 4096, "the largest that is taken");
    end(slices);
    struct gg_slices *made = NULL;
    char *message = NULL;
    for (uint64_t bytes = 1; bytes < 4096; bytes = bytes * 3 + 1)
        expect("chunk bytes", gg_slices_create(&(struct gg_slices_config){.chunk_bytes = bytes}, &made, &message),
               GG_ERR_ARGUMENT, &message, "power of two");
    expect("one hook", gg_slices_create(&(struct gg_slices_config){.create = create}, &made, &message), GG_ERR_ARGUMENT,
           &message, "one hook of two");
    gg_slices_destroy(NULL);
}

/* ---- random draws ---- */

static uint64_t state;
static uint32_t random_below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

struct bound { /* what a draw of the model reads */
    uint64_t batch, memory, offset;
    uint32_t size, word;
};

/* Bytes of a batch's draws stand until it completes; whole charges are the chunks' capacity. */
static void random_draws(uint64_t seed)
{
    enum {
        KEPT = 4096
    };
    static struct bound kept[KEPT];
    uint64_t open_batches[8], charged = 0, epoch = 1;
    unsigned batches = 0, count = 0;
    struct gg_slices *slices = begin(epoch);
    state = seed;
    open_batches[batches++] = open(slices);
    for (unsigned step = 0; step < 20000; step++) {
        unsigned what = random_below(100);
        if (what < 3 && batches < COUNT(open_batches)) {
            open_batches[batches++] = open(slices);
        } else if (what < 8 && batches > 1) {
            unsigned which = random_below(batches - 1);
            uint64_t gone = open_batches[which];
            CHECK(gg_slices_complete_batch(slices, gone) == GG_OK, "completes");
            open_batches[which] = open_batches[--batches];
            if (which < batches) { /* the open one stays last */
                uint64_t moved = open_batches[which];
                memmove(&open_batches[which], &open_batches[which + 1], (batches - 1 - which) * sizeof *open_batches);
                open_batches[batches - 1] = moved;
            }
            unsigned left = 0;
            for (unsigned i = 0; i < count; i++)
                if (kept[i].batch != gone)
                    kept[left++] = kept[i];
            count = left;
        } else if (what == 8) {
            CHECK(gg_slices_set_epoch(slices, random_below(4) ? ++epoch : 0) == GG_OK, "an epoch");
        } else if (count < KEPT) {
            uint32_t words[256], word = random_below(20), size = 4 + 340 * random_below(4);
            for (unsigned i = 0; i < COUNT(words); i++)
                words[i] = word * 1000 + i;
            struct gg_slice slice = bind(slices, words, size, 1u << random_below(9), random_below(3));
            uint64_t batch = open_batches[batches - 1];
            charged += slice.reused ? 0 : slice.charged;
            kept[count++] = (struct bound){
                .batch = batch, .memory = slice.memory, .offset = slice.offset, .size = size, .word = word};
        }
        if (step % 500 == 0)
            check(slices);
        for (unsigned i = 0; i < count && step % 500 == 0; i++)
            for (uint32_t w = 0; w < kept[i].size / 4; w++) {
                uint32_t got;
                memcpy(&got, memory[kept[i].memory - 100] + kept[i].offset + 4 * w, 4);
                CHECK(got == kept[i].word * 1000 + w, "seed %llu step %u: a draw's bytes have changed",
                      (unsigned long long)seed, step);
            }
    }
    struct gg_slices_stats stats;
    gg_slices_stats(slices, &stats);
    CHECK(charged == stats.useful + stats.padding + stats.tail, "all that was taken is charged, once");
    CHECK(stats.reuses && stats.chunks_made > 30, "seed %llu: %llu reuses, %llu chunks", (unsigned long long)seed,
          (unsigned long long)stats.reuses, (unsigned long long)stats.chunks_made);
    end(slices);
}

/* ---- what fails changes nothing ---- */

static void failures_in_turn(void)
{
    for (unsigned first = 0;; first++) {
        static const uint32_t words[1024] = {1};
        struct gg_slices *slices = begin(1);
        uint64_t batch = open(slices);
        bool failed = false;
        asked = chunks_asked = 0;
        *(first % 2 ? &fail_at : &chunk_fails_at) = first / 2;
        for (uint32_t i = 0; i < 1500 && !failed; i++) {
            const struct gg_slice_input input = {i % 2 ? (const void *)&i : words, i % 2 ? 4 : 64 + i, 4, i};
            struct gg_slices_stats before, after;
            struct gg_slice slice;
            uint64_t bytes = bytes_of(slices, batch);
            gg_slices_stats(slices, &before);
            int32_t result = gg_slices_bind(slices, &input, &slice);
            if (!result)
                continue;
            failed = true;
            CHECK(result == (first % 2 ? GG_ERR_MEMORY : GG_ERR_DEVICE), "%s", gg_result_string(result));
            gg_slices_stats(slices, &after);
            after.books = before.books; /* room that was made in advance may stay */
            CHECK(!memcmp(&before, &after, sizeof before), "failure %u has changed something", first);
            CHECK(bytes_of(slices, batch) == bytes, "failure %u has charged something", first);
            check(slices);
            fail_at = chunk_fails_at = UINT_MAX;
            CHECK(gg_slices_bind(slices, &input, &slice) == GG_OK, "and the next try works");
        }
        fail_at = chunk_fails_at = UINT_MAX;
        end(slices);
        if (!failed && first > 40)
            break;
    }
    asked = 0;
    fail_at = 0;
    struct gg_slices *slices = NULL;
    char *message = NULL;
    int32_t result = gg_slices_create(&config, &slices, &message);
    fail_at = UINT_MAX;
    CHECK(result == GG_ERR_MEMORY && !slices, "%s", gg_result_string(result));
    gg_free(message);
}

int main(void)
{
    placement_and_alignment();
    whole_charge_of_a_chunk(4, 4);
    whole_charge_of_a_chunk(4, 256);
    whole_charge_of_a_chunk(100, 1);
    whole_charge_of_a_chunk(4096, 4096);
    reuse_within_an_epoch();
    an_alignment_that_the_slice_lacks();
    memoisation_off();
    stores_and_epochs();
    life_of_a_chunk();
    bad_input();
    for (uint64_t seed = 1; seed <= 8; seed++)
        random_draws(seed);
    failures_in_turn();
    CHECK(!living, "%ld allocations are left", living);
    return test_result();
}

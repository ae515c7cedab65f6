/* SPDX-License-Identifier: MIT */
/*
 * What happens on the devices: buffers and their sizes, page-table changes in order, and at each submission what the
 * CPU changed in memory since the last. A copy of each buffer stands beside it to compare with; so only changed words
 * are written, and words that only the GPU would write are none of them.
 */
#define _GNU_SOURCE
#include "capture.h"

#include <amdgpu_drm.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES       4096u
#define MAX_CHUNKS       4096u
#define MAX_BUFFER_BYTES (UINT64_C(4) << 32) /* words are numbered in 32 bits */

struct buffer {
    struct buffer *next;
    uint32_t device;
    uint32_t handle; /* the kernel's, unique in a device */
    uint32_t number; /* ours, in the file */
    bool in_page_table;
    bool unreadable;
    uint64_t size;
    unsigned char *live;   /* the buffer itself, when it was needed */
    unsigned char *shadow; /* as it was last recorded; whole words */
};

static struct {
    struct buffer *buffers; /* newest first */
    uint32_t buffer_count;
    uint64_t submissions;
    bool foreign_said; /* memory of unknown origin was mentioned */
} state;

enum call {
    CALL_OTHER,
    CALL_GEM_CLOSE,
    CALL_GEM_CREATE,
    CALL_GEM_VA,
    CALL_CS
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Runs of one MEMORY record, and their words. */
struct changes {
    struct record_run *runs;
    size_t run_count, run_capacity;
    uint32_t *words;
    size_t word_count, word_capacity;
    bool failed;
};

static struct buffer *find(uint32_t device, uint32_t handle)
{
    struct buffer *b = state.buffers;
    while (b && (b->device != device || b->handle != handle))
        b = b->next;
    return b;
}

static size_t shadow_bytes(const struct buffer *b) { return ((size_t)b->size + 3) / 4 * 4; }

static void release(struct buffer *b)
{
    if (b->live)
        capture_next()->munmap(b->live, (size_t)b->size);
    if (b->shadow)
        capture_next()->munmap(b->shadow, shadow_bytes(b));
    free(b);
}

static void record(enum record_kind kind, const void *payload, size_t size)
{
    output_record(kind, 1, (const void *const[]){payload}, (const size_t[]){size});
}

static void freed(uint32_t device, uint32_t handle)
{
    struct buffer **link = &state.buffers;
    while (*link && ((*link)->device != device || (*link)->handle != handle))
        link = &(*link)->next;
    struct buffer *b = *link;
    if (!b)
        return;
    *link = b->next;
    record(RECORD_FREE, &(struct record_buffer){.device = device, .buffer = b->number}, sizeof(struct record_buffer));
    release(b);
}

static void created(uint32_t device, uint32_t handle, const struct drm_amdgpu_gem_create_in *asked)
{
    freed(device, handle); /* a close that we did not see */
    struct buffer *b = calloc(1, sizeof *b);
    if (!b || asked->bo_size == 0 || asked->bo_size > MAX_BUFFER_BYTES) {
        output_note("a buffer of %llu bytes is not recorded", (unsigned long long)asked->bo_size);
        free(b);
        return;
    }
    b->device = device;
    b->handle = handle;
    b->number = ++state.buffer_count;
    b->size = asked->bo_size;
    b->next = state.buffers;
    state.buffers = b;
    const struct record_buffer buffer = {.device = device,
                                         .buffer = b->number,
                                         .size = b->size,
                                         .domains = asked->domains,
                                         .flags = asked->domain_flags};
    record(RECORD_BUFFER, &buffer, sizeof buffer);
}

static void va_changed(uint32_t device, const struct drm_amdgpu_gem_va *va)
{
    bool maps = va->operation == AMDGPU_VA_OP_MAP || va->operation == AMDGPU_VA_OP_REPLACE;
    struct buffer *b = find(device, va->handle);
    if (b && maps)
        b->in_page_table = true;
    /* Handle 0 with PRT is a hole on purpose; anything else came by import or user pointer. */
    if (maps && !b && va->handle && !state.foreign_said) {
        state.foreign_said = true;
        output_note("memory that the application imported (first at address %#llx) is not recorded",
                    (unsigned long long)va->va_address);
    }
    const struct record_va change = {.device = device,
                                     .operation = va->operation,
                                     .buffer = b ? b->number : 0,
                                     .flags = va->flags,
                                     .address = va->va_address,
                                     .offset = va->offset_in_bo,
                                     .size = va->map_size};
    record(RECORD_VA, &change, sizeof change);
}

/* Makes the buffer's memory readable here; false, said once, when that cannot be. */
static bool readable(struct buffer *b, int fd)
{
    if (b->live || b->unreadable)
        return b->live != NULL;
    const struct capture_next *next = capture_next();
    union drm_amdgpu_gem_mmap map = {.in = {.handle = b->handle}};
    void *live = MAP_FAILED, *shadow = MAP_FAILED;
    if (!next->ioctl(fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &map))
        live = next->mmap(NULL, (size_t)b->size, PROT_READ, MAP_SHARED, fd, (off_t)map.out.addr_ptr);
    if (live != MAP_FAILED)
        shadow = next->mmap(NULL, shadow_bytes(b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shadow == MAP_FAILED) {
        output_note("buffer %u of %llu bytes cannot be read: %s", b->number, (unsigned long long)b->size,
                    strerror(errno));
        if (live != MAP_FAILED)
            next->munmap(live, (size_t)b->size);
        b->unreadable = true;
        return false;
    }
    b->live = live;
    b->shadow = shadow;
    return true;
}

/* Room for one more of *count elements of `size` bytes; what was there stays valid when there is no memory. */
static bool grow(void *array, size_t count, size_t more, size_t *capacity, size_t size)
{
    if (count + more <= *capacity)
        return true;
    size_t wanted = (count + more) * 2;
    void *grown = realloc(*(void **)array, wanted * size);
    if (!grown)
        return false;
    *(void **)array = grown;
    *capacity = wanted;
    return true;
}

static void add_run(struct changes *c, size_t word, const uint32_t *words, size_t count)
{
    struct record_run *last = c->run_count ? &c->runs[c->run_count - 1] : NULL;
    bool joins = last && last->word + last->count == word;
    if (!grow(&c->words, c->word_count, count, &c->word_capacity, sizeof *c->words) ||
        (!joins && !grow(&c->runs, c->run_count, 1, &c->run_capacity, sizeof *c->runs))) {
        c->failed = true;
        return;
    }
    memcpy(c->words + c->word_count, words, count * sizeof *words);
    c->word_count += count;
    if (joins)
        last->count += (uint32_t)count;
    else
        c->runs[c->run_count++] = (struct record_run){.word = (uint32_t)word, .count = (uint32_t)count};
}

/* Brings a page of the shadow up to date, and notes which words that changed. */
static void compare_page(struct changes *c, struct buffer *b, size_t offset)
{
    size_t size = (size_t)b->size - offset < PAGE_BYTES ? (size_t)b->size - offset : PAGE_BYTES;
    if (!memcmp(b->live + offset, b->shadow + offset, size))
        return;
    /* Other threads may go on writing: what is recorded is one copy. */
    uint32_t fresh[PAGE_BYTES / 4] = {0}, old[PAGE_BYTES / 4] = {0};
    memcpy(fresh, b->live + offset, size);
    memcpy(old, b->shadow + offset, size);
    memcpy(b->shadow + offset, fresh, size);
    size_t words = (size + 3) / 4;
    for (size_t i = 0, end; i < words; i = end + 1) {
        for (end = i; end < words && fresh[end] != old[end]; end++)
            ;
        if (end > i)
            add_run(c, offset / 4 + i, fresh + i, end - i);
    }
}

static void record_changes(struct buffer *b)
{
    struct changes c = {0};
    for (size_t offset = 0; offset < b->size && !c.failed; offset += PAGE_BYTES)
        compare_page(&c, b, offset);
    /* A record counts its words in 32 bits; no application changes 16 GiB between two submissions. */
    if (c.failed || c.word_count > UINT32_MAX)
        output_note("no memory to note the changes of buffer %u", b->number);
    else if (c.word_count) {
        static const uint32_t zero;
        const struct record_memory memory = {.device = b->device,
                                             .buffer = b->number,
                                             .run_count = (uint32_t)c.run_count,
                                             .word_count = (uint32_t)c.word_count};
        output_record(RECORD_MEMORY, 4, (const void *const[]){&memory, c.runs, c.words, &zero},
                      (const size_t[]){sizeof memory, c.run_count * sizeof *c.runs, c.word_count * sizeof *c.words,
                                       c.word_count % 2 * sizeof zero});
    }
    free(c.runs);
    free(c.words);
}

static const void *pointer(uint64_t address) { return (const void *)(uintptr_t)address; }

static const struct drm_amdgpu_cs_chunk_ib *as_ib(const struct drm_amdgpu_cs_chunk *chunk)
{
    if (!chunk || chunk->chunk_id != AMDGPU_CHUNK_ID_IB || !chunk->chunk_data)
        return NULL;
    return chunk->length_dw >= sizeof(struct drm_amdgpu_cs_chunk_ib) / 4 ? pointer(chunk->chunk_data) : NULL;
}

static void submitted(uint32_t device, int fd, const struct drm_amdgpu_cs_in *in)
{
    const uint64_t *chunks = pointer(in->chunks);
    uint32_t count = chunks ? in->num_chunks : 0;
    if (count > MAX_CHUNKS) {
        output_note("a submission of %u chunks is cut to %u", count, MAX_CHUNKS);
        count = MAX_CHUNKS;
    }
    for (struct buffer *b = state.buffers; b; b = b->next)
        if (b->device == device && b->in_page_table && readable(b, fd))
            record_changes(b);
    struct record_ib *ibs = calloc(count ? count : 1, sizeof *ibs);
    struct record_submit submit = {.device = device, .context = in->ctx_id, .flags = in->flags};
    for (uint32_t i = 0; ibs && i < count; i++) {
        const struct drm_amdgpu_cs_chunk_ib *ib = as_ib(pointer(chunks[i]));
        if (ib)
            ibs[submit.ib_count++] = (struct record_ib){.address = ib->va_start,
                                                        .bytes = ib->ib_bytes,
                                                        .flags = ib->flags,
                                                        .ip_type = ib->ip_type,
                                                        .ip_instance = ib->ip_instance,
                                                        .ring = ib->ring};
    }
    output_record(RECORD_SUBMIT, 2, (const void *const[]){&submit, ibs},
                  (const size_t[]){sizeof submit, submit.ib_count * sizeof *ibs});
    free(ibs);
    state.submissions++;
    output_flush();
}

/* As the kernel does: by number alone, since libdrm does not always say the size and direction of the header. */
static enum call call_of(unsigned long request)
{
    if (_IOC_TYPE(request) != DRM_IOCTL_BASE)
        return CALL_OTHER;
    switch (_IOC_NR(request)) {
    case _IOC_NR(DRM_IOCTL_GEM_CLOSE):
        return CALL_GEM_CLOSE;
    case DRM_COMMAND_BASE + DRM_AMDGPU_GEM_CREATE:
        return CALL_GEM_CREATE;
    case DRM_COMMAND_BASE + DRM_AMDGPU_GEM_VA:
        return CALL_GEM_VA;
    case DRM_COMMAND_BASE + DRM_AMDGPU_CS:
        return CALL_CS;
    default:
        return CALL_OTHER;
    }
}

bool recorder_wants(unsigned long request) { return call_of(request) != CALL_OTHER; }

int recorder_ioctl(uint32_t device, int fd, unsigned long request, void *argument)
{
    pthread_mutex_lock(&lock);
    if (!output_wanted()) {
        pthread_mutex_unlock(&lock);
        return capture_next()->ioctl(fd, request, argument);
    }
    /* The lock is held across the call, so that records stand in the order of the calls. None of these waits. */
    enum call call = call_of(request);
    union drm_amdgpu_gem_create create = {0};
    union drm_amdgpu_cs cs = {0};
    if (call == CALL_GEM_CLOSE)
        freed(device, ((const struct drm_gem_close *)argument)->handle);
    if (call == CALL_GEM_CREATE)
        create = *(const union drm_amdgpu_gem_create *)argument; /* the answer overwrites what was asked */
    if (call == CALL_CS)
        cs = *(const union drm_amdgpu_cs *)argument;
    int result = capture_next()->ioctl(fd, request, argument);
    int error = errno;
    if (!result && call == CALL_GEM_CREATE)
        created(device, ((const union drm_amdgpu_gem_create *)argument)->out.handle, &create.in);
    if (!result && call == CALL_GEM_VA)
        va_changed(device, argument);
    if (!result && call == CALL_CS)
        submitted(device, fd, &cs.in);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

void recorder_before_fork(void) { pthread_mutex_lock(&lock); }

void recorder_after_fork(bool child)
{
    if (child) {
        while (state.buffers) {
            struct buffer *b = state.buffers;
            state.buffers = b->next;
            release(b);
        }
        state.buffer_count = 0;
        state.submissions = 0;
        state.foreign_said = false;
        output_forget();
    }
    pthread_mutex_unlock(&lock);
}

void recorder_end(void)
{
    pthread_mutex_lock(&lock);
    output_end(state.submissions);
    pthread_mutex_unlock(&lock);
}

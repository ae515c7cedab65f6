/* SPDX-License-Identifier: MIT */
/*
 * Reads PM4: packet after packet, into indirect buffers and back, keeping the registers. A stream is bytes of unknown
 * origin: every count is held against the buffer that it stands in, every address against the windows.
 */
#include "pm4.h"

#include "message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPCODE_DISPATCH_DIRECT = 0x15,
    COPY_SOURCE_MEMORY = 1,
    COPY_SOURCE_MEMORY_OLD = 2, /* the same, through another cache */
    COPY_SOURCE_IMMEDIATE = 5,
    COPY_TO_REGISTER = 0,
    INITIATOR_PARTIAL = 1 << 1,
    INITIATOR_START_AT_ZERO = 1 << 2,
    INITIATOR_THREAD_DIMENSIONS = 1 << 5,
    INITIATOR_WAVE32 = 1 << 15,
    BASE_INDIRECT = 1,
};

/* A buffer that is being read. */
struct level {
    const uint32_t *words;
    uint64_t address;
    uint64_t count;
    uint64_t at;
};

struct gg_pm4_stream {
    struct gg_guest_window *windows;
    uint64_t window_count;
    struct level levels[GG_PM4_MAX_DEPTH + 1];
    uint32_t depth;
    int reading; /* 0 before the first begin, at the end, and after an error */
    uint64_t words_read;
    uint64_t indirect_base;
    struct gg_pm4_packet last;
    uint32_t values[GG_PM4_REGISTERS];
    uint8_t set[GG_PM4_REGISTERS];
};

/* The host memory of `size` bytes at a guest address, or NULL when no window has all of them. */
static const uint32_t *host_words(const struct gg_pm4_stream *stream, uint64_t address, uint64_t size)
{
    if (address % 4)
        return NULL;
    for (uint64_t i = 0; i < stream->window_count; i++) {
        const struct gg_guest_window *w = &stream->windows[i];
        if (address >= w->address && address - w->address <= w->size && size <= w->size - (address - w->address))
            return (const uint32_t *)(const void *)((const unsigned char *)w->host + (address - w->address));
    }
    return NULL;
}

static uint64_t pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

/* Registers with addresses / 256 hold 48 bits of them; the page table has the bits above as copies of bit 47. */
static uint64_t page_address(uint32_t low, uint32_t high)
{
    uint64_t address = pair(low, high) << 8 & 0xffffffffffff;
    return address >> 47 ? address | UINT64_C(0xffff) << 48 : address;
}

static void set_register(struct gg_pm4_stream *stream, uint32_t index, uint32_t value)
{
    stream->values[index] = value;
    stream->set[index] = 1;
}

/* ---- what packets do ---- */

static int32_t refuse(const struct gg_pm4_packet *p, char **message, const char *why)
{
    const char *name = p->type == 3 ? gg_pm4_opcode_name(p->opcode) : NULL;
    return gg_fail(message, GG_ERR_FORMAT, "stream: packet %s at %#" PRIx64 " (header %#010" PRIx32 "): %s",
                   name ? name : "without a name", p->address, p->words[0], why);
}

static int32_t write_registers(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, uint32_t first, uint32_t end,
                               const uint32_t *values, uint32_t count, char **message)
{
    if (first >= end || count > end - first)
        return refuse(p, message, "sets registers out of range");
    for (uint32_t i = 0; i < count; i++)
        set_register(stream, first + i, values[i]);
    p->effect = GG_PM4_REGISTER;
    p->first_register = first;
    p->register_count = count;
    return GG_OK;
}

static int32_t set_registers(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, uint32_t base, uint32_t end,
                             char **message)
{
    if (p->word_count < 3)
        return refuse(p, message, "sets no register");
    return write_registers(stream, p, base + (p->words[1] & 0xffff), end, p->words + 2, p->word_count - 2, message);
}

/* Immediate or memory to register: what drivers load launch state with that stands in memory. */
static int32_t copy_data(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, char **message)
{
    if (p->word_count < 6)
        return refuse(p, message, "has too few words");
    uint32_t control = p->words[1], source = control & 0xf, target = p->words[4];
    uint32_t count = control >> 16 & 1 ? 2 : 1;
    if ((control >> 8 & 0xf) != COPY_TO_REGISTER)
        return GG_OK;
    const uint32_t *from = NULL;
    if (source == COPY_SOURCE_IMMEDIATE)
        from = p->words + 2;
    else if (source == COPY_SOURCE_MEMORY || source == COPY_SOURCE_MEMORY_OLD)
        from = host_words(stream, pair(p->words[2], p->words[3]), 4 * count);
    else
        return GG_OK; /* counters and clocks: no launch state */
    if (!from)
        return refuse(p, message, "copies from memory that is not mapped");
    return write_registers(stream, p, target, GG_PM4_REGISTERS, from, count, message);
}

/* A run of registers out of memory: how an indirect dispatch's counts reach user data. */
static int32_t load_registers(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, uint32_t base, uint32_t end,
                              char **message)
{
    if (p->word_count < 5)
        return refuse(p, message, "has too few words");
    uint32_t count = p->words[4] & 0x3fff;
    if (p->words[1] & 3 || p->words[3] >> 31)
        return GG_OK; /* by an offset to a base, or pairs of number and value: no driver that we know does */
    const uint32_t *values = host_words(stream, pair(p->words[1], p->words[2]), 4 * (uint64_t)count);
    if (!values)
        return refuse(p, message, "loads from memory that is not mapped");
    return write_registers(stream, p, base + (p->words[3] & 0xffff), end, values, count, message);
}

static int32_t modify_register(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, char **message)
{
    if (p->word_count < 4)
        return refuse(p, message, "has too few words");
    uint32_t index = CONTEXT_BASE + (p->words[1] & 0xffff), mask = p->words[2];
    if (index >= CONTEXT_END)
        return refuse(p, message, "sets registers out of range");
    uint32_t value = (stream->values[index] & ~mask) | (p->words[3] & mask);
    return write_registers(stream, p, index, CONTEXT_END, &value, 1, message);
}

static int32_t enter_buffer(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, char **message)
{
    if (p->word_count < 4)
        return refuse(p, message, "has too few words");
    int chained = p->words[3] >> 20 & 1;
    p->effect = GG_PM4_BUFFER;
    p->target = pair(p->words[1] & ~3u, p->words[2]);
    p->target_words = p->words[3] & 0xfffff;
    if (!p->target_words)
        return GG_OK;
    const uint32_t *words = host_words(stream, p->target, 4 * (uint64_t)p->target_words);
    if (!words)
        return refuse(p, message, "goes to a buffer that is not mapped, or not in one piece");
    /* A chained buffer takes the place of this one; what follows here is never read. */
    if (!chained && stream->depth == GG_PM4_MAX_DEPTH)
        return gg_fail(message, GG_ERR_LIMIT, "stream: indirect buffers at %#" PRIx64 " are nested deeper than %d",
                       p->address, GG_PM4_MAX_DEPTH);
    stream->depth += chained ? 0 : 1;
    stream->levels[stream->depth] = (struct level){.words = words, .address = p->target, .count = p->target_words};
    return GG_OK;
}

static void clear_context(struct gg_pm4_stream *stream)
{
    memset(stream->values + CONTEXT_BASE, 0, (CONTEXT_END - CONTEXT_BASE) * sizeof *stream->values);
    memset(stream->set + CONTEXT_BASE, 0, CONTEXT_END - CONTEXT_BASE);
}

static int32_t carry_out(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, char **message)
{
    switch (pm4_opcode(p->opcode)->action) {
    case ACTION_SET_CONFIG:
        return set_registers(stream, p, CONFIG_BASE, CONFIG_END, message);
    case ACTION_SET_CONTEXT:
        return set_registers(stream, p, CONTEXT_BASE, CONTEXT_END, message);
    case ACTION_SET_SH:
        return set_registers(stream, p, SH_BASE, SH_END, message);
    case ACTION_SET_UCONFIG:
        return set_registers(stream, p, UCONFIG_BASE, UCONFIG_END, message);
    case ACTION_COPY:
        return copy_data(stream, p, message);
    case ACTION_LOAD_SH:
        return load_registers(stream, p, SH_BASE, SH_END, message);
    case ACTION_LOAD_CONTEXT:
        return load_registers(stream, p, CONTEXT_BASE, CONTEXT_END, message);
    case ACTION_MODIFY:
        return modify_register(stream, p, message);
    case ACTION_BUFFER:
        return enter_buffer(stream, p, message);
    case ACTION_CLEAR:
        clear_context(stream);
        return GG_OK;
    case ACTION_BASE:
        if (p->word_count >= 4 && (p->words[1] & 0xf) == BASE_INDIRECT)
            stream->indirect_base = pair(p->words[2], p->words[3]);
        return GG_OK;
    case ACTION_DISPATCH:
        p->effect = GG_PM4_DISPATCH;
        /* DIRECT: x, y, z, initiator; INDIRECT: offset, initiator, or on a compute ring address, initiator. */
        if (p->word_count < (p->opcode == OPCODE_DISPATCH_DIRECT ? 5u : 3u))
            return refuse(p, message, "has too few words");
        return GG_OK;
    case ACTION_DRAW:
        p->effect = GG_PM4_DRAW;
        return GG_OK;
    case ACTION_NONE:
    case ACTION_PLAIN:
        break;
    }
    return GG_OK;
}

/* ---- the reader ---- */

int32_t gg_pm4_create(struct gg_pm4_stream **stream, char **message)
{
    gg_succeed(message);
    if (!stream)
        return gg_fail(message, GG_ERR_ARGUMENT, "stream: NULL");
    struct gg_pm4_stream *created = calloc(1, sizeof *created);
    if (!created)
        return gg_fail(message, GG_ERR_MEMORY, "stream: no memory for its registers");
    *stream = created;
    return GG_OK;
}

void gg_pm4_destroy(struct gg_pm4_stream *stream)
{
    if (!stream)
        return;
    free(stream->windows);
    free(stream);
}

int32_t gg_pm4_begin(struct gg_pm4_stream *stream, const struct gg_guest_window *windows, uint64_t window_count,
                     uint64_t address, uint64_t word_count, char **message)
{
    gg_succeed(message);
    if (!stream || (!windows && window_count))
        return gg_fail(message, GG_ERR_ARGUMENT, "stream: NULL");
    for (uint64_t i = 0; i < window_count; i++)
        if (!windows[i].host || (uintptr_t)windows[i].host % 4 || windows[i].address % 4 ||
            windows[i].size > UINT64_MAX - windows[i].address)
            return gg_fail(message, GG_ERR_ARGUMENT,
                           "stream: window %" PRIu64 " is NULL, not aligned to 4, or goes around the address space", i);
    if (word_count > GG_PM4_MAX_WORDS)
        return gg_fail(message, GG_ERR_LIMIT, "stream: %" PRIu64 " words are more than %d", word_count,
                       GG_PM4_MAX_WORDS);
    stream->reading = 0;
    struct gg_guest_window *copy = malloc((window_count ? window_count : 1) * sizeof *copy);
    if (!copy)
        return gg_fail(message, GG_ERR_MEMORY, "stream: no memory for %" PRIu64 " windows", window_count);
    if (window_count)
        memcpy(copy, windows, window_count * sizeof *copy);
    free(stream->windows);
    stream->windows = copy;
    stream->window_count = window_count;
    const uint32_t *words = host_words(stream, address, 4 * word_count);
    if (!words && word_count)
        return gg_fail(message, GG_ERR_FORMAT,
                       "stream: the %" PRIu64 " words at %#" PRIx64 " are not mapped, or not in one piece", word_count,
                       address);
    stream->depth = 0;
    stream->words_read = 0;
    stream->levels[0] = (struct level){.words = words, .address = address, .count = word_count};
    stream->last = (struct gg_pm4_packet){0};
    stream->reading = 1;
    return GG_OK;
}

/* Fills in what the header says; the packet lies within its buffer after that. */
static int32_t read_header(struct gg_pm4_packet *p, const struct level *level, char **message)
{
    uint32_t header = p->words[0];
    p->type = header >> 30;
    p->word_count = 1;
    if (p->type == 1)
        return refuse(p, message, "type 1 is reserved");
    if (p->type == 2)
        return GG_OK;
    uint32_t count = header >> 16 & 0x3fff;
    if (p->type == 3) {
        p->opcode = header >> 8 & 0xff;
        p->predicate = header & 1;
        p->compute = header >> 1 & 1;
    }
    /* The longest count is a NOP of the header alone. */
    p->word_count = p->type == 3 && count == 0x3fff ? 1 : count + 2;
    if (p->word_count > level->count - level->at)
        return refuse(p, message, "is cut off by the end of its buffer");
    return GG_OK;
}

static int32_t next_packet(struct gg_pm4_stream *stream, struct gg_pm4_packet *p, char **message)
{
    while (stream->levels[stream->depth].at == stream->levels[stream->depth].count) {
        if (!stream->depth) {
            p->effect = GG_PM4_END;
            stream->reading = 0;
            return GG_OK;
        }
        stream->depth--;
    }
    struct level *level = &stream->levels[stream->depth];
    p->words = level->words + level->at;
    p->address = level->address + 4 * level->at;
    p->depth = stream->depth;
    int32_t result = read_header(p, level, message);
    if (result)
        return result;
    level->at += p->word_count;
    stream->words_read += p->word_count;
    if (stream->words_read > GG_PM4_MAX_WORDS)
        return gg_fail(message, GG_ERR_LIMIT, "stream: more than %d words at %#" PRIx64 ": buffers chained in a ring?",
                       GG_PM4_MAX_WORDS, p->address);
    if (p->type == 0)
        return write_registers(stream, p, p->words[0] & 0xffff, GG_PM4_REGISTERS, p->words + 1, p->word_count - 1,
                               message);
    return p->type == 3 ? carry_out(stream, p, message) : GG_OK;
}

int32_t gg_pm4_next(struct gg_pm4_stream *stream, struct gg_pm4_packet *packet, char **message)
{
    gg_succeed(message);
    if (!stream || !packet)
        return gg_fail(message, GG_ERR_ARGUMENT, "stream: NULL");
    if (!stream->reading)
        return gg_fail(message, GG_ERR_ARGUMENT, "stream: nothing was begun, or it has ended");
    struct gg_pm4_packet p = {0};
    int32_t result = next_packet(stream, &p, message);
    if (result) {
        stream->reading = 0;
        stream->last = (struct gg_pm4_packet){0};
        return result;
    }
    stream->last = *packet = p;
    return GG_OK;
}

int32_t gg_pm4_register(const struct gg_pm4_stream *stream, uint32_t index, uint32_t *value, uint32_t *set,
                        char **message)
{
    gg_succeed(message);
    if (!stream || index >= GG_PM4_REGISTERS)
        return gg_fail(message, GG_ERR_ARGUMENT, "stream: no register %#" PRIx32, index);
    if (value)
        *value = stream->values[index];
    if (set)
        *set = stream->set[index];
    return GG_OK;
}

/* ---- dispatches ---- */

static int32_t indirect_counts(const struct gg_pm4_stream *stream, struct gg_pm4_dispatch *d, char **message)
{
    const struct gg_pm4_packet *p = &stream->last;
    d->indirect = p->word_count >= 4 ? pair(p->words[1], p->words[2]) : stream->indirect_base + p->words[1];
    const uint32_t *counts = host_words(stream, d->indirect, sizeof d->groups);
    if (!counts)
        return refuse(p, message, "takes its counts from memory that is not mapped");
    memcpy(d->groups, counts, sizeof d->groups);
    return GG_OK;
}

/* Dimensions in threads become groups; the last of them may be partial. */
static void count_groups(struct gg_pm4_dispatch *d, const uint32_t num_thread[3])
{
    for (int i = 0; i < 3; i++) {
        d->threads[i] = num_thread[i] & 0xffff;
        if (d->initiator & INITIATOR_PARTIAL)
            d->partial[i] = num_thread[i] >> 16;
        if (d->initiator & INITIATOR_THREAD_DIMENSIONS && d->threads[i]) {
            uint32_t rest = d->groups[i] % d->threads[i];
            d->partial[i] = rest;
            d->groups[i] = d->groups[i] / d->threads[i] + (rest != 0);
        }
        /* The packet has the end of the range, not its length. */
        d->groups[i] -= d->first_group[i] < d->groups[i] ? d->first_group[i] : d->groups[i];
    }
}

int32_t gg_pm4_dispatch(const struct gg_pm4_stream *stream, struct gg_pm4_dispatch *dispatch, char **message)
{
    gg_succeed(message);
    if (!stream || !dispatch || stream->last.effect != GG_PM4_DISPATCH)
        return gg_fail(message, GG_ERR_ARGUMENT, "stream: the last packet is no dispatch");
    const struct gg_pm4_packet *p = &stream->last;
    const uint32_t *values = stream->values;
    struct gg_pm4_dispatch d = {
        .program = page_address(values[COMPUTE_PGM_LO], values[COMPUTE_PGM_HI]),
        .scratch = page_address(values[COMPUTE_DISPATCH_SCRATCH_BASE_LO], values[COMPUTE_DISPATCH_SCRATCH_BASE_HI]),
        .initiator = p->words[p->word_count - 1],
        .rsrc1 = values[COMPUTE_PGM_RSRC1],
        .rsrc2 = values[COMPUTE_PGM_RSRC2],
        .rsrc3 = values[COMPUTE_PGM_RSRC3],
        .resource_limits = values[COMPUTE_RESOURCE_LIMITS],
        .tmpring_size = values[COMPUTE_TMPRING_SIZE],
    };
    /* A compute ring's DISPATCH_DIRECT may carry words after the initiator. */
    if (p->opcode == OPCODE_DISPATCH_DIRECT) {
        memcpy(d.groups, p->words + 1, sizeof d.groups);
        d.initiator = p->words[4];
    } else {
        int32_t result = indirect_counts(stream, &d, message);
        if (result)
            return result;
    }
    memcpy(d.user_data, values + COMPUTE_USER_DATA_0, sizeof d.user_data);
    if (!(d.initiator & INITIATOR_START_AT_ZERO))
        memcpy(d.first_group, values + COMPUTE_START_X, sizeof d.first_group);
    count_groups(&d, values + COMPUTE_NUM_THREAD_X);
    d.wave = d.initiator & INITIATOR_WAVE32 ? 32 : 64;
    d.user_sgprs = d.rsrc2 >> 1 & 0x1f;
    d.vgprs = ((d.rsrc1 & 0x3f) + 1) * (d.wave == 32 ? 8 : 4);
    d.lds_bytes = (d.rsrc2 >> 15 & 0x1ff) * 512;
    if (d.rsrc2 & 1)
        d.scratch_bytes = (d.tmpring_size >> 12 & 0x1fff) * 1024 / d.wave;
    d.known = stream->set[COMPUTE_PGM_LO] && stream->set[COMPUTE_PGM_RSRC1] && stream->set[COMPUTE_PGM_RSRC2] &&
              stream->set[COMPUTE_NUM_THREAD_X];
    *dispatch = d;
    return GG_OK;
}

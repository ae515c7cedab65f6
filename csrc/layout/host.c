/* SPDX-License-Identifier: MIT */
/* The host's part, as commands: fills of the header, draws with tracked index binding, the record head. */
#include "layout_internal.h"

#include <string.h>

static void fill(struct gg_command *commands, uint32_t *count, uint32_t area, uint32_t word, uint32_t words,
                 uint32_t value)
{
    commands[(*count)++] = (struct gg_command){.kind = GG_COMMAND_FILL,
                                               .buffer = area,
                                               .offset = 4ull * word,
                                               .size = 4ull * words,
                                               .bindings = 1,
                                               .value = {value}};
}

int32_t gg_layout_record_fills(const struct gg_layout_plan *plan, const struct gg_layout_options *options,
                               uint32_t area, struct gg_command commands[GG_LAYOUT_MAX_FILLS], uint32_t *count,
                               char **message)
{
    bool is_long = plan->header_words == GG_LAYOUT_HEADER_LONG;
    if (!is_long && (plan->indexed || options->census || options->runtime_fit))
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "header fills: a plan with %u header words does not belong to these options",
                       plan->header_words);
    uint32_t n = 0;
    fill(commands, &n, area, GG_HEADER_VERTEX_COUNT, 1, 0);
    fill(commands, &n, area, GG_HEADER_INSTANCE_COUNT, 1, 1);
    fill(commands, &n, area, GG_HEADER_FIRST_VERTEX, 4, 0); /* first vertex and instance, allocator, dispatch x */
    fill(commands, &n, area, GG_HEADER_DISPATCH + 1, 2, 1);
    if (options->runtime_fit)
        fill(commands, &n, area, GG_HEADER_CAPACITY, 1, (uint32_t)plan->area_words);
    if (options->census && !plan->indexed) {
        fill(commands, &n, area, GG_HEADER_NEEDED, 1, 0);
        fill(commands, &n, area, GG_HEADER_CUT, 1, 0);
    }
    if (plan->indexed && options->runtime_fit) {
        fill(commands, &n, area, GG_HEADER_NEEDED, 1, 0);
        fill(commands, &n, area, GG_HEADER_CUT, 2, 0);
    } else if (plan->indexed) {
        fill(commands, &n, area, GG_HEADER_NEEDED, 4, 0); /* growth words and the index count */
    }
    if (plan->indexed) {
        fill(commands, &n, area, GG_HEADER_INDEXED + 1, 1, 1);
        fill(commands, &n, area, GG_HEADER_INDEXED + 2, 3, 0);
    }
    *count = n;
    return gg_succeed(message);
}

int32_t gg_layout_recorder_bind_index(struct gg_layout_recorder *recorder, uint32_t buffer, uint64_t offset,
                                      uint32_t index_size, char **message)
{
    if (index_size != 1 && index_size != 2 && index_size != 4)
        return gg_fail(message, GG_ERR_ARGUMENT, "index binding: an index of %u bytes; 1, 2 or 4 are there",
                       index_size);
    if (offset % index_size)
        return gg_fail(message, GG_ERR_ARGUMENT, "index binding: offset %llu is no multiple of %u",
                       (unsigned long long)offset, index_size);
    recorder->guest_buffer = buffer;
    recorder->guest_offset = offset;
    recorder->guest_index_size = index_size;
    return gg_succeed(message);
}

/* Records a binding unless it is in place. */
static void bind(struct gg_layout_recorder *recorder, uint32_t buffer, uint64_t offset, uint32_t index_size,
                 struct gg_command *commands, uint32_t *count)
{
    if (recorder->bound_index_size == index_size && recorder->bound_buffer == buffer &&
        recorder->bound_offset == offset)
        return;
    commands[(*count)++] = (struct gg_command){
        .kind = GG_COMMAND_BIND_INDEX, .buffer = buffer, .offset = offset, .bindings = 1, .value = {index_size}};
    recorder->bound_buffer = buffer;
    recorder->bound_offset = offset;
    recorder->bound_index_size = index_size;
}

int32_t gg_layout_recorder_draw_indexed(struct gg_layout_recorder *recorder, const uint32_t draw[5],
                                        struct gg_command commands[2], uint32_t *count, char **message)
{
    if (!recorder->guest_index_size)
        return gg_fail(message, GG_ERR_ARGUMENT, "indexed draw: no index buffer was bound");
    uint32_t n = 0;
    bind(recorder, recorder->guest_buffer, recorder->guest_offset, recorder->guest_index_size, commands, &n);
    commands[n] = (struct gg_command){.kind = GG_COMMAND_DRAW_INDEXED, .bindings = 5};
    memcpy(commands[n++].value, draw, 5 * sizeof *draw);
    *count = n;
    return gg_succeed(message);
}

int32_t gg_layout_recorder_draw_records(struct gg_layout_recorder *recorder, const struct gg_layout_plan *plan,
                                        uint32_t area, struct gg_command commands[2], uint32_t *count, char **message)
{
    const uint32_t indexed_command_bytes = 20, command_bytes = 16;
    uint32_t n = 0;
    if (plan->indexed)
        bind(recorder, area, 4 * plan->index_word, 4, commands, &n);
    commands[n++] =
        (struct gg_command){.kind = plan->indexed ? GG_COMMAND_DRAW_INDEXED_INDIRECT : GG_COMMAND_DRAW_INDIRECT,
                            .buffer = area,
                            .offset = plan->indexed ? 4 * GG_HEADER_INDEXED : 4 * GG_HEADER_VERTEX_COUNT,
                            .bindings = 2,
                            .value = {1, plan->indexed ? indexed_command_bytes : command_bytes}};
    *count = n;
    return gg_succeed(message);
}

/*
 * The head's bytes: "GGLH", version, five members, checksum (FNV-1a of what is before it), each a
 * little-endian word.
 */
#define HEAD_MAGIC   0x484c4747u
#define HEAD_VERSION 1u
enum {
    HEAD_WORDS = GG_LAYOUT_HEAD_BYTES / 4
};

static void put_word(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

static uint32_t get_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static int32_t check_head(const struct gg_layout_head *head, int32_t failure, char **message)
{
    if (head->layout < GG_LAYOUT_AOS || head->layout > GG_LAYOUT_INDEXED)
        return gg_fail(message, failure, "record head: layout %u", head->layout);
    if (head->indexed != (head->layout == GG_LAYOUT_INDEXED))
        return gg_fail(message, failure, "record head: layout %u with indexed %u", head->layout, head->indexed);
    if (head->header_words != GG_LAYOUT_HEADER_SHORT && head->header_words != GG_LAYOUT_HEADER_LONG)
        return gg_fail(message, failure, "record head: %u header words", head->header_words);
    if (head->indexed && head->header_words != GG_LAYOUT_HEADER_LONG)
        return gg_fail(message, failure, "record head: indexed with %u header words", head->header_words);
    if (head->record_words < 1 || head->record_words > GG_LAYOUT_MAX_RECORD)
        return gg_fail(message, failure, "record head: records of %u words", head->record_words);
    if (head->stamp > GG_LAYOUT_INDEXED)
        return gg_fail(message, failure, "record head: stamp %u", head->stamp);
    return gg_succeed(message);
}

int32_t gg_layout_head_write(const struct gg_layout_head *head, uint8_t bytes[GG_LAYOUT_HEAD_BYTES], char **message)
{
    int32_t result = check_head(head, GG_ERR_ARGUMENT, message);
    if (result)
        return result;
    const uint32_t words[HEAD_WORDS - 1] = {HEAD_MAGIC,         HEAD_VERSION,       head->layout, head->indexed,
                                            head->header_words, head->record_words, head->stamp};
    for (size_t i = 0; i < HEAD_WORDS - 1; i++)
        put_word(bytes + 4 * i, words[i]);
    put_word(bytes + 4 * (HEAD_WORDS - 1), checksum(bytes, 4 * (HEAD_WORDS - 1)));
    return GG_OK;
}

int32_t gg_layout_head_read(const uint8_t *bytes, uint64_t size, struct gg_layout_head *head, char **message)
{
    if (size < GG_LAYOUT_HEAD_BYTES)
        return gg_fail(message, GG_ERR_FORMAT, "record head: %llu bytes, must be %u", (unsigned long long)size,
                       GG_LAYOUT_HEAD_BYTES);
    if (get_word(bytes) != HEAD_MAGIC)
        return gg_fail(message, GG_ERR_FORMAT, "record head: begins with %08x", get_word(bytes));
    if (get_word(bytes + 4) != HEAD_VERSION)
        return gg_fail(message, GG_ERR_FORMAT, "record head: version %u, this is version %u", get_word(bytes + 4),
                       HEAD_VERSION);
    if (get_word(bytes + 4 * (HEAD_WORDS - 1)) != checksum(bytes, 4 * (HEAD_WORDS - 1)))
        return gg_fail(message, GG_ERR_FORMAT, "record head: checksum does not match");
    struct gg_layout_head read = {.layout = get_word(bytes + 8),
                                  .indexed = get_word(bytes + 12),
                                  .header_words = get_word(bytes + 16),
                                  .record_words = get_word(bytes + 20),
                                  .stamp = get_word(bytes + 24)};
    int32_t result = check_head(&read, GG_ERR_FORMAT, message);
    if (!result)
        *head = read;
    return result;
}

uint32_t gg_layout_head_serves(const struct gg_layout_head *head, uint32_t layout_switch)
{
    uint32_t stored = head->stamp == GG_LAYOUT_UNSET ? GG_LAYOUT_AOS : head->stamp;
    return layout_switch == GG_LAYOUT_UNSET || layout_switch == stored;
}

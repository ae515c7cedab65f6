/* SPDX-License-Identifier: MIT */
#ifndef GG_FUZZ_INPUT_H
#define GG_FUZZ_INPUT_H

/* What the fuzzers make of their bytes: numbers one after another, zeros when there are no more. */
#include <guestgpu/layout.h>

#include <stdio.h>
#include <stdlib.h>

/* As assert, but also in release builds, and it says what for. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static inline uint32_t take_byte(struct input *in)
{
    if (!in->size)
        return 0;
    in->size--;
    return *in->data++;
}

static inline uint32_t take_word(struct input *in)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        word |= take_byte(in) << 8 * i;
    return word;
}

/* A number of [low, high], or, for every sixteenth first byte, any number at all. */
static inline uint32_t take_number(struct input *in, uint32_t low, uint32_t high)
{
    uint32_t byte = take_byte(in);
    if (byte >= 0xf0)
        return take_word(in);
    if (high - low >= 0xf0)
        byte = byte << 8 | take_byte(in);
    return (uint32_t)(low + byte % ((uint64_t)high - low + 1));
}

static inline struct gg_mesh_shape take_shape(struct input *in, uint32_t max_vertices, uint32_t max_primitives,
                                              uint32_t max_words)
{
    struct gg_mesh_shape shape = {0};
    shape.topology = take_number(in, 0, GG_TOPOLOGY_POINTS);
    shape.threads = take_number(in, 0, 1024);
    shape.max_vertices = take_number(in, 1, max_vertices);
    shape.max_primitives = take_number(in, 1, max_primitives);
    shape.vertex_words = take_number(in, 1, max_words);
    shape.primitive_words = take_byte(in) % 2 ? take_number(in, 0, max_words / 2) : 0;
    shape.position_word = take_number(in, 0, shape.vertex_words ? shape.vertex_words - 1 : 0);
    shape.task = take_number(in, 0, 1);
    shape.output_count = take_number(in, 0, 4);
    uint32_t record_words = shape.vertex_words + shape.primitive_words;
    for (uint32_t i = 0; i < shape.output_count && i < GG_LAYOUT_MAX_OUTPUTS && in->size; i++) {
        shape.outputs[i].kind = take_number(in, 0, GG_OUTPUT_POINT_SIZE);
        shape.outputs[i].location = take_number(in, 0, 31);
        shape.outputs[i].word = take_number(in, 0, record_words);
        shape.outputs[i].words = take_number(in, 0, 5);
    }
    return shape;
}

/* The area: a few slots more or less than one workgroup's `slots`, or any size. */
static inline struct gg_layout_options take_options(struct input *in, uint32_t slots, uint32_t slot_words)
{
    struct gg_layout_options options = {0};
    uint32_t flags = take_byte(in);
    options.layout = take_number(in, 0, GG_LAYOUT_INDEXED);
    options.long_header = flags & 1;
    options.runtime_fit = flags >> 1 & 1;
    options.census = flags >> 2 & 1;
    uint32_t more = take_number(in, 0, 255);
    options.area_bytes = 4 * (16 + ((uint64_t)slots + more) * slot_words);
    if (flags >> 3 & 1)
        options.area_bytes = (uint64_t)take_word(in) << (flags >> 4 & 3);
    return options;
}

/* A failure comes with a line of text, success without; both are one of the documented results. */
static inline int32_t look_at(int32_t result, char *message)
{
    MUST((result == GG_OK) == (message == NULL));
    MUST(result == GG_OK || result == GG_ERR_ARGUMENT || result == GG_ERR_LIMIT || result == GG_ERR_FORMAT);
    for (const char *c = message; c && *c; c++)
        MUST(*c != '\n');
    gg_free(message);
    return result;
}

#endif

/* SPDX-License-Identifier: MIT */
/* The generated vertex stage: reads the record that VertexIndex names, writes position and outputs. */
#include "layout_internal.h"

#include <stdio.h>

struct record { /* where the words of this vertex's record stand: first + word * stride */
    uint32_t first, stride;
};

static struct record find_record(struct gg_shader *h, const struct gg_layout_plan *plan,
                                 const struct gg_layout_options *options)
{
    struct gg_spirv *s = &h->s;
    uint32_t u32 = gg_spirv_u32(s);
    uint32_t variable = gg_spirv_builtin(s, SpvStorageClassInput, u32, SpvBuiltInVertexIndex, "vertex_index");
    uint32_t index = gg_spirv_load(s, u32, variable);
    uint32_t header = gg_spirv_const(s, plan->header_words), wrong = options->mutation == GG_MUTATION_VERTEX_STRIDE;
    struct record r;
    if (plan->layout == GG_LAYOUT_AOS) {
        uint32_t record_words = gg_spirv_const(s, plan->record_words + wrong);
        r.stride = gg_spirv_const(s, 1);
        r.first = gg_spirv_add(s, header, gg_spirv_mul(s, index, record_words));
    } else {
        uint32_t fit = gg_shader_fit(h, plan, options), off = gg_spirv_const(s, 1);
        r.stride = wrong ? gg_spirv_add(s, fit, off) : fit;
        r.first = gg_spirv_add(s, header, index);
    }
    return r;
}

static uint32_t load_record_word(struct gg_shader *h, const struct record *r, uint32_t word)
{
    struct gg_spirv *s = &h->s;
    uint32_t line = gg_spirv_const(s, word);
    uint32_t offset = gg_spirv_mul(s, line, r->stride);
    return gg_shader_load_word(h, GG_LAYOUT_BUFFER_AREA, gg_spirv_add(s, r->first, offset));
}

static uint32_t load_record_float(struct gg_shader *h, const struct record *r, uint32_t word)
{
    uint32_t f32 = gg_spirv_f32(&h->s), bits = load_record_word(h, r, word);
    return gg_spirv_op(&h->s, SpvOpBitcast, f32, 1, bits);
}

static void store_position(struct gg_shader *h, const struct gg_mesh_shape *shape, const struct record *r)
{
    static const uint32_t missing_bits[4] = {0, 0, 0, 0x3f800000}; /* (0, 0, 0, 1), as vertex attributes have it */
    struct gg_spirv *s = &h->s;
    uint32_t f32 = gg_spirv_f32(s), vec4 = gg_spirv_vector(s, f32, 4), component[4];
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t word = shape->position_word + i;
        component[i] =
            word < shape->vertex_words ? load_record_float(h, r, word) : gg_spirv_constant(s, f32, missing_bits[i]);
    }
    uint32_t position = gg_spirv_builtin(s, SpvStorageClassOutput, vec4, SpvBuiltInPosition, "position");
    uint32_t value =
        gg_spirv_op(s, SpvOpCompositeConstruct, vec4, 4, component[0], component[1], component[2], component[3]);
    gg_spirv_store(s, position, value);
}

static void store_output(struct gg_shader *h, const struct gg_mesh_output *output, const struct record *r)
{
    struct gg_spirv *s = &h->s;
    bool flat = output->kind == GG_OUTPUT_FLAT;
    uint32_t scalar = flat ? gg_spirv_u32(s) : gg_spirv_f32(s), type = gg_spirv_vector(s, scalar, output->words);
    uint32_t component[4] = {0};
    for (uint32_t i = 0; i < output->words; i++)
        component[i] = flat ? load_record_word(h, r, output->word + i) : load_record_float(h, r, output->word + i);
    uint32_t value = component[0];
    if (output->words > 1)
        value = gg_spirv_op(s, SpvOpCompositeConstruct, type, output->words, component[0], component[1], component[2],
                            component[3]);
    char name[32];
    snprintf(name, sizeof name, "output_%u", output->location);
    uint32_t variable = gg_spirv_global(s, SpvStorageClassOutput, type, name);
    gg_spirv_decorate(s, variable, SpvDecorationLocation, 1, output->location);
    if (flat)
        gg_spirv_decorate(s, variable, SpvDecorationFlat, 0);
    gg_spirv_store(s, variable, value);
}

/* Points need a size in Vulkan 1.3: the record's, or 1. */
static void store_point_size(struct gg_shader *h, const struct gg_mesh_shape *shape, const struct record *r)
{
    struct gg_spirv *s = &h->s;
    uint32_t f32 = gg_spirv_f32(s), value = 0;
    for (uint32_t i = 0; i < shape->output_count; i++)
        if (shape->outputs[i].kind == GG_OUTPUT_POINT_SIZE)
            value = load_record_float(h, r, shape->outputs[i].word);
    if (!value && shape->topology == GG_TOPOLOGY_POINTS)
        value = gg_spirv_constant(s, f32, 0x3f800000);
    if (!value)
        return;
    uint32_t size = gg_spirv_builtin(s, SpvStorageClassOutput, f32, SpvBuiltInPointSize, "point_size");
    gg_spirv_store(s, size, value);
}

int32_t gg_layout_emit_vertex(const struct gg_mesh_shape *given, const struct gg_layout_options *options,
                              uint32_t **words, uint64_t *word_count, char **message)
{
    struct gg_mesh_shape shape;
    struct gg_layout_plan plan;
    int32_t result = gg_layout_check_shape(given, &shape, message);
    if (!result)
        result = gg_layout_plan(&shape, options, &plan, message);
    if (result)
        return result;

    struct gg_shader h = {0};
    struct gg_spirv *s = &h.s;
    gg_spirv_init(s);
    gg_spirv_name(s, s->entry, "main");
    struct record record = find_record(&h, &plan, options);
    store_position(&h, &shape, &record);
    store_point_size(&h, &shape, &record);
    for (uint32_t i = 0; i < shape.output_count; i++)
        if (shape.outputs[i].kind != GG_OUTPUT_POINT_SIZE)
            store_output(&h, &shape.outputs[i], &record);
    /* Vertex stages may not write storage buffers on every device. */
    gg_spirv_decorate(s, h.buffer[GG_LAYOUT_BUFFER_AREA], SpvDecorationNonWritable, 0);
    return gg_spirv_finish(s, SpvExecutionModelVertex, words, word_count, message);
}

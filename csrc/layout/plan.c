/* SPDX-License-Identifier: MIT */
/* Checks of shapes and options, and the fit maths. */
#include "layout_internal.h"

#define DEFAULT_THREADS 128u
#define MAX_THREADS     1024u
#define MAX_AREA_BYTES  0xfffffffcull /* word numbers stay below 2^30; also the largest storage buffer range */

static const uint32_t corners_of[] = {[GG_TOPOLOGY_TRIANGLES] = 3, [GG_TOPOLOGY_LINES] = 2, [GG_TOPOLOGY_POINTS] = 1};

static int32_t check_output(const struct gg_mesh_shape *shape, uint32_t i, char **message)
{
    const struct gg_mesh_output *o = &shape->outputs[i];
    uint32_t record = shape->vertex_words + shape->primitive_words;
    if (o->kind > GG_OUTPUT_POINT_SIZE)
        return gg_fail(message, GG_ERR_ARGUMENT, "mesh shape: output %u: unknown kind %u", i, o->kind);
    if (o->words < 1 || o->words > 4 || o->word >= record || o->words > record - o->word)
        return gg_fail(message, GG_ERR_ARGUMENT, "mesh shape: output %u: words %u to %u are not in a record of %u", i,
                       o->word, o->word + o->words - 1, record);
    if (o->kind != GG_OUTPUT_FLAT && o->word + o->words > shape->vertex_words)
        return gg_fail(message, GG_ERR_ARGUMENT, "mesh shape: output %u: per-primitive words can only be flat", i);
    if (o->kind == GG_OUTPUT_POINT_SIZE && o->words != 1)
        return gg_fail(message, GG_ERR_ARGUMENT, "mesh shape: output %u: a point size has 1 word, not %u", i, o->words);
    for (uint32_t k = 0; k < i; k++) {
        const struct gg_mesh_output *other = &shape->outputs[k];
        bool sizes = o->kind == GG_OUTPUT_POINT_SIZE && other->kind == GG_OUTPUT_POINT_SIZE;
        bool varyings = o->kind != GG_OUTPUT_POINT_SIZE && other->kind != GG_OUTPUT_POINT_SIZE;
        if (sizes || (varyings && o->location == other->location))
            return gg_fail(message, GG_ERR_ARGUMENT, "mesh shape: outputs %u and %u: both at location %u", k, i,
                           o->location);
    }
    return GG_OK;
}

int32_t gg_layout_check_shape(const struct gg_mesh_shape *shape, struct gg_mesh_shape *out, char **message)
{
    *out = *shape;
    if (!out->threads)
        out->threads = DEFAULT_THREADS;
    const struct {
        const char *name;
        uint32_t value, low, high;
    } ranges[] = {
        {"topology", out->topology, 0, GG_TOPOLOGY_POINTS},
        {"threads", out->threads, 1, MAX_THREADS},
        {"max_vertices", out->max_vertices, 1, GG_LAYOUT_MAX_OUTPUT},
        {"max_primitives", out->max_primitives, 1, GG_LAYOUT_MAX_OUTPUT},
        {"vertex_words", out->vertex_words, 1, GG_LAYOUT_MAX_RECORD},
        {"primitive_words", out->primitive_words, 0, GG_LAYOUT_MAX_RECORD - out->vertex_words},
        {"position_word", out->position_word, 0, out->vertex_words - 1},
        {"task", out->task, 0, 1},
        {"output_count", out->output_count, 0, GG_LAYOUT_MAX_OUTPUTS},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].value < ranges[i].low || ranges[i].value > ranges[i].high)
            return gg_fail(message, GG_ERR_ARGUMENT, "mesh shape: %s is %u, must be %u to %u", ranges[i].name,
                           ranges[i].value, ranges[i].low, ranges[i].high);
    for (uint32_t i = 0; i < out->output_count; i++) {
        int32_t result = check_output(out, i, message);
        if (result)
            return result;
    }
    return gg_succeed(message);
}

static uint32_t stage_words(const struct gg_mesh_shape *shape, uint32_t corners)
{
    const uint32_t counts = 2, epilogue = 2;
    return counts + epilogue + shape->max_vertices * shape->vertex_words + (shape->max_primitives * corners + 3) / 4 +
           shape->max_primitives * shape->primitive_words;
}

int32_t gg_layout_plan(const struct gg_mesh_shape *given, const struct gg_layout_options *options,
                       struct gg_layout_plan *plan, char **message)
{
    struct gg_mesh_shape shape;
    int32_t result = gg_layout_check_shape(given, &shape, message);
    if (result)
        return result;
    if (options->layout > GG_LAYOUT_INDEXED)
        return gg_fail(message, GG_ERR_ARGUMENT, "layout options: unknown layout %u", options->layout);
    if (options->mutation > GG_MUTATION_VERTEX_STRIDE)
        return gg_fail(message, GG_ERR_ARGUMENT, "layout options: unknown mutation %u", options->mutation);
    uint64_t bytes = options->area_bytes ? options->area_bytes : GG_LAYOUT_DEFAULT_AREA;
    if (bytes % 4 || bytes > MAX_AREA_BYTES)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "layout options: area of %llu bytes, must be a multiple of 4 up to %llu",
                       (unsigned long long)bytes, MAX_AREA_BYTES);

    struct gg_layout_plan p = {0};
    p.corners = corners_of[shape.topology];
    bool wants_indexed = options->layout == GG_LAYOUT_INDEXED;
    p.indexed = wants_indexed && shape.topology == GG_TOPOLOGY_TRIANGLES && !shape.primitive_words;
    p.layout = p.indexed                            ? GG_LAYOUT_INDEXED
               : wants_indexed                      ? GG_LAYOUT_SOA
               : options->layout == GG_LAYOUT_UNSET ? GG_LAYOUT_AOS
                                                    : options->layout;
    bool is_long = wants_indexed || options->long_header || options->runtime_fit || options->census;
    p.header_words = is_long ? GG_LAYOUT_HEADER_LONG : GG_LAYOUT_HEADER_SHORT;
    p.record_words = shape.vertex_words + shape.primitive_words;
    p.slot_words = p.record_words + p.indexed;
    p.area_words = bytes / 4;
    p.fit = p.area_words > p.header_words ? (uint32_t)((p.area_words - p.header_words) / p.slot_words) : 0;
    p.index_word = p.indexed ? p.header_words + (uint64_t)p.record_words * p.fit : 0;
    p.stage_bytes = 4 * stage_words(&shape, p.corners);
    p.max_slots = shape.max_primitives * p.corners;
    uint32_t vertex_slots = (shape.max_vertices + 2) / 3 * 3;
    if (p.indexed && vertex_slots > p.max_slots)
        p.max_slots = vertex_slots;
    p.max_workgroups = UINT32_MAX / p.max_slots;
    if (p.fit < p.max_slots)
        return gg_fail(message, GG_ERR_LIMIT,
                       "area of %llu bytes holds %u slots of %u words; one workgroup can take %u (%llu bytes)",
                       (unsigned long long)bytes, p.fit, p.slot_words, p.max_slots,
                       4ull * (p.header_words + (unsigned long long)p.max_slots * p.slot_words));
    *plan = p;
    return gg_succeed(message);
}

/* SPDX-License-Identifier: MIT */
/* The fit maths and every check of shapes and options. Numbers are worked out by hand from layout.h. */
#include <guestgpu/layout.h>

#include "expect.h"
#include "layout/layout_internal.h"

#define MIB (1024u * 1024u)

static const struct gg_mesh_shape published = {
    .max_vertices = 64, .max_primitives = 124, .vertex_words = 27, .topology = GG_TOPOLOGY_TRIANGLES};

static struct gg_layout_plan plan_of(const char *what, const struct gg_mesh_shape *shape,
                                     const struct gg_layout_options *options)
{
    struct gg_layout_plan plan = {0};
    char *message = NULL;
    expect_ok(what, gg_layout_plan(shape, options, &plan, &message), &message);
    return plan;
}

static void refuse(const char *what, const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                   int32_t wanted, const char *text)
{
    struct gg_layout_plan plan, untouched;
    memset(&plan, 0xa5, sizeof plan);
    memset(&untouched, 0xa5, sizeof untouched);
    char *message = NULL;
    expect(what, gg_layout_plan(shape, options, &plan, &message), wanted, &message, text);
    CHECK(!memcmp(&plan, &untouched, sizeof plan), "%s: the plan was written", what);
    CHECK(gg_layout_plan(shape, options, &plan, NULL) == wanted, "%s: another result without a message", what);
}

static void test_fit(void)
{
    static const struct {
        const char *what;
        uint32_t layout, vertex_words, primitive_words;
        uint64_t bytes;
        uint32_t header, slot_words, fit;
    } rows[] = {
        {"published", GG_LAYOUT_AOS, 27, 0, 64 * MIB, 8, 27, 621378},            /* (16777216 - 8) / 27 */
        {"unset is aos", GG_LAYOUT_UNSET, 27, 0, 0, 8, 27, 621378},              /* 0 bytes: 64 MiB */
        {"soa", GG_LAYOUT_SOA, 27, 0, 64 * MIB, 8, 27, 621378},                  /* the same records */
        {"indexed", GG_LAYOUT_INDEXED, 27, 0, 64 * MIB, 16, 28, 599185},         /* (16777216 - 16) / 28 */
        {"22 words", GG_LAYOUT_AOS, 22, 0, 64 * MIB, 8, 22, 762600},             /* (16777216 - 8) / 22 */
        {"per primitive", GG_LAYOUT_AOS, 22, 1, 64 * MIB, 8, 23, 729443},        /* (16777216 - 8) / 23 */
        {"no remainder", GG_LAYOUT_AOS, 8, 0, 4 * (8 + 8 * 400), 8, 8, 400},     /* all of it used */
        {"remainder", GG_LAYOUT_AOS, 8, 0, 4 * (8 + 8 * 400) - 4, 8, 8, 399},    /* a word short of 400 */
        {"most words", GG_LAYOUT_AOS, 1, 127, 4 * (8 + 128 * 372), 8, 128, 372}, /* one workgroup's */
        {"largest area", GG_LAYOUT_AOS, 1, 0, 0xfffffffc, 8, 1, 1073741815},     /* 2^30 - 1 - 8 */
        {"largest, indexed", GG_LAYOUT_INDEXED, 1, 0, 0xfffffffc, 16, 2, 536870903},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gg_mesh_shape shape = published;
        shape.vertex_words = rows[i].vertex_words;
        shape.primitive_words = rows[i].primitive_words;
        struct gg_layout_options options = {.layout = rows[i].layout, .area_bytes = rows[i].bytes};
        struct gg_layout_plan plan = plan_of(rows[i].what, &shape, &options);
        CHECK(plan.fit == rows[i].fit, "%s: fit %u", rows[i].what, plan.fit);
        CHECK(plan.header_words == rows[i].header, "%s: %u header words", rows[i].what, plan.header_words);
        CHECK(plan.slot_words == rows[i].slot_words, "%s: slots of %u words", rows[i].what, plan.slot_words);
        CHECK(plan.record_words == rows[i].vertex_words + rows[i].primitive_words, "%s: records of %u words",
              rows[i].what, plan.record_words);
        uint64_t bytes = rows[i].bytes ? rows[i].bytes : 64 * MIB;
        CHECK(plan.area_words == bytes / 4, "%s: %llu area words", rows[i].what, (unsigned long long)plan.area_words);
        uint64_t index_word = plan.indexed ? 16 + (uint64_t)plan.record_words * plan.fit : 0;
        CHECK(plan.index_word == index_word, "%s: index line at %llu", rows[i].what,
              (unsigned long long)plan.index_word);
    }
}

static void test_emitted_layout(void)
{
    static const struct {
        const char *what;
        uint32_t layout, topology, primitive_words;
        uint32_t emitted, indexed, header, corners;
    } rows[] = {
        {"unset", GG_LAYOUT_UNSET, GG_TOPOLOGY_TRIANGLES, 0, GG_LAYOUT_AOS, 0, 8, 3},
        {"aos", GG_LAYOUT_AOS, GG_TOPOLOGY_TRIANGLES, 1, GG_LAYOUT_AOS, 0, 8, 3},
        {"soa", GG_LAYOUT_SOA, GG_TOPOLOGY_LINES, 0, GG_LAYOUT_SOA, 0, 8, 2},
        {"indexed", GG_LAYOUT_INDEXED, GG_TOPOLOGY_TRIANGLES, 0, GG_LAYOUT_INDEXED, 1, 16, 3},
        /* What cannot be indexed keeps the long header, so that the programs share an area. */
        {"indexed, per primitive", GG_LAYOUT_INDEXED, GG_TOPOLOGY_TRIANGLES, 1, GG_LAYOUT_SOA, 0, 16, 3},
        {"indexed lines", GG_LAYOUT_INDEXED, GG_TOPOLOGY_LINES, 0, GG_LAYOUT_SOA, 0, 16, 2},
        {"indexed points", GG_LAYOUT_INDEXED, GG_TOPOLOGY_POINTS, 0, GG_LAYOUT_SOA, 0, 16, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gg_mesh_shape shape = published;
        shape.topology = rows[i].topology;
        shape.primitive_words = rows[i].primitive_words;
        struct gg_layout_plan plan =
            plan_of(rows[i].what, &shape, &(struct gg_layout_options){.layout = rows[i].layout});
        CHECK(plan.layout == rows[i].emitted, "%s: emitted as %u", rows[i].what, plan.layout);
        CHECK(plan.indexed == rows[i].indexed, "%s: indexed %u", rows[i].what, plan.indexed);
        CHECK(plan.header_words == rows[i].header, "%s: %u header words", rows[i].what, plan.header_words);
        CHECK(plan.corners == rows[i].corners, "%s: %u corners", rows[i].what, plan.corners);
    }
    static const struct gg_layout_options long_ones[] = {{.long_header = 1}, {.runtime_fit = 1}, {.census = 1}};
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++) {
        struct gg_layout_plan plan = plan_of("long header", &published, &long_ones[i]);
        CHECK(plan.header_words == 16, "option %zu: %u header words", i, plan.header_words);
        CHECK(plan.fit == 621377, "option %zu: fit %u", i, plan.fit); /* (16777216 - 16) / 27 */
    }
}

static void test_workgroups(void)
{
    static const struct {
        const char *what;
        uint32_t layout, topology, vertices, primitives, slots;
    } rows[] = {
        {"corners", GG_LAYOUT_AOS, GG_TOPOLOGY_TRIANGLES, 256, 1, 3},
        {"indexed: vertices to whole triangles", GG_LAYOUT_INDEXED, GG_TOPOLOGY_TRIANGLES, 256, 1, 258},
        {"indexed: already whole", GG_LAYOUT_INDEXED, GG_TOPOLOGY_TRIANGLES, 255, 1, 255},
        {"indexed: corners are more", GG_LAYOUT_INDEXED, GG_TOPOLOGY_TRIANGLES, 64, 124, 372},
        {"most", GG_LAYOUT_SOA, GG_TOPOLOGY_TRIANGLES, 256, 256, 768},
        {"lines", GG_LAYOUT_INDEXED, GG_TOPOLOGY_LINES, 256, 3, 6},
        {"points", GG_LAYOUT_INDEXED, GG_TOPOLOGY_POINTS, 256, 3, 3},
        {"one", GG_LAYOUT_AOS, GG_TOPOLOGY_POINTS, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gg_mesh_shape shape = {.topology = rows[i].topology,
                                      .max_vertices = rows[i].vertices,
                                      .max_primitives = rows[i].primitives,
                                      .vertex_words = 4};
        struct gg_layout_plan plan =
            plan_of(rows[i].what, &shape, &(struct gg_layout_options){.layout = rows[i].layout});
        CHECK(plan.max_slots == rows[i].slots, "%s: %u slots", rows[i].what, plan.max_slots);
        uint64_t all = (uint64_t)plan.max_workgroups * plan.max_slots;
        CHECK(all <= UINT32_MAX && all + plan.max_slots > UINT32_MAX, "%s: %u workgroups", rows[i].what,
              plan.max_workgroups);
    }
}

static void test_stage_bytes(void)
{
    /* Two counts, first slot, used vertices; then vertices, index bytes in whole words, primitives. */
    struct gg_mesh_shape shape = {.max_vertices = 64, .max_primitives = 124, .vertex_words = 22};
    CHECK(plan_of("triangles", &shape, &(struct gg_layout_options){0}).stage_bytes == 4 * (4 + 64 * 22 + 93),
          "93 words");
    shape.primitive_words = 2;
    shape.max_primitives = 125;
    CHECK(plan_of("375 index bytes", &shape, &(struct gg_layout_options){0}).stage_bytes ==
              4 * (4 + 64 * 22 + 94 + 125 * 2),
          "94 words of indices");
    shape = (struct gg_mesh_shape){
        .topology = GG_TOPOLOGY_POINTS, .max_vertices = 1, .max_primitives = 1, .vertex_words = 1};
    CHECK(plan_of("smallest", &shape, &(struct gg_layout_options){0}).stage_bytes == 4 * (4 + 1 + 1), "6 words");
}

static void test_smallest_area(void)
{
    struct gg_mesh_shape shape = {.max_vertices = 256, .max_primitives = 2, .vertex_words = 5};
    static const struct {
        uint32_t layout;
        uint64_t words;
        const char *text;
    } rows[] = {
        {GG_LAYOUT_AOS, 8 + 6 * 5, "one workgroup can take 6 (152 bytes)"},
        {GG_LAYOUT_SOA, 8 + 6 * 5, "one workgroup can take 6 (152 bytes)"},
        {GG_LAYOUT_INDEXED, 16 + 258 * 6, "one workgroup can take 258 (6256 bytes)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gg_layout_options options = {.layout = rows[i].layout, .area_bytes = 4 * rows[i].words};
        struct gg_layout_plan plan = plan_of("smallest area", &shape, &options);
        CHECK(plan.fit == plan.max_slots, "row %zu: fit %u", i, plan.fit);
        options.area_bytes -= 4;
        refuse("a word less", &shape, &options, GG_ERR_LIMIT, rows[i].text);
        options.area_bytes = 4;
        refuse("less than a header", &shape, &options, GG_ERR_LIMIT, "area of 4 bytes holds 0 slots");
        options.area_bytes = i < 2 ? 32 : 64;
        refuse("a header only", &shape, &options, GG_ERR_LIMIT, "holds 0 slots");
    }
}

static void test_members(void)
{
    static const struct {
        size_t member;
        uint32_t value;
        const char *text;
    } wrong[] = {
        {offsetof(struct gg_mesh_shape, topology), 3, "topology is 3, must be 0 to 2"},
        {offsetof(struct gg_mesh_shape, topology), UINT32_MAX, "topology is 4294967295, must be 0 to 2"},
        {offsetof(struct gg_mesh_shape, threads), 1025, "threads is 1025, must be 1 to 1024"},
        {offsetof(struct gg_mesh_shape, max_vertices), 0, "max_vertices is 0, must be 1 to 256"},
        {offsetof(struct gg_mesh_shape, max_vertices), 257, "max_vertices is 257, must be 1 to 256"},
        {offsetof(struct gg_mesh_shape, max_primitives), 0, "max_primitives is 0, must be 1 to 256"},
        {offsetof(struct gg_mesh_shape, max_primitives), 257, "max_primitives is 257, must be 1 to 256"},
        {offsetof(struct gg_mesh_shape, vertex_words), 0, "vertex_words is 0, must be 1 to 128"},
        {offsetof(struct gg_mesh_shape, vertex_words), 129, "vertex_words is 129, must be 1 to 128"},
        {offsetof(struct gg_mesh_shape, vertex_words), UINT32_MAX, "vertex_words is 4294967295, must be 1 to 128"},
        {offsetof(struct gg_mesh_shape, primitive_words), 102, "primitive_words is 102, must be 0 to 101"},
        {offsetof(struct gg_mesh_shape, primitive_words), UINT32_MAX,
         "primitive_words is 4294967295, must be 0 to 101"},
        {offsetof(struct gg_mesh_shape, position_word), 27, "position_word is 27, must be 0 to 26"},
        {offsetof(struct gg_mesh_shape, task), 2, "task is 2, must be 0 to 1"},
        {offsetof(struct gg_mesh_shape, output_count), 33, "output_count is 33, must be 0 to 32"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct gg_mesh_shape shape = published;
        memcpy((char *)&shape + wrong[i].member, &wrong[i].value, sizeof wrong[i].value);
        refuse(wrong[i].text, &shape, &(struct gg_layout_options){0}, GG_ERR_ARGUMENT, wrong[i].text);
        char *message = NULL;
        uint32_t *words = NULL;
        uint64_t count = 0;
        const struct gg_layout_options none = {0};
        expect("mesh", gg_layout_emit_mesh(&shape, &none, &words, &count, &message), GG_ERR_ARGUMENT, &message,
               wrong[i].text);
        expect("vertex", gg_layout_emit_vertex(&shape, &none, &words, &count, &message), GG_ERR_ARGUMENT, &message,
               wrong[i].text);
        CHECK(!words && !count, "%s: outputs were written", wrong[i].text);
    }
    static const struct {
        size_t member;
        uint32_t value;
    } right[] = {
        {offsetof(struct gg_mesh_shape, threads), 1024},
        {offsetof(struct gg_mesh_shape, max_vertices), 256},
        {offsetof(struct gg_mesh_shape, max_primitives), 256},
        {offsetof(struct gg_mesh_shape, vertex_words), 128},
        {offsetof(struct gg_mesh_shape, primitive_words), 101},
        {offsetof(struct gg_mesh_shape, position_word), 26},
        {offsetof(struct gg_mesh_shape, task), 1},
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct gg_mesh_shape shape = published;
        memcpy((char *)&shape + right[i].member, &right[i].value, sizeof right[i].value);
        plan_of("at the limit", &shape, &(struct gg_layout_options){0});
    }
    struct gg_mesh_shape filled;
    char *message = NULL;
    expect_ok("defaults", gg_layout_check_shape(&published, &filled, &message), &message);
    CHECK(filled.threads == 128, "%u threads", filled.threads);
}

static void test_options(void)
{
    static const struct {
        struct gg_layout_options options;
        const char *text;
    } wrong[] = {
        {{.layout = 4}, "layout options: unknown layout 4"},
        {{.mutation = 6}, "layout options: unknown mutation 6"},
        {{.area_bytes = 1048578}, "area of 1048578 bytes, must be a multiple of 4 up to 4294967292"},
        {{.area_bytes = 0x100000000}, "area of 4294967296 bytes, must be a multiple of 4 up to 4294967292"},
        {{.area_bytes = UINT64_MAX - 3}, "area of 18446744073709551612 bytes"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse(wrong[i].text, &published, &wrong[i].options, GG_ERR_ARGUMENT, wrong[i].text);
}

static void test_outputs(void)
{
    enum {
        SMOOTH = GG_OUTPUT_SMOOTH,
        FLAT = GG_OUTPUT_FLAT,
        SIZE = GG_OUTPUT_POINT_SIZE
    };
    static const struct {
        const char *what;
        struct gg_mesh_output outputs[2];
        const char *text; /* NULL: right */
    } rows[] = {
        {"unknown kind", {{3, 0, 0, 4}, {0, 1, 0, 4}}, "output 0: unknown kind 3"},
        {"no words", {{SMOOTH, 0, 0, 4}, {SMOOTH, 1, 4, 0}}, "output 1: words 4 to 3 are not in a record of 8"},
        {"five words", {{SMOOTH, 0, 0, 5}, {SMOOTH, 1, 0, 4}}, "output 0: words 0 to 4 are not in a record of 8"},
        {"past the record", {{FLAT, 0, 5, 4}, {FLAT, 1, 0, 1}}, "output 0: words 5 to 8 are not in a record of 8"},
        {"begins past it", {{FLAT, 0, 8, 1}, {FLAT, 1, 0, 1}}, "output 0: words 8 to 8 are not in a record of 8"},
        {"a sum that wraps", {{FLAT, 0, UINT32_MAX, 2}, {FLAT, 1, 0, 1}}, "output 0: words 4294967295 to 0 are not"},
        {"smooth per primitive",
         {{FLAT, 0, 6, 2}, {SMOOTH, 1, 6, 1}},
         "output 1: per-primitive words can only be flat"},
        {"smooth reaches into it",
         {{SMOOTH, 0, 3, 4}, {FLAT, 1, 0, 1}},
         "output 0: per-primitive words can only be flat"},
        {"wide point size", {{SIZE, 0, 0, 2}, {FLAT, 1, 0, 1}}, "output 0: a point size has 1 word, not 2"},
        {"two point sizes", {{SIZE, 0, 0, 1}, {SIZE, 1, 1, 1}}, "outputs 0 and 1: both at location"},
        {"one location twice", {{SMOOTH, 5, 0, 1}, {FLAT, 5, 1, 1}}, "outputs 0 and 1: both at location 5"},
        {"the last words", {{FLAT, 0, 4, 4}, {SMOOTH, 1, 2, 4}}, NULL},
        {"a point size takes no location", {{SIZE, 1, 0, 1}, {SMOOTH, 1, 0, 4}}, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gg_mesh_shape shape = {.max_vertices = 3, .max_primitives = 1, .vertex_words = 6, .primitive_words = 2};
        shape.output_count = 2;
        memcpy(shape.outputs, rows[i].outputs, sizeof rows[i].outputs);
        if (rows[i].text)
            refuse(rows[i].what, &shape, &(struct gg_layout_options){0}, GG_ERR_ARGUMENT, rows[i].text);
        else
            plan_of(rows[i].what, &shape, &(struct gg_layout_options){0});
    }
}

int main(void)
{
    test_fit();
    test_emitted_layout();
    test_workgroups();
    test_stage_bytes();
    test_smallest_area();
    test_members();
    test_options();
    test_outputs();
    return test_result();
}

/* SPDX-License-Identifier: MIT */
/*
 * The host model on batches small enough to be worked out by hand: the areas below were written from
 * the rules of layout.h, not copied from what the model said. Vertex v has the words 100 + 10 v and
 * 101 + 10 v; primitive p has the word 900 + p.
 */
#include <guestgpu/layout.h>

#include "expect.h"

#include <stdbool.h>
#include <stdlib.h>

#define P            0xdeadbeefu /* words that nobody wrote */
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MAX_WORDS    128

static const uint32_t vertices[] = {100, 101, 110, 111, 120, 121, 130, 131, 140, 141, 150, 151, 160, 161};
static const uint32_t primitives[] = {900, 901, 902, 903};

static uint32_t bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return a | b << 8 | c << 16 | d << 24; }

/* A shape of triangles with 2-word vertices, at most 4 vertices and 2 primitives a workgroup. */
static const struct gg_mesh_shape small = {.max_vertices = 4, .max_primitives = 2, .vertex_words = 2};

struct scene {
    const char *what;
    struct gg_mesh_shape shape;
    struct gg_layout_options options;
    struct gg_mesh_batch batch;
    const uint32_t *order;
    uint32_t order_count;
    uint32_t capacity; /* header word 9 */
};

static struct scene scene_of(const char *what, const struct gg_meshlet *meshlets, uint32_t meshlet_count,
                             const uint32_t *indices, uint32_t index_words)
{
    return (struct scene){.what = what,
                          .shape = small,
                          .batch = {.meshlets = meshlets,
                                    .vertices = vertices,
                                    .indices = indices,
                                    .primitives = primitives,
                                    .meshlet_count = meshlet_count,
                                    .vertex_count = COUNT(vertices) / 2,
                                    .index_words = index_words,
                                    .primitive_count = COUNT(primitives)}};
}

/* Resets an area as the host's fills do; all else is poison. */
static void reset(uint32_t *area, uint32_t words, bool is_long, uint32_t capacity)
{
    static const uint32_t header[16] = {0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0};
    for (uint32_t i = 0; i < words; i++)
        area[i] = i < (is_long ? 16u : 8u) ? header[i] : P;
    if (is_long)
        area[9] = capacity;
}

/* Runs the model in an area of exactly `words` words and compares all of it, header included. */
static void expect_area(struct scene *s, const uint32_t *wanted, uint32_t words)
{
    uint32_t *area = malloc(words * sizeof *area);
    if (!area)
        abort();
    s->options.area_bytes = 4 * words;
    struct gg_layout_plan plan = {0};
    char *message = NULL;
    expect_ok(s->what, gg_layout_plan(&s->shape, &s->options, &plan, &message), &message);
    reset(area, words, plan.header_words == 16, s->capacity);
    expect_ok(s->what,
              gg_layout_model_mesh(&s->shape, &s->options, &s->batch, s->order, s->order_count, area, words, &message),
              &message);
    expect_words(s->what, area, wanted, words);
    free(area);
}

/* What the draw of `area` fetches. */
static void expect_draw(const struct scene *s, const uint32_t *area, uint32_t words, const uint32_t *wanted,
                        uint32_t corners)
{
    uint32_t records[MAX_WORDS], record_words = s->shape.vertex_words + s->shape.primitive_words;
    uint64_t count = 0;
    char *message = NULL;
    expect_ok(
        s->what,
        gg_layout_model_draw(&s->shape, &s->options, area, words, records, MAX_WORDS / record_words, &count, &message),
        &message);
    CHECK(count == corners, "%s: %llu corners drawn", s->what, (unsigned long long)count);
    if (count == corners)
        expect_words(s->what, records, wanted, count * record_words);
}

static void expect_primitives(const struct scene *s, const uint32_t *wanted, const uint32_t *wanted_groups,
                              uint32_t corners)
{
    uint32_t records[MAX_WORDS], groups[MAX_WORDS], record_words = s->shape.vertex_words + s->shape.primitive_words;
    uint64_t count = 0;
    char *message = NULL;
    expect_ok(s->what,
              gg_layout_model_primitives(&s->shape, &s->batch, s->order, s->order_count, records, groups, corners,
                                         &count, &message),
              &message);
    CHECK(count == corners, "%s: %llu corners", s->what, (unsigned long long)count);
    if (count != corners)
        return;
    expect_words(s->what, records, wanted, count * record_words);
    expect_words(s->what, groups, wanted_groups, count);
    expect("one corner less",
           gg_layout_model_primitives(&s->shape, &s->batch, s->order, s->order_count, records, NULL, corners - 1,
                                      &count, &message),
           GG_ERR_LIMIT, &message, "more than");
}

/* Two workgroups: (0 1 2) (2 1 3) of vertices 0-3, and (2 0 1) of vertices 4-6. */
static const struct gg_meshlet two[] = {{0, 4, 0, 2, 0, {0}}, {4, 3, 2, 1, 2, {0}}};
static uint32_t two_indices[3];
static const uint32_t two_records[] = {100, 101, 110, 111, 120, 121, 120, 121, 110, 111, 130, 131, /* workgroup 0 */
                                       160, 161, 140, 141, 150, 151};                              /* workgroup 1 */
static const uint32_t two_groups[] = {0, 0, 0, 0, 0, 0, 1, 1, 1};

static void test_layouts(void)
{
    struct scene s = scene_of("two workgroups", two, 2, two_indices, 3);
    expect_primitives(&s, two_records, two_groups, 9);

    /* 29 words: fit (29 - 8) / 2 = 10, and one word left over. */
    static const uint32_t aos[29] = {9,   1,   0,   0,   9,   0,   1,   1,   100, 101, 110, 111, 120, 121, 120,
                                     121, 110, 111, 130, 131, 160, 161, 140, 141, 150, 151, P,   P,   P};
    s.what = "aos";
    s.options.layout = GG_LAYOUT_AOS;
    expect_area(&s, aos, 29);
    expect_draw(&s, aos, 29, two_records, 9);
    s.what = "unset";
    s.options.layout = GG_LAYOUT_UNSET;
    expect_area(&s, aos, 29);

    static const uint32_t soa[29] = {9,   1,   0,   0,   9,   0,   1,   1,               /* header */
                                     100, 110, 120, 120, 110, 130, 160, 140, 150, P,     /* line 0 */
                                     101, 111, 121, 121, 111, 131, 161, 141, 151, P, P}; /* line 1, and what is over */
    s.what = "soa";
    s.options.layout = GG_LAYOUT_SOA;
    expect_area(&s, soa, 29);
    expect_draw(&s, soa, 29, two_records, 9);

    /* 47 words: fit (47 - 16) / 3 = 10. Workgroup 1 begins at slot 6 and has as many vertices as corners. */
    static const uint32_t indexed[47] = {0,   1,   0,   0,   9, 0, 1,   1,   0,   0, 0, 9, 1, 0, 0, 0, /* header */
                                         100, 110, 120, 130, P, P, 140, 150, 160, P,                   /* line 0 */
                                         101, 111, 121, 131, P, P, 141, 151, 161, P,                   /* line 1 */
                                         0,   1,   2,   2,   1, 3, 8,   6,   7,   P, P};               /* indices */
    s.what = "indexed";
    s.options.layout = GG_LAYOUT_INDEXED;
    expect_area(&s, indexed, 47);
    expect_draw(&s, indexed, 47, two_records, 9);
}

static void test_order(void)
{
    static const uint32_t backwards[] = {1, 0};
    static const uint32_t groups[] = {1, 1, 1, 0, 0, 0, 0, 0, 0};
    static const uint32_t records[] = {160, 161, 140, 141, 150, 151, 100, 101, 110,
                                       111, 120, 121, 120, 121, 110, 111, 130, 131};
    struct scene s = scene_of("backwards", two, 2, two_indices, 3);
    s.order = backwards;
    s.order_count = 2;
    expect_primitives(&s, records, groups, 9);
    static const uint32_t soa[28] = {9,   1,   0,   0, 9,   0,   1,   1,   160, 140, 150, 100, 110, 120,
                                     120, 110, 130, P, 161, 141, 151, 101, 111, 121, 121, 111, 131, P};
    s.options.layout = GG_LAYOUT_SOA;
    expect_area(&s, soa, 28);

    s.what = "a part";
    s.order_count = 1;
    expect_primitives(&s, records, groups, 3);
    static const uint32_t aos[20] = {3, 1, 0, 0, 3, 0, 1, 1, 160, 161, 140, 141, 150, 151, P, P, P, P, P, P};
    s.options.layout = GG_LAYOUT_AOS;
    expect_area(&s, aos, 20);
}

/* One triangle that uses 4 vertices: 6 slots, the last three padded with the first. */
static void test_padding(void)
{
    static const struct gg_meshlet meshlets[] = {{0, 3, 0, 1, 0, {0}}, {2, 4, 1, 1, 0, {0}}};
    const uint32_t indices[] = {bytes(0, 1, 2, 0), bytes(3, 0, 1, 0)};
    struct scene s = scene_of("padding", meshlets, 2, indices, 2);
    s.options.layout = GG_LAYOUT_INDEXED;
    static const uint32_t area[46] = {0,   1,   0,   0,   9,   0,   1,   1, 0, 0, 0, 9, 1, 0, 0, 0, /* header */
                                      100, 110, 120, 120, 130, 140, 150, P, P, P,                   /* line 0 */
                                      101, 111, 121, 121, 131, 141, 151, P, P, P,                   /* line 1 */
                                      0,   1,   2,   6,   3,   4,   3,   3, 3, P};                  /* indices */
    expect_area(&s, area, 46);
    static const uint32_t drawn[] = {100, 101, 110, 111, 120, 121, 150, 151, 120,
                                     121, 130, 131, 120, 121, 120, 121, 120, 121};
    expect_draw(&s, area, 46, drawn, 9);
    static const uint32_t groups[] = {0, 0, 0, 1, 1, 1};
    expect_primitives(&s, drawn, groups, 6);
}

/* Slots 6 + 3 taken of 10; then 6 that do not fit, and 3 that would have fitted before them. */
static void test_overflow(void)
{
    const struct gg_meshlet meshlets[] = {two[0], two[1], two[0], two[1]};
    struct scene s = scene_of("overflow", meshlets, 4, two_indices, 3);
    s.options.census = 1;
    static const uint32_t aos[37] = {9,   1,   0,   0,   18,  0,   1,   1,   18,  0,   9,   0,   1,
                                     0,   0,   0,   100, 101, 110, 111, 120, 121, 120, 121, 110, 111,
                                     130, 131, 160, 161, 140, 141, 150, 151, P,   P,   P};
    s.options.layout = GG_LAYOUT_AOS;
    expect_area(&s, aos, 37);
    expect_draw(&s, aos, 37, two_records, 9);
    static const uint32_t indexed[46] = {0,   1,   0,   0,   18, 0, 1,   1,   18,  0, 9,   9,   1,   0,   0, 0,
                                         100, 110, 120, 130, P,  P, 140, 150, 160, P, 101, 111, 121, 131, P, P,
                                         141, 151, 161, P,   0,  1, 2,   2,   1,   3, 8,   6,   7,   P};
    s.options.layout = GG_LAYOUT_INDEXED;
    expect_area(&s, indexed, 46);
    expect_draw(&s, indexed, 46, two_records, 9);

    /* In another order others are first: 3 + 6 fit, the next 3 do not, then nothing does. */
    static const uint32_t order[] = {3, 0, 1, 2};
    s.order = order;
    s.order_count = 4;
    s.options.census = 0;
    s.options.layout = GG_LAYOUT_AOS;
    static const uint32_t reordered[28] = {9,   1,   0,   0,   18,  0,   1,   1,   160, 161, 140, 141, 150, 151,
                                           100, 101, 110, 111, 120, 121, 120, 121, 110, 111, 130, 131, P,   P};
    expect_area(&s, reordered, 28);
}

static void test_exact_fit(void)
{
    struct scene s = scene_of("exact fit", two, 2, two_indices, 3);
    static const uint32_t aos[26] = {9,   1,   0,   0,   9,   0,   1,   1,   100, 101, 110, 111, 120,
                                     121, 120, 121, 110, 111, 130, 131, 160, 161, 140, 141, 150, 151};
    expect_area(&s, aos, 26);
    expect_draw(&s, aos, 26, two_records, 9);
    s.what = "a word short";
    static const uint32_t cut[25] = {6,   1,   0,   0,   9,   0,   1,   1, 100, 101, 110, 111, 120,
                                     121, 120, 121, 110, 111, 130, 131, P, P,   P,   P,   P};
    expect_area(&s, cut, 25);
}

/* Counts above the most, index bytes past the vertices, a triangle without area. */
static void test_bad_programs(void)
{
    static const struct gg_meshlet meshlets[] = {{1, 9, 0, 7, 0, {0}}, {5, 2, 2, 1, 0, {0}}};
    const uint32_t indices[] = {bytes(0, 200, 3, 1), bytes(1, 1, 0, 0), bytes(2, 0, 255, 0)};
    struct scene s = scene_of("bad programs", meshlets, 2, indices, 3);
    /* 9 vertices are 4 (numbers 1 to 4), 7 primitives are 2; 200 is 3, the last of four; 2 and 255 are 1, of two. */
    static const uint32_t aos[26] = {9,   1,   0,   0,   9,   0,   1,   1,   110, 111, 140, 141, 140,
                                     141, 120, 121, 120, 121, 120, 121, 160, 161, 150, 151, 160, 161};
    expect_area(&s, aos, 26);
    static const uint32_t groups[] = {0, 0, 0, 0, 0, 0, 1, 1, 1};
    expect_primitives(&s, aos + 8, groups, 9);
    static const uint32_t indexed[43] = {0, 1,   0,   0,   9,   0, 1, 1,   0,   0, 0,   9,   1,   0,   0,
                                         0, 110, 120, 130, 140, P, P, 150, 160, P, 111, 121, 131, 141, P,
                                         P, 151, 161, P,   0,   3, 3, 1,   1,   1, 7,   6,   7};
    s.options.layout = GG_LAYOUT_INDEXED;
    expect_area(&s, indexed, 43);
    expect_draw(&s, indexed, 43, aos + 8, 9);
}

/* No vertices, or no primitives: no slots, no corners, nothing written. */
static void test_empty(void)
{
    static const struct gg_meshlet meshlets[] = {{0, 0, 0, 2, 0, {0}}, {0, 4, 0, 0, 0, {0}}, {7, 0, 3, 0, 4, {0}}};
    struct scene s = scene_of("empty", meshlets, 3, two_indices, 3);
    static const uint32_t groups[1] = {0};
    static const uint32_t header[16] = {0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0};
    uint32_t area[34], corners = 0;
    for (uint32_t layout = GG_LAYOUT_UNSET; layout <= GG_LAYOUT_INDEXED; layout++) {
        s.options.layout = layout;
        s.options.census = 1;
        for (uint32_t i = 0; i < COUNT(area); i++)
            area[i] = i < 16 ? header[i] : P;
        expect_area(&s, area, COUNT(area));
        expect_draw(&s, area, COUNT(area), groups, 0);
    }
    uint64_t count = 1;
    char *message = NULL;
    expect_ok("empty", gg_layout_model_primitives(&s.shape, &s.batch, NULL, 0, &corners, NULL, 0, &count, &message),
              &message);
    CHECK(count == 0, "%llu corners", (unsigned long long)count);
    s.batch = (struct gg_mesh_batch){0};
    s.what = "no meshlets";
    expect_area(&s, area, COUNT(area));
}

static void test_lines(void)
{
    static const struct gg_meshlet meshlets[] = {{0, 3, 0, 2, 1, {0}}, {3, 2, 1, 1, 0, {0}}};
    const uint32_t indices[] = {bytes(0, 1, 2, 0), bytes(1, 0, 0, 0)};
    struct scene s = scene_of("lines with a word", meshlets, 2, indices, 2);
    s.shape.topology = GG_TOPOLOGY_LINES;
    s.shape.primitive_words = 1;
    static const uint32_t records[] = {100, 101, 901, 110, 111, 901, 120, 121, 902, 100, 101, 902, /* 0-1, 2-0 */
                                       140, 141, 900, 130, 131, 900};                              /* 1-0 */
    static const uint32_t groups[] = {0, 0, 0, 0, 1, 1};
    expect_primitives(&s, records, groups, 6);
    uint32_t aos[26] = {6, 1, 0, 0, 6, 0, 1, 1};
    memcpy(aos + 8, records, sizeof records);
    expect_area(&s, aos, 26);
    expect_draw(&s, aos, 26, records, 6);
    /* As indexed they are soa, with the long header. */
    static const uint32_t soa[37] = {6,   1,   0,   0,   6,   0,   1,   1,   0,   0,   0,   0,   1,
                                     0,   0,   0,   100, 110, 120, 100, 140, 130, P,   101, 111, 121,
                                     101, 141, 131, P,   901, 901, 902, 902, 900, 900, P};
    s.options.layout = GG_LAYOUT_INDEXED;
    expect_area(&s, soa, 37);
    expect_draw(&s, soa, 37, records, 6);
}

static void test_points(void)
{
    static const struct gg_meshlet meshlets[] = {{0, 4, 0, 2, 0, {0}}};
    const uint32_t indices[] = {bytes(3, 0, 0, 0)};
    struct scene s = scene_of("points", meshlets, 1, indices, 1);
    s.shape.topology = GG_TOPOLOGY_POINTS;
    static const uint32_t aos[12] = {2, 1, 0, 0, 2, 0, 1, 1, 130, 131, 100, 101};
    expect_area(&s, aos, 12);
    static const uint32_t groups[] = {0, 0};
    expect_primitives(&s, aos + 8, groups, 2);
    static const uint32_t soa[12] = {2, 1, 0, 0, 2, 0, 1, 1, 130, 100, 131, 101};
    s.options.layout = GG_LAYOUT_SOA;
    expect_area(&s, soa, 12);
    expect_draw(&s, soa, 12, aos + 8, 2);
}

/* Every vertex of a primitive, whichever corner, carries the primitive's words; indexed falls back to soa. */
static void test_per_primitive(void)
{
    struct scene s = scene_of("per primitive", two, 2, two_indices, 3);
    s.shape.primitive_words = 1;
    static const uint32_t records[] = {100, 101, 900, 110, 111, 900, 120, 121, 900, 120, 121, 901, 110, 111,
                                       901, 130, 131, 901, 160, 161, 902, 140, 141, 902, 150, 151, 902};
    expect_primitives(&s, records, two_groups, 9);
    static const uint32_t soa[43] = {9,   1,   0,   0,   9,   0,   1,   1,   0,   0, 0, 0, 1, 0, 0, 0, /* header */
                                     100, 110, 120, 120, 110, 130, 160, 140, 150,                      /* line 0 */
                                     101, 111, 121, 121, 111, 131, 161, 141, 151,                      /* line 1 */
                                     900, 900, 900, 901, 901, 901, 902, 902, 902};                     /* line 2 */
    s.options.layout = GG_LAYOUT_INDEXED;
    expect_area(&s, soa, 43);
    expect_draw(&s, soa, 43, records, 9);
}

/*
 * Tasks: 2 x 1 x 1 workgroups from meshlet 0 on with payload 7, none, and 1 x 2 x 1 from meshlet 0 with
 * payload 3. The last vertex word is payload * 100 + x * 10 + columns.
 */
static void test_tasks(void)
{
    static const struct gg_mesh_task tasks[] = {
        {{2, 1, 1}, 0, 7, {0}}, {{0, 5, 5}, 99, 1, {0}}, {{1, 2, 1}, 0, 3, {0}}};
    static const struct gg_meshlet meshlets[] = {{0, 3, 0, 1, 0, {0}}, {4, 3, 1, 1, 0, {0}}};
    const uint32_t indices[] = {bytes(0, 1, 2, 0), bytes(2, 0, 1, 0)};
    struct scene s = scene_of("tasks", meshlets, 2, indices, 2);
    s.shape.task = 1;
    s.batch.tasks = tasks;
    s.batch.task_count = 3;
    static const uint32_t records[] = {100, 702, 110, 702, 120, 702,  /* x 0 of 2 */
                                       160, 712, 140, 712, 150, 712,  /* x 1 of 2 */
                                       100, 301, 110, 301, 120, 301,  /* x 0 of 1, y 0 */
                                       160, 301, 140, 301, 150, 301}; /* x 0 of 1, y 1 */
    static const uint32_t groups[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    expect_primitives(&s, records, groups, 12);
    uint32_t aos[32] = {12, 1, 0, 0, 12, 0, 1, 1};
    memcpy(aos + 8, records, sizeof records);
    expect_area(&s, aos, 32);
    static const uint32_t indexed[52] = {0,   1,   0,   0,   12,  0,   1,   1,   0,   0,   0,   12,  1,
                                         0,   0,   0,   100, 110, 120, 140, 150, 160, 100, 110, 120, 140,
                                         150, 160, 702, 702, 702, 712, 712, 712, 301, 301, 301, 301, 301,
                                         301, 0,   1,   2,   5,   3,   4,   6,   7,   8,   11,  9,   10};
    s.options.layout = GG_LAYOUT_INDEXED;
    expect_area(&s, indexed, 52);
    expect_draw(&s, indexed, 52, records, 12);

    uint64_t workgroups = 0;
    char *message = NULL;
    expect_ok("tasks", gg_layout_model_workgroups(&s.shape, &s.batch, &workgroups, &message), &message);
    CHECK(workgroups == 4, "%llu workgroups", (unsigned long long)workgroups);
    s.shape.task = 0;
    expect("tasks without a stage", gg_layout_model_workgroups(&s.shape, &s.batch, &workgroups, &message),
           GG_ERR_ARGUMENT, &message, "batch: 3 tasks, but the shape has no task stage");
    s.batch.task_count = 0;
    expect_ok("meshlets", gg_layout_model_workgroups(&s.shape, &s.batch, &workgroups, &message), &message);
    CHECK(workgroups == 2, "%llu workgroups", (unsigned long long)workgroups);
}

/* The area has room for (40 - 16) / 2 = 12 slots, header word 9 for fewer; at 16 words or less for none. */
static void test_runtime_fit(void)
{
    struct scene s = scene_of("run-time fit", two, 2, two_indices, 3);
    s.options.runtime_fit = 1;
    s.options.layout = GG_LAYOUT_SOA;
    s.capacity = 35; /* fit 9: lines are 9 long */
    static const uint32_t soa[40] = {9,   1,   0,   0,   9,   0,   1,   1,   0,   35,  0,   0,   1,   0,
                                     0,   0,   100, 110, 120, 120, 110, 130, 160, 140, 150, 101, 111, 121,
                                     121, 111, 131, 161, 141, 151, P,   P,   P,   P,   P,   P};
    expect_area(&s, soa, 40);
    expect_draw(&s, soa, 40, two_records, 9);
    s.capacity = 33; /* fit 8: the second workgroup is cut */
    s.options.census = 1;
    static const uint32_t cut[40] = {6,   1,   0, 0, 9,   0,   1,   1,   9,   33,  3, 0, 1, 0, 0, 0, 100, 110, 120, 120,
                                     110, 130, P, P, 101, 111, 121, 121, 111, 131, P, P, P, P, P, P, P,   P,   P,   P};
    expect_area(&s, cut, 40);
    expect_draw(&s, cut, 40, two_records, 6);
    for (uint32_t capacity = 0; capacity <= 16; capacity += 8) {
        uint32_t nothing[40] = {0, 1, 0, 0, 9, 0, 1, 1, 9, capacity, 9, 0, 1, 0, 0, 0};
        for (uint32_t i = 16; i < COUNT(nothing); i++)
            nothing[i] = P;
        s.capacity = capacity;
        s.what = "no capacity";
        expect_area(&s, nothing, 40);
    }
    s.options.layout = GG_LAYOUT_INDEXED;
    s.options.census = 0;
    s.what = "run-time fit, indexed";
    s.capacity = 43; /* fit 9: the index line begins at 16 + 2 * 9 */
    static const uint32_t indexed[46] = {0,   1,   0,   0,   9, 0, 1,   1,   0,   43,  0,   9,   1,   0, 0, 0,
                                         100, 110, 120, 130, P, P, 140, 150, 160, 101, 111, 121, 131, P, P, 141,
                                         151, 161, 0,   1,   2, 2, 1,   3,   8,   6,   7,   P,   P,   P};
    expect_area(&s, indexed, 46);
    expect_draw(&s, indexed, 46, two_records, 9);

    uint32_t area[46];
    reset(area, 46, true, 47);
    char *message = NULL;
    expect("capacity past the area", gg_layout_model_mesh(&s.shape, &s.options, &s.batch, NULL, 0, area, 46, &message),
           GG_ERR_ARGUMENT, &message, "header word 9 says 47 words, the area has 46");
}

static void refuse_batch(const char *what, const struct scene *s, int32_t wanted, const char *text)
{
    uint32_t area[64], before[64], records[MAX_WORDS];
    struct gg_layout_options options = {.area_bytes = sizeof area};
    uint64_t count = 77;
    char *message = NULL;
    reset(area, 64, false, 0);
    memcpy(before, area, sizeof area);
    expect(what, gg_layout_model_mesh(&s->shape, &options, &s->batch, NULL, 0, area, 64, &message), wanted, &message,
           text);
    expect_words(what, area, before, 64);
    expect(what, gg_layout_model_primitives(&s->shape, &s->batch, NULL, 0, records, NULL, 32, &count, &message), wanted,
           &message, text);
    expect(what, gg_layout_model_workgroups(&s->shape, &s->batch, &count, &message), wanted, &message, text);
    CHECK(count == 77, "%s: the count was written", what);
}

static void test_bad_meshlets(void)
{
    static const struct {
        const char *what;
        struct gg_meshlet meshlet;
        const char *text; /* NULL: right */
    } rows[] = {
        {"vertices", {4, 4, 0, 1, 0, {0}}, "meshlet 1: vertices 4 to 8 of 7"},
        {"vertices, clamped", {4, 9, 0, 1, 0, {0}}, "meshlet 1: vertices 4 to 8 of 7"},
        {"vertices that wrap", {UINT32_MAX, 2, 0, 1, 0, {0}}, "meshlet 1: vertices 4294967295 to 4294967297 of 7"},
        {"indices", {0, 4, 2, 2, 0, {0}}, "meshlet 1: 2 primitives from index word 2 on, of 3 words"},
        {"indices that wrap", {0, 4, UINT32_MAX, 2, 0, {0}}, "meshlet 1: 2 primitives from index word 4294967295 on"},
        {"primitives", {0, 4, 0, 2, 3, {0}}, "meshlet 1: primitives 3 to 5 of 4"},
        {"primitives that wrap", {0, 4, 0, 2, UINT32_MAX, {0}}, "meshlet 1: primitives 4294967295 to 4294967297 of 4"},
        {"the last of each", {3, 4, 1, 2, 2, {0}}, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct gg_meshlet meshlets[] = {two[0], rows[i].meshlet};
        struct scene s = scene_of(rows[i].what, meshlets, 2, two_indices, 3);
        s.shape.primitive_words = 1;
        uint64_t workgroups;
        char *message = NULL;
        if (rows[i].text)
            refuse_batch(rows[i].what, &s, GG_ERR_ARGUMENT, rows[i].text);
        else
            expect_ok(rows[i].what, gg_layout_model_workgroups(&s.shape, &s.batch, &workgroups, &message), &message);
    }
}

static void test_bad_tasks(void)
{
    static const struct {
        const char *what;
        struct gg_mesh_task task;
        int32_t result;
        const char *text;
    } rows[] = {
        {"past the meshlets", {{3, 1, 1}, 0, 0, {0}}, GG_ERR_ARGUMENT, "task 1: meshlets 0 to 3 of 2"},
        {"begins past them", {{1, 1, 1}, 2, 0, {0}}, GG_ERR_ARGUMENT, "task 1: meshlets 2 to 3 of 2"},
        {"a sum that wraps",
         {{2, 1, 1}, UINT32_MAX, 0, {0}},
         GG_ERR_ARGUMENT,
         "task 1: meshlets 4294967295 to 4294967297"},
        {"too many",
         {{2048, 2048, 2}, 0, 0, {0}},
         GG_ERR_LIMIT,
         "task 1: emits 2048 x 2048 x 2 workgroups, the most is 4194304"},
        {"one is too large", {{UINT32_MAX, 0, 0}, 0, 0, {0}}, GG_ERR_LIMIT, "task 1: emits 4294967295 x 0 x 0"},
        {"a product that wraps", {{65536, 65536, 1}, 0, 0, {0}}, GG_ERR_LIMIT, "task 1: emits 65536 x 65536 x 1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct gg_mesh_task tasks[] = {{{1, 1, 2}, 0, 5, {0}}, rows[i].task};
        struct scene s = scene_of(rows[i].what, two, 2, two_indices, 3);
        s.shape.task = 1;
        s.batch.tasks = tasks;
        s.batch.task_count = 2;
        refuse_batch(rows[i].what, &s, rows[i].result, rows[i].text);
    }
}

static void test_bad_arguments(void)
{
    struct scene s = scene_of("arguments", two, 2, two_indices, 3);
    struct gg_layout_options options = {.area_bytes = 4 * 26};
    uint32_t area[26], records[MAX_WORDS];
    uint64_t count = 0;
    char *message = NULL;
    reset(area, 26, false, 0);
    expect("short area", gg_layout_model_mesh(&s.shape, &options, &s.batch, NULL, 0, area, 25, &message), GG_ERR_LIMIT,
           &message, "area of 25 words given, the options say 26");
    static const uint32_t order[] = {0, 2};
    expect("order", gg_layout_model_mesh(&s.shape, &options, &s.batch, order, 2, area, 26, &message), GG_ERR_ARGUMENT,
           &message, "order: entry 1 names workgroup 2 of 2");
    expect("order", gg_layout_model_primitives(&s.shape, &s.batch, order, 2, records, NULL, 64, &count, &message),
           GG_ERR_ARGUMENT, &message, "order: entry 1 names workgroup 2 of 2");
    s.shape.vertex_words = 0;
    expect("shape", gg_layout_model_mesh(&s.shape, &options, &s.batch, NULL, 0, area, 26, &message), GG_ERR_ARGUMENT,
           &message, "vertex_words is 0");
    s.shape.vertex_words = 4;
    expect("area", gg_layout_model_mesh(&s.shape, &options, &s.batch, NULL, 0, area, 26, &message), GG_ERR_LIMIT,
           &message, "one workgroup can take 6");
    CHECK(!count, "the count was written");
}

/* Areas that no mesh stage leaves behind: the draw says where, and never reads outside. */
static void test_bad_areas(void)
{
    struct gg_layout_options options = {.layout = GG_LAYOUT_INDEXED, .area_bytes = 4 * 34}; /* fit 6 */
    uint32_t area[34], records[MAX_WORDS];
    uint64_t count = 77;
    char *message = NULL;
    reset(area, 34, true, 0);
    for (uint32_t i = 16; i < 34; i++)
        area[i] = i - 28;
    area[11] = 7;
    expect("more than fit", gg_layout_model_draw(&small, &options, area, 34, records, 64, &count, &message),
           GG_ERR_FORMAT, &message, "corner 6: drawn, but the area holds 6 slots");
    area[11] = 6;
    expect("no room", gg_layout_model_draw(&small, &options, area, 34, records, 5, &count, &message), GG_ERR_LIMIT,
           &message, "6 corners drawn, room for 5");
    expect("no index line", gg_layout_model_draw(&small, &options, area, 33, records, 64, &count, &message),
           GG_ERR_FORMAT, &message, "corner 5: its index is outside the area");
    area[16 + 12 + 4] = 6;
    expect("index", gg_layout_model_draw(&small, &options, area, 34, records, 64, &count, &message), GG_ERR_FORMAT,
           &message, "corner 4: record 6 is outside the area");
    area[16 + 12 + 2] = UINT32_MAX;
    expect("index", gg_layout_model_draw(&small, &options, area, 34, records, 64, &count, &message), GG_ERR_FORMAT,
           &message, "corner 2: record 4294967295 is outside the area");
    expect("no header", gg_layout_model_draw(&small, &options, area, 15, records, 64, &count, &message), GG_ERR_LIMIT,
           &message, "area of 15 words has no header");
    options = (struct gg_layout_options){.runtime_fit = 1, .area_bytes = 4 * 34}; /* aos, fit from word 9 */
    area[9] = UINT32_MAX;
    area[0] = 10;
    expect("capacity", gg_layout_model_draw(&small, &options, area, 34, records, 64, &count, &message), GG_ERR_FORMAT,
           &message, "corner 9: record 9 is outside the area");
    CHECK(count == 77, "the count was written");
}

int main(void)
{
    two_indices[0] = bytes(0, 1, 2, 2);
    two_indices[1] = bytes(1, 3, 0, 0);
    two_indices[2] = bytes(2, 0, 1, 0);
    test_layouts();
    test_order();
    test_padding();
    test_overflow();
    test_exact_fit();
    test_bad_programs();
    test_empty();
    test_lines();
    test_points();
    test_per_primitive();
    test_tasks();
    test_runtime_fit();
    test_bad_meshlets();
    test_bad_tasks();
    test_bad_arguments();
    test_bad_areas();
    return test_result();
}

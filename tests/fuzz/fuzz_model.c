/* SPDX-License-Identifier: MIT */
/*
 * The host model: shapes, options and batches made of any bytes, absurd numbers included. Arrays are
 * allocated to their exact length, so that the address sanitizer sees a step outside. The draw of the
 * area must fetch the primitives of the workgroups that fit, and in indexed their padding, nothing else.
 */
#include "input.h"

#include <string.h>

struct scene {
    struct gg_mesh_shape shape;
    struct gg_layout_options options;
    struct gg_mesh_batch batch;
    uint32_t *order;
    uint32_t order_count;
};

static void *allocate(size_t count, size_t size)
{
    void *pointer = calloc(count ? count : 1, size);
    MUST(pointer);
    return pointer;
}

/* Contents are a sequence from a seed: what matters is which word comes where. */
static uint32_t *sequence(uint32_t count, uint32_t seed)
{
    uint32_t *words = allocate(count, sizeof *words);
    for (uint32_t i = 0; i < count; i++)
        words[i] = seed = seed * 1664525 + 1013904223;
    return words;
}

static struct scene take_scene(struct input *in)
{
    struct scene s = {.shape = take_shape(in, 12, 9, 6)};
    const uint32_t vertex_words = s.shape.vertex_words % 256, primitive_words = s.shape.primitive_words % 256;
    s.options = take_options(in, 27, vertex_words + primitive_words + 1);
    struct gg_mesh_batch *b = &s.batch;
    b->meshlet_count = take_byte(in) % 8;
    b->vertex_count = take_byte(in) % 64;
    b->index_words = take_byte(in) % 64;
    b->primitive_count = take_byte(in) % 32;
    b->vertices = sequence(b->vertex_count * vertex_words, 1);
    b->primitives = sequence(b->primitive_count * primitive_words, 2);
    uint32_t seed = take_byte(in);
    uint32_t *indices = sequence(b->index_words, seed);
    for (uint32_t i = 0; i < b->index_words && seed % 4; i++)
        indices[i] &= 0x0f0f0f0f;
    b->indices = indices;
    struct gg_meshlet *meshlets = allocate(b->meshlet_count, sizeof *meshlets);
    for (uint32_t i = 0; i < b->meshlet_count; i++) {
        meshlets[i].vertex_first = take_number(in, 0, b->vertex_count);
        meshlets[i].vertex_count = take_number(in, 0, 14);
        meshlets[i].index_first = take_number(in, 0, b->index_words);
        meshlets[i].primitive_count = take_number(in, 0, 11);
        meshlets[i].primitive_first = take_number(in, 0, b->primitive_count);
    }
    b->meshlets = meshlets;
    b->task_count = s.shape.task ? take_byte(in) % 5 : take_byte(in) == 0xff;
    struct gg_mesh_task *tasks = allocate(b->task_count, sizeof *tasks);
    for (uint32_t i = 0; i < b->task_count; i++) {
        for (int k = 0; k < 3; k++)
            tasks[i].groups[k] = take_number(in, 0, 3);
        tasks[i].first_meshlet = take_number(in, 0, b->meshlet_count);
        tasks[i].payload = take_byte(in);
    }
    b->tasks = tasks;
    uint32_t orders = take_byte(in);
    s.order_count = orders % 16;
    s.order = orders >= 128 ? allocate(s.order_count, sizeof *s.order) : NULL;
    for (uint32_t i = 0; s.order && i < s.order_count; i++)
        s.order[i] = take_number(in, 0, 16);
    return s;
}

static void release(struct scene *s)
{
    free((void *)s->batch.meshlets);
    free((void *)s->batch.vertices);
    free((void *)s->batch.indices);
    free((void *)s->batch.primitives);
    free((void *)s->batch.tasks);
    free(s->order);
}

static void reset(const struct scene *s, const struct gg_layout_plan *plan, uint32_t *area)
{
    struct gg_command fills[GG_LAYOUT_MAX_FILLS];
    uint32_t count = 0;
    char *message = NULL;
    for (uint64_t i = 0; i < plan->area_words; i++)
        area[i] = 0xdeadbeef;
    MUST(!look_at(gg_layout_record_fills(plan, &s->options, 0, fills, &count, &message), message));
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t w = fills[i].offset / 4; w < (fills[i].offset + fills[i].size) / 4; w++)
            area[w] = fills[i].value[0];
}

/* The meshlet of a workgroup, and the slots it takes: worked out here a second time. */
static const struct gg_meshlet *meshlet_of(const struct scene *s, uint32_t number)
{
    const struct gg_mesh_batch *b = &s->batch;
    if (!s->shape.task)
        return &b->meshlets[number];
    uint32_t t = 0, emitted;
    while (number >= (emitted = b->tasks[t].groups[0] * b->tasks[t].groups[1] * b->tasks[t].groups[2])) {
        number -= emitted;
        MUST(++t < b->task_count);
    }
    return &b->meshlets[b->tasks[t].first_meshlet + number];
}

static uint32_t at_most(uint32_t a, uint32_t most) { return a > most ? most : a; }

static uint32_t corners_of(const struct scene *s, const struct gg_layout_plan *plan, uint32_t number)
{
    const struct gg_meshlet *m = meshlet_of(s, number);
    return m->vertex_count ? at_most(m->primitive_count, s->shape.max_primitives) * plan->corners : 0;
}

static uint32_t slots_of(const struct scene *s, const struct gg_layout_plan *plan, uint32_t number)
{
    const struct gg_meshlet *m = meshlet_of(s, number);
    uint32_t corners = corners_of(s, plan, number), last = at_most(m->vertex_count, s->shape.max_vertices) - 1;
    uint32_t slots = corners;
    for (uint32_t c = 0; plan->indexed && c < corners; c++) {
        uint32_t index = at_most(s->batch.indices[m->index_first + c / 4] >> 8 * (c % 4) & 0xff, last);
        while (slots < index + 1)
            slots += 3;
    }
    return slots;
}

static uint32_t entry(const struct scene *s, uint32_t i) { return s->order ? s->order[i] : i; }

/* Padding holds the workgroup's vertex 0; a task stage has replaced the last word. */
static void look_at_padding(const struct scene *s, const struct gg_layout_plan *plan, uint32_t number,
                            const uint32_t *records, uint32_t count)
{
    const uint32_t words = plan->record_words, compared = words - (s->shape.task ? 1 : 0);
    const uint32_t *first = s->batch.vertices + (size_t)meshlet_of(s, number)->vertex_first * words;
    MUST(count % 3 == 0);
    for (uint32_t c = 0; c < count; c++)
        MUST(!memcmp(records + (size_t)c * words, first, compared * sizeof *first));
}

/* Workgroup after workgroup, as long as they fit: the batch's own corners, then padding. */
static void compare(const struct scene *s, const struct gg_layout_plan *plan, const uint32_t *area, uint64_t workgroups)
{
    const uint32_t count = s->order ? s->order_count : (uint32_t)workgroups, words = plan->record_words;
    const size_t record = words * sizeof *area;
    uint32_t fit = plan->fit, total = 0, taken = 0;
    if (s->options.runtime_fit)
        fit = area[9] > plan->header_words ? (area[9] - plan->header_words) / plan->slot_words : 0;
    for (uint32_t i = 0; i < count; i++)
        total += corners_of(s, plan, entry(s, i));

    uint32_t *drawn = allocate(fit, record), *own = allocate(total, record), *groups = allocate(total, sizeof *groups);
    uint64_t drawn_count = 0, own_count = 0, at = 0, corner = 0;
    char *message = NULL;
    MUST(!look_at(gg_layout_model_primitives(&s->shape, &s->batch, s->order, s->order_count, own, groups, total,
                                             &own_count, &message),
                  message));
    MUST(own_count == total);
    MUST(!look_at(
        gg_layout_model_draw(&s->shape, &s->options, area, plan->area_words, drawn, fit, &drawn_count, &message),
        message));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = entry(s, i), corners = corners_of(s, plan, number), slots = slots_of(s, plan, number);
        if (taken + slots <= fit) {
            MUST(at + slots <= drawn_count);
            MUST(!memcmp(drawn + at * words, own + corner * words, corners * record));
            look_at_padding(s, plan, number, drawn + (at + corners) * words, slots - corners);
            at += slots;
        }
        for (uint32_t c = 0; c < corners; c++)
            MUST(groups[corner + c] == number);
        taken += slots;
        corner += corners;
    }
    MUST(at == drawn_count && taken == area[4]);
    if (s->options.census)
        MUST(area[8] == taken && area[10] == taken - at);
    free(drawn);
    free(own);
    free(groups);
}

/* An area that no mesh stage left behind: the draw may refuse it, but never reads outside. */
static void draw_damaged(struct input *in, const struct scene *s, uint32_t *area, uint64_t area_words, uint64_t room)
{
    uint32_t *records = allocate(room, sizeof *records);
    const uint32_t record_words = s->shape.vertex_words + s->shape.primitive_words;
    uint64_t count = 0;
    char *message = NULL;
    for (int i = 0; i < 3; i++) {
        uint64_t at = take_number(in, 0, 15) + (i == 2 ? area_words / 2 : 0);
        if (at < area_words)
            area[at] = take_number(in, 0, 255);
    }
    look_at(gg_layout_model_draw(&s->shape, &s->options, area, area_words - take_byte(in) % 2, records,
                                 record_words ? room / record_words : 0, &count, &message),
            message);
    free(records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct scene s = take_scene(&in);
    struct gg_layout_plan plan = {0};
    uint64_t workgroups = 0;
    char *message = NULL;
    int32_t counted = look_at(gg_layout_model_workgroups(&s.shape, &s.batch, &workgroups, &message), message);
    int32_t planned = look_at(gg_layout_plan(&s.shape, &s.options, &plan, &message), message);
    const uint64_t most = 1 << 20; /* words; larger areas are told of, but not had */
    uint32_t header[16] = {0}, *area = header;
    uint64_t area_words = 16;
    if (!planned && plan.area_words <= most) {
        area_words = plan.area_words;
        area = allocate(area_words, sizeof *area);
        reset(&s, &plan, area);
        if (s.options.runtime_fit && take_byte(&in) % 2)
            area[9] = take_number(&in, 0, (uint32_t)area_words);
    }
    int32_t modelled = look_at(
        gg_layout_model_mesh(&s.shape, &s.options, &s.batch, s.order, s.order_count, area, area_words, &message),
        message);
    if (!modelled) {
        MUST(!counted && !planned);
        compare(&s, &plan, area, workgroups);
    }
    draw_damaged(&in, &s, area, area_words, 4096);
    if (area != header)
        free(area);
    release(&s);
    return 0;
}

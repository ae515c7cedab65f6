/* SPDX-License-Identifier: MIT */
/*
 * The host model: what a device must leave in the area, written from the rules of docs/layouts.md in
 * plain loops. It shares nothing with the emitter but the plan's numbers, and those have tests of their own.
 */
#include "layout_internal.h"

#include <stdlib.h>
#include <string.h>

struct model {
    struct gg_mesh_shape shape;
    struct gg_layout_plan plan;
    struct gg_layout_options options;
    const struct gg_mesh_batch *batch;
    uint64_t *task_start; /* prefix sums of the tasks' workgroups, task_count + 1 of them */
    uint64_t workgroups;
};

struct workgroup { /* one after clamping */
    uint32_t meshlet, vertices, primitives;
    bool has_word;
    uint32_t word; /* stands in every vertex's last word when there is a task stage */
};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static int32_t check_meshlets(const struct model *m, char **message)
{
    const struct gg_mesh_batch *b = m->batch;
    for (uint32_t i = 0; i < b->meshlet_count; i++) {
        const struct gg_meshlet *t = &b->meshlets[i];
        uint64_t v = smaller(t->vertex_count, m->shape.max_vertices);
        uint64_t p = smaller(t->primitive_count, m->shape.max_primitives);
        if (t->vertex_first + v > b->vertex_count)
            return gg_fail(message, GG_ERR_ARGUMENT, "meshlet %u: vertices %u to %llu of %u", i, t->vertex_first,
                           (unsigned long long)(t->vertex_first + v), b->vertex_count);
        if (t->index_first + (p * m->plan.corners + 3) / 4 > b->index_words)
            return gg_fail(message, GG_ERR_ARGUMENT, "meshlet %u: %llu primitives from index word %u on, of %u words",
                           i, (unsigned long long)p, t->index_first, b->index_words);
        if (m->shape.primitive_words && t->primitive_first + p > b->primitive_count)
            return gg_fail(message, GG_ERR_ARGUMENT, "meshlet %u: primitives %u to %llu of %u", i, t->primitive_first,
                           (unsigned long long)(t->primitive_first + p), b->primitive_count);
    }
    return GG_OK;
}

static int32_t sum_tasks(struct model *m, char **message)
{
    const uint64_t most = 1u << 22; /* maxMeshWorkGroupTotalCount of the devices there are */
    const struct gg_mesh_batch *b = m->batch;
    m->task_start = malloc(((size_t)b->task_count + 1) * sizeof *m->task_start);
    if (!m->task_start)
        return gg_fail(message, GG_ERR_MEMORY, "host model: out of memory for %u tasks", b->task_count);
    m->task_start[0] = 0;
    for (uint32_t t = 0; t < b->task_count; t++) {
        const uint32_t *g = b->tasks[t].groups;
        bool absurd = g[0] > most || g[1] > most || g[2] > most;
        uint64_t xy = absurd ? 0 : (uint64_t)g[0] * g[1];
        if (absurd || (g[2] && xy > most / g[2]))
            return gg_fail(message, GG_ERR_LIMIT, "task %u: emits %u x %u x %u workgroups, the most is %llu", t, g[0],
                           g[1], g[2], (unsigned long long)most);
        uint64_t emitted = xy * g[2];
        if (emitted && b->tasks[t].first_meshlet + emitted > b->meshlet_count)
            return gg_fail(message, GG_ERR_ARGUMENT, "task %u: meshlets %u to %llu of %u", t, b->tasks[t].first_meshlet,
                           (unsigned long long)(b->tasks[t].first_meshlet + emitted), b->meshlet_count);
        m->task_start[t + 1] = m->task_start[t] + emitted;
    }
    m->workgroups = m->task_start[b->task_count];
    return GG_OK;
}

static int32_t begin(struct model *m, const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                     const struct gg_mesh_batch *batch, char **message)
{
    *m = (struct model){.options = *options, .batch = batch};
    int32_t result = gg_layout_check_shape(shape, &m->shape, message);
    if (!result)
        result = gg_layout_plan(&m->shape, options, &m->plan, message);
    if (!result)
        result = check_meshlets(m, message);
    if (!result && m->shape.task)
        result = sum_tasks(m, message);
    else if (!result && batch->task_count)
        result =
            gg_fail(message, GG_ERR_ARGUMENT, "batch: %u tasks, but the shape has no task stage", batch->task_count);
    else if (!result)
        m->workgroups = batch->meshlet_count;
    if (!result && m->workgroups > UINT32_MAX)
        result = gg_fail(message, GG_ERR_LIMIT, "batch: %llu workgroups", (unsigned long long)m->workgroups);
    return result;
}

static struct workgroup resolve(const struct model *m, uint32_t number)
{
    struct workgroup g = {.meshlet = number};
    if (m->shape.task) {
        uint32_t t = 0;
        while (m->task_start[t + 1] <= number)
            t++;
        const struct gg_mesh_task *task = &m->batch->tasks[t];
        uint32_t linear = number - (uint32_t)m->task_start[t];
        g.meshlet = task->first_meshlet + linear;
        g.has_word = true;
        g.word = task->payload * 100 + linear % task->groups[0] * 10 + task->groups[0];
    }
    const struct gg_meshlet *t = &m->batch->meshlets[g.meshlet];
    g.vertices = smaller(t->vertex_count, m->shape.max_vertices);
    g.primitives = smaller(t->primitive_count, m->shape.max_primitives);
    if (g.vertices == 0 || g.primitives == 0)
        g.vertices = g.primitives = 0;
    return g;
}

static uint32_t vertex_of(const struct model *m, const struct workgroup *g, uint32_t corner)
{
    const struct gg_meshlet *t = &m->batch->meshlets[g->meshlet];
    uint32_t index = m->batch->indices[t->index_first + corner / 4] >> 8 * (corner % 4) & 0xff;
    return smaller(index, g->vertices - 1);
}

static uint32_t vertex_word(const struct model *m, const struct workgroup *g, uint32_t vertex, uint32_t word)
{
    if (g->has_word && word == m->shape.vertex_words - 1)
        return g->word;
    size_t v = (size_t)m->batch->meshlets[g->meshlet].vertex_first + vertex;
    return m->batch->vertices[v * m->shape.vertex_words + word];
}

/* Word `word` of the record of a corner: its vertex's words, then its primitive's. */
static uint32_t record_word(const struct model *m, const struct workgroup *g, uint32_t corner, uint32_t word)
{
    if (word < m->shape.vertex_words)
        return vertex_word(m, g, vertex_of(m, g, corner), word);
    size_t p = (size_t)m->batch->meshlets[g->meshlet].primitive_first + corner / m->plan.corners;
    return m->batch->primitives[p * m->shape.primitive_words + word - m->shape.vertex_words];
}

static uint32_t used_vertices(const struct model *m, const struct workgroup *g)
{
    uint32_t used = 0;
    for (uint32_t c = 0; c < g->primitives * 3; c++) {
        uint32_t v = vertex_of(m, g, c);
        if (v + 1 > used)
            used = v + 1;
    }
    return used;
}

static void run_workgroup(const struct model *m, const struct workgroup *g, uint32_t *area)
{
    const uint32_t H = m->plan.header_words, words = m->plan.record_words;
    uint32_t fit = m->plan.fit;
    if (m->options.runtime_fit)
        fit = area[9] > H ? (area[9] - H) / m->plan.slot_words : 0;
    uint32_t corners = g->primitives * m->plan.corners, used = 0, slots = corners;
    if (m->plan.indexed) {
        used = used_vertices(m, g);
        uint32_t rounded = (used + 2) / 3 * 3;
        slots = rounded > corners ? rounded : corners;
    }
    uint32_t first = area[4];
    bool fits = (uint64_t)first + slots <= fit;
    area[4] += slots;
    if (m->options.census)
        area[8] += slots;
    if (m->options.census && !fits)
        area[10] += slots;
    if (!fits)
        return;
    area[m->plan.indexed ? 11 : 0] += slots;
    if (m->plan.indexed) {
        for (uint32_t v = 0; v < used; v++)
            for (uint32_t l = 0; l < words; l++)
                area[H + (size_t)l * fit + first + v] = vertex_word(m, g, v, l);
        for (uint32_t c = 0; c < slots; c++)
            area[H + (size_t)words * fit + first + c] = c < corners ? first + vertex_of(m, g, c) : first;
        return;
    }
    for (uint32_t c = 0; c < corners; c++)
        for (uint32_t l = 0; l < words; l++) {
            size_t at = m->plan.layout == GG_LAYOUT_AOS ? (size_t)(first + c) * words + l : (size_t)l * fit + first + c;
            area[H + at] = record_word(m, g, c, l);
        }
}

int32_t gg_layout_model_mesh(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                             const struct gg_mesh_batch *batch, const uint32_t *order, uint32_t order_count,
                             uint32_t *area, uint64_t area_words, char **message)
{
    struct model m;
    int32_t result = begin(&m, shape, options, batch, message);
    if (result)
        goto done;
    if (area_words < m.plan.area_words) {
        result = gg_fail(message, GG_ERR_LIMIT, "host model: area of %llu words given, the options say %llu",
                         (unsigned long long)area_words, (unsigned long long)m.plan.area_words);
        goto done;
    }
    if (m.options.runtime_fit && area[9] > area_words) {
        result = gg_fail(message, GG_ERR_ARGUMENT, "host model: header word 9 says %u words, the area has %llu",
                         area[9], (unsigned long long)area_words);
        goto done;
    }
    uint32_t count = order ? order_count : (uint32_t)m.workgroups;
    if (count > m.plan.max_workgroups) {
        result = gg_fail(message, GG_ERR_LIMIT, "%u workgroups of up to %u slots: the allocator would pass 2^32", count,
                         m.plan.max_slots);
        goto done;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = order ? order[i] : i;
        if (number >= m.workgroups) {
            result = gg_fail(message, GG_ERR_ARGUMENT, "order: entry %u names workgroup %u of %llu", i, number,
                             (unsigned long long)m.workgroups);
            goto done;
        }
        struct workgroup g = resolve(&m, number);
        run_workgroup(&m, &g, area);
    }
    result = gg_succeed(message);
done:
    free(m.task_start);
    return result;
}

int32_t gg_layout_model_workgroups(const struct gg_mesh_shape *shape, const struct gg_mesh_batch *batch,
                                   uint64_t *workgroups, char **message)
{
    struct model m;
    struct gg_layout_options options = {.area_bytes = 0xfffffffc};
    int32_t result = begin(&m, shape, &options, batch, message);
    if (!result)
        *workgroups = m.workgroups;
    free(m.task_start);
    return result;
}

int32_t gg_layout_model_primitives(const struct gg_mesh_shape *shape, const struct gg_mesh_batch *batch,
                                   const uint32_t *order, uint32_t order_count, uint32_t *records, uint32_t *groups,
                                   uint64_t capacity, uint64_t *corner_count, char **message)
{
    struct model m;
    struct gg_layout_options options = {.area_bytes = 0xfffffffc};
    uint64_t written = 0;
    int32_t result = begin(&m, shape, &options, batch, message);
    if (result)
        goto done;
    uint32_t count = order ? order_count : (uint32_t)m.workgroups;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = order ? order[i] : i;
        if (number >= m.workgroups) {
            result = gg_fail(message, GG_ERR_ARGUMENT, "order: entry %u names workgroup %u of %llu", i, number,
                             (unsigned long long)m.workgroups);
            goto done;
        }
        struct workgroup g = resolve(&m, number);
        for (uint32_t c = 0; c < g.primitives * m.plan.corners; c++, written++) {
            if (written == capacity) {
                result =
                    gg_fail(message, GG_ERR_LIMIT, "host model: more than %llu corners", (unsigned long long)capacity);
                goto done;
            }
            for (uint32_t l = 0; l < m.plan.record_words; l++)
                records[written * m.plan.record_words + l] = record_word(&m, &g, c, l);
            if (groups)
                groups[written] = number;
        }
    }
    *corner_count = written;
    result = gg_succeed(message);
done:
    free(m.task_start);
    return result;
}

int32_t gg_layout_model_draw(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                             const uint32_t *area, uint64_t area_words, uint32_t *records, uint64_t capacity,
                             uint64_t *corner_count, char **message)
{
    struct gg_layout_plan plan;
    int32_t result = gg_layout_plan(shape, options, &plan, message);
    if (result)
        return result;
    if (area_words < plan.header_words)
        return gg_fail(message, GG_ERR_LIMIT, "host model: area of %llu words has no header",
                       (unsigned long long)area_words);
    uint64_t fit = plan.fit, words = plan.record_words, H = plan.header_words;
    if (options->runtime_fit)
        fit = area[9] > H ? (area[9] - H) / plan.slot_words : 0;
    uint64_t count = area[plan.indexed ? 11 : 0];
    if (count > capacity)
        return gg_fail(message, GG_ERR_LIMIT, "host model: %llu corners drawn, room for %llu",
                       (unsigned long long)count, (unsigned long long)capacity);
    if (count > fit)
        return gg_fail(message, GG_ERR_FORMAT, "corner %llu: drawn, but the area holds %llu slots",
                       (unsigned long long)fit, (unsigned long long)fit);
    for (uint64_t c = 0; c < count; c++) {
        uint64_t at = H + words * fit + c, record = c;
        if (plan.indexed) {
            if (at >= area_words)
                return gg_fail(message, GG_ERR_FORMAT, "corner %llu: its index is outside the area",
                               (unsigned long long)c);
            record = area[at];
        }
        uint64_t last = plan.layout == GG_LAYOUT_AOS ? H + (record + 1) * words - 1 : H + (words - 1) * fit + record;
        if (record >= fit || last >= area_words)
            return gg_fail(message, GG_ERR_FORMAT, "corner %llu: record %llu is outside the area",
                           (unsigned long long)c, (unsigned long long)record);
        for (uint64_t l = 0; l < words; l++)
            records[c * words + l] = area[plan.layout == GG_LAYOUT_AOS ? H + record * words + l : H + l * fit + record];
    }
    *corner_count = count;
    return gg_succeed(message);
}

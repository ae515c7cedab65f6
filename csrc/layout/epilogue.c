/* SPDX-License-Identifier: MIT */
/*
 * The end of every mesh stage: takes slots for the workgroup, all or nothing, and stores its records
 * in the chosen layout. Rules 1 to 3 of docs/layouts.md live here:
 *   order     primitives in their own order, corner 0 first;
 *   overflow  the allocator only grows, so what fits is exactly the first workgroups to take slots;
 *   bad input counts are clamped to the most, indices to the last vertex; no vertex or no primitive is neither.
 */
#include "layout_internal.h"

/* Values of one workgroup, the same in all its invocations. */
struct group {
    uint32_t last_vertex; /* vertices - 1; meaningless when there are no corners */
    uint32_t corners;
    uint32_t slots; /* to take */
    uint32_t fit;
};

static uint32_t load_count(struct gg_mesh_stage *m, uint32_t which, uint32_t most)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t index = gg_spirv_const(s, which);
    uint32_t pointer = gg_shader_element(&m->h, m->counts, index);
    uint32_t count = gg_spirv_load(s, gg_spirv_u32(s), pointer), limit = gg_spirv_const(s, most);
    return gg_spirv_min(s, count, limit);
}

static void load_group(struct gg_mesh_stage *m, struct group *g)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    uint32_t vertices = load_count(m, 0, m->shape.max_vertices);
    uint32_t primitives = load_count(m, 1, m->shape.max_primitives);
    uint32_t none = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, vertices, zero);
    uint32_t drawn = gg_spirv_select(s, none, zero, primitives);
    g->last_vertex = gg_spirv_op(s, SpvOpISub, gg_spirv_u32(s), 2, vertices, one);
    uint32_t per_primitive = gg_spirv_const(s, m->plan.corners);
    g->corners = gg_spirv_mul(s, drawn, per_primitive);
    g->slots = g->corners;
    g->fit = gg_shader_fit(&m->h, &m->plan, &m->options);
}

/* The vertex of corner c: its index byte, clamped to the last vertex. */
static uint32_t corner_vertex(struct gg_mesh_stage *m, const struct group *g, uint32_t c)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t u32 = gg_spirv_u32(s);
    if (m->options.mutation == GG_MUTATION_ROTATED_INDICES) {
        uint32_t n = gg_spirv_const(s, m->plan.corners), one = gg_spirv_const(s, 1);
        uint32_t k = gg_spirv_op(s, SpvOpUMod, u32, 2, c, n);
        uint32_t first = gg_spirv_op(s, SpvOpISub, u32, 2, c, k);
        uint32_t next = gg_spirv_op(s, SpvOpUMod, u32, 2, gg_spirv_add(s, k, one), n);
        c = gg_spirv_add(s, first, next);
    }
    uint32_t two = gg_spirv_const(s, 2), three = gg_spirv_const(s, 3), mask = gg_spirv_const(s, 0xff);
    uint32_t word_index = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, c, two);
    uint32_t word = gg_spirv_load(s, u32, gg_shader_element(&m->h, m->indices, word_index));
    uint32_t byte = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, c, three);
    uint32_t shift = gg_spirv_op(s, SpvOpShiftLeftLogical, u32, 2, byte, three);
    uint32_t shifted = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, word, shift);
    uint32_t index = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, shifted, mask);
    return gg_spirv_min(s, index, g->last_vertex);
}

/* used = 1 + the largest index of the workgroup's corners; 0 without corners. Ends in a barrier. */
static uint32_t count_used_vertices(struct gg_mesh_stage *m, const struct group *g)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    /* One workgroup atomic an invocation, not one a corner. */
    uint32_t most = gg_spirv_local(s, u32, "most");
    gg_spirv_store(s, most, zero);
    struct gg_spirv_for loop;
    uint32_t c = gg_spirv_begin_for(s, &loop, m->thread, g->corners, m->threads);
    uint32_t vertex = corner_vertex(m, g, c);
    uint32_t count = gg_spirv_add(s, vertex, one), before = gg_spirv_load(s, u32, most);
    gg_spirv_store(s, most, gg_spirv_max(s, before, count));
    gg_spirv_end_for(s, &loop);
    uint32_t own = gg_spirv_load(s, u32, most);
    gg_spirv_atomic(s, SpvOpAtomicUMax, SpvScopeWorkgroup, m->used, own);
    gg_spirv_workgroup_barrier(s);
    return gg_spirv_load(s, u32, m->used);
}

/* max(corners, vertices rounded up to whole triangles) */
static uint32_t indexed_slots(struct gg_mesh_stage *m, const struct group *g, uint32_t used)
{
    struct gg_spirv *s = &m->h.s;
    if (m->options.mutation == GG_MUTATION_CORNER_SLOTS_ONLY)
        return g->corners;
    uint32_t u32 = gg_spirv_u32(s), two = gg_spirv_const(s, 2), three = gg_spirv_const(s, 3);
    uint32_t up = gg_spirv_add(s, used, two);
    uint32_t triangles = gg_spirv_op(s, SpvOpUDiv, u32, 2, up, three);
    return gg_spirv_max(s, g->corners, gg_spirv_mul(s, triangles, three));
}

/* slot + slots <= fit, without the sum that could wrap */
static uint32_t fits(struct gg_mesh_stage *m, const struct group *g, uint32_t slot)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t boolean = gg_spirv_bool(s);
    uint32_t small = gg_spirv_op(s, SpvOpULessThanEqual, boolean, 2, g->slots, g->fit);
    uint32_t room = gg_spirv_op(s, SpvOpISub, gg_spirv_u32(s), 2, g->fit, g->slots);
    uint32_t early = gg_spirv_op(s, SpvOpULessThanEqual, boolean, 2, slot, room);
    return gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, small, early);
}

static void add_to_header(struct gg_mesh_stage *m, uint32_t word, uint32_t value)
{
    uint32_t pointer = gg_shader_header(&m->h, word);
    gg_spirv_atomic(&m->h.s, SpvOpAtomicIAdd, SpvScopeDevice, pointer, value);
}

/* One invocation takes the slots and counts them; returns the first slot, after a barrier. */
static uint32_t take_slots(struct gg_mesh_stage *m, const struct group *g)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), zero = gg_spirv_const(s, 0);
    uint32_t first = gg_spirv_op(s, SpvOpIEqual, boolean, 2, m->thread, zero);
    uint32_t some = gg_spirv_op(s, SpvOpINotEqual, boolean, 2, g->slots, zero);
    uint32_t takes = gg_spirv_op(s, SpvOpLogicalAnd, boolean, 2, first, some);
    struct gg_spirv_if take;
    gg_spirv_begin_if(s, &take, takes);
    uint32_t allocator = gg_shader_header(&m->h, GG_HEADER_ALLOCATOR);
    uint32_t slot = gg_spirv_atomic(s, SpvOpAtomicIAdd, SpvScopeDevice, allocator, g->slots);
    gg_spirv_store(s, m->slot, slot);
    uint32_t fit = fits(m, g, slot);
    uint32_t drawn =
        m->options.mutation == GG_MUTATION_COUNT_CUT_SLOTS ? g->slots : gg_spirv_select(s, fit, g->slots, zero);
    struct gg_spirv_if draw;
    uint32_t any = gg_spirv_op(s, SpvOpINotEqual, boolean, 2, drawn, zero);
    gg_spirv_begin_if(s, &draw, any);
    add_to_header(m, m->plan.indexed ? GG_HEADER_INDEXED : GG_HEADER_VERTEX_COUNT, drawn);
    gg_spirv_end_if(s, &draw);
    if (m->options.census) {
        add_to_header(m, GG_HEADER_NEEDED, g->slots);
        uint32_t cut = gg_spirv_select(s, fit, zero, g->slots);
        add_to_header(m, GG_HEADER_CUT, cut);
    }
    gg_spirv_end_if(s, &take);
    gg_spirv_workgroup_barrier(s);
    return gg_spirv_load(s, u32, m->slot);
}

static void store_area(struct gg_mesh_stage *m, uint32_t index, uint32_t value)
{
    gg_spirv_store(&m->h.s, gg_shader_word(&m->h, GG_LAYOUT_BUFFER_AREA, index), value);
}

/* Word l of a stage line: vertices and primitives both stand in lines. */
static uint32_t load_line(struct gg_mesh_stage *m, uint32_t array, uint32_t line, uint32_t length, uint32_t at)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t base = gg_spirv_const(s, line * length);
    uint32_t index = gg_spirv_add(s, base, at);
    return gg_spirv_load(s, gg_spirv_u32(s), gg_shader_element(&m->h, array, index));
}

/* A record's words go to start, start + stride, …: aos has stride 1, lines have the fit. */
static void store_vertex_words(struct gg_mesh_stage *m, uint32_t vertex, uint32_t *at, uint32_t stride)
{
    for (uint32_t l = 0; l < m->shape.vertex_words; l++) {
        uint32_t value = load_line(m, m->vertices, l, m->shape.max_vertices, vertex);
        store_area(m, *at, value);
        *at = gg_spirv_add(&m->h.s, *at, stride);
    }
}

static void store_corner_records(struct gg_mesh_stage *m, const struct group *g, uint32_t slot)
{
    struct gg_spirv *s = &m->h.s;
    bool aos = m->plan.layout == GG_LAYOUT_AOS;
    uint32_t header = gg_spirv_const(s, m->plan.header_words);
    uint32_t record_words = gg_spirv_const(s, m->plan.record_words);
    uint32_t stride = aos ? gg_spirv_const(s, 1) : g->fit;
    struct gg_spirv_for loop;
    uint32_t c = gg_spirv_begin_for(s, &loop, m->thread, g->corners, m->threads);
    uint32_t vertex = corner_vertex(m, g, c), record = gg_spirv_add(s, slot, c);
    uint32_t offset = aos ? gg_spirv_mul(s, record, record_words) : record;
    uint32_t at = gg_spirv_add(s, header, offset);
    store_vertex_words(m, vertex, &at, stride);
    if (m->shape.primitive_words) {
        uint32_t corners = gg_spirv_const(s, m->plan.corners);
        uint32_t primitive = gg_spirv_op(s, SpvOpUDiv, gg_spirv_u32(s), 2, c, corners);
        for (uint32_t l = 0; l < m->shape.primitive_words; l++) {
            uint32_t value = load_line(m, m->primitives, l, m->shape.max_primitives, primitive);
            store_area(m, at, value);
            at = gg_spirv_add(s, at, stride);
        }
    }
    gg_spirv_end_for(s, &loop);
}

static void store_indexed(struct gg_mesh_stage *m, const struct group *g, uint32_t slot, uint32_t used)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t header = gg_spirv_const(s, m->plan.header_words), lines = gg_spirv_const(s, m->plan.record_words);
    struct gg_spirv_for loop;
    uint32_t v = gg_spirv_begin_for(s, &loop, m->thread, used, m->threads);
    uint32_t record = gg_spirv_add(s, slot, v), at = gg_spirv_add(s, header, record);
    store_vertex_words(m, v, &at, g->fit);
    gg_spirv_end_for(s, &loop);

    uint32_t words_before = gg_spirv_mul(s, lines, g->fit);
    uint32_t index_line = gg_spirv_add(s, header, words_before), line_slot = gg_spirv_add(s, index_line, slot);
    uint32_t base = m->options.mutation == GG_MUTATION_LOCAL_INDICES ? gg_spirv_const(s, 0) : slot;
    uint32_t c = gg_spirv_begin_for(s, &loop, m->thread, g->slots, m->threads);
    /* Slots past the corners hold the first slot. The byte read for them is some word of the stage buffer, unused. */
    uint32_t zero = gg_spirv_const(s, 0), real = gg_spirv_less(s, c, g->corners);
    uint32_t readable = gg_spirv_select(s, real, c, zero);
    uint32_t vertex = corner_vertex(m, g, readable), local = gg_spirv_select(s, real, vertex, zero);
    uint32_t index = gg_spirv_add(s, base, local), to = gg_spirv_add(s, line_slot, c);
    store_area(m, to, index);
    gg_spirv_end_for(s, &loop);
}

void gg_mesh_epilogue(struct gg_mesh_stage *m)
{
    struct gg_spirv *s = &m->h.s;
    if (m->plan.indexed) {
        uint32_t zero = gg_spirv_const(s, 0);
        struct gg_spirv_if first;
        uint32_t is_first = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, m->thread, zero);
        gg_spirv_begin_if(s, &first, is_first);
        gg_spirv_store(s, m->used, zero);
        gg_spirv_end_if(s, &first);
    }
    gg_spirv_workgroup_barrier(s);

    struct group g;
    load_group(m, &g);
    uint32_t used = 0;
    if (m->plan.indexed) {
        used = count_used_vertices(m, &g);
        g.slots = indexed_slots(m, &g, used);
    }
    uint32_t slot = take_slots(m, &g);
    struct gg_spirv_if stored;
    uint32_t fit = fits(m, &g, slot);
    gg_spirv_begin_if(s, &stored, fit);
    if (m->plan.indexed)
        store_indexed(m, &g, slot, used);
    else
        store_corner_records(m, &g, slot);
    gg_spirv_end_if(s, &stored);
}

/* SPDX-License-Identifier: MIT */
/*
 * The fixture: a mesh program and a task program that fill stage buffer and task records from
 * buffers, as a guest's programs do, in every shape that the layouts must take. Its faults are
 * deliberate: it reports the counts of the meshlet as they are, also above the most.
 */
#include "layout_internal.h"

#define MESHLET_WORDS (sizeof(struct gg_meshlet) / 4)
#define TASK_WORDS    (sizeof(struct gg_mesh_task) / 4)
#define RECORD_WORDS  (sizeof(struct gg_task_record) / 4)
#define SCAN_THREADS  256u

#define MESHLET_WORD(member) (offsetof(struct gg_meshlet, member) / 4)
#define TASK_WORD(member)    (offsetof(struct gg_mesh_task, member) / 4)
#define RECORD_WORD(member)  (offsetof(struct gg_task_record, member) / 4)

/* Word `word` of the structure that begins at `base`. */
static uint32_t load_member(struct gg_shader *h, enum gg_layout_buffer buffer, uint32_t base, size_t word)
{
    uint32_t offset = gg_spirv_const(&h->s, (uint32_t)word);
    return gg_shader_load_word(h, buffer, gg_spirv_add(&h->s, base, offset));
}

/* for (i = thread; i < count; i += threads) body: the copy loops of the program. */
static uint32_t begin_copy(struct gg_mesh_stage *m, struct gg_spirv_for *loop, uint32_t count)
{
    return gg_spirv_begin_for(&m->h.s, loop, m->thread, count, m->threads);
}

struct parent { /* of a workgroup under a task stage */
    uint32_t meshlet, word;
};

/* Finds the task whose children include the workgroup: the last one that starts at or before it. */
static struct parent find_parent(struct gg_mesh_stage *m)
{
    struct gg_shader *h = &m->h;
    struct gg_spirv *s = &h->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    uint32_t record_words = gg_spirv_const(s, RECORD_WORDS);
    uint32_t low = gg_spirv_local(s, u32, "low"), high = gg_spirv_local(s, u32, "high");
    gg_spirv_store(s, low, zero);
    gg_spirv_store(s, high, gg_shader_push(h, GG_PUSH_TASKS));
    struct gg_spirv_while search;
    gg_spirv_begin_while(s, &search);
    uint32_t a = gg_spirv_load(s, u32, low), b = gg_spirv_load(s, u32, high);
    uint32_t next = gg_spirv_add(s, a, one);
    uint32_t open = gg_spirv_less(s, next, b);
    gg_spirv_while_body(s, &search, open);
    uint32_t sum = gg_spirv_add(s, a, b);
    uint32_t middle = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, sum, one);
    uint32_t middle_base = gg_spirv_mul(s, middle, record_words);
    uint32_t start = load_member(h, GG_LAYOUT_BUFFER_TASK_RECORDS, middle_base, RECORD_WORD(start));
    uint32_t after = gg_spirv_less(s, m->workgroup, start);
    gg_spirv_store(s, low, gg_spirv_select(s, after, a, middle));
    gg_spirv_store(s, high, gg_spirv_select(s, after, middle, b));
    gg_spirv_end_while(s, &search);

    uint32_t task = gg_spirv_load(s, u32, low);
    uint32_t base = gg_spirv_mul(s, task, record_words);
    start = load_member(h, GG_LAYOUT_BUFFER_TASK_RECORDS, base, RECORD_WORD(start));
    uint32_t columns = load_member(h, GG_LAYOUT_BUFFER_TASK_RECORDS, base, RECORD_WORD(groups));
    uint32_t first = load_member(h, GG_LAYOUT_BUFFER_TASK_RECORDS, base, RECORD_WORD(first_meshlet));
    uint32_t payload = load_member(h, GG_LAYOUT_BUFFER_TASK_RECORDS, base, RECORD_WORD(payload));
    uint32_t linear = gg_spirv_op(s, SpvOpISub, u32, 2, m->workgroup, start);
    uint32_t x = gg_spirv_op(s, SpvOpUMod, u32, 2, linear, columns);
    uint32_t ten = gg_spirv_const(s, 10), hundred = gg_spirv_const(s, 100);
    uint32_t hundreds = gg_spirv_mul(s, payload, hundred);
    uint32_t tens = gg_spirv_mul(s, x, ten);
    uint32_t payload_and_x = gg_spirv_add(s, hundreds, tens);
    struct parent parent;
    parent.meshlet = gg_spirv_add(s, first, linear);
    parent.word = gg_spirv_add(s, payload_and_x, columns);
    return parent;
}

static void copy_vertices(struct gg_mesh_stage *m, uint32_t base, uint32_t count, const struct parent *parent)
{
    struct gg_shader *h = &m->h;
    struct gg_spirv *s = &h->s;
    uint32_t u32 = gg_spirv_u32(s);
    uint32_t per_vertex = gg_spirv_const(s, m->shape.vertex_words), line = gg_spirv_const(s, m->shape.max_vertices);
    uint32_t first_vertex = load_member(h, GG_LAYOUT_BUFFER_MESHLETS, base, MESHLET_WORD(vertex_first));
    uint32_t first = gg_spirv_mul(s, first_vertex, per_vertex), words = gg_spirv_mul(s, count, per_vertex);
    struct gg_spirv_for loop;
    uint32_t i = begin_copy(m, &loop, words);
    uint32_t value = gg_shader_load_word(h, GG_LAYOUT_BUFFER_VERTICES, gg_spirv_add(s, first, i));
    uint32_t vertex = gg_spirv_op(s, SpvOpUDiv, u32, 2, i, per_vertex);
    uint32_t word = gg_spirv_op(s, SpvOpUMod, u32, 2, i, per_vertex);
    if (parent) {
        uint32_t last = gg_spirv_const(s, m->shape.vertex_words - 1);
        uint32_t is_last = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, word, last);
        value = gg_spirv_select(s, is_last, parent->word, value);
    }
    uint32_t before = gg_spirv_mul(s, word, line);
    uint32_t at = gg_spirv_add(s, before, vertex);
    gg_spirv_store(s, gg_shader_element(h, m->vertices, at), value);
    gg_spirv_end_for(s, &loop);
}

static void copy_indices(struct gg_mesh_stage *m, uint32_t base, uint32_t count)
{
    struct gg_shader *h = &m->h;
    struct gg_spirv *s = &h->s;
    uint32_t corners = gg_spirv_const(s, m->plan.corners), three = gg_spirv_const(s, 3), two = gg_spirv_const(s, 2);
    uint32_t bytes = gg_spirv_mul(s, count, corners);
    uint32_t up = gg_spirv_add(s, bytes, three);
    uint32_t words = gg_spirv_op(s, SpvOpShiftRightLogical, gg_spirv_u32(s), 2, up, two);
    uint32_t first = load_member(h, GG_LAYOUT_BUFFER_MESHLETS, base, MESHLET_WORD(index_first));
    struct gg_spirv_for loop;
    uint32_t i = begin_copy(m, &loop, words);
    uint32_t value = gg_shader_load_word(h, GG_LAYOUT_BUFFER_INDICES, gg_spirv_add(s, first, i));
    gg_spirv_store(s, gg_shader_element(h, m->indices, i), value);
    gg_spirv_end_for(s, &loop);
}

static void copy_primitive_words(struct gg_mesh_stage *m, uint32_t base, uint32_t count)
{
    struct gg_shader *h = &m->h;
    struct gg_spirv *s = &h->s;
    uint32_t u32 = gg_spirv_u32(s), per_primitive = gg_spirv_const(s, m->shape.primitive_words);
    uint32_t line = gg_spirv_const(s, m->shape.max_primitives);
    uint32_t first_primitive = load_member(h, GG_LAYOUT_BUFFER_MESHLETS, base, MESHLET_WORD(primitive_first));
    uint32_t first = gg_spirv_mul(s, first_primitive, per_primitive), words = gg_spirv_mul(s, count, per_primitive);
    struct gg_spirv_for loop;
    uint32_t i = begin_copy(m, &loop, words);
    uint32_t value = gg_shader_load_word(h, GG_LAYOUT_BUFFER_PRIMITIVES, gg_spirv_add(s, first, i));
    uint32_t primitive = gg_spirv_op(s, SpvOpUDiv, u32, 2, i, per_primitive);
    uint32_t word = gg_spirv_op(s, SpvOpUMod, u32, 2, i, per_primitive);
    uint32_t before = gg_spirv_mul(s, word, line);
    uint32_t at = gg_spirv_add(s, before, primitive);
    gg_spirv_store(s, gg_shader_element(h, m->primitives, at), value);
    gg_spirv_end_for(s, &loop);
}

static void report_counts(struct gg_mesh_stage *m, uint32_t vertices, uint32_t primitives)
{
    struct gg_spirv *s = &m->h.s;
    uint32_t zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1);
    struct gg_spirv_if first;
    uint32_t is_first = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, m->thread, zero);
    gg_spirv_begin_if(s, &first, is_first);
    gg_spirv_store(s, gg_shader_element(&m->h, m->counts, zero), vertices);
    gg_spirv_store(s, gg_shader_element(&m->h, m->counts, one), primitives);
    gg_spirv_end_if(s, &first);
}

static void fixture_program(struct gg_mesh_stage *m, void *user)
{
    (void)user;
    struct gg_shader *h = &m->h;
    struct gg_spirv *s = &h->s;
    struct parent parent = {.meshlet = m->workgroup};
    if (m->shape.task)
        parent = find_parent(m);
    uint32_t words = gg_spirv_const(s, MESHLET_WORDS);
    uint32_t base = gg_spirv_mul(s, parent.meshlet, words);
    uint32_t vertices = load_member(h, GG_LAYOUT_BUFFER_MESHLETS, base, MESHLET_WORD(vertex_count));
    uint32_t primitives = load_member(h, GG_LAYOUT_BUFFER_MESHLETS, base, MESHLET_WORD(primitive_count));
    report_counts(m, vertices, primitives);
    uint32_t most_vertices = gg_spirv_const(s, m->shape.max_vertices);
    uint32_t most_primitives = gg_spirv_const(s, m->shape.max_primitives);
    uint32_t kept_vertices = gg_spirv_min(s, vertices, most_vertices);
    uint32_t kept_primitives = gg_spirv_min(s, primitives, most_primitives);
    copy_vertices(m, base, kept_vertices, m->shape.task ? &parent : NULL);
    copy_indices(m, base, kept_primitives);
    if (m->shape.primitive_words)
        copy_primitive_words(m, base, kept_primitives);
}

int32_t gg_layout_emit_mesh(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                            uint32_t **words, uint64_t *word_count, char **message)
{
    return gg_mesh_stage_emit(shape, options, fixture_program, NULL, words, word_count, message);
}

static uint32_t workgroup_id(struct gg_spirv *s, uint32_t component)
{
    uint32_t u32 = gg_spirv_u32(s), vec3 = gg_spirv_vector(s, u32, 3);
    uint32_t variable = gg_spirv_builtin(s, SpvStorageClassInput, vec3, SpvBuiltInWorkgroupId, "workgroup_id");
    uint32_t id = gg_spirv_load(s, vec3, variable);
    return gg_spirv_extract(s, u32, id, component);
}

static void store_record(struct gg_shader *h, uint32_t base, size_t word, uint32_t value)
{
    uint32_t offset = gg_spirv_const(&h->s, (uint32_t)word);
    uint32_t at = gg_spirv_add(&h->s, base, offset);
    gg_spirv_store(&h->s, gg_shader_word(h, GG_LAYOUT_BUFFER_TASK_RECORDS, at), value);
}

/* push.first + WorkGroupID.x: tasks past one row are dispatched row by row. */
int32_t gg_layout_emit_task(uint32_t **words, uint64_t *word_count, char **message)
{
    static const size_t copies[][2] = {
        {TASK_WORD(groups), RECORD_WORD(groups)},         {TASK_WORD(groups) + 1, RECORD_WORD(groups) + 1},
        {TASK_WORD(groups) + 2, RECORD_WORD(groups) + 2}, {TASK_WORD(first_meshlet), RECORD_WORD(first_meshlet)},
        {TASK_WORD(payload), RECORD_WORD(payload)},
    };
    struct gg_shader h = {0};
    struct gg_spirv *s = &h.s;
    gg_spirv_init(s);
    gg_spirv_name(s, s->entry, "main");
    gg_spirv_local_size(s, 1, 1, 1);
    uint32_t first = gg_shader_push(&h, GG_PUSH_FIRST_WORKGROUP), x = workgroup_id(s, 0);
    uint32_t task = gg_spirv_add(s, first, x);
    struct gg_spirv_if in_range;
    uint32_t inside = gg_spirv_less(s, task, gg_shader_push(&h, GG_PUSH_TASKS));
    gg_spirv_begin_if(s, &in_range, inside);
    uint32_t task_words = gg_spirv_const(s, TASK_WORDS), record_words = gg_spirv_const(s, RECORD_WORDS);
    uint32_t from = gg_spirv_mul(s, task, task_words), to = gg_spirv_mul(s, task, record_words);
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        uint32_t value = load_member(&h, GG_LAYOUT_BUFFER_TASKS, from, copies[i][0]);
        store_record(&h, to, copies[i][1], value);
    }
    gg_spirv_end_if(s, &in_range);
    return gg_spirv_finish(s, SpvExecutionModelGLCompute, words, word_count, message);
}

/* Inclusive scan of `value` over the workgroup, in workgroup memory (Hillis and Steele). */
static uint32_t scan_workgroup(struct gg_shader *h, uint32_t sums, uint32_t thread, uint32_t value)
{
    struct gg_spirv *s = &h->s;
    uint32_t u32 = gg_spirv_u32(s), zero = gg_spirv_const(s, 0);
    uint32_t own = gg_shader_element(h, sums, thread);
    gg_spirv_store(s, own, value);
    gg_spirv_workgroup_barrier(s);
    for (uint32_t distance = 1; distance < SCAN_THREADS; distance *= 2) {
        uint32_t reach = gg_spirv_const(s, distance);
        uint32_t short_of = gg_spirv_less(s, thread, reach);
        uint32_t back = gg_spirv_op(s, SpvOpISub, u32, 2, thread, reach);
        uint32_t neighbour =
            gg_spirv_load(s, u32, gg_shader_element(h, sums, gg_spirv_select(s, short_of, thread, back)));
        uint32_t added = gg_spirv_select(s, short_of, zero, neighbour);
        value = gg_spirv_add(s, value, added);
        gg_spirv_workgroup_barrier(s);
        gg_spirv_store(s, own, value);
        gg_spirv_workgroup_barrier(s);
    }
    return value;
}

/* Words 5-7: the total as rows of at most push.row workgroups. */
static void store_dispatch(struct gg_shader *h, uint32_t total)
{
    struct gg_spirv *s = &h->s;
    uint32_t row = gg_shader_push(h, GG_PUSH_ROW), one = gg_spirv_const(s, 1);
    uint32_t x = gg_spirv_min(s, total, row);
    uint32_t whole = gg_spirv_op(s, SpvOpUDiv, gg_spirv_u32(s), 2, total, row);
    uint32_t rest = gg_spirv_op(s, SpvOpUMod, gg_spirv_u32(s), 2, total, row);
    uint32_t y = gg_spirv_add(s, whole, gg_spirv_min(s, rest, one));
    gg_spirv_store(s, gg_shader_header(h, GG_HEADER_DISPATCH), x);
    gg_spirv_store(s, gg_shader_header(h, GG_HEADER_DISPATCH + 1), y);
    gg_spirv_store(s, gg_shader_header(h, GG_HEADER_DISPATCH + 2), one);
}

int32_t gg_layout_emit_scan(uint32_t **words, uint64_t *word_count, char **message)
{
    struct gg_shader h = {0};
    struct gg_spirv *s = &h.s;
    gg_spirv_init(s);
    gg_spirv_name(s, s->entry, "main");
    gg_spirv_local_size(s, SCAN_THREADS, 1, 1);
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s);
    uint32_t array = gg_spirv_array(s, u32, SCAN_THREADS);
    uint32_t sums = gg_spirv_global(s, SpvStorageClassWorkgroup, array, "sums");
    uint32_t invocation =
        gg_spirv_builtin(s, SpvStorageClassInput, u32, SpvBuiltInLocalInvocationIndex, "local_invocation_index");
    uint32_t thread = gg_spirv_load(s, u32, invocation);
    uint32_t zero = gg_spirv_const(s, 0), step = gg_spirv_const(s, SCAN_THREADS);
    uint32_t last = gg_spirv_const(s, SCAN_THREADS - 1), record_words = gg_spirv_const(s, RECORD_WORDS);
    uint32_t tasks = gg_shader_push(&h, GG_PUSH_TASKS);
    uint32_t carry = gg_spirv_local(s, u32, "carry"); /* the same in every invocation */
    gg_spirv_store(s, carry, zero);

    struct gg_spirv_for chunks;
    uint32_t chunk = gg_spirv_begin_for(s, &chunks, zero, tasks, step);
    uint32_t task = gg_spirv_add(s, chunk, thread);
    uint32_t here = gg_spirv_less(s, task, tasks);
    uint32_t base = gg_spirv_mul(s, gg_spirv_select(s, here, task, zero), record_words);
    uint32_t x = load_member(&h, GG_LAYOUT_BUFFER_TASK_RECORDS, base, RECORD_WORD(groups));
    uint32_t y = load_member(&h, GG_LAYOUT_BUFFER_TASK_RECORDS, base, RECORD_WORD(groups) + 1);
    uint32_t z = load_member(&h, GG_LAYOUT_BUFFER_TASK_RECORDS, base, RECORD_WORD(groups) + 2);
    uint32_t xy = gg_spirv_mul(s, x, y);
    uint32_t xyz = gg_spirv_mul(s, xy, z);
    uint32_t count = gg_spirv_select(s, here, xyz, zero);
    uint32_t inclusive = scan_workgroup(&h, sums, thread, count);
    uint32_t before = gg_spirv_load(s, u32, carry);
    struct gg_spirv_if stored;
    gg_spirv_begin_if(s, &stored, here);
    uint32_t exclusive = gg_spirv_op(s, SpvOpISub, u32, 2, inclusive, count);
    store_record(&h, base, RECORD_WORD(start), gg_spirv_add(s, before, exclusive));
    gg_spirv_end_if(s, &stored);
    uint32_t chunk_total = gg_spirv_load(s, u32, gg_shader_element(&h, sums, last));
    gg_spirv_store(s, carry, gg_spirv_add(s, before, chunk_total));
    gg_spirv_workgroup_barrier(s); /* the next chunk overwrites the sums */
    gg_spirv_end_for(s, &chunks);

    struct gg_spirv_if first;
    uint32_t is_first = gg_spirv_op(s, SpvOpIEqual, boolean, 2, thread, zero);
    gg_spirv_begin_if(s, &first, is_first);
    uint32_t total = gg_spirv_load(s, u32, carry);
    uint32_t end = gg_spirv_mul(s, tasks, record_words);
    store_record(&h, end, RECORD_WORD(start), total);
    store_dispatch(&h, total);
    gg_spirv_end_if(s, &first);
    return gg_spirv_finish(s, SpvExecutionModelGLCompute, words, word_count, message);
}

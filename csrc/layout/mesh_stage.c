/* SPDX-License-Identifier: MIT */
/* The frame of a mesh stage: declarations, the workgroup's number, and the program between them and the epilogue. */
#include "layout_internal.h"

static uint32_t workgroup_array(struct gg_spirv *s, uint32_t length, const char *name)
{
    uint32_t array = gg_spirv_array(s, gg_spirv_u32(s), length);
    return gg_spirv_global(s, SpvStorageClassWorkgroup, array, name);
}

static void declare_stage_buffer(struct gg_mesh_stage *m)
{
    struct gg_spirv *s = &m->h.s;
    const struct gg_mesh_shape *shape = &m->shape;
    m->counts = workgroup_array(s, 2, "stage_counts");
    m->vertices = workgroup_array(s, shape->max_vertices * shape->vertex_words, "stage_vertices");
    m->indices = workgroup_array(s, (shape->max_primitives * m->plan.corners + 3) / 4, "stage_indices");
    if (shape->primitive_words)
        m->primitives = workgroup_array(s, shape->max_primitives * shape->primitive_words, "stage_primitives");
    m->slot = gg_spirv_global(s, SpvStorageClassWorkgroup, gg_spirv_u32(s), "first_slot");
    m->used = gg_spirv_global(s, SpvStorageClassWorkgroup, gg_spirv_u32(s), "used_vertices");
}

/* number = push.first + WorkGroupID.x + WorkGroupID.y * push.row */
static uint32_t workgroup_number(struct gg_shader *h)
{
    struct gg_spirv *s = &h->s;
    uint32_t u32 = gg_spirv_u32(s), vec3 = gg_spirv_vector(s, u32, 3);
    uint32_t variable = gg_spirv_builtin(s, SpvStorageClassInput, vec3, SpvBuiltInWorkgroupId, "workgroup_id");
    uint32_t id = gg_spirv_load(s, vec3, variable);
    uint32_t x = gg_spirv_extract(s, u32, id, 0), y = gg_spirv_extract(s, u32, id, 1);
    uint32_t first = gg_shader_push(h, GG_PUSH_FIRST_WORKGROUP), row = gg_shader_push(h, GG_PUSH_ROW);
    uint32_t rows = gg_spirv_mul(s, y, row);
    uint32_t in_row = gg_spirv_add(s, first, x);
    return gg_spirv_add(s, in_row, rows);
}

int32_t gg_mesh_stage_emit(const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                           gg_mesh_program *program, void *user, uint32_t **words, uint64_t *word_count, char **message)
{
    struct gg_mesh_stage m = {.options = *options};
    int32_t result = gg_layout_check_shape(shape, &m.shape, message);
    if (!result)
        result = gg_layout_plan(&m.shape, options, &m.plan, message);
    if (result)
        return result;

    struct gg_spirv *s = &m.h.s;
    gg_spirv_init(s);
    gg_spirv_name(s, s->entry, "main");
    gg_spirv_local_size(s, m.shape.threads, 1, 1);
    declare_stage_buffer(&m);
    uint32_t u32 = gg_spirv_u32(s);
    uint32_t invocation =
        gg_spirv_builtin(s, SpvStorageClassInput, u32, SpvBuiltInLocalInvocationIndex, "local_invocation_index");
    m.thread = gg_spirv_load(s, u32, invocation);
    m.threads = gg_spirv_const(s, m.shape.threads);
    m.workgroup = workgroup_number(&m.h);
    uint32_t workgroups = m.shape.task ? gg_shader_task_total(&m.h) : gg_shader_push(&m.h, GG_PUSH_WORKGROUPS);

    /* A count above what one dimension takes is dispatched as rows: the surplus of the last row does nothing. */
    struct gg_spirv_if in_range;
    uint32_t inside = gg_spirv_less(s, m.workgroup, workgroups);
    gg_spirv_begin_if(s, &in_range, inside);
    program(&m, user);
    gg_mesh_epilogue(&m);
    gg_spirv_end_if(s, &in_range);
    return gg_spirv_finish(s, SpvExecutionModelGLCompute, words, word_count, message);
}

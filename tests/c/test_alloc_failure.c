/* SPDX-License-Identifier: MIT */
/* The layouts and the SPIR-V builder without memory. */
#include <guestgpu/layout.h>

#include "alloc_failure.h"
#include "spirv/spirv_builder.h"

static const struct gg_mesh_shape shape = {
    .topology = GG_TOPOLOGY_POINTS,
    .max_vertices = 8,
    .max_primitives = 4,
    .vertex_words = 6,
    .primitive_words = 2,
    .task = 1,
    .output_count = 3,
    .outputs = {{GG_OUTPUT_SMOOTH, 0, 4, 2}, {GG_OUTPUT_FLAT, 1, 6, 2}, {GG_OUTPUT_POINT_SIZE, 0, 4, 1}},
};
static const struct gg_mesh_shape triangles = {.max_vertices = 8, .max_primitives = 4, .vertex_words = 4};
static const struct gg_layout_options indexed = {.layout = GG_LAYOUT_INDEXED, .runtime_fit = 1, .census = 1};

static const uint32_t vertices[8 * 6] = {1}, indices[1] = {0}, primitives[4 * 2] = {2};
static const struct gg_meshlet meshlet = {.vertex_count = 8, .primitive_count = 4};
static const struct gg_mesh_task task = {.groups = {1, 1, 1}};
static const struct gg_mesh_batch batch = {.meshlets = &meshlet,
                                           .vertices = vertices,
                                           .indices = indices,
                                           .primitives = primitives,
                                           .tasks = &task,
                                           .meshlet_count = 1,
                                           .vertex_count = 8,
                                           .index_words = 1,
                                           .primitive_count = 4,
                                           .task_count = 1};

static int32_t emit_mesh(struct output *o, char **m)
{
    return gg_layout_emit_mesh(&shape, &indexed, &o->words, &o->count, m);
}

static int32_t emit_mesh_indexed(struct output *o, char **m)
{
    return gg_layout_emit_mesh(&triangles, &indexed, &o->words, &o->count, m);
}

static int32_t emit_vertex(struct output *o, char **m)
{
    return gg_layout_emit_vertex(&shape, &indexed, &o->words, &o->count, m);
}

static int32_t emit_task(struct output *o, char **m) { return gg_layout_emit_task(&o->words, &o->count, m); }
static int32_t emit_scan(struct output *o, char **m) { return gg_layout_emit_scan(&o->words, &o->count, m); }

/* More of everything than the first allocation of a section holds. */
static int32_t build_much(struct output *o, char **m)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    uint32_t sum = gg_spirv_const(&s, 0);
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t type = gg_spirv_array(&s, gg_spirv_u32(&s), i + 1);
        uint32_t variable = gg_spirv_global(&s, SpvStorageClassPrivate, type, "a variable with a long name");
        gg_spirv_decorate(&s, variable, SpvDecorationLocation, 1, i);
        gg_spirv_local(&s, type, "local");
        gg_spirv_local_size(&s, i + 1, 1, 1);
        struct gg_spirv_if block;
        gg_spirv_begin_if(&s, &block, sum);
        struct gg_spirv_for loop;
        gg_spirv_begin_for(&s, &loop, sum, sum, sum);
        gg_spirv_end_for(&s, &loop);
        gg_spirv_end_if(&s, &block);
    }
    return gg_spirv_finish(&s, SpvExecutionModelGLCompute, &o->words, &o->count, m);
}

static int32_t model_mesh(struct output *o, char **m)
{
    const struct gg_layout_options options = {.area_bytes = sizeof o->area};
    return gg_layout_model_mesh(&shape, &options, &batch, NULL, 0, o->area, COUNT(o->area), m);
}

static int32_t model_primitives(struct output *o, char **m)
{
    return gg_layout_model_primitives(&shape, &batch, NULL, 0, o->area, NULL, 8, &o->count, m);
}

static int32_t model_workgroups(struct output *o, char **m)
{
    return gg_layout_model_workgroups(&shape, &batch, &o->count, m);
}

static const struct call calls[] = {
    {"emit mesh", emit_mesh, 10},
    {"emit mesh, indexed", emit_mesh_indexed, 10},
    {"emit vertex", emit_vertex, 9},
    {"emit task", emit_task, 9},
    {"emit scan", emit_scan, 9},
    {"build much", build_much, 20},
    {"model mesh", model_mesh, 1},
    {"model primitives", model_primitives, 1},
    {"model workgroups", model_workgroups, 1},
};

static void test_arguments_without_memory(void)
{
    struct gg_mesh_shape wrong = shape;
    struct gg_layout_plan plan;
    char *message = "stale";
    wrong.task = 2;
    asked = 0;
    fail_at = 0;
    int32_t result = gg_layout_plan(&wrong, &indexed, &plan, &message);
    fail_at = UINT_MAX;
    CHECK(result == GG_ERR_ARGUMENT && !message, "%s with a message", gg_result_string(result));
}

int main(void)
{
    for (size_t i = 0; i < COUNT(calls); i++)
        run_out_of_memory(&calls[i]);
    test_arguments_without_memory();
    return test_result();
}

/* SPDX-License-Identifier: MIT */
#ifndef GG_TEST_GPU_FIXTURE_H
#define GG_TEST_GPU_FIXTURE_H

/*
 * What the device tests share: the device (GUESTGPU_DEVICE, a selector; lavapipe when it is unset), with
 * validation on, and buffers, targets and pipelines in the tables that commands name.
 */
#include <guestgpu/gpu.h>

#include "expect.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SIZE         32 /* of the targets */
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const char *const kernel_source = "#version 460\n"
                                         "layout(local_size_x = 64) in;\n"
                                         "layout(set = 0, binding = 0) buffer A { uint a[]; };\n"
                                         "layout(set = 0, binding = 1) readonly buffer B { uint b[]; };\n"
                                         "layout(push_constant) uniform P { uint factor, added; };\n"
                                         "void main() { uint i = gl_GlobalInvocationID.x;\n"
                                         "  a[i] = b[i] * factor + added; }\n";

/* The corner's position comes from the storage buffer, two floats a vertex. */
static const char *const vertex_source =
    "#version 460\n"
    "layout(set = 0, binding = 0) readonly buffer A { vec2 position[]; };\n"
    "layout(location = 0) flat out uint corner;\n"
    "void main() { gl_Position = vec4(position[gl_VertexIndex], 0.5, 1.0); corner = gl_VertexIndex; }\n";

static const char *const fragment_source = "#version 460\n"
                                           "layout(location = 0) flat in uint corner;\n"
                                           "layout(location = 0) out vec4 color;\n"
                                           "void main() { color = vec4(float(corner), 1.0, gl_FragCoord.xy); }\n";

static const char *const mesh_source =
    "#version 460\n"
    "#extension GL_EXT_mesh_shader : require\n"
    "layout(local_size_x = 3) in;\n"
    "layout(triangles, max_vertices = 3, max_primitives = 1) out;\n"
    "layout(set = 0, binding = 0) readonly buffer A { vec2 position[]; };\n"
    "layout(location = 0) flat out uint corner[];\n"
    "void main() { uint i = gl_LocalInvocationIndex; SetMeshOutputsEXT(3, 1);\n"
    "  gl_MeshVerticesEXT[i].gl_Position = vec4(position[i], 0.5, 1.0); corner[i] = i;\n"
    "  if (i == 0) gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2); }\n";

static const char *const task_source = "#version 460\n"
                                       "#extension GL_EXT_mesh_shader : require\n"
                                       "layout(local_size_x = 1) in;\n"
                                       "void main() { EmitMeshTasksEXT(1, 1, 1); }\n";

enum {
    DATA,
    INPUT,
    ARGUMENTS,
    INDICES,
    POSITIONS,
    SMALL,
    BUFFERS
};
enum {
    COMPUTE,
    VERTEX,
    LAST_VERTEX,
    DEPTH,
    MESH,
    TASK,
    PIPELINES
};
enum {
    COLOR,
    COLOR_DEPTH,
    TARGETS
};

struct fixture {
    struct gg_device_info info;
    struct gg_device *device;
    struct gg_buffer *buffers[BUFFERS + 1]; /* one more that stays NULL */
    struct gg_pipeline *pipelines[PIPELINES];
    struct gg_target *targets[TARGETS];
};

static const uint64_t buffer_sizes[BUFFERS] = {40u << 20, 4096, 4096, 256, 64, 16};

static inline struct gg_module compile(const char *source, uint32_t stage)
{
    uint32_t *words = NULL;
    struct gg_module module = {.stage = stage};
    char *message;
    int32_t result = gg_glsl_compile(source, "test", stage, NULL, NULL, &words, &module.word_count, &message);
    expect("compile", result, GG_OK, &message, "");
    module.words = words;
    return module;
}

static inline void free_module(const struct gg_module *module) { gg_free((void *)module->words); }

static inline void create_pipeline(struct fixture *f, unsigned slot, const struct gg_pipeline_params *params)
{
    char *message;
    int32_t result = gg_pipeline_create(f->device, params, &f->pipelines[slot], &message);
    expect("pipeline", result, GG_OK, &message, "");
}

/* LAST_VERTEX, MESH and TASK stay NULL where the device cannot. */
static inline void create_pipelines(struct fixture *f)
{
    const struct gg_module compute = compile(kernel_source, GG_STAGE_COMPUTE);
    const struct gg_module vertex = compile(vertex_source, GG_STAGE_VERTEX);
    const struct gg_module fragment = compile(fragment_source, GG_STAGE_FRAGMENT);
    const struct gg_module mesh = compile(mesh_source, GG_STAGE_MESH);
    const struct gg_module task = compile(task_source, GG_STAGE_TASK);
    const struct gg_pipeline_params kernel = {
        .modules = &compute, .module_count = 1, .storage_buffers = 2, .push_words = 2};
    create_pipeline(f, COMPUTE, &kernel);
    struct gg_module graphics[3] = {vertex, fragment, task};
    struct gg_pipeline_params draw = {.modules = graphics, .module_count = 2, .storage_buffers = 1, .colors = 1};
    create_pipeline(f, VERTEX, &draw);
    draw.depth = 1;
    create_pipeline(f, DEPTH, &draw);
    draw.depth = 0;
    draw.provoking_last = 1;
    if (f->info.provoking_vertex_last)
        create_pipeline(f, LAST_VERTEX, &draw);
    draw.provoking_last = 0;
    graphics[0] = mesh;
    if (f->info.mesh_shader)
        create_pipeline(f, MESH, &draw);
    draw.module_count = 3;
    if (f->info.task_shader)
        create_pipeline(f, TASK, &draw);
    free_module(&task);
    free_module(&mesh);
    free_module(&fragment);
    free_module(&vertex);
    free_module(&compute);
}

static inline struct gg_work work_of(struct fixture *f, const struct gg_command *commands, uint32_t count)
{
    return (struct gg_work){
        .commands = commands,
        .command_count = count,
        .buffers = f->buffers,
        .buffer_count = BUFFERS + 1,
        .pipelines = f->pipelines,
        .pipeline_count = PIPELINES,
        .targets = f->targets,
        .target_count = TARGETS,
    };
}

static inline void submit(struct fixture *f, const char *what, const struct gg_command *commands, uint32_t count)
{
    struct gg_work work = work_of(f, commands, count);
    uint64_t host_ns = 0;
    char *message;
    int32_t result = gg_device_submit(f->device, &work, NULL, NULL, &host_ns, &message);
    expect(what, result, GG_OK, &message, "");
    CHECK(host_ns > 0, "%s: took no time", what);
}

/* Finds the device, without opening it; false when there is none. */
static inline bool list_device(struct fixture *f)
{
    struct gg_device_info infos[8];
    uint32_t count = 0, index = 0;
    char *message;
    int32_t result = gg_device_list(infos, COUNT(infos), &count, &message);
    const char *selector = getenv("GUESTGPU_DEVICE");
    if (!result)
        result = gg_device_select(infos, count < COUNT(infos) ? count : COUNT(infos), selector ? selector : "lavapipe",
                                  &index, &message);
    if (result) {
        fprintf(stderr, "no device: %s\n", message ? message : gg_result_string(result));
        gg_free(message);
        return false;
    }
    f->info = infos[index];
    fprintf(stderr, "device %u: %s, %s %s\n", index, f->info.name, f->info.driver_name, f->info.driver_info);
    CHECK(f->info.usable && f->info.index == index && f->info.max_storage_range && f->info.subgroup_size &&
              f->info.device_memory && f->info.max_workgroup_count[2] && f->info.api_version >= (1u << 22 | 3u << 12),
          "the device's description has holes");
    CHECK(f->info.mesh_shader == (f->info.max_mesh_vertices != 0), "mesh limits");
    return true;
}

static inline void open_fixture(struct fixture *f)
{
    /* The leak checker can suppress by name only what is still mapped when the program ends. */
    dlopen("libVkLayer_khronos_validation.so", RTLD_LAZY | RTLD_NODELETE);
    char *message;
    int32_t result =
        gg_device_create(&(struct gg_device_params){.index = f->info.index, .validation = 1}, &f->device, &message);
    expect_ok("device", result, &message);
    if (result)
        exit(test_result());
    for (unsigned i = 0; i < BUFFERS; i++) {
        const uint32_t kind = i == DATA || i == POSITIONS ? GG_MEMORY_DEVICE : GG_MEMORY_HOST;
        expect_ok("buffer", gg_buffer_create(f->device, buffer_sizes[i], kind, &f->buffers[i], &message), &message);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        result = gg_target_create(f->device, SIZE, SIZE, 1, i == COLOR_DEPTH, &f->targets[i], &message);
        expect_ok("target", result, &message);
    }
    create_pipelines(f);
}

static inline void close_fixture(struct fixture *f)
{
    for (unsigned i = 0; i < PIPELINES; i++)
        gg_pipeline_destroy(f->pipelines[i]);
    for (unsigned i = 0; i < TARGETS; i++)
        gg_target_destroy(f->targets[i]);
    for (unsigned i = 0; i <= BUFFERS; i++)
        gg_buffer_destroy(f->buffers[i]);
    gg_device_destroy(f->device);
}

#endif

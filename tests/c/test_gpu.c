/* SPDX-License-Identifier: MIT */
/* gpu.h on a device: what work must do. Exit 77 without a device unless GUESTGPU_REQUIRE_DEVICE is set. */
#include "gpu_fixture.h"

static void write_buffer(struct fixture *f, unsigned buffer, uint64_t offset, const void *data, uint64_t size)
{
    char *message;
    int32_t result = gg_buffer_write(f->buffers[buffer], offset, data, size, &message);
    expect("write", result, GG_OK, &message, "");
}

static void read_buffer(struct fixture *f, unsigned buffer, uint64_t offset, void *data, uint64_t size)
{
    char *message;
    int32_t result = gg_buffer_read(f->buffers[buffer], offset, data, size, &message);
    expect("read", result, GG_OK, &message, "");
}

static void test_buffers(struct fixture *f)
{
    /* More than one staging chunk, at offsets that are multiples of nothing. */
    const size_t size = (33u << 20) + 5;
    uint8_t *out = malloc(size), *in = malloc(size);
    CHECK(out && in, "no memory");
    if (!out || !in)
        goto finish;
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(i * 2654435761u >> 13);
    write_buffer(f, DATA, 3, out, size);
    memset(in, 0, size);
    read_buffer(f, DATA, 3, in, size);
    CHECK(!memcmp(in, out, size), "the bytes changed on their way");
    char *message;
    expect_ok("nothing", gg_buffer_read(f->buffers[SMALL], 16, NULL, 0, &message), &message);
finish:
    free(in);
    free(out);
}

static void test_compute(struct fixture *f)
{
    uint32_t input[128], output[128] = {0};
    for (uint32_t i = 0; i < 128; i++)
        input[i] = i * i;
    write_buffer(f, INPUT, 0, input, sizeof input);
    const uint32_t groups[4] = {0, 1, 1, 1};
    write_buffer(f, ARGUMENTS, 0, groups, sizeof groups);
    const struct gg_command commands[] = {
        {.kind = GG_COMMAND_FILL, .buffer = DATA, .size = 1024, .value = {0xabcdef01}},
        {.kind = GG_COMMAND_BARRIER},
        {.kind = GG_COMMAND_BIND, .pipeline = COMPUTE, .bindings = 2, .binding = {DATA, INPUT}},
        {.kind = GG_COMMAND_PUSH, .bindings = 2, .value = {3, 7}},
        {.kind = GG_COMMAND_DISPATCH_INDIRECT, .buffer = ARGUMENTS, .offset = 4},
        {.kind = GG_COMMAND_BARRIER},
        {.kind = GG_COMMAND_COPY, .buffer = DATA, .other = DATA, .other_offset = 512, .size = 260},
    };
    submit(f, "compute", commands, COUNT(commands));
    read_buffer(f, DATA, 0, output, sizeof output);
    for (uint32_t i = 0; i < 64; i++)
        CHECK(output[i] == input[i] * 3 + 7, "word %u: %u", i, output[i]);
    for (uint32_t i = 64; i < 128; i++)
        CHECK(output[i] == 0xabcdef01, "word %u: %x", i, output[i]);
    read_buffer(f, DATA, 512, output, sizeof output);
    CHECK(output[63] == input[63] * 3 + 7 && output[64] == 0xabcdef01, "copy: %u %x", output[63], output[64]);

    const struct gg_command direct[] = {
        {.kind = GG_COMMAND_BIND, .pipeline = COMPUTE, .bindings = 2, .binding = {DATA, INPUT}},
        {.kind = GG_COMMAND_PUSH, .bindings = 2, .value = {1, 1}},
        {.kind = GG_COMMAND_DISPATCH, .value = {2, 1, 1}},
    };
    submit(f, "dispatch", direct, COUNT(direct));
    read_buffer(f, DATA, 0, output, sizeof output);
    CHECK(output[127] == input[127] + 1, "word 127: %u", output[127]);
}

/* Every pixel of the lower left half is the triangle's, with `corner`; the others are the clear colour. */
static void check_triangle(struct fixture *f, const char *what, unsigned target, float corner)
{
    static float pixels[SIZE * SIZE * 4];
    memset(pixels, 0, sizeof pixels);
    char *message;
    int32_t result = gg_target_read(f->targets[target], 0, pixels, &message);
    expect(what, result, GG_OK, &message, "");
    unsigned wrong = 0;
    for (unsigned y = 0; y < SIZE; y++)
        for (unsigned x = 0; x < SIZE; x++) {
            const float *p = pixels + (y * SIZE + x) * 4;
            const float fx = (float)x + 0.5f, fy = (float)y + 0.5f;
            if (x < y)
                wrong += p[0] != corner || p[1] != 1.0f || p[2] != fx || p[3] != fy;
            else if (x > y)
                wrong += p[0] != 0.25f || p[1] != 0.0f || p[2] != 0.0f || p[3] != 1.0f;
        }
    CHECK(wrong == 0, "%s: %u wrong pixels; the one at (2, 20) is %g %g %g %g", what, wrong,
          (double)pixels[(20 * SIZE + 2) * 4], (double)pixels[(20 * SIZE + 2) * 4 + 1],
          (double)pixels[(20 * SIZE + 2) * 4 + 2], (double)pixels[(20 * SIZE + 2) * 4 + 3]);
}

#define CLEAR {0x3e800000, 0, 0, 0x3f800000} /* 0.25, 0, 0, 1 */

static void draw(struct fixture *f, const char *what, unsigned pipeline, unsigned target, float corner,
                 const struct gg_command *command)
{
    const struct gg_command clear[] = {
        {.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = target},
        {.kind = GG_COMMAND_END_RENDER},
    };
    submit(f, "clear", clear, COUNT(clear)); /* so that an earlier picture cannot pass for this one */
    const struct gg_command commands[] = {
        {.kind = GG_COMMAND_BIND_INDEX, .buffer = INDICES, .offset = 4, .value = {2}},
        {.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = target, .value = CLEAR},
        {.kind = GG_COMMAND_BIND, .pipeline = pipeline, .bindings = 1, .binding = {POSITIONS}},
        *command,
        {.kind = GG_COMMAND_END_RENDER},
    };
    submit(f, what, commands, COUNT(commands));
    check_triangle(f, what, target, corner);
}

static void test_draws(struct fixture *f)
{
    /* Vertices 1 to 3 are the lower left half of the target; vertex 0 is far from them. */
    const float positions[] = {9, 9, -1, -1, -1, 1, 1, 1};
    const uint16_t indices[] = {0, 0, 2, 3, 1}; /* from offset 4 on */
    const uint32_t arguments[] = {
        0, 0,                   /* counts: the draws below, and none */
        3, 1, 1, 0,             /* byte 8: VkDrawIndirectCommand */
        0, 0, 0, 0,             /* byte 24: an empty one, at the stride of 16 */
        3, 1, 0, 0, 0,          /* byte 40: VkDrawIndexedIndirectCommand */
        0, 0, 0, 0, 0, 2, 0, 0, /* byte 60: an empty one; byte 80: a count of 2 */
    };
    write_buffer(f, POSITIONS, 0, positions, sizeof positions);
    write_buffer(f, INDICES, 0, indices, sizeof indices);
    write_buffer(f, ARGUMENTS, 0, arguments, sizeof arguments);
    draw(f, "draw", VERTEX, COLOR, 1, &(struct gg_command){.kind = GG_COMMAND_DRAW, .value = {3, 1, 1, 0}});
    if (f->info.provoking_vertex_last)
        draw(f, "last", LAST_VERTEX, COLOR, 3, &(struct gg_command){.kind = GG_COMMAND_DRAW, .value = {3, 1, 1, 0}});
    draw(f, "depth", DEPTH, COLOR_DEPTH, 1, &(struct gg_command){.kind = GG_COMMAND_DRAW, .value = {3, 1, 1, 0}});
    draw(f, "indexed", VERTEX, COLOR, 2, &(struct gg_command){.kind = GG_COMMAND_DRAW_INDEXED, .value = {3, 1}});
    draw(f, "indexed offset", VERTEX, COLOR, 1,
         &(struct gg_command){.kind = GG_COMMAND_DRAW_INDEXED, .value = {3, 1, 0, UINT32_MAX, 0}, .reserved = 0});
    struct gg_command c = {.kind = GG_COMMAND_DRAW_INDIRECT, .buffer = ARGUMENTS, .offset = 8, .value = {1}};
    draw(f, "indirect", VERTEX, COLOR, 1, &c);
    c.value[0] = 2;
    c.value[1] = 16;
    draw(f, "two indirect", VERTEX, COLOR, 1, &c);
    c = (struct gg_command){.kind = GG_COMMAND_DRAW_INDEXED_INDIRECT, .buffer = ARGUMENTS, .offset = 40, .value = {1}};
    draw(f, "indexed indirect", VERTEX, COLOR, 2, &c);
    if (!f->info.draw_indirect_count)
        return;
    c = (struct gg_command){.kind = GG_COMMAND_DRAW_INDIRECT_COUNT,
                            .buffer = ARGUMENTS,
                            .offset = 8,
                            .other = ARGUMENTS,
                            .other_offset = 80,
                            .value = {2, 16}};
    draw(f, "indirect count", VERTEX, COLOR, 1, &c);
    c.kind = GG_COMMAND_DRAW_INDEXED_INDIRECT_COUNT;
    c.offset = 40;
    c.value[1] = 20;
    draw(f, "indexed indirect count", VERTEX, COLOR, 2, &c);
}

static void test_mesh(struct fixture *f)
{
    if (!f->info.mesh_shader)
        return;
    const float positions[] = {-1, -1, -1, 1, 1, 1};
    write_buffer(f, POSITIONS, 0, positions, sizeof positions);
    const struct gg_command c = {.kind = GG_COMMAND_DRAW_MESH, .value = {1, 1, 1}};
    draw(f, "mesh", MESH, COLOR, 0, &c);
    if (f->info.task_shader)
        draw(f, "task", TASK, COLOR, 0, &c);
}

static void test_queries(struct fixture *f)
{
    const float positions[] = {9, 9, -1, -1, -1, 1, 1, 1};
    write_buffer(f, POSITIONS, 0, positions, sizeof positions);
    const struct gg_command commands[] = {
        {.kind = GG_COMMAND_TIMESTAMP, .value = {2}},
        {.kind = GG_COMMAND_BIND, .pipeline = COMPUTE, .bindings = 3, .binding = {DATA, INPUT, SMALL}},
        {.kind = GG_COMMAND_PUSH, .bindings = 2, .value = {1, 1}},
        {.kind = GG_COMMAND_BEGIN_STATISTICS, .value = {1}},
        {.kind = GG_COMMAND_DISPATCH, .value = {2, 1, 1}},
        {.kind = GG_COMMAND_END_STATISTICS, .value = {1}},
        {.kind = GG_COMMAND_BIND, .pipeline = VERTEX, .bindings = 1, .binding = {POSITIONS}},
        {.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = COLOR},
        {.kind = GG_COMMAND_BEGIN_STATISTICS, .value = {3}},
        {.kind = GG_COMMAND_DRAW, .value = {3, 1, 1, 0}},
        {.kind = GG_COMMAND_END_STATISTICS, .value = {3}},
        {.kind = GG_COMMAND_END_RENDER},
        {.kind = GG_COMMAND_TIMESTAMP, .value = {0}},
    };
    struct gg_work work = work_of(f, commands, COUNT(commands));
    work.timestamp_count = 4;
    work.statistics_count = 5;
    uint64_t ticks[4] = {9, 9, 9, 9};
    struct gg_statistics statistics[5];
    memset(statistics, 0xee, sizeof statistics);
    char *message;
    int32_t result = gg_device_submit(f->device, &work, ticks, statistics, NULL, &message);
    if (!f->info.timestamp_bits || !f->info.pipeline_statistics) {
        expect("queries", result, GG_ERR_UNSUPPORTED, &message, "");
        return;
    }
    expect("queries", result, GG_OK, &message, "");
    CHECK(ticks[2] && ticks[0] >= ticks[2], "ticks %llu %llu", (unsigned long long)ticks[2],
          (unsigned long long)ticks[0]);
    CHECK(!ticks[1] && !ticks[3], "an unused slot is not 0");
    CHECK(statistics[1].compute_invocations == 128 && !statistics[1].vertex_invocations, "compute: %llu",
          (unsigned long long)statistics[1].compute_invocations);
    const struct gg_statistics *s = &statistics[3];
    CHECK(s->input_vertices == 3 && s->input_primitives == 1 && s->vertex_invocations >= 3 &&
              s->clipping_invocations == 1 && s->clipping_primitives >= 1 &&
              s->fragment_invocations >= SIZE * (SIZE - 1) / 2 && !s->compute_invocations,
          "draw: %llu vertices, %llu primitives, %llu fragments", (unsigned long long)s->input_vertices,
          (unsigned long long)s->input_primitives, (unsigned long long)s->fragment_invocations);
    const struct gg_statistics none = {0};
    CHECK(!memcmp(&statistics[0], &none, sizeof none), "an unused slot is not 0");

    if (!f->info.mesh_shader)
        return;
    struct gg_command mesh[] = {
        {.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = COLOR},
        {.kind = GG_COMMAND_BEGIN_STATISTICS, .value = {1}},
        {.kind = GG_COMMAND_BIND, .pipeline = MESH, .bindings = 1, .binding = {POSITIONS}},
        {.kind = GG_COMMAND_DRAW_MESH, .value = {2, 1, 1}},
        {.kind = GG_COMMAND_END_STATISTICS, .value = {1}},
        {.kind = GG_COMMAND_END_RENDER},
    };
    work = work_of(f, mesh, COUNT(mesh));
    work.statistics_count = 2;
    result = gg_device_submit(f->device, &work, NULL, statistics, NULL, &message);
    expect("mesh statistics", result, GG_OK, &message, "");
    CHECK(!statistics[1].vertex_invocations && !statistics[1].input_vertices && statistics[1].fragment_invocations,
          "mesh: %llu vertices, %llu fragments", (unsigned long long)statistics[1].vertex_invocations,
          (unsigned long long)statistics[1].fragment_invocations);
}

static void test_targets(struct fixture *f)
{
    char *message;
    /* More rows than one staging buffer holds, and four colours. */
    struct gg_target *const kept = f->targets[COLOR];
    expect("wide", gg_target_create(f->device, 1500, 1100, 4, 1, &f->targets[COLOR], &message), GG_OK, &message, "");
    const struct gg_command commands[] = {{.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = COLOR, .value = CLEAR},
                                          {.kind = GG_COMMAND_END_RENDER}};
    submit(f, "wide", commands, COUNT(commands));
    const size_t floats = 1500u * 1100u * 4u;
    float *wide = calloc(floats, sizeof *wide);
    expect("wide", gg_target_read(f->targets[COLOR], 3, wide, &message), GG_OK, &message, "");
    size_t wrong = 0;
    for (size_t i = 0; wide && i < floats; i += 4)
        wrong += wide[i] != 0.25f || wide[i + 3] != 1.0f;
    CHECK(!wrong, "%zu pixels are not cleared", wrong);
    free(wide);
    gg_target_destroy(f->targets[COLOR]);
    f->targets[COLOR] = kept;
}

static void test_executables(struct fixture *f)
{
    const struct gg_module module = compile(kernel_source, GG_STAGE_COMPUTE);
    const struct gg_pipeline_params kernel = {
        .modules = &module, .module_count = 1, .storage_buffers = 2, .push_words = 2};
    char *message, *text = NULL;
    int32_t result = gg_pipeline_executables(f->device, &kernel, &text, &message);
    if (f->info.executable_properties) {
        expect("executables", result, GG_OK, &message, "");
        CHECK(text && strchr(text, '\t') && text[strlen(text) - 1] == '\n', "executables: %s", text ? text : "NULL");
    } else {
        expect("executables", result, GG_ERR_UNSUPPORTED, &message, "VK_KHR_pipeline_executable_properties");
    }
    gg_free(text);
    free_module(&module);
}

int main(void)
{
    struct fixture f = {0};
    if (!list_device(&f))
        return getenv("GUESTGPU_REQUIRE_DEVICE") ? 1 : TEST_SKIP;
    open_fixture(&f);
    test_targets(&f);
    test_buffers(&f);
    test_compute(&f);
    test_draws(&f);
    test_mesh(&f);
    test_queries(&f);
    test_executables(&f);
    close_fixture(&f);
    return test_result();
}

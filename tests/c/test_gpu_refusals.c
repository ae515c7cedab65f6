/* SPDX-License-Identifier: MIT */
/* gpu.h on a device: what must be refused, and how. Exit 77 without a device unless GUESTGPU_REQUIRE_DEVICE is set. */
#include "gpu_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static void expect_pipeline(struct fixture *f, const struct gg_pipeline_params *params, int32_t result,
                            const char *text)
{
    struct gg_pipeline *pipeline = NULL;
    char *message;
    int32_t got = gg_pipeline_create(f->device, params, &pipeline, &message);
    expect(text, got, result, &message, text);
    gg_pipeline_destroy(pipeline);
}

static void test_pipelines(struct fixture *f)
{
    const struct gg_module compute = compile(kernel_source, GG_STAGE_COMPUTE);
    struct gg_module graphics[2] = {compile(vertex_source, GG_STAGE_VERTEX),
                                    compile(fragment_source, GG_STAGE_FRAGMENT)};
    const struct gg_pipeline_params kernel = {
        .modules = &compute, .module_count = 1, .storage_buffers = 2, .push_words = 2};
    struct gg_pipeline_params draw = {.modules = graphics, .module_count = 2, .storage_buffers = 1, .colors = 1};
    struct gg_pipeline_params wrong = kernel;
    wrong.storage_buffers = 1;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "binding 1, but the pipeline has 1");
    wrong.storage_buffers = 9;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "9 storage buffers");
    wrong = kernel;
    wrong.push_words = 9;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "9 push words");
    wrong.module_count = 0;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "0 modules");
    wrong = draw;
    wrong.module_count = 1;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "not compute, vertex");
    wrong = draw;
    wrong.topology = 3;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "topology 3");
    wrong = draw;
    wrong.cull = 3;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "cull 3");
    wrong = draw;
    wrong.colors = 5;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "5 colours");

    struct gg_module broken = compute;
    broken.word_count--;
    wrong = kernel;
    wrong.modules = &broken;
    expect_pipeline(f, &wrong, GG_ERR_VALIDATION, "module 0 (compute): spirv-val");
    broken = graphics[0];
    broken.stage = GG_STAGE_COMPUTE;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "no compute entry point");
    broken.stage = 7;
    expect_pipeline(f, &wrong, GG_ERR_ARGUMENT, "stage 7");
    const struct gg_module large =
        compile("#version 460\nlayout(local_size_x = 1024, local_size_y = 64) in;\nvoid main() {}", GG_STAGE_COMPUTE);
    wrong = (struct gg_pipeline_params){.modules = &large, .module_count = 1};
    expect_pipeline(f, &wrong, GG_ERR_LIMIT, "workgroup of 1024 x 64 x 1");
    /* Only the layer sees this one: the module reads more push constants than there are. */
    wrong = kernel;
    wrong.push_words = 1;
    expect_pipeline(f, &wrong, GG_ERR_VALIDATION, "validation layer");

    draw.provoking_last = 1;
    if (!f->info.provoking_vertex_last)
        expect_pipeline(f, &draw, GG_ERR_UNSUPPORTED, "provoking");
    draw.provoking_last = 0;
    free_module(&graphics[0]);
    graphics[0] = compile(mesh_source, GG_STAGE_MESH);
    if (!f->info.mesh_shader)
        expect_pipeline(f, &draw, GG_ERR_UNSUPPORTED, "mesh");
    draw.restart = 1;
    if (f->info.mesh_shader)
        expect_pipeline(f, &draw, GG_ERR_ARGUMENT, "restart with a mesh stage");
    free_module(&large);
    free_module(&graphics[0]);
    free_module(&graphics[1]);
    free_module(&compute);
}

static void test_objects(struct fixture *f)
{
    uint8_t bytes[16] = {0};
    float pixels[4] = {0};
    char *message;
    struct gg_device *d = f->device;
    struct gg_buffer *small = f->buffers[SMALL], *buffer = NULL;
    struct gg_target *color = f->targets[COLOR], *target = NULL;
    expect("past", gg_buffer_write(small, 13, bytes, 4, &message), GG_ERR_ARGUMENT, &message, "13 + 4");
    expect("wrap", gg_buffer_read(small, 4, bytes, UINT64_MAX - 2, &message), GG_ERR_ARGUMENT, &message, "past");
    expect("empty", gg_buffer_create(d, 0, GG_MEMORY_HOST, &buffer, &message), GG_ERR_ARGUMENT, &message, "0");
    expect("kind", gg_buffer_create(d, 4, 2, &buffer, &message), GG_ERR_ARGUMENT, &message, "kind 2");
    expect("huge", gg_buffer_create(d, UINT64_MAX, 0, &buffer, &message), GG_ERR_LIMIT, &message, "18446744");
    CHECK(!buffer, "a buffer was handed out");
    expect("unrendered", gg_target_read(color, 0, pixels, &message), GG_ERR_ARGUMENT, &message, "nothing");
    expect("colour", gg_target_read(color, 1, pixels, &message), GG_ERR_ARGUMENT, &message, "colour 1 of 1");
    expect("0 wide", gg_target_create(d, 0, 4, 1, 0, &target, &message), GG_ERR_ARGUMENT, &message, "0 x 4");
    expect("colours", gg_target_create(d, 4, 4, 5, 0, &target, &message), GG_ERR_ARGUMENT, &message, "5 colours");
    expect("none", gg_target_create(d, 4, 4, 0, 0, &target, &message), GG_ERR_ARGUMENT, &message, "one is needed");
    expect("large", gg_target_create(d, 1u << 30, 4, 1, 0, &target, &message), GG_ERR_LIMIT, &message, "1073741824");
    CHECK(!target, "a target was handed out");
}

/* A sequence that must be refused, with the number of the command and a part of the reason. */
struct refusal {
    const char *text;
    int32_t result;
    struct gg_command commands[5];
};

#define BIND_COMPUTE                                                                                                   \
    {                                                                                                                  \
        .kind = GG_COMMAND_BIND, .pipeline = COMPUTE, .bindings = 2, .binding = { DATA, INPUT }                        \
    }
#define BIND_VERTEX                                                                                                    \
    {                                                                                                                  \
        .kind = GG_COMMAND_BIND, .pipeline = VERTEX, .bindings = 1, .binding = { POSITIONS }                           \
    }
#define PUSH       {.kind = GG_COMMAND_PUSH, .bindings = 2}
#define BEGIN      {.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = COLOR}
#define END        {.kind = GG_COMMAND_END_RENDER}
#define INDEX      {.kind = GG_COMMAND_BIND_INDEX, .buffer = INDICES, .offset = 4, .value = {2}}
#define STATISTICS {.kind = GG_COMMAND_BEGIN_STATISTICS}

static const struct refusal refusals[] = {
    {"command 0 (unknown kind): kind 99", GG_ERR_ARGUMENT, {{.kind = 99}}},
    {"command 1 (BARRIER): reserved is 1", GG_ERR_ARGUMENT, {{.kind = 3}, {.kind = 3, .reserved = 1}}},
    {"(FILL): buffer 100 of", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_FILL, .buffer = 100, .size = 4}}},
    {"(FILL): buffer 6 is NULL", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_FILL, .buffer = BUFFERS, .size = 4}}},
    {"offset 2 is not a multiple of 4", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_FILL, .offset = 2, .size = 4}}},
    {"size 6 is not", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_FILL, .size = 6}}},
    {"size 0 is not", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_FILL}}},
    {"(FILL): offset 8 + 12 bytes is past the end of buffer 5 (16 bytes)",
     GG_ERR_ARGUMENT,
     {{.kind = GG_COMMAND_FILL, .buffer = SMALL, .offset = 8, .size = 12}}},
    {"past the end",
     GG_ERR_ARGUMENT,
     {{.kind = GG_COMMAND_FILL, .buffer = SMALL, .offset = 8, .size = UINT64_MAX - 3}}},
    {"past the end",
     GG_ERR_ARGUMENT,
     {{.kind = GG_COMMAND_FILL, .buffer = SMALL, .offset = UINT64_MAX - 3, .size = 8}}},
    {"(COPY): source and destination overlap",
     GG_ERR_ARGUMENT,
     {{.kind = GG_COMMAND_COPY, .other_offset = 8, .size = 9}}},
    {"(COPY): size 0", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_COPY, .other = INPUT}}},
    {"past the end of buffer 5", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_COPY, .other = SMALL, .size = 17}}},
    {"(BIND): pipeline 44", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BIND, .pipeline = 44}}},
    {"1 bindings; pipeline 0 has 2", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BIND, .bindings = 1}}},
    {"9 bindings", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BIND, .bindings = 9}}},
    {"buffer 77", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BIND, .bindings = 2, .binding = {0, 77}}}},
    {"(PUSH): no pipeline", GG_ERR_ARGUMENT, {PUSH}},
    {"1 words; the bound pipeline has 2", GG_ERR_ARGUMENT, {BIND_COMPUTE, {.kind = GG_COMMAND_PUSH, .bindings = 1}}},
    {"(DISPATCH): no pipeline", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_DISPATCH}}},
    {"the 2 push words", GG_ERR_ARGUMENT, {BIND_COMPUTE, PUSH, BIND_COMPUTE, {.kind = GG_COMMAND_DISPATCH}}},
    {"is vertex + fragment", GG_ERR_ARGUMENT, {BIND_VERTEX, {.kind = GG_COMMAND_DISPATCH}}},
    {"4294967295 workgroups along y",
     GG_ERR_LIMIT,
     {BIND_COMPUTE, PUSH, {.kind = GG_COMMAND_DISPATCH, .value = {1, UINT32_MAX, 1}}}},
    {"offset 8 + 12",
     GG_ERR_ARGUMENT,
     {BIND_COMPUTE, PUSH, {.kind = GG_COMMAND_DISPATCH_INDIRECT, .buffer = SMALL, .offset = 8}}},
    {"command 0 (BEGIN_RENDER): the rendering has no end", GG_ERR_ARGUMENT, {BEGIN}},
    {"(BEGIN_RENDER): target 9", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = 9}}},
    {"inside the rendering that command 0 began", GG_ERR_ARGUMENT, {BEGIN, BEGIN}},
    {"command 1 (BARRIER): inside", GG_ERR_ARGUMENT, {BEGIN, {.kind = GG_COMMAND_BARRIER}, END}},
    {"command 1 (FILL): inside", GG_ERR_ARGUMENT, {BEGIN, {.kind = GG_COMMAND_FILL, .size = 4}, END}},
    {"command 1 (COPY): inside", GG_ERR_ARGUMENT, {BEGIN, {.kind = GG_COMMAND_COPY, .size = 4}, END}},
    {"(DISPATCH): inside", GG_ERR_ARGUMENT, {BIND_COMPUTE, PUSH, BEGIN, {.kind = GG_COMMAND_DISPATCH}}},
    {"(END_RENDER): outside", GG_ERR_ARGUMENT, {END}},
    {"index size 3", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BIND_INDEX, .value = {3}}}},
    {"offset 6 is not a multiple of 4", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BIND_INDEX, .offset = 6, .value = {4}}}},
    {"offset 16 + 4", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BIND_INDEX, .buffer = SMALL, .offset = 16, .value = {4}}}},
    {"(DRAW): outside", GG_ERR_ARGUMENT, {BIND_VERTEX, {.kind = GG_COMMAND_DRAW}}},
    {"(DRAW): no pipeline", GG_ERR_ARGUMENT, {BEGIN, {.kind = GG_COMMAND_DRAW}}},
    {"is compute; this needs vertex", GG_ERR_ARGUMENT, {BIND_COMPUTE, PUSH, BEGIN, {.kind = GG_COMMAND_DRAW}}},
    {"depth 0; the target has 1 and 1",
     GG_ERR_ARGUMENT,
     {{.kind = GG_COMMAND_BEGIN_RENDER, .pipeline = COLOR_DEPTH}, BIND_VERTEX, {.kind = GG_COMMAND_DRAW}}},
    {"no index buffer", GG_ERR_ARGUMENT, {BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDEXED}}},
    {"indices 2 to 127 of a bound range of 126",
     GG_ERR_ARGUMENT,
     {INDEX, BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDEXED, .value = {125, 1, 2}}}},
    {"indices 4294967295 to 4294967296",
     GG_ERR_ARGUMENT,
     {INDEX, BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDEXED, .value = {1, 1, UINT32_MAX}}}},
    {"no index buffer", GG_ERR_ARGUMENT, {BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDEXED_INDIRECT}}},
    {"stride 12",
     GG_ERR_ARGUMENT,
     {BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDIRECT, .buffer = ARGUMENTS, .value = {2, 12}}}},
    {"stride 18",
     GG_ERR_ARGUMENT,
     {BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDIRECT_COUNT, .buffer = ARGUMENTS, .value = {1, 18}}}},
    {"offset 4 + 16",
     GG_ERR_ARGUMENT,
     {BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDIRECT, .buffer = SMALL, .offset = 4, .value = {1}}}},
    {"past the end",
     GG_ERR_ARGUMENT,
     {BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_INDIRECT, .buffer = DATA, .value = {1u << 30, 1u << 31}}}},
    {"offset 16 + 4",
     GG_ERR_ARGUMENT,
     {BEGIN,
      BIND_VERTEX,
      {.kind = GG_COMMAND_DRAW_INDIRECT_COUNT,
       .buffer = ARGUMENTS,
       .other = SMALL,
       .other_offset = 16,
       .value = {1, 16}}}},
    {"this needs mesh", GG_ERR_ARGUMENT, {BEGIN, BIND_VERTEX, {.kind = GG_COMMAND_DRAW_MESH}}},
    {"(TIMESTAMP): slot 4 of 4", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_TIMESTAMP, .value = {4}}}},
    {"command 1 (TIMESTAMP): slot 0 was used",
     GG_ERR_ARGUMENT,
     {{.kind = GG_COMMAND_TIMESTAMP}, {.kind = GG_COMMAND_TIMESTAMP}}},
    {"slot 4 of 4", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_BEGIN_STATISTICS, .value = {4}}}},
    {"still active", GG_ERR_ARGUMENT, {STATISTICS, {.kind = GG_COMMAND_BEGIN_STATISTICS, .value = {1}}}},
    {"still active", GG_ERR_ARGUMENT, {BEGIN, STATISTICS, END}},
    {"no statistics are active", GG_ERR_ARGUMENT, {{.kind = GG_COMMAND_END_STATISTICS}}},
    {"active is slot 0", GG_ERR_ARGUMENT, {STATISTICS, {.kind = GG_COMMAND_END_STATISTICS, .value = {1}}}},
    {"outside this rendering", GG_ERR_ARGUMENT, {STATISTICS, BEGIN, {.kind = GG_COMMAND_END_STATISTICS}}},
    {"command 0 (BEGIN_STATISTICS): the statistics have no end", GG_ERR_ARGUMENT, {STATISTICS}},
};

static void refuse(struct fixture *f, const struct refusal *r)
{
    uint32_t count = 0;
    while (count < COUNT(r->commands) && r->commands[count].kind)
        count++;
    struct gg_work work = work_of(f, r->commands, count);
    work.timestamp_count = work.statistics_count = 4;
    uint64_t ticks[4], host_ns = 1;
    struct gg_statistics statistics[4];
    char *message;
    int32_t result = gg_device_submit(f->device, &work, ticks, statistics, &host_ns, &message);
    expect(r->text, result, r->result, &message, r->text);
    CHECK(host_ns == 1, "%s: an output was written", r->text);
}

static void test_refusals(struct fixture *f)
{
    for (uint32_t i = 0; i < COUNT(refusals); i++)
        refuse(f, &refusals[i]);
    if (f->info.mesh_shader) {
        const struct refusal many = {"mesh limit",
                                     GG_ERR_LIMIT,
                                     {BEGIN,
                                      {.kind = GG_COMMAND_BIND, .pipeline = MESH, .bindings = 1},
                                      {.kind = GG_COMMAND_DRAW_MESH, .value = {UINT32_MAX, 1, 1}}}};
        refuse(f, &many);
    }
    if (buffer_sizes[DATA] < f->info.max_storage_range && f->info.max_storage_range < 1u << 30) {
        struct gg_buffer *large = NULL, *kept = f->buffers[DATA];
        char *message;
        int32_t result = gg_buffer_create(f->device, f->info.max_storage_range + 4, 0, &large, &message);
        expect("large", result, GG_OK, &message, "");
        f->buffers[DATA] = large;
        const struct refusal range = {"max_storage_range", GG_ERR_LIMIT, {BIND_COMPUTE}};
        refuse(f, &range);
        f->buffers[DATA] = kept;
        gg_buffer_destroy(large);
    }
    char *message;
    struct gg_work work = work_of(f, NULL, 1);
    expect("NULL", gg_device_submit(f->device, &work, NULL, NULL, NULL, &message), GG_ERR_ARGUMENT, &message, "NULL");
    work = work_of(f, NULL, 0);
    expect("nothing", gg_device_submit(f->device, &work, NULL, NULL, NULL, &message), GG_OK, &message, "");
    work.timestamp_count = 65537;
    uint64_t tick;
    expect("slots", gg_device_submit(f->device, &work, &tick, NULL, NULL, &message), GG_ERR_LIMIT, &message, "65537");
}

static void test_validation(struct fixture *f)
{
    char *message;
    int32_t result = gg_device_validation_control(f->device, &message);
    CHECK(result == GG_OK && message && strstr(message, "vkCmdFillBuffer") && strstr(message, "SYNC-HAZARD"),
          "control: %s, %s", gg_result_string(result), message ? message : "no message");
    gg_free(message);

    /* What only the layer knows: two dispatches that write the same buffer, without a barrier. */
    const struct gg_command racing[] = {
        {.kind = GG_COMMAND_FILL, .buffer = DATA, .size = 64, .value = {1}},
        {.kind = GG_COMMAND_FILL, .buffer = DATA, .size = 64, .value = {2}},
    };
    struct gg_work work = work_of(f, racing, COUNT(racing));
    result = gg_device_submit(f->device, &work, NULL, NULL, NULL, &message);
    expect("race", result, GG_ERR_VALIDATION, &message, "SYNC-HAZARD-WRITE-AFTER-WRITE");
    submit(f, "afterwards", racing, 1);

    struct gg_device *plain = NULL;
    result = gg_device_create(&(struct gg_device_params){.index = f->info.index}, &plain, &message);
    expect("plain", result, GG_OK, &message, "");
    expect("plain control", gg_device_validation_control(plain, &message), GG_ERR_UNSUPPORTED, &message, "without");
    /* The other device's objects. */
    result = gg_device_submit(plain, &work, NULL, NULL, NULL, &message);
    expect("foreign", result, GG_ERR_ARGUMENT, &message, "another device's");
    gg_device_destroy(plain);
    result = gg_device_create(&(struct gg_device_params){.index = 1000}, &plain, &message);
    expect("index", result, GG_ERR_NO_DEVICE, &message, "1000");
}

static const char *const slow_source = "#version 460\n"
                                       "layout(local_size_x = 1) in;\n"
                                       "layout(set = 0, binding = 0) buffer A { uint a[]; };\n"
                                       "void main() { uint x = a[0] | 1u;\n"
                                       "  for (uint i = 0; i < 600000000u; i++) {\n"
                                       "    x ^= x << 13; x ^= x >> 17; x ^= x << 5; }\n"
                                       "  a[0] = x; }\n";

/* The kernel ends by itself after some seconds, but not within the time it is given. */
static void time_out(const struct fixture *f)
{
    struct gg_device *device = NULL;
    struct gg_buffer *buffer = NULL;
    struct gg_pipeline *pipeline = NULL;
    char *message;
    int32_t result = gg_device_create(&(struct gg_device_params){.index = f->info.index}, &device, &message);
    expect("device", result, GG_OK, &message, "");
    result = gg_buffer_create(device, 64, GG_MEMORY_HOST, &buffer, &message);
    expect("buffer", result, GG_OK, &message, "");
    const struct gg_module module = compile(slow_source, GG_STAGE_COMPUTE);
    const struct gg_pipeline_params params = {.modules = &module, .module_count = 1, .storage_buffers = 1};
    result = gg_pipeline_create(device, &params, &pipeline, &message);
    expect("pipeline", result, GG_OK, &message, "");
    free_module(&module);
    const struct gg_command commands[] = {
        {.kind = GG_COMMAND_BIND, .bindings = 1},
        {.kind = GG_COMMAND_DISPATCH, .value = {1, 1, 1}},
    };
    const struct gg_work work = {
        .commands = commands,
        .command_count = COUNT(commands),
        .buffers = &buffer,
        .buffer_count = 1,
        .pipelines = &pipeline,
        .pipeline_count = 1,
        .timeout_ns = 1000000,
    };
    result = gg_device_submit(device, &work, NULL, NULL, NULL, &message);
    expect("slow", result, GG_ERR_TIMEOUT, &message, "0.001 s");
    result = gg_device_submit(device, &work, NULL, NULL, NULL, &message);
    expect("lost", result, GG_ERR_DEVICE_LOST, &message, "lost earlier");
    uint32_t word;
    expect("lost", gg_buffer_read(buffer, 0, &word, 4, &message), GG_ERR_DEVICE_LOST, &message, "lost earlier");
    gg_pipeline_destroy(pipeline);
    gg_buffer_destroy(buffer);
    gg_device_destroy(device);
}

/*
 * In a process of its own: what the lost device still works on is left behind there, without the leak
 * checker, and the process ends at once.
 */
static void test_timeout(const struct fixture *f)
{
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        time_out(f);
        _exit(test_result());
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status), "its status is %d", status);
}

int main(void)
{
    struct fixture f = {0};
    if (!list_device(&f))
        return getenv("GUESTGPU_REQUIRE_DEVICE") ? 1 : TEST_SKIP;
    test_timeout(&f); /* first: no device is open that the child would share */
    open_fixture(&f);
    test_pipelines(&f);
    test_objects(&f);
    test_refusals(&f);
    test_validation(&f);
    close_fixture(&f);
    return test_result();
}

/* SPDX-License-Identifier: MIT */
/* gpu.h without a device: selectors, GLSL, SPIR-V, meshlets. */
#include <guestgpu/gpu.h>

#include "expect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void describe(struct gg_device_info *info, uint32_t index, uint32_t type, const char *name, const char *driver)
{
    memset(info, 0, sizeof *info);
    info->index = index;
    info->type = type;
    info->usable = 1;
    memset(info->uuid, (int)(0xa0 + index), sizeof info->uuid);
    strcpy(info->name, name);
    strcpy(info->driver_name, driver);
}

static void expect_selected(const struct gg_device_info *infos, uint32_t count, const char *selector, uint32_t wanted)
{
    uint32_t index = UINT32_MAX;
    char *message;
    int32_t result = gg_device_select(infos, count, selector, &index, &message);
    expect(selector ? selector : "NULL", result, GG_OK, &message, "");
    CHECK(index == wanted, "%s: device %u instead of %u", selector ? selector : "NULL", index, wanted);
}

static void expect_refused(const struct gg_device_info *infos, uint32_t count, const char *selector, const char *text)
{
    uint32_t index = 12345;
    char *message;
    int32_t result = gg_device_select(infos, count, selector, &index, &message);
    expect(selector ? selector : "NULL", result, GG_ERR_NO_DEVICE, &message, text);
    CHECK(index == 12345, "%s: the output was written", selector ? selector : "NULL");
}

static void test_select(void)
{
    struct gg_device_info infos[4];
    describe(&infos[0], 0, GG_DEVICE_DISCRETE, "Radeon RX 6800", "radv");
    describe(&infos[1], 1, GG_DEVICE_CPU, "llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe");
    describe(&infos[2], 2, GG_DEVICE_DISCRETE, "NVIDIA H200", "NVIDIA");
    describe(&infos[3], 3, GG_DEVICE_INTEGRATED, "Old Graphics", "old");
    infos[3].usable = 0;
    memset(infos[1].uuid, 0x12, sizeof infos[1].uuid); /* only decimal digits */

    expect_selected(infos, 4, "lavapipe", 1);
    expect_selected(infos, 2, "hw", 0);
    expect_selected(infos, 2, NULL, 0);
    expect_selected(infos, 2, "", 0);
    expect_selected(infos, 4, NULL, 1);
    expect_selected(infos, 4, "2", 2);
    expect_selected(infos, 4, "h200", 2);
    expect_selected(infos, 4, "RADEON", 0);
    expect_selected(infos, 4, "12121212-1212-1212-1212-121212121212", 1);
    expect_selected(infos, 4, "A2a2a2a2a2a2a2a2a2a2a2a2a2a2a2a2", 2);

    expect_refused(infos, 4, "hw", "more than one device; the devices are 0: Radeon RX 6800, 1: llvmpipe");
    expect_refused(infos, 4, "e", "more than one");
    expect_refused(infos, 4, "matrox", "fits no device");
    expect_refused(infos, 4, "7", "fits no device");
    expect_refused(infos, 4, "99999999999999999999", "fits no device");
    expect_refused(infos, 4, "3", "without Vulkan 1.3");
    expect_refused(infos, 4, "old", "3: Old Graphics (unusable: no Vulkan 1.3)");
    expect_refused(infos, 1, "lavapipe", "fits no device");
    expect_refused(infos, 0, NULL, "the devices are none");
    expect_refused(infos + 2, 2, "lavapipe", "2: NVIDIA H200");
    char *message;
    int32_t result = gg_device_select(NULL, 1, NULL, &(uint32_t){0}, &message);
    expect("NULL infos", result, GG_ERR_ARGUMENT, &message, "NULL");
}

static const char *const kernel = "#version 460\n"
                                  "layout(local_size_x = 64) in;\n"
                                  "layout(set = 0, binding = 0) buffer Data { uint data[]; };\n"
                                  "void main() { data[gl_GlobalInvocationID.x] = VALUE; }\n";

static void compile(const char *source, uint32_t stage, const char *folder, const char *preamble, int32_t result,
                    const char *text)
{
    uint32_t *words = NULL;
    uint64_t count = 0;
    char *message;
    int32_t got = gg_glsl_compile(source, "k.glsl", stage, folder, preamble, &words, &count, &message);
    expect(text, got, result, &message, text);
    CHECK((words != NULL) == (result == GG_OK), "%s: words", text);
    gg_free(words);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL, "%s cannot be written", path);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static void remove_file(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    remove(path);
}

static void test_glsl(const char *folder)
{
    compile(kernel, GG_STAGE_COMPUTE, NULL, "#define VALUE 7u", GG_OK, "");
    compile(kernel, GG_STAGE_COMPUTE, NULL, NULL, GG_ERR_COMPILE, "k.glsl:4: error: 'VALUE'");
    compile(kernel, GG_STAGE_COMPUTE, NULL, "#define A 1\n#define B 2\n", GG_ERR_COMPILE, "k.glsl:4: error: 'VALUE'");
    compile("/* #version 100 */ // x\n # version 460\nvoid main() { x; }", GG_STAGE_VERTEX, NULL, "#define Y",
            GG_ERR_COMPILE, "k.glsl:3: error: 'x'");
    compile("#version 460", GG_STAGE_VERTEX, NULL, NULL, GG_ERR_COMPILE, "k.glsl");
    compile("void main() {}", GG_STAGE_VERTEX, NULL, NULL, GG_ERR_COMPILE, "is not #version");
    compile("/* open", GG_STAGE_VERTEX, NULL, NULL, GG_ERR_COMPILE, "is not #version");
    compile(kernel, 5, NULL, NULL, GG_ERR_ARGUMENT, "stage 5");
    compile(NULL, GG_STAGE_VERTEX, NULL, NULL, GG_ERR_ARGUMENT, "NULL");

    /* 10000 bytes, so that the reader has to grow its buffer. */
    char *large = malloc(10002);
    CHECK(large != NULL, "no memory");
    if (!large)
        return;
    memset(large, ' ', 10000);
    strcpy(large + 10000, "\n");
    write_file(folder, "value.h", "#define VALUE 3u\n");
    write_file(folder, "large.h", large);
    write_file(folder, "self.h", "#include \"self.h\"\n");
    write_file(folder, "wrong.h", "\nnonsense\n");
    free(large);
    compile("#version 460\n#include \"large.h\"\n#include \"value.h\"\nvoid main() { uint a = VALUE; }",
            GG_STAGE_VERTEX, folder, NULL, GG_OK, "");
    compile("#version 460\n#include \"value.h\"\nvoid main() { b; }", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE,
            "k.glsl:3: error: 'b'");
    compile("#version 460\n#include \"wrong.h\"\nvoid main() { }", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE,
            "wrong.h:");
    compile("#version 460\n#include \"self.h\"\n", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE, "deep");
    compile("#version 460\n#include \"none.h\"\n", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE, "cannot be read");
    compile("#version 460\n#include \".\"\n", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE, "cannot be read");
    compile("#version 460\n#include \"../value.h\"\n", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE, "plain file");
    compile("#version 460\n#include \"..\"\n", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE, "plain file");
    compile("#version 460\n#include \"wrong\\name.h\"\n", GG_STAGE_VERTEX, folder, NULL, GG_ERR_COMPILE, "plain file");
    compile("#version 460\n#include \"value.h\"\n", GG_STAGE_VERTEX, NULL, NULL, GG_ERR_COMPILE, "no include folder");
    remove_file(folder, "value.h");
    remove_file(folder, "large.h");
    remove_file(folder, "self.h");
    remove_file(folder, "wrong.h");
}

static void test_spirv(void)
{
    uint32_t *words = NULL;
    uint64_t count = 0;
    char *message, *text = NULL;
    int32_t result = gg_glsl_compile(kernel, "k", GG_STAGE_COMPUTE, NULL, "#define VALUE 9u", &words, &count, &message);
    expect("compile", result, GG_OK, &message, "");
    if (result)
        return;
    CHECK(words[0] == 0x07230203 && words[1] == 0x00010600, "SPIR-V version %08x", words[1]);
    result = gg_spirv_validate(words, count, &message);
    expect("validate", result, GG_OK, &message, "");
    result = gg_spirv_disassemble(words, count, &text, &message);
    expect("disassemble", result, GG_OK, &message, "");
    CHECK(text && strstr(text, "OpEntryPoint GLCompute %main \"main\"") && strstr(text, "%uint_9"), "text: %s",
          text ? text : "NULL");
    gg_free(text);
    text = NULL;
    result = gg_spirv_validate(words, count - 1, &message);
    expect("truncated", result, GG_ERR_VALIDATION, &message, "spirv-val");
    result = gg_spirv_validate(words, 0, &message);
    expect("empty", result, GG_ERR_ARGUMENT, &message, "no words");
    result = gg_spirv_disassemble(words, 8, &text, &message);
    expect("disassemble truncated", result, GG_ERR_FORMAT, &message, "disassembly");
    CHECK(!text, "text was written");
    for (uint64_t i = 0; i < count; i++) { /* one word wrong at a time: an answer, whatever it is, and no crash */
        const uint32_t kept = words[i];
        words[i] ^= 0x00030003;
        result = gg_spirv_validate(words, count, &message);
        CHECK(result == GG_OK || (result == GG_ERR_VALIDATION && message), "word %u: %d", (unsigned)i, result);
        gg_free(message);
        words[i] = kept;
    }
    gg_free(words);
    result = gg_gpu_versions(&text);
    CHECK(result == GG_OK && strstr(text, "shaderc (SPIR-V 1.6") && strstr(text, "SPIRV-Tools v") &&
              strstr(text, "meshoptimizer 0.") && strstr(text, "loader "),
          "versions: %s", text);
    gg_free(text);
}

#define GRID          20
#define GRID_VERTICES ((GRID + 1) * (GRID + 1))
#define GRID_INDICES  (GRID * GRID * 6)

static void make_grid(float *positions, uint32_t *indices)
{
    for (uint32_t y = 0; y <= GRID; y++)
        for (uint32_t x = 0; x <= GRID; x++) {
            float *p = positions + (y * (GRID + 1) + x) * 3;
            p[0] = (float)x;
            p[1] = (float)y;
            p[2] = 0;
        }
    for (uint32_t y = 0; y < GRID; y++)
        for (uint32_t x = 0; x < GRID; x++) {
            const uint32_t v = y * (GRID + 1) + x;
            const uint32_t corners[6] = {v, v + 1, v + GRID + 1, v + 1, v + GRID + 2, v + GRID + 1};
            memcpy(indices + (y * GRID + x) * 6, corners, sizeof corners);
        }
}

/* A triangle as one number, independent of the corner it begins with. */
static uint64_t triangle_key(const uint32_t c[3])
{
    unsigned first = c[0] < c[1] ? (c[0] < c[2] ? 0 : 2) : (c[1] < c[2] ? 1 : 2);
    return (uint64_t)c[first] << 40 | (uint64_t)c[(first + 1) % 3] << 20 | c[(first + 2) % 3];
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void build_grid(uint32_t max_vertices, uint32_t max_triangles)
{
    static float positions[GRID_VERTICES * 3];
    static uint32_t indices[GRID_INDICES];
    static uint64_t wanted[GRID_INDICES / 3], got[GRID_INDICES / 3];
    make_grid(positions, indices);
    for (uint32_t i = 0; i < GRID_INDICES; i += 3)
        wanted[i / 3] = triangle_key(indices + i);
    char *message;
    uint64_t bound = 0, count = 0;
    int32_t result = gg_meshlets_bound(GRID_INDICES, max_vertices, max_triangles, &bound, &message);
    expect("bound", result, GG_OK, &message, "");
    uint32_t *meshlets = malloc(bound * 16);
    uint32_t *vertices = malloc(bound * max_vertices * 4);
    uint8_t *triangles = malloc(bound * max_triangles * 3);
    result = gg_meshlets_build(indices, GRID_INDICES, positions, GRID_VERTICES, max_vertices, max_triangles, meshlets,
                               vertices, triangles, &count, &message);
    expect("build", result, GG_OK, &message, "");
    CHECK(count && count <= bound, "%u meshlets of %u", (unsigned)count, (unsigned)bound);
    uint32_t placed = 0;
    for (uint64_t m = 0; m < count; m++) {
        const uint32_t *meshlet = meshlets + m * 4;
        CHECK(meshlet[2] <= max_vertices && meshlet[3] <= max_triangles, "meshlet %u: %u, %u", (unsigned)m, meshlet[2],
              meshlet[3]);
        for (uint32_t t = 0; t < meshlet[3] && placed < GRID_INDICES / 3; t++) {
            const uint8_t *local = triangles + meshlet[1] + t * 3;
            const uint32_t *own = vertices + meshlet[0];
            got[placed++] = triangle_key((uint32_t[3]){own[local[0]], own[local[1]], own[local[2]]});
        }
    }
    CHECK(placed == GRID_INDICES / 3, "%u triangles", placed);
    qsort(wanted, GRID_INDICES / 3, sizeof *wanted, compare_keys);
    qsort(got, GRID_INDICES / 3, sizeof *got, compare_keys);
    CHECK(!memcmp(wanted, got, sizeof got), "the meshlets' triangles are not the mesh's");
    free(triangles);
    free(vertices);
    free(meshlets);
}

static void refuse_meshlets(const uint32_t *indices, uint64_t index_count, const float *positions,
                            uint64_t vertex_count, uint32_t max_vertices, uint32_t max_triangles, int32_t result,
                            const char *text)
{
    uint32_t meshlets[64], vertices[4096];
    uint8_t triangles[8192];
    uint64_t count;
    char *message;
    int32_t got = gg_meshlets_build(indices, index_count, positions, vertex_count, max_vertices, max_triangles,
                                    meshlets, vertices, triangles, &count, &message);
    expect(text, got, result, &message, text);
}

static void test_meshlets(void)
{
    build_grid(64, 124);
    build_grid(3, 4);
    build_grid(255, 512);
    static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const float broken[] = {0, 0, 0, 1, 0, 0, 0, NAN, 0};
    static const uint32_t one[] = {0, 1, 2, 0, 1, 3};
    refuse_meshlets(one, 3, corners, 3, 64, 64, GG_OK, "");
    refuse_meshlets(one, 6, corners, 3, 64, 64, GG_ERR_ARGUMENT, "index 5 is 3");
    refuse_meshlets(one, 4, corners, 3, 64, 64, GG_ERR_ARGUMENT, "4 indices");
    refuse_meshlets(one, 0, corners, 3, 64, 64, GG_ERR_ARGUMENT, "0 indices");
    refuse_meshlets(one, UINT64_MAX, corners, 3, 64, 64, GG_ERR_LIMIT, "indices");
    refuse_meshlets(one, 3, broken, 3, 64, 64, GG_ERR_ARGUMENT, "coordinate 1 of vertex 2");
    refuse_meshlets(one, 3, corners, 3, 2, 64, GG_ERR_ARGUMENT, "max_vertices 2");
    refuse_meshlets(one, 3, corners, 3, 256, 64, GG_ERR_ARGUMENT, "max_vertices 256");
    refuse_meshlets(one, 3, corners, 3, 64, 0, GG_ERR_ARGUMENT, "max_triangles 0");
    refuse_meshlets(one, 3, corners, 3, 64, 126, GG_ERR_ARGUMENT, "max_triangles 126");
    refuse_meshlets(one, 3, corners, 3, 64, 516, GG_ERR_ARGUMENT, "max_triangles 516");
    refuse_meshlets(one, 3, NULL, 3, 64, 64, GG_ERR_ARGUMENT, "NULL");
}

int main(void)
{
    char folder[] = "/tmp/guestgpu-test-XXXXXX";
    if (!mkdtemp(folder)) {
        perror("mkdtemp");
        return 1;
    }
    test_select();
    test_glsl(folder);
    test_spirv();
    test_meshlets();
    CHECK(!remove(folder), "%s is not empty", folder);
    return test_result();
}

/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <meshoptimizer.h>
#include <shaderc/shaderc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INCLUDE_DEPTH 32

/* The whole file, to be freed; NULL if it cannot be read. */
static char *read_file(const char *folder, const char *name, size_t *length)
{
    const size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (!path)
        return NULL;
    snprintf(path, room, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    free(path);
    if (!file)
        return NULL;
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    do {
        capacity = capacity ? capacity * 2 : 4096;
        char *larger = realloc(text, capacity);
        if (!larger)
            goto fail;
        text = larger;
        *length += fread(text + *length, 1, capacity - *length, file);
    } while (*length == capacity);
    if (ferror(file))
        goto fail;
    fclose(file);
    return text;
fail:
    free(text);
    fclose(file);
    return NULL;
}

struct include { /* what shaderc gets, and what is freed afterwards */
    shaderc_include_result result;
    char *content;
    char *name;
};

static char *duplicate(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* An empty name tells shaderc that the content is an error message. */
static shaderc_include_result *resolve_include(void *user, const char *requested, int type, const char *requesting,
                                               size_t depth)
{
    (void)type; /* a name in quotes that is not found comes again as if in angle brackets */
    (void)requesting;
    const char *folder = user;
    struct include *include = calloc(1, sizeof *include);
    if (!include) {
        static shaderc_include_result no_memory = {.source_name = "", .content = "no memory", .content_length = 9};
        return &no_memory;
    }
    size_t length = 0;
    const char *error = NULL;
    if (!folder)
        error = "no include folder was given";
    else if (!*requested || strchr(requested, '/') || strchr(requested, '\\') || strstr(requested, ".."))
        error = "an include is a plain file name in the include folder";
    else if (depth > MAX_INCLUDE_DEPTH)
        error = "includes are nested too deeply";
    if (!error) {
        include->content = read_file(folder, requested, &length);
        include->name = duplicate(requested);
        if (!include->content || !include->name)
            error = "the file cannot be read from the include folder";
    }
    include->result.source_name = error ? "" : include->name;
    include->result.source_name_length = error ? 0 : strlen(include->name);
    include->result.content = error ? error : include->content;
    include->result.content_length = error ? strlen(error) : length;
    include->result.user_data = include;
    return &include->result;
}

static void release_include(void *user, shaderc_include_result *result)
{
    (void)user;
    struct include *include = result->user_data;
    if (!include)
        return;
    free(include->content);
    free(include->name);
    free(include);
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* The start of the line after #version, which may follow only white space and comments; NULL if it is not there. */
static const char *after_version(const char *source)
{
    const char *at = source;
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            at = strstr(at + 2, "*/");
            if (!at)
                return NULL;
            at += 2;
        } else {
            break;
        }
    }
    if (*at != '#' || strncmp(skip_blanks(at + 1), "version", 7))
        return NULL;
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* version line, preamble, "#line" that keeps the numbers of the source, rest; to be freed. */
static char *insert_preamble(const char *source, const char *rest, const char *preamble)
{
    unsigned line = 1;
    for (const char *c = source; c < rest; c++)
        line += *c == '\n';
    const size_t room = strlen(source) + strlen(preamble) + 32;
    char *text = malloc(room);
    if (text)
        snprintf(text, room, "%.*s%s%s\n#line %u\n%s", (int)(rest - source), source, rest[-1] == '\n' ? "" : "\n",
                 preamble, rest[-1] == '\n' ? line : line + 1, rest);
    return text;
}

/* shaderc writes an error a line; messages are one line. */
static int32_t fail_with_errors(const char *errors, char **message)
{
    const size_t length = strlen(errors);
    char *text = malloc(2 * length + 1); /* a line break becomes two characters at most */
    if (!text)
        return gg_fail(message, GG_ERR_MEMORY, "GLSL: no memory for %zu bytes of errors", length);
    size_t at = 0;
    for (const char *c = errors; *c; c++) {
        if (*c != '\n')
            text[at++] = *c;
        else if (c[strspn(c, "\n")]) /* not at the end */
            at += (size_t)snprintf(text + at, 3, "; ");
    }
    text[at] = '\0';
    int32_t result = gg_fail(message, GG_ERR_COMPILE, "%s", text);
    free(text);
    return result;
}

static int32_t take_words(shaderc_compilation_result_t compiled, const char *name, uint32_t **words,
                          uint64_t *word_count, char **message)
{
    if (shaderc_result_get_compilation_status(compiled) != shaderc_compilation_status_success) {
        return fail_with_errors(shaderc_result_get_error_message(compiled), message);
    }
    const size_t size = shaderc_result_get_length(compiled);
    uint32_t *copy = malloc(size);
    if (!copy)
        return gg_fail(message, GG_ERR_MEMORY, "%s: no memory for %zu bytes of SPIR-V", name, size);
    memcpy(copy, shaderc_result_get_bytes(compiled), size);
    *words = copy;
    *word_count = size / 4;
    return GG_OK;
}

int32_t gg_glsl_compile(const char *source, const char *name, uint32_t stage, const char *include_folder,
                        const char *preamble, uint32_t **words, uint64_t *word_count, char **message)
{
    static const shaderc_shader_kind kinds[] = {
        [GG_STAGE_COMPUTE] = shaderc_compute_shader,   [GG_STAGE_VERTEX] = shaderc_vertex_shader,
        [GG_STAGE_FRAGMENT] = shaderc_fragment_shader, [GG_STAGE_TASK] = shaderc_task_shader,
        [GG_STAGE_MESH] = shaderc_mesh_shader,
    };
    gg_succeed(message);
    if (!source || !name || !words || !word_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "GLSL: source, name, words or word_count is NULL");
    if (!gg_stage_name(stage))
        return gg_fail(message, GG_ERR_ARGUMENT, "%s: stage %u is not one of enum gg_stage", name, stage);
    const char *rest = after_version(source);
    if (!rest)
        return gg_fail(message, GG_ERR_COMPILE, "%s: the first line of code is not #version", name);

    int32_t result = GG_ERR_MEMORY;
    char *text = insert_preamble(source, rest, preamble ? preamble : "");
    shaderc_compiler_t compiler = shaderc_compiler_initialize();
    shaderc_compile_options_t options = shaderc_compile_options_initialize();
    if (!text || !compiler || !options) {
        gg_fail(message, result, "%s: no memory to compile", name);
        goto finish;
    }
    /* No optimization level: spirv-opt 2023.1 broke a program, and drivers optimize by themselves. */
    shaderc_compile_options_set_target_env(options, shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_3);
    shaderc_compile_options_set_target_spirv(options, shaderc_spirv_version_1_6);
    shaderc_compile_options_set_include_callbacks(options, resolve_include, release_include, (void *)include_folder);
    shaderc_compilation_result_t compiled =
        shaderc_compile_into_spv(compiler, text, strlen(text), kinds[stage], name, "main", options);
    if (compiled)
        result = take_words(compiled, name, words, word_count, message);
    else
        gg_fail(message, result, "%s: no memory to compile", name);
    shaderc_result_release(compiled);
finish:
    shaderc_compile_options_release(options);
    shaderc_compiler_release(compiler);
    free(text);
    return result;
}

int32_t gg_gpu_versions(char **text)
{
    if (!text)
        return GG_ERR_ARGUMENT;
    unsigned version, revision;
    shaderc_get_spv_version(&version, &revision);
    const uint32_t loader = gg_loader_version();
    char loader_text[32] = "none";
    if (loader)
        snprintf(loader_text, sizeof loader_text, "%u.%u.%u", VK_API_VERSION_MAJOR(loader),
                 VK_API_VERSION_MINOR(loader), VK_API_VERSION_PATCH(loader));
    gg_fail(text, GG_OK, "shaderc (SPIR-V %u.%u revision %u); SPIRV-Tools %s; meshoptimizer %d.%d; loader %s",
            version >> 16 & 0xff, version >> 8 & 0xff, revision, gg_spirv_tools_version(), MESHOPTIMIZER_VERSION / 1000,
            MESHOPTIMIZER_VERSION / 10 % 100, loader_text);
    return *text ? GG_OK : GG_ERR_MEMORY;
}

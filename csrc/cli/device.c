/* SPDX-License-Identifier: MIT */
/* The verbs of the GPU part, and version. A build without that part (GG_GPU=0) says so. */
#include "cli.h"

#include <stdio.h>

#if GG_GPU
#include <guestgpu/gpu.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void print_device(const struct gg_device_info *d)
{
    static const char *const types[] = {"other", "integrated", "discrete", "virtual", "cpu"};
    printf("%u: %s; %s; Vulkan %u.%u.%u; %s %s", d->index, d->name, d->type < 5 ? types[d->type] : "unknown type",
           d->api_version >> 22 & 0x7f, d->api_version >> 12 & 0x3ff, d->api_version & 0xfff, d->driver_name,
           d->driver_info);
    if (!d->usable)
        printf("; unusable: no Vulkan 1.3");
    else
        printf("; %s; subgroups of %u; uuid ", d->mesh_shader ? "mesh shaders" : "no mesh shaders", d->subgroup_size);
    for (size_t i = 0; d->usable && i < sizeof d->uuid; i++)
        printf("%02x", d->uuid[i]);
    putchar('\n');
}

int gg_cli_devices(int count, char **arguments)
{
    enum {
        MOST = 64
    };
    struct gg_device_info infos[MOST];
    uint32_t devices;
    char *message;
    if (count)
        return gg_cli_usage("devices: unknown argument: %s", arguments[0]);
    int32_t result = gg_device_list(infos, MOST, &devices, &message);
    if (result)
        return gg_cli_fail("devices", result, message);
    for (uint32_t i = 0; i < devices && i < MOST; i++)
        print_device(&infos[i]);
    if (devices > MOST)
        printf("and %u more\n", devices - MOST);
    return GG_EXIT_OK;
}

/* A file's words, to be freed; NULL after a line on stderr. */
static uint32_t *read_module(const char *verb, const char *file, uint64_t *word_count)
{
    const long most = 1l << 28;
    const char *wrong = NULL;
    uint32_t *words = NULL;
    long size = -1;
    FILE *stream = fopen(file, "rb");
    if (!stream || fseek(stream, 0, SEEK_END) || (size = ftell(stream)) < 0 || fseek(stream, 0, SEEK_SET))
        wrong = strerror(errno);
    else if (!size || size % 4 || size > most)
        wrong = "not a SPIR-V module: its size is no multiple of 4 bytes, or nothing, or above 256 MiB";
    else if (!(words = malloc((size_t)size)))
        wrong = "out of memory";
    else if (fread(words, 1, (size_t)size, stream) != (size_t)size)
        wrong = "could not be read to its end";
    if (stream)
        fclose(stream);
    if (wrong) {
        fprintf(stderr, "guestgpu-c %s: %s: %s\n", verb, file, wrong);
        free(words);
        return NULL;
    }
    *word_count = (uint64_t)size / 4;
    return words;
}

int gg_cli_validate(int count, char **arguments)
{
    uint64_t word_count;
    char *message;
    if (count != 1)
        return gg_cli_usage("validate: one FILE is needed");
    uint32_t *words = read_module("validate", arguments[0], &word_count);
    if (!words)
        return GG_EXIT_FAILURE;
    int32_t result = gg_spirv_validate(words, word_count, &message);
    free(words);
    return result ? gg_cli_fail("validate", result, message) : GG_EXIT_OK;
}

int gg_cli_disassemble(int count, char **arguments)
{
    uint64_t word_count;
    char *text, *message;
    if (count != 1)
        return gg_cli_usage("disassemble: one FILE is needed");
    uint32_t *words = read_module("disassemble", arguments[0], &word_count);
    if (!words)
        return GG_EXIT_FAILURE;
    int32_t result = gg_spirv_disassemble(words, word_count, &text, &message);
    free(words);
    if (result)
        return gg_cli_fail("disassemble", result, message);
    fputs(text, stdout);
    gg_free(text);
    return GG_EXIT_OK;
}

static void print_versions(void)
{
    char *text;
    if (!gg_gpu_versions(&text)) {
        puts(text);
        gg_free(text);
    }
}

#else

static int missing(const char *verb)
{
    fprintf(stderr, "guestgpu-c %s: this program was built without the GPU part (GG_GPU=0)\n", verb);
    return GG_EXIT_FAILURE;
}

int gg_cli_devices(int count, char **arguments)
{
    (void)count, (void)arguments;
    return missing("devices");
}

int gg_cli_validate(int count, char **arguments)
{
    (void)count, (void)arguments;
    return missing("validate");
}

int gg_cli_disassemble(int count, char **arguments)
{
    (void)count, (void)arguments;
    return missing("disassemble");
}

static void print_versions(void) { puts("built without the GPU part"); }

#endif

int gg_cli_version(int count, char **arguments)
{
    if (count)
        return gg_cli_usage("version: unknown argument: %s", arguments[0]);
    printf("guestgpu ABI %u\n", gg_abi_version());
    print_versions();
    return GG_EXIT_OK;
}

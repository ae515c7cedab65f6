/* SPDX-License-Identifier: MIT */
/* guestgpu-c: the verbs that need no Python, for bug reports and for machines that have only a C compiler. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: guestgpu-c VERB [ARGUMENT...]\n"
    "  layout plan SHAPE [OPTION...]            prints what follows from a mesh program's shape: the fit maths\n"
    "  layout emit STAGE SHAPE [OPTION...] -o FILE  writes a SPIR-V module; STAGE is mesh or vertex\n"
    "  layout emit STAGE -o FILE                likewise; task or scan, the same for every shape\n"
    "  devices                                  lists the Vulkan devices\n"
    "  validate FILE                            checks a SPIR-V module for Vulkan 1.3\n"
    "  disassemble FILE                         prints a SPIR-V module as text\n"
    "  version                                  of this program and of what is built in\n"
    "SHAPE is --vertices N --primitives N --words N, of one workgroup and of one vertex, and may have\n"
    "  --topology triangles|lines|points  --threads N  --primitive-words N  --position WORD  --task\n"
    "  --output smooth|flat|size:LOCATION:WORD:WORDS (once for each output)\n"
    "OPTION is one of\n"
    "  --layout aos|soa|indexed  --area BYTES  --long-header  --runtime-fit  --census\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 5 no device.\n";

static const struct {
    const char *part, *verb; /* part: NULL for verbs that stand alone */
    int (*run)(int count, char **arguments);
} verbs[] = {
    {"layout", "plan", gg_cli_layout_plan},    {"layout", "emit", gg_cli_layout_emit},
    {NULL, "devices", gg_cli_devices},         {NULL, "validate", gg_cli_validate},
    {NULL, "disassemble", gg_cli_disassemble}, {NULL, "version", gg_cli_version},
};

int gg_cli_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("guestgpu-c: ", stderr);
    vfprintf(stderr, format, args);
    fputs(" (guestgpu-c --help tells more)\n", stderr);
    va_end(args);
    return GG_EXIT_USAGE;
}

int gg_cli_fail(const char *verb, int32_t result, char *message)
{
    fprintf(stderr, "guestgpu-c %s: %s\n", verb, message ? message : gg_result_string(result));
    gg_free(message);
    return result == GG_ERR_NO_DEVICE ? GG_EXIT_NO_DEVICE : GG_EXIT_FAILURE;
}

static int dispatch(int count, char **arguments)
{
    if (!count)
        return gg_cli_usage("no verb");
    if (!strcmp(arguments[0], "--help") || !strcmp(arguments[0], "-h") || !strcmp(arguments[0], "help")) {
        fputs(help, stdout);
        return GG_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        int words = verbs[i].part ? 2 : 1;
        if (count < words || (verbs[i].part && strcmp(arguments[0], verbs[i].part)))
            continue;
        if (!strcmp(arguments[words - 1], verbs[i].verb))
            return verbs[i].run(count - words, arguments + words);
    }
    return count > 1 ? gg_cli_usage("unknown verb: %s %s", arguments[0], arguments[1])
                     : gg_cli_usage("unknown verb: %s", arguments[0]);
}

int main(int argc, char **argv)
{
    int status = dispatch(argc > 0 ? argc - 1 : 0, argv + 1);
    /* A full disk or a closed pipe must not look like success. */
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "guestgpu-c: standard output: %s\n", strerror(errno));
        return status ? status : GG_EXIT_FAILURE;
    }
    return status;
}

/* SPDX-License-Identifier: MIT */
#ifndef GG_CLI_H
#define GG_CLI_H

/*
 * The verbs. Each gets the arguments behind its name and returns the exit status. What went wrong is one line on
 * stderr.
 */
#include <guestgpu/guestgpu.h>

enum {
    GG_EXIT_OK = 0,
    GG_EXIT_FAILURE = 1,
    GG_EXIT_USAGE = 2,
    GG_EXIT_NO_DEVICE = 5,
};

int gg_cli_layout_plan(int count, char **arguments);
int gg_cli_layout_emit(int count, char **arguments);
int gg_cli_devices(int count, char **arguments);
int gg_cli_validate(int count, char **arguments);
int gg_cli_disassemble(int count, char **arguments);
int gg_cli_version(int count, char **arguments);

/* Prints "guestgpu-c: ..." and returns GG_EXIT_USAGE. */
int gg_cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the message of a failed call, frees it, and returns the exit status of its result. */
int gg_cli_fail(const char *verb, int32_t result, char *message);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef GG_COMMON_MESSAGE_H
#define GG_COMMON_MESSAGE_H

#include <guestgpu/guestgpu.h>

/*
 * Stores a formatted line into *message (when message is not NULL) and returns result, so that a
 * failure is one statement: return gg_fail(message, GG_ERR_LIMIT, "area: %u words ...", n);
 * Without memory for the text *message becomes NULL; the result stands.
 */
int32_t gg_fail(char **message, int32_t result, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Clears *message and returns GG_OK. Public functions begin with it, so that no stale text is freed twice. */
int32_t gg_succeed(char **message);

#endif

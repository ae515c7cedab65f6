/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int32_t gg_fail(char **message, int32_t result, const char *format, ...)
{
    if (!message)
        return result;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    *message = length < 0 ? NULL : malloc((size_t)length + 1);
    if (*message)
        vsnprintf(*message, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return result;
}

int32_t gg_succeed(char **message)
{
    if (message)
        *message = NULL;
    return GG_OK;
}

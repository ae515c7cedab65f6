/* SPDX-License-Identifier: MIT */
#include <guestgpu/guestgpu.h>

#include <stdlib.h>

uint32_t gg_abi_version(void) { return GG_ABI_VERSION; }

const char *gg_result_string(int32_t result)
{
    switch (result) {
#define NAME(code)                                                                                                     \
    case code:                                                                                                         \
        return #code
        NAME(GG_OK);
        NAME(GG_ERR_ARGUMENT);
        NAME(GG_ERR_MEMORY);
        NAME(GG_ERR_UNSUPPORTED);
        NAME(GG_ERR_FORMAT);
        NAME(GG_ERR_LIMIT);
        NAME(GG_ERR_NO_DEVICE);
        NAME(GG_ERR_DEVICE);
        NAME(GG_ERR_DEVICE_LOST);
        NAME(GG_ERR_TIMEOUT);
        NAME(GG_ERR_VALIDATION);
        NAME(GG_ERR_COMPILE);
#undef NAME
    default:
        return "unknown result";
    }
}

void gg_free(void *pointer) { free(pointer); }

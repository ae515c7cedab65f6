/* SPDX-License-Identifier: MIT */
/* The ELF reader: any bytes. What it accepts lies inside the file and can be used as it is. */
#include <guestgpu/translator.h>

#include "input.h"

#include <string.h>

static void check_text(const char *text) { MUST(text && strlen(text) < SIZE_MAX); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gg_guest_elf *elf = NULL;
    char *message = NULL;
    int32_t result = gg_guest_elf_read(data, size, &elf, &message);
    MUST((result == GG_OK) == (message == NULL) && (result == GG_OK) == (elf != NULL));
    MUST(!message || !strchr(message, '\n'));
    gg_free(message);
    if (result)
        return 0;
    MUST(elf->code_size <= size && elf->code_offset <= size - elf->code_size && elf->code_size % 4 == 0);
    for (uint32_t i = 0; i < elf->kernel_count; i++) {
        const struct gg_guest_kernel *kernel = &elf->kernels[i];
        check_text(kernel->name);
        MUST(kernel->entry < elf->code_size && kernel->entry % 4 == 0);
        MUST(kernel->first_argument <= elf->argument_count &&
             kernel->argument_count <= elf->argument_count - kernel->first_argument);
    }
    for (uint32_t i = 0; i < elf->argument_count; i++) {
        check_text(elf->arguments[i].name);
        check_text(elf->arguments[i].kind);
    }
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const struct gg_guest_segment *segment = &elf->segments[i];
        MUST(segment->file_size <= size && segment->offset <= size - segment->file_size);
        MUST(segment->file_size <= segment->memory_size);
    }
    gg_guest_elf_destroy(elf);
    return 0;
}

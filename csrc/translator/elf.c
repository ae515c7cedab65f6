/* SPDX-License-Identifier: MIT */
#include <guestgpu/translator.h>

#include "message.h"
#include "msgpack.h"

#include <stdlib.h>
#include <string.h>

/*
 * The reader of code objects. Kernels come from the metadata note; each names its descriptor, a symbol of 64
 * bytes, which leads to the code. Every offset and size of the file is checked before it is followed.
 */

#define ELF_HEADER       64
#define SECTION_HEADER   64
#define PROGRAM_HEADER   56
#define SYMBOL           24
#define DESCRIPTOR       64
#define MACHINE_AMDGPU   224
#define TYPE_RELOCATABLE 1
#define SECTION_SYMBOLS  2
#define SECTION_RELA     4
#define SECTION_NOTE     7
#define SECTION_NOBITS   8
#define SECTION_DYNSYM   11
#define SEGMENT_LOAD     1
#define NOTE_METADATA    32
#define ARCH_GFX1030     0x36
#define ARCH_GFX1013     0x42
#define MAX_COUNT        65535 /* of kernels, arguments, segments */
#define PROPERTY_WAVE32  (1u << 10)

struct reader {
    const uint8_t *bytes;
    uint64_t size;
    char **message;
    uint64_t sections; /* offset of the section headers */
    uint32_t section_count, names;
    bool relocatable;
    uint32_t text; /* number of .text */
};

struct section {
    uint32_t name, type, link, info;
    uint64_t address, offset, size;
};

/* What gg_guest_elf points to, freed together. */
struct elf_object {
    struct gg_guest_elf elf; /* first: the public pointer is this one */
    struct gg_guest_kernel *kernels;
    struct gg_guest_argument *arguments;
    struct gg_guest_segment *segments;
    char *text; /* names, one after another */
    uint64_t text_size, text_capacity;
};

static uint64_t number(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static uint32_t word_at(const struct reader *in, uint64_t at) { return (uint32_t)number(in->bytes + at, 4); }
static uint64_t long_at(const struct reader *in, uint64_t at) { return number(in->bytes + at, 8); }

static bool is_inside(const struct reader *in, uint64_t offset, uint64_t size)
{
    return offset <= in->size && size <= in->size - offset;
}

static struct section section_at(const struct reader *in, uint32_t index)
{
    uint64_t at = in->sections + (uint64_t)index * SECTION_HEADER;
    return (struct section){.name = word_at(in, at),
                            .type = word_at(in, at + 4),
                            .address = long_at(in, at + 16),
                            .offset = long_at(in, at + 24),
                            .size = long_at(in, at + 32),
                            .link = word_at(in, at + 40),
                            .info = word_at(in, at + 44)};
}

static bool has_contents(const struct reader *in, const struct section *section)
{
    return section->type != SECTION_NOBITS && is_inside(in, section->offset, section->size);
}

/* A terminated string of a string section, or NULL. */
static const char *string_at(const struct reader *in, uint32_t index, uint64_t at)
{
    if (index >= in->section_count)
        return NULL;
    struct section strings = section_at(in, index);
    if (!has_contents(in, &strings) || at >= strings.size)
        return NULL;
    const char *text = (const char *)in->bytes + strings.offset + at;
    return memchr(text, 0, (size_t)(strings.size - at)) ? text : NULL;
}

static int32_t read_header(struct reader *in, struct gg_guest_elf *elf)
{
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    if (in->size < ELF_HEADER || memcmp(in->bytes, ident, sizeof ident))
        return gg_fail(in->message, GG_ERR_FORMAT, "ELF: %llu bytes that are no 64-bit little-endian ELF file",
                       (unsigned long long)in->size);
    uint32_t machine = (uint32_t)number(in->bytes + 18, 2), arch = word_at(in, 48) & 0xff;
    if (machine != MACHINE_AMDGPU || (arch != ARCH_GFX1030 && arch != ARCH_GFX1013))
        return gg_fail(in->message, GG_ERR_UNSUPPORTED, "ELF: machine %u, processor 0x%x; gfx1030 and gfx1013 are read",
                       machine, arch);
    elf->gpu = arch == ARCH_GFX1030 ? GG_GUEST_GFX1030 : GG_GUEST_GFX1013;
    in->relocatable = number(in->bytes + 16, 2) == TYPE_RELOCATABLE;
    in->sections = long_at(in, 40);
    in->section_count = (uint32_t)number(in->bytes + 60, 2);
    in->names = (uint32_t)number(in->bytes + 62, 2);
    if (number(in->bytes + 58, 2) != SECTION_HEADER ||
        !is_inside(in, in->sections, (uint64_t)in->section_count * SECTION_HEADER))
        return gg_fail(in->message, GG_ERR_FORMAT, "ELF: %u section headers at 0x%llx lie outside the file",
                       in->section_count, (unsigned long long)in->sections);
    return GG_OK;
}

static int32_t find_text(struct reader *in, struct gg_guest_elf *elf)
{
    for (uint32_t i = 0; i < in->section_count; i++) {
        struct section section = section_at(in, i);
        const char *name = string_at(in, in->names, section.name);
        if (name && !strcmp(name, ".text")) {
            if (!has_contents(in, &section) || section.offset % 4 || section.size % 4)
                return gg_fail(in->message, GG_ERR_FORMAT, "ELF: .text, %llu bytes at 0x%llx",
                               (unsigned long long)section.size, (unsigned long long)section.offset);
            in->text = i;
            elf->code_address = section.address;
            elf->code_offset = section.offset;
            elf->code_size = section.size;
        }
    }
    if (!elf->code_size)
        return gg_fail(in->message, GG_ERR_FORMAT, "ELF: no code in .text");
    for (uint32_t i = 0; i < in->section_count && in->relocatable; i++) {
        struct section section = section_at(in, i);
        if (section.type == SECTION_RELA && section.info == in->text && section.size)
            return gg_fail(in->message, GG_ERR_UNSUPPORTED, "ELF: .text has relocations: link the object with lld");
    }
    return GG_OK;
}

static int32_t read_segments(struct reader *in, struct elf_object *object)
{
    uint64_t at = long_at(in, 32);
    uint32_t count = (uint32_t)number(in->bytes + 56, 2);
    if (in->relocatable || !count)
        return GG_OK;
    if (number(in->bytes + 54, 2) != PROGRAM_HEADER || !is_inside(in, at, (uint64_t)count * PROGRAM_HEADER))
        return gg_fail(in->message, GG_ERR_FORMAT, "ELF: %u program headers at 0x%llx lie outside the file", count,
                       (unsigned long long)at);
    object->segments = calloc(count, sizeof *object->segments);
    if (!object->segments)
        return gg_fail(in->message, GG_ERR_MEMORY, "ELF: no memory for %u segments", count);
    for (uint32_t i = 0; i < count; i++, at += PROGRAM_HEADER) {
        struct gg_guest_segment segment = {.offset = long_at(in, at + 8),
                                           .address = long_at(in, at + 16),
                                           .file_size = long_at(in, at + 32),
                                           .memory_size = long_at(in, at + 40)};
        if (word_at(in, at) != SEGMENT_LOAD)
            continue;
        if (!is_inside(in, segment.offset, segment.file_size) || segment.memory_size < segment.file_size ||
            segment.memory_size > UINT32_MAX || segment.address > UINT64_MAX - segment.memory_size)
            return gg_fail(in->message, GG_ERR_FORMAT, "ELF: segment %u, %llu bytes at 0x%llx", i,
                           (unsigned long long)segment.memory_size, (unsigned long long)segment.address);
        object->segments[object->elf.segment_count++] = segment;
    }
    return GG_OK;
}

/* File offset of a symbol with `size` bytes behind it; false if there is none such. */
static bool find_symbol(const struct reader *in, struct gg_msgpack_text name, uint64_t size, uint32_t *section_index,
                        uint64_t *file_offset)
{
    for (uint32_t i = 0; i < in->section_count; i++) {
        struct section table = section_at(in, i);
        if ((table.type != SECTION_SYMBOLS && table.type != SECTION_DYNSYM) || !has_contents(in, &table))
            continue;
        for (uint64_t at = 0; at + SYMBOL <= table.size; at += SYMBOL) {
            const uint8_t *symbol = in->bytes + table.offset + at;
            const char *text = string_at(in, table.link, number(symbol, 4));
            if (!text || !gg_msgpack_equals(name, text))
                continue;
            *section_index = (uint32_t)number(symbol + 6, 2);
            if (*section_index >= in->section_count)
                return false;
            struct section home = section_at(in, *section_index);
            uint64_t offset = number(symbol + 8, 8) - home.address; /* addresses of objects are 0 */
            if (!has_contents(in, &home) || offset > home.size || size > home.size - offset)
                return false;
            *file_offset = home.offset + offset;
            return true;
        }
    }
    return false;
}

/* ---- Metadata ---- */

static bool grow(void **array, uint32_t count, size_t element)
{
    if (count & (count - 1)) /* full at powers of two */
        return true;
    void *grown = realloc(*array, (size_t)(count ? 2 * count : 1) * element);
    if (grown)
        *array = grown;
    return grown != NULL;
}

/* Copies a name; the offset, since the text may still move. */
static bool add_text(struct elf_object *object, struct gg_msgpack_text text, const char **where)
{
    if (object->text_capacity - object->text_size < (uint64_t)text.size + 1) {
        uint64_t capacity = 2 * object->text_capacity + text.size + 64;
        char *grown = realloc(object->text, (size_t)capacity);
        if (!grown)
            return false;
        object->text = grown;
        object->text_capacity = capacity;
    }
    memcpy(object->text + object->text_size, text.bytes, text.size);
    object->text[object->text_size + text.size] = 0;
    *where = (const char *)(uintptr_t)object->text_size;
    object->text_size += (uint64_t)text.size + 1;
    return true;
}

static int32_t read_argument(struct gg_msgpack *in, struct elf_object *object, char **message)
{
    struct gg_guest_argument argument = {0};
    struct gg_msgpack_text name = {"", 0}, kind = {"", 0};
    for (uint32_t entries = gg_msgpack_map(in); entries && !in->failed; entries--) {
        struct gg_msgpack_text key = gg_msgpack_string(in);
        if (gg_msgpack_equals(key, ".name"))
            name = gg_msgpack_string(in);
        else if (gg_msgpack_equals(key, ".value_kind"))
            kind = gg_msgpack_string(in);
        else if (gg_msgpack_equals(key, ".offset"))
            argument.offset = (uint32_t)gg_msgpack_unsigned(in);
        else if (gg_msgpack_equals(key, ".size"))
            argument.size = (uint32_t)gg_msgpack_unsigned(in);
        else
            gg_msgpack_skip(in);
    }
    uint32_t at = object->elf.argument_count;
    if (at == MAX_COUNT)
        return gg_fail(message, GG_ERR_LIMIT, "ELF: more than %u arguments", MAX_COUNT);
    if (!grow((void **)&object->arguments, at, sizeof *object->arguments) || !add_text(object, name, &argument.name) ||
        !add_text(object, kind, &argument.kind))
        return gg_fail(message, GG_ERR_MEMORY, "ELF: no memory for argument %u", at);
    object->arguments[at] = argument;
    object->elf.argument_count++;
    return GG_OK;
}

/* The 64 bytes of the kernel's descriptor, and where its code begins. */
static int32_t read_descriptor(const struct reader *in, struct elf_object *object, struct gg_msgpack_text symbol,
                               struct gg_guest_kernel *kernel)
{
    uint64_t at, code;
    uint32_t section, code_section;
    if (!find_symbol(in, symbol, DESCRIPTOR, &section, &at))
        return gg_fail(in->message, GG_ERR_FORMAT, "ELF: no descriptor %.*s", (int)(symbol.size & 0xff), symbol.bytes);
    uint32_t properties = (uint32_t)number(in->bytes + at + 56, 2);
    kernel->lds_bytes = word_at(in, at);
    kernel->scratch_bytes = word_at(in, at + 4);
    kernel->kernarg_bytes = word_at(in, at + 8);
    kernel->rsrc3 = word_at(in, at + 44);
    kernel->rsrc1 = word_at(in, at + 48);
    kernel->rsrc2 = word_at(in, at + 52);
    kernel->user_sgprs = properties & 0x7f;
    kernel->wave = properties & PROPERTY_WAVE32 ? 32 : 64;
    /* The entry of an object that was not linked is a relocation: there, and here too, the symbol says it. */
    struct gg_msgpack_text name = {symbol.bytes, symbol.size - 3}; /* without .kd */
    if (!find_symbol(in, name, 4, &code_section, &code) || code_section != in->text ||
        (code - object->elf.code_offset) % 4)
        return gg_fail(in->message, GG_ERR_FORMAT, "ELF: no code for descriptor %.*s", (int)(symbol.size & 0xff),
                       symbol.bytes);
    kernel->entry = code - object->elf.code_offset;
    return GG_OK;
}

static int32_t read_kernel(const struct reader *in, struct gg_msgpack *note, struct elf_object *object)
{
    struct gg_guest_kernel kernel = {.first_argument = object->elf.argument_count};
    struct gg_msgpack_text name = {"", 0}, symbol = {"", 0};
    uint32_t at = object->elf.kernel_count;
    int32_t result = GG_OK;
    for (uint32_t entries = gg_msgpack_map(note); entries && !note->failed && !result; entries--) {
        struct gg_msgpack_text key = gg_msgpack_string(note);
        if (gg_msgpack_equals(key, ".name")) {
            name = gg_msgpack_string(note);
        } else if (gg_msgpack_equals(key, ".symbol")) {
            symbol = gg_msgpack_string(note);
        } else if (gg_msgpack_equals(key, ".args")) {
            for (uint32_t args = gg_msgpack_array(note); args && !note->failed && !result; args--)
                result = read_argument(note, object, in->message);
        } else if (gg_msgpack_equals(key, ".reqd_workgroup_size")) {
            uint32_t sizes = gg_msgpack_array(note);
            for (uint32_t i = 0; i < sizes && !note->failed; i++) {
                uint32_t size = (uint32_t)gg_msgpack_unsigned(note);
                if (i < 3)
                    kernel.threads[i] = size;
            }
        } else {
            gg_msgpack_skip(note);
        }
    }
    if (result)
        return result;
    for (uint32_t i = 0; i < symbol.size; i++) /* it stands in messages */
        note->failed |= symbol.bytes[i] < ' ' || symbol.bytes[i] > '~';
    if (note->failed || symbol.size < 4 || memcmp(symbol.bytes + symbol.size - 3, ".kd", 3))
        return gg_fail(in->message, GG_ERR_FORMAT, "ELF: the metadata of kernel %u is broken", at);
    result = read_descriptor(in, object, symbol, &kernel);
    if (result)
        return result;
    kernel.argument_count = object->elf.argument_count - kernel.first_argument;
    if (at == MAX_COUNT)
        return gg_fail(in->message, GG_ERR_LIMIT, "ELF: more than %u kernels", MAX_COUNT);
    if (!grow((void **)&object->kernels, at, sizeof *object->kernels) || !add_text(object, name, &kernel.name))
        return gg_fail(in->message, GG_ERR_MEMORY, "ELF: no memory for kernel %u", at);
    object->kernels[at] = kernel;
    object->elf.kernel_count++;
    return GG_OK;
}

static int32_t read_metadata(const struct reader *in, const uint8_t *bytes, uint64_t size, struct elf_object *object)
{
    struct gg_msgpack note = {bytes, size, 0, false};
    int32_t result = GG_OK;
    for (uint32_t entries = gg_msgpack_map(&note); entries && !note.failed && !result; entries--) {
        if (!gg_msgpack_equals(gg_msgpack_string(&note), "amdhsa.kernels")) {
            gg_msgpack_skip(&note);
            continue;
        }
        for (uint32_t kernels = gg_msgpack_array(&note); kernels && !note.failed && !result; kernels--)
            result = read_kernel(in, &note, object);
    }
    if (!result && note.failed)
        result = gg_fail(in->message, GG_ERR_FORMAT, "ELF: the metadata note is broken at byte %llu of %llu",
                         (unsigned long long)note.at, (unsigned long long)size);
    return result;
}

/* Notes: sizes of name and contents and a type, then both, padded to words. */
static int32_t read_notes(const struct reader *in, struct elf_object *object)
{
    for (uint32_t i = 0; i < in->section_count; i++) {
        struct section section = section_at(in, i);
        if (section.type != SECTION_NOTE || !has_contents(in, &section))
            continue;
        for (uint64_t at = 0; section.size - at >= 12;) {
            uint64_t start = section.offset + at, left = section.size - at - 12;
            uint64_t name = ((uint64_t)word_at(in, start) + 3) & ~UINT64_C(3), size = word_at(in, start + 4);
            uint64_t padded = (size + 3) & ~UINT64_C(3);
            if (name > left || size > left - name)
                return gg_fail(in->message, GG_ERR_FORMAT, "ELF: a note at 0x%llx is cut off",
                               (unsigned long long)start);
            if (word_at(in, start + 8) == NOTE_METADATA)
                return read_metadata(in, in->bytes + start + 12 + name, size, object);
            if (padded > left - name)
                break;
            at += 12 + name + padded;
        }
    }
    return gg_fail(in->message, GG_ERR_FORMAT, "ELF: no AMDGPU metadata note");
}

int32_t gg_guest_elf_read(const uint8_t *bytes, uint64_t size, struct gg_guest_elf **elf, char **message)
{
    struct reader in = {.bytes = bytes, .size = size, .message = message};
    struct elf_object *object = NULL;
    int32_t result = gg_succeed(message);
    if (!bytes || !elf)
        return gg_fail(message, GG_ERR_ARGUMENT, "ELF: no bytes, or nowhere to put what they mean");
    object = calloc(1, sizeof *object);
    if (!object)
        return gg_fail(message, GG_ERR_MEMORY, "ELF: no memory");
    result = read_header(&in, &object->elf);
    if (!result)
        result = find_text(&in, &object->elf);
    if (!result)
        result = read_segments(&in, object);
    if (!result)
        result = read_notes(&in, object);
    if (result) {
        gg_guest_elf_destroy(&object->elf);
        return result;
    }
    for (uint32_t i = 0; i < object->elf.kernel_count; i++)
        object->kernels[i].name = object->text + (uintptr_t)object->kernels[i].name;
    for (uint32_t i = 0; i < object->elf.argument_count; i++) {
        object->arguments[i].name = object->text + (uintptr_t)object->arguments[i].name;
        object->arguments[i].kind = object->text + (uintptr_t)object->arguments[i].kind;
    }
    object->elf.kernels = object->kernels;
    object->elf.arguments = object->arguments;
    object->elf.segments = object->segments;
    *elf = &object->elf;
    return GG_OK;
}

void gg_guest_elf_destroy(struct gg_guest_elf *elf)
{
    struct elf_object *object = (struct elf_object *)elf;
    if (!object)
        return;
    free(object->kernels);
    free(object->arguments);
    free(object->segments);
    free(object->text);
    free(object);
}

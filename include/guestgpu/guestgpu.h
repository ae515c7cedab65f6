/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_H
#define GUESTGPU_H

/*
 * What every part shares: version, result codes, text that the caller frees, and commands as data.
 *
 * Conventions of all public headers:
 *  - A function that can fail returns enum gg_result; outputs go through the last pointers and are
 *    written only on GG_OK, but for `message`.
 *  - `char **message` may be NULL. On failure it receives one line that names what and where, to be
 *    freed with gg_free(); on success it receives NULL.
 *  - Parameter structs are zero-initialised by the caller; zero means the sensible default.
 *  - The text between the cdef marks is what Python sees, word for word (python/ffi_build.py).
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

#define GG_ABI_VERSION 1

enum gg_result {
    GG_OK = 0,
    GG_ERR_ARGUMENT = -1,    /* a value outside what the function takes */
    GG_ERR_MEMORY = -2,      /* host or device memory could not be had */
    GG_ERR_UNSUPPORTED = -3, /* well-formed, but this version or device cannot do it */
    GG_ERR_FORMAT = -4,      /* bytes that are not what they should be */
    GG_ERR_LIMIT = -5,       /* beyond a limit of the device or of the format; the message names it */
    GG_ERR_NO_DEVICE = -6,   /* no Vulkan loader, no driver, or no device that fits the selector */
    GG_ERR_DEVICE = -7,      /* a Vulkan call failed; the message names call and VkResult */
    GG_ERR_DEVICE_LOST = -8, /* the device is gone; only destroy functions may follow */
    GG_ERR_TIMEOUT = -9,     /* a fence did not signal in time; the device counts as lost */
    GG_ERR_VALIDATION = -10, /* the validation layer or spirv-val objected */
    GG_ERR_COMPILE = -11,    /* GLSL that does not compile */
    GG_RESULT_FORCE_32 = 0x7fffffff
};

/* GG_ABI_VERSION of the library that was loaded; Python refuses to go on when it differs. */
uint32_t gg_abi_version(void);

/* The name of a result code ("GG_ERR_LIMIT"), or "unknown result". Never NULL, never freed. */
const char *gg_result_string(int32_t result);

/* Frees what the library handed out (messages, word arrays). NULL is allowed. */
void gg_free(void *pointer);

/* A piece of the guest's address space. Windows must not overlap. */
struct gg_guest_window {
    uint64_t address;
    uint64_t size; /* bytes */
    void *host;
};

/*
 * Commands as data. The parts write what a device is to be told as an array of these; tests look at
 * the array, gpu.h executes it. Buffers, pipelines and targets are numbers: indices into the tables
 * that stand beside the array when it is executed, so that recording needs no device.
 */
enum gg_command_kind {
    GG_COMMAND_FILL = 1,              /* buffer, offset, size: fill with value[0]; size is a multiple of 4 */
    GG_COMMAND_COPY = 2,              /* buffer:offset -> other:other_offset, size bytes */
    GG_COMMAND_BARRIER = 3,           /* everything before is visible to everything after */
    GG_COMMAND_BIND = 4,              /* pipeline; binding[0..bindings-1] name its storage buffers */
    GG_COMMAND_PUSH = 5,              /* value[0..bindings-1] are the push constants of the bound pipeline */
    GG_COMMAND_DISPATCH = 6,          /* value[0..2] workgroups */
    GG_COMMAND_DISPATCH_INDIRECT = 7, /* VkDispatchIndirectCommand at buffer:offset */
    GG_COMMAND_BEGIN_RENDER = 8,      /* target; value[0..3] are the bits of the clear colour; depth clears to 1 */
    GG_COMMAND_END_RENDER = 9,
    GG_COMMAND_BIND_INDEX = 10,    /* buffer:offset, value[0] = index size in bytes (1, 2 or 4) */
    GG_COMMAND_DRAW = 11,          /* value[0..3]: vertices, instances, first vertex, first instance */
    GG_COMMAND_DRAW_INDEXED = 12,  /* value[0..4]: indices, instances, first index, vertex offset, first instance */
    GG_COMMAND_DRAW_INDIRECT = 13, /* buffer:offset, value[0] = draws, value[1] = stride */
    GG_COMMAND_DRAW_INDEXED_INDIRECT = 14, /* likewise */
    GG_COMMAND_DRAW_INDIRECT_COUNT = 15,   /* likewise; the count at other:other_offset, at most value[0] */
    GG_COMMAND_DRAW_INDEXED_INDIRECT_COUNT = 16,
    GG_COMMAND_DRAW_MESH = 17,        /* value[0..2] workgroups of the task stage, or of the mesh stage */
    GG_COMMAND_TIMESTAMP = 18,        /* value[0] = slot; written once all earlier commands are done */
    GG_COMMAND_BEGIN_STATISTICS = 19, /* value[0] = slot; see struct gg_statistics */
    GG_COMMAND_END_STATISTICS = 20,
    GG_COMMAND_KIND_FORCE_32 = 0x7fffffff
};

#define GG_COMMAND_VALUES 8

struct gg_command {
    uint32_t kind;     /* enum gg_command_kind */
    uint32_t pipeline; /* or target, by kind */
    uint32_t buffer;
    uint32_t other;
    uint64_t offset;
    uint64_t other_offset;
    uint64_t size;
    uint32_t bindings; /* how many of the arrays below count */
    uint32_t reserved; /* 0 */
    uint32_t value[GG_COMMAND_VALUES];
    uint32_t binding[GG_COMMAND_VALUES];
};

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
#ifndef GG_CAPTURE_H
#define GG_CAPTURE_H

/*
 * The preloaded library libguestgpu_capture.so, in record mode. It stands in front of Mesa's libamdgpu_noop_drm_shim.so
 * and writes what an unmodified Vulkan application submits to RADV:
 *
 *   preload.c    the libc functions that it takes over; which descriptors belong to one open device
 *   recorder.c   buffers, what changed in them, submissions
 *   output.c     the file: records with checksums, and what is said on stderr
 *
 * Environment: GUESTGPU_CAPTURE names the file, without it every call passes through. A second process that inherits the
 * environment writes FILE.PID. GUESTGPU_CAPTURE_LIMIT bounds a file, in MiB (4096).
 * Whatever goes wrong here, the application goes on as if nobody had looked.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The file: "GGCAPTUR", uint32 version, uint32 0, then records; all numbers little-endian.
 * A record: uint32 kind, uint32 checksum, uint64 payload size (a multiple of 8), payload.
 * The checksum is zlib's CRC-32 of kind, size and payload.
 */
#define CAPTURE_MAGIC   "GGCAPTUR"
#define CAPTURE_VERSION 1u

enum record_kind {
    RECORD_INFO = 1,   /* text, lines of "key=value" */
    RECORD_BUFFER = 2, /* struct record_buffer: a new buffer, all zeros */
    RECORD_FREE = 3,   /* struct record_buffer, of which only device and buffer count */
    RECORD_VA = 4,     /* struct record_va */
    RECORD_MEMORY = 5, /* struct record_memory, its runs, then the words of all runs, padded to 8 bytes */
    RECORD_SUBMIT = 6, /* struct record_submit, then its struct record_ib */
    RECORD_NOTE = 7,   /* text: what could not be recorded */
    RECORD_END = 8,    /* struct record_end; missing when the application was killed */
};

/* A device is one open file description of the application; buffers are numbered over the whole capture, from 1. */
struct record_buffer {
    uint32_t device;
    uint32_t buffer;
    uint64_t size;    /* bytes */
    uint64_t domains; /* AMDGPU_GEM_DOMAIN_* */
    uint64_t flags;   /* AMDGPU_GEM_CREATE_* */
};

/* One change of a device's page table, in order. Buffer 0: memory that is not recorded. */
struct record_va {
    uint32_t device;
    uint32_t operation; /* AMDGPU_VA_OP_* */
    uint32_t buffer;
    uint32_t flags; /* AMDGPU_VM_PAGE_* */
    uint64_t address;
    uint64_t offset; /* in the buffer */
    uint64_t size;   /* may go beyond the buffer's end: zeros stand there */
};

/*
 * What the CPU changed in a buffer since the last submission, and nothing else: whoever carries out the submissions
 * keeps what the GPU wrote beside it.
 */
struct record_memory {
    uint32_t device;
    uint32_t buffer;
    uint32_t run_count;
    uint32_t word_count; /* of all runs */
};

struct record_run {
    uint32_t word; /* index of the first in the buffer */
    uint32_t count;
};

struct record_submit {
    uint32_t device;
    uint32_t context;
    uint32_t ib_count;
    uint32_t flags;
};

struct record_ib {
    uint64_t address;
    uint32_t bytes;
    uint32_t flags;   /* AMDGPU_IB_FLAG_* */
    uint32_t ip_type; /* AMDGPU_HW_IP_* */
    uint32_t ip_instance;
    uint32_t ring;
    uint32_t reserved;
};

struct record_end {
    uint64_t submissions;
    uint64_t records; /* before this one */
};

/* What libc, or the next preloaded library, does by these names. */
struct capture_next {
    int (*ioctl)(int fd, unsigned long request, ...);
    int (*close)(int fd);
    int (*dup)(int fd);
    int (*dup2)(int fd, int to);
    int (*dup3)(int fd, int to, int flags);
    int (*fcntl)(int fd, int command, ...);
    int (*open)(const char *path, int flags, ...);
    void *(*mmap)(void *address, size_t size, int protection, int flags, int fd, off_t offset);
    int (*munmap)(void *address, size_t size);
};
const struct capture_next *capture_next(void);

/* ---- recorder.c; the caller holds no lock ---- */

/* Whether `request` is one that the recorder wants to see. */
bool recorder_wants(unsigned long request);

/* Carries out ioctl(fd, request, argument) on the device, and notes what it did. Returns what ioctl returned. */
int recorder_ioctl(uint32_t device, int fd, unsigned long request, void *argument);

/* Around fork(): the child forgets all, and writes a file of its own. */
void recorder_before_fork(void);
void recorder_after_fork(bool child);

/* At the end of the process. */
void recorder_end(void);

/* ---- output.c; the recorder's lock is held ---- */

/* Whether records are wanted: a file is named, could be opened, and is not full. */
bool output_wanted(void);

/* Appends a record whose payload is the `parts` of `sizes` bytes one after another, together a multiple of 8. */
void output_record(enum record_kind kind, int count, const void *const parts[], const size_t sizes[]);

/* A note in the file, and the same line on stderr. */
void output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Only the line on stderr. */
void output_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Hands all records so far to the kernel. */
void output_flush(void);

/* Writes the last record and closes the file, if there is one. */
void output_end(uint64_t submissions);

/* In the child of a fork: the file is the parent's. */
void output_forget(void);

#endif

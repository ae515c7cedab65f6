/* SPDX-License-Identifier: MIT */
/* The capture's file: buffered records with checksums, opened when the first one comes. */
#define _GNU_SOURCE
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_LIMIT_MIB 4096u
#define PATH_BYTES        4096

struct record_head {
    uint32_t kind;
    uint32_t checksum;
    uint64_t size;
};

static struct {
    int fd;
    bool opened;
    bool stopped; /* for good: could not be opened, is full, or a write failed */
    unsigned char *pending;
    size_t pending_size, pending_capacity;
    uint64_t written; /* bytes, pending ones included */
    uint64_t limit;
    uint64_t records;
} out = {.fd = -1};

static pthread_once_t crc_once = PTHREAD_ONCE_INIT;
static uint32_t crc_table[256];

static void crc_prepare(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        crc_table[byte] = crc;
    }
}

static uint32_t crc_add(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ crc_table[(crc ^ bytes[i]) & 0xff];
    return crc;
}

static void say(const char *format, va_list args)
{
    char line[1024];
    int head = snprintf(line, sizeof line, "guestgpu capture: ");
    vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    strcat(line, "\n");
    /* One write, so that lines of several processes do not mix; there is nobody to tell when it fails. */
    ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
    (void)ignored;
}

void output_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

static const char *wanted_path(void)
{
    const char *path = getenv("GUESTGPU_CAPTURE");
    return path && *path ? path : NULL;
}

static void stop(void)
{
    if (out.fd >= 0)
        capture_next()->close(out.fd);
    free(out.pending);
    out.fd = -1;
    out.pending = NULL;
    out.pending_size = out.pending_capacity = 0;
    out.stopped = true;
}

/* False, and recording is over, when there is no memory. */
static bool append(const void *data, size_t size)
{
    if (out.pending_size + size > out.pending_capacity) {
        size_t capacity = (out.pending_size + size) * 2;
        unsigned char *grown = realloc(out.pending, capacity);
        if (!grown) {
            output_say("no memory for %zu bytes of records: not recording any more", capacity);
            stop();
            return false;
        }
        out.pending = grown;
        out.pending_capacity = capacity;
    }
    if (size)
        memcpy(out.pending + out.pending_size, data, size);
    out.pending_size += size;
    out.written += size;
    return true;
}

/* The first process takes the file as named; it must be new, so that no two processes write one. */
static bool open_file(void)
{
    const char *path = wanted_path();
    char own[PATH_BYTES];
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    out.fd = capture_next()->open(path, flags, 0600);
    if (out.fd < 0 && errno == EEXIST) {
        snprintf(own, sizeof own, "%s.%ld", path, (long)getpid());
        path = own;
        out.fd = capture_next()->open(path, flags, 0600);
    }
    if (out.fd < 0) {
        output_say("%s: %s: not recording", path, strerror(errno));
        stop();
        return false;
    }
    const char *limit = getenv("GUESTGPU_CAPTURE_LIMIT");
    char *end = NULL;
    unsigned long mib = limit ? strtoul(limit, &end, 10) : DEFAULT_LIMIT_MIB;
    if (limit && (end == limit || *end || !mib)) {
        output_say("GUESTGPU_CAPTURE_LIMIT=%s is no number of MiB: taking %u", limit, DEFAULT_LIMIT_MIB);
        mib = DEFAULT_LIMIT_MIB;
    }
    out.limit = (uint64_t)mib << 20;
    return true;
}

static void begin_file(void)
{
    out.opened = true;
    pthread_once(&crc_once, crc_prepare);
    if (!open_file())
        return;
    const uint32_t version[2] = {CAPTURE_VERSION, 0};
    if (!append(CAPTURE_MAGIC, 8) || !append(version, sizeof version))
        return;
    char info[512] = {0};
    const char *gpu = getenv("AMDGPU_GPU_ID");
    int length = snprintf(info, sizeof info, "gpu=%s\nprogram=%s\n", gpu ? gpu : "", program_invocation_short_name);
    size_t size = length < 0 ? 0 : (size_t)length < sizeof info ? (size_t)length : sizeof info - 8;
    output_record(RECORD_INFO, 1, (const void *const[]){info}, (const size_t[]){(size + 7) / 8 * 8});
}

bool output_wanted(void) { return !out.stopped && wanted_path() != NULL; }

void output_record(enum record_kind kind, int count, const void *const parts[], const size_t sizes[])
{
    if (!output_wanted())
        return;
    if (!out.opened)
        begin_file();
    if (out.stopped)
        return;
    struct record_head head = {.kind = (uint32_t)kind};
    for (int i = 0; i < count; i++)
        head.size += sizes[i];
    if (out.written + head.size + sizeof head > out.limit) {
        output_flush();
        output_say("the file has reached its limit of %llu MiB: not recording any more",
                   (unsigned long long)(out.limit >> 20));
        stop();
        return;
    }
    uint32_t crc = crc_add(~0u, &head.kind, sizeof head.kind);
    crc = crc_add(crc, &head.size, sizeof head.size);
    for (int i = 0; i < count; i++)
        crc = crc_add(crc, parts[i], sizes[i]);
    head.checksum = ~crc;
    bool kept = append(&head, sizeof head);
    for (int i = 0; kept && i < count; i++)
        kept = append(parts[i], sizes[i]);
    out.records++;
}

void output_note(const char *format, ...)
{
    char text[512] = {0};
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    say(format, args);
    vsnprintf(text, sizeof text, format, again);
    va_end(again);
    va_end(args);
    output_record(RECORD_NOTE, 1, (const void *const[]){text}, (const size_t[]){(strlen(text) + 8) / 8 * 8});
}

void output_flush(void)
{
    size_t done = 0;
    while (out.fd >= 0 && done < out.pending_size) {
        ssize_t n = write(out.fd, out.pending + done, out.pending_size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            output_say("the file cannot be written (%s): not recording any more", strerror(errno));
            stop();
            return;
        }
        done += (size_t)n;
    }
    out.pending_size = 0;
}

void output_end(uint64_t submissions)
{
    if (!out.opened || out.stopped)
        return;
    const struct record_end end = {.submissions = submissions, .records = out.records};
    output_record(RECORD_END, 1, (const void *const[]){&end}, (const size_t[]){sizeof end});
    output_flush();
    stop();
}

void output_forget(void)
{
    stop();
    out.opened = out.stopped = false;
    out.written = out.records = 0;
}

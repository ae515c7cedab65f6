/* SPDX-License-Identifier: MIT */
/*
 * The libc functions that the library takes over. Each passes on to the next one of its name; only ioctl looks closer.
 * The others keep one table: which descriptors are the same open file, since libdrm talks through a duplicate of
 * the descriptor that the driver opened. The table is lock-free: close() and dup() must work in signal handlers.
 */
#define _GNU_SOURCE
#include "capture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT      __attribute__((visibility("default")))
#define DESCRIPTORS 65536 /* higher ones are looked at one by one, as if none were a duplicate */

static _Atomic uint32_t device_of[DESCRIPTORS];
static _Atomic uint32_t devices;

static struct capture_next next;
static pthread_once_t next_once = PTHREAD_ONCE_INIT;

static void before_fork(void) { recorder_before_fork(); }
static void after_fork_in_parent(void) { recorder_after_fork(false); }
static void after_fork_in_child(void) { recorder_after_fork(true); }

static void find(void *function, const char *name)
{
    /* ISO C has no cast from an object pointer to a function; POSIX writes through it like this. */
    *(void **)function = dlsym(RTLD_NEXT, name);
    if (!*(void **)function) {
        output_say("the C library has no %s: cannot go on", name);
        abort();
    }
}

static void find_next(void)
{
    find(&next.ioctl, "ioctl");
    find(&next.close, "close");
    find(&next.dup, "dup");
    find(&next.dup2, "dup2");
    find(&next.dup3, "dup3");
    find(&next.fcntl, "fcntl64");
    find(&next.open, "open64");
    find(&next.mmap, "mmap64");
    find(&next.munmap, "munmap");
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

const struct capture_next *capture_next(void)
{
    pthread_once(&next_once, find_next);
    return &next;
}

/* Early: the first call may otherwise come from a signal handler. */
__attribute__((constructor)) static void prepare(void) { capture_next(); }
__attribute__((destructor)) static void finish(void) { recorder_end(); }

/* The device that fd belongs to; a descriptor never seen before is a device of its own. */
static uint32_t device(int fd)
{
    if (fd < 0 || fd >= DESCRIPTORS)
        return atomic_fetch_add(&devices, 1) + 1;
    uint32_t known = atomic_load(&device_of[fd]);
    if (known)
        return known;
    uint32_t fresh = atomic_fetch_add(&devices, 1) + 1;
    return atomic_compare_exchange_strong(&device_of[fd], &known, fresh) ? fresh : known;
}

static int duplicated(int fd, int copy)
{
    if (copy >= 0 && copy < DESCRIPTORS && copy != fd)
        atomic_store(&device_of[copy], device(fd));
    return copy;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (!argument || !recorder_wants(request))
        return capture_next()->ioctl(fd, request, argument);
    return recorder_ioctl(device(fd), fd, request, argument);
}

EXPORT int close(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        atomic_store(&device_of[fd], 0);
    return capture_next()->close(fd);
}

EXPORT int dup(int fd) { return duplicated(fd, capture_next()->dup(fd)); }
EXPORT int dup2(int fd, int to) { return duplicated(fd, capture_next()->dup2(fd, to)); }
EXPORT int dup3(int fd, int to, int flags) { return duplicated(fd, capture_next()->dup3(fd, to, flags)); }

static int control(int fd, int command, void *argument)
{
    int result = capture_next()->fcntl(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}

EXPORT int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return control(fd, command, argument);
}

EXPORT int fcntl64(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return control(fd, command, argument);
}

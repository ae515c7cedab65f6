/* SPDX-License-Identifier: MIT */
#ifndef GG_SUBALLOC_TRACE_H
#define GG_SUBALLOC_TRACE_H

#include <guestgpu/suballoc_speed.h>

#include <stdbool.h>

struct gg_request {
    uint64_t size;
    uint32_t alignment, kind;
};

/* `live` requests that fill an allocator, then `pairs` of a free and an allocation, then the frees. */
struct gg_trace {
    struct gg_request *requests; /* live + pairs */
    uint32_t *victims;           /* live: the order of the frees at the end; then what each pair frees */
    uint64_t live, pairs;
    uint64_t peak; /* most bytes live */
    uint64_t capacity;
    uint64_t *handles; /* live */
    uint32_t kind;
};

/* Holes: how many resources there are, of which every other that would not serve the request is freed. */
static inline uint64_t gg_fillers(const struct gg_trace *trace) { return trace->live * 9 / 4; }

/* splitmix64 */
static inline uint64_t gg_draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif

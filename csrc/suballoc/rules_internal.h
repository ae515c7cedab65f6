/* SPDX-License-Identifier: MIT */
#ifndef GG_SUBALLOC_RULES_INTERNAL_H
#define GG_SUBALLOC_RULES_INTERNAL_H

#include <guestgpu/suballoc_rules.h>

#include "../common/message.h"

#include <stdbool.h>

static inline bool gg_suballoc_is_power_of_two(uint64_t value) { return value && !(value & (value - 1)); }

/* value rounded up to a power of two; false when that overflows. */
static inline bool gg_suballoc_align_up(uint64_t value, uint64_t alignment, uint64_t *aligned)
{
    uint64_t sum;
    if (__builtin_add_overflow(value, alignment - 1, &sum))
        return false;
    *aligned = sum & ~(alignment - 1);
    return true;
}

static inline uint64_t gg_suballoc_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* rules_size.c: what follows from a description alone. */
uint32_t gg_suballoc_check_resource(const struct gg_suballoc_resource *resource); /* a verdict */
/* Bytes of all texels, tightly packed; of a buffer its width. False: 64 bits do not hold them. */
bool gg_suballoc_packed_size(const struct gg_suballoc_resource *resource, uint64_t *size);
/* Tiles of the smaller alignment that the most detailed mip takes; UINT64_MAX when there are more. */
uint64_t gg_suballoc_tiles(const struct gg_suballoc_resource *resource);

/* rules_profile.c: options with the profile filled in. */
int32_t gg_suballoc_check_options(const struct gg_suballoc_options *options, struct gg_suballoc_options *out,
                                  char **message);
bool gg_suballoc_is_tight_capable(const struct gg_suballoc_profile *profile);
/* Asks callback or numbers. A verdict. */
uint32_t gg_suballoc_ask(const struct gg_suballoc_profile *profile, const struct gg_suballoc_query *query,
                         struct gg_suballoc_answer *answer);

/* rules.c; `options` are checked ones. The alignment that a resource has without the tight flag or a request. */
uint64_t gg_suballoc_default_alignment(uint32_t kind);
void gg_suballoc_find_limits(const struct gg_suballoc_resource *resource, const struct gg_suballoc_options *options,
                             struct gg_suballoc_limits *limits);
/* Whether an answer above the maximum is one of a committed resource aligned to the large page. */
bool gg_suballoc_is_large_page(const struct gg_suballoc_limits *limits, const struct gg_suballoc_profile *profile,
                               const struct gg_suballoc_answer *answer);

/* rules_layout.c: a C struct that grows. */
struct gg_suballoc_sum {
    uint64_t end;
    uint64_t packed; /* the end without padding between members */
    uint64_t alignment;
};
/* False: overflow; nothing was added. */
bool gg_suballoc_add(struct gg_suballoc_sum *sum, uint64_t size, uint64_t alignment, uint64_t *offset);
bool gg_suballoc_close(const struct gg_suballoc_sum *sum, struct gg_suballoc_total *total);

#endif

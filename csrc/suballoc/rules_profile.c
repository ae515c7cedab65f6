/* SPDX-License-Identifier: MIT */
/* Devices: named profiles, checks of profiles and options, and what the numbers of a profile answer. */
#include "rules_internal.h"

#include <string.h>

static const struct {
    const char *name;
    struct gg_suballoc_profile profile;
} profiles[] = {
    {"tight", {.tier = 1, .msaa_64k = 1, .buffer_alignment = 256}}, /* what today's hardware agrees on */
    {"tight-8", {.tier = 1, .msaa_64k = 1, .buffer_alignment = 8, .texture_alignment = 8, .msaa_alignment = 8}},
    {"none", {.msaa_64k = 1}},
    {"large-pages", {.tier = 1, .msaa_64k = 1, .buffer_alignment = 256, .large_page = 2097152}},
    {"vulkan", /* a desktop device as its memory requirements show it, with a granularity of 1 KiB */
     {.tier = 1,
      .msaa_64k = 1,
      .buffer_alignment = 16,
      .texture_alignment = 1024,
      .msaa_alignment = 65536,
      .granularity = 1024}},
};

#define PROFILES (sizeof profiles / sizeof *profiles)

const char *gg_suballoc_profile_name(uint32_t index) { return index < PROFILES ? profiles[index].name : NULL; }

int32_t gg_suballoc_profile(const char *name, struct gg_suballoc_profile *profile, char **message)
{
    if (!name || !profile)
        return gg_fail(message, GG_ERR_ARGUMENT, "profile: %s is NULL", name ? "profile" : "name");
    for (size_t i = 0; i < PROFILES; i++)
        if (!strcmp(name, profiles[i].name)) {
            *profile = profiles[i].profile;
            return gg_succeed(message);
        }
    return gg_fail(message, GG_ERR_ARGUMENT, "profile: no profile %.64s", name);
}

bool gg_suballoc_is_tight_capable(const struct gg_suballoc_profile *profile)
{
    return profile->tier &&
           (!profile->interface_version || profile->interface_version >= GG_SUBALLOC_DRIVER_INTERFACE_TIGHT);
}

static int32_t check_profile(const struct gg_suballoc_profile *p, char **message)
{
    const struct {
        const char *name;
        uint32_t value;
    } alignments[] = {{"buffer_alignment", p->buffer_alignment},
                      {"texture_alignment", p->texture_alignment},
                      {"msaa_alignment", p->msaa_alignment},
                      {"granularity", p->granularity}};
    if (p->tier > 1)
        return gg_fail(message, GG_ERR_ARGUMENT, "profile: tier is %u, must be 0 or 1", p->tier);
    if (p->msaa_64k > 1)
        return gg_fail(message, GG_ERR_ARGUMENT, "profile: msaa_64k is %u, must be 0 or 1", p->msaa_64k);
    for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++)
        if (alignments[i].value && !gg_suballoc_is_power_of_two(alignments[i].value))
            return gg_fail(message, GG_ERR_ARGUMENT, "profile: %s is %u, must be a power of two", alignments[i].name,
                           alignments[i].value);
    if (p->large_page && (!gg_suballoc_is_power_of_two(p->large_page) || p->large_page < GG_SUBALLOC_DEFAULT_ALIGNMENT))
        return gg_fail(message, GG_ERR_ARGUMENT, "profile: large_page is %llu, must be a power of two from 65536 on",
                       (unsigned long long)p->large_page);
    return GG_OK;
}

int32_t gg_suballoc_check_options(const struct gg_suballoc_options *options, struct gg_suballoc_options *out,
                                  char **message)
{
    static const struct gg_suballoc_options defaults;
    *out = options ? *options : defaults;
    if (!out->profile)
        out->profile = &profiles[0].profile;
    const struct {
        const char *name;
        uint32_t value;
    } switches[] = {{"sdk", out->sdk},
                    {"mode", out->mode},
                    {"small_msaa", out->small_msaa},
                    {"reserved_buffers", out->reserved_buffers}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (switches[i].value > 1)
            return gg_fail(message, GG_ERR_ARGUMENT, "rules: %s is %u, must be 0 or 1", switches[i].name,
                           switches[i].value);
    return check_profile(out->profile, message);
}

/* The alignment that the numbers have for such a resource; 0: none given. */
static uint64_t number_of(const struct gg_suballoc_profile *p, uint32_t kind)
{
    return kind == GG_SUBALLOC_KIND_BUFFER    ? p->buffer_alignment
           : kind == GG_SUBALLOC_KIND_TEXTURE ? p->texture_alignment
                                              : p->msaa_alignment;
}

static uint64_t tight_alignment(const struct gg_suballoc_profile *p, const struct gg_suballoc_query *query)
{
    uint32_t kind = query->resource.kind;
    uint64_t number = number_of(p, kind);
    if (!number)
        return query->maximum;
    /* A driver knows which resources are small, and does better for them. */
    bool is_small = kind != GG_SUBALLOC_KIND_BUFFER && query->maximum < gg_suballoc_default_alignment(kind);
    return is_small && number > query->maximum ? query->maximum : number;
}

/* What Vulkan asks of all its resources, whatever the rules would like: nothing can be placed more tightly. */
static uint64_t vulkan_alignment(const struct gg_suballoc_profile *p, const struct gg_suballoc_query *query,
                                 bool is_tight)
{
    uint64_t wanted = gg_suballoc_max(number_of(p, query->resource.kind), p->granularity);
    if (!is_tight && wanted > query->restriction) /* classic alignments are two a kind: not the first, so the second */
        wanted = gg_suballoc_max(wanted, gg_suballoc_default_alignment(query->resource.kind));
    return wanted;
}

/* False: overflow. */
static bool answer_by_numbers(const struct gg_suballoc_profile *p, const struct gg_suballoc_query *query,
                              struct gg_suballoc_answer *answer)
{
    const struct gg_suballoc_resource *r = &query->resource;
    bool is_tight = query->resource_flags & GG_SUBALLOC_DRIVER_RESOURCE_FLAG_TIGHT;
    uint64_t alignment = query->restriction, size;
    if (p->granularity)
        alignment = gg_suballoc_max(alignment, vulkan_alignment(p, query, is_tight));
    else if (is_tight)
        alignment = gg_suballoc_max(alignment, tight_alignment(p, query));
    if (!gg_suballoc_packed_size(r, &size))
        return false;
    bool is_implicit = query->heap_flags & GG_SUBALLOC_DRIVER_HEAP_FLAG_IMPLICIT;
    bool is_shared = r->usage & GG_SUBALLOC_USAGE_CROSS_ADAPTER;
    if (p->large_page && is_tight && is_implicit && !is_shared && size % p->large_page == 0)
        alignment = gg_suballoc_max(alignment, p->large_page);
    bool keeps_width = r->kind == GG_SUBALLOC_KIND_BUFFER && is_tight;
    if (!keeps_width && !gg_suballoc_align_up(size, alignment, &size))
        return false;
    *answer = (struct gg_suballoc_answer){.size = size, .alignment = alignment};
    return true;
}

uint32_t gg_suballoc_ask(const struct gg_suballoc_profile *profile, const struct gg_suballoc_query *query,
                         struct gg_suballoc_answer *answer)
{
    *answer = (struct gg_suballoc_answer){0};
    if (profile->driver)
        return profile->driver(profile->user, query, answer) ? GG_SUBALLOC_VERDICT_DRIVER_REFUSED
                                                             : GG_SUBALLOC_VERDICT_OK;
    return answer_by_numbers(profile, query, answer) ? GG_SUBALLOC_VERDICT_OK : GG_SUBALLOC_VERDICT_SIZE_OVERFLOW;
}

int32_t gg_suballoc_profile_answer(const struct gg_suballoc_profile *profile, const struct gg_suballoc_query *query,
                                   struct gg_suballoc_answer *answer, char **message)
{
    if (!profile || !query || !answer)
        return gg_fail(message, GG_ERR_ARGUMENT, "profile's answer: NULL");
    int32_t result = check_profile(profile, message);
    if (result)
        return result;
    uint32_t verdict = gg_suballoc_check_resource(&query->resource);
    if (verdict == GG_SUBALLOC_VERDICT_OK && !gg_suballoc_is_power_of_two(query->restriction))
        return gg_fail(message, GG_ERR_ARGUMENT, "profile's answer: restriction %llu is no power of two",
                       (unsigned long long)query->restriction);
    if (verdict == GG_SUBALLOC_VERDICT_OK && !gg_suballoc_is_power_of_two(query->maximum))
        return gg_fail(message, GG_ERR_ARGUMENT, "profile's answer: maximum %llu is no power of two",
                       (unsigned long long)query->maximum);
    if (verdict == GG_SUBALLOC_VERDICT_SIZE_OVERFLOW ||
        (verdict == GG_SUBALLOC_VERDICT_OK && !answer_by_numbers(profile, query, answer)))
        return gg_fail(message, GG_ERR_LIMIT, "profile's answer: %s",
                       gg_suballoc_verdict_string(GG_SUBALLOC_VERDICT_SIZE_OVERFLOW));
    if (verdict)
        return gg_fail(message, GG_ERR_ARGUMENT, "profile's answer: %s", gg_suballoc_verdict_string(verdict));
    return gg_succeed(message);
}

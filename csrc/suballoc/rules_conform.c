/* SPDX-License-Identifier: MIT */
/* The conformance suite: asks a driver about many resources as the runtime would, and judges the raw answers. */
#include "rules_internal.h"

struct suite {
    const struct gg_suballoc_options *options;
    struct gg_suballoc_violation *at;
    uint32_t capacity;
    struct gg_suballoc_conformance found;
};

static void report(struct suite *s, const struct gg_suballoc_resource *resource,
                   const struct gg_suballoc_answer *answer, uint32_t kind, uint64_t wanted)
{
    if (s->found.violations < s->capacity)
        s->at[s->found.violations] =
            (struct gg_suballoc_violation){.resource = *resource, .answer = *answer, .wanted = wanted, .kind = kind};
    s->found.violations++;
}

/* What the driver says by the classic rules, where the resource may ask for the smallest alignment it qualifies for. */
static bool ask_classic(const struct suite *s, struct gg_suballoc_resource resource, struct gg_suballoc_answer *answer)
{
    struct gg_suballoc_limits limits;
    resource.usage &= ~(uint32_t)GG_SUBALLOC_USAGE_TIGHT;
    resource.alignment = 0;
    gg_suballoc_find_limits(&resource, s->options, &limits);
    if (limits.minimum < limits.query.maximum) {
        resource.alignment = limits.minimum;
        gg_suballoc_find_limits(&resource, s->options, &limits);
    }
    if (limits.verdict || gg_suballoc_ask(s->options->profile, &limits.query, answer))
        return false;
    /* The runtime rounds a classic buffer. */
    return resource.kind != GG_SUBALLOC_KIND_BUFFER ||
           gg_suballoc_align_up(answer->size, GG_SUBALLOC_DEFAULT_ALIGNMENT, &answer->size);
}

static void judge_tight(struct suite *s, const struct gg_suballoc_resource *resource,
                        const struct gg_suballoc_answer *answer, bool is_large_page)
{
    struct gg_suballoc_answer classic;
    if (resource->kind == GG_SUBALLOC_KIND_BUFFER && answer->size != resource->width)
        report(s, resource, answer, GG_SUBALLOC_VIOLATION_BUFFER_SIZE, resource->width);
    if (!ask_classic(s, *resource, &classic))
        return; /* its own case says so */
    if (answer->alignment > classic.alignment && !is_large_page)
        report(s, resource, answer, GG_SUBALLOC_VIOLATION_WORSE, classic.alignment);
    else if (answer->size > classic.size)
        report(s, resource, answer, GG_SUBALLOC_VIOLATION_WORSE, classic.size);
}

static void ask_case(struct suite *s, const struct gg_suballoc_resource *resource)
{
    struct gg_suballoc_limits limits;
    struct gg_suballoc_answer answer, again;
    gg_suballoc_find_limits(resource, s->options, &limits);
    if (limits.verdict)
        return; /* the runtime refuses it; the driver never sees it */
    s->found.cases++;
    uint32_t verdict = gg_suballoc_ask(s->options->profile, &limits.query, &answer);
    uint32_t verdict_again = gg_suballoc_ask(s->options->profile, &limits.query, &again);
    if (verdict != verdict_again || answer.size != again.size || answer.alignment != again.alignment)
        report(s, resource, &again, GG_SUBALLOC_VIOLATION_NOT_IDEMPOTENT, answer.alignment);
    if (verdict) {
        report(s, resource, &answer, GG_SUBALLOC_VIOLATION_REFUSED, limits.query.restriction);
        return;
    }
    bool is_large_page = gg_suballoc_is_large_page(&limits, s->options->profile, &answer);
    bool has_tight_flag = resource->usage & GG_SUBALLOC_USAGE_TIGHT;
    bool is_cross_adapter = has_tight_flag && resource->usage & GG_SUBALLOC_USAGE_CROSS_ADAPTER;
    bool is_placed_buffer = limits.tight && resource->kind == GG_SUBALLOC_KIND_BUFFER &&
                            resource->placement == GG_SUBALLOC_PLACEMENT_PLACED;
    if (is_cross_adapter && answer.alignment != limits.query.maximum)
        report(s, resource, &answer, GG_SUBALLOC_VIOLATION_CROSS_ADAPTER, limits.query.maximum);
    else if (is_placed_buffer && answer.alignment > limits.query.maximum)
        report(s, resource, &answer, GG_SUBALLOC_VIOLATION_BUFFER_ALIGNMENT, limits.query.maximum);
    else if (!gg_suballoc_is_power_of_two(answer.alignment) || answer.alignment < limits.query.restriction)
        report(s, resource, &answer, GG_SUBALLOC_VIOLATION_OUTSIDE, limits.query.restriction);
    else if (answer.alignment > limits.query.maximum && !is_large_page)
        report(s, resource, &answer, GG_SUBALLOC_VIOLATION_OUTSIDE, limits.query.maximum);
    if (limits.tight)
        judge_tight(s, resource, &answer, is_large_page);
}

/* One resource in every placement, classic, tight, with floors, and shared between adapters. */
static void ask_about(struct suite *s, struct gg_suballoc_resource resource)
{
    static const uint32_t floors[] = {0, 8, 16, 256, 4096, 65536};
    uint32_t usage = resource.usage;
    for (uint32_t placement = 0; placement < GG_SUBALLOC_PLACEMENT_RESERVED; placement++) {
        resource.placement = placement;
        for (size_t i = 0; i < sizeof floors / sizeof *floors; i++) {
            resource.alignment = floors[i];
            resource.usage = usage;
            ask_case(s, &resource);
            resource.usage = usage | GG_SUBALLOC_USAGE_TIGHT;
            ask_case(s, &resource);
        }
        resource.alignment = 0;
        resource.usage = usage | GG_SUBALLOC_USAGE_TIGHT | GG_SUBALLOC_USAGE_CROSS_ADAPTER;
        ask_case(s, &resource);
    }
}

static void ask_about_buffers(struct suite *s)
{
    for (uint32_t power = 0; power <= 40; power++)
        for (uint32_t near = 0; near < 3; near++) {
            uint64_t width = (1ull << power) + near - 1; /* and its neighbours */
            if (width)
                ask_about(s, (struct gg_suballoc_resource){.width = width});
        }
}

static void ask_about_textures(struct suite *s)
{
    static const uint32_t extents[] = {1, 17, 128, 129, 512, 4096};
    static const uint32_t usages[] = {0, GG_SUBALLOC_USAGE_RENDER_TARGET, GG_SUBALLOC_USAGE_DEPTH_STENCIL};
    const size_t extent_count = sizeof extents / sizeof *extents;
    for (size_t i = 0; i < extent_count * extent_count; i++)
        for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
            for (size_t k = 0; k < sizeof usages / sizeof *usages; k++) {
                struct gg_suballoc_resource r = {.kind = GG_SUBALLOC_KIND_TEXTURE,
                                                 .width = extents[i % extent_count],
                                                 .height = extents[i / extent_count],
                                                 .depth_or_layers = 1,
                                                 .block_bytes = bytes,
                                                 .usage = usages[k]};
                ask_about(s, r);
                r.volume = 1;
                r.depth_or_layers = 5;
                ask_about(s, r);
                r.volume = 0;
                r.kind = GG_SUBALLOC_KIND_MSAA;
                r.depth_or_layers = 1;
                for (r.samples = 2; r.samples <= 16; r.samples *= 2)
                    ask_about(s, r);
            }
}

int32_t gg_suballoc_conform(const struct gg_suballoc_options *options, struct gg_suballoc_violation *violations,
                            uint32_t capacity, struct gg_suballoc_conformance *conformance, char **message)
{
    struct gg_suballoc_options checked;
    if (!conformance || (capacity && !violations))
        return gg_fail(message, GG_ERR_ARGUMENT, "conform: %s is NULL", conformance ? "violations" : "conformance");
    int32_t result = gg_suballoc_check_options(options, &checked, message);
    if (result)
        return result;
    struct suite suite = {.options = &checked, .at = violations, .capacity = capacity};
    ask_about_buffers(&suite);
    ask_about_textures(&suite);
    *conformance = suite.found;
    return gg_succeed(message);
}

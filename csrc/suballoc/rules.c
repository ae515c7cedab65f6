/* SPDX-License-Identifier: MIT */
/* The tables, requested alignments, and the question in two steps: restriction, then the driver's answer checked. */
#include "rules_internal.h"

uint64_t gg_suballoc_default_alignment(uint32_t kind)
{
    return kind == GG_SUBALLOC_KIND_MSAA ? GG_SUBALLOC_DEFAULT_MSAA_ALIGNMENT : GG_SUBALLOC_DEFAULT_ALIGNMENT;
}

/* The alignment of small resources; buffers are never small. */
static uint64_t small_alignment(uint32_t kind)
{
    return kind == GG_SUBALLOC_KIND_MSAA      ? GG_SUBALLOC_SMALL_MSAA_ALIGNMENT
           : kind == GG_SUBALLOC_KIND_TEXTURE ? GG_SUBALLOC_SMALL_ALIGNMENT
                                              : GG_SUBALLOC_DEFAULT_ALIGNMENT;
}

static bool is_small(const struct gg_suballoc_resource *r, uint64_t tiles, const struct gg_suballoc_options *options)
{
    if (r->kind == GG_SUBALLOC_KIND_BUFFER || r->layout != GG_SUBALLOC_LAYOUT_UNKNOWN)
        return false;
    bool is_msaa = r->kind == GG_SUBALLOC_KIND_MSAA;
    bool is_attachment = r->usage & (GG_SUBALLOC_USAGE_RENDER_TARGET | GG_SUBALLOC_USAGE_DEPTH_STENCIL);
    if (is_msaa && !options->profile->msaa_64k)
        return false;
    /* The text forbids what every MSAA texture is; allocators in the field require it instead. */
    if (is_attachment != (is_msaa && options->small_msaa))
        return false;
    return tiles <= gg_suballoc_default_alignment(r->kind) / small_alignment(r->kind);
}

/* Whether the tight flag may be there at all, and whether it has an effect. */
static uint32_t judge_tight_flag(const struct gg_suballoc_resource *r, const struct gg_suballoc_options *options,
                                 bool *is_idle)
{
    bool is_reserved = r->placement == GG_SUBALLOC_PLACEMENT_RESERVED;
    *is_idle = is_reserved || r->usage & GG_SUBALLOC_USAGE_CROSS_ADAPTER;
    if (!gg_suballoc_is_tight_capable(options->profile))
        return GG_SUBALLOC_VERDICT_TIGHT_UNSUPPORTED;
    if (r->layout == GG_SUBALLOC_LAYOUT_UNDEFINED_SWIZZLE || r->layout == GG_SUBALLOC_LAYOUT_STANDARD_SWIZZLE)
        return GG_SUBALLOC_VERDICT_TIGHT_SWIZZLE;
    if (is_reserved && !(options->reserved_buffers && r->kind == GG_SUBALLOC_KIND_BUFFER))
        return GG_SUBALLOC_VERDICT_TIGHT_RESERVED;
    return GG_SUBALLOC_VERDICT_OK;
}

/*
 * Above the maximum: right only where the device goes there by itself, as a description read back says. Then nothing is
 * asked of it, and its answer must be just that (judge_answer).
 */
static bool may_exceed(const struct gg_suballoc_limits *l, uint64_t requested,
                       const struct gg_suballoc_profile *profile)
{
    bool is_committed = l->query.resource.placement == GG_SUBALLOC_PLACEMENT_COMMITTED;
    return profile->granularity || (l->tight && is_committed && requested == profile->large_page);
}

/* A floor: raised to the minimum where it lies below. */
static uint32_t take_floor(struct gg_suballoc_limits *l, uint64_t requested, const struct gg_suballoc_options *options)
{
    l->query.restriction = l->minimum;
    if (!requested)
        return GG_SUBALLOC_VERDICT_OK;
    if (options->sdk == GG_SUBALLOC_SDK_V618)
        return GG_SUBALLOC_VERDICT_FLOOR_UNSUPPORTED;
    if (!gg_suballoc_is_power_of_two(requested))
        return GG_SUBALLOC_VERDICT_NOT_POWER_OF_TWO;
    if (requested > l->query.maximum)
        return may_exceed(l, requested, options->profile) ? GG_SUBALLOC_VERDICT_OK : GG_SUBALLOC_VERDICT_ABOVE_MAXIMUM;
    l->overrides = requested < l->minimum;
    if (!l->overrides && options->mode == GG_SUBALLOC_MODE_SPEC)
        l->query.restriction = requested;
    return GG_SUBALLOC_VERDICT_OK;
}

/* A choice between two, of which the smaller is for small resources. */
static uint32_t take_classic(struct gg_suballoc_limits *l, uint64_t requested,
                             const struct gg_suballoc_options *options)
{
    uint32_t kind = l->query.resource.kind;
    l->query.restriction = l->query.maximum;
    if (!requested || requested == l->query.maximum)
        return GG_SUBALLOC_VERDICT_OK;
    if (!gg_suballoc_is_power_of_two(requested))
        return GG_SUBALLOC_VERDICT_NOT_POWER_OF_TWO;
    if (requested > l->query.maximum)
        return may_exceed(l, requested, options->profile) ? GG_SUBALLOC_VERDICT_OK : GG_SUBALLOC_VERDICT_ABOVE_MAXIMUM;
    if (requested != small_alignment(kind))
        return GG_SUBALLOC_VERDICT_NOT_QUALIFIED;
    if (l->small)
        l->query.restriction = requested;
    else if (kind == GG_SUBALLOC_KIND_TEXTURE)
        l->overrides = 1; /* only buffers and MSAA textures are refused */
    else
        return GG_SUBALLOC_VERDICT_NOT_QUALIFIED;
    return GG_SUBALLOC_VERDICT_OK;
}

void gg_suballoc_find_limits(const struct gg_suballoc_resource *resource, const struct gg_suballoc_options *options,
                             struct gg_suballoc_limits *l)
{
    const struct gg_suballoc_profile *profile = options->profile;
    *l = (struct gg_suballoc_limits){.query = {.resource = *resource}};
    l->query.resource.usage &= ~(uint32_t)GG_SUBALLOC_USAGE_TIGHT;
    l->query.resource.alignment = 0;
    l->verdict = gg_suballoc_check_resource(resource);
    if (l->verdict)
        return;

    bool has_flag = resource->usage & GG_SUBALLOC_USAGE_TIGHT, is_idle = false;
    bool is_committed = resource->placement == GG_SUBALLOC_PLACEMENT_COMMITTED;
    if (resource->kind != GG_SUBALLOC_KIND_BUFFER)
        l->tiles = gg_suballoc_tiles(resource);
    l->small = is_small(resource, l->tiles, options);
    if (has_flag) {
        l->verdict = judge_tight_flag(resource, options, &is_idle);
        if (l->verdict)
            return;
        l->query.resource_flags = GG_SUBALLOC_DRIVER_RESOURCE_FLAG_TIGHT;
    }
    if (is_committed &&
        (!profile->interface_version || profile->interface_version >= GG_SUBALLOC_DRIVER_INTERFACE_IMPLICIT))
        l->query.heap_flags = GG_SUBALLOC_DRIVER_HEAP_FLAG_IMPLICIT;

    l->tight = has_flag && !is_idle;
    l->query.maximum = gg_suballoc_default_alignment(resource->kind);
    l->minimum = l->small ? small_alignment(resource->kind) : l->query.maximum;
    if (l->tight) {
        l->minimum = is_committed ? GG_SUBALLOC_TIGHT_COMMITTED_MIN : GG_SUBALLOC_TIGHT_PLACED_MIN;
        if (l->small)
            l->query.maximum = small_alignment(resource->kind);
        if (resource->kind == GG_SUBALLOC_KIND_BUFFER)
            l->query.maximum = is_committed ? GG_SUBALLOC_TIGHT_COMMITTED_MIN : GG_SUBALLOC_TIGHT_BUFFER_MAX;
    } else if (has_flag) {
        l->minimum = l->query.maximum; /* cross adapter keeps it, small or not; so do tiles of reserved buffers */
    }
    l->verdict = has_flag ? take_floor(l, resource->alignment, options) : take_classic(l, resource->alignment, options);
}

int32_t gg_suballoc_limits(const struct gg_suballoc_resource *resource, const struct gg_suballoc_options *options,
                           struct gg_suballoc_limits *limits, char **message)
{
    struct gg_suballoc_options checked;
    if (!resource || !limits)
        return gg_fail(message, GG_ERR_ARGUMENT, "limits: %s is NULL", resource ? "limits" : "resource");
    int32_t result = gg_suballoc_check_options(options, &checked, message);
    if (result)
        return result;
    gg_suballoc_find_limits(resource, &checked, limits);
    return gg_succeed(message);
}

bool gg_suballoc_is_large_page(const struct gg_suballoc_limits *l, const struct gg_suballoc_profile *profile,
                               const struct gg_suballoc_answer *answer)
{
    return l->tight && l->query.resource.placement == GG_SUBALLOC_PLACEMENT_COMMITTED && profile->large_page &&
           answer->alignment == profile->large_page && answer->size % profile->large_page == 0;
}

static uint32_t judge_answer(const struct gg_suballoc_limits *l, uint64_t requested,
                             const struct gg_suballoc_profile *profile, const struct gg_suballoc_answer *answer)
{
    uint64_t alignment = answer->alignment;
    bool is_vulkan = profile->granularity; /* its own alignments stand, whatever the tables say */
    if (!gg_suballoc_is_power_of_two(alignment) || alignment < l->query.restriction)
        return GG_SUBALLOC_VERDICT_DRIVER_ALIGNMENT;
    if (alignment > l->query.maximum && !is_vulkan && !gg_suballoc_is_large_page(l, profile, answer))
        return GG_SUBALLOC_VERDICT_DRIVER_ALIGNMENT;
    if (!l->tight && alignment != l->query.restriction && alignment < l->query.maximum)
        return GG_SUBALLOC_VERDICT_DRIVER_ALIGNMENT; /* classic: one of two */
    if (requested > l->query.maximum && alignment != requested)
        return GG_SUBALLOC_VERDICT_ABOVE_MAXIMUM;
    uint64_t least = l->query.resource.kind == GG_SUBALLOC_KIND_BUFFER ? l->query.resource.width : 1;
    if (answer->size < least || answer->size == GG_SUBALLOC_FAILED_SIZE)
        return GG_SUBALLOC_VERDICT_DRIVER_SIZE;
    return GG_SUBALLOC_VERDICT_OK;
}

static struct gg_suballoc_info ask(const struct gg_suballoc_resource *resource, uint32_t index,
                                   const struct gg_suballoc_options *options, struct gg_suballoc_limits *l)
{
    struct gg_suballoc_answer answer;
    gg_suballoc_find_limits(resource, options, l);
    uint32_t verdict = l->verdict;
    if (!verdict)
        verdict = gg_suballoc_ask(options->profile, &l->query, &answer);
    if (!verdict)
        verdict = judge_answer(l, resource->alignment, options->profile, &answer);
    if (!verdict) {
        bool is_buffer = resource->kind == GG_SUBALLOC_KIND_BUFFER;
        uint64_t unit = !is_buffer ? answer.alignment : l->tight ? 1 : GG_SUBALLOC_DEFAULT_ALIGNMENT;
        if (!gg_suballoc_align_up(answer.size, unit, &answer.size))
            verdict = GG_SUBALLOC_VERDICT_SIZE_OVERFLOW;
    }
    struct gg_suballoc_info info = {.verdict = verdict, .index = index};
    info.size = verdict ? GG_SUBALLOC_FAILED_SIZE : answer.size;
    info.alignment = verdict ? gg_suballoc_default_alignment(resource->kind) : answer.alignment;
    return info;
}

/* Notes of a list; those beyond the capacity are counted. */
struct notes {
    struct gg_suballoc_note *at;
    uint32_t capacity, count;
};

static void note(struct notes *notes, uint32_t severity, uint32_t verdict, uint32_t index)
{
    if (notes->count < notes->capacity)
        notes->at[notes->count] = (struct gg_suballoc_note){.severity = severity, .verdict = verdict, .index = index};
    notes->count++;
}

static void note_resource(struct notes *notes, const struct gg_suballoc_resource *resource,
                          const struct gg_suballoc_info *info, const struct gg_suballoc_limits *l)
{
    if (info->verdict) {
        note(notes, GG_SUBALLOC_SEVERITY_ERROR, info->verdict, info->index);
        return;
    }
    if (l->overrides)
        note(notes, GG_SUBALLOC_SEVERITY_INFO, GG_SUBALLOC_VERDICT_ALIGNMENT_OVERRIDDEN, info->index);
    if (resource->usage & GG_SUBALLOC_USAGE_TIGHT && resource->usage & GG_SUBALLOC_USAGE_CROSS_ADAPTER)
        note(notes, GG_SUBALLOC_SEVERITY_WARNING, GG_SUBALLOC_VERDICT_CROSS_ADAPTER, info->index);
}

static void refuse_list(struct gg_suballoc_total *total, uint32_t verdict, uint32_t index)
{
    if (total->info.verdict)
        return; /* the first one is to blame */
    total->info.verdict = verdict;
    total->info.index = index;
}

int32_t gg_suballoc_allocation_info(const struct gg_suballoc_resource *resources, uint32_t count,
                                    const struct gg_suballoc_options *options, struct gg_suballoc_info *infos,
                                    struct gg_suballoc_total *total, struct gg_suballoc_note *notes,
                                    uint32_t note_capacity, uint32_t *note_count, char **message)
{
    struct gg_suballoc_options checked;
    if (!total || (count && !resources) || (note_capacity && !notes))
        return gg_fail(message, GG_ERR_ARGUMENT, "allocation info: %s is NULL",
                       !total                ? "total"
                       : count && !resources ? "resources"
                                             : "notes");
    if (count > UINT32_MAX / 2)
        return gg_fail(message, GG_ERR_LIMIT, "allocation info: %u resources, the most is %u", count, UINT32_MAX / 2);
    int32_t result = gg_suballoc_check_options(options, &checked, message);
    if (result)
        return result;

    struct notes said = {.at = notes, .capacity = note_capacity};
    struct gg_suballoc_sum sum = {.alignment = 1};
    uint64_t failed_alignment = GG_SUBALLOC_DEFAULT_ALIGNMENT;
    *total = (struct gg_suballoc_total){0};
    for (uint32_t i = 0; i < count; i++) {
        struct gg_suballoc_limits limits;
        struct gg_suballoc_info info = ask(&resources[i], i, &checked, &limits);
        failed_alignment = gg_suballoc_max(failed_alignment, gg_suballoc_default_alignment(resources[i].kind));
        note_resource(&said, &resources[i], &info, &limits);
        if (info.verdict) {
            refuse_list(total, info.verdict, i);
        } else if (!total->info.verdict && !gg_suballoc_add(&sum, info.size, info.alignment, &info.offset)) {
            refuse_list(total, GG_SUBALLOC_VERDICT_SIZE_OVERFLOW, i);
            note(&said, GG_SUBALLOC_SEVERITY_ERROR, GG_SUBALLOC_VERDICT_SIZE_OVERFLOW, i);
        }
        if (infos)
            infos[i] = info;
    }
    if (!total->info.verdict && !gg_suballoc_close(&sum, total)) {
        refuse_list(total, GG_SUBALLOC_VERDICT_SIZE_OVERFLOW, count - 1);
        note(&said, GG_SUBALLOC_SEVERITY_ERROR, GG_SUBALLOC_VERDICT_SIZE_OVERFLOW, count - 1);
    }
    if (total->info.verdict) {
        total->info.size = total->info.offset = total->best_size = GG_SUBALLOC_FAILED_SIZE;
        total->info.alignment = failed_alignment;
        for (uint32_t i = 0; infos && i < count; i++)
            infos[i].offset = GG_SUBALLOC_FAILED_SIZE;
    }
    if (note_count)
        *note_count = said.count;
    return gg_succeed(message);
}

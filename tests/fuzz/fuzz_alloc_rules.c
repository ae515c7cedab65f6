/* SPDX-License-Identifier: MIT */
/*
 * The placement rules: bytes become options, a profile and a list of descriptions. Answers lie inside the tables,
 * meet what was asked, are the same twice and when read back, and lists are laid out without overlap.
 */
#include <guestgpu/suballoc_rules.h>

#include "input.h"

#include <stdbool.h>
#include <string.h>

#define MOST 8

static uint64_t take_size(struct input *in)
{
    uint64_t word = (uint64_t)take_word(in) << take_byte(in) % 40;
    return take_byte(in) % 16 ? word : 0 - word;
}

static uint32_t take_alignment(struct input *in)
{
    uint32_t byte = take_byte(in);
    return byte % 4 == 0 ? 0 : byte == 255 ? take_word(in) : 1u << byte % 24;
}

static struct gg_suballoc_resource take_resource(struct input *in)
{
    static const uint32_t usages[] = {GG_SUBALLOC_USAGE_RENDER_TARGET, GG_SUBALLOC_USAGE_DEPTH_STENCIL,
                                      GG_SUBALLOC_USAGE_CROSS_ADAPTER, GG_SUBALLOC_USAGE_TIGHT};
    struct gg_suballoc_resource r = {.kind = take_number(in, 0, 2), .width = take_size(in)};
    r.alignment = take_alignment(in);
    uint32_t bits = take_byte(in);
    for (uint32_t i = 0; i < 4; i++)
        r.usage |= bits >> i & 1 ? usages[i] : 0;
    r.layout = take_number(in, 0, 3);
    r.placement = take_number(in, 0, 2);
    if (r.kind == GG_SUBALLOC_KIND_BUFFER)
        return r;
    if (bits >> 4 & 1)
        r.width %= 1024;
    r.height = take_number(in, 1, 300);
    r.depth_or_layers = take_number(in, 1, 20);
    r.volume = r.kind == GG_SUBALLOC_KIND_TEXTURE ? bits >> 5 & 1 : 0;
    r.mips = take_number(in, 0, 9);
    r.samples = r.kind == GG_SUBALLOC_KIND_MSAA ? 1u << take_number(in, 1, 4) % 32 : 0;
    r.block_width = take_number(in, 0, 16);
    r.block_height = take_number(in, 0, 16);
    r.block_bytes = take_number(in, 1, 16);
    return r;
}

/* An answer to one resource. */
static void check_info(const struct gg_suballoc_resource *r, const struct gg_suballoc_info *info,
                       const struct gg_suballoc_options *options)
{
    struct gg_suballoc_limits limits;
    MUST(!gg_suballoc_limits(r, options, &limits, NULL));
    if (info->verdict) {
        MUST(strcmp(gg_suballoc_verdict_string(info->verdict), "unknown verdict") != 0);
        MUST(info->size == GG_SUBALLOC_FAILED_SIZE);
        return;
    }
    MUST(!limits.verdict && info->size && info->size != GG_SUBALLOC_FAILED_SIZE);
    MUST(info->alignment && !(info->alignment & (info->alignment - 1)));
    MUST(info->alignment >= limits.query.restriction && limits.query.restriction >= limits.minimum);
    MUST(limits.minimum <= limits.query.maximum);
    const struct gg_suballoc_profile *p = options->profile;
    MUST(info->alignment <= limits.query.maximum || p->granularity || info->alignment == p->large_page);
    if (r->kind != GG_SUBALLOC_KIND_BUFFER)
        MUST(info->size % info->alignment == 0);
    else if (limits.tight)
        MUST(info->size == r->width);
    else
        MUST(info->size % GG_SUBALLOC_DEFAULT_ALIGNMENT == 0 && info->size >= r->width);

    struct gg_suballoc_resource back = *r;
    struct gg_suballoc_info read;
    struct gg_suballoc_total total;
    back.alignment = info->alignment;
    MUST(!gg_suballoc_allocation_info(&back, 1, options, &read, &total, NULL, 0, NULL, NULL));
    if (options->sdk == GG_SUBALLOC_SDK_V619)
        MUST(!read.verdict && read.size == info->size && read.alignment == info->alignment);
}

static void check_list(const struct gg_suballoc_info *infos, uint32_t count, const struct gg_suballoc_total *total)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        MUST(infos[i].offset % infos[i].alignment == 0 && infos[i].offset >= end);
        MUST(infos[i].size <= total->info.size && infos[i].offset <= total->info.size - infos[i].size);
        MUST(infos[i].alignment <= total->info.alignment);
        end = infos[i].offset + infos[i].size;
    }
    MUST(total->info.size % total->info.alignment == 0 && total->best_size <= total->info.size);
    MUST(total->saved == total->info.size - total->best_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct gg_suballoc_profile profile = {.tier = take_number(&in, 0, 1)};
    uint32_t flags = take_byte(&in);
    profile.interface_version = flags & 1 ? take_number(&in, 108, 118) : 0;
    profile.msaa_64k = flags >> 1 & 1;
    profile.buffer_alignment = take_alignment(&in);
    profile.texture_alignment = take_alignment(&in);
    profile.msaa_alignment = take_alignment(&in);
    profile.granularity = flags >> 2 & 1 ? take_alignment(&in) : 0;
    profile.large_page = flags >> 3 & 1 ? take_alignment(&in) : 0;
    struct gg_suballoc_options options = {.profile = &profile, .sdk = take_number(&in, 0, 1)};
    options.mode = take_number(&in, 0, 1);
    options.small_msaa = flags >> 4 & 1;
    options.reserved_buffers = flags >> 5 & 1;

    struct gg_suballoc_resource resources[MOST];
    struct gg_suballoc_info infos[MOST], again[MOST];
    struct gg_suballoc_note notes[2 * MOST + 1];
    struct gg_suballoc_total total, total_again;
    uint32_t count = take_number(&in, 0, MOST) % (MOST + 1), note_count = 0;
    for (uint32_t i = 0; i < count; i++)
        resources[i] = take_resource(&in);
    char *message = NULL;
    if (look_at(gg_suballoc_allocation_info(resources, count, &options, infos, &total, notes, 2 * MOST + 1, &note_count,
                                            &message),
                message))
        return 0;
    MUST(note_count <= 2 * count + 1);
    for (uint32_t i = 0; i < note_count; i++)
        MUST(notes[i].index < count && notes[i].severity <= GG_SUBALLOC_SEVERITY_ERROR);
    MUST(!gg_suballoc_allocation_info(resources, count, &options, again, &total_again, NULL, 0, NULL, NULL));
    MUST(!memcmp(&total, &total_again, sizeof total) && !memcmp(infos, again, count * sizeof *infos));
    for (uint32_t i = 0; i < count; i++)
        check_info(&resources[i], &infos[i], &options);
    if (!total.info.verdict)
        check_list(infos, count, &total);
    else
        MUST(total.info.size == GG_SUBALLOC_FAILED_SIZE && total.info.index < count);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Lists laid out as a C struct, use-case floors, heaps, and verdicts in words. */
#include "rules_internal.h"

bool gg_suballoc_add(struct gg_suballoc_sum *sum, uint64_t size, uint64_t alignment, uint64_t *offset)
{
    uint64_t start, padded, end;
    if (!gg_suballoc_align_up(sum->end, alignment, &start) || !gg_suballoc_align_up(size, alignment, &padded) ||
        __builtin_add_overflow(start, padded, &end))
        return false;
    *offset = start;
    sum->end = end;
    sum->packed += padded; /* never more than the end */
    sum->alignment = gg_suballoc_max(sum->alignment, alignment);
    return true;
}

bool gg_suballoc_close(const struct gg_suballoc_sum *sum, struct gg_suballoc_total *total)
{
    uint64_t size, best;
    /* Powers of two, the largest first: each member ends where the next may begin, so no order does better. */
    if (!gg_suballoc_align_up(sum->end, sum->alignment, &size) || size == GG_SUBALLOC_FAILED_SIZE ||
        !gg_suballoc_align_up(sum->packed, sum->alignment, &best))
        return false;
    *total = (struct gg_suballoc_total){
        .info = {.size = size, .alignment = sum->alignment}, .best_size = best, .saved = size - best};
    return true;
}

int32_t gg_suballoc_lay_out(const struct gg_suballoc_answer *items, uint32_t count, uint64_t *offsets, uint32_t *order,
                            struct gg_suballoc_total *total, char **message)
{
    if (!total || (count && !items))
        return gg_fail(message, GG_ERR_ARGUMENT, "lay out: %s is NULL", total ? "items" : "total");
    struct gg_suballoc_sum sum = {.alignment = 1};
    struct gg_suballoc_total found;
    uint32_t first[64] = {0}, last = 0; /* a counting sort by alignment, which keeps the order of equal ones */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset;
        if (!gg_suballoc_is_power_of_two(items[i].alignment))
            return gg_fail(message, GG_ERR_ARGUMENT, "lay out: item %u: alignment %llu is no power of two", i,
                           (unsigned long long)items[i].alignment);
        if (!items[i].size || items[i].size == GG_SUBALLOC_FAILED_SIZE)
            return gg_fail(message, GG_ERR_ARGUMENT, "lay out: item %u: size %s", i, items[i].size ? "2^64 - 1" : "0");
        if (!gg_suballoc_add(&sum, items[i].size, items[i].alignment, &offset))
            return gg_fail(message, GG_ERR_LIMIT, "lay out: item %u: the size overflows 64 bits", i);
        first[__builtin_ctzll(items[i].alignment)]++;
    }
    if (!gg_suballoc_close(&sum, &found))
        return gg_fail(message, GG_ERR_LIMIT, "lay out: the size of all %u items overflows 64 bits", count);

    for (int k = 63; k >= 0; k--) {
        uint32_t of_this = first[k];
        first[k] = last;
        last += of_this;
    }
    sum = (struct gg_suballoc_sum){.alignment = 1};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = 0;
        gg_suballoc_add(&sum, items[i].size, items[i].alignment, &offset);
        if (offsets)
            offsets[i] = offset;
        if (order)
            order[first[__builtin_ctzll(items[i].alignment)]++] = i;
    }
    *total = found;
    return gg_succeed(message);
}

int32_t gg_suballoc_floor(uint32_t uses, uint32_t *floor, char **message)
{
    static const struct {
        uint32_t use, alignment;
    } needs[] = {
        {GG_SUBALLOC_USE_RAW_VIEW, GG_SUBALLOC_RAW_VIEW_ALIGNMENT},
        {GG_SUBALLOC_USE_BUILD_INPUT, GG_SUBALLOC_AABB_ALIGNMENT},
        {GG_SUBALLOC_USE_BUILD_INPUT, GG_SUBALLOC_INSTANCE_DESCS_ALIGNMENT},
        {GG_SUBALLOC_USE_BUILD_INPUT, GG_SUBALLOC_TRANSFORM_3X4_ALIGNMENT},
        {GG_SUBALLOC_USE_SHADER_TABLE, GG_SUBALLOC_SHADER_RECORD_ALIGNMENT},
        {GG_SUBALLOC_USE_SHADER_TABLE, GG_SUBALLOC_SHADER_TABLE_ALIGNMENT},
        {GG_SUBALLOC_USE_CLAS, GG_SUBALLOC_CLUSTER_TEMPLATE_ALIGNMENT},
        {GG_SUBALLOC_USE_CLAS, GG_SUBALLOC_CLAS_ALIGNMENT},
        {GG_SUBALLOC_USE_CLAS, GG_SUBALLOC_OPACITY_MICROMAP_ARRAY_ALIGNMENT},
        {GG_SUBALLOC_USE_CONSTANT, GG_SUBALLOC_CONSTANT_UPDATE_ALIGNMENT},
        {GG_SUBALLOC_USE_CONSTANT, GG_SUBALLOC_CONSTANT_PLACEMENT_ALIGNMENT},
        {GG_SUBALLOC_USE_VIDEO_DECODE, GG_SUBALLOC_VIDEO_BITSTREAM_ALIGNMENT},
        {GG_SUBALLOC_USE_VIDEO_DECODE, GG_SUBALLOC_VIDEO_HISTOGRAM_ALIGNMENT},
    };
    uint32_t known = 0, largest = 0;
    if (!floor)
        return gg_fail(message, GG_ERR_ARGUMENT, "floor: NULL");
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        known |= needs[i].use;
        if (uses & needs[i].use && needs[i].alignment > largest)
            largest = needs[i].alignment;
    }
    if (uses & ~known)
        return gg_fail(message, GG_ERR_ARGUMENT, "floor: unknown uses %#x", uses & ~known);
    *floor = largest;
    return gg_succeed(message);
}

uint64_t gg_suballoc_heap_alignment(uint32_t may_hold_msaa, uint32_t is_implicit)
{
    if (is_implicit)
        return GG_SUBALLOC_HEAP_IMPLICIT_ALIGNMENT;
    return may_hold_msaa ? GG_SUBALLOC_HEAP_MSAA_ALIGNMENT : GG_SUBALLOC_HEAP_ALIGNMENT;
}

const char *gg_suballoc_verdict_string(uint32_t verdict)
{
    switch (verdict) {
    case GG_SUBALLOC_VERDICT_OK:
        return "answered";
    case GG_SUBALLOC_VERDICT_DESCRIPTION:
        return "no such kind, layout, placement or usage";
    case GG_SUBALLOC_VERDICT_ZERO_DIMENSION:
        return "a dimension is zero";
    case GG_SUBALLOC_VERDICT_BUFFER_SHAPE:
        return "a buffer has a width and nothing else";
    case GG_SUBALLOC_VERDICT_FORMAT:
        return "a format has blocks of 1 to 16 bytes and at most 16 x 16 texels, MSAA of one texel";
    case GG_SUBALLOC_VERDICT_SAMPLES:
        return "an MSAA texture has 2, 4, 8 or 16 samples and is 2D, anything else has one";
    case GG_SUBALLOC_VERDICT_MIPS:
        return "more mips than the dimensions have";
    case GG_SUBALLOC_VERDICT_SIZE_OVERFLOW:
        return "the size overflows 64 bits";
    case GG_SUBALLOC_VERDICT_TIGHT_UNSUPPORTED:
        return "tight alignment on a device without it";
    case GG_SUBALLOC_VERDICT_TIGHT_SWIZZLE:
        return "tight alignment with a layout of 64 KiB swizzle";
    case GG_SUBALLOC_VERDICT_TIGHT_RESERVED:
        return "tight alignment of a reserved resource";
    case GG_SUBALLOC_VERDICT_FLOOR_UNSUPPORTED:
        return "before 1.619.4 tight alignment takes no requested alignment";
    case GG_SUBALLOC_VERDICT_NOT_POWER_OF_TWO:
        return "the requested alignment is no power of two";
    case GG_SUBALLOC_VERDICT_ABOVE_MAXIMUM:
        return "the requested alignment is above the maximum";
    case GG_SUBALLOC_VERDICT_NOT_QUALIFIED:
        return "the resource does not qualify for the requested alignment";
    case GG_SUBALLOC_VERDICT_DRIVER_REFUSED:
        return "the driver refused";
    case GG_SUBALLOC_VERDICT_DRIVER_ALIGNMENT:
        return "the driver's alignment is outside of what it may answer";
    case GG_SUBALLOC_VERDICT_DRIVER_SIZE:
        return "the driver's size cannot hold the resource";
    case GG_SUBALLOC_VERDICT_ALIGNMENT_OVERRIDDEN:
        return "the requested alignment was raised";
    case GG_SUBALLOC_VERDICT_CROSS_ADAPTER:
        return "cross adapter keeps 64 KiB (4 MiB for MSAA) in spite of tight alignment";
    default:
        return "unknown verdict";
    }
}

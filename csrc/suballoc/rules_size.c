/* SPDX-License-Identifier: MIT */
/* Descriptions: their checks, their size in bytes, and the estimate in tiles that makes a resource small. */
#include "rules_internal.h"

#define MAX_BLOCK_TEXELS 16u
#define MAX_BLOCK_BYTES  16u

#define USAGES                                                                                                         \
    (GG_SUBALLOC_USAGE_RENDER_TARGET | GG_SUBALLOC_USAGE_DEPTH_STENCIL | GG_SUBALLOC_USAGE_CROSS_ADAPTER |             \
     GG_SUBALLOC_USAGE_TIGHT)

static uint32_t at_least_1(uint32_t value) { return value ? value : 1; }

/* The smallest k with value <= 2^k. */
static uint32_t log2_up(uint32_t value)
{
    uint32_t k = 0;
    while (value > 1u << k)
        k++;
    return k;
}

static uint32_t mip_count(const struct gg_suballoc_resource *r)
{
    uint64_t largest = gg_suballoc_max(r->width, r->height);
    if (r->volume)
        largest = gg_suballoc_max(largest, r->depth_or_layers);
    uint32_t count = 0;
    for (; largest; largest >>= 1)
        count++;
    return count;
}

static uint32_t check_texture(const struct gg_suballoc_resource *r)
{
    bool is_msaa = r->kind == GG_SUBALLOC_KIND_MSAA;
    if (!r->height || !r->depth_or_layers)
        return GG_SUBALLOC_VERDICT_ZERO_DIMENSION;
    if (!r->block_bytes || r->block_bytes > MAX_BLOCK_BYTES || r->block_width > MAX_BLOCK_TEXELS ||
        r->block_height > MAX_BLOCK_TEXELS || (is_msaa && (r->block_width > 1 || r->block_height > 1)))
        return GG_SUBALLOC_VERDICT_FORMAT;
    bool has_samples = r->samples > 1 && r->samples <= 16 && gg_suballoc_is_power_of_two(r->samples);
    if (is_msaa ? !has_samples || r->volume : r->samples > 1)
        return GG_SUBALLOC_VERDICT_SAMPLES;
    if (r->mips > (is_msaa ? 1 : mip_count(r)))
        return GG_SUBALLOC_VERDICT_MIPS;
    return GG_SUBALLOC_VERDICT_OK;
}

uint32_t gg_suballoc_check_resource(const struct gg_suballoc_resource *r)
{
    if (r->kind > GG_SUBALLOC_KIND_MSAA || r->layout > GG_SUBALLOC_LAYOUT_STANDARD_SWIZZLE ||
        r->placement > GG_SUBALLOC_PLACEMENT_RESERVED || r->usage & ~(uint32_t)USAGES || r->volume > 1)
        return GG_SUBALLOC_VERDICT_DESCRIPTION;
    if (!r->width)
        return GG_SUBALLOC_VERDICT_ZERO_DIMENSION;
    if (r->kind == GG_SUBALLOC_KIND_BUFFER) {
        if (r->height > 1 || r->depth_or_layers > 1 || r->volume || r->mips > 1 || r->samples > 1 ||
            r->block_width > 1 || r->block_height > 1 || r->block_bytes > 1)
            return GG_SUBALLOC_VERDICT_BUFFER_SHAPE;
    } else {
        uint32_t verdict = check_texture(r);
        if (verdict)
            return verdict;
    }
    uint64_t size;
    return gg_suballoc_packed_size(r, &size) ? GG_SUBALLOC_VERDICT_OK : GG_SUBALLOC_VERDICT_SIZE_OVERFLOW;
}

static bool multiply(uint64_t *product, uint64_t factor) { return !__builtin_mul_overflow(*product, factor, product); }

static uint64_t divide_up(uint64_t value, uint64_t divisor) { return value / divisor + (value % divisor != 0); }

static uint64_t mip_extent(uint64_t extent, uint32_t mip) { return gg_suballoc_max(mip < 64 ? extent >> mip : 0, 1); }

static bool mip_size(const struct gg_suballoc_resource *r, uint32_t mip, uint64_t *size)
{
    uint64_t slices = r->volume ? mip_extent(r->depth_or_layers, mip) : r->depth_or_layers;
    *size = divide_up(mip_extent(r->width, mip), at_least_1(r->block_width));
    return multiply(size, divide_up(mip_extent(r->height, mip), at_least_1(r->block_height))) &&
           multiply(size, slices) && multiply(size, r->block_bytes) && multiply(size, at_least_1(r->samples));
}

bool gg_suballoc_packed_size(const struct gg_suballoc_resource *r, uint64_t *size)
{
    *size = r->width;
    if (r->kind == GG_SUBALLOC_KIND_BUFFER)
        return *size != GG_SUBALLOC_FAILED_SIZE;
    uint32_t mips = r->mips ? r->mips : r->kind == GG_SUBALLOC_KIND_MSAA ? 1 : mip_count(r);
    *size = 0;
    for (uint32_t mip = 0; mip < mips; mip++) {
        uint64_t bytes;
        if (!mip_size(r, mip, &bytes) || __builtin_add_overflow(*size, bytes, size))
            return false;
    }
    return *size != GG_SUBALLOC_FAILED_SIZE;
}

/*
 * Standard swizzle's shapes (D3D11.3 functional specification, tiled resources; the same as Vulkan's standard sparse
 * block shapes): a tile of 64 KiB has 256 x 256 elements of 1 byte; doubling the element halves height and width in
 * turn, doubling the samples width and height in turn. In a volume it has 64 x 32 x 32, and x, z, y are halved in
 * turn. The swizzle nests: a tile of 4 KiB is a quarter of that in width and in height (2D), or a quarter in width
 * and half in height and depth (volume). An element that is no power of two counts as the next one.
 */
uint64_t gg_suballoc_tiles(const struct gg_suballoc_resource *r)
{
    uint32_t element = log2_up(r->block_bytes), width, height, depth = 0;
    if (r->kind == GG_SUBALLOC_KIND_MSAA) { /* 64 KiB */
        uint32_t samples = log2_up(r->samples);
        width = 8 - element / 2 - (samples + 1) / 2;
        height = 8 - (element + 1) / 2 - samples / 2;
    } else if (r->volume) { /* 4 KiB */
        width = 4 - (element + 2) / 3;
        height = 4 - element / 3;
        depth = 4 - (element + 1) / 3;
    } else {
        width = 6 - element / 2;
        height = 6 - (element + 1) / 2;
    }
    uint64_t tiles = divide_up(divide_up(r->width, at_least_1(r->block_width)), 1ull << width);
    uint64_t rows = divide_up(divide_up(r->height, at_least_1(r->block_height)), 1ull << height);
    bool fits = multiply(&tiles, rows) && multiply(&tiles, divide_up(r->depth_or_layers, 1ull << depth));
    return fits ? tiles : UINT64_MAX;
}

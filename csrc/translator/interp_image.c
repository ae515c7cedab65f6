/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * MIMG without a sampler, on linear images of one level, described by a T# in scalar registers: loads, stores,
 * atomics and sizes. All else is refused by name. Texels outside the image read 0 and are not written.
 */

struct image {
    uint64_t base;
    uint32_t width, height, depth; /* depth: slices of 3D and array images */
    uint32_t pitch;                /* texels a row */
    uint32_t first_slice;
    uint32_t dst_sel;
    struct gg_memory_format format;
};

enum image_type {
    TYPE_1D = 8,
    TYPE_2D,
    TYPE_3D,
    TYPE_CUBE,
    TYPE_1D_ARRAY,
    TYPE_2D_ARRAY
};

#define SW_LINEAR 0
#define ROW_BYTES 256u /* rows begin at multiples of this, unless the T# has a pitch */

static bool read_descriptor(struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst,
                            struct image *image)
{
    uint32_t w[8] = {0};
    for (uint32_t i = 0; i < inst->src[1].width && i < 8; i++)
        w[i] = gg_read_part(run, wave, &inst->src[1], i, 0);
    uint32_t type = w[3] >> 28, format = w[1] >> 20 & 0x1ff, last = w[4] & 0x1fff;
    bool has_pitch = type == TYPE_1D || type == TYPE_2D;
    *image = (struct image){.base = gg_canonical(((uint64_t)(w[1] & 0xff) << 32 | w[0]) << 8),
                            .width = (w[1] >> 30 | (w[2] & 0xfff) << 2) + 1,
                            .height = (w[2] >> 14 & 0x3fff) + 1,
                            .depth = has_pitch ? 1 : last + 1,
                            .first_slice = w[4] >> 16 & 0x1fff,
                            .dst_sel = w[3] & 0xfff};
    if (type < TYPE_1D || type > TYPE_2D_ARRAY)
        gg_interp_fail(run, GG_ERR_UNSUPPORTED, "image type %u is not interpreted", type);
    else if ((w[3] >> 20 & 31) != SW_LINEAR)
        gg_interp_fail(run, GG_ERR_UNSUPPORTED, "a tiled image (swizzle mode %u) is not interpreted", w[3] >> 20 & 31);
    else if (w[3] >> 12 & 0xff)
        gg_interp_unsupported(run, "an image with several levels");
    else if (w[6] >> 21 & 1)
        gg_interp_unsupported(run, "a compressed image");
    else if (!gg_memory_format_of(format, &image->format) || image->format.bytes == 12)
        gg_interp_fail(run, GG_ERR_UNSUPPORTED, "memory format %u of the image is not interpreted", format);
    if (run->result)
        return false;
    uint32_t bytes = image->format.bytes;
    uint32_t row = (image->width * bytes + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
    image->pitch = has_pitch && last ? last + 1 : row / bytes;
    if (type == TYPE_1D || type == TYPE_1D_ARRAY)
        image->height = 1;
    return true;
}

static uint32_t address_part(struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst,
                             uint32_t part, uint32_t lane)
{
    bool halves = inst->flags & GG_INST_A16; /* two of them in a register */
    uint32_t at = halves ? part / 2 : part;
    uint32_t number = inst->nsa ? inst->mimg.addresses[at] : inst->src[0].value + at;
    uint32_t value = at < inst->src[0].width ? gg_vgpr(run, wave, number)[lane] : 0;
    return halves ? value >> 16 * (part % 2) & 0xffff : value;
}

/* Dimensions as the instruction names them. */
enum image_dim {
    DIM_1D = 0,
    DIM_2D,
    DIM_3D,
    DIM_CUBE,
    DIM_1D_ARRAY,
    DIM_2D_ARRAY
};

static uint32_t coordinates_of(uint32_t dim)
{
    return dim == DIM_1D ? 1 : dim == DIM_2D || dim == DIM_1D_ARRAY ? 2 : 3;
}

static struct gg_place texel_place(struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst,
                                   const struct image *image, uint32_t lane)
{
    uint32_t dim = inst->mimg.dim, at[3] = {0};
    for (uint32_t i = 0; i < coordinates_of(dim); i++)
        at[i] = address_part(run, wave, inst, i, lane);
    if (dim == DIM_1D_ARRAY) {
        at[2] = at[1];
        at[1] = 0;
    }
    uint32_t level =
        gg_inst_info(inst)->image & GG_IMAGE_LOD ? address_part(run, wave, inst, coordinates_of(dim), lane) : 0;
    if (dim != DIM_3D)
        at[2] += image->first_slice;
    if (level || at[0] >= image->width || at[1] >= image->height || at[2] >= image->depth)
        return (struct gg_place){.space = GG_SPACE_NOWHERE};
    uint64_t row = (uint64_t)image->pitch * image->format.bytes;
    uint64_t slice = (row * image->height + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
    uint64_t offset = at[2] * slice + at[1] * row;
    return (struct gg_place){.space = GG_SPACE_MEMORY,
                             .spread = 4,
                             .address = image->base + offset + (uint64_t)at[0] * image->format.bytes,
                             .limit = image->format.bytes};
}

/* Width, height, depth or slices, and levels: those that dmask asks for. */
static void get_size(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, const struct image *image,
                     uint64_t exec)
{
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        bool there = address_part(run, wave, inst, 0, lane) == 0;
        uint32_t sizes[4] = {image->width, image->height, image->depth - image->first_slice, 1}, at = 0;
        if (inst->mimg.dim == DIM_1D_ARRAY) {
            sizes[1] = sizes[2];
            sizes[2] = 1;
        }
        for (uint32_t c = 0; c < 4; c++)
            if (inst->mimg.dmask >> c & 1)
                gg_vgpr(run, wave, inst->dst[0].value + at++)[lane] = c == 3 || there ? sizes[c] : 0;
    }
}

static void lane_atomic(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane,
                        const struct gg_place *place)
{
    uint32_t bits, words = (uint32_t)__builtin_popcount(inst->mimg.dmask);
    enum gg_atomic atomic = gg_atomic_of(gg_inst_info(inst), &bits);
    bool compares = atomic == GG_ATOMIC_CMPSWAP || atomic == GG_ATOMIC_FCMPSWAP;
    uint32_t parts = compares ? words / 2 : words;
    uint64_t data[2] = {0};
    bits = 32 * parts;
    for (uint32_t i = 0; i < words; i++)
        data[i / parts] |= (uint64_t)gg_read_part(run, wave, &inst->src[3], i, lane) << 32 * (i % parts);
    uint64_t old = gg_place_read(run, place, 0, bits / 8);
    gg_place_write(run, place, 0, bits / 8, gg_atomic_result(wave, atomic, bits, old, data[0], data[1]));
    for (uint32_t i = 0; i < parts && inst->dst[0].kind == GG_OPERAND_VGPR; i++)
        gg_vgpr(run, wave, inst->dst[0].value + i)[lane] = (uint32_t)(old >> 32 * i);
}

/* Whether an atomic's data fits its texels: one or two dwords, twice that to compare. */
static bool fits(const struct gg_inst *inst, const struct image *image)
{
    uint32_t bits, words = (uint32_t)__builtin_popcount(inst->mimg.dmask);
    enum gg_atomic atomic = gg_atomic_of(gg_inst_info(inst), &bits);
    if (atomic == GG_ATOMIC_CMPSWAP || atomic == GG_ATOMIC_FCMPSWAP)
        return (words == 2 || words == 4) && 2u * image->format.bytes == 4 * words;
    return (words == 1 || words == 2) && image->format.bytes == 4 * words;
}

bool gg_interp_has_image(uint16_t op)
{
    switch (op) {
    case GG_OP_image_load:
    case GG_OP_image_load_mip:
    case GG_OP_image_store:
    case GG_OP_image_store_mip:
    case GG_OP_image_get_resinfo:
        return true;
    default:
        return gg_op_infos[op].format == GG_FORMAT_MIMG && gg_op_infos[op].flags & GG_OPF_ATOMIC;
    }
}

void gg_interp_image(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    struct gg_place places[GG_MAX_LANES];
    struct image image;
    uint64_t exec = gg_exec(run, wave);
    if (!gg_interp_has_image(inst->op)) {
        gg_interp_unsupported(run, "sampling, and this kind of image access,");
        return;
    }
    if (inst->flags & (GG_INST_TFE | GG_INST_LWE) || inst->mimg.dim > DIM_2D_ARRAY) {
        gg_interp_unsupported(run, "tfe, lwe or a multisampled image");
        return;
    }
    if (!read_descriptor(run, wave, inst, &image))
        return;
    if (inst->op == GG_OP_image_get_resinfo) {
        get_size(run, wave, inst, &image, exec);
        return;
    }
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        places[lane] = texel_place(run, wave, inst, &image, lane);
    if (!(gg_inst_info(inst)->flags & GG_OPF_ATOMIC)) {
        gg_interp_formatted(run, wave, inst, exec, places, &image.format, image.dst_sel, inst->mimg.dmask);
        return;
    }
    if (!fits(inst, &image)) {
        gg_interp_unsupported(run, "its data beside texels of another size");
        return;
    }
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        if (exec >> lane & 1)
            lane_atomic(run, wave, inst, lane, &places[lane]);
}

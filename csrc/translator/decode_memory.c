/* SPDX-License-Identifier: MIT */
/* DS, MUBUF, MTBUF, MIMG, FLAT with GLOBAL and SCRATCH, EXP: always two words, MIMG up to five. */
#include "decode_internal.h"

int32_t gg_decode_ds(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    GG_TRY(gg_decode_begin(d, GG_BASE_DS, gg_bits(w, 18, 8), GG_FORMAT_DS, 2));
    uint32_t w1 = d->words[1];
    struct gg_inst *inst = d->inst;
    const struct gg_op_info *info = d->info;
    inst->flags = gg_flag(w, 17, GG_INST_GDS);
    if ((info->flags & GG_OPF_GDS) && !(inst->flags & GG_INST_GDS))
        return gg_decode_refuse(d, "a GDS operation without gds");
    if ((info->flags & GG_OPF_NO_GDS) && (inst->flags & GG_INST_GDS))
        return gg_decode_refuse(d, "gds, which the operation does not have");
    inst->imm = (int32_t)gg_bits(w, 0, 16);
    inst->ds.offset0 = (uint8_t)gg_bits(w, 0, 8);
    inst->ds.offset1 = (uint8_t)gg_bits(w, 8, 8);
    uint32_t dst = gg_bits(w1, 24, 8);
    if (info->dst[0].type == GG_TYPE_NONE && dst)
        return gg_decode_refuse(d, "bits of a destination that is not there");
    GG_TRY(gg_decode_vgpr(d, &inst->dst[0], info->dst[0], dst));
    for (unsigned i = 0; i < 3; i++) {
        uint32_t code = gg_bits(w1, 8 * i, 8);
        if (info->src[i].type == GG_TYPE_NONE && code)
            return gg_decode_refuse(d, "bits of a source that is not there");
        GG_TRY(gg_decode_vgpr(d, &inst->src[i], info->src[i], code));
    }
    return GG_OK;
}

/* The loads that can go to LDS: a byte, a short, a dword. */
static bool loads_to_lds(const struct gg_op_info *info)
{
    return (info->flags & GG_OPF_LOAD) && !(info->flags & GG_OPF_D16) && info->dst[0].width == 1 &&
           info->src[0].type != GG_TYPE_NONE;
}

/* Data of a load into dst[0], of a store from *data, of an atomic from there and, with glc, back. */
static int32_t memory_data(struct gg_decoder *d, struct gg_operand *data, struct gg_op_slot slot, uint32_t source,
                           uint32_t destination)
{
    struct gg_inst *inst = d->inst;
    struct gg_op_slot dst = d->info->dst[0];
    if (inst->flags & GG_INST_TFE) { /* one more dword: the status */
        dst.width++;
        slot.width++;
    }
    if (!(d->info->flags & GG_OPF_ATOMIC) || (inst->flags & GG_INST_GLC))
        if (!(inst->flags & GG_INST_LDS))
            GG_TRY(gg_decode_vgpr(d, &inst->dst[0], dst, destination));
    return gg_decode_vgpr(d, data, slot, source);
}

/* What MUBUF and MTBUF have in common; `flags` are those of the first word. */
static int32_t decode_buffer(struct gg_decoder *d, uint32_t flags)
{
    uint32_t w = d->words[0], w1 = d->words[1];
    struct gg_inst *inst = d->inst;
    const struct gg_op_info *info = d->info;
    inst->flags = (uint16_t)flags | gg_flag(w, 12, GG_INST_OFFEN) | gg_flag(w, 13, GG_INST_IDXEN) |
                  gg_flag(w, 14, GG_INST_GLC) | gg_flag(w, 15, GG_INST_DLC) | gg_flag(w1, 22, GG_INST_SLC) |
                  gg_flag(w1, 23, GG_INST_TFE);
    if (info->src[1].type == GG_TYPE_NONE) /* buffer_gl0_inv, buffer_gl1_inv */
        return inst->flags || gg_bits(w, 0, 12) ? gg_decode_refuse(d, "reserved bits") : GG_OK;
    if ((inst->flags & GG_INST_LDS) && (!loads_to_lds(info) || (inst->flags & GG_INST_TFE)))
        return gg_decode_refuse(d, "lds, which the operation does not have");
    if ((inst->flags & GG_INST_TFE) && (info->flags & GG_OPF_ATOMIC))
        return gg_decode_refuse(d, "tfe, which the operation does not have");
    inst->imm = (int32_t)gg_bits(w, 0, 12);
    uint32_t vdata = gg_bits(w1, 8, 8);
    GG_TRY(memory_data(d, &inst->src[3], info->src[3], vdata, vdata));
    struct gg_op_slot address = info->src[0];
    address.width = (uint8_t)(gg_bits(w, 12, 1) + gg_bits(w, 13, 1));
    if (address.width)
        GG_TRY(gg_decode_vgpr(d, &inst->src[0], address, gg_bits(w1, 0, 8)));
    GG_TRY(gg_decode_sgpr(d, &inst->src[1], info->src[1], 4 * gg_bits(w1, 16, 5)));
    return gg_decode_scalar(d, &inst->src[2], info->src[2], gg_bits(w1, 24, 8));
}

int32_t gg_decode_mubuf(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    uint32_t code = gg_bits(w, 18, 7) | gg_bits(w, 25, 1) << 7;
    GG_TRY(gg_decode_begin(d, GG_BASE_MUBUF, code, GG_FORMAT_MUBUF, 2));
    if (gg_bits(w, 17, 1) || gg_bits(d->words[1], 21, 1))
        return gg_decode_refuse(d, "reserved bits");
    return decode_buffer(d, gg_flag(w, 16, GG_INST_LDS));
}

int32_t gg_decode_mtbuf(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    /* The number's highest bit is in the second word. */
    uint32_t high = d->left > 1 ? gg_bits(d->words[1], 21, 1) : 0;
    GG_TRY(gg_decode_begin(d, GG_BASE_MTBUF, gg_bits(w, 16, 3) | high << 3, GG_FORMAT_MTBUF, 2));
    d->inst->mtbuf.format = (uint8_t)gg_bits(w, 19, 7);
    return decode_buffer(d, 0);
}

int32_t gg_decode_flat(struct gg_decoder *d)
{
    static const uint8_t formats[4] = {GG_FORMAT_FLAT, GG_FORMAT_SCRATCH, GG_FORMAT_GLOBAL, GG_FORMAT_NONE};
    uint32_t w = d->words[0], segment = gg_bits(w, 14, 2);
    enum gg_format format = formats[segment];
    struct gg_inst *inst = d->inst;
    GG_TRY(gg_decode_begin(d, GG_BASE_FLAT, gg_bits(w, 18, 7), format, 2));
    const struct gg_op_info *info = d->info;
    uint32_t w1 = d->words[1], saddr = gg_bits(w1, 16, 7);
    if (format == GG_FORMAT_NONE || (info->format == GG_FORMAT_GLOBAL && format != GG_FORMAT_GLOBAL) ||
        ((info->flags & GG_OPF_ATOMIC) && format == GG_FORMAT_SCRATCH))
        return gg_decode_refuse(d, "a segment that the operation does not have");
    if (gg_bits(w, 25, 1) || gg_bits(w1, 23, 1))
        return gg_decode_refuse(d, "reserved bits");
    inst->flags = gg_flag(w, 12, GG_INST_DLC) | gg_flag(w, 13, GG_INST_LDS) | gg_flag(w, 16, GG_INST_GLC) |
                  gg_flag(w, 17, GG_INST_SLC);
    if ((inst->flags & GG_INST_LDS) && (format == GG_FORMAT_FLAT || !loads_to_lds(info)))
        return gg_decode_refuse(d, "lds, which the operation does not have");
    inst->imm = (int32_t)gg_bits(w, 0, 12);
    if (format != GG_FORMAT_FLAT)
        inst->imm = (inst->imm ^ 0x800) - 0x800;
    GG_TRY(memory_data(d, &inst->src[2], info->src[2], gg_bits(w1, 8, 8), gg_bits(w1, 24, 8)));

    struct gg_op_slot address = info->src[0], scalar = info->src[1];
    if (format == GG_FORMAT_SCRATCH) {
        /* The address is a VGPR, an SGPR, or (EXEC_HI) neither: 32-bit offsets all. */
        address = scalar = (struct gg_op_slot){GG_TYPE_U32, 1};
        if (saddr == GG_SGPR_EXEC_HI)
            return GG_OK;
        if (saddr != GG_SGPR_NULL)
            return gg_decode_sgpr(d, &inst->src[1], scalar, saddr);
        return gg_decode_vgpr(d, &inst->src[0], address, gg_bits(w1, 0, 8));
    }
    if (saddr != GG_SGPR_NULL) {
        if (format == GG_FORMAT_FLAT)
            return gg_decode_refuse(d, "saddr, which flat operations do not have");
        GG_TRY(gg_decode_sgpr(d, &inst->src[1], scalar, saddr));
        if (address.type != GG_TYPE_NONE) /* beside it a 32-bit offset */
            address = (struct gg_op_slot){GG_TYPE_U32, 1};
    }
    return gg_decode_vgpr(d, &inst->src[0], address, gg_bits(w1, 0, 8));
}

/* Dwords of an image address. */
static uint32_t address_words(const struct gg_op_info *info, uint32_t dim, bool a16)
{
    static const uint8_t coordinates[8] = {1, 2, 3, 3, 2, 3, 3, 4};
    static const uint8_t gradients[8] = {2, 4, 6, 4, 2, 4, 4, 4};
    uint32_t image = info->image;
    uint32_t extra =
        (image & GG_IMAGE_OFFSET ? 1u : 0) + (image & GG_IMAGE_BIAS ? 1u : 0) + (image & GG_IMAGE_COMPARE ? 1u : 0);
    uint32_t components =
        (image & GG_IMAGE_NO_COORDS ? 1u : coordinates[dim]) + (image & (GG_IMAGE_LOD | GG_IMAGE_CLAMP) ? 1u : 0);
    uint32_t words = extra + (a16 ? (components + 1) / 2 : components);
    if (image & GG_IMAGE_G16) /* a pair of halves for each direction, x in its own dword in 1D */
        words += (gradients[dim] / 2 + 1u) / 2 * 2;
    else if (image & GG_IMAGE_GRADIENT)
        words += gradients[dim];
    return words;
}

/* src[0]: consecutive registers, or with nsa the first of them and more in the words that follow. */
static int32_t image_address(struct gg_decoder *d, uint32_t count, uint32_t nsa_words)
{
    struct gg_inst *inst = d->inst;
    struct gg_op_slot slot = {GG_TYPE_B32, (uint8_t)count};
    uint32_t first = gg_bits(d->words[1], 0, 8);
    if (!nsa_words)
        return gg_decode_vgpr(d, &inst->src[0], slot, first);
    if (count > 1 + 4 * nsa_words)
        return gg_decode_refuse(d, "fewer addresses than the image's dimension needs");
    if (count > GG_MIMG_MAX_ADDRESSES)
        return gg_decode_refuse(d, "more than 13 separate addresses");
    inst->nsa = 1;
    inst->mimg.addresses[0] = (uint8_t)first;
    for (uint32_t i = 1; i < count; i++)
        inst->mimg.addresses[i] = (uint8_t)gg_bits(d->words[2 + (i - 1) / 4], 8 * ((i - 1) % 4), 8);
    inst->src[0] = (struct gg_operand){GG_OPERAND_VGPR, slot.type, slot.width, 0, first};
    return GG_OK;
}

static int32_t decode_ray(struct gg_decoder *d, uint32_t nsa_words)
{
    struct gg_inst *inst = d->inst;
    bool wide = inst->op == GG_OP_image_bvh64_intersect_ray, a16 = inst->flags & GG_INST_A16;
    if ((inst->flags & ~GG_INST_A16) != (GG_INST_UNORM | GG_INST_R128) || inst->mimg.dmask != 15 || inst->mimg.dim)
        return gg_decode_refuse(d, "reserved bits");
    GG_TRY(gg_decode_vgpr(d, &inst->dst[0], d->info->dst[0], gg_bits(d->words[1], 8, 8)));
    GG_TRY(gg_decode_sgpr(d, &inst->src[1], d->info->src[1], 4 * gg_bits(d->words[1], 16, 5)));
    return image_address(d, (a16 ? 8u : 11u) + wide, nsa_words);
}

int32_t gg_decode_mimg(struct gg_decoder *d)
{
    uint32_t w = d->words[0], nsa_words = gg_bits(w, 1, 2);
    uint32_t code = gg_bits(w, 18, 7) | gg_bits(w, 0, 1) << 7;
    struct gg_inst *inst = d->inst;
    GG_TRY(gg_decode_begin(d, GG_BASE_MIMG, code, GG_FORMAT_MIMG, 2 + nsa_words));
    const struct gg_op_info *info = d->info;
    uint32_t w1 = d->words[1];
    if (gg_bits(w, 6, 1) | gg_bits(w, 14, 1) | gg_bits(w1, 26, 4))
        return gg_decode_refuse(d, "reserved bits");
    inst->mimg.dmask = (uint8_t)gg_bits(w, 8, 4);
    inst->mimg.dim = (uint8_t)gg_bits(w, 3, 3);
    inst->flags = gg_flag(w, 7, GG_INST_DLC) | gg_flag(w, 12, GG_INST_UNORM) | gg_flag(w, 13, GG_INST_GLC) |
                  gg_flag(w, 15, GG_INST_R128) | gg_flag(w, 16, GG_INST_TFE) | gg_flag(w, 17, GG_INST_LWE) |
                  gg_flag(w, 25, GG_INST_SLC) | gg_flag(w1, 30, GG_INST_A16) | gg_flag(w1, 31, GG_INST_D16);
    if (inst->op == GG_OP_image_bvh_intersect_ray || inst->op == GG_OP_image_bvh64_intersect_ray)
        return decode_ray(d, nsa_words);

    if (inst->mimg.dim >= 6 && (info->src[2].type != GG_TYPE_NONE || (info->image & GG_IMAGE_LOD)))
        return gg_decode_refuse(d, "a multisampled image, which has neither filter nor levels");

    bool atomic = info->flags & GG_OPF_ATOMIC;
    uint32_t dmask = inst->mimg.dmask;
    uint32_t components = (dmask & 1) + (dmask >> 1 & 1) + (dmask >> 2 & 1) + (dmask >> 3);
    if (info->image & GG_IMAGE_GATHER4)
        components = 4;
    else if (!components)
        components = 1;
    if (atomic) { /* one dword or two, twice as many for a comparison */
        bool compare = inst->op == GG_OP_image_atomic_cmpswap || inst->op == GG_OP_image_atomic_fcmpswap;
        if (compare ? dmask != 3 && dmask != 15 : dmask != 1 && dmask != 3)
            return gg_decode_refuse(d, "a dmask that the atomic does not have");
    }
    if ((inst->flags & (GG_INST_D16 | GG_INST_TFE | GG_INST_LWE)) && atomic)
        return gg_decode_refuse(d, "d16, tfe or lwe, which the operation does not have");
    struct gg_op_slot data = {GG_TYPE_B32, (uint8_t)(inst->flags & GG_INST_D16 ? (components + 1) / 2 : components)};
    if (inst->flags & (GG_INST_TFE | GG_INST_LWE))
        data.width++;
    uint32_t vdata = gg_bits(w1, 8, 8);
    if (!(info->flags & GG_OPF_STORE) && (!atomic || (inst->flags & GG_INST_GLC)))
        GG_TRY(gg_decode_vgpr(d, &inst->dst[0], data, vdata));
    if (info->flags & (GG_OPF_STORE | GG_OPF_ATOMIC))
        GG_TRY(gg_decode_vgpr(d, &inst->src[3], data, vdata));
    struct gg_op_slot resource = info->src[1];
    if (inst->flags & GG_INST_R128)
        resource.width = 4;
    GG_TRY(gg_decode_sgpr(d, &inst->src[1], resource, 4 * gg_bits(w1, 16, 5)));
    if (info->src[2].type == GG_TYPE_NONE && gg_bits(w1, 21, 5))
        return gg_decode_refuse(d, "bits of a sampler that is not there");
    GG_TRY(gg_decode_sgpr(d, &inst->src[2], info->src[2], 4 * gg_bits(w1, 21, 5)));
    return image_address(d, address_words(info, inst->mimg.dim, inst->flags & GG_INST_A16), nsa_words);
}

int32_t gg_decode_exp(struct gg_decoder *d)
{
    uint32_t w = d->words[0], enable = gg_bits(w, 0, 4);
    struct gg_inst *inst = d->inst;
    GG_TRY(gg_decode_begin(d, GG_BASE_EXP, 0, GG_FORMAT_EXP, 2));
    uint32_t target = gg_bits(w, 4, 6);
    if (gg_bits(w, 13, 13))
        return gg_decode_refuse(d, "reserved bits");
    if (!(target <= 9 || (target >= 12 && target <= 16) || target == 20 || target >= 32))
        return gg_decode_refuse(d, "a reserved export target");
    inst->exp.target = (uint8_t)target;
    inst->exp.enable = (uint8_t)enable;
    inst->flags = gg_flag(w, 10, GG_INST_COMPR) | gg_flag(w, 11, GG_INST_DONE) | gg_flag(w, 12, GG_INST_VM);
    for (unsigned i = 0; i < 4; i++) {
        /* Compressed: the first register has sources 0 and 1, the second 2 and 3. */
        unsigned field = inst->flags & GG_INST_COMPR ? i / 2 : i;
        if (enable >> i & 1)
            GG_TRY(gg_decode_vgpr(d, &inst->src[i], d->info->src[i], gg_bits(d->words[1], 8 * field, 8)));
    }
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * MIMG without a sampler, on linear images of one level, by a T# in scalar registers that is read when the instruction
 * executes: loads, stores, atomics and sizes. Texels outside the image read 0 and are not written. An image of another
 * kind (tiled, compressed, with levels) cannot be refused then: its lanes count as writes outside the windows.
 */
#include "lift_buffer.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value s2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_S, a, b);
}

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

static gg_value b2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_B, a, b);
}

static gg_value field(struct gg_lift *l, gg_value word, uint32_t at, uint32_t width)
{
    return gg_l_part(l, GG_IR_S, word, at, width, false);
}

static gg_value is(struct gg_lift *l, gg_value word, uint32_t bits) { return b2(l, GG_IR_eq, word, k(l, bits)); }

enum image_type {
    TYPE_1D = 8,
    TYPE_2D,
    TYPE_3D,
    TYPE_CUBE,
    TYPE_1D_ARRAY,
    TYPE_2D_ARRAY
};

/* Dimensions as the instruction names them. */
enum image_dim {
    DIM_1D = 0,
    DIM_2D,
    DIM_3D,
    DIM_CUBE,
    DIM_1D_ARRAY,
    DIM_2D_ARRAY
};

#define ROW_BYTES 256u /* rows begin at multiples of this, unless the T# has a pitch */

struct image { /* scalars */
    struct gg_pair base;
    gg_value width, height, depth, first_slice, selects;
    gg_value row, slice[2]; /* bytes */
    struct gg_memory_format format;
    gg_value known; /* B: of a kind that is translated */
};

static gg_value rounded_up(struct gg_lift *l, gg_value bytes)
{
    return s2(l, GG_IR_and, s2(l, GG_IR_add, bytes, k(l, ROW_BYTES - 1)), k(l, ~(ROW_BYTES - 1)));
}

static gg_value is_known(struct gg_lift *l, const struct image *image, const gg_value *w, gg_value type)
{
    gg_value first = s2(l, GG_IR_sub, type, k(l, TYPE_1D));
    gg_value known = b2(l, GG_IR_lt_u, first, k(l, TYPE_2D_ARRAY - TYPE_1D + 1));
    gg_value linear = is(l, field(l, w[3], 20, 5), 0), one_level = is(l, field(l, w[3], 12, 8), 0);
    gg_value plain = is(l, field(l, w[6], 21, 1), 0), bytes = image->format.bytes;
    gg_value power = is(l, s2(l, GG_IR_and, bytes, s2(l, GG_IR_sub, bytes, k(l, 1))), 0); /* not 12; 0 goes below */
    gg_value there = gg_l1(l, GG_IR_not, GG_IR_B, is(l, bytes, 0));
    known = b2(l, GG_IR_and, b2(l, GG_IR_and, known, linear), b2(l, GG_IR_and, one_level, plain));
    return b2(l, GG_IR_and, known, b2(l, GG_IR_and, power, there));
}

static void read_descriptor(struct gg_lift *l, struct image *image)
{
    gg_value w[8], one = k(l, 1);
    for (uint32_t i = 0; i < 8; i++)
        w[i] = i < l->inst->src[1].width ? gg_l_scalar(l, &l->inst->src[1], i) : k(l, 0);
    gg_value type = field(l, w[3], 28, 4), last = field(l, w[4], 0, 13);
    gg_value is_row = b2(l, GG_IR_or, is(l, type, TYPE_1D), is(l, type, TYPE_1D_ARRAY));
    gg_value has_pitch = b2(l, GG_IR_or, is(l, type, TYPE_1D), is(l, type, TYPE_2D));
    gg_value slices = s2(l, GG_IR_add, last, one), wide = s2(l, GG_IR_shl, field(l, w[2], 0, 12), k(l, 2));
    gg_value high = s2(l, GG_IR_or, s2(l, GG_IR_shr, w[0], k(l, 24)), s2(l, GG_IR_shl, field(l, w[1], 0, 8), k(l, 8)));
    image->base = (struct gg_pair){s2(l, GG_IR_shl, w[0], k(l, 8)), gg_l_part(l, GG_IR_S, high, 0, 16, true)};
    image->width = s2(l, GG_IR_add, s2(l, GG_IR_or, wide, s2(l, GG_IR_shr, w[1], k(l, 30))), one);
    image->height = gg_l_select(l, GG_IR_S, is_row, one, s2(l, GG_IR_add, field(l, w[2], 14, 14), one));
    image->depth = gg_l_select(l, GG_IR_S, has_pitch, one, slices);
    image->first_slice = field(l, w[4], 16, 13);
    image->selects = w[3];
    gg_value number = field(l, w[1], 20, 9);
    image->format = gg_l_format(l, number);
    gg_value bytes = image->format.bytes, tight = rounded_up(l, s2(l, GG_IR_mul, image->width, bytes));
    gg_value pitched = b2(l, GG_IR_and, has_pitch, gg_l_not_zero(l, last));
    image->row = gg_l_select(l, GG_IR_S, pitched, s2(l, GG_IR_mul, slices, bytes), tight);
    gg_value carry, low = s2(l, GG_IR_mul, image->row, image->height);
    gg_value top = s2(l, GG_IR_mulhi_u, image->row, image->height);
    low = gg_l_add_carry(l, GG_IR_S, low, k(l, ROW_BYTES - 1), 0, &carry);
    image->slice[0] = s2(l, GG_IR_and, low, k(l, ~(ROW_BYTES - 1)));
    image->slice[1] = gg_l_add_carry(l, GG_IR_S, top, k(l, 0), carry, NULL);
    image->known = is_known(l, image, w, type);
}

static gg_value address_part(struct gg_lift *l, uint32_t part)
{
    const struct gg_inst *inst = l->inst;
    bool halves = inst->flags & GG_INST_A16; /* two of them in a register */
    uint32_t at = halves ? part / 2 : part;
    if (at >= inst->src[0].width)
        return k(l, 0);
    gg_value value = gg_l_vgpr(l, inst->nsa ? inst->mimg.addresses[at] : inst->src[0].value + at);
    return halves ? gg_l_part(l, GG_IR_V, value, 16 * (part % 2), 16, false) : value;
}

static uint32_t coordinates_of(uint32_t dim)
{
    return dim == DIM_1D ? 1 : dim == DIM_2D || dim == DIM_1D_ARRAY ? 2 : 3;
}

static gg_value is_below(struct gg_lift *l, gg_value a, gg_value b) { return gg_l2(l, GG_IR_lt_u, GG_IR_M, a, b); }

/* Adds a * b, b of 64 bits. */
static void add_product(struct gg_lift *l, struct gg_pair *sum, gg_value a, gg_value low, gg_value high)
{
    gg_value carry, product = v2(l, GG_IR_mul, a, low), top = v2(l, GG_IR_mulhi_u, a, low);
    top = v2(l, GG_IR_add, top, v2(l, GG_IR_mul, a, high));
    sum->low = gg_l_add_carry(l, GG_IR_V, sum->low, product, 0, &carry);
    sum->high = gg_l_add_carry(l, GG_IR_V, sum->high, top, carry, NULL);
}

/* Each lane's texel; its limit is 0 outside the image. */
static void find_texel(struct gg_lift *l, const struct image *image, struct gg_buffer_access *a)
{
    uint32_t dim = l->inst->mimg.dim, count = coordinates_of(dim);
    gg_value zero = k(l, 0), at[3] = {zero, zero, zero};
    for (uint32_t i = 0; i < count; i++)
        at[i] = address_part(l, i);
    if (dim == DIM_1D_ARRAY) {
        at[2] = at[1];
        at[1] = zero;
    }
    if (dim != DIM_3D)
        at[2] = v2(l, GG_IR_add, at[2], image->first_slice);
    gg_value inside = gg_l2(l, GG_IR_and, GG_IR_M, is_below(l, at[0], image->width), is_below(l, at[1], image->height));
    inside = gg_l2(l, GG_IR_and, GG_IR_M, inside, is_below(l, at[2], image->depth));
    if (gg_inst_info(l->inst)->image & GG_IMAGE_LOD) {
        gg_value level = address_part(l, count);
        inside = gg_l2(l, GG_IR_and, GG_IR_M, inside, gg_l2(l, GG_IR_eq, GG_IR_M, level, zero));
    }
    *a = (struct gg_buffer_access){.address = image->base, .spread = k(l, 4)};
    add_product(l, &a->address, at[2], image->slice[0], image->slice[1]);
    add_product(l, &a->address, at[1], image->row, zero);
    add_product(l, &a->address, at[0], image->format.bytes, zero);
    gg_value bytes = gg_l_select(l, GG_IR_S, image->known, image->format.bytes, zero);
    a->limit = gg_l_select(l, GG_IR_V, inside, bytes, zero);
}

static void count_unknown(struct gg_lift *l, const struct image *image)
{
    gg_value zero = k(l, 0), top = k(l, UINT32_MAX), mark = gg_l_select(l, GG_IR_V, image->known, zero, k(l, 1));
    gg_value unknown = gg_l2(l, GG_IR_eq, GG_IR_M, mark, k(l, 1));
    gg_value active = gg_l2(l, GG_IR_and, GG_IR_M, gg_l_exec(l), unknown);
    gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, GG_IR_MEM_U8, zero, top, zero, active);
}

/* Width, height, depth or slices, and levels: those that the mask asks for; of levels that are not there 0. */
static int32_t get_size(struct gg_lift *l, const struct image *image)
{
    gg_value one = k(l, 1), zero = k(l, 0), slices = s2(l, GG_IR_sub, image->depth, image->first_slice);
    bool rows = l->inst->mimg.dim == DIM_1D_ARRAY;
    const gg_value sizes[4] = {image->width, rows ? slices : image->height, rows ? one : slices, one};
    gg_value there = gg_l2(l, GG_IR_eq, GG_IR_M, address_part(l, 0), zero);
    for (uint32_t c = 0, at = 0; c < 4; c++) {
        if (!(l->inst->mimg.dmask >> c & 1))
            continue;
        gg_value size = c == 3 ? sizes[c] : gg_l_select(l, GG_IR_V, there, sizes[c], zero);
        gg_l_set_vgpr(l, l->inst->dst[0].value + at++, size);
    }
    return GG_OK;
}

static bool is_translated(const struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_image_load:
    case GG_OP_image_load_mip:
    case GG_OP_image_store:
    case GG_OP_image_store_mip:
    case GG_OP_image_get_resinfo:
        return true;
    default:
        return gg_inst_info(l->inst)->flags & GG_OPF_ATOMIC;
    }
}

int32_t gg_lift_image(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    struct image image;
    struct gg_buffer_access texel;
    if (!is_translated(l)) {
        l->why = "sampling, and this kind of image access";
        return GG_ERR_UNSUPPORTED;
    }
    if (inst->flags & (GG_INST_TFE | GG_INST_LWE) || inst->mimg.dim > DIM_2D_ARRAY) {
        l->why = "tfe, lwe, or an image with samples";
        return GG_ERR_UNSUPPORTED;
    }
    read_descriptor(l, &image);
    count_unknown(l, &image);
    if (inst->op == GG_OP_image_get_resinfo)
        return get_size(l, &image);
    find_texel(l, &image, &texel);
    if (gg_inst_info(inst)->flags & GG_OPF_ATOMIC) {
        gg_value active = gg_l_buffer_active(l, &texel, 1);
        return gg_lift_image_atomic(l, texel.address, active, image.format.bytes);
    }
    if (gg_inst_info(inst)->flags & GG_OPF_LOAD)
        gg_l_load_elements(l, &texel, &image.format, image.selects, inst->mimg.dmask);
    else
        gg_l_store_elements(l, &texel, &image.format, inst->mimg.dmask);
    return GG_OK;
}

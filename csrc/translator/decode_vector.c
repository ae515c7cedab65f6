/* SPDX-License-Identifier: MIT */
/* VOP1, VOP2, VOPC with their SDWA and DPP forms, VOP3, VOP3P, VINTRP. */
#include "decode_internal.h"

static bool is_float(uint8_t type)
{
    return type == GG_TYPE_F16 || type == GG_TYPE_F32 || type == GG_TYPE_F64 || type == GG_TYPE_PK_F16;
}

static bool takes_neg(const struct gg_decoder *d, int source)
{
    return is_float(d->info->src[source].type) || (d->inst->op == GG_OP_v_cndmask_b32 && source < 2);
}

static bool takes_clamp(const struct gg_decoder *d)
{
    const struct gg_op_info *info = d->info;
    if (info->flags & GG_OPF_CLAMP)
        return true;
    if (info->dst[0].type == GG_TYPE_MASK) /* comparisons of numbers; not v_cmp_class */
        return is_float(info->src[1].type);
    return is_float(info->dst[0].type) || is_float(info->src[0].type);
}

/* Is there a modifier on a source, or on the result, that the operation does not have? */
static int32_t check_modifiers(struct gg_decoder *d)
{
    const struct gg_inst *inst = d->inst;
    for (int i = 0; i < 3; i++)
        if (((inst->neg | inst->abs) >> i & 1) && !takes_neg(d, i))
            return gg_decode_refuse(d, "neg or abs of a source that has none");
    if ((inst->flags & GG_INST_CLAMP) && !takes_clamp(d))
        return gg_decode_refuse(d, "clamp, which the operation does not have");
    if (inst->omod && !is_float(d->info->dst[0].type))
        return gg_decode_refuse(d, "omod, which the operation does not have");
    return GG_OK;
}

/* The mask operands that the 32-bit forms do not name: VCC, or EXEC for v_cmpx. */
static int32_t implied_masks(struct gg_decoder *d)
{
    struct gg_inst *inst = d->inst;
    const struct gg_op_info *info = d->info;
    if (info->dst[1].type == GG_TYPE_MASK)
        GG_TRY(gg_decode_sgpr(d, &inst->dst[1], info->dst[1], GG_SGPR_VCC_LO));
    if (info->src[2].type == GG_TYPE_MASK)
        GG_TRY(gg_decode_sgpr(d, &inst->src[2], info->src[2], GG_SGPR_VCC_LO));
    return GG_OK;
}

static bool is_cmpx(const struct gg_op_info *info)
{
    /* v_cmpx has bit 4 of the number set, v_cmp has not. */
    return info->format == GG_FORMAT_VOPC && (info->code & 0x10);
}

/* `code`: the SDWA word's 8 bits and, above them, its bit "scalar". */
static int32_t sdwa_source(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code,
                           uint32_t scalar)
{
    if (!scalar)
        return gg_decode_vgpr(d, o, slot, code);
    return code == 255 ? gg_decode_refuse(d, "SDWA with a literal") : gg_decode_source(d, o, slot, code);
}

static int32_t decode_sdwa(struct gg_decoder *d, uint32_t source1)
{
    struct gg_inst *inst = d->inst;
    const struct gg_op_info *info = d->info;
    uint32_t w = d->words[1];
    bool two = info->src[1].type != GG_TYPE_NONE;
    if (info->flags & GG_OPF_NO_SDWA)
        return gg_decode_refuse(d, "SDWA, which the operation does not have");
    inst->form = GG_FORM_SDWA;
    GG_TRY(sdwa_source(d, &inst->src[0], info->src[0], gg_bits(w, 0, 8), gg_bits(w, 23, 1)));
    GG_TRY(sdwa_source(d, &inst->src[1], info->src[1], source1, gg_bits(w, 31, 1)));
    if (!two && gg_bits(w, 24, 8))
        return gg_decode_refuse(d, "SDWA bits of a source that is not there");
    if (gg_bits(w, 22, 1) | gg_bits(w, 30, 1))
        return gg_decode_refuse(d, "reserved bits of SDWA");
    inst->sdwa.src_sel[0] = (uint8_t)gg_bits(w, 16, 3);
    inst->sdwa.src_sel[1] = (uint8_t)(two ? gg_bits(w, 24, 3) : GG_SDWA_DWORD);
    inst->sdwa.sext = (uint8_t)(gg_bits(w, 19, 1) | gg_bits(w, 27, 1) << 1);
    inst->neg = (uint8_t)(gg_bits(w, 20, 1) | gg_bits(w, 28, 1) << 1);
    inst->abs = (uint8_t)(gg_bits(w, 21, 1) | gg_bits(w, 29, 1) << 1);
    if (info->format == GG_FORMAT_VOPC) {
        inst->sdwa.dst_sel = GG_SDWA_DWORD;
        if (is_cmpx(info) && gg_bits(w, 8, 8))
            return gg_decode_refuse(d, "v_cmpx with another destination than EXEC");
        if (gg_bits(w, 15, 1))
            GG_TRY(gg_decode_sgpr(d, &inst->dst[0], info->dst[0], gg_bits(w, 8, 7)));
    } else {
        inst->sdwa.dst_sel = (uint8_t)gg_bits(w, 8, 3);
        inst->sdwa.dst_unused = (uint8_t)gg_bits(w, 11, 2);
        inst->flags |= gg_flag(w, 13, GG_INST_CLAMP);
        inst->omod = (uint8_t)gg_bits(w, 14, 2);
    }
    if (inst->sdwa.dst_sel > GG_SDWA_DWORD || inst->sdwa.src_sel[0] > GG_SDWA_DWORD ||
        inst->sdwa.src_sel[1] > GG_SDWA_DWORD || inst->sdwa.dst_unused > GG_SDWA_UNUSED_PRESERVE)
        return gg_decode_refuse(d, "a reserved SDWA selection");
    for (int i = 0; i < 2; i++)
        if ((inst->sdwa.sext >> i & 1) && takes_neg(d, i))
            return gg_decode_refuse(d, "sext of a floating-point source");
    return check_modifiers(d);
}

static bool is_dpp_control(uint32_t ctrl)
{
    uint32_t count = ctrl & 15;
    switch (ctrl >> 4) {
    case 0x10: /* row_shl, row_shr, row_ror by 1 to 15 */
    case 0x11:
    case 0x12:
        return count != 0;
    case 0x14: /* row_mirror, row_half_mirror */
        return count < 2;
    case 0x15: /* row_share, row_xmask */
    case 0x16:
        return true;
    default: /* quad_perm */
        return ctrl < 0x100;
    }
}

static int32_t decode_dpp16(struct gg_decoder *d)
{
    struct gg_inst *inst = d->inst;
    uint32_t w = d->words[1];
    inst->form = GG_FORM_DPP16;
    inst->dpp16.ctrl = (uint16_t)gg_bits(w, 8, 9);
    inst->dpp16.fi = (uint8_t)gg_bits(w, 18, 1);
    inst->dpp16.bound_ctrl = (uint8_t)gg_bits(w, 19, 1);
    inst->dpp16.bank_mask = (uint8_t)gg_bits(w, 24, 4);
    inst->dpp16.row_mask = (uint8_t)gg_bits(w, 28, 4);
    inst->neg = (uint8_t)(gg_bits(w, 20, 1) | gg_bits(w, 22, 1) << 1);
    inst->abs = (uint8_t)(gg_bits(w, 21, 1) | gg_bits(w, 23, 1) << 1);
    if (!is_dpp_control(inst->dpp16.ctrl))
        return gg_decode_refuse(d, "a reserved DPP control");
    if (gg_bits(w, 17, 1))
        return gg_decode_refuse(d, "a reserved bit of DPP");
    GG_TRY(gg_decode_vgpr(d, &inst->src[0], d->info->src[0], gg_bits(w, 0, 8)));
    return check_modifiers(d);
}

static int32_t decode_dpp8(struct gg_decoder *d, uint8_t fi)
{
    uint32_t w = d->words[1];
    d->inst->form = GG_FORM_DPP8;
    d->inst->dpp8.select = gg_bits(w, 8, 24);
    d->inst->dpp8.fi = fi;
    return gg_decode_vgpr(d, &d->inst->src[0], d->info->src[0], gg_bits(w, 0, 8));
}

/* By the field of the first source. */
static bool is_sdwa(uint32_t source0) { return source0 == 249; }
static bool is_dpp(uint32_t source0) { return source0 == 250 || source0 == 233 || source0 == 234; }

/* src[0] and, where there is one, src[1] of the 32-bit forms. Destinations are there already. */
static int32_t decode_sources(struct gg_decoder *d)
{
    uint32_t source0 = gg_bits(d->words[0], 0, 9), source1 = gg_bits(d->words[0], 9, 8);
    struct gg_inst *inst = d->inst;
    const struct gg_op_info *info = d->info;
    if (is_sdwa(source0) || is_dpp(source0)) {
        inst->words = 2;
        if (d->left < 2)
            return gg_decode_refuse(d, "the program ends within the instruction");
    }
    if (is_sdwa(source0))
        return decode_sdwa(d, source1);
    GG_TRY(gg_decode_vgpr(d, &inst->src[1], info->src[1], source1));
    if (!is_dpp(source0))
        return gg_decode_source(d, &inst->src[0], info->src[0], source0);
    if ((info->flags & GG_OPF_NO_DPP) || info->format == GG_FORMAT_VOPC)
        return gg_decode_refuse(d, "DPP, which the operation does not have");
    return source0 == 250 ? decode_dpp16(d) : decode_dpp8(d, source0 == 234);
}

int32_t gg_decode_vop1(struct gg_decoder *d)
{
    uint32_t w = d->words[0], code = gg_bits(w, 9, 8), field = gg_bits(w, 17, 8), source = gg_bits(w, 0, 9);
    struct gg_inst *inst = d->inst;
    /* Numbers from 0x80 on would meet another format's rows; there are none beyond, and none at 0x7f. */
    GG_TRY(gg_decode_begin(d, GG_BASE_VOP1, code < 0x80 ? code : 0x7f, GG_FORMAT_VOP1, 1));
    const struct gg_op_info *info = d->info;
    bool first_lane = inst->op == GG_OP_v_readfirstlane_b32;
    if (first_lane)
        GG_TRY(gg_decode_sgpr(d, &inst->dst[0], info->dst[0], field));
    else
        GG_TRY(gg_decode_vgpr(d, &inst->dst[0], info->dst[0], field));
    if (info->src[0].type == GG_TYPE_NONE && (is_sdwa(source) || is_dpp(source) || source == 255))
        return gg_decode_refuse(d, "a second word for a source that is not there");
    if ((first_lane || (info->flags & GG_OPF_WRITES_SRC0)) && source < 256 &&
        !(first_lane && source == GG_SPECIAL_LDS_DIRECT))
        return gg_decode_refuse(d, "a vector register is wanted");
    return info->src[0].type == GG_TYPE_NONE ? GG_OK : decode_sources(d);
}

int32_t gg_decode_vop2(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    struct gg_inst *inst = d->inst;
    GG_TRY(gg_decode_begin(d, GG_BASE_VOP2, gg_bits(w, 25, 6), GG_FORMAT_VOP2, 1));
    GG_TRY(gg_decode_vgpr(d, &inst->dst[0], d->info->dst[0], gg_bits(w, 17, 8)));
    switch (inst->op) {
    case GG_OP_v_madmk_f32:
    case GG_OP_v_fmamk_f32:
    case GG_OP_v_fmamk_f16:
        GG_TRY(gg_decode_source(d, &inst->src[0], d->info->src[0], gg_bits(w, 0, 9)));
        GG_TRY(gg_decode_source(d, &inst->src[1], d->info->src[1], 255));
        return gg_decode_vgpr(d, &inst->src[2], d->info->src[2], gg_bits(w, 9, 8));
    case GG_OP_v_madak_f32:
    case GG_OP_v_fmaak_f32:
    case GG_OP_v_fmaak_f16:
        GG_TRY(gg_decode_source(d, &inst->src[0], d->info->src[0], gg_bits(w, 0, 9)));
        GG_TRY(gg_decode_vgpr(d, &inst->src[1], d->info->src[1], gg_bits(w, 9, 8)));
        return gg_decode_source(d, &inst->src[2], d->info->src[2], 255);
    default:
        GG_TRY(implied_masks(d));
        return decode_sources(d);
    }
}

int32_t gg_decode_vopc(struct gg_decoder *d)
{
    GG_TRY(gg_decode_begin(d, GG_BASE_VOPC, gg_bits(d->words[0], 17, 8), GG_FORMAT_VOPC, 1));
    GG_TRY(gg_decode_sgpr(d, &d->inst->dst[0], d->info->dst[0], is_cmpx(d->info) ? GG_SGPR_EXEC_LO : GG_SGPR_VCC_LO));
    return decode_sources(d);
}

/* The attribute and channel of the interpolations, which stand where src0 otherwise does. */
static int32_t decode_interp_vop3(struct gg_decoder *d)
{
    struct gg_inst *inst = d->inst;
    uint32_t field = gg_bits(d->words[1], 0, 9), source1 = gg_bits(d->words[1], 9, 9),
             source2 = gg_bits(d->words[1], 18, 9);
    bool half = d->info->format == GG_FORMAT_VOP3;
    inst->imm = (int32_t)(gg_bits(field, 0, 6) << 2 | gg_bits(field, 6, 2));
    if (field >> 8 && !half)
        return gg_decode_refuse(d, "reserved bits");
    inst->op_sel = (uint8_t)(field >> 8);
    GG_TRY(gg_decode_vgpr(d, &inst->dst[0], d->info->dst[0], gg_bits(d->words[0], 0, 8)));
    if (gg_bits(d->words[0], 11, 4))
        return gg_decode_refuse(d, "op_sel, which the operation does not have");
    if ((inst->neg | inst->abs) & 1)
        return gg_decode_refuse(d, "neg or abs of the attribute");
    /* The encoding's second source is src[0] here. */
    inst->neg = (uint8_t)((inst->neg >> 1 & 1) | (inst->neg & 4));
    inst->abs = (uint8_t)((inst->abs >> 1 & 1) | (inst->abs & 4));
    if (inst->op == GG_OP_v_interp_mov_f32) {
        if (source1 > 2)
            return gg_decode_refuse(d, "a reserved vertex parameter");
        inst->src[0] = (struct gg_operand){GG_OPERAND_INLINE_INT, GG_TYPE_B32, 1, 0, source1};
    } else if (source1 < 256)
        return gg_decode_refuse(d, "a vector register is wanted");
    else
        GG_TRY(gg_decode_vgpr(d, &inst->src[0], d->info->src[0], source1 - 256));
    if (d->info->src[2].type == GG_TYPE_NONE)
        return source2 ? gg_decode_refuse(d, "bits of a source that is not there") : check_modifiers(d);
    if (source2 < 256)
        return gg_decode_refuse(d, "a vector register is wanted");
    GG_TRY(gg_decode_vgpr(d, &inst->src[2], d->info->src[2], source2 - 256));
    if (inst->op == GG_OP_v_interp_p2_f16 && inst->omod)
        return gg_decode_refuse(d, "omod, which the operation does not have");
    return check_modifiers(d);
}

/* Lane operations take lane numbers and lane selections from scalar sources. */
static int32_t decode_lane_sources(struct gg_decoder *d)
{
    struct gg_inst *inst = d->inst;
    const struct gg_op_info *info = d->info;
    uint32_t source0 = gg_bits(d->words[1], 0, 9), source1 = gg_bits(d->words[1], 9, 9),
             source2 = gg_bits(d->words[1], 18, 9);
    bool write = inst->op == GG_OP_v_writelane_b32, read = inst->op == GG_OP_v_readlane_b32;
    if (write == (source0 >= 256) && !(read && source0 == GG_SPECIAL_LDS_DIRECT))
        return gg_decode_refuse(d, write ? "a scalar source is wanted" : "a vector register is wanted");
    GG_TRY(gg_decode_source(d, &inst->src[0], info->src[0], source0));
    if (source1 >= 256 || source2 >= 256)
        return gg_decode_refuse(d, "a scalar source is wanted");
    GG_TRY(gg_decode_scalar(d, &inst->src[1], info->src[1], source1));
    if (info->src[2].type == GG_TYPE_NONE && source2)
        return gg_decode_refuse(d, "bits of a source that is not there");
    return gg_decode_scalar(d, &inst->src[2], info->src[2], source2);
}

static int32_t decode_vop3_sources(struct gg_decoder *d)
{
    struct gg_inst *inst = d->inst;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t code = gg_bits(d->words[1], 9 * i, 9);
        struct gg_op_slot slot = d->info->src[i];
        if (slot.type == GG_TYPE_NONE) {
            if (code)
                return gg_decode_refuse(d, "bits of a source that is not there");
        } else if (slot.type == GG_TYPE_MASK) {
            if (code == GG_SGPR_EXEC_LO || code == GG_SGPR_EXEC_HI)
                return gg_decode_refuse(d, "EXEC as a mask source");
            GG_TRY(gg_decode_sgpr(d, &inst->src[i], slot, code));
        } else if (slot.width > 2 && code < 256) {
            return gg_decode_refuse(d, "a vector register is wanted");
        } else
            GG_TRY(gg_decode_source(d, &inst->src[i], slot, code));
    }
    return GG_OK;
}

int32_t gg_decode_vop3(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    struct gg_inst *inst = d->inst;
    GG_TRY(gg_decode_begin(d, GG_BASE_VOP3, gg_bits(w, 16, 10), GG_FORMAT_VOP3, 2));
    const struct gg_op_info *info = d->info;
    if ((info->flags & GG_OPF_NO_VOP3) && info->src[0].type != GG_TYPE_NONE) /* v_nop and the like have one */
        return gg_decode_refuse(d, "the 64-bit form, which the operation does not have");
    bool lane = info->flags & GG_OPF_CROSS_LANE;
    inst->neg = (uint8_t)gg_bits(d->words[1], 29, 3);
    inst->omod = (uint8_t)gg_bits(d->words[1], 27, 2);
    inst->flags |= gg_flag(w, 15, GG_INST_CLAMP);
    if (info->dst[1].type == GG_TYPE_MASK) { /* VOP3B: the second destination instead of abs and op_sel */
        GG_TRY(gg_decode_sgpr(d, &inst->dst[1], info->dst[1], gg_bits(w, 8, 7)));
    } else {
        inst->abs = (uint8_t)gg_bits(w, 8, 3);
        inst->op_sel = (uint8_t)gg_bits(w, 11, 4);
    }
    if (info->format == GG_FORMAT_VINTRP || inst->op == GG_OP_v_interp_p1ll_f16 ||
        inst->op == GG_OP_v_interp_p1lv_f16 || inst->op == GG_OP_v_interp_p2_f16)
        return decode_interp_vop3(d);
    if (inst->op_sel && !(info->flags & GG_OPF_OP_SEL))
        return gg_decode_refuse(d, "op_sel, which the operation does not have");
    if ((inst->op_sel & 4) && (info->src[2].type == GG_TYPE_NONE || lane))
        return gg_decode_refuse(d, "op_sel of a source that has none");
    if ((inst->op_sel & 8) && lane)
        return gg_decode_refuse(d, "op_sel of a destination that has none");
    if (info->dst[0].type == GG_TYPE_MASK)
        GG_TRY(gg_decode_sgpr(d, &inst->dst[0], info->dst[0], is_cmpx(info) ? GG_SGPR_EXEC_LO : gg_bits(w, 0, 8)));
    else if (inst->op == GG_OP_v_readlane_b32)
        GG_TRY(gg_decode_sgpr(d, &inst->dst[0], info->dst[0], gg_bits(w, 0, 8)));
    else
        GG_TRY(gg_decode_vgpr(d, &inst->dst[0], info->dst[0], gg_bits(w, 0, 8)));
    GG_TRY(lane ? decode_lane_sources(d) : decode_vop3_sources(d));
    return check_modifiers(d);
}

int32_t gg_decode_vop3p(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    struct gg_inst *inst = d->inst;
    if (gg_bits(w, 23, 3)) {
        d->reason = "no such encoding";
        return GG_ERR_UNSUPPORTED;
    }
    GG_TRY(gg_decode_begin(d, GG_BASE_VOP3P, gg_bits(w, 16, 7), GG_FORMAT_VOP3P, 2));
    uint32_t w1 = d->words[1];
    bool mix = d->info->src[0].type == GG_TYPE_MIX, three = d->info->src[2].type != GG_TYPE_NONE;
    inst->neg = (uint8_t)gg_bits(w1, 29, 3);
    if (mix)
        inst->abs = (uint8_t)gg_bits(w, 8, 3);
    else
        inst->neg_hi = (uint8_t)gg_bits(w, 8, 3);
    inst->op_sel = (uint8_t)gg_bits(w, 11, 3);
    inst->op_sel_hi = (uint8_t)(gg_bits(w1, 27, 2) | gg_bits(w, 14, 1) << 2);
    inst->flags |= gg_flag(w, 15, GG_INST_CLAMP);
    if (!three) { /* of op_sel_hi compilers set the third bit all the same */
        if ((inst->op_sel | inst->neg | inst->neg_hi) & 4)
            return gg_decode_refuse(d, "bits of a source that is not there");
        inst->op_sel_hi &= 3;
    }
    GG_TRY(gg_decode_vgpr(d, &inst->dst[0], d->info->dst[0], gg_bits(w, 0, 8)));
    return decode_vop3_sources(d);
}

int32_t gg_decode_vintrp(struct gg_decoder *d)
{
    uint32_t w = d->words[0], source = gg_bits(w, 0, 8);
    struct gg_inst *inst = d->inst;
    GG_TRY(gg_decode_begin(d, GG_BASE_VINTRP, gg_bits(w, 16, 2), GG_FORMAT_VINTRP, 1));
    inst->imm = (int32_t)gg_bits(w, 8, 8);
    GG_TRY(gg_decode_vgpr(d, &inst->dst[0], d->info->dst[0], gg_bits(w, 18, 8)));
    if (inst->op != GG_OP_v_interp_mov_f32)
        return gg_decode_vgpr(d, &inst->src[0], d->info->src[0], source);
    if (source > 2)
        return gg_decode_refuse(d, "a reserved vertex parameter");
    inst->src[0] = (struct gg_operand){GG_OPERAND_INLINE_INT, GG_TYPE_B32, 1, 0, source};
    return GG_OK;
}

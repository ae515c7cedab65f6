/* SPDX-License-Identifier: MIT */
/* VOP1, VOP2, VOPC, VOP3, VOP3P, VINTRP with their forms and modifiers. */
#include "disasm_internal.h"

/* A source with neg, abs and sext. */
static void add_source(struct gg_text *t, const struct gg_inst *inst, unsigned i)
{
    struct gg_operand shown = inst->src[i];
    const struct gg_operand *o = &shown;
    if (inst->op == GG_OP_v_ldexp_f16) /* constants of the exponent are written as floats */
        shown.type = GG_TYPE_F16;
    bool packed = inst->format == GG_FORMAT_VOP3P && o->type != GG_TYPE_MIX; /* neg stands apart there */
    bool neg = !packed && (inst->neg >> i & 1), abs = inst->abs >> i & 1;
    bool sext = inst->form == GG_FORM_SDWA && (inst->sdwa.sext >> i & 1);
    /* A minus before a constant would be the constant's. */
    bool constant =
        o->kind == GG_OPERAND_INLINE_INT || o->kind == GG_OPERAND_INLINE_FLOAT || o->kind == GG_OPERAND_LITERAL;
    bool wrapped = neg && constant && !abs;
    if (o->kind == GG_OPERAND_NONE)
        return;
    gg_text_item(t);
    gg_text_add(t, "%s%s%s", wrapped ? "neg(" : neg ? "-" : "", abs ? "|" : "", sext ? "sext(" : "");
    if (inst->format == GG_FORMAT_VOP2 && i > 0 && o->kind == GG_OPERAND_LITERAL) /* the K of v_fmaak: always bits */
        gg_text_add(t, "0x%x", o->value);
    else
        gg_text_operand(t, o);
    gg_text_add(t, "%s%s%s", sext ? ")" : "", abs ? "|" : "", wrapped ? ")" : "");
}

/* " name:[a,b,c]": the low `count` bits, when they are not all equal to `usual`. */
static void add_bits(struct gg_text *t, const char *name, uint32_t bits, unsigned count, uint32_t usual)
{
    uint32_t mask = (1u << count) - 1;
    if ((bits & mask) == (usual & mask))
        return;
    for (unsigned i = 0; i < count; i++)
        gg_text_add(t, "%s%s%u", i ? "," : " ", i ? "" : name, bits >> i & 1);
    gg_text_add(t, "]");
}

static void add_clamp_omod(struct gg_text *t, const struct gg_inst *inst)
{
    static const char *const omods[4] = {"", " mul:2", " mul:4", " div:2"};
    gg_text_add(t, "%s%s", inst->flags & GG_INST_CLAMP ? " clamp" : "", omods[inst->omod]);
}

static void add_sdwa(struct gg_text *t, const struct gg_inst *inst)
{
    static const char *const selects[7] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
    static const char *const unused[3] = {"PAD", "SEXT", "PRESERVE"};
    if (inst->format != GG_FORMAT_VOPC)
        gg_text_add(t, " dst_sel:%s dst_unused:UNUSED_%s", selects[inst->sdwa.dst_sel], unused[inst->sdwa.dst_unused]);
    gg_text_add(t, " src0_sel:%s", selects[inst->sdwa.src_sel[0]]);
    if (inst->src[1].kind != GG_OPERAND_NONE)
        gg_text_add(t, " src1_sel:%s", selects[inst->sdwa.src_sel[1]]);
}

static void add_dpp16(struct gg_text *t, const struct gg_inst *inst)
{
    static const char *const rows[7] = {"shl", "shr", "ror", "", "", "share", "xmask"};
    uint32_t ctrl = inst->dpp16.ctrl;
    if (ctrl < 0x100)
        gg_text_add(t, " quad_perm:[%u,%u,%u,%u]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3, ctrl >> 6);
    else if (ctrl >> 4 == 0x14)
        gg_text_add(t, ctrl & 1 ? " row_half_mirror" : " row_mirror");
    else
        gg_text_add(t, " row_%s:%u", rows[(ctrl >> 4) - 0x10], ctrl & 15);
    gg_text_add(t, " row_mask:0x%x bank_mask:0x%x%s%s", inst->dpp16.row_mask, inst->dpp16.bank_mask,
                inst->dpp16.bound_ctrl ? " bound_ctrl:1" : "", inst->dpp16.fi ? " fi:1" : "");
}

static void add_dpp8(struct gg_text *t, const struct gg_inst *inst)
{
    for (unsigned i = 0; i < 8; i++)
        gg_text_add(t, "%s%u", i ? "," : " dpp8:[", inst->dpp8.select >> 3 * i & 7);
    gg_text_add(t, "]%s", inst->dpp8.fi ? " fi:1" : "");
}

static void add_interp(struct gg_text *t, const struct gg_inst *inst)
{
    static const char *const parameters[3] = {"p10", "p20", "p0"};
    uint32_t attribute = (uint32_t)inst->imm;
    if (inst->op == GG_OP_v_interp_mov_f32) {
        gg_text_item(t);
        gg_text_add(t, "%s", parameters[inst->src[0].value]);
    } else
        add_source(t, inst, 0);
    gg_text_item(t);
    gg_text_add(t, "attr%u.%c", attribute >> 2, "xyzw"[attribute & 3]);
    add_source(t, inst, 2);
    gg_text_add(t, "%s", inst->op_sel ? " high" : "");
    add_clamp_omod(t, inst);
}

static void add_packed(struct gg_text *t, const struct gg_inst *inst, unsigned sources)
{
    bool mix = inst->src[0].type == GG_TYPE_MIX;
    add_bits(t, "op_sel:[", inst->op_sel, sources, 0);
    add_bits(t, "op_sel_hi:[", inst->op_sel_hi, sources, mix ? 0 : 7);
    if (!mix) {
        add_bits(t, "neg_lo:[", inst->neg, sources, 0);
        add_bits(t, "neg_hi:[", inst->neg_hi, sources, 0);
    }
    gg_text_add(t, "%s", inst->flags & GG_INST_CLAMP ? " clamp" : "");
}

void gg_text_vector(struct gg_text *t, const struct gg_inst *inst)
{
    const struct gg_op_info *info = gg_inst_info(inst);
    bool cmpx = info->format == GG_FORMAT_VOPC && inst->dst[0].value == GG_SGPR_EXEC_LO && (info->code & 0x10);
    if (!cmpx) /* EXEC goes without saying there */
        gg_text_next(t, &inst->dst[0]);
    gg_text_next(t, &inst->dst[1]);
    if (info->format == GG_FORMAT_VINTRP || inst->op == GG_OP_v_interp_p1ll_f16 ||
        inst->op == GG_OP_v_interp_p1lv_f16 || inst->op == GG_OP_v_interp_p2_f16) {
        add_interp(t, inst);
        return;
    }
    unsigned sources = 0;
    for (unsigned i = 0; i < 3; i++) {
        add_source(t, inst, i);
        sources += inst->src[i].kind != GG_OPERAND_NONE;
    }
    if (inst->format == GG_FORMAT_VOP3P) {
        add_packed(t, inst, sources);
        return;
    }
    if (info->flags & GG_OPF_CROSS_LANE) {
        add_bits(t, "op_sel:[", inst->op_sel, 2, 0); /* v_permlane: FI and BOUND_CTRL */
    } else if (inst->op_sel) {
        /* The destination's bit stands behind the sources'. */
        uint32_t mask = (1u << sources) - 1;
        add_bits(t, "op_sel:[", (inst->op_sel & mask) | (uint32_t)(inst->op_sel >> 3) << sources, sources + 1, 0);
    }
    add_clamp_omod(t, inst);
    if (inst->form == GG_FORM_SDWA)
        add_sdwa(t, inst);
    else if (inst->form == GG_FORM_DPP16)
        add_dpp16(t, inst);
    else if (inst->form == GG_FORM_DPP8)
        add_dpp8(t, inst);
}

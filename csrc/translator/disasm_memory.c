/* SPDX-License-Identifier: MIT */
/* SMEM, DS, MUBUF, MTBUF, MIMG, FLAT with GLOBAL and SCRATCH, EXP. */
#include "disasm_internal.h"

static void add_flag(struct gg_text *t, const struct gg_inst *inst, uint32_t flag, const char *name)
{
    if (inst->flags & flag)
        gg_text_add(t, " %s", name);
}

static void add_cache_flags(struct gg_text *t, const struct gg_inst *inst)
{
    add_flag(t, inst, GG_INST_GLC, "glc");
    add_flag(t, inst, GG_INST_SLC, "slc");
    add_flag(t, inst, GG_INST_DLC, "dlc");
}

/* Its place is there even where it is not: "off". */
static void add_or_off(struct gg_text *t, const struct gg_operand *o)
{
    gg_text_item(t);
    gg_text_operand(t, o);
}

static void add_signed_hex(struct gg_text *t, int32_t value)
{
    gg_text_add(t, value < 0 ? "-0x%x" : "0x%x", value < 0 ? -value : value);
}

static void add_smem(struct gg_text *t, const struct gg_inst *inst)
{
    if (inst->src[2].kind == GG_OPERAND_INLINE_INT && inst->src[2].value > 64) { /* of s_atc_probe */
        gg_text_item(t);
        gg_text_add(t, "0x%x", inst->src[2].value);
    } else
        gg_text_next(t, inst->src[2].kind != GG_OPERAND_NONE ? &inst->src[2] : &inst->dst[0]);
    gg_text_next(t, &inst->src[0]);
    if (inst->src[1].kind != GG_OPERAND_NONE) {
        gg_text_next(t, &inst->src[1]);
        if (inst->imm) {
            gg_text_add(t, " offset:");
            add_signed_hex(t, inst->imm);
        }
    } else if (inst->src[0].kind != GG_OPERAND_NONE) {
        gg_text_item(t);
        if (inst->imm)
            add_signed_hex(t, inst->imm);
        else
            gg_text_add(t, "null");
    }
    add_cache_flags(t, inst);
}

static void add_swizzle(struct gg_text *t, uint32_t offset)
{
    uint32_t and = offset & 31, or = offset >> 5 & 31, xor = offset >> 10 & 31;
    if (!offset)
        return;
    gg_text_add(t, " offset:");
    if (offset >> 8 == 0x80)
        gg_text_add(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", offset & 3, offset >> 2 & 3, offset >> 4 & 3, offset >> 6 & 3);
    else if (offset >> 15)
        gg_text_add(t, "%u", offset);
    else if (and== 31 && !or &&xor&&!(xor&(xor-1)))
        gg_text_add(t, "swizzle(SWAP,%u)", xor);
    else if (and== 31 && !or &&xor&&!(xor&(xor+1)))
        gg_text_add(t, "swizzle(REVERSE,%u)", xor+1);
    else if (!xor&&and!= 31 && !((32 - and)&(32 - and-1)) && !(or &and) && or < 32 - and)
        gg_text_add(t, "swizzle(BROADCAST,%u,%u)", 32 - and, or);
    else {
        gg_text_add(t, "swizzle(BITMASK_PERM,\"");
        for (int bit = 4; bit >= 0; bit--) {
            uint32_t a = and >> bit & 1, o = or >> bit & 1, x = xor >> bit & 1;
            gg_text_add(t, "%c", o ? (x ? '0' : '1') : a ? (x ? 'i' : 'p') : x ? '1' : '0');
        }
        gg_text_add(t, "\")");
    }
}

static void add_ds(struct gg_text *t, const struct gg_inst *inst)
{
    gg_text_next(t, &inst->dst[0]);
    for (int i = 0; i < 3; i++)
        gg_text_next(t, &inst->src[i]);
    if (inst->op == GG_OP_ds_swizzle_b32)
        add_swizzle(t, (uint32_t)inst->imm);
    else if (gg_inst_info(inst)->flags & GG_OPF_TWO) {
        if (inst->ds.offset0)
            gg_text_add(t, " offset0:%u", inst->ds.offset0);
        if (inst->ds.offset1)
            gg_text_add(t, " offset1:%u", inst->ds.offset1);
    } else if (inst->imm)
        gg_text_add(t, " offset:%d", inst->imm);
    add_flag(t, inst, GG_INST_GDS, "gds");
}

static void add_buffer_format(struct gg_text *t, uint32_t format)
{
    static const char *const names[78] = {
        "INVALID",
        "8_UNORM",
        "8_SNORM",
        "8_USCALED",
        "8_SSCALED",
        "8_UINT",
        "8_SINT",
        "16_UNORM",
        "16_SNORM",
        "16_USCALED",
        "16_SSCALED",
        "16_UINT",
        "16_SINT",
        "16_FLOAT",
        "8_8_UNORM",
        "8_8_SNORM",
        "8_8_USCALED",
        "8_8_SSCALED",
        "8_8_UINT",
        "8_8_SINT",
        "32_UINT",
        "32_SINT",
        "32_FLOAT",
        "16_16_UNORM",
        "16_16_SNORM",
        "16_16_USCALED",
        "16_16_SSCALED",
        "16_16_UINT",
        "16_16_SINT",
        "16_16_FLOAT",
        "10_11_11_UNORM",
        "10_11_11_SNORM",
        "10_11_11_USCALED",
        "10_11_11_SSCALED",
        "10_11_11_UINT",
        "10_11_11_SINT",
        "10_11_11_FLOAT",
        "11_11_10_UNORM",
        "11_11_10_SNORM",
        "11_11_10_USCALED",
        "11_11_10_SSCALED",
        "11_11_10_UINT",
        "11_11_10_SINT",
        "11_11_10_FLOAT",
        "10_10_10_2_UNORM",
        "10_10_10_2_SNORM",
        "10_10_10_2_USCALED",
        "10_10_10_2_SSCALED",
        "10_10_10_2_UINT",
        "10_10_10_2_SINT",
        "2_10_10_10_UNORM",
        "2_10_10_10_SNORM",
        "2_10_10_10_USCALED",
        "2_10_10_10_SSCALED",
        "2_10_10_10_UINT",
        "2_10_10_10_SINT",
        "8_8_8_8_UNORM",
        "8_8_8_8_SNORM",
        "8_8_8_8_USCALED",
        "8_8_8_8_SSCALED",
        "8_8_8_8_UINT",
        "8_8_8_8_SINT",
        "32_32_UINT",
        "32_32_SINT",
        "32_32_FLOAT",
        "16_16_16_16_UNORM",
        "16_16_16_16_SNORM",
        "16_16_16_16_USCALED",
        "16_16_16_16_SSCALED",
        "16_16_16_16_UINT",
        "16_16_16_16_SINT",
        "16_16_16_16_FLOAT",
        "32_32_32_UINT",
        "32_32_32_SINT",
        "32_32_32_FLOAT",
        "32_32_32_32_UINT",
        "32_32_32_32_SINT",
        "32_32_32_32_FLOAT",
    };
    if (format >= 78)
        gg_text_add(t, " format:%u", format);
    else if (format != 1) /* 8_UNORM is what goes unsaid */
        gg_text_add(t, " format:[BUF_FMT_%s]", names[format]);
}

static void add_buffer(struct gg_text *t, const struct gg_inst *inst)
{
    if (gg_inst_info(inst)->src[1].type == GG_TYPE_NONE)
        return;
    const struct gg_operand *data = inst->src[3].kind != GG_OPERAND_NONE ? &inst->src[3] : &inst->dst[0];
    gg_text_next(t, data);
    add_or_off(t, &inst->src[0]);
    gg_text_next(t, &inst->src[1]);
    gg_text_next(t, &inst->src[2]);
    if (inst->format == GG_FORMAT_MTBUF)
        add_buffer_format(t, inst->mtbuf.format);
    add_flag(t, inst, GG_INST_IDXEN, "idxen");
    add_flag(t, inst, GG_INST_OFFEN, "offen");
    if (inst->imm)
        gg_text_add(t, " offset:%d", inst->imm);
    add_cache_flags(t, inst);
    add_flag(t, inst, GG_INST_TFE, "tfe");
    add_flag(t, inst, GG_INST_LDS, "lds");
}

static void add_image(struct gg_text *t, const struct gg_inst *inst)
{
    static const char *const dims[8] = {"1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
    bool ray = inst->op == GG_OP_image_bvh_intersect_ray || inst->op == GG_OP_image_bvh64_intersect_ray;
    struct gg_operand data = inst->src[3].kind != GG_OPERAND_NONE ? inst->src[3] : inst->dst[0];
    if ((inst->flags & (GG_INST_LWE | GG_INST_TFE)) == GG_INST_LWE)
        data.width--; /* LLVM counts the dword of tfe only */
    if (inst->nsa && inst->src[2].kind != GG_OPERAND_NONE)
        gg_text_add(t, " "); /* LLVM's mnemonic ends with a blank there */
    gg_text_next(t, &data);
    gg_text_item(t);
    if (inst->nsa) {
        for (unsigned i = 0; i < inst->src[0].width; i++)
            gg_text_add(t, "%sv%u", i ? ", " : "[", inst->mimg.addresses[i]);
        gg_text_add(t, "]");
    } else {
        struct gg_operand address = inst->src[0];
        if (address.width > 12) /* LLVM has no register class between 12 and 16 */
            address.width = 16;
        gg_text_operand(t, &address);
    }
    struct gg_operand resource = inst->src[1];
    if (!ray)
        resource.width = 8; /* also with r128 */
    gg_text_next(t, &resource);
    gg_text_next(t, &inst->src[2]);
    if (!ray) {
        if (inst->mimg.dmask)
            gg_text_add(t, " dmask:0x%x", inst->mimg.dmask);
        gg_text_add(t, " dim:SQ_RSRC_IMG_%s", dims[inst->mimg.dim]);
        add_flag(t, inst, GG_INST_UNORM, "unorm");
        add_cache_flags(t, inst);
        add_flag(t, inst, GG_INST_R128, "r128");
    }
    add_flag(t, inst, GG_INST_A16, "a16");
    add_flag(t, inst, GG_INST_TFE, "tfe");
    add_flag(t, inst, GG_INST_LWE, "lwe");
    add_flag(t, inst, GG_INST_D16, "d16");
}

static void add_flat(struct gg_text *t, const struct gg_inst *inst)
{
    gg_text_next(t, &inst->dst[0]);
    if (gg_inst_info(inst)->src[0].type != GG_TYPE_NONE) /* not the addtid operations */
        add_or_off(t, &inst->src[0]);
    gg_text_next(t, &inst->src[2]);
    if (inst->format != GG_FORMAT_FLAT)
        add_or_off(t, &inst->src[1]);
    if (inst->imm)
        gg_text_add(t, " offset:%d", inst->imm);
    add_cache_flags(t, inst);
    add_flag(t, inst, GG_INST_LDS, "lds");
}

static void add_exp(struct gg_text *t, const struct gg_inst *inst)
{
    uint32_t target = inst->exp.target;
    gg_text_item(t);
    if (target < 8)
        gg_text_add(t, "mrt%u", target);
    else if (target < 12)
        gg_text_add(t, target == 8 ? "mrtz" : "null");
    else if (target < 20)
        gg_text_add(t, "pos%u", target - 12);
    else if (target < 32)
        gg_text_add(t, "prim");
    else
        gg_text_add(t, "param%u", target - 32);
    for (int i = 0; i < 4; i++) {
        gg_text_add(t, i ? ", " : " ");
        gg_text_operand(t, &inst->src[i]);
    }
    add_flag(t, inst, GG_INST_DONE, "done");
    add_flag(t, inst, GG_INST_COMPR, "compr");
    add_flag(t, inst, GG_INST_VM, "vm");
}

void gg_text_memory(struct gg_text *t, const struct gg_inst *inst)
{
    switch (inst->format) {
    case GG_FORMAT_SMEM:
        add_smem(t, inst);
        break;
    case GG_FORMAT_DS:
        add_ds(t, inst);
        break;
    case GG_FORMAT_MUBUF:
    case GG_FORMAT_MTBUF:
        add_buffer(t, inst);
        break;
    case GG_FORMAT_MIMG:
        add_image(t, inst);
        break;
    case GG_FORMAT_EXP:
        add_exp(t, inst);
        break;
    default:
        add_flat(t, inst);
    }
}

/* SPDX-License-Identifier: MIT */
#include "decode_internal.h"

#include "message.h"

#include <string.h>

/* Row numbers by target; two rows of one target with one number would not compile (an initializer overridden). */
#define IN_gfx1030_both(...)    __VA_ARGS__
#define IN_gfx1030_gfx1030(...) __VA_ARGS__
#define IN_gfx1030_gfx1013(...)
#define IN_gfx1013_both(...)    __VA_ARGS__
#define IN_gfx1013_gfx1013(...) __VA_ARGS__
#define IN_gfx1013_gfx1030(...)
static const uint16_t ops_gfx1030[GG_BASE_END] = {
#define GG_ROW(format, code, target, name, ...) IN_gfx1030_##target([GG_BASE_##format + code] = GG_OP_##name, )
#include "isa/all.def"
#undef GG_ROW
};
static const uint16_t ops_gfx1013[GG_BASE_END] = {
#define GG_ROW(format, code, target, name, ...) IN_gfx1013_##target([GG_BASE_##format + code] = GG_OP_##name, )
#include "isa/all.def"
#undef GG_ROW
};

static const struct gg_op_slot slot_u32 = {GG_TYPE_U32, 1};

int32_t gg_decode_refuse(struct gg_decoder *d, const char *reason)
{
    d->reason = reason;
    return GG_ERR_FORMAT;
}

int32_t gg_decode_begin(struct gg_decoder *d, uint32_t base, uint32_t code, enum gg_format format, uint32_t words)
{
    d->inst->op = d->ops[base + code];
    d->info = &gg_op_infos[d->inst->op];
    d->inst->format = (uint8_t)format;
    d->inst->words = (uint8_t)words;
    if (d->inst->op == GG_OP_invalid) {
        d->reason = "no such opcode in this target";
        return GG_ERR_UNSUPPORTED;
    }
    return words <= d->left ? GG_OK : gg_decode_refuse(d, "the program ends within the instruction");
}

static void set(struct gg_operand *o, enum gg_operand_kind kind, struct gg_op_slot slot, uint32_t value)
{
    *o = (struct gg_operand){.kind = (uint8_t)kind, .type = slot.type, .width = slot.width, .value = value};
}

static struct gg_op_slot sized(const struct gg_decoder *d, struct gg_op_slot slot)
{
    if (slot.type == GG_TYPE_MASK)
        slot.width = (uint8_t)(d->wave / 32);
    return slot;
}

int32_t gg_decode_sgpr(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code)
{
    if (slot.type == GG_TYPE_NONE)
        return GG_OK;
    slot = sized(d, slot);
    if (code >= GG_SGPR_FILE)
        return gg_decode_refuse(d, "a scalar register is wanted");
    if (slot.width > 1 && code != GG_SGPR_NULL) {
        /* Several dwords stay within s0-s105, VCC, the trap temporaries or EXEC; M0 is one dword. */
        uint32_t end = code < GG_SGPR_VCC_LO  ? GG_SGPR_VCC_LO
                       : code < GG_SGPR_TTMP0 ? GG_SGPR_TTMP0
                       : code < GG_SGPR_M0    ? GG_SGPR_M0
                       : code == GG_SGPR_M0   ? GG_SGPR_NULL
                                              : GG_SGPR_FILE;
        if (code + slot.width > end)
            return gg_decode_refuse(d, "a register range leaves its file");
        if (code & (slot.width == 2 ? 1u : 3u))
            return gg_decode_refuse(d, "a scalar register range is not aligned");
    }
    set(o, GG_OPERAND_SGPR, slot, code);
    return GG_OK;
}

int32_t gg_decode_vgpr(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code)
{
    if (slot.type == GG_TYPE_NONE)
        return GG_OK;
    if (code + slot.width > 256)
        return gg_decode_refuse(d, "a register range leaves its file");
    set(o, GG_OPERAND_VGPR, slot, code);
    return GG_OK;
}

int32_t gg_decode_scalar(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code)
{
    if (slot.type == GG_TYPE_NONE)
        return GG_OK;
    if (code < 128)
        return gg_decode_sgpr(d, o, slot, code);
    slot = sized(d, slot);
    if (code <= 192)
        set(o, GG_OPERAND_INLINE_INT, slot, code - 128);
    else if (code <= 208)
        set(o, GG_OPERAND_INLINE_INT, slot, 192 - code);
    else if (code >= 240 && code <= 248)
        set(o, GG_OPERAND_INLINE_FLOAT, slot, code);
    else if ((code >= GG_SPECIAL_SHARED_BASE && code <= GG_SPECIAL_POPS_EXITING_WAVE_ID) ||
             (code >= GG_SPECIAL_VCCZ && code <= GG_SPECIAL_SCC))
        set(o, GG_OPERAND_SPECIAL, slot, code);
    else if (code == 255) {
        if (d->inst->words >= d->left)
            return gg_decode_refuse(d, "the program ends before the literal");
        d->literal = true;
        set(o, GG_OPERAND_LITERAL, slot, d->words[d->inst->words]);
    } else
        return gg_decode_refuse(d, "a reserved source");
    return GG_OK;
}

int32_t gg_decode_source(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code)
{
    if (code >= 256)
        return gg_decode_vgpr(d, o, slot, code - 256);
    if (code == GG_SPECIAL_LDS_DIRECT && slot.width == 1) {
        set(o, GG_OPERAND_SPECIAL, slot, code);
        return GG_OK;
    }
    return gg_decode_scalar(d, o, slot, code);
}

static int32_t decode_sop1(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    GG_TRY(gg_decode_begin(d, GG_BASE_SOP1, gg_bits(w, 8, 8), GG_FORMAT_SOP1, 1));
    GG_TRY(gg_decode_sgpr(d, &d->inst->dst[0], d->info->dst[0], gg_bits(w, 16, 7)));
    return gg_decode_scalar(d, &d->inst->src[0], d->info->src[0], gg_bits(w, 0, 8));
}

static int32_t decode_sop2(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    GG_TRY(gg_decode_begin(d, GG_BASE_SOP2, gg_bits(w, 23, 7), GG_FORMAT_SOP2, 1));
    GG_TRY(gg_decode_sgpr(d, &d->inst->dst[0], d->info->dst[0], gg_bits(w, 16, 7)));
    GG_TRY(gg_decode_scalar(d, &d->inst->src[0], d->info->src[0], gg_bits(w, 0, 8)));
    return gg_decode_scalar(d, &d->inst->src[1], d->info->src[1], gg_bits(w, 8, 8));
}

static int32_t decode_sopc(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    GG_TRY(gg_decode_begin(d, GG_BASE_SOPC, gg_bits(w, 16, 7), GG_FORMAT_SOPC, 1));
    GG_TRY(gg_decode_scalar(d, &d->inst->src[0], d->info->src[0], gg_bits(w, 0, 8)));
    return gg_decode_scalar(d, &d->inst->src[1], d->info->src[1], gg_bits(w, 8, 8));
}

static int32_t decode_sopk(struct gg_decoder *d)
{
    uint32_t w = d->words[0], field = gg_bits(w, 16, 7);
    GG_TRY(gg_decode_begin(d, GG_BASE_SOPK, gg_bits(w, 23, 5), GG_FORMAT_SOPK, 1));
    struct gg_inst *inst = d->inst;
    GG_TRY(gg_decode_sgpr(d, &inst->dst[0], d->info->dst[0], field));
    if (inst->op == GG_OP_s_setreg_imm32_b32) {
        inst->imm = (uint16_t)w;
        return gg_decode_scalar(d, &inst->src[0], d->info->src[0], 255);
    }
    GG_TRY(gg_decode_sgpr(d, &inst->src[0], d->info->src[0], field));
    /* Arithmetic on signed numbers and branches; the rest are unsigned numbers and bit fields. */
    bool is_signed =
        d->info->dst[0].type == GG_TYPE_I32 || d->info->src[0].type == GG_TYPE_I32 || (d->info->flags & GG_OPF_BRANCH);
    inst->imm = is_signed ? (int16_t)w : (uint16_t)w;
    return GG_OK;
}

static int32_t decode_sopp(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    GG_TRY(gg_decode_begin(d, GG_BASE_SOPP, gg_bits(w, 16, 7), GG_FORMAT_SOPP, 1));
    d->inst->imm = (d->info->flags & GG_OPF_BRANCH) ? (int16_t)w : (uint16_t)w;
    return GG_OK;
}

static int32_t decode_smem(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    GG_TRY(gg_decode_begin(d, GG_BASE_SMEM, gg_bits(w, 18, 8), GG_FORMAT_SMEM, 2));
    struct gg_inst *inst = d->inst;
    const struct gg_op_info *info = d->info;
    inst->flags = gg_flag(w, 16, GG_INST_GLC) | gg_flag(w, 14, GG_INST_DLC);
    uint32_t data = gg_bits(w, 6, 7), soffset = gg_bits(d->words[1], 25, 7);
    /* An atomic returns into its data registers, and only with glc. */
    if (!(info->flags & GG_OPF_ATOMIC) || (inst->flags & GG_INST_GLC))
        GG_TRY(gg_decode_sgpr(d, &inst->dst[0], info->dst[0], data));
    GG_TRY(gg_decode_sgpr(d, &inst->src[0], info->src[0], 2 * gg_bits(w, 0, 6)));
    if (soffset != GG_SGPR_NULL)
        GG_TRY(gg_decode_sgpr(d, &inst->src[1], info->src[1], soffset));
    GG_TRY(gg_decode_sgpr(d, &inst->src[2], info->src[2], data));
    if (info->src[0].type != GG_TYPE_NONE) /* 21 bits, signed */
        inst->imm = (int32_t)(gg_bits(d->words[1], 0, 21) ^ 0x100000) - 0x100000;
    if (inst->op == GG_OP_s_atc_probe || inst->op == GG_OP_s_atc_probe_buffer) {
        /* The data field is a number: the kind of access that is probed. */
        set(&inst->src[2], GG_OPERAND_INLINE_INT, slot_u32, data);
    }
    return GG_OK;
}

static int32_t decode_one(struct gg_decoder *d)
{
    uint32_t w = d->words[0];
    if (!(w >> 31)) {
        uint32_t top = w >> 25;
        return top == 0x3f ? gg_decode_vop1(d) : top == 0x3e ? gg_decode_vopc(d) : gg_decode_vop2(d);
    }
    if (w >> 30 == 2) {
        switch (w >> 23) {
        case 0x17d:
            return decode_sop1(d);
        case 0x17e:
            return decode_sopc(d);
        case 0x17f:
            return decode_sopp(d);
        default:
            return w >> 28 == 0xb ? decode_sopk(d) : decode_sop2(d);
        }
    }
    switch (w >> 26) {
    case 0x32:
        return gg_decode_vintrp(d);
    case 0x33:
        return gg_decode_vop3p(d);
    case 0x35:
        return gg_decode_vop3(d);
    case 0x36:
        return gg_decode_ds(d);
    case 0x37:
        return gg_decode_flat(d);
    case 0x38:
        return gg_decode_mubuf(d);
    case 0x3a:
        return gg_decode_mtbuf(d);
    case 0x3c:
        return gg_decode_mimg(d);
    case 0x3d:
        return decode_smem(d);
    case 0x3e:
        return gg_decode_exp(d);
    default:
        d->reason = "no such encoding";
        return GG_ERR_UNSUPPORTED;
    }
}

int32_t gg_decode(const struct gg_guest_target *target, const uint32_t *words, uint64_t count, uint64_t at,
                  struct gg_inst *inst, char **message)
{
    gg_succeed(message);
    uint32_t gpu = target ? target->gpu : GG_GUEST_GFX1030, wave = target && target->wave ? target->wave : 32;
    if (gpu > GG_GUEST_GFX1013 || (wave != 32 && wave != 64))
        return gg_fail(message, GG_ERR_ARGUMENT, "decode: no target with GPU number %u and waves of %u", gpu, wave);
    if (at >= count)
        return gg_fail(message, GG_ERR_FORMAT, "decode: offset 0x%llx: beyond the program's %llu words",
                       (unsigned long long)at * 4, (unsigned long long)count);
    if (at > UINT32_MAX / 4)
        return gg_fail(message, GG_ERR_LIMIT, "decode: offset 0x%llx: beyond 4 GiB", (unsigned long long)at * 4);
    static const struct gg_inst empty;   /* copied: gcc clears as much by rep stos, a third of the time */
    const struct gg_inst before = *inst; /* for a failure, which leaves it alone */
    *inst = empty;
    inst->offset = (uint32_t)(4 * at);
    struct gg_decoder d = {
        .words = words + at,
        .left = count - at,
        .ops = gpu == GG_GUEST_GFX1013 ? ops_gfx1013 : ops_gfx1030,
        .info = gg_op_infos,
        .wave = wave,
        .inst = inst,
    };
    int32_t result = decode_one(&d);
    if (result != GG_OK) {
        bool known = inst->op != GG_OP_invalid;
        *inst = before;
        return gg_fail(message, result, "decode: offset 0x%x: word 0x%08x: %s%s%s", (uint32_t)(4 * at), words[at],
                       known ? d.info->name : "", known ? ": " : "", d.reason);
    }
    inst->words = (uint8_t)(inst->words + d.literal);
    return GG_OK;
}

uint64_t gg_operand_constant(const struct gg_operand *operand)
{
    /* 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi) */
    static const uint16_t halves[9] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
    static const uint32_t singles[9] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    static const uint64_t doubles[9] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                        0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                        0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
    bool wide = operand->type >= GG_TYPE_B64 && operand->type <= GG_TYPE_F64;
    bool half = operand->type >= GG_TYPE_B16 && operand->type <= GG_TYPE_F16;
    switch (operand->kind) {
    case GG_OPERAND_INLINE_INT: {
        int64_t value = (int32_t)operand->value;
        return wide ? (uint64_t)value : half ? (uint16_t)value : (uint32_t)value;
    }
    case GG_OPERAND_INLINE_FLOAT: {
        uint32_t index = operand->value - 240;
        if (wide)
            return doubles[index];
        return half || operand->type == GG_TYPE_PK_F16 ? halves[index] : singles[index];
    }
    case GG_OPERAND_LITERAL:
        if (operand->type == GG_TYPE_F64)
            return (uint64_t)operand->value << 32;
        if (operand->type == GG_TYPE_I64)
            return (uint64_t)(int64_t)(int32_t)operand->value;
        return half ? (uint16_t)operand->value : operand->value;
    default:
        return 0;
    }
}

/* SPDX-License-Identifier: MIT */
#include "interp.h"

#include <string.h>

/*
 * Vector operations that are a function of values: sources are fetched for all lanes and selected (DPP, SDWA,
 * op_sel), signs applied, the function of interp_alu.c, interp_fpu.c or interp_pack.c computed lane by lane, output
 * modifiers applied, and only then anything written.
 */

gg_alu_function gg_alu_find(uint16_t op)
{
    static const gg_alu_function functions[] = {gg_alu_integer, gg_alu_float, gg_alu_convert, gg_alu_packed};
    const struct gg_op_info *info = &gg_op_infos[op];
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        struct gg_alu probe = {.op = op, .code = info->code, .type = info->src[0].type};
        if (functions[i](&probe))
            return functions[i];
    }
    return NULL;
}

struct gg_float_mode gg_wave_float_mode(const struct gg_wave *wave, enum gg_float format)
{
    uint32_t round = format == GG_F32 ? GG_MODE_ROUND_32 : GG_MODE_ROUND_64;
    uint32_t denorm = format == GG_F32 ? GG_MODE_DENORM_32 : GG_MODE_DENORM_64;
    return (struct gg_float_mode){.round = wave->mode >> round & 3,
                                  .denorm_in = wave->mode >> denorm & 1,
                                  .denorm_out = wave->mode >> denorm & 2};
}

uint64_t gg_alu_clamp_float(const struct gg_alu *alu, enum gg_float format, uint64_t value)
{
    static const struct gg_float_mode exact = {GG_ROUND_EVEN, true, true};
    if (!alu->clamp)
        return value;
    if (gg_float_is_nan(format, value))
        return alu->dx10_clamp ? 0 : value;
    if (gg_float_compare(format, exact, value, 0) != GG_ORDER_GREATER)
        return 0;
    return gg_float_compare(format, exact, value, gg_float_one(format)) == GG_ORDER_GREATER ? gg_float_one(format)
                                                                                            : value;
}

static bool is_16_bits(uint8_t type) { return type >= GG_TYPE_B16 && type <= GG_TYPE_F16; }
static bool is_float(uint8_t type) { return type == GG_TYPE_F16 || type == GG_TYPE_F32 || type == GG_TYPE_F64; }

static enum gg_float format_of(uint8_t type)
{
    return type == GG_TYPE_F16 ? GG_F16 : type == GG_TYPE_F64 ? GG_F64 : GG_F32;
}

/* Multiplies by 2, 4 or 1/2. The hardware does so only where denormal results are flushed and IEEE mode is off. */
static uint64_t modify_output(const struct gg_alu *alu, enum gg_float format, uint32_t omod, uint64_t value)
{
    struct gg_float_mode mode = format == GG_F32 ? alu->f32 : alu->f64;
    if (!omod || alu->ieee || mode.denorm_out)
        return value;
    value = gg_float_scale(format, mode, gg_float_flush(format, value), omod == 3 ? -1 : (int32_t)omod);
    return gg_float_is_zero(format, value) ? 0 : value;
}

/* One source of all lanes, ready for the operation. */
static void fetch(struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst, uint32_t source,
                  uint64_t exec, uint64_t *values, uint64_t *valid)
{
    const struct gg_operand *operand = &inst->src[source];
    uint32_t lanes = run->lanes;
    if (operand->type == GG_TYPE_MASK) {
        uint64_t mask = gg_read_uniform(run, wave, operand);
        for (uint32_t lane = 0; lane < lanes; lane++)
            values[lane] = mask >> lane & 1;
        return;
    }
    if (operand->kind == GG_OPERAND_VGPR) {
        const uint32_t *low = gg_vgpr(run, wave, operand->value);
        for (uint32_t lane = 0; lane < lanes; lane++)
            values[lane] = low[lane] | (operand->width > 1 ? (uint64_t)low[lane + lanes] << 32 : 0);
    } else {
        uint64_t uniform = gg_read_uniform(run, wave, operand);
        for (uint32_t lane = 0; lane < lanes; lane++)
            values[lane] = uniform;
    }
    if (source == 0 && (inst->form == GG_FORM_DPP16 || inst->form == GG_FORM_DPP8)) {
        uint64_t moved[GG_MAX_LANES];
        gg_interp_dpp(run, inst, exec, values, moved, valid);
        memcpy(values, moved, lanes * sizeof *moved);
    }
    if (inst->form == GG_FORM_SDWA && source < 2)
        for (uint32_t lane = 0; lane < lanes; lane++)
            values[lane] = gg_sdwa_source(inst, source, (uint32_t)values[lane]);
    if (inst->format == GG_FORMAT_VOP3P || operand->type == GG_TYPE_MIX)
        return; /* these select and negate by themselves */
    if (is_16_bits(operand->type)) {
        uint32_t shift = inst->format == GG_FORMAT_VOP3 && inst->op_sel >> source & 1 ? 16 : 0;
        for (uint32_t lane = 0; lane < lanes; lane++)
            values[lane] = values[lane] >> shift & 0xffff;
    }
    bool take_abs = inst->abs >> source & 1, negate = inst->neg >> source & 1;
    if (!take_abs && !negate)
        return;
    uint64_t sign = UINT64_C(1) << (is_16_bits(operand->type) ? 15 : operand->width > 1 ? 63 : 31);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        if (take_abs)
            values[lane] &= ~sign;
        if (negate)
            values[lane] ^= sign;
    }
}

static void store(const struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane,
                  uint64_t value)
{
    const struct gg_operand *dst = &inst->dst[0];
    uint32_t *low = gg_vgpr(run, wave, dst->value) + lane;
    if (inst->form == GG_FORM_SDWA)
        *low = gg_sdwa_result(inst, *low, (uint32_t)value);
    else if (!is_16_bits(dst->type) || inst->format == GG_FORMAT_VOP3P)
        *low = (uint32_t)value;
    else if (inst->format == GG_FORMAT_VOP3 && inst->op_sel & 8)
        *low = (*low & 0xffff) | (uint32_t)value << 16;
    else /* gfx10 keeps the other half */
        *low = (*low & 0xffff0000) | ((uint32_t)value & 0xffff);
    if (dst->width > 1)
        low[run->lanes] = (uint32_t)(value >> 32);
}

/* The destination before the operation, as READS_DST sees it. */
static uint64_t old_value(const struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst,
                          uint32_t lane)
{
    uint32_t value = gg_vgpr(run, wave, inst->dst[0].value)[lane];
    if (!is_16_bits(inst->dst[0].type) || inst->format == GG_FORMAT_VOP3P)
        return value;
    return inst->format == GG_FORMAT_VOP3 && inst->op_sel & 8 ? value >> 16 : value & 0xffff;
}

/* Outputs of an operation whose result is not a float by its type, or that clamps by itself, stay as they are. */
static bool has_output_modifiers(const struct gg_inst *inst)
{
    return inst->format != GG_FORMAT_VOP3P && inst->format != GG_FORMAT_VOPC && is_float(inst->dst[0].type) &&
           (inst->omod || inst->flags & GG_INST_CLAMP);
}

void gg_interp_valu(struct gg_interp *run, struct gg_wave *wave, const struct gg_step *step)
{
    const struct gg_inst *inst = &step->inst;
    const struct gg_op_info *info = gg_inst_info(inst);
    uint64_t exec = gg_exec(run, wave), valid = exec, vcc = gg_read_mask(run, wave, GG_SGPR_VCC_LO);
    uint64_t values[3][GG_MAX_LANES] = {{0}}, results[GG_MAX_LANES], bits = 0, carries = 0;
    struct gg_alu alu = {.op = inst->op,
                         .clamp = inst->flags & GG_INST_CLAMP,
                         .dx10_clamp = wave->mode & GG_MODE_DX10_CLAMP,
                         .ieee = wave->mode & GG_MODE_IEEE,
                         .op_sel_hi = 7,
                         .code = info->code,
                         .type = info->src[0].type,
                         .f32 = gg_wave_float_mode(wave, GG_F32),
                         .f64 = gg_wave_float_mode(wave, GG_F64)};
    if (inst->format == GG_FORMAT_VOP3P) {
        alu.op_sel = inst->op_sel;
        alu.op_sel_hi = inst->op_sel_hi;
        alu.neg = inst->neg;
        alu.neg_hi = inst->neg_hi;
        alu.abs = inst->abs;
    }
    for (uint32_t source = 0; source < 3; source++)
        if (inst->src[source].kind != GG_OPERAND_NONE)
            fetch(run, wave, inst, source, exec, values[source], &valid);
    bool modifies = has_output_modifiers(inst), reads_old = info->flags & GG_OPF_READS_DST;
    enum gg_float format = format_of(inst->dst[0].type);
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(valid >> lane & 1))
            continue;
        alu.lane = (uint8_t)lane;
        alu.vcc = vcc >> lane & 1;
        alu.carry = false;
        alu.src[0] = values[0][lane];
        alu.src[1] = values[1][lane];
        alu.src[2] = values[2][lane];
        alu.old = reads_old ? old_value(run, wave, inst, lane) : 0;
        step->alu(&alu);
        if (modifies) {
            alu.result = modify_output(&alu, format, inst->omod, alu.result);
            alu.result = gg_alu_clamp_float(&alu, format, alu.result);
        }
        results[lane] = alu.result;
        bits |= (alu.result & 1) << lane;
        carries |= (uint64_t)alu.carry << lane;
    }
    if (inst->dst[0].kind == GG_OPERAND_VGPR) {
        for (uint32_t lane = 0; lane < run->lanes; lane++)
            if (valid >> lane & 1)
                store(run, wave, inst, lane, results[lane]);
    } else {
        gg_write_mask(run, wave, inst->dst[0].value, bits);
    }
    if (inst->dst[1].kind == GG_OPERAND_SGPR)
        gg_write_mask(run, wave, inst->dst[1].value, carries);
}

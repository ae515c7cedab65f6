/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * Scalar operations. Operations of 32 and of 64 bits share their cases: sources come with
 * zeros above their width, results are cut to it.
 */

static uint64_t field_mask(uint32_t bits) { return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

static uint64_t bit_field(uint64_t value, uint32_t select, uint32_t width, bool is_signed)
{
    uint32_t offset = select & (width - 1), bits = select >> 16 & 0x7f;
    if (!bits)
        return 0;
    uint64_t field = value >> offset;
    if (offset + bits >= width) /* up to the top: the sign is the value's own */
        return is_signed ? (uint64_t)((int64_t)(value << (64 - width)) >> (64 - width + offset)) : field;
    field &= field_mask(bits);
    return is_signed && field >> (bits - 1) & 1 ? field | ~field_mask(bits) : field;
}

static uint64_t reversed(uint64_t a, uint32_t width)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < width; i++)
        result |= (a >> i & 1) << (width - 1 - i);
    return result;
}

/* Every group of four bits that has one set: all of them (wqm), or one bit a group (quadmask). */
static uint64_t quads(uint64_t a, bool packed)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < 16; i++)
        if (a >> 4 * i & 15)
            result |= packed ? UINT64_C(1) << i : UINT64_C(15) << 4 * i;
    return result;
}

static uint64_t first_set(uint64_t a) { return a ? (uint64_t)__builtin_ctzll(a) : UINT32_MAX; }

static uint64_t leading_zeros(uint64_t a, uint32_t width)
{
    return a ? (uint64_t)(uint32_t)__builtin_clzll(a) - (64 - width) : UINT32_MAX;
}

/* Bits from the top that equal the sign, without the sign's own; all of them: none. */
static uint64_t leading_sign_bits(uint64_t a, uint32_t width)
{
    return leading_zeros(a >> (width - 1) & 1 ? ~a & field_mask(width) : a, width);
}

static uint64_t doubled_bits(uint64_t a)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < 32; i++)
        result |= (a >> i & 1) * UINT64_C(3) << 2 * i;
    return result;
}

static bool overflows(int64_t value) { return value < INT32_MIN || value > INT32_MAX; }

/* Results whose SCC is a carry or overflow. */
static bool arithmetic(struct gg_wave *wave, uint16_t op, uint64_t a, uint64_t b, uint64_t *result)
{
    int64_t x = (int32_t)a, y = (int32_t)b;
    uint32_t scc = wave->scc;
    switch (op) {
    case GG_OP_s_add_u32:
        *result = a + b;
        scc = *result >> 32 & 1;
        break;
    case GG_OP_s_addc_u32:
        *result = a + b + scc;
        scc = *result >> 32 & 1;
        break;
    case GG_OP_s_sub_u32:
        *result = a - b;
        scc = a < b;
        break;
    case GG_OP_s_subb_u32:
        *result = a - b - scc;
        scc = a < b + scc;
        break;
    case GG_OP_s_add_i32:
    case GG_OP_s_addk_i32:
        *result = (uint64_t)(x + y);
        scc = overflows(x + y);
        break;
    case GG_OP_s_sub_i32:
        *result = (uint64_t)(x - y);
        scc = overflows(x - y);
        break;
    case GG_OP_s_lshl1_add_u32:
        *result = (a << 1) + b;
        scc = *result > UINT32_MAX;
        break;
    case GG_OP_s_lshl2_add_u32:
        *result = (a << 2) + b;
        scc = *result > UINT32_MAX;
        break;
    case GG_OP_s_lshl3_add_u32:
        *result = (a << 3) + b;
        scc = *result > UINT32_MAX;
        break;
    case GG_OP_s_lshl4_add_u32:
        *result = (a << 4) + b;
        scc = *result > UINT32_MAX;
        break;
    case GG_OP_s_min_i32:
        scc = x < y;
        *result = scc ? a : b;
        break;
    case GG_OP_s_max_i32:
        scc = x > y;
        *result = scc ? a : b;
        break;
    case GG_OP_s_min_u32:
        scc = a < b;
        *result = scc ? a : b;
        break;
    case GG_OP_s_max_u32:
        scc = a > b;
        *result = scc ? a : b;
        break;
    default:
        return false;
    }
    wave->scc = scc;
    return true;
}

/* Results whose SCC is "not zero". */
static bool logic(uint16_t op, uint32_t width, uint64_t a, uint64_t b, uint64_t *result)
{
    uint32_t shift = (uint32_t)b & (width - 1);
    switch (op) {
    case GG_OP_s_not_b32:
    case GG_OP_s_not_b64:
        *result = ~a;
        break;
    case GG_OP_s_and_b32:
    case GG_OP_s_and_b64:
        *result = a & b;
        break;
    case GG_OP_s_or_b32:
    case GG_OP_s_or_b64:
        *result = a | b;
        break;
    case GG_OP_s_xor_b32:
    case GG_OP_s_xor_b64:
        *result = a ^ b;
        break;
    case GG_OP_s_andn2_b32:
    case GG_OP_s_andn2_b64:
        *result = a & ~b;
        break;
    case GG_OP_s_orn2_b32:
    case GG_OP_s_orn2_b64:
        *result = a | ~b;
        break;
    case GG_OP_s_nand_b32:
    case GG_OP_s_nand_b64:
        *result = ~(a & b);
        break;
    case GG_OP_s_nor_b32:
    case GG_OP_s_nor_b64:
        *result = ~(a | b);
        break;
    case GG_OP_s_xnor_b32:
    case GG_OP_s_xnor_b64:
        *result = ~(a ^ b);
        break;
    case GG_OP_s_lshl_b32:
    case GG_OP_s_lshl_b64:
        *result = a << shift;
        break;
    case GG_OP_s_lshr_b32:
    case GG_OP_s_lshr_b64:
        *result = a >> shift;
        break;
    case GG_OP_s_ashr_i32:
        *result = (uint64_t)((int32_t)a >> shift);
        break;
    case GG_OP_s_ashr_i64:
        *result = (uint64_t)((int64_t)a >> shift);
        break;
    case GG_OP_s_bfe_u32:
    case GG_OP_s_bfe_u64:
        *result = bit_field(a, (uint32_t)b, width, false);
        break;
    case GG_OP_s_bfe_i32:
    case GG_OP_s_bfe_i64:
        *result = bit_field(a, (uint32_t)b, width, true);
        break;
    case GG_OP_s_wqm_b32:
    case GG_OP_s_wqm_b64:
        *result = quads(a, false);
        break;
    case GG_OP_s_quadmask_b32:
    case GG_OP_s_quadmask_b64:
        *result = quads(a, true);
        break;
    case GG_OP_s_bcnt0_i32_b32:
    case GG_OP_s_bcnt0_i32_b64:
        *result = width - (uint32_t)__builtin_popcountll(a);
        break;
    case GG_OP_s_bcnt1_i32_b32:
    case GG_OP_s_bcnt1_i32_b64:
        *result = (uint32_t)__builtin_popcountll(a);
        break;
    case GG_OP_s_abs_i32:
        *result = (uint64_t)((int32_t)a < 0 ? -(int64_t)(int32_t)a : (int32_t)a);
        break;
    case GG_OP_s_absdiff_i32: { /* of the difference as 32 bits have it: 0x80000000 and 1 give 0x7fffffff */
        uint32_t difference = (uint32_t)a - (uint32_t)b;
        *result = difference >> 31 ? 0 - difference : difference;
        break;
    }
    default:
        return false;
    }
    return true;
}

/* Results that leave SCC alone. old: the destination before. */
static bool plain(const struct gg_wave *wave, uint16_t op, uint32_t width, uint64_t a, uint64_t b, uint64_t old,
                  uint64_t *result)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch (op) {
    case GG_OP_s_mov_b32:
    case GG_OP_s_mov_b64:
        *result = a;
        break;
    case GG_OP_s_cmov_b32:
    case GG_OP_s_cmov_b64:
        *result = wave->scc ? a : old;
        break;
    case GG_OP_s_movk_i32:
        *result = b;
        break;
    case GG_OP_s_cmovk_i32:
        *result = wave->scc ? b : old;
        break;
    case GG_OP_s_mulk_i32:
        *result = (uint64_t)((int64_t)(int32_t)old * (int32_t)b);
        break;
    case GG_OP_s_cselect_b32:
    case GG_OP_s_cselect_b64:
        *result = wave->scc ? a : b;
        break;
    case GG_OP_s_brev_b32:
    case GG_OP_s_brev_b64:
        *result = reversed(a, width);
        break;
    case GG_OP_s_ff0_i32_b32:
    case GG_OP_s_ff0_i32_b64:
        *result = first_set(~a & field_mask(width));
        break;
    case GG_OP_s_ff1_i32_b32:
    case GG_OP_s_ff1_i32_b64:
        *result = first_set(a);
        break;
    case GG_OP_s_flbit_i32_b32:
    case GG_OP_s_flbit_i32_b64:
        *result = leading_zeros(a, width);
        break;
    case GG_OP_s_flbit_i32:
    case GG_OP_s_flbit_i32_i64:
        *result = leading_sign_bits(a, width);
        break;
    case GG_OP_s_sext_i32_i8:
        *result = (uint64_t)(int8_t)a;
        break;
    case GG_OP_s_sext_i32_i16:
        *result = (uint64_t)(int16_t)a;
        break;
    case GG_OP_s_bitset0_b32:
        *result = old & ~(UINT64_C(1) << (a & 31));
        break;
    case GG_OP_s_bitset1_b32:
        *result = old | UINT64_C(1) << (a & 31);
        break;
    case GG_OP_s_bitset0_b64:
        *result = old & ~(UINT64_C(1) << (a & 63));
        break;
    case GG_OP_s_bitset1_b64:
        *result = old | UINT64_C(1) << (a & 63);
        break;
    case GG_OP_s_bitreplicate_b64_b32:
        *result = doubled_bits(a);
        break;
    case GG_OP_s_bfm_b32:
        *result = field_mask(x & 31) << (y & 31);
        break;
    case GG_OP_s_bfm_b64:
        *result = field_mask(x & 63) << (y & 63);
        break;
    case GG_OP_s_mul_i32:
        *result = (uint64_t)x * y;
        break;
    case GG_OP_s_mul_hi_u32:
        *result = (uint64_t)x * y >> 32;
        break;
    case GG_OP_s_mul_hi_i32:
        *result = (uint64_t)((int64_t)(int32_t)x * (int32_t)y >> 32);
        break;
    case GG_OP_s_pack_ll_b32_b16:
        *result = (x & 0xffff) | y << 16;
        break;
    case GG_OP_s_pack_lh_b32_b16:
        *result = (x & 0xffff) | (y & 0xffff0000);
        break;
    case GG_OP_s_pack_hh_b32_b16:
        *result = x >> 16 | (y & 0xffff0000);
        break;
    default:
        return false;
    }
    return true;
}

static bool compare(struct gg_wave *wave, uint16_t op, uint64_t a, uint64_t b)
{
    int32_t x = (int32_t)a, y = (int32_t)b;
    uint32_t u = (uint32_t)b, scc;
    switch (op) {
    case GG_OP_s_cmp_eq_i32:
    case GG_OP_s_cmp_eq_u32:
    case GG_OP_s_cmp_eq_u64:
    case GG_OP_s_cmpk_eq_i32:
    case GG_OP_s_cmpk_eq_u32:
        scc = a == b;
        break;
    case GG_OP_s_cmp_lg_i32:
    case GG_OP_s_cmp_lg_u32:
    case GG_OP_s_cmp_lg_u64:
    case GG_OP_s_cmpk_lg_i32:
    case GG_OP_s_cmpk_lg_u32:
        scc = a != b;
        break;
    case GG_OP_s_cmp_gt_i32:
    case GG_OP_s_cmpk_gt_i32:
        scc = x > y;
        break;
    case GG_OP_s_cmp_ge_i32:
    case GG_OP_s_cmpk_ge_i32:
        scc = x >= y;
        break;
    case GG_OP_s_cmp_lt_i32:
    case GG_OP_s_cmpk_lt_i32:
        scc = x < y;
        break;
    case GG_OP_s_cmp_le_i32:
    case GG_OP_s_cmpk_le_i32:
        scc = x <= y;
        break;
    case GG_OP_s_cmp_gt_u32:
    case GG_OP_s_cmpk_gt_u32:
        scc = a > b;
        break;
    case GG_OP_s_cmp_ge_u32:
    case GG_OP_s_cmpk_ge_u32:
        scc = a >= b;
        break;
    case GG_OP_s_cmp_lt_u32:
    case GG_OP_s_cmpk_lt_u32:
        scc = a < b;
        break;
    case GG_OP_s_cmp_le_u32:
    case GG_OP_s_cmpk_le_u32:
        scc = a <= b;
        break;
    case GG_OP_s_bitcmp0_b32:
        scc = !(a >> (u & 31) & 1);
        break;
    case GG_OP_s_bitcmp1_b32:
        scc = a >> (u & 31) & 1;
        break;
    case GG_OP_s_bitcmp0_b64:
        scc = !(a >> (u & 63) & 1);
        break;
    case GG_OP_s_bitcmp1_b64:
        scc = a >> (u & 63) & 1;
        break;
    default:
        return false;
    }
    wave->scc = scc;
    return true;
}

/* EXEC after a saveexec or wrexec, from the source and EXEC before. */
static bool new_exec(uint16_t op, uint64_t a, uint64_t exec, uint64_t *result)
{
    switch (op) {
    case GG_OP_s_and_saveexec_b32:
    case GG_OP_s_and_saveexec_b64:
        *result = a & exec;
        break;
    case GG_OP_s_or_saveexec_b32:
    case GG_OP_s_or_saveexec_b64:
        *result = a | exec;
        break;
    case GG_OP_s_xor_saveexec_b32:
    case GG_OP_s_xor_saveexec_b64:
        *result = a ^ exec;
        break;
    case GG_OP_s_andn2_saveexec_b32:
    case GG_OP_s_andn2_saveexec_b64:
    case GG_OP_s_andn2_wrexec_b32:
    case GG_OP_s_andn2_wrexec_b64:
        *result = a & ~exec;
        break;
    case GG_OP_s_orn2_saveexec_b32:
    case GG_OP_s_orn2_saveexec_b64:
        *result = a | ~exec;
        break;
    case GG_OP_s_nand_saveexec_b32:
    case GG_OP_s_nand_saveexec_b64:
        *result = ~(a & exec);
        break;
    case GG_OP_s_nor_saveexec_b32:
    case GG_OP_s_nor_saveexec_b64:
        *result = ~(a | exec);
        break;
    case GG_OP_s_xnor_saveexec_b32:
    case GG_OP_s_xnor_saveexec_b64:
        *result = ~(a ^ exec);
        break;
    case GG_OP_s_andn1_saveexec_b32:
    case GG_OP_s_andn1_saveexec_b64:
    case GG_OP_s_andn1_wrexec_b32:
    case GG_OP_s_andn1_wrexec_b64:
        *result = ~a & exec;
        break;
    case GG_OP_s_orn1_saveexec_b32:
    case GG_OP_s_orn1_saveexec_b64:
        *result = ~a | exec;
        break;
    default:
        return false;
    }
    return true;
}

static bool is_wrexec(uint16_t op)
{
    return op == GG_OP_s_andn1_wrexec_b32 || op == GG_OP_s_andn1_wrexec_b64 || op == GG_OP_s_andn2_wrexec_b32 ||
           op == GG_OP_s_andn2_wrexec_b64;
}

static void change_exec(struct gg_wave *wave, const struct gg_inst *inst, uint64_t a)
{
    uint32_t width = inst->dst[0].width;
    uint64_t before = gg_read_sgprs(wave, GG_SGPR_EXEC_LO, width), after = 0;
    new_exec(inst->op, a, before, &after);
    after &= field_mask(32 * width);
    gg_write_sgprs(wave, inst->dst[0].value, width, is_wrexec(inst->op) ? after : before);
    gg_write_sgprs(wave, GG_SGPR_EXEC_LO, width, after); /* after the other: also where that is EXEC */
    wave->scc = after != 0;
}

static bool is_relative(uint16_t op)
{
    return op == GG_OP_s_movrels_b32 || op == GG_OP_s_movrels_b64 || op == GG_OP_s_movreld_b32 ||
           op == GG_OP_s_movreld_b64 || op == GG_OP_s_movrelsd_2_b32;
}

static void relative_move(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t m0 = wave->sgpr[GG_SGPR_M0], width = inst->dst[0].width;
    bool both = inst->op == GG_OP_s_movrelsd_2_b32;
    bool source = both || inst->op == GG_OP_s_movrels_b32 || inst->op == GG_OP_s_movrels_b64;
    uint64_t from = (uint64_t)inst->src[0].value + (both ? m0 & 0x3ff : m0);
    uint64_t to = (uint64_t)inst->dst[0].value + (both ? m0 >> 16 & 0x3ff : source ? 0 : m0);
    if ((source && (inst->src[0].kind != GG_OPERAND_SGPR || from + width > GG_SGPR_FILE)) ||
        to + width > GG_SGPR_FILE) {
        gg_interp_fail(run, GG_ERR_FORMAT, "M0 = 0x%x moves a register out of the scalar file", m0);
        return;
    }
    uint64_t value = source ? gg_read_sgprs(wave, (uint32_t)from, width) : gg_read_uniform(run, wave, &inst->src[0]);
    gg_write_sgprs(wave, (uint32_t)to, width, value);
}

/* Bits of the operation: those of its 64-bit source, if it has one. */
static uint32_t width_of(uint16_t op)
{
    const struct gg_op_info *info = &gg_op_infos[op];
    return info->src[0].width > 1 || (info->src[0].width == 0 && info->dst[0].width > 1) ? 64 : 32;
}

bool gg_interp_has_salu(uint16_t op)
{
    /* Only tried: a wave of zeros in a program of none; imm 1 is the register MODE of s_getreg. */
    struct gg_interp_report report = {0};
    struct gg_guest_program program = {0};
    struct gg_interp_params params = {.program = &program};
    struct gg_interp run = {.params = &params, .program = &program, .report = &report, .lanes = 32};
    struct gg_wave wave = {.vgpr = NULL};
    struct gg_inst inst = {.op = op, .imm = 1, .src = {{GG_OPERAND_INLINE_INT, GG_TYPE_B32, 1, 0, 0}}};
    uint64_t result = 0;
    return gg_interp_control(&run, &wave, &inst, 0) || is_relative(op) || new_exec(op, 0, 0, &result) ||
           arithmetic(&wave, op, 0, 0, &result) || logic(op, 32, 0, 0, &result) ||
           plain(&wave, op, 32, 0, 0, 0, &result) || compare(&wave, op, 0, 0);
}

void gg_interp_salu(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t width = width_of(inst->op);
    uint64_t a = gg_read_uniform(run, wave, &inst->src[0]), b = gg_read_uniform(run, wave, &inst->src[1]);
    uint64_t old = 0, result = 0;
    if (inst->dst[0].kind == GG_OPERAND_SGPR)
        old = gg_read_sgprs(wave, inst->dst[0].value, inst->dst[0].width);
    if (inst->format == GG_FORMAT_SOPK) { /* the constant stands for the second source */
        bool is_unsigned = gg_inst_info(inst)->src[0].type == GG_TYPE_U32;
        b = is_unsigned ? (uint16_t)inst->imm : (uint32_t)inst->imm;
        a = inst->op == GG_OP_s_addk_i32 ? old : a;
    }
    if (gg_interp_control(run, wave, inst, a) || compare(wave, inst->op, a, b))
        return;
    if (is_relative(inst->op)) {
        relative_move(run, wave, inst);
        return;
    }
    if (new_exec(inst->op, a, 0, &result)) {
        change_exec(wave, inst, a);
        return;
    }
    bool sets_scc = logic(inst->op, width, a, b, &result);
    if (!sets_scc && !arithmetic(wave, inst->op, a, b, &result) && !plain(wave, inst->op, width, a, b, old, &result)) {
        gg_interp_unsupported(run, "it");
        return;
    }
    result &= field_mask(32 * inst->dst[0].width);
    gg_write_sgprs(wave, inst->dst[0].value, inst->dst[0].width, result);
    if (sets_scc)
        wave->scc = result != 0;
}

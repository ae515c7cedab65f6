/* SPDX-License-Identifier: MIT */
/* The scalar unit: SOP1, SOP2, and what of SOPP does something. */
#include "lift_wide.h"

enum logic {
    AND,
    OR,
    XOR,
    ANDN1,
    ANDN2,
    ORN1,
    ORN2,
    NAND,
    NOR,
    XNOR
};

static gg_value not_of(struct gg_lift *l, gg_value a) { return gg_l1(l, GG_IR_not, GG_IR_S, a); }

static gg_value logic(struct gg_lift *l, enum logic kind, gg_value a, gg_value b)
{
    switch (kind) {
    case AND:
        return gg_l2(l, GG_IR_and, GG_IR_S, a, b);
    case OR:
        return gg_l2(l, GG_IR_or, GG_IR_S, a, b);
    case XOR:
        return gg_l2(l, GG_IR_xor, GG_IR_S, a, b);
    case ANDN1:
        return logic(l, AND, not_of(l, a), b);
    case ANDN2:
        return logic(l, AND, a, not_of(l, b));
    case ORN1:
        return logic(l, OR, not_of(l, a), b);
    case ORN2:
        return logic(l, OR, a, not_of(l, b));
    case NAND:
        return not_of(l, logic(l, AND, a, b));
    case NOR:
        return not_of(l, logic(l, OR, a, b));
    default:
        return not_of(l, logic(l, XOR, a, b));
    }
}

static void set_pair(struct gg_lift *l, struct gg_pair pair)
{
    gg_l_set_result(l, 0, pair.low);
    gg_l_set_result(l, 1, pair.high);
}

/* SCC: the result is not 0. */
static void scc_of(struct gg_lift *l, gg_value low, gg_value high)
{
    gg_l_set_scc(l, gg_l_not_zero(l, high ? gg_l2(l, GG_IR_or, GG_IR_S, low, high) : low));
}

static int32_t lift_logic(struct gg_lift *l, enum logic kind, bool wide)
{
    gg_value low = logic(l, kind, gg_l_source(l, 0, 0), gg_l_source(l, 1, 0));
    gg_value high = wide ? logic(l, kind, gg_l_source(l, 0, 1), gg_l_source(l, 1, 1)) : 0;
    gg_l_set_result(l, 0, low);
    if (wide)
        gg_l_set_result(l, 1, high);
    scc_of(l, low, high);
    return GG_OK;
}

/* saveexec: dst = EXEC, EXEC = src op EXEC. wrexec: EXEC = dst = src op EXEC. */
static int32_t lift_exec(struct gg_lift *l, enum logic kind, bool wide, bool save)
{
    uint32_t words = wide ? 2 : 1;
    gg_value made[2] = {0}, old[2] = {0};
    for (uint32_t i = 0; i < words; i++) {
        old[i] = gg_l_sgpr(l, GG_SGPR_EXEC_LO + i);
        made[i] = logic(l, kind, gg_l_source(l, 0, i), old[i]);
    }
    for (uint32_t i = 0; i < words; i++)
        gg_l_set_result(l, i, save ? old[i] : made[i]);
    for (uint32_t i = 0; i < words; i++)
        gg_l_set_sgpr(l, GG_SGPR_EXEC_LO + i, made[i]);
    scc_of(l, made[0], made[1]);
    return GG_OK;
}

static int32_t lift_add(struct gg_lift *l, bool subtract, bool is_signed, bool carries)
{
    gg_value a = gg_l_source(l, 0, 0), b = gg_l_source(l, 1, 0), carry = 0;
    gg_value in = carries ? gg_l_scc(l) : 0;
    gg_value result =
        subtract ? gg_l_sub_borrow(l, GG_IR_S, a, b, in, &carry) : gg_l_add_carry(l, GG_IR_S, a, b, in, &carry);
    if (is_signed) { /* overflow: the operands' signs (differ, to subtract) and the result's say so */
        gg_value x = gg_l2(l, GG_IR_xor, GG_IR_S, a, result);
        gg_value y = gg_l2(l, GG_IR_xor, GG_IR_S, subtract ? a : b, subtract ? b : result);
        gg_value sign = gg_l2(l, GG_IR_and, GG_IR_S, x, y);
        carry = gg_l2(l, GG_IR_lt_i, GG_IR_B, sign, gg_lk(l, 0));
    }
    gg_l_set_result(l, 0, result);
    gg_l_set_scc(l, carry);
    return GG_OK;
}

/* SCC: the first operand was taken. */
static int32_t lift_min_max(struct gg_lift *l, enum gg_ir_opcode less, bool max)
{
    gg_value a = gg_l_source(l, 0, 0), b = gg_l_source(l, 1, 0);
    gg_value first = max ? gg_l2(l, less, GG_IR_B, b, a) : gg_l2(l, less, GG_IR_B, a, b);
    gg_l_set_result(l, 0, gg_l_select(l, GG_IR_S, first, a, b));
    gg_l_set_scc(l, first);
    return GG_OK;
}

static int32_t lift_shift(struct gg_lift *l, enum gg_shift kind, bool wide)
{
    static const enum gg_ir_opcode ops[] = {GG_IR_shl, GG_IR_shr, GG_IR_sar};
    gg_value count = gg_l_source(l, 1, 0);
    if (!wide) {
        gg_value result = gg_l2(l, ops[kind], GG_IR_S, gg_l_source(l, 0, 0), count);
        gg_l_set_result(l, 0, result);
        scc_of(l, result, 0);
        return GG_OK;
    }
    struct gg_pair a = {gg_l_source(l, 0, 0), gg_l_source(l, 0, 1)};
    struct gg_pair result = gg_l_shift64(l, GG_IR_S, kind, a, count);
    set_pair(l, result);
    scc_of(l, result.low, result.high);
    return GG_OK;
}

static int32_t lift_shift_add(struct gg_lift *l, uint32_t by)
{
    gg_value a = gg_l_source(l, 0, 0), carry;
    gg_value shifted = gg_l2(l, GG_IR_shl, GG_IR_S, a, gg_lk(l, by));
    gg_value sum = gg_l_add_carry(l, GG_IR_S, shifted, gg_l_source(l, 1, 0), 0, &carry);
    gg_value lost = gg_l_not_zero(l, gg_l2(l, GG_IR_shr, GG_IR_S, a, gg_lk(l, 32 - by)));
    gg_l_set_result(l, 0, sum);
    gg_l_set_scc(l, gg_l2(l, GG_IR_or, GG_IR_B, carry, lost));
    return GG_OK;
}

static int32_t lift_field(struct gg_lift *l, bool is_signed)
{
    gg_value control = gg_l_source(l, 1, 0);
    gg_value offset = gg_l2(l, GG_IR_and, GG_IR_S, control, gg_lk(l, 31));
    gg_value width = gg_l_part(l, GG_IR_S, control, 16, 7, false);
    gg_value field = gg_l_field(l, GG_IR_S, gg_l_source(l, 0, 0), offset, width, is_signed);
    gg_l_set_result(l, 0, field);
    scc_of(l, field, 0);
    return GG_OK;
}

static int32_t lift_pack(struct gg_lift *l, bool high_a, bool high_b)
{
    gg_value low = gg_l_part(l, GG_IR_S, gg_l_source(l, 0, 0), high_a ? 16 : 0, 16, false);
    gg_value b = gg_l_part(l, GG_IR_S, gg_l_source(l, 1, 0), high_b ? 16 : 0, 16, false);
    gg_l_set_result(l, 0, gg_l2(l, GG_IR_or, GG_IR_S, low, gg_l2(l, GG_IR_shl, GG_IR_S, b, gg_lk(l, 16))));
    return GG_OK;
}

static int32_t lift_select(struct gg_lift *l, bool wide)
{
    gg_value scc = gg_l_scc(l), made[2] = {0};
    for (uint32_t i = 0; i <= wide; i++)
        made[i] = gg_l_select(l, GG_IR_S, scc, gg_l_source(l, 0, i), gg_l_source(l, 1, i));
    for (uint32_t i = 0; i <= wide; i++)
        gg_l_set_result(l, i, made[i]);
    return GG_OK;
}

static int32_t lift_sop2(struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_s_add_u32:
        return lift_add(l, false, false, false);
    case GG_OP_s_sub_u32:
        return lift_add(l, true, false, false);
    case GG_OP_s_add_i32:
        return lift_add(l, false, true, false);
    case GG_OP_s_sub_i32:
        return lift_add(l, true, true, false);
    case GG_OP_s_addc_u32:
        return lift_add(l, false, false, true);
    case GG_OP_s_subb_u32:
        return lift_add(l, true, false, true);
    case GG_OP_s_min_i32:
        return lift_min_max(l, GG_IR_lt_i, false);
    case GG_OP_s_min_u32:
        return lift_min_max(l, GG_IR_lt_u, false);
    case GG_OP_s_max_i32:
        return lift_min_max(l, GG_IR_lt_i, true);
    case GG_OP_s_max_u32:
        return lift_min_max(l, GG_IR_lt_u, true);
    case GG_OP_s_cselect_b32:
        return lift_select(l, false);
    case GG_OP_s_cselect_b64:
        return lift_select(l, true);
    case GG_OP_s_and_b32:
        return lift_logic(l, AND, false);
    case GG_OP_s_and_b64:
        return lift_logic(l, AND, true);
    case GG_OP_s_or_b32:
        return lift_logic(l, OR, false);
    case GG_OP_s_or_b64:
        return lift_logic(l, OR, true);
    case GG_OP_s_xor_b32:
        return lift_logic(l, XOR, false);
    case GG_OP_s_xor_b64:
        return lift_logic(l, XOR, true);
    case GG_OP_s_andn2_b32:
        return lift_logic(l, ANDN2, false);
    case GG_OP_s_andn2_b64:
        return lift_logic(l, ANDN2, true);
    case GG_OP_s_orn2_b32:
        return lift_logic(l, ORN2, false);
    case GG_OP_s_orn2_b64:
        return lift_logic(l, ORN2, true);
    case GG_OP_s_nand_b32:
        return lift_logic(l, NAND, false);
    case GG_OP_s_nand_b64:
        return lift_logic(l, NAND, true);
    case GG_OP_s_nor_b32:
        return lift_logic(l, NOR, false);
    case GG_OP_s_nor_b64:
        return lift_logic(l, NOR, true);
    case GG_OP_s_xnor_b32:
        return lift_logic(l, XNOR, false);
    case GG_OP_s_xnor_b64:
        return lift_logic(l, XNOR, true);
    case GG_OP_s_lshl_b32:
        return lift_shift(l, GG_SHIFT_LEFT, false);
    case GG_OP_s_lshl_b64:
        return lift_shift(l, GG_SHIFT_LEFT, true);
    case GG_OP_s_lshr_b32:
        return lift_shift(l, GG_SHIFT_RIGHT, false);
    case GG_OP_s_lshr_b64:
        return lift_shift(l, GG_SHIFT_RIGHT, true);
    case GG_OP_s_ashr_i32:
        return lift_shift(l, GG_SHIFT_ARITHMETIC, false);
    case GG_OP_s_ashr_i64:
        return lift_shift(l, GG_SHIFT_ARITHMETIC, true);
    case GG_OP_s_lshl1_add_u32:
        return lift_shift_add(l, 1);
    case GG_OP_s_lshl2_add_u32:
        return lift_shift_add(l, 2);
    case GG_OP_s_lshl3_add_u32:
        return lift_shift_add(l, 3);
    case GG_OP_s_lshl4_add_u32:
        return lift_shift_add(l, 4);
    case GG_OP_s_bfe_u32:
        return lift_field(l, false);
    case GG_OP_s_bfe_i32:
        return lift_field(l, true);
    case GG_OP_s_pack_ll_b32_b16:
        return lift_pack(l, false, false);
    case GG_OP_s_pack_lh_b32_b16:
        return lift_pack(l, false, true);
    case GG_OP_s_pack_hh_b32_b16:
        return lift_pack(l, true, true);
    case GG_OP_s_mul_i32:
        gg_l_set_result(l, 0, gg_l2(l, GG_IR_mul, GG_IR_S, gg_l_source(l, 0, 0), gg_l_source(l, 1, 0)));
        return GG_OK;
    case GG_OP_s_mul_hi_u32:
        gg_l_set_result(l, 0, gg_l2(l, GG_IR_mulhi_u, GG_IR_S, gg_l_source(l, 0, 0), gg_l_source(l, 1, 0)));
        return GG_OK;
    case GG_OP_s_mul_hi_i32:
        gg_l_set_result(l, 0, gg_l2(l, GG_IR_mulhi_i, GG_IR_S, gg_l_source(l, 0, 0), gg_l_source(l, 1, 0)));
        return GG_OK;
    case GG_OP_s_bfm_b32: {
        gg_value one = gg_l2(l, GG_IR_shl, GG_IR_S, gg_lk(l, 1), gg_l_source(l, 0, 0));
        gg_value ones = gg_l2(l, GG_IR_sub, GG_IR_S, one, gg_lk(l, 1));
        gg_l_set_result(l, 0, gg_l2(l, GG_IR_shl, GG_IR_S, ones, gg_l_source(l, 1, 0)));
        return GG_OK;
    }
    case GG_OP_s_absdiff_i32: {
        gg_value difference = gg_l2(l, GG_IR_sub, GG_IR_S, gg_l_source(l, 0, 0), gg_l_source(l, 1, 0));
        gg_value negated = gg_l2(l, GG_IR_sub, GG_IR_S, gg_lk(l, 0), difference);
        gg_value absolute = gg_l2(l, GG_IR_max_i, GG_IR_S, difference, negated);
        gg_l_set_result(l, 0, absolute);
        scc_of(l, absolute, 0);
        return GG_OK;
    }
    default:
        return gg_lift_bits(l);
    }
}

/* Counts that look at one word and, of a pair, go on in the other: first set bit from below or from above. */
static int32_t lift_find(struct gg_lift *l, bool low_first, bool invert, bool wide)
{
    gg_value word[2] = {gg_l_source(l, 0, 0), wide ? gg_l_source(l, 0, 1) : 0}, found[2] = {0};
    for (uint32_t i = 0; i <= wide; i++) {
        gg_value w = invert ? not_of(l, word[i]) : word[i];
        found[i] = low_first ? gg_l1(l, GG_IR_find_lsb, GG_IR_S, w) : gg_l_leading(l, GG_IR_S, w, false);
    }
    gg_value result = found[0];
    if (wide) {
        gg_value near = found[low_first ? 0 : 1], far = found[low_first ? 1 : 0], none = gg_lk(l, UINT32_MAX);
        gg_value nothing_near = gg_l2(l, GG_IR_eq, GG_IR_B, near, none);
        gg_value nothing_far = gg_l2(l, GG_IR_eq, GG_IR_B, far, none);
        gg_value beyond = gg_l2(l, GG_IR_add, GG_IR_S, far, gg_lk(l, 32));
        gg_value other = gg_l_select(l, GG_IR_S, nothing_far, none, beyond);
        result = gg_l_select(l, GG_IR_S, nothing_near, other, near);
    }
    gg_l_set_result(l, 0, result);
    return GG_OK;
}

static int32_t lift_bitcount(struct gg_lift *l, bool invert, bool wide)
{
    gg_value total = 0;
    for (uint32_t i = 0; i <= wide; i++) {
        gg_value word = gg_l_source(l, 0, i);
        gg_value count = gg_l1(l, GG_IR_bitcount, GG_IR_S, invert ? not_of(l, word) : word);
        total = total ? gg_l2(l, GG_IR_add, GG_IR_S, total, count) : count;
    }
    gg_l_set_result(l, 0, total);
    scc_of(l, total, 0);
    return GG_OK;
}

static int32_t lift_not(struct gg_lift *l, bool wide)
{
    gg_value low = not_of(l, gg_l_source(l, 0, 0)), high = wide ? not_of(l, gg_l_source(l, 0, 1)) : 0;
    gg_l_set_result(l, 0, low);
    if (wide)
        gg_l_set_result(l, 1, high);
    scc_of(l, low, high);
    return GG_OK;
}

static int32_t lift_reverse(struct gg_lift *l, bool wide)
{
    gg_value low = gg_l1(l, GG_IR_bitreverse, GG_IR_S, gg_l_source(l, 0, 0));
    gg_value high = wide ? gg_l1(l, GG_IR_bitreverse, GG_IR_S, gg_l_source(l, 0, 1)) : 0;
    gg_l_set_result(l, 0, wide ? high : low);
    if (wide)
        gg_l_set_result(l, 1, low);
    return GG_OK;
}

static int32_t lift_move(struct gg_lift *l, bool wide, bool if_scc)
{
    gg_value scc = if_scc ? gg_l_scc(l) : 0, made[2] = {0};
    for (uint32_t i = 0; i <= wide; i++) {
        made[i] = gg_l_source(l, 0, i);
        if (if_scc)
            made[i] = gg_l_select(l, GG_IR_S, scc, made[i], gg_l_scalar(l, &l->inst->dst[0], i));
    }
    for (uint32_t i = 0; i <= wide; i++)
        gg_l_set_result(l, i, made[i]);
    return GG_OK;
}

static int32_t lift_bitset(struct gg_lift *l, bool set)
{
    gg_value bit = gg_l2(l, GG_IR_shl, GG_IR_S, gg_lk(l, 1), gg_l_source(l, 0, 0));
    gg_value old = gg_l_scalar(l, &l->inst->dst[0], 0);
    gg_l_set_result(l, 0, logic(l, set ? OR : ANDN2, old, bit));
    return GG_OK;
}

static int32_t lift_sop1(struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_s_mov_b32:
        return lift_move(l, false, false);
    case GG_OP_s_mov_b64:
        return lift_move(l, true, false);
    case GG_OP_s_cmov_b32:
        return lift_move(l, false, true);
    case GG_OP_s_cmov_b64:
        return lift_move(l, true, true);
    case GG_OP_s_not_b32:
        return lift_not(l, false);
    case GG_OP_s_not_b64:
        return lift_not(l, true);
    case GG_OP_s_brev_b32:
        return lift_reverse(l, false);
    case GG_OP_s_brev_b64:
        return lift_reverse(l, true);
    case GG_OP_s_bcnt0_i32_b32:
        return lift_bitcount(l, true, false);
    case GG_OP_s_bcnt0_i32_b64:
        return lift_bitcount(l, true, true);
    case GG_OP_s_bcnt1_i32_b32:
        return lift_bitcount(l, false, false);
    case GG_OP_s_bcnt1_i32_b64:
        return lift_bitcount(l, false, true);
    case GG_OP_s_ff0_i32_b32:
        return lift_find(l, true, true, false);
    case GG_OP_s_ff0_i32_b64:
        return lift_find(l, true, true, true);
    case GG_OP_s_ff1_i32_b32:
        return lift_find(l, true, false, false);
    case GG_OP_s_ff1_i32_b64:
        return lift_find(l, true, false, true);
    case GG_OP_s_flbit_i32_b32:
        return lift_find(l, false, false, false);
    case GG_OP_s_flbit_i32_b64:
        return lift_find(l, false, false, true);
    case GG_OP_s_flbit_i32:
        gg_l_set_result(l, 0, gg_l_leading(l, GG_IR_S, gg_l_source(l, 0, 0), true));
        return GG_OK;
    case GG_OP_s_sext_i32_i8:
        gg_l_set_result(l, 0, gg_l_part(l, GG_IR_S, gg_l_source(l, 0, 0), 0, 8, true));
        return GG_OK;
    case GG_OP_s_sext_i32_i16:
        gg_l_set_result(l, 0, gg_l_part(l, GG_IR_S, gg_l_source(l, 0, 0), 0, 16, true));
        return GG_OK;
    case GG_OP_s_bitset0_b32:
        return lift_bitset(l, false);
    case GG_OP_s_bitset1_b32:
        return lift_bitset(l, true);
    case GG_OP_s_abs_i32: {
        gg_value a = gg_l_source(l, 0, 0), negated = gg_l2(l, GG_IR_sub, GG_IR_S, gg_lk(l, 0), a);
        gg_value absolute = gg_l2(l, GG_IR_max_i, GG_IR_S, a, negated);
        gg_l_set_result(l, 0, absolute);
        scc_of(l, absolute, 0);
        return GG_OK;
    }
    case GG_OP_s_getpc_b64: {
        uint64_t pc = l->program->address + l->inst->offset + 4;
        set_pair(l, (struct gg_pair){gg_lk(l, (uint32_t)pc), gg_lk(l, (uint32_t)(pc >> 32))});
        return GG_OK;
    }
    case GG_OP_s_and_saveexec_b32:
        return lift_exec(l, AND, false, true);
    case GG_OP_s_and_saveexec_b64:
        return lift_exec(l, AND, true, true);
    case GG_OP_s_or_saveexec_b32:
        return lift_exec(l, OR, false, true);
    case GG_OP_s_or_saveexec_b64:
        return lift_exec(l, OR, true, true);
    case GG_OP_s_xor_saveexec_b32:
        return lift_exec(l, XOR, false, true);
    case GG_OP_s_xor_saveexec_b64:
        return lift_exec(l, XOR, true, true);
    case GG_OP_s_andn1_saveexec_b32:
        return lift_exec(l, ANDN1, false, true);
    case GG_OP_s_andn1_saveexec_b64:
        return lift_exec(l, ANDN1, true, true);
    case GG_OP_s_andn2_saveexec_b32:
        return lift_exec(l, ANDN2, false, true);
    case GG_OP_s_andn2_saveexec_b64:
        return lift_exec(l, ANDN2, true, true);
    case GG_OP_s_orn1_saveexec_b32:
        return lift_exec(l, ORN1, false, true);
    case GG_OP_s_orn1_saveexec_b64:
        return lift_exec(l, ORN1, true, true);
    case GG_OP_s_orn2_saveexec_b32:
        return lift_exec(l, ORN2, false, true);
    case GG_OP_s_orn2_saveexec_b64:
        return lift_exec(l, ORN2, true, true);
    case GG_OP_s_nand_saveexec_b32:
        return lift_exec(l, NAND, false, true);
    case GG_OP_s_nand_saveexec_b64:
        return lift_exec(l, NAND, true, true);
    case GG_OP_s_nor_saveexec_b32:
        return lift_exec(l, NOR, false, true);
    case GG_OP_s_nor_saveexec_b64:
        return lift_exec(l, NOR, true, true);
    case GG_OP_s_xnor_saveexec_b32:
        return lift_exec(l, XNOR, false, true);
    case GG_OP_s_xnor_saveexec_b64:
        return lift_exec(l, XNOR, true, true);
    case GG_OP_s_andn1_wrexec_b32:
        return lift_exec(l, ANDN1, false, false);
    case GG_OP_s_andn1_wrexec_b64:
        return lift_exec(l, ANDN1, true, false);
    case GG_OP_s_andn2_wrexec_b32:
        return lift_exec(l, ANDN2, false, false);
    case GG_OP_s_andn2_wrexec_b64:
        return lift_exec(l, ANDN2, true, false);
    default:
        return gg_lift_bits(l);
    }
}

int32_t gg_lift_scalar(struct gg_lift *l)
{
    switch (l->inst->format) {
    case GG_FORMAT_SOP1:
        return lift_sop1(l);
    case GG_FORMAT_SOP2:
        return lift_sop2(l);
    case GG_FORMAT_SOPC:
        return gg_lift_sopc(l);
    case GG_FORMAT_SOPK:
        return gg_lift_sopk(l);
    default:
        break;
    }
    switch (l->inst->op) { /* SOPP: hints and waits; memory is ordered as the program is */
    case GG_OP_s_nop:
    case GG_OP_s_waitcnt:
    case GG_OP_s_sleep:
    case GG_OP_s_setprio:
    case GG_OP_s_inst_prefetch:
    case GG_OP_s_clause:
    case GG_OP_s_icache_inv:
    case GG_OP_s_wakeup:
    case GG_OP_s_waitcnt_depctr:
    case GG_OP_s_wait_idle:
    case GG_OP_s_incperflevel:
    case GG_OP_s_decperflevel:
    case GG_OP_s_ttracedata:
    case GG_OP_s_ttracedata_imm:
        return GG_OK;
    default:
        return gg_lift_mode(l);
    }
}

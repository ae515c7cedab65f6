/* SPDX-License-Identifier: MIT */
/* Scalar comparisons, SOPC, and the operations with a constant of 16 bits, SOPK, of which most compare too. */
#include "lift_wide.h"

/* SCC = a < b, a == b or the opposite. */
static int32_t compare(struct gg_lift *l, enum gg_ir_opcode op, bool swap, bool invert, gg_value a, gg_value b)
{
    gg_value result = swap ? gg_l2(l, op, GG_IR_B, b, a) : gg_l2(l, op, GG_IR_B, a, b);
    gg_l_set_scc(l, invert ? gg_l1(l, GG_IR_not, GG_IR_B, result) : result);
    return GG_OK;
}

static int32_t lift_bitcmp(struct gg_lift *l, bool set)
{
    gg_value shifted = gg_l2(l, GG_IR_shr, GG_IR_S, gg_l_source(l, 0, 0), gg_l_source(l, 1, 0));
    gg_value bit = gg_l2(l, GG_IR_and, GG_IR_S, shifted, gg_lk(l, 1));
    return compare(l, GG_IR_eq, false, false, bit, gg_lk(l, set));
}

static int32_t lift_bitcmp64(struct gg_lift *l, bool set)
{
    struct gg_pair a = {gg_l_source(l, 0, 0), gg_l_source(l, 0, 1)};
    a = gg_l_shift64(l, GG_IR_S, GG_SHIFT_RIGHT, a, gg_l_source(l, 1, 0));
    gg_value bit = gg_l2(l, GG_IR_and, GG_IR_S, a.low, gg_lk(l, 1));
    return compare(l, GG_IR_eq, false, false, bit, gg_lk(l, set));
}

int32_t gg_lift_sopc(struct gg_lift *l)
{
    gg_value a = gg_l_source(l, 0, 0), b = gg_l_source(l, 1, 0);
    switch (l->inst->op) {
    case GG_OP_s_cmp_eq_i32:
    case GG_OP_s_cmp_eq_u32:
        return compare(l, GG_IR_eq, false, false, a, b);
    case GG_OP_s_cmp_lg_i32:
    case GG_OP_s_cmp_lg_u32:
        return compare(l, GG_IR_eq, false, true, a, b);
    case GG_OP_s_cmp_gt_i32:
        return compare(l, GG_IR_lt_i, true, false, a, b);
    case GG_OP_s_cmp_ge_i32:
        return compare(l, GG_IR_lt_i, false, true, a, b);
    case GG_OP_s_cmp_lt_i32:
        return compare(l, GG_IR_lt_i, false, false, a, b);
    case GG_OP_s_cmp_le_i32:
        return compare(l, GG_IR_lt_i, true, true, a, b);
    case GG_OP_s_cmp_gt_u32:
        return compare(l, GG_IR_lt_u, true, false, a, b);
    case GG_OP_s_cmp_ge_u32:
        return compare(l, GG_IR_lt_u, false, true, a, b);
    case GG_OP_s_cmp_lt_u32:
        return compare(l, GG_IR_lt_u, false, false, a, b);
    case GG_OP_s_cmp_le_u32:
        return compare(l, GG_IR_lt_u, true, true, a, b);
    case GG_OP_s_bitcmp0_b32:
        return lift_bitcmp(l, false);
    case GG_OP_s_bitcmp1_b32:
        return lift_bitcmp(l, true);
    case GG_OP_s_bitcmp0_b64:
        return lift_bitcmp64(l, false);
    case GG_OP_s_bitcmp1_b64:
        return lift_bitcmp64(l, true);
    case GG_OP_s_cmp_eq_u64:
    case GG_OP_s_cmp_lg_u64: {
        gg_value low = gg_l2(l, GG_IR_xor, GG_IR_S, a, b);
        gg_value high = gg_l2(l, GG_IR_xor, GG_IR_S, gg_l_source(l, 0, 1), gg_l_source(l, 1, 1));
        gg_value any = gg_l2(l, GG_IR_or, GG_IR_S, low, high);
        return compare(l, GG_IR_eq, false, l->inst->op == GG_OP_s_cmp_lg_u64, any, gg_lk(l, 0));
    }
    default:
        return GG_ERR_UNSUPPORTED;
    }
}

int32_t gg_lift_sopk(struct gg_lift *l)
{
    gg_value k = gg_lk(l, (uint32_t)l->inst->imm), k16 = gg_lk(l, (uint32_t)l->inst->imm & 0xffff);
    gg_value a = l->inst->src[0].kind ? gg_l_source(l, 0, 0) : 0;
    gg_value old = l->inst->dst[0].kind ? gg_l_scalar(l, &l->inst->dst[0], 0) : 0;
    switch (l->inst->op) {
    case GG_OP_s_movk_i32:
        gg_l_set_result(l, 0, k);
        return GG_OK;
    case GG_OP_s_cmovk_i32:
        gg_l_set_result(l, 0, gg_l_select(l, GG_IR_S, gg_l_scc(l), k, old));
        return GG_OK;
    case GG_OP_s_mulk_i32:
        gg_l_set_result(l, 0, gg_l2(l, GG_IR_mul, GG_IR_S, old, k));
        return GG_OK;
    case GG_OP_s_addk_i32: {
        gg_value sum = gg_l2(l, GG_IR_add, GG_IR_S, old, k);
        gg_value x = gg_l2(l, GG_IR_xor, GG_IR_S, old, sum), y = gg_l2(l, GG_IR_xor, GG_IR_S, k, sum);
        gg_l_set_result(l, 0, sum);
        return compare(l, GG_IR_lt_i, false, false, gg_l2(l, GG_IR_and, GG_IR_S, x, y), gg_lk(l, 0));
    }
    case GG_OP_s_cmpk_eq_i32:
        return compare(l, GG_IR_eq, false, false, a, k);
    case GG_OP_s_cmpk_lg_i32:
        return compare(l, GG_IR_eq, false, true, a, k);
    case GG_OP_s_cmpk_gt_i32:
        return compare(l, GG_IR_lt_i, true, false, a, k);
    case GG_OP_s_cmpk_ge_i32:
        return compare(l, GG_IR_lt_i, false, true, a, k);
    case GG_OP_s_cmpk_lt_i32:
        return compare(l, GG_IR_lt_i, false, false, a, k);
    case GG_OP_s_cmpk_le_i32:
        return compare(l, GG_IR_lt_i, true, true, a, k);
    case GG_OP_s_cmpk_eq_u32:
        return compare(l, GG_IR_eq, false, false, a, k16);
    case GG_OP_s_cmpk_lg_u32:
        return compare(l, GG_IR_eq, false, true, a, k16);
    case GG_OP_s_cmpk_gt_u32:
        return compare(l, GG_IR_lt_u, true, false, a, k16);
    case GG_OP_s_cmpk_ge_u32:
        return compare(l, GG_IR_lt_u, false, true, a, k16);
    case GG_OP_s_cmpk_lt_u32:
        return compare(l, GG_IR_lt_u, false, false, a, k16);
    case GG_OP_s_cmpk_le_u32:
        return compare(l, GG_IR_lt_u, true, true, a, k16);
    case GG_OP_s_waitcnt_vscnt:
    case GG_OP_s_waitcnt_vmcnt:
    case GG_OP_s_waitcnt_expcnt:
    case GG_OP_s_waitcnt_lgkmcnt:
    case GG_OP_s_version:
        return GG_OK;
    default:
        return gg_lift_mode(l);
    }
}

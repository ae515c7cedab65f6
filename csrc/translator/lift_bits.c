/* SPDX-License-Identifier: MIT */
/* Scalar operations on groups of bits: quads, replication, and the fields and
 * counts of 64 bits. */
#include "lift_wide.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value s2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_S, a, b);
}

static void set_pair(struct gg_lift *l, struct gg_pair pair)
{
    gg_l_set_result(l, 0, pair.low);
    gg_l_set_result(l, 1, pair.high);
}

/* Bits of `a` moved down and joined, of which `mask` stay: one step of
 * gathering or spreading bits. */
static gg_value fold_bits(struct gg_lift *l, enum gg_ir_opcode shift, gg_value a, uint32_t by, uint32_t mask)
{
    return s2(l, GG_IR_and, s2(l, GG_IR_or, a, s2(l, shift, a, k(l, by))), k(l, mask));
}

/* The lowest bit of each group of four that has one set. */
static gg_value quads_of(struct gg_lift *l, gg_value a)
{
    gg_value pairs = s2(l, GG_IR_or, a, s2(l, GG_IR_shr, a, k(l, 1)));
    return fold_bits(l, GG_IR_shr, pairs, 2, 0x11111111u);
}

static int32_t lift_quads(struct gg_lift *l, bool packed, bool wide)
{
    gg_value made[2] = {0};
    for (uint32_t i = 0; i <= wide; i++) {
        made[i] = quads_of(l, gg_l_source(l, 0, i));
        if (packed) {
            made[i] = fold_bits(l, GG_IR_shr, made[i], 3, 0x03030303u);
            made[i] = fold_bits(l, GG_IR_shr, made[i], 6, 0x000f000fu);
            made[i] = fold_bits(l, GG_IR_shr, made[i], 12, 0xff);
        } else {
            made[i] = s2(l, GG_IR_mul, made[i], k(l, 15));
        }
    }
    if (packed && wide)
        made[0] = s2(l, GG_IR_or, made[0], s2(l, GG_IR_shl, made[1], k(l, 8)));
    if (packed && wide)
        made[1] = k(l, 0);
    for (uint32_t i = 0; i <= wide; i++)
        gg_l_set_result(l, i, made[i]);
    gg_l_set_scc(l, gg_l_not_zero(l, wide ? s2(l, GG_IR_or, made[0], made[1]) : made[0]));
    return GG_OK;
}

/* Each of 16 bits twice. */
static gg_value doubled(struct gg_lift *l, gg_value a)
{
    a = fold_bits(l, GG_IR_shl, a, 8, 0x00ff00ffu);
    a = fold_bits(l, GG_IR_shl, a, 4, 0x0f0f0f0fu);
    a = fold_bits(l, GG_IR_shl, a, 2, 0x33333333u);
    a = fold_bits(l, GG_IR_shl, a, 1, 0x55555555u);
    return s2(l, GG_IR_mul, a, k(l, 3));
}

static int32_t lift_replicate(struct gg_lift *l)
{
    gg_value a = gg_l_source(l, 0, 0);
    gg_value low = doubled(l, s2(l, GG_IR_and, a, k(l, 0xffff))), high = doubled(l, s2(l, GG_IR_shr, a, k(l, 16)));
    set_pair(l, (struct gg_pair){low, high});
    return GG_OK;
}

/* A field that would leave the top ends there: up to the top and down again, so
 * that the sign comes along. */
static int32_t lift_field64(struct gg_lift *l, bool is_signed)
{
    struct gg_pair a = {gg_l_source(l, 0, 0), gg_l_source(l, 0, 1)};
    gg_value select = gg_l_source(l, 1, 0), offset = s2(l, GG_IR_and, select, k(l, 63));
    gg_value room = s2(l, GG_IR_sub, k(l, 64), offset);
    gg_value width = s2(l, GG_IR_min_u, gg_l_part(l, GG_IR_S, select, 16, 7, false), room);
    gg_value none = gg_l2(l, GG_IR_eq, GG_IR_B, width, k(l, 0));
    a = gg_l_shift64(l, GG_IR_S, GG_SHIFT_LEFT, a, s2(l, GG_IR_sub, room, width));
    a = gg_l_shift64(l, GG_IR_S, is_signed ? GG_SHIFT_ARITHMETIC : GG_SHIFT_RIGHT, a,
                     s2(l, GG_IR_sub, k(l, 64), width));
    a.low = gg_l_select(l, GG_IR_S, none, k(l, 0), a.low);
    a.high = gg_l_select(l, GG_IR_S, none, k(l, 0), a.high);
    set_pair(l, a);
    gg_l_set_scc(l, gg_l_not_zero(l, s2(l, GG_IR_or, a.low, a.high)));
    return GG_OK;
}

static int32_t lift_field_mask64(struct gg_lift *l)
{
    struct gg_pair one = {k(l, 1), k(l, 0)};
    one = gg_l_shift64(l, GG_IR_S, GG_SHIFT_LEFT, one, gg_l_source(l, 0, 0));
    gg_value borrow, low = gg_l_sub_borrow(l, GG_IR_S, one.low, k(l, 1), 0, &borrow);
    gg_value high = gg_l_sub_borrow(l, GG_IR_S, one.high, k(l, 0), borrow, NULL);
    set_pair(l, gg_l_shift64(l, GG_IR_S, GG_SHIFT_LEFT, (struct gg_pair){low, high}, gg_l_source(l, 1, 0)));
    return GG_OK;
}

static int32_t lift_bitset64(struct gg_lift *l, bool set)
{
    struct gg_pair bit = {k(l, 1), k(l, 0)},
                   old = {gg_l_scalar(l, &l->inst->dst[0], 0), gg_l_scalar(l, &l->inst->dst[0], 1)};
    bit = gg_l_shift64(l, GG_IR_S, GG_SHIFT_LEFT, bit, gg_l_source(l, 0, 0));
    if (!set) {
        bit.low = gg_l1(l, GG_IR_not, GG_IR_S, bit.low);
        bit.high = gg_l1(l, GG_IR_not, GG_IR_S, bit.high);
    }
    enum gg_ir_opcode op = set ? GG_IR_or : GG_IR_and;
    set_pair(l, (struct gg_pair){s2(l, op, old.low, bit.low), s2(l, op, old.high, bit.high)});
    return GG_OK;
}

/* s_flbit_i32_i64: copies of the sign at the top, without the sign's own bit;
 * -1 when there is no other bit. */
static int32_t lift_leading64(struct gg_lift *l)
{
    gg_value high = gg_l_source(l, 0, 1), sign = s2(l, GG_IR_sar, high, k(l, 31)), none = k(l, UINT32_MAX);
    gg_value near = gg_l_leading(l, GG_IR_S, s2(l, GG_IR_xor, high, sign), false);
    gg_value far = gg_l_leading(l, GG_IR_S, s2(l, GG_IR_xor, gg_l_source(l, 0, 0), sign), false);
    gg_value beyond = s2(l, GG_IR_add, far, k(l, 32));
    gg_value other = gg_l_select(l, GG_IR_S, gg_l2(l, GG_IR_eq, GG_IR_B, far, none), none, beyond);
    gg_l_set_result(l, 0, gg_l_select(l, GG_IR_S, gg_l2(l, GG_IR_eq, GG_IR_B, near, none), other, near));
    return GG_OK;
}

int32_t gg_lift_bits(struct gg_lift *l)
{
    switch (l->inst->op) {
    case GG_OP_s_wqm_b32:
        return lift_quads(l, false, false);
    case GG_OP_s_wqm_b64:
        return lift_quads(l, false, true);
    case GG_OP_s_quadmask_b32:
        return lift_quads(l, true, false);
    case GG_OP_s_quadmask_b64:
        return lift_quads(l, true, true);
    case GG_OP_s_bitreplicate_b64_b32:
        return lift_replicate(l);
    case GG_OP_s_bfe_u64:
        return lift_field64(l, false);
    case GG_OP_s_bfe_i64:
        return lift_field64(l, true);
    case GG_OP_s_bfm_b64:
        return lift_field_mask64(l);
    case GG_OP_s_bitset0_b64:
        return lift_bitset64(l, false);
    case GG_OP_s_bitset1_b64:
        return lift_bitset64(l, true);
    case GG_OP_s_flbit_i32_i64:
        return lift_leading64(l);
    default:
        return gg_lift_lanes(l);
    }
}

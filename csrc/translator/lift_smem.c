/* SPDX-License-Identifier: MIT */
/*
 * SMEM: loads, and on gfx1013 stores and atomics, of dwords at scalar addresses. Of a V# only base, stride and number
 * of records count. Offsets are cut to dwords, a V#'s base is not; the offset is a number of 64 bits, so that a
 * negative one is out of range.
 */
#include "lift_buffer.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value s2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_S, a, b);
}

static struct gg_pair sum(struct gg_lift *l, struct gg_pair a, struct gg_pair b)
{
    gg_value carry, low = gg_l_add_carry(l, GG_IR_S, a.low, b.low, 0, &carry);
    return (struct gg_pair){low, gg_l_add_carry(l, GG_IR_S, a.high, b.high, carry, NULL)};
}

struct access {
    bool checked; /* against the V# */
    struct gg_pair base, offset, limit;
};

static void find_place(struct gg_lift *l, struct access *a)
{
    const struct gg_inst *inst = l->inst;
    gg_value word[4], zero = k(l, 0);
    *a = (struct access){.checked = gg_inst_info(inst)->src[0].width == 4};
    for (uint32_t i = 0; i < 2u + a->checked; i++)
        word[i] = gg_l_scalar(l, &inst->src[0], i);
    gg_value soffset = inst->src[1].kind ? gg_l_scalar(l, &inst->src[1], 0) : zero;
    struct gg_pair constant = {k(l, (uint32_t)inst->imm), k(l, inst->imm < 0 ? UINT32_MAX : 0)};
    a->offset = sum(l, (struct gg_pair){soffset, zero}, constant);
    a->base = (struct gg_pair){word[0], word[1]};
    if (!a->checked) { /* the sum is cut */
        a->base = sum(l, a->base, a->offset);
        a->base.low = s2(l, GG_IR_and, a->base.low, k(l, ~3u));
        a->offset = (struct gg_pair){zero, zero};
        return;
    }
    gg_value stride = gg_l_part(l, GG_IR_S, word[1], 16, 14, false);
    gg_value bytes = gg_l2(l, GG_IR_eq, GG_IR_B, stride, zero), unit = gg_l_select(l, GG_IR_S, bytes, k(l, 1), stride);
    a->limit = (struct gg_pair){s2(l, GG_IR_mul, word[2], unit), s2(l, GG_IR_mulhi_u, word[2], unit)};
    a->base.high = gg_l_part(l, GG_IR_S, word[1], 0, 16, true);
    a->offset.low = s2(l, GG_IR_and, a->offset.low, k(l, ~3u));
}

/* Address of a dword; *inside (B): it and `dwords` in all are in range; 0: always. */
static struct gg_pair dword_of(struct gg_lift *l, const struct access *a, uint32_t dword, uint32_t dwords,
                               gg_value *inside)
{
    gg_value zero = k(l, 0), borrow;
    struct gg_pair from = sum(l, a->offset, (struct gg_pair){k(l, 4 * dword), zero});
    *inside = 0;
    if (a->checked) { /* the end is not above the limit, nor has the sum wrapped: no limit has a highest bit */
        struct gg_pair end = sum(l, from, (struct gg_pair){k(l, 4 * dwords), zero});
        gg_l_sub_borrow(l, GG_IR_S, a->limit.low, end.low, 0, &borrow);
        gg_value past = gg_l_sub_borrow(l, GG_IR_S, a->limit.high, end.high, borrow, NULL);
        gg_value outside = gg_l2(l, GG_IR_lt_i, GG_IR_B, s2(l, GG_IR_or, past, from.high), zero);
        *inside = gg_l1(l, GG_IR_not, GG_IR_B, outside);
    }
    return sum(l, a->base, from);
}

/* The first lane does a wave's work, if `inside`. */
static gg_value one_lane(struct gg_lift *l, gg_value inside)
{
    gg_value bit = inside ? gg_l1(l, GG_IR_bool_word, GG_IR_S, inside) : k(l, 1);
    return gg_l2(l, GG_IR_mask, GG_IR_M, bit, k(l, 0));
}

static int32_t lift_load(struct gg_lift *l, const struct access *a)
{
    const struct gg_operand *dst = &l->inst->dst[0];
    gg_value made[16], inside;
    if (dst->width > 16)
        return GG_ERR_UNSUPPORTED;
    for (uint32_t i = 0; i < dst->width; i++) { /* all are read before any is written: the address may be among them */
        struct gg_pair at = dword_of(l, a, i, 1, &inside);
        enum gg_ir_opcode op = inside ? GG_IR_load_word_if : GG_IR_load_word;
        made[i] = gg_ir_make(l->ir, l->at, op, GG_IR_S, GG_IR_MEM_32, at.low, at.high, inside, 0);
    }
    for (uint32_t i = 0; i < dst->width; i++)
        gg_l_set_result(l, i, made[i]);
    return GG_OK;
}

static int32_t lift_store(struct gg_lift *l, const struct access *a)
{
    const struct gg_operand *data = &l->inst->src[2];
    gg_value inside;
    for (uint32_t i = 0; i < data->width; i++) {
        struct gg_pair at = dword_of(l, a, i, 1, &inside);
        gg_value word = gg_l_scalar(l, data, i), active = one_lane(l, inside);
        gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, GG_IR_MEM_32, at.low, at.high, word, active);
    }
    return GG_OK;
}

int32_t gg_lift_smem(struct gg_lift *l)
{
    uint32_t flags = gg_inst_info(l->inst)->flags;
    struct access a;
    struct gg_pair now;
    switch (l->inst->op) {
    case GG_OP_s_memtime:
    case GG_OP_s_memrealtime:
        now = gg_l_time(l);
        gg_l_set_result(l, 0, now.low);
        gg_l_set_result(l, 1, now.high);
        return GG_OK;
    case GG_OP_s_get_waveid_in_workgroup:
        gg_l_set_result(l, 0, gg_ir_make(l->ir, l->at, GG_IR_input, GG_IR_S, GG_IR_IN_WAVE, 0, 0, 0, 0));
        return GG_OK;
    default:
        break;
    }
    if (!(flags & (GG_OPF_LOAD | GG_OPF_STORE | GG_OPF_ATOMIC))) /* caches are the device's affair */
        return GG_OK;
    if (l->inst->src[0].kind != GG_OPERAND_SGPR)
        return GG_ERR_UNSUPPORTED;
    find_place(l, &a);
    if (flags & GG_OPF_LOAD)
        return lift_load(l, &a);
    if (flags & GG_OPF_STORE)
        return lift_store(l, &a);
    uint32_t words = gg_inst_info(l->inst)->dst[0].width;
    gg_value inside;
    struct gg_pair at = dword_of(l, &a, 0, words, &inside);
    return gg_lift_scalar_atomic(l, at, one_lane(l, inside));
}

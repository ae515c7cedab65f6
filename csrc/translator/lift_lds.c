/* SPDX-License-Identifier: MIT */
/* LDS: loads, stores and atomics of bytes, halves and dwords. */
#include "lift_operand.h"

static gg_value address(struct gg_lift *l, uint32_t offset)
{
    gg_value base = gg_l_vector(l, &l->inst->src[0], 0);
    return base ? gg_l2(l, GG_IR_add, GG_IR_V, base, gg_lk(l, offset)) : 0;
}

static int32_t load(struct gg_lift *l, enum gg_ir_memory kind, uint32_t words)
{
    gg_value made[4], exec = gg_l_exec(l);
    for (uint32_t i = 0; i < words; i++) {
        gg_value at = address(l, (uint32_t)l->inst->imm + 4 * i);
        if (!at)
            return GG_ERR_UNSUPPORTED;
        made[i] = gg_ir_make(l->ir, l->at, GG_IR_lds_load, GG_IR_V, kind, at, exec, 0, 0);
    }
    for (uint32_t i = 0; i < words; i++)
        gg_l_set_vgpr(l, l->inst->dst[0].value + i, made[i]);
    return GG_OK;
}

static int32_t store(struct gg_lift *l, enum gg_ir_memory kind, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) {
        gg_value at = address(l, (uint32_t)l->inst->imm + 4 * i), data = gg_l_vector(l, &l->inst->src[1], i);
        if (!at || !data)
            return GG_ERR_UNSUPPORTED;
        gg_ir_make(l->ir, l->at, GG_IR_lds_store, GG_IR_NONE, kind, at, data, gg_l_exec(l), 0);
    }
    return GG_OK;
}

/* Two places, counted in elements of `words` dwords times `step`. */
static int32_t load_two(struct gg_lift *l, uint32_t words, uint32_t step)
{
    const uint32_t offsets[2] = {l->inst->ds.offset0, l->inst->ds.offset1};
    gg_value made[4], exec = gg_l_exec(l);
    for (uint32_t i = 0; i < 2 * words; i++) {
        gg_value at = address(l, 4 * (offsets[i / words] * words * step + i % words));
        if (!at)
            return GG_ERR_UNSUPPORTED;
        made[i] = gg_ir_make(l->ir, l->at, GG_IR_lds_load, GG_IR_V, GG_IR_MEM_32, at, exec, 0, 0);
    }
    for (uint32_t i = 0; i < 2 * words; i++)
        gg_l_set_vgpr(l, l->inst->dst[0].value + i, made[i]);
    return GG_OK;
}

static int32_t store_two(struct gg_lift *l, uint32_t words, uint32_t step)
{
    const uint32_t offsets[2] = {l->inst->ds.offset0, l->inst->ds.offset1};
    for (uint32_t i = 0; i < 2 * words; i++) {
        gg_value at = address(l, 4 * (offsets[i / words] * words * step + i % words));
        gg_value data = gg_l_vector(l, &l->inst->src[1 + i / words], i % words);
        if (!at || !data)
            return GG_ERR_UNSUPPORTED;
        gg_ir_make(l->ir, l->at, GG_IR_lds_store, GG_IR_NONE, GG_IR_MEM_32, at, data, gg_l_exec(l), 0);
    }
    return GG_OK;
}

static int32_t atomic(struct gg_lift *l, enum gg_ir_atomic kind)
{
    gg_value at = address(l, (uint32_t)l->inst->imm), data = gg_l_vector(l, &l->inst->src[1], 0);
    if (!at || !data)
        return GG_ERR_UNSUPPORTED;
    gg_value old = gg_ir_make(l->ir, l->at, GG_IR_lds_atomic, GG_IR_V, kind, at, data, gg_l_exec(l), 0);
    if (l->inst->dst[0].kind)
        gg_l_set_vgpr(l, l->inst->dst[0].value, old);
    return GG_OK;
}

/* The lane that each lane's address (in bytes) names; lanes outside EXEC give 0. */
static int32_t permute(struct gg_lift *l)
{
    gg_value at = address(l, (uint32_t)l->inst->imm), data = gg_l_vector(l, &l->inst->src[1], 0);
    if (!at || !data)
        return GG_ERR_UNSUPPORTED;
    gg_value lane = gg_l2(l, GG_IR_shr, GG_IR_V, at, gg_lk(l, 2));
    if (l->wave == 64) { /* bpermute stays within each half */
        gg_value own = gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0);
        gg_value half = gg_l2(l, GG_IR_and, GG_IR_V, own, gg_lk(l, 32));
        lane = gg_l2(l, GG_IR_or, GG_IR_V, gg_l2(l, GG_IR_and, GG_IR_V, lane, gg_lk(l, 31)), half);
    }
    gg_value offered = gg_l_select(l, GG_IR_V, gg_l_exec(l), data, gg_lk(l, 0));
    gg_l_set_vgpr(l, l->inst->dst[0].value, gg_l2(l, GG_IR_shuffle, GG_IR_V, offered, lane));
    return GG_OK;
}

int32_t gg_lift_lds(struct gg_lift *l)
{
    if (l->inst->flags & GG_INST_GDS || gg_inst_info(l->inst)->flags & GG_OPF_GDS) {
        l->why = "memory that all groups share (GDS, GWS)";
        return GG_ERR_UNSUPPORTED;
    }
    switch (l->inst->op) {
    case GG_OP_ds_read_b32:
        return load(l, GG_IR_MEM_32, 1);
    case GG_OP_ds_read_b64:
        return load(l, GG_IR_MEM_32, 2);
    case GG_OP_ds_read_b96:
        return load(l, GG_IR_MEM_32, 3);
    case GG_OP_ds_read_b128:
        return load(l, GG_IR_MEM_32, 4);
    case GG_OP_ds_read_u8:
        return load(l, GG_IR_MEM_U8, 1);
    case GG_OP_ds_read_i8:
        return load(l, GG_IR_MEM_I8, 1);
    case GG_OP_ds_read_u16:
        return load(l, GG_IR_MEM_U16, 1);
    case GG_OP_ds_read_i16:
        return load(l, GG_IR_MEM_I16, 1);
    case GG_OP_ds_write_b32:
        return store(l, GG_IR_MEM_32, 1);
    case GG_OP_ds_write_b64:
        return store(l, GG_IR_MEM_32, 2);
    case GG_OP_ds_write_b96:
        return store(l, GG_IR_MEM_32, 3);
    case GG_OP_ds_write_b128:
        return store(l, GG_IR_MEM_32, 4);
    case GG_OP_ds_write_b8:
        return store(l, GG_IR_MEM_U8, 1);
    case GG_OP_ds_write_b16:
        return store(l, GG_IR_MEM_U16, 1);
    case GG_OP_ds_read2_b32:
        return load_two(l, 1, 1);
    case GG_OP_ds_read2_b64:
        return load_two(l, 2, 1);
    case GG_OP_ds_read2st64_b32:
        return load_two(l, 1, 64);
    case GG_OP_ds_read2st64_b64:
        return load_two(l, 2, 64);
    case GG_OP_ds_write2_b32:
        return store_two(l, 1, 1);
    case GG_OP_ds_write2_b64:
        return store_two(l, 2, 1);
    case GG_OP_ds_write2st64_b32:
        return store_two(l, 1, 64);
    case GG_OP_ds_write2st64_b64:
        return store_two(l, 2, 64);
    case GG_OP_ds_add_u32:
    case GG_OP_ds_add_rtn_u32:
        return atomic(l, GG_IR_ATOMIC_ADD);
    case GG_OP_ds_sub_u32:
    case GG_OP_ds_sub_rtn_u32:
        return atomic(l, GG_IR_ATOMIC_SUB);
    case GG_OP_ds_min_u32:
    case GG_OP_ds_min_rtn_u32:
        return atomic(l, GG_IR_ATOMIC_UMIN);
    case GG_OP_ds_max_u32:
    case GG_OP_ds_max_rtn_u32:
        return atomic(l, GG_IR_ATOMIC_UMAX);
    case GG_OP_ds_min_i32:
    case GG_OP_ds_min_rtn_i32:
        return atomic(l, GG_IR_ATOMIC_SMIN);
    case GG_OP_ds_max_i32:
    case GG_OP_ds_max_rtn_i32:
        return atomic(l, GG_IR_ATOMIC_SMAX);
    case GG_OP_ds_and_b32:
    case GG_OP_ds_and_rtn_b32:
        return atomic(l, GG_IR_ATOMIC_AND);
    case GG_OP_ds_or_b32:
    case GG_OP_ds_or_rtn_b32:
        return atomic(l, GG_IR_ATOMIC_OR);
    case GG_OP_ds_xor_b32:
    case GG_OP_ds_xor_rtn_b32:
        return atomic(l, GG_IR_ATOMIC_XOR);
    case GG_OP_ds_wrxchg_rtn_b32:
        return atomic(l, GG_IR_ATOMIC_SWAP);
    case GG_OP_ds_bpermute_b32:
        return permute(l);
    default:
        return gg_lift_ds(l);
    }
}

/* SPDX-License-Identifier: MIT */
/* Guest memory by addresses: SMEM, GLOBAL and FLAT. */
#include "lift_buffer.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

/* pair + a signed constant. */
static struct gg_pair plus(struct gg_lift *l, enum gg_ir_class class, struct gg_pair a, int32_t offset)
{
    if (!offset)
        return a;
    gg_value carry, low = gg_l_add_carry(l, class, a.low, k(l, (uint32_t)offset), 0, &carry);
    return (struct gg_pair){low, gg_l_add_carry(l, class, a.high, k(l, offset < 0 ? UINT32_MAX : 0), carry, NULL)};
}

static struct gg_pair plus_word(struct gg_lift *l, enum gg_ir_class class, struct gg_pair a, gg_value word)
{
    gg_value carry, low = gg_l_add_carry(l, class, a.low, word, 0, &carry);
    return (struct gg_pair){low, gg_l_add_carry(l, class, a.high, k(l, 0), carry, NULL)};
}

/* Scalar loads read dwords: the lowest two bits of their address do not count. */
static int32_t lift_scalar_load(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    struct gg_pair address = {gg_l_scalar(l, &inst->src[0], 0), gg_l_scalar(l, &inst->src[0], 1)};
    if (!address.low || !address.high)
        return GG_ERR_UNSUPPORTED;
    address = plus(l, GG_IR_S, address, inst->imm);
    if (inst->src[1].kind) {
        gg_value offset = gg_l_scalar(l, &inst->src[1], 0);
        if (!offset)
            return GG_ERR_UNSUPPORTED;
        address = plus_word(l, GG_IR_S, address, offset);
    }
    address.low = gg_l2(l, GG_IR_and, GG_IR_S, address.low, k(l, ~3u));
    gg_value made[16];
    uint32_t width = inst->dst[0].width;
    for (uint32_t i = 0; i < width; i++) { /* all are read before any is written: the base may be among them */
        struct gg_pair at = plus(l, GG_IR_S, address, (int32_t)(4 * i));
        made[i] = gg_ir_make(l->ir, l->at, GG_IR_load_word, GG_IR_S, GG_IR_MEM_32, at.low, at.high, 0, 0);
    }
    for (uint32_t i = 0; i < width; i++)
        gg_l_set_sgpr(l, inst->dst[0].value == GG_SGPR_NULL ? GG_SGPR_NULL : inst->dst[0].value + i, made[i]);
    return GG_OK;
}

bool gg_l_flat_address(struct gg_lift *l, struct gg_pair *address)
{
    const struct gg_inst *inst = l->inst;
    if (inst->src[1].kind) { /* scalar base, 32-bit lane offset */
        struct gg_pair base = {gg_l_scalar(l, &inst->src[1], 0), gg_l_scalar(l, &inst->src[1], 1)};
        gg_value offset = inst->src[0].kind ? gg_l_vector(l, &inst->src[0], 0) : k(l, 0);
        if (inst->op == GG_OP_global_load_dword_addtid || inst->op == GG_OP_global_store_dword_addtid) {
            gg_value lane = gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0);
            offset = gg_l2(l, GG_IR_shl, GG_IR_V, lane, k(l, 2));
        }
        if (!base.low || !base.high || !offset)
            return false;
        *address = plus_word(l, GG_IR_V, base, offset);
    } else {
        *address = (struct gg_pair){gg_l_vector(l, &inst->src[0], 0), gg_l_vector(l, &inst->src[0], 1)};
        if (!address->low || !address->high)
            return false;
    }
    *address = plus(l, GG_IR_V, *address, inst->imm);
    return true;
}

static bool access_of(uint32_t op, enum gg_ir_memory *kind, uint32_t *words)
{
    *words = 1;
    *kind = GG_IR_MEM_32;
    switch (op) {
    case GG_OP_flat_load_ubyte:
    case GG_OP_flat_store_byte:
        *kind = GG_IR_MEM_U8;
        return true;
    case GG_OP_flat_load_sbyte:
        *kind = GG_IR_MEM_I8;
        return true;
    case GG_OP_flat_load_ushort:
    case GG_OP_flat_store_short:
        *kind = GG_IR_MEM_U16;
        return true;
    case GG_OP_flat_load_sshort:
        *kind = GG_IR_MEM_I16;
        return true;
    case GG_OP_flat_load_dword:
    case GG_OP_flat_store_dword:
    case GG_OP_global_load_dword_addtid:
    case GG_OP_global_store_dword_addtid:
        return true;
    case GG_OP_flat_load_dwordx2:
    case GG_OP_flat_store_dwordx2:
        *words = 2;
        return true;
    case GG_OP_flat_load_dwordx3:
    case GG_OP_flat_store_dwordx3:
        *words = 3;
        return true;
    case GG_OP_flat_load_dwordx4:
    case GG_OP_flat_store_dwordx4:
        *words = 4;
        return true;
    default:
        return gg_l_small_access(op, kind);
    }
}

static int32_t lift_flat(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    enum gg_ir_memory kind;
    uint32_t words;
    struct gg_pair address;
    if (!access_of(inst->op, &kind, &words) || inst->flags & GG_INST_LDS || !gg_l_flat_address(l, &address))
        return GG_ERR_UNSUPPORTED;
    bool loads = gg_inst_info(inst)->flags & GG_OPF_LOAD;
    gg_value made[4], exec = gg_l_exec(l);
    for (uint32_t i = 0; i < words; i++) {
        struct gg_pair at = plus(l, GG_IR_V, address, (int32_t)(4 * i));
        if (loads) {
            made[i] = gg_ir_make(l->ir, l->at, GG_IR_load, GG_IR_V, kind, at.low, at.high, exec, 0);
        } else {
            gg_value data = gg_l_stored(l, &inst->src[2], i);
            gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, kind, at.low, at.high, data, exec);
        }
    }
    for (uint32_t i = 0; loads && i < words; i++)
        gg_l_set_loaded(l, inst->dst[0].value + i, made[i]);
    return GG_OK;
}

int32_t gg_lift_memory(struct gg_lift *l)
{
    switch (l->inst->format) {
    case GG_FORMAT_SMEM:
        switch (l->inst->op) {
        case GG_OP_s_load_dword:
        case GG_OP_s_load_dwordx2:
        case GG_OP_s_load_dwordx4:
        case GG_OP_s_load_dwordx8:
        case GG_OP_s_load_dwordx16:
            return lift_scalar_load(l);
        case GG_OP_s_buffer_load_dword:
        case GG_OP_s_buffer_load_dwordx2:
        case GG_OP_s_buffer_load_dwordx4:
        case GG_OP_s_buffer_load_dwordx8:
        case GG_OP_s_buffer_load_dwordx16:
            return gg_lift_scalar_buffer(l);
        case GG_OP_s_dcache_inv:
        case GG_OP_s_gl1_inv:
            return GG_OK;
        default:
            return GG_ERR_UNSUPPORTED;
        }
    case GG_FORMAT_FLAT:
    case GG_FORMAT_GLOBAL:
        return gg_inst_info(l->inst)->flags & GG_OPF_ATOMIC ? gg_lift_atomic(l) : lift_flat(l);
    case GG_FORMAT_MUBUF:
    case GG_FORMAT_MTBUF:
        return gg_lift_buffer(l);
    default:
        return GG_ERR_UNSUPPORTED;
    }
}

/* SPDX-License-Identifier: MIT */
/* Guest memory by addresses of lanes: FLAT, GLOBAL and SCRATCH. */
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

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

static gg_value this_lane(struct gg_lift *l) { return gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0); }

/* The address that a FLAT or GLOBAL instruction gives; of SCRATCH only the low dword counts. */
static bool given_address(struct gg_lift *l, struct gg_pair *address)
{
    const struct gg_inst *inst = l->inst;
    bool scratch = inst->format == GG_FORMAT_SCRATCH;
    gg_value zero = k(l, 0), offset = inst->src[0].kind ? gg_l_vector(l, &inst->src[0], 0) : zero;
    if (inst->op == GG_OP_global_load_dword_addtid || inst->op == GG_OP_global_store_dword_addtid)
        offset = v2(l, GG_IR_shl, this_lane(l), k(l, 2));
    *address = (struct gg_pair){offset, zero};
    if (!offset)
        return false;
    if (inst->src[1].kind) { /* scalar base, 32-bit lane offset */
        struct gg_pair base = {gg_l_scalar(l, &inst->src[1], 0), scratch ? zero : gg_l_scalar(l, &inst->src[1], 1)};
        if (!base.low || !base.high)
            return false;
        *address = plus_word(l, GG_IR_V, base, offset);
    } else if (!scratch && inst->src[0].kind) {
        address->high = gg_l_vector(l, &inst->src[0], 1);
        if (!address->high)
            return false;
    }
    *address = plus(l, GG_IR_V, *address, inst->imm);
    return true;
}

/* Guest address of byte `offset` of a lane's scratch. */
static struct gg_pair scratch_address(struct gg_lift *l, gg_value offset)
{
    uint32_t bits = l->wave == 64 ? 6 : 5;
    gg_value words = v2(l, GG_IR_and, offset, k(l, ~3u)), within = v2(l, GG_IR_and, offset, k(l, 3));
    gg_value lane = v2(l, GG_IR_shl, this_lane(l), k(l, 2)), place = v2(l, GG_IR_or, lane, within), carry;
    struct gg_pair line = {v2(l, GG_IR_shl, words, k(l, bits)), v2(l, GG_IR_shr, words, k(l, 32 - bits))};
    gg_value base = gg_ssa_read(&l->ssa, l->at.block, GG_REG_FLAT_SCRATCH);
    gg_value base_high = gg_ssa_read(&l->ssa, l->at.block, GG_REG_FLAT_SCRATCH + 1);
    line.low = v2(l, GG_IR_or, line.low, place);
    line.low = gg_l_add_carry(l, GG_IR_V, line.low, base, 0, &carry);
    line.high = gg_l_add_carry(l, GG_IR_V, line.high, base_high, carry, NULL);
    return line;
}

bool gg_l_flat(struct gg_lift *l, struct gg_flat *f)
{
    struct gg_pair address;
    gg_value exec = gg_l_exec(l), dword = k(l, 4), line = k(l, 4 * l->wave);
    if (!given_address(l, &address))
        return false;
    *f = (struct gg_flat){.address = address, .spread = dword, .memory = exec};
    if (l->inst->format == GG_FORMAT_GLOBAL)
        return true;
    struct gg_pair scratch = scratch_address(l, address.low);
    if (l->inst->format == GG_FORMAT_SCRATCH) {
        f->address = scratch;
        f->spread = line;
        return true;
    }
    gg_value is_private = gg_l2(l, GG_IR_eq, GG_IR_M, address.high, k(l, GG_FLAT_PRIVATE));
    gg_value is_shared = gg_l2(l, GG_IR_eq, GG_IR_M, address.high, k(l, GG_FLAT_SHARED));
    f->address.low = gg_l_select(l, GG_IR_V, is_private, scratch.low, address.low);
    f->address.high = gg_l_select(l, GG_IR_V, is_private, scratch.high, address.high);
    f->spread = gg_l_select(l, GG_IR_V, is_private, line, dword);
    f->memory = gg_l2(l, GG_IR_and, GG_IR_M, exec, gg_l1(l, GG_IR_not, GG_IR_M, is_shared));
    f->lds = gg_l2(l, GG_IR_and, GG_IR_M, exec, is_shared);
    f->lds_address = address.low;
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

static gg_value load_flat(struct gg_lift *l, const struct gg_flat *f, enum gg_ir_memory kind, struct gg_pair at,
                          uint32_t dword)
{
    gg_value made = gg_ir_make(l->ir, l->at, GG_IR_load, GG_IR_V, kind, at.low, at.high, f->memory, 0);
    if (!f->lds)
        return made;
    gg_value place = v2(l, GG_IR_add, f->lds_address, k(l, 4 * dword));
    gg_value shared = gg_ir_make(l->ir, l->at, GG_IR_lds_load, GG_IR_V, kind, place, f->lds, 0, 0);
    return gg_l_select(l, GG_IR_V, f->lds, shared, made);
}

static void store_flat(struct gg_lift *l, const struct gg_flat *f, enum gg_ir_memory kind, struct gg_pair at,
                       uint32_t dword)
{
    gg_value data = gg_l_stored(l, &l->inst->src[2], dword);
    gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, kind, at.low, at.high, data, f->memory);
    if (!f->lds)
        return;
    gg_value place = v2(l, GG_IR_add, f->lds_address, k(l, 4 * dword));
    gg_ir_make(l->ir, l->at, GG_IR_lds_store, GG_IR_NONE, kind, place, data, f->lds, 0);
}

static int32_t lift_flat(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    enum gg_ir_memory kind;
    uint32_t words;
    struct gg_flat f;
    l->why = inst->flags & GG_INST_LDS ? "loading to LDS" : NULL;
    if (!access_of(inst->op, &kind, &words) || inst->flags & GG_INST_LDS || !gg_l_flat(l, &f))
        return GG_ERR_UNSUPPORTED;
    bool loads = gg_inst_info(inst)->flags & GG_OPF_LOAD;
    gg_value made[4];
    struct gg_pair at = f.address;
    for (uint32_t i = 0; i < words; i++) {
        if (loads)
            made[i] = load_flat(l, &f, kind, at, i);
        else
            store_flat(l, &f, kind, at, i);
        at = plus_word(l, GG_IR_V, at, f.spread);
    }
    for (uint32_t i = 0; loads && i < words; i++)
        gg_l_set_loaded(l, inst->dst[0].value + i, made[i]);
    return GG_OK;
}

int32_t gg_lift_memory(struct gg_lift *l)
{
    switch (l->inst->format) {
    case GG_FORMAT_SMEM:
        return gg_lift_smem(l);
    case GG_FORMAT_FLAT:
    case GG_FORMAT_GLOBAL:
    case GG_FORMAT_SCRATCH:
        return gg_inst_info(l->inst)->flags & GG_OPF_ATOMIC ? gg_lift_atomic(l) : lift_flat(l);
    case GG_FORMAT_MUBUF:
    case GG_FORMAT_MTBUF:
        return gg_lift_buffer(l);
    default:
        return GG_ERR_UNSUPPORTED;
    }
}

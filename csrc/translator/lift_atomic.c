/* SPDX-License-Identifier: MIT */
/* Atomics of all units, and what else of DS is rare: halves of registers, append and consume, addresses by lane. */
#include "lift_buffer.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

static gg_value this_lane(struct gg_lift *l) { return gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0); }

/* An atomic of the IR, or an update. */
struct operation {
    bool known, updates;
    uint8_t kind; /* enum gg_ir_atomic or gg_ir_update */
};

#define ATOMIC(name) {true, false, GG_IR_ATOMIC_##name}
#define UPDATE(name) {true, true, GG_IR_UPDATE_##name}

/* FLAT, GLOBAL and MUBUF have them in this order. */
static const struct operation memory_operations[] = {
    ATOMIC(SWAP), UPDATE(CMPSWAP), ATOMIC(ADD),      ATOMIC(SUB),  UPDATE(CSUB), ATOMIC(SMIN),
    ATOMIC(UMIN), ATOMIC(SMAX),    ATOMIC(UMAX),     ATOMIC(AND),  ATOMIC(OR),   ATOMIC(XOR),
    UPDATE(INC),  UPDATE(DEC),     UPDATE(FCMPSWAP), UPDATE(FMIN), UPDATE(FMAX)};

/* DS by the low five bits of the code: with and without a result. */
static const struct operation ds_operations[32] = {
    ATOMIC(ADD),   ATOMIC(SUB),  UPDATE(RSUB), UPDATE(INC),  UPDATE(DEC),     ATOMIC(SMIN),
    ATOMIC(SMAX),  ATOMIC(UMIN), ATOMIC(UMAX), ATOMIC(AND),  ATOMIC(OR),      ATOMIC(XOR),
    UPDATE(MSKOR), ATOMIC(SWAP), ATOMIC(SWAP), ATOMIC(SWAP), UPDATE(CMPSWAP), UPDATE(FCMPSWAP),
    UPDATE(FMIN),  UPDATE(FMAX), {0},          UPDATE(FADD)};

#undef ATOMIC
#undef UPDATE

struct place { /* of each lane: in LDS a byte address, else a guest address */
    bool lds;
    struct gg_pair address;
    gg_value active;
};

static gg_value make_atomic(struct gg_lift *l, const struct operation *o, const struct place *p, gg_value data,
                            gg_value second)
{
    gg_value low = p->address.low, high = p->address.high, made;
    if (p->lds && o->updates)
        return gg_ir_make(l->ir, l->at, GG_IR_lds_update, GG_IR_V, o->kind, low, data, second, p->active);
    if (p->lds)
        return gg_ir_make(l->ir, l->at, GG_IR_lds_atomic, GG_IR_V, o->kind, low, data, p->active, 0);
    if (!o->updates)
        return gg_ir_make(l->ir, l->at, GG_IR_atomic, GG_IR_V, o->kind, low, high, data, p->active);
    made = gg_ir_make(l->ir, l->at, GG_IR_update, GG_IR_V, o->kind, low, high, data, second);
    l->ir->values[made].arg[4] = p->active;
    return made;
}

static struct place dword_after(struct gg_lift *l, struct place p)
{
    gg_value carry, low = gg_l_add_carry(l, GG_IR_V, p.address.low, k(l, 4), 0, &carry);
    p.address.high = p.lds ? 0 : gg_l_add_carry(l, GG_IR_V, p.address.high, k(l, 0), carry, NULL);
    p.address.low = low;
    return p;
}

/*
 * 64 bits without a result, as two atomics of 32: what is done to each half depends on the other by a carry only,
 * which the old low half tells. Another wave may see one half without the other, never a wrong sum.
 */
static int32_t atomic64(struct gg_lift *l, const struct operation *o, struct place p, struct gg_pair data)
{
    if (l->inst->dst[0].kind || o->updates)
        return GG_ERR_UNSUPPORTED;
    p.address.low = v2(l, GG_IR_and, p.address.low, k(l, ~7u));
    struct place above = dword_after(l, p);
    if (o->kind == GG_IR_ATOMIC_ADD || o->kind == GG_IR_ATOMIC_SUB) {
        bool adds = o->kind == GG_IR_ATOMIC_ADD;
        gg_value old = make_atomic(l, o, &p, data.low, 0);
        gg_value carries = adds ? gg_l2(l, GG_IR_lt_u, GG_IR_M, v2(l, GG_IR_add, old, data.low), data.low)
                                : gg_l2(l, GG_IR_lt_u, GG_IR_M, old, data.low);
        gg_value carry = gg_l_select(l, GG_IR_V, carries, k(l, 1), k(l, 0));
        make_atomic(l, o, &above, v2(l, GG_IR_add, data.high, carry), 0);
        return GG_OK;
    }
    if (o->kind != GG_IR_ATOMIC_AND && o->kind != GG_IR_ATOMIC_OR && o->kind != GG_IR_ATOMIC_XOR)
        return GG_ERR_UNSUPPORTED;
    make_atomic(l, o, &p, data.low, 0);
    make_atomic(l, o, &above, data.high, 0);
    return GG_OK;
}

/* Of FLAT and GLOBAL: where an address may mean LDS, the operation is done there for some lanes. */
static gg_value flat_atomic(struct gg_lift *l, const struct operation *o, const struct gg_flat *f, gg_value data,
                            gg_value second)
{
    const struct place memory = {.address = f->address, .active = f->memory};
    gg_value old = make_atomic(l, o, &memory, data, second);
    if (!f->lds)
        return old;
    const struct place lds = {.lds = true, .address = {f->lds_address, 0}, .active = f->lds};
    gg_value shared = make_atomic(l, o, &lds, data, second);
    return gg_l_select(l, GG_IR_V, f->lds, shared, old);
}

int32_t gg_lift_atomic(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    bool buffer = inst->format == GG_FORMAT_MUBUF;
    const struct gg_operand *data = &inst->src[buffer ? 3 : 2];
    uint32_t code = gg_inst_info(inst)->code;
    bool wide = code >= 0x50;
    uint32_t at = code - (wide ? 0x50u : 0x30u);
    struct gg_buffer_access access;
    struct gg_flat flat = {0};
    struct place p = {.lds = false};
    if (at >= sizeof memory_operations / sizeof memory_operations[0] || inst->flags & GG_INST_LDS)
        return GG_ERR_UNSUPPORTED;
    const struct operation *o = &memory_operations[at];
    if (buffer ? !gg_l_buffer(l, &access) : !gg_l_flat(l, &flat))
        return GG_ERR_UNSUPPORTED;
    p.address = buffer ? access.address : flat.address;
    p.active = buffer ? gg_l_buffer_active(l, &access, wide ? 8 : 4) : flat.memory;
    gg_value first = gg_l_vector(l, data, 0), second = data->width > 1 ? gg_l_vector(l, data, 1) : k(l, 0);
    if (wide)
        return flat.lds ? GG_ERR_UNSUPPORTED : atomic64(l, o, p, (struct gg_pair){first, second});
    gg_value old = buffer ? make_atomic(l, o, &p, first, second) : flat_atomic(l, o, &flat, first, second);
    if (inst->dst[0].kind)
        gg_l_set_vgpr(l, inst->dst[0].value, old);
    if (buffer)
        gg_l_buffer_status(l);
    return GG_OK;
}

/* ---- DS ---- */

static gg_value m0_base(struct gg_lift *l)
{
    gg_value base = gg_l_part(l, GG_IR_S, gg_l_sgpr(l, GG_SGPR_M0), 0, 16, false);
    return gg_l2(l, GG_IR_add, GG_IR_S, base, k(l, (uint32_t)l->inst->imm));
}

static int32_t lift_ds_atomic(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    const struct operation *o = &ds_operations[gg_inst_info(inst)->code & 31];
    static const struct operation wrap = {true, true, GG_IR_UPDATE_WRAP};
    bool two = gg_inst_info(inst)->flags & GG_OPF_TWO, wide = inst->src[1].width > 1;
    if (inst->op == GG_OP_ds_wrap_rtn_b32)
        o = &wrap;
    if (!o->known || !inst->src[1].kind || (two && wide))
        return GG_ERR_UNSUPPORTED;
    gg_value base = gg_l_vector(l, &inst->src[0], 0), data = gg_l_vector(l, &inst->src[1], 0);
    gg_value second = inst->src[2].kind ? gg_l_vector(l, &inst->src[2], 0) : k(l, 0);
    struct place p = {.lds = true, .active = gg_l_exec(l)};
    if (two) { /* exchanges */
        uint32_t unit = inst->op == GG_OP_ds_wrxchg2st64_rtn_b32 ? 256 : 4;
        struct place other = p;
        p.address.low = v2(l, GG_IR_add, base, k(l, inst->ds.offset0 * unit));
        other.address.low = v2(l, GG_IR_add, base, k(l, inst->ds.offset1 * unit));
        gg_value first = make_atomic(l, o, &p, data, 0), last = make_atomic(l, o, &other, second, 0);
        gg_l_set_vgpr(l, inst->dst[0].value, first);
        gg_l_set_vgpr(l, inst->dst[0].value + 1, last);
        return GG_OK;
    }
    p.address.low = v2(l, GG_IR_add, base, k(l, (uint32_t)inst->imm));
    if (wide)
        return atomic64(l, o, p, (struct gg_pair){data, gg_l_vector(l, &inst->src[1], 1)});
    if (o->updates && (o->kind == GG_IR_UPDATE_CMPSWAP || o->kind == GG_IR_UPDATE_FCMPSWAP)) {
        gg_value comparand = data; /* DS has it first */
        data = second;
        second = comparand;
    }
    gg_value old = make_atomic(l, o, &p, data, second);
    if (inst->dst[0].kind)
        gg_l_set_vgpr(l, inst->dst[0].value, old);
    return GG_OK;
}

/* The counter at M0 + offset moves by the number of active lanes, once for the wave, in its first lane. */
static int32_t lift_append(struct gg_lift *l, bool append)
{
    gg_value exec = gg_l_exec(l), lane = this_lane(l), count = gg_l1(l, GG_IR_mask_lo, GG_IR_S, exec);
    count = gg_l1(l, GG_IR_bitcount, GG_IR_S, count);
    if (l->wave == 64) {
        gg_value high = gg_l1(l, GG_IR_bitcount, GG_IR_S, gg_l1(l, GG_IR_mask_hi, GG_IR_S, exec));
        count = gg_l2(l, GG_IR_add, GG_IR_S, count, high);
    }
    gg_value first = gg_l2(l, GG_IR_first_lane, GG_IR_S, lane, exec);
    gg_value is_first = gg_l2(l, GG_IR_eq, GG_IR_M, lane, first);
    gg_value active = gg_l2(l, GG_IR_and, GG_IR_M, exec, is_first);
    enum gg_ir_atomic kind = append ? GG_IR_ATOMIC_ADD : GG_IR_ATOMIC_SUB;
    gg_value old = gg_ir_make(l->ir, l->at, GG_IR_lds_atomic, GG_IR_V, kind, m0_base(l), count, active, 0);
    gg_l_set_vgpr(l, l->inst->dst[0].value, gg_l2(l, GG_IR_read_lane, GG_IR_S, old, first));
    return GG_OK;
}

/* Of a dword, or of parts with halves of registers; at: the byte address. */
static int32_t lift_ds_access(struct gg_lift *l, gg_value at, enum gg_ir_memory kind)
{
    if (gg_inst_info(l->inst)->flags & GG_OPF_LOAD) {
        gg_value made = gg_ir_make(l->ir, l->at, GG_IR_lds_load, GG_IR_V, kind, at, gg_l_exec(l), 0, 0);
        gg_l_set_loaded(l, l->inst->dst[0].value, made);
        return GG_OK;
    }
    gg_value data = gg_l_stored(l, &l->inst->src[1], 0);
    gg_ir_make(l->ir, l->at, GG_IR_lds_store, GG_IR_NONE, kind, at, data, gg_l_exec(l), 0);
    return GG_OK;
}

int32_t gg_lift_ds(struct gg_lift *l)
{
    enum gg_ir_memory kind;
    switch (l->inst->op) {
    case GG_OP_ds_nop:
        return GG_OK;
    case GG_OP_ds_append:
    case GG_OP_ds_consume:
        return lift_append(l, l->inst->op == GG_OP_ds_append);
    case GG_OP_ds_read_addtid_b32:
    case GG_OP_ds_write_addtid_b32: {
        gg_value at = v2(l, GG_IR_add, v2(l, GG_IR_shl, this_lane(l), k(l, 2)), m0_base(l));
        return lift_ds_access(l, at, GG_IR_MEM_32);
    }
    default:
        break;
    }
    if (gg_l_small_access(l->inst->op, &kind)) {
        gg_value base = gg_l_vector(l, &l->inst->src[0], 0);
        return lift_ds_access(l, v2(l, GG_IR_add, base, k(l, (uint32_t)l->inst->imm)), kind);
    }
    bool listed = gg_inst_info(l->inst)->flags & GG_OPF_ATOMIC && gg_inst_info(l->inst)->flags & GG_OPF_LDS;
    return listed ? lift_ds_atomic(l) : gg_lift_lanes(l);
}

/* SPDX-License-Identifier: MIT */
/* Atomics of all units, and what else of DS is rare: halves of registers, append and consume, addresses by lane. */
#include "lift_buffer.h"
#include "lift_float.h"

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

/* MODE, as the imm of atomics of floats has it. */
static uint32_t float_mode(struct gg_lift *l, uint32_t type)
{
    return (gg_l_keeps_sources(l, type) ? 0 : GG_IR_FLUSHES_SOURCES) |
           (gg_l_keeps_results(l, type) ? 0 : GG_IR_FLUSHES_RESULTS) | (gg_l_ieee(l) ? GG_IR_IEEE : 0);
}

static gg_value make_atomic(struct gg_lift *l, const struct operation *o, const struct place *p, gg_value data,
                            gg_value second)
{
    gg_value low = p->address.low, high = p->address.high, made;
    bool is_float = o->updates && o->kind >= GG_IR_UPDATE_FCMPSWAP && o->kind <= GG_IR_UPDATE_FADD;
    uint32_t update = o->kind | (is_float ? float_mode(l, GG_TYPE_F32) : 0);
    if (p->lds && o->updates)
        return gg_ir_make(l->ir, l->at, GG_IR_lds_update, GG_IR_V, update, low, data, second, p->active);
    if (p->lds)
        return gg_ir_make(l->ir, l->at, GG_IR_lds_atomic, GG_IR_V, o->kind, low, data, p->active, 0);
    if (!o->updates)
        return gg_ir_make(l->ir, l->at, GG_IR_atomic, GG_IR_V, o->kind, low, high, data, p->active);
    made = gg_ir_make(l->ir, l->at, GG_IR_update, GG_IR_V, update, low, high, data, second);
    l->ir->values[made].arg[4] = p->active;
    return made;
}

/* ---- 64 bits ---- */

/* Of DS by the low five bits of the code, as enum gg_ir_wide. */
static const uint8_t ds_wide[32] = {
    GG_IR_WIDE_ADD,   GG_IR_WIDE_SUB,  GG_IR_WIDE_RSUB, GG_IR_WIDE_INC,  GG_IR_WIDE_DEC,     GG_IR_WIDE_SMIN,
    GG_IR_WIDE_SMAX,  GG_IR_WIDE_UMIN, GG_IR_WIDE_UMAX, GG_IR_WIDE_AND,  GG_IR_WIDE_OR,      GG_IR_WIDE_XOR,
    GG_IR_WIDE_MSKOR, GG_IR_WIDE_SWAP, GG_IR_WIDE_SWAP, GG_IR_WIDE_SWAP, GG_IR_WIDE_CMPSWAP, GG_IR_WIDE_FCMPSWAP,
    GG_IR_WIDE_FMIN,  GG_IR_WIDE_FMAX, GG_IR_WIDE_NONE, GG_IR_WIDE_NONE};

static bool is_double(uint32_t kind) { return kind >= GG_IR_WIDE_FCMPSWAP && kind <= GG_IR_WIDE_FMAX; }

/* The old value, of each lane. */
static struct gg_pair wide_atomic(struct gg_lift *l, uint32_t kind, const struct place *p, struct gg_pair data,
                                  struct gg_pair second)
{
    if (is_double(kind))
        kind |= float_mode(l, GG_TYPE_F64);
    const gg_value memory[GG_IR_ARGS] = {p->address.low, p->address.high, data.low, data.high,
                                         second.low,     second.high,     p->active};
    const gg_value lds[GG_IR_ARGS] = {p->address.low, data.low, data.high, second.low, second.high, p->active};
    gg_value low = gg_ir_make_wide(l->ir, l->at, p->lds ? GG_IR_lds_wide_update : GG_IR_wide_update, GG_IR_V, kind,
                                   p->lds ? lds : memory);
    return (struct gg_pair){low, gg_l1(l, GG_IR_wide_high, GG_IR_V, low)};
}

static void set_wide(struct gg_lift *l, uint32_t at, struct gg_pair value)
{
    gg_l_set_vgpr(l, l->inst->dst[0].value + at, value.low);
    gg_l_set_vgpr(l, l->inst->dst[0].value + at + 1, value.high);
}

static struct gg_pair wide_operand(struct gg_lift *l, const struct gg_operand *operand, uint32_t which)
{
    if (operand->width < 2 * which + 2)
        return (struct gg_pair){k(l, 0), k(l, 0)};
    gg_value low = gg_l_vector(l, operand, 2 * which);
    return (struct gg_pair){low, gg_l_vector(l, operand, 2 * which + 1)};
}

static int32_t lift_wide(struct gg_lift *l, uint32_t kind, const struct place *p, const struct place *lds)
{
    const struct gg_operand *data = &l->inst->src[l->inst->format == GG_FORMAT_MUBUF ? 3 : 2];
    struct gg_pair first = wide_operand(l, data, 0), second = wide_operand(l, data, 1);
    if (kind == GG_IR_WIDE_NONE)
        return GG_ERR_UNSUPPORTED;
    struct gg_pair old = wide_atomic(l, kind, p, first, second);
    if (lds) {
        struct gg_pair shared = wide_atomic(l, kind, lds, first, second);
        old.low = gg_l_select(l, GG_IR_V, lds->active, shared.low, old.low);
        old.high = gg_l_select(l, GG_IR_V, lds->active, shared.high, old.high);
    }
    if (l->inst->dst[0].kind)
        set_wide(l, 0, old);
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
    if (wide) {
        const struct place lds = {.lds = true, .address = {flat.lds_address, 0}, .active = flat.lds};
        int32_t result = lift_wide(l, at, &p, flat.lds ? &lds : NULL);
        if (buffer)
            gg_l_buffer_status(l);
        return result;
    }
    gg_value first = gg_l_vector(l, data, 0), second = data->width > 1 ? gg_l_vector(l, data, 1) : k(l, 0);
    gg_value old = buffer ? make_atomic(l, o, &p, first, second) : flat_atomic(l, o, &flat, first, second);
    if (inst->dst[0].kind)
        gg_l_set_vgpr(l, inst->dst[0].value, old);
    if (buffer)
        gg_l_buffer_status(l);
    return GG_OK;
}

int32_t gg_lift_image_atomic(struct gg_lift *l, struct gg_pair address, gg_value active, gg_value bytes)
{
    const struct gg_inst *inst = l->inst;
    uint32_t words = (uint32_t)__builtin_popcount(inst->mimg.dmask), at = gg_inst_info(inst)->code - 0xfu;
    bool compares = at == GG_IR_WIDE_CMPSWAP || at == GG_IR_WIDE_FCMPSWAP;
    uint32_t parts = compares ? words / 2 : words;
    if (at > GG_IR_WIDE_FMAX || parts < 1 || parts > 2 || (compares && words % 2))
        return GG_ERR_UNSUPPORTED;
    gg_value fits = gg_l2(l, GG_IR_eq, GG_IR_B, bytes, k(l, 4 * parts)), word[4];
    gg_value all = gg_l_select(l, GG_IR_V, fits, k(l, 1), k(l, 0));
    gg_value fitting = gg_l2(l, GG_IR_eq, GG_IR_M, all, k(l, 1));
    const struct place p = {.address = address, .active = gg_l2(l, GG_IR_and, GG_IR_M, active, fitting)};
    for (uint32_t i = 0; i < 4; i++)
        word[i] = i < words ? gg_l_vector(l, &inst->src[3], i) : k(l, 0);
    if (parts == 2) {
        struct gg_pair first = {word[0], word[1]}, second = {word[2], word[3]};
        if (at == GG_IR_WIDE_NONE)
            return GG_ERR_UNSUPPORTED;
        struct gg_pair old = wide_atomic(l, at, &p, first, second);
        if (inst->dst[0].kind)
            set_wide(l, 0, old);
        return GG_OK;
    }
    gg_value old = make_atomic(l, &memory_operations[at], &p, word[0], word[1]);
    if (inst->dst[0].kind)
        gg_l_set_vgpr(l, inst->dst[0].value, old);
    return GG_OK;
}

int32_t gg_lift_scalar_atomic(struct gg_lift *l, struct gg_pair address, gg_value active)
{
    const struct gg_operand *data = &l->inst->src[2], *dst = &l->inst->dst[0];
    uint32_t code = gg_inst_info(l->inst)->code, at = (code & 0x1f) + ((code & 0x1f) >= 4); /* there is no csub */
    const struct place p = {.address = address, .active = active};
    gg_value word[4], old[2] = {0}, zero = k(l, 0);
    for (uint32_t i = 0; i < 4; i++)
        word[i] = i < data->width ? gg_l_scalar(l, data, i) : zero;
    if (code & 0x20) {
        struct gg_pair first = {word[0], word[1]}, second = {word[2], word[3]};
        struct gg_pair made = wide_atomic(l, at, &p, first, second);
        old[0] = made.low;
        old[1] = made.high;
    } else {
        old[0] = make_atomic(l, &memory_operations[at], &p, word[0], word[1]);
    }
    for (uint32_t i = 0; i < dst->width && dst->kind; i++)
        gg_l_set_result(l, i, gg_l2(l, GG_IR_read_lane, GG_IR_S, old[i], zero));
    return GG_OK;
}

/* ---- DS ---- */

static gg_value m0_base(struct gg_lift *l)
{
    gg_value base = gg_l_part(l, GG_IR_S, gg_l_sgpr(l, GG_SGPR_M0), 0, 16, false);
    return gg_l2(l, GG_IR_add, GG_IR_S, base, k(l, (uint32_t)l->inst->imm));
}

/* Of 64 bits: one place, or an exchange in two. */
static int32_t lift_ds_wide(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    uint32_t kind = ds_wide[gg_inst_info(inst)->code & 31], unit = inst->op == GG_OP_ds_wrxchg2st64_rtn_b64 ? 512 : 8;
    if (inst->op == GG_OP_ds_condxchg32_rtn_b64)
        kind = GG_IR_WIDE_CONDXCHG;
    if (kind == GG_IR_WIDE_NONE)
        return GG_ERR_UNSUPPORTED;
    gg_value base = gg_l_vector(l, &inst->src[0], 0);
    struct gg_pair data = wide_operand(l, &inst->src[1], 0), second = wide_operand(l, &inst->src[2], 0);
    struct place p = {.lds = true, .active = gg_l_exec(l)}, other = p;
    if (gg_inst_info(inst)->flags & GG_OPF_TWO) {
        p.address.low = v2(l, GG_IR_add, base, k(l, inst->ds.offset0 * unit));
        other.address.low = v2(l, GG_IR_add, base, k(l, inst->ds.offset1 * unit));
        struct gg_pair none = {k(l, 0), k(l, 0)};
        struct gg_pair first = wide_atomic(l, kind, &p, data, none), last = wide_atomic(l, kind, &other, second, none);
        set_wide(l, 0, first);
        set_wide(l, 2, last);
        return GG_OK;
    }
    p.address.low = v2(l, GG_IR_add, base, k(l, (uint32_t)inst->imm));
    bool compares = kind == GG_IR_WIDE_CMPSWAP || kind == GG_IR_WIDE_FCMPSWAP; /* DS has the comparand first */
    struct gg_pair old = wide_atomic(l, kind, &p, compares ? second : data, compares ? data : second);
    if (inst->dst[0].kind)
        set_wide(l, 0, old);
    return GG_OK;
}

static int32_t lift_ds_atomic(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    const struct operation *o = &ds_operations[gg_inst_info(inst)->code & 31];
    static const struct operation wrap = {true, true, GG_IR_UPDATE_WRAP};
    bool two = gg_inst_info(inst)->flags & GG_OPF_TWO;
    if (inst->op == GG_OP_ds_wrap_rtn_b32)
        o = &wrap;
    if (inst->src[1].width > 1)
        return lift_ds_wide(l);
    if (!o->known || !inst->src[1].kind)
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

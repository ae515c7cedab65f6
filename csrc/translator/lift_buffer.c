/* SPDX-License-Identifier: MIT */
/*
 * Buffers by a descriptor (V#) in scalar registers, read when the instruction
 * executes: addresses, range checks, plain loads and stores. Atomics are in
 * lift_atomic.c, typed accesses in lift_format.c.
 */
#include "lift_buffer.h"

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value s2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_S, a, b);
}

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

static gg_value is_less(struct gg_lift *l, gg_value a, gg_value b) { return gg_l2(l, GG_IR_lt_u, GG_IR_M, a, b); }

static gg_value is_zero(struct gg_lift *l, gg_value word) { return gg_l2(l, GG_IR_eq, GG_IR_B, word, k(l, 0)); }

/* a + b of pairs, without what leaves the top. */
static struct gg_pair sum(struct gg_lift *l, struct gg_pair a, struct gg_pair b)
{
    gg_value carry, low = gg_l_add_carry(l, GG_IR_V, a.low, b.low, 0, &carry);
    return (struct gg_pair){low, gg_l_add_carry(l, GG_IR_V, a.high, b.high, carry, NULL)};
}

/* A pair by a dword. */
static struct gg_pair product(struct gg_lift *l, struct gg_pair a, gg_value b)
{
    gg_value high = v2(l, GG_IR_add, v2(l, GG_IR_mulhi_u, a.low, b), v2(l, GG_IR_mul, a.high, b));
    return (struct gg_pair){v2(l, GG_IR_mul, a.low, b), high};
}

static bool read_descriptor(struct gg_lift *l, struct gg_descriptor *d)
{
    gg_value word[4];
    for (uint32_t i = 0; i < 4; i++) {
        word[i] = gg_l_scalar(l, &l->inst->src[1], i);
        if (!word[i])
            return false;
    }
    *d = (struct gg_descriptor){.base = {word[0], word[1]}, .records = word[2], .word3 = word[3]};
    d->stride = gg_l_part(l, GG_IR_S, word[1], 16, 14, false);
    d->swizzled = gg_l2(l, GG_IR_lt_i, GG_IR_B, word[1], k(l, 0));
    d->add_thread = gg_l_part(l, GG_IR_S, word[3], 23, 1, false);
    d->index_shift = s2(l, GG_IR_add, gg_l_part(l, GG_IR_S, word[3], 21, 2, false), k(l, 3));
    return true;
}

/*
 * The bytes of the access that are in range, as a lane's limit: raw buffers
 * stop at their end, others are all or nothing. OOB_SELECT says which: 0 index
 * and offset, 1 index, 2 none but of empty buffers, 3 raw.
 */
static gg_value limit_of(struct gg_lift *l, const struct gg_descriptor *d, struct gg_pair index, struct gg_pair offset,
                         struct gg_pair raw)
{
    gg_value all = k(l, UINT32_MAX), none = k(l, 0), select = gg_l_part(l, GG_IR_S, d->word3, 28, 2, false);
    gg_value index_fits = gg_l_select(l, GG_IR_V, is_less(l, index.low, d->records), all, none);
    gg_value index_is_word = gg_l2(l, GG_IR_eq, GG_IR_M, index.high, none);
    index_fits = gg_l_select(l, GG_IR_V, index_is_word, index_fits, none);
    gg_value offset_fits = gg_l_select(l, GG_IR_V, is_less(l, offset.low, d->stride), all, none);
    gg_value offset_is_word = gg_l2(l, GG_IR_eq, GG_IR_M, offset.high, none);
    offset_fits = gg_l_select(l, GG_IR_V, offset_is_word, offset_fits, none);
    gg_value no_stride = is_zero(l, d->stride);
    gg_value both = v2(l, GG_IR_and, index_fits, offset_fits);
    gg_value structured = gg_l_select(l, GG_IR_V, no_stride, index_fits, both);
    gg_value not_empty = gg_l_select(l, GG_IR_S, is_zero(l, d->records), none, all);
    gg_value rest =
        gg_l_select(l, GG_IR_V, is_less(l, raw.low, d->records), v2(l, GG_IR_sub, d->records, raw.low), none);
    gg_value raw_is_word = gg_l2(l, GG_IR_eq, GG_IR_M, raw.high, none);
    rest = gg_l_select(l, GG_IR_V, raw_is_word, rest, none);
    gg_value not_raw = gg_l2(l, GG_IR_and, GG_IR_B, d->swizzled, gg_l1(l, GG_IR_not, GG_IR_B, no_stride));
    gg_value limit = gg_l_select(l, GG_IR_V, not_raw, both, rest);
    limit = gg_l_select(l, GG_IR_V, gg_l2(l, GG_IR_eq, GG_IR_B, select, k(l, 2)), not_empty, limit);
    limit = gg_l_select(l, GG_IR_V, gg_l2(l, GG_IR_eq, GG_IR_B, select, k(l, 1)), index_fits, limit);
    return gg_l_select(l, GG_IR_V, is_zero(l, select), structured, limit);
}

/* Offset of the access in a swizzled buffer: elements of four bytes, 1 <<
 * index_shift of them side by side. */
static struct gg_pair swizzled_offset(struct gg_lift *l, const struct gg_descriptor *d, struct gg_pair index,
                                      struct gg_pair offset)
{
    gg_value group = gg_l_shift64(l, GG_IR_V, GG_SHIFT_RIGHT, index, d->index_shift).low;
    gg_value last = s2(l, GG_IR_sub, s2(l, GG_IR_shl, k(l, 1), d->index_shift), k(l, 1));
    gg_value member = v2(l, GG_IR_shl, v2(l, GG_IR_and, index.low, last), k(l, 2));
    struct gg_pair words = {v2(l, GG_IR_and, offset.low, k(l, ~3u)), offset.high};
    struct gg_pair line = sum(l, product(l, (struct gg_pair){group, k(l, 0)}, d->stride), words);
    line = gg_l_shift64(l, GG_IR_V, GG_SHIFT_LEFT, line, d->index_shift);
    gg_value rest = v2(l, GG_IR_or, member, v2(l, GG_IR_and, offset.low, k(l, 3)));
    return sum(l, line, (struct gg_pair){rest, k(l, 0)});
}

bool gg_l_buffer(struct gg_lift *l, struct gg_buffer_access *a)
{
    const struct gg_inst *inst = l->inst;
    bool has_index = inst->flags & GG_INST_IDXEN, has_offset = inst->flags & GG_INST_OFFEN;
    struct gg_descriptor *d = &a->descriptor;
    gg_value zero = k(l, 0), soffset = gg_l_scalar(l, &inst->src[2], 0);
    if (!soffset || !read_descriptor(l, d))
        return false;
    struct gg_pair index = {zero, zero}, offset = {k(l, (uint32_t)inst->imm), zero};
    if (has_index)
        index.low = gg_l_vector(l, &inst->src[0], 0);
    else /* swizzling is by index: what has none is linear */
        d->swizzled =
            gg_l2(l, GG_IR_and, GG_IR_B, d->swizzled, gg_l1(l, GG_IR_not, GG_IR_B, is_zero(l, d->add_thread)));
    if (has_offset)
        offset = sum(l, offset, (struct gg_pair){gg_l_vector(l, &inst->src[0], has_index ? 1 : 0), zero});
    gg_value lane = gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0);
    index = sum(l, index, (struct gg_pair){v2(l, GG_IR_mul, lane, d->add_thread), zero});
    struct gg_pair scalar = {soffset, zero}, linear = sum(l, offset, product(l, index, d->stride));
    struct gg_pair swizzled = swizzled_offset(l, d, index, offset);
    struct gg_pair at = {gg_l_select(l, GG_IR_V, d->swizzled, swizzled.low, linear.low),
                         gg_l_select(l, GG_IR_V, d->swizzled, swizzled.high, linear.high)};
    struct gg_pair raw = sum(l, at, scalar);
    a->limit = limit_of(l, d, index, offset, raw);
    a->address = sum(l, raw, d->base);
    a->address.high =
        gg_l_part(l, GG_IR_V, a->address.high, 0, 16, true); /* 48 bits; above them copies of the highest */
    gg_value line = s2(l, GG_IR_shl, k(l, 4), d->index_shift);
    a->spread = gg_l_select(l, GG_IR_S, d->swizzled, line, k(l, 4));
    return true;
}

struct gg_pair gg_l_buffer_address(struct gg_lift *l, const struct gg_buffer_access *a, uint32_t dword)
{
    gg_value distance = s2(l, GG_IR_mul, a->spread, k(l, dword));
    return dword ? sum(l, a->address, (struct gg_pair){distance, k(l, 0)}) : a->address;
}

gg_value gg_l_buffer_active(struct gg_lift *l, const struct gg_buffer_access *a, uint32_t bytes)
{
    return gg_l2(l, GG_IR_and, GG_IR_M, gg_l_exec(l), is_less(l, k(l, bytes - 1), a->limit));
}

void gg_l_buffer_status(struct gg_lift *l)
{
    const struct gg_operand *dst = &l->inst->dst[0];
    if (l->inst->flags & GG_INST_TFE && dst->kind == GG_OPERAND_VGPR)
        gg_l_set_vgpr(l, dst->value + dst->width - 1, k(l, 0));
}

bool gg_l_small_access(uint32_t op, enum gg_ir_memory *kind)
{
    switch (op) {
    case GG_OP_buffer_load_ubyte:
    case GG_OP_buffer_load_ubyte_d16:
    case GG_OP_buffer_load_ubyte_d16_hi:
    case GG_OP_buffer_store_byte:
    case GG_OP_buffer_store_byte_d16_hi:
    case GG_OP_flat_load_ubyte_d16:
    case GG_OP_flat_load_ubyte_d16_hi:
    case GG_OP_flat_store_byte_d16_hi:
    case GG_OP_ds_read_u8_d16:
    case GG_OP_ds_read_u8_d16_hi:
    case GG_OP_ds_write_b8_d16_hi:
        *kind = GG_IR_MEM_U8;
        return true;
    case GG_OP_buffer_load_sbyte:
    case GG_OP_buffer_load_sbyte_d16:
    case GG_OP_buffer_load_sbyte_d16_hi:
    case GG_OP_flat_load_sbyte_d16:
    case GG_OP_flat_load_sbyte_d16_hi:
    case GG_OP_ds_read_i8_d16:
    case GG_OP_ds_read_i8_d16_hi:
        *kind = GG_IR_MEM_I8;
        return true;
    case GG_OP_buffer_load_ushort:
    case GG_OP_buffer_load_short_d16:
    case GG_OP_buffer_load_short_d16_hi:
    case GG_OP_buffer_store_short:
    case GG_OP_buffer_store_short_d16_hi:
    case GG_OP_flat_load_short_d16:
    case GG_OP_flat_load_short_d16_hi:
    case GG_OP_flat_store_short_d16_hi:
    case GG_OP_ds_read_u16_d16:
    case GG_OP_ds_read_u16_d16_hi:
    case GG_OP_ds_write_b16_d16_hi:
        *kind = GG_IR_MEM_U16;
        return true;
    case GG_OP_buffer_load_sshort:
        *kind = GG_IR_MEM_I16;
        return true;
    default:
        return false;
    }
}

void gg_l_set_loaded(struct gg_lift *l, uint32_t vgpr, gg_value value)
{
    uint32_t flags = gg_inst_info(l->inst)->flags;
    if (flags & GG_OPF_D16) {
        bool high = flags & GG_OPF_D16_HI;
        gg_value placed = v2(l, high ? GG_IR_shl : GG_IR_and, value, k(l, high ? 16 : 0xffff));
        value = v2(l, GG_IR_or, v2(l, GG_IR_and, gg_l_vgpr(l, vgpr), k(l, high ? 0xffff : 0xffff0000u)), placed);
    }
    gg_l_set_vgpr(l, vgpr, value);
}

gg_value gg_l_stored(struct gg_lift *l, const struct gg_operand *data, uint32_t i)
{
    gg_value value = gg_l_vector(l, data, i);
    return gg_inst_info(l->inst)->flags & GG_OPF_D16_HI ? v2(l, GG_IR_shr, value, k(l, 16)) : value;
}

/* Straight to LDS: M0 has the base, each lane its dword. */
static int32_t load_to_lds(struct gg_lift *l, const struct gg_buffer_access *a, enum gg_ir_memory kind, uint32_t bytes)
{
    gg_value active = gg_l_buffer_active(l, a, bytes),
             lane = gg_ir_make(l->ir, l->at, GG_IR_lane, GG_IR_V, 0, 0, 0, 0, 0);
    gg_value value = gg_ir_make(l->ir, l->at, GG_IR_load, GG_IR_V, kind, a->address.low, a->address.high, active, 0);
    gg_value base = gg_l_part(l, GG_IR_S, gg_l_sgpr(l, GG_SGPR_M0), 0, 16, false);
    gg_value first = s2(l, GG_IR_add, base, k(l, (uint32_t)l->inst->imm));
    gg_value at = v2(l, GG_IR_add, first, v2(l, GG_IR_shl, lane, k(l, 2)));
    gg_ir_make(l->ir, l->at, GG_IR_lds_store, GG_IR_NONE, GG_IR_MEM_32, at, value, gg_l_exec(l), 0);
    return GG_OK;
}

static int32_t lift_plain(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    const struct gg_op_info *info = gg_inst_info(inst);
    bool loads = info->flags & GG_OPF_LOAD;
    uint32_t words = loads ? info->dst[0].width : info->src[3].width;
    enum gg_ir_memory kind = GG_IR_MEM_32;
    struct gg_buffer_access a;
    gg_value made[4];
    uint32_t bytes = !gg_l_small_access(inst->op, &kind) ? 4 : kind <= GG_IR_MEM_I8 ? 1 : 2;
    if (words > 4 || (inst->flags & GG_INST_LDS && words > 1) || !gg_l_buffer(l, &a))
        return GG_ERR_UNSUPPORTED;
    if (inst->flags & GG_INST_LDS)
        return load_to_lds(l, &a, kind, bytes);
    for (uint32_t i = 0; i < words; i++) {
        struct gg_pair at = gg_l_buffer_address(l, &a, i);
        gg_value active = gg_l_buffer_active(l, &a, 4 * i + bytes);
        if (loads)
            made[i] = gg_ir_make(l->ir, l->at, GG_IR_load, GG_IR_V, kind, at.low, at.high, active, 0);
        else
            gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, kind, at.low, at.high, gg_l_stored(l, &inst->src[3], i),
                       active);
    }
    for (uint32_t i = 0; loads && i < words; i++)
        gg_l_set_loaded(l, inst->dst[0].value + i, made[i]);
    gg_l_buffer_status(l);
    return GG_OK;
}

int32_t gg_lift_buffer(struct gg_lift *l)
{
    uint32_t flags = gg_inst_info(l->inst)->flags;
    if (!(flags & (GG_OPF_LOAD | GG_OPF_STORE | GG_OPF_ATOMIC))) /* caches are the device's affair */
        return GG_OK;
    if (flags & GG_OPF_FORMAT)
        return gg_lift_format(l);
    return flags & GG_OPF_ATOMIC ? gg_lift_atomic(l) : lift_plain(l);
}

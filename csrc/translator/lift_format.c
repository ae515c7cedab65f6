/* SPDX-License-Identifier: MIT */
/*
 * Typed loads: an element in a memory format becomes f32 or integers. The format is a scalar value, a constant where
 * the instruction has it, so that both are one code. Fields are listed from the lowest bit.
 */
#include "lift_buffer.h"

enum numeric {
    UNORM = 0,
    SNORM,
    USCALED,
    SSCALED,
    UINT,
    SINT,
    FLOAT
};

/* The unified formats of gfx10: each family of equal fields is a run of numbers in the order of its numeric types. */
static const struct {
    uint8_t first, members, numeric; /* numeric type of the first */
    uint32_t bits;                   /* of each component, a byte each */
} families[] = {{1, 6, UNORM, 0x8},        {7, 7, UNORM, 0x10},       {14, 6, UNORM, 0x808},
                {20, 3, UINT, 0x20},       {23, 7, UNORM, 0x1010},    {30, 7, UNORM, 0xa0b0b},
                {37, 7, UNORM, 0xb0b0a},   {44, 6, UNORM, 0xa0a0a02}, {50, 6, UNORM, 0x20a0a0a},
                {56, 6, UNORM, 0x8080808}, {62, 3, UINT, 0x2020},     {65, 7, UNORM, 0x10101010},
                {72, 3, UINT, 0x202020},   {75, 3, UINT, 0x20202020}};
#define LAST_FORMAT 77u

#define F32_ONE 0x3f800000u

static gg_value k(struct gg_lift *l, uint32_t bits) { return gg_lk(l, bits); }

static gg_value s2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_S, a, b);
}

static gg_value v1(struct gg_lift *l, enum gg_ir_opcode op, gg_value a) { return gg_l1(l, op, GG_IR_V, a); }

static gg_value v2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_V, a, b);
}

static gg_value is(struct gg_lift *l, gg_value word, uint32_t bits)
{
    return gg_l2(l, GG_IR_eq, GG_IR_B, word, k(l, bits));
}

struct format { /* scalars */
    gg_value numeric;
    gg_value bits[4], position[4]; /* of each component; 0 bits: it is not there */
    gg_value bytes;
};

static struct format read_format(struct gg_lift *l, gg_value number)
{
    gg_value bits = k(l, 0), numeric = k(l, 0), total = k(l, 0);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        gg_value member = s2(l, GG_IR_sub, number, k(l, families[i].first));
        gg_value found = gg_l2(l, GG_IR_lt_u, GG_IR_B, member, k(l, families[i].members));
        bits = gg_l_select(l, GG_IR_S, found, k(l, families[i].bits), bits);
        numeric = gg_l_select(l, GG_IR_S, found, s2(l, GG_IR_add, member, k(l, families[i].numeric)), numeric);
    }
    struct format f = {.numeric = numeric};
    for (uint32_t c = 0; c < 4; c++) {
        f.bits[c] = gg_l_part(l, GG_IR_S, bits, 8 * c, 8, false);
        f.position[c] = total;
        total = s2(l, GG_IR_add, total, f.bits[c]);
    }
    f.bytes = s2(l, GG_IR_shr, total, k(l, 3));
    return f;
}

/* The element's bytes in the range of the V#, if `wanted` (B); 0 otherwise. */
static gg_value load_part(struct gg_lift *l, const struct gg_buffer_access *a, const struct format *f, uint32_t dword,
                          enum gg_ir_memory kind, gg_value wanted)
{
    uint32_t is_wanted;
    if (gg_ir_is_constant(l->ir, wanted, &is_wanted) && !is_wanted)
        return k(l, 0);
    struct gg_pair at = gg_l_buffer_address(l, a, dword);
    gg_value limit = gg_l_select(l, GG_IR_V, wanted, a->limit, k(l, 0));
    gg_value fits = gg_l2(l, GG_IR_lt_u, GG_IR_M, s2(l, GG_IR_sub, f->bytes, k(l, 1)), limit);
    gg_value active = gg_l2(l, GG_IR_and, GG_IR_M, gg_l_exec(l), fits);
    return gg_ir_make(l->ir, l->at, GG_IR_load, GG_IR_V, kind, at.low, at.high, active, 0);
}

/* An f16 as f32; also of the floats of 10 and 11 bits, which have its exponent. */
static gg_value from_half(struct gg_lift *l, gg_value half)
{
    gg_value sign = v2(l, GG_IR_shl, v2(l, GG_IR_and, half, k(l, 0x8000)), k(l, 16));
    gg_value rest = v2(l, GG_IR_and, half, k(l, 0x7fff)), fraction = v2(l, GG_IR_and, half, k(l, 0x3ff));
    gg_value normal = v2(l, GG_IR_add, v2(l, GG_IR_shl, rest, k(l, 13)), k(l, 112u << 23));
    gg_value special = v2(l, GG_IR_or, v2(l, GG_IR_shl, rest, k(l, 13)), k(l, 0x7f800000u));
    gg_value is_nan = gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 0x7c00), rest);
    special = gg_l_select(l, GG_IR_V, is_nan, v2(l, GG_IR_or, special, k(l, 1u << 22)), special);
    gg_value denormal = v2(l, GG_IR_fmul, v1(l, GG_IR_u2f, fraction), k(l, 0x33800000u)); /* in units of 2^-24 */
    gg_value value = gg_l_select(l, GG_IR_V, gg_l2(l, GG_IR_lt_u, GG_IR_M, rest, k(l, 0x400)), denormal, normal);
    value = gg_l_select(l, GG_IR_V, gg_l2(l, GG_IR_lt_u, GG_IR_M, rest, k(l, 0x7c00)), value, special);
    return v2(l, GG_IR_or, value, sign);
}

/* a / b of floats, correctly rounded for the whole numbers of 16 bits that stand here: one step of Newton's method. */
static gg_value quotient(struct gg_lift *l, gg_value a, gg_value b)
{
    gg_value reciprocal = gg_l1(l, GG_IR_frcp, GG_IR_S, b), near = v2(l, GG_IR_fmul, a, reciprocal);
    gg_value negated = v2(l, GG_IR_xor, near, k(l, 0x80000000u));
    gg_value rest = gg_l3(l, GG_IR_ffma, GG_IR_V, negated, b, a);
    return gg_l3(l, GG_IR_ffma, GG_IR_V, rest, reciprocal, near);
}

static gg_value decoded(struct gg_lift *l, const struct format *f, uint32_t c, const gg_value *dword)
{
    gg_value which = s2(l, GG_IR_shr, f->position[c], k(l, 5)), at = s2(l, GG_IR_and, f->position[c], k(l, 31));
    gg_value word = dword[0];
    for (uint32_t i = 1; i < 4; i++)
        word = gg_l_select(l, GG_IR_V, is(l, which, i), dword[i], word);
    gg_value number = gg_l_field(l, GG_IR_V, word, at, f->bits[c], false);
    gg_value integer = gg_l_field(l, GG_IR_V, word, at, f->bits[c], true);
    gg_value above = s2(l, GG_IR_shl, k(l, 1), f->bits[c]), half_above = s2(l, GG_IR_shr, above, k(l, 1));
    gg_value most = gg_l1(l, GG_IR_u2f, GG_IR_S, s2(l, GG_IR_sub, above, k(l, 1)));
    gg_value most_signed = gg_l1(l, GG_IR_u2f, GG_IR_S, s2(l, GG_IR_sub, half_above, k(l, 1)));
    gg_value as_float = v1(l, GG_IR_u2f, number), as_signed_float = v1(l, GG_IR_i2f, integer);
    gg_value is_small = gg_l2(l, GG_IR_lt_u, GG_IR_B, f->bits[c], k(l, 16));
    gg_value up = gg_l_select(l, GG_IR_S, is_small, s2(l, GG_IR_sub, k(l, 15), f->bits[c]), k(l, 0));
    gg_value small = from_half(l, v2(l, GG_IR_shl, number, up));
    gg_value result = gg_l_select(l, GG_IR_V, is(l, f->bits[c], 32), number, small);
    result = gg_l_select(l, GG_IR_V, is(l, f->numeric, SINT), integer, result);
    result = gg_l_select(l, GG_IR_V, is(l, f->numeric, UINT), number, result);
    result = gg_l_select(l, GG_IR_V, is(l, f->numeric, SSCALED), as_signed_float, result);
    result = gg_l_select(l, GG_IR_V, is(l, f->numeric, USCALED), as_float, result);
    gg_value snorm = v2(l, GG_IR_fmax, quotient(l, as_signed_float, most_signed), k(l, 0xbf800000u));
    result = gg_l_select(l, GG_IR_V, is(l, f->numeric, SNORM), snorm, result);
    return gg_l_select(l, GG_IR_V, is(l, f->numeric, UNORM), quotient(l, as_float, most), result);
}

int32_t gg_lift_format(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    const struct gg_op_info *info = gg_inst_info(inst);
    struct gg_buffer_access a;
    bool typed = inst->format == GG_FORMAT_MTBUF,
         bad = typed && (!inst->mtbuf.format || inst->mtbuf.format > LAST_FORMAT);
    if (!(info->flags & GG_OPF_LOAD) || info->flags & GG_OPF_D16 || inst->flags & GG_INST_LDS || bad ||
        !gg_l_buffer(l, &a))
        return GG_ERR_UNSUPPORTED;
    gg_value word3 = a.descriptor.word3;
    struct format f = read_format(l, typed ? k(l, inst->mtbuf.format) : gg_l_part(l, GG_IR_S, word3, 12, 7, false));
    gg_value whole = gg_l2(l, GG_IR_lt_u, GG_IR_B, k(l, 3), f.bytes), dword[4], component[5];
    gg_value byte = load_part(l, &a, &f, 0, GG_IR_MEM_U8, is(l, f.bytes, 1));
    gg_value half = load_part(l, &a, &f, 0, GG_IR_MEM_U16, is(l, f.bytes, 2));
    dword[0] = v2(l, GG_IR_or, v2(l, GG_IR_or, byte, half), load_part(l, &a, &f, 0, GG_IR_MEM_32, whole));
    for (uint32_t i = 1; i < 4; i++)
        dword[i] = load_part(l, &a, &f, i, GG_IR_MEM_32, gg_l2(l, GG_IR_lt_u, GG_IR_B, k(l, 4 * i), f.bytes));
    gg_value is_integer = gg_l2(l, GG_IR_or, GG_IR_B, is(l, f.numeric, UINT), is(l, f.numeric, SINT));
    gg_value one = gg_l_select(l, GG_IR_S, is_integer, k(l, 1), k(l, F32_ONE)), zero = k(l, 0);
    for (uint32_t c = 0; c < 4; c++) /* those that are not there: 0, 0, 0, 1 */
        component[c] = gg_l_select(l, GG_IR_V, is(l, f.bits[c], 0), c == 3 ? one : zero, decoded(l, &f, c, dword));
    uint32_t count = (info->code & 3) + 1;
    for (uint32_t i = 0; i < count; i++) { /* DST_SEL: 0, 1, and from 4 on the components */
        gg_value select = gg_l_part(l, GG_IR_S, word3, 3 * i, 3, false);
        gg_value value = gg_l_select(l, GG_IR_V, is(l, select, 1), one, zero);
        for (uint32_t c = 0; c < 4; c++)
            value = gg_l_select(l, GG_IR_V, is(l, select, 4 + c), component[c], value);
        gg_l_set_vgpr(l, inst->dst[0].value + i, value);
    }
    gg_l_buffer_status(l);
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * Typed accesses: an element in a memory format becomes f32 or integers, or halves and integers of 16 bits (d16), and
 * back. The format is a scalar value, a constant where the instruction has it, so that both are one code. Fields are
 * listed from the lowest bit; none crosses a dword.
 */
#include "lift_buffer.h"
#include "lift_float.h"

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

struct gg_memory_format gg_l_format(struct gg_lift *l, gg_value number)
{
    gg_value bits = k(l, 0), numeric = k(l, 0), total = k(l, 0);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        gg_value member = s2(l, GG_IR_sub, number, k(l, families[i].first));
        gg_value found = gg_l2(l, GG_IR_lt_u, GG_IR_B, member, k(l, families[i].members));
        bits = gg_l_select(l, GG_IR_S, found, k(l, families[i].bits), bits);
        numeric = gg_l_select(l, GG_IR_S, found, s2(l, GG_IR_add, member, k(l, families[i].numeric)), numeric);
    }
    struct gg_memory_format f = {.numeric = numeric};
    for (uint32_t c = 0; c < 4; c++) {
        f.bits[c] = gg_l_part(l, GG_IR_S, bits, 8 * c, 8, false);
        f.position[c] = total;
        total = s2(l, GG_IR_add, total, f.bits[c]);
    }
    f.bytes = s2(l, GG_IR_shr, total, k(l, 3));
    return f;
}

/* The element's bytes in the range of the V#, if `wanted` (B); 0 otherwise. */
static gg_value load_part(struct gg_lift *l, const struct gg_buffer_access *a, const struct gg_memory_format *f,
                          uint32_t dword, enum gg_ir_memory kind, gg_value wanted)
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

/* a / b of floats, correctly rounded for the whole numbers of 16 bits that stand here: one step of Newton's method. */
static gg_value quotient(struct gg_lift *l, gg_value a, gg_value b)
{
    gg_value reciprocal = gg_l1(l, GG_IR_frcp, GG_IR_S, b), near = v2(l, GG_IR_fmul, a, reciprocal);
    gg_value negated = v2(l, GG_IR_xor, near, k(l, 0x80000000u));
    gg_value rest = gg_l3(l, GG_IR_ffma, GG_IR_V, negated, b, a);
    return gg_l3(l, GG_IR_ffma, GG_IR_V, rest, reciprocal, near);
}

/* Numeric types in pairs: of unsigned fields, and of fields with a sign. */
static gg_value is_either(struct gg_lift *l, const struct gg_memory_format *f, enum numeric first)
{
    return gg_l2(l, GG_IR_or, GG_IR_B, is(l, f->numeric, first), is(l, f->numeric, first + 1));
}

static gg_value has_sign(struct gg_lift *l, const struct gg_memory_format *f)
{
    return gg_l2(l, GG_IR_or, GG_IR_B, is_either(l, f, SINT),
                 gg_l2(l, GG_IR_or, GG_IR_B, is(l, f->numeric, SNORM), is(l, f->numeric, SSCALED)));
}

static gg_value decoded(struct gg_lift *l, const struct gg_memory_format *f, uint32_t c, const gg_value *dword)
{
    gg_value which = s2(l, GG_IR_shr, f->position[c], k(l, 5)), at = s2(l, GG_IR_and, f->position[c], k(l, 31));
    gg_value word = dword[0], sign = has_sign(l, f), bits = f->bits[c], one = k(l, 1);
    for (uint32_t i = 1; i <= c; i++)
        word = gg_l_select(l, GG_IR_V, is(l, which, i), dword[i], word);
    gg_value number = gg_l_field(l, GG_IR_V, word, at, bits, false);
    gg_value integer = gg_l_select(l, GG_IR_V, sign, gg_l_field(l, GG_IR_V, word, at, bits, true), number);
    gg_value floated = gg_l_select(l, GG_IR_V, sign, v1(l, GG_IR_i2f, integer), v1(l, GG_IR_u2f, number));
    gg_value above = s2(l, GG_IR_shl, one, gg_l_select(l, GG_IR_S, sign, s2(l, GG_IR_sub, bits, one), bits));
    gg_value most = gg_l1(l, GG_IR_u2f, GG_IR_S, s2(l, GG_IR_sub, above, one));
    gg_value is_small = gg_l2(l, GG_IR_lt_u, GG_IR_B, bits, k(l, 16));
    gg_value up = gg_l_select(l, GG_IR_S, is_small, s2(l, GG_IR_sub, k(l, 15), bits), k(l, 0));
    gg_value small = gg_l_half_to_float(l, v2(l, GG_IR_shl, number, up));
    gg_value result = gg_l_select(l, GG_IR_V, is(l, bits, 32), number, small);
    result = gg_l_select(l, GG_IR_V, is_either(l, f, UINT), integer, result);
    result = gg_l_select(l, GG_IR_V, is_either(l, f, USCALED), floated, result);
    gg_value share = v2(l, GG_IR_fmax, quotient(l, floated, most), k(l, 0xbf800000u));
    return gg_l_select(l, GG_IR_V, is_either(l, f, UNORM), share, result);
}

/* M: the lanes whose whole element is in range, if `wanted` (B). */
static gg_value element_fits(struct gg_lift *l, const struct gg_buffer_access *a, const struct gg_memory_format *f,
                             gg_value wanted)
{
    gg_value limit = gg_l_select(l, GG_IR_V, wanted, a->limit, k(l, 0)), last = s2(l, GG_IR_sub, f->bytes, k(l, 1));
    return gg_l2(l, GG_IR_and, GG_IR_M, gg_l_exec(l), gg_l2(l, GG_IR_lt_u, GG_IR_M, last, limit));
}

static void load_words(struct gg_lift *l, const struct gg_buffer_access *a, const struct gg_memory_format *f,
                       gg_value *dword)
{
    gg_value whole = gg_l2(l, GG_IR_lt_u, GG_IR_B, k(l, 3), f->bytes);
    gg_value byte = load_part(l, a, f, 0, GG_IR_MEM_U8, is(l, f->bytes, 1));
    gg_value half = load_part(l, a, f, 0, GG_IR_MEM_U16, is(l, f->bytes, 2));
    gg_value first = load_part(l, a, f, 0, GG_IR_MEM_32, whole), small = v2(l, GG_IR_or, byte, half);
    dword[0] = v2(l, GG_IR_or, small, first);
    for (uint32_t i = 1; i < 4; i++)
        dword[i] = load_part(l, a, f, i, GG_IR_MEM_32, gg_l2(l, GG_IR_lt_u, GG_IR_B, k(l, 4 * i), f->bytes));
}

bool gg_l_halves(const struct gg_inst *inst)
{
    return gg_inst_info(inst)->flags & GG_OPF_D16 || (inst->format == GG_FORMAT_MIMG && inst->flags & GG_INST_D16);
}

void gg_l_load_elements(struct gg_lift *l, const struct gg_buffer_access *a, const struct gg_memory_format *f,
                        gg_value selects, uint32_t mask)
{
    bool halves = gg_l_halves(l->inst), high = gg_inst_info(l->inst)->flags & GG_OPF_D16_HI;
    gg_value dword[4], component[4], zero = k(l, 0), integer = is_either(l, f, UINT);
    load_words(l, a, f, dword);
    gg_value one = gg_l_select(l, GG_IR_S, integer, k(l, 1), k(l, halves ? 0x3c00 : F32_ONE));
    for (uint32_t c = 0; c < 4; c++) { /* those that are not there: 0, 0, 0, 1 */
        gg_value value = decoded(l, f, c, dword);
        if (halves) {
            gg_value half = gg_l_float_to_half(l, value, false);
            value = gg_l_select(l, GG_IR_V, integer, v2(l, GG_IR_and, value, k(l, 0xffff)), half);
        }
        component[c] = gg_l_select(l, GG_IR_V, is(l, f->bits[c], 0), c == 3 ? one : zero, value);
    }
    for (uint32_t c = 0, at = 0; c < 4; c++) { /* DST_SEL: 0, 1, and from 4 on the components */
        if (!(mask >> c & 1))
            continue;
        gg_value select = gg_l_part(l, GG_IR_S, selects, 3 * c, 3, false);
        gg_value value = gg_l_select(l, GG_IR_V, is(l, select, 1), one, zero);
        for (uint32_t i = 0; i < 4; i++)
            value = gg_l_select(l, GG_IR_V, is(l, select, 4 + i), component[i], value);
        uint32_t dst = l->inst->dst[0].value + (halves ? at / 2 : at);
        if (halves)
            value = gg_l_in_half(l, value, gg_l_vgpr(l, dst), at % 2 || high);
        gg_l_set_vgpr(l, dst, value);
        at++;
    }
}

/* ---- stores ---- */

/* x in 0..1 or -1..1 times 2^bits - 1, or 2^(bits - 1) - 1, to the nearest, ties to even; NaN counts as 0. */
static gg_value normalised(struct gg_lift *l, gg_value x, gg_value bits, gg_value sign)
{
    gg_value low = gg_l_select(l, GG_IR_S, sign, k(l, 0xbf800000u), k(l, 0));
    gg_value number = gg_l_select(l, GG_IR_V, gg_l_is_nan_bits(l, x), k(l, 0), x);
    gg_value within = v2(l, GG_IR_fmin, v2(l, GG_IR_fmax, number, low), k(l, F32_ONE));
    /* Rounded to odd, so that a tie is one. */
    gg_value exponent = s2(l, GG_IR_add, bits, gg_l_select(l, GG_IR_S, sign, k(l, 126), k(l, 127)));
    gg_value top = s2(l, GG_IR_shl, exponent, k(l, 23));
    gg_value scaled = gg_l_half_fma(l, within, top, v2(l, GG_IR_xor, within, k(l, 0x80000000u)));
    return v1(l, GG_IR_f2i, v1(l, GG_IR_frint, scaled));
}

/* f32 to the floats of 10, 11 and 16 bits; the small ones are cut and have no sign. */
static gg_value small_float(struct gg_lift *l, gg_value x, gg_value bits)
{
    gg_value half = gg_l_float_to_half(l, x, false), cut = gg_l_float_to_half(l, x, true);
    gg_value magnitude = v2(l, GG_IR_and, cut, k(l, 0x7fff));
    gg_value below = gg_l2(l, GG_IR_lt_u, GG_IR_M, k(l, 0x7fff), cut);
    gg_value is_number = gg_l2(l, GG_IR_lt_u, GG_IR_M, magnitude, k(l, 0x7c01));
    gg_value negative = gg_l2(l, GG_IR_and, GG_IR_M, below, is_number);
    gg_value is_small = gg_l2(l, GG_IR_lt_u, GG_IR_B, bits, k(l, 16));
    gg_value down = gg_l_select(l, GG_IR_S, is_small, s2(l, GG_IR_sub, k(l, 15), bits), k(l, 0));
    gg_value small = gg_l_select(l, GG_IR_V, negative, k(l, 0), v2(l, GG_IR_shr, magnitude, down));
    return gg_l_select(l, GG_IR_V, is_small, small, half);
}

/* The bits that a component has in memory. */
static gg_value encoded(struct gg_lift *l, const struct gg_memory_format *f, uint32_t c, gg_value value)
{
    gg_value x = value, whole = value, bits = f->bits[c], sign = has_sign(l, f);
    if (gg_l_halves(l->inst)) {
        x = gg_l_half_to_float(l, value);
        whole = gg_l_select(l, GG_IR_V, is(l, f->numeric, SINT), gg_l_part(l, GG_IR_V, value, 0, 16, true), value);
    }
    gg_value full = is(l, bits, 32), one = k(l, 1), all = k(l, UINT32_MAX);
    gg_value most = gg_l_select(l, GG_IR_S, full, all, s2(l, GG_IR_sub, s2(l, GG_IR_shl, one, bits), one));
    gg_value most_signed = s2(l, GG_IR_shr, most, one), least = gg_l1(l, GG_IR_not, GG_IR_S, most_signed);
    gg_value clamped = v2(l, GG_IR_max_i, v2(l, GG_IR_min_i, whole, most_signed), least);
    gg_value truncated = v2(l, GG_IR_max_i, v2(l, GG_IR_min_i, v1(l, GG_IR_f2i, x), most_signed), least);
    gg_value floated = gg_l_select(l, GG_IR_V, full, x, small_float(l, x, bits));
    gg_value made = gg_l_select(l, GG_IR_V, is(l, f->numeric, SINT), clamped, floated);
    made = gg_l_select(l, GG_IR_V, is(l, f->numeric, UINT), v2(l, GG_IR_min_u, whole, most), made);
    made = gg_l_select(l, GG_IR_V, is(l, f->numeric, SSCALED), truncated, made);
    made = gg_l_select(l, GG_IR_V, is(l, f->numeric, USCALED), v2(l, GG_IR_min_u, v1(l, GG_IR_f2u, x), most), made);
    made = gg_l_select(l, GG_IR_V, is_either(l, f, UNORM), normalised(l, x, bits, sign), made);
    return v2(l, GG_IR_and, made, most);
}

void gg_l_store_elements(struct gg_lift *l, const struct gg_buffer_access *a, const struct gg_memory_format *f,
                         uint32_t mask)
{
    const struct gg_operand *data = &l->inst->src[3];
    bool halves = gg_l_halves(l->inst), high = gg_inst_info(l->inst)->flags & GG_OPF_D16_HI;
    gg_value dword[4], zero = k(l, 0);
    for (uint32_t i = 0; i < 4; i++)
        dword[i] = zero;
    for (uint32_t c = 0, at = 0; c < 4; c++) { /* of components that are not there nothing is stored */
        if (!(mask >> c & 1))
            continue;
        gg_value value = gg_l_vector(l, data, halves ? at / 2 : at);
        if (halves)
            value = gg_l_part(l, GG_IR_V, value, at % 2 || high ? 16 : 0, 16, false);
        gg_value shift = s2(l, GG_IR_and, f->position[c], k(l, 31)), which = s2(l, GG_IR_shr, f->position[c], k(l, 5));
        gg_value placed = v2(l, GG_IR_shl, encoded(l, f, c, value), shift);
        placed = gg_l_select(l, GG_IR_V, is(l, f->bits[c], 0), zero, placed);
        for (uint32_t i = 0; i <= c; i++) {
            gg_value here = gg_l_select(l, GG_IR_V, is(l, which, i), placed, zero);
            dword[i] = v2(l, GG_IR_or, dword[i], here);
        }
        at++;
    }
    static const enum gg_ir_memory small[2] = {GG_IR_MEM_U8, GG_IR_MEM_U16};
    for (uint32_t i = 0; i < 2; i++) {
        gg_value active = element_fits(l, a, f, is(l, f->bytes, 1 + i));
        gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, small[i], a->address.low, a->address.high, dword[0], active);
    }
    for (uint32_t i = 0; i < 4; i++) {
        gg_value wanted = gg_l2(l, GG_IR_lt_u, GG_IR_B, k(l, i ? 4 * i : 3), f->bytes);
        gg_value active = element_fits(l, a, f, wanted);
        struct gg_pair at = gg_l_buffer_address(l, a, i);
        gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, GG_IR_MEM_32, at.low, at.high, dword[i], active);
    }
}

int32_t gg_lift_format(struct gg_lift *l)
{
    const struct gg_inst *inst = l->inst;
    const struct gg_op_info *info = gg_inst_info(inst);
    struct gg_buffer_access a;
    bool typed = inst->format == GG_FORMAT_MTBUF,
         bad = typed && (!inst->mtbuf.format || inst->mtbuf.format > LAST_FORMAT);
    l->why = bad ? "a memory format that does not exist" : inst->flags & GG_INST_LDS ? "loading a format to LDS" : NULL;
    if (inst->flags & GG_INST_LDS || bad || !gg_l_buffer(l, &a))
        return GG_ERR_UNSUPPORTED;
    gg_value word3 = a.descriptor.word3;
    struct gg_memory_format f =
        gg_l_format(l, typed ? k(l, inst->mtbuf.format) : gg_l_part(l, GG_IR_S, word3, 12, 7, false));
    /* x, xy, xyz, xyzw are the low two bits of the code; the d16_hi forms have x only. */
    uint32_t components = info->flags & GG_OPF_D16_HI ? 1 : (info->code & 3u) + 1, mask = (1u << components) - 1;
    if (!(info->flags & GG_OPF_LOAD)) {
        gg_l_store_elements(l, &a, &f, mask);
        return GG_OK;
    }
    gg_l_load_elements(l, &a, &f, word3, mask);
    gg_l_buffer_status(l);
    return GG_OK;
}

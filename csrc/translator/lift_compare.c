/* SPDX-License-Identifier: MIT */
/* Vector comparisons: a mask, EXEC and the condition, written whole; v_cmpx writes it to EXEC. */
#include "lift_float.h"

/* The 16 float conditions and the 8 integer ones are in the order of their codes. */
enum condition {
    F,
    LT,
    EQ,
    LE,
    GT,
    LG,
    GE,
    O,
    U,
    NGE,
    NLG,
    NGT,
    NLE,
    NEQ,
    NLT,
    T
};

static gg_value m2(struct gg_lift *l, enum gg_ir_opcode op, gg_value a, gg_value b)
{
    return gg_l2(l, op, GG_IR_M, a, b);
}

static gg_value not_of(struct gg_lift *l, gg_value a) { return gg_l1(l, GG_IR_not, GG_IR_M, a); }

static gg_value constant(struct gg_lift *l, uint32_t bit) { return gg_ir_constant(l->ir, l->at, GG_IR_M, bit); }

/* A comparison of floats: of f64 both dwords, else the first. */
static gg_value compare(struct gg_lift *l, enum gg_ir_opcode single, enum gg_ir_opcode wide, const gg_value *a,
                        const gg_value *b)
{
    return a[1] ? gg_l_double_compare(l, wide, a, b) : m2(l, single, a[0], b[0]);
}

static gg_value ordered(struct gg_lift *l, const gg_value *a, const gg_value *b)
{
    return m2(l, GG_IR_and, compare(l, GG_IR_feq, GG_IR_deq, a, a), compare(l, GG_IR_feq, GG_IR_deq, b, b));
}

static gg_value float_condition(struct gg_lift *l, enum condition c, const gg_value *a, const gg_value *b)
{
    switch (c) {
    case F:
        return constant(l, 0);
    case LT:
        return compare(l, GG_IR_flt, GG_IR_dlt, a, b);
    case EQ:
        return compare(l, GG_IR_feq, GG_IR_deq, a, b);
    case LE:
        return compare(l, GG_IR_fle, GG_IR_dle, a, b);
    case GT:
        return compare(l, GG_IR_flt, GG_IR_dlt, b, a);
    case LG:
        return m2(l, GG_IR_or, compare(l, GG_IR_flt, GG_IR_dlt, a, b), compare(l, GG_IR_flt, GG_IR_dlt, b, a));
    case GE:
        return compare(l, GG_IR_fle, GG_IR_dle, b, a);
    case O:
        return ordered(l, a, b);
    case U:
        return not_of(l, ordered(l, a, b));
    case T:
        return constant(l, 1);
    default:
        return not_of(l, float_condition(l, (enum condition)(NGE + GE - c), a, b)); /* NGE is not GE, down to NLT */
    }
}

static gg_value integer_condition(struct gg_lift *l, uint32_t c, bool is_signed, gg_value a, gg_value b)
{
    enum gg_ir_opcode less = is_signed ? GG_IR_lt_i : GG_IR_lt_u;
    switch (c) {
    case 0:
        return constant(l, 0);
    case 1:
        return m2(l, less, a, b);
    case 2:
        return m2(l, GG_IR_eq, a, b);
    case 3:
        return not_of(l, m2(l, less, b, a));
    case 4:
        return m2(l, less, b, a);
    case 5:
        return not_of(l, m2(l, GG_IR_eq, a, b));
    case 6:
        return not_of(l, m2(l, less, a, b));
    default:
        return constant(l, 1);
    }
}

static gg_value wide_condition(struct gg_lift *l, uint32_t c, bool is_signed)
{
    gg_value a[2], b[2];
    for (uint32_t i = 0; i < 2; i++) {
        a[i] = gg_l_vector(l, &l->inst->src[0], i);
        b[i] = gg_l_vector(l, &l->inst->src[1], i);
        if (!a[i] || !b[i])
            return 0;
    }
    enum gg_ir_opcode less = is_signed ? GG_IR_lt_i : GG_IR_lt_u;
    gg_value same_high = m2(l, GG_IR_eq, a[1], b[1]), same = m2(l, GG_IR_and, same_high, m2(l, GG_IR_eq, a[0], b[0]));
    gg_value low = m2(l, GG_IR_and, same_high, m2(l, GG_IR_lt_u, a[0], b[0]));
    gg_value below = m2(l, GG_IR_or, m2(l, less, a[1], b[1]), low);
    switch (c) {
    case 0:
        return constant(l, 0);
    case 1:
        return below;
    case 2:
        return same;
    case 3:
        return m2(l, GG_IR_or, below, same);
    case 4:
        return not_of(l, m2(l, GG_IR_or, below, same));
    case 5:
        return not_of(l, same);
    case 6:
        return not_of(l, below);
    default:
        return constant(l, 1);
    }
}

/* The sources of a comparison of at most 32 bits, widened to that, and denormals as MODE has them. */
static int32_t narrow_condition(struct gg_lift *l, uint32_t code, uint32_t type, gg_value *made)
{
    struct gg_sources s;
    int32_t result = gg_l_read_sources(l, &s);
    if (result)
        return result;
    bool is_class = gg_inst_info(l->inst)->src[1].type == GG_TYPE_B32,
         is_float = type == GG_TYPE_F16 || type == GG_TYPE_F32;
    if (is_class) {
        *made = gg_l_class(l, type, 0, s.value[0], s.value[1]);
        return GG_OK;
    }
    gg_value a[2] = {s.value[0], 0}, b[2] = {s.value[1], 0}, *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (is_float)
            both[i][0] = gg_l_flush_source(l, type, both[i][0]);
        if (type == GG_TYPE_F16)
            both[i][0] = gg_l_half_to_float(l, both[i][0]);
        if (type == GG_TYPE_I16)
            both[i][0] = gg_l_part(l, GG_IR_V, both[i][0], 0, 16, true);
    }
    /* The sixteen conditions of f16 stand in two runs of eight, the second 0x20 higher. */
    uint32_t condition = type == GG_TYPE_F16 ? (code & 7) | (code & 0x20) >> 2 : code & 15;
    bool is_signed = type == GG_TYPE_I16 || type == GG_TYPE_I32;
    *made = is_float ? float_condition(l, (enum condition)condition, a, b)
                     : integer_condition(l, code & 7, is_signed, a[0], b[0]);
    return GG_OK;
}

static gg_value double_condition(struct gg_lift *l, uint32_t code)
{
    gg_value a[2], b[2];
    if (!gg_l_double_source(l, 0, a))
        return 0;
    if (gg_inst_info(l->inst)->src[1].type != GG_TYPE_F64) {
        gg_value classes = gg_l_vector(l, &l->inst->src[1], 0);
        return classes ? gg_l_class(l, GG_TYPE_F64, a[0], a[1], classes) : 0;
    }
    if (!gg_l_double_source(l, 1, b))
        return 0;
    gg_l_double_flush_source(l, a);
    gg_l_double_flush_source(l, b);
    return float_condition(l, (enum condition)(code & 15), a, b);
}

int32_t gg_lift_compare(struct gg_lift *l)
{
    const struct gg_op_info *info = gg_inst_info(l->inst);
    uint32_t code = info->code, type = info->src[0].type;
    gg_value made = 0;
    bool wide = type == GG_TYPE_U64 || type == GG_TYPE_I64;
    if (wide && l->inst->form == GG_FORM_PLAIN) {
        made = wide_condition(l, code & 7, type == GG_TYPE_I64);
    } else if (type == GG_TYPE_F64 && l->inst->form == GG_FORM_PLAIN) {
        made = double_condition(l, code);
    } else if (!wide && type != GG_TYPE_F64) {
        int32_t result = narrow_condition(l, code, type, &made);
        if (result)
            return result;
    }
    if (!made)
        return GG_ERR_UNSUPPORTED;
    made = m2(l, GG_IR_and, made, gg_l_exec(l));
    gg_l_set_mask_at(l, l->inst->dst[0].value, made);
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
/* Vector comparisons: a mask, EXEC and the condition, written whole; v_cmpx writes it to EXEC. */
#include "lift_operand.h"

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

static gg_value unordered(struct gg_lift *l, gg_value a, gg_value b)
{
    return m2(l, GG_IR_or, gg_l1(l, GG_IR_fisnan, GG_IR_M, a), gg_l1(l, GG_IR_fisnan, GG_IR_M, b));
}

static gg_value float_condition(struct gg_lift *l, enum condition c, gg_value a, gg_value b)
{
    switch (c) {
    case F:
        return constant(l, 0);
    case LT:
        return m2(l, GG_IR_flt, a, b);
    case EQ:
        return m2(l, GG_IR_feq, a, b);
    case LE:
        return m2(l, GG_IR_fle, a, b);
    case GT:
        return m2(l, GG_IR_flt, b, a);
    case LG:
        return m2(l, GG_IR_or, m2(l, GG_IR_flt, a, b), m2(l, GG_IR_flt, b, a));
    case GE:
        return m2(l, GG_IR_fle, b, a);
    case O:
        return not_of(l, unordered(l, a, b));
    case U:
        return unordered(l, a, b);
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

int32_t gg_lift_compare(struct gg_lift *l)
{
    const struct gg_op_info *info = gg_inst_info(l->inst);
    uint32_t code = info->code, type = info->src[0].type;
    gg_value made = 0;
    struct gg_sources s;
    if ((type == GG_TYPE_U64 || type == GG_TYPE_I64) && l->inst->form == GG_FORM_PLAIN) {
        made = wide_condition(l, code & 7, type == GG_TYPE_I64);
    } else if (type == GG_TYPE_U32 || type == GG_TYPE_I32 ||
               (type == GG_TYPE_F32 && info->src[1].type == GG_TYPE_F32)) {
        int32_t result = gg_l_read_sources(l, &s);
        if (result)
            return result;
        made = type == GG_TYPE_F32 ? float_condition(l, code & 15, s.value[0], s.value[1])
                                   : integer_condition(l, code & 7, type == GG_TYPE_I32, s.value[0], s.value[1]);
    }
    if (!made)
        return GG_ERR_UNSUPPORTED;
    made = m2(l, GG_IR_and, made, gg_l_exec(l));
    gg_l_set_mask_at(l, l->inst->dst[0].value, made);
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
#include "lift_wide.h"

struct gg_pair gg_l_shift64(struct gg_lift *l, enum gg_ir_class class, enum gg_shift kind, struct gg_pair a,
                            gg_value count)
{
    gg_value small = gg_l2(l, GG_IR_and, class, count, gg_lk(l, 31));
    gg_value rest = gg_l2(l, GG_IR_xor, class, small, gg_lk(l, 31)); /* 31 - small */
    gg_value bit = gg_l2(l, GG_IR_and, class, count, gg_lk(l, 32));
    gg_value is_small = gg_l2(l, GG_IR_eq, gg_l_bit(class), bit, gg_lk(l, 0));
    bool left = kind == GG_SHIFT_LEFT;
    enum gg_ir_opcode high_op = kind == GG_SHIFT_ARITHMETIC ? GG_IR_sar : GG_IR_shr;
    /* `from` shifts bits over to `to`; the word that is left behind fills with zeros or the sign. */
    gg_value from = left ? a.low : a.high, to = left ? a.high : a.low;
    gg_value moved_from = gg_l2(l, left ? GG_IR_shl : high_op, class, from, small);
    gg_value moved_to = gg_l2(l, left ? GG_IR_shl : GG_IR_shr, class, to, small);
    /* In two steps, so that a count of 0 moves nothing over: shifts by 32 do not exist. */
    gg_value one = gg_l2(l, left ? GG_IR_shr : GG_IR_shl, class, from, gg_lk(l, 1));
    gg_value over = gg_l2(l, left ? GG_IR_shr : GG_IR_shl, class, one, rest);
    gg_value joined = gg_l2(l, GG_IR_or, class, moved_to, over);
    gg_value fill = kind == GG_SHIFT_ARITHMETIC ? gg_l2(l, GG_IR_sar, class, a.high, gg_lk(l, 31)) : gg_lk(l, 0);
    gg_value far = gg_l_select(l, class, is_small, joined, moved_from);
    gg_value near = gg_l_select(l, class, is_small, moved_from, fill);
    return left ? (struct gg_pair){near, far} : (struct gg_pair){far, near};
}

/* 1 or 0 of a B or M. */
static gg_value bit_word(struct gg_lift *l, enum gg_ir_class class, gg_value bit)
{
    gg_value one = gg_lk(l, 1), zero = gg_lk(l, 0);
    return gg_l_select(l, class, bit, one, zero);
}

gg_value gg_l_add_carry(struct gg_lift *l, enum gg_ir_class class, gg_value a, gg_value b, gg_value carry_in,
                        gg_value *carry_out)
{
    gg_value sum = gg_l2(l, GG_IR_add, class, a, b);
    gg_value carry = carry_out ? gg_l2(l, GG_IR_lt_u, gg_l_bit(class), sum, a) : 0;
    if (carry_in) {
        gg_value total = gg_l2(l, GG_IR_add, class, sum, bit_word(l, class, carry_in));
        gg_value again = carry_out ? gg_l2(l, GG_IR_lt_u, gg_l_bit(class), total, sum) : 0;
        sum = total;
        carry = carry_out ? gg_l2(l, GG_IR_or, gg_l_bit(class), carry, again) : 0;
    }
    if (carry_out)
        *carry_out = carry;
    return sum;
}

gg_value gg_l_sub_borrow(struct gg_lift *l, enum gg_ir_class class, gg_value a, gg_value b, gg_value borrow_in,
                         gg_value *borrow_out)
{
    gg_value difference = gg_l2(l, GG_IR_sub, class, a, b);
    gg_value borrow = borrow_out ? gg_l2(l, GG_IR_lt_u, gg_l_bit(class), a, b) : 0;
    if (borrow_in) {
        gg_value one = bit_word(l, class, borrow_in);
        gg_value again = borrow_out ? gg_l2(l, GG_IR_lt_u, gg_l_bit(class), difference, one) : 0;
        difference = gg_l2(l, GG_IR_sub, class, difference, one);
        borrow = borrow_out ? gg_l2(l, GG_IR_or, gg_l_bit(class), borrow, again) : 0;
    }
    if (borrow_out)
        *borrow_out = borrow;
    return difference;
}

gg_value gg_l_field(struct gg_lift *l, enum gg_ir_class class, gg_value a, gg_value offset, gg_value width,
                    bool is_signed)
{
    gg_value low_bits = gg_l2(l, GG_IR_and, class, width, gg_lk(l, 31));
    gg_value one_up = gg_l2(l, GG_IR_shl, class, gg_lk(l, 1), low_bits);
    gg_value ones = gg_l2(l, GG_IR_sub, class, one_up, gg_lk(l, 1));
    gg_value narrow = gg_l2(l, GG_IR_lt_u, gg_l_bit(class), width, gg_lk(l, 32));
    gg_value shifted = gg_l2(l, is_signed ? GG_IR_sar : GG_IR_shr, class, a, offset);
    gg_value field = gg_l2(l, GG_IR_and, class, shifted, ones);
    if (is_signed) { /* (field ^ sign) - sign, with sign the field's highest bit; 0 of a width of 0 */
        gg_value sign = gg_l2(l, GG_IR_shr, class, one_up, gg_lk(l, 1));
        gg_value flipped = gg_l2(l, GG_IR_xor, class, field, sign);
        field = gg_l2(l, GG_IR_sub, class, flipped, sign);
    }
    return gg_l_select(l, class, narrow, field, shifted);
}

gg_value gg_l_leading(struct gg_lift *l, enum gg_ir_class class, gg_value a, bool is_signed)
{
    if (is_signed) {
        gg_value sign = gg_l2(l, GG_IR_sar, class, a, gg_lk(l, 31));
        a = gg_l2(l, GG_IR_xor, class, a, sign);
    }
    gg_value highest = gg_l1(l, GG_IR_find_msb, class, a);
    gg_value none = gg_l2(l, GG_IR_eq, gg_l_bit(class), a, gg_lk(l, 0));
    gg_value count = gg_l2(l, GG_IR_sub, class, gg_lk(l, 31), highest);
    return gg_l_select(l, class, none, gg_lk(l, UINT32_MAX), count);
}

gg_value gg_l_part(struct gg_lift *l, enum gg_ir_class class, gg_value a, uint32_t offset, uint32_t width,
                   bool is_signed)
{
    gg_value up = gg_l2(l, GG_IR_shl, class, a, gg_lk(l, 32 - offset - width));
    return gg_l2(l, is_signed ? GG_IR_sar : GG_IR_shr, class, up, gg_lk(l, 32 - width));
}

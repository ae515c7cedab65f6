/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_LIFT_WIDE_H
#define GG_TRANSLATOR_LIFT_WIDE_H

/* Operations on pairs of dwords, and small compounds, for scalars and lanes alike. */
#include "lift.h"

struct gg_pair {
    gg_value low, high;
};

enum gg_shift {
    GG_SHIFT_LEFT,
    GG_SHIFT_RIGHT,
    GG_SHIFT_ARITHMETIC
};
/* By the low 6 bits of the count. */
struct gg_pair gg_l_shift64(struct gg_lift *l, enum gg_ir_class class, enum gg_shift kind, struct gg_pair a,
                            gg_value count);
/* a + b + carry; carry_in may be 0 for none; *carry_out (a B or M by class) may be NULL. */
gg_value gg_l_add_carry(struct gg_lift *l, enum gg_ir_class class, gg_value a, gg_value b, gg_value carry_in,
                        gg_value *carry_out);
/* a - b - borrow, likewise. */
gg_value gg_l_sub_borrow(struct gg_lift *l, enum gg_ir_class class, gg_value a, gg_value b, gg_value borrow_in,
                         gg_value *borrow_out);
/* Field of `width` bits (0-127) from bit `offset` (0-31) on; sign-extended or not. */
gg_value gg_l_field(struct gg_lift *l, enum gg_ir_class class, gg_value a, gg_value offset, gg_value width,
                    bool is_signed);
/* Leading zeros, or leading copies of the sign bit, as v_ffbh counts them: -1 when there is no other bit. */
gg_value gg_l_leading(struct gg_lift *l, enum gg_ir_class class, gg_value a, bool is_signed);
/* Constant field, sign-extended or not: a byte or half of a dword. */
gg_value gg_l_part(struct gg_lift *l, enum gg_ir_class class, gg_value a, uint32_t offset, uint32_t width,
                   bool is_signed);
/* Time (lift_mode.c): here, where the program asks for it, and what a block of so many instructions adds. */
struct gg_pair gg_l_time(struct gg_lift *l);
void gg_l_begin_time(struct gg_lift *l);
void gg_l_end_time(struct gg_lift *l, uint32_t instructions);
/* The comparison's class of a value's class. */
static inline enum gg_ir_class gg_l_bit(enum gg_ir_class class) { return class == GG_IR_S ? GG_IR_B : GG_IR_M; }

#endif

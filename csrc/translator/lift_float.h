/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_LIFT_FLOAT_H
#define GG_TRANSLATOR_LIFT_FLOAT_H

/*
 * Floats as MODE has them (lift_mode.c): rounding to nearest even (the others are refused), denormals
 * kept or flushed by the operations themselves, so that no device has to be told. The device must not flush
 * where the guest does not; lavapipe never does.
 *
 * Halves are computed in 32 bits and rounded once more, which is exact for sum, product, quotient and square root
 * (24 >= 2 * 11 + 2); v_fma_f16 rounds its sum to odd first. NaNs keep no payload on every device.
 */
#include "lift_operand.h"

/* type: GG_TYPE_F16, GG_TYPE_F32 or GG_TYPE_F64; what MODE says of denormal sources, of results, and of rounding. */
bool gg_l_keeps_sources(struct gg_lift *l, uint32_t type);
bool gg_l_keeps_results(struct gg_lift *l, uint32_t type);
bool gg_l_rounds_to_even(struct gg_lift *l, uint32_t type);
bool gg_l_ieee(struct gg_lift *l);
bool gg_l_dx10_clamp(struct gg_lift *l);

/* F16 (in the low half, the high one 0) or F32. A denormal becomes zero of its sign: always, or as MODE has it. */
gg_value gg_l_flush(struct gg_lift *l, uint32_t type, gg_value a);
gg_value gg_l_flush_source(struct gg_lift *l, uint32_t type, gg_value a);
gg_value gg_l_flush_result(struct gg_lift *l, uint32_t type, gg_value a);

/* Exact; the half's high 16 bits must be 0. */
gg_value gg_l_half_to_float(struct gg_lift *l, gg_value half);
/* Rounded to nearest even or to zero; denormals are made. */
gg_value gg_l_float_to_half(struct gg_lift *l, gg_value single, bool to_zero);
/* a * b + c of halves as floats, so that gg_l_float_to_half() gives the sum rounded once. */
gg_value gg_l_half_fma(struct gg_lift *l, gg_value a, gg_value b, gg_value c);

/* f32: minimum, or maximum: -0 is below 0, a number beats a NaN. */
gg_value gg_l_least_number(struct gg_lift *l, bool most, gg_value a, gg_value b);
/* f32: minimum, or maximum, of MODE's IEEE bit: a signalling NaN wins and leaves quieted. */
gg_value gg_l_least(struct gg_lift *l, bool most, gg_value a, gg_value b);
gg_value gg_l_is_nan_bits(struct gg_lift *l, gg_value a); /* M, of f32 */
/* v_cmp_class: M. low is 0 unless the type is F64. */
gg_value gg_l_class(struct gg_lift *l, uint32_t type, gg_value low, gg_value high, gg_value classes);
/* a * 2^power of f32, rounded once. */
gg_value gg_l_scale(struct gg_lift *l, gg_value a, gg_value power);
/* f32 = mantissa * 2^exponent with 0.5 <= |mantissa| < 1; of 0, infinity and NaN the exponent is 0. */
gg_value gg_l_mantissa(struct gg_lift *l, gg_value a);
gg_value gg_l_exponent(struct gg_lift *l, gg_value a);
gg_value gg_l_power(struct gg_lift *l, gg_value exponent); /* 2^exponent of f32, -126 to 127 */
/* f32 in [-1, 1] or [0, 1] to the 16-bit integer that stands for it, ties to even; NaN counts as 0. */
gg_value gg_l_normalised(struct gg_lift *l, gg_value a, bool is_signed);
/* Quotient, denominator, numerator as bits of a type; low dwords count of F64 only. */
struct gg_pair gg_l_div_fixup(struct gg_lift *l, uint32_t type, const struct gg_pair *s);
/* Clamped to a signed range. */
gg_value gg_l_clamp_integer(struct gg_lift *l, gg_value a, int32_t low, int32_t high);

/*
 * The units (lift_half.c, lift_packed.c, lift_single.c, lift_double.c). A value: the result, 0 of other operations;
 * int32_t: as in lift.h, the result is written.
 */
gg_value gg_lift_clamped(struct gg_lift *l, const gg_value *s);      /* integers of 32 bits, with clamp */
int32_t gg_lift_quad_differences(struct gg_lift *l);                 /* v_qsad, v_mqsad */
gg_value gg_lift_half_integer(struct gg_lift *l, const gg_value *s); /* 16 bits, bytes */
gg_value gg_lift_half_float(struct gg_lift *l, const gg_value *s);   /* f16, and conversions from and to it */
int32_t gg_lift_single(struct gg_lift *l, const struct gg_sources *s);
int32_t gg_lift_double(struct gg_lift *l);
int32_t gg_lift_packed(struct gg_lift *l); /* VOP3P and its relatives in VOP2 */
gg_value gg_l_double_compare(struct gg_lift *l, enum gg_ir_opcode op, const gg_value *a, const gg_value *b); /* M */
/* Both dwords of an f64 source with its modifiers; false: of a kind that cannot be read. */
bool gg_l_double_source(struct gg_lift *l, uint32_t i, gg_value *words);
void gg_l_double_flush_source(struct gg_lift *l, gg_value *words); /* as MODE has it */

#endif

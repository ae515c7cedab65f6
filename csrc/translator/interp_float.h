/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_INTERP_FLOAT_H
#define GG_TRANSLATOR_INTERP_FLOAT_H

/*
 * Floating point in integers: any of the three formats, the four rounding modes and the four denormal
 * modes of the MODE register, the same bits on every host. Values travel as their bits in the low end of
 * a uint64_t.
 *
 * What the ISA leaves open is settled so: a NaN that an operation makes is the positive quiet NaN with no
 * payload; a NaN that comes in leaves quieted, the first operand's first. A result counts as denormal
 * after rounding. The functions that hardware approximates (rcp, rsq, sqrt, log, exp, sin, cos) give the
 * correctly rounded value for sqrt and rcp, and for the others libm's double rounded once; of f32 they
 * flush denormals in and out whatever MODE says, as the hardware does.
 */

#include <stdbool.h>
#include <stdint.h>

enum gg_float {
    GG_F16 = 0,
    GG_F32,
    GG_F64
};

/* As in MODE. */
enum gg_round {
    GG_ROUND_EVEN = 0,
    GG_ROUND_UP,
    GG_ROUND_DOWN,
    GG_ROUND_ZERO
};

struct gg_float_mode {
    uint8_t round;   /* enum gg_round */
    bool denorm_in;  /* false: denormal sources count as zero of their sign */
    bool denorm_out; /* false: denormal results become zero of their sign */
};

enum gg_order {
    GG_ORDER_LESS = 0,
    GG_ORDER_EQUAL,
    GG_ORDER_GREATER,
    GG_ORDER_NONE
};

#define GG_F32_ONE 0x3f800000u

uint64_t gg_float_sign(enum gg_float format); /* the sign bit */
uint64_t gg_float_one(enum gg_float format);
uint64_t gg_float_infinity(enum gg_float format);
uint64_t gg_float_nan(enum gg_float format);

bool gg_float_is_nan(enum gg_float format, uint64_t a);
bool gg_float_is_signalling(enum gg_float format, uint64_t a);
bool gg_float_is_infinite(enum gg_float format, uint64_t a);
bool gg_float_is_zero(enum gg_float format, uint64_t a);
bool gg_float_is_denormal(enum gg_float format, uint64_t a);
uint64_t gg_float_quiet(enum gg_float format, uint64_t a);
uint64_t gg_float_flush(enum gg_float format, uint64_t a); /* a denormal to zero of its sign */
/* The bit of v_cmp_class: 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0, … 9 +inf. */
uint32_t gg_float_class(enum gg_float format, uint64_t a);
enum gg_order gg_float_compare(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b);

uint64_t gg_float_add(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b);
uint64_t gg_float_mul(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b);
uint64_t gg_float_fma(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b, uint64_t c);
/* Minimum (or maximum): -0 is below +0; one NaN gives the other operand; in IEEE mode an sNaN leaves quieted. */
uint64_t gg_float_min(enum gg_float format, struct gg_float_mode mode, bool ieee, uint64_t a, uint64_t b);
uint64_t gg_float_max(enum gg_float format, struct gg_float_mode mode, bool ieee, uint64_t a, uint64_t b);
/* a * 2^power, one rounding. */
uint64_t gg_float_scale(enum gg_float format, struct gg_float_mode mode, uint64_t a, int32_t power);

/* mode: denorm_in is about `from`, denorm_out about `to`. */
uint64_t gg_float_convert(enum gg_float from, enum gg_float to, struct gg_float_mode mode, uint64_t a);
uint64_t gg_float_from_u64(enum gg_float format, struct gg_float_mode mode, uint64_t a);
uint64_t gg_float_from_i64(enum gg_float format, struct gg_float_mode mode, int64_t a);
/* Rounded to an integer by `round`, clamped to [low, high]; NaN gives 0. */
int64_t gg_float_to_integer(enum gg_float format, enum gg_round round, uint64_t a, int64_t low, int64_t high);
/* Rounded to an integral value of the same format; keeps the sign of zero. */
uint64_t gg_float_integral(enum gg_float format, struct gg_float_mode mode, enum gg_round round, uint64_t a);

/* a = mantissa * 2^exponent with 0.5 <= |mantissa| < 1. Zero, infinity and NaN: exponent 0, mantissa a. */
int32_t gg_float_exponent(enum gg_float format, uint64_t a);
uint64_t gg_float_mantissa(enum gg_float format, uint64_t a);

/* Unary functions, see above. f16 computes in double and rounds once. */
enum gg_float_function {
    GG_FLOAT_RCP = 0,
    GG_FLOAT_RSQ,
    GG_FLOAT_SQRT,
    GG_FLOAT_LOG2,
    GG_FLOAT_EXP2,
    GG_FLOAT_SIN,
    GG_FLOAT_COS
};
uint64_t gg_float_apply(enum gg_float format, struct gg_float_mode mode, enum gg_float_function function, uint64_t a);

double gg_float_to_double(enum gg_float format, uint64_t a);
uint64_t gg_float_from_double(enum gg_float format, struct gg_float_mode mode, double a);

#endif

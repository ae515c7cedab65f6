/* SPDX-License-Identifier: MIT */
#include "interp_float.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

struct layout {
    int32_t precision; /* bits of the significand with the hidden one */
    int32_t exponent;  /* bits */
    int32_t min;       /* exponent of the smallest normal number */
};

static const struct layout layouts[] = {[GG_F16] = {11, 5, -14}, [GG_F32] = {24, 8, -126}, [GG_F64] = {53, 11, -1022}};

static uint64_t fraction_mask(enum gg_float format) { return (UINT64_C(1) << (layouts[format].precision - 1)) - 1; }

uint64_t gg_float_sign(enum gg_float format)
{
    return UINT64_C(1) << (layouts[format].precision - 1 + layouts[format].exponent);
}

uint64_t gg_float_infinity(enum gg_float format)
{
    return ((UINT64_C(1) << layouts[format].exponent) - 1) << (layouts[format].precision - 1);
}

uint64_t gg_float_one(enum gg_float format)
{
    return (uint64_t)(1 - layouts[format].min) << (layouts[format].precision - 1);
}

static uint64_t quiet_bit(enum gg_float format) { return UINT64_C(1) << (layouts[format].precision - 2); }
uint64_t gg_float_nan(enum gg_float format) { return gg_float_infinity(format) | quiet_bit(format); }
static uint64_t magnitude(enum gg_float format, uint64_t a) { return a & (gg_float_sign(format) - 1); }
static bool is_negative(enum gg_float format, uint64_t a) { return (a & gg_float_sign(format)) != 0; }

bool gg_float_is_nan(enum gg_float format, uint64_t a) { return magnitude(format, a) > gg_float_infinity(format); }
bool gg_float_is_infinite(enum gg_float format, uint64_t a)
{
    return magnitude(format, a) == gg_float_infinity(format);
}
bool gg_float_is_zero(enum gg_float format, uint64_t a) { return magnitude(format, a) == 0; }
bool gg_float_is_signalling(enum gg_float format, uint64_t a)
{
    return gg_float_is_nan(format, a) && !(a & quiet_bit(format));
}
bool gg_float_is_denormal(enum gg_float format, uint64_t a)
{
    return magnitude(format, a) && magnitude(format, a) <= fraction_mask(format);
}
uint64_t gg_float_quiet(enum gg_float format, uint64_t a)
{
    return gg_float_is_nan(format, a) ? a | quiet_bit(format) : a;
}
uint64_t gg_float_flush(enum gg_float format, uint64_t a)
{
    return gg_float_is_denormal(format, a) ? a & gg_float_sign(format) : a;
}

uint32_t gg_float_class(enum gg_float format, uint64_t a)
{
    bool negative = is_negative(format, a);
    if (gg_float_is_nan(format, a))
        return gg_float_is_signalling(format, a) ? 1u << 0 : 1u << 1;
    if (gg_float_is_infinite(format, a))
        return negative ? 1u << 2 : 1u << 9;
    if (gg_float_is_zero(format, a))
        return negative ? 1u << 5 : 1u << 6;
    if (gg_float_is_denormal(format, a))
        return negative ? 1u << 4 : 1u << 7;
    return negative ? 1u << 3 : 1u << 8;
}

/* A finite number: (-1)^negative * significand * 2^exponent. */
struct number {
    bool negative;
    int32_t exponent;
    u128 significand;
};

static struct number unpack(enum gg_float format, uint64_t a)
{
    const struct layout *layout = &layouts[format];
    uint64_t field = magnitude(format, a) >> (layout->precision - 1), fraction = a & fraction_mask(format);
    struct number n = {is_negative(format, a), layout->min - (layout->precision - 1), fraction};
    if (field) {
        n.exponent += (int32_t)field - 1;
        n.significand |= UINT64_C(1) << (layout->precision - 1);
    }
    return n;
}

static int32_t top_bit(u128 a)
{
    uint64_t high = (uint64_t)(a >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)a);
}

/* Whether rounding away from zero is due, for a quotient with its lowest bit, half and rest. */
static bool rounds_up(enum gg_round round, bool negative, bool odd, bool half, bool rest)
{
    switch (round) {
    case GG_ROUND_EVEN:
        return half && (rest || odd);
    case GG_ROUND_UP:
        return !negative && (half || rest);
    case GG_ROUND_DOWN:
        return negative && (half || rest);
    default:
        return false;
    }
}

/* significand / 2^shift, rounded; shift > 0. */
static u128 shift_rounded(enum gg_round round, bool negative, u128 significand, int32_t shift)
{
    if (shift > 127)
        return rounds_up(round, negative, false, false, significand != 0);
    u128 quotient = significand >> shift, half = (u128)1 << (shift - 1);
    return quotient + rounds_up(round, negative, quotient & 1, significand & half, significand & (half - 1));
}

static uint64_t pack(enum gg_float format, struct gg_float_mode mode, struct number n)
{
    const struct layout *layout = &layouts[format];
    uint64_t sign = n.negative ? gg_float_sign(format) : 0;
    if (!n.significand)
        return sign;
    int32_t least = layout->min - (layout->precision - 1);
    int32_t quantum = n.exponent + top_bit(n.significand) - (layout->precision - 1);
    if (quantum < least)
        quantum = least;
    int32_t shift = quantum - n.exponent;
    uint64_t significand =
        (uint64_t)(shift > 0 ? shift_rounded(mode.round, n.negative, n.significand, shift) : n.significand << -shift);
    uint64_t bits = gg_float_infinity(format); /* beyond every exponent */
    if (quantum <= -layout->min)               /* adding lets a carry run into the exponent */
        bits = significand + ((uint64_t)(quantum - least) << (layout->precision - 1));
    if (bits >= gg_float_infinity(format)) {
        bool away = mode.round == GG_ROUND_EVEN || (mode.round == GG_ROUND_UP && !n.negative) ||
                    (mode.round == GG_ROUND_DOWN && n.negative);
        return sign | (gg_float_infinity(format) - !away);
    }
    if (!mode.denorm_out && bits <= fraction_mask(format))
        return sign;
    return sign | bits;
}

static uint64_t source(enum gg_float format, struct gg_float_mode mode, uint64_t a)
{
    return mode.denorm_in ? a : gg_float_flush(format, a);
}

enum gg_order gg_float_compare(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b)
{
    if (gg_float_is_nan(format, a) || gg_float_is_nan(format, b))
        return GG_ORDER_NONE;
    a = source(format, mode, a);
    b = source(format, mode, b);
    int64_t x = (int64_t)magnitude(format, a), y = (int64_t)magnitude(format, b);
    x = is_negative(format, a) ? -x : x;
    y = is_negative(format, b) ? -y : y;
    return x < y ? GG_ORDER_LESS : x > y ? GG_ORDER_GREATER : GG_ORDER_EQUAL;
}

/* The sum of two finite numbers, exact but for bits so far below the sum that they can only break ties. */
static struct number sum(struct number a, struct number b, enum gg_round round)
{
    if (!a.significand && !b.significand) {
        a.negative = a.negative == b.negative ? a.negative : round == GG_ROUND_DOWN;
        return a;
    }
    if (!a.significand)
        return b;
    if (!b.significand)
        return a;
    int32_t up_a = 124 - top_bit(a.significand), up_b = 124 - top_bit(b.significand);
    a.significand <<= up_a;
    a.exponent -= up_a;
    b.significand <<= up_b;
    b.exponent -= up_b;
    if (a.exponent < b.exponent) {
        struct number other = a;
        a = b;
        b = other;
    }
    int32_t down = a.exponent - b.exponent;
    u128 low = down > 124 ? 0 : b.significand >> down;
    bool lost = down > 124 || (low << down) != b.significand;
    low |= lost;
    if (a.negative == b.negative) {
        a.significand += low;
    } else if (a.significand >= low) {
        a.significand -= low;
    } else {
        a.significand = low - a.significand;
        a.negative = b.negative;
    }
    if (!a.significand)
        a.negative = round == GG_ROUND_DOWN;
    return a;
}

uint64_t gg_float_mul(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b)
{
    a = source(format, mode, a);
    b = source(format, mode, b);
    if (gg_float_is_nan(format, a))
        return gg_float_quiet(format, a);
    if (gg_float_is_nan(format, b))
        return gg_float_quiet(format, b);
    uint64_t sign = (a ^ b) & gg_float_sign(format);
    bool infinite = gg_float_is_infinite(format, a) || gg_float_is_infinite(format, b);
    if (infinite && (gg_float_is_zero(format, a) || gg_float_is_zero(format, b)))
        return gg_float_nan(format);
    if (infinite)
        return sign | gg_float_infinity(format);
    struct number x = unpack(format, a), y = unpack(format, b);
    return pack(format, mode, (struct number){sign != 0, x.exponent + y.exponent, x.significand * y.significand});
}

uint64_t gg_float_fma(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b, uint64_t c)
{
    a = source(format, mode, a);
    b = source(format, mode, b);
    c = source(format, mode, c);
    if (gg_float_is_nan(format, a))
        return gg_float_quiet(format, a);
    if (gg_float_is_nan(format, b))
        return gg_float_quiet(format, b);
    if (gg_float_is_nan(format, c))
        return gg_float_quiet(format, c);
    uint64_t sign = (a ^ b) & gg_float_sign(format);
    bool infinite = gg_float_is_infinite(format, a) || gg_float_is_infinite(format, b);
    if (infinite && (gg_float_is_zero(format, a) || gg_float_is_zero(format, b)))
        return gg_float_nan(format);
    if (infinite && gg_float_is_infinite(format, c) && sign != (c & gg_float_sign(format)))
        return gg_float_nan(format);
    if (infinite)
        return sign | gg_float_infinity(format);
    if (gg_float_is_infinite(format, c))
        return c;
    struct number x = unpack(format, a), y = unpack(format, b);
    struct number product = {sign != 0, x.exponent + y.exponent, x.significand * y.significand};
    return pack(format, mode, sum(product, unpack(format, c), mode.round));
}

uint64_t gg_float_add(enum gg_float format, struct gg_float_mode mode, uint64_t a, uint64_t b)
{
    return gg_float_fma(format, mode, a, gg_float_one(format), b);
}

static uint64_t least_or_most(enum gg_float format, struct gg_float_mode mode, bool ieee, bool most, uint64_t a,
                              uint64_t b)
{
    a = source(format, mode, a);
    b = source(format, mode, b);
    if (ieee && gg_float_is_signalling(format, a))
        return gg_float_quiet(format, a);
    if (ieee && gg_float_is_signalling(format, b))
        return gg_float_quiet(format, b);
    uint64_t least = a, greatest = b;
    if (gg_float_is_nan(format, a))
        least = greatest = b;
    else if (gg_float_is_nan(format, b))
        least = greatest = a;
    else {
        enum gg_order order = gg_float_compare(format, mode, a, b);
        if (order == GG_ORDER_GREATER || (order == GG_ORDER_EQUAL && is_negative(format, b))) {
            least = b;
            greatest = a;
        }
    }
    uint64_t result = most ? greatest : least;
    return mode.denorm_out ? result : gg_float_flush(format, result);
}

uint64_t gg_float_min(enum gg_float format, struct gg_float_mode mode, bool ieee, uint64_t a, uint64_t b)
{
    return least_or_most(format, mode, ieee, false, a, b);
}

uint64_t gg_float_max(enum gg_float format, struct gg_float_mode mode, bool ieee, uint64_t a, uint64_t b)
{
    return least_or_most(format, mode, ieee, true, a, b);
}

/* NaN, infinity and zero go through what only rescales or rounds. */
static bool is_special(enum gg_float format, uint64_t a)
{
    return magnitude(format, a) >= gg_float_infinity(format) || !magnitude(format, a);
}

uint64_t gg_float_scale(enum gg_float format, struct gg_float_mode mode, uint64_t a, int32_t power)
{
    a = source(format, mode, a);
    if (is_special(format, a))
        return gg_float_quiet(format, a);
    struct number n = unpack(format, a);
    /* Beyond these no number of any format stays finite, or above the least denormal. */
    n.exponent += power < -8192 ? -8192 : power > 8192 ? 8192 : power;
    return pack(format, mode, n);
}

uint64_t gg_float_convert(enum gg_float from, enum gg_float to, struct gg_float_mode mode, uint64_t a)
{
    a = source(from, mode, a);
    uint64_t sign = is_negative(from, a) ? gg_float_sign(to) : 0;
    if (gg_float_is_nan(from, a)) {
        int32_t shift = layouts[to].precision - layouts[from].precision;
        uint64_t payload = a & fraction_mask(from);
        return sign | gg_float_nan(to) | (shift > 0 ? payload << shift : payload >> -shift);
    }
    if (gg_float_is_infinite(from, a))
        return sign | gg_float_infinity(to);
    return pack(to, mode, unpack(from, a));
}

uint64_t gg_float_from_u64(enum gg_float format, struct gg_float_mode mode, uint64_t a)
{
    return pack(format, mode, (struct number){false, 0, a});
}

uint64_t gg_float_from_i64(enum gg_float format, struct gg_float_mode mode, int64_t a)
{
    return pack(format, mode, (struct number){a < 0, 0, a < 0 ? 0 - (uint64_t)a : (uint64_t)a});
}

int64_t gg_float_to_integer(enum gg_float format, enum gg_round round, uint64_t a, int64_t low, int64_t high)
{
    if (gg_float_is_nan(format, a))
        return 0;
    bool negative = is_negative(format, a);
    struct number n = unpack(format, a);
    if (gg_float_is_infinite(format, a) || (n.significand && n.exponent + top_bit(n.significand) > 62))
        return negative ? low : high;
    u128 rounded =
        n.exponent < 0 ? shift_rounded(round, negative, n.significand, -n.exponent) : n.significand << n.exponent;
    int64_t value = negative ? -(int64_t)rounded : (int64_t)rounded;
    return value < low ? low : value > high ? high : value;
}

uint64_t gg_float_integral(enum gg_float format, struct gg_float_mode mode, enum gg_round round, uint64_t a)
{
    a = source(format, mode, a);
    if (is_special(format, a))
        return gg_float_quiet(format, a);
    struct number n = unpack(format, a);
    if (n.exponent < 0) {
        n.significand = shift_rounded(round, n.negative, n.significand, -n.exponent);
        n.exponent = 0;
    }
    return pack(format, mode, n);
}

int32_t gg_float_exponent(enum gg_float format, uint64_t a)
{
    if (is_special(format, a))
        return 0;
    struct number n = unpack(format, a);
    return n.exponent + top_bit(n.significand) + 1;
}

uint64_t gg_float_mantissa(enum gg_float format, uint64_t a)
{
    return gg_float_scale(format, (struct gg_float_mode){GG_ROUND_EVEN, true, true}, a, -gg_float_exponent(format, a));
}

static const struct gg_float_mode whole = {GG_ROUND_EVEN, true, true};

double gg_float_to_double(enum gg_float format, uint64_t a)
{
    uint64_t bits = gg_float_convert(format, GG_F64, whole, a);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t gg_float_from_double(enum gg_float format, struct gg_float_mode mode, double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    mode.denorm_in = true;
    return gg_float_convert(GG_F64, format, mode, bits);
}

/* Of turns: exact reduction first, so that whole and half turns give exact zeros. */
static double sine_of_turns(double turns)
{
    double part = fmod(turns, 1);
    return fabs(part) == 0.5 ? copysign(0, turns) : sin(part * 6.283185307179586476925286766559);
}

static double cosine_of_turns(double turns)
{
    double part = fabs(fmod(turns, 1));
    return part == 0.25 || part == 0.75 ? 0 : cos(part * 6.283185307179586476925286766559);
}

uint64_t gg_float_apply(enum gg_float format, struct gg_float_mode mode, enum gg_float_function function, uint64_t a)
{
    if (format == GG_F32)
        mode.denorm_in = mode.denorm_out = false;
    mode.round = GG_ROUND_EVEN;
    a = source(format, mode, a);
    if (gg_float_is_nan(format, a))
        return gg_float_quiet(format, a);
    double x = gg_float_to_double(format, a), y = 0;
    bool outside = false;
    switch (function) {
    case GG_FLOAT_RCP:
        y = 1 / x;
        break;
    case GG_FLOAT_RSQ:
        outside = x < 0;
        y = outside ? 0 : 1 / sqrt(x);
        if (format == GG_F64 && x == 0)
            y = copysign(INFINITY, x);
        break;
    case GG_FLOAT_SQRT:
        outside = x < 0;
        y = outside ? 0 : sqrt(x);
        break;
    case GG_FLOAT_LOG2:
        outside = x < 0;
        y = outside ? 0 : log2(x);
        break;
    case GG_FLOAT_EXP2:
        y = exp2(x);
        break;
    case GG_FLOAT_SIN:
    case GG_FLOAT_COS:
        outside = isinf(x);
        y = outside ? 0 : function == GG_FLOAT_SIN ? sine_of_turns(x) : cosine_of_turns(x);
        break;
    }
    return outside ? gg_float_nan(format) : gg_float_from_double(format, mode, y);
}

/* SPDX-License-Identifier: MIT */
#include "interp.h"

#include <math.h>

/*
 * Vector operations on floats, one lane at a time; output modifiers follow in interp_valu.c.
 * v_mad_f32 and v_mac_f32 round the product and flush denormals whatever MODE says; v_fma and v_fmac round once.
 */

static enum gg_float format_of(uint8_t type)
{
    return type == GG_TYPE_F16 ? GG_F16 : type == GG_TYPE_F64 ? GG_F64 : GG_F32;
}

static bool is_float(uint8_t type) { return type == GG_TYPE_F16 || type == GG_TYPE_F32 || type == GG_TYPE_F64; }

static const struct gg_float_mode exact = {GG_ROUND_EVEN, true, true};

static int32_t biased_exponent(enum gg_float format, uint64_t a)
{
    uint64_t magnitude = a & (gg_float_sign(format) - 1);
    return (int32_t)(magnitude >> (format == GG_F64 ? 52 : format == GG_F32 ? 23 : 10));
}

/* In the order of the code: f, <, =, <=, >, <>, >=, o, u, and the negations of >=, <>, >, <=, =, <, f. */
static bool compares(uint32_t condition, enum gg_order order)
{
    bool negated = condition & 8, held;
    uint32_t which = negated ? 15 - condition : condition;
    if (which == 7)
        held = order != GG_ORDER_NONE;
    else
        held = (which & 1 && order == GG_ORDER_LESS) || (which & 2 && order == GG_ORDER_EQUAL) ||
               (which & 4 && order == GG_ORDER_GREATER);
    return held != negated;
}

static bool compare(struct gg_alu *alu, struct gg_float_mode mode)
{
    enum gg_float format = format_of(alu->type);
    switch (alu->op) {
    case GG_OP_v_cmp_class_f16:
    case GG_OP_v_cmp_class_f32:
    case GG_OP_v_cmp_class_f64:
    case GG_OP_v_cmpx_class_f16:
    case GG_OP_v_cmpx_class_f32:
    case GG_OP_v_cmpx_class_f64:
        alu->result = (gg_float_class(format, alu->src[0]) & alu->src[1]) != 0;
        return true;
    default:
        break;
    }
    if (!is_float(alu->type))
        return false;
    /* The sixteen conditions of f16 stand in two runs of eight, the second 0x20 higher. */
    uint32_t condition = format == GG_F16 ? (alu->code & 7u) | (alu->code & 0x20u) >> 2 : alu->code & 15u;
    alu->result = compares(condition, gg_float_compare(format, mode, alu->src[0], alu->src[1]));
    return true;
}

static uint64_t minimum(const struct gg_alu *alu, struct gg_float_mode mode, uint64_t a, uint64_t b)
{
    return gg_float_min(format_of(alu->type), mode, alu->ieee, a, b);
}

static uint64_t maximum(const struct gg_alu *alu, struct gg_float_mode mode, uint64_t a, uint64_t b)
{
    return gg_float_max(format_of(alu->type), mode, alu->ieee, a, b);
}

static uint64_t median(const struct gg_alu *alu, struct gg_float_mode mode, uint64_t a, uint64_t b, uint64_t c)
{
    enum gg_float format = format_of(alu->type);
    if (gg_float_is_nan(format, a) || gg_float_is_nan(format, b) || gg_float_is_nan(format, c))
        return minimum(alu, mode, minimum(alu, mode, a, b), c);
    uint64_t low = minimum(alu, mode, a, b), high = maximum(alu, mode, a, b);
    return maximum(alu, mode, low, minimum(alu, mode, high, c));
}

static uint64_t source(enum gg_float format, struct gg_float_mode mode, uint64_t a)
{
    return mode.denorm_in ? a : gg_float_flush(format, a);
}

static uint64_t result(enum gg_float format, struct gg_float_mode mode, uint64_t a)
{
    return mode.denorm_out ? a : gg_float_flush(format, a);
}

/* A product in which zero wins over everything. */
static uint64_t legacy_mul(struct gg_float_mode mode, uint64_t a, uint64_t b)
{
    a = source(GG_F32, mode, a);
    b = source(GG_F32, mode, b);
    if (gg_float_is_zero(GG_F32, a) || gg_float_is_zero(GG_F32, b))
        return 0;
    return gg_float_mul(GG_F32, mode, a, b);
}

static uint64_t legacy_fma(struct gg_float_mode mode, uint64_t a, uint64_t b, uint64_t c)
{
    a = source(GG_F32, mode, a);
    b = source(GG_F32, mode, b);
    if (gg_float_is_zero(GG_F32, a) || gg_float_is_zero(GG_F32, b))
        return gg_float_add(GG_F32, mode, 0, c);
    return gg_float_fma(GG_F32, mode, a, b, c);
}

/* Unfused and without denormals. */
static uint64_t mad(struct gg_float_mode mode, bool legacy, uint64_t a, uint64_t b, uint64_t c)
{
    mode.denorm_in = mode.denorm_out = false;
    uint64_t product = legacy ? legacy_mul(mode, a, b) : gg_float_mul(GG_F32, mode, a, b);
    return gg_float_add(GG_F32, mode, product, c);
}

/* x - floor(x), kept below 1 where the subtraction would round up to it. */
static uint64_t fraction(enum gg_float format, struct gg_float_mode mode, uint64_t a)
{
    uint64_t whole = gg_float_integral(format, mode, GG_ROUND_DOWN, a);
    uint64_t part = gg_float_add(format, mode, a, whole ^ gg_float_sign(format));
    return !gg_float_is_nan(format, part) && part == gg_float_one(format) ? part - 1 : part;
}

/*
 * One operand of a division, scaled so that the iteration neither overflows nor loses denormals; the carry says
 * that v_div_fmas has to scale back. Source 0 is source 1 (denominator) or source 2 (numerator).
 */
static void div_scale(struct gg_alu *alu, enum gg_float format, struct gg_float_mode mode)
{
    uint64_t value = source(format, mode, alu->src[0]);
    uint64_t denominator = source(format, mode, alu->src[1]), numerator = source(format, mode, alu->src[2]);
    bool is_double = format == GG_F64;
    int32_t power = is_double ? 128 : 64, gap = is_double ? 768 : 96, tiny = is_double ? 53 : 23;
    double d = gg_float_to_double(format, denominator), n = gg_float_to_double(format, numerator);
    bool small_reciprocal = gg_float_is_denormal(format, gg_float_from_double(format, exact, 1 / d));
    bool small_quotient = gg_float_is_denormal(format, gg_float_from_double(format, exact, n / d));
    int32_t scale = 0;
    alu->carry = false;
    if (gg_float_is_zero(format, denominator) || gg_float_is_zero(format, numerator)) {
        alu->result = gg_float_nan(format);
        return;
    }
    if (biased_exponent(format, numerator) - biased_exponent(format, denominator) >= gap) {
        alu->carry = true;
        scale = value == denominator ? power : 0;
    } else if (gg_float_is_denormal(format, denominator)) {
        scale = power;
    } else if (small_reciprocal && small_quotient) {
        alu->carry = true;
        scale = value == denominator ? -power : 0;
    } else if (small_reciprocal) {
        scale = -power;
    } else if (small_quotient) {
        alu->carry = true;
        scale = value == numerator ? power : 0;
    } else if (biased_exponent(format, numerator) <= tiny) {
        scale = power;
    }
    alu->result = result(format, mode, scale ? gg_float_scale(format, exact, value, scale) : value);
}

/* The last step of a division: a large quotient was scaled down, a small one up. */
static uint64_t div_fmas(const struct gg_alu *alu, enum gg_float format, struct gg_float_mode mode)
{
    uint64_t value = gg_float_fma(format, mode, alu->src[0], alu->src[1], alu->src[2]);
    if (!alu->vcc)
        return value;
    int32_t power = format == GG_F64 ? 128 : 64, one = format == GG_F64 ? 1023 : 127;
    return gg_float_scale(format, mode, value, biased_exponent(format, alu->src[2]) > one ? power : -power);
}

static uint64_t div_fixup(const struct gg_alu *alu, enum gg_float format, struct gg_float_mode mode)
{
    uint64_t quotient = alu->src[0];
    uint64_t denominator = source(format, mode, alu->src[1]), numerator = source(format, mode, alu->src[2]);
    uint64_t sign = (denominator ^ numerator) & gg_float_sign(format);
    bool zero_below = gg_float_is_zero(format, denominator), zero_above = gg_float_is_zero(format, numerator);
    bool much_below = gg_float_is_infinite(format, denominator), much_above = gg_float_is_infinite(format, numerator);
    int32_t least = format == GG_F64 ? -1075 : format == GG_F32 ? -150 : -25;
    if (gg_float_is_nan(format, numerator))
        return gg_float_quiet(format, numerator);
    if (gg_float_is_nan(format, denominator))
        return gg_float_quiet(format, denominator);
    if ((zero_below && zero_above) || (much_below && much_above))
        return gg_float_nan(format) | gg_float_sign(format);
    if (zero_below || much_above)
        return sign | gg_float_infinity(format);
    if (much_below || zero_above)
        return sign;
    if (biased_exponent(format, numerator) - biased_exponent(format, denominator) < least)
        return gg_float_scale(format, mode, sign | gg_float_one(format), 4 * least);
    quotient &= gg_float_sign(format) - 1;
    if (quotient >= gg_float_infinity(format)) /* the iteration ran over, and made a NaN of infinities */
        return gg_float_scale(format, mode, sign | gg_float_one(format), -4 * least);
    return sign | quotient;
}

/* Which face of a cube a direction meets, the coordinates on it, and twice the major axis. */
static uint64_t cube(const struct gg_alu *alu, struct gg_float_mode mode)
{
    const uint64_t negate = gg_float_sign(GG_F32);
    uint64_t x = source(GG_F32, mode, alu->src[0]), y = source(GG_F32, mode, alu->src[1]);
    uint64_t z = source(GG_F32, mode, alu->src[2]);
    uint64_t ax = x & ~negate, ay = y & ~negate, az = z & ~negate;
    enum gg_order zx = gg_float_compare(GG_F32, mode, az, ax), zy = gg_float_compare(GG_F32, mode, az, ay);
    enum gg_order yx = gg_float_compare(GG_F32, mode, ay, ax);
    bool on_z = (zx == GG_ORDER_GREATER || zx == GG_ORDER_EQUAL) && (zy == GG_ORDER_GREATER || zy == GG_ORDER_EQUAL);
    bool on_y = !on_z && (yx == GG_ORDER_GREATER || yx == GG_ORDER_EQUAL);
    uint64_t major = on_z ? z : on_y ? y : x;
    bool below = gg_float_compare(GG_F32, mode, major, 0) == GG_ORDER_LESS;
    switch (alu->op) {
    case GG_OP_v_cubeid_f32:
        return gg_float_from_u64(GG_F32, mode, (on_z ? 4u : on_y ? 2u : 0u) + below);
    case GG_OP_v_cubesc_f32:
        return on_z ? (below ? x ^ negate : x) : on_y ? x : below ? z : z ^ negate;
    case GG_OP_v_cubetc_f32:
        return on_y ? (below ? z ^ negate : z) : y ^ negate;
    default:
        return gg_float_scale(GG_F32, mode, major, 1);
    }
}

/* 53 bits of 2/pi for the reduction of large arguments: part src[1], past what the exponent of src[0] makes whole. */
static uint64_t trig_preop(const struct gg_alu *alu, struct gg_float_mode mode)
{
    static const uint32_t two_over_pi[] = {
        0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
        0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
        0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
        0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
        0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};
    const int32_t bits = 1201; /* that the hardware knows */
    int32_t exponent = biased_exponent(GG_F64, alu->src[0]);
    int32_t shift = (int32_t)(alu->src[1] & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    uint64_t part = 0;
    for (int32_t at = shift; at < shift + 53; at++)
        part = part << 1 | (at < bits ? two_over_pi[at / 32] >> (31 - at % 32) & 1 : 0);
    return gg_float_scale(GG_F64, mode, gg_float_from_u64(GG_F64, exact, part),
                          -53 - shift + (exponent >= 1968 ? 128 : 0));
}

/* The lighting product: -max where the exponentiation that follows would be undefined. */
static uint64_t mullit(const struct gg_alu *alu, struct gg_float_mode mode)
{
    const uint64_t most_negative = 0xff7fffff;
    uint64_t b = alu->src[1], c = alu->src[2];
    bool undefined = b == most_negative || b == 0xff800000 || gg_float_is_nan(GG_F32, b) ||
                     gg_float_is_nan(GG_F32, c) || gg_float_compare(GG_F32, mode, c, 0) != GG_ORDER_GREATER;
    return undefined ? most_negative : legacy_mul(mode, alu->src[0], b);
}

bool gg_alu_float(struct gg_alu *alu)
{
    enum gg_float format = format_of(alu->type);
    struct gg_float_mode mode = format == GG_F32 ? alu->f32 : alu->f64;
    uint64_t a = alu->src[0], b = alu->src[1], c = alu->src[2], negate = gg_float_sign(format), r;
    if (gg_op_infos[alu->op].format == GG_FORMAT_VOPC)
        return compare(alu, mode);
    switch (alu->op) {
    case GG_OP_v_add_f16:
    case GG_OP_v_add_f32:
    case GG_OP_v_add_f64:
        r = gg_float_add(format, mode, a, b);
        break;
    case GG_OP_v_sub_f16:
    case GG_OP_v_sub_f32:
        r = gg_float_add(format, mode, a, b ^ negate);
        break;
    case GG_OP_v_subrev_f16:
    case GG_OP_v_subrev_f32:
        r = gg_float_add(format, mode, a ^ negate, b);
        break;
    case GG_OP_v_mul_f16:
    case GG_OP_v_mul_f32:
    case GG_OP_v_mul_f64:
        r = gg_float_mul(format, mode, a, b);
        break;
    case GG_OP_v_mul_legacy_f32:
        r = legacy_mul(mode, a, b);
        break;
    case GG_OP_v_fma_f16:
    case GG_OP_v_fma_f32:
    case GG_OP_v_fma_f64:
    case GG_OP_v_fmamk_f16:
    case GG_OP_v_fmamk_f32:
    case GG_OP_v_fmaak_f16:
    case GG_OP_v_fmaak_f32:
        r = gg_float_fma(format, mode, a, b, c);
        break;
    case GG_OP_v_fmac_f16:
    case GG_OP_v_fmac_f32:
        r = gg_float_fma(format, mode, a, b, alu->old);
        break;
    case GG_OP_v_fma_legacy_f32:
        r = legacy_fma(mode, a, b, c);
        break;
    case GG_OP_v_fmac_legacy_f32:
        r = legacy_fma(mode, a, b, alu->old);
        break;
    case GG_OP_v_mad_f32:
    case GG_OP_v_madmk_f32:
    case GG_OP_v_madak_f32:
        r = mad(mode, false, a, b, c);
        break;
    case GG_OP_v_mad_legacy_f32:
        r = mad(mode, true, a, b, c);
        break;
    case GG_OP_v_mac_f32:
        r = mad(mode, false, a, b, alu->old);
        break;
    case GG_OP_v_mac_legacy_f32:
        r = mad(mode, true, a, b, alu->old);
        break;
    case GG_OP_v_min_f16:
    case GG_OP_v_min_f32:
    case GG_OP_v_min_f64:
        r = minimum(alu, mode, a, b);
        break;
    case GG_OP_v_max_f16:
    case GG_OP_v_max_f32:
    case GG_OP_v_max_f64:
        r = maximum(alu, mode, a, b);
        break;
    case GG_OP_v_min3_f16:
    case GG_OP_v_min3_f32:
        r = minimum(alu, mode, minimum(alu, mode, a, b), c);
        break;
    case GG_OP_v_max3_f16:
    case GG_OP_v_max3_f32:
        r = maximum(alu, mode, maximum(alu, mode, a, b), c);
        break;
    case GG_OP_v_med3_f16:
    case GG_OP_v_med3_f32:
        r = median(alu, mode, a, b, c);
        break;
    case GG_OP_v_fract_f16:
    case GG_OP_v_fract_f32:
    case GG_OP_v_fract_f64:
        r = fraction(format, mode, a);
        break;
    case GG_OP_v_trunc_f16:
    case GG_OP_v_trunc_f32:
    case GG_OP_v_trunc_f64:
        r = gg_float_integral(format, mode, GG_ROUND_ZERO, a);
        break;
    case GG_OP_v_ceil_f16:
    case GG_OP_v_ceil_f32:
    case GG_OP_v_ceil_f64:
        r = gg_float_integral(format, mode, GG_ROUND_UP, a);
        break;
    case GG_OP_v_floor_f16:
    case GG_OP_v_floor_f32:
    case GG_OP_v_floor_f64:
        r = gg_float_integral(format, mode, GG_ROUND_DOWN, a);
        break;
    case GG_OP_v_rndne_f16:
    case GG_OP_v_rndne_f32:
    case GG_OP_v_rndne_f64:
        r = gg_float_integral(format, mode, GG_ROUND_EVEN, a);
        break;
    case GG_OP_v_rcp_f16:
    case GG_OP_v_rcp_f32:
    case GG_OP_v_rcp_iflag_f32:
    case GG_OP_v_rcp_f64:
        r = gg_float_apply(format, mode, GG_FLOAT_RCP, a);
        break;
    case GG_OP_v_rsq_f16:
    case GG_OP_v_rsq_f32:
    case GG_OP_v_rsq_f64:
        r = gg_float_apply(format, mode, GG_FLOAT_RSQ, a);
        break;
    case GG_OP_v_sqrt_f16:
    case GG_OP_v_sqrt_f32:
    case GG_OP_v_sqrt_f64:
        r = gg_float_apply(format, mode, GG_FLOAT_SQRT, a);
        break;
    case GG_OP_v_log_f16:
    case GG_OP_v_log_f32:
        r = gg_float_apply(format, mode, GG_FLOAT_LOG2, a);
        break;
    case GG_OP_v_exp_f16:
    case GG_OP_v_exp_f32:
        r = gg_float_apply(format, mode, GG_FLOAT_EXP2, a);
        break;
    case GG_OP_v_sin_f16:
    case GG_OP_v_sin_f32:
        r = gg_float_apply(format, mode, GG_FLOAT_SIN, a);
        break;
    case GG_OP_v_cos_f16:
    case GG_OP_v_cos_f32:
        r = gg_float_apply(format, mode, GG_FLOAT_COS, a);
        break;
    case GG_OP_v_ldexp_f16:
        r = gg_float_scale(format, mode, a, (int16_t)b);
        break;
    case GG_OP_v_ldexp_f32:
    case GG_OP_v_ldexp_f64:
        r = gg_float_scale(format, mode, a, (int32_t)b);
        break;
    case GG_OP_v_frexp_mant_f16:
    case GG_OP_v_frexp_mant_f32:
    case GG_OP_v_frexp_mant_f64:
        r = gg_float_quiet(format, gg_float_mantissa(format, source(format, mode, a)));
        break;
    case GG_OP_v_frexp_exp_i16_f16:
    case GG_OP_v_frexp_exp_i32_f32:
    case GG_OP_v_frexp_exp_i32_f64:
        r = (uint32_t)gg_float_exponent(format, source(format, mode, a));
        if (alu->op == GG_OP_v_frexp_exp_i16_f16) /* SDWA may take the whole register: the upper half is 0 */
            r &= 0xffff;
        break;
    case GG_OP_v_div_scale_f32:
    case GG_OP_v_div_scale_f64:
        div_scale(alu, format, mode);
        return true;
    case GG_OP_v_div_fmas_f32:
    case GG_OP_v_div_fmas_f64:
        r = div_fmas(alu, format, mode);
        break;
    case GG_OP_v_div_fixup_f16:
    case GG_OP_v_div_fixup_f32:
    case GG_OP_v_div_fixup_f64:
        r = div_fixup(alu, format, mode);
        break;
    case GG_OP_v_cubeid_f32:
    case GG_OP_v_cubesc_f32:
    case GG_OP_v_cubetc_f32:
    case GG_OP_v_cubema_f32:
        r = result(GG_F32, mode, cube(alu, mode));
        break;
    case GG_OP_v_trig_preop_f64:
        r = trig_preop(alu, mode);
        break;
    case GG_OP_v_mullit_f32:
        r = mullit(alu, mode);
        break;
    default:
        return false;
    }
    alu->result = r;
    return true;
}

/* A float in [-1, 1] or [0, 1] to the integer that stands for it; NaN counts as 0. */
static uint32_t normalised(enum gg_float format, uint64_t a, double low, double most)
{
    double x = gg_float_to_double(format, a);
    x = isnan(x) ? 0 : x < low ? low : x > 1 ? 1 : x;
    return (uint32_t)(int32_t)rint(x * most) & 0xffff;
}

bool gg_alu_convert(struct gg_alu *alu)
{
    enum gg_float from = format_of(alu->type);
    uint64_t a = alu->src[0], b = alu->src[1], r;
    /* Into and out of f16 and f64 the rounding is theirs, denormals follow each side's own mode. */
    struct gg_float_mode f32 = alu->f32, f64 = alu->f64;
    struct gg_float_mode narrow = {f64.round, f32.denorm_in, f64.denorm_out}; /* f32 to f16 or f64 */
    struct gg_float_mode other = {f64.round, f64.denorm_in, f32.denorm_out};  /* f16 or f64 to f32 */
    struct gg_float_mode to_zero = {GG_ROUND_ZERO, f32.denorm_in, f64.denorm_out};
    uint64_t u = from == GG_F64 ? a : (uint32_t)a;
    uint32_t shift = 8 * (uint32_t)(b & 3);
    switch (alu->op) {
    case GG_OP_v_cvt_f32_i32:
        r = gg_float_from_i64(GG_F32, f32, (int32_t)a);
        break;
    case GG_OP_v_cvt_f32_u32:
        r = gg_float_from_u64(GG_F32, f32, u);
        break;
    case GG_OP_v_cvt_f64_i32:
        r = gg_float_from_i64(GG_F64, f64, (int32_t)a);
        break;
    case GG_OP_v_cvt_f64_u32:
        r = gg_float_from_u64(GG_F64, f64, u);
        break;
    case GG_OP_v_cvt_f16_u16:
        r = gg_float_from_u64(GG_F16, f64, (uint16_t)a);
        break;
    case GG_OP_v_cvt_f16_i16:
        r = gg_float_from_i64(GG_F16, f64, (int16_t)a);
        break;
    case GG_OP_v_cvt_f32_ubyte0:
    case GG_OP_v_cvt_f32_ubyte1:
    case GG_OP_v_cvt_f32_ubyte2:
    case GG_OP_v_cvt_f32_ubyte3:
        r = gg_float_from_u64(GG_F32, f32, a >> 8 * (alu->op - GG_OP_v_cvt_f32_ubyte0) & 0xff);
        break;
    case GG_OP_v_cvt_off_f32_i4: /* sixteenths of a signed nibble */
        r = gg_float_scale(GG_F32, exact, gg_float_from_i64(GG_F32, exact, (int64_t)((a & 15) ^ 8) - 8), -4);
        break;
    case GG_OP_v_cvt_u32_f32:
    case GG_OP_v_cvt_u32_f64:
        r = (uint64_t)gg_float_to_integer(from, GG_ROUND_ZERO, u, 0, UINT32_MAX);
        break;
    case GG_OP_v_cvt_i32_f32:
    case GG_OP_v_cvt_i32_f64:
        r = (uint32_t)gg_float_to_integer(from, GG_ROUND_ZERO, u, INT32_MIN, INT32_MAX);
        break;
    case GG_OP_v_cvt_u16_f16:
        r = (uint64_t)gg_float_to_integer(GG_F16, GG_ROUND_ZERO, a, 0, UINT16_MAX);
        break;
    case GG_OP_v_cvt_i16_f16:
        r = (uint16_t)gg_float_to_integer(GG_F16, GG_ROUND_ZERO, a, INT16_MIN, INT16_MAX);
        break;
    case GG_OP_v_cvt_flr_i32_f32:
        r = (uint32_t)gg_float_to_integer(GG_F32, GG_ROUND_DOWN, source(GG_F32, f32, u), INT32_MIN, INT32_MAX);
        break;
    case GG_OP_v_cvt_rpi_i32_f32: { /* the nearest, halves up: the sum is exact in double, or far beyond halves */
        double nearest = floor(gg_float_to_double(GG_F32, a) + 0.5);
        r = (uint32_t)gg_float_to_integer(GG_F64, GG_ROUND_ZERO, gg_float_from_double(GG_F64, exact, nearest),
                                          INT32_MIN, INT32_MAX);
        break;
    }
    case GG_OP_v_cvt_f16_f32:
        r = gg_float_convert(GG_F32, GG_F16, narrow, a);
        break;
    case GG_OP_v_cvt_f32_f16:
        r = gg_float_convert(GG_F16, GG_F32, other, a);
        break;
    case GG_OP_v_cvt_f32_f64:
        r = gg_float_convert(GG_F64, GG_F32, other, a);
        break;
    case GG_OP_v_cvt_f64_f32:
        r = gg_float_convert(GG_F32, GG_F64, narrow, a);
        break;
    case GG_OP_v_cvt_pkrtz_f16_f32:
        r = gg_float_convert(GG_F32, GG_F16, to_zero, a) | gg_float_convert(GG_F32, GG_F16, to_zero, b) << 16;
        break;
    case GG_OP_v_cvt_norm_i16_f16:
        r = normalised(GG_F16, a, -1, 32767);
        break;
    case GG_OP_v_cvt_norm_u16_f16:
        r = normalised(GG_F16, a, 0, 65535);
        break;
    case GG_OP_v_cvt_pknorm_i16_f16:
    case GG_OP_v_cvt_pknorm_i16_f32:
        r = normalised(from, a, -1, 32767) | (uint64_t)normalised(from, b, -1, 32767) << 16;
        break;
    case GG_OP_v_cvt_pknorm_u16_f16:
    case GG_OP_v_cvt_pknorm_u16_f32:
        r = normalised(from, a, 0, 65535) | (uint64_t)normalised(from, b, 0, 65535) << 16;
        break;
    case GG_OP_v_cvt_pk_u8_f32:
        r = (alu->src[2] & ~(UINT64_C(0xff) << shift)) | (uint64_t)gg_float_to_integer(GG_F32, f32.round, a, 0, 255)
                                                             << shift;
        break;
    default:
        return false;
    }
    alu->result = r;
    return true;
}

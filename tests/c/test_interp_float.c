/* SPDX-License-Identifier: MIT */
/*
 * The interpreter's float arithmetic against the host's, bit for bit: random values of every exponent and special
 * ones, in all four rounding modes that the host has too; and what the host does not have, by known answers.
 */
#include "test.h"

#include "translator/interp_float.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define ROUNDS 20000

static const struct gg_float_mode nearest = {GG_ROUND_EVEN, true, true};

static uint64_t seed = 1;
static uint64_t next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed ^ seed >> 29;
}

static const uint32_t special32[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                                     0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0x3f7fffff, 0x33800000, 0x4b800000};

/* Specials often, near exponents often, so that sums cancel. */
static uint32_t random32(uint32_t like)
{
    uint64_t bits = next();
    if (bits % 8 == 0)
        return special32[bits / 8 % (sizeof special32 / sizeof *special32)];
    uint32_t value = (uint32_t)(bits >> 16);
    return bits % 8 < 4 ? (value & 0x807fffff) | (like & 0x7f800000) : value;
}

static uint64_t random64(uint64_t like)
{
    uint64_t bits = next(), value = next();
    if (bits % 8 == 0)
        return (uint64_t)special32[bits / 8 % (sizeof special32 / sizeof *special32)] << 32 | (bits & 1);
    return bits % 8 < 4 ? (value & UINT64_C(0x800fffffffffffff)) | (like & UINT64_C(0x7ff0000000000000)) : value;
}

static uint32_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float as_float(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* NaNs compare equal: their payload is our choice. */
static void same32(const char *what, uint64_t got, float wanted, uint64_t a, uint64_t b)
{
    bool both = isnan(wanted) && gg_float_is_nan(GG_F32, got);
    CHECK(both || got == bits32(wanted), "%s of %08x, %08x: %08x instead of %08x", what, (unsigned)a, (unsigned)b,
          (unsigned)got, bits32(wanted));
}

static void same64(const char *what, uint64_t got, double wanted, uint64_t a, uint64_t b)
{
    bool both = isnan(wanted) && gg_float_is_nan(GG_F64, got);
    CHECK(both || got == bits64(wanted), "%s of %016llx, %016llx: %016llx instead of %016llx", what,
          (unsigned long long)a, (unsigned long long)b, (unsigned long long)got, (unsigned long long)bits64(wanted));
}

/* volatile: the operation must happen in the rounding mode that is set. */
static void against_the_host(int host_round, uint8_t round)
{
    const struct gg_float_mode mode = {round, true, true};
    fesetround(host_round);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = random32(0x3f800000), b = random32(a), c = random32(b);
        volatile float x = as_float(a), y = as_float(b), z = as_float(c), r;
        r = x + y;
        same32("f32 add", gg_float_add(GG_F32, mode, a, b), r, a, b);
        r = x * y;
        same32("f32 mul", gg_float_mul(GG_F32, mode, a, b), r, a, b);
        r = fmaf(x, y, z);
        same32("f32 fma", gg_float_fma(GG_F32, mode, a, b, c), r, a, b);
        uint64_t d = random64(bits64(1)), e = random64(d), f = random64(e);
        volatile double u = as_double(d), v = as_double(e), w = as_double(f), s;
        s = u + v;
        same64("f64 add", gg_float_add(GG_F64, mode, d, e), s, d, e);
        s = u * v;
        same64("f64 mul", gg_float_mul(GG_F64, mode, d, e), s, d, e);
        s = fma(u, v, w);
        same64("f64 fma", gg_float_fma(GG_F64, mode, d, e, f), s, d, e);
        r = (float)u;
        same32("f64 to f32", gg_float_convert(GG_F64, GG_F32, mode, d), r, d, 0);
        r = (float)d;
        same32("u64 to f32", gg_float_from_u64(GG_F32, mode, d), r, d, 0);
        s = (double)(int64_t)e;
        same64("i64 to f64", gg_float_from_i64(GG_F64, mode, (int64_t)e), s, e, 0);
        r = nearbyintf(x);
        same32("integral", gg_float_integral(GG_F32, mode, round, a), r, a, 0);
    }
    fesetround(FE_TONEAREST);
}

static void compares_and_parts(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = random32(0x3f800000), b = random32(a);
        float x = as_float(a), y = as_float(b);
        enum gg_order wanted = isunordered(x, y) ? GG_ORDER_NONE
                               : x < y           ? GG_ORDER_LESS
                               : x > y           ? GG_ORDER_GREATER
                                                 : GG_ORDER_EQUAL;
        CHECK(gg_float_compare(GG_F32, nearest, a, b) == wanted, "order of %08x, %08x", a, b);
        same32("f32 to f64 and back",
               gg_float_convert(GG_F64, GG_F32, nearest, gg_float_convert(GG_F32, GG_F64, nearest, a)), x, a, 0);
        if (isfinite(x) && x != 0) {
            int exponent;
            float mantissa = frexpf(x, &exponent);
            same32("mantissa", gg_float_mantissa(GG_F32, a), mantissa, a, 0);
            CHECK(gg_float_exponent(GG_F32, a) == exponent, "exponent of %08x", a);
            same32("scale", gg_float_scale(GG_F32, nearest, a, (int32_t)(b % 400) - 200),
                   ldexpf(x, (int32_t)(b % 400) - 200), a, b);
        }
        bool fits = x > -2147483648.0f && x < 2147483648.0f;
        int64_t integer = gg_float_to_integer(GG_F32, GG_ROUND_ZERO, a, INT32_MIN, INT32_MAX);
        int64_t clamped = isnan(x) ? 0 : fits ? (int32_t)x : x < 0 ? INT32_MIN : INT32_MAX;
        CHECK(integer == clamped, "integer of %08x: %lld", a, (long long)integer);
    }
}

/* All halves go to f32 and back; sums of halves rounded once are sums in double rounded by conversion. */
static void halves(void)
{
    for (uint32_t a = 0; a < 0x10000; a++) {
        uint64_t wide = gg_float_convert(GG_F16, GG_F32, nearest, a);
        uint64_t back = gg_float_convert(GG_F32, GG_F16, nearest, wide);
        CHECK(back == gg_float_quiet(GG_F16, a), "half %04x: %04x", a, (unsigned)back);
        uint32_t b = (uint32_t)next() & 0xffff;
        uint64_t sum = gg_float_add(GG_F16, nearest, a, b);
        double exact = gg_float_to_double(GG_F16, a) + gg_float_to_double(GG_F16, b);
        uint64_t wanted = gg_float_from_double(GG_F16, nearest, exact);
        CHECK(sum == wanted || gg_float_is_nan(GG_F16, wanted), "half %04x + %04x: %04x instead of %04x", a, b,
              (unsigned)sum, (unsigned)wanted);
    }
}

static void known_answers(void)
{
    const struct gg_float_mode flushing = {GG_ROUND_EVEN, false, false}, up = {GG_ROUND_UP, true, true};
    CHECK(gg_float_add(GG_F32, flushing, 1, 1) == 0, "denormal sources count as zero");
    CHECK(gg_float_mul(GG_F32, flushing, 0x80800000, 0x3f000000) == 0x80000000, "denormal results keep their sign");
    CHECK(gg_float_mul(GG_F32, up, 1, 1) == 1, "the least denormal is what is above 2^-298");
    CHECK(gg_float_convert(GG_F32, GG_F16, nearest, 0x477ff000) == 0x7c00, "65520 overflows an f16");
    CHECK(gg_float_convert(GG_F32, GG_F16, nearest, 0x33000000) == 0, "2^-25 is a tie and goes to 0");
    CHECK(gg_float_convert(GG_F32, GG_F16, nearest, 0x33000001) == 1, "what is above it does not");
    CHECK(gg_float_min(GG_F32, nearest, false, 0x7fc00000, 0x3f800000) == 0x3f800000, "a number wins over a NaN");
    CHECK(gg_float_apply(GG_F32, nearest, GG_FLOAT_SIN, 0x3f000000) == 0, "the sine of half a turn is 0");
    CHECK(gg_float_apply(GG_F32, nearest, GG_FLOAT_SIN, 0x0d800000) != 0, "that of a small angle is not");
    CHECK(gg_float_apply(GG_F32, nearest, GG_FLOAT_COS, 0x3e800000) == 0, "the cosine of a quarter is 0");
    CHECK(gg_float_apply(GG_F64, nearest, GG_FLOAT_RSQ, UINT64_C(0x8000000000000000)) == UINT64_C(0xfff0000000000000),
          "1/sqrt(-0) is -inf");
}

int main(void)
{
    against_the_host(FE_TONEAREST, GG_ROUND_EVEN);
    against_the_host(FE_UPWARD, GG_ROUND_UP);
    against_the_host(FE_DOWNWARD, GG_ROUND_DOWN);
    against_the_host(FE_TOWARDZERO, GG_ROUND_ZERO);
    compares_and_parts();
    halves();
    known_answers();
    return test_result();
}

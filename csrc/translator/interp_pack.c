/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * VOP3P and its relatives, one lane at a time: two 16-bit operations in one dword, dot products, and v_fma_mix.
 * Each half of a result chooses its half of each source by op_sel or op_sel_hi, and its sign by neg or neg_hi.
 */

struct halves {
    uint32_t a, b, c;
};

static uint32_t half_of(const struct gg_alu *alu, uint32_t source, bool high, bool is_float)
{
    uint32_t select = (high ? alu->op_sel_hi : alu->op_sel) >> source & 1;
    uint32_t negate = (high ? alu->neg_hi : alu->neg) >> source & 1;
    uint32_t value = (uint32_t)(alu->src[source] >> 16 * select) & 0xffff;
    return is_float && negate ? value ^ 0x8000 : value;
}

static struct halves halves_of(const struct gg_alu *alu, bool high, bool is_float)
{
    return (struct halves){half_of(alu, 0, high, is_float), half_of(alu, 1, high, is_float),
                           half_of(alu, 2, high, is_float)};
}

static uint32_t saturated(const struct gg_alu *alu, int64_t value, int64_t low, int64_t high)
{
    if (alu->clamp)
        value = value < low ? low : value > high ? high : value;
    return (uint32_t)value & 0xffff;
}

static bool packed_integer(const struct gg_alu *alu, struct halves h, uint32_t *result)
{
    int32_t x = (int16_t)h.a, y = (int16_t)h.b, z = (int16_t)h.c;
    switch (alu->op) {
    case GG_OP_v_pk_mad_i16:
        *result = saturated(alu, (int64_t)x * y + z, INT16_MIN, INT16_MAX);
        return true;
    case GG_OP_v_pk_mad_u16:
        *result = saturated(alu, (int64_t)h.a * h.b + h.c, 0, UINT16_MAX);
        return true;
    case GG_OP_v_pk_add_i16:
        *result = saturated(alu, x + y, INT16_MIN, INT16_MAX);
        return true;
    case GG_OP_v_pk_sub_i16:
        *result = saturated(alu, x - y, INT16_MIN, INT16_MAX);
        return true;
    case GG_OP_v_pk_add_u16:
        *result = saturated(alu, (int64_t)h.a + h.b, 0, UINT16_MAX);
        return true;
    case GG_OP_v_pk_sub_u16:
        *result = saturated(alu, (int64_t)h.a - h.b, 0, UINT16_MAX);
        return true;
    case GG_OP_v_pk_mul_lo_u16:
        *result = h.a * h.b & 0xffff;
        return true;
    case GG_OP_v_pk_lshlrev_b16:
        *result = h.b << (h.a & 15) & 0xffff;
        return true;
    case GG_OP_v_pk_lshrrev_b16:
        *result = h.b >> (h.a & 15);
        return true;
    case GG_OP_v_pk_ashrrev_i16:
        *result = (uint32_t)(y >> (h.a & 15)) & 0xffff;
        return true;
    case GG_OP_v_pk_max_i16:
        *result = x > y ? h.a : h.b;
        return true;
    case GG_OP_v_pk_min_i16:
        *result = x < y ? h.a : h.b;
        return true;
    case GG_OP_v_pk_max_u16:
        *result = h.a > h.b ? h.a : h.b;
        return true;
    case GG_OP_v_pk_min_u16:
        *result = h.a < h.b ? h.a : h.b;
        return true;
    default:
        return false;
    }
}

static bool packed_float(const struct gg_alu *alu, struct halves h, uint32_t old, uint32_t *result)
{
    uint64_t value;
    switch (alu->op) {
    case GG_OP_v_pk_fma_f16:
        value = gg_float_fma(GG_F16, alu->f64, h.a, h.b, h.c);
        break;
    case GG_OP_v_pk_fmac_f16:
        value = gg_float_fma(GG_F16, alu->f64, h.a, h.b, old);
        break;
    case GG_OP_v_pk_add_f16:
        value = gg_float_add(GG_F16, alu->f64, h.a, h.b);
        break;
    case GG_OP_v_pk_mul_f16:
        value = gg_float_mul(GG_F16, alu->f64, h.a, h.b);
        break;
    case GG_OP_v_pk_min_f16:
        value = gg_float_min(GG_F16, alu->f64, alu->ieee, h.a, h.b);
        break;
    case GG_OP_v_pk_max_f16:
        value = gg_float_max(GG_F16, alu->f64, alu->ieee, h.a, h.b);
        break;
    default:
        return false;
    }
    *result = (uint32_t)gg_alu_clamp_float(alu, GG_F16, value);
    return true;
}

/* Fields of `bits` bits, multiplied and added up. */
static int64_t dot_integer(uint64_t a, uint64_t b, uint32_t bits, bool is_signed)
{
    int64_t sum = 0;
    for (uint32_t at = 0; at < 32; at += bits) {
        uint32_t x = (uint32_t)a << (32 - bits - at), y = (uint32_t)b << (32 - bits - at);
        sum += is_signed ? (int64_t)((int32_t)x >> (32 - bits)) * ((int32_t)y >> (32 - bits))
                         : (int64_t)(x >> (32 - bits)) * (y >> (32 - bits));
    }
    return sum;
}

/* Halves chosen by op_sel (low) and op_sel_hi (high), as one dword. */
static uint64_t selected(const struct gg_alu *alu, uint32_t source, bool is_float)
{
    return half_of(alu, source, false, is_float) | (uint64_t)half_of(alu, source, true, is_float) << 16;
}

/* The products are exact in f32; the high one is added last, each addition rounds. */
static uint64_t dot_float(const struct gg_alu *alu, uint64_t addend)
{
    static const struct gg_float_mode whole = {GG_ROUND_EVEN, true, true};
    struct gg_float_mode source = whole;
    source.denorm_in = alu->f64.denorm_in;
    uint64_t a = selected(alu, 0, true), b = selected(alu, 1, true);
    for (uint32_t shift = 0; shift < 32; shift += 16)
        addend = gg_float_fma(GG_F32, alu->f32, gg_float_convert(GG_F16, GG_F32, source, a >> shift & 0xffff),
                              gg_float_convert(GG_F16, GG_F32, source, b >> shift & 0xffff), addend);
    return addend;
}

static bool dot(struct gg_alu *alu)
{
    uint64_t a = alu->src[0], b = alu->src[1], c = alu->src[2];
    int64_t sum;
    bool is_signed = false;
    switch (alu->op) {
    case GG_OP_v_dot2_f32_f16:
        alu->result = dot_float(alu, alu->neg & 4 ? c ^ gg_float_sign(GG_F32) : c);
        return true;
    case GG_OP_v_dot2c_f32_f16:
        alu->result = dot_float(alu, alu->old);
        return true;
    case GG_OP_v_dot2_i32_i16:
        is_signed = true;
        sum = dot_integer(selected(alu, 0, false), selected(alu, 1, false), 16, true);
        break;
    case GG_OP_v_dot2_u32_u16:
        sum = dot_integer(selected(alu, 0, false), selected(alu, 1, false), 16, false);
        break;
    case GG_OP_v_dot4c_i32_i8:
        is_signed = true;
        c = alu->old;
        sum = dot_integer(a, b, 8, true);
        break;
    case GG_OP_v_dot4_i32_i8:
        is_signed = true;
        sum = dot_integer(a, b, 8, true);
        break;
    case GG_OP_v_dot4_u32_u8:
        sum = dot_integer(a, b, 8, false);
        break;
    case GG_OP_v_dot8_i32_i4:
        is_signed = true;
        sum = dot_integer(a, b, 4, true);
        break;
    case GG_OP_v_dot8_u32_u4:
        sum = dot_integer(a, b, 4, false);
        break;
    default:
        return false;
    }
    sum += is_signed ? (int64_t)(int32_t)c : (int64_t)(uint32_t)c;
    if (alu->clamp && is_signed)
        sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
    else if (alu->clamp)
        sum = sum > UINT32_MAX ? UINT32_MAX : sum;
    alu->result = (uint32_t)sum;
    return true;
}

/* A source of v_fma_mix: an f16 half where op_sel_hi says so, widened exactly, else f32. */
static uint64_t mixed_source(const struct gg_alu *alu, uint32_t source)
{
    static const struct gg_float_mode whole = {GG_ROUND_EVEN, true, true};
    uint64_t value = (uint32_t)alu->src[source];
    if (alu->op_sel_hi >> source & 1) {
        struct gg_float_mode mode = whole;
        mode.denorm_in = alu->f64.denorm_in;
        value = gg_float_convert(GG_F16, GG_F32, mode, value >> (alu->op_sel >> source & 1 ? 16 : 0) & 0xffff);
    }
    if (alu->abs >> source & 1)
        value &= ~gg_float_sign(GG_F32);
    if (alu->neg >> source & 1)
        value ^= gg_float_sign(GG_F32);
    return value;
}

static bool mixed(struct gg_alu *alu)
{
    struct gg_float_mode to_half = {alu->f64.round, true, alu->f64.denorm_out};
    if (alu->op != GG_OP_v_fma_mix_f32 && alu->op != GG_OP_v_fma_mixlo_f16 && alu->op != GG_OP_v_fma_mixhi_f16)
        return false;
    uint64_t value = gg_float_fma(GG_F32, alu->f32, mixed_source(alu, 0), mixed_source(alu, 1), mixed_source(alu, 2));
    value = gg_alu_clamp_float(alu, GG_F32, value);
    uint64_t half = gg_float_convert(GG_F32, GG_F16, to_half, value);
    if (alu->op == GG_OP_v_fma_mixlo_f16)
        value = (alu->old & 0xffff0000) | half;
    else if (alu->op == GG_OP_v_fma_mixhi_f16)
        value = (alu->old & 0xffff) | half << 16;
    alu->result = value;
    return true;
}

bool gg_alu_packed(struct gg_alu *alu)
{
    uint32_t low = 0, high = 0;
    if (dot(alu) || mixed(alu))
        return true;
    if (!(packed_integer(alu, halves_of(alu, false, false), &low) &&
          packed_integer(alu, halves_of(alu, true, false), &high)) &&
        !(packed_float(alu, halves_of(alu, false, true), (uint32_t)alu->old & 0xffff, &low) &&
          packed_float(alu, halves_of(alu, true, true), (uint32_t)alu->old >> 16, &high)))
        return false;
    alu->result = low | (uint64_t)high << 16;
    return true;
}

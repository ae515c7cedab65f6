/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * Vector operations on integers, one lane at a time. Sources come selected and widened to 64 bits: the
 * casts below say how an operation reads them.
 */

static int32_t sign24(uint64_t a) { return (int32_t)((uint32_t)a << 8) >> 8; }
static uint32_t bits24(uint64_t a) { return (uint32_t)a & 0xffffff; }
static uint32_t byte_of(uint64_t a, uint32_t index) { return (uint32_t)(a >> 8 * index) & 0xff; }

/* Clamped to the type with the clamp modifier, else wrapped. */
static uint64_t to_unsigned(const struct gg_alu *alu, int64_t value, uint32_t bits)
{
    int64_t most = (INT64_C(1) << bits) - 1;
    if (alu->clamp)
        value = value < 0 ? 0 : value > most ? most : value;
    return (uint64_t)(value & most);
}

static uint64_t to_signed(const struct gg_alu *alu, int64_t value, uint32_t bits)
{
    int64_t most = (INT64_C(1) << (bits - 1)) - 1;
    if (alu->clamp)
        value = value < -most - 1 ? -most - 1 : value > most ? most : value;
    return (uint64_t)value & ((UINT64_C(1) << bits) - 1);
}

static uint32_t absolute_difference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/* The sum of absolute differences of four bytes; masked: bytes of b that are 0 do not count. */
static uint32_t byte_differences(uint32_t a, uint32_t b, bool masked)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (!masked || byte_of(b, i))
            sum += absolute_difference(byte_of(a, i), byte_of(b, i));
    return sum;
}

/* Four of them, for a window that slides over the eight bytes of a; 16-bit sums. */
static uint64_t quad_differences(const struct gg_alu *alu, bool masked)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        int64_t sum = (int64_t)byte_differences((uint32_t)(alu->src[0] >> 8 * i), (uint32_t)alu->src[1], masked) +
                      (int64_t)(alu->src[2] >> 16 * i & 0xffff);
        result |= to_unsigned(alu, sum, 16) << 16 * i;
    }
    return result;
}

static uint64_t permuted_byte(uint64_t both, uint32_t select)
{
    if (select >= 13)
        return 0xff;
    if (select == 12)
        return 0;
    if (select >= 8) /* the sign of byte 1, 3, 5 or 7 */
        return both >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    return both >> 8 * select & 0xff;
}

static uint64_t permute_bytes(uint64_t high, uint64_t low, uint64_t selects)
{
    uint64_t both = (uint64_t)(uint32_t)high << 32 | (uint32_t)low, result = 0;
    for (uint32_t i = 0; i < 4; i++)
        result |= permuted_byte(both, byte_of(selects, i)) << 8 * i;
    return result;
}

static uint64_t lerp_bytes(uint64_t a, uint64_t b, uint64_t round)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < 4; i++)
        result |= (uint64_t)((byte_of(a, i) + byte_of(b, i) + (byte_of(round, i) & 1)) >> 1 & 0xff) << 8 * i;
    return result;
}

static int64_t median(int64_t a, int64_t b, int64_t c)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Bits of `a` from `offset` on; of a field that reaches past bit 31 those that are there. */
static uint64_t extract_unsigned(uint64_t a, uint32_t offset, uint32_t width)
{
    return width ? (uint32_t)a >> offset & (UINT32_MAX >> (32 - width)) : 0;
}

static uint64_t extract_signed(uint64_t a, uint32_t offset, uint32_t width)
{
    if (!width)
        return 0;
    uint32_t shift = offset + width < 32 ? 32 - width - offset : 0;
    return (uint32_t)((int32_t)((uint32_t)a << shift) >> (shift + offset));
}

static uint32_t leading_sign_bits(int32_t a)
{
    uint32_t flipped = (uint32_t)(a < 0 ? ~a : a);
    return flipped ? (uint32_t)__builtin_clz(flipped) : UINT32_MAX;
}

/* a + b + c, or a - b - c, with what leaves 32 bits in the carry. */
static void add_carry(struct gg_alu *alu, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t sum = (uint64_t)(uint32_t)a + (uint32_t)b + c;
    alu->carry = sum >> 32;
    alu->result = alu->clamp && alu->carry ? UINT32_MAX : (uint32_t)sum;
}

static void subtract_carry(struct gg_alu *alu, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t taken = (uint64_t)(uint32_t)b + c;
    alu->carry = (uint32_t)a < taken;
    alu->result = alu->clamp && alu->carry ? 0 : (uint32_t)(a - taken);
}

static bool multiply_add_wide(struct gg_alu *alu, bool is_signed)
{
    uint64_t product = is_signed ? (uint64_t)((int64_t)(int32_t)alu->src[0] * (int32_t)alu->src[1])
                                 : (uint64_t)(uint32_t)alu->src[0] * (uint32_t)alu->src[1];
    alu->result = product + alu->src[2];
    bool overflow = (~(product ^ alu->src[2]) & (product ^ alu->result)) >> 63;
    alu->carry = is_signed ? overflow != (alu->result >> 63) : alu->result < product; /* bit 64 of the sum */
    return true;
}

/* The low three bits of a comparison's code: never, <, =, <=, >, !=, >=, always. */
static bool ordered(uint32_t condition, bool less, bool equal)
{
    return (condition & 1 && less) || (condition & 2 && equal) || (condition & 4 && !less && !equal);
}

static bool compare(struct gg_alu *alu)
{
    uint64_t a = alu->src[0], b = alu->src[1];
    bool less;
    switch (alu->type) {
    case GG_TYPE_I16:
        less = (int16_t)a < (int16_t)b;
        break;
    case GG_TYPE_I32:
        less = (int32_t)a < (int32_t)b;
        break;
    case GG_TYPE_I64:
        less = (int64_t)a < (int64_t)b;
        break;
    case GG_TYPE_U16:
    case GG_TYPE_U32:
    case GG_TYPE_U64:
        less = a < b;
        break;
    default:
        return false;
    }
    alu->result = ordered(alu->code & 7, less, a == b);
    return true;
}

/* Operations of 16 bits. */
static bool integer_16(struct gg_alu *alu)
{
    uint16_t a = (uint16_t)alu->src[0], b = (uint16_t)alu->src[1], c = (uint16_t)alu->src[2];
    int16_t x = (int16_t)a, y = (int16_t)b, z = (int16_t)c;
    int64_t value = 0;
    switch (alu->op) {
    case GG_OP_v_add_nc_u16:
        alu->result = to_unsigned(alu, a + b, 16);
        return true;
    case GG_OP_v_sub_nc_u16:
        alu->result = to_unsigned(alu, a - b, 16);
        return true;
    case GG_OP_v_add_nc_i16:
        alu->result = to_signed(alu, x + y, 16);
        return true;
    case GG_OP_v_sub_nc_i16:
        alu->result = to_signed(alu, x - y, 16);
        return true;
    case GG_OP_v_mad_u16:
        alu->result = to_unsigned(alu, (int64_t)a * b + c, 16);
        return true;
    case GG_OP_v_mad_i16:
        alu->result = to_signed(alu, (int64_t)x * y + z, 16);
        return true;
    case GG_OP_v_mul_lo_u16:
        value = (int64_t)a * b;
        break;
    case GG_OP_v_lshrrev_b16:
        value = b >> (a & 15);
        break;
    case GG_OP_v_ashrrev_i16:
        value = y >> (a & 15);
        break;
    case GG_OP_v_lshlrev_b16:
        value = (int64_t)b << (a & 15);
        break;
    case GG_OP_v_max_u16:
        value = a > b ? a : b;
        break;
    case GG_OP_v_min_u16:
        value = a < b ? a : b;
        break;
    case GG_OP_v_max_i16:
        value = x > y ? x : y;
        break;
    case GG_OP_v_min_i16:
        value = x < y ? x : y;
        break;
    case GG_OP_v_min3_u16:
        value = a < b ? (a < c ? a : c) : b < c ? b : c;
        break;
    case GG_OP_v_max3_u16:
        value = a > b ? (a > c ? a : c) : b > c ? b : c;
        break;
    case GG_OP_v_med3_u16:
        value = median(a, b, c);
        break;
    case GG_OP_v_min3_i16:
        value = x < y ? (x < z ? x : z) : y < z ? y : z;
        break;
    case GG_OP_v_max3_i16:
        value = x > y ? (x > z ? x : z) : y > z ? y : z;
        break;
    case GG_OP_v_med3_i16:
        value = median(x, y, z);
        break;
    case GG_OP_v_pack_b32_f16:
        alu->result = (uint32_t)b << 16 | a;
        return true;
    case GG_OP_v_mad_u32_u16:
        alu->result = to_unsigned(alu, (int64_t)a * b + (uint32_t)alu->src[2], 32);
        return true;
    case GG_OP_v_mad_i32_i16:
        alu->result = to_signed(alu, (int64_t)x * y + (int32_t)alu->src[2], 32);
        return true;
    default:
        return false;
    }
    alu->result = (uint16_t)value;
    return true;
}

/* Operations with clamp, carry or 64 bits, which set the result by themselves. */
static bool integer_wide(struct gg_alu *alu)
{
    uint64_t a = alu->src[0], b = alu->src[1], c = alu->src[2];
    int64_t x = (int32_t)a, y = (int32_t)b, z = (int32_t)c, w = (uint32_t)c;
    switch (alu->op) {
    case GG_OP_v_add_nc_u32:
        alu->result = to_unsigned(alu, (int64_t)((a & UINT32_MAX) + (b & UINT32_MAX)), 32);
        return true;
    case GG_OP_v_sub_nc_u32:
        alu->result = to_unsigned(alu, (int64_t)(a & UINT32_MAX) - (uint32_t)b, 32);
        return true;
    case GG_OP_v_subrev_nc_u32:
        alu->result = to_unsigned(alu, (int64_t)(b & UINT32_MAX) - (uint32_t)a, 32);
        return true;
    case GG_OP_v_add_nc_i32:
        alu->result = to_signed(alu, x + y, 32);
        return true;
    case GG_OP_v_sub_nc_i32:
        alu->result = to_signed(alu, x - y, 32);
        return true;
    case GG_OP_v_add_co_u32:
        add_carry(alu, a, b, 0);
        return true;
    case GG_OP_v_sub_co_u32:
        subtract_carry(alu, a, b, 0);
        return true;
    case GG_OP_v_subrev_co_u32:
        subtract_carry(alu, b, a, 0);
        return true;
    case GG_OP_v_add_co_ci_u32:
        add_carry(alu, a, b, c);
        return true;
    case GG_OP_v_sub_co_ci_u32:
        subtract_carry(alu, a, b, c);
        return true;
    case GG_OP_v_subrev_co_ci_u32:
        subtract_carry(alu, b, a, c);
        return true;
    case GG_OP_v_mad_i32_i24:
        alu->result = to_signed(alu, (int64_t)sign24(a) * sign24(b) + z, 32);
        return true;
    case GG_OP_v_mad_u32_u24:
        alu->result = to_unsigned(alu, (int64_t)bits24(a) * bits24(b) + w, 32);
        return true;
    case GG_OP_v_sad_u8:
        alu->result = to_unsigned(alu, byte_differences((uint32_t)a, (uint32_t)b, false) + w, 32);
        return true;
    case GG_OP_v_msad_u8:
        alu->result = to_unsigned(alu, byte_differences((uint32_t)a, (uint32_t)b, true) + w, 32);
        return true;
    case GG_OP_v_sad_hi_u8:
        alu->result = to_unsigned(alu, ((int64_t)byte_differences((uint32_t)a, (uint32_t)b, false) << 16) + w, 32);
        return true;
    case GG_OP_v_sad_u16:
        alu->result = to_unsigned(alu,
                                  (int64_t)absolute_difference(a & 0xffff, b & 0xffff) +
                                      absolute_difference(a >> 16 & 0xffff, b >> 16 & 0xffff) + w,
                                  32);
        return true;
    case GG_OP_v_sad_u32:
        alu->result = to_unsigned(alu, absolute_difference((uint32_t)a, (uint32_t)b) + w, 32);
        return true;
    case GG_OP_v_qsad_pk_u16_u8:
        alu->result = quad_differences(alu, false);
        return true;
    case GG_OP_v_mqsad_pk_u16_u8:
        alu->result = quad_differences(alu, true);
        return true;
    case GG_OP_v_mad_u64_u32:
        return multiply_add_wide(alu, false);
    case GG_OP_v_mad_i64_i32:
        return multiply_add_wide(alu, true);
    case GG_OP_v_lshlrev_b64:
        alu->result = b << (a & 63);
        return true;
    case GG_OP_v_lshrrev_b64:
        alu->result = b >> (a & 63);
        return true;
    case GG_OP_v_ashrrev_i64:
        alu->result = (uint64_t)((int64_t)b >> (a & 63));
        return true;
    default:
        return false;
    }
}

static bool integer_32(struct gg_alu *alu)
{
    uint32_t a = (uint32_t)alu->src[0], b = (uint32_t)alu->src[1], c = (uint32_t)alu->src[2], lane = alu->lane;
    int32_t x = (int32_t)a, y = (int32_t)b, z = (int32_t)c;
    uint64_t both = (uint64_t)a << 32 | b, value;
    switch (alu->op) {
    case GG_OP_v_mov_b32:
        value = a;
        break;
    case GG_OP_v_not_b32:
        value = ~a;
        break;
    case GG_OP_v_and_b32:
        value = a & b;
        break;
    case GG_OP_v_or_b32:
        value = a | b;
        break;
    case GG_OP_v_xor_b32:
        value = a ^ b;
        break;
    case GG_OP_v_xnor_b32:
        value = ~(a ^ b);
        break;
    case GG_OP_v_xor3_b32:
        value = a ^ b ^ c;
        break;
    case GG_OP_v_or3_b32:
        value = a | b | c;
        break;
    case GG_OP_v_and_or_b32:
        value = (a & b) | c;
        break;
    case GG_OP_v_lshl_or_b32:
        value = a << (b & 31) | c;
        break;
    case GG_OP_v_lshl_add_u32:
        value = (a << (b & 31)) + c;
        break;
    case GG_OP_v_add_lshl_u32:
        value = (a + b) << (c & 31);
        break;
    case GG_OP_v_add3_u32:
        value = a + b + c;
        break;
    case GG_OP_v_xad_u32:
        value = (a ^ b) + c;
        break;
    case GG_OP_v_lshlrev_b32:
        value = b << (a & 31);
        break;
    case GG_OP_v_lshrrev_b32:
        value = b >> (a & 31);
        break;
    case GG_OP_v_ashrrev_i32:
        value = (uint32_t)(y >> (a & 31));
        break;
    case GG_OP_v_cndmask_b32:
        value = c ? b : a;
        break;
    case GG_OP_v_min_i32:
        value = (uint32_t)(x < y ? x : y);
        break;
    case GG_OP_v_max_i32:
        value = (uint32_t)(x > y ? x : y);
        break;
    case GG_OP_v_min_u32:
        value = a < b ? a : b;
        break;
    case GG_OP_v_max_u32:
        value = a > b ? a : b;
        break;
    case GG_OP_v_min3_i32:
        value = (uint32_t)(x < y ? (x < z ? x : z) : y < z ? y : z);
        break;
    case GG_OP_v_max3_i32:
        value = (uint32_t)(x > y ? (x > z ? x : z) : y > z ? y : z);
        break;
    case GG_OP_v_med3_i32:
        value = (uint32_t)median(x, y, z);
        break;
    case GG_OP_v_min3_u32:
        value = a < b ? (a < c ? a : c) : b < c ? b : c;
        break;
    case GG_OP_v_max3_u32:
        value = a > b ? (a > c ? a : c) : b > c ? b : c;
        break;
    case GG_OP_v_med3_u32:
        value = (uint64_t)median(a, b, c);
        break;
    case GG_OP_v_mul_i32_i24:
        value = (uint64_t)((int64_t)sign24(a) * sign24(b));
        break;
    case GG_OP_v_mul_hi_i32_i24:
        value = (uint64_t)((int64_t)sign24(a) * sign24(b) >> 32);
        break;
    case GG_OP_v_mul_u32_u24:
        value = (uint64_t)bits24(a) * bits24(b);
        break;
    case GG_OP_v_mul_hi_u32_u24:
        value = (uint64_t)bits24(a) * bits24(b) >> 32;
        break;
    case GG_OP_v_mul_lo_u32:
    case GG_OP_v_mul_lo_i32:
        value = (uint64_t)a * b;
        break;
    case GG_OP_v_mul_hi_u32:
        value = (uint64_t)a * b >> 32;
        break;
    case GG_OP_v_mul_hi_i32:
        value = (uint64_t)((int64_t)x * y >> 32);
        break;
    case GG_OP_v_bfe_u32:
        value = extract_unsigned(a, b & 31, c & 31);
        break;
    case GG_OP_v_bfe_i32:
        value = extract_signed(a, b & 31, c & 31);
        break;
    case GG_OP_v_bfi_b32:
        value = (a & b) | (~a & c);
        break;
    case GG_OP_v_bfm_b32:
        value = ((1u << (a & 31)) - 1) << (b & 31);
        break;
    case GG_OP_v_alignbit_b32:
        value = both >> (c & 31);
        break;
    case GG_OP_v_alignbyte_b32:
        value = both >> 8 * (c & 3);
        break;
    case GG_OP_v_perm_b32:
        value = permute_bytes(a, b, c);
        break;
    case GG_OP_v_lerp_u8:
        value = lerp_bytes(a, b, c);
        break;
    case GG_OP_v_bcnt_u32_b32:
        value = (uint32_t)__builtin_popcount(a) + b;
        break;
    case GG_OP_v_mbcnt_lo_u32_b32:
        value = (uint32_t)__builtin_popcount(lane < 32 ? a & ((1u << lane) - 1) : a) + b;
        break;
    case GG_OP_v_mbcnt_hi_u32_b32:
        value = (uint32_t)__builtin_popcount(lane < 32 ? 0 : a & ((1u << (lane - 32)) - 1)) + b;
        break;
    case GG_OP_v_bfrev_b32:
        value = 0;
        for (uint32_t i = 0; i < 32; i++)
            value |= (uint64_t)(a >> i & 1) << (31 - i);
        break;
    case GG_OP_v_ffbh_u32:
        value = a ? (uint32_t)__builtin_clz(a) : UINT32_MAX;
        break;
    case GG_OP_v_ffbl_b32:
        value = a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX;
        break;
    case GG_OP_v_ffbh_i32:
        value = leading_sign_bits(x);
        break;
    case GG_OP_v_cvt_pk_u16_u32:
        value = (a < 0xffff ? a : 0xffff) | (uint64_t)(b < 0xffff ? b : 0xffff) << 16;
        break;
    case GG_OP_v_cvt_pk_i16_i32:
        value = (uint16_t)median(x, -32768, 32767) | (uint64_t)(uint16_t)median(y, -32768, 32767) << 16;
        break;
    case GG_OP_v_sat_pk_u8_i16:
        value = (uint64_t)median((int16_t)a, 0, 255) | (uint64_t)median((int16_t)(a >> 16), 0, 255) << 8;
        break;
    default:
        return false;
    }
    alu->result = (uint32_t)value;
    return true;
}

bool gg_alu_integer(struct gg_alu *alu)
{
    if (gg_op_infos[alu->op].format == GG_FORMAT_VOPC)
        return compare(alu);
    return integer_32(alu) || integer_16(alu) || integer_wide(alu);
}

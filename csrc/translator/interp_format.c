/* SPDX-License-Identifier: MIT */
#include "interp.h"

#include <math.h>

/*
 * The unified memory formats of gfx10. Each family of equal fields is a run of numbers in the order of its
 * numeric types. Fields are listed from the lowest bit; the names of the ISA have the highest first.
 */

struct family {
    uint8_t first; /* number of the first member */
    uint8_t members;
    uint8_t numeric; /* of the first; the members follow in the order of enum gg_numeric */
    uint8_t bits[4];
};

static const struct family families[] = {
    {1, 6, GG_NUMERIC_UNORM, {8}},
    {7, 7, GG_NUMERIC_UNORM, {16}},
    {14, 6, GG_NUMERIC_UNORM, {8, 8}},
    {20, 3, GG_NUMERIC_UINT, {32}},
    {23, 7, GG_NUMERIC_UNORM, {16, 16}},
    {30, 7, GG_NUMERIC_UNORM, {11, 11, 10}},
    {37, 7, GG_NUMERIC_UNORM, {10, 11, 11}},
    {44, 6, GG_NUMERIC_UNORM, {2, 10, 10, 10}},
    {50, 6, GG_NUMERIC_UNORM, {10, 10, 10, 2}},
    {56, 6, GG_NUMERIC_UNORM, {8, 8, 8, 8}},
    {62, 3, GG_NUMERIC_UINT, {32, 32}},
    {65, 7, GG_NUMERIC_UNORM, {16, 16, 16, 16}},
    {72, 3, GG_NUMERIC_UINT, {32, 32, 32}},
    {75, 3, GG_NUMERIC_UINT, {32, 32, 32, 32}},
};

bool gg_memory_format_of(uint32_t number, struct gg_memory_format *format)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *family = &families[i];
        if (number < family->first || number >= (uint32_t)family->first + family->members)
            continue;
        uint32_t bits = 0;
        *format = (struct gg_memory_format){.numeric = (uint8_t)(family->numeric + number - family->first)};
        for (uint32_t c = 0; c < 4 && family->bits[c]; c++) {
            format->bits[c] = family->bits[c];
            format->components++;
            bits += family->bits[c];
        }
        format->bytes = (uint8_t)(bits / 8);
        return true;
    }
    return false;
}

static const struct gg_float_mode exact = {GG_ROUND_EVEN, true, true};

/* First bit of a component in its element. */
static uint32_t first_bit(const struct gg_memory_format *format, uint32_t component)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < component; i++)
        at += format->bits[i];
    return at;
}

static uint32_t extract(const struct gg_memory_format *format, uint32_t component, const uint8_t *element)
{
    uint32_t at = first_bit(format, component), value = 0;
    for (uint32_t i = 0; i < format->bits[component]; i++)
        value |= (uint32_t)(element[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return value;
}

static void insert(const struct gg_memory_format *format, uint32_t component, uint8_t *element, uint32_t value)
{
    uint32_t at = first_bit(format, component);
    for (uint32_t i = 0; i < format->bits[component]; i++) {
        uint8_t bit = (uint8_t)(1u << (at + i) % 8);
        uint8_t *byte = &element[(at + i) / 8];
        *byte = (uint8_t)(value >> i & 1 ? *byte | bit : *byte & ~bit);
    }
}

static int32_t sign_extended(uint32_t value, uint32_t bits) { return (int32_t)(value << (32 - bits)) >> (32 - bits); }

/* The 10- and 11-bit floats have f16's exponent, no sign and fewer bits of fraction. */
static uint64_t small_float(uint32_t value, uint32_t bits)
{
    if (bits == 32)
        return value;
    return gg_float_convert(GG_F16, GG_F32, exact, bits == 16 ? value : value << (15 - bits));
}

uint32_t gg_format_decode(const struct gg_memory_format *format, uint32_t component, const uint8_t *element, bool d16)
{
    uint32_t bits = format->bits[component], value = extract(format, component, element);
    int32_t number = sign_extended(value, bits);
    double most = ldexp(1, (int)bits) - 1, most_signed = ldexp(1, (int)bits - 1) - 1;
    uint64_t f32;
    switch (format->numeric) {
    case GG_NUMERIC_UINT:
        return d16 ? value & 0xffff : value;
    case GG_NUMERIC_SINT:
        return d16 ? (uint32_t)number & 0xffff : (uint32_t)number;
    case GG_NUMERIC_UNORM:
        f32 = gg_float_from_double(GG_F32, exact, value / most);
        break;
    case GG_NUMERIC_SNORM:
        f32 = gg_float_from_double(GG_F32, exact, fmax(number / most_signed, -1));
        break;
    case GG_NUMERIC_USCALED:
        f32 = gg_float_from_u64(GG_F32, exact, value);
        break;
    case GG_NUMERIC_SSCALED:
        f32 = gg_float_from_i64(GG_F32, exact, number);
        break;
    default:
        f32 = small_float(value, bits);
        break;
    }
    return (uint32_t)(d16 ? gg_float_convert(GG_F32, GG_F16, exact, f32) : f32);
}

static uint32_t rounded_between(double value, double low, double high)
{
    double clamped = isnan(value) ? 0 : value < low ? low : value > high ? high : value;
    return (uint32_t)(int64_t)rint(clamped);
}

/* To f16 and smaller floats by cutting, as exports and stores do. */
static uint32_t to_small_float(uint32_t f32, uint32_t bits)
{
    static const struct gg_float_mode cut = {GG_ROUND_ZERO, true, true};
    if (bits == 32)
        return f32;
    uint32_t half = (uint32_t)gg_float_convert(GG_F32, GG_F16, bits == 16 ? exact : cut, f32);
    if (bits == 16)
        return half;
    bool is_nan = gg_float_is_nan(GG_F16, half);
    return half & 0x8000 && !is_nan ? 0 : (half & 0x7fff) >> (15 - bits);
}

void gg_format_encode(const struct gg_memory_format *format, uint32_t component, uint8_t *element, uint32_t value,
                      bool d16)
{
    uint32_t bits = format->bits[component];
    bool is_integer = format->numeric == GG_NUMERIC_UINT || format->numeric == GG_NUMERIC_SINT;
    double most = ldexp(1, (int)bits) - 1, most_signed = ldexp(1, (int)bits - 1) - 1;
    if (d16 && is_integer)
        value = format->numeric == GG_NUMERIC_SINT ? (uint32_t)sign_extended(value, 16) : value & 0xffff;
    else if (d16)
        value = (uint32_t)gg_float_convert(GG_F16, GG_F32, exact, value & 0xffff);
    double x = is_integer ? 0 : gg_float_to_double(GG_F32, value);
    switch (format->numeric) {
    case GG_NUMERIC_UINT: /* clamped */
        value = bits < 32 && value > (1u << bits) - 1 ? (1u << bits) - 1 : value;
        break;
    case GG_NUMERIC_SINT:
        value = rounded_between((int32_t)value, -most_signed - 1, most_signed);
        break;
    case GG_NUMERIC_UNORM:
        value = rounded_between(fmin(fmax(x, 0), 1) * most, 0, most);
        break;
    case GG_NUMERIC_SNORM:
        value = isnan(x) ? 0 : rounded_between(fmin(fmax(x, -1), 1) * most_signed, -most_signed, most_signed);
        break;
    case GG_NUMERIC_USCALED:
        value = rounded_between(trunc(x), 0, most);
        break;
    case GG_NUMERIC_SSCALED:
        value = rounded_between(trunc(x), -most_signed - 1, most_signed);
        break;
    default:
        value = to_small_float(value, bits);
        break;
    }
    insert(format, component, element, value);
}

/* ---- Loads and stores of elements ---- */

/* What dst_sel puts into register component c: 0, 1, or the element's component; that it lacks: 0, 0, 0, 1. */
static uint32_t chosen(const struct gg_memory_format *format, uint32_t dst_sel, uint32_t c, const uint8_t *element,
                       bool d16)
{
    bool is_integer = format->numeric == GG_NUMERIC_UINT || format->numeric == GG_NUMERIC_SINT;
    uint32_t select = dst_sel >> 3 * c & 7, one = is_integer ? 1 : d16 ? 0x3c00 : GG_F32_ONE;
    if (select < 4)
        return select == 1 ? one : 0;
    if (select - 4 < format->components)
        return gg_format_decode(format, select - 4, element, d16);
    return select == 7 ? one : 0;
}

static void load_element(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane,
                         const struct gg_place *place, const struct gg_memory_format *format, uint32_t dst_sel,
                         uint32_t component_mask)
{
    uint32_t flags = gg_inst_info(inst)->flags, at = 0;
    bool d16 = flags & GG_OPF_D16 || (inst->format == GG_FORMAT_MIMG && inst->flags & GG_INST_D16);
    uint8_t element[16] = {0};
    for (uint32_t i = 0; i < format->bytes && place->limit >= format->bytes; i++)
        element[i] = (uint8_t)gg_place_read(run, place, i, 1);
    for (uint32_t c = 0; c < 4; c++) {
        if (!(component_mask >> c & 1))
            continue;
        uint32_t value = chosen(format, dst_sel, c, element, d16);
        uint32_t *dst = gg_vgpr(run, wave, inst->dst[0].value + (d16 ? at / 2 : at)) + lane;
        if (!d16)
            *dst = value;
        else if (at % 2 || flags & GG_OPF_D16_HI)
            *dst = (*dst & 0xffff) | value << 16;
        else
            *dst = (*dst & 0xffff0000) | (value & 0xffff);
        at++;
    }
}

/* Elements smaller than the component count drop the rest; components that are not there are stored as 0. */
static void store_element(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane,
                          const struct gg_place *place, const struct gg_memory_format *format, uint32_t component_mask)
{
    uint32_t flags = gg_inst_info(inst)->flags, at = 0;
    bool d16 = flags & GG_OPF_D16 || (inst->format == GG_FORMAT_MIMG && inst->flags & GG_INST_D16);
    uint8_t element[16] = {0};
    for (uint32_t c = 0; c < 4; c++) {
        if (!(component_mask >> c & 1))
            continue;
        uint32_t value = gg_read_part(run, wave, &inst->src[3], d16 ? at / 2 : at, lane);
        if (d16)
            value = at % 2 || flags & GG_OPF_D16_HI ? value >> 16 : value & 0xffff;
        if (c < format->components)
            gg_format_encode(format, c, element, value, d16);
        at++;
    }
    for (uint32_t i = 0; i < format->bytes && place->limit >= format->bytes; i++)
        gg_place_write(run, place, i, 1, element[i]);
}

void gg_interp_formatted(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint64_t exec,
                         const struct gg_place *places, const struct gg_memory_format *format, uint32_t dst_sel,
                         uint32_t component_mask)
{
    bool loads = gg_inst_info(inst)->flags & GG_OPF_LOAD;
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        if (loads)
            load_element(run, wave, inst, lane, &places[lane], format, dst_sel, component_mask);
        else
            store_element(run, wave, inst, lane, &places[lane], format, component_mask);
    }
}

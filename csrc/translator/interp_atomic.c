/* SPDX-License-Identifier: MIT */
#include "interp.h"

static int64_t as_signed(uint64_t value, uint32_t bits)
{
    return bits == 64 ? (int64_t)value : (int64_t)(int32_t)value;
}

/* Floats compare by value; denormals follow MODE. */
static uint64_t float_result(const struct gg_wave *wave, enum gg_atomic atomic, uint32_t bits, uint64_t old,
                             uint64_t data, uint64_t second)
{
    enum gg_float format = bits == 64 ? GG_F64 : GG_F32;
    struct gg_float_mode mode = gg_wave_float_mode(wave, format);
    bool ieee = wave->mode & GG_MODE_IEEE;
    mode.round = GG_ROUND_EVEN;
    switch (atomic) {
    case GG_ATOMIC_FCMPSWAP:
        return gg_float_compare(format, mode, old, second) == GG_ORDER_EQUAL ? data : old;
    case GG_ATOMIC_FMIN:
        return gg_float_min(format, mode, ieee, old, data);
    case GG_ATOMIC_FMAX:
        return gg_float_max(format, mode, ieee, old, data);
    default:
        return gg_float_add(format, mode, old, data);
    }
}

uint64_t gg_atomic_result(const struct gg_wave *wave, enum gg_atomic atomic, uint32_t bits, uint64_t old, uint64_t data,
                          uint64_t second)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : UINT32_MAX;
    bool less = as_signed(old, bits) < as_signed(data, bits);
    switch (atomic) {
    case GG_ATOMIC_SWAP:
        return data;
    case GG_ATOMIC_CMPSWAP:
        return old == second ? data : old;
    case GG_ATOMIC_ADD:
        return (old + data) & mask;
    case GG_ATOMIC_SUB:
        return (old - data) & mask;
    case GG_ATOMIC_CSUB: /* clamped to 0 */
        return old < data ? 0 : old - data;
    case GG_ATOMIC_RSUB:
        return (data - old) & mask;
    case GG_ATOMIC_SMIN:
        return less ? old : data;
    case GG_ATOMIC_SMAX:
        return less ? data : old;
    case GG_ATOMIC_UMIN:
        return old < data ? old : data;
    case GG_ATOMIC_UMAX:
        return old < data ? data : old;
    case GG_ATOMIC_AND:
        return old & data;
    case GG_ATOMIC_OR:
        return old | data;
    case GG_ATOMIC_XOR:
        return old ^ data;
    case GG_ATOMIC_INC: /* wraps to 0 after the data */
        return old >= data ? 0 : old + 1;
    case GG_ATOMIC_DEC: /* wraps to the data */
        return old == 0 || old > data ? data : old - 1;
    case GG_ATOMIC_MSKOR:
        return (old & ~data) | second;
    case GG_ATOMIC_WRAP:
        return old >= data ? old - data : (old + second) & mask;
    default:
        return float_result(wave, atomic, bits, old, data, second);
    }
}

/* The operations of DS by the low five bits of the code; others: none. */
static enum gg_atomic ds_atomic(uint32_t code)
{
    static const uint8_t atomics[32] = {
        GG_ATOMIC_ADD,   GG_ATOMIC_SUB,  GG_ATOMIC_RSUB,  GG_ATOMIC_INC,  GG_ATOMIC_DEC,     GG_ATOMIC_SMIN,
        GG_ATOMIC_SMAX,  GG_ATOMIC_UMIN, GG_ATOMIC_UMAX,  GG_ATOMIC_AND,  GG_ATOMIC_OR,      GG_ATOMIC_XOR,
        GG_ATOMIC_MSKOR, GG_ATOMIC_SWAP, GG_ATOMIC_SWAP,  GG_ATOMIC_SWAP, GG_ATOMIC_CMPSWAP, GG_ATOMIC_FCMPSWAP,
        GG_ATOMIC_FMIN,  GG_ATOMIC_FMAX, GG_ATOMIC_COUNT, GG_ATOMIC_FADD, GG_ATOMIC_COUNT};
    return (code & 31) > 21 ? GG_ATOMIC_COUNT : (enum gg_atomic)atomics[code & 31];
}

enum gg_atomic gg_atomic_of(const struct gg_op_info *info, uint32_t *bits)
{
    uint32_t code = info->code;
    *bits = 32;
    if (!(info->flags & GG_OPF_ATOMIC))
        return GG_ATOMIC_COUNT;
    switch (info->format) {
    case GG_FORMAT_DS:
        *bits = info->src[1].width > 1 ? 64 : 32;
        return ds_atomic(code);
    case GG_FORMAT_MUBUF:
    case GG_FORMAT_FLAT:
    case GG_FORMAT_GLOBAL:
        *bits = code >= 0x50 ? 64 : 32;
        code -= code >= 0x50 ? 0x50 : 0x30;
        return code <= GG_ATOMIC_FMAX ? (enum gg_atomic)code : GG_ATOMIC_COUNT;
    case GG_FORMAT_MIMG: /* 64 bits by the width of the data */
        code -= 0xf;
        return code <= GG_ATOMIC_FMAX ? (enum gg_atomic)code : GG_ATOMIC_COUNT;
    case GG_FORMAT_SMEM: /* without csub and floats */
        *bits = code & 0x20 ? 64 : 32;
        code &= 0x1f;
        code += code >= 4;
        return code <= GG_ATOMIC_DEC ? (enum gg_atomic)code : GG_ATOMIC_COUNT;
    default:
        return GG_ATOMIC_COUNT;
    }
}

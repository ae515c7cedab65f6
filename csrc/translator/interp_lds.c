/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * DS. LDS is unaligned memory of bytes for loads and stores (as drivers set it up); atomics are aligned. Atomics
 * of one instruction are done lane after lane. GDS is not there.
 */

static bool is_st64(uint16_t op)
{
    switch (op) {
    case GG_OP_ds_read2st64_b32:
    case GG_OP_ds_read2st64_b64:
    case GG_OP_ds_write2st64_b32:
    case GG_OP_ds_write2st64_b64:
    case GG_OP_ds_wrxchg2st64_rtn_b32:
    case GG_OP_ds_wrxchg2st64_rtn_b64:
        return true;
    default:
        return false;
    }
}

/* Bytes of an element narrower than a dword; 0 for others. */
static uint32_t small_bytes(uint16_t op, bool *is_signed)
{
    *is_signed = false;
    switch (op) {
    case GG_OP_ds_read_i8:
    case GG_OP_ds_read_i8_d16:
    case GG_OP_ds_read_i8_d16_hi:
        *is_signed = true;
        return 1;
    case GG_OP_ds_read_u8:
    case GG_OP_ds_read_u8_d16:
    case GG_OP_ds_read_u8_d16_hi:
    case GG_OP_ds_write_b8:
    case GG_OP_ds_write_b8_d16_hi:
        return 1;
    case GG_OP_ds_read_i16:
        *is_signed = true;
        return 2;
    case GG_OP_ds_read_u16:
    case GG_OP_ds_read_u16_d16:
    case GG_OP_ds_read_u16_d16_hi:
    case GG_OP_ds_write_b16:
    case GG_OP_ds_write_b16_d16_hi:
        return 2;
    default:
        return 0;
    }
}

/* One lane's addresses: a second one of two-address operations. */
struct addresses {
    uint32_t first, second;
};

static struct addresses addresses_of(struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst,
                                     uint32_t lane, uint32_t element)
{
    uint32_t base = (uint32_t)gg_read_lane(run, wave, &inst->src[0], lane);
    if (gg_inst_info(inst)->flags & GG_OPF_TWO) {
        uint32_t unit = is_st64(inst->op) ? 64 * element : element;
        return (struct addresses){base + inst->ds.offset0 * unit, base + inst->ds.offset1 * unit};
    }
    if (inst->op == GG_OP_ds_read_addtid_b32 || inst->op == GG_OP_ds_write_addtid_b32)
        base = (wave->sgpr[GG_SGPR_M0] & 0xffff) + 4 * lane;
    return (struct addresses){base + (uint32_t)inst->imm, 0};
}

static void lane_load(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane)
{
    uint32_t flags = gg_inst_info(inst)->flags, width = inst->dst[0].width, values[4] = {0};
    bool two = flags & GG_OPF_TWO, is_signed;
    uint32_t bytes = small_bytes(inst->op, &is_signed), half = two ? width / 2 : width;
    struct addresses at = addresses_of(run, wave, inst, lane, 4 * half);
    uint32_t *dst = gg_vgpr(run, wave, inst->dst[0].value) + lane;
    if (bytes) {
        uint32_t value = (uint32_t)gg_lds_read(run, at.first, bytes);
        value = is_signed ? gg_sign_extend(value, 8 * bytes) : value;
        if (flags & GG_OPF_D16_HI)
            value = (*dst & 0xffff) | value << 16;
        else if (flags & GG_OPF_D16)
            value = (*dst & 0xffff0000) | (value & 0xffff);
        *dst = value;
        return;
    }
    for (uint32_t i = 0; i < width && i < 4; i++)
        values[i] = (uint32_t)gg_lds_read(run, i < half ? at.first + 4 * i : at.second + 4 * (i - half), 4);
    for (uint32_t i = 0; i < width && i < 4; i++)
        dst[(uint64_t)i * run->lanes] = values[i];
}

static void lane_store(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane)
{
    uint32_t flags = gg_inst_info(inst)->flags, width = inst->src[1].width;
    bool is_signed;
    uint32_t bytes = small_bytes(inst->op, &is_signed);
    struct addresses at = addresses_of(run, wave, inst, lane, 4 * width);
    if (bytes) {
        uint32_t value = gg_read_part(run, wave, &inst->src[1], 0, lane);
        gg_lds_write(run, at.first, bytes, flags & GG_OPF_D16_HI ? value >> 16 : value);
        return;
    }
    for (uint32_t i = 0; i < width; i++)
        gg_lds_write(run, at.first + 4 * i, 4, gg_read_part(run, wave, &inst->src[1], i, lane));
    for (uint32_t i = 0; i < width && flags & GG_OPF_TWO; i++)
        gg_lds_write(run, at.second + 4 * i, 4, gg_read_part(run, wave, &inst->src[2], i, lane));
}

/* Each dword of the pair is exchanged if bit 31 of its data is set, without that bit. */
static uint64_t conditional_exchange(uint64_t old, uint64_t data)
{
    uint64_t result = 0;
    for (uint32_t shift = 0; shift < 64; shift += 32) {
        uint32_t word = (uint32_t)(data >> shift);
        result |= (uint64_t)(word >> 31 ? word & 0x7fffffff : (uint32_t)(old >> shift)) << shift;
    }
    return result;
}

static void lane_atomic(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane)
{
    uint32_t bits, parts;
    enum gg_atomic atomic = gg_atomic_of(gg_inst_info(inst), &bits);
    bool two = gg_inst_info(inst)->flags & GG_OPF_TWO;
    uint64_t data[2], old[2] = {0};
    if (inst->op == GG_OP_ds_wrap_rtn_b32)
        atomic = GG_ATOMIC_WRAP;
    parts = bits / 32;
    struct addresses at = addresses_of(run, wave, inst, lane, bits / 8);
    uint32_t places[2] = {at.first & ~(bits / 8 - 1), at.second & ~(bits / 8 - 1)};
    data[0] = gg_read_lane(run, wave, &inst->src[1], lane);
    data[1] = gg_read_lane(run, wave, &inst->src[2], lane);
    for (uint32_t i = 0; i < (two ? 2u : 1u); i++) {
        old[i] = gg_lds_read(run, places[i], bits / 8);
        uint64_t result;
        if (inst->op == GG_OP_ds_condxchg32_rtn_b64)
            result = conditional_exchange(old[0], data[0]);
        else if (atomic == GG_ATOMIC_CMPSWAP || atomic == GG_ATOMIC_FCMPSWAP) /* DS has the comparand first */
            result = gg_atomic_result(wave, atomic, bits, old[i], data[1], data[0]);
        else
            result = gg_atomic_result(wave, atomic, bits, old[i], data[i], data[1]);
        gg_lds_write(run, places[i], bits / 8, result);
    }
    if (inst->dst[0].kind != GG_OPERAND_VGPR)
        return;
    for (uint32_t i = 0; i < inst->dst[0].width && i < 2 * parts; i++)
        gg_vgpr(run, wave, inst->dst[0].value + i)[lane] = (uint32_t)(old[i / parts] >> 32 * (i % parts));
}

/* The counter at M0 + offset moves by the number of active lanes, once for the wave; all see its old value. */
static void append(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint64_t exec = gg_exec(run, wave);
    uint32_t count = (uint32_t)__builtin_popcountll(exec);
    uint32_t address = ((wave->sgpr[GG_SGPR_M0] & 0xffff) + (uint32_t)inst->imm) & ~3u;
    if (!exec)
        return;
    uint32_t old = (uint32_t)gg_lds_read(run, address, 4);
    gg_lds_write(run, address, 4, inst->op == GG_OP_ds_append ? old + count : old - count);
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        if (exec >> lane & 1)
            gg_vgpr(run, wave, inst->dst[0].value)[lane] = old;
}

/* The lane that ds_swizzle reads for `lane`: inside each half of 32. */
static uint32_t swizzle_lane(uint32_t offset, uint32_t lane)
{
    uint32_t half = lane & 32, at = lane & 31, mask = offset & 31, from;
    if (offset >= 0xe000) { /* as a fast Fourier transform wants it */
        from = 0;
        for (uint32_t i = 0; i < 5; i++)
            from |= (at >> i & 1) << (4 - i);
        from = from >> __builtin_popcount(mask) | (at & mask);
    } else if (offset >= 0xc000) { /* rotate */
        uint32_t by = offset >> 5 & 31;
        from = (at & mask) | ((offset & 0x400 ? at - by : at + by) & ~mask);
    } else if (offset >= 0x8000) { /* in each four */
        from = (at & ~3u) | (offset >> 2 * (at & 3) & 3);
    } else { /* and, or, xor */
        from = ((at & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
    }
    return half | (from & 31);
}

/* Lanes of a wave64 reach their own half only. Lanes outside EXEC give 0, and get nothing. */
static void permute(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint64_t exec = gg_exec(run, wave);
    uint32_t results[GG_MAX_LANES] = {0};
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        uint32_t address = (uint32_t)gg_read_lane(run, wave, &inst->src[0], lane);
        uint32_t other = (lane & 32) | ((address + (uint32_t)inst->imm) / 4 & 31);
        if (inst->op == GG_OP_ds_swizzle_b32) {
            other = swizzle_lane((uint32_t)inst->imm & 0xffff, lane);
            results[lane] = exec >> other & 1 ? (uint32_t)gg_read_lane(run, wave, &inst->src[0], other) : 0;
        } else if (inst->op == GG_OP_ds_bpermute_b32) {
            results[lane] = exec >> other & 1 ? gg_read_part(run, wave, &inst->src[1], 0, other) : 0;
        } else if (exec >> lane & 1) { /* of several that send to one lane the last wins */
            results[other] = gg_read_part(run, wave, &inst->src[1], 0, lane);
        }
    }
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        if (exec >> lane & 1)
            gg_vgpr(run, wave, inst->dst[0].value)[lane] = results[lane];
}

static bool is_permute(uint16_t op)
{
    return op == GG_OP_ds_swizzle_b32 || op == GG_OP_ds_permute_b32 || op == GG_OP_ds_bpermute_b32;
}

bool gg_interp_has_lds(uint16_t op)
{
    const struct gg_op_info *info = &gg_op_infos[op];
    bool src2 = info->code >= 0x80 && info->src[1].type == GG_TYPE_NONE && /* LDS to LDS, of gfx1013 */
                (info->flags & GG_OPF_ATOMIC || (info->flags & GG_OPF_STORE && info->src[0].type));
    return is_permute(op) || op == GG_OP_ds_nop || (info->flags & GG_OPF_LDS && !src2);
}

void gg_interp_lds(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t flags = gg_inst_info(inst)->flags;
    uint64_t exec = gg_exec(run, wave);
    if (!gg_interp_has_lds(inst->op) || inst->flags & GG_INST_GDS) {
        gg_interp_unsupported(run, inst->flags & GG_INST_GDS ? "GDS" : "it");
        return;
    }
    if (inst->op == GG_OP_ds_nop)
        return;
    if (is_permute(inst->op)) {
        permute(run, wave, inst);
        return;
    }
    if (inst->op == GG_OP_ds_append || inst->op == GG_OP_ds_consume) {
        append(run, wave, inst);
        return;
    }
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        if (flags & GG_OPF_ATOMIC)
            lane_atomic(run, wave, inst, lane);
        else if (flags & GG_OPF_LOAD)
            lane_load(run, wave, inst, lane);
        else
            lane_store(run, wave, inst, lane);
    }
}

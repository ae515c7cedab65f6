/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * What crosses lanes: DPP and SDWA selections, readlane and its like, permlane, relative moves. And the one vector
 * operation of four dwords.
 */

static uint32_t dword_of(uint64_t value) { return (uint32_t)value; }

/* The lane that DPP16 reads for `lane`, or UINT32_MAX where the row ends. */
static uint32_t dpp16_lane(uint32_t ctrl, uint32_t lane)
{
    uint32_t row = lane & ~15u, at = lane & 15, by = ctrl & 15;
    switch (ctrl >> 4) {
    case 0x10: /* row_shl */
        return at + by < 16 ? row + at + by : UINT32_MAX;
    case 0x11: /* row_shr */
        return at >= by ? row + at - by : UINT32_MAX;
    case 0x12: /* row_ror */
        return row + ((at - by) & 15);
    case 0x14: /* row_mirror, row_half_mirror */
        return by ? lane ^ 7 : lane ^ 15;
    case 0x15: /* row_share */
        return row + by;
    case 0x16: /* row_xmask */
        return lane ^ by;
    default: /* quad_perm */
        return (lane & ~3u) | (ctrl >> 2 * (lane & 3) & 3);
    }
}

void gg_interp_dpp(const struct gg_interp *run, const struct gg_inst *inst, uint64_t exec, const uint64_t *raw,
                   uint64_t *moved, uint64_t *valid)
{
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        uint64_t bit = UINT64_C(1) << lane;
        bool dpp8 = inst->form == GG_FORM_DPP8;
        uint32_t from =
            dpp8 ? (lane & ~7u) | (inst->dpp8.select >> 3 * (lane & 7) & 7) : dpp16_lane(inst->dpp16.ctrl, lane);
        bool there = from < run->lanes && (exec >> from & 1 || (dpp8 ? inst->dpp8.fi : inst->dpp16.fi));
        moved[lane] = there ? raw[from] : 0;
        if (dpp8)
            continue;
        bool written = inst->dpp16.row_mask >> (lane >> 4) & 1 && inst->dpp16.bank_mask >> (lane >> 2 & 3) & 1;
        if (!written || (!there && !inst->dpp16.bound_ctrl))
            *valid &= ~bit;
    }
}

/* First bit and number of bits of a selection. */
static void sdwa_field(uint32_t select, uint32_t *shift, uint32_t *bits)
{
    *shift = select <= GG_SDWA_BYTE_3 ? 8 * select : select == GG_SDWA_WORD_1 ? 16 : 0;
    *bits = select <= GG_SDWA_BYTE_3 ? 8 : select == GG_SDWA_DWORD ? 32 : 16;
}

uint32_t gg_sdwa_source(const struct gg_inst *inst, uint32_t source, uint32_t value)
{
    uint32_t shift, bits;
    sdwa_field(inst->sdwa.src_sel[source], &shift, &bits);
    uint32_t high = value >> shift << (32 - bits);
    return inst->sdwa.sext >> source & 1 ? (uint32_t)((int32_t)high >> (32 - bits)) : high >> (32 - bits);
}

uint32_t gg_sdwa_result(const struct gg_inst *inst, uint32_t old, uint32_t value)
{
    uint32_t shift, bits;
    sdwa_field(inst->sdwa.dst_sel, &shift, &bits);
    uint32_t mask = UINT32_MAX >> (32 - bits) << shift, placed = value << shift & mask;
    if (inst->sdwa.dst_unused == GG_SDWA_UNUSED_PRESERVE)
        return (old & ~mask) | placed;
    if (inst->sdwa.dst_unused == GG_SDWA_UNUSED_SEXT && value >> (bits - 1) & 1)
        return placed | ~(mask | ((1u << shift) - 1)); /* below the field zeros, above it its sign */
    return placed;
}

static uint32_t first_lane(uint64_t exec) { return exec ? (uint32_t)__builtin_ctzll(exec) : 0; }

static void permlane(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    bool fetch_inactive = inst->op_sel & 1, bound_control = inst->op_sel & 2;
    uint64_t exec = gg_exec(run, wave), results[GG_MAX_LANES];
    uint64_t selects =
        (gg_read_uniform(run, wave, &inst->src[1]) & UINT32_MAX) | gg_read_uniform(run, wave, &inst->src[2]) << 32;
    uint32_t *dst = gg_vgpr(run, wave, inst->dst[0].value);
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        uint32_t row = (lane & ~15u) ^ (inst->op == GG_OP_v_permlanex16_b32 ? 16 : 0);
        uint32_t from = row + (uint32_t)(selects >> 4 * (lane & 15) & 15);
        if (exec >> from & 1 || fetch_inactive)
            results[lane] = gg_read_lane(run, wave, &inst->src[0], from);
        else
            results[lane] = bound_control ? 0 : dst[lane];
    }
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        if (exec >> lane & 1)
            dst[lane] = dword_of(results[lane]);
}

/* A register number moved by M0; NULL, with the failure noted, where it leaves the wave's registers. */
static uint32_t *relative(struct gg_interp *run, struct gg_wave *wave, uint32_t number, uint32_t by)
{
    uint64_t moved = (uint64_t)number + by;
    if (moved < run->vgprs)
        return gg_vgpr(run, wave, (uint32_t)moved);
    gg_interp_fail(run, GG_ERR_FORMAT, "v%llu is above the %u VGPRs of the launch state", (unsigned long long)moved,
                   run->vgprs);
    return NULL;
}

static void relative_move(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t m0 = wave->sgpr[GG_SGPR_M0], src_by = 0, dst_by = 0;
    uint64_t exec = gg_exec(run, wave);
    if (inst->op == GG_OP_v_movrelsd_2_b32 || inst->op == GG_OP_v_swaprel_b32) {
        src_by = m0 & 0x3ff;
        dst_by = m0 >> 16 & 0x3ff;
    } else {
        src_by = inst->op == GG_OP_v_movreld_b32 ? 0 : m0;
        dst_by = inst->op == GG_OP_v_movrels_b32 ? 0 : m0;
    }
    if (inst->form != GG_FORM_PLAIN) {
        gg_interp_unsupported(run, "its SDWA and DPP forms");
        return;
    }
    uint32_t *dst = relative(run, wave, inst->dst[0].value, dst_by), *src = NULL;
    if (inst->src[0].kind == GG_OPERAND_VGPR)
        src = relative(run, wave, inst->src[0].value, src_by);
    if (!dst || (!src && inst->src[0].kind == GG_OPERAND_VGPR))
        return;
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        uint32_t old = dst[lane];
        dst[lane] = src ? src[lane] : dword_of(gg_read_uniform(run, wave, &inst->src[0]));
        if (src && inst->op == GG_OP_v_swaprel_b32)
            src[lane] = old;
    }
}

/* v_mqsad_u32_u8: four masked sums of differences of a sliding window, each added to its dword. */
static void quad_sad(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint64_t exec = gg_exec(run, wave);
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        uint64_t window = gg_read_lane(run, wave, &inst->src[0], lane), sums[4];
        uint32_t reference = dword_of(gg_read_lane(run, wave, &inst->src[1], lane));
        for (uint32_t i = 0; i < 4; i++) {
            sums[i] = gg_read_part(run, wave, &inst->src[2], i, lane);
            for (uint32_t byte = 0; byte < 4; byte++) {
                int32_t b = (int32_t)(reference >> 8 * byte & 0xff);
                int32_t a = (int32_t)(window >> 8 * (i + byte) & 0xff);
                sums[i] += b ? (uint32_t)(a > b ? a - b : b - a) : 0;
            }
            if (inst->flags & GG_INST_CLAMP && sums[i] > UINT32_MAX)
                sums[i] = UINT32_MAX;
        }
        for (uint32_t i = 0; i < 4; i++)
            gg_vgpr(run, wave, inst->dst[0].value + i)[lane] = dword_of(sums[i]);
    }
}

bool gg_interp_has_lane(uint16_t op)
{
    switch (op) {
    case GG_OP_v_readfirstlane_b32:
    case GG_OP_v_readlane_b32:
    case GG_OP_v_writelane_b32:
    case GG_OP_v_permlane16_b32:
    case GG_OP_v_permlanex16_b32:
    case GG_OP_v_movreld_b32:
    case GG_OP_v_movrels_b32:
    case GG_OP_v_movrelsd_b32:
    case GG_OP_v_movrelsd_2_b32:
    case GG_OP_v_swap_b32:
    case GG_OP_v_swaprel_b32:
    case GG_OP_v_mqsad_u32_u8:
    case GG_OP_v_nop:
    case GG_OP_v_pipeflush:
    case GG_OP_v_clrexcp:
        return true;
    default:
        return false;
    }
}

void gg_interp_cross_lane(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t lane;
    switch (inst->op) {
    case GG_OP_v_readfirstlane_b32: /* of no lane: the first */
        lane = first_lane(gg_exec(run, wave));
        gg_write_sgpr(wave, inst->dst[0].value, dword_of(gg_read_lane(run, wave, &inst->src[0], lane)));
        break;
    case GG_OP_v_readlane_b32: /* whether it is active or not */
        lane = dword_of(gg_read_uniform(run, wave, &inst->src[1])) & (run->lanes - 1);
        gg_write_sgpr(wave, inst->dst[0].value, dword_of(gg_read_lane(run, wave, &inst->src[0], lane)));
        break;
    case GG_OP_v_writelane_b32:
        lane = dword_of(gg_read_uniform(run, wave, &inst->src[1])) & (run->lanes - 1);
        gg_vgpr(run, wave, inst->dst[0].value)[lane] = dword_of(gg_read_uniform(run, wave, &inst->src[0]));
        break;
    case GG_OP_v_permlane16_b32:
    case GG_OP_v_permlanex16_b32:
        permlane(run, wave, inst);
        break;
    case GG_OP_v_swap_b32: {
        uint64_t exec = gg_exec(run, wave);
        uint32_t *a = gg_vgpr(run, wave, inst->dst[0].value), *b = gg_vgpr(run, wave, inst->src[0].value);
        for (lane = 0; lane < run->lanes; lane++) {
            if (!(exec >> lane & 1))
                continue;
            uint32_t old = a[lane];
            a[lane] = b[lane];
            b[lane] = old;
        }
        break;
    }
    case GG_OP_v_movreld_b32:
    case GG_OP_v_movrels_b32:
    case GG_OP_v_movrelsd_b32:
    case GG_OP_v_movrelsd_2_b32:
    case GG_OP_v_swaprel_b32:
        relative_move(run, wave, inst);
        break;
    case GG_OP_v_mqsad_u32_u8:
        quad_sad(run, wave, inst);
        break;
    default: /* v_nop, v_pipeflush, v_clrexcp */
        break;
    }
}

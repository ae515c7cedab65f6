/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * Program control: branches, calls, barriers, messages, and the hardware registers of s_getreg and s_setreg.
 */

/* Register numbers of s_getreg and s_setreg. */
enum hwreg {
    HWREG_MODE = 1,
    HWREG_STATUS = 2,
    HWREG_SH_MEM_BASES = 15,
    HWREG_FLAT_SCR_LO = 20,
    HWREG_FLAT_SCR_HI = 21,
    HWREG_SHADER_CYCLES = 29
};

static void jump(struct gg_interp *run, struct gg_wave *wave, int64_t target)
{
    if (target < 0 || (uint64_t)target >= 4 * run->program->word_count || target % 4)
        gg_interp_fail(run, GG_ERR_FORMAT, "jumps to %lld, outside the program's %llu bytes", (long long)target,
                       (unsigned long long)(4 * run->program->word_count));
    else
        wave->pc = (uint64_t)target;
}

static void jump_to_address(struct gg_interp *run, struct gg_wave *wave, uint64_t address)
{
    uint64_t offset = address - run->program->address;
    if (address < run->program->address || offset >= 4 * run->program->word_count || offset % 4)
        gg_interp_fail(run, GG_ERR_FORMAT, "jumps to address 0x%llx, outside the program", (unsigned long long)address);
    else
        wave->pc = offset;
}

static uint64_t low_bits(uint32_t count) { return (UINT64_C(1) << count) - 1; } /* of at most 32 */

static void get_register(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t select = (uint32_t)inst->imm, offset = select >> 6 & 31, bits = (select >> 11 & 31) + 1, value;
    switch (select & 63) {
    case HWREG_MODE:
        value = wave->mode;
        break;
    case HWREG_STATUS:
        value = wave->scc | (uint32_t)(gg_exec(run, wave) == 0) << 9 |
                (uint32_t)(gg_read_mask(run, wave, GG_SGPR_VCC_LO) == 0) << 10;
        break;
    case HWREG_SH_MEM_BASES:
        value = (uint32_t)(GG_PRIVATE_APERTURE >> 48 | GG_SHARED_APERTURE >> 48 << 16);
        break;
    case HWREG_FLAT_SCR_LO:
        value = (uint32_t)wave->flat_scratch;
        break;
    case HWREG_FLAT_SCR_HI:
        value = (uint32_t)(wave->flat_scratch >> 32);
        break;
    case HWREG_SHADER_CYCLES:
        value = (uint32_t)run->report->instructions & 0xfffff;
        break;
    default:
        gg_interp_fail(run, GG_ERR_UNSUPPORTED, "hardware register %u is not interpreted", select & 63);
        return;
    }
    gg_write_sgpr(wave, inst->dst[0].value, (uint32_t)(value >> offset & low_bits(bits)));
}

static void set_register(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t value)
{
    uint32_t select = (uint32_t)inst->imm, offset = select >> 6 & 31, bits = (select >> 11 & 31) + 1;
    uint32_t mask = (uint32_t)(low_bits(bits) << offset), placed = value << offset & mask;
    uint64_t wide = mask, high = placed;
    switch (select & 63) {
    case HWREG_MODE:
        wave->mode = (wave->mode & ~mask) | placed;
        break;
    case HWREG_FLAT_SCR_LO:
        wave->flat_scratch = (wave->flat_scratch & ~wide) | placed;
        break;
    case HWREG_FLAT_SCR_HI:
        wave->flat_scratch = (wave->flat_scratch & ~(wide << 32)) | high << 32;
        break;
    default:
        gg_interp_fail(run, GG_ERR_UNSUPPORTED, "hardware register %u is not interpreted", select & 63);
        return;
    }
    if (wave->mode & GG_MODE_FP16_OVFL)
        gg_interp_unsupported(run, "MODE.FP16_OVFL");
}

/* A wave64 runs the loop's body first for its low half, then for its high one. */
static bool subvector_loop(struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t *low = &wave->sgpr[GG_SGPR_EXEC_LO], *high = &wave->sgpr[GG_SGPR_EXEC_HI];
    uint32_t saved = gg_read_sgpr(wave, inst->dst[0].value);
    if (inst->op == GG_OP_s_subvector_loop_begin) {
        if (!*low && !*high)
            return true;
        gg_write_sgpr(wave, inst->dst[0].value, *low ? *high : *low);
        if (*low)
            *high = 0;
        return false;
    }
    if (*high) {
        *low = saved;
        return false;
    }
    if (!saved)
        return false;
    *high = saved;
    gg_write_sgpr(wave, inst->dst[0].value, *low);
    *low = 0;
    return true;
}

/* Branches, calls, barriers, messages; what only waits or hints does nothing. */
bool gg_interp_control(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint64_t a)
{
    uint64_t vcc = gg_read_mask(run, wave, GG_SGPR_VCC_LO), next = run->program->address + wave->pc;
    bool taken = false;
    switch (inst->op) {
    case GG_OP_s_branch:
        taken = true;
        break;
    case GG_OP_s_cbranch_scc0:
        taken = !wave->scc;
        break;
    case GG_OP_s_cbranch_scc1:
        taken = wave->scc;
        break;
    case GG_OP_s_cbranch_vccz:
        taken = !vcc;
        break;
    case GG_OP_s_cbranch_vccnz:
        taken = vcc;
        break;
    case GG_OP_s_cbranch_execz:
        taken = !gg_exec(run, wave);
        break;
    case GG_OP_s_cbranch_execnz:
        taken = gg_exec(run, wave);
        break;
    case GG_OP_s_cbranch_cdbgsys: /* no debugger */
    case GG_OP_s_cbranch_cdbguser:
    case GG_OP_s_cbranch_cdbgsys_or_user:
    case GG_OP_s_cbranch_cdbgsys_and_user:
        break;
    case GG_OP_s_subvector_loop_begin:
    case GG_OP_s_subvector_loop_end:
        taken = subvector_loop(wave, inst);
        break;
    case GG_OP_s_getpc_b64:
        gg_write_sgprs(wave, inst->dst[0].value, 2, next);
        break;
    case GG_OP_s_setpc_b64:
        jump_to_address(run, wave, a);
        break;
    case GG_OP_s_swappc_b64:
        gg_write_sgprs(wave, inst->dst[0].value, 2, next);
        jump_to_address(run, wave, a);
        break;
    case GG_OP_s_call_b64:
        gg_write_sgprs(wave, inst->dst[0].value, 2, next);
        taken = true;
        break;
    case GG_OP_s_endpgm:
    case GG_OP_s_endpgm_saved:
    case GG_OP_s_endpgm_ordered_ps_done:
        wave->state = GG_WAVE_ENDED;
        break;
    case GG_OP_s_barrier:
        wave->state = GG_WAVE_WAITS;
        break;
    case GG_OP_s_sendmsg:
        gg_interp_output(run, (struct gg_interp_output){.kind = GG_INTERP_MESSAGE,
                                                        .number = (uint32_t)inst->imm & 0xffff,
                                                        .wave = wave->index,
                                                        .value = {wave->sgpr[GG_SGPR_M0]}});
        break;
    case GG_OP_s_getreg_b32:
        get_register(run, wave, inst);
        break;
    case GG_OP_s_setreg_b32:
    case GG_OP_s_setreg_imm32_b32:
        set_register(run, wave, inst, (uint32_t)a);
        break;
    case GG_OP_s_round_mode:
        wave->mode = (wave->mode & ~0xfu) | ((uint32_t)inst->imm & 15);
        break;
    case GG_OP_s_denorm_mode:
        wave->mode = (wave->mode & ~0xf0u) | ((uint32_t)inst->imm & 15) << 4;
        break;
    case GG_OP_s_nop:
    case GG_OP_s_version:
    case GG_OP_s_wakeup:
    case GG_OP_s_waitcnt:
    case GG_OP_s_waitcnt_vscnt:
    case GG_OP_s_waitcnt_vmcnt:
    case GG_OP_s_waitcnt_expcnt:
    case GG_OP_s_waitcnt_lgkmcnt:
    case GG_OP_s_waitcnt_depctr:
    case GG_OP_s_wait_idle:
    case GG_OP_s_sleep:
    case GG_OP_s_setprio:
    case GG_OP_s_icache_inv:
    case GG_OP_s_incperflevel:
    case GG_OP_s_decperflevel:
    case GG_OP_s_ttracedata:
    case GG_OP_s_ttracedata_imm:
    case GG_OP_s_inst_prefetch:
    case GG_OP_s_clause:
        break;
    default:
        return false;
    }
    if (taken)
        jump(run, wave, gg_inst_branch_target(inst));
    return true;
}

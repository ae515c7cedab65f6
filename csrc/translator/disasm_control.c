/* SPDX-License-Identifier: MIT */
/* SOPK and SOPP: what the 16 bits mean. */
#include "disasm_internal.h"

static void add_hwreg(struct gg_text *t, bool gfx1013, uint32_t imm)
{
    static const char *const names[30] = {
        [1] = "MODE",    [2] = "STATUS",        [3] = "TRAPSTS",        [5] = "GPR_ALLOC",   [6] = "LDS_ALLOC",
        [7] = "IB_STS",  [15] = "SH_MEM_BASES", [16] = "TBA_LO",        [17] = "TBA_HI",     [18] = "TMA_LO",
        [19] = "TMA_HI", [20] = "FLAT_SCR_LO",  [21] = "FLAT_SCR_HI",   [22] = "XNACK_MASK", [23] = "HW_ID1",
        [24] = "HW_ID2", [25] = "POPS_PACKER",  [29] = "SHADER_CYCLES",
    };
    uint32_t id = imm & 63, offset = imm >> 6 & 31, size = (imm >> 11 & 31) + 1;
    bool named = id < 30 && names[id] && id != (gfx1013 ? 29 : 22); /* the one that the target lacks */
    gg_text_item(t);
    if (named)
        gg_text_add(t, "hwreg(HW_REG_%s", names[id]);
    else
        gg_text_add(t, "hwreg(%u", id);
    if (offset || size != 32)
        gg_text_add(t, ", %u, %u", offset, size);
    gg_text_add(t, ")");
}

static void add_waitcnt(struct gg_text *t, uint32_t imm)
{
    uint32_t vm = (imm & 15) | (imm >> 14 & 3) << 4, exp = imm >> 4 & 7, lgkm = imm >> 8 & 63;
    bool none = vm == 63 && exp == 7 && lgkm == 63;
    if (vm != 63 || none)
        gg_text_add(t, " vmcnt(%u)", vm);
    if (exp != 7 || none)
        gg_text_add(t, " expcnt(%u)", exp);
    if (lgkm != 63 || none)
        gg_text_add(t, " lgkmcnt(%u)", lgkm);
}

static void add_depctr(struct gg_text *t, bool gfx1013, uint32_t imm)
{
    static const struct {
        const char *name;
        uint8_t shift, mask;
    } fields[7] = {{"hold_cnt", 7, 1}, {"sa_sdst", 0, 1}, {"va_vdst", 12, 15}, {"va_sdst", 9, 7},
                   {"va_ssrc", 8, 1},  {"va_vcc", 1, 1},  {"vm_vsrc", 2, 7}};
    unsigned first = gfx1013 ? 1 : 0;
    if (imm & (gfx1013 ? 0xe0u : 0x60u)) {
        gg_text_add(t, " 0x%x", imm);
        return;
    }
    bool waits = false;
    for (unsigned i = first; i < 7; i++)
        waits |= (imm >> fields[i].shift & fields[i].mask) != fields[i].mask;
    for (unsigned i = first; i < 7; i++) {
        uint32_t value = imm >> fields[i].shift & fields[i].mask;
        if (value != fields[i].mask || !waits)
            gg_text_add(t, " depctr_%s(%u)", fields[i].name, value);
    }
}

static void add_message(struct gg_text *t, uint32_t imm)
{
    static const char *const names[16] = {
        [1] = "INTERRUPT",       [2] = "GS",
        [3] = "GS_DONE",         [4] = "SAVEWAVE",
        [5] = "STALL_WAVE_GEN",  [6] = "HALT_WAVES",
        [7] = "ORDERED_PS_DONE", [8] = "EARLY_PRIM_DEALLOC",
        [9] = "GS_ALLOC_REQ",    [10] = "GET_DOORBELL",
        [11] = "GET_DDID",       [15] = "SYSMSG",
    };
    static const char *const gs[4] = {"NOP", "CUT", "EMIT", "EMIT_CUT"};
    static const char *const sysmsg[5] = {NULL, "ECC_ERR_INTERRUPT", "REG_RD", NULL, "TTRACE_PC"};
    uint32_t id = imm & 15, op = imm >> 4 & 7, stream = imm >> 8 & 3;
    if ((id == 2 || id == 3) && op >= 1 && op <= 3)
        gg_text_add(t, " sendmsg(MSG_%s, GS_OP_%s, %u)", names[id], gs[op], stream);
    else if (id == 3 && !op && !stream)
        gg_text_add(t, " sendmsg(MSG_GS_DONE, GS_OP_NOP)");
    else if (id == 15 && op <= 4 && sysmsg[op] && !stream)
        gg_text_add(t, " sendmsg(MSG_SYSMSG, SYSMSG_OP_%s)", sysmsg[op]);
    else if (id != 2 && id != 3 && id != 15 && names[id] && !op && !stream)
        gg_text_add(t, " sendmsg(MSG_%s)", names[id]);
    else if (imm & ~0x37fu)
        gg_text_add(t, " %u", imm);
    else
        gg_text_add(t, " sendmsg(%u, %u, %u)", id, op, stream);
}

static void add_small(struct gg_text *t, uint32_t imm)
{
    gg_text_item(t);
    gg_text_add(t, imm <= 64 ? "%u" : "0x%x", imm);
}

/* Written as an expression: ((version|bit)|bit)|bit. */
static void add_version(struct gg_text *t, uint32_t imm)
{
    static const char *const names[10] = {[0] = "GFX7", [4] = "GFX10", [6] = "GFX11", [9] = "GFX12"};
    static const char *const bits[3] = {"W64", "W32", "MDP"};
    uint32_t version = imm & 255, flags = imm >> 13;
    bool named = version < 10 && names[version];
    if (imm & 0x1f00) {
        gg_text_add(t, " 0x%x", imm);
        return;
    }
    bool two = flags & (flags - 1);
    gg_text_add(t, " %s", flags == 7 ? "((" : two ? "(" : "");
    if (named)
        gg_text_add(t, "UC_VERSION_%s", names[version]);
    else
        gg_text_add(t, "%u", version);
    for (unsigned i = 0; i < 3; i++)
        if (flags >> i & 1)
            gg_text_add(t, "|UC_VERSION_%s_BIT%s", bits[i], flags >> (i + 1) ? ")" : "");
}

static void control_sopk(struct gg_text *t, bool gfx1013, const struct gg_inst *inst, uint32_t imm)
{
    switch (inst->op) {
    case GG_OP_s_version:
        add_version(t, imm);
        break;
    case GG_OP_s_getreg_b32:
        gg_text_next(t, &inst->dst[0]);
        add_hwreg(t, gfx1013, imm);
        break;
    case GG_OP_s_setreg_b32:
    case GG_OP_s_setreg_imm32_b32:
        add_hwreg(t, gfx1013, imm);
        gg_text_next(t, &inst->src[0]);
        break;
    default:
        gg_text_next(t, &inst->dst[0]);
        gg_text_next(t, &inst->src[0]);
        gg_text_item(t);
        gg_text_add(t, gg_inst_info(inst)->flags & GG_OPF_BRANCH ? "%u" : "0x%x", imm);
    }
}

void gg_text_control(struct gg_text *t, bool gfx1013, const struct gg_inst *inst)
{
    uint32_t imm = (uint16_t)inst->imm;
    if (inst->format == GG_FORMAT_SOPK) {
        control_sopk(t, gfx1013, inst, imm);
        return;
    }
    switch (inst->op) {
    case GG_OP_s_waitcnt:
        add_waitcnt(t, imm);
        break;
    case GG_OP_s_waitcnt_depctr:
        add_depctr(t, gfx1013, imm);
        break;
    case GG_OP_s_sendmsg:
    case GG_OP_s_sendmsghalt:
        add_message(t, imm);
        break;
    case GG_OP_s_nop:
    case GG_OP_s_setkill:
    case GG_OP_s_sethalt:
    case GG_OP_s_sleep:
    case GG_OP_s_setprio:
    case GG_OP_s_trap:
    case GG_OP_s_incperflevel:
    case GG_OP_s_decperflevel:
    case GG_OP_s_denorm_mode:
        add_small(t, imm);
        break;
    case GG_OP_s_inst_prefetch:
    case GG_OP_s_clause:
    case GG_OP_s_round_mode:
    case GG_OP_s_ttracedata_imm:
        gg_text_add(t, " 0x%x", imm);
        break;
    default: /* branches; s_endpgm has a number where it is not 0; others have none */
        if ((gg_inst_info(inst)->flags & GG_OPF_BRANCH) || (inst->op == GG_OP_s_endpgm && imm))
            gg_text_add(t, " %u", imm);
    }
}

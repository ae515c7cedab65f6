/* SPDX-License-Identifier: MIT */
#ifndef GG_DRAWCACHE_PM4_H
#define GG_DRAWCACHE_PM4_H

#include <guestgpu/drawcache.h>

/* What a packet does to the reader: more than the caller is told by enum gg_pm4_effect. */
enum pm4_action {
    ACTION_NONE = 0, /* an opcode without a row */
    ACTION_PLAIN,
    ACTION_BUFFER,
    ACTION_DISPATCH,
    ACTION_DRAW,
    ACTION_BASE,
    ACTION_CLEAR,
    ACTION_COPY,
    ACTION_LOAD_CONTEXT,
    ACTION_LOAD_SH,
    ACTION_MODIFY,
    ACTION_SET_CONFIG,
    ACTION_SET_CONTEXT,
    ACTION_SET_SH,
    ACTION_SET_UCONFIG,
};

struct pm4_opcode {
    const char *name; /* NULL: no row */
    enum pm4_action action;
};

/* The row of an opcode; those that have none share an empty one. */
const struct pm4_opcode *pm4_opcode(uint32_t opcode);

/* Dword indices that the reader itself knows; registers.def has all. */
enum pm4_register {
    CONFIG_BASE = 0x2000,
    SH_BASE = 0x2c00,
    CONTEXT_BASE = 0xa000,
    UCONFIG_BASE = 0xc000,
    CONFIG_END = SH_BASE,
    SH_END = 0x3000,
    CONTEXT_END = 0xb000,
    UCONFIG_END = GG_PM4_REGISTERS,
    COMPUTE_START_X = 0x2e04,
    COMPUTE_NUM_THREAD_X = 0x2e07,
    COMPUTE_PGM_LO = 0x2e0c,
    COMPUTE_PGM_HI = 0x2e0d,
    COMPUTE_DISPATCH_SCRATCH_BASE_LO = 0x2e10,
    COMPUTE_DISPATCH_SCRATCH_BASE_HI = 0x2e11,
    COMPUTE_PGM_RSRC1 = 0x2e12,
    COMPUTE_PGM_RSRC2 = 0x2e13,
    COMPUTE_RESOURCE_LIMITS = 0x2e15,
    COMPUTE_TMPRING_SIZE = 0x2e18,
    COMPUTE_PGM_RSRC3 = 0x2e28,
    COMPUTE_USER_DATA_0 = 0x2e40,
};

#endif

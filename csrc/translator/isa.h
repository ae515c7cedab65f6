/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_ISA_H
#define GG_TRANSLATOR_ISA_H

/*
 * RDNA 2 as tables. Every opcode is one row of a .def file (isa/<format>.def), which gives the enum below,
 * the description in struct gg_op_info, and the decoder's dispatch tables.
 *
 * An opcode is one operation, whatever it is encoded in: GG_OP_v_add_f32 stands for the VOP2, VOP3, SDWA,
 * DPP16 and DPP8 forms, GG_OP_flat_load_dword for flat_, global_ and scratch_load_dword. struct gg_inst
 * (decode.h) says which form it was. Names are the mnemonics without _e32, _e64, _sdwa and _dpp.
 */

#include <stdbool.h>
#include <stdint.h>

enum gg_op {
    GG_OP_invalid = 0,
#define GG_ROW(format, code, target, name, ...) GG_OP_##name,
#include "isa/all.def"
#undef GG_ROW
    GG_OP_COUNT
};

enum gg_format {
    GG_FORMAT_NONE = 0,
    GG_FORMAT_SOP1,
    GG_FORMAT_SOP2,
    GG_FORMAT_SOPC,
    GG_FORMAT_SOPK,
    GG_FORMAT_SOPP,
    GG_FORMAT_SMEM,
    GG_FORMAT_VOP1,
    GG_FORMAT_VOP2,
    GG_FORMAT_VOPC,
    GG_FORMAT_VOP3, /* VOP3A and VOP3B; also the 64-bit form of VOP1, VOP2 and VOPC */
    GG_FORMAT_VOP3P,
    GG_FORMAT_VINTRP,
    GG_FORMAT_DS,
    GG_FORMAT_MUBUF,
    GG_FORMAT_MTBUF,
    GG_FORMAT_MIMG,
    GG_FORMAT_FLAT,
    GG_FORMAT_GLOBAL,
    GG_FORMAT_SCRATCH,
    GG_FORMAT_EXP,
    GG_FORMAT_COUNT
};

/*
 * What an operand's bits mean. The width in dwords stands beside it; an operand wider than its type holds
 * several (an 8-dword descriptor is 8 times B32). 16-bit types live in the low half of a dword unless op_sel
 * or an SDWA selection says otherwise.
 */
enum gg_type {
    GG_TYPE_NONE = 0,
    GG_TYPE_B16, /* raw bits */
    GG_TYPE_U16,
    GG_TYPE_I16,
    GG_TYPE_F16,
    GG_TYPE_B32,
    GG_TYPE_U32,
    GG_TYPE_I32,
    GG_TYPE_F32,
    GG_TYPE_B64,
    GG_TYPE_U64,
    GG_TYPE_I64,
    GG_TYPE_F64,
    GG_TYPE_PK_F16, /* two halves of one dword, selected by op_sel and op_sel_hi */
    GG_TYPE_PK_I16,
    GG_TYPE_PK_U16,
    GG_TYPE_MIX,  /* v_fma_mix: f32, or an f16 half, by op_sel_hi */
    GG_TYPE_MASK, /* one bit a lane: one dword in wave32, two in wave64 */
    GG_TYPE_COUNT
};

/*
 * Flags of an opcode; the .def files use the short names of isa.c. Reads and writes of SCC, VCC, EXEC and M0
 * are those that no operand shows: VCC of v_cmp_*_e32 or v_add_co_ci is an operand (decode.h), VCC of
 * v_div_fmas is a flag. That VALU and vector memory instructions run for the lanes of EXEC goes without a flag.
 */
enum gg_op_flag {
    GG_OPF_READS_SCC = 1 << 0,
    GG_OPF_WRITES_SCC = 1 << 1,
    GG_OPF_READS_VCC = 1 << 2,
    GG_OPF_READS_EXEC = 1 << 3,  /* as data: saveexec, wrexec, s_cbranch_execz, s_subvector_loop */
    GG_OPF_WRITES_EXEC = 1 << 4, /* saveexec, wrexec, s_subvector_loop (v_cmpx shows EXEC as its destination) */
    GG_OPF_READS_M0 = 1 << 5,    /* movrel, sendmsg, interp, GWS, append and consume, addtid of DS */
    GG_OPF_READS_DST =
        1 << 6, /* dst[0] is a source too: mac, fmac, dot2c, writelane, permlane, s_cmov, bitset, d16 loads */
    GG_OPF_WRITES_SRC0 = 1 << 7, /* v_swap: src[0] is a destination too */
    GG_OPF_BRANCH = 1 << 8,      /* to the instruction's end + 4 * imm: gg_inst_branch_target() */
    GG_OPF_COND = 1 << 9,        /* with BRANCH: may fall through */
    GG_OPF_TERMINATOR = 1 << 10, /* nothing falls through: s_endpgm, s_branch, s_setpc, s_swappc, s_call, s_rfe */
    GG_OPF_END = 1 << 11,        /* the wave ends here */
    GG_OPF_CALL = 1 << 12,       /* dst[0] receives the address of the next instruction */
    GG_OPF_BARRIER = 1 << 13,
    GG_OPF_LOAD = 1 << 14,   /* memory to dst[0] */
    GG_OPF_STORE = 1 << 15,  /* data operand to memory */
    GG_OPF_ATOMIC = 1 << 16, /* reads and writes memory; returns the old value only where dst[0] is there */
    GG_OPF_D16 = 1 << 17,    /* 16-bit elements, or half a register */
    GG_OPF_D16_HI = 1 << 18, /* with D16: the high half of the data register */
    GG_OPF_FORMAT = 1 << 19, /* buffers: converts by the format of the V# (MUBUF) or the instruction (MTBUF) */
    GG_OPF_LDS = 1 << 20,    /* DS that touches LDS (GDS when inst.flags has it); FLAT may touch LDS without it */
    GG_OPF_GDS = 1 << 21,    /* DS that exists for GDS only */
    GG_OPF_NO_GDS = 1 << 22, /* DS that does not exist for GDS */
    GG_OPF_TWO = 1 << 23, /* DS: offset0 and offset1 are two addresses, in units of the element; st64: 64 times that */
    GG_OPF_CROSS_LANE = 1 << 24, /* a lane sees another lane's registers (so do DPP forms, without the flag) */
    GG_OPF_NO_VOP3 = 1 << 25,    /* VOP1, VOP2: has no 64-bit form */
    GG_OPF_NO_SDWA = 1 << 26,
    GG_OPF_NO_DPP = 1 << 27,
    GG_OPF_CLAMP = 1 << 28, /* integer operation that saturates with clamp */
    GG_OPF_OP_SEL = 1 << 29 /* VOP3 operation on 16 bits that can take and write high halves */
};

/* Of struct gg_op_info.target. */
enum gg_op_target {
    GG_OP_TARGET_BOTH = 0,
    GG_OP_TARGET_GFX1013 = 1013,
    GG_OP_TARGET_GFX1030 = 1030
};

/* MIMG: what the address consists of, in this order (none of them: coordinates only). */
enum gg_image_flag {
    GG_IMAGE_OFFSET = 1 << 0,
    GG_IMAGE_BIAS = 1 << 1,
    GG_IMAGE_COMPARE = 1 << 2,
    GG_IMAGE_GRADIENT = 1 << 3, /* two for each dimension; packed halves with G16 */
    GG_IMAGE_G16 = 1 << 4,
    GG_IMAGE_NO_COORDS = 1 << 5, /* image_get_resinfo: the LOD alone */
    GG_IMAGE_LOD = 1 << 6,
    GG_IMAGE_CLAMP = 1 << 7,
    GG_IMAGE_GATHER4 = 1 << 8 /* not of the address: four data components whatever dmask says */
};

#define GG_OP_DSTS 2
#define GG_OP_SRCS 4

struct gg_op_slot {
    uint8_t type;  /* enum gg_type; NONE: no such operand */
    uint8_t width; /* dwords; that of a MASK (0 here), of addresses and of MIMG data follows from the instruction */
};

struct gg_op_info {
    const char *name; /* mnemonic without suffix */
    uint32_t flags;   /* enum gg_op_flag */
    uint16_t code;    /* number in that format */
    uint16_t image;   /* MIMG: enum gg_image_flag */
    uint16_t target;  /* enum gg_op_target */
    uint8_t format;   /* enum gg_format of its row; FLAT also for global and scratch */
    struct gg_op_slot dst[GG_OP_DSTS];
    struct gg_op_slot src[GG_OP_SRCS];
};

/* Indexed by enum gg_op. */
extern const struct gg_op_info gg_op_infos[GG_OP_COUNT];
const char *gg_format_name(uint32_t format); /* "SOP1"; never NULL */

#endif

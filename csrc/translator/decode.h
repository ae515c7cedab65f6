/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_DECODE_H
#define GG_TRANSLATOR_DECODE_H

/*
 * One instruction's words to a struct gg_inst. Guest bytes never trip an assert and are never read past
 * their end; what cannot be decoded is refused with its byte offset and word.
 */

#include "isa.h"

#include <guestgpu/translator.h>
#include <stddef.h>

enum gg_operand_kind {
    GG_OPERAND_NONE =
        0,           /* not there, or "off" (soffset of SMEM, saddr of GLOBAL, vaddr of MUBUF, a disabled EXP source) */
    GG_OPERAND_SGPR, /* value: number in the scalar file, 0-127, see enum gg_sgpr */
    GG_OPERAND_VGPR, /* value: 0-255 */
    GG_OPERAND_SPECIAL,      /* value: enum gg_special; read only */
    GG_OPERAND_INLINE_INT,   /* value: -16..64 as int32_t */
    GG_OPERAND_INLINE_FLOAT, /* value: its source code, 240-248; the bits follow from the type: gg_operand_constant() */
    GG_OPERAND_LITERAL,      /* value: the 32 bits that follow the instruction (also the K of v_madmk and v_madak) */
    GG_OPERAND_KIND_COUNT
};

/*
 * The scalar file has 128 dwords, of which these have names. VCC and EXEC are dwords like others: a 64-bit
 * operand at 106 is VCC; in wave32 masks are one dword and VCC_HI and EXEC_HI are not part of them.
 * An operand of several dwords is `value`, `value` + 1, …; decode refuses one that would leave the file,
 * or is not aligned where the hardware wants it. Writes to NULL go nowhere, reads give 0 (all dwords).
 */
enum gg_sgpr {
    GG_SGPR_COUNT = 106, /* s0-s105 */
    GG_SGPR_VCC_LO = 106,
    GG_SGPR_VCC_HI = 107,
    GG_SGPR_TTMP0 = 108, /* to 123: trap temporaries */
    GG_SGPR_M0 = 124,
    GG_SGPR_NULL = 125,
    GG_SGPR_EXEC_LO = 126,
    GG_SGPR_EXEC_HI = 127,
    GG_SGPR_FILE = 128
};

/* Sources that are no registers; the values are the encoding's source numbers. */
enum gg_special {
    GG_SPECIAL_SHARED_BASE = 235,
    GG_SPECIAL_SHARED_LIMIT = 236,
    GG_SPECIAL_PRIVATE_BASE = 237,
    GG_SPECIAL_PRIVATE_LIMIT = 238,
    GG_SPECIAL_POPS_EXITING_WAVE_ID = 239,
    GG_SPECIAL_VCCZ = 251,
    GG_SPECIAL_EXECZ = 252,
    GG_SPECIAL_SCC = 253,
    GG_SPECIAL_LDS_DIRECT = 254
};

struct gg_operand {
    uint8_t kind;  /* enum gg_operand_kind */
    uint8_t type;  /* enum gg_type */
    uint8_t width; /* dwords; a MASK has 1 in wave32 and 2 in wave64 */
    uint8_t reserved;
    uint32_t value;
};

/* The form of a VOP1, VOP2 or VOPC operation (others are always PLAIN). inst.format VOP3 is the 64-bit form. */
enum gg_form {
    GG_FORM_PLAIN = 0,
    GG_FORM_SDWA,
    GG_FORM_DPP16,
    GG_FORM_DPP8
};

/* SDWA selections. */
enum gg_sdwa_select {
    GG_SDWA_BYTE_0 = 0,
    GG_SDWA_BYTE_1,
    GG_SDWA_BYTE_2,
    GG_SDWA_BYTE_3,
    GG_SDWA_WORD_0,
    GG_SDWA_WORD_1,
    GG_SDWA_DWORD
};
enum gg_sdwa_unused {
    GG_SDWA_UNUSED_PAD = 0,
    GG_SDWA_UNUSED_SEXT,
    GG_SDWA_UNUSED_PRESERVE
};

#define GG_MIMG_MAX_ADDRESSES 13

/*
 * Operands stand in the order of LLVM's text where it has them all; implied ones are spelled out, so that
 * the 32-bit and the 64-bit form of an operation look the same:
 *
 *   SOP1/2/C/K  dst[0]; src[0], src[1]. SOPK: imm is simm16; s_cmpk_* compare src[0] (the register) with imm;
 *               s_addk/s_mulk/s_cmovk have READS_DST; s_call_b64 dst[0]; s_setreg_b32: src[0], imm the hwreg;
 *               s_setreg_imm32_b32: src[0] the literal; s_getreg_b32: dst[0], imm the hwreg.
 *               s_bitcmp, s_cmp: no dst, SCC by flag.
 *   SOPP        imm: branch distance in words (signed), waitcnt, message, sleep, …
 *   SMEM        dst[0]; src[0] sbase (2 dwords; 4 for s_buffer_*), src[1] soffset or NONE, imm the signed byte
 *               offset; both add. Stores and atomics (gfx1013): src[2] the data; s_atc_probe: src[2] INLINE_INT.
 *   VOP1/2/3/P  dst[0]; src[0..2]. v_add_co_u32 & co: dst[1] the carry (VCC in the 32-bit form), src[2] the carry
 *               in; v_cndmask: src[2] the mask (VCC in the 32-bit form); v_div_scale: dst[1]. fmac, mac, dot2c:
 *               READS_DST. v_madmk/v_fmamk: src[0] * src[1] (literal) + src[2]; v_madak/v_fmaak: src[0] * src[1]
 *               + src[2] (literal). v_readlane, v_readfirstlane: dst[0] is an SGPR.
 *   VOPC        dst[0] the mask: VCC in the 32-bit form, any SGPR in VOP3 and SDWA; EXEC of v_cmpx, in all forms.
 *   VINTRP      dst[0]; src[0] the VGPR (v_interp_mov: INLINE_INT 0 p10, 1 p20, 2 p0); imm = attribute << 2 |
 *               channel. The f16 forms of VOP3: src[2] the third operand, op_sel 1 the attribute's high half.
 *   DS          dst[0] where something returns; src[0] address, src[1] data0, src[2] data1, each or NONE;
 *               imm the 16-bit offset; two-address operations use offset0 and offset1.
 *   MUBUF/MTBUF dst[0] data of loads (one dword more with tfe; none with lds) and of atomics with glc; src[0]
 *               vaddr: NONE, 1 or 2 dwords: index first, then offset; src[1] the V#; src[2] soffset; src[3] data
 *               of stores and atomics; imm offset (12 bits).
 *   MIMG        dst[0], src[3] data likewise (width from dmask, d16, tfe, lwe); src[0] address: width dwords,
 *               consecutive from `value`, or with nsa: addresses[0..width-1]; src[1] the T# (8 dwords; 4 with r128
 *               and for the bvh operations); src[2] the sampler. The order of the address: enum gg_image_flag.
 *   FLAT/GLOBAL/SCRATCH  dst[0] likewise; src[0] vaddr (2 dwords; 1 beside an saddr and in scratch; NONE: scratch by
 *               saddr, or by neither); src[1] saddr or NONE; src[2] data; imm the offset: signed, of FLAT unsigned.
 *   EXP         src[0..3], NONE where `enable` has no bit; with compr src[0] and src[1] are one register of two
 *               halves, src[2] and src[3] likewise.
 */
struct gg_inst {
    uint16_t op;     /* enum gg_op */
    uint8_t format;  /* enum gg_format: as encoded, so GLOBAL for a global_load, VOP3 for a v_add_f32_e64 */
    uint8_t form;    /* enum gg_form */
    uint8_t words;   /* 1 to 5: the length */
    uint8_t nsa;     /* MIMG: addresses[] holds the registers */
    uint16_t flags;  /* GG_INST_* below */
    uint32_t offset; /* in bytes, from the first word of the program */
    int32_t imm;     /* see above */
    struct gg_operand dst[GG_OP_DSTS];
    struct gg_operand src[GG_OP_SRCS];

    /*
     * Modifiers of vector operations: bit i is source i. op_sel is the high half; its bit 3 the destination's.
     * VOP3P: neg and op_sel are for the low result, neg_hi and op_sel_hi for the high one. v_fma_mix: op_sel_hi
     * makes the source an f16, of the half that op_sel says. v_permlane: op_sel 1 is FI, 2 is BOUND_CTRL.
     */
    uint8_t neg;
    uint8_t abs;
    uint8_t neg_hi;
    uint8_t op_sel;
    uint8_t op_sel_hi;
    uint8_t omod; /* 0, 1: * 2, 2: * 4, 3: / 2 */
    union {
        struct {
            uint8_t src_sel[2]; /* enum gg_sdwa_select */
            uint8_t sext;       /* bit i: source i is sign-extended */
            uint8_t dst_sel;    /* of VOPC: DWORD */
            uint8_t dst_unused; /* enum gg_sdwa_unused */
        } sdwa;
        struct {
            uint16_t ctrl; /* 9 bits: quad_perm, row_shl, row_share, … */
            uint8_t row_mask;
            uint8_t bank_mask;
            uint8_t bound_ctrl; /* 1: a lane without a valid source reads 0; 0: it keeps its destination */
            uint8_t fi;         /* 1: lanes outside EXEC are read too */
        } dpp16;
        struct {
            uint32_t select; /* 3 bits a lane of eight, lane 0 lowest */
            uint8_t fi;
        } dpp8;
        struct { /* DS */
            uint8_t offset0, offset1;
        } ds;
        struct {            /* MTBUF */
            uint8_t format; /* 7 bits: the unified format of gfx10 */
        } mtbuf;
        struct {                /* MIMG */
            uint8_t dmask, dim; /* dim: 0 1D, 1 2D, 2 3D, 3 cube, 4 1D array, 5 2D array, 6 2D MSAA, 7 2D MSAA array */
            uint8_t addresses[GG_MIMG_MAX_ADDRESSES]; /* with nsa: VGPR of each address component */
        } mimg;
        struct {            /* EXP */
            uint8_t target; /* 0-7 mrt, 8 mrtz, 9 null, 12-16 pos, 20 prim, 32-63 param */
            uint8_t enable; /* bit i: source i */
        } exp;
    };
};

/* gg_inst.flags */
#define GG_INST_CLAMP (1u << 0)
#define GG_INST_GLC   (1u << 1) /* memory; of atomics: returns the old value */
#define GG_INST_SLC   (1u << 2)
#define GG_INST_DLC   (1u << 3)
#define GG_INST_LDS   (1u << 4) /* MUBUF, FLAT: loads go to LDS */
#define GG_INST_OFFEN (1u << 5)
#define GG_INST_IDXEN (1u << 6)
#define GG_INST_TFE   (1u << 7)
#define GG_INST_GDS   (1u << 8)
#define GG_INST_UNORM (1u << 9) /* MIMG */
#define GG_INST_R128  (1u << 10)
#define GG_INST_A16   (1u << 11)
#define GG_INST_D16   (1u << 12)
#define GG_INST_LWE   (1u << 13)
#define GG_INST_DONE  (1u << 14)  /* EXP */
#define GG_INST_COMPR GG_INST_LDS /* EXP has none of the memory flags */
#define GG_INST_VM    GG_INST_GLC

/*
 * Decodes the instruction that begins at word `at` of `count`. target: NULL means gfx1030, wave32.
 * GG_ERR_FORMAT: the words end within it, or hold reserved bits or values; GG_ERR_UNSUPPORTED: no such opcode
 * in this target. On failure *inst is as it was.
 */
int32_t gg_decode(const struct gg_guest_target *target, const uint32_t *words, uint64_t count, uint64_t at,
                  struct gg_inst *inst, char **message);

static inline const struct gg_op_info *gg_inst_info(const struct gg_inst *inst) { return &gg_op_infos[inst->op]; }

/*
 * The value of a constant operand (INLINE_INT, INLINE_FLOAT, LITERAL) as its type has it: 16-bit types in the
 * low half, a 64-bit float from a literal in the high dword, other 64-bit literals zero-extended (I64: sign-
 * extended), inline integers sign-extended to the width, MIX as f32. 0 for other kinds.
 */
uint64_t gg_operand_constant(const struct gg_operand *operand);

/* Byte offset of a BRANCH's target, from the program's first word; may lie outside the program. */
static inline int64_t gg_inst_branch_target(const struct gg_inst *inst)
{
    return (int64_t)inst->offset + 4 * (int64_t)inst->words + 4 * (int64_t)inst->imm;
}

#endif

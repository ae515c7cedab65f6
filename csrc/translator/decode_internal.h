/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_DECODE_INTERNAL_H
#define GG_TRANSLATOR_DECODE_INTERNAL_H

/* What the parts of the decoder share: decode.c (dispatch, scalar), decode_vector.c and decode_memory.c. */
#include "decode.h"

/*
 * Opcode numbers to rows: one array for all formats, a format's numbers from its base on. The 64-bit form's
 * numbers contain those of VOPC, VOP2, VOP1 and VINTRP, and their own bases point there.
 */
enum gg_isa_base {
    GG_BASE_VOP3 = 0,
    GG_BASE_VOPC = GG_BASE_VOP3,
    GG_BASE_VOP2 = GG_BASE_VOP3 + 0x100,
    GG_BASE_VOP1 = GG_BASE_VOP3 + 0x180,
    GG_BASE_VINTRP = GG_BASE_VOP3 + 0x200,
    GG_BASE_SOP1 = 1024,
    GG_BASE_SOP2 = GG_BASE_SOP1 + 256,
    GG_BASE_SOPC = GG_BASE_SOP2 + 128,
    GG_BASE_SOPK = GG_BASE_SOPC + 128,
    GG_BASE_SOPP = GG_BASE_SOPK + 32,
    GG_BASE_SMEM = GG_BASE_SOPP + 128,
    GG_BASE_VOP3P = GG_BASE_SMEM + 256,
    GG_BASE_DS = GG_BASE_VOP3P + 128,
    GG_BASE_MUBUF = GG_BASE_DS + 256,
    GG_BASE_MTBUF = GG_BASE_MUBUF + 256,
    GG_BASE_MIMG = GG_BASE_MTBUF + 16,
    GG_BASE_FLAT = GG_BASE_MIMG + 256,
    GG_BASE_GLOBAL = GG_BASE_FLAT,
    GG_BASE_EXP = GG_BASE_FLAT + 128,
    GG_BASE_END = GG_BASE_EXP + 1
};

struct gg_decoder {
    const uint32_t *words; /* of this instruction */
    uint64_t left;         /* how many there are, this instruction's and what follows */
    const uint16_t *ops;   /* gg_isa_base -> enum gg_op, of the target */
    const struct gg_op_info *info;
    uint32_t wave;
    bool literal; /* some operand is the word after the instruction */
    struct gg_inst *inst;
    const char *reason; /* of a refusal */
};

/* Each returns a gg_result; a refusal has set d->reason. */
int32_t gg_decode_vop1(struct gg_decoder *d);
int32_t gg_decode_vop2(struct gg_decoder *d);
int32_t gg_decode_vopc(struct gg_decoder *d);
int32_t gg_decode_vop3(struct gg_decoder *d);
int32_t gg_decode_vop3p(struct gg_decoder *d);
int32_t gg_decode_vintrp(struct gg_decoder *d);
int32_t gg_decode_ds(struct gg_decoder *d);
int32_t gg_decode_mubuf(struct gg_decoder *d);
int32_t gg_decode_mtbuf(struct gg_decoder *d);
int32_t gg_decode_mimg(struct gg_decoder *d);
int32_t gg_decode_flat(struct gg_decoder *d);
int32_t gg_decode_exp(struct gg_decoder *d);

/* GG_ERR_FORMAT with a reason. */
int32_t gg_decode_refuse(struct gg_decoder *d, const char *reason);

/* Sets d->info, inst.op, inst.format and inst.words, and sees to it that all `words` are there. */
int32_t gg_decode_begin(struct gg_decoder *d, uint32_t base, uint32_t code, enum gg_format format, uint32_t words);

/*
 * Operands by their slot in the table; a slot without type makes the operand NONE. A slot's width 0 (a mask)
 * is the wave's. `code`: as in the 7, 8 and 9 bits of the encoding.
 */
int32_t gg_decode_sgpr(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code);
int32_t gg_decode_vgpr(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code);
/* An SGPR, a special or a constant; a literal where the caller has not excluded code 255. */
int32_t gg_decode_scalar(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code);
/* Likewise, or a VGPR (from 256 on), or LDS_DIRECT. */
int32_t gg_decode_source(struct gg_decoder *d, struct gg_operand *o, struct gg_op_slot slot, uint32_t code);

/* `width` bits of `word` from `low` on. */
static inline uint32_t gg_bits(uint32_t word, unsigned low, unsigned width)
{
    return word >> low & ((1u << width) - 1);
}

/* The flag where that bit of `word` is set. */
static inline uint16_t gg_flag(uint32_t word, unsigned bit, uint32_t flag)
{
    return (uint16_t)((word >> bit & 1) ? flag : 0);
}

#define GG_TRY(call)                                                                                                   \
    do {                                                                                                               \
        int32_t result_ = (call);                                                                                      \
        if (result_ != GG_OK)                                                                                          \
            return result_;                                                                                            \
    } while (0)

#endif

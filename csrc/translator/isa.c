/* SPDX-License-Identifier: MIT */
#include "isa.h"

#include <stddef.h>

/* The short names of the .def files' last column. */
enum {
    R_SCC = GG_OPF_READS_SCC,
    W_SCC = GG_OPF_WRITES_SCC,
    R_VCC = GG_OPF_READS_VCC,
    R_EXEC = GG_OPF_READS_EXEC,
    W_EXEC = GG_OPF_WRITES_EXEC,
    R_M0 = GG_OPF_READS_M0,
    R_DST = GG_OPF_READS_DST,
    W_SRC0 = GG_OPF_WRITES_SRC0,
    BRANCH = GG_OPF_BRANCH,
    COND = GG_OPF_COND,
    TERMINATOR = GG_OPF_TERMINATOR,
    END = GG_OPF_END,
    CALL = GG_OPF_CALL,
    BARRIER = GG_OPF_BARRIER,
    LOAD = GG_OPF_LOAD,
    STORE = GG_OPF_STORE,
    ATOMIC = GG_OPF_ATOMIC,
    D16 = GG_OPF_D16,
    D16_HI = GG_OPF_D16_HI,
    FORMAT = GG_OPF_FORMAT,
    LDS = GG_OPF_LDS,
    GDS = GG_OPF_GDS,
    NO_GDS = GG_OPF_NO_GDS,
    TWO = GG_OPF_TWO,
    CROSS_LANE = GG_OPF_CROSS_LANE,
    NO_VOP3 = GG_OPF_NO_VOP3,
    NO_SDWA = GG_OPF_NO_SDWA,
    NO_DPP = GG_OPF_NO_DPP,
    CLAMPS = GG_OPF_CLAMP,
    OP_SEL = GG_OPF_OP_SEL,
    /* MIMG rows: these share the column; their bits mean nothing else there. */
    OFFSET = GG_IMAGE_OFFSET,
    BIAS = GG_IMAGE_BIAS,
    COMPARE = GG_IMAGE_COMPARE,
    GRADIENT = GG_IMAGE_GRADIENT,
    G16 = GG_IMAGE_G16,
    NO_COORDS = GG_IMAGE_NO_COORDS,
    LOD = GG_IMAGE_LOD,
    CLAMP = GG_IMAGE_CLAMP,
    GATHER4 = GG_IMAGE_GATHER4,
    IMAGE_FLAGS = 0x1ff,
    /* TARGET_ and the target column. */
    TARGET_both = GG_OP_TARGET_BOTH,
    TARGET_gfx1013 = GG_OP_TARGET_GFX1013,
    TARGET_gfx1030 = GG_OP_TARGET_GFX1030
};

/* The operand columns: type and dwords. */
/* clang-format off */
#define SLOT__      {GG_TYPE_NONE, 0}
#define SLOT_b16    {GG_TYPE_B16, 1}
#define SLOT_u16    {GG_TYPE_U16, 1}
#define SLOT_i16    {GG_TYPE_I16, 1}
#define SLOT_f16    {GG_TYPE_F16, 1}
#define SLOT_b32    {GG_TYPE_B32, 1}
#define SLOT_u32    {GG_TYPE_U32, 1}
#define SLOT_i32    {GG_TYPE_I32, 1}
#define SLOT_f32    {GG_TYPE_F32, 1}
#define SLOT_f32x2  {GG_TYPE_F32, 2}
#define SLOT_b64    {GG_TYPE_B64, 2}
#define SLOT_u64    {GG_TYPE_U64, 2}
#define SLOT_i64    {GG_TYPE_I64, 2}
#define SLOT_f64    {GG_TYPE_F64, 2}
#define SLOT_f64x2  {GG_TYPE_F64, 4}
#define SLOT_b96    {GG_TYPE_B32, 3}
#define SLOT_b128   {GG_TYPE_B32, 4}
#define SLOT_b256   {GG_TYPE_B32, 8}
#define SLOT_b512   {GG_TYPE_B32, 16}
#define SLOT_pk_f16 {GG_TYPE_PK_F16, 1}
#define SLOT_pk_i16 {GG_TYPE_PK_I16, 1}
#define SLOT_pk_u16 {GG_TYPE_PK_U16, 1}
#define SLOT_mix    {GG_TYPE_MIX, 1}
#define SLOT_mask   {GG_TYPE_MASK, 0}
/* clang-format on */

const struct gg_op_info gg_op_infos[GG_OP_COUNT] = {
    {.name = "invalid"},
#define GG_ROW(kind, number, only, mnemonic, dst0, dst1, src0, src1, src2, src3, flag)                                 \
    {.name = #mnemonic,                                                                                                \
     .flags = GG_FORMAT_##kind == GG_FORMAT_MIMG ? (flag) & ~IMAGE_FLAGS : (flag),                                     \
     .code = number,                                                                                                   \
     .image = GG_FORMAT_##kind == GG_FORMAT_MIMG ? (flag) & IMAGE_FLAGS : 0,                                           \
     .target = TARGET_##only,                                                                                          \
     .format = GG_FORMAT_##kind,                                                                                       \
     .dst = {SLOT_##dst0, SLOT_##dst1},                                                                                \
     .src = {SLOT_##src0, SLOT_##src1, SLOT_##src2, SLOT_##src3}},
#include "isa/all.def"
#undef GG_ROW
};

const char *gg_format_name(uint32_t format)
{
    static const char *const names[GG_FORMAT_COUNT] = {
        "none",  "SOP1",   "SOP2", "SOPC",  "SOPK",  "SOPP", "SMEM", "VOP1",   "VOP2",    "VOPC", "VOP3",
        "VOP3P", "VINTRP", "DS",   "MUBUF", "MTBUF", "MIMG", "FLAT", "GLOBAL", "SCRATCH", "EXP",
    };
    return format < GG_FORMAT_COUNT ? names[format] : "unknown";
}

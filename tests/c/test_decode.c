/* SPDX-License-Identifier: MIT */
/* The decoder's structs, field by field, for an instruction or two of each kind; its text is tested against LLVM. */
#include "translator/decode.h"

#include "expect.h"

static const struct gg_guest_target wave32 = {GG_GUEST_GFX1030, 32}, wave64 = {GG_GUEST_GFX1030, 64};

static struct gg_inst decode(const struct gg_guest_target *target, const uint32_t *words, uint64_t count)
{
    struct gg_inst inst = {0};
    char *message = NULL;
    expect_ok("decode", gg_decode(target, words, count, 0, &inst, &message), &message);
    return inst;
}

#define DECODE(target, ...)                                                                                            \
    decode(target, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void expect_operand(const char *what, const struct gg_operand *o, uint32_t kind, uint32_t type, uint32_t width,
                           uint32_t value)
{
    CHECK(o->kind == kind && o->type == type && o->width == width && o->value == value,
          "%s: kind %u, type %u, %u dwords, value %u", what, o->kind, o->type, o->width, o->value);
}

static void test_scalar(void)
{
    struct gg_inst i = DECODE(&wave32, 0x8f04ff06, 0xdeadbeef); /* s_lshl_b32 s4, s6, 0xdeadbeef */
    CHECK(i.op == GG_OP_s_lshl_b32 && i.format == GG_FORMAT_SOP2 && i.words == 2, "op %u, %u words", i.op, i.words);
    expect_operand("dst", &i.dst[0], GG_OPERAND_SGPR, GG_TYPE_B32, 1, 4);
    expect_operand("src0", &i.src[0], GG_OPERAND_SGPR, GG_TYPE_B32, 1, 6);
    expect_operand("literal", &i.src[1], GG_OPERAND_LITERAL, GG_TYPE_U32, 1, 0xdeadbeef);
    CHECK(gg_inst_info(&i)->flags & GG_OPF_WRITES_SCC, "s_lshl_b32 writes SCC");

    i = DECODE(&wave32, 0xbeea04c1); /* s_mov_b64 vcc, -1 */
    expect_operand("vcc", &i.dst[0], GG_OPERAND_SGPR, GG_TYPE_B64, 2, GG_SGPR_VCC_LO);
    expect_operand("-1", &i.src[0], GG_OPERAND_INLINE_INT, GG_TYPE_B64, 2, 0xffffffff);

    i = DECODE(&wave32, 0xbf84fffe); /* s_cbranch_scc0 -2 */
    CHECK(i.imm == -2 && gg_inst_branch_target(&i) == -4, "imm %d", i.imm);
    i = DECODE(&wave32, 0xb184ffff); /* s_cmpk_eq_i32 s4, -1 */
    CHECK(i.op == GG_OP_s_cmpk_eq_i32 && i.imm == -1, "imm %d", i.imm);
    i = DECODE(&wave32, 0xb484ffff); /* s_cmpk_eq_u32 s4, 0xffff */
    CHECK(i.op == GG_OP_s_cmpk_eq_u32 && i.imm == 0xffff, "imm %d", i.imm);
    i = DECODE(&wave32, 0xba801234, 7); /* s_setreg_imm32_b32 */
    CHECK(i.words == 2 && i.imm == 0x1234, "imm %d", i.imm);
    expect_operand("imm32", &i.src[0], GG_OPERAND_LITERAL, GG_TYPE_B32, 1, 7);

    i = DECODE(&wave32, 0xf4080101, 0x0a1fffff); /* s_load_dwordx4 s[4:7], s[2:3], s5 offset:-1 */
    CHECK(i.words == 2 && i.imm == -1, "imm %d", i.imm);
    expect_operand("data", &i.dst[0], GG_OPERAND_SGPR, GG_TYPE_B32, 4, 4);
    expect_operand("base", &i.src[0], GG_OPERAND_SGPR, GG_TYPE_B64, 2, 2);
    expect_operand("offset", &i.src[1], GG_OPERAND_SGPR, GG_TYPE_U32, 1, 5);
    i = DECODE(&wave32, 0xf4000101, 0xfa000010); /* s_load_dword s4, s[2:3], 0x10 */
    expect_operand("no offset", &i.src[1], GG_OPERAND_NONE, GG_TYPE_NONE, 0, 0);
}

/* v_add_co_ci_u32 and comparisons look the same in both forms, and masks are as wide as the wave. */
static void test_masks(void)
{
    struct gg_inst i = DECODE(&wave64, 0x50080702); /* v_add_co_ci_u32_e32 v4, vcc, s2, v3, vcc */
    CHECK(i.op == GG_OP_v_add_co_ci_u32 && i.format == GG_FORMAT_VOP2, "op %u", i.op);
    expect_operand("carry out", &i.dst[1], GG_OPERAND_SGPR, GG_TYPE_MASK, 2, GG_SGPR_VCC_LO);
    expect_operand("carry in", &i.src[2], GG_OPERAND_SGPR, GG_TYPE_MASK, 2, GG_SGPR_VCC_LO);
    i = DECODE(&wave32, 0xd5288a04, 0x001a0902); /* v_add_co_ci_u32_e64 v4, s10, v2, v4, s6 clamp */
    CHECK(i.op == GG_OP_v_add_co_ci_u32 && i.format == GG_FORMAT_VOP3 && (i.flags & GG_INST_CLAMP), "op %u", i.op);
    expect_operand("carry out", &i.dst[1], GG_OPERAND_SGPR, GG_TYPE_MASK, 1, 10);
    expect_operand("carry in", &i.src[2], GG_OPERAND_SGPR, GG_TYPE_MASK, 1, 6);
    i = DECODE(&wave32, 0x7c020702); /* v_cmp_lt_f32_e32 */
    expect_operand("vcc", &i.dst[0], GG_OPERAND_SGPR, GG_TYPE_MASK, 1, GG_SGPR_VCC_LO);
    i = DECODE(&wave64, 0x7c220702); /* v_cmpx_lt_f32_e32 */
    expect_operand("exec", &i.dst[0], GG_OPERAND_SGPR, GG_TYPE_MASK, 2, GG_SGPR_EXEC_LO);
    i = DECODE(&wave64, 0xd4110000, 0x00020902); /* v_cmpx_lt_f32_e64 */
    expect_operand("exec", &i.dst[0], GG_OPERAND_SGPR, GG_TYPE_MASK, 2, GG_SGPR_EXEC_LO);
}

static void test_vector(void)
{
    struct gg_inst i = DECODE(&wave32, 0xd5038304, 0x78020902); /* v_add_f32_e64 v4, -|v2|, -|v4| clamp div:2 */
    CHECK(i.neg == 3 && i.abs == 3 && i.omod == 3 && i.flags == GG_INST_CLAMP, "neg %u abs %u", i.neg, i.abs);
    i = DECODE(&wave32, 0xcc0f0b04, 0x48020902); /* v_pk_add_f16 v4, v2, v4 op_sel:[1,0] op_sel_hi:[1,0] neg … */
    CHECK(i.op_sel == 1 && i.op_sel_hi == 1 && i.neg == 2 && i.neg_hi == 3, "%u %u %u %u", i.op_sel, i.op_sel_hi, i.neg,
          i.neg_hi);
    expect_operand("packed", &i.src[0], GG_OPERAND_VGPR, GG_TYPE_PK_F16, 1, 2);
    i = DECODE(&wave32, 0xcc204704, 0xec1a0902); /* v_fma_mix_f32 v4, -|v2|, -|v4|, -|v6| op_sel_hi:[1,0,1] */
    CHECK(i.abs == 7 && i.neg == 7 && i.neg_hi == 0 && i.op_sel_hi == 5, "abs %u, op_sel_hi %u", i.abs, i.op_sel_hi);
    i = DECODE(&wave32, 0xd7600004, 0x00010102); /* v_readlane_b32 s4, v2, 0 */
    expect_operand("scalar result", &i.dst[0], GG_OPERAND_SGPR, GG_TYPE_B32, 1, 4);
    i = DECODE(&wave32, 0x58080702, 0x12345678); /* v_fmamk_f32 v4, s2, 0x12345678, v3 */
    CHECK(i.op == GG_OP_v_fmamk_f32 && i.words == 2, "op %u", i.op);
    expect_operand("K", &i.src[1], GG_OPERAND_LITERAL, GG_TYPE_F32, 1, 0x12345678);
    expect_operand("addend", &i.src[2], GG_OPERAND_VGPR, GG_TYPE_F32, 1, 3);

    i = DECODE(&wave32, 0x060806f9, 0x3531b003); /* v_add_f32_sdwa */
    CHECK(i.form == GG_FORM_SDWA && i.words == 2 && i.sdwa.src_sel[0] == GG_SDWA_BYTE_1 &&
              i.sdwa.src_sel[1] == GG_SDWA_WORD_1 && i.sdwa.dst_sel == GG_SDWA_BYTE_0 &&
              i.sdwa.dst_unused == GG_SDWA_UNUSED_PRESERVE && i.omod == 2,
          "selections %u %u %u", i.sdwa.src_sel[0], i.sdwa.src_sel[1], i.sdwa.dst_sel);
    i = DECODE(&wave32, 0x7e0802fa, 0x3a055f03); /* v_mov_b32_dpp v4, v3 row_share:15 row_mask:0x3 bank_mask:0xa fi:1 */
    CHECK(i.form == GG_FORM_DPP16 && i.dpp16.ctrl == 0x15f && i.dpp16.row_mask == 3 && i.dpp16.bank_mask == 10 &&
              i.dpp16.fi == 1 && i.dpp16.bound_ctrl == 0,
          "ctrl %#x", i.dpp16.ctrl);
    i = DECODE(&wave32, 0x060806ea, 0xfac68803); /* v_add_f32_dpp v4, v3, v3 dpp8:[0,1,…,7] fi:1 */
    CHECK(i.form == GG_FORM_DPP8 && i.dpp8.select == 0xfac688 && i.dpp8.fi == 1, "select %#x", i.dpp8.select);
    expect_operand("src1", &i.src[1], GG_OPERAND_VGPR, GG_TYPE_F32, 1, 3);
}

static void test_memory(void)
{
    struct gg_inst i = DECODE(&wave32, 0xd8380201, 0x00030201); /* ds_write2_b32 v1, v2, v3 offset0:1 offset1:2 */
    CHECK(i.ds.offset0 == 1 && i.ds.offset1 == 2 && (gg_inst_info(&i)->flags & GG_OPF_TWO), "offset0 %u", i.ds.offset0);
    expect_operand("address", &i.src[0], GG_OPERAND_VGPR, GG_TYPE_U32, 1, 1);
    expect_operand("data1", &i.src[2], GG_OPERAND_VGPR, GG_TYPE_B32, 1, 3);
    i = DECODE(&wave32, 0xe030f1ff, 0x08c10401); /* buffer_load_dword v[4:5], v[1:2], s[4:7], s8 idxen offen … tfe */
    CHECK(i.imm == 511 && (i.flags & GG_INST_TFE) && (i.flags & GG_INST_IDXEN), "imm %d", i.imm);
    expect_operand("data", &i.dst[0], GG_OPERAND_VGPR, GG_TYPE_B32, 2, 4);
    expect_operand("address", &i.src[0], GG_OPERAND_VGPR, GG_TYPE_U32, 2, 1);
    expect_operand("V#", &i.src[1], GG_OPERAND_SGPR, GG_TYPE_B32, 4, 4);
    expect_operand("soffset", &i.src[2], GG_OPERAND_SGPR, GG_TYPE_U32, 1, 8);
    i = DECODE(&wave32, 0xe0c80000, 0x08010401); /* buffer_atomic_add v4, off, s[4:7], s8: returns nothing */
    expect_operand("nothing", &i.dst[0], GG_OPERAND_NONE, GG_TYPE_NONE, 0, 0);
    expect_operand("data", &i.src[3], GG_OPERAND_VGPR, GG_TYPE_U32, 1, 4);
    i = DECODE(&wave32, 0xdc308fff, 0x08040002); /* global_load_dword v8, v2, s[4:5] offset:-1 */
    CHECK(i.format == GG_FORMAT_GLOBAL && i.op == GG_OP_flat_load_dword && i.imm == -1, "imm %d", i.imm);
    expect_operand("offset", &i.src[0], GG_OPERAND_VGPR, GG_TYPE_U32, 1, 2);
    expect_operand("saddr", &i.src[1], GG_OPERAND_SGPR, GG_TYPE_U64, 2, 4);
    i = DECODE(&wave32, 0xdc308000, 0x087d0002); /* global_load_dword v8, v[2:3], off */
    expect_operand("vaddr", &i.src[0], GG_OPERAND_VGPR, GG_TYPE_U64, 2, 2);
    expect_operand("off", &i.src[1], GG_OPERAND_NONE, GG_TYPE_NONE, 0, 0);

    /* image_sample v[4:6], [v1, v9], s[8:15], s[12:15] dmask:0x7 dim:SQ_RSRC_IMG_2D */
    i = DECODE(&wave32, 0xf080070a, 0x00620401, 9);
    CHECK(i.words == 3 && i.nsa && i.mimg.addresses[0] == 1 && i.mimg.addresses[1] == 9 && i.src[0].width == 2,
          "%u words", i.words);
    expect_operand("data", &i.dst[0], GG_OPERAND_VGPR, GG_TYPE_B32, 3, 4);
    expect_operand("T#", &i.src[1], GG_OPERAND_SGPR, GG_TYPE_B32, 8, 8);
    expect_operand("sampler", &i.src[2], GG_OPERAND_SGPR, GG_TYPE_B32, 4, 12);
    i = DECODE(&wave32, 0xf8000945, 0x04030201); /* exp prim v1, off, v3, off done */
    CHECK(i.exp.target == 20 && i.exp.enable == 5 && (i.flags & GG_INST_DONE), "target %u", i.exp.target);
    expect_operand("off", &i.src[1], GG_OPERAND_NONE, GG_TYPE_NONE, 0, 0);
    expect_operand("third", &i.src[2], GG_OPERAND_VGPR, GG_TYPE_B32, 1, 3);
}

static void test_constants(void)
{
    static const struct {
        struct gg_operand operand;
        uint64_t bits;
    } constants[] = {
        {{GG_OPERAND_INLINE_INT, GG_TYPE_B64, 2, 0, 0xfffffff0}, 0xfffffffffffffff0},
        {{GG_OPERAND_INLINE_INT, GG_TYPE_F32, 1, 0, 0xfffffff0}, 0xfffffff0},
        {{GG_OPERAND_INLINE_INT, GG_TYPE_U16, 1, 0, 0xfffffff0}, 0xfff0},
        {{GG_OPERAND_INLINE_FLOAT, GG_TYPE_F32, 1, 0, 242}, 0x3f800000},
        {{GG_OPERAND_INLINE_FLOAT, GG_TYPE_U32, 1, 0, 248}, 0x3e22f983},
        {{GG_OPERAND_INLINE_FLOAT, GG_TYPE_F16, 1, 0, 247}, 0xc400},
        {{GG_OPERAND_INLINE_FLOAT, GG_TYPE_PK_F16, 1, 0, 240}, 0x3800},
        {{GG_OPERAND_INLINE_FLOAT, GG_TYPE_PK_I16, 1, 0, 240}, 0x3f000000},
        {{GG_OPERAND_INLINE_FLOAT, GG_TYPE_F64, 2, 0, 248}, 0x3fc45f306dc9c882},
        {{GG_OPERAND_LITERAL, GG_TYPE_F64, 2, 0, 0x40000000}, 0x4000000000000000},
        {{GG_OPERAND_LITERAL, GG_TYPE_U64, 2, 0, 0x80000000}, 0x80000000},
        {{GG_OPERAND_LITERAL, GG_TYPE_I64, 2, 0, 0x80000000}, 0xffffffff80000000},
        {{GG_OPERAND_LITERAL, GG_TYPE_F16, 1, 0, 0x12345678}, 0x5678},
        {{GG_OPERAND_VGPR, GG_TYPE_F32, 1, 0, 4}, 0},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        uint64_t bits = gg_operand_constant(&constants[i].operand);
        CHECK(bits == constants[i].bits, "constant %zu: %#llx", i, (unsigned long long)bits);
    }
}

static void test_refusals(void)
{
    struct gg_inst inst = {.op = 77};
    char *message = NULL;
    const uint32_t words[2] = {0xbf800000, 0xbe8403ff};
    const struct gg_guest_target wrong = {7, 32};
    expect("beyond", gg_decode(NULL, words, 2, 2, &inst, &message), GG_ERR_FORMAT, &message, "beyond the program's 2");
    expect("cut", gg_decode(NULL, words, 2, 1, &inst, &message), GG_ERR_FORMAT, &message, "offset 0x4");
    expect("GPU", gg_decode(&wrong, words, 2, 0, &inst, &message), GG_ERR_ARGUMENT, &message, "GPU number 7");
    CHECK(inst.op == 77, "a failure has written the instruction");
    CHECK(gg_decode(NULL, words, 2, 1, &inst, NULL) == GG_ERR_FORMAT, "without a message");
}

int main(void)
{
    test_scalar();
    test_masks();
    test_vector();
    test_memory();
    test_constants();
    test_refusals();
    return test_result();
}

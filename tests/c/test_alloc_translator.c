/* SPDX-License-Identifier: MIT */
/* The translator without memory: text, translation in each form, the interpreter, code objects. */
#include <guestgpu/translator.h>

#include "alloc_failure.h"

/*
 * Two waves that meet twice in a loop, with LDS, memory, a divergent branch, floats, and control flow that joins:
 * something for every pass to do.
 */
static const uint32_t words[] = {
    0x34020082,             /* 00: v_lshlrev_b32 v1, 2, v0 */
    0xbe840383,             /* 04: s_mov_b32 s4, 3 */
    0xd8340000, 0x00000001, /* 08: ds_write_b32 v1, v0 */
    0xbf8cc07f,             /* 10: s_waitcnt lgkmcnt(0) */
    0xbf8a0000,             /* 14: s_barrier */
    0xd8d80000, 0x02000001, /* 18: ds_read_b32 v2, v1 */
    0xbf8cc07f,             /* 20: s_waitcnt lgkmcnt(0) */
    0x7d880490,             /* 24: v_cmp_gt_u32 vcc_lo, 16, v2 */
    0xbe853c6a,             /* 28: s_and_saveexec_b32 s5, vcc_lo */
    0xbf880002,             /* 2c: s_cbranch_execz 38 */
    0x06040502,             /* 30: v_add_f32 v2, v2, v2 */
    0x10040502,             /* 34: v_mul_f32 v2, v2, v2 */
    0xbefe0305,             /* 38: s_mov_b32 exec_lo, s5 */
    0xdc708000, 0x00000201, /* 3c: global_store_dword v1, v2, s[0:1] */
    0xbf8a0000,             /* 44: s_barrier */
    0x80848104,             /* 48: s_sub_u32 s4, s4, 1 */
    0xbf078004,             /* 4c: s_cmp_lg_u32 s4, 0 */
    0xbf85ffed,             /* 50: s_cbranch_scc1 08 */
    0xbf810000,             /* 54: s_endpgm */
};
static const struct gg_guest_program program = {
    .words = words,
    .word_count = COUNT(words),
    .rsrc1 = 0xf0u << 12,
    .rsrc2 = 2 << 1,
    .vgprs = 8,
    .threads = {64},
    .lds_bytes = 256,
    .user_data = {0x1000},
};

static int32_t disassemble(struct output *o, char **m)
{
    char *text = NULL;
    int32_t result = gg_translator_disassemble(&program.target, words, COUNT(words), &text, m);
    o->words = (uint32_t *)(void *)text;
    return result;
}

static int32_t decode(struct output *o, char **m)
{
    return gg_translator_decode(&program.target, words, COUNT(words), &o->count, m);
}

static int32_t ir(struct output *o, char **m)
{
    char *text = NULL;
    int32_t result = gg_translator_ir(&program, &text, m);
    o->words = (uint32_t *)(void *)text;
    return result;
}

static int32_t translate_with(const struct gg_guest_program *of, const struct gg_translate_options *options,
                              struct output *o, char **m)
{
    struct gg_translate_report report = {0};
    int32_t result = gg_translator_translate(of, options, &o->words, &o->count, &report, m);
    gg_free(report.decisions); /* written on success only */
    return result;
}

static int32_t translate(struct output *o, char **m)
{
    return translate_with(&program, &(struct gg_translate_options){0}, o, m);
}

static int32_t translate_subgroups(struct output *o, char **m)
{
    struct gg_guest_program wide = program;
    wide.target.wave = 64;
    wide.threads[0] = 128;
    return translate_with(&wide, &(struct gg_translate_options){.subgroup = 8}, o, m);
}

static int32_t translate_runs(struct output *o, char **m)
{
    struct gg_guest_program straight = program;
    static uint32_t once[COUNT(words)];
    memcpy(once, words, sizeof words);
    once[COUNT(words) - 2] = 0xbf800000; /* no way back: what `strict` takes */
    straight.words = once;
    return translate_with(&straight, &(struct gg_translate_options){.barriers = GG_BARRIERS_STRICT}, o, m);
}

static int32_t translate_lanes(struct output *o, char **m)
{
    const struct gg_guest_program store = {.words = (const uint32_t[]){0x34020082, 0xdc708000, 0x00000001, 0xbf810000},
                                           .word_count = 4,
                                           .rsrc2 = 2 << 1,
                                           .vgprs = 8,
                                           .threads = {64}};
    return translate_with(&store, &(struct gg_translate_options){.lanes = 1}, o, m);
}

static int32_t interpret(struct output *o, char **m)
{
    const struct gg_guest_window window = {0x1000, sizeof o->area, o->area};
    const struct gg_interp_params params = {.program = &program, .windows = &window, .window_count = 1};
    struct gg_interp_report report;
    int32_t result = gg_translator_interpret(&params, &report, m);
    o->count = result ? 0 : report.instructions;
    return result;
}

static uint8_t object[1 << 16];
static size_t object_size;

static int32_t read_elf(struct output *o, char **m)
{
    struct gg_guest_elf *elf = NULL;
    int32_t result = gg_guest_elf_read(object, object_size, &elf, m);
    if (!result)
        o->count = elf->kernel_count;
    gg_guest_elf_destroy(elf);
    return result;
}

static const struct call calls[] = {
    {"decode", decode, 0},
    {"disassemble", disassemble, 1},
    {"IR", ir, 5},
    {"translate", translate, 8},
    {"translate, subgroups", translate_subgroups, 8},
    {"translate, runs", translate_runs, 8},
    {"translate, one lane", translate_lanes, 8},
    {"interpret", interpret, 2},
    {"code object", read_elf, 3},
};

int main(void)
{
    FILE *file = fopen(TESTS_FOLDER "/fuzz/corpus/elf/saxpy_wave64", "rb");
    object_size = file ? fread(object, 1, sizeof object, file) : 0;
    CHECK(object_size > 64, "no code object in " TESTS_FOLDER);
    if (file)
        fclose(file);
    for (size_t i = 0; i < COUNT(calls); i++)
        run_out_of_memory(&calls[i]);
    return test_result();
}

/* SPDX-License-Identifier: MIT */
/*
 * The time that decoding takes, printed: nanoseconds an instruction, the best of several rounds over a mix in the
 * proportions of compiled programs. Aim: 30 in a release build. Checked loosely, since sanitizers are slow.
 */
#include "translator/decode.h"

#include "expect.h"

#include <time.h>

#define ROUNDS  40
#define COPIES  400
#define CHECKED 20000 /* nanoseconds: a decoder that searches, or a machine that hangs */

static const uint32_t mix[] = {
    0x06080702,             /* v_add_f32_e32 */
    0x7e020280,             /* v_mov_b32_e32 */
    0xbf8c0070,             /* s_waitcnt */
    0xd7460004, 0x041a0902, /* v_lshl_add_u32 */
    0x36080702,             /* v_and_b32_e32 */
    0x81048202,             /* s_add_i32 */
    0xd54b0004, 0x041a0902, /* v_fma_f32 */
    0xbf850003,             /* s_cbranch_scc1 */
    0x34080682,             /* v_lshlrev_b32_e32 */
    0xf4080101, 0xfa000010, /* s_load_dwordx4 */
    0x56080702,             /* v_fmac_f32_e32 */
    0x7d0a0680,             /* v_cmp_ne_i32_e32 */
    0xbe84247e,             /* s_and_saveexec_b64 */
    0xdc308000, 0x087d0002, /* global_load_dword */
    0x4a0804ff, 0x12345678, /* v_add_nc_u32_e32, a literal */
    0xd8340004, 0x00000201, /* ds_write_b32 */
    0xe0301000, 0x08010401, /* buffer_load_dword */
    0x060806f9, 0x06060603, /* v_add_f32_sdwa */
    0x7e0802fa, 0xff001b03, /* v_mov_b32_dpp */
    0x7e080302,             /* v_mov_b32_e32 */
    0x8f048206,             /* s_lshl_b32 */
    0x10080702,             /* v_mul_f32_e32 */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
    static uint32_t words[COPIES * sizeof mix / sizeof *mix];
    const uint64_t count = sizeof words / sizeof *words;
    for (int i = 0; i < COPIES; i++)
        memcpy(words + (size_t)i * (sizeof mix / sizeof *mix), mix, sizeof mix);
    const struct gg_guest_target target = {GG_GUEST_GFX1030, 64};
    uint64_t instructions = 0;
    char *message = NULL;
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        expect_ok("decode", gg_translator_decode(&target, words, count, &instructions, &message), &message);
        double time = (now() - begin) / (double)instructions;
        best = time < best ? time : best;
    }
    fprintf(stderr, "decode: %.1f ns an instruction (%llu instructions)\n", best, (unsigned long long)instructions);
    CHECK(instructions == COPIES * 22, "%llu instructions", (unsigned long long)instructions);
    CHECK(best < CHECKED, "%.1f ns", best);
    return test_result();
}

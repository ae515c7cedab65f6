/* SPDX-License-Identifier: MIT */
/*
 * The interpreter on any words, behind a launch state of any kind: it ends, touches nothing but its windows, and
 * says in one line why it stopped. Two runs of the same input are the same.
 *
 * Bytes: flags, launch state, schedule, the first 32 scalar registers of the first wave, then the program.
 */
#include <guestgpu/translator.h>

#include "input.h"

#include <string.h>

#define WINDOW_BYTES 4096
#define MAX_WORDS    1024
#define GUARD        0xa5

struct state {
    uint8_t memory[2][WINDOW_BYTES + 64]; /* each with a guard behind */
    struct gg_interp_output outputs[8];
    struct gg_interp_report report;
    int32_t result;
};

static void run(const struct gg_guest_program *program, uint64_t seed, const uint32_t *scalars, struct state *state)
{
    static uint32_t registers[32 * (132 + 64 * 64)];
    struct gg_guest_window windows[2];
    struct gg_interp_params params = {.program = program, .step_limit = 500, .schedule_seed = seed};
    char *message = NULL;
    memset(state, 0, sizeof *state);
    for (uint32_t i = 0; i < 2; i++) {
        memset(state->memory[i] + WINDOW_BYTES, GUARD, sizeof state->memory[i] - WINDOW_BYTES);
        windows[i] = (struct gg_guest_window){i ? UINT64_C(0x100000000) : 0x1000, WINDOW_BYTES, state->memory[i]};
    }
    memcpy(state->memory[0], scalars, 32 * sizeof *scalars);
    params.windows = windows;
    params.window_count = 2;
    params.groups[0] = 2;
    params.outputs = state->outputs;
    params.output_capacity = 8;
    uint64_t words = gg_interp_register_words(program);
    if (words && words <= sizeof registers / sizeof *registers) {
        memset(registers, 0, sizeof registers);
        memcpy(registers, scalars, 32 * sizeof *scalars);
        registers[126] = registers[127] = UINT32_MAX; /* EXEC */
        params.registers_in = params.registers_out = registers;
        params.register_words = words;
    }
    state->result = gg_translator_interpret(&params, &state->report, &message);
    MUST((state->result == GG_OK) == (message == NULL));
    MUST(state->result == GG_OK || state->result == GG_ERR_ARGUMENT || state->result == GG_ERR_LIMIT ||
         state->result == GG_ERR_FORMAT || state->result == GG_ERR_UNSUPPORTED);
    MUST(!message || !strchr(message, '\n'));
    gg_free(message);
    for (uint32_t i = 0; i < 2; i++)
        for (size_t at = WINDOW_BYTES; at < sizeof state->memory[i]; at++)
            MUST(state->memory[i][at] == GUARD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct state first, second;
    static uint32_t words[MAX_WORDS];
    struct input in = {data, size};
    struct gg_guest_program program = {.words = words, .address = 0x10000};
    uint32_t flags = take_byte(&in), scalars[32], count = 0;
    program.target.gpu = flags & 1;
    program.target.wave = flags & 2 ? 64 : 32;
    program.vgprs = flags & 4 ? 0 : 64;
    program.threads[0] = take_number(&in, 0, 200);
    program.threads[1] = flags & 8 ? take_number(&in, 0, 4) : 1;
    program.rsrc1 = take_word(&in);
    program.rsrc2 = take_word(&in);
    program.lds_bytes = take_number(&in, 0, 4096);
    program.scratch_bytes = flags & 16 ? take_number(&in, 0, 64) : 16;
    program.scratch_address = 0x1800;
    uint64_t seed = flags & 32 ? take_byte(&in) : 0;
    for (uint32_t i = 0; i < 32; i++)
        scalars[i] = take_word(&in);
    while (in.size && count < MAX_WORDS)
        words[count++] = take_word(&in);
    program.word_count = count;
    run(&program, seed, scalars, &first);
    run(&program, seed, scalars, &second);
    MUST(first.result == second.result && !memcmp(&first.report, &second.report, sizeof first.report));
    MUST(!memcmp(first.memory, second.memory, sizeof first.memory));
    MUST(!memcmp(first.outputs, second.outputs, sizeof first.outputs));
    return 0;
}

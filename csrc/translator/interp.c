/* SPDX-License-Identifier: MIT */
#include "interp.h"

#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Launch, schedule and barriers. Groups run one after another; the waves of a group take turns. Instructions are
 * decoded when first reached; every word remembers whether an instruction begins at it or lies over it.
 */

#define DEFAULT_STEP_LIMIT (UINT64_C(1) << 28)
#define TURN               64
#define MAX_THREADS        1024
#define MAX_VGPRS          256
#define MAX_LDS            65536
#define STATE_WORDS        (GG_SGPR_FILE + 4) /* of a wave before its VGPRs in register_words */

/* What stands at a word of the program. */
#define WORD_UNKNOWN UINT32_MAX
#define WORD_INSIDE  (UINT32_MAX - 1)

struct program_cache {
    uint32_t *at; /* [word]: number of its step, or one of the above */
    struct gg_step *steps;
    uint32_t count, capacity;
};

static uint32_t lanes_of(const struct gg_guest_program *program)
{
    return program->target.wave ? program->target.wave : 32;
}
static uint32_t or_one(uint32_t value) { return value ? value : 1; }

static uint64_t threads_of(const struct gg_guest_program *program)
{
    uint64_t xy = (uint64_t)or_one(program->threads[0]) * or_one(program->threads[1]);
    return xy > MAX_THREADS ? xy : xy * or_one(program->threads[2]);
}

/* VGPRs are allocated in eights, or in fours of a wave64. */
static uint32_t own_vgprs_of(const struct gg_guest_program *program)
{
    uint32_t granule = lanes_of(program) == 64 ? 4 : 8, field = program->rsrc1 & 63;
    return program->vgprs ? program->vgprs : (field + 1) * granule;
}

/* Behind them, of a wave64, those that its halves share: RSRC3 counts them in eights. */
static uint32_t vgprs_of(const struct gg_guest_program *program)
{
    return own_vgprs_of(program) + (lanes_of(program) == 64 ? 8 * (program->rsrc3 & 15) : 0);
}

static uint32_t lds_of(const struct gg_guest_program *program)
{
    return program->lds_bytes ? program->lds_bytes : (program->rsrc2 >> 15 & 0x1ff) * 512;
}

static int32_t check_program(const struct gg_guest_program *program, char **message)
{
    uint32_t lanes = lanes_of(program), user_sgprs = program->rsrc2 >> 1 & 31;
    if (!program->words || !program->word_count || program->word_count > UINT32_MAX / 8)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: %llu words", (unsigned long long)program->word_count);
    if (program->entry % 4 || program->entry >= 4 * program->word_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: entry 0x%llx is no word of its %llu bytes",
                       (unsigned long long)program->entry, (unsigned long long)(4 * program->word_count));
    if (program->address % 4 || program->address > UINT64_MAX - 4 * program->word_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: address 0x%llx", (unsigned long long)program->address);
    if (lanes != 32 && lanes != 64)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: a wave of %u lanes", lanes);
    if (threads_of(program) > MAX_THREADS)
        return gg_fail(message, GG_ERR_LIMIT, "program: a workgroup of %llu threads, at most %u",
                       (unsigned long long)threads_of(program), MAX_THREADS);
    if (vgprs_of(program) > MAX_VGPRS)
        return gg_fail(message, GG_ERR_LIMIT, "program: %u VGPRs, at most %u", vgprs_of(program), MAX_VGPRS);
    if (lds_of(program) > MAX_LDS)
        return gg_fail(message, GG_ERR_LIMIT, "program: %u bytes of LDS, at most %u", lds_of(program), MAX_LDS);
    if (program->scratch_bytes % 4)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: %u bytes of scratch, no whole dwords",
                       program->scratch_bytes);
    if (user_sgprs > GG_GUEST_USER_DATA)
        return gg_fail(message, GG_ERR_LIMIT, "program: RSRC2 has %u user SGPRs, at most %u", user_sgprs,
                       GG_GUEST_USER_DATA);
    if (program->rsrc1 >> 26 & 1)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "program: RSRC1 sets FP16_OVFL");
    return GG_OK;
}

uint64_t gg_interp_register_words(const struct gg_guest_program *program)
{
    if (!program || check_program(program, NULL))
        return 0;
    uint32_t lanes = lanes_of(program);
    uint64_t waves = (threads_of(program) + lanes - 1) / lanes;
    return waves * (STATE_WORDS + (uint64_t)vgprs_of(program) * lanes);
}

/* ---- Failures and outputs ---- */

void gg_interp_fail(struct gg_interp *run, int32_t result, const char *format, ...)
{
    char text[256];
    va_list args;
    if (run->result || !run->step)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    run->report->failed_offset = run->step->inst.offset;
    run->result = gg_fail(run->message, result, "0x%x: %s: %s", run->step->inst.offset,
                          gg_inst_info(&run->step->inst)->name, text);
}

void gg_interp_unsupported(struct gg_interp *run, const char *what)
{
    gg_interp_fail(run, GG_ERR_UNSUPPORTED, "%s is not interpreted", what);
}

void gg_interp_output(struct gg_interp *run, struct gg_interp_output output)
{
    uint64_t at = run->report->outputs++;
    if (at >= run->params->output_capacity || !run->params->outputs)
        return;
    output.group = run->group_number;
    output.offset = run->step->inst.offset;
    run->params->outputs[at] = output;
}

void gg_interp_export(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint64_t exec = gg_exec(run, wave);
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        struct gg_interp_output output = {.kind = GG_INTERP_EXPORT,
                                          .number = inst->exp.target,
                                          .wave = wave->index,
                                          .lane = lane,
                                          .enable = inst->exp.enable | (inst->flags & GG_INST_COMPR ? 16u : 0) |
                                                    (inst->flags & GG_INST_DONE ? 32u : 0)};
        for (uint32_t i = 0; i < 4; i++)
            output.value[i] = (uint32_t)gg_read_lane(run, wave, &inst->src[i], lane);
        gg_interp_output(run, output);
    }
}

/* ---- Decoding ---- */

/* A VGPR of the instruction above those of the launch state, or -1. */
static int32_t vgpr_above(const struct gg_interp *run, const struct gg_inst *inst)
{
    const struct gg_operand *operands[GG_OP_DSTS + GG_OP_SRCS];
    bool spread = inst->format == GG_FORMAT_MIMG && inst->nsa;
    uint32_t count = 0;
    for (uint32_t i = 0; i < GG_OP_DSTS; i++)
        operands[count++] = &inst->dst[i];
    for (uint32_t i = spread; i < GG_OP_SRCS; i++) /* the address of MIMG is source 0 */
        operands[count++] = &inst->src[i];
    for (uint32_t i = 0; i < count; i++)
        if (operands[i]->kind == GG_OPERAND_VGPR && operands[i]->value + or_one(operands[i]->width) > run->vgprs)
            return (int32_t)(operands[i]->value + or_one(operands[i]->width) - 1);
    for (uint32_t i = 0; spread && i < inst->src[0].width && i < GG_MIMG_MAX_ADDRESSES; i++)
        if (inst->mimg.addresses[i] >= run->vgprs)
            return inst->mimg.addresses[i];
    return -1;
}

static int32_t append_step(struct gg_interp *run, struct program_cache *cache, const struct gg_inst *inst)
{
    if (cache->count == cache->capacity) {
        uint32_t capacity = cache->capacity ? 2 * cache->capacity : 64;
        struct gg_step *steps = realloc(cache->steps, capacity * sizeof *steps);
        if (!steps)
            return gg_fail(run->message, GG_ERR_MEMORY, "program: no memory for %u instructions", capacity);
        cache->steps = steps;
        cache->capacity = capacity;
    }
    cache->steps[cache->count] = (struct gg_step){*inst, NULL};
    return GG_OK;
}

static bool is_vector(uint8_t format)
{
    return format == GG_FORMAT_VOP1 || format == GG_FORMAT_VOP2 || format == GG_FORMAT_VOPC ||
           format == GG_FORMAT_VOP3 || format == GG_FORMAT_VOP3P;
}

/* Decodes the instruction at `word` into the cache, or says why it cannot be executed. */
static int32_t decode_at(struct gg_interp *run, struct program_cache *cache, uint64_t word)
{
    const struct gg_guest_program *program = run->program;
    struct gg_inst inst;
    int32_t result = gg_decode(&program->target, program->words, program->word_count, word, &inst, run->message);
    if (result)
        return result;
    for (uint64_t i = word + 1; i < word + inst.words; i++)
        if (cache->at[i] < WORD_INSIDE)
            return gg_fail(run->message, GG_ERR_FORMAT, "0x%llx: %s: the program also jumps into it, to 0x%llx",
                           (unsigned long long)(4 * word), gg_inst_info(&inst)->name, (unsigned long long)(4 * i));
    int32_t above = vgpr_above(run, &inst);
    if (above >= 0)
        return gg_fail(run->message, GG_ERR_FORMAT, "0x%llx: %s: v%d is above the %u VGPRs of the launch state",
                       (unsigned long long)(4 * word), gg_inst_info(&inst)->name, above, run->vgprs);
    if (append_step(run, cache, &inst))
        return GG_ERR_MEMORY;
    if (is_vector(inst.format) && !gg_interp_has_lane(inst.op)) {
        cache->steps[cache->count].alu = gg_alu_find(inst.op);
        if (!cache->steps[cache->count].alu)
            return gg_fail(run->message, GG_ERR_UNSUPPORTED, "0x%llx: %s: it is not interpreted",
                           (unsigned long long)(4 * word), gg_inst_info(&inst)->name);
    }
    cache->at[word] = cache->count++;
    for (uint64_t i = word + 1; i < word + inst.words; i++)
        cache->at[i] = WORD_INSIDE;
    return GG_OK;
}

/*
 * Marks what follows from the entry without running: so a jump into an instruction is noticed even before that
 * instruction was executed. Whatever cannot be decoded is left for the moment when it is reached.
 */
static int32_t mark_reachable(struct gg_interp *run, struct program_cache *cache)
{
    uint64_t count = run->program->word_count, pending = 0;
    uint32_t *stack = malloc((size_t)(count + 1) * sizeof *stack);
    uint8_t *seen = calloc((size_t)count, 1);
    char **message = run->message;
    int32_t result = GG_OK;
    if (!stack || !seen) {
        result = gg_fail(message, GG_ERR_MEMORY, "program: no memory for %llu words", (unsigned long long)count);
        goto cleanup;
    }
    run->message = NULL;
    stack[pending++] = (uint32_t)(run->program->entry / 4);
    seen[run->program->entry / 4] = 1;
    while (pending) {
        uint32_t word = stack[--pending];
        if (cache->at[word] == WORD_UNKNOWN && decode_at(run, cache, word) == GG_ERR_MEMORY)
            result = GG_ERR_MEMORY;
        if (cache->at[word] >= WORD_INSIDE)
            continue;
        const struct gg_inst *inst = &cache->steps[cache->at[word]].inst;
        uint32_t flags = gg_inst_info(inst)->flags;
        int64_t next[2] = {-1, -1};
        if (flags & GG_OPF_BRANCH)
            next[0] = gg_inst_branch_target(inst) / 4;
        if (!(flags & GG_OPF_TERMINATOR) || flags & GG_OPF_CALL)
            next[1] = (int64_t)word + inst->words; /* taken up first: of two readings the straight one counts */
        for (uint32_t i = 0; i < 2; i++) {
            if (next[i] < 0 || (uint64_t)next[i] >= count || seen[next[i]])
                continue;
            seen[next[i]] = 1;
            stack[pending++] = (uint32_t)next[i];
        }
    }
    run->message = message;
    if (result)
        gg_fail(message, result, "program: no memory for its instructions");
cleanup:
    free(stack);
    free(seen);
    return result;
}

static const struct gg_step *step_at(struct gg_interp *run, struct program_cache *cache, uint64_t pc)
{
    uint64_t word = pc / 4;
    run->step = NULL;
    if (word >= run->program->word_count) {
        run->result = gg_fail(run->message, GG_ERR_FORMAT, "0x%llx: the program ends here without s_endpgm",
                              (unsigned long long)pc);
    } else if (cache->at[word] == WORD_INSIDE) {
        run->result = gg_fail(run->message, GG_ERR_FORMAT, "0x%llx: a jump into the middle of an instruction",
                              (unsigned long long)pc);
    } else if (cache->at[word] == WORD_UNKNOWN) {
        run->result = decode_at(run, cache, word);
    }
    if (run->result) {
        run->report->failed_offset = pc;
        return NULL;
    }
    return &cache->steps[cache->at[word]];
}

/* ---- Execution ---- */

/*
 * A shared VGPR has one dword for lane n and lane n + 32: a wave64 is executed half by half, so what the upper half
 * has written is what stays.
 */
static void share_vgprs(struct gg_interp *run, struct gg_wave *wave, const struct gg_operand *dst, uint64_t exec)
{
    for (uint32_t i = 0; dst->kind == GG_OPERAND_VGPR && i < or_one(dst->width); i++) {
        if (dst->value + i < run->own_vgprs)
            continue;
        uint32_t *lanes = gg_vgpr(run, wave, dst->value + i);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t written = lanes[exec >> (lane + 32) & 1 ? lane + 32 : lane];
            lanes[lane] = lanes[lane + 32] = exec >> lane & 1 || exec >> (lane + 32) & 1 ? written : lanes[lane];
        }
    }
}

static void execute(struct gg_interp *run, struct gg_wave *wave, const struct gg_step *step)
{
    const struct gg_inst *inst = &step->inst;
    uint64_t exec = gg_exec(run, wave);
    run->step = step;
    wave->pc += 4u * inst->words;
    switch (inst->format) {
    case GG_FORMAT_SOP1:
    case GG_FORMAT_SOP2:
    case GG_FORMAT_SOPC:
    case GG_FORMAT_SOPK:
    case GG_FORMAT_SOPP:
        gg_interp_salu(run, wave, inst);
        break;
    case GG_FORMAT_VOP1:
    case GG_FORMAT_VOP2:
    case GG_FORMAT_VOPC:
    case GG_FORMAT_VOP3:
    case GG_FORMAT_VOP3P:
        if (step->alu)
            gg_interp_valu(run, wave, step);
        else
            gg_interp_cross_lane(run, wave, inst);
        break;
    case GG_FORMAT_SMEM:
        gg_interp_smem(run, wave, inst);
        break;
    case GG_FORMAT_DS:
        gg_interp_lds(run, wave, inst);
        break;
    case GG_FORMAT_MUBUF:
    case GG_FORMAT_MTBUF:
        gg_interp_buffer(run, wave, inst);
        break;
    case GG_FORMAT_MIMG:
        gg_interp_image(run, wave, inst);
        break;
    case GG_FORMAT_FLAT:
    case GG_FORMAT_GLOBAL:
    case GG_FORMAT_SCRATCH:
        gg_interp_flat(run, wave, inst);
        break;
    case GG_FORMAT_EXP:
        gg_interp_export(run, wave, inst);
        break;
    default:
        gg_interp_unsupported(run, "it");
        break;
    }
    if (run->own_vgprs == run->vgprs)
        return;
    if (inst->op == GG_OP_v_writelane_b32) /* goes past EXEC */
        exec = UINT64_C(1) << (gg_read_uniform(run, wave, &inst->src[1]) & 63);
    share_vgprs(run, wave, &inst->dst[0], exec);
}

static uint64_t next_random(struct gg_interp *run)
{
    run->random += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = run->random;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t count_waves(const struct gg_interp *run, enum gg_wave_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->wave_count; i++)
        count += run->waves[i].state == state;
    return count;
}

/* The waves' PCs, for the message of an endless program; as many as fit. */
static int32_t fail_by_limit(struct gg_interp *run, uint64_t limit)
{
    char text[256] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < run->wave_count && length + 32 < sizeof text; i++) {
        const char *state = run->waves[i].state == GG_WAVE_ENDED   ? " ended"
                            : run->waves[i].state == GG_WAVE_WAITS ? " at a barrier"
                                                                   : "";
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%u: 0x%llx%s", i ? ", " : "", i,
                                   (unsigned long long)run->waves[i].pc, state);
    }
    for (uint32_t i = 0; i < run->wave_count && run->report->failed_offset == UINT64_MAX; i++)
        if (run->waves[i].state == GG_WAVE_RUNS)
            run->report->failed_offset = run->waves[i].pc;
    return gg_fail(run->message, GG_ERR_LIMIT,
                   "step limit: group (%u, %u, %u) had not ended after %llu instructions; waves at %s", run->group[0],
                   run->group[1], run->group[2], (unsigned long long)limit, text);
}

/* One wave's turn: until it waits, ends, fails or has had its instructions. */
static void take_turn(struct gg_interp *run, struct program_cache *cache, struct gg_wave *wave, uint64_t turn,
                      uint64_t limit)
{
    for (; turn && wave->state == GG_WAVE_RUNS && !run->result; turn--) {
        const struct gg_step *step = step_at(run, cache, wave->pc);
        if (!step)
            return;
        if (run->report->instructions == limit) {
            run->result = fail_by_limit(run, limit);
            return;
        }
        run->report->instructions++;
        execute(run, wave, step);
        run->report->waves += wave->state == GG_WAVE_ENDED;
    }
}

static int32_t run_group(struct gg_interp *run, struct program_cache *cache)
{
    uint64_t limit = run->params->step_limit ? run->params->step_limit : DEFAULT_STEP_LIMIT;
    bool is_random = run->params->schedule_seed != 0;
    uint32_t at = 0;
    while (!run->result && count_waves(run, GG_WAVE_ENDED) < run->wave_count) {
        if (!count_waves(run, GG_WAVE_RUNS)) { /* all that have not ended have arrived, wherever */
            run->report->barriers++;
            for (uint32_t i = 0; i < run->wave_count; i++)
                if (run->waves[i].state == GG_WAVE_WAITS)
                    run->waves[i].state = GG_WAVE_RUNS;
        }
        uint64_t random = is_random ? next_random(run) : 0;
        at = is_random ? (uint32_t)(random % run->wave_count) : at;
        take_turn(run, cache, &run->waves[at], is_random ? 1 + (random >> 32) % TURN : TURN, limit);
        at = (at + 1) % run->wave_count;
    }
    return run->result;
}

/* ---- Launch ---- */

static void launch_wave(struct gg_interp *run, struct gg_wave *wave)
{
    const struct gg_guest_program *program = run->program;
    uint32_t rsrc1 = program->rsrc1, rsrc2 = program->rsrc2, sgpr = rsrc2 >> 1 & 31;
    /* Of thread-group size: ACO reads bits 6-11 of both GPUs, LLVM and ACO bits 20-24 of gfx1030. */
    uint32_t number = wave->index << 6 | (program->target.gpu == GG_GUEST_GFX1013 ? 0 : wave->index << 20);
    uint32_t first = wave->index * run->lanes, threads = (uint32_t)threads_of(program);
    uint32_t here = threads - first < run->lanes ? threads - first : run->lanes;
    uint32_t size_x = or_one(program->threads[0]), size_y = or_one(program->threads[1]);
    uint64_t scratch = (uint64_t)wave->index * program->scratch_bytes * run->lanes;
    memcpy(wave->sgpr, program->user_data, sgpr * sizeof *wave->sgpr);
    for (uint32_t i = 0; i < 3; i++)
        if (rsrc2 >> (7 + i) & 1)
            wave->sgpr[sgpr++] = run->group[i];
    if (rsrc2 >> 10 & 1)
        wave->sgpr[sgpr++] = run->wave_count | number | (wave->index ? 0 : 1u << 31);
    if (rsrc2 & 1)
        wave->sgpr[sgpr++] = (uint32_t)scratch;
    wave->flat_scratch = program->scratch_address + scratch;
    wave->mode =
        (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1 ? GG_MODE_DX10_CLAMP : 0) | (rsrc1 >> 23 & 1 ? GG_MODE_IEEE : 0);
    gg_write_mask(run, wave, GG_SGPR_EXEC_LO, here == 64 ? UINT64_MAX : (UINT64_C(1) << here) - 1);
    uint32_t ids = rsrc2 >> 11 & 3;
    for (uint32_t lane = 0; lane < here; lane++) {
        uint32_t thread = first + lane;
        uint32_t local[3] = {thread % size_x, thread / size_x % size_y, thread / (size_x * size_y)};
        for (uint32_t i = 0; i < 3 && i <= ids && i < run->vgprs; i++)
            gg_vgpr(run, wave, i)[lane] = local[i];
    }
}

/* The registers of all waves between the struct and the caller's array. */
static void exchange_registers(struct gg_interp *run, const uint32_t *in, uint32_t *out)
{
    uint64_t vgpr_words = (uint64_t)run->vgprs * run->lanes;
    for (uint32_t i = 0; i < run->wave_count; i++) {
        struct gg_wave *wave = &run->waves[i];
        uint64_t at = i * (STATE_WORDS + vgpr_words);
        if (in) {
            memcpy(wave->sgpr, in + at, sizeof wave->sgpr);
            wave->scc = in[at + GG_SGPR_FILE] & 1;
            wave->mode = in[at + GG_SGPR_FILE + 1] & ~GG_MODE_FP16_OVFL;
            memcpy(wave->vgpr, in + at + STATE_WORDS, vgpr_words * sizeof *in);
        } else {
            memcpy(out + at, wave->sgpr, sizeof wave->sgpr);
            out[at + GG_SGPR_FILE] = wave->scc;
            out[at + GG_SGPR_FILE + 1] = wave->mode;
            out[at + GG_SGPR_FILE + 2] = out[at + GG_SGPR_FILE + 3] = 0;
            memcpy(out + at + STATE_WORDS, wave->vgpr, vgpr_words * sizeof *out);
        }
    }
}

static void launch_group(struct gg_interp *run)
{
    uint64_t vgpr_words = (uint64_t)run->vgprs * run->lanes;
    uint32_t *vgprs = run->waves[0].vgpr;
    memset(vgprs, 0, run->wave_count * vgpr_words * sizeof *vgprs);
    if (run->lds_bytes)
        memset(run->lds, 0, run->lds_bytes);
    for (uint32_t i = 0; i < run->wave_count; i++) {
        run->waves[i] = (struct gg_wave){.vgpr = vgprs + i * vgpr_words, .pc = run->program->entry, .index = i};
        launch_wave(run, &run->waves[i]);
    }
    if (run->params->registers_in)
        exchange_registers(run, run->params->registers_in, NULL);
}

static int32_t check_params(const struct gg_interp_params *params, char **message)
{
    if (!params || !params->program)
        return gg_fail(message, GG_ERR_ARGUMENT, "params: no program");
    int32_t result = check_program(params->program, message);
    if (result)
        return result;
    if (params->window_count && !params->windows)
        return gg_fail(message, GG_ERR_ARGUMENT, "params: %llu windows, but NULL",
                       (unsigned long long)params->window_count);
    for (uint64_t i = 0; i < params->window_count; i++) {
        const struct gg_guest_window *window = &params->windows[i];
        if ((window->size && !window->host) || window->address > UINT64_MAX - window->size)
            return gg_fail(message, GG_ERR_ARGUMENT, "window %llu: %llu bytes at 0x%llx", (unsigned long long)i,
                           (unsigned long long)window->size, (unsigned long long)window->address);
    }
    uint64_t words = gg_interp_register_words(params->program);
    if ((params->registers_in || params->registers_out) && params->register_words < words)
        return gg_fail(message, GG_ERR_ARGUMENT, "params: %llu register words, a group has %llu",
                       (unsigned long long)params->register_words, (unsigned long long)words);
    return GG_OK;
}

static int32_t run_groups(struct gg_interp *run, struct program_cache *cache)
{
    const struct gg_interp_params *params = run->params;
    uint32_t size_x = or_one(params->groups[0]), size_y = or_one(params->groups[1]), size_z = or_one(params->groups[2]);
    uint64_t groups = (uint64_t)size_x * size_y;
    if (groups > UINT32_MAX || groups * size_z > UINT32_MAX)
        return gg_fail(run->message, GG_ERR_LIMIT, "params: %u x %u x %u workgroups", size_x, size_y, size_z);
    groups *= size_z;
    for (uint32_t i = 0; i < groups && !run->result; i++) {
        uint32_t id[3] = {i % size_x, i / size_x % size_y, i / size_x / size_y};
        for (uint32_t k = 0; k < 3; k++)
            run->group[k] = params->first_group[k] + id[k];
        run->group_number = i;
        launch_group(run);
        run_group(run, cache);
    }
    if (!run->result && params->registers_out)
        exchange_registers(run, NULL, params->registers_out);
    return run->result;
}

int32_t gg_translator_interpret(const struct gg_interp_params *params, struct gg_interp_report *report, char **message)
{
    struct gg_interp_report counts = {.failed_offset = UINT64_MAX};
    struct program_cache cache = {0};
    struct gg_interp run = {.params = params, .report = &counts, .message = message};
    uint32_t *vgprs = NULL;
    int32_t result = gg_succeed(message);
    result = check_params(params, message);
    if (result)
        goto cleanup;
    run.program = params->program;
    run.lanes = lanes_of(run.program);
    run.vgprs = vgprs_of(run.program);
    run.own_vgprs = own_vgprs_of(run.program);
    run.lds_bytes = lds_of(run.program);
    run.wave_count = (uint32_t)((threads_of(run.program) + run.lanes - 1) / run.lanes);
    run.random = params->schedule_seed;
    run.waves = calloc(run.wave_count, sizeof *run.waves);
    run.lds = malloc(run.lds_bytes ? run.lds_bytes : 1);
    vgprs = malloc((size_t)run.wave_count * run.vgprs * run.lanes * sizeof *vgprs);
    cache.at = malloc((size_t)run.program->word_count * sizeof *cache.at);
    if (!run.waves || !run.lds || !vgprs || !cache.at) {
        result = gg_fail(message, GG_ERR_MEMORY, "interpreter: no memory for %u waves", run.wave_count);
        goto cleanup;
    }
    memset(cache.at, 0xff, (size_t)run.program->word_count * sizeof *cache.at); /* WORD_UNKNOWN */
    run.waves[0].vgpr = vgprs;
    result = mark_reachable(&run, &cache);
    if (!result)
        result = run_groups(&run, &cache);
cleanup:
    free(cache.at);
    free(cache.steps);
    free(vgprs);
    free(run.lds);
    free(run.waves);
    if (report)
        *report = counts;
    return result;
}

uint32_t gg_translator_interprets(uint32_t index)
{
    uint32_t op = index + 1; /* row 0 of the table is GG_OP_invalid */
    if (op >= GG_OP_COUNT)
        return 0;
    const struct gg_op_info *info = &gg_op_infos[op];
    switch (info->format) {
    case GG_FORMAT_SOP1:
    case GG_FORMAT_SOP2:
    case GG_FORMAT_SOPC:
    case GG_FORMAT_SOPK:
    case GG_FORMAT_SOPP:
        return gg_interp_has_salu((uint16_t)op);
    case GG_FORMAT_DS:
        return gg_interp_has_lds((uint16_t)op);
    case GG_FORMAT_MIMG:
        return gg_interp_has_image((uint16_t)op);
    case GG_FORMAT_VINTRP:
        return 0;
    case GG_FORMAT_SMEM:
    case GG_FORMAT_MUBUF:
    case GG_FORMAT_MTBUF:
    case GG_FORMAT_FLAT:
    case GG_FORMAT_GLOBAL:
    case GG_FORMAT_EXP:
        return 1;
    default:
        return gg_interp_has_lane((uint16_t)op) || gg_alu_find((uint16_t)op);
    }
}

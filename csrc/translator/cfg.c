/* SPDX-License-Identifier: MIT */
/* Reachable instructions, blocks, edges. Dominators and loops are in dominators.c. */
#include "cfg_internal.h"

#include "message.h"

struct reach { /* while the reachable instructions are being found */
    const struct gg_guest_program *program;
    struct gg_arena *arena;
    struct gg_inst *insts; /* in order of discovery */
    uint32_t count, capacity;
    uint32_t *at;       /* word -> 1 + instruction that covers it */
    bool *starts_block; /* by word */
    uint64_t *stack;    /* words whose instructions are still to be decoded */
    uint32_t depth;
    const struct gg_jump *jumps; /* whose targets are known */
    uint32_t jump_count;
};

static uint64_t word_of(const struct gg_inst *inst) { return inst->offset / 4; }

static int32_t refuse(char **message, const struct gg_inst *inst, int32_t result, const char *why)
{
    return gg_fail(message, result, "offset 0x%x: %s: %s", inst->offset, gg_inst_info(inst)->name, why);
}

/* Remembers that a block begins at a word, and that its instruction is to be decoded. */
static void visit(struct reach *r, uint64_t word)
{
    if (!r->starts_block[word]) {
        r->starts_block[word] = true;
        r->stack[r->depth++] = word;
    }
}

static struct gg_inst *append(struct reach *r)
{
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 256;
        struct gg_inst *insts = gg_arena_grow(r->arena, r->insts, r->count, capacity, sizeof *insts);
        if (!insts)
            return NULL;
        gg_arena_return(r->arena, r->insts);
        r->insts = insts;
        r->capacity = capacity;
    }
    return &r->insts[r->count++];
}

bool gg_inst_jumps_by_register(const struct gg_inst *inst)
{
    return inst->op == GG_OP_s_setpc_b64 || inst->op == GG_OP_s_swappc_b64;
}

/* Where control goes after an instruction, but for jumps by register: fills the successors' words (UINT64_MAX: none); [0] is a branch's target. */
static int32_t successors(const struct gg_guest_program *program, const struct gg_inst *inst, uint64_t next[2],
                          char **message)
{
    uint32_t flags = gg_inst_info(inst)->flags;
    next[0] = next[1] = UINT64_MAX;
    if (flags & GG_OPF_BRANCH) {
        int64_t target = gg_inst_branch_target(inst);
        if (target < 0 || (uint64_t)target / 4 >= program->word_count)
            return refuse(message, inst, GG_ERR_FORMAT, "branches outside the program");
        next[0] = (uint64_t)target / 4;
    } else if ((flags & GG_OPF_TERMINATOR) && !(flags & GG_OPF_END) && !gg_inst_jumps_by_register(inst)) {
        return refuse(message, inst, GG_ERR_UNSUPPORTED, "it belongs to the trap handler");
    }
    if (!(flags & GG_OPF_TERMINATOR)) {
        next[1] = word_of(inst) + inst->words;
        if (next[1] >= program->word_count)
            return refuse(message, inst, GG_ERR_FORMAT, "control runs past the program's last word");
    }
    return GG_OK;
}

static bool ends_block(const struct gg_inst *inst)
{
    return gg_inst_info(inst)->flags & (GG_OPF_BRANCH | GG_OPF_TERMINATOR | GG_OPF_BARRIER);
}

static const struct gg_jump *known_jump(const struct reach *r, uint32_t offset)
{
    for (uint32_t i = 0; i < r->jump_count; i++)
        if (r->jumps[i].offset == offset)
            return &r->jumps[i];
    return NULL;
}

/* Decodes from a word on, until control goes elsewhere or meets what was decoded already. */
static int32_t decode_run(struct reach *r, uint64_t word, char **message)
{
    for (;;) {
        if (r->at[word]) {
            const struct gg_inst *there = &r->insts[r->at[word] - 1];
            if (word_of(there) == word)
                return GG_OK;
            return gg_fail(message, GG_ERR_FORMAT, "offset 0x%llx: a branch leads into the middle of %s at 0x%x",
                           4 * (unsigned long long)word, gg_inst_info(there)->name, there->offset);
        }
        struct gg_inst *inst = append(r);
        if (!inst)
            return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
        int32_t result = gg_decode(&r->program->target, r->program->words, r->program->word_count, word, inst, message);
        if (result)
            return result;
        for (uint32_t i = 0; i < inst->words; i++) {
            if (r->at[word + i]) /* an instruction that was decoded from its second word on */
                return gg_fail(message, GG_ERR_FORMAT, "offset 0x%x: %s overlaps the instruction at 0x%x", inst->offset,
                               gg_inst_info(inst)->name, r->insts[r->at[word + i] - 1].offset);
            r->at[word + i] = r->count;
        }
        uint64_t next[2];
        result = successors(r->program, inst, next, message);
        if (result)
            return result;
        if (next[0] != UINT64_MAX)
            visit(r, next[0]);
        const struct gg_jump *jump = gg_inst_jumps_by_register(inst) ? known_jump(r, inst->offset) : NULL;
        for (uint32_t i = 0; jump && i < jump->count; i++)
            visit(r, jump->targets[i] / 4);
        if (next[1] == UINT64_MAX)
            return GG_OK;
        if (ends_block(inst)) {
            visit(r, next[1]);
            return GG_OK;
        }
        word = next[1];
    }
}

/* Instructions by offset, and for each word of a first one its number. */
static int32_t sort_insts(struct gg_cfg *cfg, struct reach *r, char **message)
{
    uint64_t words = r->program->word_count;
    cfg->insts = gg_arena_alloc(r->arena, r->count, sizeof *cfg->insts);
    if (!cfg->insts)
        return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
    for (uint64_t w = 0; w < words; w++) {
        if (!r->at[w] || word_of(&r->insts[r->at[w] - 1]) != w)
            continue;
        cfg->insts[cfg->inst_count] = r->insts[r->at[w] - 1];
        r->at[w] = ++cfg->inst_count;
    }
    gg_arena_return(r->arena, r->insts);
    return GG_OK;
}

/* Blocks behind the jump's own. */
static uint32_t chain_length(const struct gg_jump *jump) { return jump->count + jump->open - (jump->count ? 1 : 0); }

/* The program's jumps by register, by offset, with the targets that are known, and blocks for their chains. */
static int32_t list_jumps(struct gg_cfg *cfg, struct reach *r, uint32_t *chain_blocks, char **message)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cfg->inst_count; i++)
        count += gg_inst_jumps_by_register(&cfg->insts[i]);
    struct gg_jump *jumps = gg_arena_alloc(r->arena, count + 1, sizeof *jumps);
    if (!jumps)
        return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
    for (uint32_t i = 0; i < cfg->inst_count; i++) {
        if (!gg_inst_jumps_by_register(&cfg->insts[i]))
            continue;
        const struct gg_jump *known = known_jump(r, cfg->insts[i].offset);
        struct gg_jump *jump = &jumps[cfg->jump_count++];
        *jump = known ? *known : (struct gg_jump){.offset = cfg->insts[i].offset};
        *chain_blocks += chain_length(jump);
    }
    cfg->jumps = jumps;
    return GG_OK;
}

/* Blocks of instructions, each with the chain of its jump behind it; edges come after. */
static void cut_blocks(struct gg_cfg *cfg, const struct reach *r, uint32_t *block_at)
{
    uint32_t jump = 0;
    for (uint32_t i = 0; i < cfg->inst_count; i++) {
        uint64_t word = word_of(&cfg->insts[i]);
        if (r->starts_block[word]) {
            block_at[word] = cfg->block_count;
            cfg->blocks[cfg->block_count++] =
                (struct gg_block){.first = i, .succ = {GG_NO_BLOCK, GG_NO_BLOCK}, .jump = GG_NO_BLOCK};
        }
        struct gg_block *block = &cfg->blocks[cfg->block_count - 1];
        block->count++;
        if (!gg_inst_jumps_by_register(&cfg->insts[i]))
            continue;
        block->jump = jump;
        for (uint32_t t = 0; t < chain_length(&cfg->jumps[jump]); t++)
            cfg->blocks[cfg->block_count++] =
                (struct gg_block){.first = i, .succ = {GG_NO_BLOCK, GG_NO_BLOCK}, .jump = jump};
        jump++;
    }
}

static void link_jump(struct gg_cfg *cfg, uint32_t block, const uint32_t *block_at)
{
    const struct gg_jump *jump = &cfg->jumps[cfg->blocks[block].jump];
    for (uint32_t t = 0; t < jump->count; t++) {
        cfg->blocks[block + t].succ[0] = block_at[jump->targets[t] / 4];
        cfg->blocks[block + t].succ[1] = t + 1 < jump->count + jump->open ? block + t + 1 : GG_NO_BLOCK;
    }
}

static int32_t make_blocks(struct gg_cfg *cfg, struct reach *r, char **message)
{
    uint32_t chain_blocks = 0, *block_at = gg_arena_alloc(r->arena, r->program->word_count, sizeof *block_at);
    int32_t result = list_jumps(cfg, r, &chain_blocks, message);
    if (result)
        return result;
    cfg->blocks = gg_arena_alloc(r->arena, cfg->inst_count + (size_t)chain_blocks, sizeof *cfg->blocks);
    if (!block_at || !cfg->blocks)
        return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
    cut_blocks(cfg, r, block_at);
    cfg->entry = block_at[r->program->entry / 4];
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        struct gg_block *block = &cfg->blocks[b];
        if (block->jump != GG_NO_BLOCK) {
            if (block->count)
                link_jump(cfg, b, block_at);
            continue;
        }
        uint64_t next[2];
        result = successors(r->program, &cfg->insts[block->first + block->count - 1], next, message);
        if (result)
            return result;
        for (int i = 0; i < 2; i++)
            block->succ[i] = next[i] == UINT64_MAX ? GG_NO_BLOCK : block_at[next[i]];
    }
    return GG_OK;
}

static int32_t find_preds(struct gg_cfg *cfg, struct gg_arena *arena, char **message)
{
    uint32_t *filled = gg_arena_alloc(arena, cfg->block_count, sizeof *filled);
    cfg->preds = gg_arena_alloc(arena, 2 * (size_t)cfg->block_count, sizeof *cfg->preds);
    if (!filled || !cfg->preds)
        return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (int i = 0; i < 2; i++)
            if (cfg->blocks[b].succ[i] != GG_NO_BLOCK)
                cfg->blocks[cfg->blocks[b].succ[i]].preds++;
    uint32_t first = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        cfg->blocks[b].pred_first = first;
        first += cfg->blocks[b].preds;
    }
    for (uint32_t b = 0; b < cfg->block_count; b++)
        for (int i = 0; i < 2; i++) {
            uint32_t to = cfg->blocks[b].succ[i];
            if (to != GG_NO_BLOCK)
                cfg->preds[cfg->blocks[to].pred_first + filled[to]++] = b;
        }
    return GG_OK;
}

int32_t gg_cfg_build(struct gg_cfg *cfg, struct gg_arena *arena, const struct gg_guest_program *program, char **message)
{
    return gg_cfg_build_jumps(cfg, arena, program, NULL, 0, message);
}

int32_t gg_cfg_build_jumps(struct gg_cfg *cfg, struct gg_arena *arena, const struct gg_guest_program *program,
                           const struct gg_jump *jumps, uint32_t jump_count, char **message)
{
    *cfg = (struct gg_cfg){0};
    if (program->entry % 4 || program->entry / 4 >= program->word_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: entry at byte %llu of %llu words",
                       (unsigned long long)program->entry, (unsigned long long)program->word_count);
    struct reach r = {.program = program, .arena = arena, .jumps = jumps, .jump_count = jump_count};
    r.at = gg_arena_alloc(arena, program->word_count, sizeof *r.at);
    r.starts_block = gg_arena_alloc(arena, program->word_count, sizeof *r.starts_block);
    r.stack = gg_arena_alloc(arena, program->word_count, sizeof *r.stack);
    if (!r.at || !r.starts_block || !r.stack)
        return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
    visit(&r, program->entry / 4);
    int32_t result = GG_OK;
    while (!result && r.depth)
        result = decode_run(&r, r.stack[--r.depth], message);
    if (!result)
        result = sort_insts(cfg, &r, message);
    if (!result)
        result = make_blocks(cfg, &r, message);
    if (!result)
        result = find_preds(cfg, arena, message);
    if (!result)
        result = gg_cfg_analyse(cfg, arena, message);
    return result ? result : gg_succeed(message);
}

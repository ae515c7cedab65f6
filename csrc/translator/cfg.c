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
        r->insts = insts;
        r->capacity = capacity;
    }
    return &r->insts[r->count++];
}

/* Where control goes after an instruction: fills the successors' words (UINT64_MAX: none); [0] is a branch's target. */
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
    } else if ((flags & GG_OPF_TERMINATOR) && !(flags & GG_OPF_END)) {
        return refuse(message, inst, GG_ERR_UNSUPPORTED, "control goes where a register says");
    }
    if (flags & GG_OPF_CALL)
        return refuse(message, inst, GG_ERR_UNSUPPORTED, "calls are not translated");
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
    return GG_OK;
}

static int32_t make_blocks(struct gg_cfg *cfg, struct reach *r, char **message)
{
    uint32_t *block_at = gg_arena_alloc(r->arena, r->program->word_count, sizeof *block_at);
    cfg->blocks = gg_arena_alloc(r->arena, cfg->inst_count, sizeof *cfg->blocks);
    if (!block_at || !cfg->blocks)
        return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
    for (uint32_t i = 0; i < cfg->inst_count; i++) {
        uint64_t word = word_of(&cfg->insts[i]);
        if (r->starts_block[word]) {
            block_at[word] = cfg->block_count;
            cfg->blocks[cfg->block_count++] = (struct gg_block){.first = i, .succ = {GG_NO_BLOCK, GG_NO_BLOCK}};
        }
        cfg->blocks[cfg->block_count - 1].count++;
    }
    cfg->entry = block_at[r->program->entry / 4];
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        struct gg_block *block = &cfg->blocks[b];
        const struct gg_inst *last = &cfg->insts[block->first + block->count - 1];
        uint64_t next[2];
        int32_t result = successors(r->program, last, next, message);
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
    *cfg = (struct gg_cfg){0};
    if (program->entry % 4 || program->entry / 4 >= program->word_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "program: entry at byte %llu of %llu words",
                       (unsigned long long)program->entry, (unsigned long long)program->word_count);
    struct reach r = {.program = program, .arena = arena};
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

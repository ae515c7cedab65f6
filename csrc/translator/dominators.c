/* SPDX-License-Identifier: MIT */
/*
 * Reverse postorder, dominators (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm"), and the loop
 * forest: one loop for each strongly connected part, found outermost first, then again within it without its header.
 */
#include "cfg_internal.h"

#include "message.h"

#include <string.h>

static void number_blocks(struct gg_cfg *cfg, uint32_t *stack, uint8_t *next_edge)
{
    uint32_t depth = 0, left = cfg->block_count;
    bool *seen = (bool *)(next_edge + cfg->block_count);
    stack[depth++] = cfg->entry;
    seen[cfg->entry] = true;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next_edge[b] == 2) {
            cfg->rpo[--left] = b;
            cfg->blocks[b].order = left;
            depth--;
            continue;
        }
        uint32_t to = cfg->blocks[b].succ[next_edge[b]++];
        if (to != GG_NO_BLOCK && !seen[to]) {
            seen[to] = true;
            stack[depth++] = to;
        }
    }
}

static uint32_t common_dominator(const struct gg_cfg *cfg, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (cfg->blocks[a].order > cfg->blocks[b].order)
            a = cfg->blocks[a].dominator;
        while (cfg->blocks[b].order > cfg->blocks[a].order)
            b = cfg->blocks[b].dominator;
    }
    return a;
}

static void find_dominators(struct gg_cfg *cfg)
{
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->blocks[b].dominator = GG_NO_BLOCK;
    cfg->blocks[cfg->entry].dominator = cfg->entry;
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < cfg->block_count; i++) {
            struct gg_block *block = &cfg->blocks[cfg->rpo[i]];
            if (cfg->rpo[i] == cfg->entry)
                continue;
            uint32_t best = GG_NO_BLOCK;
            for (uint32_t p = 0; p < block->preds; p++) {
                uint32_t pred = cfg->preds[block->pred_first + p];
                if (cfg->blocks[pred].dominator != GG_NO_BLOCK)
                    best = best == GG_NO_BLOCK ? pred : common_dominator(cfg, pred, best);
            }
            changed |= block->dominator != best;
            block->dominator = best;
        }
    }
}

bool gg_cfg_dominates(const struct gg_cfg *cfg, uint32_t a, uint32_t b)
{
    while (cfg->blocks[b].order > cfg->blocks[a].order)
        b = cfg->blocks[b].dominator;
    return a == b;
}

bool gg_cfg_in_loop(const struct gg_cfg *cfg, uint32_t loop, uint32_t block)
{
    uint32_t inner = cfg->blocks[block].loop;
    while (inner != GG_NO_BLOCK && inner != loop)
        inner = cfg->loops[inner].parent;
    return inner == loop;
}

struct forest { /* Tarjan's search for strongly connected parts, over the blocks of one enclosing loop */
    struct gg_cfg *cfg;
    uint32_t *index, *low, *members, *work;
    uint32_t next, member_count;
    bool *open;
    bool *header; /* of a loop that was found: its in-edges no longer count */
};

static bool inside(const struct forest *f, uint32_t block, uint32_t loop)
{
    return block != GG_NO_BLOCK && f->cfg->blocks[block].loop == loop && !f->header[block];
}

/* The part on top of `members`, from `root` on, is a loop if an edge stays in it. */
static void close_part(struct forest *f, uint32_t root, uint32_t loop)
{
    struct gg_cfg *cfg = f->cfg;
    uint32_t first = f->member_count;
    do
        f->open[f->members[--first]] = false;
    while (f->members[first] != root);
    uint32_t count = f->member_count - first;
    f->member_count = first;
    const struct gg_block *block = &cfg->blocks[root];
    if (count == 1 && block->succ[0] != root && block->succ[1] != root)
        return;
    /* The header is the member that comes first in reverse postorder: for a reducible loop, the one that dominates. */
    uint32_t header = root;
    for (uint32_t i = 0; i < count; i++)
        if (cfg->blocks[f->members[first + i]].order < cfg->blocks[header].order)
            header = f->members[first + i];
    struct gg_loop *made = &cfg->loops[cfg->loop_count];
    *made = (struct gg_loop){.header = header,
                             .parent = loop,
                             .depth = loop == GG_NO_BLOCK ? 1 : cfg->loops[loop].depth + 1,
                             .blocks = count};
    for (uint32_t i = 0; i < count; i++)
        cfg->blocks[f->members[first + i]].loop = cfg->loop_count;
    cfg->loop_count++;
}

static void open_block(struct forest *f, uint32_t block)
{
    f->index[block] = f->low[block] = ++f->next;
    f->members[f->member_count++] = block;
    f->open[block] = true;
}

/* Finds the parts among the blocks whose innermost loop so far is `loop`, its header left out. */
static void find_parts(struct forest *f, uint32_t loop, uint8_t *next_edge)
{
    struct gg_cfg *cfg = f->cfg;
    f->next = 0;
    memset(f->index, 0, cfg->block_count * sizeof *f->index);
    memset(next_edge, 0, cfg->block_count);
    for (uint32_t i = 0; i < cfg->block_count; i++) {
        uint32_t start = cfg->rpo[i], depth = 0;
        if (!inside(f, start, loop) || f->index[start])
            continue;
        f->work[depth++] = start;
        open_block(f, start);
        while (depth) {
            uint32_t b = f->work[depth - 1];
            if (next_edge[b] < 2) {
                uint32_t to = cfg->blocks[b].succ[next_edge[b]++];
                if (!inside(f, to, loop))
                    continue;
                if (!f->index[to]) {
                    f->work[depth++] = to;
                    open_block(f, to);
                } else if (f->open[to] && f->index[to] < f->low[b]) {
                    f->low[b] = f->index[to];
                }
                continue;
            }
            depth--;
            if (depth && f->low[b] < f->low[f->work[depth - 1]])
                f->low[f->work[depth - 1]] = f->low[b];
            if (f->low[b] == f->index[b])
                close_part(f, b, loop);
        }
    }
}

/* A loop that is entered past its header: some member's predecessor outside the loop leads to another block. */
static void mark_irreducible(struct gg_cfg *cfg)
{
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct gg_block *block = &cfg->blocks[b];
        for (uint32_t p = 0; p < block->preds; p++)
            for (uint32_t l = block->loop; l != GG_NO_BLOCK; l = cfg->loops[l].parent)
                if (cfg->loops[l].header != b && !gg_cfg_in_loop(cfg, l, cfg->preds[block->pred_first + p]))
                    cfg->loops[l].irreducible = true;
    }
}

int32_t gg_cfg_analyse(struct gg_cfg *cfg, struct gg_arena *arena, char **message)
{
    uint32_t n = cfg->block_count;
    struct forest f = {.cfg = cfg};
    uint8_t *edges = gg_arena_alloc(arena, n, 2);
    uint32_t *numbers = gg_arena_alloc(arena, n, 4 * sizeof *numbers);
    f.open = gg_arena_alloc(arena, n, 2 * sizeof *f.open);
    cfg->rpo = gg_arena_alloc(arena, n, sizeof *cfg->rpo);
    cfg->loops = gg_arena_alloc(arena, n, sizeof *cfg->loops);
    if (!edges || !numbers || !f.open || !cfg->rpo || !cfg->loops)
        return gg_fail(message, GG_ERR_MEMORY, "control flow: out of memory");
    f.index = numbers;
    f.low = numbers + n;
    f.members = numbers + 2 * (size_t)n;
    f.work = numbers + 3 * (size_t)n;
    f.header = f.open + n;
    number_blocks(cfg, numbers, edges);
    find_dominators(cfg);
    for (uint32_t b = 0; b < n; b++)
        cfg->blocks[b].loop = GG_NO_BLOCK;
    find_parts(&f, GG_NO_BLOCK, edges);
    for (uint32_t l = 0; l < cfg->loop_count; l++) { /* loops found meanwhile are searched in turn */
        f.header[cfg->loops[l].header] = true;
        find_parts(&f, l, edges);
    }
    mark_irreducible(cfg);
    return GG_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * One order for the values of a block. C leaves open in which order a call's arguments are evaluated, so compilers make
 * the values of one guest instruction in different orders; here they get an order that follows from what they are:
 * by guest instruction, then by how deep they stand on others of it, then by operation and arguments. What reads or
 * writes memory keeps its turn. Values that became equal when phis went are joined. Numbers are given anew.
 */
#include "ir.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

#define FEW 16u /* entries that are put in their place one after the other */

struct entry {
    uint64_t kind; /* turn of what is not pure, operation, class */
    uint32_t imm;
    gg_value arg[GG_IR_ARGS]; /* new numbers */
    gg_value old;
    uint32_t level; /* within its instruction */
};

struct order {
    struct gg_ir *ir;
    uint32_t *blocks; /* in reverse postorder, the entry first: what dominates comes before */
    uint32_t block_count;
    gg_value *number; /* old to new */
    uint32_t *level;  /* of each old value */
    struct gg_ir_value *values;
    uint32_t count;                  /* of new values, with none */
    struct entry *entries, **sorted; /* of one instruction, or of a block's phis */
    uint32_t *ends;
};

static int compare_entries(const struct entry *x, const struct entry *y)
{
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->imm != y->imm)
        return x->imm < y->imm ? -1 : 1;
    for (int i = 0; i < GG_IR_ARGS; i++)
        if (x->arg[i] != y->arg[i])
            return x->arg[i] < y->arg[i] ? -1 : 1;
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    return compare_entries(*(struct entry *const *)a, *(struct entry *const *)b);
}

static void sort(struct entry **entries, uint32_t count)
{
    if (count > FEW) {
        qsort(entries, count, sizeof *entries, compare_places);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        struct entry *moved = entries[i];
        uint32_t at = i;
        for (; at && compare_entries(moved, entries[at - 1]) < 0; at--)
            entries[at] = entries[at - 1];
        entries[at] = moved;
    }
}

/* Depth-first, without recursion; blocks that cannot be reached are left out. */
static bool order_blocks(struct order *o)
{
    struct gg_ir *ir = o->ir;
    uint32_t *stack = gg_arena_alloc(ir->arena, ir->block_count, sizeof *stack), depth = 0, at = ir->block_count;
    uint8_t *visited = gg_arena_alloc(ir->arena, ir->block_count, sizeof *visited); /* 1 + successors looked at */
    o->blocks = gg_arena_alloc(ir->arena, ir->block_count, sizeof *o->blocks);
    if (!stack || !visited || !o->blocks)
        return false;
    stack[depth++] = ir->entry;
    visited[ir->entry] = 1;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (visited[b] == 3) {
            o->blocks[--at] = b;
            depth--;
            continue;
        }
        uint32_t to = ir->blocks[b].succ[visited[b]++ - 1];
        if (to != GG_NO_BLOCK && !visited[to]) {
            visited[to] = 1;
            stack[depth++] = to;
        }
    }
    o->block_count = ir->block_count - at;
    memmove(o->blocks, o->blocks + at, o->block_count * sizeof *o->blocks);
    return true;
}

static void place(struct order *o, struct gg_ir_block *block, const struct entry *entry)
{
    struct gg_ir_value *to = &o->values[o->count];
    *to = o->ir->values[entry->old];
    if (to->op != GG_IR_phi)
        memcpy(to->arg, entry->arg, sizeof to->arg);
    block->values[block->count++] = o->count;
    o->number[entry->old] = o->count++;
}

/* An entry for each value of one guest instruction; returns how many levels they have, at most `count`. */
static uint32_t find_levels(struct order *o, const gg_value *old, uint32_t count)
{
    const struct gg_ir_value *values = o->ir->values;
    uint32_t offset = values[old[0]].offset, own = values[old[0]].block, turn = 0, turn_level = 0, levels = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct gg_ir_value *v = &values[old[i]];
        bool pure = gg_ir_ops[v->op].flags & GG_IRF_PURE;
        uint32_t level = 0;
        for (int a = 0; a < GG_IR_ARGS && v->arg[a]; a++) {
            const struct gg_ir_value *arg = &values[v->arg[a]];
            if (arg->block == own && arg->offset == offset && arg->op != GG_IR_phi && o->level[v->arg[a]] >= level)
                level = o->level[v->arg[a]] + 1;
        }
        if (!pure) {
            level = turn && turn_level >= level ? turn_level + 1 : level;
            turn_level = level;
            turn++;
        }
        o->level[old[i]] = level;
        levels = level >= levels ? level + 1 : levels;
        uint64_t kind = (uint64_t)(pure ? 0 : turn) << 32 | (uint32_t)v->op << 8 | v->class;
        o->entries[i] = (struct entry){.kind = kind, .imm = v->imm, .old = old[i], .level = level};
    }
    return levels;
}

/* o->sorted: the entries level after level; o->ends: where each level's end. */
static void sort_by_level(struct order *o, uint32_t count, uint32_t levels)
{
    uint32_t *begins = o->ends; /* until all have their place */
    memset(begins, 0, (levels + 1) * sizeof *begins);
    for (uint32_t i = 0; i < count; i++)
        begins[o->entries[i].level + 1]++;
    for (uint32_t level = 0; level < levels; level++)
        begins[level + 1] += begins[level];
    for (uint32_t i = 0; i < count; i++)
        o->sorted[begins[o->entries[i].level]++] = &o->entries[i];
}

/* The values of one guest instruction in a block: `count` of the old list. */
static void order_instruction(struct order *o, struct gg_ir_block *block, const gg_value *old, uint32_t count)
{
    uint32_t levels = find_levels(o, old, count);
    sort_by_level(o, count, levels);
    for (uint32_t level = 0, first = 0; level < levels; first = o->ends[level++]) {
        struct entry **sorted = o->sorted + first, *last = NULL;
        uint32_t here = o->ends[level] - first;
        for (uint32_t i = 0; i < here; i++) {
            const gg_value *args = o->ir->values[sorted[i]->old].arg;
            for (int a = 0; a < GG_IR_ARGS && args[a]; a++)
                sorted[i]->arg[a] = o->number[args[a]];
        }
        sort(sorted, here);
        for (uint32_t i = 0; i < here; last = sorted[i++]) {
            if (last && !(last->kind >> 32) && !compare_entries(last, sorted[i]))
                o->number[sorted[i]->old] = o->number[last->old];
            else
                place(o, block, sorted[i]);
        }
    }
}

static void order_block(struct order *o, uint32_t b, gg_value *old)
{
    struct gg_ir_block *block = &o->ir->blocks[b];
    uint32_t count = block->count, phis = 0;
    if (!count)
        return;
    block->count = 0;
    for (uint32_t i = 0, others = 0; i < count; i++) {
        const struct gg_ir_value *v = &o->ir->values[block->values[i]];
        if (v->op != GG_IR_phi) {
            old[others++] = block->values[i];
            continue;
        }
        o->entries[phis] = (struct entry){.imm = v->imm, .old = block->values[i]}; /* the register it stands for */
        o->sorted[phis] = &o->entries[phis];
        phis++;
    }
    count -= phis;
    sort(o->sorted, phis);
    for (uint32_t i = 0; i < phis; i++)
        place(o, block, o->sorted[i]);
    for (uint32_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && o->ir->values[old[last]].offset == o->ir->values[old[first]].offset;)
            last++;
        order_instruction(o, block, old + first, last - first);
    }
}

int32_t gg_ir_order(struct gg_ir *ir, char **message)
{
    struct order o = {.ir = ir, .count = 1};
    uint32_t most = 1, all = 1;
    for (uint32_t b = 0; b < ir->block_count; b++) {
        most = ir->blocks[b].count > most ? ir->blocks[b].count : most;
        all += ir->blocks[b].count;
    }
    o.number = gg_arena_alloc(ir->arena, ir->value_count, sizeof *o.number);
    o.level = gg_arena_alloc(ir->arena, ir->value_count, sizeof *o.level);
    o.values = gg_arena_alloc_raw(ir->arena, all, sizeof *o.values);
    o.entries = gg_arena_alloc(ir->arena, most, sizeof *o.entries);
    o.sorted = gg_arena_alloc(ir->arena, most, sizeof *o.sorted);
    o.ends = gg_arena_alloc(ir->arena, most + (size_t)1, sizeof *o.ends);
    gg_value *old = gg_arena_alloc(ir->arena, most, sizeof *old);
    if (!o.number || !o.level || !o.values || !o.entries || !o.sorted || !o.ends || !old || !order_blocks(&o))
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    o.values[0] = ir->values[0];
    for (uint32_t i = 0; i < o.block_count; i++)
        order_block(&o, o.blocks[i], old);
    for (uint32_t i = 0; i < ir->phi_arg_count; i++)
        ir->phi_args[i] = o.number[ir->phi_args[i]];
    for (uint32_t b = 0; b < ir->block_count; b++)
        ir->blocks[b].condition = o.number[ir->blocks[b].condition];
    gg_arena_return(ir->arena, ir->values);
    ir->values = o.values;
    ir->value_capacity = all;
    ir->value_count = o.count;
    return GG_OK;
}

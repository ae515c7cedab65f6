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

struct entry {
    uint32_t level; /* within its instruction */
    uint32_t turn;  /* of what is not pure; else 0 */
    uint32_t op, class, imm;
    gg_value arg[GG_IR_ARGS]; /* new numbers */
    gg_value old;
};

struct order {
    struct gg_ir *ir;
    uint32_t *blocks; /* in reverse postorder, the entry first: what dominates comes before */
    uint32_t block_count;
    gg_value *number; /* old to new */
    uint32_t *level;  /* of each old value */
    struct gg_ir_value *values;
    uint32_t count; /* of new values, with none */
    struct entry *entries;
};

static int compare_words(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const uint32_t left[] = {x->level, x->turn, x->op, x->class, x->imm};
    const uint32_t right[] = {y->level, y->turn, y->op, y->class, y->imm};
    int order = compare_words(left, right, sizeof left / sizeof left[0]);
    return order ? order : compare_words(x->arg, y->arg, GG_IR_ARGS);
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

static void place(struct order *o, struct gg_ir_block *block, gg_value old)
{
    block->values[block->count++] = o->count;
    o->number[old] = o->count;
    o->values[o->count] = o->ir->values[old];
    for (int i = 0; i < GG_IR_ARGS && o->values[o->count].op != GG_IR_phi; i++)
        o->values[o->count].arg[i] = o->number[o->values[o->count].arg[i]];
    o->count++;
}

/* The values of one guest instruction in a block: `count` of the old list. */
static void order_instruction(struct order *o, struct gg_ir_block *block, const gg_value *old, uint32_t count)
{
    const struct gg_ir_value *values = o->ir->values;
    uint32_t offset = values[old[0]].offset, own = values[old[0]].block, turn = 0, turn_level = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct gg_ir_value *v = &values[old[i]];
        bool pure = gg_ir_ops[v->op].flags & GG_IRF_PURE;
        uint32_t level = 0;
        for (int a = 0; a < GG_IR_ARGS; a++) {
            const struct gg_ir_value *arg = &values[v->arg[a]];
            if (v->arg[a] && arg->block == own && arg->offset == offset && arg->op != GG_IR_phi &&
                o->level[v->arg[a]] >= level)
                level = o->level[v->arg[a]] + 1;
        }
        if (!pure) {
            level = turn && turn_level >= level ? turn_level + 1 : level;
            turn_level = level;
            turn++;
        }
        o->level[old[i]] = level;
        o->entries[i] = (struct entry){
            .level = level, .turn = pure ? 0 : turn, .op = v->op, .class = v->class, .imm = v->imm, .old = old[i]};
    }
    qsort(o->entries, count, sizeof *o->entries, compare_entries); /* by level */
    for (uint32_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && o->entries[last].level == o->entries[first].level; last++)
            for (int a = 0; a < GG_IR_ARGS; a++)
                o->entries[last].arg[a] = o->number[values[o->entries[last].old].arg[a]];
        qsort(&o->entries[first], last - first, sizeof *o->entries, compare_entries);
        for (uint32_t i = first; i < last; i++) {
            bool again = i > first && !o->entries[i].turn && !compare_entries(&o->entries[i - 1], &o->entries[i]);
            if (again)
                o->number[o->entries[i].old] = o->number[o->entries[i - 1].old];
            else
                place(o, block, o->entries[i].old);
        }
    }
}

static int compare_phis(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->imm < y->imm ? -1 : x->imm > y->imm;
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
        if (v->op == GG_IR_phi) /* by the register that they stand for */
            o->entries[phis++] = (struct entry){.imm = v->imm, .old = block->values[i]};
        else
            old[others++] = block->values[i];
    }
    count -= phis;
    qsort(o->entries, phis, sizeof *o->entries, compare_phis);
    for (uint32_t i = 0; i < phis; i++)
        place(o, block, o->entries[i].old);
    for (uint32_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && o->ir->values[old[last]].offset == o->ir->values[old[first]].offset;)
            last++;
        order_instruction(o, block, old + first, last - first);
    }
}

int32_t gg_ir_order(struct gg_ir *ir, char **message)
{
    struct order o = {.ir = ir, .count = 1};
    uint32_t most = 1;
    for (uint32_t b = 0; b < ir->block_count; b++)
        most = ir->blocks[b].count > most ? ir->blocks[b].count : most;
    o.number = gg_arena_alloc(ir->arena, ir->value_count, sizeof *o.number);
    o.level = gg_arena_alloc(ir->arena, ir->value_count, sizeof *o.level);
    o.values = gg_arena_alloc(ir->arena, ir->value_count, sizeof *o.values);
    o.entries = gg_arena_alloc(ir->arena, most, sizeof *o.entries);
    gg_value *old = gg_arena_alloc(ir->arena, most, sizeof *old);
    if (!o.number || !o.level || !o.values || !o.entries || !old || !order_blocks(&o))
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    for (uint32_t i = 0; i < o.block_count; i++)
        order_block(&o, o.blocks[i], old);
    for (uint32_t i = 0; i < ir->phi_arg_count; i++)
        ir->phi_args[i] = o.number[ir->phi_args[i]];
    for (uint32_t b = 0; b < ir->block_count; b++)
        ir->blocks[b].condition = o.number[ir->blocks[b].condition];
    ir->values = o.values;
    ir->value_capacity = ir->value_count;
    ir->value_count = o.count;
    return GG_OK;
}

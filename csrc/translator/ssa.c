/* SPDX-License-Identifier: MIT */
#include "ssa.h"

#include "message.h"

static enum gg_ir_class class_of(uint32_t reg)
{
    return reg == GG_REG_SCC ? GG_IR_B : reg < GG_REG_VGPR ? GG_IR_S : GG_IR_V;
}

static gg_value *slot(struct gg_ssa *ssa, uint32_t block, uint32_t reg)
{
    return &ssa->reaching[(size_t)block * GG_REG_COUNT + reg];
}

int32_t gg_ssa_begin(struct gg_ssa *ssa, struct gg_ir *ir, char **message)
{
    *ssa = (struct gg_ssa){.ir = ir};
    ssa->reaching = gg_arena_alloc(ir->arena, ir->block_count, GG_REG_COUNT * sizeof *ssa->reaching);
    ssa->incomplete = gg_arena_alloc(ir->arena, ir->block_count, sizeof *ssa->incomplete);
    ssa->waiting = gg_arena_alloc(ir->arena, ir->block_count, sizeof *ssa->waiting);
    if (!ssa->reaching || !ssa->incomplete || !ssa->waiting)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    for (uint32_t b = 0; b < ir->block_count; b++)
        ssa->waiting[b] = ir->blocks[b].preds;
    return GG_OK;
}

void gg_ssa_write(struct gg_ssa *ssa, uint32_t block, uint32_t reg, gg_value value) { *slot(ssa, block, reg) = value; }

static void complete(struct gg_ssa *ssa, uint32_t block, uint32_t reg, gg_value phi)
{
    const struct gg_ir_block *b = &ssa->ir->blocks[block];
    for (uint32_t p = 0; p < b->preds; p++) {
        gg_value from = gg_ssa_read(ssa, ssa->ir->preds[b->pred_first + p], reg);
        ssa->ir->phi_args[ssa->ir->values[phi].arg[0] + p] = from; /* reading may have moved the array */
    }
}

gg_value gg_ssa_read(struct gg_ssa *ssa, uint32_t block, uint32_t reg)
{
    /* Up a chain of single predecessors without recursion; then down again, so that the next read is short. */
    uint32_t at = block;
    while (!*slot(ssa, at, reg) && !ssa->waiting[at] && ssa->ir->blocks[at].preds == 1)
        at = ssa->ir->preds[ssa->ir->blocks[at].pred_first];
    if (!*slot(ssa, at, reg)) {
        gg_value phi = gg_ir_phi(ssa->ir, at, class_of(reg), reg);
        *slot(ssa, at, reg) = phi;
        if (!phi)
            return 0;
        if (ssa->waiting[at]) {
            struct gg_incomplete *todo = gg_arena_alloc(ssa->ir->arena, 1, sizeof *todo);
            if (!todo)
                return 0;
            *todo = (struct gg_incomplete){.next = ssa->incomplete[at], .reg = reg, .phi = phi};
            ssa->incomplete[at] = todo;
        } else {
            complete(ssa, at, reg, phi);
        }
    }
    gg_value found = *slot(ssa, at, reg);
    for (uint32_t b = block; b != at; b = ssa->ir->preds[ssa->ir->blocks[b].pred_first])
        *slot(ssa, b, reg) = found;
    return found;
}

void gg_ssa_filled(struct gg_ssa *ssa, uint32_t block)
{
    for (int i = 0; i < 2; i++) {
        uint32_t to = ssa->ir->blocks[block].succ[i];
        if (to == GG_NO_BLOCK || --ssa->waiting[to])
            continue;
        for (struct gg_incomplete *todo = ssa->incomplete[to]; todo; todo = todo->next)
            complete(ssa, to, todo->reg, todo->phi);
    }
}

static gg_value resolve(gg_value *becomes, gg_value v)
{
    for (; becomes[v]; v = becomes[v])
        if (becomes[becomes[v]]) /* the next time the way is shorter */
            becomes[v] = becomes[becomes[v]];
    return v;
}

/* The one value that a phi stands for, or 0. */
static gg_value only_choice(const struct gg_ir *ir, gg_value *becomes, gg_value phi)
{
    const struct gg_ir_value *v = &ir->values[phi];
    gg_value only = 0;
    for (uint32_t p = 0; p < ir->blocks[v->block].preds; p++) {
        gg_value arg = resolve(becomes, ir->phi_args[v->arg[0] + p]);
        if (arg == phi || arg == only)
            continue;
        if (only)
            return 0;
        only = arg;
    }
    return only;
}

/* Phis that choose nothing, until no other becomes one by it. */
static void find_choices(const struct gg_ir *ir, gg_value *becomes, gg_value *phis)
{
    uint32_t count = ir->phi_count, before;
    for (gg_value v = ir->last_phi, i = count; v; v = ir->values[v].older)
        phis[--i] = v; /* in the order in which they were made */
    do {
        before = count;
        count = 0;
        for (uint32_t i = 0; i < before; i++) {
            becomes[phis[i]] = only_choice(ir, becomes, phis[i]);
            if (!becomes[phis[i]])
                phis[count++] = phis[i];
        }
    } while (count < before);
}

struct marking {
    struct gg_ir *ir;
    gg_value *becomes;
    bool *live;
    gg_value *stack; /* marked, but not yet what they use */
    uint32_t depth;
};

/* A use of a live value: becomes what it stands for. */
static void mark(struct marking *m, gg_value *use)
{
    gg_value v = *use = resolve(m->becomes, *use);
    if (v && !m->live[v]) {
        m->live[v] = true;
        m->ir->blocks[m->ir->values[v].block].count++;
        m->stack[m->depth++] = v;
    }
}

/* Keeps what stores, what decides a branch, and what those use; counts them by block. */
static void mark_live(struct marking *m)
{
    struct gg_ir *ir = m->ir;
    for (uint32_t b = 0; b < ir->block_count; b++)
        mark(m, &ir->blocks[b].condition);
    for (gg_value v = ir->last_store; v; v = ir->values[v].older)
        mark(m, &(gg_value){v});
    while (m->depth) {
        struct gg_ir_value *v = &ir->values[m->stack[--m->depth]];
        if (v->op == GG_IR_phi) {
            for (uint32_t p = 0; p < ir->blocks[v->block].preds; p++)
                mark(m, &ir->phi_args[v->arg[0] + p]);
            continue;
        }
        for (int i = 0; i < GG_IR_ARGS && v->arg[i]; i++)
            mark(m, &v->arg[i]);
    }
}

/* Each block's list of its values that are live, in the order in which they were made. */
static bool fill_blocks(struct gg_ir *ir, const bool *live)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < ir->block_count; b++)
        count += ir->blocks[b].count;
    gg_value *values = gg_arena_alloc(ir->arena, count, sizeof *values);
    if (!values)
        return false;
    for (uint32_t b = 0; b < ir->block_count; b++) {
        ir->blocks[b].values = values;
        values += ir->blocks[b].count;
        ir->blocks[b].count = 0;
    }
    for (gg_value v = 1; v < ir->value_count; v++) {
        if (!live[v])
            continue;
        struct gg_ir_block *block = &ir->blocks[ir->values[v].block];
        block->values[block->count++] = v;
    }
    return true;
}

int32_t gg_ssa_finish(struct gg_ssa *ssa, char **message)
{
    struct gg_ir *ir = ssa->ir;
    gg_value *becomes = gg_arena_alloc(ir->arena, ir->value_count, sizeof *becomes);
    gg_value *stack = gg_arena_alloc(ir->arena, ir->value_count, sizeof *stack);
    bool *live = gg_arena_alloc(ir->arena, ir->value_count, sizeof *live);
    if (!becomes || !stack || !live || ir->arena->failed)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    find_choices(ir, becomes, stack);
    mark_live(&(struct marking){.ir = ir, .becomes = becomes, .live = live, .stack = stack});
    if (!fill_blocks(ir, live))
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    const void *const done[] = {becomes, stack, live, ssa->reaching};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++)
        gg_arena_return(ir->arena, done[i]);
    return gg_ir_order(ir, message);
}

/* SPDX-License-Identifier: MIT */
/*
 * What is decided about values before their code is written: which have variables, and, rolled, the regions: which
 * operations of a block share a lane loop. Lanes run one after the other in a region, so no lane may need what
 * another does in the same region: a shuffle begins a new one. A region's memory operations are one batch, done
 * when its loop has ended; so what needs their results begins a new one too, and so do operations of another kind.
 * Scalars stand before the region that is open, unless they need something from it.
 */
#include "emit.h"

#include "message.h"

bool gg_emit_is_lane_op(const struct gg_emit *e, const struct gg_ir_value *v)
{
    switch (v->op) {
    case GG_IR_phi:
    case GG_IR_constant:
        return false;
    case GG_IR_input:
        return v->class != GG_IR_S;
    /* Rolled masks: whole words at a time. */
    case GG_IR_and:
    case GG_IR_or:
    case GG_IR_xor:
    case GG_IR_not:
    case GG_IR_mask:
        return v->class == GG_IR_V || (e->flat && v->class == GG_IR_M);
    default:
        return v->class == GG_IR_V || v->class == GG_IR_M ||
               (v->class == GG_IR_NONE && gg_ir_ops[v->op].flags & GG_IRF_STORES);
    }
}

struct plan {
    struct gg_emit *e;
    uint32_t region; /* the open one, or the last */
    bool open;
    struct gg_batch batch; /* its memory operations */
};

static bool needs_open_region(const struct plan *p, const struct gg_ir_value *v)
{
    for (int i = 0; p->open && i < GG_IR_ARGS && v->arg[i]; i++)
        if (p->e->region[v->arg[i]] == p->region)
            return true;
    return false;
}

/* It uses a result of the open region's batch, which holds all memory operations of the region. */
static bool needs_batch(const struct plan *p, const struct gg_ir_value *v)
{
    const struct gg_emit *e = p->e;
    for (int i = 0; p->batch.op && i < GG_IR_ARGS && v->arg[i]; i++)
        if (e->region[v->arg[i]] == p->region && gg_ir_is_memory(&e->ir->values[v->arg[i]]))
            return true;
    return false;
}

static void close(struct plan *p)
{
    p->open = false;
    p->batch = (struct gg_batch){0};
}

static void place(struct plan *p, gg_value value)
{
    const struct gg_ir_value *v = &p->e->ir->values[value];
    if (v->op == GG_IR_phi)
        return;
    if (!gg_emit_is_lane_op(p->e, v)) {
        bool behind_store = gg_ir_is_memory(v) && p->batch.op && gg_ir_ops[p->batch.op].flags & GG_IRF_STORES;
        if (needs_open_region(p, v) || behind_store) {
            p->e->after_region[value] = true;
            close(p);
        }
        return;
    }
    bool shuffles = v->op == GG_IR_shuffle && p->open && p->e->region[v->arg[0]] == p->region;
    bool memory = gg_ir_is_memory(v);
    if (shuffles || needs_batch(p, v) || (memory && !gg_emit_fits_batch(p->e, &p->batch, v)))
        close(p);
    if (!p->open) {
        p->region++;
        p->open = true;
    }
    p->e->region[value] = p->region;
    if (memory) {
        p->batch.op = v->op;
        p->batch.imm = v->imm;
        p->batch.values[p->batch.count++] = value;
    }
}

/* A value has a variable if something outside its block uses it; rolled, outside its region. */
static void mark_use(struct gg_emit *e, gg_value used, uint32_t block, uint32_t region)
{
    const struct gg_ir_value *v = &e->ir->values[used];
    if (!used || v->op == GG_IR_constant)
        return;
    bool lanes = v->class == GG_IR_V || v->class == GG_IR_M;
    bool other_region = !e->flat && lanes && (e->region[used] == 0 || e->region[used] != region);
    if (v->block != block || other_region)
        e->stored[used] = true;
}

static void mark_uses(struct gg_emit *e, uint32_t b)
{
    const struct gg_ir *ir = e->ir;
    const struct gg_ir_block *block = &ir->blocks[b];
    mark_use(e, block->condition, b, 0);
    for (uint32_t i = 0; i < block->count; i++) {
        gg_value value = block->values[i];
        const struct gg_ir_value *v = &ir->values[value];
        for (int a = 0; v->op != GG_IR_phi && a < GG_IR_ARGS && v->arg[a]; a++)
            mark_use(e, v->arg[a], b, e->region[value]);
        for (uint32_t n = 0; v->op == GG_IR_phi && n < block->preds; n++)
            mark_use(e, ir->phi_args[v->arg[0] + n], ir->preds[block->pred_first + n], 0);
        if (v->op == GG_IR_phi)
            e->stored[value] = true;
        struct gg_wave_order *order = &e->order[(gg_ir_ops[v->op].flags & GG_IRF_LDS) != 0];
        order->loads |= gg_ir_ops[v->op].flags & GG_IRF_LOADS;
        order->stores |= (gg_ir_ops[v->op].flags & GG_IRF_STORES) != 0;
    }
}

int32_t gg_emit_plan(struct gg_emit *e, char **message)
{
    const struct gg_ir *ir = e->ir;
    size_t slots = (size_t)ir->value_count * e->copies;
    e->region = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->region);
    e->stored = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->stored);
    e->after_region = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->after_region);
    e->variable = gg_arena_alloc(e->arena, slots, sizeof *e->variable);
    size_t arrays = e->form->local_registers ? 2 * (size_t)ir->value_count + GG_IR_ARGS * GG_EMIT_BATCH : 0;
    e->arrays = gg_arena_alloc(e->arena, arrays, sizeof *e->arrays);
    e->base = gg_arena_alloc(e->arena, e->flat ? 0 : ir->value_count, sizeof *e->base);
    e->phi_input = gg_arena_alloc(e->arena, slots, sizeof *e->phi_input);
    e->high_dwords = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->high_dwords);
    e->id = gg_arena_alloc(e->arena, slots, sizeof *e->id);
    e->ids_used = gg_arena_alloc(e->arena, slots, sizeof *e->ids_used);
    if (!e->region || !e->stored || !e->after_region || !e->variable || !e->base || !e->arrays || !e->phi_input ||
        !e->high_dwords || !e->id || !e->ids_used)
        return gg_fail(message, GG_ERR_MEMORY, "emitter: out of memory");
    struct plan p = {.e = e};
    for (uint32_t b = 0; b < ir->block_count && !e->flat; b++) {
        close(&p);
        for (uint32_t i = 0; i < ir->blocks[b].count; i++)
            place(&p, ir->blocks[b].values[i]);
    }
    for (uint32_t b = 0; b < ir->block_count; b++)
        mark_uses(e, b);
    return GG_OK;
}

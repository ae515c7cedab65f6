/* SPDX-License-Identifier: MIT */
/*
 * Regions: which operations of a block share a lane loop. Lanes run one after the other in a region, so no lane
 * may need what another does in the same region: a shuffle begins a new one, and so does a load behind a
 * store, a store behind a load, and every atomic. Scalars stand before the region that is open, unless they
 * need something from it.
 */
#include "emit.h"

#include "message.h"

bool gg_emit_is_lane_op(const struct gg_ir_value *v)
{
    switch (v->op) {
    case GG_IR_phi:
    case GG_IR_constant:
        return false;
    case GG_IR_input:
        return v->class != GG_IR_S;
    case GG_IR_store:
    case GG_IR_lds_store:
        return true;
    /* Of masks, whole words at a time. */
    case GG_IR_and:
    case GG_IR_or:
    case GG_IR_xor:
    case GG_IR_not:
    case GG_IR_mask:
        return v->class == GG_IR_V;
    default:
        return v->class == GG_IR_V || v->class == GG_IR_M;
    }
}

struct plan {
    struct gg_emit *e;
    uint32_t region; /* the open one, or the last */
    bool open, loads, stores;
};

static bool needs_open_region(const struct plan *p, const struct gg_ir_value *v)
{
    for (int i = 0; i < GG_IR_ARGS; i++)
        if (v->arg[i] && p->open && p->e->region[v->arg[i]] == p->region)
            return true;
    return false;
}

static void close(struct plan *p) { p->open = p->loads = p->stores = false; }

static void place(struct plan *p, gg_value value)
{
    const struct gg_ir_value *v = &p->e->ir->values[value];
    uint8_t flags = gg_ir_ops[v->op].flags;
    bool loads = flags & GG_IRF_LOADS, stores = flags & GG_IRF_STORES;
    if (v->op == GG_IR_phi)
        return;
    if (!gg_emit_is_lane_op(v)) {
        if (needs_open_region(p, v) || (loads && p->stores)) {
            p->e->after_region[value] = true;
            close(p);
        }
        return;
    }
    bool shuffles = v->op == GG_IR_shuffle && p->open && p->e->region[v->arg[0]] == p->region;
    if (shuffles || (loads && p->stores) || (stores && p->loads) || (loads && stores))
        close(p);
    if (!p->open) {
        p->region++;
        p->open = true;
    }
    p->e->region[value] = p->region;
    p->loads |= loads; /* of an atomic both: whatever reads or writes memory after it closes the region */
    p->stores |= stores;
}

/* A value has a variable if something outside its region, or outside its block, uses it. */
static void mark_use(struct gg_emit *e, gg_value used, uint32_t block, uint32_t region)
{
    const struct gg_ir_value *v = &e->ir->values[used];
    if (!used || v->op == GG_IR_constant)
        return;
    bool lanes = v->class == GG_IR_V || v->class == GG_IR_M;
    if (v->block != block || (lanes && (e->region[used] == 0 || e->region[used] != region)))
        e->stored[used] = true;
}

int32_t gg_emit_plan(struct gg_emit *e, char **message)
{
    const struct gg_ir *ir = e->ir;
    e->region = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->region);
    e->stored = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->stored);
    e->after_region = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->after_region);
    e->variable = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->variable);
    e->phi_input = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->phi_input);
    e->id = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->id);
    e->ids_used = gg_arena_alloc(e->arena, ir->value_count, sizeof *e->ids_used);
    if (!e->region || !e->stored || !e->after_region || !e->variable || !e->phi_input || !e->id || !e->ids_used)
        return gg_fail(message, GG_ERR_MEMORY, "emitter: out of memory");
    struct plan p = {.e = e};
    for (uint32_t b = 0; b < ir->block_count; b++) {
        close(&p);
        for (uint32_t i = 0; i < ir->blocks[b].count; i++)
            place(&p, ir->blocks[b].values[i]);
    }
    for (uint32_t b = 0; b < ir->block_count; b++) {
        const struct gg_ir_block *block = &ir->blocks[b];
        mark_use(e, block->condition, b, 0);
        for (uint32_t i = 0; i < block->count; i++) {
            gg_value value = block->values[i];
            const struct gg_ir_value *v = &ir->values[value];
            for (int a = 0; v->op != GG_IR_phi && a < GG_IR_ARGS; a++)
                mark_use(e, v->arg[a], b, e->region[value]);
            for (uint32_t n = 0; v->op == GG_IR_phi && n < block->preds; n++)
                mark_use(e, ir->phi_args[v->arg[0] + n], ir->preds[block->pred_first + n], 0);
            if (v->op == GG_IR_phi)
                e->stored[value] = true;
        }
    }
    return GG_OK;
}

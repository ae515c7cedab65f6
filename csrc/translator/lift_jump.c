/* SPDX-License-Identifier: MIT */
/*
 * Jumps to addresses in registers: s_setpc and s_swappc. The address is followed back through phis, selects, sums and
 * lanes that keep scalars (v_writelane, v_readlane) to constants: s_getpc and the return addresses of calls. Each
 * constant is a target; the graph with them may have more, until nothing new is found.
 *
 * An address that goes through memory cannot be followed. A return may: a function saves the register in which
 * its caller keeps the address. So s_setpc may lead to every return address of the program then, and a wave that
 * goes to none of them stops, counted as a write outside the windows.
 */
#include "lift_wide.h"

#include "message.h"

#include <string.h>

#define MOST_TERMS  512u /* looked at for one jump */
#define MOST_VALUES 64u  /* of a dword, and targets of a jump */
#define MOST_DEPTH  16u
#define NO_LANE     UINT32_MAX

struct term { /* a scalar, or one lane of a V */
    gg_value value;
    uint32_t lane;
};

struct address {
    struct term low, high;
};

struct search {
    const struct gg_ir *ir;
    const struct gg_guest_program *program;
    struct address seen[MOST_TERMS]; /* those from `next` on are still to be looked at */
    uint32_t next, count;
    uint32_t targets[MOST_VALUES], target_count;
    bool open; /* some address could not be followed */
};

struct values {
    uint32_t value[MOST_VALUES], count;
};

void gg_l_set_return(struct gg_lift *l)
{
    uint64_t next = l->program->address + l->inst->offset + 4 * (uint64_t)l->inst->words;
    gg_l_set_result(l, 0, gg_lk(l, (uint32_t)next));
    gg_l_set_result(l, 1, gg_lk(l, (uint32_t)(next >> 32)));
}

/* Of the address of jump `jump`: it is that of the block. */
static gg_value leads_to(struct gg_lift *l, uint32_t jump, uint32_t block)
{
    uint64_t address = l->program->address + l->cfg->insts[l->cfg->blocks[block].first].offset;
    gg_value low = gg_l2(l, GG_IR_eq, GG_IR_B, l->address[jump][0], gg_lk(l, (uint32_t)address));
    gg_value high = gg_l2(l, GG_IR_eq, GG_IR_B, l->address[jump][1], gg_lk(l, (uint32_t)(address >> 32)));
    return gg_l2(l, GG_IR_and, GG_IR_B, low, high);
}

void gg_l_end_jump(struct gg_lift *l, uint32_t b)
{
    const struct gg_block *from = &l->cfg->blocks[b];
    if (from->count) {
        for (uint32_t i = 0; i < 2; i++)
            l->address[from->jump][i] = gg_l_source(l, 0, i);
        if (l->inst->op == GG_OP_s_swappc_b64)
            gg_l_set_return(l);
    }
    struct gg_ir_block *block = &l->ir->blocks[b];
    if (from->succ[1] != GG_NO_BLOCK) {
        block->condition = leads_to(l, from->jump, from->succ[0]);
        block->end = GG_IR_BRANCH;
    } else if (from->succ[0] == GG_NO_BLOCK) {
        block->end = GG_IR_EXIT;
        gg_value top = gg_lk(l, UINT32_MAX), one = gg_lk(l, 1), zero = gg_lk(l, 0);
        gg_value first = gg_l2(l, GG_IR_mask, GG_IR_M, one, zero);
        gg_ir_make(l->ir, l->at, GG_IR_store, GG_IR_NONE, GG_IR_MEM_32, gg_lk(l, ~3u), top, zero, first);
    }
}

/* A wave64 runs the body of such a loop first for its low half, then for its high one; the other half waits in dst[0]. */
gg_value gg_l_subvector(struct gg_lift *l)
{
    gg_value low = gg_l_sgpr(l, GG_SGPR_EXEC_LO), high = gg_l_sgpr(l, GG_SGPR_EXEC_HI), zero = gg_lk(l, 0);
    gg_value saved = gg_l_scalar(l, &l->inst->dst[0], 0), has_low = gg_l_not_zero(l, low), taken, to_save;
    if (l->inst->op == GG_OP_s_subvector_loop_begin) {
        taken = gg_l2(l, GG_IR_eq, GG_IR_B, gg_l2(l, GG_IR_or, GG_IR_S, low, high), zero);
        to_save = gg_l_select(l, GG_IR_S, taken, saved, gg_l_select(l, GG_IR_S, has_low, high, low));
        high = gg_l_select(l, GG_IR_S, has_low, zero, high);
    } else {
        gg_value has_high = gg_l_not_zero(l, high), more = gg_l_not_zero(l, saved);
        taken = gg_l2(l, GG_IR_and, GG_IR_B, more, gg_l1(l, GG_IR_not, GG_IR_B, has_high));
        to_save = gg_l_select(l, GG_IR_S, taken, low, saved);
        low = gg_l_select(l, GG_IR_S, has_high, saved, gg_l_select(l, GG_IR_S, taken, zero, low));
        high = gg_l_select(l, GG_IR_S, taken, saved, high);
    }
    gg_l_set_sgpr(l, GG_SGPR_EXEC_LO, low);
    gg_l_set_sgpr(l, GG_SGPR_EXEC_HI, high);
    gg_l_set_result(l, 0, to_save);
    return taken;
}

/* ---- the search ---- */

static const struct gg_ir_value *value_of(const struct search *s, struct term t) { return &s->ir->values[t.value]; }

/* Through what only moves a scalar into a lane and out of it. */
static struct term plain(const struct search *s, struct term t)
{
    uint32_t lane;
    for (;;) {
        const struct gg_ir_value *v = value_of(s, t);
        if (t.lane == NO_LANE && v->op == GG_IR_read_lane && gg_ir_is_constant(s->ir, v->arg[1], &lane))
            t = (struct term){v->arg[0], lane & (s->ir->wave - 1)};
        else if (t.lane != NO_LANE && v->op == GG_IR_write_lane && gg_ir_is_constant(s->ir, v->arg[1], &lane))
            t = (lane & (s->ir->wave - 1)) == t.lane ? (struct term){v->arg[2], NO_LANE}
                                                     : (struct term){v->arg[0], t.lane};
        else if (t.lane != NO_LANE && v->class == GG_IR_S)
            t.lane = NO_LANE;
        else
            return t;
    }
}

/* How many values a term chooses between, and which is number i; 0: it is no choice. */
static uint32_t choices(const struct search *s, struct term t)
{
    const struct gg_ir_value *v = value_of(s, t);
    return v->op == GG_IR_phi ? s->ir->blocks[v->block].preds : v->op == GG_IR_select ? 2 : 0;
}

static struct term choice(const struct search *s, struct term t, uint32_t i)
{
    const struct gg_ir_value *v = value_of(s, t);
    return (struct term){v->op == GG_IR_phi ? s->ir->phi_args[v->arg[0] + i] : v->arg[1 + i], t.lane};
}

static bool add_value(struct values *set, uint32_t value)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->value[i] == value)
            return true;
    if (set->count == MOST_VALUES)
        return false;
    set->value[set->count++] = value;
    return true;
}

/* All that a dword can be; false: not known, or too much. */
static bool all_values(const struct search *s, struct term t, uint32_t depth, struct values *set)
{
    uint32_t bits;
    t = plain(s, t);
    const struct gg_ir_value *v = value_of(s, t);
    if (gg_ir_is_constant(s->ir, t.value, &bits))
        return add_value(set, bits);
    if (depth == MOST_DEPTH)
        return false;
    for (uint32_t i = 0; i < choices(s, t); i++)
        if (choice(s, t, i).value != t.value && !all_values(s, choice(s, t, i), depth + 1, set))
            return false;
    if (choices(s, t))
        return true;
    if (t.lane != NO_LANE || !gg_ir_fold((enum gg_ir_opcode)v->op, 0, 0, &bits))
        return false;
    struct values a = {.count = 0}, b = {.count = 0};
    if (!all_values(s, (struct term){v->arg[0], NO_LANE}, depth + 1, &a) ||
        (v->arg[1] ? !all_values(s, (struct term){v->arg[1], NO_LANE}, depth + 1, &b) : !add_value(&b, 0)))
        return false;
    for (uint32_t i = 0; i < a.count; i++)
        for (uint32_t j = 0; j < b.count; j++)
            if (!gg_ir_fold((enum gg_ir_opcode)v->op, a.value[i], b.value[j], &bits) || !add_value(set, bits))
                return false;
    return true;
}

static void look_at(struct search *s, struct term low, struct term high)
{
    const struct address address = {plain(s, low), plain(s, high)};
    for (uint32_t i = 0; i < s->count; i++)
        if (!memcmp(&s->seen[i], &address, sizeof address))
            return;
    if (s->count < MOST_TERMS)
        s->seen[s->count++] = address;
    else
        s->open = true;
}

/* Combinations of dwords that no run meets lie outside the program. */
static void add_target(struct search *s, uint32_t low, uint32_t high)
{
    uint64_t offset = ((uint64_t)high << 32 | low) - s->program->address;
    if (offset % 4 || offset / 4 >= s->program->word_count)
        return;
    uint32_t at = 0;
    while (at < s->target_count && s->targets[at] < offset)
        at++;
    if (at < s->target_count && s->targets[at] == offset)
        return;
    if (s->target_count == MOST_VALUES) {
        s->open = true;
        return;
    }
    memmove(&s->targets[at + 1], &s->targets[at], (s->target_count - at) * sizeof s->targets[0]);
    s->targets[at] = (uint32_t)offset;
    s->target_count++;
}

static void follow(struct search *s, struct address a)
{
    const struct gg_ir_value *low = value_of(s, a.low), *high = value_of(s, a.high);
    uint32_t n = choices(s, a.low), m = choices(s, a.high);
    bool together = n && m && low->op == high->op &&
                    (low->op == GG_IR_phi ? low->block == high->block : low->arg[0] == high->arg[0]);
    if (together) {
        for (uint32_t i = 0; i < n; i++)
            look_at(s, choice(s, a.low, i), choice(s, a.high, i));
        return;
    }
    struct values lows = {.count = 0}, highs = {.count = 0};
    if (!all_values(s, a.low, 0, &lows) || !all_values(s, a.high, 0, &highs)) {
        s->open = true;
        return;
    }
    for (uint32_t i = 0; i < lows.count; i++)
        for (uint32_t j = 0; j < highs.count; j++)
            add_target(s, lows.value[i], highs.value[j]);
}

static void add_returns(struct search *s, const struct gg_cfg *cfg)
{
    for (uint32_t i = 0; i < cfg->inst_count; i++)
        if (gg_inst_info(&cfg->insts[i])->flags & GG_OPF_CALL) {
            uint64_t next = s->program->address + cfg->insts[i].offset + 4 * (uint64_t)cfg->insts[i].words;
            add_target(s, (uint32_t)next, (uint32_t)(next >> 32));
        }
}

static int32_t refuse(const struct gg_lift *l, uint32_t offset, int32_t result, const char *why, char **message)
{
    uint32_t i = 0;
    while (l->cfg->insts[i].offset != offset)
        i++;
    return gg_fail(message, result, "offset 0x%x: %s %s", offset, gg_inst_info(&l->cfg->insts[i])->name, why);
}

int32_t gg_l_find_targets(struct gg_lift *l, struct gg_jump **jumps, bool *grown, char **message)
{
    struct gg_arena *arena = l->ir->arena;
    struct search *s = gg_arena_alloc(arena, 1, sizeof *s);
    *jumps = gg_arena_alloc(arena, l->cfg->jump_count, sizeof **jumps);
    *grown = false;
    if (!s || !*jumps)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    for (uint32_t j = 0; j < l->cfg->jump_count; j++) {
        const struct gg_jump *old = &l->cfg->jumps[j];
        *s = (struct search){.ir = l->ir, .program = l->program};
        for (uint32_t i = 0; i < old->count; i++) /* what was found stays */
            s->targets[s->target_count++] = old->targets[i];
        look_at(s, (struct term){l->address[j][0], NO_LANE}, (struct term){l->address[j][1], NO_LANE});
        while (s->next < s->count)
            follow(s, s->seen[s->next++]);
        if (s->open)
            add_returns(s, l->cfg);
        uint32_t *targets = gg_arena_alloc(arena, s->target_count, sizeof *targets);
        if (!targets)
            return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
        memcpy(targets, s->targets, s->target_count * sizeof *targets);
        (*jumps)[j] =
            (struct gg_jump){.offset = old->offset, .count = s->target_count, .targets = targets, .open = s->open};
        *grown |= s->target_count != old->count || s->open != old->open;
    }
    for (uint32_t j = 0; !*grown && j < l->cfg->jump_count; j++) {
        const struct gg_jump *jump = &(*jumps)[j];
        bool calls = jump->open; /* to an address that cannot be followed; a return has its candidates */
        for (uint32_t i = 0; calls && i < l->cfg->inst_count; i++)
            if (l->cfg->insts[i].offset == jump->offset)
                calls = l->cfg->insts[i].op == GG_OP_s_swappc_b64;
        if (calls || (jump->open && !jump->count))
            return refuse(l, jump->offset, GG_ERR_UNSUPPORTED, "goes to an address that is not found", message);
        if (!jump->count)
            return refuse(l, jump->offset, GG_ERR_FORMAT, "jumps outside the program", message);
    }
    return GG_OK;
}

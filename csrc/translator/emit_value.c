/* SPDX-License-Identifier: MIT */
/* Where values are: ids in the code that is open, variables between blocks, and the phis' inputs. */
#include "emit.h"

static bool of_lanes(const struct gg_ir_value *v) { return v->class == GG_IR_V || v->class == GG_IR_M; }

uint32_t gg_emit_slot(const struct gg_emit *e, gg_value value)
{
    return value * e->copies + (of_lanes(&e->ir->values[value]) ? e->copy : 0);
}

uint32_t gg_emit_element(struct gg_emit *e, uint32_t variable, uint32_t index)
{
    struct gg_spirv *s = &e->s;
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassFunction, gg_spirv_u32(s));
    return gg_spirv_op(s, SpvOpAccessChain, pointer, 2, variable, index);
}

static uint32_t load_u32(struct gg_emit *e, uint32_t pointer)
{
    return gg_spirv_load(&e->s, gg_spirv_u32(&e->s), pointer);
}

static uint32_t word_of_bit(struct gg_emit *e, uint32_t bit)
{
    uint32_t one = gg_spirv_const(&e->s, 1), zero = gg_spirv_const(&e->s, 0);
    return gg_spirv_select(&e->s, bit, one, zero);
}

static uint32_t bit_of_word(struct gg_emit *e, uint32_t word)
{
    uint32_t zero = gg_spirv_const(&e->s, 0);
    return gg_spirv_op(&e->s, SpvOpINotEqual, gg_spirv_bool(&e->s), 2, word, zero);
}

/* ---- variables ---- */

/* A dword, 1 or 0 for a bit; of a rolled mask its words. */
static uint32_t new_variable(struct gg_emit *e, uint32_t class, const char *name)
{
    struct gg_spirv *s = &e->s;
    uint32_t type = gg_spirv_u32(s);
    if (!e->flat && class == GG_IR_M)
        type = gg_spirv_array(s, type, e->words);
    return gg_spirv_local(s, type, name);
}

/* Registers for `count` rolled lane values, one after the other: in the buffer, or an array of their own. */
static uint32_t new_rolled(struct gg_emit *e, uint32_t count)
{
    struct gg_spirv *s = &e->s;
    uint32_t base = e->register_words;
    e->register_words += count * e->k;
    if (!e->form->local_registers)
        return base;
    uint32_t array = gg_spirv_array(s, gg_spirv_u32(s), count * e->k), variable = gg_spirv_local(s, array, "lanes");
    for (uint32_t i = 0; i < count; i++)
        e->arrays[base / e->k + i] = (struct gg_rolled_array){variable, base};
    return base;
}

uint32_t gg_emit_rolled(struct gg_emit *e, uint32_t base, uint32_t index)
{
    struct gg_spirv *s = &e->s;
    if (e->form->local_registers) {
        const struct gg_rolled_array *array = &e->arrays[base / e->k];
        uint32_t offset = gg_spirv_const(s, base - array->first);
        return gg_emit_element(e, array->variable, gg_spirv_add(s, index, offset));
    }
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassStorageBuffer, gg_spirv_u32(s)), zero = gg_spirv_const(s, 0);
    uint32_t within = gg_spirv_add(s, index, gg_spirv_const(s, base));
    uint32_t at = gg_spirv_add(s, e->first_register, within);
    return gg_spirv_op(s, SpvOpAccessChain, pointer, 3, e->buffer[GG_EMIT_REGISTERS], zero, at);
}

/* Results of a region's memory operations stand side by side, as its loop fills them. */
static void declare_results(struct gg_emit *e, const struct gg_ir_block *block, uint32_t first)
{
    uint32_t region = e->region[block->values[first]], count = 0, end = first;
    for (; end < block->count && e->region[block->values[end]] <= region; end++) /* regions begin one after the other */
        count += e->region[block->values[end]] == region && gg_emit_is_batchable(&e->ir->values[block->values[end]]);
    uint32_t base = new_rolled(e, count);
    for (uint32_t i = first; i < end; i++) {
        gg_value value = block->values[i];
        if (e->region[value] != region || !gg_emit_is_batchable(&e->ir->values[value]))
            continue;
        e->base[value] = base;
        base += e->k;
    }
}

/* Of rolled lanes. results: the last region whose results have their place. */
static void declare_rolled(struct gg_emit *e, const struct gg_ir_block *block, uint32_t i, uint32_t *results)
{
    gg_value value = block->values[i];
    const struct gg_ir_value *v = &e->ir->values[value];
    if (gg_emit_is_batchable(v)) {
        if (*results != e->region[value])
            declare_results(e, block, i);
        *results = e->region[value];
    } else if (e->stored[value]) {
        e->base[value] = new_rolled(e, 1);
    }
    if (v->op == GG_IR_phi)
        e->phi_input[value] = new_rolled(e, 1);
}

void gg_emit_declare_variables(struct gg_emit *e)
{
    uint32_t results = 0;
    for (uint32_t b = 0; b < e->ir->block_count; b++)
        for (uint32_t i = 0; i < e->ir->blocks[b].count; i++) {
            gg_value value = e->ir->blocks[b].values[i];
            const struct gg_ir_value *v = &e->ir->values[value];
            if (!e->flat && v->class == GG_IR_V) {
                declare_rolled(e, &e->ir->blocks[b], i, &results);
                continue;
            }
            for (e->copy = 0; e->copy < (of_lanes(v) ? e->copies : 1); e->copy++) {
                if (e->stored[value])
                    e->variable[gg_emit_slot(e, value)] = new_variable(e, v->class, gg_ir_ops[v->op].name);
                if (v->op == GG_IR_phi)
                    e->phi_input[gg_emit_slot(e, value)] = new_variable(e, v->class, "phi_input");
            }
            e->copy = 0;
        }
    if (e->flat)
        return;
    for (uint32_t a = 0; a < GG_IR_ARGS; a++)
        e->batch_base[a] = new_rolled(e, GG_EMIT_BATCH);
    if (!e->form->local_registers)
        e->first_register = gg_emit_first_register(e);
}

/* ---- ids ---- */

void gg_emit_remember(struct gg_emit *e, gg_value value, uint32_t id)
{
    uint32_t slot = gg_emit_slot(e, value);
    if (!e->id[slot])
        e->ids_used[e->ids_count++] = slot;
    e->id[slot] = id;
}

void gg_emit_forget(struct gg_emit *e, uint32_t kept)
{
    while (e->ids_count > kept)
        e->id[e->ids_used[--e->ids_count]] = 0;
}

/* A lane's bit of a mask that is an array of words. */
static void keep_rolled_bit(struct gg_emit *e, uint32_t variable, uint32_t made)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), five = gg_spirv_const(s, 5), low = gg_spirv_const(s, 31);
    uint32_t index = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, e->lane, five);
    uint32_t at = gg_emit_element(e, variable, index), word = load_u32(e, at), bit = word_of_bit(e, made);
    uint32_t place = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, e->lane, low);
    uint32_t moved = gg_spirv_op(s, SpvOpShiftLeftLogical, u32, 2, bit, place);
    gg_spirv_store(s, at, gg_spirv_op(s, SpvOpBitwiseOr, u32, 2, word, moved));
}

void gg_emit_keep(struct gg_emit *e, gg_value value, uint32_t id)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (!e->stored[value])
        return;
    uint32_t variable = e->variable[gg_emit_slot(e, value)];
    if (of_lanes(v) && !e->flat) {
        if (v->class == GG_IR_M)
            keep_rolled_bit(e, variable, id);
        else
            gg_spirv_store(&e->s, gg_emit_rolled(e, e->base[value], e->lane), id);
        return;
    }
    gg_spirv_store(&e->s, variable, v->class == GG_IR_B || v->class == GG_IR_M ? word_of_bit(e, id) : id);
}

uint32_t gg_emit_word(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (v->op == GG_IR_constant)
        return gg_spirv_const(&e->s, v->imm);
    uint32_t slot = gg_emit_slot(e, value);
    if (!e->id[slot])
        gg_emit_remember(e, value, load_u32(e, e->variable[slot]));
    return e->id[slot];
}

uint32_t gg_emit_bit(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (v->op == GG_IR_constant)
        return gg_spirv_truth(&e->s, v->imm);
    uint32_t slot = gg_emit_slot(e, value);
    if (!e->id[slot])
        gg_emit_remember(e, value, bit_of_word(e, load_u32(e, e->variable[slot])));
    return e->id[slot];
}

uint32_t gg_emit_lane_word(struct gg_emit *e, gg_value value)
{
    if (e->flat || e->ir->values[value].class != GG_IR_V)
        return gg_emit_word(e, value);
    if (!e->id[value])
        gg_emit_remember(e, value, load_u32(e, gg_emit_rolled(e, e->base[value], e->lane)));
    return e->id[value];
}

uint32_t gg_emit_lane_bit(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    struct gg_spirv *s = &e->s;
    if (e->flat || v->class != GG_IR_M || v->op == GG_IR_constant)
        return gg_emit_bit(e, value);
    if (!e->id[value]) {
        uint32_t u32 = gg_spirv_u32(s), five = gg_spirv_const(s, 5), one = gg_spirv_const(s, 1),
                 low = gg_spirv_const(s, 31);
        uint32_t index = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, e->lane, five);
        uint32_t word = load_u32(e, gg_emit_element(e, e->variable[value], index));
        uint32_t bit = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, e->lane, low);
        uint32_t moved = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, word, bit);
        gg_emit_remember(e, value, bit_of_word(e, gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, moved, one)));
    }
    return e->id[value];
}

uint32_t gg_emit_mask_word(struct gg_emit *e, gg_value value, uint32_t word)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (v->op == GG_IR_constant)
        return gg_spirv_const(&e->s, v->imm ? UINT32_MAX : 0);
    if (e->flat)
        return gg_emit_ballot(e, value, word);
    uint32_t index = gg_spirv_const(&e->s, word);
    return load_u32(e, gg_emit_element(e, e->variable[value], index));
}

uint32_t gg_emit_begin_loop(struct gg_emit *e, struct gg_spirv_for *loop, uint32_t count)
{
    struct gg_spirv *s = &e->s;
    uint32_t zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1), known = gg_spirv_const(s, count);
    return gg_spirv_begin_for(s, loop, zero, gg_spirv_add(s, known, e->never), one);
}

/* ---- phis ---- */

static uint32_t predecessor(const struct gg_ir *ir, uint32_t from, uint32_t to)
{
    uint32_t which = 0;
    while (ir->preds[ir->blocks[to].pred_first + which] != from)
        which++;
    return which;
}

/* One phi's input where it is a dword or bit, or a mask's words. */
static void pass_one(struct gg_emit *e, gg_value phi, gg_value arg)
{
    struct gg_spirv *s = &e->s;
    uint32_t class = e->ir->values[phi].class, input = e->phi_input[gg_emit_slot(e, phi)];
    if (class == GG_IR_M && !e->flat) {
        for (uint32_t w = 0; w < e->words; w++) {
            uint32_t index = gg_spirv_const(s, w), word = gg_emit_mask_word(e, arg, w);
            gg_spirv_store(s, gg_emit_element(e, input, index), word);
        }
        return;
    }
    bool bit = class == GG_IR_B || class == GG_IR_M;
    gg_spirv_store(s, input, bit ? word_of_bit(e, gg_emit_lane_bit(e, arg)) : gg_emit_lane_word(e, arg));
}

/* What a block hands to its successor's phis; rolled lane values in one loop. */
void gg_emit_pass_to_phis(struct gg_emit *e, uint32_t from, uint32_t to)
{
    const struct gg_ir_block *block = &e->ir->blocks[to];
    struct gg_spirv *s = &e->s;
    uint32_t which = predecessor(e->ir, from, to), rolled = 0;
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        gg_value value = block->values[i];
        const struct gg_ir_value *phi = &e->ir->values[value];
        gg_value arg = e->ir->phi_args[phi->arg[0] + which];
        if (phi->class == GG_IR_V && !e->flat) {
            rolled++;
            if (e->ir->values[arg].class != GG_IR_V)
                gg_emit_word(e, arg); /* before the loop begins */
            continue;
        }
        for (e->copy = 0; e->copy < (of_lanes(phi) ? e->copies : 1); e->copy++)
            pass_one(e, value, arg);
        e->copy = 0;
    }
    if (!rolled)
        return;
    uint32_t outside = e->ids_count;
    struct gg_spirv_for loop;
    e->lane = gg_emit_begin_loop(e, &loop, e->k);
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        const struct gg_ir_value *phi = &e->ir->values[block->values[i]];
        if (phi->class != GG_IR_V)
            continue;
        uint32_t word = gg_emit_lane_word(e, e->ir->phi_args[phi->arg[0] + which]);
        gg_spirv_store(s, gg_emit_rolled(e, e->phi_input[block->values[i]], e->lane), word);
    }
    gg_spirv_end_for(s, &loop);
    gg_emit_forget(e, outside);
    e->lane = 0;
}

/* What the predecessor has written becomes the phis' values. */
void gg_emit_take_phis(struct gg_emit *e, const struct gg_ir_block *block)
{
    struct gg_spirv *s = &e->s;
    uint32_t rolled = 0;
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        gg_value phi = block->values[i];
        const struct gg_ir_value *v = &e->ir->values[phi];
        if (!e->flat && of_lanes(v)) {
            rolled += v->class == GG_IR_V;
            for (uint32_t w = 0; v->class == GG_IR_M && w < e->words; w++) {
                uint32_t index = gg_spirv_const(s, w), word = load_u32(e, gg_emit_element(e, e->phi_input[phi], index));
                gg_spirv_store(s, gg_emit_element(e, e->variable[phi], index), word);
            }
            continue;
        }
        for (e->copy = 0; e->copy < (of_lanes(v) ? e->copies : 1); e->copy++) {
            uint32_t slot = gg_emit_slot(e, phi);
            gg_spirv_store(s, e->variable[slot], load_u32(e, e->phi_input[slot]));
        }
        e->copy = 0;
    }
    if (!rolled)
        return;
    struct gg_spirv_for loop;
    uint32_t lane = gg_emit_begin_loop(e, &loop, e->k);
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        gg_value phi = block->values[i];
        if (e->ir->values[phi].class != GG_IR_V)
            continue;
        uint32_t word = load_u32(e, gg_emit_rolled(e, e->phi_input[phi], lane));
        gg_spirv_store(s, gg_emit_rolled(e, e->base[phi], lane), word);
    }
    gg_spirv_end_for(s, &loop);
}

/* SPDX-License-Identifier: MIT */
/* The module around the code, and the code of blocks. */
#include "emit.h"

#include "message.h"

static uint32_t storage_buffer(struct gg_emit *e, uint32_t binding, const char *name)
{
    struct gg_spirv *s = &e->s;
    uint32_t bound = s->bound;
    uint32_t array = gg_spirv_type(s, SpvOpTypeRuntimeArray, 1, gg_spirv_u32(s));
    uint32_t block = gg_spirv_type(s, SpvOpTypeStruct, 1, array);
    if (s->bound != bound) {
        gg_spirv_decorate(s, array, SpvDecorationArrayStride, 1, 4);
        gg_spirv_decorate(s, block, SpvDecorationBlock, 0);
        gg_spirv_member_decorate(s, block, 0, SpvDecorationOffset, 1, 0);
    }
    uint32_t variable = gg_spirv_global(s, SpvStorageClassStorageBuffer, block, name);
    gg_spirv_decorate(s, variable, SpvDecorationDescriptorSet, 1, 0);
    gg_spirv_decorate(s, variable, SpvDecorationBinding, 1, binding);
    return variable;
}

/* ---- one operation ---- */

/* A scalar in straight code. */
static uint32_t scalar_op(struct gg_emit *e, const struct gg_ir_value *v)
{
    struct gg_spirv *s = &e->s;
    switch (v->op) {
    case GG_IR_input:
        return gg_emit_input(e, v->imm);
    case GG_IR_mask_lo:
        return gg_emit_mask_word(e, v->arg[0], 0);
    case GG_IR_mask_hi:
        return e->words > 1 ? gg_emit_mask_word(e, v->arg[0], 1) : gg_spirv_const(s, 0);
    case GG_IR_any:
        return gg_emit_any(e, v->arg[0]);
    case GG_IR_bool_word: {
        uint32_t bit = gg_emit_bit(e, v->arg[0]), one = gg_spirv_const(s, 1), zero = gg_spirv_const(s, 0);
        return gg_spirv_select(s, bit, one, zero);
    }
    case GG_IR_read_lane:
        return gg_emit_other_lane(e, v->arg[0], gg_emit_word(e, v->arg[1]));
    case GG_IR_first_lane:
        return gg_emit_other_lane(e, v->arg[0], gg_emit_first_lane(e, v->arg[1]));
    case GG_IR_load_word:
    case GG_IR_load_word_if:
        return gg_emit_memory(e, v);
    default:
        return gg_emit_pure(e, v, false);
    }
}

/* A rolled mask by whole words. */
static void mask_op(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s);
    for (uint32_t w = 0; w < e->words; w++) {
        uint32_t made = 0;
        if (v->op == GG_IR_mask) {
            made = gg_emit_word(e, v->arg[w]);
        } else {
            uint32_t a = gg_emit_mask_word(e, v->arg[0], w), b = v->arg[1] ? gg_emit_mask_word(e, v->arg[1], w) : 0;
            made = v->op == GG_IR_not   ? gg_spirv_op(s, SpvOpNot, u32, 1, a)
                   : v->op == GG_IR_and ? gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, a, b)
                   : v->op == GG_IR_or  ? gg_spirv_op(s, SpvOpBitwiseOr, u32, 2, a, b)
                                        : gg_spirv_op(s, SpvOpBitwiseXor, u32, 2, a, b);
        }
        uint32_t index = gg_spirv_const(s, w);
        gg_spirv_store(s, gg_emit_element(e, e->variable[value], index), made);
    }
}

/* Bit of this lane in two words; of one that is known to be in the first or second 32 lanes, only that is read. */
static uint32_t bit_of_words(struct gg_emit *e, const struct gg_ir_value *v)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), boolean = gg_spirv_bool(s), low = gg_spirv_const(s, 31), one = gg_spirv_const(s, 1);
    uint32_t word, first = e->copy * e->form->subgroup;
    if (e->words == 1 || (e->form->subgroup <= 32 && !e->form->split_waves)) {
        word = gg_emit_word(e, v->arg[e->words == 1 ? 0 : first / 32]);
    } else {
        uint32_t a = gg_emit_word(e, v->arg[0]), b = gg_emit_word(e, v->arg[1]), half = gg_spirv_const(s, 32);
        word = gg_spirv_select(s, gg_spirv_less(s, e->lane, half), a, b);
    }
    uint32_t place = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, e->lane, low);
    uint32_t moved = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, word, place);
    uint32_t bit = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, moved, one);
    return gg_spirv_op(s, SpvOpIEqual, boolean, 2, bit, one);
}

/* One operation of one lane. */
static void lane_op(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    struct gg_spirv *s = &e->s;
    uint32_t made;
    switch (v->op) {
    case GG_IR_input:
        made = gg_emit_input(e, v->imm);
        break;
    case GG_IR_lane:
        made = e->lane;
        break;
    case GG_IR_mask:
        made = bit_of_words(e, v);
        break;
    case GG_IR_shuffle:
        made = gg_emit_shuffle(e, v->arg[0], gg_emit_lane_word(e, v->arg[1]));
        break;
    case GG_IR_write_lane: {
        uint32_t last = gg_spirv_const(s, e->ir->wave - 1), named = gg_emit_word(e, v->arg[1]);
        uint32_t wrapped = gg_spirv_op(s, SpvOpBitwiseAnd, gg_spirv_u32(s), 2, named, last);
        uint32_t is_it = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, wrapped, e->lane);
        uint32_t old = gg_emit_lane_word(e, v->arg[0]), data = gg_emit_word(e, v->arg[2]);
        made = gg_spirv_select(s, is_it, data, old);
        break;
    }
    default:
        made = gg_ir_is_memory(v) || v->op == GG_IR_wide_high ? gg_emit_memory(e, v) : gg_emit_pure(e, v, true);
    }
    if (!made)
        return;
    gg_emit_remember(e, value, made);
    gg_emit_keep(e, value, made);
}

static void emit_scalar(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (v->op == GG_IR_constant)
        return;
    if (v->class == GG_IR_M) {
        mask_op(e, value);
        return;
    }
    uint32_t made = scalar_op(e, v);
    gg_emit_remember(e, value, made);
    gg_emit_keep(e, value, made);
}

/* ---- rolled blocks ---- */

/* Scalars that a region reads get their ids before its loop begins; masks that it makes begin empty. */
static void before_region(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    for (int i = 0; i < GG_IR_ARGS && v->arg[i]; i++) {
        uint32_t class = e->ir->values[v->arg[i]].class;
        if (class == GG_IR_S)
            gg_emit_word(e, v->arg[i]);
        else if (class == GG_IR_B)
            gg_emit_bit(e, v->arg[i]);
    }
    for (uint32_t w = 0; v->class == GG_IR_M && e->stored[value] && w < e->words; w++) {
        uint32_t index = gg_spirv_const(&e->s, w), zero = gg_spirv_const(&e->s, 0);
        gg_spirv_store(&e->s, gg_emit_element(e, e->variable[value], index), zero);
    }
}

static void emit_region(struct gg_emit *e, const struct gg_ir_block *block, uint32_t first, uint32_t last)
{
    struct gg_spirv *s = &e->s;
    uint32_t region = e->region[block->values[first]];
    gg_emit_run_batch(e, &e->scalar_batch);
    for (uint32_t i = first; i <= last; i++)
        if (e->region[block->values[i]] == region)
            before_region(e, block->values[i]);
    uint32_t outside = e->ids_count;
    struct gg_spirv_for loop;
    e->lane = gg_emit_begin_loop(e, &loop, e->k);
    for (uint32_t i = first; i <= last; i++) {
        gg_value value = block->values[i];
        if (e->region[value] != region)
            continue;
        if (gg_emit_is_batchable(&e->ir->values[value]))
            gg_emit_enqueue(e, &e->batch, value);
        else
            lane_op(e, value);
    }
    gg_spirv_end_for(s, &loop);
    e->lane = 0;
    gg_emit_forget(e, outside);
    gg_emit_run_batch(e, &e->batch);
}

static void rolled_scalar(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (gg_emit_waits_for(&e->scalar_batch, v) || (gg_ir_is_memory(v) && !gg_emit_fits_batch(e, &e->scalar_batch, v)))
        gg_emit_run_batch(e, &e->scalar_batch);
    if (gg_ir_is_memory(v))
        gg_emit_enqueue(e, &e->scalar_batch, value);
    else
        emit_scalar(e, value);
}

static void emit_rolled(struct gg_emit *e, const struct gg_ir_block *block)
{
    /* A region's loop comes after the scalars among its operations; they do not need it, or it would be closed. */
    uint32_t first = 0, last = 0, open = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        gg_value value = block->values[i];
        if (e->ir->values[value].op == GG_IR_phi)
            continue;
        uint32_t region = e->region[value];
        if (open && ((region && region != open) || e->after_region[value])) {
            emit_region(e, block, first, last);
            open = 0;
        }
        if (!region) {
            rolled_scalar(e, value);
            continue;
        }
        if (!open) {
            open = region;
            first = i;
        }
        last = i;
    }
    if (open)
        emit_region(e, block, first, last);
    gg_emit_run_batch(e, &e->scalar_batch);
}

/* ---- flat blocks ---- */

static void flat_lanes(struct gg_emit *e, gg_value value)
{
    if (gg_ir_is_memory(&e->ir->values[value]))
        gg_emit_order(e, &e->ir->values[value]);
    for (e->copy = 0; e->copy < e->copies; e->copy++) {
        e->lane = e->lane_of[e->copy];
        lane_op(e, value);
    }
    e->copy = e->lane = 0;
}

static void emit_flat(struct gg_emit *e, const struct gg_ir_block *block)
{
    e->order[0].last = e->order[1].last = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        gg_value value = block->values[i];
        const struct gg_ir_value *v = &e->ir->values[value];
        if (v->op == GG_IR_phi)
            continue;
        if (gg_emit_waits_for(&e->batch, v) || (gg_ir_is_memory(v) && !gg_emit_fits_batch(e, &e->batch, v)))
            gg_emit_run_batch(e, &e->batch);
        if (gg_emit_is_batchable(v) && e->batched)
            gg_emit_enqueue(e, &e->batch, value);
        else if (gg_emit_is_lane_op(e, v))
            flat_lanes(e, value);
        else
            emit_scalar(e, value);
    }
    gg_emit_run_batch(e, &e->batch);
}

void gg_emit_block(struct gg_emit *e, uint32_t b)
{
    const struct gg_ir_block *block = &e->ir->blocks[b];
    gg_emit_forget(e, 0);
    gg_emit_take_phis(e, block);
    if (e->flat)
        emit_flat(e, block);
    else
        emit_rolled(e, block);
}

/* ---- the module ---- */

static uint32_t at_least_one(uint32_t n) { return n ? n : 1; }

static void begin_module(struct gg_emit *e)
{
    struct gg_spirv *s = &e->s;
    gg_spirv_init(s);
    gg_spirv_expect(s, (size_t)e->ir->value_count * (e->flat ? 8 * e->copies : 24)); /* most need a little less */
    gg_spirv_name(s, s->entry, "main");
    s->loop_control = SpvLoopControlDontUnrollMask; /* 32 copies of each region take a driver half a minute */
    uint32_t invocations = e->form->split_waves ? e->ir->wave : e->flat ? e->form->subgroup : 1;
    gg_spirv_local_size(s, e->waves * invocations, 1, 1);
    if (e->flat && e->form->reconverge == GG_RECONVERGE_UNIFORM) {
        gg_spirv_extension(s, "SPV_KHR_subgroup_uniform_control_flow");
        gg_spirv_mode(s, SpvExecutionModeSubgroupUniformControlFlowKHR);
    } else if (e->flat && e->form->reconverge == GG_RECONVERGE_MAXIMAL) {
        gg_spirv_extension(s, "SPV_KHR_maximal_reconvergence");
        gg_spirv_mode(s, (SpvExecutionMode)6023); /* MaximallyReconvergesKHR: headers of 2023 lack it */
    }
    e->buffer[GG_EMIT_MEMORY] = storage_buffer(e, GG_EMIT_MEMORY, "guest_memory");
    e->buffer[GG_EMIT_LAUNCH] = storage_buffer(e, GG_EMIT_LAUNCH, "launch");
    e->buffer[GG_EMIT_COUNTERS] = storage_buffer(e, GG_EMIT_COUNTERS, "counters");
    if (!e->flat && !e->form->local_registers)
        e->buffer[GG_EMIT_REGISTERS] = storage_buffer(e, GG_EMIT_REGISTERS, "registers");
    uint32_t u32 = gg_spirv_u32(s), vec3 = gg_spirv_vector(s, u32, 3);
    if (e->lds_words) {
        uint32_t array = gg_spirv_array(s, u32, e->lds_words);
        e->lds = gg_spirv_global(s, SpvStorageClassWorkgroup, array, "lds");
    }
    uint32_t group = gg_spirv_builtin(s, SpvStorageClassInput, vec3, SpvBuiltInWorkgroupId, "workgroup_id");
    e->group = gg_spirv_load(s, vec3, group);
    gg_emit_wave_inputs(e);
}

/* What the module asks for so that floats keep what the guest keeps; of doubles only where it has them. */
static void float_controls(struct gg_emit *e)
{
    static const struct {
        uint32_t control, width;
        SpvCapability capability;
        SpvExecutionMode mode;
    } known[] = {
        {GG_FLOAT_DENORMS_ALL, 16, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve},
        {GG_FLOAT_DENORMS_ALL, 32, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve},
        {GG_FLOAT_DENORMS_ALL, 64, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve},
        {GG_FLOAT_DENORMS_32, 32, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve},
        {GG_FLOAT_SPECIAL_32, 32, SpvCapabilitySignedZeroInfNanPreserve, SpvExecutionModeSignedZeroInfNanPreserve},
        {GG_FLOAT_DENORMS_64, 64, SpvCapabilityDenormPreserve, SpvExecutionModeDenormPreserve},
        {GG_FLOAT_SPECIAL_64, 64, SpvCapabilitySignedZeroInfNanPreserve, SpvExecutionModeSignedZeroInfNanPreserve},
    };
    bool doubles = gg_spirv_has(&e->s, SpvCapabilityFloat64);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        bool for_all = known[i].control == GG_FLOAT_DENORMS_ALL;
        if (!(e->form->float_controls & known[i].control) || (known[i].width == 64 && !doubles && !for_all))
            continue;
        gg_spirv_capability(&e->s, known[i].capability);
        gg_spirv_mode_of(&e->s, known[i].mode, known[i].width);
    }
}

int32_t gg_emit_module(const struct gg_ir *ir, struct gg_arena *arena, const struct gg_guest_program *program,
                       const struct gg_emit_form *form, uint32_t **words, uint64_t *word_count,
                       uint32_t *register_words, char **message)
{
    struct gg_emit e = {.ir = ir, .arena = arena, .program = program, .form = form, .k = form->lanes};
    e.flat = e.k < ir->wave;
    e.batched = e.k > 2 || form->shared_code;
    e.copies = e.flat ? e.k : 1;
    e.words = ir->wave / 32;
    e.threads = 1;
    for (int i = 0; i < 3; i++)
        e.threads *= at_least_one(program->threads[i]);
    e.waves = (e.threads + ir->wave - 1) / ir->wave;
    e.lds_words = program->lds_bytes / 4;
    int32_t result = gg_emit_plan(&e, message);
    if (result)
        return result;
    begin_module(&e);
    gg_emit_declare_variables(&e);
    gg_emit_flow(&e);
    float_controls(&e);
    *register_words = form->local_registers ? 0 : e.register_words;
    return gg_spirv_finish(&e.s, SpvExecutionModelGLCompute, words, word_count, message);
}

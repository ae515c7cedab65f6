/* SPDX-License-Identifier: MIT */
/* The module around the code, variables of values, and blocks. */
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

/* A scalar's variable is a dword (a B is 1 or 0), a lane value's k of them, a mask's its words. */
static uint32_t new_variable(struct gg_emit *e, uint32_t class, const char *name)
{
    struct gg_spirv *s = &e->s;
    uint32_t type = gg_spirv_u32(s);
    if (class == GG_IR_V || class == GG_IR_M)
        type = gg_spirv_array(s, type, class == GG_IR_V ? e->k : e->words);
    return gg_spirv_local(s, type, name);
}

static void declare_variables(struct gg_emit *e)
{
    for (uint32_t b = 0; b < e->ir->block_count; b++)
        for (uint32_t i = 0; i < e->ir->blocks[b].count; i++) {
            gg_value value = e->ir->blocks[b].values[i];
            const struct gg_ir_value *v = &e->ir->values[value];
            if (e->stored[value])
                e->variable[value] = new_variable(e, v->class, gg_ir_ops[v->op].name);
            if (v->op == GG_IR_phi)
                e->phi_input[value] = new_variable(e, v->class, "phi_input");
        }
}

static void remember(struct gg_emit *e, gg_value value, uint32_t id)
{
    if (!e->id[value])
        e->ids_used[e->ids_count++] = value;
    e->id[value] = id;
}

uint32_t gg_emit_word(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (v->op == GG_IR_constant)
        return gg_spirv_const(&e->s, v->imm);
    if (!e->id[value])
        remember(e, value, load_u32(e, e->variable[value]));
    return e->id[value];
}

uint32_t gg_emit_bit(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    struct gg_spirv *s = &e->s;
    if (v->op == GG_IR_constant) {
        uint32_t one = gg_spirv_const(s, v->imm), zero = gg_spirv_const(s, 0);
        return gg_spirv_op(s, SpvOpINotEqual, gg_spirv_bool(s), 2, one, zero);
    }
    if (!e->id[value]) {
        uint32_t word = load_u32(e, e->variable[value]), zero = gg_spirv_const(s, 0);
        remember(e, value, gg_spirv_op(s, SpvOpINotEqual, gg_spirv_bool(s), 2, word, zero));
    }
    return e->id[value];
}

uint32_t gg_emit_lane_word(struct gg_emit *e, gg_value value)
{
    if (e->ir->values[value].class != GG_IR_V)
        return gg_emit_word(e, value);
    return e->id[value] ? e->id[value] : load_u32(e, gg_emit_element(e, e->variable[value], e->lane));
}

uint32_t gg_emit_mask_word(struct gg_emit *e, gg_value value, uint32_t word)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    if (v->op == GG_IR_constant)
        return gg_spirv_const(&e->s, v->imm ? UINT32_MAX : 0);
    uint32_t index = gg_spirv_const(&e->s, word);
    return load_u32(e, gg_emit_element(e, e->variable[value], index));
}

uint32_t gg_emit_lane_bit(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    struct gg_spirv *s = &e->s;
    if (v->class != GG_IR_M || v->op == GG_IR_constant)
        return gg_emit_bit(e, value);
    if (e->id[value])
        return e->id[value];
    uint32_t u32 = gg_spirv_u32(s), five = gg_spirv_const(s, 5), one = gg_spirv_const(s, 1),
             low = gg_spirv_const(s, 31);
    uint32_t index = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, e->lane, five);
    uint32_t word = load_u32(e, gg_emit_element(e, e->variable[value], index));
    uint32_t bit = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, e->lane, low);
    uint32_t moved = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, word, bit);
    uint32_t only = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, moved, one);
    return gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, only, one);
}

static uint32_t launch_word(struct gg_emit *e, uint32_t word)
{
    struct gg_spirv *s = &e->s;
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassStorageBuffer, gg_spirv_u32(s));
    uint32_t zero = gg_spirv_const(s, 0), index = gg_spirv_const(s, word);
    return load_u32(e, gg_spirv_op(s, SpvOpAccessChain, pointer, 3, e->buffer[GG_EMIT_LAUNCH], zero, index));
}

/* Launch state of a lane: its thread's local id, or whether there is such a thread. */
static uint32_t lane_input(struct gg_emit *e, uint32_t which)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), lanes = gg_spirv_const(s, e->ir->wave);
    uint32_t first = gg_spirv_mul(s, e->wave, lanes), thread = gg_spirv_add(s, first, e->lane);
    if (which == GG_IR_IN_EXISTS)
        return gg_spirv_less(s, thread, gg_spirv_const(s, e->threads));
    uint32_t x = gg_spirv_const(s, e->program->threads[0] ? e->program->threads[0] : 1);
    uint32_t y = gg_spirv_const(s, e->program->threads[1] ? e->program->threads[1] : 1);
    if (which == GG_IR_IN_LOCAL_X)
        return gg_spirv_op(s, SpvOpUMod, u32, 2, thread, x);
    uint32_t row = gg_spirv_op(s, SpvOpUDiv, u32, 2, thread, x);
    return gg_spirv_op(s, which == GG_IR_IN_LOCAL_Y ? SpvOpUMod : SpvOpUDiv, u32, 2, row, y);
}

static uint32_t scalar_input(struct gg_emit *e, uint32_t which)
{
    if (which < GG_IR_IN_GROUP_X)
        return launch_word(e, GG_LAUNCH_USER_DATA + which);
    if (which == GG_IR_IN_WAVE)
        return e->wave;
    uint32_t axis = which - GG_IR_IN_GROUP_X, first = launch_word(e, GG_LAUNCH_FIRST_GROUP + axis);
    uint32_t own = gg_spirv_extract(&e->s, gg_spirv_u32(&e->s), e->group, axis);
    return gg_spirv_add(&e->s, first, own);
}

/* v[index modulo the wave] */
static uint32_t other_lane(struct gg_emit *e, gg_value value, uint32_t index)
{
    struct gg_spirv *s = &e->s;
    if (e->ir->values[value].class != GG_IR_V)
        return gg_emit_word(e, value);
    uint32_t last = gg_spirv_const(s, e->k - 1),
             wrapped = gg_spirv_op(s, SpvOpBitwiseAnd, gg_spirv_u32(s), 2, index, last);
    return load_u32(e, gg_emit_element(e, e->variable[value], wrapped));
}

/* The first lane of a mask; 0 of an empty one. */
static uint32_t first_lane(struct gg_emit *e, gg_value mask)
{
    struct gg_spirv *s = &e->s;
    uint32_t u32 = gg_spirv_u32(s), set = gg_spirv_import(s, "GLSL.std.450");
    uint32_t result = gg_spirv_const(s, 0), zero = result;
    for (uint32_t w = e->words; w-- > 0;) {
        uint32_t word = gg_emit_mask_word(e, mask, w), base = gg_spirv_const(s, 32 * w);
        uint32_t lowest = gg_spirv_op(s, SpvOpExtInst, u32, 3, set, 73u /* FindILsb */, word);
        uint32_t lane = gg_spirv_add(s, base, lowest);
        uint32_t empty = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, word, zero);
        result = gg_spirv_select(s, empty, result, lane);
    }
    return result;
}

/* A scalar, or a mask by whole words, in straight code. */
static uint32_t scalar_op(struct gg_emit *e, const struct gg_ir_value *v)
{
    struct gg_spirv *s = &e->s;
    switch (v->op) {
    case GG_IR_input:
        return scalar_input(e, v->imm);
    case GG_IR_mask_lo:
        return gg_emit_mask_word(e, v->arg[0], 0);
    case GG_IR_mask_hi:
        return e->words > 1 ? gg_emit_mask_word(e, v->arg[0], 1) : gg_spirv_const(s, 0);
    case GG_IR_any: {
        uint32_t word = gg_emit_mask_word(e, v->arg[0], 0), zero = gg_spirv_const(s, 0);
        if (e->words > 1) {
            uint32_t high = gg_emit_mask_word(e, v->arg[0], 1);
            word = gg_spirv_op(s, SpvOpBitwiseOr, gg_spirv_u32(s), 2, word, high);
        }
        return gg_spirv_op(s, SpvOpINotEqual, gg_spirv_bool(s), 2, word, zero);
    }
    case GG_IR_bool_word: {
        uint32_t bit = gg_emit_bit(e, v->arg[0]), one = gg_spirv_const(s, 1), zero = gg_spirv_const(s, 0);
        return gg_spirv_select(s, bit, one, zero);
    }
    case GG_IR_read_lane:
        return other_lane(e, v->arg[0], gg_emit_word(e, v->arg[1]));
    case GG_IR_first_lane:
        return other_lane(e, v->arg[0], first_lane(e, v->arg[1]));
    case GG_IR_load_word:
    case GG_IR_load_word_if:
        return gg_emit_memory(e, v);
    default:
        return gg_emit_pure(e, v, false);
    }
}

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

/* One operation of one lane; its result goes to its array where others want it. */
static void lane_op(struct gg_emit *e, gg_value value)
{
    const struct gg_ir_value *v = &e->ir->values[value];
    struct gg_spirv *s = &e->s;
    uint32_t made;
    switch (v->op) {
    case GG_IR_input:
        made = lane_input(e, v->imm);
        break;
    case GG_IR_lane:
        made = e->lane;
        break;
    case GG_IR_shuffle:
        made = other_lane(e, v->arg[0], gg_emit_lane_word(e, v->arg[1]));
        break;
    case GG_IR_write_lane: {
        uint32_t last = gg_spirv_const(s, e->k - 1), named = gg_emit_word(e, v->arg[1]);
        uint32_t wrapped = gg_spirv_op(s, SpvOpBitwiseAnd, gg_spirv_u32(s), 2, named, last);
        uint32_t is_it = gg_spirv_op(s, SpvOpIEqual, gg_spirv_bool(s), 2, wrapped, e->lane);
        uint32_t old = gg_emit_lane_word(e, v->arg[0]), data = gg_emit_word(e, v->arg[2]);
        made = gg_spirv_select(s, is_it, data, old);
        break;
    }
    default:
        made = gg_ir_ops[v->op].flags & GG_IRF_PURE ? gg_emit_pure(e, v, true) : gg_emit_memory(e, v);
    }
    if (!made)
        return;
    remember(e, value, made);
    if (!e->stored[value])
        return;
    if (v->class == GG_IR_V) {
        gg_spirv_store(s, gg_emit_element(e, e->variable[value], e->lane), made);
        return;
    }
    uint32_t u32 = gg_spirv_u32(s), five = gg_spirv_const(s, 5), low = gg_spirv_const(s, 31);
    uint32_t one = gg_spirv_const(s, 1), zero = gg_spirv_const(s, 0);
    uint32_t index = gg_spirv_op(s, SpvOpShiftRightLogical, u32, 2, e->lane, five);
    uint32_t at = gg_emit_element(e, e->variable[value], index), word = load_u32(e, at);
    uint32_t bit = gg_spirv_select(s, made, one, zero);
    uint32_t place = gg_spirv_op(s, SpvOpBitwiseAnd, u32, 2, e->lane, low);
    uint32_t moved = gg_spirv_op(s, SpvOpShiftLeftLogical, u32, 2, bit, place);
    gg_spirv_store(s, at, gg_spirv_op(s, SpvOpBitwiseOr, u32, 2, word, moved));
}

static void forget(struct gg_emit *e, uint32_t kept)
{
    while (e->ids_count > kept)
        e->id[e->ids_used[--e->ids_count]] = 0;
}

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
    for (uint32_t i = first; i <= last; i++)
        if (e->region[block->values[i]] == region)
            before_region(e, block->values[i]);
    uint32_t outside = e->ids_count, zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1),
             k = gg_spirv_const(s, e->k);
    struct gg_spirv_for loop;
    e->lane = gg_spirv_begin_for(s, &loop, zero, k, one);
    for (uint32_t i = first; i <= last; i++)
        if (e->region[block->values[i]] == region)
            lane_op(e, block->values[i]);
    gg_spirv_end_for(s, &loop);
    e->lane = 0;
    forget(e, outside);
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
    remember(e, value, made);
    if (!e->stored[value])
        return;
    if (v->class == GG_IR_B) {
        uint32_t one = gg_spirv_const(&e->s, 1), zero = gg_spirv_const(&e->s, 0);
        made = gg_spirv_select(&e->s, made, one, zero);
    }
    gg_spirv_store(&e->s, e->variable[value], made);
}

/* What the predecessor has written becomes the phis' values. */
static void take_phis(struct gg_emit *e, const struct gg_ir_block *block)
{
    struct gg_spirv *s = &e->s;
    uint32_t lanes = 0, zero = gg_spirv_const(s, 0), one = gg_spirv_const(s, 1), k = gg_spirv_const(s, e->k);
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        gg_value phi = block->values[i];
        uint32_t class = e->ir->values[phi].class;
        lanes += class == GG_IR_V;
        for (uint32_t w = 0; class == GG_IR_M && w < e->words; w++) {
            uint32_t index = gg_spirv_const(s, w), word = load_u32(e, gg_emit_element(e, e->phi_input[phi], index));
            gg_spirv_store(s, gg_emit_element(e, e->variable[phi], index), word);
        }
        if (class == GG_IR_S || class == GG_IR_B)
            gg_spirv_store(s, e->variable[phi], load_u32(e, e->phi_input[phi]));
    }
    if (!lanes)
        return;
    struct gg_spirv_for loop;
    uint32_t lane = gg_spirv_begin_for(s, &loop, zero, k, one);
    for (uint32_t i = 0; i < block->count && e->ir->values[block->values[i]].op == GG_IR_phi; i++) {
        gg_value phi = block->values[i];
        if (e->ir->values[phi].class != GG_IR_V)
            continue;
        uint32_t word = load_u32(e, gg_emit_element(e, e->phi_input[phi], lane));
        gg_spirv_store(s, gg_emit_element(e, e->variable[phi], lane), word);
    }
    gg_spirv_end_for(s, &loop);
}

void gg_emit_block(struct gg_emit *e, uint32_t b)
{
    const struct gg_ir_block *block = &e->ir->blocks[b];
    forget(e, 0);
    take_phis(e, block);
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
            emit_scalar(e, value);
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
}

int32_t gg_emit_module(const struct gg_ir *ir, struct gg_arena *arena, const struct gg_guest_program *program,
                       uint32_t **words, uint64_t *word_count, char **message)
{
    struct gg_emit e = {.ir = ir, .arena = arena, .program = program, .k = ir->wave};
    e.words = (e.k + 31) / 32;
    e.threads = 1;
    for (int i = 0; i < 3; i++)
        e.threads *= program->threads[i] ? program->threads[i] : 1;
    e.waves = (e.threads + ir->wave - 1) / ir->wave;
    int32_t result = gg_emit_plan(&e, message);
    if (result)
        return result;

    struct gg_spirv *s = &e.s;
    gg_spirv_init(s);
    gg_spirv_name(s, s->entry, "main");
    s->loop_control = SpvLoopControlDontUnrollMask; /* 32 copies of each region take a driver half a minute */
    gg_spirv_local_size(s, e.waves, 1, 1);
    e.buffer[GG_EMIT_MEMORY] = storage_buffer(&e, GG_EMIT_MEMORY, "guest_memory");
    e.buffer[GG_EMIT_LAUNCH] = storage_buffer(&e, GG_EMIT_LAUNCH, "launch");
    e.buffer[GG_EMIT_COUNTERS] = storage_buffer(&e, GG_EMIT_COUNTERS, "counters");
    uint32_t u32 = gg_spirv_u32(s), vec3 = gg_spirv_vector(s, u32, 3);
    e.lds_words = program->lds_bytes / 4;
    if (e.lds_words) {
        uint32_t array = gg_spirv_array(s, u32, e.lds_words);
        e.lds = gg_spirv_global(s, SpvStorageClassWorkgroup, array, "lds");
    }
    uint32_t group = gg_spirv_builtin(s, SpvStorageClassInput, vec3, SpvBuiltInWorkgroupId, "workgroup_id");
    uint32_t index = gg_spirv_builtin(s, SpvStorageClassInput, u32, SpvBuiltInLocalInvocationIndex, "local_index");
    gg_emit_memory_functions(&e);
    e.group = gg_spirv_load(s, vec3, group);
    e.wave = gg_spirv_load(s, u32, index);
    declare_variables(&e);
    gg_emit_flow(&e);
    return gg_spirv_finish(s, SpvExecutionModelGLCompute, words, word_count, message);
}

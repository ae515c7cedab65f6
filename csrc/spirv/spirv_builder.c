/* SPDX-License-Identifier: MIT */
#include "spirv_builder.h"
#include "../common/message.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPERANDS 16u
#define GENERATOR    0u /* not registered with Khronos */
#define VERSION_1_6  0x00010600u

static bool set_capacity(struct gg_words *w, size_t capacity)
{
    uint32_t *data = realloc(w->data, capacity * sizeof *data);
    if (!data)
        return false;
    w->data = data;
    w->capacity = capacity;
    return true;
}

static bool grow(struct gg_words *w, size_t count)
{
    size_t capacity = w->capacity ? 2 * w->capacity : 64;
    while (capacity < count)
        capacity *= 2;
    return set_capacity(w, capacity);
}

/*
 * Words at the section's end, for the caller to fill; NULL when memory ran out. Once it has failed nothing is added:
 * the words before a lost one must not be read on with words after it.
 */
static inline uint32_t *add(struct gg_spirv *s, struct gg_words *w, size_t count)
{
    if (s->failed)
        return NULL;
    if (w->count + count > w->capacity && !grow(w, w->count + count)) {
        s->failed = true;
        return NULL;
    }
    w->count += count;
    return w->data + w->count - count;
}

static void push(struct gg_spirv *s, struct gg_words *w, uint32_t word)
{
    uint32_t *to = add(s, w, 1);
    if (to)
        *to = word;
}

static void instruction(struct gg_spirv *s, enum gg_spirv_section section, SpvOp op, const uint32_t *operands,
                        unsigned count)
{
    uint32_t *to = add(s, &s->section[section], count + 1);
    if (!to)
        return;
    *to++ = (count + 1) << SpvWordCountShift | (uint32_t)op;
    for (unsigned i = 0; i < count; i++)
        to[i] = operands[i];
}

/* Collects the variadic ids behind the fixed operands; returns how many there are in all. */
static unsigned collect(uint32_t *operands, unsigned fixed, unsigned count, va_list args)
{
    for (unsigned i = 0; i < count; i++)
        operands[fixed + i] = va_arg(args, uint32_t);
    return fixed + count;
}

/* Appends a literal string as SPIR-V packs it: UTF-8, little-endian, with its zero, padded to a word. */
static void push_string(struct gg_spirv *s, struct gg_words *w, const char *text)
{
    size_t size = strlen(text) + 1, words = (size + 3) / 4;
    uint32_t *to = add(s, w, words);
    if (!to)
        return;
    memset(to, 0, words * sizeof *to);
    for (size_t i = 0; i < size; i++)
        to[i / 4] |= (uint32_t)(unsigned char)text[i] << i % 4 * 8;
}

static void with_string(struct gg_spirv *s, enum gg_spirv_section section, SpvOp op, const uint32_t *before,
                        unsigned before_count, const char *text, const uint32_t *after, unsigned after_count)
{
    struct gg_words *w = &s->section[section];
    uint32_t length = 1 + before_count + (uint32_t)(strlen(text) / 4 + 1) + after_count;
    push(s, w, length << SpvWordCountShift | (uint32_t)op);
    for (unsigned i = 0; i < before_count; i++)
        push(s, w, before[i]);
    push_string(s, w, text);
    for (unsigned i = 0; i < after_count; i++)
        push(s, w, after[i]);
}

void gg_spirv_expect(struct gg_spirv *s, size_t words)
{
    struct gg_words *code = &s->section[GG_SECTION_CODE];
    if (!s->failed && words > code->capacity && !set_capacity(code, words))
        s->failed = true;
}

uint32_t gg_spirv_id(struct gg_spirv *s) { return s->bound++; }

static uint32_t hash_of(const uint32_t *words, unsigned count, unsigned left_out)
{
    uint32_t hash = 2166136261u;
    for (unsigned i = 0; i < count; i++)
        hash = (hash ^ (i == left_out ? 0 : words[i])) * 16777619u;
    return hash ^ hash >> 15;
}

/* Room for one slot more; false when memory ran out. */
static bool grow_slots(struct gg_spirv *s)
{
    if (s->slots_taken + 1 <= s->slot_count / 4 * 3)
        return true;
    uint32_t count = s->slot_count ? 2 * s->slot_count : 256;
    struct gg_spirv_slot *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < s->slot_count; i++) {
        uint32_t to = s->slots[i].hash & (count - 1);
        while (s->slots[i].at && slots[to].at)
            to = (to + 1) & (count - 1);
        if (s->slots[i].at)
            slots[to] = s->slots[i];
    }
    free(s->slots);
    s->slots = slots;
    s->slot_count = count;
    return true;
}

/* For what is appended to the globals next. */
static void take_slot(struct gg_spirv *s, uint32_t slot, uint32_t hash)
{
    s->slots[slot] = (struct gg_spirv_slot){hash, (uint32_t)s->section[GG_SECTION_GLOBALS].count + 1};
    s->slots_taken++;
}

/* Finds the instruction among the globals, its result id at word `result` not counted, or appends it. */
static uint32_t unique(struct gg_spirv *s, SpvOp op, const uint32_t *operands, unsigned count, unsigned result)
{
    uint32_t copy[1 + MAX_OPERANDS];
    copy[0] = (count + 1) << SpvWordCountShift | (uint32_t)op;
    for (unsigned i = 0; i < count; i++)
        copy[1 + i] = operands[i];
    if (s->failed || !grow_slots(s)) {
        s->failed = true;
        return gg_spirv_id(s);
    }
    struct gg_words *w = &s->section[GG_SECTION_GLOBALS];
    uint32_t hash = hash_of(copy, 1 + count, 1 + result), slot = hash & (s->slot_count - 1);
    for (; s->slots[slot].at; slot = (slot + 1) & (s->slot_count - 1)) {
        const uint32_t *have = w->data + s->slots[slot].at - 1;
        unsigned i = 0;
        while (s->slots[slot].hash == hash && i < 1 + count && (i == 1 + result || have[i] == copy[i]))
            i++;
        if (i == 1 + count)
            return have[1 + result];
    }
    take_slot(s, slot, hash);
    copy[1 + result] = gg_spirv_id(s);
    instruction(s, GG_SECTION_GLOBALS, op, copy + 1, count);
    return copy[1 + result];
}

bool gg_spirv_has(const struct gg_spirv *s, SpvCapability capability)
{
    const struct gg_words *w = &s->section[GG_SECTION_CAPABILITIES];
    for (size_t at = 1; !s->failed && at < w->count; at += 2)
        if (w->data[at] == (uint32_t)capability)
            return true;
    return false;
}

void gg_spirv_capability(struct gg_spirv *s, SpvCapability capability)
{
    if (!gg_spirv_has(s, capability))
        instruction(s, GG_SECTION_CAPABILITIES, SpvOpCapability, (const uint32_t[]){(uint32_t)capability}, 1);
}

void gg_spirv_extension(struct gg_spirv *s, const char *name)
{
    with_string(s, GG_SECTION_EXTENSIONS, SpvOpExtension, NULL, 0, name, NULL, 0);
}

void gg_spirv_mode_of(struct gg_spirv *s, SpvExecutionMode mode, uint32_t operand)
{
    instruction(s, GG_SECTION_MODES, SpvOpExecutionMode, (const uint32_t[]){s->entry, (uint32_t)mode, operand}, 3);
}

void gg_spirv_mode(struct gg_spirv *s, SpvExecutionMode mode)
{
    instruction(s, GG_SECTION_MODES, SpvOpExecutionMode, (const uint32_t[]){s->entry, (uint32_t)mode}, 2);
}

uint32_t gg_spirv_type(struct gg_spirv *s, SpvOp op, unsigned count, ...)
{
    uint32_t operands[MAX_OPERANDS];
    operands[0] = 0;
    va_list args;
    va_start(args, count);
    unsigned total = collect(operands, 1, count, args);
    va_end(args);
    return unique(s, op, operands, total, 0);
}

/* As unique(), of what is asked for most. */
uint32_t gg_spirv_constant(struct gg_spirv *s, uint32_t type, uint32_t bits)
{
    if (s->failed || !grow_slots(s)) {
        s->failed = true;
        return gg_spirv_id(s);
    }
    const uint32_t begin = 4u << SpvWordCountShift | SpvOpConstant, *globals = s->section[GG_SECTION_GLOBALS].data;
    uint32_t hash = (bits ^ type * 0x85ebca6bu) * 0x9e3779b1u, slot = (hash ^= hash >> 15) & (s->slot_count - 1);
    for (; s->slots[slot].at; slot = (slot + 1) & (s->slot_count - 1)) {
        const uint32_t *have = globals + s->slots[slot].at - 1;
        if (s->slots[slot].hash == hash && have[0] == begin && have[1] == type && have[3] == bits)
            return have[2];
    }
    uint32_t id = gg_spirv_id(s);
    take_slot(s, slot, hash);
    instruction(s, GG_SECTION_GLOBALS, SpvOpConstant, (const uint32_t[]){type, id, bits}, 3);
    return id;
}

uint32_t gg_spirv_u32(struct gg_spirv *s)
{
    return s->u32 ? s->u32 : (s->u32 = gg_spirv_type(s, SpvOpTypeInt, 2, 32, 0));
}

uint32_t gg_spirv_bool(struct gg_spirv *s)
{
    return s->boolean ? s->boolean : (s->boolean = gg_spirv_type(s, SpvOpTypeBool, 0));
}

uint32_t gg_spirv_f32(struct gg_spirv *s)
{
    return s->f32 ? s->f32 : (s->f32 = gg_spirv_type(s, SpvOpTypeFloat, 1, 32));
}

uint32_t gg_spirv_const(struct gg_spirv *s, uint32_t value)
{
    if (value >= GG_SPIRV_SMALL)
        return gg_spirv_constant(s, gg_spirv_u32(s), value);
    if (!s->small[value])
        s->small[value] = gg_spirv_constant(s, gg_spirv_u32(s), value);
    return s->small[value];
}

uint32_t gg_spirv_truth(struct gg_spirv *s, bool value)
{
    return unique(s, value ? SpvOpConstantTrue : SpvOpConstantFalse, (const uint32_t[]){gg_spirv_bool(s), 0}, 2, 1);
}

uint32_t gg_spirv_vector(struct gg_spirv *s, uint32_t component, uint32_t count)
{
    return count == 1 ? component : gg_spirv_type(s, SpvOpTypeVector, 2, component, count);
}

uint32_t gg_spirv_pointer(struct gg_spirv *s, SpvStorageClass storage, uint32_t pointee)
{
    if ((uint32_t)storage >= GG_SPIRV_STORAGES)
        return gg_spirv_type(s, SpvOpTypePointer, 2, (uint32_t)storage, pointee);
    struct gg_spirv_pointer *last = &s->pointers[storage];
    if (last->pointee != pointee)
        *last = (struct gg_spirv_pointer){pointee, gg_spirv_type(s, SpvOpTypePointer, 2, (uint32_t)storage, pointee)};
    return last->id;
}

uint32_t gg_spirv_array(struct gg_spirv *s, uint32_t element, uint32_t length)
{
    return gg_spirv_type(s, SpvOpTypeArray, 2, element, gg_spirv_const(s, length));
}

uint32_t gg_spirv_global(struct gg_spirv *s, SpvStorageClass storage, uint32_t pointee, const char *name)
{
    uint32_t type = gg_spirv_pointer(s, storage, pointee), id = gg_spirv_id(s);
    instruction(s, GG_SECTION_GLOBALS, SpvOpVariable, (const uint32_t[]){type, id, (uint32_t)storage}, 3);
    gg_spirv_name(s, id, name);
    if (s->interface_count == GG_SPIRV_MAX_INTERFACE)
        s->failed = true;
    else
        s->interface[s->interface_count++] = id;
    return id;
}

uint32_t gg_spirv_local(struct gg_spirv *s, uint32_t type, const char *name)
{
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassFunction, type), id = gg_spirv_id(s);
    instruction(s, GG_SECTION_LOCALS, SpvOpVariable, (const uint32_t[]){pointer, id, SpvStorageClassFunction}, 3);
    gg_spirv_name(s, id, name);
    return id;
}

uint32_t gg_spirv_builtin(struct gg_spirv *s, SpvStorageClass storage, uint32_t pointee, SpvBuiltIn builtin,
                          const char *name)
{
    uint32_t id = gg_spirv_global(s, storage, pointee, name);
    gg_spirv_decorate(s, id, SpvDecorationBuiltIn, 1, (uint32_t)builtin);
    return id;
}

uint32_t gg_spirv_import(struct gg_spirv *s, const char *name)
{
    /* Only ever one set: the section holds its one instruction, whose second word is the id. */
    const struct gg_words *w = &s->section[GG_SECTION_IMPORTS];
    if (w->count > 1)
        return w->data[1];
    uint32_t id = gg_spirv_id(s);
    with_string(s, GG_SECTION_IMPORTS, SpvOpExtInstImport, &id, 1, name, NULL, 0);
    return id;
}

void gg_spirv_name(struct gg_spirv *s, uint32_t id, const char *name)
{
    with_string(s, GG_SECTION_NAMES, SpvOpName, &id, 1, name, NULL, 0);
}

void gg_spirv_decorate(struct gg_spirv *s, uint32_t id, SpvDecoration decoration, unsigned count, ...)
{
    uint32_t operands[MAX_OPERANDS] = {id, (uint32_t)decoration};
    va_list args;
    va_start(args, count);
    unsigned total = collect(operands, 2, count, args);
    va_end(args);
    instruction(s, GG_SECTION_ANNOTATIONS, SpvOpDecorate, operands, total);
}

void gg_spirv_member_decorate(struct gg_spirv *s, uint32_t type, uint32_t member, SpvDecoration decoration,
                              unsigned count, ...)
{
    uint32_t operands[MAX_OPERANDS] = {type, member, (uint32_t)decoration};
    va_list args;
    va_start(args, count);
    unsigned total = collect(operands, 3, count, args);
    va_end(args);
    instruction(s, GG_SECTION_ANNOTATIONS, SpvOpMemberDecorate, operands, total);
}

void gg_spirv_local_size(struct gg_spirv *s, uint32_t x, uint32_t y, uint32_t z)
{
    instruction(s, GG_SECTION_MODES, SpvOpExecutionMode,
                (const uint32_t[]){s->entry, SpvExecutionModeLocalSize, x, y, z}, 5);
}

uint32_t gg_spirv_op_list(struct gg_spirv *s, SpvOp op, uint32_t type, const uint32_t *list)
{
    uint32_t id = gg_spirv_id(s), count = list[0], *to = add(s, &s->section[GG_SECTION_CODE], 3 + count);
    if (!to)
        return id;
    to[0] = (3 + count) << SpvWordCountShift | (uint32_t)op;
    to[1] = type;
    to[2] = id;
    for (uint32_t i = 0; i < count; i++)
        to[3 + i] = list[1 + i];
    return id;
}

void gg_spirv_do_list(struct gg_spirv *s, SpvOp op, const uint32_t *list)
{
    instruction(s, GG_SECTION_CODE, op, list + 1, list[0]);
}

uint32_t gg_spirv_extract(struct gg_spirv *s, uint32_t type, uint32_t composite, uint32_t index)
{
    return gg_spirv_op(s, SpvOpCompositeExtract, type, 2, composite, index);
}

uint32_t gg_spirv_load(struct gg_spirv *s, uint32_t type, uint32_t pointer)
{
    return gg_spirv_op(s, SpvOpLoad, type, 1, pointer);
}

void gg_spirv_store(struct gg_spirv *s, uint32_t pointer, uint32_t value)
{
    gg_spirv_do(s, SpvOpStore, 2, pointer, value);
}

uint32_t gg_spirv_add(struct gg_spirv *s, uint32_t a, uint32_t b)
{
    return gg_spirv_op(s, SpvOpIAdd, gg_spirv_u32(s), 2, a, b);
}

uint32_t gg_spirv_mul(struct gg_spirv *s, uint32_t a, uint32_t b)
{
    return gg_spirv_op(s, SpvOpIMul, gg_spirv_u32(s), 2, a, b);
}

uint32_t gg_spirv_select(struct gg_spirv *s, uint32_t condition, uint32_t a, uint32_t b)
{
    return gg_spirv_op(s, SpvOpSelect, gg_spirv_u32(s), 3, condition, a, b);
}

uint32_t gg_spirv_less(struct gg_spirv *s, uint32_t a, uint32_t b)
{
    return gg_spirv_op(s, SpvOpULessThan, gg_spirv_bool(s), 2, a, b);
}

uint32_t gg_spirv_min(struct gg_spirv *s, uint32_t a, uint32_t b)
{
    return gg_spirv_select(s, gg_spirv_less(s, a, b), a, b);
}

uint32_t gg_spirv_max(struct gg_spirv *s, uint32_t a, uint32_t b)
{
    return gg_spirv_select(s, gg_spirv_less(s, a, b), b, a);
}

void gg_spirv_workgroup_barrier(struct gg_spirv *s)
{
    uint32_t scope = gg_spirv_const(s, SpvScopeWorkgroup);
    uint32_t semantics =
        gg_spirv_const(s, SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsWorkgroupMemoryMask);
    gg_spirv_do(s, SpvOpControlBarrier, 3, scope, scope, semantics);
}

uint32_t gg_spirv_atomic(struct gg_spirv *s, SpvOp op, SpvScope scope, uint32_t pointer, uint32_t value)
{
    uint32_t relaxed = gg_spirv_const(s, SpvMemorySemanticsMaskNone);
    uint32_t reach = gg_spirv_const(s, (uint32_t)scope);
    return gg_spirv_op(s, op, gg_spirv_u32(s), 4, pointer, reach, relaxed, value);
}

#define MAX_PARAMETERS 8u

uint32_t gg_spirv_begin_function(struct gg_spirv *s, struct gg_spirv_function *f, const char *name, uint32_t returns,
                                 unsigned count, const uint32_t *types, uint32_t *parameters)
{
    uint32_t operands[1 + MAX_PARAMETERS + 1] = {0, returns};
    for (unsigned i = 0; i < count; i++)
        operands[2 + i] = types[i];
    uint32_t type = unique(s, SpvOpTypeFunction, operands, 2 + count, 0);
    for (int i = 0; i < 3; i++) {
        f->outer[i] = s->section[GG_SECTION_FUNCTION + i];
        s->section[GG_SECTION_FUNCTION + i] = (struct gg_words){0};
    }
    f->outer_block = s->block;
    f->id = gg_spirv_id(s);
    instruction(s, GG_SECTION_FUNCTION, SpvOpFunction,
                (const uint32_t[]){returns, f->id, SpvFunctionControlMaskNone, type}, 4);
    for (unsigned i = 0; i < count; i++) {
        parameters[i] = gg_spirv_id(s);
        instruction(s, GG_SECTION_FUNCTION, SpvOpFunctionParameter, (const uint32_t[]){types[i], parameters[i]}, 2);
    }
    s->block = gg_spirv_id(s);
    instruction(s, GG_SECTION_FUNCTION, SpvOpLabel, &s->block, 1);
    gg_spirv_name(s, f->id, name);
    return f->id;
}

void gg_spirv_end_function(struct gg_spirv *s, struct gg_spirv_function *f, uint32_t result)
{
    if (result)
        gg_spirv_do(s, SpvOpReturnValue, 1, result);
    else
        gg_spirv_do(s, SpvOpReturn, 0);
    gg_spirv_do(s, SpvOpFunctionEnd, 0);
    for (int i = 0; i < 3; i++) {
        struct gg_words *part = &s->section[GG_SECTION_FUNCTION + i];
        uint32_t *to = part->count ? add(s, &s->section[GG_SECTION_FUNCTIONS], part->count) : NULL;
        if (to)
            memcpy(to, part->data, part->count * sizeof *to);
        free(part->data);
        *part = f->outer[i];
    }
    s->block = f->outer_block;
}

static void label(struct gg_spirv *s, uint32_t id)
{
    gg_spirv_do(s, SpvOpLabel, 1, id);
    s->block = id;
}

void gg_spirv_begin_if(struct gg_spirv *s, struct gg_spirv_if *block, uint32_t condition)
{
    uint32_t then = gg_spirv_id(s);
    block->merge = gg_spirv_id(s);
    gg_spirv_do(s, SpvOpSelectionMerge, 2, block->merge, (uint32_t)SpvSelectionControlMaskNone);
    gg_spirv_do(s, SpvOpBranchConditional, 3, condition, then, block->merge);
    label(s, then);
}

void gg_spirv_end_if(struct gg_spirv *s, struct gg_spirv_if *block)
{
    gg_spirv_do(s, SpvOpBranch, 1, block->merge);
    label(s, block->merge);
}

uint32_t gg_spirv_begin_for(struct gg_spirv *s, struct gg_spirv_for *loop, uint32_t start, uint32_t limit,
                            uint32_t step)
{
    uint32_t before = s->block, body = gg_spirv_id(s);
    loop->step = step;
    loop->next = gg_spirv_id(s);
    loop->header = gg_spirv_id(s);
    loop->continues = gg_spirv_id(s);
    loop->merge = gg_spirv_id(s);
    gg_spirv_do(s, SpvOpBranch, 1, loop->header);
    label(s, loop->header);
    loop->index = gg_spirv_op(s, SpvOpPhi, gg_spirv_u32(s), 4, start, before, loop->next, loop->continues);
    uint32_t more = gg_spirv_less(s, loop->index, limit);
    gg_spirv_do(s, SpvOpLoopMerge, 3, loop->merge, loop->continues, s->loop_control);
    gg_spirv_do(s, SpvOpBranchConditional, 3, more, body, loop->merge);
    label(s, body);
    return loop->index;
}

void gg_spirv_end_for(struct gg_spirv *s, struct gg_spirv_for *loop)
{
    gg_spirv_do(s, SpvOpBranch, 1, loop->continues);
    label(s, loop->continues);
    gg_spirv_do(s, SpvOpIAdd, 4, gg_spirv_u32(s), loop->next, loop->index, loop->step);
    gg_spirv_do(s, SpvOpBranch, 1, loop->header);
    label(s, loop->merge);
}

void gg_spirv_begin_switch(struct gg_spirv *s, struct gg_spirv_switch *block, uint32_t selector, uint32_t count)
{
    *block = (struct gg_spirv_switch){.first = s->bound};
    s->bound += count;
    block->merge = gg_spirv_id(s);
    gg_spirv_do(s, SpvOpSelectionMerge, 2, block->merge, (uint32_t)SpvSelectionControlMaskNone);
    struct gg_words *code = &s->section[GG_SECTION_CODE];
    push(s, code, (3 + 2 * count) << SpvWordCountShift | SpvOpSwitch);
    push(s, code, selector);
    push(s, code, block->merge);
    for (uint32_t i = 0; i < count; i++) {
        push(s, code, i);
        push(s, code, block->first + i);
    }
}

void gg_spirv_case(struct gg_spirv *s, struct gg_spirv_switch *block, uint32_t number)
{
    if (block->open)
        gg_spirv_do(s, SpvOpBranch, 1, block->merge);
    block->open = true;
    label(s, block->first + number);
}

void gg_spirv_end_switch(struct gg_spirv *s, struct gg_spirv_switch *block)
{
    gg_spirv_do(s, SpvOpBranch, 1, block->merge);
    label(s, block->merge);
}

void gg_spirv_begin_while(struct gg_spirv *s, struct gg_spirv_while *loop)
{
    loop->header = gg_spirv_id(s);
    loop->continues = gg_spirv_id(s);
    loop->merge = gg_spirv_id(s);
    gg_spirv_do(s, SpvOpBranch, 1, loop->header);
    label(s, loop->header);
}

void gg_spirv_while_body(struct gg_spirv *s, struct gg_spirv_while *loop, uint32_t condition)
{
    uint32_t body = gg_spirv_id(s);
    gg_spirv_do(s, SpvOpLoopMerge, 3, loop->merge, loop->continues, s->loop_control);
    gg_spirv_do(s, SpvOpBranchConditional, 3, condition, body, loop->merge);
    label(s, body);
}

void gg_spirv_end_while(struct gg_spirv *s, struct gg_spirv_while *loop)
{
    gg_spirv_do(s, SpvOpBranch, 1, loop->continues);
    label(s, loop->continues);
    gg_spirv_do(s, SpvOpBranch, 1, loop->header);
    label(s, loop->merge);
}

void gg_spirv_init(struct gg_spirv *s)
{
    *s = (struct gg_spirv){.bound = 1};
    uint32_t capability = SpvCapabilityShader;
    instruction(s, GG_SECTION_CAPABILITIES, SpvOpCapability, &capability, 1);
    instruction(s, GG_SECTION_MEMORY_MODEL, SpvOpMemoryModel,
                (const uint32_t[]){SpvAddressingModelLogical, SpvMemoryModelGLSL450}, 2);
    s->entry = gg_spirv_id(s);
    uint32_t nothing = gg_spirv_type(s, SpvOpTypeVoid, 0), function = gg_spirv_type(s, SpvOpTypeFunction, 1, nothing);
    /* Declared first: asking for them inside an argument list then gives no new id (see the header). */
    gg_spirv_u32(s);
    gg_spirv_bool(s);
    s->block = gg_spirv_id(s);
    instruction(s, GG_SECTION_FUNCTION, SpvOpFunction,
                (const uint32_t[]){nothing, s->entry, SpvFunctionControlMaskNone, function}, 4);
    instruction(s, GG_SECTION_FUNCTION, SpvOpLabel, &s->block, 1);
}

int32_t gg_spirv_finish(struct gg_spirv *s, SpvExecutionModel model, uint32_t **words, uint64_t *word_count,
                        char **message)
{
    gg_spirv_do(s, SpvOpReturn, 0);
    gg_spirv_do(s, SpvOpFunctionEnd, 0);
    with_string(s, GG_SECTION_ENTRY, SpvOpEntryPoint, (const uint32_t[]){(uint32_t)model, s->entry}, 2, "main",
                s->interface, s->interface_count);

    uint32_t *module = NULL;
    size_t total = 5;
    for (int i = 0; i < GG_SECTION_COUNT; i++)
        total += s->section[i].count;
    /* The code, by far the largest and the last, stays in the memory where it is. */
    struct gg_words *code = &s->section[GG_SECTION_CODE];
    if (!s->failed)
        module = realloc(code->data, total * sizeof *module);
    if (module) {
        memmove(module + total - code->count, module, code->count * sizeof *module);
        *code = (struct gg_words){0};
        memcpy(module, (const uint32_t[]){SpvMagicNumber, VERSION_1_6, GENERATOR, s->bound, 0}, 5 * sizeof *module);
        size_t at = 5;
        for (int i = 0; i < GG_SECTION_CODE; i++) {
            if (s->section[i].count)
                memcpy(module + at, s->section[i].data, s->section[i].count * sizeof *module);
            at += s->section[i].count;
        }
    }
    for (int i = 0; i < GG_SECTION_COUNT; i++)
        free(s->section[i].data);
    free(s->slots);
    if (!module)
        return gg_fail(message, GG_ERR_MEMORY, "SPIR-V module: out of memory");
    *words = module;
    *word_count = total;
    return gg_succeed(message);
}

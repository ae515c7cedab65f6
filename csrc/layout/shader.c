/* SPDX-License-Identifier: MIT */
/* What all modules of the layout part declare: storage buffers, push constants, the fit. */
#include "layout_internal.h"

static const char *const buffer_names[GG_LAYOUT_BUFFERS] = {
    [GG_LAYOUT_BUFFER_AREA] = "area",
    [GG_LAYOUT_BUFFER_MESHLETS] = "meshlets",
    [GG_LAYOUT_BUFFER_VERTICES] = "vertices",
    [GG_LAYOUT_BUFFER_INDICES] = "indices",
    [GG_LAYOUT_BUFFER_PRIMITIVES] = "primitives",
    [GG_LAYOUT_BUFFER_TASKS] = "tasks",
    [GG_LAYOUT_BUFFER_TASK_RECORDS] = "task_records",
};

/* struct { uint words[]; }, one type for all buffers: their decorations are the same. */
static uint32_t buffer_block(struct gg_shader *h)
{
    struct gg_spirv *s = &h->s;
    uint32_t bound = s->bound;
    uint32_t words = gg_spirv_type(s, SpvOpTypeRuntimeArray, 1, gg_spirv_u32(s));
    uint32_t block = gg_spirv_type(s, SpvOpTypeStruct, 1, words);
    if (s->bound != bound) { /* declared just now */
        gg_spirv_decorate(s, words, SpvDecorationArrayStride, 1, 4);
        gg_spirv_decorate(s, block, SpvDecorationBlock, 0);
        gg_spirv_member_decorate(s, block, 0, SpvDecorationOffset, 1, 0);
    }
    return block;
}

static uint32_t buffer_variable(struct gg_shader *h, enum gg_layout_buffer binding)
{
    if (!h->buffer[binding]) {
        struct gg_spirv *s = &h->s;
        uint32_t block = buffer_block(h);
        uint32_t variable = gg_spirv_global(s, SpvStorageClassStorageBuffer, block, buffer_names[binding]);
        gg_spirv_decorate(s, variable, SpvDecorationDescriptorSet, 1, 0);
        gg_spirv_decorate(s, variable, SpvDecorationBinding, 1, (uint32_t)binding);
        h->buffer[binding] = variable;
    }
    return h->buffer[binding];
}

uint32_t gg_shader_word(struct gg_shader *h, enum gg_layout_buffer binding, uint32_t index)
{
    struct gg_spirv *s = &h->s;
    uint32_t variable = buffer_variable(h, binding);
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassStorageBuffer, gg_spirv_u32(s));
    uint32_t zero = gg_spirv_const(s, 0);
    return gg_spirv_op(s, SpvOpAccessChain, pointer, 3, variable, zero, index);
}

uint32_t gg_shader_load_word(struct gg_shader *h, enum gg_layout_buffer binding, uint32_t index)
{
    uint32_t pointer = gg_shader_word(h, binding, index);
    return gg_spirv_load(&h->s, gg_spirv_u32(&h->s), pointer);
}

uint32_t gg_shader_header(struct gg_shader *h, uint32_t word)
{
    uint32_t index = gg_spirv_const(&h->s, word);
    return gg_shader_word(h, GG_LAYOUT_BUFFER_AREA, index);
}

uint32_t gg_shader_push(struct gg_shader *h, uint32_t word)
{
    struct gg_spirv *s = &h->s;
    uint32_t u32 = gg_spirv_u32(s);
    if (!h->push) {
        uint32_t block = gg_spirv_type(s, SpvOpTypeStruct, GG_PUSH_WORDS, u32, u32, u32, u32);
        gg_spirv_decorate(s, block, SpvDecorationBlock, 0);
        for (uint32_t i = 0; i < GG_PUSH_WORDS; i++)
            gg_spirv_member_decorate(s, block, i, SpvDecorationOffset, 1, 4 * i);
        h->push = gg_spirv_global(s, SpvStorageClassPushConstant, block, "push");
    }
    uint32_t pointer = gg_spirv_pointer(s, SpvStorageClassPushConstant, u32), index = gg_spirv_const(s, word);
    uint32_t at = gg_spirv_op(s, SpvOpAccessChain, pointer, 2, h->push, index);
    return gg_spirv_load(s, u32, at);
}

uint32_t gg_shader_element(struct gg_shader *h, uint32_t array, uint32_t index)
{
    uint32_t pointer = gg_spirv_pointer(&h->s, SpvStorageClassWorkgroup, gg_spirv_u32(&h->s));
    return gg_spirv_op(&h->s, SpvOpAccessChain, pointer, 2, array, index);
}

uint32_t gg_shader_fit(struct gg_shader *h, const struct gg_layout_plan *plan, const struct gg_layout_options *options)
{
    struct gg_spirv *s = &h->s;
    if (!options->runtime_fit)
        return gg_spirv_const(s, plan->fit);
    /* A capacity below the header holds nothing; it must not wrap. */
    uint32_t capacity = gg_spirv_load(s, gg_spirv_u32(s), gg_shader_header(h, GG_HEADER_CAPACITY));
    uint32_t header = gg_spirv_const(s, plan->header_words);
    uint32_t clamped = gg_spirv_max(s, capacity, header);
    uint32_t words = gg_spirv_op(s, SpvOpISub, gg_spirv_u32(s), 2, clamped, header);
    uint32_t slot_words = gg_spirv_const(s, plan->slot_words);
    return gg_spirv_op(s, SpvOpUDiv, gg_spirv_u32(s), 2, words, slot_words);
}

uint32_t gg_shader_task_total(struct gg_shader *h)
{
    struct gg_spirv *s = &h->s;
    uint32_t tasks = gg_shader_push(h, GG_PUSH_TASKS);
    uint32_t words = gg_spirv_const(s, sizeof(struct gg_task_record) / 4);
    uint32_t start = gg_spirv_const(s, offsetof(struct gg_task_record, start) / 4);
    uint32_t base = gg_spirv_mul(s, tasks, words);
    return gg_shader_load_word(h, GG_LAYOUT_BUFFER_TASK_RECORDS, gg_spirv_add(s, base, start));
}

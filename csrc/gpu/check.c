/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define NONE UINT32_MAX

struct state { /* as it is before the command at hand */
    const struct gg_device *device;
    const struct gg_work *work;
    struct gg_check *check;
    char **message;
    const struct gg_command *command;
    uint32_t number;
    const struct gg_pipeline *pipeline; /* the last one bound, of either kind */
    bool pushed;                        /* its push constants are set */
    const struct gg_target *target;     /* inside rendering */
    uint32_t render_number;             /* the command that began it */
    uint32_t statistics;                /* the active slot, or NONE */
    uint32_t statistics_number;
    uint32_t statistics_render; /* the rendering that the slot was begun in, or NONE */
    uint64_t index_size;        /* 0: no index buffer is bound */
    uint64_t index_count;       /* whole indices from the bound offset to the buffer's end */
};

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [GG_COMMAND_FILL] = "FILL",
        [GG_COMMAND_COPY] = "COPY",
        [GG_COMMAND_BARRIER] = "BARRIER",
        [GG_COMMAND_BIND] = "BIND",
        [GG_COMMAND_PUSH] = "PUSH",
        [GG_COMMAND_DISPATCH] = "DISPATCH",
        [GG_COMMAND_DISPATCH_INDIRECT] = "DISPATCH_INDIRECT",
        [GG_COMMAND_BEGIN_RENDER] = "BEGIN_RENDER",
        [GG_COMMAND_END_RENDER] = "END_RENDER",
        [GG_COMMAND_BIND_INDEX] = "BIND_INDEX",
        [GG_COMMAND_DRAW] = "DRAW",
        [GG_COMMAND_DRAW_INDEXED] = "DRAW_INDEXED",
        [GG_COMMAND_DRAW_INDIRECT] = "DRAW_INDIRECT",
        [GG_COMMAND_DRAW_INDEXED_INDIRECT] = "DRAW_INDEXED_INDIRECT",
        [GG_COMMAND_DRAW_INDIRECT_COUNT] = "DRAW_INDIRECT_COUNT",
        [GG_COMMAND_DRAW_INDEXED_INDIRECT_COUNT] = "DRAW_INDEXED_INDIRECT_COUNT",
        [GG_COMMAND_DRAW_MESH] = "DRAW_MESH",
        [GG_COMMAND_TIMESTAMP] = "TIMESTAMP",
        [GG_COMMAND_BEGIN_STATISTICS] = "BEGIN_STATISTICS",
        [GG_COMMAND_END_STATISTICS] = "END_STATISTICS",
    };
    const char *name = kind < sizeof names / sizeof *names ? names[kind] : NULL;
    return name ? name : "unknown kind";
}

static int32_t bad(const struct state *s, int32_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int32_t bad(const struct state *s, int32_t result, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return gg_fail(s->message, result, "command %u (%s): %s", s->number, kind_name(s->command->kind), text);
}

static int32_t check_buffer(const struct state *s, uint32_t number)
{
    if (number >= s->work->buffer_count)
        return bad(s, GG_ERR_ARGUMENT, "buffer %u of a table of %u", number, s->work->buffer_count);
    const struct gg_buffer *buffer = s->work->buffers[number];
    if (!buffer)
        return bad(s, GG_ERR_ARGUMENT, "buffer %u is NULL", number);
    if (buffer->device != s->device)
        return bad(s, GG_ERR_ARGUMENT, "buffer %u is another device's", number);
    return GG_OK;
}

static int32_t check_range(const struct state *s, uint32_t number, uint64_t offset, uint64_t size, uint64_t alignment)
{
    int32_t result = check_buffer(s, number);
    if (result)
        return result;
    const uint64_t end = s->work->buffers[number]->size;
    if (offset % alignment)
        return bad(s, GG_ERR_ARGUMENT, "offset %" PRIu64 " is not a multiple of %" PRIu64, offset, alignment);
    if (offset > end || size > end - offset)
        return bad(s, GG_ERR_ARGUMENT,
                   "offset %" PRIu64 " + %" PRIu64 " bytes is past the end of buffer %u (%" PRIu64 " bytes)", offset,
                   size, number, end);
    return GG_OK;
}

static int32_t check_outside(const struct state *s)
{
    return s->target ? bad(s, GG_ERR_ARGUMENT, "inside the rendering that command %u began", s->render_number) : GG_OK;
}

static int32_t check_fill(struct state *s)
{
    const struct gg_command *c = s->command;
    int32_t result = check_outside(s);
    if (!result)
        result = check_range(s, c->buffer, c->offset, c->size, 4);
    if (!result && (!c->size || c->size % 4))
        result = bad(s, GG_ERR_ARGUMENT, "size %" PRIu64 " is not a multiple of 4 above 0", c->size);
    return result;
}

static int32_t check_copy(struct state *s)
{
    const struct gg_command *c = s->command;
    int32_t result = check_outside(s);
    if (!result)
        result = check_range(s, c->buffer, c->offset, c->size, 1);
    if (!result)
        result = check_range(s, c->other, c->other_offset, c->size, 1);
    if (result)
        return result;
    if (!c->size)
        return bad(s, GG_ERR_ARGUMENT, "size 0");
    if (s->work->buffers[c->buffer] == s->work->buffers[c->other] && c->offset < c->other_offset + c->size &&
        c->other_offset < c->offset + c->size)
        return bad(s, GG_ERR_ARGUMENT, "source and destination overlap in buffer %u", c->buffer);
    return GG_OK;
}

static int32_t check_bind(struct state *s)
{
    const struct gg_command *c = s->command;
    if (c->pipeline >= s->work->pipeline_count)
        return bad(s, GG_ERR_ARGUMENT, "pipeline %u of a table of %u", c->pipeline, s->work->pipeline_count);
    const struct gg_pipeline *pipeline = s->work->pipelines[c->pipeline];
    if (!pipeline)
        return bad(s, GG_ERR_ARGUMENT, "pipeline %u is NULL", c->pipeline);
    if (pipeline->device != s->device)
        return bad(s, GG_ERR_ARGUMENT, "pipeline %u is another device's", c->pipeline);
    if (c->bindings > GG_COMMAND_VALUES)
        return bad(s, GG_ERR_ARGUMENT, "%u bindings; at most %d", c->bindings, GG_COMMAND_VALUES);
    if (c->bindings < pipeline->storage_buffers)
        return bad(s, GG_ERR_ARGUMENT, "%u bindings; pipeline %u has %u storage buffers", c->bindings, c->pipeline,
                   pipeline->storage_buffers);
    for (uint32_t i = 0; i < c->bindings; i++) {
        int32_t result = check_buffer(s, c->binding[i]);
        if (result)
            return result;
        const uint64_t size = s->work->buffers[c->binding[i]]->size;
        if (i < pipeline->storage_buffers && size > s->device->can.info.max_storage_range)
            return bad(s, GG_ERR_LIMIT,
                       "binding %u: buffer %u has %" PRIu64 " bytes, more than the device's max_storage_range %" PRIu64,
                       i, c->binding[i], size, s->device->can.info.max_storage_range);
    }
    s->pipeline = pipeline;
    s->pushed = pipeline->push_words == 0;
    s->check->sets += pipeline->storage_buffers != 0;
    s->check->descriptors += pipeline->storage_buffers;
    return GG_OK;
}

static int32_t check_push(struct state *s)
{
    if (!s->pipeline)
        return bad(s, GG_ERR_ARGUMENT, "no pipeline is bound");
    if (s->command->bindings != s->pipeline->push_words || !s->command->bindings)
        return bad(s, GG_ERR_ARGUMENT, "%u words; the bound pipeline has %u", s->command->bindings,
                   s->pipeline->push_words);
    s->pushed = true;
    return GG_OK;
}

static int32_t check_pipeline(const struct state *s, enum gg_pipeline_kind kind)
{
    static const char *const names[] = {"compute", "vertex + fragment", "mesh + fragment"};
    if (!s->pipeline)
        return bad(s, GG_ERR_ARGUMENT, "no pipeline is bound");
    if (s->pipeline->kind != kind)
        return bad(s, GG_ERR_ARGUMENT, "the bound pipeline is %s; this needs %s", names[s->pipeline->kind],
                   names[kind]);
    if (!s->pushed)
        return bad(s, GG_ERR_ARGUMENT, "the %u push words of the pipeline were not pushed since its BIND",
                   s->pipeline->push_words);
    return GG_OK;
}

static int32_t check_groups(const struct state *s, const uint32_t most[3], uint64_t most_total, const char *limit)
{
    const uint32_t *groups = s->command->value;
    for (uint32_t i = 0; i < 3; i++)
        if (groups[i] > most[i])
            return bad(s, GG_ERR_LIMIT, "%u workgroups along %c, more than the device's %s %u", groups[i],
                       (char)('x' + i), limit, most[i]);
    /* The product of the first two fits; the third could take it past 64 bits. */
    const uint64_t plane = (uint64_t)groups[0] * groups[1];
    if (groups[2] && plane > most_total / groups[2])
        return bad(s, GG_ERR_LIMIT, "%u x %u x %u workgroups, more than the device's %" PRIu64 " in all", groups[0],
                   groups[1], groups[2], most_total);
    return GG_OK;
}

static int32_t check_dispatch(struct state *s)
{
    int32_t result = check_outside(s);
    if (!result)
        result = check_pipeline(s, GG_PIPELINE_COMPUTE);
    if (!result && s->command->kind == GG_COMMAND_DISPATCH)
        result = check_groups(s, s->device->can.info.max_workgroup_count, UINT64_MAX, "max_workgroup_count");
    if (!result && s->command->kind == GG_COMMAND_DISPATCH_INDIRECT)
        result = check_range(s, s->command->buffer, s->command->offset, sizeof(VkDispatchIndirectCommand), 4);
    return result;
}

static int32_t check_begin_render(struct state *s)
{
    const uint32_t number = s->command->pipeline;
    int32_t result = check_outside(s);
    if (result)
        return result;
    if (number >= s->work->target_count)
        return bad(s, GG_ERR_ARGUMENT, "target %u of a table of %u", number, s->work->target_count);
    if (!s->work->targets[number])
        return bad(s, GG_ERR_ARGUMENT, "target %u is NULL", number);
    if (s->work->targets[number]->device != s->device)
        return bad(s, GG_ERR_ARGUMENT, "target %u is another device's", number);
    s->target = s->work->targets[number];
    s->render_number = s->number;
    return GG_OK;
}

static int32_t check_end_render(struct state *s)
{
    if (!s->target)
        return bad(s, GG_ERR_ARGUMENT, "outside rendering");
    if (s->statistics != NONE && s->statistics_render == s->render_number)
        return bad(s, GG_ERR_ARGUMENT, "the statistics that command %u began in this rendering are still active",
                   s->statistics_number);
    s->target = NULL;
    return GG_OK;
}

static int32_t check_bind_index(struct state *s)
{
    const uint32_t size = s->command->value[0];
    if (size != 1 && size != 2 && size != 4)
        return bad(s, GG_ERR_ARGUMENT, "index size %u is not 1, 2 or 4", size);
    if (size == 1 && !s->device->can.info.index_uint8)
        return bad(s, GG_ERR_UNSUPPORTED, "the device has no 8-bit indices");
    int32_t result = check_range(s, s->command->buffer, s->command->offset, size, size);
    if (result)
        return result;
    s->index_size = size;
    s->index_count = (s->work->buffers[s->command->buffer]->size - s->command->offset) / size;
    return GG_OK;
}

/* What every draw needs; notes which statistics pool can serve the active slot. */
static int32_t check_draw_state(struct state *s, enum gg_pipeline_kind kind)
{
    if (!s->target)
        return bad(s, GG_ERR_ARGUMENT, "outside rendering");
    int32_t result = check_pipeline(s, kind);
    if (result)
        return result;
    if (s->pipeline->colors != s->target->colors || s->pipeline->depth != s->target->has_depth)
        return bad(s, GG_ERR_ARGUMENT, "the pipeline is for %u colours and depth %d; the target has %u and %d",
                   s->pipeline->colors, s->pipeline->depth, s->target->colors, s->target->has_depth);
    if (s->statistics == NONE)
        return GG_OK;
    const uint8_t use = kind == GG_PIPELINE_MESH ? GG_SLOT_MESH : GG_SLOT_VERTEX;
    uint8_t *slot = &s->check->statistics[s->statistics];
    if (*slot != GG_SLOT_USED && *slot != use)
        return bad(s, GG_ERR_ARGUMENT, "statistics slot %u cannot count mesh draws and other draws together",
                   s->statistics);
    *slot = use;
    return GG_OK;
}

static int32_t check_draw(struct state *s) { return check_draw_state(s, GG_PIPELINE_VERTEX); }

static int32_t check_draw_indexed(struct state *s)
{
    const struct gg_command *c = s->command;
    int32_t result = check_draw_state(s, GG_PIPELINE_VERTEX);
    if (!result && !s->index_size)
        result = bad(s, GG_ERR_ARGUMENT, "no index buffer is bound");
    if (!result && (uint64_t)c->value[2] + c->value[0] > s->index_count)
        result = bad(s, GG_ERR_ARGUMENT, "indices %u to %" PRIu64 " of a bound range of %" PRIu64, c->value[2],
                     (uint64_t)c->value[2] + c->value[0], s->index_count);
    return result;
}

static int32_t check_draw_indirect(struct state *s)
{
    const struct gg_command *c = s->command;
    const uint32_t draws = c->value[0], stride = c->value[1];
    const bool indexed =
        c->kind == GG_COMMAND_DRAW_INDEXED_INDIRECT || c->kind == GG_COMMAND_DRAW_INDEXED_INDIRECT_COUNT;
    const bool counted = c->kind == GG_COMMAND_DRAW_INDIRECT_COUNT || c->kind == GG_COMMAND_DRAW_INDEXED_INDIRECT_COUNT;
    const uint32_t size = indexed ? sizeof(VkDrawIndexedIndirectCommand) : sizeof(VkDrawIndirectCommand);
    int32_t result = check_draw_state(s, GG_PIPELINE_VERTEX);
    if (result)
        return result;
    if (indexed && !s->index_size)
        return bad(s, GG_ERR_ARGUMENT, "no index buffer is bound");
    if ((counted || draws > 1) && (stride % 4 || stride < size))
        return bad(s, GG_ERR_ARGUMENT, "stride %u is not a multiple of 4 from %u on", stride, size);
    if (draws > 1 && !s->device->can.multi_draw_indirect)
        return bad(s, GG_ERR_UNSUPPORTED, "the device does one indirect draw a command");
    if (draws > s->device->can.limits.maxDrawIndirectCount)
        return bad(s, GG_ERR_LIMIT, "%u draws, more than the device's %u", draws,
                   s->device->can.limits.maxDrawIndirectCount);
    const uint64_t bytes = draws ? (uint64_t)stride * (draws - 1) + size : 0;
    result = check_range(s, c->buffer, c->offset, bytes, 4);
    if (result || !counted)
        return result;
    if (!s->device->can.info.draw_indirect_count)
        return bad(s, GG_ERR_UNSUPPORTED, "the device has no draws with a count from a buffer");
    return check_range(s, c->other, c->other_offset, sizeof(uint32_t), 4);
}

static int32_t check_draw_mesh(struct state *s)
{
    int32_t result = check_draw_state(s, GG_PIPELINE_MESH);
    if (result)
        return result;
    const VkPhysicalDeviceMeshShaderPropertiesEXT *mesh = &s->device->can.mesh;
    return s->pipeline->has_task
               ? check_groups(s, mesh->maxTaskWorkGroupCount, mesh->maxTaskWorkGroupTotalCount, "task limit")
               : check_groups(s, mesh->maxMeshWorkGroupCount, mesh->maxMeshWorkGroupTotalCount, "mesh limit");
}

/* A slot counts once a submission: a query is used once between two resets. */
static int32_t check_slot(const struct state *s, uint8_t *slots, uint32_t count)
{
    const uint32_t slot = s->command->value[0];
    if (slot >= count)
        return bad(s, GG_ERR_ARGUMENT, "slot %u of %u", slot, count);
    if (slots[slot] != GG_SLOT_UNUSED)
        return bad(s, GG_ERR_ARGUMENT, "slot %u was used before", slot);
    slots[slot] = GG_SLOT_USED;
    return GG_OK;
}

static int32_t check_begin_statistics(struct state *s)
{
    if (s->statistics != NONE)
        return bad(s, GG_ERR_ARGUMENT, "the statistics that command %u began are still active", s->statistics_number);
    int32_t result = check_slot(s, s->check->statistics, s->work->statistics_count);
    if (result)
        return result;
    s->statistics = s->command->value[0];
    s->statistics_number = s->number;
    s->statistics_render = s->target ? s->render_number : NONE;
    return GG_OK;
}

static int32_t check_end_statistics(struct state *s)
{
    if (s->statistics == NONE)
        return bad(s, GG_ERR_ARGUMENT, "no statistics are active");
    if (s->command->value[0] != s->statistics)
        return bad(s, GG_ERR_ARGUMENT, "slot %u; active is slot %u", s->command->value[0], s->statistics);
    if (s->statistics_render != (s->target ? s->render_number : NONE))
        return bad(s, GG_ERR_ARGUMENT, "command %u began the statistics outside this rendering", s->statistics_number);
    s->statistics = NONE;
    return GG_OK;
}

static int32_t check_command(struct state *s)
{
    if (s->command->reserved)
        return bad(s, GG_ERR_ARGUMENT, "reserved is %u, not 0", s->command->reserved);
    switch (s->command->kind) {
    case GG_COMMAND_FILL:
        return check_fill(s);
    case GG_COMMAND_COPY:
        return check_copy(s);
    case GG_COMMAND_BARRIER:
        return check_outside(s);
    case GG_COMMAND_BIND:
        return check_bind(s);
    case GG_COMMAND_PUSH:
        return check_push(s);
    case GG_COMMAND_DISPATCH:
    case GG_COMMAND_DISPATCH_INDIRECT:
        return check_dispatch(s);
    case GG_COMMAND_BEGIN_RENDER:
        return check_begin_render(s);
    case GG_COMMAND_END_RENDER:
        return check_end_render(s);
    case GG_COMMAND_BIND_INDEX:
        return check_bind_index(s);
    case GG_COMMAND_DRAW:
        return check_draw(s);
    case GG_COMMAND_DRAW_INDEXED:
        return check_draw_indexed(s);
    case GG_COMMAND_DRAW_INDIRECT:
    case GG_COMMAND_DRAW_INDEXED_INDIRECT:
    case GG_COMMAND_DRAW_INDIRECT_COUNT:
    case GG_COMMAND_DRAW_INDEXED_INDIRECT_COUNT:
        return check_draw_indirect(s);
    case GG_COMMAND_DRAW_MESH:
        return check_draw_mesh(s);
    case GG_COMMAND_TIMESTAMP:
        return check_slot(s, s->check->timestamps, s->work->timestamp_count);
    case GG_COMMAND_BEGIN_STATISTICS:
        return check_begin_statistics(s);
    case GG_COMMAND_END_STATISTICS:
        return check_end_statistics(s);
    default:
        return bad(s, GG_ERR_ARGUMENT, "kind %u", s->command->kind);
    }
}

int32_t gg_check_commands(const struct gg_device *device, const struct gg_work *work, struct gg_check *check,
                          char **message)
{
    struct state s = {.device = device, .work = work, .check = check, .message = message, .statistics = NONE};
    for (s.number = 0; s.number < work->command_count; s.number++) {
        s.command = &work->commands[s.number];
        int32_t result = check_command(&s);
        if (result)
            return result;
    }
    if (s.target)
        return gg_fail(message, GG_ERR_ARGUMENT, "command %u (BEGIN_RENDER): the rendering has no end",
                       s.render_number);
    if (s.statistics != NONE)
        return gg_fail(message, GG_ERR_ARGUMENT, "command %u (BEGIN_STATISTICS): the statistics have no end",
                       s.statistics_number);
    return GG_OK;
}

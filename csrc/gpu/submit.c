/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TIMESTAMPS 65536u
#define MAX_STATISTICS 1024u

/* Results stand in the order of the bits, which is the order of struct gg_statistics. */
#define MESH_STATISTICS                                                                                                \
    (VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT | VK_QUERY_PIPELINE_STATISTIC_CLIPPING_PRIMITIVES_BIT |      \
     VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT |                                                     \
     VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT)
#define VERTEX_STATISTICS                                                                                              \
    (VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT |                                                         \
     VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT |                                                       \
     VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT | MESH_STATISTICS)
#define VERTEX_STATISTICS_COUNT 7
#define MESH_STATISTICS_COUNT   4

struct submission {
    struct gg_device *device;
    const struct gg_work *work;
    struct gg_check check;
    VkDescriptorPool descriptors;
    VkQueryPool timestamps;
    VkQueryPool vertex_statistics;
    VkQueryPool mesh_statistics; /* statistics of the vertex stages must not be active around mesh draws */
    const struct gg_pipeline *pipeline;
    const struct gg_target *target;
};

static int32_t check_work(const struct gg_device *device, const struct gg_work *work, const uint64_t *timestamps,
                          const struct gg_statistics *statistics, char **message)
{
    if ((work->command_count && !work->commands) || (work->buffer_count && !work->buffers) ||
        (work->pipeline_count && !work->pipelines) || (work->target_count && !work->targets))
        return gg_fail(message, GG_ERR_ARGUMENT, "submit: a table of the work is NULL and its count is not 0");
    if ((work->timestamp_count && !timestamps) || (work->statistics_count && !statistics))
        return gg_fail(message, GG_ERR_ARGUMENT, "submit: timestamps or statistics is NULL and its count is not 0");
    if (work->timestamp_count > MAX_TIMESTAMPS || work->statistics_count > MAX_STATISTICS)
        return gg_fail(message, GG_ERR_LIMIT, "submit: %u timestamps and %u statistics; at most %u and %u",
                       work->timestamp_count, work->statistics_count, MAX_TIMESTAMPS, MAX_STATISTICS);
    if (work->timestamp_count && !device->can.info.timestamp_bits)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "submit: the device (%s) has no timestamps", device->can.info.name);
    if (work->statistics_count && !device->can.info.pipeline_statistics)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "submit: the device (%s) has no pipeline statistics",
                       device->can.info.name);
    return GG_OK;
}

static int32_t create_queries(struct submission *s, VkQueryType type, uint32_t count,
                              VkQueryPipelineStatisticFlags statistics, VkQueryPool *pool, char **message)
{
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = type,
        .queryCount = count,
        .pipelineStatistics = statistics,
    };
    struct gg_device *device = s->device;
    VkResult result = device->vk.vkCreateQueryPool(device->handle, &info, NULL, pool);
    if (result == VK_SUCCESS)
        return GG_OK;
    *pool = VK_NULL_HANDLE;
    return gg_device_fail(device, message, result, "vkCreateQueryPool");
}

static int32_t create_pools(struct submission *s, char **message)
{
    const struct gg_work *work = s->work;
    struct gg_device *device = s->device;
    int32_t result = GG_OK;
    if (work->timestamp_count)
        result = create_queries(s, VK_QUERY_TYPE_TIMESTAMP, work->timestamp_count, 0, &s->timestamps, message);
    if (!result && work->statistics_count)
        result = create_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, work->statistics_count, VERTEX_STATISTICS,
                                &s->vertex_statistics, message);
    if (!result && work->statistics_count)
        result = create_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, work->statistics_count, MESH_STATISTICS,
                                &s->mesh_statistics, message);
    if (result || !s->check.sets)
        return result;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, s->check.descriptors};
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = s->check.sets,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult created = device->vk.vkCreateDescriptorPool(device->handle, &info, NULL, &s->descriptors);
    if (created == VK_SUCCESS)
        return GG_OK;
    s->descriptors = VK_NULL_HANDLE;
    return gg_device_fail(device, message, created, "vkCreateDescriptorPool");
}

static void reset_queries(struct submission *s)
{
    struct gg_device *device = s->device;
    if (s->timestamps)
        device->vk.vkCmdResetQueryPool(device->commands, s->timestamps, 0, s->work->timestamp_count);
    if (s->vertex_statistics)
        device->vk.vkCmdResetQueryPool(device->commands, s->vertex_statistics, 0, s->work->statistics_count);
    if (s->mesh_statistics)
        device->vk.vkCmdResetQueryPool(device->commands, s->mesh_statistics, 0, s->work->statistics_count);
}

static int32_t record_bind(struct submission *s, const struct gg_command *c, char **message)
{
    struct gg_device *device = s->device;
    s->pipeline = s->work->pipelines[c->pipeline];
    const struct gg_pipeline *pipeline = s->pipeline;
    device->vk.vkCmdBindPipeline(device->commands, pipeline->bind_point, pipeline->handle);
    if (!pipeline->storage_buffers)
        return GG_OK;
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = s->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &pipeline->set_layout,
    };
    VkDescriptorSet set;
    VkResult result = device->vk.vkAllocateDescriptorSets(device->handle, &allocate, &set);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkAllocateDescriptorSets");
    VkDescriptorBufferInfo buffers[GG_COMMAND_VALUES];
    for (uint32_t i = 0; i < pipeline->storage_buffers; i++)
        buffers[i] = (VkDescriptorBufferInfo){s->work->buffers[c->binding[i]]->handle, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .descriptorCount = pipeline->storage_buffers, /* goes on into the following bindings */
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = buffers,
    };
    device->vk.vkUpdateDescriptorSets(device->handle, 1, &write, 0, NULL);
    device->vk.vkCmdBindDescriptorSets(device->commands, pipeline->bind_point, pipeline->layout, 0, 1, &set, 0, NULL);
    return GG_OK;
}

static void record_bind_index(const struct submission *s, const struct gg_command *c)
{
    const VkIndexType type = c->value[0] == 1   ? VK_INDEX_TYPE_UINT8_EXT
                             : c->value[0] == 2 ? VK_INDEX_TYPE_UINT16
                                                : VK_INDEX_TYPE_UINT32;
    s->device->vk.vkCmdBindIndexBuffer(s->device->commands, s->work->buffers[c->buffer]->handle, c->offset, type);
}

static VkQueryPool statistics_pool(const struct submission *s, uint32_t slot)
{
    return s->check.statistics[slot] == GG_SLOT_MESH ? s->mesh_statistics : s->vertex_statistics;
}

/* A checked command. Only BIND can fail. */
static int32_t record_command(struct submission *s, const struct gg_command *c, char **message)
{
    const struct VolkDeviceTable *vk = &s->device->vk;
    VkCommandBuffer commands = s->device->commands;
    const struct gg_work *work = s->work;
    const uint32_t *v = c->value;
    switch (c->kind) {
    case GG_COMMAND_FILL:
        vk->vkCmdFillBuffer(commands, work->buffers[c->buffer]->handle, c->offset, c->size, v[0]);
        break;
    case GG_COMMAND_COPY: {
        const VkBufferCopy region = {c->offset, c->other_offset, c->size};
        vk->vkCmdCopyBuffer(commands, work->buffers[c->buffer]->handle, work->buffers[c->other]->handle, 1, &region);
        break;
    }
    case GG_COMMAND_BARRIER:
        gg_record_barrier(s->device);
        break;
    case GG_COMMAND_BIND:
        return record_bind(s, c, message);
    case GG_COMMAND_PUSH:
        vk->vkCmdPushConstants(commands, s->pipeline->layout, s->pipeline->stages, 0, c->bindings * 4, v);
        break;
    case GG_COMMAND_DISPATCH:
        vk->vkCmdDispatch(commands, v[0], v[1], v[2]);
        break;
    case GG_COMMAND_DISPATCH_INDIRECT:
        vk->vkCmdDispatchIndirect(commands, work->buffers[c->buffer]->handle, c->offset);
        break;
    case GG_COMMAND_BEGIN_RENDER:
        s->target = work->targets[c->pipeline];
        gg_record_begin_render(s->target, v);
        break;
    case GG_COMMAND_END_RENDER:
        gg_record_end_render(s->target);
        break;
    case GG_COMMAND_BIND_INDEX:
        record_bind_index(s, c);
        break;
    case GG_COMMAND_DRAW:
        vk->vkCmdDraw(commands, v[0], v[1], v[2], v[3]);
        break;
    case GG_COMMAND_DRAW_INDEXED:
        vk->vkCmdDrawIndexed(commands, v[0], v[1], v[2], (int32_t)v[3], v[4]);
        break;
    case GG_COMMAND_DRAW_INDIRECT:
        vk->vkCmdDrawIndirect(commands, work->buffers[c->buffer]->handle, c->offset, v[0], v[1]);
        break;
    case GG_COMMAND_DRAW_INDEXED_INDIRECT:
        vk->vkCmdDrawIndexedIndirect(commands, work->buffers[c->buffer]->handle, c->offset, v[0], v[1]);
        break;
    case GG_COMMAND_DRAW_INDIRECT_COUNT:
        vk->vkCmdDrawIndirectCount(commands, work->buffers[c->buffer]->handle, c->offset,
                                   work->buffers[c->other]->handle, c->other_offset, v[0], v[1]);
        break;
    case GG_COMMAND_DRAW_INDEXED_INDIRECT_COUNT:
        vk->vkCmdDrawIndexedIndirectCount(commands, work->buffers[c->buffer]->handle, c->offset,
                                          work->buffers[c->other]->handle, c->other_offset, v[0], v[1]);
        break;
    case GG_COMMAND_DRAW_MESH:
        vk->vkCmdDrawMeshTasksEXT(commands, v[0], v[1], v[2]);
        break;
    case GG_COMMAND_TIMESTAMP:
        vk->vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s->timestamps, v[0]);
        break;
    case GG_COMMAND_BEGIN_STATISTICS:
        vk->vkCmdBeginQuery(commands, statistics_pool(s, v[0]), v[0], 0);
        break;
    case GG_COMMAND_END_STATISTICS:
        vk->vkCmdEndQuery(commands, statistics_pool(s, v[0]), v[0]);
        break;
    }
    return GG_OK;
}

static int32_t read_query(struct submission *s, VkQueryPool pool, uint32_t slot, uint64_t *values, uint32_t count,
                          char **message)
{
    struct gg_device *device = s->device;
    VkResult result = device->vk.vkGetQueryPoolResults(device->handle, pool, slot, 1, count * sizeof *values, values,
                                                       sizeof *values, VK_QUERY_RESULT_64_BIT);
    return result == VK_SUCCESS ? GG_OK : gg_device_fail(device, message, result, "vkGetQueryPoolResults");
}

/* The fence has signalled: what was used is available, and nothing is waited for. */
static int32_t read_results(struct submission *s, uint64_t *timestamps, struct gg_statistics *statistics,
                            char **message)
{
    const uint32_t bits = s->device->can.info.timestamp_bits;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
    for (uint32_t i = 0; i < s->work->timestamp_count; i++) {
        uint64_t ticks = 0;
        if (s->check.timestamps[i] != GG_SLOT_UNUSED) {
            int32_t result = read_query(s, s->timestamps, i, &ticks, 1, message);
            if (result)
                return result;
        }
        timestamps[i] = ticks & mask;
    }
    for (uint32_t i = 0; i < s->work->statistics_count; i++) {
        uint64_t values[VERTEX_STATISTICS_COUNT] = {0};
        if (s->check.statistics[i] != GG_SLOT_UNUSED) {
            const uint32_t count =
                s->check.statistics[i] == GG_SLOT_MESH ? MESH_STATISTICS_COUNT : VERTEX_STATISTICS_COUNT;
            int32_t result =
                read_query(s, statistics_pool(s, i), i, values + VERTEX_STATISTICS_COUNT - count, count, message);
            if (result)
                return result;
        }
        statistics[i] =
            (struct gg_statistics){values[0], values[1], values[2], values[3], values[4], values[5], values[6]};
    }
    return GG_OK;
}

static void mark_rendered(const struct gg_work *work)
{
    for (uint32_t i = 0; i < work->command_count; i++)
        if (work->commands[i].kind == GG_COMMAND_BEGIN_RENDER)
            work->targets[work->commands[i].pipeline]->rendered = true;
}

static int32_t execute(struct submission *s, uint64_t *host_ns, char **message)
{
    int32_t result = create_pools(s, message);
    if (!result)
        result = gg_device_begin(s->device, message);
    if (result)
        return result;
    reset_queries(s);
    for (uint32_t i = 0; i < s->work->command_count; i++) {
        result = record_command(s, &s->work->commands[i], message);
        if (result)
            return result;
    }
    result = gg_device_run(s->device, s->work->timeout_ns ? s->work->timeout_ns : GG_TIMEOUT_DEFAULT, host_ns, message);
    if (!result)
        mark_rendered(s->work);
    return result;
}

static void destroy_pools(struct submission *s)
{
    struct gg_device *device = s->device;
    if (device->lost)
        return;
    device->vk.vkDestroyDescriptorPool(device->handle, s->descriptors, NULL);
    device->vk.vkDestroyQueryPool(device->handle, s->mesh_statistics, NULL);
    device->vk.vkDestroyQueryPool(device->handle, s->vertex_statistics, NULL);
    device->vk.vkDestroyQueryPool(device->handle, s->timestamps, NULL);
}

int32_t gg_device_submit(struct gg_device *device, const struct gg_work *work, uint64_t *timestamps,
                         struct gg_statistics *statistics, uint64_t *host_ns, char **message)
{
    gg_succeed(message);
    if (!device || !work)
        return gg_fail(message, GG_ERR_ARGUMENT, "submit: device or work is NULL");
    int32_t result = gg_device_ready(device, message);
    if (!result)
        result = check_work(device, work, timestamps, statistics, message);
    if (result)
        return result;

    struct submission s = {.device = device, .work = work};
    s.check.timestamps = calloc((size_t)work->timestamp_count + 1, 1);
    s.check.statistics = calloc((size_t)work->statistics_count + 1, 1);
    if (!s.check.timestamps || !s.check.statistics) {
        result = gg_fail(message, GG_ERR_MEMORY, "submit: no memory for the slots");
        goto finish;
    }
    result = gg_check_commands(device, work, &s.check, message);
    if (result)
        goto finish;
    uint64_t elapsed = 0;
    result = execute(&s, &elapsed, message);
    if (!result)
        result = read_results(&s, timestamps, statistics, message);
    destroy_pools(&s);
    result = gg_device_verdict(device, result, message);
    if (!result && host_ns)
        *host_ns = elapsed;
finish:
    free(s.check.statistics);
    free(s.check.timestamps);
    return result;
}

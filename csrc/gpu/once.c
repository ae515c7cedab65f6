/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * One dispatch of a module with any descriptors: the original of a guest program, which binds what it likes. Everything
 * is created for it and destroyed after it; what is dispatched often goes through pipeline.c and submit.c.
 */

#define MAX_RESOURCES 256
#define MAX_SETS      32
#define MAX_CONSTANTS 64

struct once {
    struct gg_device *device;
    const struct gg_once_params *params;
    uint32_t set_count;
    VkDescriptorSetLayout set_layouts[MAX_SETS];
    VkDescriptorSet sets[MAX_SETS];
    VkDescriptorPool pool;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    struct gg_image images[MAX_RESOURCES]; /* of the resources that are images */
};

static bool is_image(const struct gg_resource *r) { return r->kind == GG_RESOURCE_STORAGE_IMAGE; }

static VkDescriptorType descriptor_type(const struct gg_resource *r)
{
    return is_image(r)                             ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
           : r->kind == GG_RESOURCE_UNIFORM_BUFFER ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                                   : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static bool is_3d(const struct gg_resource *r) { return r->view == VK_IMAGE_VIEW_TYPE_3D; }

/* By view type: the image's type, and whether height and slices can be other than 1. */
static const struct {
    VkImageType type;
    bool known, height, slices;
} views[] = {
    [VK_IMAGE_VIEW_TYPE_1D] = {VK_IMAGE_TYPE_1D, true, false, false},
    [VK_IMAGE_VIEW_TYPE_2D] = {VK_IMAGE_TYPE_2D, true, true, false},
    [VK_IMAGE_VIEW_TYPE_3D] = {VK_IMAGE_TYPE_3D, true, true, true},
    [VK_IMAGE_VIEW_TYPE_1D_ARRAY] = {VK_IMAGE_TYPE_1D, true, false, true},
    [VK_IMAGE_VIEW_TYPE_2D_ARRAY] = {VK_IMAGE_TYPE_2D, true, true, true},
};

static VkImageCreateInfo image_info(const struct gg_resource *r)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = views[r->view].type,
        .format = (VkFormat)r->format,
        .extent = {r->width, r->height, is_3d(r) ? r->slices : 1},
        .mipLevels = 1,
        .arrayLayers = is_3d(r) ? 1 : r->slices,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
}

static int32_t check_image(const struct gg_device *device, const struct gg_resource *r, uint32_t number, char **message)
{
    if (r->view >= sizeof views / sizeof *views || !views[r->view].known || !r->width || !r->height || !r->slices ||
        (!views[r->view].height && r->height > 1) || (!views[r->view].slices && r->slices > 1))
        return gg_fail(message, GG_ERR_ARGUMENT, "once: resource %u: no image has view type %u and %u x %u x %u",
                       number, r->view, r->width, r->height, r->slices);
    const VkImageCreateInfo info = image_info(r);
    VkImageFormatProperties most;
    VkResult result = vkGetPhysicalDeviceImageFormatProperties(device->physical, info.format, info.imageType,
                                                               info.tiling, info.usage, 0, &most);
    if (result == VK_ERROR_FORMAT_NOT_SUPPORTED)
        return gg_fail(message, GG_ERR_UNSUPPORTED,
                       "once: resource %u: the device (%s) has no storage image of VkFormat %u, view type %u", number,
                       device->can.info.name, r->format, r->view);
    if (result != VK_SUCCESS)
        return gg_vulkan_fail(message, result, "vkGetPhysicalDeviceImageFormatProperties");
    if (info.extent.width > most.maxExtent.width || info.extent.height > most.maxExtent.height ||
        info.extent.depth > most.maxExtent.depth || info.arrayLayers > most.maxArrayLayers)
        return gg_fail(message, GG_ERR_LIMIT, "once: resource %u: an image of %u x %u x %u is more than the device has",
                       number, r->width, r->height, r->slices);
    const uint64_t texels = (uint64_t)r->width * r->height * r->slices;
    if (!r->texel_bytes || texels > UINT64_MAX / r->texel_bytes || texels * r->texel_bytes > r->buffer->size)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "once: resource %u: an image of %u x %u x %u texels of %u bytes, and a buffer of %llu", number,
                       r->width, r->height, r->slices, r->texel_bytes, (unsigned long long)r->buffer->size);
    return GG_OK;
}

static int32_t check_resource(const struct gg_device *device, const struct gg_once_params *params, uint32_t number,
                              char **message)
{
    const struct gg_resource *r = &params->resources[number];
    if (r->kind > GG_RESOURCE_STORAGE_IMAGE || r->set >= MAX_SETS || !r->buffer || r->buffer->device != device)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "once: resource %u: kind %u, set %u (of at most %d), or its buffer, which must be the device's",
                       number, r->kind, r->set, MAX_SETS);
    const struct gg_resource *before = number ? r - 1 : NULL;
    const bool same = before && before->set == r->set && before->binding == r->binding;
    if (r->element != (same ? before->element + 1 : 0) || (same && before->kind != r->kind))
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "once: resource %u: element %u of set %u binding %u; elements of one kind follow each other",
                       number, r->element, r->set, r->binding);
    for (uint32_t i = 0; !same && i < number; i++)
        if (params->resources[i].set == r->set && params->resources[i].binding == r->binding)
            return gg_fail(message, GG_ERR_ARGUMENT, "once: resource %u: set %u binding %u a second time", number,
                           r->set, r->binding);
    if (is_image(r))
        return check_image(device, r, number, message);
    const VkPhysicalDeviceLimits *limits = &device->can.limits;
    const uint32_t range =
        r->kind == GG_RESOURCE_UNIFORM_BUFFER ? limits->maxUniformBufferRange : limits->maxStorageBufferRange;
    if (r->buffer->size > range)
        return gg_fail(message, GG_ERR_LIMIT, "once: resource %u: a buffer of %llu bytes; the device binds %u", number,
                       (unsigned long long)r->buffer->size, range);
    return GG_OK;
}

static int32_t check_params(const struct gg_device *device, const struct gg_once_params *params, char **message)
{
    if ((params->resource_count && !params->resources) || (params->constant_count && !params->constants) ||
        (params->push_words && !params->push))
        return gg_fail(message, GG_ERR_ARGUMENT, "once: a table is NULL and its count is not 0");
    if (params->resource_count > MAX_RESOURCES || params->constant_count > MAX_CONSTANTS ||
        params->push_words > device->can.limits.maxPushConstantsSize / 4)
        return gg_fail(message, GG_ERR_LIMIT, "once: %u resources, %u constants, %u push words; at most %d, %d and %u",
                       params->resource_count, params->constant_count, params->push_words, MAX_RESOURCES, MAX_CONSTANTS,
                       device->can.limits.maxPushConstantsSize / 4);
    for (uint32_t i = 0; i < 3; i++)
        if (!params->groups[i] || params->groups[i] > device->can.info.max_workgroup_count[i])
            return gg_fail(message, GG_ERR_LIMIT, "once: %u workgroups; the device takes 1 to %u", params->groups[i],
                           device->can.info.max_workgroup_count[i]);
    for (uint32_t i = 0; i < params->constant_count; i++)
        if (!params->constants[i].size || params->constants[i].size > sizeof params->constants[i].value)
            return gg_fail(message, GG_ERR_ARGUMENT, "once: constant %u has %u bytes", params->constants[i].id,
                           params->constants[i].size);
    for (uint32_t i = 0; i < params->resource_count; i++) {
        int32_t result = check_resource(device, params, i, message);
        if (result)
            return result;
    }
    return gg_spirv_check_once(&device->can, params, message);
}

/* ---- what is created ---- */

static int32_t create_set_layouts(struct once *o, char **message)
{
    struct gg_device *device = o->device;
    const struct gg_once_params *params = o->params;
    for (uint32_t i = 0; i < params->resource_count; i++)
        if (params->resources[i].set >= o->set_count)
            o->set_count = params->resources[i].set + 1;
    for (uint32_t set = 0; set < o->set_count; set++) {
        VkDescriptorSetLayoutBinding bindings[MAX_RESOURCES];
        VkDescriptorSetLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                .pBindings = bindings};
        for (uint32_t i = 0; i < params->resource_count; i++) {
            const struct gg_resource *r = &params->resources[i];
            if (r->set == set && r->element)
                bindings[info.bindingCount - 1].descriptorCount++;
            else if (r->set == set)
                bindings[info.bindingCount++] =
                    (VkDescriptorSetLayoutBinding){.binding = r->binding,
                                                   .descriptorType = descriptor_type(r),
                                                   .descriptorCount = 1,
                                                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
        }
        VkResult result = device->vk.vkCreateDescriptorSetLayout(device->handle, &info, NULL, &o->set_layouts[set]);
        if (result != VK_SUCCESS) {
            o->set_layouts[set] = VK_NULL_HANDLE;
            return gg_device_fail(device, message, result, "vkCreateDescriptorSetLayout");
        }
    }
    return GG_OK;
}

static int32_t create_images(struct once *o, char **message)
{
    for (uint32_t i = 0; i < o->params->resource_count; i++) {
        const struct gg_resource *r = &o->params->resources[i];
        if (!is_image(r))
            continue;
        const VkImageCreateInfo info = image_info(r);
        int32_t result = gg_image_create(o->device, &o->images[i], &info, (VkImageViewType)r->view,
                                         VK_IMAGE_ASPECT_COLOR_BIT, "resource", message);
        if (result)
            return result;
    }
    return GG_OK;
}

static int32_t create_sets(struct once *o, char **message)
{
    struct gg_device *device = o->device;
    static const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, MAX_RESOURCES},
                                                 {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, MAX_RESOURCES},
                                                 {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, MAX_RESOURCES}};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = MAX_SETS,
        .poolSizeCount = sizeof sizes / sizeof *sizes,
        .pPoolSizes = sizes,
    };
    VkResult result = device->vk.vkCreateDescriptorPool(device->handle, &pool, NULL, &o->pool);
    if (result != VK_SUCCESS) {
        o->pool = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkCreateDescriptorPool");
    }
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = o->pool,
        .descriptorSetCount = o->set_count,
        .pSetLayouts = o->set_layouts,
    };
    result = device->vk.vkAllocateDescriptorSets(device->handle, &allocate, o->sets);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkAllocateDescriptorSets");
    for (uint32_t i = 0; i < o->params->resource_count; i++) {
        const struct gg_resource *r = &o->params->resources[i];
        const VkDescriptorBufferInfo range = {r->buffer->handle, 0, VK_WHOLE_SIZE};
        const VkDescriptorImageInfo view = {VK_NULL_HANDLE, o->images[i].view, VK_IMAGE_LAYOUT_GENERAL};
        const VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = o->sets[r->set],
            .dstBinding = r->binding,
            .dstArrayElement = r->element,
            .descriptorCount = 1,
            .descriptorType = descriptor_type(r),
            .pImageInfo = is_image(r) ? &view : NULL,
            .pBufferInfo = is_image(r) ? NULL : &range,
        };
        device->vk.vkUpdateDescriptorSets(device->handle, 1, &write, 0, NULL);
    }
    return GG_OK;
}

static int32_t create_pipeline(struct once *o, char **message)
{
    struct gg_device *device = o->device;
    const struct gg_once_params *params = o->params;
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, params->push_words * 4};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = o->set_count,
        .pSetLayouts = o->set_layouts,
        .pushConstantRangeCount = params->push_words ? 1 : 0,
        .pPushConstantRanges = &push,
    };
    VkResult result = device->vk.vkCreatePipelineLayout(device->handle, &layout, NULL, &o->layout);
    if (result != VK_SUCCESS) {
        o->layout = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkCreatePipelineLayout");
    }
    VkSpecializationMapEntry entries[MAX_CONSTANTS];
    uint64_t values[MAX_CONSTANTS];
    for (uint32_t i = 0; i < params->constant_count; i++) {
        const struct gg_constant *c = &params->constants[i];
        values[i] = c->value; /* little-endian: its low bytes come first */
        entries[i] = (VkSpecializationMapEntry){c->id, i * (uint32_t)sizeof *values, c->size};
    }
    const VkSpecializationInfo constants = {params->constant_count, entries, params->constant_count * sizeof *values,
                                            values};
    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = (size_t)params->module->word_count * 4,
        .pCode = params->module->words,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = params->constant_count ? &constants : NULL},
        .layout = o->layout,
    };
    result = device->vk.vkCreateShaderModule(device->handle, &code, NULL, &info.stage.module);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkCreateShaderModule");
    result = device->vk.vkCreateComputePipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL, &o->pipeline);
    device->vk.vkDestroyShaderModule(device->handle, info.stage.module, NULL);
    if (result == VK_SUCCESS)
        return GG_OK;
    o->pipeline = VK_NULL_HANDLE;
    return gg_device_fail(device, message, result, "vkCreateComputePipelines");
}

/* ---- what is recorded ---- */

/* Every image into another layout, after all that came before. */
static void transition(const struct once *o, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier2 barriers[MAX_RESOURCES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->params->resource_count; i++)
        if (o->images[i].handle)
            barriers[count++] = (VkImageMemoryBarrier2){
                .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
                .oldLayout = from,
                .newLayout = to,
                .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                .image = o->images[i].handle,
                .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                     .levelCount = VK_REMAINING_MIP_LEVELS,
                                     .layerCount = VK_REMAINING_ARRAY_LAYERS},
            };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = count,
        .pImageMemoryBarriers = barriers,
    };
    o->device->vk.vkCmdPipelineBarrier2(o->device->commands, &dependency);
}

static void copy_images(const struct once *o, bool into)
{
    const struct VolkDeviceTable *vk = &o->device->vk;
    VkCommandBuffer commands = o->device->commands;
    for (uint32_t i = 0; i < o->params->resource_count; i++) {
        const struct gg_resource *r = &o->params->resources[i];
        if (!is_image(r))
            continue;
        const VkBufferImageCopy region = {
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, is_3d(r) ? 1 : r->slices},
            .imageExtent = {r->width, r->height, is_3d(r) ? r->slices : 1},
        };
        if (into)
            vk->vkCmdCopyBufferToImage(commands, r->buffer->handle, o->images[i].handle,
                                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
        else
            vk->vkCmdCopyImageToBuffer(commands, o->images[i].handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                       r->buffer->handle, 1, &region);
    }
}

static void record(const struct once *o)
{
    const struct gg_once_params *params = o->params;
    const struct VolkDeviceTable *vk = &o->device->vk;
    VkCommandBuffer commands = o->device->commands;
    transition(o, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    copy_images(o, true);
    transition(o, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL);
    vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, o->pipeline);
    if (o->set_count)
        vk->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, o->layout, 0, o->set_count, o->sets, 0,
                                    NULL);
    if (params->push_words)
        vk->vkCmdPushConstants(commands, o->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, params->push_words * 4,
                               params->push);
    vk->vkCmdDispatch(commands, params->groups[0], params->groups[1], params->groups[2]);
    transition(o, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    gg_record_barrier(o->device); /* texels were read from the buffers that they go back into */
    copy_images(o, false);
}

static int32_t run(struct once *o, char **message)
{
    int32_t result = create_set_layouts(o, message);
    if (!result)
        result = create_images(o, message);
    if (!result && o->set_count)
        result = create_sets(o, message);
    if (!result)
        result = create_pipeline(o, message);
    if (!result)
        result = gg_device_begin(o->device, message);
    if (result)
        return result;
    record(o);
    const uint64_t timeout = o->params->timeout_ns ? o->params->timeout_ns : GG_TIMEOUT_DEFAULT;
    return gg_device_run(o->device, timeout, NULL, message);
}

static void destroy(struct once *o)
{
    struct gg_device *device = o->device;
    if (device->lost)
        return;
    device->vk.vkDestroyPipeline(device->handle, o->pipeline, NULL);
    device->vk.vkDestroyPipelineLayout(device->handle, o->layout, NULL);
    device->vk.vkDestroyDescriptorPool(device->handle, o->pool, NULL);
    for (uint32_t i = 0; i < o->params->resource_count; i++)
        gg_image_destroy(device, &o->images[i]);
    for (uint32_t i = 0; i < o->set_count; i++)
        device->vk.vkDestroyDescriptorSetLayout(device->handle, o->set_layouts[i], NULL);
}

int32_t gg_device_once(struct gg_device *device, const struct gg_once_params *params, char **message)
{
    gg_succeed(message);
    if (!device || !params || !params->module)
        return gg_fail(message, GG_ERR_ARGUMENT, "once: device, params or its module is NULL");
    int32_t result = gg_device_ready(device, message);
    if (!result)
        result = check_params(device, params, message);
    if (result)
        return result;
    struct once *o = calloc(1, sizeof *o);
    if (!o)
        return gg_fail(message, GG_ERR_MEMORY, "no memory for a dispatch");
    o->device = device;
    o->params = params;
    result = run(o, message);
    destroy(o);
    free(o);
    return gg_device_verdict(device, result, message);
}

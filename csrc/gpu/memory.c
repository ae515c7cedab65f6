/* SPDX-License-Identifier: MIT */
#include <guestgpu/gpu_memory.h>

#include "gpu_internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct gg_backing {
    struct gg_device *device;
    uint32_t memory_kind;
    uint32_t capacity;
    struct gg_buffer **buffers; /* by block; NULL: none */
    char *failure;
};

int32_t gg_backing_create(struct gg_device *device, uint32_t memory_kind, struct gg_backing **made, char **message)
{
    gg_succeed(message);
    if (!device || !made || memory_kind > GG_MEMORY_HOST)
        return gg_fail(message, GG_ERR_ARGUMENT, "backing: %s",
                       device && made ? "memory kind is not one of enum gg_memory_kind" : "device or output is NULL");
    struct gg_backing *backing = calloc(1, sizeof *backing);
    if (!backing)
        return gg_fail(message, GG_ERR_MEMORY, "backing: no memory");
    backing->device = device;
    backing->memory_kind = memory_kind;
    *made = backing;
    return GG_OK;
}

void gg_backing_destroy(struct gg_backing *backing)
{
    if (!backing)
        return;
    for (uint32_t i = 0; i < backing->capacity; i++)
        gg_buffer_destroy(backing->buffers[i]);
    free(backing->buffers);
    gg_free(backing->failure);
    free(backing);
}

static int32_t failed(struct gg_backing *backing, char *message, int32_t result)
{
    gg_free(backing->failure);
    backing->failure = message;
    return result;
}

int32_t gg_backing_block_create(void *user, uint32_t block, uint64_t size)
{
    struct gg_backing *backing = user;
    char *message = NULL;
    failed(backing, NULL, GG_OK);
    if (block >= backing->capacity) {
        uint32_t capacity = block + 8;
        struct gg_buffer **buffers = realloc(backing->buffers, capacity * sizeof(struct gg_buffer *));
        if (!buffers)
            return failed(backing, NULL, GG_ERR_MEMORY);
        for (uint32_t i = backing->capacity; i < capacity; i++)
            buffers[i] = NULL;
        backing->buffers = buffers;
        backing->capacity = capacity;
    }
    if (backing->buffers[block]) {
        gg_fail(&message, GG_ERR_ARGUMENT, "backing: block %" PRIu32 " is there already", block);
        return failed(backing, message, GG_ERR_ARGUMENT);
    }
    int32_t result = gg_buffer_create(backing->device, size, backing->memory_kind, &backing->buffers[block], &message);
    return result ? failed(backing, message, result) : GG_OK;
}

void gg_backing_block_destroy(void *user, uint32_t block, uint64_t size)
{
    (void)size;
    struct gg_backing *backing = user;
    gg_buffer_destroy(backing->buffers[block]);
    backing->buffers[block] = NULL;
}

struct gg_buffer *gg_backing_buffer(const struct gg_backing *backing, uint32_t block)
{
    return backing && block < backing->capacity ? backing->buffers[block] : NULL;
}

char *gg_backing_take_failure(struct gg_backing *backing)
{
    char *failure = backing->failure;
    backing->failure = NULL;
    return failure;
}

/* Asked whether the extension is enabled or not: it is only a property. */
static uint64_t scratch_alignment(VkPhysicalDevice physical)
{
    VkPhysicalDeviceAccelerationStructurePropertiesKHR structures = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &structures};
    if (gg_physical_has(physical, VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME))
        vkGetPhysicalDeviceProperties2(physical, &all);
    return structures.minAccelerationStructureScratchOffsetAlignment;
}

int32_t gg_device_memory_limits(const struct gg_device *device, struct gg_memory_limits *limits)
{
    if (!device || !limits)
        return GG_ERR_ARGUMENT;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(device->physical, &properties);
    const VkPhysicalDeviceLimits *l = &properties.limits;
    *limits = (struct gg_memory_limits){
        .buffer_image_granularity = l->bufferImageGranularity,
        .storage_offset_alignment = l->minStorageBufferOffsetAlignment,
        .uniform_offset_alignment = l->minUniformBufferOffsetAlignment,
        .texel_offset_alignment = l->minTexelBufferOffsetAlignment,
        .copy_offset_alignment = l->optimalBufferCopyOffsetAlignment,
        .copy_row_alignment = l->optimalBufferCopyRowPitchAlignment,
        .non_coherent_atom = l->nonCoherentAtomSize,
        .map_alignment = l->minMemoryMapAlignment,
        .largest_allocation = device->can.max_allocation,
        .largest_buffer = device->can.max_buffer,
        .allocations = l->maxMemoryAllocationCount,
        .scratch_alignment = scratch_alignment(device->physical),
    };
    return GG_OK;
}

static void buffer_needs(struct gg_device *device, const struct gg_memory_query *query, VkMemoryRequirements2 *found)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = query->width,
                                     .usage = query->usage,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    const VkDeviceBufferMemoryRequirements asked = {.sType = VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS,
                                                    .pCreateInfo = &info};
    device->vk.vkGetDeviceBufferMemoryRequirements(device->handle, &asked, found);
}

/* False: the device has no such image. */
static bool image_needs(struct gg_device *device, const struct gg_memory_query *query, VkMemoryRequirements2 *found)
{
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = query->depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
        .format = (VkFormat)query->format,
        .extent = {(uint32_t)query->width, query->height, query->depth},
        .mipLevels = query->mips,
        .arrayLayers = query->layers,
        .samples = (VkSampleCountFlagBits)query->samples,
        .tiling = query->linear ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL,
        .usage = query->usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    VkImageFormatProperties can;
    VkResult result = vkGetPhysicalDeviceImageFormatProperties(device->physical, info.format, info.imageType,
                                                               info.tiling, info.usage, info.flags, &can);
    if (result != VK_SUCCESS || info.extent.width > can.maxExtent.width || info.extent.height > can.maxExtent.height ||
        info.extent.depth > can.maxExtent.depth || info.mipLevels > can.maxMipLevels ||
        info.arrayLayers > can.maxArrayLayers || !(can.sampleCounts & query->samples))
        return false;
    const VkDeviceImageMemoryRequirements asked = {.sType = VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS,
                                                   .pCreateInfo = &info};
    device->vk.vkGetDeviceImageMemoryRequirements(device->handle, &asked, found);
    return true;
}

static bool one_bit(uint32_t value) { return value && !(value & (value - 1)); }

int32_t gg_device_memory_needs(struct gg_device *device, const struct gg_memory_query *queries, uint32_t count,
                               struct gg_memory_need *needs, char **message)
{
    gg_succeed(message);
    if (!device || (count && (!queries || !needs)))
        return gg_fail(message, GG_ERR_ARGUMENT, "memory needs: device, queries or needs is NULL");
    int32_t result = gg_device_ready(device, message);
    for (uint32_t i = 0; !result && i < count; i++) {
        const struct gg_memory_query *query = &queries[i];
        bool image = query->format != 0;
        if (!query->width || !query->usage || (!image && query->width > device->can.max_buffer) ||
            (image && (query->width > UINT32_MAX || !query->height || !query->depth || !query->layers || !query->mips ||
                       query->mips > 32 || !one_bit(query->samples) || query->linear > 1)))
            return gg_fail(message, GG_ERR_ARGUMENT,
                           "memory needs: query %" PRIu32 ": a size, count or usage that no %s has", i,
                           image ? "image" : "buffer of this device");
        VkMemoryRequirements2 found = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
        bool exists = true;
        if (image)
            exists = image_needs(device, query, &found);
        else
            buffer_needs(device, query, &found);
        needs[i] = (struct gg_memory_need){0};
        if (exists)
            needs[i] = (struct gg_memory_need){.size = found.memoryRequirements.size,
                                               .alignment = found.memoryRequirements.alignment,
                                               .memory_types = found.memoryRequirements.memoryTypeBits};
    }
    return gg_device_verdict(device, result, message);
}

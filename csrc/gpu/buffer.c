/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int matches(VkMemoryPropertyFlags flags, VkMemoryPropertyFlags mask) { return __builtin_popcount(flags & mask); }

uint32_t gg_memory_type(const struct gg_device *device, uint32_t types, VkMemoryPropertyFlags need,
                        VkMemoryPropertyFlags want, VkMemoryPropertyFlags avoid, uint64_t size)
{
    uint32_t best = UINT32_MAX;
    int best_score = 0;
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        const VkMemoryType *type = &device->memory.memoryTypes[i];
        if (!(types >> i & 1) || (type->propertyFlags & need) != need ||
            device->memory.memoryHeaps[type->heapIndex].size < size)
            continue;
        const int score = matches(type->propertyFlags, want) - matches(type->propertyFlags, avoid);
        if (best == UINT32_MAX || score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* Creates into a zeroed buffer; what was created so far is there for gg_buffer_destroy() on failure. */
static int32_t create_buffer(struct gg_buffer *buffer, uint32_t memory_kind, char **message)
{
    struct gg_device *device = buffer->device;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = buffer->size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                 VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VkResult result = device->vk.vkCreateBuffer(device->handle, &info, NULL, &buffer->handle);
    if (result != VK_SUCCESS) {
        buffer->handle = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkCreateBuffer");
    }

    VkMemoryRequirements requirements;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handle, &requirements);
    const bool host = memory_kind == GG_MEMORY_HOST;
    const VkMemoryPropertyFlags host_flags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const uint32_t type =
        host ? gg_memory_type(device, requirements.memoryTypeBits, host_flags, VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                              VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, requirements.size)
             : gg_memory_type(device, requirements.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
                              VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, requirements.size);
    if (type == UINT32_MAX)
        return gg_fail(message, GG_ERR_MEMORY, "buffer of %" PRIu64 " bytes: no %s memory heap is that large",
                       buffer->size, host ? "host-visible" : "device-local");
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = requirements.size,
        .memoryTypeIndex = type,
    };
    result = device->vk.vkAllocateMemory(device->handle, &allocate, NULL, &buffer->memory);
    if (result != VK_SUCCESS) {
        buffer->memory = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkAllocateMemory");
    }
    result = device->vk.vkBindBufferMemory(device->handle, buffer->handle, buffer->memory, 0);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkBindBufferMemory");
    if (!host)
        return GG_OK;
    void *mapped = NULL;
    result = device->vk.vkMapMemory(device->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkMapMemory");
    buffer->mapped = mapped;
    return GG_OK;
}

int32_t gg_buffer_create(struct gg_device *device, uint64_t size, uint32_t memory_kind, struct gg_buffer **buffer,
                         char **message)
{
    gg_succeed(message);
    if (!device || !buffer)
        return gg_fail(message, GG_ERR_ARGUMENT, "buffer: device or buffer is NULL");
    if (!size)
        return gg_fail(message, GG_ERR_ARGUMENT, "buffer: the size is 0");
    if (memory_kind > GG_MEMORY_HOST)
        return gg_fail(message, GG_ERR_ARGUMENT, "buffer: memory kind %u is not one of enum gg_memory_kind",
                       memory_kind);
    int32_t result = gg_device_ready(device, message);
    if (result)
        return result;
    const uint64_t most =
        device->can.max_buffer < device->can.max_allocation ? device->can.max_buffer : device->can.max_allocation;
    if (size > most)
        return gg_fail(message, GG_ERR_LIMIT, "buffer: %" PRIu64 " bytes are more than the device's %" PRIu64, size,
                       most);
    struct gg_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return gg_fail(message, GG_ERR_MEMORY, "no memory for a buffer object");
    b->device = device;
    b->size = size;
    result = gg_device_verdict(device, create_buffer(b, memory_kind, message), message);
    if (result) {
        gg_buffer_destroy(b);
        return result;
    }
    *buffer = b;
    return GG_OK;
}

void gg_buffer_destroy(struct gg_buffer *buffer)
{
    if (!buffer)
        return;
    struct gg_device *device = buffer->device;
    if (!device->lost) {
        device->vk.vkDestroyBuffer(device->handle, buffer->handle, NULL);
        device->vk.vkFreeMemory(device->handle, buffer->memory, NULL);
    }
    free(buffer);
}

int32_t gg_device_staging(struct gg_device *device, char **message)
{
    if (device->staging)
        return GG_OK;
    return gg_buffer_create(device, GG_STAGING_SIZE, GG_MEMORY_HOST, &device->staging, message);
}

static int32_t check_range(const struct gg_buffer *buffer, const char *what, uint64_t offset, const void *data,
                           uint64_t size, char **message)
{
    gg_succeed(message);
    if (!buffer || (size && !data))
        return gg_fail(message, GG_ERR_ARGUMENT, "buffer %s: buffer or data is NULL", what);
    if (offset > buffer->size || size > buffer->size - offset)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "buffer %s: offset %" PRIu64 " + %" PRIu64 " bytes is past the end of %" PRIu64 " bytes", what,
                       offset, size, buffer->size);
    return gg_device_ready(buffer->device, message);
}

static int32_t copy(struct gg_device *device, VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset,
                    uint64_t size, char **message)
{
    int32_t result = gg_device_begin(device, message);
    if (result)
        return result;
    const VkBufferCopy region = {.srcOffset = from_offset, .dstOffset = to_offset, .size = size};
    device->vk.vkCmdCopyBuffer(device->commands, from, to, 1, &region);
    return gg_device_run(device, GG_TIMEOUT_DEFAULT, NULL, message);
}

static uint64_t chunk(uint64_t left) { return left < GG_STAGING_SIZE ? left : GG_STAGING_SIZE; }

int32_t gg_buffer_write(struct gg_buffer *buffer, uint64_t offset, const void *data, uint64_t size, char **message)
{
    int32_t result = check_range(buffer, "write", offset, data, size, message);
    if (result || !size)
        return result;
    if (buffer->mapped) {
        memcpy(buffer->mapped + offset, data, size);
        return GG_OK;
    }
    struct gg_device *device = buffer->device;
    result = gg_device_staging(device, message);
    for (uint64_t done = 0; !result && done < size; done += chunk(size - done)) {
        memcpy(device->staging->mapped, (const uint8_t *)data + done, chunk(size - done));
        result = copy(device, device->staging->handle, 0, buffer->handle, offset + done, chunk(size - done), message);
    }
    return gg_device_verdict(device, result, message);
}

int32_t gg_buffer_read(struct gg_buffer *buffer, uint64_t offset, void *data, uint64_t size, char **message)
{
    int32_t result = check_range(buffer, "read", offset, data, size, message);
    if (result || !size)
        return result;
    if (buffer->mapped) {
        memcpy(data, buffer->mapped + offset, size);
        return GG_OK;
    }
    struct gg_device *device = buffer->device;
    result = gg_device_staging(device, message);
    for (uint64_t done = 0; !result && done < size; done += chunk(size - done)) {
        result = copy(device, buffer->handle, offset + done, device->staging->handle, 0, chunk(size - done), message);
        if (!result)
            memcpy((uint8_t *)data + done, device->staging->mapped, chunk(size - done));
    }
    return gg_device_verdict(device, result, message);
}

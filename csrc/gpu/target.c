/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int32_t gg_image_create(struct gg_device *device, struct gg_image *image, const VkImageCreateInfo *info,
                        VkImageViewType view_type, VkImageAspectFlags aspect, const char *what, char **message)
{
    VkResult result = device->vk.vkCreateImage(device->handle, info, NULL, &image->handle);
    if (result != VK_SUCCESS) {
        image->handle = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkCreateImage");
    }
    VkMemoryRequirements requirements;
    device->vk.vkGetImageMemoryRequirements(device->handle, image->handle, &requirements);
    const uint32_t type = gg_memory_type(device, requirements.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
                                         VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, requirements.size);
    if (type == UINT32_MAX || requirements.size > device->can.max_allocation)
        return gg_fail(message, GG_ERR_MEMORY, "%s: no memory heap has %" PRIu64 " bytes for an image of %u x %u", what,
                       (uint64_t)requirements.size, info->extent.width, info->extent.height);
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = requirements.size,
        .memoryTypeIndex = type,
    };
    result = device->vk.vkAllocateMemory(device->handle, &allocate, NULL, &image->memory);
    if (result != VK_SUCCESS) {
        image->memory = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkAllocateMemory");
    }
    result = device->vk.vkBindImageMemory(device->handle, image->handle, image->memory, 0);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkBindImageMemory");
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = view_type,
        .format = info->format,
        .subresourceRange = {.aspectMask = aspect, .levelCount = 1, .layerCount = info->arrayLayers},
    };
    result = device->vk.vkCreateImageView(device->handle, &view, NULL, &image->view);
    if (result != VK_SUCCESS) {
        image->view = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkCreateImageView");
    }
    return GG_OK;
}

void gg_image_destroy(struct gg_device *device, struct gg_image *image)
{
    device->vk.vkDestroyImageView(device->handle, image->view, NULL);
    device->vk.vkDestroyImage(device->handle, image->handle, NULL);
    device->vk.vkFreeMemory(device->handle, image->memory, NULL);
}

static int32_t create_image(struct gg_target *target, struct gg_image *image, VkFormat format, VkImageUsageFlags usage,
                            VkImageAspectFlags aspect, char **message)
{
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {target->width, target->height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    return gg_image_create(target->device, image, &info, VK_IMAGE_VIEW_TYPE_2D, aspect, "target", message);
}

static int32_t create_images(struct gg_target *target, char **message)
{
    int32_t result = GG_OK;
    for (uint32_t i = 0; !result && i < target->colors; i++)
        result = create_image(target, &target->color[i], GG_COLOR_FORMAT,
                              VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                              VK_IMAGE_ASPECT_COLOR_BIT, message);
    if (!result && target->has_depth)
        result = create_image(target, &target->depth, GG_DEPTH_FORMAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                              VK_IMAGE_ASPECT_DEPTH_BIT, message);
    return result;
}

int32_t gg_target_create(struct gg_device *device, uint32_t width, uint32_t height, uint32_t colors, uint32_t depth,
                         struct gg_target **target, char **message)
{
    gg_succeed(message);
    if (!device || !target)
        return gg_fail(message, GG_ERR_ARGUMENT, "target: device or target is NULL");
    if (!width || !height)
        return gg_fail(message, GG_ERR_ARGUMENT, "target: %u x %u has no pixels", width, height);
    if (colors > GG_TARGET_COLORS || depth > 1 || colors + depth == 0)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "target: %u colours and depth %u; colours are 0 to %d, depth is 0 or 1, and one is needed",
                       colors, depth, GG_TARGET_COLORS);
    int32_t result = gg_device_ready(device, message);
    if (result)
        return result;
    const VkPhysicalDeviceLimits *limits = &device->can.limits;
    if (width > limits->maxFramebufferWidth || height > limits->maxFramebufferHeight ||
        width > limits->maxImageDimension2D || height > limits->maxImageDimension2D ||
        width > limits->maxViewportDimensions[0] || height > limits->maxViewportDimensions[1])
        return gg_fail(message, GG_ERR_LIMIT, "target: %u x %u is more than the device's %u x %u", width, height,
                       limits->maxFramebufferWidth, limits->maxFramebufferHeight);
    struct gg_target *t = calloc(1, sizeof *t);
    if (!t)
        return gg_fail(message, GG_ERR_MEMORY, "no memory for a target object");
    t->device = device;
    t->width = width;
    t->height = height;
    t->colors = colors;
    t->has_depth = depth != 0;
    result = gg_device_verdict(device, create_images(t, message), message);
    if (result) {
        gg_target_destroy(t);
        return result;
    }
    *target = t;
    return GG_OK;
}

void gg_target_destroy(struct gg_target *target)
{
    if (!target)
        return;
    if (!target->device->lost) {
        for (uint32_t i = 0; i < target->colors; i++)
            gg_image_destroy(target->device, &target->color[i]);
        gg_image_destroy(target->device, &target->depth);
    }
    free(target);
}

static void transition(const struct gg_target *target, const VkImageMemoryBarrier2 *barriers, uint32_t count)
{
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = count,
        .pImageMemoryBarriers = barriers,
    };
    target->device->vk.vkCmdPipelineBarrier2(target->device->commands, &dependency);
}

void gg_record_begin_render(const struct gg_target *target, const uint32_t clear[4])
{
    struct gg_device *device = target->device;
    VkImageMemoryBarrier2 barriers[GG_TARGET_COLORS + 1];
    VkRenderingAttachmentInfo colors[GG_TARGET_COLORS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < target->colors; i++) {
        barriers[count++] = (VkImageMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
            .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
            .dstStageMask = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
            .dstAccessMask = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
            .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED, /* the clear overwrites what was there */
            .newLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image = target->color[i].handle,
            .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1},
        };
        colors[i] = (VkRenderingAttachmentInfo){
            .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
            .imageView = target->color[i].view,
            .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
            .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        };
        memcpy(&colors[i].clearValue.color, clear, 4 * sizeof *clear);
    }
    if (target->has_depth)
        barriers[count++] = (VkImageMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
            .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
            .dstStageMask = VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
            .dstAccessMask =
                VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
            .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
            .newLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image = target->depth.handle,
            .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT, .levelCount = 1, .layerCount = 1},
        };
    transition(target, barriers, count);

    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = target->depth.view,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue.depthStencil.depth = 1.0f,
    };
    const VkRect2D area = {.extent = {target->width, target->height}};
    const VkRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = area,
        .layerCount = 1,
        .colorAttachmentCount = target->colors,
        .pColorAttachments = colors,
        .pDepthAttachment = target->has_depth ? &depth : NULL,
    };
    const VkViewport viewport = {.width = (float)target->width, .height = (float)target->height, .maxDepth = 1.0f};
    device->vk.vkCmdSetViewport(device->commands, 0, 1, &viewport);
    device->vk.vkCmdSetScissor(device->commands, 0, 1, &area);
    device->vk.vkCmdBeginRendering(device->commands, &rendering);
}

void gg_record_end_render(const struct gg_target *target)
{
    struct gg_device *device = target->device;
    device->vk.vkCmdEndRendering(device->commands);
    VkImageMemoryBarrier2 barriers[GG_TARGET_COLORS];
    for (uint32_t i = 0; i < target->colors; i++)
        barriers[i] = (VkImageMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
            .srcStageMask = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
            .srcAccessMask = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
            .dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
            .dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT,
            .oldLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
            .newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image = target->color[i].handle,
            .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1},
        };
    if (target->colors)
        transition(target, barriers, target->colors);
}

static int32_t read_rows(struct gg_target *target, uint32_t color, uint32_t first, uint32_t rows, char **message)
{
    struct gg_device *device = target->device;
    int32_t result = gg_device_begin(device, message);
    if (result)
        return result;
    const VkBufferImageCopy region = {
        .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
        .imageOffset = {.y = (int32_t)first},
        .imageExtent = {target->width, rows, 1},
    };
    device->vk.vkCmdCopyImageToBuffer(device->commands, target->color[color].handle,
                                      VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, device->staging->handle, 1, &region);
    return gg_device_run(device, GG_TIMEOUT_DEFAULT, NULL, message);
}

int32_t gg_target_read(struct gg_target *target, uint32_t color, float *pixels, char **message)
{
    gg_succeed(message);
    if (!target || !pixels)
        return gg_fail(message, GG_ERR_ARGUMENT, "target read: target or pixels is NULL");
    if (color >= target->colors)
        return gg_fail(message, GG_ERR_ARGUMENT, "target read: colour %u of %u", color, target->colors);
    struct gg_device *device = target->device;
    int32_t result = gg_device_ready(device, message);
    if (result)
        return result;
    if (!target->rendered)
        return gg_fail(message, GG_ERR_ARGUMENT, "target read: nothing was rendered to it yet");
    result = gg_device_staging(device, message);
    const size_t row = (size_t)target->width * 4 * sizeof *pixels;
    const uint32_t most = (uint32_t)(GG_STAGING_SIZE / row);
    for (uint32_t y = 0, rows; !result && y < target->height; y += rows) {
        rows = target->height - y < most ? target->height - y : most;
        result = read_rows(target, color, y, rows, message);
        if (!result)
            memcpy((uint8_t *)pixels + y * row, device->staging->mapped, rows * row);
    }
    return gg_device_verdict(device, result, message);
}

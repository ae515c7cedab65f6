/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "gpu_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void log_append(struct gg_validation_log *log, const char *text)
{
    size_t length = strlen(log->text);
    snprintf(log->text + length, sizeof log->text - length, "%s", text);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity;
    (void)types;
    struct gg_validation_log *log = user;
    const char *name = data->pMessageIdName ? data->pMessageIdName : "no id";
    log->count++;
    log_append(log, log->text[0] ? " | " : "");
    if (!strstr(data->pMessage, name)) { /* newer layers leave it out of the text */
        log_append(log, name);
        log_append(log, ": ");
    }
    log_append(log, data->pMessage);
    return VK_FALSE;
}

int32_t gg_device_verdict(struct gg_device *device, int32_t result, char **message)
{
    struct gg_validation_log *log = &device->log;
    if (!log->count || result == GG_ERR_DEVICE_LOST || result == GG_ERR_TIMEOUT)
        return result;
    if (message)
        free(*message);
    gg_one_line(log->text);
    result = gg_fail(message, GG_ERR_VALIDATION, "validation layer, %u message%s: %s", log->count,
                     log->count == 1 ? "" : "s", log->text);
    memset(log, 0, sizeof *log);
    return result;
}

int32_t gg_device_ready(struct gg_device *device, char **message)
{
    if (device->lost)
        return gg_fail(message, GG_ERR_DEVICE_LOST, "device %u (%s) was lost earlier; destroy it",
                       device->can.info.index, device->can.info.name);
    return gg_device_verdict(device, GG_OK, message);
}

int32_t gg_device_fail(struct gg_device *device, char **message, VkResult result, const char *call)
{
    device->lost = device->lost || result == VK_ERROR_DEVICE_LOST;
    return gg_vulkan_fail(message, result, call);
}

static int32_t pick_physical(struct gg_device *device, uint32_t index, VkPhysicalDevice *physical, char **message)
{
    VkPhysicalDevice *devices = NULL;
    uint32_t count = 0;
    int32_t result = gg_instance_devices(device->instance, &devices, &count, message);
    if (result)
        return result;
    if (index < count)
        *physical = devices[index];
    else
        result = gg_fail(message, GG_ERR_NO_DEVICE, "device %u does not exist; there are %u", index, count);
    free(devices);
    return result;
}

static int32_t create_handle(struct gg_device *device, VkPhysicalDevice physical, uint32_t index, char **message)
{
    struct gg_features features;
    gg_capabilities_query(physical, index, &features, &device->can);
    if (!device->can.info.usable)
        return gg_fail(message, GG_ERR_NO_DEVICE,
                       "device %u (%s) lacks Vulkan 1.3 or a queue with graphics and compute", index,
                       device->can.info.name);
    device->physical = physical;
    vkGetPhysicalDeviceMemoryProperties(physical, &device->memory);

    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = device->can.queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features.core,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = features.extension_count,
        .ppEnabledExtensionNames = features.extensions,
    };
    VkResult result = vkCreateDevice(physical, &info, NULL, &device->handle);
    if (result != VK_SUCCESS) {
        device->handle = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkCreateDevice");
    }
    volkLoadDeviceTable(&device->vk, device->handle);
    device->vk.vkGetDeviceQueue(device->handle, device->can.queue_family, 0, &device->queue);
    return GG_OK;
}

static int32_t create_commands(struct gg_device *device, char **message)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = device->can.queue_family,
    };
    VkResult result = device->vk.vkCreateCommandPool(device->handle, &pool, NULL, &device->command_pool);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->command_pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result = device->vk.vkAllocateCommandBuffers(device->handle, &buffer, &device->commands);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkAllocateCommandBuffers");
    return GG_OK;
}

static int32_t create_device(struct gg_device *device, uint32_t index, char **message)
{
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = &device->log,
    };
    int32_t result = gg_instance_create(device->validation ? &messenger : NULL, &device->instance, message);
    if (result) {
        device->instance = VK_NULL_HANDLE;
        return result;
    }
    if (device->validation) {
        PFN_vkCreateDebugUtilsMessengerEXT create = (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            device->instance, "vkCreateDebugUtilsMessengerEXT");
        VkResult created = create(device->instance, &messenger, NULL, &device->messenger);
        if (created != VK_SUCCESS)
            return gg_device_fail(device, message, created, "vkCreateDebugUtilsMessengerEXT");
    }
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    result = pick_physical(device, index, &physical, message);
    if (!result)
        result = create_handle(device, physical, index, message);
    if (!result)
        result = create_commands(device, message);
    return result;
}

int32_t gg_device_create(const struct gg_device_params *params, struct gg_device **device, char **message)
{
    gg_succeed(message);
    if (!params || !device)
        return gg_fail(message, GG_ERR_ARGUMENT, "device: params or device is NULL");
    struct gg_device *d = calloc(1, sizeof *d);
    if (!d)
        return gg_fail(message, GG_ERR_MEMORY, "no memory for a device");
    d->validation = params->validation != 0;
    int32_t result = gg_device_verdict(d, create_device(d, params->index, message), message);
    if (result) {
        gg_device_destroy(d);
        return result;
    }
    *device = d;
    return GG_OK;
}

void gg_device_destroy(struct gg_device *device)
{
    if (!device)
        return;
    gg_buffer_destroy(device->staging);
    if (!device->lost) {
        if (device->handle) {
            device->vk.vkDestroyFence(device->handle, device->fence, NULL);
            device->vk.vkDestroyCommandPool(device->handle, device->command_pool, NULL);
            device->vk.vkDestroyDevice(device->handle, NULL);
        }
        if (device->messenger) {
            PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                device->instance, "vkDestroyDebugUtilsMessengerEXT");
            destroy(device->instance, device->messenger, NULL);
        }
        if (device->instance)
            vkDestroyInstance(device->instance, NULL);
    }
    if (device->log.count) /* from here no call is left that could fail with it */
        fprintf(stderr, "guestgpu: validation layer, at the device's end: %s\n", device->log.text);
    free(device);
}

void gg_record_barrier(struct gg_device *device)
{
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &barrier,
    };
    device->vk.vkCmdPipelineBarrier2(device->commands, &dependency);
}

int32_t gg_device_begin(struct gg_device *device, char **message)
{
    VkResult result = device->vk.vkResetCommandPool(device->handle, device->command_pool, 0);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkResetCommandPool");
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    result = device->vk.vkBeginCommandBuffer(device->commands, &begin);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkBeginCommandBuffer");
    gg_record_barrier(device);
    return GG_OK;
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The fence is created when first needed: RADV's null device has none, and still compiles pipelines. */
static int32_t renew_fence(struct gg_device *device, char **message)
{
    if (device->fence) {
        VkResult reset = device->vk.vkResetFences(device->handle, 1, &device->fence);
        return reset == VK_SUCCESS ? GG_OK : gg_device_fail(device, message, reset, "vkResetFences");
    }
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult created = device->vk.vkCreateFence(device->handle, &info, NULL, &device->fence);
    if (created == VK_SUCCESS)
        return GG_OK;
    device->fence = VK_NULL_HANDLE;
    return gg_device_fail(device, message, created, "vkCreateFence");
}

int32_t gg_device_run(struct gg_device *device, uint64_t timeout_ns, uint64_t *host_ns, char **message)
{
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT,
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &barrier,
    };
    device->vk.vkCmdPipelineBarrier2(device->commands, &dependency);
    VkResult result = device->vk.vkEndCommandBuffer(device->commands);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkEndCommandBuffer");
    if (device->log.count) /* what the layer objected to is not submitted; the verdict says it */
        return gg_fail(message, GG_ERR_VALIDATION, "validation");

    int32_t fenced = renew_fence(device, message);
    if (fenced)
        return fenced;
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = device->commands,
    };
    const VkSubmitInfo2 submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
    };
    const uint64_t start = now_ns();
    result = device->vk.vkQueueSubmit2(device->queue, 1, &submit, device->fence);
    if (result != VK_SUCCESS)
        return gg_device_fail(device, message, result, "vkQueueSubmit2");
    result = device->vk.vkWaitForFences(device->handle, 1, &device->fence, VK_TRUE, timeout_ns);
    const uint64_t end = now_ns();
    if (result == VK_TIMEOUT) {
        device->lost = true;
        return gg_fail(message, GG_ERR_TIMEOUT, "the device did not finish within %.3f s and counts as lost",
                       (double)timeout_ns * 1e-9);
    }
    if (result != VK_SUCCESS) {
        device->lost = true; /* the submission may still run, whatever the reason was */
        return gg_device_fail(device, message, result, "vkWaitForFences");
    }
    if (host_ns)
        *host_ns = end - start;
    return GG_OK;
}

/*
 * One error of the core checks and one of the synchronization checks, so that neither can be off
 * unnoticed. Drivers take both calmly when they are only recorded.
 */
static int32_t record_errors(struct gg_device *device, char **message)
{
    struct gg_buffer *buffer = NULL;
    int32_t result = gg_buffer_create(device, 64, GG_MEMORY_HOST, &buffer, message);
    if (result)
        return result;
    result = gg_device_begin(device, message);
    if (!result) {
        device->vk.vkCmdFillBuffer(device->commands, buffer->handle, 0, 3, 0); /* not a multiple of 4 */
        device->vk.vkCmdFillBuffer(device->commands, buffer->handle, 16, 16, 1);
        device->vk.vkCmdFillBuffer(device->commands, buffer->handle, 16, 16, 2); /* no barrier between the two */
        device->vk.vkResetCommandPool(device->handle, device->command_pool, 0);
    }
    gg_buffer_destroy(buffer);
    return result;
}

int32_t gg_device_validation_control(struct gg_device *device, char **message)
{
    gg_succeed(message);
    if (!device)
        return gg_fail(message, GG_ERR_ARGUMENT, "validation control: device is NULL");
    int32_t result = gg_device_ready(device, message);
    if (result)
        return result;
    if (!device->validation)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "validation control: the device was created without validation");
    result = record_errors(device, message);
    if (result)
        return gg_device_verdict(device, result, message);
    gg_one_line(device->log.text);
    const bool core = strstr(device->log.text, "VUID-vkCmdFillBuffer-size-00028") != NULL;
    const bool sync = strstr(device->log.text, "SYNC-HAZARD-WRITE-AFTER-WRITE") != NULL;
    if (core && sync)
        gg_fail(message, GG_OK, "%s", device->log.text);
    else
        result = gg_fail(message, GG_ERR_VALIDATION, "the validation layer did not object to %s; it said: %s",
                         core   ? "two fills without a barrier"
                         : sync ? "a fill of 3 bytes"
                                : "a fill of 3 bytes and two fills without a barrier",
                         device->log.count ? device->log.text : "nothing");
    memset(&device->log, 0, sizeof device->log);
    return result;
}

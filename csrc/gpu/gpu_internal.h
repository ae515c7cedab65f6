/* SPDX-License-Identifier: MIT */
#ifndef GG_GPU_INTERNAL_H
#define GG_GPU_INTERNAL_H

/*
 * What the files of this folder share. Every Vulkan call on a device goes through device->vk, its own
 * table; volk's global pointers serve only for instances and physical devices.
 *
 * Shape of a public call on a device: gg_device_ready(), the work, gg_device_verdict(). The verdict
 * turns what the validation layer said meanwhile into the call's failure.
 */

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <guestgpu/gpu.h>

#include "message.h"

#include <stdbool.h>

/* instance.c: the loader, instances, and what they report. */

/*
 * Opens the loader once a process and creates an instance. With a messenger the Khronos layer is on,
 * with synchronization validation, and reports to it from the first call on.
 */
int32_t gg_instance_create(const VkDebugUtilsMessengerCreateInfoEXT *messenger, VkInstance *instance, char **message);

/* The physical devices in the loader's order, to be freed with free(). None is GG_ERR_NO_DEVICE. */
int32_t gg_instance_devices(VkInstance instance, VkPhysicalDevice **devices, uint32_t *count, char **message);

/* The loader's instance version, or 0 without a loader. */
uint32_t gg_loader_version(void);

/* "VK_ERROR_DEVICE_LOST", or "VkResult". */
const char *gg_vulkan_result_name(VkResult result);

/* Stores "CALL: VK_ERROR_X" and returns the gg_result that fits. */
int32_t gg_vulkan_fail(char **message, VkResult result, const char *call);

/* Replaces line breaks by spaces and drops trailing ones: messages are one line. */
void gg_one_line(char *text);

/* capabilities.c: what a physical device can do, and the features to be enabled. */

#define GG_MAX_EXTENSIONS 7

struct gg_features { /* linked to itself: never copied */
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
    VkPhysicalDeviceMeshShaderFeaturesEXT mesh;
    VkPhysicalDeviceProvokingVertexFeaturesEXT provoking;
    VkPhysicalDeviceIndexTypeUint8FeaturesEXT index_uint8;
    VkPhysicalDevicePrimitiveTopologyListRestartFeaturesEXT list_restart;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable;
    VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR uniform_control_flow;
#ifdef VK_KHR_shader_maximal_reconvergence /* younger than Debian 12's headers, and its validation layer */
    VkPhysicalDeviceShaderMaximalReconvergenceFeaturesKHR maximal_reconvergence;
#endif
    const char *extensions[GG_MAX_EXTENSIONS];
    uint32_t extension_count;
};

struct gg_capabilities {
    struct gg_device_info info;
    VkPhysicalDeviceLimits limits;
    VkPhysicalDeviceMeshShaderPropertiesEXT mesh;
    uint64_t max_allocation;
    uint64_t max_buffer;
    uint32_t queue_family;
    bool list_restart;
    bool multi_draw_indirect;
};

/* Whether the device has an extension, enabled or not; false without memory to ask. */
bool gg_physical_has(VkPhysicalDevice physical, const char *name);
void gg_capabilities_query(VkPhysicalDevice physical, uint32_t index, struct gg_features *features,
                           struct gg_capabilities *capabilities);

/* device.c: the device, its messages, and one command buffer at a time. */

struct gg_validation_log {
    uint32_t count; /* messages since the log was cleared; the text holds the first few */
    char text[6000];
};

struct gg_device {
    struct gg_capabilities can;
    VkPhysicalDeviceMemoryProperties memory;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice handle;
    VkQueue queue;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    VkFence fence; /* created when first needed, like the staging buffer */
    struct gg_buffer *staging;
    struct gg_validation_log log;
    bool validation;
    bool lost; /* after a time-out the device may still work on our objects: nothing is freed any more */
    struct VolkDeviceTable vk;
};

/* GG_ERR_DEVICE_LOST once the device is lost; what a destroy function provoked is reported here. */
int32_t gg_device_ready(struct gg_device *device, char **message);
/* The result of a public call: GG_ERR_VALIDATION with the layer's messages when there are any. */
int32_t gg_device_verdict(struct gg_device *device, int32_t result, char **message);
/* gg_vulkan_fail() that notices a lost device. */
int32_t gg_device_fail(struct gg_device *device, char **message, VkResult result, const char *call);

#define GG_TIMEOUT_DEFAULT 60000000000ull /* ns */

/* Begins device->commands behind a barrier against everything submitted before. */
int32_t gg_device_begin(struct gg_device *device, char **message);
/* Ends and submits device->commands and waits; what they wrote is then visible to the host. */
int32_t gg_device_run(struct gg_device *device, uint64_t timeout_ns, uint64_t *host_ns, char **message);
/* Everything before is visible to everything after. */
void gg_record_barrier(struct gg_device *device);

/* buffer.c */

struct gg_buffer {
    struct gg_device *device;
    VkBuffer handle;
    VkDeviceMemory memory;
    uint64_t size;
    uint8_t *mapped; /* NULL in device-local memory */
};

/* The best memory type: all of `need`, most of `want`, least of `avoid`; UINT32_MAX when there is none. */
uint32_t gg_memory_type(const struct gg_device *device, uint32_t types, VkMemoryPropertyFlags need,
                        VkMemoryPropertyFlags want, VkMemoryPropertyFlags avoid, uint64_t size);
/* device->staging, a mapped buffer of GG_STAGING_SIZE bytes. */
int32_t gg_device_staging(struct gg_device *device, char **message);

#define GG_STAGING_SIZE (16u << 20)

/* target.c */

struct gg_image {
    VkImage handle;
    VkImageView view;
    VkDeviceMemory memory;
};

/* A zeroed image, in device memory; `what` stands in messages. What a failure leaves is destroyed like the whole. */
int32_t gg_image_create(struct gg_device *device, struct gg_image *image, const VkImageCreateInfo *info,
                        VkImageViewType view_type, VkImageAspectFlags aspect, const char *what, char **message);
void gg_image_destroy(struct gg_device *device, struct gg_image *image);

struct gg_target {
    struct gg_device *device;
    struct gg_image color[GG_TARGET_COLORS];
    struct gg_image depth;
    uint32_t width, height;
    uint32_t colors;
    bool has_depth;
    bool rendered; /* its colours hold something, in VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL */
};

#define GG_COLOR_FORMAT VK_FORMAT_R32G32B32A32_SFLOAT
#define GG_DEPTH_FORMAT VK_FORMAT_D32_SFLOAT

void gg_record_begin_render(const struct gg_target *target, const uint32_t clear[4]);
void gg_record_end_render(const struct gg_target *target);

/* pipeline.c */

enum gg_pipeline_kind {
    GG_PIPELINE_COMPUTE,
    GG_PIPELINE_VERTEX,
    GG_PIPELINE_MESH
};

struct gg_pipeline {
    struct gg_device *device;
    enum gg_pipeline_kind kind;
    VkPipeline handle;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout; /* VK_NULL_HANDLE without storage buffers */
    VkShaderStageFlags stages;
    VkPipelineBindPoint bind_point;
    uint32_t storage_buffers;
    uint32_t push_words;
    uint32_t colors;
    bool depth;
    bool has_task;
};

/* check.c: the commands of a submission, before any of them is recorded. */

enum gg_slot_use {
    GG_SLOT_UNUSED,
    GG_SLOT_USED,
    GG_SLOT_VERTEX,
    GG_SLOT_MESH
};

struct gg_check {        /* what the recording needs to know beforehand; zero-initialised */
    uint8_t *timestamps; /* enum gg_slot_use a slot */
    uint8_t *statistics;
    uint32_t sets;        /* descriptor sets */
    uint32_t descriptors; /* in all of them */
};

/* The two arrays of `check` are the caller's, as long as the work's counts and zeroed. */
int32_t gg_check_commands(const struct gg_device *device, const struct gg_work *work, struct gg_check *check,
                          char **message);

/* spirv_tools.c */

/* What a pipeline relies on and spirv-val does not know: the entry point, its workgroup, its bindings. */
int32_t gg_spirv_check_module(const struct gg_capabilities *can, const struct gg_module *module, uint32_t number,
                              uint32_t storage_buffers, char **message);

/* The same of a module that is dispatched once: each of its bindings is among the resources. */
int32_t gg_spirv_check_once(const struct gg_capabilities *can, const struct gg_once_params *params, char **message);

const char *gg_spirv_tools_version(void);

/* "compute", "vertex" ...; NULL for no stage. */
const char *gg_stage_name(uint32_t stage);

#endif

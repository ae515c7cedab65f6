/* SPDX-License-Identifier: MIT */
#ifndef GG_TEST_APP_H
#define GG_TEST_APP_H

/*
 * Ordinary Vulkan programs for the capture to watch: a device, buffers that the host sees, one compute pipeline of two
 * storage buffers and two words of push constants. Whatever fails ends the program.
 */
#include <vulkan/vulkan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKED(call)                                                                                                  \
    do {                                                                                                               \
        VkResult result_ = (call);                                                                                     \
        if (result_ != VK_SUCCESS) {                                                                                   \
            fprintf(stderr, "%s: VkResult %d\n", #call, result_);                                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

struct app {
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family;
    VkQueue queues[2];
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
};

struct app_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
    VkDeviceSize size;
};

static inline struct app app_open(uint32_t family, uint32_t queue_count)
{
    struct app app = {.family = family};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkInstance instance;
    CHECKED(vkCreateInstance(&info, NULL, &instance));
    uint32_t count = 1;
    CHECKED(vkEnumeratePhysicalDevices(instance, &count, &app.physical));
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(app.physical, &properties);
    printf("%s\n", properties.deviceName);
    const float priorities[2] = {1, 1};
    const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueFamilyIndex = family,
                                            .queueCount = queue_count,
                                            .pQueuePriorities = priorities};
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queues};
    CHECKED(vkCreateDevice(app.physical, &device, NULL, &app.device));
    for (uint32_t i = 0; i < queue_count; i++)
        vkGetDeviceQueue(app.device, family, i, &app.queues[i]);
    return app;
}

static inline struct app_buffer app_buffer(const struct app *app, VkDeviceSize size)
{
    struct app_buffer b = {.size = size};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    CHECKED(vkCreateBuffer(app->device, &info, NULL, &b.buffer));
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(app->physical, &memory);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while ((memory.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = size, .memoryTypeIndex = type};
    CHECKED(vkAllocateMemory(app->device, &allocate, NULL, &b.memory));
    CHECKED(vkBindBufferMemory(app->device, b.buffer, b.memory, 0));
    CHECKED(vkMapMemory(app->device, b.memory, 0, size, 0, (void **)&b.words));
    memset(b.words, 0, size);
    return b;
}

static inline void app_free_buffer(const struct app *app, struct app_buffer *b)
{
    vkDestroyBuffer(app->device, b->buffer, NULL);
    vkFreeMemory(app->device, b->memory, NULL);
}

static inline void app_pipeline(struct app *app, const char *path)
{
    static uint32_t code[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = 4 * fread(code, 4, 1 << 16, file),
                                           .pCode = code};
    fclose(file);
    VkShaderModule module;
    CHECKED(vkCreateShaderModule(app->device, &info, NULL, &module));
    VkDescriptorSetLayoutBinding bindings[2];
    for (uint32_t i = 0; i < 2; i++)
        bindings[i] =
            (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 2, .pBindings = bindings};
    CHECKED(vkCreateDescriptorSetLayout(app->device, &set, NULL, &app->set_layout));
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &app->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    CHECKED(vkCreatePipelineLayout(app->device, &layout, NULL, &app->layout));
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = app->layout};
    CHECKED(vkCreateComputePipelines(app->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &app->pipeline));
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 16};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 8, .poolSizeCount = 1, .pPoolSizes = &size};
    CHECKED(vkCreateDescriptorPool(app->device, &pool, NULL, &app->pool));
}

static inline VkDescriptorSet app_set(const struct app *app, const struct app_buffer *from, const struct app_buffer *to)
{
    const VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                  .descriptorPool = app->pool,
                                                  .descriptorSetCount = 1,
                                                  .pSetLayouts = &app->set_layout};
    VkDescriptorSet set;
    CHECKED(vkAllocateDescriptorSets(app->device, &allocate, &set));
    const VkDescriptorBufferInfo ranges[2] = {{from->buffer, 0, from->size}, {to->buffer, 0, to->size}};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = set,
                                        .descriptorCount = 2,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = ranges};
    vkUpdateDescriptorSets(app->device, 1, &write, 0, NULL);
    return set;
}

static inline VkCommandBuffer app_begin(const struct app *app, VkDescriptorSet set)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = app->family};
    VkCommandPool pool;
    CHECKED(vkCreateCommandPool(app->device, &info, NULL, &pool));
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECKED(vkAllocateCommandBuffers(app->device, &allocate, &commands));
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECKED(vkBeginCommandBuffer(commands, &begin));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, app->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, app->layout, 0, 1, &set, 0, NULL);
    return commands;
}

static inline void app_push(const struct app *app, VkCommandBuffer commands, uint32_t first, uint32_t second)
{
    const uint32_t words[2] = {first, second};
    vkCmdPushConstants(commands, app->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof words, words);
}

static inline void app_barrier(VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                                      VK_ACCESS_INDIRECT_COMMAND_READ_BIT |
                                                      VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    vkCmdPipelineBarrier(commands, stages, stages | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, 0, 1, &barrier, 0, NULL, 0,
                         NULL);
}

/* Submits and waits. */
static inline void app_submit(const struct app *app, VkQueue queue, VkCommandBuffer commands)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    CHECKED(vkCreateFence(app->device, &info, NULL, &fence));
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    CHECKED(vkQueueSubmit(queue, 1, &submit, fence));
    CHECKED(vkWaitForFences(app->device, 1, &fence, VK_TRUE, UINT64_C(10000000000)));
    vkDestroyFence(app->device, fence, NULL);
}

#endif

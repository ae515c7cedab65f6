/* SPDX-License-Identifier: MIT */
/*
 * An ordinary Vulkan program: creates one compute pipeline and dispatches it once, so that a capture of it holds the
 * guest program, its launch state, descriptors and memory. python/guestgpu/guest.py runs it under the preloaded library.
 *
 * usage: guestgpu-guest MODULE.spv < PLAN
 * PLAN, a line each:
 *   wave LANES                                       required subgroup size; 0 leaves it to the driver
 *   groups X Y Z
 *   push HEX                                         push constants, a multiple of 4 bytes
 *   buffer storage|uniform SET BINDING ELEMENT SIZE PATH
 * Buffers of one binding come in the order of their elements. A file fills its buffer from the start, zeros follow.
 * Prints "device NAME", and for each buffer "buffer SET BINDING ELEMENT ADDRESS".
 */
#include <volk.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BUFFERS 256
#define MAX_SETS    32
#define MAX_PUSH    256
#define PATH_BYTES  4096

struct guest_buffer {
    VkDescriptorType type;
    uint32_t set, binding, element;
    VkDeviceSize size;
    char path[PATH_BYTES];
    VkBuffer buffer;
    VkDeviceMemory memory;
};

struct plan {
    unsigned wave;
    uint32_t groups[3];
    uint32_t push_bytes;
    unsigned char push[MAX_PUSH];
    uint32_t buffer_count;
    struct guest_buffer buffers[MAX_BUFFERS];
};

struct context {
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkDescriptorSetLayout layouts[MAX_SETS];
    VkDescriptorSet sets[MAX_SETS];
    uint32_t set_count;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* The system takes back what is left when the process ends. */
__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "guestgpu-guest: ");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static void check(VkResult result, const char *call)
{
    if (result != VK_SUCCESS)
        fail("%s: VkResult %d", call, result);
}
#define CALL(function, ...) check(function(__VA_ARGS__), #function)

/* ---- the plan ---- */

static void read_push(struct plan *plan, const char *hex)
{
    unsigned byte;
    while (plan->push_bytes < MAX_PUSH && sscanf(hex + 2 * plan->push_bytes, "%2x", &byte) == 1)
        plan->push[plan->push_bytes++] = (unsigned char)byte;
    if (strlen(hex) != 2 * (size_t)plan->push_bytes || plan->push_bytes % 4)
        fail("plan: push constants of %zu hex digits, not a multiple of 8 up to %d", strlen(hex), 2 * MAX_PUSH);
}

static void read_buffer(struct plan *plan, const char *line)
{
    if (plan->buffer_count == MAX_BUFFERS)
        fail("plan: more than %d buffers", MAX_BUFFERS);
    struct guest_buffer *b = &plan->buffers[plan->buffer_count++];
    char kind[8];
    unsigned long long size;
    if (sscanf(line, "buffer %7s %u %u %u %llu %4095[^\n]", kind, &b->set, &b->binding, &b->element, &size, b->path) !=
        6)
        fail("plan: not a buffer: %s", line);
    b->size = size;
    b->type = strcmp(kind, "uniform") ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    if (b->set >= MAX_SETS)
        fail("plan: set %u of at most %d", b->set, MAX_SETS);
}

static void read_plan(struct plan *plan)
{
    char line[PATH_BYTES + 256], hex[2 * MAX_PUSH + 3];
    while (fgets(line, sizeof line, stdin)) {
        uint32_t *g = plan->groups;
        if (sscanf(line, "wave %u", &plan->wave) == 1 || sscanf(line, "groups %u %u %u", &g[0], &g[1], &g[2]) == 3)
            continue;
        if (sscanf(line, "push %514s", hex) == 1)
            read_push(plan, hex);
        else
            read_buffer(plan, line);
    }
}

static uint32_t *read_module(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot open %s", path);
    size_t capacity = 1 << 16;
    char *bytes = malloc(capacity);
    *size = 0;
    for (size_t n = 1; bytes && n; *size += n) {
        if (*size == capacity)
            bytes = realloc(bytes, capacity *= 2);
        n = bytes ? fread(bytes + *size, 1, capacity - *size, file) : 0;
    }
    if (!bytes || !*size || *size % 4)
        fail("%s: %zu bytes are no SPIR-V", path, *size);
    fclose(file);
    return (uint32_t *)(void *)bytes;
}

/* ---- Vulkan ---- */

/* A device with every feature that there is, so that any module is taken. */
static void open_device(struct context *c)
{
    CALL(volkInitialize, );
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkInstance instance;
    CALL(vkCreateInstance, &info, NULL, &instance);
    volkLoadInstance(instance);
    uint32_t count = 1;
    VkResult found = vkEnumeratePhysicalDevices(instance, &count, &c->physical);
    if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || !count)
        fail("no device: the driver does not see the fake GPU");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(c->physical, &properties);
    printf("device %s\n", properties.deviceName);

    VkPhysicalDeviceVulkan13Features features13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceVulkan12Features features12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                   .pNext = &features13};
    VkPhysicalDeviceVulkan11Features features11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                                   .pNext = &features12};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features11};
    vkGetPhysicalDeviceFeatures2(c->physical, &features);
    features.features.robustBufferAccess = VK_FALSE; /* descriptors are range-checked by the hardware anyway */
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = c->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &features,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    CALL(vkCreateDevice, c->physical, &device, NULL, &c->device);
    volkLoadDevice(c->device);
    vkGetDeviceQueue(c->device, c->family, 0, &c->queue);
}

static uint32_t host_memory_type(const struct context *c, uint32_t allowed)
{
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(c->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if (allowed >> i & 1 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    fail("no memory type that the host sees");
}

static void fill(const struct guest_buffer *b, unsigned char *bytes)
{
    memset(bytes, 0, (size_t)b->size);
    FILE *file = fopen(b->path, "rb");
    if (!file)
        fail("cannot open %s", b->path);
    size_t ignored = fread(bytes, 1, (size_t)b->size, file);
    (void)ignored; /* zeros follow a short file */
    fclose(file);
}

static void create_buffer(const struct context *c, struct guest_buffer *b)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = b->size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                              VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    CALL(vkCreateBuffer, c->device, &info, NULL, &b->buffer);
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(c->device, b->buffer, &needs);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = host_memory_type(c, needs.memoryTypeBits)};
    CALL(vkAllocateMemory, c->device, &memory, NULL, &b->memory);
    CALL(vkBindBufferMemory, c->device, b->buffer, b->memory, 0);
    void *bytes;
    CALL(vkMapMemory, c->device, b->memory, 0, VK_WHOLE_SIZE, 0, &bytes);
    fill(b, bytes);
    const VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                               .buffer = b->buffer};
    printf("buffer %u %u %u %#llx\n", b->set, b->binding, b->element,
           (unsigned long long)vkGetBufferDeviceAddress(c->device, &address));
}

/* Layouts and sets for every set number up to the highest. */
static void create_sets(struct context *c, const struct plan *plan)
{
    const VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, MAX_BUFFERS},
                                           {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, MAX_BUFFERS}};
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = MAX_SETS,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = sizes};
    VkDescriptorPool pool;
    CALL(vkCreateDescriptorPool, c->device, &info, NULL, &pool);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].set >= c->set_count)
            c->set_count = plan->buffers[i].set + 1;
    for (uint32_t set = 0; set < c->set_count; set++) {
        VkDescriptorSetLayoutBinding bindings[MAX_BUFFERS];
        VkDescriptorSetLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .pBindings = bindings};
        for (uint32_t i = 0; i < plan->buffer_count; i++) {
            const struct guest_buffer *b = &plan->buffers[i];
            if (b->set == set && b->element)
                bindings[layout.bindingCount - 1].descriptorCount++;
            else if (b->set == set)
                bindings[layout.bindingCount++] =
                    (VkDescriptorSetLayoutBinding){.binding = b->binding,
                                                   .descriptorType = b->type,
                                                   .descriptorCount = 1,
                                                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
        }
        CALL(vkCreateDescriptorSetLayout, c->device, &layout, NULL, &c->layouts[set]);
    }
    const VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                  .descriptorPool = pool,
                                                  .descriptorSetCount = c->set_count,
                                                  .pSetLayouts = c->layouts};
    if (c->set_count)
        CALL(vkAllocateDescriptorSets, c->device, &allocate, c->sets);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const struct guest_buffer *b = &plan->buffers[i];
        const VkDescriptorBufferInfo range = {b->buffer, 0, b->size};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = c->sets[b->set],
                                            .dstBinding = b->binding,
                                            .dstArrayElement = b->element,
                                            .descriptorCount = 1,
                                            .descriptorType = b->type,
                                            .pBufferInfo = &range};
        vkUpdateDescriptorSets(c->device, 1, &write, 0, NULL);
    }
}

static void create_pipeline(struct context *c, const struct plan *plan, const uint32_t *code, size_t size)
{
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, plan->push_bytes};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = c->set_count,
                                               .pSetLayouts = c->layouts,
                                               .pushConstantRangeCount = plan->push_bytes ? 1 : 0,
                                               .pPushConstantRanges = &push};
    CALL(vkCreatePipelineLayout, c->device, &layout, NULL, &c->layout);
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule module;
    CALL(vkCreateShaderModule, c->device, &info, NULL, &module);
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo wave = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = plan->wave};
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = plan->wave ? &wave : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = c->layout};
    CALL(vkCreateComputePipelines, c->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &c->pipeline);
}

static void dispatch(const struct context *c, const struct plan *plan)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = c->family};
    VkCommandPool pool;
    CALL(vkCreateCommandPool, c->device, &info, NULL, &pool);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
    VkCommandBuffer commands;
    CALL(vkAllocateCommandBuffers, c->device, &allocate, &commands);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CALL(vkBeginCommandBuffer, commands, &begin);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, c->pipeline);
    if (c->set_count)
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, c->layout, 0, c->set_count, c->sets, 0, NULL);
    if (plan->push_bytes)
        vkCmdPushConstants(commands, c->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, plan->push_bytes, plan->push);
    vkCmdDispatch(commands, plan->groups[0], plan->groups[1], plan->groups[2]);
    CALL(vkEndCommandBuffer, commands);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    CALL(vkQueueSubmit, c->queue, 1, &submit, VK_NULL_HANDLE);
    CALL(vkDeviceWaitIdle, c->device);
}

int main(int argc, char **argv)
{
    static struct plan plan = {.groups = {1, 1, 1}};
    static struct context context;
    if (argc != 2)
        fail("usage: guestgpu-guest MODULE.spv < PLAN");
    size_t size;
    uint32_t *code = read_module(argv[1], &size);
    read_plan(&plan);
    open_device(&context);
    for (uint32_t i = 0; i < plan.buffer_count; i++)
        create_buffer(&context, &plan.buffers[i]);
    create_sets(&context, &plan);
    create_pipeline(&context, &plan, code, size);
    dispatch(&context, &plan);
    return fflush(stdout) ? 1 : 0;
}

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
 *   constant ID BYTES VALUE                          a specialisation constant of 1, 2, 4 or 8 bytes
 *   buffer storage|uniform SET BINDING ELEMENT SIZE PATH
 *   image FORMAT VIEW WIDTH HEIGHT SLICES TEXEL SET BINDING ELEMENT PATH
 *                                                    a storage image, linear: VkFormat, VkImageViewType, extent, bytes
 *                                                    of a texel; slices are the depth in 3D, else layers
 * What one binding holds comes in the order of its elements. A file fills its buffer from the start, zeros follow; an
 * image's texels stand in it without gaps. Prints "device NAME", and in the order of the plan
 *   buffer SET BINDING ELEMENT ADDRESS
 *   image SET BINDING ELEMENT ADDRESS BYTES ROW_PITCH SLICE_PITCH
 */
#include <volk.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RESOURCES 256
#define MAX_SETS      32
#define MAX_PUSH      256
#define MAX_CONSTANTS 64
#define PATH_BYTES    4096

struct guest_image {
    VkFormat format;
    VkImageViewType view_type;
    uint32_t width, height, slices, texel;
    VkImage image;
    VkImageView view;
    VkSubresourceLayout layout;
};

/* A buffer; of an image the buffer over its memory, which has an address. */
struct resource {
    VkDescriptorType type;
    uint32_t set, binding, element;
    VkDeviceSize size;
    char path[PATH_BYTES];
    VkBuffer buffer;
    VkDeviceMemory memory;
    struct guest_image image; /* of a storage image */
};

struct plan {
    unsigned wave;
    uint32_t groups[3];
    uint32_t push_bytes;
    unsigned char push[MAX_PUSH];
    uint32_t constant_count;
    VkSpecializationMapEntry constants[MAX_CONSTANTS];
    uint64_t values[MAX_CONSTANTS];
    uint32_t resource_count;
    struct resource resources[MAX_RESOURCES];
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

static void read_constant(struct plan *plan, uint32_t id, uint32_t bytes, unsigned long long value)
{
    const uint32_t i = plan->constant_count++;
    if (i == MAX_CONSTANTS || bytes > sizeof plan->values[i])
        fail("plan: constant %u is one of more than %d, or has more than 8 bytes", id, MAX_CONSTANTS);
    plan->values[i] = value; /* little-endian: its low bytes come first */
    plan->constants[i] = (VkSpecializationMapEntry){id, i * (uint32_t)sizeof plan->values[i], bytes};
}

static struct resource *new_resource(struct plan *plan)
{
    if (plan->resource_count == MAX_RESOURCES)
        fail("plan: more than %d buffers and images", MAX_RESOURCES);
    return &plan->resources[plan->resource_count++];
}

static void read_buffer(struct plan *plan, const char *line)
{
    struct resource *r = new_resource(plan);
    char kind[8];
    unsigned long long size;
    if (sscanf(line, "buffer %7s %u %u %u %llu %4095[^\n]", kind, &r->set, &r->binding, &r->element, &size, r->path) !=
        6)
        fail("plan: not a buffer: %s", line);
    r->size = size;
    r->type = strcmp(kind, "uniform") ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
}

static void read_image(struct plan *plan, const char *line)
{
    struct resource *r = new_resource(plan);
    struct guest_image *image = &r->image;
    unsigned format, view;
    if (sscanf(line, "image %u %u %u %u %u %u %u %u %u %4095[^\n]", &format, &view, &image->width, &image->height,
               &image->slices, &image->texel, &r->set, &r->binding, &r->element, r->path) != 10)
        fail("plan: not an image: %s", line);
    image->format = (VkFormat)format;
    image->view_type = (VkImageViewType)view;
    r->type = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
}

static void read_plan(struct plan *plan)
{
    char line[PATH_BYTES + 256], hex[2 * MAX_PUSH + 3];
    unsigned id, bytes;
    unsigned long long value;
    while (fgets(line, sizeof line, stdin)) {
        uint32_t *g = plan->groups;
        if (sscanf(line, "wave %u", &plan->wave) == 1 || sscanf(line, "groups %u %u %u", &g[0], &g[1], &g[2]) == 3)
            continue;
        if (sscanf(line, "push %514s", hex) == 1)
            read_push(plan, hex);
        else if (sscanf(line, "constant %u %u %llu", &id, &bytes, &value) == 3)
            read_constant(plan, id, bytes, value);
        else if (!strncmp(line, "image ", 6))
            read_image(plan, line);
        else
            read_buffer(plan, line);
    }
    for (uint32_t i = 0; i < plan->resource_count; i++)
        if (plan->resources[i].set >= MAX_SETS)
            fail("plan: set %u of at most %d", plan->resources[i].set, MAX_SETS);
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

static void *bind_memory(const struct context *c, struct resource *r, VkDeviceSize size, uint32_t types)
{
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = size,
                                         .memoryTypeIndex = host_memory_type(c, types)};
    CALL(vkAllocateMemory, c->device, &memory, NULL, &r->memory);
    CALL(vkBindBufferMemory, c->device, r->buffer, r->memory, 0);
    void *bytes;
    CALL(vkMapMemory, c->device, r->memory, 0, VK_WHOLE_SIZE, 0, &bytes);
    memset(bytes, 0, (size_t)size);
    return bytes;
}

static VkMemoryRequirements new_buffer(const struct context *c, struct resource *r, VkDeviceSize size)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                              VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    CALL(vkCreateBuffer, c->device, &info, NULL, &r->buffer);
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(c->device, r->buffer, &needs);
    return needs;
}

static unsigned long long address_of(const struct context *c, const struct resource *r)
{
    const VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                               .buffer = r->buffer};
    return vkGetBufferDeviceAddress(c->device, &address);
}

static FILE *open_content(const struct resource *r)
{
    FILE *file = fopen(r->path, "rb");
    if (!file)
        fail("cannot open %s", r->path);
    return file;
}

static void create_buffer(const struct context *c, struct resource *r)
{
    const VkMemoryRequirements needs = new_buffer(c, r, r->size);
    unsigned char *bytes = bind_memory(c, r, needs.size, needs.memoryTypeBits);
    FILE *file = open_content(r);
    size_t ignored = fread(bytes, 1, (size_t)r->size, file);
    (void)ignored; /* zeros follow a short file */
    fclose(file);
    printf("buffer %u %u %u %#llx\n", r->set, r->binding, r->element, address_of(c, r));
}

static bool is_3d(const struct guest_image *image) { return image->view_type == VK_IMAGE_VIEW_TYPE_3D; }

static void fill_image(const struct resource *r, unsigned char *bytes)
{
    const struct guest_image *image = &r->image;
    const VkDeviceSize slice = is_3d(image) ? image->layout.depthPitch : image->layout.arrayPitch;
    FILE *file = open_content(r);
    for (uint32_t z = 0; z < image->slices; z++)
        for (uint32_t y = 0; y < image->height; y++) {
            unsigned char *row = bytes + image->layout.offset + z * slice + y * image->layout.rowPitch;
            size_t ignored = fread(row, image->texel, image->width, file);
            (void)ignored;
        }
    fclose(file);
}

static void new_image(const struct context *c, struct guest_image *image)
{
    static const VkImageType types[] = {
        [VK_IMAGE_VIEW_TYPE_1D] = VK_IMAGE_TYPE_1D,       [VK_IMAGE_VIEW_TYPE_2D] = VK_IMAGE_TYPE_2D,
        [VK_IMAGE_VIEW_TYPE_3D] = VK_IMAGE_TYPE_3D,       [VK_IMAGE_VIEW_TYPE_1D_ARRAY] = VK_IMAGE_TYPE_1D,
        [VK_IMAGE_VIEW_TYPE_2D_ARRAY] = VK_IMAGE_TYPE_2D,
    };
    if ((size_t)image->view_type >= sizeof types / sizeof *types || image->view_type == VK_IMAGE_VIEW_TYPE_CUBE)
        fail("plan: view type %d of an image", (int)image->view_type);
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = types[image->view_type],
        .format = image->format,
        .extent = {image->width, image->height, is_3d(image) ? image->slices : 1},
        .mipLevels = 1,
        .arrayLayers = is_3d(image) ? 1 : image->slices,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_LINEAR,
        .usage = VK_IMAGE_USAGE_STORAGE_BIT,
        .initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED,
    };
    VkImageFormatProperties most;
    if (vkGetPhysicalDeviceImageFormatProperties(c->physical, info.format, info.imageType, info.tiling, info.usage, 0,
                                                 &most) != VK_SUCCESS ||
        image->width > most.maxExtent.width || image->height > most.maxExtent.height ||
        info.extent.depth > most.maxExtent.depth || info.arrayLayers > most.maxArrayLayers)
        fail("the driver has no linear storage image of VkFormat %d, view type %d, %u x %u x %u", (int)image->format,
             (int)image->view_type, image->width, image->height, image->slices);
    CALL(vkCreateImage, c->device, &info, NULL, &image->image);
}

/* The image and a buffer share the memory: the buffer's address is the image's. */
static void create_image(const struct context *c, struct resource *r)
{
    struct guest_image *image = &r->image;
    new_image(c, image);
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(c->device, image->image, &needs);
    r->size = needs.size;
    const VkMemoryRequirements of_buffer = new_buffer(c, r, needs.size);
    const VkDeviceSize size = of_buffer.size > needs.size ? of_buffer.size : needs.size;
    unsigned char *bytes = bind_memory(c, r, size, needs.memoryTypeBits & of_buffer.memoryTypeBits);
    CALL(vkBindImageMemory, c->device, image->image, r->memory, 0);
    const VkImageSubresource all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
    vkGetImageSubresourceLayout(c->device, image->image, &all, &image->layout);
    fill_image(r, bytes);
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = image->image,
                                        .viewType = image->view_type,
                                        .format = image->format,
                                        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                                             .levelCount = 1,
                                                             .layerCount = is_3d(image) ? 1 : image->slices}};
    CALL(vkCreateImageView, c->device, &view, NULL, &image->view);
    printf("image %u %u %u %#llx %llu %llu %llu\n", r->set, r->binding, r->element,
           address_of(c, r) + (unsigned long long)image->layout.offset,
           (unsigned long long)(r->size - image->layout.offset), (unsigned long long)image->layout.rowPitch,
           (unsigned long long)(is_3d(image) ? image->layout.depthPitch : image->layout.arrayPitch));
}

/* Layouts and sets for every set number up to the highest. */
static void create_sets(struct context *c, const struct plan *plan)
{
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, MAX_RESOURCES},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, MAX_RESOURCES},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, MAX_RESOURCES}};
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = MAX_SETS,
                                             .poolSizeCount = sizeof sizes / sizeof *sizes,
                                             .pPoolSizes = sizes};
    VkDescriptorPool pool;
    CALL(vkCreateDescriptorPool, c->device, &info, NULL, &pool);
    for (uint32_t i = 0; i < plan->resource_count; i++)
        if (plan->resources[i].set >= c->set_count)
            c->set_count = plan->resources[i].set + 1;
    for (uint32_t set = 0; set < c->set_count; set++) {
        VkDescriptorSetLayoutBinding bindings[MAX_RESOURCES];
        VkDescriptorSetLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .pBindings = bindings};
        for (uint32_t i = 0; i < plan->resource_count; i++) {
            const struct resource *r = &plan->resources[i];
            if (r->set == set && r->element)
                bindings[layout.bindingCount - 1].descriptorCount++;
            else if (r->set == set)
                bindings[layout.bindingCount++] =
                    (VkDescriptorSetLayoutBinding){.binding = r->binding,
                                                   .descriptorType = r->type,
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
    for (uint32_t i = 0; i < plan->resource_count; i++) {
        const struct resource *r = &plan->resources[i];
        const bool is_image = r->type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
        const VkDescriptorBufferInfo range = {r->buffer, 0, r->size};
        const VkDescriptorImageInfo view = {VK_NULL_HANDLE, r->image.view, VK_IMAGE_LAYOUT_GENERAL};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = c->sets[r->set],
                                            .dstBinding = r->binding,
                                            .dstArrayElement = r->element,
                                            .descriptorCount = 1,
                                            .descriptorType = r->type,
                                            .pImageInfo = is_image ? &view : NULL,
                                            .pBufferInfo = is_image ? NULL : &range};
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
    const VkSpecializationInfo constants = {plan->constant_count, plan->constants, sizeof plan->values, plan->values};
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = plan->wave ? &wave : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = c->layout};
    CALL(vkCreateComputePipelines, c->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &c->pipeline);
}

static void to_general(VkCommandBuffer commands, VkImage image)
{
    const VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                          .srcAccessMask = VK_ACCESS_HOST_WRITE_BIT,
                                          .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                                          .oldLayout = VK_IMAGE_LAYOUT_PREINITIALIZED,
                                          .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = image,
                                          .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                                               .levelCount = VK_REMAINING_MIP_LEVELS,
                                                               .layerCount = VK_REMAINING_ARRAY_LAYERS}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0,
                         NULL, 1, &barrier);
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
    for (uint32_t i = 0; i < plan->resource_count; i++)
        if (plan->resources[i].image.image)
            to_general(commands, plan->resources[i].image.image);
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
    for (uint32_t i = 0; i < plan.resource_count; i++)
        if (plan.resources[i].type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE)
            create_image(&context, &plan.resources[i]);
        else
            create_buffer(&context, &plan.resources[i]);
    create_sets(&context, &plan);
    create_pipeline(&context, &plan, code, size);
    dispatch(&context, &plan);
    return fflush(stdout) ? 1 : 0;
}

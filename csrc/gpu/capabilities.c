/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <guestgpu/translator.h>

#include <stdlib.h>
#include <string.h>

static bool has_extension(const VkExtensionProperties *extensions, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(extensions[i].extensionName, name))
            return true;
    return false;
}

bool gg_physical_has(VkPhysicalDevice physical, const char *name)
{
    uint32_t count = 0;
    vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    VkExtensionProperties *extensions = calloc(count + 1, sizeof *extensions);
    bool has = extensions && vkEnumerateDeviceExtensionProperties(physical, NULL, &count, extensions) == VK_SUCCESS &&
               has_extension(extensions, count, name);
    free(extensions);
    return has;
}

/* Appends a feature structure to the chain when the device has its extension. */
static bool add(struct gg_features *f, const VkExtensionProperties *extensions, uint32_t count, const char *name,
                VkStructureType type, void *structure)
{
    if (!has_extension(extensions, count, name))
        return false;
    VkBaseOutStructure *base = structure;
    base->sType = type;
    base->pNext = f->core.pNext;
    f->core.pNext = base;
    f->extensions[f->extension_count++] = name;
    return true;
}

/*
 * Everything of Vulkan 1.3 that the device has is enabled, so that a module may use it, but for what
 * costs time or needs more than a flag. Of the extensions only what gpu.h names.
 */
static void query_features(VkPhysicalDevice physical, const VkExtensionProperties *extensions, uint32_t count,
                           struct gg_features *f)
{
    f->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    f->core.pNext = &f->v11;
    f->v11.pNext = &f->v12;
    f->v12.pNext = &f->v13;
    add(f, extensions, count, VK_EXT_MESH_SHADER_EXTENSION_NAME,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT, &f->mesh);
    add(f, extensions, count, VK_EXT_PROVOKING_VERTEX_EXTENSION_NAME,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROVOKING_VERTEX_FEATURES_EXT, &f->provoking);
    /* The KHR name is younger than Debian 12's headers; structure and value are the EXT one's. */
    if (!add(f, extensions, count, VK_EXT_INDEX_TYPE_UINT8_EXTENSION_NAME,
             VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INDEX_TYPE_UINT8_FEATURES_EXT, &f->index_uint8))
        add(f, extensions, count, "VK_KHR_index_type_uint8",
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INDEX_TYPE_UINT8_FEATURES_EXT, &f->index_uint8);
    add(f, extensions, count, VK_EXT_PRIMITIVE_TOPOLOGY_LIST_RESTART_EXTENSION_NAME,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVE_TOPOLOGY_LIST_RESTART_FEATURES_EXT, &f->list_restart);
    add(f, extensions, count, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, &f->executable);
    add(f, extensions, count, VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_FEATURES_KHR, &f->uniform_control_flow);
#ifdef VK_KHR_shader_maximal_reconvergence
    add(f, extensions, count, VK_KHR_SHADER_MAXIMAL_RECONVERGENCE_EXTENSION_NAME,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MAXIMAL_RECONVERGENCE_FEATURES_KHR, &f->maximal_reconvergence);
#endif
    vkGetPhysicalDeviceFeatures2(physical, &f->core);

    VkPhysicalDeviceFeatures *core = &f->core.features;
    core->robustBufferAccess = VK_FALSE; /* bounds checks in every kernel that is timed */
    core->sparseBinding = VK_FALSE;
    core->sparseResidencyBuffer = core->sparseResidencyImage2D = core->sparseResidencyImage3D = VK_FALSE;
    core->sparseResidency2Samples = core->sparseResidency4Samples = VK_FALSE;
    core->sparseResidency8Samples = core->sparseResidency16Samples = core->sparseResidencyAliased = VK_FALSE;
    f->v11.protectedMemory = VK_FALSE;
    f->v12.bufferDeviceAddressCaptureReplay = f->v12.bufferDeviceAddressMultiDevice = VK_FALSE;
    f->v13.robustImageAccess = VK_FALSE;
    f->mesh.multiviewMeshShader = f->mesh.primitiveFragmentShadingRateMeshShader = VK_FALSE;
    f->mesh.meshShaderQueries = VK_FALSE;
}

static bool find_queue(VkPhysicalDevice physical, uint32_t *family, uint32_t *timestamp_bits)
{
    const VkQueueFlags need = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    VkQueueFamilyProperties families[64];
    uint32_t count = sizeof families / sizeof *families;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].queueFlags & need) != need)
            continue;
        *family = i;
        *timestamp_bits = families[i].timestampValidBits;
        return true;
    }
    return false;
}

/* Where widths are not independent, a module must ask the same for all. */
static uint32_t float_controls(const VkPhysicalDeviceVulkan12Properties *v12)
{
    bool preserve32 = v12->shaderDenormPreserveFloat32, preserve64 = v12->shaderDenormPreserveFloat64;
    uint32_t controls = (v12->shaderSignedZeroInfNanPreserveFloat32 ? GG_FLOAT_SPECIAL_32 : 0) |
                        (v12->shaderSignedZeroInfNanPreserveFloat64 ? GG_FLOAT_SPECIAL_64 : 0);
    switch (v12->denormBehaviorIndependence) {
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL:
        return controls | (preserve32 ? GG_FLOAT_DENORMS_32 : 0) | (preserve64 ? GG_FLOAT_DENORMS_64 : 0);
    case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY: /* 64 goes with 16, of which there are none here */
        return controls | (preserve32 ? GG_FLOAT_DENORMS_32 : 0);
    default:
        return controls | (preserve32 && preserve64 && v12->shaderDenormPreserveFloat16 ? GG_FLOAT_DENORMS_ALL : 0);
    }
}

static void query_limits(VkPhysicalDevice physical, bool mesh, struct gg_capabilities *can)
{
    struct gg_device_info *info = &can->info;
    VkPhysicalDeviceMeshShaderPropertiesEXT mesh_properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_PROPERTIES_EXT};
    VkPhysicalDeviceVulkan13Properties v13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES,
                                              .pNext = mesh ? &mesh_properties : NULL};
    VkPhysicalDeviceVulkan12Properties v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
                                              .pNext = &v13};
    VkPhysicalDeviceVulkan11Properties v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                                              .pNext = &v12};
    VkPhysicalDeviceProperties2 core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v11};
    vkGetPhysicalDeviceProperties2(physical, &core);

    can->limits = core.properties.limits;
    can->max_allocation = v11.maxMemoryAllocationSize;
    can->max_buffer = v13.maxBufferSize;
    memcpy(info->uuid, v11.deviceUUID, sizeof info->uuid);
    memcpy(info->driver_name, v12.driverName, sizeof info->driver_name);
    memcpy(info->driver_info, v12.driverInfo, sizeof info->driver_info);
    info->subgroup_size = v11.subgroupSize;
    if (v13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) {
        info->required_subgroup_min = v13.minSubgroupSize;
        info->required_subgroup_max = v13.maxSubgroupSize;
    }
    info->float_controls = float_controls(&v12);
    info->max_workgroup_memory = can->limits.maxComputeSharedMemorySize;
    info->max_workgroup_invocations = can->limits.maxComputeWorkGroupInvocations;
    memcpy(info->max_workgroup_count, can->limits.maxComputeWorkGroupCount, sizeof info->max_workgroup_count);
    info->max_storage_range = can->limits.maxStorageBufferRange;
    info->timestamp_period = (double)can->limits.timestampPeriod;
    if (!mesh)
        return;
    can->mesh = mesh_properties;
    can->mesh.pNext = NULL;
    info->max_mesh_invocations = mesh_properties.maxMeshWorkGroupInvocations;
    info->max_mesh_vertices = mesh_properties.maxMeshOutputVertices;
    info->max_mesh_primitives = mesh_properties.maxMeshOutputPrimitives;
    info->max_mesh_components = mesh_properties.maxMeshOutputComponents;
    info->max_mesh_memory = mesh_properties.maxMeshOutputMemorySize;
}

void gg_capabilities_query(VkPhysicalDevice physical, uint32_t index, struct gg_features *features,
                           struct gg_capabilities *can)
{
    memset(features, 0, sizeof *features);
    memset(can, 0, sizeof *can);
    struct gg_device_info *info = &can->info;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    info->index = index;
    info->type = (uint32_t)properties.deviceType;
    info->api_version = properties.apiVersion;
    info->driver_version = properties.driverVersion;
    info->vendor_id = properties.vendorID;
    info->device_id = properties.deviceID;
    memcpy(info->name, properties.deviceName, sizeof info->name);

    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++)
        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            memory.memoryHeaps[i].size > info->device_memory)
            info->device_memory = memory.memoryHeaps[i].size;

    if (properties.apiVersion < VK_API_VERSION_1_3 || !find_queue(physical, &can->queue_family, &info->timestamp_bits))
        return;
    uint32_t count = 0;
    if (vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL) != VK_SUCCESS)
        return;
    VkExtensionProperties *extensions = calloc(count + 1, sizeof *extensions);
    if (!extensions)
        return;
    if (vkEnumerateDeviceExtensionProperties(physical, NULL, &count, extensions) == VK_SUCCESS) {
        query_features(physical, extensions, count, features);
        query_limits(physical, features->mesh.meshShader == VK_TRUE, can);
        info->usable = features->v13.dynamicRendering && features->v13.synchronization2 && features->v13.maintenance4;
        info->mesh_shader = features->mesh.meshShader;
        info->task_shader = features->mesh.taskShader;
        info->pipeline_statistics = features->core.features.pipelineStatisticsQuery;
        info->executable_properties = features->executable.pipelineExecutableInfo;
        info->provoking_vertex_last = features->provoking.provokingVertexLast;
        info->index_uint8 = features->index_uint8.indexTypeUint8;
        info->draw_indirect_count = features->v12.drawIndirectCount;
        info->uniform_control_flow = features->uniform_control_flow.shaderSubgroupUniformControlFlow;
#ifdef VK_KHR_shader_maximal_reconvergence
        info->maximal_reconvergence = features->maximal_reconvergence.shaderMaximalReconvergence;
#endif
        if (!features->v13.subgroupSizeControl || !features->v13.computeFullSubgroups)
            info->required_subgroup_min = info->required_subgroup_max = 0;
        can->list_restart = features->list_restart.primitiveTopologyListRestart == VK_TRUE;
        can->multi_draw_indirect = features->core.features.multiDrawIndirect == VK_TRUE;
    }
    free(extensions);
}

/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "gpu_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MODULES 3

static VkShaderStageFlagBits stage_bit(uint32_t stage)
{
    static const VkShaderStageFlagBits bits[] = {
        [GG_STAGE_COMPUTE] = VK_SHADER_STAGE_COMPUTE_BIT,   [GG_STAGE_VERTEX] = VK_SHADER_STAGE_VERTEX_BIT,
        [GG_STAGE_FRAGMENT] = VK_SHADER_STAGE_FRAGMENT_BIT, [GG_STAGE_TASK] = VK_SHADER_STAGE_TASK_BIT_EXT,
        [GG_STAGE_MESH] = VK_SHADER_STAGE_MESH_BIT_EXT,
    };
    return bits[stage];
}

static int32_t check_stages(const struct gg_pipeline_params *params, enum gg_pipeline_kind *kind, char **message)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < params->module_count; i++) {
        const uint32_t stage = params->modules[i].stage;
        if (!gg_stage_name(stage))
            return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: module %u: stage %u is not one of enum gg_stage", i,
                           stage);
        if (seen >> stage & 1)
            return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: module %u: a second %s stage", i, gg_stage_name(stage));
        seen |= 1u << stage;
    }
    const unsigned fragment = 1u << GG_STAGE_FRAGMENT;
    if (seen == 1u << GG_STAGE_COMPUTE)
        *kind = GG_PIPELINE_COMPUTE;
    else if (seen == (fragment | 1u << GG_STAGE_VERTEX))
        *kind = GG_PIPELINE_VERTEX;
    else if ((seen & ~(1u << GG_STAGE_TASK)) == (fragment | 1u << GG_STAGE_MESH))
        *kind = GG_PIPELINE_MESH;
    else
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "pipeline: the modules are not compute, vertex + fragment, or [task +] mesh + fragment");
    return GG_OK;
}

static int32_t check_params(const struct gg_capabilities *can, const struct gg_pipeline_params *params,
                            enum gg_pipeline_kind *kind, char **message)
{
    if (!params->modules || !params->module_count || params->module_count > MAX_MODULES)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: %u modules; 1 to %d are needed", params->module_count,
                       MAX_MODULES);
    if (params->storage_buffers > GG_COMMAND_VALUES || params->push_words > GG_COMMAND_VALUES)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: %u storage buffers and %u push words; at most %d each",
                       params->storage_buffers, params->push_words, GG_COMMAND_VALUES);
    if (params->storage_buffers > can->limits.maxPerStageDescriptorStorageBuffers)
        return gg_fail(message, GG_ERR_LIMIT, "pipeline: %u storage buffers; the device has %u a stage",
                       params->storage_buffers, can->limits.maxPerStageDescriptorStorageBuffers);
    int32_t result = check_stages(params, kind, message);
    if (result)
        return result;
    for (uint32_t i = 0; i < params->module_count; i++) {
        if ((params->modules[i].stage == GG_STAGE_MESH && !can->info.mesh_shader) ||
            (params->modules[i].stage == GG_STAGE_TASK && !can->info.task_shader))
            return gg_fail(message, GG_ERR_UNSUPPORTED, "pipeline: the device (%s) has no %s stage", can->info.name,
                           gg_stage_name(params->modules[i].stage));
        result = gg_spirv_check_module(can, &params->modules[i], i, params->storage_buffers, message);
        if (result)
            return result;
    }
    const struct gg_device_info *info = &can->info;
    if (params->subgroup && *kind != GG_PIPELINE_COMPUTE)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: subgroup %u of a pipeline that is not compute",
                       params->subgroup);
    if (params->subgroup &&
        (params->subgroup & (params->subgroup - 1) || params->subgroup < info->required_subgroup_min ||
         params->subgroup > info->required_subgroup_max))
        return gg_fail(message, GG_ERR_UNSUPPORTED,
                       "pipeline: the device (%s) cannot require full subgroups of %u (from %u to %u)", info->name,
                       params->subgroup, info->required_subgroup_min, info->required_subgroup_max);
    if (*kind == GG_PIPELINE_COMPUTE)
        return GG_OK;
    if (params->topology > 2)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: topology %u is not one of enum gg_topology",
                       params->topology);
    if (params->cull > GG_CULL_BACK)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: cull %u is not one of enum gg_cull", params->cull);
    if (params->colors > GG_TARGET_COLORS || params->depth > 1 || params->colors + params->depth == 0)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: %u colours and depth %u are no target's", params->colors,
                       params->depth);
    if (params->provoking_last && !can->info.provoking_vertex_last)
        return gg_fail(message, GG_ERR_UNSUPPORTED, "pipeline: the device (%s) has no last provoking vertex",
                       can->info.name);
    if (params->restart && *kind == GG_PIPELINE_MESH)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: primitive restart with a mesh stage");
    if (params->restart && !can->list_restart)
        return gg_fail(message, GG_ERR_UNSUPPORTED,
                       "pipeline: the device (%s) has no primitive restart in lists "
                       "(VK_EXT_primitive_topology_list_restart)",
                       can->info.name);
    return GG_OK;
}

static int32_t create_layout(struct gg_pipeline *pipeline, char **message)
{
    struct gg_device *device = pipeline->device;
    VkDescriptorSetLayoutBinding bindings[GG_COMMAND_VALUES];
    for (uint32_t i = 0; i < pipeline->storage_buffers; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = pipeline->stages,
        };
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = pipeline->storage_buffers,
        .pBindings = bindings,
    };
    if (pipeline->storage_buffers) {
        VkResult result = device->vk.vkCreateDescriptorSetLayout(device->handle, &set, NULL, &pipeline->set_layout);
        if (result != VK_SUCCESS) {
            pipeline->set_layout = VK_NULL_HANDLE;
            return gg_device_fail(device, message, result, "vkCreateDescriptorSetLayout");
        }
    }
    const VkPushConstantRange push = {.stageFlags = pipeline->stages, .size = pipeline->push_words * 4};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = pipeline->storage_buffers ? 1 : 0,
        .pSetLayouts = &pipeline->set_layout,
        .pushConstantRangeCount = pipeline->push_words ? 1 : 0,
        .pPushConstantRanges = &push,
    };
    VkResult result = device->vk.vkCreatePipelineLayout(device->handle, &layout, NULL, &pipeline->layout);
    if (result != VK_SUCCESS) {
        pipeline->layout = VK_NULL_HANDLE;
        return gg_device_fail(device, message, result, "vkCreatePipelineLayout");
    }
    return GG_OK;
}

static VkResult create_compute(struct gg_pipeline *pipeline, const VkPipelineShaderStageCreateInfo *stage,
                               VkPipelineCreateFlags flags)
{
    struct gg_device *device = pipeline->device;
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = flags,
        .stage = *stage,
        .layout = pipeline->layout,
    };
    return device->vk.vkCreateComputePipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL, &pipeline->handle);
}

static VkResult create_graphics(struct gg_pipeline *pipeline, const struct gg_pipeline_params *params,
                                const VkPipelineShaderStageCreateInfo *stages, VkPipelineCreateFlags flags)
{
    static const VkPrimitiveTopology topologies[] = {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                                     VK_PRIMITIVE_TOPOLOGY_LINE_LIST, VK_PRIMITIVE_TOPOLOGY_POINT_LIST};
    static const VkCullModeFlags culls[] = {VK_CULL_MODE_NONE, VK_CULL_MODE_FRONT_BIT, VK_CULL_MODE_BACK_BIT};
    static const VkFormat formats[GG_TARGET_COLORS] = {GG_COLOR_FORMAT, GG_COLOR_FORMAT, GG_COLOR_FORMAT,
                                                       GG_COLOR_FORMAT};
    static const VkDynamicState dynamic_states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineVertexInputStateCreateInfo vertex_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = topologies[params->topology],
        .primitiveRestartEnable = params->restart ? VK_TRUE : VK_FALSE,
    };
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1, .scissorCount = 1};
    const VkPipelineRasterizationProvokingVertexStateCreateInfoEXT provoking = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT,
        .provokingVertexMode = VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .pNext = params->provoking_last ? &provoking : NULL,
        .polygonMode = VK_POLYGON_MODE_FILL,
        .cullMode = culls[params->cull],
        .frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .lineWidth = 1.0f,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = params->depth ? VK_TRUE : VK_FALSE,
        .depthWriteEnable = params->depth ? VK_TRUE : VK_FALSE,
        .depthCompareOp = VK_COMPARE_OP_LESS,
    };
    VkPipelineColorBlendAttachmentState attachments[GG_TARGET_COLORS] = {0};
    for (uint32_t i = 0; i < params->colors; i++)
        attachments[i].colorWriteMask =
            VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = params->colors,
        .pAttachments = attachments,
    };
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = dynamic_states,
    };
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = params->colors,
        .pColorAttachmentFormats = formats,
        .depthAttachmentFormat = params->depth ? GG_DEPTH_FORMAT : VK_FORMAT_UNDEFINED,
    };
    const bool mesh = pipeline->kind == GG_PIPELINE_MESH;
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .flags = flags,
        .stageCount = params->module_count,
        .pStages = stages,
        .pVertexInputState = mesh ? NULL : &vertex_input,
        .pInputAssemblyState = mesh ? NULL : &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &multisample,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = pipeline->layout,
    };
    struct gg_device *device = pipeline->device;
    return device->vk.vkCreateGraphicsPipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL, &pipeline->handle);
}

static int32_t create_handle(struct gg_pipeline *pipeline, const struct gg_pipeline_params *params,
                             VkPipelineCreateFlags flags, char **message)
{
    struct gg_device *device = pipeline->device;
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = params->subgroup,
    };
    VkPipelineShaderStageCreateInfo stages[MAX_MODULES] = {0};
    VkResult result = VK_SUCCESS;
    const char *call = "vkCreateShaderModule";
    for (uint32_t i = 0; i < params->module_count && result == VK_SUCCESS; i++) {
        const VkShaderModuleCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
            .codeSize = (size_t)params->modules[i].word_count * 4,
            .pCode = params->modules[i].words,
        };
        stages[i].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        stages[i].stage = stage_bit(params->modules[i].stage);
        stages[i].pName = "main";
        if (params->subgroup) {
            stages[i].pNext = &subgroup;
            stages[i].flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
        }
        result = device->vk.vkCreateShaderModule(device->handle, &info, NULL, &stages[i].module);
        if (result != VK_SUCCESS)
            stages[i].module = VK_NULL_HANDLE;
    }
    if (result == VK_SUCCESS) {
        call = pipeline->kind == GG_PIPELINE_COMPUTE ? "vkCreateComputePipelines" : "vkCreateGraphicsPipelines";
        result = pipeline->kind == GG_PIPELINE_COMPUTE ? create_compute(pipeline, stages, flags)
                                                       : create_graphics(pipeline, params, stages, flags);
        if (result != VK_SUCCESS)
            pipeline->handle = VK_NULL_HANDLE;
    }
    for (uint32_t i = 0; i < params->module_count; i++)
        device->vk.vkDestroyShaderModule(device->handle, stages[i].module, NULL);
    return result == VK_SUCCESS ? GG_OK : gg_device_fail(device, message, result, call);
}

static int32_t create_pipeline(struct gg_device *device, const struct gg_pipeline_params *params,
                               VkPipelineCreateFlags flags, struct gg_pipeline **pipeline, char **message)
{
    enum gg_pipeline_kind kind = GG_PIPELINE_COMPUTE;
    int32_t result = gg_device_ready(device, message);
    if (!result)
        result = check_params(&device->can, params, &kind, message);
    if (result)
        return result;
    struct gg_pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return gg_fail(message, GG_ERR_MEMORY, "no memory for a pipeline object");
    p->device = device;
    p->kind = kind;
    p->bind_point = kind == GG_PIPELINE_COMPUTE ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS;
    p->storage_buffers = params->storage_buffers;
    p->push_words = params->push_words;
    p->colors = params->colors;
    p->depth = params->depth != 0;
    for (uint32_t i = 0; i < params->module_count; i++)
        p->stages |= (VkShaderStageFlags)stage_bit(params->modules[i].stage);
    p->has_task = (p->stages & VK_SHADER_STAGE_TASK_BIT_EXT) != 0;
    result = create_layout(p, message);
    if (!result)
        result = create_handle(p, params, flags, message);
    result = gg_device_verdict(device, result, message);
    if (result) {
        gg_pipeline_destroy(p);
        return result;
    }
    *pipeline = p;
    return GG_OK;
}

int32_t gg_pipeline_create(struct gg_device *device, const struct gg_pipeline_params *params,
                           struct gg_pipeline **pipeline, char **message)
{
    gg_succeed(message);
    if (!device || !params || !pipeline)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: device, params or pipeline is NULL");
    return create_pipeline(device, params, 0, pipeline, message);
}

void gg_pipeline_destroy(struct gg_pipeline *pipeline)
{
    if (!pipeline)
        return;
    struct gg_device *device = pipeline->device;
    if (!device->lost) {
        device->vk.vkDestroyPipeline(device->handle, pipeline->handle, NULL);
        device->vk.vkDestroyPipelineLayout(device->handle, pipeline->layout, NULL);
        device->vk.vkDestroyDescriptorSetLayout(device->handle, pipeline->set_layout, NULL);
    }
    free(pipeline);
}

static void write_statistic(FILE *out, const char *executable, const VkPipelineExecutableStatisticKHR *s)
{
    fprintf(out, "%s\t%s\t", executable, s->name);
    switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
        fprintf(out, "%d\n", s->value.b32 != 0);
        break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
        fprintf(out, "%lld\n", (long long)s->value.i64);
        break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
        fprintf(out, "%llu\n", (unsigned long long)s->value.u64);
        break;
    default:
        fprintf(out, "%.17g\n", s->value.f64);
        break;
    }
}

static VkResult write_executable(FILE *out, const struct gg_pipeline *pipeline, uint32_t index, const char *name)
{
    struct gg_device *device = pipeline->device;
    const VkPipelineExecutableInfoKHR which = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
        .pipeline = pipeline->handle,
        .executableIndex = index,
    };
    uint32_t count = 0;
    VkResult result = device->vk.vkGetPipelineExecutableStatisticsKHR(device->handle, &which, &count, NULL);
    if (result != VK_SUCCESS)
        return result;
    VkPipelineExecutableStatisticKHR *statistics = calloc(count + 1, sizeof *statistics);
    if (!statistics)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        statistics[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    result = device->vk.vkGetPipelineExecutableStatisticsKHR(device->handle, &which, &count, statistics);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++)
        write_statistic(out, name, &statistics[i]);
    free(statistics);
    return result;
}

static VkResult write_executables(FILE *out, const struct gg_pipeline *pipeline)
{
    struct gg_device *device = pipeline->device;
    const VkPipelineInfoKHR which = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = pipeline->handle};
    uint32_t count = 0;
    VkResult result = device->vk.vkGetPipelineExecutablePropertiesKHR(device->handle, &which, &count, NULL);
    if (result != VK_SUCCESS)
        return result;
    VkPipelineExecutablePropertiesKHR *properties = calloc(count + 1, sizeof *properties);
    if (!properties)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        properties[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    result = device->vk.vkGetPipelineExecutablePropertiesKHR(device->handle, &which, &count, properties);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++)
        result = write_executable(out, pipeline, i, properties[i].name);
    free(properties);
    return result;
}

int32_t gg_pipeline_executables(struct gg_device *device, const struct gg_pipeline_params *params, char **text,
                                char **message)
{
    gg_succeed(message);
    if (!device || !params || !text)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline executables: device, params or text is NULL");
    if (!device->can.info.executable_properties)
        return gg_fail(message, GG_ERR_UNSUPPORTED,
                       "pipeline executables: the device (%s) has no VK_KHR_pipeline_executable_properties",
                       device->can.info.name);
    struct gg_pipeline *pipeline;
    int32_t result = create_pipeline(device, params, VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, &pipeline, message);
    if (result)
        return result;
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    VkResult queried = out ? write_executables(out, pipeline) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (out && fclose(out))
        queried = VK_ERROR_OUT_OF_HOST_MEMORY;
    gg_pipeline_destroy(pipeline);
    if (queried != VK_SUCCESS)
        result = gg_device_fail(device, message, queried, "vkGetPipelineExecutableStatisticsKHR");
    result = gg_device_verdict(device, result, message);
    if (result)
        free(written);
    else
        *text = written;
    return result;
}

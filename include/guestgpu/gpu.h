/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_GPU_H
#define GUESTGPU_GPU_H

/*
 * The device runner: Vulkan devices, buffers, pipelines and command execution; GLSL compilation
 * (shaderc), SPIR-V validation and disassembly (SPIRV-Tools), meshlet building (meshoptimizer).
 * The only header that needs packaged C++ libraries; the Vulkan loader is opened at run time, so
 * the library loads on a machine without Vulkan and says GG_ERR_NO_DEVICE when a device is asked for.
 *
 * Objects are used by one thread at a time. A device outlives what was created on it.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

enum gg_device_type { /* the values of VkPhysicalDeviceType */
    GG_DEVICE_OTHER = 0,
    GG_DEVICE_INTEGRATED = 1,
    GG_DEVICE_DISCRETE = 2,
    GG_DEVICE_VIRTUAL = 3,
    GG_DEVICE_CPU = 4,
    GG_DEVICE_TYPE_FORCE_32 = 0x7fffffff
};

struct gg_device_info {
    uint32_t index; /* in the loader's order */
    uint32_t type;  /* enum gg_device_type */
    uint32_t api_version;
    uint32_t driver_version;
    uint32_t vendor_id;
    uint32_t device_id;
    uint8_t uuid[16];
    char name[256];
    char driver_name[256];
    char driver_info[256];
    /* Features, 0 or 1. A device without Vulkan 1.3 has usable = 0 and is never opened. */
    uint32_t usable;
    uint32_t mesh_shader;
    uint32_t task_shader;
    uint32_t pipeline_statistics;
    uint32_t executable_properties;
    uint32_t provoking_vertex_last;
    uint32_t index_uint8;
    uint32_t draw_indirect_count;
    /* Limits. */
    uint32_t subgroup_size;
    uint32_t max_workgroup_memory; /* bytes */
    uint32_t max_workgroup_invocations;
    uint32_t max_workgroup_count[3];
    uint32_t max_mesh_invocations; /* 0 without mesh shaders, like the four below */
    uint32_t max_mesh_vertices;
    uint32_t max_mesh_primitives;
    uint32_t max_mesh_components;
    uint32_t max_mesh_memory;   /* output bytes of one workgroup */
    uint32_t timestamp_bits;    /* 0: no timestamps */
    double timestamp_period;    /* ns a tick */
    uint64_t max_storage_range; /* bytes of one storage buffer binding */
    uint64_t device_memory;     /* bytes of the largest device-local heap */
    /* Sizes that a compute pipeline can require of its subgroups, all of them full; 0 where it cannot. */
    uint32_t required_subgroup_min;
    uint32_t required_subgroup_max;
    uint32_t uniform_control_flow;  /* VK_KHR_shader_subgroup_uniform_control_flow, 0 or 1 */
    uint32_t maximal_reconvergence; /* VK_KHR_shader_maximal_reconvergence, 0 or 1 */
    uint32_t float_controls;        /* enum gg_float_control of translator.h */
    uint32_t reserved;
};

/*
 * Lists the devices, in the loader's order. Writes up to `capacity` of them and the number there is
 * to *count. No loader or no driver is GG_ERR_NO_DEVICE with advice in the message.
 */
int32_t gg_device_list(struct gg_device_info *infos, uint32_t capacity, uint32_t *count, char **message);

/*
 * Picks one of the listed devices. selector: "lavapipe" (Mesa's software device), "hw" (the only
 * hardware device), a decimal index, a UUID (32 hex digits, dashes allowed), or part of a name,
 * without regard to case. NULL or "" is "hw" if exactly one is there, else lavapipe. A selector that
 * fits no device, or more than one, is GG_ERR_NO_DEVICE naming the candidates: never a silent guess.
 */
int32_t gg_device_select(const struct gg_device_info *infos, uint32_t count, const char *selector, uint32_t *index,
                         char **message);

struct gg_device; /* one VkInstance, one VkDevice, one queue with graphics and compute */

struct gg_device_params {
    uint32_t index;      /* as listed */
    uint32_t validation; /* 1: Khronos validation layer with synchronization validation; its warnings
                            and errors make the call that caused them fail with GG_ERR_VALIDATION */
};

int32_t gg_device_create(const struct gg_device_params *params, struct gg_device **device, char **message);
void gg_device_destroy(struct gg_device *device);

/*
 * The positive control of validation: records, and never submits, a fill of 3 bytes (core checks) and two
 * fills of one range without a barrier (synchronization checks). GG_OK only if the layer objected to both;
 * then too *message carries what it said, to be freed. GG_ERR_VALIDATION when it was silent about one,
 * GG_ERR_UNSUPPORTED when the device was created without validation.
 */
int32_t gg_device_validation_control(struct gg_device *device, char **message);

struct gg_buffer; /* storage, index, indirect, copy source and destination */

enum gg_memory_kind {
    GG_MEMORY_DEVICE = 0, /* device-local; written and read through a staging buffer */
    GG_MEMORY_HOST = 1,   /* host-visible, coherent, mapped */
    GG_MEMORY_KIND_FORCE_32 = 0x7fffffff
};

int32_t gg_buffer_create(struct gg_device *device, uint64_t size, uint32_t memory_kind, struct gg_buffer **buffer,
                         char **message);
void gg_buffer_destroy(struct gg_buffer *buffer);
/* Bytes; offset + size past the end is GG_ERR_ARGUMENT. Both wait until the bytes are there. */
int32_t gg_buffer_write(struct gg_buffer *buffer, uint64_t offset, const void *data, uint64_t size, char **message);
int32_t gg_buffer_read(struct gg_buffer *buffer, uint64_t offset, void *data, uint64_t size, char **message);

struct gg_target; /* RGBA32F colour images, and a D32 depth image when asked for */

#define GG_TARGET_COLORS 4

int32_t gg_target_create(struct gg_device *device, uint32_t width, uint32_t height, uint32_t colors, uint32_t depth,
                         struct gg_target **target, char **message);
void gg_target_destroy(struct gg_target *target);
/* One colour image, rows from the top, width * height * 4 floats. */
int32_t gg_target_read(struct gg_target *target, uint32_t color, float *pixels, char **message);

enum gg_stage {
    GG_STAGE_COMPUTE = 0,
    GG_STAGE_VERTEX = 1,
    GG_STAGE_FRAGMENT = 2,
    GG_STAGE_TASK = 3,
    GG_STAGE_MESH = 4,
    GG_STAGE_FORCE_32 = 0x7fffffff
};

enum gg_cull {
    GG_CULL_NONE = 0,
    GG_CULL_FRONT = 1, /* front faces are counter-clockwise in framebuffer space */
    GG_CULL_BACK = 2,
    GG_CULL_FORCE_32 = 0x7fffffff
};

struct gg_module {
    uint32_t stage; /* enum gg_stage */
    uint32_t reserved;
    const uint32_t *words;
    uint64_t word_count;
};

struct gg_pipeline; /* compute, vertex + fragment, or [task +] mesh + fragment, by its modules */

struct gg_pipeline_params {
    const struct gg_module *modules; /* entry point "main"; each is validated before the driver sees it */
    uint32_t module_count;
    uint32_t storage_buffers; /* descriptor set 0, bindings 0..n-1, visible to every stage; at most GG_COMMAND_VALUES */
    uint32_t push_words;      /* push constants, visible to every stage; at most GG_COMMAND_VALUES */
    uint32_t subgroup;        /* compute: size of its subgroups, all of them full; 0: the driver's choice */
    /* Graphics only: */
    uint32_t topology;       /* 0 triangle list, 1 line list, 2 point list (enum gg_topology of layout.h) */
    uint32_t colors;         /* colour attachments of the target */
    uint32_t depth;          /* the target has depth; test LESS, write */
    uint32_t cull;           /* enum gg_cull */
    uint32_t provoking_last; /* 1: VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT */
    uint32_t restart;        /* 1: primitive restart, for tests of what must not be left on */
};

int32_t gg_pipeline_create(struct gg_device *device, const struct gg_pipeline_params *params,
                           struct gg_pipeline **pipeline, char **message);
void gg_pipeline_destroy(struct gg_pipeline *pipeline);
/*
 * What VK_KHR_pipeline_executable_properties tells, as lines "executable\tstatistic\tvalue\n", to be
 * freed with gg_free(). Compiles a second, untimed pipeline. GG_ERR_UNSUPPORTED where the device has none.
 */
int32_t gg_pipeline_executables(struct gg_device *device, const struct gg_pipeline_params *params, char **text,
                                char **message);

/*
 * Of VkQueryPipelineStatisticFlagBits; 0 where a stage did not run. Mesh draws count in the last four only,
 * and one slot cannot count them and other draws together (drivers need two kinds of queries for it).
 */
struct gg_statistics {
    uint64_t input_vertices;
    uint64_t input_primitives;
    uint64_t vertex_invocations;
    uint64_t clipping_invocations;
    uint64_t clipping_primitives;
    uint64_t fragment_invocations;
    uint64_t compute_invocations;
};

struct gg_work {
    const struct gg_command *commands;
    struct gg_buffer *const *buffers;
    struct gg_pipeline *const *pipelines;
    struct gg_target *const *targets;
    uint32_t command_count;
    uint32_t buffer_count;
    uint32_t pipeline_count;
    uint32_t target_count;
    uint32_t timestamp_count;  /* slots; at most 65536 */
    uint32_t statistics_count; /* slots; at most 1024 */
    uint64_t timeout_ns;       /* 0: 60 s */
};

/*
 * Records the commands into one command buffer, submits it and waits. One pipeline is bound at a time;
 * a BIND undoes the PUSH before it, and may name more buffers than the pipeline has. A slot is written once.
 *   timestamps  timestamp_count ticks, masked to the valid bits, 0 for unused slots; may be NULL when the count is 0
 *   statistics  statistics_count entries; likewise
 *   host_ns     submission to signalled fence, by the host's monotonic clock
 * A command that names an object outside its table, a range outside its buffer, or a state that is
 * not bound is GG_ERR_ARGUMENT naming the command's number; nothing is submitted then.
 */
int32_t gg_device_submit(struct gg_device *device, const struct gg_work *work, uint64_t *timestamps,
                         struct gg_statistics *statistics, uint64_t *host_ns, char **message);

enum gg_resource_kind {
    GG_RESOURCE_STORAGE_BUFFER = 0,
    GG_RESOURCE_UNIFORM_BUFFER = 1,
    GG_RESOURCE_STORAGE_IMAGE = 2,
    GG_RESOURCE_KIND_FORCE_32 = 0x7fffffff
};

struct gg_resource { /* a descriptor; elements of one binding follow each other */
    uint32_t kind;   /* enum gg_resource_kind */
    uint32_t set;    /* at most 31 */
    uint32_t binding;
    uint32_t element;
    struct gg_buffer *buffer; /* of an image: its texels without gaps, which go in before and come back after */
    /* Images only: */
    uint32_t format; /* VkFormat */
    uint32_t view;   /* VkImageViewType: 1D, 2D, 3D, 1D array, 2D array */
    uint32_t width;
    uint32_t height;
    uint32_t slices; /* the depth of a 3D image, else layers */
    uint32_t texel_bytes;
};

struct gg_constant { /* a specialisation constant */
    uint32_t id;
    uint32_t size; /* bytes: 1, 2, 4 or 8 */
    uint64_t value;
};

struct gg_once_params {
    const struct gg_module *module; /* compute; entry point "main" */
    const struct gg_resource *resources;
    const struct gg_constant *constants;
    const uint32_t *push;
    uint32_t resource_count; /* at most 256 */
    uint32_t constant_count; /* at most 64 */
    uint32_t push_words;
    uint32_t groups[3];
    uint64_t timeout_ns; /* 0: 60 s */
};

/*
 * One dispatch of a compute module with whatever it binds, waited for. Everything but the buffers lives for this call
 * alone. A binding of the module that is not given is GG_ERR_ARGUMENT; an image that the device has not, GG_ERR_UNSUPPORTED.
 */
int32_t gg_device_once(struct gg_device *device, const struct gg_once_params *params, char **message);

/*
 * GLSL to SPIR-V 1.6 for Vulkan 1.3, through shaderc. `#include "x"` is looked up in include_folder.
 * preamble (may be NULL) is inserted after the #version line: defines of the variant.
 */
int32_t gg_glsl_compile(const char *source, const char *name, uint32_t stage, const char *include_folder,
                        const char *preamble, uint32_t **words, uint64_t *word_count, char **message);

/* spirv-val for Vulkan 1.3 (SPIR-V up to 1.6). GG_ERR_VALIDATION with its message otherwise. */
int32_t gg_spirv_validate(const uint32_t *words, uint64_t word_count, char **message);

/* Friendly disassembly, to be freed with gg_free(). */
int32_t gg_spirv_disassemble(const uint32_t *words, uint64_t word_count, char **text, char **message);

/*
 * Meshlets of a triangle mesh by meshoptimizer. positions: vertex_count * 3 floats. Outputs are the
 * caller's: first ask gg_meshlets_bound() for how many meshlets there can be.
 *   meshlets   bound * 4 words: first entry in `vertices`, first byte in `triangles`, vertex count, triangle count
 *   vertices   bound * max_vertices mesh vertex numbers
 *   triangles  bound * max_triangles * 3 bytes, meshlet-local corners
 * max_vertices 3..255 and max_triangles 1..512, a multiple of 4 (limits of meshoptimizer 0.18).
 */
int32_t gg_meshlets_bound(uint64_t index_count, uint32_t max_vertices, uint32_t max_triangles, uint64_t *bound,
                          char **message);
int32_t gg_meshlets_build(const uint32_t *indices, uint64_t index_count, const float *positions, uint64_t vertex_count,
                          uint32_t max_vertices, uint32_t max_triangles, uint32_t *meshlets, uint32_t *vertices,
                          uint8_t *triangles, uint64_t *meshlet_count, char **message);

/*
 * Versions of what is built in or was found: "shaderc …; SPIRV-Tools …; meshoptimizer …; loader …".
 * Freed with gg_free().
 */
int32_t gg_gpu_versions(char **text);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_GPU_MEMORY_H
#define GUESTGPU_GPU_MEMORY_H

/* Suballocation on a device: blocks of a pool in its memory, and what it asks of buffers and images. */

#include <guestgpu/gpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

/*
 * Memory for a pool's blocks: a VkDeviceMemory and a buffer over all of it each. Its two hooks have the types that
 * struct gg_pool_config has, with the backing as `user`; the pool must be destroyed first.
 */
struct gg_backing;

int32_t gg_backing_create(struct gg_device *device, uint32_t memory_kind, struct gg_backing **backing, char **message);
void gg_backing_destroy(struct gg_backing *backing);
int32_t gg_backing_block_create(void *backing, uint32_t block, uint64_t size);
void gg_backing_block_destroy(void *backing, uint32_t block, uint64_t size);
/* The buffer of a block, owned by the backing; NULL: there is no such block. */
struct gg_buffer *gg_backing_buffer(const struct gg_backing *backing, uint32_t block);
/*
 * Why a block could not be had since this was last asked, to be freed with gg_free(); NULL: none failed, or there was no
 * memory for the text.
 */
char *gg_backing_take_failure(struct gg_backing *backing);

/* What decides about placement: VkPhysicalDeviceLimits, bytes, and a count. */
struct gg_memory_limits {
    uint64_t buffer_image_granularity;
    uint64_t storage_offset_alignment;
    uint64_t uniform_offset_alignment;
    uint64_t texel_offset_alignment;
    uint64_t copy_offset_alignment;
    uint64_t copy_row_alignment;
    uint64_t non_coherent_atom;
    uint64_t map_alignment;
    uint64_t largest_allocation;
    uint64_t largest_buffer;
    uint64_t allocations;
    uint64_t scratch_alignment; /* of acceleration structures; 0: the device has none */
};

int32_t gg_device_memory_limits(const struct gg_device *device, struct gg_memory_limits *limits);

/* A buffer, when format is 0 and `width` its bytes; else an image. Numbers are Vulkan's own. */
struct gg_memory_query {
    uint64_t width;
    uint32_t height, depth;
    uint32_t layers, mips;
    uint32_t samples;
    uint32_t format; /* VkFormat */
    uint32_t usage;  /* VkBufferUsageFlags or VkImageUsageFlags */
    uint32_t linear; /* 1: VK_IMAGE_TILING_LINEAR */
};

struct gg_memory_need {
    uint64_t size; /* 0: the device has no such image */
    uint64_t alignment;
    uint32_t memory_types; /* a bit each */
    uint32_t reserved;
};

/* Asks without creating anything (vkGetDeviceBufferMemoryRequirements and its kin). */
int32_t gg_device_memory_needs(struct gg_device *device, const struct gg_memory_query *queries, uint32_t count,
                               struct gg_memory_need *needs, char **message);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

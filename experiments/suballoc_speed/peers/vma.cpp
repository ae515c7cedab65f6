// SPDX-License-Identifier: MIT
// The virtual block of Vulkan Memory Allocator, in its fastest mode (the others take up to a thousand times as long on
// these traces), and its linear one for slices.
#include "peer.hpp"

#define VMA_IMPLEMENTATION
#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 0
#include <vk_mem_alloc.h>

template <VmaVirtualBlockCreateFlags kind, VmaVirtualAllocationCreateFlags strategy> struct Block {
    VmaVirtualBlock block = VK_NULL_HANDLE;

    static bool fits(uint64_t) { return true; }
    Block(uint64_t capacity, uint64_t)
    {
        VmaVirtualBlockCreateInfo info{};
        info.size = capacity;
        info.flags = kind;
        vmaCreateVirtualBlock(&info, &block);
    }
    ~Block()
    {
        vmaClearVirtualBlock(block);
        vmaDestroyVirtualBlock(block);
    }
    bool allocate(uint64_t size, uint64_t alignment, uint64_t &handle, uint64_t &offset)
    {
        VmaVirtualAllocationCreateInfo info{};
        info.size = size;
        info.alignment = alignment;
        info.flags = strategy;
        VmaVirtualAllocation made;
        VkDeviceSize at;
        if (vmaVirtualAllocate(block, &info, &made, &at) != VK_SUCCESS)
            return false;
        handle = reinterpret_cast<uint64_t>(made);
        offset = at;
        return true;
    }
    void free(uint64_t handle) { vmaVirtualFree(block, reinterpret_cast<VmaVirtualAllocation>(handle)); }
};

template <class T> static gg_allocator with_clear(const char *name)
{
    gg_allocator peer = peer_of<T>(name);
    peer.clear = [](void *state) { vmaClearVirtualBlock(static_cast<T *>(state)->block); };
    return peer;
}

static const gg_allocator table[] = {
    with_clear<Block<0, VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT>>("vma"),
    with_clear<Block<VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT, 0>>("vma-linear"),
};
EXPORT_PEERS(table)

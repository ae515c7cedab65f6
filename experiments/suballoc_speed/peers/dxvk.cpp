// SPDX-License-Identifier: MIT
// The page and pool allocators of DXVK, as its memory manager uses them: pools up to half a page, for the larger of
// size and alignment; pages above. Chunks are added as it does, of 256 MiB. Who frees knows the size.
#include "peer.hpp"

#include <dxvk/dxvk_allocator.h>

#include <algorithm>

struct Pages {
    dxvk::DxvkPageAllocator pages;
    dxvk::DxvkPoolAllocator pools{pages};
    uint64_t left;

    static bool fits(uint64_t capacity) { return capacity >> 36 == 0; }
    Pages(uint64_t capacity, uint64_t) : left(capacity) {}
    int64_t try_allocate(uint64_t size, uint64_t alignment)
    {
        return size <= pools.MaxSize ? pools.alloc(size) : pages.alloc(size, alignment);
    }
    bool allocate(uint64_t size, uint64_t alignment, uint64_t &handle, uint64_t &offset)
    {
        uint64_t bytes = std::max(size, alignment);
        int64_t at = try_allocate(bytes, alignment);
        if (at < 0 && left) {
            uint64_t chunk = std::min<uint64_t>(left, pages.MaxChunkSize);
            pages.addChunk(chunk);
            left -= chunk;
            at = try_allocate(bytes, alignment);
        }
        if (at < 0)
            return false;
        offset = static_cast<uint64_t>(at);
        handle = offset >> 8 << 32 | (bytes + 255) >> 8;
        return true;
    }
    void free(uint64_t handle)
    {
        uint64_t at = handle >> 32 << 8, bytes = (handle & 0xffffffff) << 8;
        if (bytes <= pools.MaxSize)
            pools.free(at, bytes);
        else
            pages.free(at, bytes);
    }
};

static const gg_allocator table[] = {peer_of<Pages>("dxvk")};
EXPORT_PEERS(table)

// SPDX-License-Identifier: MIT
// OffsetAllocator. It knows no alignment and 32 bits: units of 8 bytes, or more where the capacity needs it, and
// requests that are larger by what the alignment may cost.
#include "peer.hpp"

#include <offsetAllocator.hpp>

struct Offsets {
    uint64_t unit = 8;
    OffsetAllocator::Allocator allocator;

    static bool fits(uint64_t capacity) { return capacity >> 31 <= 256; }
    Offsets(uint64_t capacity, uint64_t most_live)
        : unit(capacity >> 31 <= 8 ? 8 : 256), // nodes: the live ones, and the free ones between them
          allocator(static_cast<uint32_t>(capacity / unit), static_cast<uint32_t>(2 * most_live + 16))
    {
    }
    bool allocate(uint64_t size, uint64_t alignment, uint64_t &handle, uint64_t &offset)
    {
        uint64_t spare = alignment > unit ? alignment - unit : 0;
        auto made = allocator.allocate(static_cast<uint32_t>((size + spare + unit - 1) / unit));
        if (made.offset == OffsetAllocator::Allocation::NO_SPACE)
            return false;
        handle = static_cast<uint64_t>(made.metadata) << 32 | made.offset;
        offset = (made.offset * unit + alignment - 1) / alignment * alignment;
        return true;
    }
    void free(uint64_t handle)
    {
        OffsetAllocator::Allocation gone;
        gone.offset = static_cast<uint32_t>(handle);
        gone.metadata = static_cast<OffsetAllocator::NodeIndex>(handle >> 32);
        allocator.free(gone);
    }
};

static gg_allocator make()
{
    gg_allocator peer = peer_of<Offsets>("offset-allocator");
    peer.clear = [](void *state) { static_cast<Offsets *>(state)->allocator.reset(); };
    return peer;
}

static const gg_allocator table[] = {make()};
EXPORT_PEERS(table)

// SPDX-License-Identifier: MIT
// A class as a table of functions: it has allocate(size, alignment, &handle, &offset) -> bool and free(handle).
#pragma once

#include <guestgpu/suballoc_speed.h>

#include <new>

template <class T> gg_allocator peer_of(const char *name)
{
    gg_allocator peer{};
    peer.version = GG_ALLOCATOR_VERSION;
    peer.name = name;
    peer.create = [](uint64_t capacity, uint64_t most_live) -> void * {
        if (!T::fits(capacity))
            return nullptr;
        return new (std::nothrow) T(capacity, most_live);
    };
    peer.destroy = [](void *state) { delete static_cast<T *>(state); };
    peer.allocate = [](void *state, uint64_t size, uint64_t alignment, uint32_t, uint64_t *handle,
                       uint64_t *offset) -> int32_t {
        return static_cast<T *>(state)->allocate(size, alignment, *handle, *offset) ? 0 : -1;
    };
    peer.free = [](void *state, uint64_t handle) { static_cast<T *>(state)->free(handle); };
    return peer;
}

// What a library of `table` exports.
#define EXPORT_PEERS(table)                                                                                             \
    extern "C" __attribute__((visibility("default"))) const gg_allocator *gg_peer(uint32_t index)                       \
    {                                                                                                                   \
        return index < sizeof table / sizeof table[0] ? &table[index] : nullptr;                                        \
    }

/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_MSGPACK_H
#define GG_TRANSLATOR_MSGPACK_H

/*
 * The part of MessagePack that AMDGPU metadata uses, read in place. Every function checks against the end; after
 * a fault `failed` stays set and everything reads as nothing.
 */

#include <stdbool.h>
#include <stdint.h>

struct gg_msgpack {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t at;
    bool failed;
};

struct gg_msgpack_text {
    const char *bytes; /* not terminated */
    uint32_t size;
};

/* Number of entries of a map, or of an array; 0 and a fault if something else stands there. */
uint32_t gg_msgpack_map(struct gg_msgpack *in);
uint32_t gg_msgpack_array(struct gg_msgpack *in);
struct gg_msgpack_text gg_msgpack_string(struct gg_msgpack *in);
uint64_t gg_msgpack_unsigned(struct gg_msgpack *in);
/* Steps over one value with all that it contains. */
void gg_msgpack_skip(struct gg_msgpack *in);
bool gg_msgpack_equals(struct gg_msgpack_text text, const char *wanted);

#endif

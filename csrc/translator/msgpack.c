/* SPDX-License-Identifier: MIT */
#include "msgpack.h"

#include <string.h>

static uint64_t take(struct gg_msgpack *in, uint32_t bytes)
{
    uint64_t value = 0;
    if (in->failed || in->size - in->at < bytes) {
        in->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < bytes; i++)
        value = value << 8 | in->bytes[in->at++];
    return value;
}

static void step_over(struct gg_msgpack *in, uint64_t bytes)
{
    if (in->failed || in->size - in->at < bytes)
        in->failed = true;
    else
        in->at += bytes;
}

/* A container or string: short form `mask` and long forms from `first` on with 1, 2 or 4 bytes of length. */
static uint32_t length_of(struct gg_msgpack *in, uint8_t tag, uint8_t short_tag, uint8_t short_mask, uint8_t first,
                          uint32_t first_bytes)
{
    if ((tag & ~short_mask & 0xff) == short_tag)
        return tag & short_mask;
    for (uint32_t bytes = first_bytes; bytes <= 4; bytes *= 2, first++)
        if (tag == first)
            return (uint32_t)take(in, bytes);
    in->failed = true;
    return 0;
}

uint32_t gg_msgpack_map(struct gg_msgpack *in) { return length_of(in, (uint8_t)take(in, 1), 0x80, 15, 0xde, 2); }
uint32_t gg_msgpack_array(struct gg_msgpack *in) { return length_of(in, (uint8_t)take(in, 1), 0x90, 15, 0xdc, 2); }

struct gg_msgpack_text gg_msgpack_string(struct gg_msgpack *in)
{
    uint32_t size = length_of(in, (uint8_t)take(in, 1), 0xa0, 31, 0xd9, 1);
    struct gg_msgpack_text text = {(const char *)in->bytes + in->at, size};
    step_over(in, size);
    return in->failed ? (struct gg_msgpack_text){"", 0} : text;
}

uint64_t gg_msgpack_unsigned(struct gg_msgpack *in)
{
    uint8_t tag = (uint8_t)take(in, 1);
    if (tag < 0x80)
        return tag;
    if (tag >= 0xcc && tag <= 0xcf)
        return take(in, 1u << (tag - 0xcc));
    in->failed = true;
    return 0;
}

void gg_msgpack_skip(struct gg_msgpack *in)
{
    uint64_t left = 1; /* values; no recursion, so that depth costs nothing */
    while (left && !in->failed) {
        uint8_t tag = (uint8_t)take(in, 1);
        left--;
        if (tag < 0x80 || tag >= 0xe0 || (tag >= 0xc0 && tag <= 0xc3 && tag != 0xc1))
            continue; /* small numbers, nil, false, true */
        if (tag < 0x90)
            left += 2u * (tag & 15);
        else if (tag < 0xa0)
            left += tag & 15;
        else if (tag < 0xc0)
            step_over(in, tag & 31);
        else if (tag >= 0xc4 && tag <= 0xc6)
            step_over(in, take(in, 1u << (tag - 0xc4)));
        else if (tag >= 0xd9 && tag <= 0xdb)
            step_over(in, take(in, 1u << (tag - 0xd9)));
        else if (tag == 0xca || tag == 0xcb)
            step_over(in, tag == 0xca ? 4 : 8);
        else if (tag >= 0xcc && tag <= 0xd3)
            step_over(in, 1u << (tag & 3));
        else if (tag == 0xdc || tag == 0xdd)
            left += take(in, tag == 0xdc ? 2 : 4);
        else if (tag == 0xde || tag == 0xdf)
            left += 2 * take(in, tag == 0xde ? 2 : 4);
        else
            in->failed = true;
    }
}

bool gg_msgpack_equals(struct gg_msgpack_text text, const char *wanted)
{
    return text.size == strlen(wanted) && !memcmp(text.bytes, wanted, text.size);
}

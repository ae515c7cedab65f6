/* SPDX-License-Identifier: MIT */
/*
 * The record head of a stored program: any bytes as they are, and the same bytes behind a right magic,
 * version and checksum, which no fuzzer guesses. What is accepted makes sense and is written back as it was.
 */
#include "input.h"

#include <string.h>

static void look_at_head(const uint8_t *data, size_t size)
{
    struct gg_layout_head head;
    uint8_t bytes[GG_LAYOUT_HEAD_BYTES];
    char *message = NULL;
    memset(&head, 0xa5, sizeof head);
    if (look_at(gg_layout_head_read(data, size, &head, &message), message))
        return;
    MUST(head.layout >= GG_LAYOUT_AOS && head.layout <= GG_LAYOUT_INDEXED && head.stamp <= GG_LAYOUT_INDEXED);
    MUST(head.indexed == (head.layout == GG_LAYOUT_INDEXED));
    MUST(head.header_words == 16 || (head.header_words == 8 && !head.indexed));
    MUST(head.record_words >= 1 && head.record_words <= GG_LAYOUT_MAX_RECORD);
    MUST(gg_layout_head_serves(&head, GG_LAYOUT_UNSET) == 1);
    MUST(!look_at(gg_layout_head_write(&head, bytes, &message), message));
    MUST(size >= sizeof bytes && !memcmp(bytes, data, sizeof bytes));
}

/* FNV-1a behind the seven words that it covers. */
static void forge(const uint8_t *data, size_t size, uint8_t bytes[GG_LAYOUT_HEAD_BYTES])
{
    static const uint8_t start[8] = {'G', 'G', 'L', 'H', 1};
    const size_t members = 20;
    uint32_t hash = 2166136261u;
    memset(bytes, 0, GG_LAYOUT_HEAD_BYTES);
    memcpy(bytes, start, sizeof start);
    if (size) /* may be NULL otherwise */
        memcpy(bytes + sizeof start, data, size < members ? size : members);
    for (size_t i = 0; i < sizeof start + members; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    for (size_t i = 0; i < 4; i++)
        bytes[sizeof start + members + i] = (uint8_t)(hash >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t forged[GG_LAYOUT_HEAD_BYTES];
    look_at_head(data, size);
    forge(data, size, forged);
    look_at_head(forged, sizeof forged);
    return 0;
}

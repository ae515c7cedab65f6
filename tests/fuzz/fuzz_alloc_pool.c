/* SPDX-License-Identifier: MIT */
/* Any operations on a pool, beside a list of what must be live. */
#include <guestgpu/suballoc_pool.h>

#include "../c/pool_model.h"
#include "input.h"

static uint64_t take_size(struct input *in)
{
    uint32_t shape = take_byte(in);
    if (shape >= 0xfc)
        return (uint64_t)take_word(in) << 32 | take_word(in);
    return (uint64_t)(take_byte(in) << 8 | take_byte(in)) << shape % 8 >> shape / 8 % 16;
}

static void allocate(struct gg_pool *pool, struct model *m, struct input *in)
{
    uint64_t size = take_size(in), alignment = UINT64_C(1) << take_byte(in) % 20;
    uint32_t flags = take_byte(in), kind = flags % 5;
    struct gg_pool_place place = {0};
    if (flags & 0x40)
        alignment += take_byte(in);
    m->refuse = flags >= 0xc0;
    int32_t result = gg_pool_allocate(pool, size, alignment, kind, &place);
    bool refusable = !size || (alignment & (alignment - 1)) || alignment > 1 << 20 || kind > GG_POOL_KIND_MSAA;
    MUST(!refusable || result == GG_ERR_ARGUMENT);
    MUST(!result || refusable || result == GG_ERR_LIMIT || (m->refuse && result == GG_ERR_DEVICE));
    MUST(result ? !place.handle : !model_add(m, &place, size, alignment, kind));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct model m = {.granularity = UINT64_C(1) << take_byte(&in) % 17};
    const struct gg_pool_config config = {.block_size = 1 << 20,
                                          .granularity = m.granularity,
                                          .max_blocks = 1 + take_byte(&in) % 8,
                                          .no_dedicated = take_byte(&in) % 2,
                                          .user = &m,
                                          .block_create = model_block_create,
                                          .block_destroy = model_block_destroy};
    struct gg_pool *pool = NULL;
    MUST(gg_pool_create(&config, &pool, NULL) == GG_OK);
    while (in.size) {
        uint32_t what = take_byte(&in);
        if (what < 0x90) {
            allocate(pool, &m, &in);
        } else if (what < 0x94) { /* the same again and again: slots */
            for (uint32_t i = 16 * take_byte(&in) / 64; i; i--) {
                struct input same = in;
                allocate(pool, &m, &same);
            }
        } else if (what < 0xf0 && m.count) {
            size_t at = (take_byte(&in) << 8 | take_byte(&in)) % m.count;
            uint64_t handle = m.ranges[at].handle;
            MUST(gg_pool_free(pool, handle) == GG_OK && gg_pool_free(pool, handle) == GG_ERR_ARGUMENT);
            model_remove(&m, at);
        } else if (what < 0xf8) {
            struct gg_pool_range range;
            gg_pool_query(pool, (uint64_t)take_word(&in) << 32 | take_word(&in), &range);
        } else {
            MUST(gg_pool_trim(pool) == GG_OK && gg_pool_check(pool, NULL) == GG_OK);
        }
    }
    char *message = NULL;
    int32_t result = gg_pool_check(pool, &message);
    if (message)
        fprintf(stderr, "%s\n", message);
    gg_free(message);
    MUST(result == GG_OK && !model_compare(&m, pool));
    gg_pool_destroy(pool);
    MUST(m.block_count == 0);
    free(m.ranges);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A stream of any words, half of them again at an address that its indirect buffers can reach. Every packet lies in its
 * window, every register that it names exists, and reading ends.
 */
#include "input.h"

#include <guestgpu/drawcache.h>

#include <string.h>

#define MAIN        UINT64_C(0x10000)
#define SECOND      UINT64_C(0xffff800000000000)
#define MAX_PACKETS 4096 /* buffers that call one another are long; the reader's own limit is for users */

/* Guest memory of its own size, so that the sanitizer sees the first byte beyond it. */
static uint32_t *copy_of(const uint8_t *data, size_t words)
{
    uint32_t *copy = malloc(4 * words + !words);
    MUST(copy);
    if (words)
        memcpy(copy, data, 4 * words);
    return copy;
}

static void look_at_packet(const struct gg_pm4_stream *stream, const struct gg_pm4_packet *p,
                           const struct gg_guest_window windows[2])
{
    const struct gg_guest_window *w = &windows[p->address >= SECOND];
    MUST(p->word_count >= 1 && p->address >= w->address);
    MUST(p->address - w->address + 4 * (uint64_t)p->word_count <= w->size);
    MUST((const char *)p->words == (const char *)w->host + (p->address - w->address));
    MUST(p->depth <= GG_PM4_MAX_DEPTH && p->first_register + p->register_count <= GG_PM4_REGISTERS);
    char name[GG_PM4_NAME_BYTES];
    gg_pm4_register_name(p->first_register, name);
    MUST(memchr(name, 0, sizeof name));
    if (p->effect == GG_PM4_DISPATCH) {
        struct gg_pm4_dispatch d = {0};
        char *message = NULL;
        if (!look_at(gg_pm4_dispatch(stream, &d, &message), message))
            MUST((d.wave == 32 || d.wave == 64) && d.vgprs <= 512 && d.lds_bytes <= 511 * 512);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t words = size / 4, half = words / 2;
    uint32_t *main_words = copy_of(data, words), *second_words = copy_of(data, half);
    const struct gg_guest_window windows[2] = {{.address = MAIN, .size = 4 * words, .host = main_words},
                                               {.address = SECOND, .size = 4 * half, .host = second_words}};
    struct gg_pm4_stream *stream = NULL;
    char *message = NULL;
    MUST(!look_at(gg_pm4_create(&stream, &message), message));
    MUST(!look_at(gg_pm4_begin(stream, windows, 2, MAIN, words, &message), message));
    for (int i = 0; i < MAX_PACKETS; i++) {
        struct gg_pm4_packet packet = {0};
        if (look_at(gg_pm4_next(stream, &packet, &message), message) || packet.effect == GG_PM4_END)
            break;
        look_at_packet(stream, &packet, windows);
    }
    gg_pm4_destroy(stream);
    free(main_words);
    free(second_words);
    return 0;
}

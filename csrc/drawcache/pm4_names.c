/* SPDX-License-Identifier: MIT */
/* Names of packets and registers, out of the tables. */
#include "pm4.h"

#include <stdio.h>

static const struct pm4_opcode opcodes[256] = {
#define PACKET(code, text, what) [code] = {#text, ACTION_##what},
#include "packets.def"
#undef PACKET
};

struct named_range {
    uint16_t first;
    uint16_t count;
    uint16_t stride;
    uint16_t number;
    const char *format; /* with %u where count > 1 */
};

static const struct named_range ranges[] = {
#define REGISTER(first, count, stride, number, format) {first, count, stride, number, format},
#include "registers.def"
#undef REGISTER
};

const struct pm4_opcode *pm4_opcode(uint32_t opcode) { return &opcodes[opcode & 0xff]; }

const char *gg_pm4_opcode_name(uint32_t opcode) { return opcode < 256 ? opcodes[opcode].name : NULL; }

/* Writes the format with number in the place of its %u, if it has one. */
static void write_name(char *name, const char *format, unsigned number)
{
    size_t at = 0;
    for (const char *c = format; *c && at + 1 < GG_PM4_NAME_BYTES; c++) {
        if (c[0] == '%' && c[1] == 'u') {
            int digits = snprintf(name + at, GG_PM4_NAME_BYTES - at, "%u", number);
            at += digits > 0 ? (size_t)digits : 0;
            c++;
        } else
            name[at++] = *c;
    }
    name[at < GG_PM4_NAME_BYTES ? at : GG_PM4_NAME_BYTES - 1] = 0;
}

void gg_pm4_register_name(uint32_t index, char *name)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct named_range *r = &ranges[i];
        uint32_t distance = index - r->first;
        if (index >= r->first && distance % r->stride == 0 && distance / r->stride < r->count) {
            write_name(name, r->format, r->number + distance / r->stride);
            return;
        }
    }
    snprintf(name, GG_PM4_NAME_BYTES, "0x%04X", index);
}

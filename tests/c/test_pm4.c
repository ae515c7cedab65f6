/* SPDX-License-Identifier: MIT */
/* Packets, indirect buffers, registers and dispatches, from words written by hand. */
#include <guestgpu/drawcache.h>

#include "expect.h"

#define COUNT(array)        (sizeof(array) / sizeof *(array))
#define TYPE3(opcode, body) (3u << 30 | ((body) - 1u) << 16 | (opcode) << 8)

enum {
    NOP = 0x10,
    SET_BASE = 0x11,
    CLEAR_STATE = 0x12,
    DISPATCH_DIRECT = 0x15,
    DISPATCH_INDIRECT = 0x16,
    DRAW_INDEX_AUTO = 0x2d,
    INDIRECT_BUFFER = 0x3f,
    COPY_DATA = 0x40,
    CONTEXT_REG_RMW = 0x51,
    LOAD_SH_REG_INDEX = 0x63,
    SET_CONTEXT_REG = 0x69,
    SET_SH_REG = 0x76,
    SET_UCONFIG_REG = 0x79,
};

#define MAIN   UINT64_C(0x1000)
#define SECOND UINT64_C(0xffff800000000000)

static struct gg_pm4_stream *stream;
static uint32_t second[64];

/* Begins on `words` at MAIN; `second` lies at SECOND. */
static int32_t begin(const uint32_t *words, size_t count, char **message)
{
    const struct gg_guest_window windows[] = {{.address = SECOND, .size = sizeof second, .host = second},
                                              {.address = MAIN, .size = 4 * count, .host = (void *)(uintptr_t)words}};
    return gg_pm4_begin(stream, windows, 2, MAIN, count, message);
}

static struct gg_pm4_packet next(const char *what)
{
    struct gg_pm4_packet packet = {.effect = GG_PM4_END};
    char *message = NULL;
    expect_ok(what, gg_pm4_next(stream, &packet, &message), &message);
    return packet;
}

/* The packets of `words`, of which the last must fail with `wanted` and `text`, or the end come when it is GG_OK. */
static void read_all(const char *what, const uint32_t *words, size_t count, int32_t wanted, const char *text)
{
    char *message = NULL;
    struct gg_pm4_packet packet = {0};
    int32_t result = begin(words, count, &message);
    for (int i = 0; i < 100 && !result && packet.effect != GG_PM4_END; i++)
        result = gg_pm4_next(stream, &packet, &message);
    expect(what, result, wanted, &message, text);
    CHECK(wanted || packet.effect == GG_PM4_END, "%s: goes on after 100 packets", what);
    result = gg_pm4_next(stream, &packet, &message);
    expect("after the end", result, GG_ERR_ARGUMENT, &message, "nothing was begun");
}
#define READ(what, wanted, text, ...)                                                                                  \
    read_all(what, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4, wanted, text)

static void expect_register(const char *what, uint32_t index, uint32_t wanted, uint32_t wanted_set)
{
    uint32_t value = 0, set = 0;
    char *message = NULL;
    expect_ok(what, gg_pm4_register(stream, index, &value, &set, &message), &message);
    CHECK(value == wanted && set == wanted_set, "%s: register %#x is %#x, set %u", what, index, value, set);
}

static void test_packets(void)
{
    static const uint32_t words[] = {TYPE3(NOP, 2),
                                     7,
                                     8,
                                     0xffff1000 /* a NOP of the header alone */,
                                     2u << 30,
                                     TYPE3(SET_SH_REG, 3) | 3,
                                     0x240,
                                     11,
                                     12,
                                     1u << 16 | 0xc100 /* type 0 */,
                                     21,
                                     22};
    char *message = NULL;
    expect_ok("begin", begin(words, COUNT(words), &message), &message);
    struct gg_pm4_packet p = next("NOP");
    CHECK(p.type == 3 && p.opcode == NOP && p.word_count == 3 && p.address == MAIN && p.words == words, "NOP");
    p = next("one word");
    CHECK(p.word_count == 1 && p.address == MAIN + 12, "NOP of %u words", p.word_count);
    p = next("type 2");
    CHECK(p.type == 2 && p.word_count == 1, "type %u", p.type);
    p = next("SET_SH_REG");
    CHECK(p.effect == GG_PM4_REGISTER && p.first_register == 0x2e40 && p.register_count == 2, "%#x", p.first_register);
    CHECK(p.compute && p.predicate, "flags of the header");
    p = next("type 0");
    CHECK(p.type == 0 && p.first_register == 0xc100 && p.register_count == 2, "type %u", p.type);
    p = next("end");
    CHECK(p.effect == GG_PM4_END, "effect %u", p.effect);
    expect_register("SET_SH_REG", 0x2e41, 12, 1);
    expect_register("type 0", 0xc101, 22, 1);
    expect_register("never written", 0x2e42, 0, 0);
    CHECK(gg_pm4_register(stream, GG_PM4_REGISTERS, NULL, NULL, NULL) == GG_ERR_ARGUMENT, "register 65536");
}

static void test_indirect_buffers(void)
{
    char *message = NULL;
    memcpy(second, (const uint32_t[]){TYPE3(SET_CONTEXT_REG, 2), 5, 55, TYPE3(INDIRECT_BUFFER, 3), 0x20, 0xffff8000, 3},
           28);
    memcpy(second + 8, (const uint32_t[]){TYPE3(SET_UCONFIG_REG, 2), 6, 66}, 12);
    const uint32_t words[] = {TYPE3(INDIRECT_BUFFER, 3), 0, 0xffff8000, 7, TYPE3(NOP, 1), 0};
    expect_ok("begin", begin(words, COUNT(words), &message), &message);
    static const uint32_t depths[] = {0, 1, 1, 2, 0};
    for (size_t i = 0; i < COUNT(depths); i++) {
        struct gg_pm4_packet p = next("packet");
        CHECK(p.depth == depths[i], "packet %zu has depth %u", i, p.depth);
        CHECK(i || (p.effect == GG_PM4_BUFFER && p.target == SECOND && p.target_words == 7), "target %#llx",
              (unsigned long long)p.target);
    }
    CHECK(next("end").effect == GG_PM4_END, "no end");
    expect_register("first buffer", 0xa005, 55, 1);
    expect_register("second buffer", 0xc006, 66, 1);

    /* Chained: what follows in the first buffer is never read; it would be an error. */
    memcpy(second, (const uint32_t[]){TYPE3(NOP, 1), 0}, 8);
    READ("chain", GG_OK, NULL, TYPE3(INDIRECT_BUFFER, 3), 0, 0xffff8000, 1u << 20 | 2, 1u << 30);
    READ("empty buffer", GG_OK, NULL, TYPE3(INDIRECT_BUFFER, 3), 4, 0, 0);
    READ("not mapped", GG_ERR_FORMAT, "not mapped", TYPE3(INDIRECT_BUFFER, 3), 4, 0, 1);
    READ("beyond its window", GG_ERR_FORMAT, "not mapped", TYPE3(INDIRECT_BUFFER, 3), 0, 0xffff8000, 65);
    memcpy(second, (const uint32_t[]){TYPE3(INDIRECT_BUFFER, 3), 0, 0xffff8000, 4}, 16);
    READ("calls itself", GG_ERR_LIMIT, "nested deeper than 4", TYPE3(INDIRECT_BUFFER, 3), 0, 0xffff8000, 4);
}

static void test_a_ring_of_chained_buffers_ends(void)
{
    char *message = NULL;
    struct gg_pm4_packet packet = {0};
    static uint32_t words[1 << 14];
    for (size_t i = 0; i + 4 < COUNT(words); i++)
        words[i] = 2u << 30;
    memcpy(words + COUNT(words) - 4,
           (const uint32_t[]){TYPE3(INDIRECT_BUFFER, 3), (uint32_t)MAIN, 0, 1u << 20 | (uint32_t)COUNT(words)}, 16);
    /* Only the long packets cost words: make one of nearly all of them. */
    words[0] = TYPE3(NOP, COUNT(words) - 5);
    expect_ok("begin", begin(words, COUNT(words), &message), &message);
    int32_t result = GG_OK;
    while (!result)
        result = gg_pm4_next(stream, &packet, &message);
    expect("ring", result, GG_ERR_LIMIT, &message, "chained in a ring");
}

static void test_bad_packets(void)
{
    READ("cut off", GG_ERR_FORMAT, "cut off", TYPE3(NOP, 2), 0);
    READ("only a header", GG_ERR_FORMAT, "SET_SH_REG at 0x1000", TYPE3(SET_SH_REG, 2));
    READ("type 1", GG_ERR_FORMAT, "type 1", 1u << 30);
    READ("no register", GG_ERR_FORMAT, "sets no register", TYPE3(SET_SH_REG, 1), 0);
    READ("beyond the space", GG_ERR_FORMAT, "out of range", TYPE3(SET_SH_REG, 3), 0x3ff, 1, 2);
    READ("far beyond", GG_ERR_FORMAT, "out of range", TYPE3(SET_CONTEXT_REG, 2), 0xffff, 1);
    READ("type 0 beyond", GG_ERR_FORMAT, "out of range", 1u << 16 | 0xffff, 1, 2);
    READ("short buffer packet", GG_ERR_FORMAT, "too few", TYPE3(INDIRECT_BUFFER, 2), 0, 0);
    READ("short dispatch", GG_ERR_FORMAT, "too few", TYPE3(DISPATCH_DIRECT, 3), 1, 1, 1);
    READ("short copy", GG_ERR_FORMAT, "too few", TYPE3(COPY_DATA, 4), 1, 0, 0, 0);
    READ("copy from nowhere", GG_ERR_FORMAT, "not mapped", TYPE3(COPY_DATA, 5), 1, 16, 0, 0x2e40, 0);
    READ("load from nowhere", GG_ERR_FORMAT, "not mapped", TYPE3(LOAD_SH_REG_INDEX, 4), 16, 0, 0x240, 1);
    READ("load beyond", GG_ERR_FORMAT, "out of range", TYPE3(LOAD_SH_REG_INDEX, 4), 0, 0xffff8000, 0x3ff, 2);
    READ("unknown opcode", GG_OK, NULL, TYPE3(0xfe, 1), 0);

    char *message = NULL;
    const uint32_t word = 2u << 30;
    struct gg_guest_window window = {.address = MAIN, .size = 4, .host = (void *)(uintptr_t)&word};
    expect("outside", gg_pm4_begin(stream, &window, 1, MAIN, 2, &message), GG_ERR_FORMAT, &message,
           "2 words at 0x1000");
    expect("odd address", gg_pm4_begin(stream, &window, 1, MAIN + 2, 1, &message), GG_ERR_FORMAT, &message, "0x1002");
    expect("too long", gg_pm4_begin(stream, &window, 1, MAIN, UINT64_C(1) << 62, &message), GG_ERR_LIMIT, &message,
           "are more than");
    window.address = MAIN + 1;
    expect("odd window", gg_pm4_begin(stream, &window, 1, MAIN, 1, &message), GG_ERR_ARGUMENT, &message, "window 0");
    window = (struct gg_guest_window){.address = UINT64_MAX - 3, .size = 8, .host = (void *)(uintptr_t)&word};
    expect("around", gg_pm4_begin(stream, &window, 1, MAIN, 1, &message), GG_ERR_ARGUMENT, &message, "window 0");
    expect("NULL", gg_pm4_begin(NULL, &window, 1, MAIN, 1, &message), GG_ERR_ARGUMENT, &message, "NULL");
    expect("NULL", gg_pm4_create(NULL, &message), GG_ERR_ARGUMENT, &message, "NULL");
    gg_pm4_destroy(NULL);
}

static void test_register_packets(void)
{
    second[2] = 77;
    second[3] = 78;
    READ("copies", GG_OK, NULL, TYPE3(COPY_DATA, 5), 5, 31, 32, 0x2e42, 0, /* an immediate */
         TYPE3(COPY_DATA, 5), 1u << 16 | 1, 8, 0xffff8000, 0x2e43, 0,      /* two words of memory */
         TYPE3(COPY_DATA, 5), 5u << 8 | 5, 99, 0, 0x2e42, 0,               /* to memory: nothing here */
         TYPE3(LOAD_SH_REG_INDEX, 4), 12, 0xffff8000, 0x245, 1, TYPE3(SET_CONTEXT_REG, 2), 9, 0xff00ff00,
         TYPE3(CONTEXT_REG_RMW, 3), 9, 0xffff, 0x1234);
    expect_register("immediate", 0x2e42, 31, 1);
    expect_register("memory", 0x2e43, 77, 1);
    expect_register("memory", 0x2e44, 78, 1);
    expect_register("loaded", 0x2e45, 78, 1);
    expect_register("modified", 0xa009, 0xff001234, 1);
    READ("clear", GG_OK, NULL, TYPE3(CLEAR_STATE, 1), 0);
    expect_register("context is cleared", 0xa009, 0, 0);
    expect_register("SH is not", 0x2e42, 31, 1);
}

/* The launch state of a real dispatch, and what is derived from it. */
static void test_dispatch(void)
{
    char *message = NULL;
    struct gg_pm4_dispatch d;
    const uint32_t words[] = {TYPE3(SET_SH_REG, 2),
                              0x242,
                              0x40000,
                              TYPE3(SET_SH_REG, 3),
                              0x20c,
                              0x12,
                              0x80,
                              TYPE3(SET_SH_REG, 3),
                              0x212,
                              0x602c0001,
                              0x00010087 /* scratch, 3 user SGPRs, 2 units of LDS */,
                              TYPE3(SET_SH_REG, 2),
                              0x218,
                              3u << 12,
                              TYPE3(SET_SH_REG, 4),
                              0x207,
                              256,
                              2,
                              1,
                              TYPE3(DISPATCH_DIRECT, 4),
                              64,
                              3,
                              2,
                              0x2045,
                              TYPE3(NOP, 1),
                              0,
                              TYPE3(SET_SH_REG, 4),
                              0x204,
                              1,
                              0,
                              0,
                              TYPE3(DISPATCH_DIRECT, 4),
                              64,
                              3,
                              2,
                              0x8041,
                              TYPE3(DISPATCH_DIRECT, 4),
                              100,
                              1,
                              1,
                              0x25,
                              TYPE3(SET_BASE, 3),
                              1,
                              0,
                              0xffff8000,
                              TYPE3(DISPATCH_INDIRECT, 2),
                              8,
                              0x45,
                              TYPE3(DISPATCH_INDIRECT, 3),
                              4,
                              0xffff8000,
                              0x45,
                              TYPE3(DISPATCH_INDIRECT, 2),
                              0x1000,
                              0x45,
                              TYPE3(DRAW_INDEX_AUTO, 2),
                              3,
                              2};
    memcpy(second, (const uint32_t[]){9, 8, 7, 6, 5}, 20);
    expect_ok("begin", begin(words, COUNT(words), &message), &message);
    for (int i = 0; i < 5; i++)
        next("register");
    expect("not yet", gg_pm4_dispatch(stream, &d, &message), GG_ERR_ARGUMENT, &message, "no dispatch");
    CHECK(next("dispatch").effect == GG_PM4_DISPATCH, "no dispatch");
    expect_ok("dispatch", gg_pm4_dispatch(stream, &d, &message), &message);
    CHECK(d.program == UINT64_C(0xffff800000001200), "%#llx", (unsigned long long)d.program);
    CHECK(d.known && d.wave == 64 && d.vgprs == 8 && d.user_sgprs == 3 && d.user_data[2] == 0x40000, "state");
    CHECK(d.lds_bytes == 1024 && d.scratch_bytes == 48, "LDS %u, scratch %u", d.lds_bytes, d.scratch_bytes);
    CHECK(d.threads[0] == 256 && d.threads[1] == 2 && d.threads[2] == 1, "threads");
    CHECK(d.groups[0] == 64 && d.groups[1] == 3 && d.groups[2] == 2 && !d.first_group[0], "groups");
    next("NOP");
    expect("too late", gg_pm4_dispatch(stream, &d, &message), GG_ERR_ARGUMENT, &message, "no dispatch");
    next("start");
    next("wave32");
    expect_ok("wave32 from group 1", gg_pm4_dispatch(stream, &d, &message), &message);
    CHECK(d.wave == 32 && d.vgprs == 16 && d.scratch_bytes == 96, "wave %u, VGPRs %u", d.wave, d.vgprs);
    CHECK(d.first_group[0] == 1 && d.groups[0] == 63, "%u groups from %u", d.groups[0], d.first_group[0]);
    next("in threads");
    expect_ok("dimensions in threads", gg_pm4_dispatch(stream, &d, &message), &message);
    CHECK(d.groups[0] == 1 && d.partial[0] == 100 && d.groups[1] == 1 && d.partial[1] == 1, "%u groups, %u",
          d.groups[0], d.partial[0]);
    next("SET_BASE");
    next("indirect");
    expect_ok("counts at base + 8", gg_pm4_dispatch(stream, &d, &message), &message);
    CHECK(d.indirect == SECOND + 8 && d.groups[0] == 7 && d.groups[2] == 5, "groups %u", d.groups[0]);
    next("indirect by address");
    expect_ok("counts at an address", gg_pm4_dispatch(stream, &d, &message), &message);
    CHECK(d.indirect == SECOND + 4 && d.groups[0] == 8, "groups %u", d.groups[0]);
    next("indirect elsewhere");
    expect("counts nowhere", gg_pm4_dispatch(stream, &d, &message), GG_ERR_FORMAT, &message, "counts from memory");
    CHECK(next("draw").effect == GG_PM4_DRAW, "no draw");
}

static void expect_name(uint32_t index, const char *wanted)
{
    char name[GG_PM4_NAME_BYTES];
    memset(name, 'x', sizeof name);
    gg_pm4_register_name(index, name);
    CHECK(!strcmp(name, wanted), "register %#x is %s", index, name);
}

static void test_names(void)
{
    expect_name(0x2e12, "COMPUTE_PGM_RSRC1");
    expect_name(0x2e13, "COMPUTE_PGM_RSRC2");
    expect_name(0x2e42, "COMPUTE_USER_DATA_2");
    expect_name(0x2c8a, "SPI_SHADER_PGM_RSRC1_GS");
    expect_name(0xa318 + 15, "CB_COLOR1_BASE");
    expect_name(0xa207, "PA_CL_VS_OUT_CNTL");
    expect_name(0x1fff, "0x1FFF");
    CHECK(!strcmp(gg_pm4_opcode_name(SET_SH_REG), "SET_SH_REG"), "opcode");
    CHECK(!gg_pm4_opcode_name(0xfe) && !gg_pm4_opcode_name(0x176), "an opcode without a row");
    for (uint32_t i = 0; i < GG_PM4_REGISTERS; i++) {
        char name[GG_PM4_NAME_BYTES];
        gg_pm4_register_name(i, name);
        size_t length = strnlen(name, sizeof name);
        if (!length || length == sizeof name)
            CHECK(length && length < sizeof name, "register %#x has a name of %zu characters", i, length);
    }
}

int main(void)
{
    char *message = NULL;
    expect_ok("create", gg_pm4_create(&stream, &message), &message);
    struct gg_pm4_packet packet;
    expect("too early", gg_pm4_next(stream, &packet, &message), GG_ERR_ARGUMENT, &message, "nothing was begun");
    test_packets();
    test_indirect_buffers();
    test_a_ring_of_chained_buffers_ends();
    test_bad_packets();
    test_register_packets();
    test_dispatch();
    test_names();
    gg_pm4_destroy(stream);
    return test_result();
}

/* SPDX-License-Identifier: MIT */
/* The host's part: header fills, draws with tracked index binding, the record head. Needs no device. */
#include <guestgpu/layout.h>

#include "expect.h"

#define AREA         3 /* its number in the buffer table */
#define P            0xdeadbeefu
#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct gg_layout_plan plan_of(const struct gg_layout_options *options)
{
    static const struct gg_mesh_shape shape = {.max_vertices = 64, .max_primitives = 124, .vertex_words = 22};
    struct gg_layout_plan plan = {0};
    char *message = NULL;
    expect_ok("plan", gg_layout_plan(&shape, options, &plan, &message), &message);
    return plan;
}

/* Members that say nothing must be zero: arrays of commands are compared and hashed. */
static void expect_command(const char *what, uint32_t i, const struct gg_command *got, const struct gg_command *wanted)
{
    CHECK(!memcmp(got, wanted, sizeof *got), "%s: command %u: kind %u buffer %u offset %llu size %llu value %u %u",
          what, i, got->kind, got->buffer, (unsigned long long)got->offset, (unsigned long long)got->size,
          got->value[0], got->value[1]);
}

struct fill {
    uint32_t word, words, value;
};

static void expect_fills(const char *what, const struct gg_layout_options *options, const struct fill *fills,
                         uint32_t fill_count)
{
    struct gg_layout_plan plan = plan_of(options);
    struct gg_command commands[GG_LAYOUT_MAX_FILLS];
    uint32_t count = 0, header[16];
    char *message = NULL;
    expect_ok(what, gg_layout_record_fills(&plan, options, AREA, commands, &count, &message), &message);
    CHECK(count == fill_count, "%s: %u fills", what, count);
    if (count != fill_count)
        return;
    for (uint32_t i = 0; i < 16; i++)
        header[i] = P;
    for (uint32_t i = 0; i < count; i++) {
        struct gg_command wanted = {.kind = GG_COMMAND_FILL,
                                    .buffer = AREA,
                                    .offset = 4 * fills[i].word,
                                    .size = 4 * fills[i].words,
                                    .bindings = 1,
                                    .value = {fills[i].value}};
        expect_command(what, i, &commands[i], &wanted);
        for (uint32_t w = fills[i].word; w < fills[i].word + fills[i].words; w++) {
            CHECK(w < plan.header_words && header[w] == P, "%s: fill %u overlaps at word %u", what, i, w);
            header[w] = fills[i].value;
        }
    }
    /* An indirect draw of nothing, an empty allocator, a dispatch of nothing in one row. */
    static const uint32_t start[8] = {0, 1, 0, 0, 0, 0, 1, 1}, indexed[5] = {0, 1, 0, 0, 0};
    expect_words(what, header, start, 8);
    if (options->census)
        CHECK(header[8] == 0 && header[10] == 0, "%s: census %u, cut %u", what, header[8], header[10]);
    if (options->runtime_fit)
        CHECK(header[9] == plan.area_words, "%s: capacity %u", what, header[9]);
    if (plan.indexed)
        expect_words(what, header + 11, indexed, 5);
}

static void test_fills(void)
{
    static const struct fill four[] = {{0, 1, 0}, {1, 1, 1}, {2, 4, 0}, {6, 2, 1}};
    for (uint32_t layout = GG_LAYOUT_UNSET; layout <= GG_LAYOUT_SOA; layout++) {
        expect_fills("short header", &(struct gg_layout_options){.layout = layout}, four, 4);
        expect_fills("long header", &(struct gg_layout_options){.layout = layout, .long_header = 1}, four, 4);
        static const struct fill with_census[] = {{0, 1, 0}, {1, 1, 1}, {2, 4, 0}, {6, 2, 1}, {8, 1, 0}, {10, 1, 0}};
        expect_fills("census", &(struct gg_layout_options){.layout = layout, .census = 1}, with_census, 6);
        static const struct fill with_fit[] = {{0, 1, 0}, {1, 1, 1}, {2, 4, 0}, {6, 2, 1}, {9, 1, 16384}};
        struct gg_layout_options options = {.layout = layout, .runtime_fit = 1, .area_bytes = 16384 * 4};
        expect_fills("run-time fit", &options, with_fit, 5);
        static const struct fill with_both[] = {{0, 1, 0},     {1, 1, 1}, {2, 4, 0}, {6, 2, 1},
                                                {9, 1, 16384}, {8, 1, 0}, {10, 1, 0}};
        options.census = 1;
        expect_fills("census and run-time fit", &options, with_both, 7);
    }
    static const struct fill seven[] = {{0, 1, 0}, {1, 1, 1}, {2, 4, 0}, {6, 2, 1}, {8, 4, 0}, {12, 1, 1}, {13, 3, 0}};
    expect_fills("indexed", &(struct gg_layout_options){.layout = GG_LAYOUT_INDEXED}, seven, 7);
    expect_fills("indexed, census", &(struct gg_layout_options){.layout = GG_LAYOUT_INDEXED, .census = 1}, seven, 7);
    static const struct fill nine[] = {{0, 1, 0}, {1, 1, 1},  {2, 4, 0},  {6, 2, 1}, {9, 1, 16384},
                                       {8, 1, 0}, {10, 2, 0}, {12, 1, 1}, {13, 3, 0}};
    struct gg_layout_options options = {.layout = GG_LAYOUT_INDEXED, .runtime_fit = 1, .area_bytes = 16384 * 4};
    expect_fills("indexed, run-time fit", &options, nine, 9);
    options.census = 1;
    expect_fills("indexed, both", &options, nine, 9);
}

static void test_fills_of_another_plan(void)
{
    struct gg_layout_plan plan = plan_of(&(struct gg_layout_options){0});
    struct gg_command commands[GG_LAYOUT_MAX_FILLS];
    static const struct gg_layout_options others[] = {{.census = 1}, {.runtime_fit = 1}};
    uint32_t count = 77;
    char *message = NULL;
    for (size_t i = 0; i < COUNT(others); i++)
        expect("another plan", gg_layout_record_fills(&plan, &others[i], AREA, commands, &count, &message),
               GG_ERR_ARGUMENT, &message, "a plan with 8 header words does not belong to these options");
    CHECK(count == 77, "the count was written");
}

static struct gg_command bound(uint32_t buffer, uint64_t offset, uint32_t size)
{
    return (struct gg_command){
        .kind = GG_COMMAND_BIND_INDEX, .buffer = buffer, .offset = offset, .bindings = 1, .value = {size}};
}

static const uint32_t guest_draw[5] = {36, 2, 5, 100, 1};

static struct gg_command drawn(void)
{
    struct gg_command command = {.kind = GG_COMMAND_DRAW_INDEXED, .bindings = 5};
    memcpy(command.value, guest_draw, sizeof guest_draw);
    return command;
}

static struct gg_command drawn_records(const struct gg_layout_plan *plan)
{
    return plan->indexed
               ? (struct gg_command){.kind = GG_COMMAND_DRAW_INDEXED_INDIRECT,
                                     .buffer = AREA,
                                     .offset = 44,
                                     .bindings = 2,
                                     .value = {1, 20}}
               : (struct gg_command){.kind = GG_COMMAND_DRAW_INDIRECT, .buffer = AREA, .bindings = 2, .value = {1, 16}};
}

/* A recording thread: what it was told, and the commands that this gave, one array. */
struct recording {
    struct gg_layout_recorder recorder;
    struct gg_command commands[32];
    uint32_t count;
};

static void guest_binds(struct recording *r, uint32_t buffer, uint64_t offset, uint32_t size)
{
    char *message = NULL;
    expect_ok("bind", gg_layout_recorder_bind_index(&r->recorder, buffer, offset, size, &message), &message);
}

static void guest_draws(struct recording *r)
{
    uint32_t count = 0;
    char *message = NULL;
    expect_ok("draw",
              gg_layout_recorder_draw_indexed(&r->recorder, guest_draw, r->commands + r->count, &count, &message),
              &message);
    r->count += count;
}

static void records_draw(struct recording *r, const struct gg_layout_plan *plan)
{
    uint32_t count = 0;
    char *message = NULL;
    expect_ok("records",
              gg_layout_recorder_draw_records(&r->recorder, plan, AREA, r->commands + r->count, &count, &message),
              &message);
    r->count += count;
}

static void expect_recorded(const char *what, const struct recording *r, const struct gg_command *wanted,
                            uint32_t count)
{
    CHECK(r->count == count, "%s: %u commands", what, r->count);
    for (uint32_t i = 0; i < count && i < r->count; i++)
        expect_command(what, i, &r->commands[i], &wanted[i]);
}

static void test_binding(void)
{
    const struct gg_layout_plan soa = plan_of(&(struct gg_layout_options){.layout = GG_LAYOUT_SOA});
    const struct gg_layout_plan indexed = plan_of(&(struct gg_layout_options){.layout = GG_LAYOUT_INDEXED});
    const uint64_t line = 4 * (16 + 22 * (uint64_t)729443); /* fit = (16777216 - 16) / 23 */

    struct recording r = {0};
    guest_binds(&r, 7, 256, 2);
    CHECK(r.count == 0, "binding alone records nothing");
    guest_draws(&r);
    guest_draws(&r); /* in place: not bound again */
    records_draw(&r, &indexed);
    records_draw(&r, &indexed); /* likewise */
    guest_draws(&r);            /* its own again, though the guest did not bind it again */
    records_draw(&r, &soa);     /* takes no index buffer and leaves the guest's in place */
    guest_draws(&r);
    const struct gg_command wanted[] = {
        bound(7, 256, 2),        drawn(),          drawn(), bound(AREA, line, 4), drawn_records(&indexed),
        drawn_records(&indexed), bound(7, 256, 2), drawn(), drawn_records(&soa),  drawn()};
    expect_recorded("guest, records, guest", &r, wanted, COUNT(wanted));

    r = (struct recording){0};
    records_draw(&r, &indexed);
    guest_binds(&r, 1, 0, 1);
    guest_binds(&r, 2, 0, 4); /* only the last counts */
    guest_draws(&r);
    guest_binds(&r, 2, 0, 4); /* the same once more */
    guest_draws(&r);
    guest_binds(&r, 2, 4, 4); /* buffer, offset and size each make it another */
    guest_draws(&r);
    guest_binds(&r, 2, 4, 2);
    guest_draws(&r);
    guest_binds(&r, 6, 4, 2);
    guest_draws(&r);
    const struct gg_command changes[] = {bound(AREA, line, 4),
                                         drawn_records(&indexed),
                                         bound(2, 0, 4),
                                         drawn(),
                                         drawn(),
                                         bound(2, 4, 4),
                                         drawn(),
                                         bound(2, 4, 2),
                                         drawn(),
                                         bound(6, 4, 2),
                                         drawn()};
    expect_recorded("changes", &r, changes, COUNT(changes));

    r = (struct recording){0};
    guest_binds(&r, AREA, line, 4); /* the guest's own binding happens to be the index line */
    records_draw(&r, &indexed);
    guest_draws(&r);
    const struct gg_command shared[] = {bound(AREA, line, 4), drawn_records(&indexed), drawn()};
    expect_recorded("the same binding", &r, shared, COUNT(shared));
}

static void test_bad_bindings(void)
{
    struct gg_layout_recorder recorder = {0}, before = recorder;
    struct gg_command commands[2];
    uint32_t count = 77;
    char *message = NULL;
    expect("nothing bound", gg_layout_recorder_draw_indexed(&recorder, guest_draw, commands, &count, &message),
           GG_ERR_ARGUMENT, &message, "no index buffer was bound");
    expect("index size", gg_layout_recorder_bind_index(&recorder, 1, 0, 3, &message), GG_ERR_ARGUMENT, &message,
           "an index of 3 bytes");
    expect("index size", gg_layout_recorder_bind_index(&recorder, 1, 0, 0, &message), GG_ERR_ARGUMENT, &message,
           "an index of 0 bytes");
    expect("offset", gg_layout_recorder_bind_index(&recorder, 1, 6, 4, &message), GG_ERR_ARGUMENT, &message,
           "offset 6 is no multiple of 4");
    CHECK(!memcmp(&recorder, &before, sizeof recorder) && count == 77, "a failure changed the recorder");
}

static const struct gg_layout_head heads[] = {
    {GG_LAYOUT_AOS, 0, 8, 27, GG_LAYOUT_UNSET},        {GG_LAYOUT_AOS, 0, 16, 1, GG_LAYOUT_AOS},
    {GG_LAYOUT_SOA, 0, 8, 128, GG_LAYOUT_SOA},         {GG_LAYOUT_SOA, 0, 16, 22, GG_LAYOUT_INDEXED},
    {GG_LAYOUT_INDEXED, 1, 16, 22, GG_LAYOUT_INDEXED},
};

static void test_head(void)
{
    for (size_t i = 0; i < COUNT(heads); i++) {
        uint8_t bytes[GG_LAYOUT_HEAD_BYTES + 1];
        struct gg_layout_head read = {0};
        char *message = NULL;
        expect_ok("write", gg_layout_head_write(&heads[i], bytes, &message), &message);
        expect_ok("read", gg_layout_head_read(bytes, GG_LAYOUT_HEAD_BYTES, &read, &message), &message);
        CHECK(!memcmp(&read, &heads[i], sizeof read), "head %zu: another one came back", i);
        bytes[GG_LAYOUT_HEAD_BYTES] = 0x55; /* a program follows */
        expect_ok("more bytes", gg_layout_head_read(bytes, sizeof bytes, &read, &message), &message);

        memset(&read, 0, sizeof read);
        const struct gg_layout_head untouched = read;
        for (size_t k = 0; k < GG_LAYOUT_HEAD_BYTES; k++)
            for (unsigned flip = 1; flip < 256; flip++) {
                bytes[k] ^= (uint8_t)flip;
                expect("corrupted", gg_layout_head_read(bytes, GG_LAYOUT_HEAD_BYTES, &read, &message), GG_ERR_FORMAT,
                       &message, "record head: ");
                bytes[k] ^= (uint8_t)flip;
            }
        for (uint64_t size = 0; size < GG_LAYOUT_HEAD_BYTES; size++)
            expect("short", gg_layout_head_read(bytes, size, &read, &message), GG_ERR_FORMAT, &message,
                   "bytes, must be 32");
        CHECK(!memcmp(&read, &untouched, sizeof read), "head %zu: a failure wrote it", i);
    }
}

static void test_head_bytes(void)
{
    /* "GGLH", version 1, indexed, 1, 16, 22, indexed, FNV-1a of what is before it */
    static const uint8_t wanted[GG_LAYOUT_HEAD_BYTES] = {'G', 'G', 'L', 'H', 1, 0,  0,    0,    3,    0,   0,
                                                         0,   1,   0,   0,   0, 16, 0,    0,    0,    22,  0,
                                                         0,   0,   3,   0,   0, 0,  0x19, 0xed, 0x8d, 0xca};
    uint8_t bytes[GG_LAYOUT_HEAD_BYTES];
    char *message = NULL;
    expect_ok("write", gg_layout_head_write(&heads[4], bytes, &message), &message);
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == wanted[i], "byte %zu is %#x instead of %#x", i, bytes[i], wanted[i]);
}

static void test_bad_heads(void)
{
    static const struct {
        struct gg_layout_head head;
        const char *text;
    } rows[] = {
        {{0, 0, 8, 22, 0}, "record head: layout 0"},
        {{4, 0, 8, 22, 0}, "record head: layout 4"},
        {{GG_LAYOUT_SOA, 1, 16, 22, 0}, "record head: layout 2 with indexed 1"},
        {{GG_LAYOUT_INDEXED, 0, 16, 22, 0}, "record head: layout 3 with indexed 0"},
        {{GG_LAYOUT_INDEXED, 2, 16, 22, 0}, "record head: layout 3 with indexed 2"},
        {{GG_LAYOUT_INDEXED, 1, 8, 22, 0}, "record head: indexed with 8 header words"},
        {{GG_LAYOUT_AOS, 0, 12, 22, 0}, "record head: 12 header words"},
        {{GG_LAYOUT_AOS, 0, 8, 0, 0}, "record head: records of 0 words"},
        {{GG_LAYOUT_AOS, 0, 8, 129, 0}, "record head: records of 129 words"},
        {{GG_LAYOUT_AOS, 0, 8, 22, 4}, "record head: stamp 4"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[GG_LAYOUT_HEAD_BYTES] = {0}, untouched[GG_LAYOUT_HEAD_BYTES] = {0};
        char *message = NULL;
        expect(rows[i].text, gg_layout_head_write(&rows[i].head, bytes, &message), GG_ERR_ARGUMENT, &message,
               rows[i].text);
        CHECK(!memcmp(bytes, untouched, sizeof bytes), "%s: bytes were written", rows[i].text);
    }
}

static void test_serves(void)
{
    /* Rows: the stamp; columns: the switch now. Unset and aos choose the same; a switch left unset takes what is there.
     */
    static const uint32_t serves[4][5] = {
        [GG_LAYOUT_UNSET] = {1, 1, 0, 0, 0},
        [GG_LAYOUT_AOS] = {1, 1, 0, 0, 0},
        [GG_LAYOUT_SOA] = {1, 0, 1, 0, 0},
        [GG_LAYOUT_INDEXED] = {1, 0, 0, 1, 0},
    };
    for (uint32_t stamp = GG_LAYOUT_UNSET; stamp <= GG_LAYOUT_INDEXED; stamp++)
        for (uint32_t now = 0; now < 5; now++) {
            /* What was emitted plays no part: an indexed switch may have emitted soa. */
            const struct gg_layout_head head = {GG_LAYOUT_SOA, 0, 16, 22, stamp};
            CHECK(gg_layout_head_serves(&head, now) == serves[stamp][now], "stamp %u, switch %u", stamp, now);
        }
}

int main(void)
{
    test_fills();
    test_fills_of_another_plan();
    test_binding();
    test_bad_bindings();
    test_head();
    test_head_bytes();
    test_bad_heads();
    test_serves();
    return test_result();
}

/* SPDX-License-Identifier: MIT */
/* layout plan and layout emit. */
#include "cli.h"

#include <guestgpu/layout.h>

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct gg_mesh_shape shape;
    struct gg_layout_options options;
    const char *file; /* of -o; NULL without */
};

/* Decimal, or hexadecimal with 0x; the whole text. */
static bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    char *end;
    if (!strchr("0123456789abcdefABCDEF", *digits) || !*digits) /* strtoull would take signs and blanks */
        return false;
    errno = 0;
    unsigned long long value = strtoull(digits, &end, hex ? 16 : 10);
    if (errno || *end || value > most)
        return false;
    *number = value;
    return true;
}

static bool parse_word(const char *text, uint32_t *word)
{
    uint64_t number;
    if (!parse_number(text, UINT32_MAX, &number))
        return false;
    *word = (uint32_t)number;
    return true;
}

/* The place of `text` among names; a NULL ends them. */
static bool parse_name(const char *text, const char *const *names, uint32_t *place)
{
    for (uint32_t i = 0; names[i]; i++)
        if (!strcmp(text, names[i])) {
            *place = i;
            return true;
        }
    return false;
}

static const char *const topologies[] = {"triangles", "lines", "points", NULL};
static const char *const layouts[] = {"unset", "aos", "soa", "indexed", NULL};
static const char *const kinds[] = {"smooth", "flat", "size", NULL};

/* KIND:LOCATION:WORD:WORDS */
static bool parse_output(const char *text, struct gg_mesh_output *output)
{
    char copy[64], *part[4];
    size_t parts = 0;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    for (char *at = copy; at; parts++) {
        if (parts == 4)
            return false;
        part[parts] = at;
        at = strchr(at, ':');
        if (at)
            *at++ = 0;
    }
    return parts == 4 && parse_name(part[0], kinds, &output->kind) && parse_word(part[1], &output->location) &&
           parse_word(part[2], &output->word) && parse_word(part[3], &output->words);
}

/* Reads the arguments into *r. Which numbers are allowed is the library's to say. */
static int parse(const char *verb, int count, char **arguments, bool shaped, struct request *r)
{
    struct gg_mesh_shape *s = &r->shape;
    struct gg_layout_options *o = &r->options;
    const struct {
        const char *name;
        uint32_t *flag, *word;
        uint64_t *number;
        const char *const *names; /* of the word's values */
        bool needed;
    } known[] = {
        {"--vertices", NULL, &s->max_vertices, NULL, NULL, true},
        {"--primitives", NULL, &s->max_primitives, NULL, NULL, true},
        {"--words", NULL, &s->vertex_words, NULL, NULL, true},
        {"--primitive-words", NULL, &s->primitive_words, NULL, NULL, false},
        {"--threads", NULL, &s->threads, NULL, NULL, false},
        {"--position", NULL, &s->position_word, NULL, NULL, false},
        {"--topology", NULL, &s->topology, NULL, topologies, false},
        {"--task", &s->task, NULL, NULL, NULL, false},
        {"--layout", NULL, &o->layout, NULL, layouts, false},
        {"--area", NULL, NULL, &o->area_bytes, NULL, false},
        {"--long-header", &o->long_header, NULL, NULL, NULL, false},
        {"--runtime-fit", &o->runtime_fit, NULL, NULL, NULL, false},
        {"--census", &o->census, NULL, NULL, NULL, false},
    };
    const size_t known_count = sizeof known / sizeof *known;
    uint32_t seen = 0;
    for (int i = 0; i < count; i++) {
        const char *name = arguments[i];
        size_t k = 0;
        while (k < known_count && strcmp(known[k].name, name))
            k++;
        bool file = !strcmp(name, "-o"), output = shaped && !strcmp(name, "--output");
        if (!file && !output && (!shaped || k == known_count))
            return gg_cli_usage("%s: unknown argument: %s", verb, name);
        if (!file && !output && known[k].flag) {
            *known[k].flag = 1;
            continue;
        }
        if (++i == count)
            return gg_cli_usage("%s: %s: its value is missing", verb, name);
        const char *value = arguments[i];
        bool right = true;
        if (file)
            r->file = value;
        else if (output && s->output_count == GG_LAYOUT_MAX_OUTPUTS)
            return gg_cli_usage("%s: --output: more than %d of them", verb, GG_LAYOUT_MAX_OUTPUTS);
        else if (output)
            right = parse_output(value, &s->outputs[s->output_count++]);
        else if (known[k].names)
            right = parse_name(value, known[k].names, known[k].word);
        else
            right = known[k].word ? parse_word(value, known[k].word) : parse_number(value, UINT64_MAX, known[k].number);
        if (!right)
            return gg_cli_usage("%s: %s: not a value for it: %s", verb, name, value);
        if (k < known_count)
            seen |= 1u << k;
    }
    for (size_t k = 0; shaped && k < known_count; k++)
        if (known[k].needed && !(seen >> k & 1))
            return gg_cli_usage("%s: %s is missing", verb, known[k].name);
    return GG_EXIT_OK;
}

int gg_cli_layout_plan(int count, char **arguments)
{
    struct request r = {0};
    struct gg_layout_plan p;
    char *message;
    int status = parse("layout plan", count, arguments, true, &r);
    if (status)
        return status;
    if (r.file)
        return gg_cli_usage("layout plan: it writes no file");
    int32_t result = gg_layout_plan(&r.shape, &r.options, &p, &message);
    if (result)
        return gg_cli_fail("layout plan", result, message);
    /* Named as in struct gg_layout_plan. */
    printf(
        "layout %s\nindexed %u\nheader_words %u\ncorners %u\nrecord_words %u\nslot_words %u\nfit %u\nstage_bytes %u\n"
        "area_words %" PRIu64 "\nindex_word %" PRIu64 "\nmax_slots %u\nmax_workgroups %u\n",
        layouts[p.layout], p.indexed, p.header_words, p.corners, p.record_words, p.slot_words, p.fit, p.stage_bytes,
        p.area_words, p.index_word, p.max_slots, p.max_workgroups);
    return GG_EXIT_OK;
}

static int write_module(const char *file, const uint32_t *words, uint64_t word_count)
{
    FILE *stream = fopen(file, "wb");
    bool written = stream && fwrite(words, sizeof *words, word_count, stream) == word_count;
    int error = errno;
    if (stream && fclose(stream) && written) {
        written = false;
        error = errno;
    }
    if (!written) {
        fprintf(stderr, "guestgpu-c layout emit: %s: %s\n", file, strerror(error));
        return GG_EXIT_FAILURE;
    }
    return GG_EXIT_OK;
}

int gg_cli_layout_emit(int count, char **arguments)
{
    static const char *const stages[] = {"mesh", "vertex", "task", "scan", NULL};
    enum {
        MESH,
        VERTEX,
        TASK,
        SCAN
    } stage;
    struct request r = {0};
    uint32_t *words, place;
    uint64_t word_count;
    char *message;
    if (!count || !parse_name(arguments[0], stages, &place))
        return gg_cli_usage("layout emit: the stage is missing: mesh, vertex, task or scan");
    stage = place;
    int status = parse("layout emit", count - 1, arguments + 1, stage == MESH || stage == VERTEX, &r);
    if (status)
        return status;
    if (!r.file)
        return gg_cli_usage("layout emit: -o FILE is missing");
    int32_t result = stage == MESH     ? gg_layout_emit_mesh(&r.shape, &r.options, &words, &word_count, &message)
                     : stage == VERTEX ? gg_layout_emit_vertex(&r.shape, &r.options, &words, &word_count, &message)
                     : stage == TASK   ? gg_layout_emit_task(&words, &word_count, &message)
                                       : gg_layout_emit_scan(&words, &word_count, &message);
    if (result)
        return gg_cli_fail("layout emit", result, message);
    status = write_module(r.file, words, word_count);
    gg_free(words);
    return status;
}

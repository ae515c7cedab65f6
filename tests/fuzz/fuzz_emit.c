/* SPDX-License-Identifier: MIT */
/*
 * The emitters, with shapes and options made of any bytes. What is accepted must give modules that parse:
 * word counts add up, sections stand in order, every id is below the bound, is defined once, and exists.
 */
#include "input.h"

#include <spirv/unified1/spirv.h>
#include <stdbool.h>
#include <string.h>

/* Of each instruction that we emit: which operands are ids. A new one must be added here. */
struct grammar {
    SpvOp op;
    bool has_type, has_result;
    uint8_t first, end; /* operands [first, end) are ids; those of type and result are not counted */
    uint8_t section;    /* never falls within a module */
};
#define ALL 0xff
static const struct grammar grammars[] = {
    {SpvOpCapability, false, false, 0, 0, 0},
    {SpvOpMemoryModel, false, false, 0, 0, 1},
    {SpvOpEntryPoint, false, false, 1, 2, 2}, /* the interface stands behind the name: see look_at_interface */
    {SpvOpExecutionMode, false, false, 0, 1, 3},
    {SpvOpName, false, false, 0, 1, 4},
    {SpvOpDecorate, false, false, 0, 1, 5},
    {SpvOpMemberDecorate, false, false, 0, 1, 5},
    {SpvOpTypeVoid, false, true, 0, 0, 6},
    {SpvOpTypeBool, false, true, 0, 0, 6},
    {SpvOpTypeInt, false, true, 0, 0, 6},
    {SpvOpTypeFloat, false, true, 0, 0, 6},
    {SpvOpTypeVector, false, true, 0, 1, 6},
    {SpvOpTypeArray, false, true, 0, 2, 6},
    {SpvOpTypeRuntimeArray, false, true, 0, 1, 6},
    {SpvOpTypeStruct, false, true, 0, ALL, 6},
    {SpvOpTypePointer, false, true, 1, 2, 6},
    {SpvOpTypeFunction, false, true, 0, ALL, 6},
    {SpvOpConstant, true, true, 0, 0, 6},
    {SpvOpVariable, true, true, 0, 0, 6}, /* also in the function, where anything may follow */
    {SpvOpFunction, true, true, 1, 2, 7},
    {SpvOpLabel, false, true, 0, 0, 7},
    {SpvOpLoad, true, true, 0, 1, 7},
    {SpvOpStore, false, false, 0, 2, 7},
    {SpvOpAccessChain, true, true, 0, ALL, 7},
    {SpvOpCompositeConstruct, true, true, 0, ALL, 7},
    {SpvOpCompositeExtract, true, true, 0, 1, 7},
    {SpvOpBitcast, true, true, 0, 1, 7},
    {SpvOpIAdd, true, true, 0, 2, 7},
    {SpvOpISub, true, true, 0, 2, 7},
    {SpvOpIMul, true, true, 0, 2, 7},
    {SpvOpUDiv, true, true, 0, 2, 7},
    {SpvOpUMod, true, true, 0, 2, 7},
    {SpvOpBitwiseAnd, true, true, 0, 2, 7},
    {SpvOpShiftLeftLogical, true, true, 0, 2, 7},
    {SpvOpShiftRightLogical, true, true, 0, 2, 7},
    {SpvOpLogicalAnd, true, true, 0, 2, 7},
    {SpvOpIEqual, true, true, 0, 2, 7},
    {SpvOpINotEqual, true, true, 0, 2, 7},
    {SpvOpULessThan, true, true, 0, 2, 7},
    {SpvOpULessThanEqual, true, true, 0, 2, 7},
    {SpvOpSelect, true, true, 0, 3, 7},
    {SpvOpAtomicIAdd, true, true, 0, 4, 7},
    {SpvOpAtomicUMax, true, true, 0, 4, 7},
    {SpvOpPhi, true, true, 0, ALL, 7},
    {SpvOpControlBarrier, false, false, 0, 3, 7},
    {SpvOpSelectionMerge, false, false, 0, 1, 7},
    {SpvOpLoopMerge, false, false, 0, 2, 7},
    {SpvOpBranch, false, false, 0, 1, 7},
    {SpvOpBranchConditional, false, false, 0, 3, 7},
    {SpvOpReturn, false, false, 0, 0, 7},
    {SpvOpFunctionEnd, false, false, 0, 0, 7},
};

static const struct grammar *grammar_of(uint32_t op)
{
    const size_t known = sizeof grammars / sizeof *grammars;
    size_t i = 0;
    while (i < known && grammars[i].op != op)
        i++;
    MUST(i < known);
    return &grammars[i];
}

struct module {
    const uint32_t *words;
    uint64_t word_count;
    uint32_t bound;
    bool *defined;
};

static void use(const struct module *m, uint32_t id) { MUST(id && id < m->bound && m->defined[id]); }

/* OpEntryPoint: model, function, name, interface. */
static void look_at_interface(const struct module *m, const uint32_t *operands, uint32_t count)
{
    MUST(count >= 4 && !memcmp(operands + 2, "main\0\0\0", 8));
    for (uint32_t i = 4; i < count; i++)
        use(m, operands[i]);
}

/* Two walks: definitions first, since branches and decorations name ids that are defined later. */
static void walk(const struct module *m, bool defining)
{
    uint32_t section = 0, functions = 0;
    for (uint64_t at = 5; at < m->word_count;) {
        const uint32_t *operands = m->words + at + 1;
        uint32_t size = m->words[at] >> SpvWordCountShift, count = size - 1;
        const struct grammar *g = grammar_of(m->words[at] & SpvOpCodeMask);
        MUST(size && size <= m->word_count - at);
        MUST(g->section >= section || g->op == SpvOpVariable);
        if (g->section > section)
            section = g->section;
        functions += g->op == SpvOpFunction;
        uint32_t before = (uint32_t)g->has_type + g->has_result, end = g->end == ALL ? count - before : g->end;
        MUST(count >= before && count - before >= end);
        if (defining && g->has_result) {
            uint32_t id = operands[g->has_type];
            MUST(id && id < m->bound && !m->defined[id]);
            if (g->has_type) /* types come before what has them */
                use(m, operands[0]);
            m->defined[id] = true;
        }
        for (uint32_t i = g->first; !defining && i < end; i++)
            use(m, operands[before + i]);
        if (!defining && g->op == SpvOpEntryPoint)
            look_at_interface(m, operands, count);
        at += size;
    }
    MUST(functions == 1 && m->words[m->word_count - 1] == (1u << SpvWordCountShift | SpvOpFunctionEnd));
}

static void look_at_module(const uint32_t *words, uint64_t word_count)
{
    MUST(word_count > 5 && words[0] == SpvMagicNumber && words[1] == 0x10600 && words[4] == 0);
    struct module m = {words, word_count, words[3], NULL};
    MUST(m.bound && m.bound <= word_count);
    m.defined = calloc(m.bound, sizeof *m.defined);
    MUST(m.defined);
    walk(&m, true);
    walk(&m, false);
    free(m.defined);
}

typedef int32_t emitter(const struct gg_mesh_shape *shape, const struct gg_layout_options *options, uint32_t **words,
                        uint64_t *word_count, char **message);

/* Emits twice: the same calls give the same words. */
static void emit(emitter *verb, const struct gg_mesh_shape *shape, const struct gg_layout_options *options,
                 int32_t wanted)
{
    uint32_t *words = NULL, *again = NULL;
    uint64_t count = 0, count_again = 0;
    char *message = NULL;
    int32_t result = look_at(verb(shape, options, &words, &count, &message), message);
    MUST(result == wanted);
    if (result) {
        MUST(!words && !count);
        return;
    }
    look_at_module(words, count);
    MUST(!look_at(verb(shape, options, &again, &count_again, &message), message));
    MUST(count == count_again && !memcmp(words, again, count * sizeof *words));
    gg_free(words);
    gg_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct gg_mesh_shape shape = take_shape(&in, 256, 256, 40);
    struct gg_layout_options options = take_options(&in, 768, 41);
    options.mutation = take_byte(&in) % 4 ? GG_MUTATION_NONE : take_number(&in, 0, GG_MUTATION_VERTEX_STRIDE);
    struct gg_layout_plan plan;
    char *message = NULL;
    int32_t planned = look_at(gg_layout_plan(&shape, &options, &plan, &message), message);
    emit(gg_layout_emit_mesh, &shape, &options, planned);
    emit(gg_layout_emit_vertex, &shape, &options, planned);
    return 0;
}

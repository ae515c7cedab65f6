/* SPDX-License-Identifier: MIT */
/* The SPIR-V word builder: the words of what it writes, taken from the SPIR-V specification by hand. */
#include "spirv/spirv_builder.h"

#include "expect.h"

#define COUNT(array)     (sizeof(array) / sizeof *(array))
#define OP(opcode, size) ((size) << 16 | (opcode)) /* first word of an instruction: opcode and words in all */

/* Compares a section from word `from` on. */
static void expect_section(const char *what, const struct gg_spirv *s, enum gg_spirv_section section, size_t from,
                           const uint32_t *wanted, size_t count)
{
    const struct gg_words *w = &s->section[section];
    CHECK(w->count == from + count, "%s: %zu words instead of %zu", what, w->count - from, count);
    if (w->count == from + count)
        expect_words(what, w->data + from, wanted, count);
}

static void discard(struct gg_spirv *s)
{
    uint32_t *words = NULL;
    uint64_t count = 0;
    char *message = NULL;
    expect_ok("finish", gg_spirv_finish(s, SpvExecutionModelGLCompute, &words, &count, &message), &message);
    gg_free(words);
}

static void test_empty_module(void)
{
    static const uint32_t wanted[] = {
        0x07230203, 0x00010600, 0,          7,          0, /* magic, SPIR-V 1.6, generator, bound, schema */
        OP(17, 2),  1,                                     /* OpCapability Shader */
        OP(14, 3),  0,          1,                         /* OpMemoryModel Logical GLSL450 */
        OP(15, 5),  5,          1,          0x6e69616d, 0, /* OpEntryPoint GLCompute %1 "main" */
        OP(19, 2),  2,                                     /* %2 = OpTypeVoid */
        OP(33, 3),  3,          2,                         /* %3 = OpTypeFunction %2 */
        OP(21, 4),  4,          32,         0,             /* %4 = OpTypeInt 32 0 */
        OP(20, 2),  5,                                     /* %5 = OpTypeBool */
        OP(54, 5),  2,          1,          0,          3, /* %1 = OpFunction %2 None %3 */
        OP(248, 2), 6,          OP(253, 1), OP(56, 1),     /* %6 = OpLabel, OpReturn, OpFunctionEnd */
    };
    struct gg_spirv s;
    gg_spirv_init(&s);
    uint32_t *words = NULL;
    uint64_t count = 0;
    char *message = NULL;
    expect_ok("finish", gg_spirv_finish(&s, SpvExecutionModelGLCompute, &words, &count, &message), &message);
    CHECK(count == COUNT(wanted), "%llu words", (unsigned long long)count);
    if (count == COUNT(wanted))
        expect_words("empty module", words, wanted, count);
    gg_free(words);
}

static void test_deduplication(void)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    size_t before = s.section[GG_SECTION_GLOBALS].count;
    CHECK(gg_spirv_u32(&s) == 4 && gg_spirv_bool(&s) == 5, "declared by init");
    uint32_t f32 = gg_spirv_f32(&s), one = gg_spirv_const(&s, 1), one_f32 = gg_spirv_constant(&s, f32, 1);
    uint32_t vec3 = gg_spirv_vector(&s, f32, 3), vec4 = gg_spirv_vector(&s, f32, 4);
    uint32_t to_vec3 = gg_spirv_pointer(&s, SpvStorageClassFunction, vec3), array = gg_spirv_array(&s, f32, 7);
    uint32_t pair = gg_spirv_type(&s, SpvOpTypeStruct, 2, f32, f32),
             triple = gg_spirv_type(&s, SpvOpTypeStruct, 3, f32, f32, f32);
    const uint32_t wanted[] = {
        OP(22, 3), f32,    32,                                                    /* OpTypeFloat 32 */
        OP(43, 4), 4,      one,         1,                                        /* OpConstant %u32 1 */
        OP(43, 4), f32,    one_f32,     1,                                        /* OpConstant %f32, the same bits */
        OP(23, 4), vec3,   f32,         3,                                        /* OpTypeVector */
        OP(23, 4), vec4,   f32,         4,           OP(32, 4), to_vec3, 7, vec3, /* OpTypePointer Function */
        OP(43, 4), 4,      to_vec3 + 1, 7,                                        /* the array's length */
        OP(28, 4), array,  f32,         to_vec3 + 1,                              /* OpTypeArray */
        OP(30, 4), pair,   f32,         f32,                                      /* OpTypeStruct */
        OP(30, 5), triple, f32,         f32,         f32, /* a longer one with the same beginning */
    };
    expect_section("globals", &s, GG_SECTION_GLOBALS, before, wanted, COUNT(wanted));
    uint32_t bound = s.bound;
    CHECK(gg_spirv_f32(&s) == f32 && gg_spirv_const(&s, 1) == one && gg_spirv_constant(&s, f32, 1) == one_f32,
          "constants");
    CHECK(gg_spirv_vector(&s, f32, 3) == vec3 && gg_spirv_vector(&s, f32, 4) == vec4, "vectors");
    CHECK(gg_spirv_vector(&s, f32, 1) == f32, "a vector of one is its component");
    CHECK(gg_spirv_pointer(&s, SpvStorageClassFunction, vec3) == to_vec3, "pointer");
    CHECK(gg_spirv_array(&s, f32, 7) == array && gg_spirv_type(&s, SpvOpTypeStruct, 2, f32, f32) == pair, "aggregates");
    expect_section("nothing new", &s, GG_SECTION_GLOBALS, before, wanted, COUNT(wanted));
    CHECK(s.bound == bound, "%u ids were given", s.bound - bound);
    /* A variable is no type: two of the same type are two. */
    CHECK(gg_spirv_global(&s, SpvStorageClassPrivate, f32, "a") !=
              gg_spirv_global(&s, SpvStorageClassPrivate, f32, "b"),
          "variables");
    discard(&s);
}

static void test_names(void)
{
    static const uint32_t wanted[] = {
        OP(5, 3), 21, 0,                /* "": the zero alone */
        OP(5, 3), 22, 0x00636261,       /* "abc" */
        OP(5, 4), 23, 0x64636261, 0,    /* "abcd": the zero takes a word */
        OP(5, 4), 24, 0x64636261, 0x65, /* "abcde" */
        OP(5, 3), 25, 0x00a4c3,         /* two bytes of UTF-8 */
    };
    struct gg_spirv s;
    gg_spirv_init(&s);
    gg_spirv_name(&s, 21, "");
    gg_spirv_name(&s, 22, "abc");
    gg_spirv_name(&s, 23, "abcd");
    gg_spirv_name(&s, 24, "abcde");
    gg_spirv_name(&s, 25, "\xc3\xa4");
    expect_section("names", &s, GG_SECTION_NAMES, 0, wanted, COUNT(wanted));
    discard(&s);
}

static void test_annotations(void)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    gg_spirv_decorate(&s, 30, SpvDecorationBlock, 0);
    gg_spirv_decorate(&s, 30, SpvDecorationBinding, 1, 4);
    gg_spirv_member_decorate(&s, 31, 2, SpvDecorationOffset, 1, 12);
    gg_spirv_local_size(&s, 8, 4, 1);
    static const uint32_t annotations[] = {OP(71, 3), 30, 2, OP(71, 4), 30, 33, 4, OP(72, 5), 31, 2, 35, 12};
    static const uint32_t modes[] = {OP(16, 6), 1, 17, 8, 4, 1}; /* OpExecutionMode %main LocalSize */
    expect_section("annotations", &s, GG_SECTION_ANNOTATIONS, 0, annotations, COUNT(annotations));
    expect_section("modes", &s, GG_SECTION_MODES, 0, modes, COUNT(modes));
    discard(&s);
}

static void test_variables(void)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    size_t before = s.section[GG_SECTION_GLOBALS].count;
    uint32_t id = gg_spirv_builtin(&s, SpvStorageClassInput, 4, SpvBuiltInVertexIndex, "v");
    uint32_t shared = gg_spirv_global(&s, SpvStorageClassWorkgroup, 4, "w"), local = gg_spirv_local(&s, 4, "l");
    /* %7 and %9 are the pointer types, %11 the local's */
    const uint32_t globals[] = {OP(32, 4), 7, 1,         4, OP(59, 4), 7, id,        1,  OP(32, 4), 9,
                                4,         4, OP(59, 4), 9, shared,    4, OP(32, 4), 11, 7,         4};
    expect_section("globals", &s, GG_SECTION_GLOBALS, before, globals, COUNT(globals));
    const uint32_t locals[] = {OP(59, 4), 11, local, 7};
    expect_section("locals", &s, GG_SECTION_LOCALS, 0, locals, COUNT(locals));
    const uint32_t annotations[] = {OP(71, 4), id, 11, 42}; /* OpDecorate BuiltIn VertexIndex */
    expect_section("annotations", &s, GG_SECTION_ANNOTATIONS, 0, annotations, COUNT(annotations));

    uint32_t *words = NULL;
    uint64_t count = 0;
    char *message = NULL;
    expect_ok("finish", gg_spirv_finish(&s, SpvExecutionModelVertex, &words, &count, &message), &message);
    const uint32_t entry[] = {OP(15, 7), 0, 1, 0x6e69616d, 0, id, shared}; /* the local is no interface */
    expect_words("entry point", words + 10, entry, COUNT(entry));
    gg_free(words);
}

static void test_code(void)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    uint32_t a = gg_spirv_const(&s, 5), b = gg_spirv_const(&s, 6);
    uint32_t sum = gg_spirv_add(&s, a, b), product = gg_spirv_mul(&s, sum, b), less = gg_spirv_less(&s, a, b);
    uint32_t chosen = gg_spirv_select(&s, less, sum, product);
    uint32_t small = gg_spirv_min(&s, a, b), large = gg_spirv_max(&s, a, b);
    uint32_t part = gg_spirv_extract(&s, 4, 50, 2), loaded = gg_spirv_load(&s, 4, 51);
    gg_spirv_store(&s, 51, loaded);
    const uint32_t wanted[] = {
        OP(128, 5), 4,  sum,       a,         b,                                             /* OpIAdd */
        OP(132, 5), 4,  product,   sum,       b,                                             /* OpIMul */
        OP(176, 5), 5,  less,      a,         b,                                             /* OpULessThan: a bool */
        OP(169, 6), 4,  chosen,    less,      sum, product,                                  /* OpSelect */
        OP(176, 5), 5,  small - 1, a,         b,                                             /* min: a < b ? a : b */
        OP(169, 6), 4,  small,     small - 1, a,   b,       OP(176, 5), 5, large - 1, a,  b, /* max: a < b ? b : a */
        OP(169, 6), 4,  large,     large - 1, b,   a,       OP(81, 5),  4, part,      50, 2, /* OpCompositeExtract */
        OP(61, 4),  4,  loaded,    51,                                                       /* OpLoad */
        OP(62, 3),  51, loaded,                                                              /* OpStore */
    };
    expect_section("code", &s, GG_SECTION_CODE, 0, wanted, COUNT(wanted));

    size_t before = s.section[GG_SECTION_CODE].count;
    gg_spirv_workgroup_barrier(&s);
    uint32_t old = gg_spirv_atomic(&s, SpvOpAtomicIAdd, SpvScopeDevice, 51, a);
    uint32_t workgroup = gg_spirv_const(&s, 2),
             semantics = gg_spirv_const(&s, 0x108); /* AcquireRelease, WorkgroupMemory */
    uint32_t relaxed = gg_spirv_const(&s, 0), device = gg_spirv_const(&s, 1);
    const uint32_t synchronised[] = {OP(224, 4), workgroup, workgroup, semantics, /* OpControlBarrier */
                                     OP(234, 7), 4,         old,       51,
                                     device,     relaxed,   a}; /* OpAtomicIAdd */
    expect_section("synchronisation", &s, GG_SECTION_CODE, before, synchronised, COUNT(synchronised));
    discard(&s);
}

static void test_if(void)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    struct gg_spirv_if block;
    gg_spirv_begin_if(&s, &block, 60);
    gg_spirv_store(&s, 61, 62);
    gg_spirv_end_if(&s, &block);
    CHECK(s.block == block.merge, "the merge block is open");
    const uint32_t then = block.merge - 1;
    const uint32_t wanted[] = {
        OP(247, 3), block.merge, 0,                              /* OpSelectionMerge None */
        OP(250, 4), 60,          then, block.merge,              /* OpBranchConditional */
        OP(248, 2), then,                                        /* OpLabel */
        OP(62, 3),  61,          62,   OP(249, 2),  block.merge, /* OpBranch */
        OP(248, 2), block.merge,
    };
    expect_section("if", &s, GG_SECTION_CODE, 0, wanted, COUNT(wanted));
    discard(&s);
}

static void test_for(void)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    uint32_t before = s.block;
    struct gg_spirv_for loop;
    uint32_t index = gg_spirv_begin_for(&s, &loop, 60, 61, 62);
    CHECK(index == loop.index, "the index is the phi");
    uint32_t body = s.block, more = index + 1;
    /* A body of several blocks: the phi must name the continue target, not the block that ends the body. */
    struct gg_spirv_if block;
    gg_spirv_begin_if(&s, &block, 63);
    gg_spirv_end_if(&s, &block);
    gg_spirv_end_for(&s, &loop);
    CHECK(s.block == loop.merge, "the merge block is open");
    const uint32_t wanted[] = {
        OP(249, 2),
        loop.header,
        OP(248, 2),
        loop.header,
        OP(245, 7),
        4,
        index,
        60,
        before,
        loop.next,
        loop.continues, /* OpPhi */
        OP(176, 5),
        5,
        more,
        index,
        61, /* OpULessThan */
        OP(246, 4),
        loop.merge,
        loop.continues,
        0, /* OpLoopMerge None */
        OP(250, 4),
        more,
        body,
        loop.merge,
        OP(248, 2),
        body,
        OP(247, 3),
        block.merge,
        0,
        OP(250, 4),
        63,
        block.merge - 1,
        block.merge,
        OP(248, 2),
        block.merge - 1,
        OP(249, 2),
        block.merge,
        OP(248, 2),
        block.merge,
        OP(249, 2),
        loop.continues,
        OP(248, 2),
        loop.continues,
        OP(128, 5),
        4,
        loop.next,
        index,
        62, /* OpIAdd */
        OP(249, 2),
        loop.header,
        OP(248, 2),
        loop.merge,
    };
    expect_section("for", &s, GG_SECTION_CODE, 0, wanted, COUNT(wanted));
    discard(&s);
}

static void test_while(void)
{
    struct gg_spirv s;
    gg_spirv_init(&s);
    struct gg_spirv_while loop;
    gg_spirv_begin_while(&s, &loop);
    uint32_t condition = gg_spirv_less(&s, 60, 61); /* in the header */
    gg_spirv_while_body(&s, &loop, condition);
    uint32_t body = s.block;
    gg_spirv_store(&s, 62, 63);
    gg_spirv_end_while(&s, &loop);
    CHECK(s.block == loop.merge, "the merge block is open");
    const uint32_t wanted[] = {
        OP(249, 2), loop.header,    OP(248, 2), loop.header,    OP(176, 5), 5,          condition,  60,
        61,         OP(246, 4),     loop.merge, loop.continues, 0,          OP(250, 4), condition,  body,
        loop.merge, OP(248, 2),     body,       OP(62, 3),      62,         63,         OP(249, 2), loop.continues,
        OP(248, 2), loop.continues, OP(249, 2), loop.header,    OP(248, 2), loop.merge,
    };
    expect_section("while", &s, GG_SECTION_CODE, 0, wanted, COUNT(wanted));
    discard(&s);
}

static void build_some(uint32_t **words, uint64_t *count)
{
    struct gg_spirv s;
    struct gg_spirv_for loop;
    char *message = NULL;
    gg_spirv_init(&s);
    uint32_t limit = gg_spirv_const(&s, 9), zero = gg_spirv_const(&s, 0), one = gg_spirv_const(&s, 1);
    uint32_t local = gg_spirv_local(&s, gg_spirv_u32(&s), "sum");
    uint32_t i = gg_spirv_begin_for(&s, &loop, zero, limit, one);
    gg_spirv_store(&s, local, i);
    gg_spirv_end_for(&s, &loop);
    expect_ok("finish", gg_spirv_finish(&s, SpvExecutionModelGLCompute, words, count, &message), &message);
}

static void test_determinism(void)
{
    uint32_t *first = NULL, *second = NULL;
    uint64_t count = 0, again = 0;
    build_some(&first, &count);
    build_some(&second, &again);
    CHECK(count == again && count > 5, "%llu words, then %llu", (unsigned long long)count, (unsigned long long)again);
    if (count == again)
        expect_words("twice", second, first, count);
    gg_free(first);
    gg_free(second);
}

static void test_failure(void)
{
    struct gg_spirv s;
    uint32_t *words = NULL;
    uint64_t count = 77;
    char *message = NULL;
    gg_spirv_init(&s);
    for (int i = 0; i < GG_SPIRV_MAX_INTERFACE; i++)
        gg_spirv_global(&s, SpvStorageClassPrivate, 4, "g");
    CHECK(!s.failed, "%d variables are allowed", GG_SPIRV_MAX_INTERFACE);
    gg_spirv_global(&s, SpvStorageClassPrivate, 4, "g");
    CHECK(s.failed, "one more is not");
    /* Goes on without effect: no section grows, nothing is read past its end. */
    size_t code = s.section[GG_SECTION_CODE].count, globals = s.section[GG_SECTION_GLOBALS].count;
    gg_spirv_add(&s, gg_spirv_const(&s, 5), 4);
    CHECK(s.section[GG_SECTION_CODE].count == code && s.section[GG_SECTION_GLOBALS].count == globals, "it grew");
    expect("finish", gg_spirv_finish(&s, SpvExecutionModelGLCompute, &words, &count, &message), GG_ERR_MEMORY, &message,
           "SPIR-V module: out of memory");
    CHECK(!words && count == 77, "outputs were written");
}

int main(void)
{
    test_empty_module();
    test_deduplication();
    test_names();
    test_annotations();
    test_variables();
    test_code();
    test_if();
    test_for();
    test_while();
    test_determinism();
    test_failure();
    return test_result();
}

/* SPDX-License-Identifier: MIT */
#ifndef GG_SPIRV_BUILDER_H
#define GG_SPIRV_BUILDER_H

/*
 * Writes one SPIR-V 1.6 module: the function "main", and helpers that it calls. Types and constants are deduplicated, ids
 * are given in order of first use, so the same calls give the same bytes. Every function takes
 * operands as ids unless it says otherwise. When memory runs out the builder remembers it, goes on
 * without effect, and gg_spirv_finish() reports it: callers need not check each call.
 *
 * C does not order the evaluation of arguments: at most one call in an expression may give a new id,
 * or two compilers write two modules (tests/layout/test_golden.py would notice).
 */

#include <guestgpu/guestgpu.h>
#include <spirv/unified1/spirv.h>
#include <stdbool.h>

struct gg_words {
    uint32_t *data;
    size_t count, capacity;
};

enum gg_spirv_section { /* in the order that SPIR-V prescribes (its section 2.4) */
    GG_SECTION_CAPABILITIES,
    GG_SECTION_EXTENSIONS,
    GG_SECTION_IMPORTS,
    GG_SECTION_MEMORY_MODEL,
    GG_SECTION_ENTRY,
    GG_SECTION_MODES,
    GG_SECTION_NAMES,
    GG_SECTION_ANNOTATIONS,
    GG_SECTION_GLOBALS,
    GG_SECTION_FUNCTIONS, /* helpers that are done; main comes after them */
    GG_SECTION_FUNCTION,  /* OpFunction and the first OpLabel */
    GG_SECTION_LOCALS,    /* Function variables: the first block begins with them */
    GG_SECTION_CODE,
    GG_SECTION_COUNT
};

#define GG_SPIRV_SMALL         128 /* constants whose ids stand in a table */
#define GG_SPIRV_STORAGES      13  /* storage classes up to StorageBuffer */
#define GG_SPIRV_MAX_INTERFACE 64  /* global variables: GG_LAYOUT_MAX_OUTPUTS and what a stage needs */

/* A type or constant: its hash, and 1 + where it begins in its section; 0 is no entry. */
struct gg_spirv_slot {
    uint32_t hash;
    uint32_t at;
};

/* The type of pointers of a storage class that was asked for last. */
struct gg_spirv_pointer {
    uint32_t pointee, id;
};

struct gg_spirv {
    struct gg_words section[GG_SECTION_COUNT];
    struct gg_spirv_slot *slots; /* a power of two of them, at most three quarters taken */
    uint32_t slot_count;
    uint32_t slots_taken;
    uint32_t u32, boolean, f32;     /* ids of these types, asked for most; 0 until then */
    uint32_t small[GG_SPIRV_SMALL]; /* ids of constants of u32, likewise */
    struct gg_spirv_pointer pointers[GG_SPIRV_STORAGES];
    uint32_t interface[GG_SPIRV_MAX_INTERFACE]; /* every global variable, for OpEntryPoint */
    uint32_t interface_count;
    uint32_t bound;        /* next id */
    uint32_t block;        /* label of the block that is being written */
    uint32_t entry;        /* id of main */
    uint32_t loop_control; /* SpvLoopControlMask of the loops that follow; 0 leaves it to the driver */
    bool failed;           /* memory ran out, or more than GG_SPIRV_MAX_INTERFACE variables */
};

/* Begins a module: memory model Logical GLSL450, capability Shader, void main() with its first block open. */
void gg_spirv_init(struct gg_spirv *s);
/* Ends main and hands over the module (gg_free); releases the builder in any case. */
int32_t gg_spirv_finish(struct gg_spirv *s, SpvExecutionModel model, uint32_t **words, uint64_t *word_count,
                        char **message);

/* Room for so many words of code, that it need not be moved when there are more and more; a hint. */
void gg_spirv_expect(struct gg_spirv *s, size_t words);

uint32_t gg_spirv_id(struct gg_spirv *s);

void gg_spirv_capability(struct gg_spirv *s, SpvCapability capability); /* the same ones again: once */
void gg_spirv_extension(struct gg_spirv *s, const char *name);
void gg_spirv_mode(struct gg_spirv *s, SpvExecutionMode mode); /* of main, one without operands */
void gg_spirv_mode_of(struct gg_spirv *s, SpvExecutionMode mode, uint32_t operand);
bool gg_spirv_has(const struct gg_spirv *s, SpvCapability capability);

/* Types and constants: the same call returns the same id. `operands` are ids or literals as the opcode has them. */
uint32_t gg_spirv_type(struct gg_spirv *s, SpvOp op, unsigned count, ...);
uint32_t gg_spirv_constant(struct gg_spirv *s, uint32_t type, uint32_t bits);
uint32_t gg_spirv_u32(struct gg_spirv *s); /* the type of 32-bit unsigned integers */
uint32_t gg_spirv_f32(struct gg_spirv *s);
uint32_t gg_spirv_bool(struct gg_spirv *s);
uint32_t gg_spirv_vector(struct gg_spirv *s, uint32_t component, uint32_t count); /* of 1: the component itself */
uint32_t gg_spirv_pointer(struct gg_spirv *s, SpvStorageClass storage, uint32_t pointee);
uint32_t gg_spirv_const(struct gg_spirv *s, uint32_t value); /* of type u32 */
uint32_t gg_spirv_truth(struct gg_spirv *s, bool value);

/* Variables. Global ones join the entry point's interface. Locals are Function variables of main. */
uint32_t gg_spirv_global(struct gg_spirv *s, SpvStorageClass storage, uint32_t pointee, const char *name);
uint32_t gg_spirv_local(struct gg_spirv *s, uint32_t type, const char *name);
uint32_t gg_spirv_builtin(struct gg_spirv *s, SpvStorageClass storage, uint32_t pointee, SpvBuiltIn builtin,
                          const char *name);
uint32_t gg_spirv_array(struct gg_spirv *s, uint32_t element, uint32_t length);

/* An extended instruction set; the same name gives the same id. */
uint32_t gg_spirv_import(struct gg_spirv *s, const char *name);

void gg_spirv_name(struct gg_spirv *s, uint32_t id, const char *name);
void gg_spirv_decorate(struct gg_spirv *s, uint32_t id, SpvDecoration decoration, unsigned count, ...);
void gg_spirv_member_decorate(struct gg_spirv *s, uint32_t type, uint32_t member, SpvDecoration decoration,
                              unsigned count, ...);
void gg_spirv_local_size(struct gg_spirv *s, uint32_t x, uint32_t y, uint32_t z);

/*
 * A helper function: everything between begin and end is its code, and main goes on where it was. The code
 * must not end in a return of its own; end returns `result` (0: of a void function). At most 8 parameters,
 * whose ids are written to `parameters`.
 */
struct gg_spirv_function {
    struct gg_words outer[3];
    uint32_t outer_block, id;
};
uint32_t gg_spirv_begin_function(struct gg_spirv *s, struct gg_spirv_function *f, const char *name, uint32_t returns,
                                 unsigned count, const uint32_t *types, uint32_t *parameters);
void gg_spirv_end_function(struct gg_spirv *s, struct gg_spirv_function *f, uint32_t result);

/* Code. gg_spirv_op returns the result id; gg_spirv_do is for instructions without one. */
#define gg_spirv_op(s, op, type, ...) gg_spirv_op_list(s, op, type, (const uint32_t[]){__VA_ARGS__})
#define gg_spirv_do(s, op, ...)       gg_spirv_do_list(s, op, (const uint32_t[]){__VA_ARGS__})
/* list: how many operands there are, then these. */
uint32_t gg_spirv_op_list(struct gg_spirv *s, SpvOp op, uint32_t type, const uint32_t *list);
void gg_spirv_do_list(struct gg_spirv *s, SpvOp op, const uint32_t *list);
uint32_t gg_spirv_extract(struct gg_spirv *s, uint32_t type, uint32_t composite, uint32_t index);
uint32_t gg_spirv_load(struct gg_spirv *s, uint32_t type, uint32_t pointer);
void gg_spirv_store(struct gg_spirv *s, uint32_t pointer, uint32_t value);
/* u32 arithmetic, the bulk of what we emit. */
uint32_t gg_spirv_add(struct gg_spirv *s, uint32_t a, uint32_t b);
uint32_t gg_spirv_mul(struct gg_spirv *s, uint32_t a, uint32_t b);
uint32_t gg_spirv_select(struct gg_spirv *s, uint32_t condition, uint32_t a, uint32_t b);
uint32_t gg_spirv_min(struct gg_spirv *s, uint32_t a, uint32_t b);
uint32_t gg_spirv_max(struct gg_spirv *s, uint32_t a, uint32_t b);
uint32_t gg_spirv_less(struct gg_spirv *s, uint32_t a, uint32_t b); /* unsigned; a bool */
/* All of the workgroup's invocations arrive, and its workgroup memory is visible to them. */
void gg_spirv_workgroup_barrier(struct gg_spirv *s);
/* Relaxed atomic on a u32 of device or workgroup scope; returns the value before. */
uint32_t gg_spirv_atomic(struct gg_spirv *s, SpvOp op, SpvScope scope, uint32_t pointer, uint32_t value);

/* Structured blocks. */
struct gg_spirv_if {
    uint32_t merge;
};
void gg_spirv_begin_if(struct gg_spirv *s, struct gg_spirv_if *block, uint32_t condition);
void gg_spirv_end_if(struct gg_spirv *s, struct gg_spirv_if *block);

struct gg_spirv_for {
    uint32_t index, next, step, header, continues, merge;
};
/* for (index = start; index < limit; index += step), u32; returns the index. limit is loop-invariant. */
uint32_t gg_spirv_begin_for(struct gg_spirv *s, struct gg_spirv_for *loop, uint32_t start, uint32_t limit,
                            uint32_t step);
void gg_spirv_end_for(struct gg_spirv *s, struct gg_spirv_for *loop);

/* switch (selector) with cases 0 to count - 1, each written after gg_spirv_case(); other values do nothing. */
struct gg_spirv_switch {
    uint32_t first, merge;
    bool open;
};
void gg_spirv_begin_switch(struct gg_spirv *s, struct gg_spirv_switch *block, uint32_t selector, uint32_t count);
void gg_spirv_case(struct gg_spirv *s, struct gg_spirv_switch *block, uint32_t number);
void gg_spirv_end_switch(struct gg_spirv *s, struct gg_spirv_switch *block);

/*
 * while (condition): begin_while opens the header, where the condition is computed (straight-line
 * code); while_body takes it and opens the body.
 */
struct gg_spirv_while {
    uint32_t header, continues, merge;
};
void gg_spirv_begin_while(struct gg_spirv *s, struct gg_spirv_while *loop);
void gg_spirv_while_body(struct gg_spirv *s, struct gg_spirv_while *loop, uint32_t condition);
void gg_spirv_end_while(struct gg_spirv *s, struct gg_spirv_while *loop);

#endif

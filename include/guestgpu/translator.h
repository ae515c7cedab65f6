/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_TRANSLATOR_H
#define GUESTGPU_TRANSLATOR_H

/*
 * AMD RDNA 2 machine code: decoding and text.
 * A program is an array of 32-bit words; offsets are in bytes from its first word.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

enum gg_guest_gpu {
    GG_GUEST_GFX1030 = 0, /* RDNA 2 */
    GG_GUEST_GFX1013 = 1, /* the consoles': scalar stores and atomics and v_mad_f32 more, v_dot less */
    GG_GUEST_GPU_FORCE_32 = 0x7fffffff
};

/* What the words do not say by themselves. NULL where one is wanted means gfx1030, wave32. */
struct gg_guest_target {
    uint32_t gpu;  /* enum gg_guest_gpu */
    uint32_t wave; /* lanes of a wave: 32 or 64; 0 means 32 */
};

/*
 * Text, one line an instruction: byte offset in hex, the words in hex, the instruction as LLVM writes it:
 *   "0000: 7e020280           v_mov_b32_e32 v1, 0\n"
 * Goes over all words from the first to the last, also past s_endpgm. *text is freed with gg_free().
 * GG_ERR_FORMAT (truncated, reserved bits or values) and GG_ERR_UNSUPPORTED (no such opcode in this target)
 * name offset and word; GG_ERR_ARGUMENT: an unknown target.
 */
int32_t gg_translator_disassemble(const struct gg_guest_target *target, const uint32_t *words, uint64_t word_count,
                                  char **text, char **message);

/* Decodes all words likewise, without text; *instruction_count may be NULL. For checks and benchmarks. */
int32_t gg_translator_decode(const struct gg_guest_target *target, const uint32_t *words, uint64_t word_count,
                             uint64_t *instruction_count, char **message);

/* One row of the opcode table. */
struct gg_opcode {
    char name[32];  /* mnemonic without _e32, _e64, _sdwa, _dpp; flat_ stands for global_ and scratch_ too */
    char format[8]; /* "SOP1", …: of its shortest encoding */
    uint32_t code;  /* its number in that format */
    uint32_t flags; /* enum gg_op_flag of csrc/translator/isa.h */
    uint32_t only;  /* 0 in both; 1013 or 1030: in that one only */
    uint32_t reserved;
};

/* Number of rows, and row `index`; GG_ERR_ARGUMENT beyond. */
uint32_t gg_translator_opcode_count(void);
int32_t gg_translator_opcode(uint32_t index, struct gg_opcode *opcode, char **message);

/*
 * A program and its launch state, in the hardware's terms. Zero means: what rsrc1 and rsrc2 say, or none.
 * Compute programs. Before the first instruction: user data in s0 and up (as many as RSRC2.USER_SGPR says),
 * then, as RSRC2 enables them, workgroup ids x, y, z, thread-group size (waves in bits 0-5; this wave in bits
 * 6-11, of gfx1030 in 20-24 too; bit 31 in the first), scratch offset; v0 to v2 local ids x, y, z as TIDIG_COMP_CNT says;
 * EXEC the lanes that exist; MODE from RSRC1; all others 0.
 */
#define GG_GUEST_USER_DATA 16

struct gg_guest_program {
    const uint32_t *words;
    uint64_t word_count;
    uint64_t address; /* guest address of words[0], for s_getpc; a multiple of 4 */
    uint64_t entry;   /* byte offset of the first instruction */
    struct gg_guest_target target;
    uint32_t rsrc1; /* COMPUTE_PGM_RSRC1 */
    uint32_t rsrc2;
    uint32_t rsrc3;
    uint32_t vgprs;      /* of a lane, at most 256 */
    uint32_t threads[3]; /* of a workgroup, in all at most 1024; 0 counts as 1 */
    uint32_t lds_bytes;  /* at most 65536 */
    uint32_t user_data[GG_GUEST_USER_DATA];
    /*
     * Scratch lies in guest memory: wave i of a group has scratch_bytes * lanes bytes from scratch_address +
     * i * scratch_bytes * lanes, dword after dword, lane after lane. The register FLAT_SCRATCH begins with
     * its wave's address, until the program sets it. All groups have the same, so one may run at a time:
     * gg_translate_report.groups_at_once.
     */
    uint64_t scratch_address;
    uint32_t scratch_bytes; /* of a lane; a multiple of 4 */
    uint32_t reserved;      /* 0 */
};

enum gg_interp_output_kind {
    GG_INTERP_MESSAGE = 1, /* s_sendmsg: number = message, value[0] = M0 */
    GG_INTERP_EXPORT = 2,  /* exp, of one lane: number = target, value = its sources */
    GG_INTERP_OUTPUT_KIND_FORCE_32 = 0x7fffffff
};

/* What leaves a wave other than by memory, in the order of execution. */
struct gg_interp_output {
    uint32_t kind; /* enum gg_interp_output_kind */
    uint32_t number;
    uint32_t group; /* linear, x first, of the groups that run */
    uint32_t wave;
    uint32_t lane;
    uint32_t enable; /* of an export: components; bit 4: compressed to halves, bit 5: done */
    uint32_t offset; /* of the instruction */
    uint32_t value[4];
    uint32_t reserved;
};

struct gg_interp_params {
    const struct gg_guest_program *program;
    const struct gg_guest_window *windows;
    uint64_t window_count;
    uint32_t groups[3];      /* 0 counts as 1 */
    uint32_t first_group[3]; /* added to the workgroup ids */
    uint64_t step_limit;     /* instructions of all waves together; 0 means 2^28 */
    uint64_t schedule_seed;  /* 0: waves take turns of 64 instructions; else random turns of 1 to 64 */
    /*
     * Registers of all waves of a group, gg_interp_register_words() a wave: 128 scalar dwords (enum gg_sgpr
     * of csrc/translator/decode.h), SCC, MODE, 2 words of 0, then the VGPRs, lane after lane.
     * registers_in replaces the launch state; registers_out receives the last group's when it has ended.
     */
    const uint32_t *registers_in;
    uint32_t *registers_out;
    uint64_t register_words; /* of each array, if any is given */
    struct gg_interp_output *outputs;
    uint64_t output_capacity;
};

/* Written on success and on failure. */
struct gg_interp_report {
    uint64_t instructions;
    uint64_t reads_outside; /* of the windows; one a dword or smaller access of a lane */
    uint64_t writes_outside;
    uint64_t lds_outside;   /* reads and writes beyond the group's LDS */
    uint64_t barriers;      /* s_barrier passed, counted once for all waves of a group */
    uint64_t waves;         /* that ended */
    uint64_t outputs;       /* all, also those beyond output_capacity */
    uint64_t failed_offset; /* of the instruction that was refused, else 2^64 - 1 */
};

/* 0 if the program's launch state is wrong. */
uint64_t gg_interp_register_words(const struct gg_guest_program *program);

/*
 * Runs a dispatch, group after group. Memory outside the windows reads 0, stores nothing, and is counted; LDS
 * likewise. GG_ERR_LIMIT: the step limit (the message has the waves' PCs); GG_ERR_UNSUPPORTED: an instruction
 * that is not interpreted; GG_ERR_FORMAT: undecodable words, a jump outside the program or into an instruction,
 * a register above the launch state; GG_ERR_ARGUMENT: wrong parameters. All but the last name the offset.
 */
int32_t gg_translator_interpret(const struct gg_interp_params *params, struct gg_interp_report *report, char **message);

/* 1 if the interpreter executes the opcode of this row (gg_translator_opcode), 0 if it refuses it. */
uint32_t gg_translator_interprets(uint32_t index);

/*
 * Code objects of clang and lld for amdgcn-amd-amdhsa (ELF, gfx1030 or gfx1013): what a loader needs.
 */

/* Bits of gg_guest_kernel.user_sgprs: what the kernel expects in its user SGPRs, in this order. */
enum gg_guest_user_sgprs {
    GG_GUEST_PRIVATE_SEGMENT_BUFFER = 1, /* 4 dwords: V# of scratch */
    GG_GUEST_DISPATCH_PTR = 2,           /* 2 */
    GG_GUEST_QUEUE_PTR = 4,              /* 2 */
    GG_GUEST_KERNARG_SEGMENT_PTR = 8,    /* 2: address of the arguments */
    GG_GUEST_DISPATCH_ID = 16,           /* 2 */
    GG_GUEST_FLAT_SCRATCH_INIT = 32,     /* 2: address of scratch */
    GG_GUEST_PRIVATE_SEGMENT_SIZE = 64,  /* 1: bytes of scratch a lane */
    GG_GUEST_USER_SGPRS_FORCE_32 = 0x7fffffff
};

struct gg_guest_argument {
    const char *name; /* "" if it has none */
    const char *kind; /* "global_buffer", "by_value", "hidden_…" */
    uint32_t offset;  /* in the kernarg segment */
    uint32_t size;
};

struct gg_guest_kernel {
    const char *name;
    uint64_t entry; /* byte offset in the code */
    uint32_t rsrc1;
    uint32_t rsrc2;
    uint32_t rsrc3;
    uint32_t wave;       /* 32 or 64 */
    uint32_t user_sgprs; /* enum gg_guest_user_sgprs */
    uint32_t lds_bytes;
    uint32_t scratch_bytes; /* of a lane */
    uint32_t kernarg_bytes;
    uint32_t threads[3];     /* required workgroup size, 0 if it has none */
    uint32_t first_argument; /* in gg_guest_elf.arguments */
    uint32_t argument_count;
    uint32_t reserved;
};

/* A piece of the file that is loaded at load address + `address`; bytes past file_size are 0. */
struct gg_guest_segment {
    uint64_t address;
    uint64_t offset; /* in the file */
    uint64_t file_size;
    uint64_t memory_size;
};

struct gg_guest_elf {
    uint32_t gpu; /* enum gg_guest_gpu */
    uint32_t kernel_count;
    uint64_t code_address; /* of .text: all functions; the words that gg_guest_program wants */
    uint64_t code_offset;  /* in the file; a multiple of 4 */
    uint64_t code_size;    /* bytes, a multiple of 4 */
    const struct gg_guest_kernel *kernels;
    const struct gg_guest_argument *arguments;
    const struct gg_guest_segment *segments; /* none of an object that was not linked: its code is all */
    uint32_t argument_count;
    uint32_t segment_count;
};

/*
 * GG_ERR_FORMAT: bytes that lie or are cut off; GG_ERR_UNSUPPORTED: another machine, or an object whose code has
 * relocations (link it with lld). Strings and arrays live in *elf, to be freed with gg_guest_elf_destroy().
 */
int32_t gg_guest_elf_read(const uint8_t *bytes, uint64_t size, struct gg_guest_elf **elf, char **message);
void gg_guest_elf_destroy(struct gg_guest_elf *elf); /* NULL is allowed */

/*
 * Translation to SPIR-V 1.6: a compute module whose invocations carry `lanes` guest lanes each, and `subgroup`
 * invocations, a whole subgroup of the host, a guest wave. With as many lanes as the wave has no subgroup is needed.
 *
 * Storage buffers of the module (descriptor set 0):
 *   0 guest memory: the windows' bytes one after the other, each from a multiple of 4 on
 *   1 launch, in words: 0-15 user data, 16-18 first workgroup, 19 number of windows (below 2^31), then from word 20 on six a
 *     window: address low, high; size in bytes low, high; its first word in buffer 0; 0
 *   2 counters, in words: accesses outside the windows: reads, writes; then 64 words that must be 0
 *   3 registers, of wave mode only: register_words of the report for each invocation of the dispatch; any content
 */
enum gg_translate_flow {
    GG_FLOW_AUTO = 0,
    GG_FLOW_DISPATCH = 1, /* a loop around a switch over the blocks */
    GG_FLOW_FORCE_32 = 0x7fffffff
};
enum gg_translate_barriers {
    GG_BARRIERS_AUTO = 0,   /* no valid program is refused */
    GG_BARRIERS_STRICT = 1, /* the published rule: runs of blocks between s_barriers, else refused by name */
    GG_BARRIERS_PHASE = 2,  /* the phase loop, also of one wave */
    GG_BARRIERS_FORCE_32 = 0x7fffffff
};
/* What the host promises of a subgroup after a divergent if; asked of modules that rely on subgroups. */
enum gg_translate_reconverge {
    GG_RECONVERGE_STRUCTURE = 0, /* nothing: the device is trusted to meet again where control flow does */
    GG_RECONVERGE_UNIFORM = 1,   /* VK_KHR_shader_subgroup_uniform_control_flow */
    GG_RECONVERGE_MAXIMAL = 2,   /* VK_KHR_shader_maximal_reconvergence */
    GG_RECONVERGE_FORCE_32 = 0x7fffffff
};

/* Execution modes by which a device does floats as the guest does. Without them a device may flush denormals. */
enum gg_float_control {
    GG_FLOAT_DENORMS_32 = 1, /* shaderDenormPreserveFloat32 */
    GG_FLOAT_DENORMS_64 = 2,
    GG_FLOAT_SPECIAL_32 = 4, /* shaderSignedZeroInfNanPreserveFloat32 */
    GG_FLOAT_SPECIAL_64 = 8,
    GG_FLOAT_DENORMS_ALL = 16, /* of devices whose widths are not independent: 16, 32 and 64, used or not */
    GG_FLOAT_CONTROL_FORCE_32 = 0x7fffffff
};

struct gg_translate_options {
    uint32_t lanes;      /* an invocation carries: the wave, wave / subgroup, or 1. 0: auto, see the report's reason */
    uint32_t subgroup;   /* size of subgroups that pipelines can require, all of them full; 0: none */
    uint32_t flow;       /* enum gg_translate_flow */
    uint32_t barriers;   /* enum gg_translate_barriers */
    uint32_t reconverge; /* enum gg_translate_reconverge */
    /* 1: the device runs a subgroup's invocations in lockstep, and no control barriers stand between them. Of
       lavapipe, which takes each for one of the whole workgroup. */
    uint32_t lockstep;
    uint32_t shared_code; /* 1: accesses share code, for drivers that compile slowly; so they always do above 2 lanes */
    /* 1: wave mode keeps lane values in Function arrays, not in buffer 3. llvmpipe compiles that sooner; NVIDIA's
       driver refuses more than a few. */
    uint32_t local_registers;
    uint32_t float_controls; /* enum gg_float_control: what the device has and the module then asks for */
    uint32_t reserved[3];    /* 0 */
};

enum gg_translate_subject {
    GG_SUBJECT_LANES = 1,   /* how many an invocation carries; offset 0 */
    GG_SUBJECT_LOOP = 2,    /* at the offset of its header */
    GG_SUBJECT_BARRIER = 3, /* at an s_barrier */
    GG_SUBJECT_FORCE_32 = 0x7fffffff
};

/* One decision of the translator, and why. Both texts are static. */
struct gg_translate_decision {
    uint32_t subject; /* enum gg_translate_subject */
    uint32_t offset;
    const char *choice; /* "wave", "subgroup", "lane"; "dispatch"; "phase", "run cut", "one wave" */
    const char *reason;
};

/* Bits of gg_translate_report.features: what a device must have. */
enum gg_translate_feature {
    GG_FEATURE_FLOAT64 = 1,
    GG_FEATURE_SUBGROUP_VOTE = 2,
    GG_FEATURE_SUBGROUP_BALLOT = 4,
    GG_FEATURE_SUBGROUP_SHUFFLE = 8,
    GG_FEATURE_INT64 = 16,
    GG_FEATURE_INT64_ATOMICS = 32,
    GG_FEATURE_FORCE_32 = 0x7fffffff
};

struct gg_translate_report { /* what the module needs, and what was found */
    uint32_t instructions;
    uint32_t blocks;
    uint32_t loops;
    uint32_t irreducible_loops;
    uint32_t barriers;    /* s_barrier instructions */
    uint32_t phases;      /* 1: waves meet by the phase loop */
    uint32_t values;      /* of the IR, after unused ones went */
    uint32_t lanes;       /* an invocation carries */
    uint32_t subgroup;    /* the size that the pipeline must require, of full subgroups; 0: any */
    uint32_t invocations; /* of a workgroup: its size is that, 1, 1 */
    uint32_t lds_words;
    uint32_t register_words; /* of buffer 3 an invocation; 0: there is no such buffer */
    uint32_t features;       /* enum gg_translate_feature */
    uint32_t reconverge;     /* enum gg_translate_reconverge: what the module asks for */
    uint32_t decision_count;
    uint32_t groups_at_once; /* the most that may run at once, in one dispatch; 0: any number. 1 with scratch */
    struct gg_translate_decision *decisions; /* gg_free() */
};

/*
 * *words (gg_free) and *report. GG_ERR_UNSUPPORTED names offset and instruction of what is not translated, or the
 * rule that `strict` breaks on; GG_ERR_FORMAT what the words do wrong; GG_ERR_ARGUMENT lanes that do not fit the
 * program or the subgroup. The same input gives the same bytes.
 */
int32_t gg_translator_translate(const struct gg_guest_program *program, const struct gg_translate_options *options,
                                uint32_t **words, uint64_t *word_count, struct gg_translate_report *report,
                                char **message);
/* The IR of a program as text, for people and tests; freed with gg_free(). */
int32_t gg_translator_ir(const struct gg_guest_program *program, char **text, char **message);

/*
 * Translates a program `rounds` times, or without options only decodes its words, and says how long all of that took:
 * for benchmarks. Fails as gg_translator_translate() and gg_translator_decode() do.
 */
int32_t gg_translator_time(const struct gg_guest_program *program, const struct gg_translate_options *options,
                           uint32_t rounds, uint64_t *nanoseconds, char **message);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_INTERP_H
#define GG_TRANSLATOR_INTERP_H

/*
 * The interpreter's insides. It shares the decoder with the translator and nothing else, so that the two can
 * be held against each other. A wave executes one instruction for all its lanes before the next: sources of
 * every lane are read before any lane writes.
 *
 *   interp.c          launch, waves, schedule, barriers    interp_alu.c     value operations on integers
 *   interp_salu.c     scalar operations                    interp_fpu.c     value operations on floats
 *   interp_control.c  branches, barriers, messages, MODE   interp_pack.c    packed, dot and mixed operations
 *   interp_valu.c     vector operations: operands, values  interp_float.c   float arithmetic in integers
 *   interp_lane.c     what crosses lanes                   interp_atomic.c  what atomics do to a value
 *   interp_mem.c      windows, flat and scalar memory      interp_format.c  memory formats
 *   interp_buffer.c   V#, MUBUF and MTBUF                  interp_lds.c     DS
 *   interp_image.c    T#, MIMG
 */

#include "decode.h"
#include "interp_float.h"

#include <guestgpu/translator.h>

#define GG_MAX_LANES 64

/* Where FLAT addresses mean scratch and LDS: 4 GiB each, as drivers set them up. */
#define GG_PRIVATE_APERTURE UINT64_C(0x0001000000000000)
#define GG_SHARED_APERTURE  UINT64_C(0x0002000000000000)

enum gg_wave_state {
    GG_WAVE_RUNS = 0,
    GG_WAVE_WAITS,
    GG_WAVE_ENDED
};

/* MODE, as s_setreg sees it. */
#define GG_MODE_ROUND_32   0 /* 2 bits */
#define GG_MODE_ROUND_64   2 /* 2 bits, also of f16 */
#define GG_MODE_DENORM_32  4 /* bit 0: sources, bit 1: results */
#define GG_MODE_DENORM_64  6 /* also of f16 */
#define GG_MODE_DX10_CLAMP (1u << 8)
#define GG_MODE_IEEE       (1u << 9)
#define GG_MODE_FP16_OVFL  (1u << 23)

struct gg_wave {
    uint32_t sgpr[GG_SGPR_FILE];
    uint32_t *vgpr; /* [number * lanes + lane] */
    uint64_t pc;    /* byte offset of the next instruction */
    uint64_t flat_scratch;
    uint32_t scc;
    uint32_t mode;
    uint32_t index; /* in the group */
    uint32_t state; /* enum gg_wave_state */
};

struct gg_alu;
/* Computes alu->result (and carry) of alu->op; false: not an operation of this function's. */
typedef bool (*gg_alu_function)(struct gg_alu *alu);

/* A decoded instruction and who executes it. */
struct gg_step {
    struct gg_inst inst;
    gg_alu_function alu; /* of value operations, else NULL */
};

struct gg_interp {
    const struct gg_interp_params *params;
    const struct gg_guest_program *program;
    struct gg_interp_report *report;
    uint32_t lanes, vgprs;
    uint32_t own_vgprs; /* the others are shared by the halves of a wave64 */
    uint32_t group[3];
    uint32_t group_number;
    struct gg_wave *waves;
    uint32_t wave_count;
    uint8_t *lds;
    uint32_t lds_bytes;
    uint64_t random;
    const struct gg_guest_window *window; /* found last */
    const struct gg_step *step;           /* being executed */
    char **message;
    int32_t result; /* the first failure stays */
};

/* The first failure is kept, with offset and name of the instruction before the text. */
void gg_interp_fail(struct gg_interp *run, int32_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gg_interp_unsupported(struct gg_interp *run, const char *what);

/* One lane of a value operation. */
struct gg_alu {
    uint16_t op;
    uint8_t lane;
    bool clamp;
    bool dx10_clamp;
    bool ieee;
    bool vcc; /* this lane's bit: v_div_fmas */
    bool carry;
    uint8_t op_sel, op_sel_hi, neg, neg_hi, abs; /* packed and mixed operations */
    uint16_t code;                               /* of the row */
    uint8_t type;                                /* of source 0 */
    struct gg_float_mode f32, f64;               /* f64 also for f16 */
    uint64_t src[3];                             /* a MASK source is 0 or 1 */
    uint64_t old;                                /* destination before, of READS_DST */
    uint64_t result;
};

bool gg_alu_integer(struct gg_alu *alu);
bool gg_alu_float(struct gg_alu *alu);
bool gg_alu_convert(struct gg_alu *alu);
bool gg_alu_packed(struct gg_alu *alu);
gg_alu_function gg_alu_find(uint16_t op); /* NULL: not a value operation */
struct gg_float_mode gg_wave_float_mode(const struct gg_wave *wave, enum gg_float format);
uint64_t gg_alu_clamp_float(const struct gg_alu *alu, enum gg_float format, uint64_t value);

/* Each executes a whole instruction; the caller has advanced the PC. */
void gg_interp_salu(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
void gg_interp_valu(struct gg_interp *run, struct gg_wave *wave, const struct gg_step *step);
void gg_interp_cross_lane(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
void gg_interp_lds(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
void gg_interp_smem(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
void gg_interp_flat(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
void gg_interp_buffer(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
void gg_interp_image(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
void gg_interp_export(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst);
/* Program control; false: another scalar operation. a: its source. */
bool gg_interp_control(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint64_t a);
bool gg_interp_has_lane(uint16_t op); /* whether gg_interp_cross_lane knows it */
bool gg_interp_has_salu(uint16_t op);
bool gg_interp_has_image(uint16_t op);
bool gg_interp_has_lds(uint16_t op);

/* Sources after DPP or SDWA; *valid loses the lanes that are not to be written. */
void gg_interp_dpp(const struct gg_interp *run, const struct gg_inst *inst, uint64_t exec, const uint64_t *raw,
                   uint64_t *moved, uint64_t *valid);
uint32_t gg_sdwa_source(const struct gg_inst *inst, uint32_t source, uint32_t value);
uint32_t gg_sdwa_result(const struct gg_inst *inst, uint32_t old, uint32_t value);

/* Records one output; dropped beyond the capacity, counted all the same. */
void gg_interp_output(struct gg_interp *run, struct gg_interp_output output);

/* The low `bits` of a value as a signed number of 32 bits. */
static inline uint32_t gg_sign_extend(uint64_t value, uint32_t bits)
{
    return (uint32_t)((int32_t)((uint32_t)value << (32 - bits)) >> (32 - bits));
}

/* ---- Registers ---- */

static inline uint32_t gg_read_sgpr(const struct gg_wave *wave, uint32_t number)
{
    return number == GG_SGPR_NULL ? 0 : wave->sgpr[number];
}

/* The trap temporaries are read only outside the trap handler. */
static inline void gg_write_sgpr(struct gg_wave *wave, uint32_t number, uint32_t value)
{
    if (number != GG_SGPR_NULL && (number < GG_SGPR_TTMP0 || number >= GG_SGPR_M0))
        wave->sgpr[number] = value;
}

/* One dword or two; of NULL both are 0. */
static inline uint64_t gg_read_sgprs(const struct gg_wave *wave, uint32_t number, uint32_t width)
{
    uint64_t low = gg_read_sgpr(wave, number);
    if (width < 2 || number == GG_SGPR_NULL || number + 1 >= GG_SGPR_FILE)
        return low;
    return low | (uint64_t)gg_read_sgpr(wave, number + 1) << 32;
}

static inline void gg_write_sgprs(struct gg_wave *wave, uint32_t number, uint32_t width, uint64_t value)
{
    gg_write_sgpr(wave, number, (uint32_t)value);
    if (width >= 2 && number != GG_SGPR_NULL && number + 1 < GG_SGPR_FILE)
        gg_write_sgpr(wave, number + 1, (uint32_t)(value >> 32));
}

/* One bit a lane. */
static inline uint64_t gg_read_mask(const struct gg_interp *run, const struct gg_wave *wave, uint32_t number)
{
    return gg_read_sgprs(wave, number, run->lanes / 32);
}

static inline void gg_write_mask(const struct gg_interp *run, struct gg_wave *wave, uint32_t number, uint64_t mask)
{
    gg_write_sgprs(wave, number, run->lanes / 32, mask);
}

static inline uint64_t gg_exec(const struct gg_interp *run, const struct gg_wave *wave)
{
    return gg_read_mask(run, wave, GG_SGPR_EXEC_LO);
}

static inline uint32_t *gg_vgpr(const struct gg_interp *run, const struct gg_wave *wave, uint32_t number)
{
    return wave->vgpr + (uint64_t)number * run->lanes;
}

/* A uniform source of one dword or two: a constant, a scalar register, or a special source. */
uint64_t gg_read_uniform(struct gg_interp *run, const struct gg_wave *wave, const struct gg_operand *operand);
/* A source in one lane, one dword or two. */
uint64_t gg_read_lane(struct gg_interp *run, const struct gg_wave *wave, const struct gg_operand *operand,
                      uint32_t lane);
/* Dword `part` of a source that may be wider. */
uint32_t gg_read_part(struct gg_interp *run, const struct gg_wave *wave, const struct gg_operand *operand,
                      uint32_t part, uint32_t lane);

/* ---- Memory ---- */

/* Descriptors have 48 bits of an address; above them stand copies of the highest, as in all guest addresses. */
static inline uint64_t gg_canonical(uint64_t address) { return (uint64_t)((int64_t)(address << 16) >> 16); }

/* size 1 to 8 bytes, unaligned; outside the windows reads give 0, writes go nowhere; both are counted. */
uint64_t gg_mem_read(struct gg_interp *run, uint64_t address, uint32_t size);
void gg_mem_write(struct gg_interp *run, uint64_t address, uint32_t size, uint64_t value);
/* Likewise in LDS. */
uint64_t gg_lds_read(struct gg_interp *run, uint64_t address, uint32_t size);
void gg_lds_write(struct gg_interp *run, uint64_t address, uint32_t size, uint64_t value);

/* Where a lane's access goes. */
enum gg_space {
    GG_SPACE_NOWHERE = 0,
    GG_SPACE_MEMORY,
    GG_SPACE_LDS
};
struct gg_place {
    uint32_t space;  /* enum gg_space; NOWHERE reads 0 and is not counted */
    uint32_t spread; /* bytes from a dword to the next: 4 unless swizzled */
    uint64_t address;
    uint64_t limit; /* bytes from `address` that are in range */
};
uint64_t gg_place_read(struct gg_interp *run, const struct gg_place *place, uint64_t offset, uint32_t size);
void gg_place_write(struct gg_interp *run, const struct gg_place *place, uint64_t offset, uint32_t size,
                    uint64_t value);

/* How a load or store of plain memory treats its data. */
struct gg_access {
    uint8_t dwords; /* of whole-dword accesses, else 0 */
    uint8_t bytes;  /* 1 or 2 of the others */
    bool is_signed;
};
struct gg_access gg_access_of(const struct gg_inst *inst);
/* Plain load, store or atomic of every lane of `exec`; places[lane]. */
void gg_interp_access(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst,
                      const struct gg_operand *data, uint64_t exec, const struct gg_place *places);

/* ---- Atomics ---- */

enum gg_atomic {
    GG_ATOMIC_SWAP = 0, /* 0 to 16 in the order of MUBUF, FLAT and MIMG */
    GG_ATOMIC_CMPSWAP,
    GG_ATOMIC_ADD,
    GG_ATOMIC_SUB,
    GG_ATOMIC_CSUB,
    GG_ATOMIC_SMIN,
    GG_ATOMIC_UMIN,
    GG_ATOMIC_SMAX,
    GG_ATOMIC_UMAX,
    GG_ATOMIC_AND,
    GG_ATOMIC_OR,
    GG_ATOMIC_XOR,
    GG_ATOMIC_INC,
    GG_ATOMIC_DEC,
    GG_ATOMIC_FCMPSWAP,
    GG_ATOMIC_FMIN,
    GG_ATOMIC_FMAX,
    GG_ATOMIC_RSUB, /* DS only from here */
    GG_ATOMIC_MSKOR,
    GG_ATOMIC_FADD,
    GG_ATOMIC_WRAP,
    GG_ATOMIC_COUNT
};

/* What memory holds after: old and data are `bits` wide; second: the comparand of CMPSWAP, the OR of MSKOR. */
uint64_t gg_atomic_result(const struct gg_wave *wave, enum gg_atomic atomic, uint32_t bits, uint64_t old, uint64_t data,
                          uint64_t second);
/* From the row's format and code; *bits 32 or 64. GG_ATOMIC_COUNT: none. */
enum gg_atomic gg_atomic_of(const struct gg_op_info *info, uint32_t *bits);

/* ---- Formats ---- */

enum gg_numeric {
    GG_NUMERIC_UNORM = 0,
    GG_NUMERIC_SNORM,
    GG_NUMERIC_USCALED,
    GG_NUMERIC_SSCALED,
    GG_NUMERIC_UINT,
    GG_NUMERIC_SINT,
    GG_NUMERIC_FLOAT
};

/* A memory format; component 0 in the lowest bits. */
struct gg_memory_format {
    uint8_t components;
    uint8_t bytes;
    uint8_t numeric; /* enum gg_numeric */
    uint8_t bits[4];
};
/* The unified formats of gfx10, 1 to 77; false for others. */
bool gg_memory_format_of(uint32_t number, struct gg_memory_format *format);
/* A component as the register has it: f32 bits, or an integer. 16-bit registers (d16) get f16 or 16 bits. */
uint32_t gg_format_decode(const struct gg_memory_format *format, uint32_t component, const uint8_t *element, bool d16);
void gg_format_encode(const struct gg_memory_format *format, uint32_t component, uint8_t *element, uint32_t value,
                      bool d16);
/* Loads or stores of elements in a format, through dst_sel (4 times 3 bits: 0, 1, -, -, x, y, z, w). */
void gg_interp_formatted(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint64_t exec,
                         const struct gg_place *places, const struct gg_memory_format *format, uint32_t dst_sel,
                         uint32_t component_mask);

#endif

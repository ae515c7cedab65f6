/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_LIFT_BUFFER_H
#define GG_TRANSLATOR_LIFT_BUFFER_H

/* Accesses by a V#, and what small accesses of all units share: which bytes,
 * which half of a register. */
#include "lift_wide.h"

struct gg_descriptor {   /* scalars */
    struct gg_pair base; /* with the stride's bits above: sums are cut to 48 bits */
    gg_value stride, records, word3;
    gg_value swizzled;    /* B */
    gg_value add_thread;  /* 1 or 0 */
    gg_value index_shift; /* log2 of INDEX_STRIDE: 3 to 6 */
};

struct gg_buffer_access {
    struct gg_descriptor descriptor;
    struct gg_pair address; /* of each lane's first byte */
    gg_value limit;         /* of each lane: bytes from there on that are in range */
    gg_value spread;        /* S: bytes from a dword to the next: 4 unless the buffer is
                      swizzled */
};

/* Of the MUBUF or MTBUF instruction being lifted. false: an operand is not
 * known. */
bool gg_l_buffer(struct gg_lift *l, struct gg_buffer_access *a);
/* Of a dword of the access. */
struct gg_pair gg_l_buffer_address(struct gg_lift *l, const struct gg_buffer_access *a, uint32_t dword);
/* M: lanes of EXEC whose first `bytes` bytes are in range. */
gg_value gg_l_buffer_active(struct gg_lift *l, const struct gg_buffer_access *a, uint32_t bytes);
/* With tfe the register after the data says whether a page was missing: never.
 */
void gg_l_buffer_status(struct gg_lift *l);

/* Bytes and halves; false: others. */
bool gg_l_small_access(uint32_t op, enum gg_ir_memory *kind);
/* To a register, or to the half that a d16 load names. */
void gg_l_set_loaded(struct gg_lift *l, uint32_t vgpr, gg_value value);
/* Dword i of the data of a store; of a d16_hi store its high half. */
gg_value gg_l_stored(struct gg_lift *l, const struct gg_operand *data, uint32_t i);

/*
 * Where a FLAT, GLOBAL or SCRATCH instruction leads each lane. FLAT finds LDS and scratch by the address, in two
 * apertures of 4 GiB; scratch has dword after dword, in each lane after lane.
 */
struct gg_flat {
    struct gg_pair address; /* in guest memory, of each lane's first byte */
    gg_value spread;        /* bytes from a dword to the next: S or V */
    gg_value memory;        /* M: lanes of EXEC whose access is to guest memory */
    gg_value lds;           /* M: to LDS, at lds_address; 0: none */
    gg_value lds_address;
};
/* false: an operand is not known. */
bool gg_l_flat(struct gg_lift *l, struct gg_flat *f);

/* Typed accesses (lift_format.c), of buffers and images. */
struct gg_memory_format { /* scalars */
    gg_value numeric;
    gg_value bits[4], position[4]; /* of each component; 0 bits: it is not there */
    gg_value bytes;                /* of an element; 0: there is no such format */
};
struct gg_memory_format gg_l_format(struct gg_lift *l, gg_value number);
bool gg_l_halves(const struct gg_inst *inst); /* registers hold components of 16 bits */
/* Each lane's element, to or from the registers of the components of a mask. selects: DST_SEL in its low 12 bits. */
void gg_l_load_elements(struct gg_lift *l, const struct gg_buffer_access *a, const struct gg_memory_format *f,
                        gg_value selects, uint32_t mask);
void gg_l_store_elements(struct gg_lift *l, const struct gg_buffer_access *a, const struct gg_memory_format *f,
                         uint32_t mask);

/* Of MIMG (lift_atomic.c): on texels of so many bytes (S); those that the data does not fit are not touched. */
int32_t gg_lift_image_atomic(struct gg_lift *l, struct gg_pair address, gg_value active, gg_value bytes);

/* Of SMEM (lift_atomic.c): at an address, for the one lane of a mask. */
int32_t gg_lift_scalar_atomic(struct gg_lift *l, struct gg_pair address, gg_value active);

/* High dwords of the apertures. */
#define GG_FLAT_PRIVATE 0x00010000u
#define GG_FLAT_SHARED  0x00020000u

#endif

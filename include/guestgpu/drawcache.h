/* SPDX-License-Identifier: MIT */
#ifndef GUESTGPU_DRAWCACHE_H
#define GUESTGPU_DRAWCACHE_H

/*
 * Command streams: PM4 packets as a graphics or compute ring reads them, with the registers that they set.
 * Registers are named by the hardware's dword index (byte address / 4): 0x2E12 is COMPUTE_PGM_RSRC1.
 */

#include <guestgpu/guestgpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* cdef: begin */

#define GG_PM4_REGISTERS  65536
#define GG_PM4_MAX_DEPTH  4         /* of indirect buffers in one another */
#define GG_PM4_MAX_WORDS  0x4000000 /* read after one gg_pm4_begin(), indirect buffers included */
#define GG_PM4_NAME_BYTES 64
#define GG_PM4_USER_DATA  16

enum gg_pm4_effect {
    GG_PM4_PLAIN = 0,    /* nothing that is followed here */
    GG_PM4_REGISTER = 1, /* registers[0..register_count-1] from first_register were set */
    GG_PM4_BUFFER = 2,   /* goes on in the indirect buffer `target` of target_words */
    GG_PM4_DISPATCH = 3, /* see gg_pm4_dispatch() */
    GG_PM4_DRAW = 4,     /* a draw, or a dispatch of mesh workgroups */
    GG_PM4_END = 5,      /* no packet: all is read */
    GG_PM4_EFFECT_FORCE_32 = 0x7fffffff
};

struct gg_pm4_packet {
    const uint32_t *words; /* header and body, in the memory of its window */
    uint64_t address;      /* guest address of the header */
    uint64_t target;
    uint32_t word_count; /* header included */
    uint32_t depth;      /* 0 in the buffer that was begun */
    uint32_t type;       /* 0, 2 or 3 */
    uint32_t opcode;     /* of type 3 */
    uint32_t predicate;  /* header bit 0: skipped by the hardware under a false predicate */
    uint32_t compute;    /* header bit 1: for the compute shader */
    uint32_t effect;     /* enum gg_pm4_effect */
    uint32_t first_register;
    uint32_t register_count;
    uint32_t target_words;
};

/* What a compute dispatch starts: registers as they stand, and what is derived from them. */
struct gg_pm4_dispatch {
    uint64_t program;  /* guest address of its first instruction */
    uint64_t indirect; /* guest address of the three group counts, or 0 */
    uint64_t scratch;  /* guest address of the scratch ring where a register names it, or 0 */
    uint32_t groups[3];
    uint32_t first_group[3];
    uint32_t threads[3]; /* of a whole workgroup */
    uint32_t partial[3]; /* of the last workgroup of each dimension; 0 where it is whole */
    uint32_t initiator;  /* COMPUTE_DISPATCH_INITIATOR */
    uint32_t rsrc1;
    uint32_t rsrc2;
    uint32_t rsrc3;
    uint32_t resource_limits;
    uint32_t tmpring_size;
    uint32_t user_data[GG_PM4_USER_DATA];
    uint32_t user_sgprs;    /* how many of user_data the program is given */
    uint32_t wave;          /* lanes: 32 or 64 */
    uint32_t vgprs;         /* of a lane, as allocated */
    uint32_t lds_bytes;     /* of a workgroup, as allocated */
    uint32_t scratch_bytes; /* of a lane; 0 unless RSRC2 enables scratch */
    uint32_t known;         /* 1: program, resources and thread counts were all set in what was read */
};

/* One queue: its registers stay from one submission to the next. */
struct gg_pm4_stream;

int32_t gg_pm4_create(struct gg_pm4_stream **stream, char **message);
void gg_pm4_destroy(struct gg_pm4_stream *stream);

/*
 * Starts on word_count words at a guest address. The windows (copied; their memory is not) must stay until the
 * last packet of it is read; host addresses are multiples of 4. GG_ERR_FORMAT: the words are not in one window.
 */
int32_t gg_pm4_begin(struct gg_pm4_stream *stream, const struct gg_guest_window *windows, uint64_t window_count,
                     uint64_t address, uint64_t word_count, char **message);

/*
 * Reads the next packet, follows it into indirect buffers, and does to the registers what it says (register writes,
 * CLEAR_STATE, COPY_DATA and LOAD_SH_REG_INDEX of words in memory; shaders and DMA are not carried out). At the end the effect is GG_PM4_END.
 * GG_ERR_FORMAT: a packet cut off by the end of its buffer, registers out of range, a buffer outside of the windows.
 * GG_ERR_LIMIT: deeper or longer than the limits above. After an error only gg_pm4_begin() goes on.
 */
int32_t gg_pm4_next(struct gg_pm4_stream *stream, struct gg_pm4_packet *packet, char **message);

/* The value of a register; *set is 0 while nothing has written it. Both outputs may be NULL. */
int32_t gg_pm4_register(const struct gg_pm4_stream *stream, uint32_t index, uint32_t *value, uint32_t *set,
                        char **message);

/*
 * Right after a packet whose effect is GG_PM4_DISPATCH. Indirect counts are read from the windows; GG_ERR_FORMAT when
 * they lie outside. GG_ERR_ARGUMENT: the last packet was none.
 */
int32_t gg_pm4_dispatch(const struct gg_pm4_stream *stream, struct gg_pm4_dispatch *dispatch, char **message);

/* The name of a type 3 opcode, without its prefix ("SET_SH_REG"); NULL when it has none here. Never freed. */
const char *gg_pm4_opcode_name(uint32_t opcode);

/* The name of a register into name[GG_PM4_NAME_BYTES]: "COMPUTE_USER_DATA_2"; where it has none here, "0x2E42". */
void gg_pm4_register_name(uint32_t index, char *name);

/* cdef: end */
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

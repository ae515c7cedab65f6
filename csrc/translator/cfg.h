/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_CFG_H
#define GG_TRANSLATOR_CFG_H

/*
 * The control-flow graph of a guest program: what can be reached from its entry, in blocks that end at
 * branches, before branch targets, and after every s_barrier, so that a barrier is always the last
 * instruction of its block. Decoding follows control, not addresses: compilers put loop tails behind
 * s_endpgm and constants behind the code.
 */

#include "decode.h"

#include "../common/arena.h"
#include <stdbool.h>

#define GG_NO_BLOCK UINT32_MAX

struct gg_block {
    uint32_t first, count;      /* instructions, in cfg.insts */
    uint32_t succ[2];           /* GG_NO_BLOCK where there is none; of a conditional branch: [0] taken, [1] not taken */
    uint32_t pred_first, preds; /* in cfg.preds */
    uint32_t order;             /* number in reverse postorder, the entry's is 0 */
    uint32_t dominator;         /* immediate; the entry's is itself */
    uint32_t jump; /* in cfg.jumps: the block ends by comparing that jump's address with the start of succ[0], or just
                      goes there if there is no succ[1]; GG_NO_BLOCK: not so */
    uint32_t loop; /* innermost loop that contains the block, or GG_NO_BLOCK */
};

struct gg_loop {
    uint32_t header;
    uint32_t parent;  /* enclosing loop, or GG_NO_BLOCK */
    uint32_t depth;   /* 1: not in another */
    uint32_t blocks;  /* in all, those of inner loops included */
    bool irreducible; /* a block other than the header is entered from outside */
};

/*
 * A jump to the address in a pair of registers, and where it may lead: byte offsets, rising. The caller of
 * gg_cfg_build() knows them. Several targets are a chain of blocks without instructions, behind the jump's own.
 */
struct gg_jump {
    uint32_t offset; /* of the instruction */
    uint32_t count;
    const uint32_t *targets;
    bool open; /* it may lead elsewhere too: the chain's last block stops the wave */
};

struct gg_cfg {
    struct gg_inst *insts; /* by offset */
    uint32_t inst_count;
    struct gg_block *blocks; /* by offset; the entry is blocks[entry] */
    uint32_t block_count;
    uint32_t entry;
    uint32_t *preds;
    uint32_t *rpo;         /* blocks in reverse postorder */
    struct gg_loop *loops; /* outer before inner */
    uint32_t loop_count;
    const struct gg_jump *jumps; /* by offset */
    uint32_t jump_count;
};

/*
 * Builds the graph in the arena. Refusals name offset and instruction: a branch outside the program or into
 * the middle of an instruction, falling off the end. A jump by register (s_setpc, s_swappc) whose targets are not
 * among those given leads nowhere yet: cfg.jumps has it all the same, without targets.
 */
int32_t gg_cfg_build(struct gg_cfg *cfg, struct gg_arena *arena, const struct gg_guest_program *program,
                     char **message);
int32_t gg_cfg_build_jumps(struct gg_cfg *cfg, struct gg_arena *arena, const struct gg_guest_program *program,
                           const struct gg_jump *jumps, uint32_t jump_count, char **message);
/* The instruction goes where a register says. */
bool gg_inst_jumps_by_register(const struct gg_inst *inst);

/* Whether block a dominates block b (a block dominates itself). */
bool gg_cfg_dominates(const struct gg_cfg *cfg, uint32_t a, uint32_t b);
/* Whether the loop contains the block. */
bool gg_cfg_in_loop(const struct gg_cfg *cfg, uint32_t loop, uint32_t block);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_LIFT_OPERAND_H
#define GG_TRANSLATOR_LIFT_OPERAND_H

/* Sources and results of vector operations, with all that an encoding can do to them: SDWA, DPP, abs, neg, omod, clamp. */
#include "lift_wide.h"

struct gg_sources {
    gg_value value[3]; /* 0 where there is none, or where it is a mask */
    gg_value write;    /* M: lanes that are written; 0: those of EXEC */
};

/* Reads the first dword of each source; of 16 bits the half that op_sel names, the rest 0. GG_ERR_UNSUPPORTED for what is not known. */
int32_t gg_l_read_sources(struct gg_lift *l, struct gg_sources *s);
/* Writes one dword to dst[0], as SDWA and DPP want it. */
void gg_l_write_result(struct gg_lift *l, const struct gg_sources *s, gg_value value);
/* `value` in the low or high half of `old`. */
gg_value gg_l_in_half(struct gg_lift *l, gg_value value, gg_value old, bool high);
/* What comes behind an operation on floats of 16 or 32 bits: denormals as MODE has them, omod, clamp. */
gg_value gg_l_float_result(struct gg_lift *l, gg_value value);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef GG_TRANSLATOR_EMIT_DOUBLE_H
#define GG_TRANSLATOR_EMIT_DOUBLE_H

#include "emit.h"

/* Floats of 64 bits as SPIR-V has them. The first use of the type asks for the capability Float64. */
uint32_t gg_emit_f64(struct gg_emit *e);
uint32_t gg_emit_as_double(struct gg_emit *e, uint32_t low, uint32_t high);
uint32_t gg_emit_dword_of(struct gg_emit *e, uint32_t value, uint32_t which);
uint32_t gg_emit_double_constant(struct gg_emit *e, uint32_t high); /* whose low dword is 0 */
/* An operation that no compiler may contract: the guest rounds each. */
uint32_t gg_emit_exact_double(struct gg_emit *e, SpvOp op, uint32_t a, uint32_t b);
uint32_t gg_emit_fma64(struct gg_emit *e, uint32_t a, uint32_t b, uint32_t c); /* emit_fma.c; rounded once */

#endif

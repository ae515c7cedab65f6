/* SPDX-License-Identifier: MIT */
/* Building the IR, with what folds on the way: constants, neutral elements, masks that meet their words. */
#include "ir.h"

#include "message.h"

#include <string.h>

#define LOOK_BACK 96u   /* bytes of the program in which an operation is not made again */
#define BUCKETS   4096u /* several times the values made within that */

const struct gg_ir_op_info gg_ir_ops[GG_IR_OPCODES] = {
#define P                                 GG_IRF_PURE
#define C                                 GG_IRF_COMMUTES
#define X                                 GG_IRF_CROSSES_LANES
#define L                                 GG_IRF_LOADS
#define S                                 GG_IRF_STORES
#define D                                 GG_IRF_LDS
#define GG_IR_ROW(name, arguments, flags) [GG_IR_##name] = {#name, arguments, flags},
#include "ir_ops.def"
#undef GG_IR_ROW
#undef P
#undef C
#undef X
#undef L
#undef S
#undef D
};

int32_t gg_ir_init(struct gg_ir *ir, struct gg_arena *arena, const struct gg_cfg *cfg, uint32_t wave, char **message)
{
    uint32_t n = cfg->block_count;
    *ir = (struct gg_ir){.arena = arena, .block_count = n + 1, .entry = n, .value_count = 1, .wave = wave};
    ir->value_capacity = 512 + 16 * cfg->inst_count; /* most programs need less; what is not used costs nothing */
    ir->values = gg_arena_alloc_raw(arena, ir->value_capacity, sizeof *ir->values);
    ir->blocks = gg_arena_alloc(arena, n + 1, sizeof *ir->blocks);
    ir->preds = gg_arena_alloc(arena, 2 * (size_t)n + 1, sizeof *ir->preds);
    ir->newest = gg_arena_alloc(arena, BUCKETS, sizeof *ir->newest);
    if (!ir->values || !ir->blocks || !ir->preds || !ir->newest)
        return gg_fail(message, GG_ERR_MEMORY, "translation: out of memory");
    ir->values[0] = (struct gg_ir_value){0};
    uint32_t filled = 0;
    for (uint32_t b = 0; b < n; b++) {
        const struct gg_block *from = &cfg->blocks[b];
        struct gg_ir_block *to = &ir->blocks[b];
        memcpy(to->succ, from->succ, sizeof to->succ);
        to->pred_first = filled;
        if (b == cfg->entry)
            ir->preds[filled++] = n;
        for (uint32_t p = 0; p < from->preds; p++)
            ir->preds[filled++] = cfg->preds[from->pred_first + p];
        to->preds = filled - to->pred_first;
    }
    ir->blocks[n] = (struct gg_ir_block){.succ = {cfg->entry, GG_NO_BLOCK}};
    return GG_OK;
}

static bool room_for_value(struct gg_ir *ir)
{
    if (ir->value_count < ir->value_capacity)
        return true;
    struct gg_ir_value *grown =
        gg_arena_grow(ir->arena, ir->values, ir->value_count, 2 * (size_t)ir->value_capacity, sizeof *grown);
    if (!grown)
        return false;
    ir->values = grown;
    ir->value_capacity *= 2;
    return true;
}

static gg_value append(struct gg_ir *ir, const struct gg_ir_value *value)
{
    if (!room_for_value(ir))
        return 0;
    ir->values[ir->value_count] = *value;
    return ir->value_count++;
}

bool gg_ir_is_constant(const struct gg_ir *ir, gg_value value, uint32_t *bits)
{
    if (ir->values[value].op != GG_IR_constant)
        return false;
    *bits = ir->values[value].imm;
    return true;
}

static uint32_t high_product(uint32_t a, uint32_t b, bool is_signed)
{
    if (is_signed)
        return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
    return (uint32_t)((uint64_t)a * b >> 32);
}

static uint32_t bucket_of(const struct gg_ir_value *v)
{
    uint32_t hash = (v->op * 31u + v->class) * 0x9e3779b1u ^ v->imm;
    for (int i = 0; i < GG_IR_ARGS && v->arg[i]; i++)
        hash = (hash ^ v->arg[i]) * 0x85ebca6bu;
    hash ^= hash >> 15;
    return (hash ^ hash >> 7) % BUCKETS;
}

static bool is_same(const struct gg_ir_value *a, const struct gg_ir_value *b)
{
    return a->op == b->op && a->class == b->class && a->imm == b->imm && !memcmp(a->arg, b->arg, sizeof a->arg);
}

/*
 * The same pure operation earlier in the block, not too far back, or a new one. What is found does not depend on
 * the order in which the values of one guest instruction are made. Blocks are filled one after the other, from their
 * first instruction to their last: behind a value that is too old all are.
 */
static gg_value make_pure(struct gg_ir *ir, struct gg_ir_value *v)
{
    gg_value *newest = &ir->newest[bucket_of(v)], found = *newest;
    for (; found; found = ir->values[found].older) {
        const struct gg_ir_value *old = &ir->values[found];
        if (old->block != v->block || v->offset - old->offset > LOOK_BACK)
            break;
        if (is_same(old, v))
            return found;
    }
    v->older = *newest;
    return *newest = append(ir, v);
}

/* Two constant dwords. Floats are left to the device, whose mode they follow. */
bool gg_ir_fold(enum gg_ir_opcode op, uint32_t a, uint32_t b, uint32_t *bits)
{
    switch (op) {
    case GG_IR_add:
        *bits = a + b;
        return true;
    case GG_IR_sub:
        *bits = a - b;
        return true;
    case GG_IR_mul:
        *bits = a * b;
        return true;
    case GG_IR_mulhi_u:
        *bits = high_product(a, b, false);
        return true;
    case GG_IR_mulhi_i:
        *bits = high_product(a, b, true);
        return true;
    case GG_IR_and:
        *bits = a & b;
        return true;
    case GG_IR_or:
        *bits = a | b;
        return true;
    case GG_IR_xor:
        *bits = a ^ b;
        return true;
    case GG_IR_not:
        *bits = ~a;
        return true;
    case GG_IR_shl:
        *bits = a << (b & 31);
        return true;
    case GG_IR_shr:
        *bits = a >> (b & 31);
        return true;
    case GG_IR_sar:
        *bits = (a >> (b & 31)) | (a >> 31 ? ~(UINT32_MAX >> (b & 31)) : 0);
        return true;
    case GG_IR_min_u:
        *bits = a < b ? a : b;
        return true;
    case GG_IR_max_u:
        *bits = a > b ? a : b;
        return true;
    case GG_IR_eq:
        *bits = a == b;
        return true;
    case GG_IR_lt_u:
        *bits = a < b;
        return true;
    case GG_IR_lt_i:
        *bits = (int32_t)a < (int32_t)b;
        return true;
    default:
        return false;
    }
}

/* x op constant that is x, or a constant; 0 if neither. */
static gg_value fold_neutral(struct gg_ir *ir, struct gg_ir_place at, const struct gg_ir_value *v, uint32_t b)
{
    uint32_t ones = v->class == GG_IR_M || v->class == GG_IR_B ? 1 : UINT32_MAX;
    bool same_class = ir->values[v->arg[0]].class == v->class;
    switch (v->op) {
    case GG_IR_add:
    case GG_IR_sub:
    case GG_IR_or:
    case GG_IR_xor:
    case GG_IR_shl:
    case GG_IR_shr:
    case GG_IR_sar:
        if (b == 0 && same_class)
            return v->arg[0];
        if (v->op == GG_IR_or && b == ones)
            return gg_ir_constant(ir, at, v->class, ones);
        return 0;
    case GG_IR_and:
        if (b == 0)
            return gg_ir_constant(ir, at, v->class, 0);
        return b == ones && same_class ? v->arg[0] : 0;
    default:
        return 0;
    }
}

/* mask(mask_lo m, mask_hi m) is m; the words of mask(lo, hi) are lo and hi; words of masks combine as masks. */
static gg_value fold_masks(struct gg_ir *ir, struct gg_ir_place at, const struct gg_ir_value *v)
{
    const struct gg_ir_value *a = &ir->values[v->arg[0]], *b = &ir->values[v->arg[1]];
    uint32_t low = 0, high = 0;
    switch (v->op) {
    case GG_IR_mask:
        if (a->op == GG_IR_mask_lo && (ir->wave == 32 || (b->op == GG_IR_mask_hi && b->arg[0] == a->arg[0])))
            return a->arg[0];
        if (gg_ir_is_constant(ir, v->arg[0], &low) && (ir->wave == 32 || gg_ir_is_constant(ir, v->arg[1], &high))) {
            high = ir->wave == 32 ? low : high;
            if (low == high && (low == 0 || low == UINT32_MAX))
                return gg_ir_constant(ir, at, GG_IR_M, low & 1);
        }
        return 0;
    case GG_IR_mask_lo:
    case GG_IR_mask_hi:
        if (a->op == GG_IR_constant)
            return gg_ir_constant(ir, at, GG_IR_S, v->op == GG_IR_mask_hi && ir->wave == 32 ? 0 : 0 - a->imm);
        if (a->op == GG_IR_mask && (v->op == GG_IR_mask_lo || ir->wave == 64))
            return a->arg[v->op == GG_IR_mask_hi];
        return 0;
    case GG_IR_eq: { /* no lane of a mask, as the scalar unit says it: its words are 0 */
        bool words = a->op == GG_IR_or && ir->values[a->arg[0]].op == GG_IR_mask_lo &&
                     ir->values[a->arg[1]].op == GG_IR_mask_hi &&
                     ir->values[a->arg[0]].arg[0] == ir->values[a->arg[1]].arg[0];
        bool word = ir->wave == 32 && a->op == GG_IR_mask_lo;
        if (v->class != GG_IR_B || !(words || word) || !gg_ir_is_constant(ir, v->arg[1], &low) || low)
            return 0;
        gg_value m = word ? a->arg[0] : ir->values[a->arg[0]].arg[0];
        gg_value any = gg_ir_make(ir, at, GG_IR_any, GG_IR_B, 0, m, 0, 0, 0);
        return gg_ir_make(ir, at, GG_IR_not, GG_IR_B, 0, any, 0, 0, 0);
    }
    case GG_IR_any:
        return a->op == GG_IR_constant ? gg_ir_constant(ir, at, GG_IR_B, a->imm) : 0;
    case GG_IR_and:
    case GG_IR_or:
    case GG_IR_xor:
        if (v->class == GG_IR_S && a->op == b->op && (a->op == GG_IR_mask_lo || a->op == GG_IR_mask_hi)) {
            uint16_t half = a->op;
            gg_value m = gg_ir_make(ir, at, v->op, GG_IR_M, 0, a->arg[0], b->arg[0], 0, 0);
            return gg_ir_make(ir, at, half, GG_IR_S, 0, m, 0, 0, 0);
        }
        return 0;
    case GG_IR_not:
        if (v->class == GG_IR_S && (a->op == GG_IR_mask_lo || a->op == GG_IR_mask_hi)) {
            uint16_t half = a->op;
            gg_value m = gg_ir_make(ir, at, GG_IR_not, GG_IR_M, 0, a->arg[0], 0, 0, 0);
            return gg_ir_make(ir, at, half, GG_IR_S, 0, m, 0, 0, 0);
        }
        return 0;
    default:
        return 0;
    }
}

/*
 * x * 0 and x + 0 in integers: lavapipe takes them for 0 and x, even where x is infinite, negative or -0.
 */
static gg_value fold_float_zero(struct gg_ir *ir, struct gg_ir_place at, const struct gg_ir_value *v, uint32_t b)
{
    bool sum = v->op == GG_IR_fadd && b == 0, product = v->op == GG_IR_fmul && !(b & 0x7fffffffu);
    if (!sum && !product)
        return 0;
    enum gg_ir_class bit = v->class == GG_IR_S ? GG_IR_B : GG_IR_M;
    gg_value x = v->arg[0], sign = gg_ir_constant(ir, at, GG_IR_S, 0x80000000u);
    if (sum) {
        gg_value negative = gg_ir_make(ir, at, GG_IR_eq, bit, 0, x, sign, 0, 0),
                 zero = gg_ir_constant(ir, at, GG_IR_S, 0);
        return gg_ir_make(ir, at, GG_IR_select, v->class, 0, negative, zero, x, 0);
    }
    gg_value flipped = gg_ir_make(ir, at, GG_IR_xor, v->class, 0, x, v->arg[1], 0, 0);
    gg_value most = gg_ir_constant(ir, at, GG_IR_S, 0x7f7fffffu), low = gg_ir_constant(ir, at, GG_IR_S, 0x7fffffffu);
    gg_value magnitude = gg_ir_make(ir, at, GG_IR_and, v->class, 0, x, low, 0, 0);
    gg_value special = gg_ir_make(ir, at, GG_IR_lt_u, bit, 0, most, magnitude, 0, 0);
    gg_value nan = gg_ir_constant(ir, at, GG_IR_S, 0x7fc00000u);
    gg_value zero = gg_ir_make(ir, at, GG_IR_and, v->class, 0, flipped, sign, 0, 0);
    return gg_ir_make(ir, at, GG_IR_select, v->class, 0, special, nan, zero, 0);
}

/* A product of constants of which one is 0: what fold_float_zero() would make of it. */
static bool fold_zero_product(const struct gg_ir_value *v, uint32_t a, uint32_t b, uint32_t *bits)
{
    uint32_t x = a & 0x7fffffffu, y = b & 0x7fffffffu;
    if (v->op != GG_IR_fmul || (x && y))
        return false;
    *bits = x > 0x7f7fffffu || y > 0x7f7fffffu ? 0x7fc00000u : (a ^ b) & 0x80000000u;
    return true;
}

/* a * b + c with a constant 0 among them, likewise in integers. */
static gg_value fold_fused_zero(struct gg_ir *ir, struct gg_ir_place at, const struct gg_ir_value *v)
{
    enum gg_ir_class class = v->class, bit = class == GG_IR_S ? GG_IR_B : GG_IR_M;
    uint32_t known[3] = {1, 1, 1};
    for (int i = 0; i < 3; i++)
        gg_ir_is_constant(ir, v->arg[i], &known[i]);
    bool no_product = !(known[0] & 0x7fffffffu) || !(known[1] & 0x7fffffffu);
    if (v->op != GG_IR_ffma || (!no_product && known[2] & 0x7fffffffu))
        return 0;
    gg_value zero = gg_ir_constant(ir, at, GG_IR_S, 0), low = gg_ir_constant(ir, at, GG_IR_S, 0x7fffffffu);
    gg_value product = gg_ir_make(ir, at, GG_IR_fmul, class, 0, v->arg[0], v->arg[1], 0, 0);
    if (!no_product) { /* only a product that is 0 itself loses its sign */
        gg_value none[2];
        for (int i = 0; i < 2; i++) {
            gg_value size = gg_ir_make(ir, at, GG_IR_and, class, 0, v->arg[i], low, 0, 0);
            none[i] = gg_ir_make(ir, at, GG_IR_eq, bit, 0, size, zero, 0, 0);
        }
        gg_value exact = gg_ir_make(ir, at, GG_IR_or, bit, 0, none[0], none[1], 0, 0);
        gg_value signs = gg_ir_make(ir, at, GG_IR_and, class, 0, product, v->arg[2], 0, 0);
        gg_value size = gg_ir_make(ir, at, GG_IR_and, class, 0, product, low, 0, 0);
        gg_value is_zero = gg_ir_make(ir, at, GG_IR_eq, bit, 0, size, zero, 0, 0);
        exact = gg_ir_make(ir, at, GG_IR_and, bit, 0, exact, is_zero, 0, 0); /* not of 0 times infinity */
        return gg_ir_make(ir, at, GG_IR_select, class, 0, exact, signs, product, 0);
    }
    gg_value addend = gg_ir_make(ir, at, GG_IR_and, class, 0, v->arg[2], low, 0, 0);
    gg_value nothing = gg_ir_make(ir, at, GG_IR_eq, bit, 0, addend, zero, 0, 0);
    gg_value infinity = gg_ir_constant(ir, at, GG_IR_S, 0x7f800000u),
             quiet = gg_ir_constant(ir, at, GG_IR_S, 0x400000u);
    gg_value nan = gg_ir_make(ir, at, GG_IR_lt_u, bit, 0, infinity, addend, 0, 0);
    gg_value quieted = gg_ir_make(ir, at, GG_IR_or, class, 0, v->arg[2], quiet, 0, 0);
    gg_value sum = gg_ir_make(ir, at, GG_IR_select, class, 0, nan, quieted, v->arg[2], 0);
    gg_value signs = gg_ir_make(ir, at, GG_IR_and, class, 0, product, v->arg[2], 0, 0);
    sum = gg_ir_make(ir, at, GG_IR_select, class, 0, nothing, signs, sum, 0);
    gg_value size = gg_ir_make(ir, at, GG_IR_and, class, 0, product, low, 0, 0);
    gg_value invalid = gg_ir_make(ir, at, GG_IR_lt_u, bit, 0, infinity, size, 0, 0);
    return gg_ir_make(ir, at, GG_IR_select, class, 0, invalid, product, sum, 0);
}

/* A choice by a condition that an inner choice has made already. */
static void fold_choices(const struct gg_ir *ir, struct gg_ir_value *v)
{
    const struct gg_ir_value *yes = &ir->values[v->arg[1]], *no = &ir->values[v->arg[2]];
    if (yes->op == GG_IR_select && yes->arg[0] == v->arg[0])
        v->arg[1] = yes->arg[1];
    if (no->op == GG_IR_select && no->arg[0] == v->arg[0])
        v->arg[2] = no->arg[2];
}

/* x & x, x | x; and x & (x & y), which predicates by EXEC are full of. */
static gg_value fold_same(const struct gg_ir *ir, const struct gg_ir_value *v)
{
    if (v->op != GG_IR_and && v->op != GG_IR_or)
        return 0;
    for (int i = 0; i < 2; i++) {
        gg_value x = v->arg[i], other = v->arg[1 - i];
        if (ir->values[other].class != v->class)
            continue;
        if (x == other)
            return x;
        const struct gg_ir_value *inner = &ir->values[other];
        if (inner->op == v->op && (inner->arg[0] == x || inner->arg[1] == x))
            return other;
    }
    return 0;
}

static gg_value fold(struct gg_ir *ir, struct gg_ir_place at, struct gg_ir_value *v)
{
    uint32_t a, b, bits;
    bool left = v->arg[0] && gg_ir_is_constant(ir, v->arg[0], &a);
    bool right = v->arg[1] && gg_ir_is_constant(ir, v->arg[1], &b);
    bool bit = v->class == GG_IR_M || v->class == GG_IR_B;
    if (left && (right || (v->op == GG_IR_not)) && gg_ir_fold(v->op, a, right ? b : 0, &bits))
        return gg_ir_constant(ir, at, v->class, bit ? bits & 1 : bits);
    if (left && right && fold_zero_product(v, a, b, &bits))
        return gg_ir_constant(ir, at, v->class, bits);
    if (v->op == GG_IR_ffma)
        return fold_fused_zero(ir, at, v);
    if (left && !right && gg_ir_ops[v->op].flags & GG_IRF_COMMUTES) {
        gg_value swapped = v->arg[0];
        v->arg[0] = v->arg[1];
        v->arg[1] = swapped;
        b = a;
        right = true;
        left = false;
    }
    if (v->op == GG_IR_select && left && ir->values[v->arg[a ? 1 : 2]].class == v->class)
        return v->arg[a ? 1 : 2];
    if (v->op == GG_IR_select)
        fold_choices(ir, v);
    if (v->op == GG_IR_select && v->arg[1] == v->arg[2] && ir->values[v->arg[1]].class == v->class)
        return v->arg[1];
    gg_value folded = right ? fold_neutral(ir, at, v, b) : fold_same(ir, v);
    if (!folded && right && !left)
        folded = fold_float_zero(ir, at, v, b);
    return folded ? folded : fold_masks(ir, at, v);
}

gg_value gg_ir_constant(struct gg_ir *ir, struct gg_ir_place at, enum gg_ir_class class, uint32_t imm)
{
    if (class == GG_IR_V) /* a constant dword is a scalar, which stands for every lane */
        class = GG_IR_S;
    struct gg_ir_value v = {
        .op = GG_IR_constant, .class = (uint8_t)class, .block = at.block, .offset = at.offset, .imm = imm};
    return make_pure(ir, &v);
}

static gg_value make(struct gg_ir *ir, struct gg_ir_place at, struct gg_ir_value *v)
{
    uint8_t flags = gg_ir_ops[v->op].flags;
    if (flags & GG_IRF_STORES) {
        v->older = ir->last_store;
        return ir->last_store = append(ir, v);
    }
    if (!(flags & GG_IRF_PURE))
        return append(ir, v);
    gg_value folded = v->arg[0] ? fold(ir, at, v) : 0;
    return folded ? folded : make_pure(ir, v);
}

gg_value gg_ir_make(struct gg_ir *ir, struct gg_ir_place at, enum gg_ir_opcode op, enum gg_ir_class class, uint32_t imm,
                    gg_value a, gg_value b, gg_value c, gg_value d)
{
    struct gg_ir_value v = {.op = (uint16_t)op,
                            .class = (uint8_t)class,
                            .block = at.block,
                            .offset = at.offset,
                            .imm = imm,
                            .arg = {a, b, c, d}};
    return make(ir, at, &v);
}

gg_value gg_ir_make_wide(struct gg_ir *ir, struct gg_ir_place at, enum gg_ir_opcode op, enum gg_ir_class class,
                         uint32_t imm, const gg_value *args)
{
    struct gg_ir_value v = {
        .op = (uint16_t)op, .class = (uint8_t)class, .block = at.block, .offset = at.offset, .imm = imm};
    memcpy(v.arg, args, sizeof v.arg);
    return make(ir, at, &v);
}

gg_value gg_ir_phi(struct gg_ir *ir, uint32_t block, enum gg_ir_class class, uint32_t reg)
{
    uint32_t preds = ir->blocks[block].preds;
    if (ir->phi_arg_count + preds > ir->phi_arg_capacity) {
        uint32_t capacity = 2 * (ir->phi_arg_count + preds) + 64;
        gg_value *grown = gg_arena_grow(ir->arena, ir->phi_args, ir->phi_arg_count, capacity, sizeof *grown);
        if (!grown)
            return 0;
        gg_arena_return(ir->arena, ir->phi_args);
        ir->phi_args = grown;
        ir->phi_arg_capacity = capacity;
    }
    struct gg_ir_value v = {.op = GG_IR_phi,
                            .class = (uint8_t)class,
                            .block = block,
                            .imm = reg,
                            .arg = {ir->phi_arg_count},
                            .older = ir->last_phi};
    gg_value made = append(ir, &v);
    if (!made)
        return 0;
    ir->last_phi = made;
    ir->phi_count++;
    ir->phi_arg_count += preds;
    return made;
}

/* SPDX-License-Identifier: MIT */
/* The IR as text, and its rules. */
#include "ir.h"

#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char class_letters[] = {
    [GG_IR_NONE] = '-', [GG_IR_S] = 's', [GG_IR_V] = 'v', [GG_IR_M] = 'm', [GG_IR_B] = 'b'};

struct text {
    char *data;
    size_t used, capacity;
    bool failed;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
    char piece[128];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof piece || t->failed) {
        t->failed = true;
        return;
    }
    if (t->used + (size_t)length + 1 > t->capacity) {
        size_t capacity = 2 * t->capacity + 1024;
        char *data = realloc(t->data, capacity);
        if (!data) {
            t->failed = true;
            return;
        }
        t->data = data;
        t->capacity = capacity;
    }
    for (int i = 0; i <= length; i++)
        t->data[t->used + (size_t)i] = piece[i];
    t->used += (size_t)length;
}

static void add_value(struct text *t, const struct gg_ir *ir, gg_value value)
{
    add(t, "%c%u", class_letters[ir->values[value].class], value);
}

static void print_op(struct text *t, const struct gg_ir *ir, gg_value value)
{
    const struct gg_ir_value *v = &ir->values[value];
    add(t, "    ");
    if (v->class != GG_IR_NONE) {
        add_value(t, ir, value);
        add(t, " = ");
    }
    add(t, "%s", gg_ir_ops[v->op].name);
    if (v->op == GG_IR_constant)
        add(t, " 0x%x", v->imm);
    else if (v->imm || v->op == GG_IR_input)
        add(t, ".%u", v->imm);
    uint32_t count = v->op == GG_IR_phi ? ir->blocks[v->block].preds : gg_ir_ops[v->op].arguments;
    for (uint32_t i = 0; i < count; i++) {
        add(t, " ");
        add_value(t, ir, v->op == GG_IR_phi ? ir->phi_args[v->arg[0] + i] : v->arg[i]);
    }
    add(t, "\n");
}

char *gg_ir_print(const struct gg_ir *ir)
{
    static const char *const ends[] = {"jump", "branch", "exit", "barrier"};
    struct text t = {0};
    for (uint32_t b = 0; b < ir->block_count; b++) {
        const struct gg_ir_block *block = &ir->blocks[b];
        add(&t, "block %u:%s\n", b, b == ir->entry ? " (entry)" : "");
        for (uint32_t i = 0; i < block->count; i++)
            print_op(&t, ir, block->values[i]);
        add(&t, "    %s", ends[block->end]);
        if (block->condition) {
            add(&t, " ");
            add_value(&t, ir, block->condition);
        }
        for (int i = 0; i < 2; i++)
            if (block->succ[i] != GG_NO_BLOCK)
                add(&t, " %u", block->succ[i]);
        add(&t, "\n");
    }
    if (!t.failed)
        return t.data;
    free(t.data);
    return NULL;
}

/* ---- rules ---- */

static int32_t broken(char **message, const char *step, uint32_t block, gg_value value, const char *rule)
{
    return gg_fail(message, GG_ERR_FORMAT, "IR after %s: block %u, value %u: %s", step, block, value, rule);
}

/* Whether an argument's class will do: scalars stand for lane values, bits of a wave for masks. */
static bool class_fits(const struct gg_ir_value *user, const struct gg_ir_value *used)
{
    bool words = used->class == GG_IR_S || used->class == GG_IR_V;
    if (user->class == GG_IR_S || user->class == GG_IR_B) /* of scalars, but for what looks at lanes */
        return gg_ir_ops[user->op].flags & GG_IRF_CROSSES_LANES || used->class == GG_IR_S || used->class == GG_IR_B;
    return words || used->class == GG_IR_M || used->class == GG_IR_B;
}

static int32_t validate_value(const struct gg_ir *ir, const bool *placed, uint32_t block, gg_value value,
                              const char *step, char **message)
{
    const struct gg_ir_value *v = &ir->values[value];
    if (v->block != block)
        return broken(message, step, block, value, "stands in a block that is not its own");
    if (v->op == GG_IR_none || v->op >= GG_IR_OPCODES)
        return broken(message, step, block, value, "has no operation");
    if (v->op == GG_IR_phi) {
        for (uint32_t p = 0; p < ir->blocks[block].preds; p++) {
            gg_value arg = ir->phi_args[v->arg[0] + p];
            if (!arg || !placed[arg])
                return broken(message, step, block, value, "a phi's argument is not there");
            bool scalar = v->class == GG_IR_S || v->class == GG_IR_B;
            if (scalar && ir->values[arg].class != v->class)
                return broken(message, step, block, value, "a phi's argument is of another class");
        }
        return GG_OK;
    }
    for (uint32_t i = 0; i < GG_IR_ARGS; i++) {
        bool wanted = i < gg_ir_ops[v->op].arguments;
        if (wanted != (v->arg[i] != 0))
            return broken(message, step, block, value, "has too few arguments, or too many");
        if (wanted && !placed[v->arg[i]])
            return broken(message, step, block, value, "an argument stands in no block");
        if (wanted && !class_fits(v, &ir->values[v->arg[i]]))
            return broken(message, step, block, value, "an argument's class does not fit");
    }
    return GG_OK;
}

int32_t gg_ir_validate(const struct gg_ir *ir, const char *step, char **message)
{
    bool *placed = calloc(ir->value_count, sizeof *placed);
    if (!placed)
        return gg_fail(message, GG_ERR_MEMORY, "IR after %s: out of memory", step);
    int32_t result = GG_OK;
    for (uint32_t b = 0; !result && b < ir->block_count; b++)
        for (uint32_t i = 0; !result && i < ir->blocks[b].count; i++) {
            gg_value value = ir->blocks[b].values[i];
            if (placed[value])
                result = broken(message, step, b, value, "stands in two places");
            placed[value] = true;
        }
    for (uint32_t b = 0; !result && b < ir->block_count; b++) {
        const struct gg_ir_block *block = &ir->blocks[b];
        bool front = true;
        for (uint32_t i = 0; !result && i < block->count; i++) {
            bool phi = ir->values[block->values[i]].op == GG_IR_phi;
            if (phi && !front)
                result = broken(message, step, b, block->values[i], "a phi behind other operations");
            front &= phi;
            if (!result)
                result = validate_value(ir, placed, b, block->values[i], step, message);
        }
        if (!result && (block->end == GG_IR_BRANCH) != (block->condition != 0))
            result =
                broken(message, step, b, block->condition, "a branch without condition, or a condition without branch");
    }
    free(placed);
    return result;
}

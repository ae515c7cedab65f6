/* SPDX-License-Identifier: MIT */
#include "disasm_internal.h"

#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gg_text_add(struct gg_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(t->data + t->length, GG_DISASM_MAX - t->length, format, args);
    va_end(args);
    if (length > 0)
        t->length += (size_t)length;
    if (t->length >= GG_DISASM_MAX) /* truncated; no instruction's text is that long */
        t->length = GG_DISASM_MAX - 1;
}

void gg_text_item(struct gg_text *t) { gg_text_add(t, t->items++ ? ", " : " "); }

/* "name" for one dword, "name[a:b]" for more. */
static void add_range(struct gg_text *t, const char *name, uint32_t first, uint32_t width)
{
    if (width == 1)
        gg_text_add(t, "%s%u", name, first);
    else
        gg_text_add(t, "%s[%u:%u]", name, first, first + width - 1);
}

static void add_sgpr(struct gg_text *t, uint32_t number, uint32_t width)
{
    static const char *const pairs[2] = {"vcc", "exec"};
    static const char *const singles[4] = {"vcc_lo", "vcc_hi", "exec_lo", "exec_hi"};
    bool exec = number >= GG_SGPR_EXEC_LO;
    if (number < GG_SGPR_VCC_LO)
        add_range(t, "s", number, width);
    else if (number == GG_SGPR_M0)
        gg_text_add(t, "m0");
    else if (number == GG_SGPR_NULL)
        gg_text_add(t, "null");
    else if (number >= GG_SGPR_TTMP0 && number < GG_SGPR_M0)
        add_range(t, "ttmp", number - GG_SGPR_TTMP0, width);
    else
        gg_text_add(t, "%s", width > 1 ? pairs[exec] : singles[2 * exec + (number & 1)]);
}

static void add_special(struct gg_text *t, uint32_t value)
{
    static const char *const bases[5] = {"shared_base", "shared_limit", "private_base", "private_limit",
                                         "pops_exiting_wave_id"};
    static const char *const conditions[4] = {"vccz", "execz", "scc", "lds_direct"};
    gg_text_add(t, "src_%s",
                value >= GG_SPECIAL_VCCZ ? conditions[value - GG_SPECIAL_VCCZ] : bases[value - GG_SPECIAL_SHARED_BASE]);
}

static const char *const float_names[9] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"};

/* The inline float of this type that has these bits, or NULL. */
static const char *find_float(uint8_t type, uint64_t bits)
{
    for (uint32_t i = 0; i < 9; i++) {
        struct gg_operand constant = {.kind = GG_OPERAND_INLINE_FLOAT, .type = type, .value = 240 + i};
        if (gg_operand_constant(&constant) == bits)
            return float_names[i];
    }
    return NULL;
}

static bool is_wide(uint8_t type) { return type >= GG_TYPE_B64 && type <= GG_TYPE_F64; }

static bool is_short_integer(uint8_t type) { return type >= GG_TYPE_B16 && type <= GG_TYPE_I16; }

static void add_inline_float(struct gg_text *t, const struct gg_operand *o)
{
    if (is_short_integer(o->type))
        gg_text_add(t, "0x%llx", (unsigned long long)gg_operand_constant(o));
    else if (o->value == 248 && is_wide(o->type))
        gg_text_add(t, "0.15915494309189532");
    else
        gg_text_add(t, "%s", float_names[o->value - 240]);
}

/* LLVM writes a literal that could have been an inline constant as if it were one. */
static void add_literal(struct gg_text *t, const struct gg_operand *o)
{
    uint32_t value = o->value;
    int32_t number = (int32_t)value;
    const char *name;
    if (o->type == GG_TYPE_F64) {
        name = find_float(o->type, (uint64_t)value << 32);
        number = value ? INT32_MAX : 0;
    } else if (is_wide(o->type)) {
        name = NULL;
        if (number < 0)
            number = INT32_MAX;
    } else if (o->type == GG_TYPE_F16 || o->type == GG_TYPE_MIX) {
        value &= 0xffff;
        number = (int16_t)value;
        name = find_float(GG_TYPE_F16, value);
    } else
        name = find_float(o->type == GG_TYPE_PK_F16 ? GG_TYPE_F16 : GG_TYPE_F32, value);
    if (number >= -16 && number <= 64)
        gg_text_add(t, "%d", number);
    else if (name)
        gg_text_add(t, "%s", name);
    else
        gg_text_add(t, "0x%x", is_short_integer(o->type) ? value & 0xffff : value);
}

void gg_text_operand(struct gg_text *t, const struct gg_operand *o)
{
    switch (o->kind) {
    case GG_OPERAND_SGPR:
        add_sgpr(t, o->value, o->width);
        break;
    case GG_OPERAND_VGPR:
        add_range(t, "v", o->value, o->width);
        break;
    case GG_OPERAND_SPECIAL:
        add_special(t, o->value);
        break;
    case GG_OPERAND_INLINE_INT:
        gg_text_add(t, "%d", (int32_t)o->value);
        break;
    case GG_OPERAND_INLINE_FLOAT:
        add_inline_float(t, o);
        break;
    case GG_OPERAND_LITERAL:
        add_literal(t, o);
        break;
    default:
        gg_text_add(t, "off");
    }
}

void gg_text_next(struct gg_text *t, const struct gg_operand *o)
{
    if (o->kind == GG_OPERAND_NONE)
        return;
    gg_text_item(t);
    gg_text_operand(t, o);
}

/* The mnemonic with the suffix of its form, or flat_ replaced by the segment. */
static void add_mnemonic(struct gg_text *t, const struct gg_inst *inst)
{
    const struct gg_op_info *info = gg_inst_info(inst);
    static const char *const forms[4] = {"_e32", "_sdwa", "_dpp", "_dpp"};
    const char *name = info->name, *suffix = "", *segment = "";
    if (inst->format == GG_FORMAT_GLOBAL || inst->format == GG_FORMAT_SCRATCH) {
        segment = inst->format == GG_FORMAT_GLOBAL ? "global_" : "scratch_";
        name = strchr(name, '_') + 1;
    } else if (info->format >= GG_FORMAT_VOP1 && info->format <= GG_FORMAT_VOPC) {
        if (inst->form != GG_FORM_PLAIN || !(info->flags & GG_OPF_NO_VOP3))
            suffix = inst->format == GG_FORMAT_VOP3 ? "_e64" : forms[inst->form];
    } else if (info->format == GG_FORMAT_VINTRP)
        suffix = inst->format == GG_FORMAT_VOP3 ? "_e64" : "_e32";
    gg_text_add(t, "%s%s%s", segment, name, suffix);
}

void gg_disasm(const struct gg_guest_target *target, const struct gg_inst *inst, char text[GG_DISASM_MAX])
{
    struct gg_text t = {.data = text};
    text[0] = 0;
    add_mnemonic(&t, inst);
    switch (inst->format) {
    case GG_FORMAT_SOP1:
    case GG_FORMAT_SOP2:
    case GG_FORMAT_SOPC:
        gg_text_next(&t, &inst->dst[0]);
        gg_text_next(&t, &inst->src[0]);
        gg_text_next(&t, &inst->src[1]);
        break;
    case GG_FORMAT_SOPK:
    case GG_FORMAT_SOPP:
        gg_text_control(&t, target && target->gpu == GG_GUEST_GFX1013, inst);
        break;
    case GG_FORMAT_VOP1:
    case GG_FORMAT_VOP2:
    case GG_FORMAT_VOPC:
    case GG_FORMAT_VOP3:
    case GG_FORMAT_VOP3P:
    case GG_FORMAT_VINTRP:
        gg_text_vector(&t, inst);
        break;
    default:
        gg_text_memory(&t, inst);
    }
}

/* One line of gg_translator_disassemble(). */
static void add_line(char line[512], const struct gg_guest_target *target, const uint32_t *words,
                     const struct gg_inst *inst)
{
    char text[GG_DISASM_MAX], hex[5 * 9 + 1] = "";
    gg_disasm(target, inst, text);
    for (uint32_t i = 0; i < inst->words; i++)
        snprintf(hex + 9 * i, sizeof hex - 9 * i, " %08x", words[i]);
    snprintf(line, 512, "%04x:%-18s  %s\n", inst->offset, hex, text);
}

int32_t gg_translator_disassemble(const struct gg_guest_target *target, const uint32_t *words, uint64_t word_count,
                                  char **text, char **message)
{
    gg_succeed(message);
    if (!text || (!words && word_count))
        return gg_fail(message, GG_ERR_ARGUMENT, "disassemble: %s is NULL", text ? "words" : "text");
    size_t capacity = 4096, length = 0;
    char *all = malloc(capacity);
    int32_t result = all ? GG_OK : GG_ERR_MEMORY;
    if (all)
        all[0] = 0;
    for (uint64_t at = 0; result == GG_OK && at < word_count;) {
        struct gg_inst inst;
        char line[512];
        result = gg_decode(target, words, word_count, at, &inst, message);
        if (result != GG_OK)
            break;
        add_line(line, target, words + at, &inst);
        size_t added = strlen(line);
        if (length + added >= capacity) {
            char *larger = realloc(all, 2 * capacity);
            if (!larger) {
                result = GG_ERR_MEMORY;
                break;
            }
            all = larger;
            capacity *= 2;
        }
        memcpy(all + length, line, added + 1);
        length += added;
        at += inst.words;
    }
    if (result == GG_OK)
        *text = all;
    else
        free(all);
    return result == GG_ERR_MEMORY ? gg_fail(message, result, "disassemble: no memory for the text") : result;
}

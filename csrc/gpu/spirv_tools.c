/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <spirv-tools/libspirv.h> /* here only: in C it defines a constant with external linkage */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int32_t check_words(const uint32_t *words, uint64_t word_count, char **message)
{
    if (!words || !word_count)
        return gg_fail(message, GG_ERR_ARGUMENT, "SPIR-V: no words");
    if (word_count > SIZE_MAX / 4)
        return gg_fail(message, GG_ERR_ARGUMENT, "SPIR-V: %" PRIu64 " words", word_count);
    return GG_OK;
}

static int32_t fail_with_diagnostic(char **message, int32_t code, const char *what, spv_diagnostic diagnostic)
{
    if (!diagnostic || !diagnostic->error)
        return gg_fail(message, code, "%s: no reason given", what);
    gg_one_line(diagnostic->error);
    return gg_fail(message, code, "%s: instruction %zu: %s", what, diagnostic->position.index, diagnostic->error);
}

int32_t gg_spirv_validate(const uint32_t *words, uint64_t word_count, char **message)
{
    gg_succeed(message);
    int32_t result = check_words(words, word_count, message);
    if (result)
        return result;
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
    if (!context)
        return gg_fail(message, GG_ERR_MEMORY, "SPIR-V: no memory for a validator");
    spv_diagnostic diagnostic = NULL;
    if (spvValidateBinary(context, words, (size_t)word_count, &diagnostic) != SPV_SUCCESS)
        result = fail_with_diagnostic(message, GG_ERR_VALIDATION, "spirv-val", diagnostic);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return result;
}

int32_t gg_spirv_disassemble(const uint32_t *words, uint64_t word_count, char **text, char **message)
{
    gg_succeed(message);
    int32_t result = text ? check_words(words, word_count, message)
                          : gg_fail(message, GG_ERR_ARGUMENT, "SPIR-V disassembly: text is NULL");
    if (result)
        return result;
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
    if (!context)
        return gg_fail(message, GG_ERR_MEMORY, "SPIR-V: no memory for a disassembler");
    spv_text disassembly = NULL;
    spv_diagnostic diagnostic = NULL;
    const uint32_t options = SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES | SPV_BINARY_TO_TEXT_OPTION_INDENT;
    if (spvBinaryToText(context, words, (size_t)word_count, options, &disassembly, &diagnostic) != SPV_SUCCESS) {
        result = fail_with_diagnostic(message, GG_ERR_FORMAT, "SPIR-V disassembly", diagnostic);
    } else {
        char *copy = malloc(disassembly->length + 1);
        if (copy) {
            memcpy(copy, disassembly->str, disassembly->length);
            copy[disassembly->length] = '\0';
            *text = copy;
        } else {
            result = gg_fail(message, GG_ERR_MEMORY, "no memory for %zu bytes of disassembly", disassembly->length);
        }
    }
    spvTextDestroy(disassembly);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return result;
}

const char *gg_spirv_tools_version(void) { return spvSoftwareVersionString(); }

const char *gg_stage_name(uint32_t stage)
{
    static const char *const names[] = {
        [GG_STAGE_COMPUTE] = "compute", [GG_STAGE_VERTEX] = "vertex", [GG_STAGE_FRAGMENT] = "fragment",
        [GG_STAGE_TASK] = "task",       [GG_STAGE_MESH] = "mesh",
    };
    return stage < sizeof names / sizeof *names ? names[stage] : NULL;
}

#define MAGIC 0x07230203u

enum { /* of the SPIR-V specification; what the checks below look at */
    HEADER_WORDS = 5,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CONSTANT = 43,
    OP_SPEC_CONSTANT = 50,
    OP_DECORATE = 71,
    OP_EXECUTION_MODE_ID = 331,
    MODE_LOCAL_SIZE = 17,
    MODE_LOCAL_SIZE_ID = 38,
    DECORATION_BINDING = 33,
    DECORATION_DESCRIPTOR_SET = 34
};

static uint32_t execution_model(uint32_t stage)
{
    static const uint32_t models[] = {
        [GG_STAGE_COMPUTE] = 5, [GG_STAGE_VERTEX] = 0,  [GG_STAGE_FRAGMENT] = 4,
        [GG_STAGE_TASK] = 5364, [GG_STAGE_MESH] = 5365,
    };
    return models[stage];
}

static uint64_t max_invocations(const struct gg_capabilities *can, uint32_t stage)
{
    return stage == GG_STAGE_MESH   ? can->info.max_mesh_invocations
           : stage == GG_STAGE_TASK ? can->mesh.maxTaskWorkGroupInvocations
                                    : can->info.max_workgroup_invocations;
}

struct module_facts {
    uint32_t entry; /* id of the entry point; ids are never 0 */
    uint32_t local_size[3];
    uint32_t local_size_id[3]; /* constants that hold it instead */
    uint64_t bindings;         /* the highest binding + 1 */
    uint64_t sets;             /* likewise */
};

/* The module is valid: instruction lengths and operands can be relied on. */
static struct module_facts gather_facts(const struct gg_module *module)
{
    struct module_facts facts = {.local_size = {1, 1, 1}};
    for (uint64_t at = HEADER_WORDS; at < module->word_count; at += module->words[at] >> 16) {
        const uint32_t *op = module->words + at;
        switch (op[0] & 0xffff) {
        case OP_ENTRY_POINT:
            if (op[1] == execution_model(module->stage) && !strcmp((const char *)(op + 3), "main"))
                facts.entry = op[2];
            break;
        case OP_EXECUTION_MODE:
            if (op[1] == facts.entry && op[2] == MODE_LOCAL_SIZE)
                memcpy(facts.local_size, op + 3, sizeof facts.local_size);
            break;
        case OP_EXECUTION_MODE_ID:
            if (op[1] == facts.entry && op[2] == MODE_LOCAL_SIZE_ID)
                memcpy(facts.local_size_id, op + 3, sizeof facts.local_size_id);
            break;
        case OP_CONSTANT:
        case OP_SPEC_CONSTANT:
            for (int i = 0; i < 3; i++)
                if (op[2] == facts.local_size_id[i])
                    facts.local_size[i] = op[3];
            break;
        case OP_DECORATE:
            if (op[2] == DECORATION_BINDING && op[3] >= facts.bindings)
                facts.bindings = (uint64_t)op[3] + 1;
            if (op[2] == DECORATION_DESCRIPTOR_SET && op[3] >= facts.sets)
                facts.sets = (uint64_t)op[3] + 1;
            break;
        }
    }
    return facts;
}

/* Validity, the entry point and its workgroup. */
static int32_t check_entry(const struct gg_capabilities *can, const struct gg_module *module, uint32_t number,
                           struct module_facts *facts, char **message)
{
    const char *stage = gg_stage_name(module->stage);
    char *reason = NULL;
    int32_t result = gg_spirv_validate(module->words, module->word_count, &reason);
    if (result) {
        gg_fail(message, result, "pipeline: module %u (%s): %s", number, stage, reason ? reason : "invalid");
        gg_free(reason);
        return result;
    }
    if (module->words[0] != MAGIC) /* spirv-val takes either byte order */
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: module %u (%s): not in this machine's byte order", number,
                       stage);
    *facts = gather_facts(module);
    if (!facts->entry)
        return gg_fail(message, GG_ERR_ARGUMENT, "pipeline: module %u (%s): no %s entry point \"main\"", number, stage,
                       stage);
    const uint32_t *size = facts->local_size;
    const uint64_t most = max_invocations(can, module->stage);
    const uint64_t plane = (uint64_t)size[0] * size[1];
    if (plane > most || plane * size[2] > most)
        return gg_fail(message, GG_ERR_LIMIT,
                       "pipeline: module %u (%s): a workgroup of %u x %u x %u is more than the device's %" PRIu64,
                       number, stage, size[0], size[1], size[2], most);
    return GG_OK;
}

int32_t gg_spirv_check_module(const struct gg_capabilities *can, const struct gg_module *module, uint32_t number,
                              uint32_t storage_buffers, char **message)
{
    const char *stage = gg_stage_name(module->stage);
    struct module_facts facts;
    int32_t result = check_entry(can, module, number, &facts, message);
    if (result)
        return result;
    if (facts.bindings > storage_buffers)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "pipeline: module %u (%s): binding %" PRIu64 ", but the pipeline has %u storage buffers", number,
                       stage, facts.bindings - 1, storage_buffers);
    if (facts.sets > 1)
        return gg_fail(message, GG_ERR_ARGUMENT,
                       "pipeline: module %u (%s): descriptor set %" PRIu64 "; only 0 is there", number, stage,
                       facts.sets - 1);
    return GG_OK;
}

/* The decoration's operand; 0 where the id has none, as Vulkan takes it. */
static uint32_t decoration_of(const struct gg_module *module, uint32_t id, uint32_t decoration)
{
    for (uint64_t at = HEADER_WORDS; at < module->word_count; at += module->words[at] >> 16) {
        const uint32_t *op = module->words + at;
        if ((op[0] & 0xffff) == OP_DECORATE && op[1] == id && op[2] == decoration)
            return op[3];
    }
    return 0;
}

int32_t gg_spirv_check_once(const struct gg_capabilities *can, const struct gg_once_params *params, char **message)
{
    const struct gg_module *module = params->module;
    if (module->stage != GG_STAGE_COMPUTE)
        return gg_fail(message, GG_ERR_ARGUMENT, "once: the module's stage is %u, not compute", module->stage);
    struct module_facts facts;
    int32_t result = check_entry(can, module, 0, &facts, message);
    if (result)
        return result;
    for (uint64_t at = HEADER_WORDS; at < module->word_count; at += module->words[at] >> 16) {
        const uint32_t *op = module->words + at;
        if ((op[0] & 0xffff) != OP_DECORATE || op[2] != DECORATION_BINDING)
            continue;
        const uint32_t set = decoration_of(module, op[1], DECORATION_DESCRIPTOR_SET);
        bool given = false;
        for (uint32_t i = 0; i < params->resource_count; i++)
            given = given || (params->resources[i].set == set && params->resources[i].binding == op[3]);
        if (!given)
            return gg_fail(message, GG_ERR_ARGUMENT, "once: the module's set %u binding %u is not given", set, op[3]);
    }
    return GG_OK;
}

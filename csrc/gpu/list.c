/* SPDX-License-Identifier: MIT */
#include "gpu_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t gg_device_list(struct gg_device_info *infos, uint32_t capacity, uint32_t *count, char **message)
{
    gg_succeed(message);
    if (!count || (capacity && !infos))
        return gg_fail(message, GG_ERR_ARGUMENT, "device list: infos or count is NULL");
    VkInstance instance;
    int32_t result = gg_instance_create(NULL, &instance, message);
    if (result)
        return result;
    VkPhysicalDevice *devices = NULL;
    uint32_t found = 0;
    result = gg_instance_devices(instance, &devices, &found, message);
    if (!result) {
        for (uint32_t i = 0; i < found && i < capacity; i++) {
            struct gg_features features;
            struct gg_capabilities can;
            gg_capabilities_query(devices[i], i, &features, &can);
            infos[i] = can.info;
        }
        *count = found;
    }
    free(devices);
    vkDestroyInstance(instance, NULL);
    return result;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_uuid(const char *text, uint8_t uuid[16])
{
    unsigned digits = 0;
    for (; *text; text++) {
        if (*text == '-')
            continue;
        int digit = hex_digit(*text);
        if (digit < 0 || digits == 32)
            return false;
        uuid[digits / 2] = (uint8_t)(digits % 2 ? uuid[digits / 2] << 4 | digit : digit);
        digits++;
    }
    return digits == 32;
}

static bool parse_index(const char *text, uint64_t *index)
{
    *index = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        *index = *index * 10 + (uint64_t)(*c - '0');
        if (*index > UINT32_MAX)
            *index = UINT32_MAX;
    }
    return true;
}

static bool contains(const char *text, const char *part)
{
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && lower(text[i]) == lower(part[i]))
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

static bool is_hardware(const struct gg_device_info *info)
{
    return info->type == GG_DEVICE_INTEGRATED || info->type == GG_DEVICE_DISCRETE || info->type == GG_DEVICE_VIRTUAL;
}

static bool is_lavapipe(const struct gg_device_info *info) { return !strcmp(info->driver_name, "llvmpipe"); }

enum selector_kind {
    BY_LAVAPIPE,
    BY_HARDWARE,
    BY_INDEX,
    BY_UUID,
    BY_NAME
};

struct selector {
    enum selector_kind kind;
    const char *text;
    uint64_t index;
    uint8_t uuid[16];
};

static struct selector parse_selector(const char *text)
{
    struct selector s = {.kind = BY_NAME, .text = text};
    if (!strcmp(text, "lavapipe"))
        s.kind = BY_LAVAPIPE;
    else if (!strcmp(text, "hw"))
        s.kind = BY_HARDWARE;
    else if (parse_uuid(text, s.uuid)) /* before the index: a UUID may have no letters */
        s.kind = BY_UUID;
    else if (parse_index(text, &s.index))
        s.kind = BY_INDEX;
    return s;
}

static bool fits(const struct selector *s, const struct gg_device_info *info)
{
    switch (s->kind) {
    case BY_LAVAPIPE:
        return is_lavapipe(info);
    case BY_HARDWARE:
        return is_hardware(info);
    case BY_INDEX:
        return info->index == s->index;
    case BY_UUID:
        return !memcmp(info->uuid, s->uuid, sizeof s->uuid);
    case BY_NAME:
        break;
    }
    return contains(info->name, s->text);
}

/* "why; the devices are 0: NAME, 1: NAME (no Vulkan 1.3)" */
static int32_t fail_with_candidates(char **message, const char *selector, const char *why,
                                    const struct gg_device_info *infos, uint32_t count)
{
    char text[2048] = "none";
    size_t length = 0;
    for (uint32_t i = 0; i < count && length < sizeof text; i++) {
        int written = snprintf(text + length, sizeof text - length, "%s%u: %.255s%s", i ? ", " : "", infos[i].index,
                               infos[i].name, infos[i].usable ? "" : " (unusable: no Vulkan 1.3)");
        length += written > 0 ? (size_t)written : 0;
    }
    return gg_fail(message, GG_ERR_NO_DEVICE, "device selector \"%s\" %s; the devices are %s", selector, why, text);
}

/* The only usable device that fits. An unusable one serves only to be named. */
static int32_t select_one(const struct gg_device_info *infos, uint32_t count, const char *text, uint32_t *index,
                          char **message)
{
    const struct selector selector = parse_selector(text);
    const struct gg_device_info *chosen = NULL;
    bool unusable = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!fits(&selector, &infos[i]))
            continue;
        if (!infos[i].usable) {
            unusable = true;
            continue;
        }
        if (chosen)
            return fail_with_candidates(message, text, "fits more than one device", infos, count);
        chosen = &infos[i];
    }
    if (!chosen)
        return fail_with_candidates(
            message, text, unusable ? "fits only a device without Vulkan 1.3" : "fits no device", infos, count);
    *index = chosen->index;
    return GG_OK;
}

int32_t gg_device_select(const struct gg_device_info *infos, uint32_t count, const char *selector, uint32_t *index,
                         char **message)
{
    gg_succeed(message);
    if (!index || (count && !infos))
        return gg_fail(message, GG_ERR_ARGUMENT, "device select: infos or index is NULL");
    if (selector && *selector)
        return select_one(infos, count, selector, index, message);
    if (!select_one(infos, count, "hw", index, NULL))
        return GG_OK;
    return select_one(infos, count, "lavapipe", index, message);
}

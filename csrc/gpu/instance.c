/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "gpu_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
#define ADVICE           "install libvulkan1 and a driver such as mesa-vulkan-drivers"

static pthread_mutex_t loader_lock = PTHREAD_MUTEX_INITIALIZER;

/* volk keeps the loader's functions in globals; they are filled once, under the lock. */
static bool open_loader(void)
{
    static bool opened;
    pthread_mutex_lock(&loader_lock);
    opened = opened || volkInitialize() == VK_SUCCESS;
    bool result = opened;
    pthread_mutex_unlock(&loader_lock);
    return result;
}

/* What vkGetInstanceProcAddr gives for core functions are the loader's trampolines: good for every instance. */
static void load_functions(VkInstance instance)
{
    static bool loaded;
    pthread_mutex_lock(&loader_lock);
    if (!loaded)
        volkLoadInstanceOnly(instance);
    loaded = true;
    pthread_mutex_unlock(&loader_lock);
}

uint32_t gg_loader_version(void) { return open_loader() ? volkGetInstanceVersion() : 0; }

static bool has_validation_layer(void)
{
    uint32_t count = 0;
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || !count)
        return false;
    VkLayerProperties *layers = calloc(count, sizeof *layers);
    bool found = false;
    if (layers && vkEnumerateInstanceLayerProperties(&count, layers) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            found = found || !strcmp(layers[i].layerName, VALIDATION_LAYER);
    free(layers);
    return found;
}

int32_t gg_instance_create(const VkDebugUtilsMessengerCreateInfoEXT *messenger, VkInstance *instance, char **message)
{
    if (!open_loader())
        return gg_fail(message, GG_ERR_NO_DEVICE, "no Vulkan loader (libvulkan.so.1): " ADVICE);
    if (messenger && !has_validation_layer())
        return gg_fail(message, GG_ERR_UNSUPPORTED,
                       "validation: " VALIDATION_LAYER " is not installed (package vulkan-validationlayers)");

    static const char *const layers[] = {VALIDATION_LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT enables[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    const VkValidationFeaturesEXT validation = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enables,
    };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "guestgpu",
        .apiVersion = VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = messenger ? &validation : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = messenger ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = messenger ? 2 : 0,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = vkCreateInstance(&info, NULL, instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return gg_fail(message, GG_ERR_NO_DEVICE, "the Vulkan loader found no driver: " ADVICE);
    if (result != VK_SUCCESS)
        return gg_vulkan_fail(message, result, "vkCreateInstance");
    load_functions(*instance);
    return GG_OK;
}

int32_t gg_instance_devices(VkInstance instance, VkPhysicalDevice **devices, uint32_t *count, char **message)
{
    VkResult result = vkEnumeratePhysicalDevices(instance, count, NULL);
    if (result != VK_SUCCESS)
        return gg_vulkan_fail(message, result, "vkEnumeratePhysicalDevices");
    if (!*count)
        return gg_fail(message, GG_ERR_NO_DEVICE, "the Vulkan drivers found no device: " ADVICE);
    *devices = calloc(*count, sizeof **devices);
    if (!*devices)
        return gg_fail(message, GG_ERR_MEMORY, "no memory for a list of %u devices", *count);
    result = vkEnumeratePhysicalDevices(instance, count, *devices);
    if (result != VK_SUCCESS) {
        free(*devices);
        return gg_vulkan_fail(message, result, "vkEnumeratePhysicalDevices");
    }
    return GG_OK;
}

const char *gg_vulkan_result_name(VkResult result)
{
    switch (result) {
#define NAME(code)                                                                                                     \
    case code:                                                                                                         \
        return #code
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_INCOMPLETE);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FORMAT_NOT_SUPPORTED);
        NAME(VK_ERROR_FRAGMENTED_POOL);
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
        NAME(VK_ERROR_FRAGMENTATION);
        NAME(VK_ERROR_VALIDATION_FAILED_EXT);
        NAME(VK_ERROR_INVALID_SHADER_NV);
        NAME(VK_ERROR_UNKNOWN);
#undef NAME
    default:
        return "VkResult";
    }
}

int32_t gg_vulkan_fail(char **message, VkResult result, const char *call)
{
    int32_t code = GG_ERR_DEVICE;
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
        code = GG_ERR_MEMORY;
        break;
    case VK_ERROR_DEVICE_LOST:
        code = GG_ERR_DEVICE_LOST;
        break;
    default:
        break;
    }
    return gg_fail(message, code, "%s: %s (%d)", call, gg_vulkan_result_name(result), (int)result);
}

void gg_one_line(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        text[--length] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

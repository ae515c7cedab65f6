/* SPDX-License-Identifier: MIT */
/* The one translation unit that holds volk's functions and pointers. */
#define VOLK_IMPLEMENTATION
#include "gpu_internal.h"

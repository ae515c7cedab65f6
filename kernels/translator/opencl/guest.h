// SPDX-License-Identifier: MIT
/* Freestanding device header for the guest corpus: no device library needed.
 * Every kernel here compiles with a plain clang (OpenCL C) for amdgcn-amd-amdhsa,
 * and with -DHOST_ORACLE for the host (see hostrun.h) so that the same source is its own oracle. */
#pragma once
#ifdef HOST_ORACLE
#include "hostrun.h"
#else
typedef unsigned int uint; typedef unsigned short ushort; typedef unsigned char uchar; typedef unsigned long ulong;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uchar uchar4 __attribute__((ext_vector_type(4)));
typedef _Float16 half_t; typedef _Float16 half2_t __attribute__((ext_vector_type(2)));
#define LID_X __builtin_amdgcn_workitem_id_x()
#define LID_Y __builtin_amdgcn_workitem_id_y()
#define GRP_X __builtin_amdgcn_workgroup_id_x()
#define GRP_Y __builtin_amdgcn_workgroup_id_y()
#define KERNEL(x,y,z) __kernel __attribute__((reqd_work_group_size(x,y,z)))
#define GLOBAL __global
#define LDS __local
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
                       __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
#define RCP(x)   __builtin_amdgcn_rcpf(x)
#define RSQ(x)   __builtin_amdgcn_rsqf(x)
#define SIN_TURNS(x) __builtin_amdgcn_sinf(x)   /* argument in turns */
#define COS_TURNS(x) __builtin_amdgcn_cosf(x)
#ifndef __HIP_MEMORY_SCOPE_WORKGROUP
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#endif
#define LDS_ADD(p,v)  __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)
#define LDS_MAX(p,v)  __hip_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)
#define GLB_ADD(p,v)  __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define GLB_MIN(p,v)  __hip_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
static inline uint lane_below(uint lo, uint hi) { return __builtin_amdgcn_mbcnt_hi(hi, __builtin_amdgcn_mbcnt_lo(lo, 0)); }
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Every size and offset that crosses to Python, to GLSL or to Vulkan stands here, once. A change that
 * fails here changes the ABI: raise GG_ABI_VERSION, and change the kernels that read the struct.
 */
#include <guestgpu/drawcache.h>
#include <guestgpu/gpu.h>
#include <guestgpu/gpu_memory.h>
#include <guestgpu/guestgpu.h>
#include <guestgpu/layout.h>
#include <guestgpu/suballoc_pool.h>
#include <guestgpu/suballoc_rules.h>
#include <guestgpu/suballoc_slices.h>
#include <guestgpu/suballoc_speed.h>
#include <guestgpu/translator.h>
#include "../kernels/include/layout_shared.h"

#include <stddef.h>

#define SIZE(type, bytes)       _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define AT(type, member, bytes) _Static_assert(offsetof(type, member) == (bytes), "offset of " #type "." #member)
#define SAME(shared, ours)      _Static_assert((shared) == (uint32_t)(ours), #shared " of kernels/include/layout_shared.h")

SIZE(void *, 8); /* 64-bit hosts only: structs with pointers are laid out for them */
SIZE(float, 4);

/* guestgpu.h: arrays of these are built by numpy. */
SIZE(enum gg_result, 4);
SIZE(enum gg_command_kind, 4);
SIZE(struct gg_command, 112);
AT(struct gg_command, kind, 0);
AT(struct gg_command, pipeline, 4);
AT(struct gg_command, buffer, 8);
AT(struct gg_command, other, 12);
AT(struct gg_command, offset, 16);
AT(struct gg_command, other_offset, 24);
AT(struct gg_command, size, 32);
AT(struct gg_command, bindings, 40);
AT(struct gg_command, value, 48);
AT(struct gg_command, binding, 80);

/* layout.h: what the kernels read, in words of storage buffers (std430). */
SIZE(struct gg_meshlet, 32);
AT(struct gg_meshlet, vertex_first, 0);
AT(struct gg_meshlet, vertex_count, 4);
AT(struct gg_meshlet, index_first, 8);
AT(struct gg_meshlet, primitive_count, 12);
AT(struct gg_meshlet, primitive_first, 16);
SIZE(struct gg_mesh_task, 32);
AT(struct gg_mesh_task, groups, 0);
AT(struct gg_mesh_task, first_meshlet, 12);
AT(struct gg_mesh_task, payload, 16);
SIZE(struct gg_task_record, 32);
AT(struct gg_task_record, groups, 0);
AT(struct gg_task_record, start, 12);
AT(struct gg_task_record, first_meshlet, 16);
AT(struct gg_task_record, payload, 20);

/* The kernels' own names for these. */
SAME(BINDING_AREA, GG_LAYOUT_BUFFER_AREA);
SAME(BINDING_MESHLETS, GG_LAYOUT_BUFFER_MESHLETS);
SAME(BINDING_VERTICES, GG_LAYOUT_BUFFER_VERTICES);
SAME(BINDING_INDICES, GG_LAYOUT_BUFFER_INDICES);
SAME(BINDING_PRIMITIVES, GG_LAYOUT_BUFFER_PRIMITIVES);
SAME(BINDING_TASKS, GG_LAYOUT_BUFFER_TASKS);
SAME(BINDING_TASK_RECORDS, GG_LAYOUT_BUFFER_TASK_RECORDS);
SIZE(struct gg_meshlet, 4 * MESHLET_WORDS);
AT(struct gg_meshlet, vertex_first, 4 * MESHLET_VERTEX_FIRST);
AT(struct gg_meshlet, vertex_count, 4 * MESHLET_VERTEX_COUNT);
AT(struct gg_meshlet, index_first, 4 * MESHLET_INDEX_FIRST);
AT(struct gg_meshlet, primitive_count, 4 * MESHLET_PRIMITIVE_COUNT);
AT(struct gg_meshlet, primitive_first, 4 * MESHLET_PRIMITIVE_FIRST);
SIZE(struct gg_mesh_task, 4 * TASK_WORDS);
AT(struct gg_mesh_task, groups, 4 * TASK_GROUPS);
AT(struct gg_mesh_task, first_meshlet, 4 * TASK_FIRST_MESHLET);
AT(struct gg_mesh_task, payload, 4 * TASK_PAYLOAD);

/* layout.h: what Python fills in or reads. */
SIZE(enum gg_layout, 4);
SIZE(enum gg_layout_buffer, 4);
SIZE(enum gg_topology, 4);
SIZE(enum gg_output_kind, 4);
SIZE(enum gg_layout_mutation, 4);
SIZE(struct gg_mesh_output, 16);
SIZE(struct gg_mesh_shape, 548);
AT(struct gg_mesh_shape, output_count, 32);
AT(struct gg_mesh_shape, outputs, 36);
SIZE(struct gg_layout_options, 32);
AT(struct gg_layout_options, area_bytes, 16);
AT(struct gg_layout_options, mutation, 24);
SIZE(struct gg_layout_plan, 56);
AT(struct gg_layout_plan, fit, 24);
AT(struct gg_layout_plan, area_words, 32);
AT(struct gg_layout_plan, index_word, 40);
AT(struct gg_layout_plan, max_slots, 48);
SIZE(struct gg_mesh_batch, 64);
AT(struct gg_mesh_batch, meshlet_count, 40);
SIZE(struct gg_layout_recorder, 32);
AT(struct gg_layout_recorder, guest_offset, 8);
AT(struct gg_layout_recorder, bound_offset, 24);
SIZE(struct gg_layout_head, 20);

/* gpu.h */
SIZE(enum gg_device_type, 4);
SIZE(enum gg_memory_kind, 4);
SIZE(enum gg_stage, 4);
SIZE(enum gg_cull, 4);
SIZE(struct gg_device_info, 936);
AT(struct gg_device_info, uuid, 24);
AT(struct gg_device_info, name, 40);
AT(struct gg_device_info, driver_name, 296);
AT(struct gg_device_info, driver_info, 552);
AT(struct gg_device_info, usable, 808);
AT(struct gg_device_info, subgroup_size, 840);
AT(struct gg_device_info, max_workgroup_count, 852);
AT(struct gg_device_info, timestamp_bits, 884);
AT(struct gg_device_info, timestamp_period, 888);
AT(struct gg_device_info, device_memory, 904);
AT(struct gg_device_info, required_subgroup_min, 912);
SIZE(struct gg_device_params, 8);
SIZE(struct gg_module, 24);
SIZE(struct gg_pipeline_params, 48);
SIZE(struct gg_resource, 48);
AT(struct gg_resource, buffer, 16);
SIZE(struct gg_constant, 16);
SIZE(struct gg_once_params, 64);
AT(struct gg_once_params, resource_count, 32);
AT(struct gg_pipeline_params, module_count, 8);
SIZE(struct gg_statistics, 56);
SIZE(struct gg_work, 64);
AT(struct gg_work, command_count, 32);
AT(struct gg_work, timeout_ns, 56);

/* drawcache.h: what Python reads of a stream. */
SIZE(struct gg_guest_window, 24);
AT(struct gg_guest_window, size, 8);
AT(struct gg_guest_window, host, 16);
SIZE(enum gg_pm4_effect, 4);
SIZE(struct gg_pm4_packet, 64);
AT(struct gg_pm4_packet, word_count, 24);
AT(struct gg_pm4_packet, effect, 48);
SIZE(struct gg_pm4_dispatch, 184);
AT(struct gg_pm4_dispatch, groups, 24);
AT(struct gg_pm4_dispatch, initiator, 72);
AT(struct gg_pm4_dispatch, user_data, 96);
AT(struct gg_pm4_dispatch, known, 180);

/* suballoc_rules.h: arrays of these are built and read by numpy. */
SIZE(enum gg_suballoc_kind, 4);
SIZE(enum gg_suballoc_verdict, 4);
SIZE(struct gg_suballoc_resource, 64);
AT(struct gg_suballoc_resource, alignment, 8);
AT(struct gg_suballoc_resource, kind, 16);
AT(struct gg_suballoc_resource, usage, 44);
AT(struct gg_suballoc_resource, block_bytes, 60);
SIZE(struct gg_suballoc_note, 16);
SIZE(struct gg_suballoc_query, 88);
AT(struct gg_suballoc_query, restriction, 64);
AT(struct gg_suballoc_query, resource_flags, 80);
SIZE(struct gg_suballoc_answer, 16);
SIZE(struct gg_suballoc_profile, 56);
AT(struct gg_suballoc_profile, large_page, 32);
AT(struct gg_suballoc_profile, driver, 40);
SIZE(struct gg_suballoc_options, 24);
SIZE(struct gg_suballoc_limits, 120);
AT(struct gg_suballoc_limits, minimum, 88);
AT(struct gg_suballoc_limits, small, 104);
SIZE(struct gg_suballoc_info, 32);
AT(struct gg_suballoc_info, verdict, 24);
SIZE(struct gg_suballoc_total, 48);
SIZE(struct gg_suballoc_violation, 96);
AT(struct gg_suballoc_violation, wanted, 80);
SIZE(struct gg_suballoc_conformance, 8);

/* translator.h: targets and opcode rows. */
SIZE(enum gg_guest_gpu, 4);
SIZE(struct gg_guest_target, 8);
SIZE(struct gg_opcode, 56);
AT(struct gg_opcode, format, 32);
AT(struct gg_opcode, code, 40);
AT(struct gg_opcode, only, 48);
SIZE(struct gg_guest_program, 152);
AT(struct gg_guest_program, rsrc1, 40);
AT(struct gg_guest_program, user_data, 72);
AT(struct gg_guest_program, scratch_address, 136);
SIZE(enum gg_interp_output_kind, 4);
SIZE(struct gg_interp_output, 48);
AT(struct gg_interp_output, value, 28);
SIZE(struct gg_interp_params, 104);
AT(struct gg_interp_params, step_limit, 48);
AT(struct gg_interp_params, registers_in, 64);
SIZE(struct gg_interp_report, 64);
SIZE(struct gg_translate_options, 48);
SIZE(struct gg_translate_decision, 24);
SIZE(struct gg_translate_report, 72);
SIZE(enum gg_guest_user_sgprs, 4);
SIZE(struct gg_guest_argument, 24);
SIZE(struct gg_guest_kernel, 72);
SIZE(struct gg_guest_segment, 32);
SIZE(struct gg_guest_elf, 64);

/* gpu_memory.h */
SIZE(struct gg_memory_limits, 96);
SIZE(struct gg_memory_query, 40);
AT(struct gg_memory_query, format, 28);
SIZE(struct gg_memory_need, 24);

/* suballoc_pool.h */
SIZE(enum gg_pool_kind, 4);
SIZE(enum gg_pool_tier, 4);
SIZE(struct gg_pool_config, 56);
AT(struct gg_pool_config, user, 32);
SIZE(struct gg_pool_place, 24);
SIZE(struct gg_pool_range, 24);
SIZE(struct gg_pool_statistics, 80);

/* suballoc_speed.h */
SIZE(enum gg_trace_kind, 4);
SIZE(struct gg_allocator, 64);
AT(struct gg_allocator, name, 8);
SIZE(struct gg_trace_params, 48);
SIZE(struct gg_trace_round, 56);
SIZE(struct gg_trace_worst, 32);

/* suballoc_slices.h */
SIZE(struct gg_slices_chunk, 16);
SIZE(struct gg_slices_config, 32);
SIZE(struct gg_slice_input, 24);
SIZE(struct gg_slice, 24);
SIZE(struct gg_slices_stats, 80);

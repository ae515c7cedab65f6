/* SPDX-License-Identifier: MIT */
#include "interp.h"

#include <string.h>

/*
 * Sources of any kind, guest memory through its windows, and the plain loads, stores and atomics that FLAT, GLOBAL,
 * SCRATCH and MUBUF share. A lane's access is done dword by dword, so that each is in range or not by itself.
 */

/* ---- Sources ---- */

static uint64_t special_value(struct gg_interp *run, const struct gg_wave *wave, uint32_t special)
{
    switch (special) {
    case GG_SPECIAL_SHARED_BASE:
        return GG_SHARED_APERTURE;
    case GG_SPECIAL_SHARED_LIMIT:
        return GG_SHARED_APERTURE | UINT32_MAX;
    case GG_SPECIAL_PRIVATE_BASE:
        return GG_PRIVATE_APERTURE;
    case GG_SPECIAL_PRIVATE_LIMIT:
        return GG_PRIVATE_APERTURE | UINT32_MAX;
    case GG_SPECIAL_VCCZ:
        return gg_read_mask(run, wave, GG_SGPR_VCC_LO) == 0;
    case GG_SPECIAL_EXECZ:
        return gg_exec(run, wave) == 0;
    case GG_SPECIAL_SCC:
        return wave->scc;
    case GG_SPECIAL_LDS_DIRECT: { /* M0: address, and in bits 16-18 the kind: u8, u16, 32 bits, i8, i16 */
        uint32_t m0 = wave->sgpr[GG_SGPR_M0], kind = m0 >> 16 & 7;
        uint32_t size = kind == 2 ? 4 : kind == 1 || kind == 5 ? 2 : 1;
        uint64_t value = gg_lds_read(run, m0 & 0xffff, size);
        if (kind == 4)
            return gg_sign_extend(value, 8);
        return kind == 5 ? gg_sign_extend(value, 16) : value;
    }
    default:
        gg_interp_unsupported(run, "its source POPS_EXITING_WAVE_ID");
        return 0;
    }
}

uint64_t gg_read_uniform(struct gg_interp *run, const struct gg_wave *wave, const struct gg_operand *operand)
{
    switch (operand->kind) {
    case GG_OPERAND_NONE:
        return 0;
    case GG_OPERAND_SGPR:
        return gg_read_sgprs(wave, operand->value, operand->width);
    case GG_OPERAND_VGPR: /* of a lane, where one value is wanted: the first */
        return gg_vgpr(run, wave, operand->value)[0];
    case GG_OPERAND_SPECIAL: {
        uint64_t value = special_value(run, wave, operand->value);
        /* The apertures are 64-bit; 32 bits of them are the high ones. */
        bool aperture = operand->value >= GG_SPECIAL_SHARED_BASE && operand->value <= GG_SPECIAL_PRIVATE_LIMIT;
        return aperture && operand->width < 2 ? value >> 32 : value;
    }
    default: {
        uint64_t value = gg_operand_constant(operand);
        return operand->width < 2 ? (uint32_t)value : value;
    }
    }
}

uint64_t gg_read_lane(struct gg_interp *run, const struct gg_wave *wave, const struct gg_operand *operand,
                      uint32_t lane)
{
    if (operand->kind != GG_OPERAND_VGPR)
        return gg_read_uniform(run, wave, operand);
    uint64_t low = gg_vgpr(run, wave, operand->value)[lane];
    return operand->width > 1 ? low | (uint64_t)gg_vgpr(run, wave, operand->value + 1)[lane] << 32 : low;
}

uint32_t gg_read_part(struct gg_interp *run, const struct gg_wave *wave, const struct gg_operand *operand,
                      uint32_t part, uint32_t lane)
{
    if (operand->kind == GG_OPERAND_VGPR)
        return gg_vgpr(run, wave, operand->value + part)[lane];
    if (operand->kind == GG_OPERAND_SGPR)
        return operand->value == GG_SGPR_NULL ? 0 : gg_read_sgpr(wave, (operand->value + part) % GG_SGPR_FILE);
    uint64_t value = gg_read_uniform(run, wave, operand);
    return part < 2 ? (uint32_t)(value >> 32 * part) : 0;
}

/* ---- Windows ---- */

static bool is_inside(const struct gg_guest_window *window, uint64_t address, uint32_t size)
{
    uint64_t offset = address - window->address;
    return address >= window->address && offset < window->size && window->size - offset >= size;
}

static uint8_t *host_of(struct gg_interp *run, uint64_t address, uint32_t size)
{
    const struct gg_guest_window *windows = run->params->windows;
    if (!run->window || !is_inside(run->window, address, size)) {
        run->window = NULL;
        for (uint64_t i = 0; i < run->params->window_count && !run->window; i++)
            if (is_inside(&windows[i], address, size))
                run->window = &windows[i];
    }
    return run->window ? (uint8_t *)run->window->host + (address - run->window->address) : NULL;
}

/* Little-endian, as the guest. */
static uint64_t load_bytes(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void store_bytes(uint8_t *bytes, uint32_t size, uint64_t value)
{
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

uint64_t gg_mem_read(struct gg_interp *run, uint64_t address, uint32_t size)
{
    const uint8_t *host = host_of(run, address, size);
    if (host)
        return load_bytes(host, size);
    run->report->reads_outside++;
    return 0;
}

void gg_mem_write(struct gg_interp *run, uint64_t address, uint32_t size, uint64_t value)
{
    uint8_t *host = host_of(run, address, size);
    if (host)
        store_bytes(host, size, value);
    else
        run->report->writes_outside++;
}

uint64_t gg_lds_read(struct gg_interp *run, uint64_t address, uint32_t size)
{
    if (address < run->lds_bytes && run->lds_bytes - address >= size)
        return load_bytes(run->lds + address, size);
    run->report->lds_outside++;
    return 0;
}

void gg_lds_write(struct gg_interp *run, uint64_t address, uint32_t size, uint64_t value)
{
    if (address < run->lds_bytes && run->lds_bytes - address >= size)
        store_bytes(run->lds + address, size, value);
    else
        run->report->lds_outside++;
}

static bool is_there(const struct gg_place *place, uint64_t offset, uint32_t size)
{
    return place->space != GG_SPACE_NOWHERE && place->limit >= size && offset <= place->limit - size;
}

static uint64_t address_in(const struct gg_place *place, uint64_t offset)
{
    uint64_t low = place->address & 3; /* of a dword's bytes, when dwords are spread */
    if (place->spread == 4)
        return place->address + offset;
    return (place->address & ~UINT64_C(3)) + (low + offset) / 4 * place->spread + (low + offset) % 4;
}

uint64_t gg_place_read(struct gg_interp *run, const struct gg_place *place, uint64_t offset, uint32_t size)
{
    if (!is_there(place, offset, size))
        return 0;
    uint64_t address = address_in(place, offset);
    return place->space == GG_SPACE_LDS ? gg_lds_read(run, address, size) : gg_mem_read(run, address, size);
}

void gg_place_write(struct gg_interp *run, const struct gg_place *place, uint64_t offset, uint32_t size, uint64_t value)
{
    if (!is_there(place, offset, size))
        return;
    uint64_t address = address_in(place, offset);
    if (place->space == GG_SPACE_LDS)
        gg_lds_write(run, address, size, value);
    else
        gg_mem_write(run, address, size, value);
}

/* ---- Plain accesses ---- */

struct gg_access gg_access_of(const struct gg_inst *inst)
{
    switch (inst->op) {
    case GG_OP_buffer_load_ubyte:
    case GG_OP_flat_load_ubyte:
    case GG_OP_buffer_load_ubyte_d16:
    case GG_OP_flat_load_ubyte_d16:
    case GG_OP_buffer_load_ubyte_d16_hi:
    case GG_OP_flat_load_ubyte_d16_hi:
    case GG_OP_buffer_store_byte:
    case GG_OP_flat_store_byte:
    case GG_OP_buffer_store_byte_d16_hi:
    case GG_OP_flat_store_byte_d16_hi:
        return (struct gg_access){0, 1, false};
    case GG_OP_buffer_load_sbyte:
    case GG_OP_flat_load_sbyte:
    case GG_OP_buffer_load_sbyte_d16:
    case GG_OP_flat_load_sbyte_d16:
    case GG_OP_buffer_load_sbyte_d16_hi:
    case GG_OP_flat_load_sbyte_d16_hi:
        return (struct gg_access){0, 1, true};
    case GG_OP_buffer_load_ushort:
    case GG_OP_flat_load_ushort:
    case GG_OP_buffer_load_short_d16:
    case GG_OP_flat_load_short_d16:
    case GG_OP_buffer_load_short_d16_hi:
    case GG_OP_flat_load_short_d16_hi:
    case GG_OP_buffer_store_short:
    case GG_OP_flat_store_short:
    case GG_OP_buffer_store_short_d16_hi:
    case GG_OP_flat_store_short_d16_hi:
        return (struct gg_access){0, 2, false};
    case GG_OP_buffer_load_sshort:
    case GG_OP_flat_load_sshort:
        return (struct gg_access){0, 2, true};
    default: {
        const struct gg_op_info *info = gg_inst_info(inst);
        uint8_t data = info->format == GG_FORMAT_MUBUF ? info->src[3].width : info->src[2].width;
        return (struct gg_access){info->flags & GG_OPF_LOAD ? info->dst[0].width : data, 0, false};
    }
    }
}

/* Into a lane's register, or one half of it. */
static void load_small(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane,
                       struct gg_access access, uint64_t value)
{
    uint32_t *dst = gg_vgpr(run, wave, inst->dst[0].value) + lane;
    uint32_t flags = gg_inst_info(inst)->flags, loaded = (uint32_t)value;
    if (access.is_signed)
        loaded = gg_sign_extend(value, 8u * access.bytes);
    if (flags & GG_OPF_D16_HI)
        *dst = (*dst & 0xffff) | loaded << 16;
    else if (flags & GG_OPF_D16)
        *dst = (*dst & 0xffff0000) | (loaded & 0xffff);
    else
        *dst = loaded;
}

static void lane_atomic(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst,
                        const struct gg_operand *data, uint32_t lane, const struct gg_place *place)
{
    uint32_t bits, parts;
    enum gg_atomic atomic = gg_atomic_of(gg_inst_info(inst), &bits);
    struct gg_place aligned = *place;
    uint64_t operands[2] = {0};
    parts = bits / 32;
    for (uint32_t i = 0; i < 2 * parts && i < data->width; i++)
        operands[i / parts] |= (uint64_t)gg_read_part(run, wave, data, i, lane) << 32 * (i % parts);
    aligned.address &= ~(uint64_t)(bits / 8 - 1);
    uint64_t old = gg_place_read(run, &aligned, 0, bits / 8);
    gg_place_write(run, &aligned, 0, bits / 8, gg_atomic_result(wave, atomic, bits, old, operands[0], operands[1]));
    if (inst->dst[0].kind == GG_OPERAND_VGPR)
        for (uint32_t i = 0; i < parts; i++)
            gg_vgpr(run, wave, inst->dst[0].value + i)[lane] = (uint32_t)(old >> 32 * i);
}

/* Loads read everything before anything is written: the address may lie in the destination. */
static void lane_load(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint32_t lane,
                      const struct gg_place *place)
{
    struct gg_access access = gg_access_of(inst);
    if (!access.dwords) {
        load_small(run, wave, inst, lane, access, gg_place_read(run, place, 0, access.bytes));
        return;
    }
    for (uint32_t i = 0; i < access.dwords; i++)
        gg_vgpr(run, wave, inst->dst[0].value + i)[lane] = (uint32_t)gg_place_read(run, place, 4 * i, 4);
}

static void lane_store(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst,
                       const struct gg_operand *data, uint32_t lane, const struct gg_place *place)
{
    struct gg_access access = gg_access_of(inst);
    uint32_t shift = gg_inst_info(inst)->flags & GG_OPF_D16_HI ? 16 : 0;
    if (!access.dwords)
        gg_place_write(run, place, 0, access.bytes, gg_read_part(run, wave, data, 0, lane) >> shift);
    for (uint32_t i = 0; i < access.dwords; i++)
        gg_place_write(run, place, 4 * i, 4, gg_read_part(run, wave, data, i, lane));
}

void gg_interp_access(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst,
                      const struct gg_operand *data, uint64_t exec, const struct gg_place *places)
{
    uint32_t flags = gg_inst_info(inst)->flags;
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        if (flags & GG_OPF_ATOMIC)
            lane_atomic(run, wave, inst, data, lane, &places[lane]);
        else if (flags & GG_OPF_LOAD)
            lane_load(run, wave, inst, lane, &places[lane]);
        else
            lane_store(run, wave, inst, data, lane, &places[lane]);
    }
}

/* ---- FLAT, GLOBAL, SCRATCH ---- */

static bool is_addtid(const struct gg_inst *inst)
{
    return inst->op == GG_OP_global_load_dword_addtid || inst->op == GG_OP_global_store_dword_addtid;
}

/* Scratch of a wave: dword after dword, in each lane after lane. */
static struct gg_place scratch_place(const struct gg_interp *run, const struct gg_wave *wave, uint64_t offset,
                                     uint32_t lane)
{
    return (struct gg_place){.space = GG_SPACE_MEMORY,
                             .spread = 4 * run->lanes,
                             .address =
                                 wave->flat_scratch + (offset & ~UINT64_C(3)) * run->lanes + 4 * lane + (offset & 3),
                             .limit = UINT64_MAX};
}

static struct gg_place flat_place(struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst,
                                  uint32_t lane)
{
    uint64_t offset = (uint64_t)(int64_t)inst->imm;
    uint64_t base = gg_read_uniform(run, wave, &inst->src[1]), vaddr = gg_read_lane(run, wave, &inst->src[0], lane);
    struct gg_place place = {GG_SPACE_MEMORY, 4, base + vaddr + offset, UINT64_MAX};
    if (inst->format == GG_FORMAT_SCRATCH) /* 32-bit offsets */
        return scratch_place(run, wave, (uint32_t)(base + vaddr + offset), lane);
    if (is_addtid(inst)) {
        place.address = base + offset + 4 * lane;
        return place;
    }
    if (inst->format != GG_FORMAT_FLAT)
        return place;
    if (place.address >> 32 == GG_SHARED_APERTURE >> 32) {
        place.space = GG_SPACE_LDS;
        place.address = (uint32_t)place.address;
    } else if (place.address >> 32 == GG_PRIVATE_APERTURE >> 32) {
        place = scratch_place(run, wave, (uint32_t)place.address, lane);
    }
    return place;
}

void gg_interp_flat(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    struct gg_place places[GG_MAX_LANES];
    if (inst->flags & GG_INST_LDS) {
        gg_interp_unsupported(run, "loading to LDS");
        return;
    }
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        places[lane] = flat_place(run, wave, inst, lane);
    gg_interp_access(run, wave, inst, &inst->src[2], gg_exec(run, wave), places);
}

/* ---- SMEM ---- */

/* Bytes that s_buffer_* may reach: by the V#'s base, stride and number of records only. */
static uint64_t scalar_limit(const struct gg_wave *wave, uint32_t sgpr)
{
    uint64_t stride = wave->sgpr[sgpr + 1] >> 16 & 0x3fff, records = wave->sgpr[sgpr + 2];
    return stride ? stride * records : records;
}

void gg_interp_smem(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    const struct gg_op_info *info = gg_inst_info(inst);
    const struct gg_operand *base = &inst->src[0], *data = &inst->src[2], *dst = &inst->dst[0];
    uint64_t offset = (uint64_t)(int64_t)inst->imm + (uint32_t)gg_read_uniform(run, wave, &inst->src[1]);
    struct gg_place place = {GG_SPACE_MEMORY, 4, 0, UINT64_MAX};
    uint32_t loaded[16];
    if (inst->op == GG_OP_s_memtime || inst->op == GG_OP_s_memrealtime) { /* time is instructions executed */
        gg_write_sgprs(wave, dst->value, 2, run->report->instructions);
        return;
    }
    if (inst->op == GG_OP_s_get_waveid_in_workgroup) {
        gg_write_sgpr(wave, dst->value, wave->index);
        return;
    }
    if (!(info->flags & (GG_OPF_LOAD | GG_OPF_STORE | GG_OPF_ATOMIC)))
        return; /* caches are not modelled */
    if (base->kind != GG_OPERAND_SGPR || base->value + base->width > GG_SGPR_FILE) {
        gg_interp_unsupported(run, "its base, which is no scalar register,");
        return;
    }
    place.address = gg_read_sgprs(wave, base->value, 2);
    if (base->width == 4) {
        place.address = gg_canonical(place.address);
        place.limit = scalar_limit(wave, base->value);
    } else {
        place.address = (place.address + offset) & ~UINT64_C(3);
        offset = 0;
    }
    offset &= ~UINT64_C(3);
    if (info->flags & GG_OPF_ATOMIC) {
        uint32_t bits, parts;
        enum gg_atomic atomic = gg_atomic_of(info, &bits);
        parts = bits / 32;
        uint64_t first = gg_read_sgprs(wave, data->value, parts), second = 0;
        if (data->width == 2 * parts)
            second = gg_read_sgprs(wave, data->value + parts, parts);
        uint64_t old = gg_place_read(run, &place, offset, bits / 8);
        gg_place_write(run, &place, offset, bits / 8, gg_atomic_result(wave, atomic, bits, old, first, second));
        if (dst->kind == GG_OPERAND_SGPR)
            gg_write_sgprs(wave, dst->value, parts, old);
        return;
    }
    if (info->flags & GG_OPF_STORE) {
        for (uint32_t i = 0; i < data->width; i++)
            gg_place_write(run, &place, offset + 4 * i, 4, gg_read_part(run, wave, data, i, 0));
        return;
    }
    for (uint32_t i = 0; i < dst->width && i < 16; i++)
        loaded[i] = (uint32_t)gg_place_read(run, &place, offset + 4 * i, 4);
    for (uint32_t i = 0; i < dst->width && i < 16 && dst->value != GG_SGPR_NULL; i++)
        gg_write_sgpr(wave, (dst->value + i) % GG_SGPR_FILE, loaded[i]);
}

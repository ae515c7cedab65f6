/* SPDX-License-Identifier: MIT */
#include "interp.h"

/*
 * MUBUF and MTBUF: the V# in four scalar registers, read when the instruction executes. Out of range a load gives
 * 0 and a store does nothing; that is the guest's own rule and not counted.
 */

struct buffer {
    uint64_t base; /* 48 bits */
    uint32_t stride;
    uint32_t records; /* bytes, or elements of `stride` bytes */
    uint32_t dst_sel;
    uint32_t format;
    uint32_t index_stride;
    bool swizzled, add_thread;
    uint32_t range_check; /* OOB_SELECT: 0 index and offset, 1 index, 2 none but of empty buffers, 3 raw */
};

static struct buffer read_descriptor(const uint32_t words[4])
{
    return (struct buffer){.base = words[0] | (uint64_t)(words[1] & 0xffff) << 32,
                           .stride = words[1] >> 16 & 0x3fff,
                           .swizzled = words[1] >> 31,
                           .records = words[2],
                           .dst_sel = words[3] & 0xfff,
                           .format = words[3] >> 12 & 0x7f,
                           .index_stride = 8u << (words[3] >> 21 & 3),
                           .add_thread = words[3] >> 23 & 1,
                           .range_check = words[3] >> 28 & 3};
}

/* The bytes from the access's own offset on that are in range; raw buffers stop at their end, others are all or nothing. */
static uint64_t range_of(const struct buffer *buffer, uint64_t index, uint64_t offset, uint64_t buffer_offset,
                         uint64_t soffset)
{
    uint64_t raw = buffer_offset + soffset;
    switch (buffer->range_check) {
    case 0:
        return index < buffer->records && (offset < buffer->stride || !buffer->stride) ? UINT64_MAX : 0;
    case 1:
        return index < buffer->records ? UINT64_MAX : 0;
    case 2:
        return buffer->records ? UINT64_MAX : 0;
    default:
        if (buffer->swizzled && buffer->stride)
            return index < buffer->records && offset < buffer->stride ? UINT64_MAX : 0;
        return raw < buffer->records ? buffer->records - raw : 0;
    }
}

/*
 * Swizzling is by index: without one, and without the thread's number for it, the bit does nothing. RADV counts on
 * that: the V# of a program's constant table takes its high half from s_getpc, whose upper bits are all ones.
 */
static bool is_swizzled(const struct buffer *buffer, const struct gg_inst *inst)
{
    return buffer->swizzled && (inst->flags & GG_INST_IDXEN || buffer->add_thread);
}

static struct gg_place buffer_place(struct gg_interp *run, const struct gg_wave *wave, const struct gg_inst *inst,
                                    const struct buffer *described, uint32_t lane)
{
    struct buffer copy = *described;
    const struct buffer *buffer = &copy;
    copy.swizzled = is_swizzled(described, inst);
    const struct gg_operand *vaddr = &inst->src[0];
    bool has_index = inst->flags & GG_INST_IDXEN, has_offset = inst->flags & GG_INST_OFFEN;
    uint64_t index = has_index ? gg_read_part(run, wave, vaddr, 0, lane) : 0;
    uint64_t offset = (uint32_t)inst->imm, soffset = (uint32_t)gg_read_uniform(run, wave, &inst->src[2]);
    if (has_offset)
        offset += gg_read_part(run, wave, vaddr, has_index ? 1 : 0, lane);
    if (buffer->add_thread)
        index += lane;
    struct gg_place place = {GG_SPACE_MEMORY, 4, 0, 0};
    uint64_t buffer_offset = offset + index * buffer->stride;
    if (buffer->swizzled) { /* elements of four bytes, index_stride of them side by side */
        uint64_t group = index / buffer->index_stride, member = index % buffer->index_stride;
        place.spread = 4 * buffer->index_stride;
        buffer_offset =
            (group * buffer->stride + (offset & ~UINT64_C(3))) * buffer->index_stride + member * 4 + (offset & 3);
    }
    place.address = gg_canonical(buffer->base + soffset + buffer_offset);
    place.limit = range_of(buffer, index, offset, buffer_offset, soffset);
    return place;
}

/* With tfe the register after the data says whether a page was missing: never. */
static void clear_status(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint64_t exec)
{
    if (!(inst->flags & GG_INST_TFE) || inst->dst[0].kind != GG_OPERAND_VGPR)
        return;
    uint32_t *status = gg_vgpr(run, wave, inst->dst[0].value + inst->dst[0].width - 1);
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        if (exec >> lane & 1)
            status[lane] = 0;
}

/* Straight to LDS: M0 has the base, each lane its dword. */
static void load_to_lds(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst, uint64_t exec,
                        const struct gg_place *places)
{
    struct gg_access access = gg_access_of(inst);
    if (gg_inst_info(inst)->flags & GG_OPF_FORMAT || access.dwords > 1) {
        gg_interp_unsupported(run, "loading more than a dword, or a format, to LDS");
        return;
    }
    for (uint32_t lane = 0; lane < run->lanes; lane++) {
        if (!(exec >> lane & 1))
            continue;
        uint64_t value = gg_place_read(run, &places[lane], 0, access.dwords ? 4 : access.bytes);
        if (access.is_signed)
            value = gg_sign_extend(value, 8u * access.bytes);
        gg_lds_write(run, (wave->sgpr[GG_SGPR_M0] & 0xffff) + (uint32_t)inst->imm + 4 * lane, 4, value);
    }
}

void gg_interp_buffer(struct gg_interp *run, struct gg_wave *wave, const struct gg_inst *inst)
{
    uint32_t words[4], flags = gg_inst_info(inst)->flags;
    uint64_t exec = gg_exec(run, wave);
    struct gg_place places[GG_MAX_LANES];
    struct gg_memory_format format;
    if (!(flags & (GG_OPF_LOAD | GG_OPF_STORE | GG_OPF_ATOMIC)))
        return; /* caches are not modelled */
    for (uint32_t i = 0; i < 4; i++)
        words[i] = gg_read_part(run, wave, &inst->src[1], i, 0);
    struct buffer buffer = read_descriptor(words);
    for (uint32_t lane = 0; lane < run->lanes; lane++)
        places[lane] = buffer_place(run, wave, inst, &buffer, lane);
    if (inst->flags & GG_INST_LDS) {
        load_to_lds(run, wave, inst, exec, places);
        return;
    }
    if (!(flags & GG_OPF_FORMAT)) {
        gg_interp_access(run, wave, inst, &inst->src[3], exec, places);
        clear_status(run, wave, inst, exec);
        return;
    }
    uint32_t number = inst->format == GG_FORMAT_MTBUF ? inst->mtbuf.format : buffer.format;
    if (!gg_memory_format_of(number, &format)) {
        gg_interp_fail(run, GG_ERR_UNSUPPORTED, "memory format %u of the buffer is not interpreted", number);
        return;
    }
    /* x, xy, xyz, xyzw are the low two bits of the code; the d16_hi forms have x only. */
    uint32_t components = flags & GG_OPF_D16_HI ? 1 : (gg_inst_info(inst)->code & 3u) + 1;
    gg_interp_formatted(run, wave, inst, exec, places, &format, buffer.dst_sel, (1u << components) - 1);
    clear_status(run, wave, inst, exec);
}

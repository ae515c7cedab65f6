# SPDX-License-Identifier: MIT
"""Guest memory, LDS, buffers and images, and what the interpreter refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from assembler import assemble, f16, f32, f64, run

from guestgpu.errors import ArgumentError, FormatError, LimitExceeded, Unsupported
from guestgpu.interpreter import M0, Gpu, OutputKind, Program, Report, interpret

ALL = 0xFFFFFFFF
BASE = 0x1234_0000_0000
LOW, HIGH = BASE & ALL, BASE >> 32
LANES = np.arange(32, dtype=np.uint32)


def words(count: int = 64) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.arange(count, dtype=np.uint32) + 0x1000


def at(text: str, memory: np.ndarray[Any, Any], *, vector: dict[int, Any] | None = None, **options: Any) -> Report:
    """v[10:11] the address of dword `lane`, s[8:9] the memory's."""
    addresses = {10: LOW + 4 * LANES, 11: HIGH}
    return run(
        text, vector=addresses | (vector or {}), scalar={8: LOW, 9: HIGH} | options.pop("scalar", {}),
        windows={BASE: memory}, **options,
    )  # fmt: skip


def test_global_loads_and_stores() -> None:
    memory = words()
    v = at("global_load_dword v4, v[10:11], off offset:4", memory).registers.vector()
    assert list(v[4]) == list(memory[1:33])
    at("global_store_dwordx2 v1, v[2:3], s[8:9] offset:8", memory, vector={1: 8 * LANES[::-1] // 2, 2: 5, 3: 6},
       execute=1 << 31)  # fmt: skip
    assert list(memory[:6]) == [0x1000, 0x1001, 5, 6, 0x1004, 0x1005]
    memory = np.array([0x80FF7F01] * 33, np.uint32)
    v = at(
        "global_load_sbyte v4, v[10:11], off offset:2 / global_load_ushort v5, v[10:11], off offset:2"
        " / global_load_ubyte_d16_hi v6, v[10:11], off / global_load_sbyte_d16 v7, v[10:11], off offset:3"
        " / global_load_short_d16_hi v8, v[10:11], off offset:1",
        memory, vector={6: 0xAAAABBBB, 7: 0xAAAABBBB, 8: 0},
    ).registers.vector()  # fmt: skip
    assert [int(v[i][0]) for i in range(4, 9)] == [ALL, 0x80FF, 0x0001BBBB, 0xAAAAFF80, 0xFF7F0000]
    at("global_store_byte_d16_hi v[10:11], v2, off offset:1 / global_store_short v[10:11], v2, off offset:2", memory,
       vector={2: 0x11223344}, execute=1)  # fmt: skip
    assert memory[0] == 0x33442201


def test_a_load_may_overwrite_its_address() -> None:
    memory = words()
    v = at("global_load_dwordx4 v[10:13], v[10:11], off", memory, execute=3).registers.vector()
    assert [int(v[i][1]) for i in range(10, 14)] == list(memory[1:5])


def test_accesses_outside_the_windows_are_counted() -> None:
    memory = words(4)
    report = at("global_load_dwordx2 v[4:5], v[10:11], off", memory, vector={4: 1, 5: 1}, execute=0xF)
    v = report.registers.vector()
    assert [int(x) for x in v[4][:4]] == list(memory)
    assert [int(x) for x in v[5][:4]] == [*memory[1:], 0]
    assert (report.reads_outside, report.writes_outside) == (1, 0)
    report = at("global_store_dword v[10:11], v0, off offset:-4", memory, execute=3)
    assert memory[0] == 1
    assert (report.reads_outside, report.writes_outside) == (0, 1)
    report = at("global_load_dword v4, v[10:11], off offset:14", memory, execute=1)  # half of it
    assert report.registers.vector()[4][0] == 0
    assert report.reads_outside == 1
    report = run("s_load_dword s4, s[8:9], 0x0", scalar={8: ALL, 9: ALL, 4: 5})
    assert report.registers.scalar()[4] == 0
    assert report.reads_outside == 1


ATOMICS = [
    ("swap", 5, 9, 9), ("add", ALL, 2, 1), ("sub", 1, 2, ALL), ("smin", ALL, 1, ALL), ("umin", ALL, 1, 1),
    ("smax", ALL, 1, 1), ("umax", ALL, 1, ALL), ("and", 6, 3, 2), ("or", 6, 3, 7), ("xor", 6, 3, 5),
    ("inc", 4, 5, 5), ("inc", 5, 5, 0), ("inc", 9, 5, 0), ("dec", 4, 5, 3), ("dec", 0, 5, 5), ("dec", 9, 5, 5),
    ("fmin", f32(-1), f32(2), f32(-1)), ("fmax", f32(-1), f32(2), f32(2)), ("csub", 1, 2, 0), ("csub", 3, 2, 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "data", "wanted"), ATOMICS)
def test_atomics(name: str, old: int, data: int, wanted: int) -> None:
    memory = np.array([old], np.uint32)
    text = f"global_atomic_{name} v4, v[10:11], v2, off glc"
    v = at(text, memory, vector={2: data}, execute=1).registers.vector()
    assert (int(v[4][0]), int(memory[0])) == (old, wanted)
    if not name.startswith(("csub", "f")):
        wide = np.array([old | 7 << 32], np.uint64)
        at(f"global_atomic_{name}_x2 v[10:11], v[2:3], off", wide, vector={2: data, 3: 7}, execute=1)
        high = {"swap": 7, "and": 7, "or": 7, "xor": 0}.get(name)
        if high is not None:
            assert int(wide[0]) == wanted | high << 32


def test_compare_and_swap() -> None:
    memory = np.array([5, 6], np.uint32)
    v = at("global_atomic_cmpswap v4, v[10:11], v[2:3], off glc", memory, vector={2: 9, 3: 5}, execute=3).registers
    assert list(memory) == [9, 6]
    assert list(v.vector()[4][:2]) == [5, 6]
    wide = np.array([1 << 40], np.uint64)
    at("global_atomic_cmpswap_x2 v[10:11], v[2:5], off", wide, vector={2: 1, 3: 2, 4: 0, 5: 1 << 8}, execute=1)
    assert wide[0] == 1 | 2 << 32


def test_atomics_of_one_instruction_follow_each_other() -> None:
    memory = np.zeros(1, np.uint32)
    v = at("global_atomic_add v4, v1, v2, s[8:9] glc", memory, vector={1: 0, 2: 1}).registers.vector()
    assert memory[0] == 32
    assert sorted(v[4]) == list(range(32))


def test_flat_reaches_lds_and_scratch() -> None:
    memory = np.zeros(64 * 4, np.uint32)
    program = """
        s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s8
        s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s9
        s_mov_b64 s[4:5], src_shared_base
        v_mov_b32 v1, 4
        v_mov_b32 v2, s5
        flat_store_dword v[1:2], v0
        s_mov_b64 s[4:5], src_private_base
        v_mov_b32 v2, s5
        flat_store_byte v[1:2], v0 offset:1
        scratch_store_dword off, v0, off offset:12
        scratch_load_dword v4, off, s6 offset:8
        ds_read_b32 v5, v1
    """
    v = at(program, memory, lds_bytes=16, scalar={6: 4}).registers.vector()
    assert list(v[4]) == list(range(32))
    assert v[5][0] == 31
    assert list(memory[32:64]) == [i << 8 for i in range(32)]  # dword 1 of every lane
    assert list(memory[96:128]) == list(range(32))


def test_scalar_loads() -> None:
    memory = words()
    s = at(
        "s_load_dwordx8 s[12:19], s[8:9], 0x8 / s_load_dword s4, s[8:9], s5 offset:0x4", memory, scalar={5: 6}
    ).registers
    assert list(s.scalar()[12:20]) == list(memory[2:10])
    assert s.scalar()[4] == memory[2]
    # Buffers: base, stride and records; what lies beyond is 0.
    descriptor = {20: LOW, 21: HIGH | 8 << 16, 22: 2, 23: 0}
    s = at("s_buffer_load_dwordx4 s[12:15], s[20:23], 0x8", memory, scalar=descriptor | {14: 1}).registers.scalar()
    assert list(s[12:16]) == [memory[2], memory[3], 0, 0]
    memory = np.array([5, 0], np.uint32)
    s = at("s_atomic_add s4, s[8:9], 0x0 glc / s_store_dword s5, s[8:9], 0x4", memory, gpu="gfx1013",
           scalar={4: 3, 5: 8}).registers.scalar()  # fmt: skip
    assert s[4] == 5
    assert list(memory) == [8, 8]


def buffer(text: str, memory: np.ndarray[Any, Any], *, stride: int = 0, records: int | None = None,
           word3: int = 3 << 28,
           swizzle: bool = False, vector: dict[int, Any] | None = None, **options: Any) -> Report:  # fmt: skip
    descriptor = {
        20: LOW, 21: HIGH | stride << 16 | swizzle << 31, 22: memory.nbytes if records is None else records, 23: word3
    }  # fmt: skip
    return at(text, memory, scalar=descriptor | options.pop("scalar", {}), vector=vector, **options)


def test_raw_buffers() -> None:
    memory = words(8)
    text = "buffer_load_dword v4, v1, s[20:23], s4 offen offset:4"
    report = buffer(text, memory, vector={1: 4 * LANES, 4: 9}, scalar={4: 4})
    assert list(report.registers.vector()[4]) == [*memory[2:], *[0] * 26]
    assert report.reads_outside == 0  # the guest's own range check
    report = buffer("buffer_store_dwordx2 v[2:3], v1, s[20:23], 0 offen", memory, vector={1: 28, 2: 1, 3: 2}, execute=1)
    assert memory[7] == 1
    assert report.writes_outside == 0
    memory = words(8)
    buffer("buffer_atomic_add v2, off, s[20:23], 0 offset:8 glc", memory, vector={2: 1}, execute=7)
    assert memory[2] == 0x1005
    report = buffer("buffer_load_dword v4, off, s[20:23], 0", memory, records=0, word3=2 << 28, vector={4: 1})
    assert report.registers.vector()[4][0] == 0


def test_structured_buffers() -> None:
    memory = words(64)
    text = "buffer_load_dword v4, v[1:2], s[20:23], 0 idxen offen"
    v = buffer(text, memory, stride=16, records=3, word3=0, vector={1: LANES, 2: 8}).registers.vector()
    assert list(v[4][:4]) == [memory[2], memory[6], memory[10], 0]
    v = buffer(text, memory, stride=16, records=3, word3=0, vector={1: LANES, 2: 16}).registers.vector()
    assert list(v[4][:4]) == [0, 0, 0, 0]
    v = buffer(text, memory, stride=16, records=3, word3=1 << 28, vector={1: LANES, 2: 16}).registers.vector()
    assert list(v[4][:4]) == [memory[4], memory[8], memory[12], 0]


def test_swizzled_buffers() -> None:
    """index_stride 8: dword d of element i lies at ((i / 8) * stride + 4 * d) * 8 + 4 * (i % 8)."""
    memory = words(128)
    text = "buffer_load_dwordx2 v[4:5], v1, s[20:23], 0 idxen offset:4"
    v = buffer(text, memory, stride=16, records=32, word3=0, swizzle=True, vector={1: LANES}).registers.vector()
    for i in range(32):
        first = ((i // 8) * 16 + 4) * 8 // 4 + i % 8
        assert (v[4][i], v[5][i]) == (memory[first], memory[first + 8])
    v = buffer(
        "buffer_load_dword v4, off, s[20:23], 0 offset:4", memory, word3=3 << 28 | 1 << 23 | 2 << 21, swizzle=True
    )
    assert list(v.registers.vector()[4]) == list(memory[32:64])  # scratch: the lane is the index


XYZW = 4 | 5 << 3 | 6 << 6 | 7 << 9


def test_formats() -> None:
    memory = np.array([0x807F00FF], np.uint32)

    def load(
        number: int, dst_sel: int = XYZW, text: str = "buffer_load_format_xyzw v[4:7], off, s[20:23], 0"
    ) -> list[int]:
        v = buffer(text, memory, word3=3 << 28 | number << 12 | dst_sel, execute=1).registers.vector()
        return [int(v[i][0]) for i in range(4, 8)]

    assert load(56) == [f32(1), 0, f32(127 / 255), f32(128 / 255)]
    assert load(57) == [f32(-1 / 127), 0, f32(1), f32(-1)]
    assert load(60) == [255, 0, 127, 128]
    assert load(61) == [ALL, 0, 127, (-128) & ALL]
    assert load(56, 7 | 1 << 3 | 0 << 6 | 4 << 9) == [f32(128 / 255), f32(1), 0, f32(1)]
    assert load(20) == [0x807F00FF, 0, 0, 1]
    assert load(22)[3] == f32(1)
    assert load(1) == [f32(1), 0, 0, f32(1)]
    memory[0] = f16(1.5) | f16(-2) << 16
    assert load(29) == [f32(1.5), f32(-2), 0, f32(1)]
    assert load(29, XYZW, "buffer_load_format_d16_xyzw v[4:5], off, s[20:23], 0")[:2] == [
        f16(1.5) | f16(-2) << 16, f16(1) << 16
    ]  # fmt: skip
    memory[0] = 0x3FF | 2 << 10 | 3 << 20 | 2 << 30
    assert load(54) == [1023, 2, 3, 2]
    memory[0] = 15 << 6 | (15 << 6 | 32) << 11 | 16 << 5 << 22  # 11, 11, 10 bits: 1, 1.5, 2
    assert load(36) == [f32(1), f32(1.5), f32(2), f32(1)]
    with pytest.raises(Unsupported, match="memory format 100"):
        load(100)


def test_formatted_stores() -> None:
    memory = np.zeros(4, np.uint32)
    data = {2: f32(1), 3: f32(-1), 4: f32(0.5), 5: f32(2)}
    buffer(
        "buffer_store_format_xyzw v[2:5], off, s[20:23], 0", memory, word3=3 << 28 | 56 << 12, vector=data, execute=1
    )
    assert memory[0] == 0xFF8000FF
    buffer("tbuffer_store_format_xy v[2:3], off, s[20:23], 0 format:[BUF_FMT_16_16_FLOAT] offset:4", memory,
           vector=data, execute=1)  # fmt: skip
    assert memory[1] == f16(1) | f16(-1) << 16
    v = buffer("tbuffer_load_format_x v4, off, s[20:23], 0 format:[BUF_FMT_8_UINT] offset:3", memory,
               word3=3 << 28 | XYZW, execute=1).registers.vector()  # fmt: skip
    assert v[4][0] == 0xFF


def test_lds() -> None:
    program = """
        v_lshlrev_b32 v1, 3, v0
        ds_write_b64 v1, v[2:3]
        ds_read2_b32 v[4:5], v1 offset0:1 offset1:2
        ds_read_b128 v[6:9], v1
        ds_write_b8 v1, v0 offset:1
        ds_read_i8 v10, v1 offset:1
        ds_read_u16_d16_hi v11, v1
        ds_write2st64_b32 v12, v2, v3 offset0:0 offset1:1
        ds_read2st64_b32 v[14:15], v12 offset1:1
    """
    report = run(program, lds_bytes=512, vector={2: 100 + LANES, 3: 200 + LANES, 11: 0x55, 12: 0})
    v = report.registers.vector()
    assert (v[4][5], v[5][5]) == (205, 106)
    assert [int(v[i][5]) for i in range(6, 10)] == [105, 205, 106, 206]
    assert v[10][5] == 5
    assert v[11][5] == (105 | 5 << 8) << 16 | 0x55
    assert (v[14][0], v[15][0]) == (131, 231)
    assert report.lds_outside == 0


def test_lds_out_of_range_reads_zero_and_drops_writes() -> None:
    report = run("ds_write_b32 v1, v2 / ds_read_b32 v4, v1 / ds_read_b32 v5, v3", lds_bytes=16,
                 vector={1: 14, 2: 7, 3: 12, 4: 9}, execute=1)  # fmt: skip
    assert [int(report.registers.vector()[i][0]) for i in (4, 5)] == [0, 0]
    assert report.lds_outside == 2
    report = run("ds_add_u32 v1, v2 / ds_read_b32 v4, v1 offset:8", lds_bytes=16, vector={1: -4 & ALL, 2: 7}, execute=1)
    # The atomic's read and write are outside; with its offset the load's address wraps into range.
    assert report.lds_outside == 2
    assert report.registers.vector()[4][0] == 0


DS = [
    ("ds_add_rtn_u32 v4, v1, v2", 5, (3, 0), 8), ("ds_rsub_rtn_u32 v4, v1, v2", 5, (3, 0), ALL - 1),
    ("ds_min_rtn_i32 v4, v1, v2", ALL, (3, 0), ALL), ("ds_wrxchg_rtn_b32 v4, v1, v2", 5, (3, 0), 3),
    ("ds_cmpst_rtn_b32 v4, v1, v2, v3", 5, (5, 9), 9), ("ds_cmpst_rtn_b32 v4, v1, v2, v3", 5, (6, 9), 5),
    ("ds_mskor_rtn_b32 v4, v1, v2, v3", 0xFF, (0x0F, 0x100), 0x1F0), ("ds_inc_rtn_u32 v4, v1, v2", 3, (3, 0), 0),
    ("ds_add_rtn_f32 v4, v1, v2", f32(1.5), (f32(2), 0), f32(3.5)),
    ("ds_max_rtn_f32 v4, v1, v2", f32(1.5), (f32(2), 0), f32(2)),
    ("ds_wrap_rtn_b32 v4, v1, v2, v3", 10, (4, 100), 6), ("ds_wrap_rtn_b32 v4, v1, v2, v3", 3, (4, 100), 103),
]  # fmt: skip


@pytest.mark.parametrize(("text", "old", "data", "wanted"), DS)
def test_lds_atomics(text: str, old: int, data: tuple[int, int], wanted: int) -> None:
    program = f"v_mov_b32 v6, {old:#x} / ds_write_b32 v1, v6 / {text} / ds_read_b32 v5, v1"
    v = run(program, lds_bytes=16, vector={1: 4, 2: data[0], 3: data[1]}, execute=1).registers.vector()
    assert (int(v[4][0]), int(v[5][0])) == (old, wanted)


def test_wide_lds_atomics_append_and_addtid() -> None:
    low, high = f64(2.5)
    v = run("ds_write_b64 v1, v[2:3] / ds_max_rtn_f64 v[4:5], v1, v[6:7] / ds_read_b64 v[8:9], v1", lds_bytes=8,
            vector={1: 0, 2: low, 3: high, 6: 0, 7: f64(3)[1]}, execute=1).registers.vector()  # fmt: skip
    assert (v[4][0], v[5][0]) == (low, high)
    assert (v[8][0], v[9][0]) == f64(3)
    v = run("ds_append v4 offset:4 / ds_consume v5 offset:4 / ds_append v6 offset:4", lds_bytes=16, scalar={M0: 4},
            execute=0xF3).registers.vector()  # fmt: skip
    assert [int(v[i][0]) for i in (4, 5, 6)] == [0, 6, 0]
    assert v[4][2] == 0
    v = run("ds_write_addtid_b32 v0 offset:4 / ds_read_addtid_b32 v4", lds_bytes=256, scalar={M0: 8}).registers.vector()
    assert list(v[4][1:]) == list(range(31))


def image_words(width: int, height: int, number: int, kind: int = 9, slices: int = 1) -> dict[int, int]:
    w = width - 1
    return {
        20: BASE >> 8 & ALL, 21: (BASE >> 40) | number << 20 | (w & 3) << 30, 22: w >> 2 | (height - 1) << 14,
        23: XYZW | kind << 28, 24: slices - 1, 25: 0, 26: 0, 27: 0,
    }  # fmt: skip


def test_linear_images() -> None:
    memory = np.zeros((4, 64), np.uint32)  # rows of 256 bytes
    memory[:] = np.arange(256).reshape(4, 64)
    where = {1: LANES % 8, 2: LANES // 8}
    texture = image_words(6, 3, 20)
    v = at("image_load v4, v[1:2], s[20:27] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm", memory, vector=where,
           scalar=texture).registers.vector()  # fmt: skip
    wanted = [64 * (i // 8) + i % 8 if i % 8 < 6 and i // 8 < 3 else 0 for i in range(32)]
    assert list(v[4]) == wanted
    at("image_store v[4:5], v[1:2], s[20:27] dmask:0x3 dim:SQ_RSRC_IMG_2D unorm", memory, execute=1 << 9,
       vector=where | {4: f32(1), 5: f32(0)}, scalar=image_words(6, 3, 14))  # fmt: skip
    assert memory[1, 0] == 64 | 0x00FF0000
    at("image_atomic_add v4, v[1:2], s[20:27] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm glc", memory,
       vector={1: 1, 2: 2, 4: 1}, scalar=texture)  # fmt: skip
    assert memory[2, 1] == 129 + 32
    v = at("image_get_resinfo v[4:7], v1, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D unorm", memory, vector={1: 0},
           scalar=texture).registers.vector()  # fmt: skip
    assert [int(v[i][0]) for i in range(4, 8)] == [6, 3, 1, 1]
    layers = np.arange(2 * 3 * 64, dtype=np.uint32)
    v = at("image_load v4, [v1, v2, v3], s[20:27] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY unorm", layers, execute=1,
           vector={1: 5, 2: 2, 3: 1}, scalar=image_words(6, 3, 20, 13, 2)).registers.vector()  # fmt: skip
    assert v[4][0] == 3 * 64 + 2 * 64 + 5
    for words_of, reason in ((image_words(6, 3, 20) | {23: XYZW | 9 << 28 | 27 << 20}, "tiled"),
                             (image_words(6, 3, 20) | {23: XYZW | 9 << 28 | 3 << 16}, "several levels")):  # fmt: skip
        with pytest.raises(Unsupported, match=reason):
            at("image_load v4, v[1:2], s[20:27] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm", memory, scalar=words_of)
    with pytest.raises(Unsupported, match="0x0: image_sample: sampling"):
        at("image_sample v4, v[1:2], s[20:27], s[12:15] dmask:0x1 dim:SQ_RSRC_IMG_2D", memory, scalar=texture)


def test_launch_state() -> None:
    """User data, workgroup ids, size, scratch offset; local ids; the mask of a wave that is not full."""
    text = "s_endpgm"
    program = Program(
        words=assemble(text), threads=(5, 3, 3), user_data=[11, 22], vgprs=8, scratch_bytes=16,
        rsrc1=0xC0 << 12 | 1 << 21 | 1 << 23, rsrc2=1 | 2 << 1 | 7 << 7 | 1 << 10 | 2 << 11,
    )  # fmt: skip
    report = interpret(program, groups=(2, 3, 4))
    assert report.waves == 48
    assert report.instructions == 48
    first, second = report.registers.scalar(0), report.registers.scalar(1)
    assert list(first[:7]) == [11, 22, 1, 2, 3, 2 | 1 << 31, 0]
    assert list(second[:7]) == [11, 22, 1, 2, 3, 2 | 1 << 20 | 1 << 6, 16 * 32]
    older = interpret(replace(program, gpu=Gpu.GFX1013), groups=(2, 3, 4)).registers.scalar(1)
    assert older[5] == 2 | 1 << 6
    assert first[126] == ALL
    assert second[126] == (1 << 13) - 1
    assert report.registers.state(0)[1] == 0x3C0
    v = report.registers.vector(1)
    assert [int(v[i][1]) for i in range(3)] == [33 % 5, 33 // 5 % 3, 33 // 15]
    assert v[0][13] == 0


def test_outputs_are_recorded() -> None:
    text = "s_sendmsg sendmsg(MSG_GS_ALLOC_REQ) / exp pos0 v0, v1, off, off done"
    report = run(text, scalar={M0: 0x3004}, vector={1: 7}, execute=0b101)
    kinds = [OutputKind(kind) for kind in report.outputs["kind"]]
    assert kinds == [OutputKind.MESSAGE, OutputKind.EXPORT, OutputKind.EXPORT]
    assert report.outputs["value"][0][0] == 0x3004
    assert report.outputs["number"][0] == 9
    assert list(report.outputs["lane"]) == [0, 0, 2]
    assert list(report.outputs["value"][2]) == [2, 7, 0, 0]
    assert report.outputs["enable"][1] == 0x23
    assert report.outputs["number"][1] == 12


REFUSED = [
    ("s_trap 1", Unsupported, "0x0: s_trap"),
    ("s_nop 0 / ds_gws_barrier v0 gds", Unsupported, "0x4: ds_gws_barrier"),
    ("s_setpc_b64 s[4:5]", FormatError, "0x0: s_setpc_b64: jumps to address 0x2, outside"),
    ("v_mov_b32 v70, 1", FormatError, "0x0: v_mov_b32: v70 is above the 64 VGPRs"),
    ("global_load_dwordx4 v[61:64], v[0:1], off", FormatError, "v64 is above"),
    ("s_branch 100", FormatError, "0x0: s_branch: jumps to 404, outside"),
    ("s_cmp_eq_u32 0, 0 / s_cbranch_scc1 1 / v_add_f32 v0, 0x12345678, v1", FormatError, "0xc: a jump into the middle"),
    ("s_getreg_b32 s4, hwreg(HW_REG_TBA_LO)", Unsupported, "hardware register 16"),
    ("v_add_f32 v1, v1, v2 / s_code_end", Unsupported, "0x4: s_code_end"),
]


@pytest.mark.parametrize(("text", "error", "match"), REFUSED)
def test_refusals_name_offset_and_instruction(text: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        run(text, scalar={4: 2})


def test_programs_that_do_not_end() -> None:
    with pytest.raises(LimitExceeded, match=r"step limit: group \(0, 0, 0\) .* 1000 instructions; waves at 0: 0x0, 1"):
        run("L0: \n s_branch L0", waves=2, step_limit=1000)
    words = assemble("s_nop 0")
    with pytest.raises(FormatError, match="0x4: the program ends here"):
        interpret(Program(words=words, vgprs=8))


def test_wrong_parameters() -> None:
    words = assemble("s_endpgm")
    for change, error, match in (
        ({"wave": 16}, ArgumentError, "wave of 16"),
        ({"entry": 4}, ArgumentError, "entry 0x4"),
        ({"threads": (1025,)}, LimitExceeded, "1025 threads"),
        ({"vgprs": 300}, LimitExceeded, "300 VGPRs"),
        ({"lds_bytes": 70000}, LimitExceeded, "70000 bytes of LDS"),
        ({"rsrc2": 17 << 1}, LimitExceeded, "17 user SGPRs"),
    ):
        program = Program(words=words, **change)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="launch state"):
            program.registers()
        with pytest.raises(error, match=match):
            interpret(program)

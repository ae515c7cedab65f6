# SPDX-License-Identifier: MIT
"""What crosses lanes, and what selects parts of registers: DPP, SDWA, readlane, permlane, swizzles, relative moves."""

from __future__ import annotations

import numpy as np
import pytest
from assembler import f16, f32, run

from guestgpu.errors import FormatError
from guestgpu.interpreter import EXEC, M0

ALL = 0xFFFFFFFF
LANES = np.arange(64, dtype=np.uint32)


def moved(modifiers: str, *, wave: int = 32, execute: int | None = None) -> list[int]:
    """v1 = lane + 100 moved by DPP into v4, which holds 7."""
    report = run(f"v_mov_b32 v4, v1 {modifiers}", wave=wave, execute=execute, vector={1: LANES[:wave] + 100, 4: 7})
    return [int(value) for value in report.registers.vector()[4]]


def test_dpp16_controls() -> None:
    lanes = list(range(100, 132))
    row = range(16)
    assert moved("quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf") == [100 + (i ^ 3) for i in range(32)]
    wanted = [lanes[i + 1] if i % 16 < 15 else 7 for i in range(32)]
    assert moved("row_shl:1 row_mask:0xf bank_mask:0xf") == wanted
    wanted = [lanes[i - 3] if i % 16 >= 3 else 0 for i in range(32)]
    assert moved("row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:0") == wanted
    assert moved("row_ror:1 row_mask:0xf bank_mask:0xf")[:16] == [100 + (i - 1) % 16 for i in row]
    assert moved("row_mirror row_mask:0xf bank_mask:0xf")[16:] == [131 - i for i in row]
    assert moved("row_half_mirror row_mask:0xf bank_mask:0xf")[:16] == [100 + (i ^ 7) for i in row]
    assert moved("row_share:5 row_mask:0xf bank_mask:0xf") == [105] * 16 + [121] * 16
    assert moved("row_xmask:9 row_mask:0xf bank_mask:0xf")[:16] == [100 + (i ^ 9) for i in row]


def test_dpp16_masks_and_inactive_sources() -> None:
    assert moved("row_share:0 row_mask:0x2 bank_mask:0xf") == [7] * 16 + [116] * 16
    assert moved("row_share:0 row_mask:0xf bank_mask:0x1")[:8] == [100] * 4 + [7] * 4
    # Lane 1 is off: lane 0 keeps its own, gets 0 with bound_ctrl, or reads it all the same with fi.
    assert moved("row_shl:1 row_mask:0xf bank_mask:0xf", execute=ALL ^ 2)[:3] == [7, 7, 103]
    assert moved("row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", execute=ALL ^ 2)[:3] == [0, 7, 103]
    assert moved("row_shl:1 row_mask:0xf bank_mask:0xf fi:1", execute=ALL ^ 2)[:3] == [101, 7, 103]


def test_dpp8() -> None:
    assert moved("dpp8:[7,6,5,4,3,2,1,0]", wave=64)[56:] == [163 - i for i in range(8)]
    assert moved("dpp8:[1,1,1,1,1,1,1,1]", execute=ALL ^ 2)[:3] == [0, 7, 0]
    assert moved("dpp8:[1,1,1,1,1,1,1,1] fi:1", execute=ALL ^ 2)[:3] == [101, 7, 101]


def test_dpp_with_arithmetic_reads_the_old_destination() -> None:
    v = run(
        "v_add_nc_u32_dpp v1, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", vector={1: LANES[:32]}
    ).registers.vector()
    assert [int(x) for x in v[1][:4]] == [0, 1, 3, 5]
    assert v[1][16] == 16


SDWA = [
    ("v_add_f32_sdwa v4, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
     (f32(1), f32(2)), f32(3)),
    ("v_mov_b32_sdwa v4, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:BYTE_1", (0x11223344,), 0x00330000),
    ("v_mov_b32_sdwa v4, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1", (0x11223344,), 0xAA33CCDD),
    ("v_mov_b32_sdwa v4, v1 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_3", (0x81000000,), 0xFFFF8100),
    ("v_mov_b32_sdwa v4, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", (0x80010000,), 0xFFFF8001),
    ("v_add_nc_u32_sdwa v4, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:WORD_1",
     (0x1FF, 0x00020000), 0x0101CCDD),
    ("v_add_f16_sdwa v4, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
     (f16(1) << 16, f16(2)), f16(3) << 16 | 0xCCDD),
    ("v_mul_f16_sdwa v4, -v1, |v2| dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
     (f16(2) << 16, f16(-3)), 0xAABB0000 | f16(-6)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sources", "wanted"), SDWA)
def test_sdwa(text: str, sources: tuple[int, ...], wanted: int) -> None:
    vector = {i + 1: value for i, value in enumerate(sources)} | {4: 0xAABBCCDD}
    assert run(text, vector=vector).registers.vector()[4][0] == wanted


def test_sdwa_comparison() -> None:
    text = "v_cmp_lt_u32_sdwa s4, v1, v0 src0_sel:BYTE_1 src1_sel:DWORD"
    assert run(text, vector={1: 0x0500}).registers.scalar()[4] == ALL << 6 & ALL


def test_readlane_and_its_like() -> None:
    s = run(
        "v_readlane_b32 s4, v1, 33 / v_readlane_b32 s5, v1, s9 / v_readfirstlane_b32 s6, v1 / s_mov_b32 exec_lo, 0"
        " / v_readfirstlane_b32 s7, v1",
        vector={1: LANES[:32] * 3}, scalar={9: ALL}, execute=0xF0,
    ).registers.scalar()  # fmt: skip
    assert [int(x) for x in s[4:8]] == [3, 93, 12, 0]
    v = run("v_writelane_b32 v4, s9, 5 / v_writelane_b32 v4, 9, s10", scalar={9: 77, 10: 40}, execute=0).registers
    assert v.vector()[4][5] == 77
    assert v.vector()[4][8] == 9
    assert v.vector()[4][0] == 0
    s = run("v_readlane_b32 s4, v1, 33", wave=64, vector={1: LANES}).registers.scalar()
    assert s[4] == 33


def test_permlane() -> None:
    forward = "s_mov_b32 s4, 0x76543210 / s_mov_b32 s5, 0xfedcba98 / "
    data = {1: LANES[:32] + 100, 4: 7}
    v = run(forward + "v_permlanex16_b32 v4, v1, s4, s5", vector=data).registers.vector()
    assert list(v[4]) == [100 + (i ^ 16) for i in range(32)]
    v = run("v_permlane16_b32 v4, v1, 0, -1", vector=data).registers.vector()
    assert list(v[4]) == [100] * 8 + [115] * 8 + [116] * 8 + [131] * 8
    reverse = "s_mov_b32 s4, 0x89abcdef / s_mov_b32 s5, 0x01234567 / "
    v = run(reverse + "v_permlane16_b32 v4, v1, s4, s5", vector=data, wave=32).registers.vector()
    assert list(v[4][:16]) == [115 - i for i in range(16)]
    # Lane 16 is off: op_sel is fetch-inactive, bound-control.
    for op_sel, wanted in (("", 7), (" op_sel:[0,1]", 0), (" op_sel:[1,0]", 116)):
        v = run(forward + f"v_permlanex16_b32 v4, v1, s4, s5{op_sel}", vector=data, execute=ALL ^ 1 << 16).registers
        assert v.vector()[4][0] == wanted


def test_mbcnt() -> None:
    for wave in (32, 64):
        v = run("v_mbcnt_lo_u32_b32 v4, -1, 5 / v_mbcnt_hi_u32_b32 v4, -1, v4", wave=wave).registers.vector()
        assert list(v[4]) == [5 + i for i in range(wave)]
    v = run("v_mbcnt_lo_u32_b32 v4, 0xf0, 0 / v_mbcnt_hi_u32_b32 v5, 3, 10", wave=64).registers.vector()
    assert v[4][5] == 1
    assert v[4][63] == 4
    assert v[5][31] == 10
    assert v[5][33] == 11
    assert v[5][40] == 12


def swizzled(offset: int | str, execute: int | None = None) -> list[int]:
    v = run(f"ds_swizzle_b32 v4, v1 offset:{offset}", vector={1: LANES[:32]}, execute=execute).registers.vector()
    return [int(x) for x in v[4]]


def test_swizzle() -> None:
    assert swizzled('swizzle(BITMASK_PERM, "00p11")') == [(i & 4) | 3 for i in range(32)]
    assert swizzled(0x401F) == [i ^ 16 for i in range(32)]
    assert swizzled("swizzle(QUAD_PERM, 3, 0, 1, 2)")[:5] == [3, 0, 1, 2, 7]
    assert swizzled(0xC000 | 3 << 5) == [(i + 3) % 32 for i in range(32)]
    assert swizzled(0xC000 | 1 << 10 | 3 << 5 | 0x10)[:17] == [(i - 3) % 16 for i in range(16)] + [29]
    assert swizzled(0xE000)[1] == 16
    assert swizzled(0xE01F)[5] == 5
    assert swizzled(0x401F, execute=0xFFFF0001)[:2] == [16, 0]
    assert swizzled(0x401F, execute=0xFFFF)[3] == 0


def test_bpermute_reaches_its_half_only() -> None:
    v = run("ds_bpermute_b32 v4, v2, v1 offset:4", wave=64, vector={1: LANES, 2: 4 * (LANES + 40)}).registers.vector()
    assert [int(x) for x in v[4]] == [(i & 32) | ((i + 41) & 31) for i in range(64)]
    v = run("ds_permute_b32 v4, v2, v1", vector={1: LANES[:32] + 1, 2: 4 * (LANES[:32] // 2)}).registers.vector()
    assert [int(x) for x in v[4]] == [2 * i + 2 for i in range(16)] + [0] * 16
    v = run("ds_bpermute_b32 v4, v2, v1", vector={1: 5, 2: 0, 4: 9}, execute=6).registers.vector()
    assert [int(x) for x in v[4][:3]] == [9, 0, 0]


def test_relative_moves_and_swap() -> None:
    data = {10: 110, 11: 111, 12: 112, 13: 113}
    v = run("v_movrels_b32 v4, v10 / v_movreld_b32 v11, 5 / v_swap_b32 v12, v10", scalar={M0: 2}, vector=data).registers
    assert [int(v.vector()[i][0]) for i in (4, 10, 12, 13)] == [112, 112, 110, 5]
    v = run("v_movrelsd_2_b32 v4, v10", scalar={M0: 1 | 2 << 16}, vector=data).registers
    assert v.vector()[6][0] == 111
    s = run("s_movrels_b32 s4, s8 / s_movreld_b64 s[10:11], -1", scalar={M0: 2, 10: 5}).registers.scalar()
    assert s[4] == 5
    assert s[12] == s[13] == ALL
    with pytest.raises(FormatError, match="0x0: v_movrels_b32: v100 is above the 64 VGPRs"):
        run("v_movrels_b32 v4, v10", scalar={M0: 90})


def test_subvector_loop_runs_both_halves() -> None:
    program = """
        s_subvector_loop_begin s4, L0_end
    L0:
        s_add_u32 s5, s5, 1
        v_mov_b32 v4, s5
        s_subvector_loop_end s4, L0
    L0_end:
        s_nop 0
    """
    registers = run(program, wave=64).registers
    assert list(registers.vector()[4]) == [1] * 32 + [2] * 32
    assert registers.scalar()[EXEC] == registers.scalar()[EXEC + 1] == ALL


def test_inactive_lanes_keep_their_registers() -> None:
    v = run("v_mov_b32 v4, 1 / v_add_f64 v[6:7], v[6:7], v[6:7]", execute=0b101, vector={4: 9, 7: 0x3FF00000}).registers
    assert list(v.vector()[4][:4]) == [1, 9, 1, 9]
    assert list(v.vector()[7][:2]) == [0x40000000, 0x3FF00000]

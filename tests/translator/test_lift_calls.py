# SPDX-License-Identifier: MIT
"""Calls and jumps to addresses in registers, and what hardware registers hold: translated, against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from assembler import assemble
from observe import Case, case
from test_translate import agree, program_of

from guestgpu import translation
from guestgpu.device import Device
from guestgpu.errors import FormatError, Unsupported
from guestgpu.interpreter import Program, interpret

HERE = "s_getpc_b64 s[{0}:{1}]\n{2}_pc:\ns_add_u32 s{0}, s{0}, {2}-{2}_pc\ns_addc_u32 s{1}, s{1}, 0\n"


def address_of(label: str, pair: int) -> str:
    """Code that puts the address of a label into a pair of scalars; the label stands behind it."""
    return HERE.format(pair, pair + 1, label)


# Each counts in s8 and s9 what it has run through, so that a wrong way is seen.
CALL_TWICE = f"""
    s_mov_b32 s8, 1
    {address_of("f", 20)}
    s_swappc_b64 s[30:31], s[20:21]
    s_mul_i32 s8, s8, 10
    s_swappc_b64 s[30:31], s[20:21]
    s_branch L0
f:  s_add_u32 s8, s8, 7
    s_setpc_b64 s[30:31]
L0: s_add_u32 s8, s8, 1000
"""
DIRECT_CALL = """
    s_mov_b32 s8, 1
    s_call_b64 s[30:31], f
    s_mul_i32 s8, s8, 10
    s_call_b64 s[30:31], f
    s_branch L0
f:  s_add_u32 s8, s8, 7
    s_setpc_b64 s[30:31]
L0: s_add_u32 s8, s8, 1000
"""
NESTED = f"""
    s_mov_b32 s8, 1
    {address_of("outer", 20)}
    {address_of("inner", 22)}
    v_mov_b32 v40, 0
    s_swappc_b64 s[30:31], s[20:21]
    s_add_u32 s8, s8, 5
    s_swappc_b64 s[30:31], s[20:21]
    s_branch L0
outer: v_writelane_b32 v40, s30, 3
    v_writelane_b32 v40, s31, 4
    s_swappc_b64 s[30:31], s[22:23]
    s_mul_i32 s8, s8, 3
    s_swappc_b64 s[30:31], s[22:23]
    v_readlane_b32 s30, v40, 3
    v_readlane_b32 s31, v40, 4
    s_setpc_b64 s[30:31]
inner: s_add_u32 s8, s8, 11
    s_setpc_b64 s[30:31]
L0: s_nop 0
"""
TABLE = f"""
    s_mov_b32 s9, 0
    s_mov_b32 s10, 0
    {address_of("case_a", 20)}
    {address_of("case_b", 22)}
    {address_of("case_c", 24)}
L0: s_cmp_eq_u32 s9, 1
    s_cselect_b64 s[26:27], s[20:21], s[22:23]
    s_cmp_lt_u32 s9, 2
    s_cselect_b32 s26, s26, s24
    s_cselect_b32 s27, s27, s25
    s_setpc_b64 s[26:27]
case_a: s_add_u32 s10, s10, 1
    s_branch next
case_b: s_add_u32 s10, s10, 100
    s_branch next
case_c: s_add_u32 s10, s10, 10000
next: s_add_u32 s9, s9, 1
    s_cmp_lt_u32 s9, 5
    s_cbranch_scc1 L0
"""
SWAPS_ITSELF = f"""
    s_mov_b32 s8, 0
    {address_of("there", 20)}
    s_swappc_b64 s[20:21], s[20:21]
    s_add_u32 s8, s8, 1
    s_branch L0
there: s_add_u32 s8, s8, 16
    s_setpc_b64 s[20:21]
L0: s_nop 0
"""
WAYS = {"twice": CALL_TWICE, "direct": DIRECT_CALL, "nested": NESTED, "table": TABLE, "swaps_itself": SWAPS_ITSELF}
RIGHT = {"twice": 1087, "direct": 1087, "nested": 200, "table": 0, "swaps_itself": 17}


def way(name: str, wave: int = 32) -> Case:
    return case(WAYS[name], wave=wave, scalars=[8, 9, 10], vectors=[0])


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("name", WAYS)
def test_jumps_by_register(name: str, wave: int, device: Device) -> None:
    made = way(name, wave)
    assert int(made.interpreted().scalar[8][0]) == RIGHT[name]
    agree(made, device)


def test_a_jump_with_one_target_is_a_jump() -> None:
    """No comparison of addresses: nothing else can come."""
    text = f"{address_of('f', 20)} s_mov_b32 s8, 1\n s_setpc_b64 s[20:21]\n s_endpgm\nf: s_endpgm\n"
    assert "branch" not in translation.ir(program_of(text.replace("f", "L0")))


def test_a_jump_with_two_targets_compares_once() -> None:
    text = translation.ir(way("twice").program)
    assert text.count("    branch ") == 1


SAVED = f"""
    s_mov_b32 s8, 2
    {address_of("f", 20)}
    s_swappc_b64 s[30:31], s[20:21]
    s_mul_i32 s8, s8, 10
    s_swappc_b64 s[30:31], s[20:21]
    s_branch L0
f:  v_mov_b32 v1, s30
    v_mov_b32 v2, s31
    v_mov_b32 v3, 0
    global_store_dwordx2 v3, v[1:2], s[92:93]
    s_add_u32 s8, s8, 7
    s_waitcnt vmcnt(0)
    s_load_dwordx2 s[30:31], s[92:93], 0x{{0:x}}
    s_waitcnt lgkmcnt(0)
    s_setpc_b64 s[30:31]
L0: s_nop 0
"""


def test_a_return_address_may_go_through_memory(device: Device) -> None:
    made = case(SAVED.format(0), scalars=[8])
    assert int(made.interpreted().scalar[8][0]) == 97
    agree(made, device)


def test_a_wave_that_jumps_elsewhere_stops_and_is_counted(device: Device) -> None:
    made = case(SAVED.format(8), scalars=[8])  # where nothing was stored: address 0
    program = Program(**{**vars(made.program), "address": 0x4000})
    windows = made.windows()
    counters = translation.run(device, program, translation.translate(program), windows)
    assert (counters.reads_outside, counters.writes_outside) == (0, 1)
    with pytest.raises(FormatError, match="jumps to address 0x0"):
        interpret(program, made.windows())


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("s_load_dwordx2 s[4:5], s[0:1], 0x0 / s_swappc_b64 s[6:7], s[4:5] / s_endpgm", Unsupported,
         "offset 0x8: s_swappc_b64 goes to an address that is not found"),
        ("s_load_dwordx2 s[4:5], s[0:1], 0x0 / s_setpc_b64 s[4:5] / s_endpgm", Unsupported,
         "offset 0x8: s_setpc_b64 goes to an address that is not found"),
        ("s_mov_b64 s[4:5], 64 / s_setpc_b64 s[4:5] / s_endpgm", FormatError,
         "offset 0x4: s_setpc_b64 jumps outside the program"),
        ("s_rfe_b64 s[4:5] / s_endpgm", Unsupported, "offset 0x0: s_rfe_b64: it belongs to the trap handler"),
    ],
)  # fmt: skip
def test_what_is_not_found_is_named(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        translation.translate(program_of(text))


# ---- hardware registers ----

DENORMAL, NORMAL = 0x00012345, 0x3F800000
MODES = """
    v_mov_b32 v1, 0x12345
    s_denorm_mode 0
    v_add_f32 v2, 0, v1
    s_denorm_mode 15
    v_add_f32 v3, 0, v1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    v_add_f32 v4, 0, v1
    s_mov_b32 s4, 3
    s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s4
    v_add_f32 v5, 0, v1
    s_getreg_b32 s5, hwreg(HW_REG_MODE, 4, 4)
    s_cmp_eq_u32 s5, 15
    s_cbranch_scc1 L0
    s_denorm_mode 0
    v_add_f32 v6, 0, v1
    s_denorm_mode 15
L0: v_add_f32 v7, 0, v1
    s_getreg_b32 s6, hwreg(HW_REG_STATUS, 0, 1)
    s_mov_b32 vcc_lo, 0
    s_mov_b32 vcc_hi, 0
    s_getreg_b32 s7, hwreg(HW_REG_STATUS)
    s_getreg_b32 s8, hwreg(HW_REG_SH_MEM_BASES)
    s_mov_b32 s9, 0x12345678
    s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s9
    s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI, 4, 8), s9
    s_getreg_b32 s9, hwreg(HW_REG_FLAT_SCR_LO, 8, 16)
    s_getreg_b32 s10, hwreg(HW_REG_FLAT_SCR_HI)
"""


def test_mode_changes_on_the_way(device: Device) -> None:
    made = case(MODES, scalars=range(5, 11), vectors=[2, 3, 4, 5, 7])
    seen = made.interpreted()
    assert [int(seen.vector[n][0, 0]) for n in (2, 3, 4, 5, 7)] == [0, DENORMAL, 0, DENORMAL, DENORMAL]
    assert [int(seen.scalar[n][0]) for n in range(5, 11)] == [15, 1, 1 | 1 << 10, 0x20001, 0x3456, 0x780]
    agree(made, device)


def test_a_loop_keeps_its_mode(device: Device) -> None:
    """The loop's head is reached twice with one mode, which its body changes and sets back."""
    text = """
        v_mov_b32 v1, 0x12345
        v_mov_b32 v2, 0
        s_mov_b32 s4, 0
    L0: v_add_f32 v2, v1, v2
        s_denorm_mode 0
        v_add_f32 v3, v1, v2
        s_denorm_mode 15
        s_add_u32 s4, s4, 1
        s_cmp_lt_u32 s4, 3
        s_cbranch_scc1 L0
    """
    made = case(text, vectors=[2, 3])
    assert [int(made.interpreted().vector[n][0, 0]) for n in (2, 3)] == [3 * DENORMAL, 0]
    agree(made, device)


CONFLICT = """
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 L0
    s_denorm_mode 0
L0: {0}
    s_endpgm
"""


def test_a_mode_that_is_not_known_is_refused_where_it_matters() -> None:
    translation.translate(program_of(CONFLICT.format("v_add_nc_u32 v1, v1, v0")))
    translation.translate(program_of(CONFLICT.format("s_denorm_mode 15\nv_add_f32 v1, v1, v0")))
    with pytest.raises(Unsupported, match="offset 0xc: v_add_f32 is not translated: MODE differs"):
        translation.translate(program_of(CONFLICT.format("v_add_f32 v1, v1, v0"), rsrc1=0xF0 << 12))
    unknown = "s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s3"  # on one way only; the other has the bits that are guessed
    with pytest.raises(Unsupported, match="offset 0xc: v_add_f32 is not translated: MODE differs"):
        translation.translate(program_of(CONFLICT.replace("s_denorm_mode 0", unknown).format("v_add_f32 v1, v1, v0")))
    computed = "s_lshl_b32 s4, 3, 0 / s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s4 / v_add_f32 v1, v1, v0 / s_endpgm"
    with pytest.raises(Unsupported, match="offset 0x8: v_add_f32 is not translated: MODE differs"):
        translation.translate(program_of(computed))
    text = CONFLICT.format("s_getreg_b32 s4, hwreg(HW_REG_MODE)")
    with pytest.raises(Unsupported, match="offset 0xc: s_getreg_b32 is not translated: MODE differs"):
        translation.translate(program_of(text, rsrc1=0xF0 << 12))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("s_getreg_b32 s4, hwreg(HW_REG_HW_ID1)", "s_getreg_b32 is not translated: a hardware register"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS), 0", "s_setreg_imm32_b32 is not translated: a hardware register"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1", "s_setreg_imm32_b32 is not translated: FP16_OVFL"),
        ("s_mov_b32 s4, src_pops_exiting_wave_id", "s_mov_b32 is not translated: a source that is not known"),
    ],
)
def test_other_hardware_registers_are_named(text: str, why: str) -> None:
    with pytest.raises(Unsupported, match=f"offset 0x0: {why}"):
        translation.translate(program_of(f"{text} / s_endpgm"))


def test_apertures_and_lds_as_a_source(device: Device) -> None:
    text = """
        s_mov_b64 s[4:5], src_shared_base
        s_mov_b32 s6, src_private_limit
        s_mov_b64 s[8:9], src_private_limit
        v_mov_b32 v1, 0x89abcdef
        v_mov_b32 v2, 8
        ds_write_b32 v2, v1
        s_waitcnt lgkmcnt(0)
        s_mov_b32 m0, 0x20008
        v_mov_b32 v3, src_lds_direct
        s_mov_b32 m0, 0x0000b
        v_mov_b32 v4, src_lds_direct
        s_mov_b32 m0, 0x5000a
        v_mov_b32 v5, src_lds_direct
    """
    made = case(text, scalars=[4, 5, 6, 8, 9], vectors=[3, 4, 5], lds_bytes=64)
    seen = made.interpreted()
    assert [int(seen.scalar[n][0]) for n in (4, 5, 6, 8, 9)] == [0, 0x20000, 0x10000, 0xFFFFFFFF, 0x10000]
    assert [int(seen.vector[n][0, 0]) for n in (3, 4, 5)] == [0x89ABCDEF, 0x89, 0xFFFF89AB]
    agree(made, device)


def test_flat_scratch_begins_with_the_waves_own(device: Device) -> None:
    """Each wave's part of scratch, and what FLAT finds by its two apertures."""
    text = """
        v_add_nc_u32 v1, 100, v0
        scratch_store_dword off, v1, off offset:8
        v_mov_b32 v2, 8
        v_mov_b32 v3, 0x10000
        s_waitcnt vmcnt(0)
        flat_load_dword v4, v[2:3]
        flat_load_dwordx2 v[10:11], v[2:3]
        v_mov_b32 v3, 0x20000
        v_mul_u32_u24 v5, 3, v0
        v_lshl_add_u32 v2, v0, 2, 0
        s_lshl_b32 s4, s2, 7
        v_add_nc_u32 v2, s4, v2
        flat_store_dword v[2:3], v5
        s_waitcnt vmcnt(0) lgkmcnt(0)
        flat_atomic_add v6, v[2:3], v1 glc
        s_waitcnt vmcnt(0) lgkmcnt(0)
        ds_read_b32 v7, v2
        v_mov_b32 v8, 6
        scratch_store_byte v8, v0, off offset:3
        scratch_load_dwordx2 v[8:9], v8, off offset:2
        s_waitcnt vmcnt(0) lgkmcnt(0)
    """
    scratch = 0x5_0000_0000
    made = case(text, vectors=[4, 6, 7, 8, 9, 10, 11], lds_bytes=512, waves=2)
    program = Program(**{**vars(made.program), "scratch_address": scratch, "scratch_bytes": 32})
    results = []
    for run_it in (interpret, lambda p, w: translation.run(device, p, translation.translate(p), w)):
        windows = {**made.windows(), scratch: np.arange(2 * 32 * 8, dtype=np.uint32)}
        report = run_it(program, windows)
        assert (report.reads_outside, report.writes_outside) == (0, 0)
        results.append([array.copy() for array in windows.values()])
    assert results[0][2][32 * 8 + 2 * 32] == 100  # of wave 1, lane 0, its dword 2
    for wanted, got in zip(*results, strict=True):
        assert np.array_equal(got, wanted)


def test_words_of_the_program_stand_at_its_address(device: Device) -> None:
    """Return addresses count from the program's address."""
    words = assemble("s_getpc_b64 s[4:5] / s_add_u32 s4, s4, 16 / s_addc_u32 s5, s5, 0 / s_setpc_b64 s[4:5]"
                     " / s_trap 1 / s_endpgm")  # fmt: skip
    translation.translate(Program(words=words, vgprs=8, threads=(32,), address=0x7_0000_0100))


def test_groups_with_scratch_run_one_after_the_other(device: Device) -> None:
    """They have the same scratch: at once, one would read what another has stored."""
    text = """s_mul_i32 s5, s4, 3
        s_add_u32 s5, s5, s3
        s_lshl_b32 s5, s5, 3
        s_add_u32 s5, s5, s2
        v_lshl_add_u32 v1, s5, 5, v0
        scratch_store_dword off, v1, off
        s_movk_i32 s4, 2000
        L0: s_sub_u32 s4, s4, 1
        s_cmp_lg_u32 s4, 0
        s_cbranch_scc1 L0
        scratch_load_dword v2, off, off
        s_waitcnt vmcnt(0)
        v_lshlrev_b32 v3, 2, v1
        global_store_dword v3, v2, s[0:1]
        s_endpgm"""
    out, scratch, groups = 0x1_0000_0000, 0x5_0000_0000, (8, 3, 2)
    program = Program(words=assemble(text, 32), vgprs=8, threads=(32,), rsrc2=2 << 1 | 7 << 7, user_data=(0, 1),
                      scratch_address=scratch, scratch_bytes=4)  # fmt: skip
    for lanes in translation.lane_choices(program, device):
        module = translation.translate(program, translation.options_for(device, 32, lanes))
        assert module.report.groups_at_once == 1
        windows = {out: np.zeros(48 * 32, np.uint32), scratch: np.zeros(32, np.uint32)}
        translation.run(device, program, module, windows, groups)
        assert np.array_equal(windows[out], np.arange(48 * 32, dtype=np.uint32))
    assert translation.translate(Program(words=assemble("s_endpgm", 32))).report.groups_at_once == 0

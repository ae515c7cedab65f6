# SPDX-License-Identifier: MIT
"""Translated on a device as interpreted: lanes by patterns, relative moves, bits, buffers by descriptors, atomics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from assembler import assemble
from numpy.typing import NDArray

from guestgpu import translation
from guestgpu.device import Device
from guestgpu.interpreter import Program, interpret

pytestmark = pytest.mark.slow  # a device without hardware compiles for long

Words = NDArray[np.uint32]

OUT, DATA = 0x1_2345_0000, 0xFFFF_FFF7_0000_1000
"""Windows: results, and what the programs read and write; the second in the upper half, where bit 47 is set."""
ROWS = 8
"""Rows of random dwords, one a lane, that stand in v1 to v8; the last four are small numbers."""

Step = tuple[str, Sequence[str]]
"""Instructions, and the registers to look at after them."""


def program_of(steps: Sequence[Step], wave: int, lds_bytes: int = 0) -> tuple[Program, int]:
    """The program, and how many rows it stores: one a vector register, then one of all scalars, a lane each.

    v0 is the lane, s[0:1] and s[2:3] the windows' addresses. Before each step EXEC is all, M0 2, and v10 to v17 are
    110 to 117; v56 to v63 and s[90:93] are not the steps'.
    """
    every = "s_mov_b64 exec, -1" if wave == 64 else "s_mov_b32 exec_lo, -1"
    lines = ["s_mov_b64 s[90:91], s[0:1]", "s_mov_b64 s[92:93], s[2:3]", "v_lshlrev_b32 v63, 2, v0"]
    for row in range(ROWS):
        lines += [f"v_add_nc_u32 v62, {4 * wave * row}, v63", f"global_load_dword v{1 + row}, v62, s[2:3]"]
    slot = scalars = 0
    for text, registers in steps:
        lines += [f"v_mov_b32 v{n}, {100 + n}" for n in range(10, 18) if f"v{n}" in text or "rel" in text]
        lines += ["s_movk_i32 m0, 2", *text.split(" / "), every]
        for register in registers:
            if register[0] == "s":
                lines += [f"v_writelane_b32 v60, {register}, {scalars}"]
                scalars += 1
                continue
            lines += [f"v_add_nc_u32 v62, {4 * wave * slot}, v63", f"global_store_dword v62, {register}, s[90:91]"]
            slot += 1
    assert scalars <= wave
    lines += [f"v_add_nc_u32 v62, {4 * wave * slot}, v63", "global_store_dword v62, v60, s[90:91]", "s_endpgm"]
    program = Program(
        words=assemble("\n".join(lines), wave), wave=wave, vgprs=64, threads=(wave,), lds_bytes=lds_bytes,
        rsrc1=0xF0 << 12, rsrc2=4 << 1, user_data=(OUT & 0xFFFFFFFF, OUT >> 32, DATA & 0xFFFFFFFF, DATA >> 32),
    )  # fmt: skip
    return program, slot + 1


CHUNK = 3
"""Steps of a program: a software device's compile time grows faster than the program."""


def agree(
    steps: Sequence[Step],
    wave: int,
    device: Device,
    lds_bytes: int = 0,
    data_words: int = 4096,
    chunk: int = CHUNK,
    choice: int | None = None,
) -> None:
    """Registers and data after the steps, and accesses outside the windows, are the interpreter's.

    choice: of translation.lane_choices(); None: any.
    """
    for first in range(0, len(steps), chunk):
        chunk_agrees(steps[first : first + chunk], wave, device, lds_bytes, data_words, choice)


def chunk_agrees(
    steps: Sequence[Step], wave: int, device: Device, lds_bytes: int, data_words: int, choice: int | None
) -> None:
    program, slots = program_of(steps, wave, lds_bytes)
    rng = np.random.default_rng(wave)
    data = rng.integers(0, 1 << 32, data_words, dtype=np.uint32)
    data[4 * wave : ROWS * wave] %= 200
    wanted = {OUT: np.zeros(slots * wave, np.uint32), DATA: data.copy()}
    got = {OUT: np.zeros(slots * wave, np.uint32), DATA: data.copy()}
    report = interpret(program, wanted)
    choices = translation.lane_choices(program, device)
    lanes = choices[len(steps[0][0]) % len(choices) if choice is None else choice]
    options = translation.options_for(device, wave, lanes)
    counters = translation.run(device, program, translation.translate(program, options), got)
    want, have = wanted[OUT].reshape(slots, wave), got[OUT].reshape(slots, wave)
    slot = scalars = 0
    for text, registers in steps:
        for register in registers:
            at = (slots - 1, scalars) if register[0] == "s" else slot
            assert np.array_equal(have[at], want[at]), f"{text}: {register} is\n{have[at]}, not\n{want[at]}"
            slot, scalars = slot + (register[0] == "v"), scalars + (register[0] == "s")
    different = np.flatnonzero(wanted[DATA] != got[DATA])
    assert not len(different), f"data words {different[:16]} differ"
    assert (counters.reads_outside, counters.writes_outside) == (report.reads_outside, report.writes_outside)


HALF = "s_mov_b32 exec_lo, 0x33333333 / "
"""Some lanes off."""
SELECTS = "s_mov_b32 s4, 0x01274563 / s_mov_b32 s5, 0xfedc9b8a / "

PATTERNS: list[Step] = [
    *(
        (f"{off}{SELECTS}v_permlane{x}16_b32 v10, v1, s4, s5{modifiers}", ["v10"])
        for off in ("", HALF) for x in ("", "x") for modifiers in ("", " op_sel:[0,1]", " op_sel:[1,0]")
    ),
    *(
        (f"{off}ds_swizzle_b32 v10, v1 offset:0x{offset:x}", ["v10"])
        for off in ("", HALF)
        for offset in (0x401F, 0x041F, 0x7C1F, 0x00A5, 0x1234, 0x80E4, 0x801B, 0xC060, 0xC470, 0xE000, 0xE01F, 0xE003)
    ),
    *(
        (f"{off}ds_{direction}permute_b32 v10, {lanes}, v1 offset:{offset}", ["v10"])
        for off in ("", HALF) for direction in ("", "b") for lanes in ("v2", "v5", "v63") for offset in (0, 8)
    ),
    ("v_swap_b32 v10, v11", ["v10", "v11"]),
    (HALF + "v_swap_b32 v10, v1 / v_swap_b32 v10, v1", ["v10", "v1"]),
]  # fmt: skip

RELATIVE: list[Step] = [
    ("v_movrels_b32 v10, v11", ["v10"]),
    (HALF + "v_movreld_b32 v10, v1", ["v10", "v11", "v12", "v13"]),
    ("v_movreld_b32 v11, 5", ["v11", "v12", "v13"]),
    ("s_mov_b32 m0, 5 / v_movrelsd_b32 v10, v11", ["v10", "v15", "v16"]),
    ("s_mov_b32 m0, 0x30004 / v_movrelsd_2_b32 v10, v1", ["v10", "v13", "v14"]),
    (HALF + "s_mov_b32 m0, 0x30001 / v_swaprel_b32 v10, v11", ["v10", "v11", "v12", "v13"]),
    ("s_mov_b32 s6, 6 / s_mov_b32 s7, 7 / s_mov_b32 s8, 8 / s_movrels_b32 s5, s6", ["s5"]),
    ("s_movrels_b64 s[10:11], s[6:7]", ["s10", "s11"]),
    ("s_movreld_b32 s6, 99", ["s6", "s7", "s8"]),
    ("s_movreld_b64 s[6:7], -1", ["s6", "s7", "s8", "s9"]),
    ("s_mov_b32 m0, 0x10002 / s_movrelsd_2_b32 s10, s6", ["s10", "s11", "s12"]),
]


def bit_steps() -> list[Step]:
    values = [0, 0x80000000, 0xFFFFFFFF, 0x00F00100, 0x12345678]
    steps: list[Step] = []
    scc = "s_cselect_b32 s9, 1, 0"
    for i, low in enumerate(values):
        high = values[(3 * i + 2) % len(values)]
        load = f"s_mov_b32 s4, 0x{low:x} / s_mov_b32 s5, 0x{high:x} / s_mov_b32 s6, 0 / s_mov_b32 s7, -1 / "
        for op in ("wqm", "quadmask"):
            steps.append((f"{load}s_{op}_b32 s6, s4 / {scc}", ["s6", "s9"]))
            steps.append((f"{load}s_{op}_b64 s[6:7], s[4:5] / {scc}", ["s6", "s7", "s9"]))
        steps.append((f"{load}s_bitreplicate_b64_b32 s[6:7], s4", ["s6", "s7"]))
        steps.append((f"{load}s_flbit_i32_i64 s6, s[4:5]", ["s6"]))
        steps.append((f"{load}s_bfm_b64 s[6:7], {(37 * i) % 64}, {(11 * i + 3) % 64}", ["s6", "s7"]))
        steps.append((f"{load}s_bitset0_b64 s[6:7], {(37 * i) % 64}", ["s6", "s7"]))
        steps.append((f"{load}s_bitset1_b64 s[6:7], {(37 * i + 5) % 64}", ["s6", "s7"]))
        for width, offset in ((0, 5), (8, 28), (64, 0), (40, 40)):
            for sign in "ui":
                text = f"{load}s_bfe_{sign}64 s[6:7], s[4:5], 0x{width << 16 | offset:x} / {scc}"
                steps.append((text, ["s6", "s7", "s9"]))
    steps.append(("v_mad_i64_i32 v[10:11], s[4:5], v1, v2, v[3:4]", ["v10", "v11", "s4"]))
    steps.append(("v_mov_b32 v12, -1 / v_mov_b32 v13, -1 / v_mad_i64_i32 v[10:11], s[4:5], v1, v5, v[12:13]",
                  ["v10", "v11", "s4"]))  # fmt: skip
    return steps


@pytest.mark.parametrize("wave", [32, 64])
def test_patterns(wave: int, device: Device) -> None:
    steps = PATTERNS[wave // 32 - 1 :: 3]
    if wave == 64:  # the upper half differs
        steps = [
            (text.replace(HALF, HALF + "s_mov_b32 exec_hi, 0xff00f0f0 / "), registers) for text, registers in steps
        ]
    agree(steps, wave, device)


@pytest.mark.parametrize("wave", [32, 64])
def test_relative_moves(wave: int, device: Device) -> None:
    agree(RELATIVE, wave, device)


def test_bits(device: Device) -> None:
    steps = bit_steps()
    agree(steps, 64, device)


def descriptor(stride: int, records: int, check: int, swizzle: int = 0, add_thread: int = 0, form: int = 0) -> str:
    """s[12:15]: a V# of the data window, with INDEX_STRIDE 8 << (swizzle - 1), dst_sel x, y, z, w."""
    word3 = check << 28 | add_thread << 23 | max(swizzle - 1, 0) << 21 | form << 12 | 0xFAC
    high = (1 << 31 if swizzle else 0) | stride << 16
    return (
        f"s_mov_b32 s12, s2 / s_and_b32 s13, s3, 0xffff / s_or_b32 s13, s13, 0x{high:x}"
        f" / s_mov_b32 s14, {records} / s_mov_b32 s15, 0x{word3:x} / "
    )


DESCRIPTORS = [
    descriptor(0, 700, 3), descriptor(0, 701, 3), descriptor(12, 60, 0), descriptor(12, 60, 1), descriptor(12, 1, 2),
    descriptor(12, 0, 2), descriptor(0, 100, 0), descriptor(12, 500, 3), descriptor(12, 60, 0, swizzle=1),
    descriptor(20, 100, 3, swizzle=2), descriptor(8, 50, 1, swizzle=4), descriptor(16, 40, 0, add_thread=1),
    descriptor(16, 40, 3, swizzle=1, add_thread=1),
]  # fmt: skip
ADDRESSES = ["off, s[12:15], 4 offset:8", "v5, s[12:15], s6 offen offset:4", "v5, s[12:15], 0 idxen",
             "v[5:6], s[12:15], s6 idxen offen offset:1"]  # fmt: skip


def load_steps() -> list[Step]:
    loads = ["dword", "dwordx2", "dwordx4", "dwordx3", "ubyte", "sshort", "sbyte_d16_hi", "short_d16", "ushort"]
    steps = []
    for i, words in enumerate(DESCRIPTORS):
        for j, address in enumerate(ADDRESSES):
            load = loads[(i + 3 * j) % len(loads)]
            last = {"dwordx2": 11, "dwordx3": 12, "dwordx4": 13}.get(load, 10)
            data = "v10" if last == 10 else f"v[10:{last}]"
            text = f"s_mov_b32 s6, 16 / {words}buffer_load_{load} {data}, {address}"
            steps.append((text, [f"v{n}" for n in range(10, last + 1)]))
    tfe = f"{HALF}{DESCRIPTORS[0]}buffer_load_dwordx2 v[10:12], v5, s[12:15], 0 offen tfe"
    return [*steps, (tfe, ["v10", "v12"])]


@pytest.mark.parametrize("wave", [32, 64])
def test_buffer_loads(wave: int, device: Device) -> None:
    agree(load_steps()[wave // 32 - 1 :: 6], wave, device)


@pytest.mark.deep
@pytest.mark.parametrize("wave", [32, 64])
def test_every_pattern(wave: int, device: Device) -> None:
    agree(PATTERNS, wave, device)


@pytest.mark.deep
def test_every_buffer_load(device: Device) -> None:
    agree(load_steps(), 32, device)


def test_buffer_stores(device: Device) -> None:
    """Each lane to its own place: what several lanes store to one address is anybody's."""
    steps: list[Step] = []
    address = "v0, s[12:15], s6 idxen offset:1024"
    for i, words in enumerate([descriptor(16, 1 << 14, 3), descriptor(16, 40, 0), descriptor(16, 20, 1),
                               descriptor(16, 24, 1, swizzle=1), descriptor(16, 1500, 3)]):  # fmt: skip
        base = f"s_mov_b32 s6, {2048 * i} / {words}"
        steps.append((base + f"{HALF}buffer_store_dwordx4 v[1:4], {address}", []))
        steps.append((base + f"buffer_store_byte v5, {address} offset:1029".replace("offset:1024 ", ""), []))
        steps.append((base + f"buffer_store_short_d16_hi v1, {address} offset:1034".replace("offset:1024 ", ""), []))
    agree(steps, 32, device)


def test_scalar_buffer_loads(device: Device) -> None:
    steps: list[Step] = []
    for words in (descriptor(0, 103, 3), descriptor(20, 7, 0), descriptor(0x3FFF, 0xFFFFFF, 0)):
        for size, offset in ((1, "0x8"), (1, "0x60"), (4, "0x58"), (2, "0x85"), (1, "s6"), (1, "s8")):
            last = 20 + size - 1
            data = "s20" if size == 1 else f"s[20:{last}]"
            name = "s_buffer_load_dword" + (f"x{size}" if size > 1 else "")
            text = f"{words}s_mov_b32 s6, 0x63 / s_mov_b32 s8, -4 / {name} {data}, s[12:15], {offset}"
            steps.append((text + " / s_waitcnt lgkmcnt(0)", [f"s{n}" for n in range(20, last + 1)]))
    agree(steps, 32, device)


def test_atomics(device: Device) -> None:
    """Each lane in its own dword, where the results follow from the order of nothing."""
    steps: list[Step] = []
    for name in ("add", "sub", "smin", "umax", "and", "xor", "swap", "inc", "dec", "csub"):
        steps.append((f"{HALF}global_atomic_{name} v10, v63, v5, s[2:3] offset:1024 glc", ["v10"]))
    buffer = descriptor(4, 24, 0)
    for name in ("umin", "or", "inc", "dec", "csub"):
        steps.append((f"{buffer}buffer_atomic_{name} v6, v0, s[12:15], 0 idxen offset:1280 glc", ["v6"]))
        buffer = descriptor(4, 1400, 3)
    pair = "v_mov_b32 v10, v5 / global_load_dword v11, v63, s[2:3] offset:1536 / "
    for half in ("", HALF):
        swap = "global_atomic_cmpswap v12, v63, v[10:11], s[2:3] offset:1536 glc"
        steps.append((f"{pair}v_add_nc_u32 v11, v11, v0 / {half}{swap}", ["v12"]))
    steps.append((pair + "buffer_atomic_cmpswap v[10:11], v0, s[12:15], 0 idxen offset:1536 glc", ["v10"]))
    for name in ("add", "sub", "and", "or", "xor"):
        steps.append((f"v_lshlrev_b32 v10, 3, v0 / global_atomic_{name}_x2 v10, v[1:2], s[2:3] offset:1024", []))
    small = "v_cvt_f32_u32 v10, v5 / v_cvt_f32_u32 v11, v6 / global_store_dword v63, v11, s[2:3] offset:1664 / "
    for name in ("fmin", "fmax"):
        steps.append((small + f"global_atomic_{name} v12, v63, v10, s[2:3] offset:1664 glc", ["v12"]))
    agree(steps, 32, device)


def test_lds(device: Device) -> None:
    fill = "ds_write_b32 v63, v8 offset:128 / ds_write_b32 v63, v8 offset:256 / "
    lds = f"v_mov_b32 v10, v5 / v_mov_b32 v11, v6 / ds_write_b32 v63, v7 / {fill}"
    steps: list[Step] = []
    for name in ("inc_rtn_u32", "dec_rtn_u32", "rsub_rtn_u32", "add_rtn_u32"):
        steps.append((f"{lds}{HALF}ds_{name} v12, v63, v10 / ds_read_b32 v13, v63", ["v12", "v13"]))
    for name in ("mskor_rtn_b32", "cmpst_rtn_b32", "wrap_rtn_b32"):
        steps.append((f"{lds}ds_{name} v12, v63, v10, v11 / ds_read_b32 v13, v63", ["v12", "v13"]))
    steps.append((f"{lds}v_mov_b32 v10, v7 / ds_cmpst_rtn_b32 v12, v63, v10, v11 / ds_read_b32 v13, v63", ["v13"]))
    floats = lds + "v_cvt_f32_u32 v10, v5 / v_cvt_f32_u32 v12, v7 / ds_write_b32 v63, v12 / "
    for name in ("min_rtn_f32", "max_rtn_f32", "add_rtn_f32"):
        steps.append((f"{floats}ds_{name} v12, v63, v10 / ds_read_b32 v13, v63", ["v12", "v13"]))
    steps.append((f"{floats}v_mov_b32 v11, v10 / ds_cmpst_rtn_f32 v13, v63, v12, v11 / ds_read_b32 v12, v63", ["v12"]))
    pair = "v_lshlrev_b32 v12, 3, v0 / ds_write_b64 v12, v[1:2] / "
    for name in ("add_u64", "sub_u64", "or_b64"):
        steps.append((f"{pair}ds_{name} v12, v[3:4] / ds_read_b64 v[13:14], v12", ["v13", "v14"]))
    steps.append((f"{lds}ds_wrxchg2_rtn_b32 v[12:13], v63, v10, v11 offset0:2 offset1:40 / ds_read_b32 v14, v63",
                  ["v12", "v13", "v14"]))  # fmt: skip
    steps.append((f"{lds}s_mov_b32 m0, 16 / {HALF}ds_append v12 offset:4 / ds_consume v13 offset:4 / ds_append v14",
                  ["v12", "v13", "v14"]))  # fmt: skip
    steps.append((f"{lds}s_mov_b32 m0, 64 / ds_read_addtid_b32 v12 offset:4 / ds_write_addtid_b32 v10 offset:8"
                  " / ds_read_b32 v13, v63 offset:72", ["v12", "v13"]))  # fmt: skip
    halves = ["u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi", "u16_d16", "u16_d16_hi"]
    loads = " / ".join(f"ds_read_{name} v{10 + i}, v63 offset:{2 * (i % 2)}" for i, name in enumerate(halves))
    stores = "ds_write_b32 v63, v1 / ds_write_b8_d16_hi v63, v2 offset:1 / ds_write_b16_d16_hi v63, v2 offset:2 / "
    steps.append((stores + loads, [f"v{10 + i}" for i in range(6)]))
    memory = ["ubyte_d16", "ubyte_d16_hi", "sbyte_d16", "sbyte_d16_hi", "short_d16", "short_d16_hi"]
    loads = " / ".join(f"global_load_{name} v{10 + i}, v63, s[2:3] offset:{i}" for i, name in enumerate(memory))
    stores = (
        "global_store_byte_d16_hi v63, v2, s[2:3] offset:1025 / global_store_short_d16_hi v63, v2, s[2:3] offset:1026"
    )
    steps.append((f"{loads} / {stores}", [f"v{10 + i}" for i in range(6)]))
    by_lane = "global_load_dword_addtid v10, s[2:3] offset:256 / global_store_dword_addtid v10, s[2:3] offset:1664"
    steps.append((by_lane, ["v10"]))
    agree(steps, 32, device, lds_bytes=512)


def test_atomics_of_floats_follow_mode(device: Device) -> None:
    """Two denormals of different signs; then a signalling NaN in IEEE mode."""
    steps: list[Step] = []
    for mode in (0, 5, 0xA, 0xF):
        for name in ("max_rtn_f32", "add_rtn_f32") if mode in (0, 15) else ("min_rtn_f32",):
            for values in ("5 / v_mov_b32 v11, 0x80000003", "0x80000000 / v_mov_b32 v11, 1"):
                text = f"s_denorm_mode {mode} / v_mov_b32 v10, {values} / ds_write_b32 v63, v10"
                steps.append(
                    (f"{text} / ds_{name} v12, v63, v11 / ds_read_b32 v13, v63 / s_denorm_mode 15", ["v12", "v13"])
                )
        text = f"s_denorm_mode {mode} / v_mov_b32 v10, 9 / v_mov_b32 v11, 0 / v_mov_b32 v14, 7 / ds_write_b32 v63, v10"
        steps.append((f"{text} / ds_cmpst_f32 v63, v11, v14 / ds_read_b32 v13, v63 / s_denorm_mode 15", ["v13"]))
    ieee = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), "
    for old, data in (("0x7f800001", "1.0"), ("1.0", "0xff800001"), ("0x7fc00000", "2.0")):
        text = f"{ieee}1 / v_mov_b32 v10, {old} / v_mov_b32 v11, {data} / ds_write_b32 v63, v10 / ds_max_f32 v63, v11"
        steps.append((f"{text} / ds_read_b32 v13, v63 / {ieee}0", ["v13"]))
    agree(steps, 32, device, lds_bytes=512, chunk=4)


def test_carries_into_exec_come_last(device: Device) -> None:
    """The result is of all lanes that were there, the next instruction's of those with a carry."""
    ones = "v_mov_b32 v10, 0 / v_cvt_f64_u32 v[12:13], v5 / v_cvt_f64_u32 v[14:15], v6 / v_mov_b32 v16, -1 / "
    steps = [
        (f"{ones}{op} / v_mov_b32 v10, 1", ["v10", "v12", "v13"])
        for op in (
            "v_div_scale_f64 v[12:13], exec_lo, v[12:13], v[14:15], v[12:13]",
            "v_div_scale_f32 v12, exec_lo, v12, v13, v12",
            "v_add_co_u32 v12, exec_lo, v1, v2",
            "v_sub_co_ci_u32 v12, exec_lo, v1, v2, s4",
            "v_mad_u64_u32 v[12:13], exec_lo, v1, v2, v[12:13]",
        )
    ]
    agree([(f"s_mov_b32 s4, 0x5555aaaa / {text}", seen) for text, seen in steps], 32, device)


@pytest.mark.parametrize("choice", [0, -1])
def test_lds_at_any_byte(device: Device, choice: int) -> None:
    """Compilers have dwords at odd addresses for packed structures; the last lanes reach over the end."""
    at = "v_mul_u32_u24 v9, 21, v0 / "
    clear = "".join(f"ds_write_b32 v63, v{1 + n % 8} offset:{min(128 * n, 532)} / " for n in range(6))
    stores = {
        "b16": ["ds_write_b16 v9, v1", "ds_write_b16 v9, v2 offset:3"],
        "b32": ["ds_write_b32 v9, v1 offset:1", "ds_write_b32 v9, v2 offset:7"],
        "b64": ["ds_write_b64 v9, v[1:2] offset:2", "ds_write2_b32 v9, v3, v4 offset0:2 offset1:3"],
        "b128": ["ds_write_b96 v9, v[1:3] offset:7", "ds_write_b128 v9, v[3:6] offset:4"],
        "two": ["ds_write2_b64 v9, v[1:2], v[3:4] offset0:0 offset1:1"],
    }
    loads = {
        "b16": "ds_read_u16 v10, v9 offset:3 / ds_read_i16 v11, v9 offset:10 / ds_read_u16_d16_hi v12, v9",
        "b32": "ds_read_b32 v10, v9 / ds_read_b32 v11, v9 offset:3 / ds_read_b32 v12, v9 offset:9",
        "b64": "ds_read_b64 v[10:11], v9 offset:5 / ds_read2_b32 v[12:13], v9 offset0:1 offset1:4",
        "b128": "ds_read_b128 v[10:13], v9 offset:2",
        "two": "ds_read2_b64 v[10:13], v9 offset0:0 offset1:1",
    }
    seen = [f"v{n}" for n in range(10, 14)]
    steps = [(f"{at}{clear}{' / '.join(stores[kind])} / {loads[kind]}", seen) for kind in stores]
    agree(steps, 32, device, lds_bytes=21 * 31 + 9, choice=choice)


def typed_steps() -> list[Step]:
    """Every format through the V# or the instruction, at addresses of whole elements."""
    steps: list[Step] = []
    for number in range(1, 78):
        words = descriptor(16, 60, 0, form=number)
        if number % 4 == 0:
            steps.append(
                (f"{words}buffer_load_format_xyzw v[10:13], v0, s[12:15], 0 idxen", ["v10", "v11", "v12", "v13"])
            )
        else:
            text = f"{words}tbuffer_load_format_xyzw v[10:13], v0, s[12:15], 0 format:{number} idxen"
            steps.append((text, ["v10", "v11", "v12", "v13"]))
    return steps


def test_typed_loads(device: Device) -> None:
    agree([*typed_steps()[3::11], typed_steps()[70]], 32, device)


@pytest.mark.deep
def test_every_typed_load(device: Device) -> None:
    agree(typed_steps(), 32, device)

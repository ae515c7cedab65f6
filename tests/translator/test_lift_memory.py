# SPDX-License-Identifier: MIT
"""Typed stores, halves, images, atomics of 64 bits, scalar stores: translated, against the interpreter."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from assembler import assemble
from test_lift_lanes import HALF, Step, agree, descriptor

from guestgpu import translation
from guestgpu.device import Device, validate_spirv
from guestgpu.errors import Unsupported
from guestgpu.interpreter import Gpu, Program, interpret

pytestmark = pytest.mark.slow  # a device without hardware compiles for long

FLOATS = [0.0, 1.0, -1.0, 0.5, -0.25, 1.5, -7.0, 300.25, 70000.0, -1e10, 0.00196, 0.998, 2.0**-20, float("inf"),
          float("nan"), -0.0]  # fmt: skip


def floats(first: int, count: int) -> str:
    """v[first..]: a float of FLOATS in each lane, others in each register, by LDS."""
    lines = []
    for i, value in enumerate(FLOATS):
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        lines += [f"v_mov_b32 v40, 0x{bits:x}", "v_mov_b32 v41, 0", f"ds_write_b32 v41, v40 offset:{4 * i}"]
    for i in range(count):
        lines += [f"v_add_nc_u32 v41, {5 * i}, v0", "v_and_b32 v41, 15, v41", "v_lshlrev_b32 v41, 2, v41",
                  f"ds_read_b32 v{first + i}, v41"]  # fmt: skip
    return " / ".join([*lines, "s_waitcnt lgkmcnt(0)"]) + " / "


WORDS = "v_mov_b32 v20, v1 / v_mov_b32 v21, v2 / v_mov_b32 v22, v5 / v_mov_b32 v23, v3 / "


def store_steps() -> list[Step]:
    """Every format: floats that saturate and round, and whole numbers; through the V# or the instruction."""
    steps: list[Step] = []
    place = "v0, s[12:15], 0"
    for number in range(1, 78):
        words = descriptor(16, 160, 0, form=number)
        kind = "" if number % 3 else "d16_"
        data = "v[20:23]" if not kind else "v[20:21]"
        source = (
            floats(20, 4)
            if number % 2
            else "v_mov_b32 v20, v1 / v_mov_b32 v21, v2 / v_mov_b32 v22, v5 / v_mov_b32 v23, v3 / "
        )
        if kind and number % 2:
            source += "v_cvt_pkrtz_f16_f32 v20, v20, v21 / v_cvt_pkrtz_f16_f32 v21, v22, v23 / "
        if number % 4 == 0:
            steps.append((f"{source}{words}{HALF}buffer_store_format_{kind}xyzw {data}, {place} idxen offset:2048", []))
        else:
            store = f"tbuffer_store_format_{kind}xyzw {data}, {place} format:{number} idxen offset:2048"
            steps.append((f"{source}{words}{store}", []))
    return steps


def half_load_steps() -> list[Step]:
    steps: list[Step] = []
    for number in range(1, 78, 2):
        words = descriptor(16, 60, 0, form=number)
        old = "v_mov_b32 v10, v5 / v_mov_b32 v11, v6 / "
        steps.append((f"{old}{words}tbuffer_load_format_d16_xyz v[10:11], v0, s[12:15], 0 format:{number} idxen",
                      ["v10", "v11"]))  # fmt: skip
    for number in (4, 13, 22, 29, 56, 71):
        words = descriptor(16, 60, 0, form=number)
        steps.append((f"v_mov_b32 v10, v5 / {words}buffer_load_format_d16_hi_x v10, v0, s[12:15], 0 idxen", ["v10"]))
        text = f"{words}buffer_store_format_d16_hi_x v1, v0, s[12:15], 0 idxen offset:2048"
        steps.append((text, []))
    return steps


def test_typed_stores(device: Device) -> None:
    agree(store_steps()[2::9], 32, device, lds_bytes=64)


def test_typed_halves(device: Device) -> None:
    agree(half_load_steps()[1::9], 32, device)


@pytest.mark.deep
def test_every_typed_store(device: Device) -> None:
    agree(store_steps(), 32, device, lds_bytes=64)


@pytest.mark.deep
def test_every_typed_half(device: Device) -> None:
    agree(half_load_steps(), 32, device)


# ---- atomics of 64 bits ----

WIDE = ["swap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec", "fmin", "fmax"]
DS_WIDE = ["add_rtn_u64", "sub_rtn_u64", "rsub_rtn_u64", "inc_rtn_u64", "dec_rtn_u64", "min_rtn_i64", "max_rtn_i64",
           "min_rtn_u64", "max_rtn_u64", "and_rtn_b64", "or_rtn_b64", "xor_rtn_b64", "wrxchg_rtn_b64",
           "condxchg32_rtn_b64", "min_rtn_f64", "max_rtn_f64"]  # fmt: skip
DOUBLES = " / ".join(
    [
        "v_cvt_f64_i32 v[20:21], v5", "v_cvt_f64_i32 v[22:23], v6", "v_cmp_gt_u32 vcc_lo, 4, v0",
        "v_cndmask_b32 v21, v21, v1, vcc_lo", "v_cmp_eq_u32 vcc_lo, 7, v0", "v_mov_b32 v24, 0x7ff80000",
        "v_cndmask_b32 v21, v21, v24, vcc_lo", "v_cmp_eq_u32 vcc_lo, 8, v0", "v_cndmask_b32 v23, v23, v24, vcc_lo",
        "v_cmp_eq_u32 vcc_lo, 9, v0", "v_mov_b32 v24, 0x80000000", "v_cndmask_b32 v21, v21, v24, vcc_lo",
        "v_cndmask_b32 v23, v23, 0, vcc_lo", "v_cndmask_b32 v20, v20, 0, vcc_lo", "v_cndmask_b32 v22, v22, 0, vcc_lo",
        "",
    ]
)  # fmt: skip
"""v[20:21] and v[22:23]: doubles, among them NaNs and zeros of both signs."""


def wide_steps() -> list[Step]:
    steps: list[Step] = []
    at = "v_lshlrev_b32 v62, 3, v0 / "
    words = "v_mov_b32 v20, v1 / v_mov_b32 v21, v2 / v_mov_b32 v22, v3 / v_mov_b32 v23, v4 / "
    seen = ["v10", "v11"]
    for name in WIDE:
        source = DOUBLES if name[0] == "f" else words
        put = f"{at}{source}global_store_dwordx2 v62, v[20:21], s[2:3] offset:1024 / "
        text = f"{HALF}global_atomic_{name}_x2 v[10:11], v62, v[22:23], s[2:3] offset:1024 glc"
        steps.append((put + text, seen))
    some = "v_cmp_gt_u32 vcc_lo, 8, v0 / v_cndmask_b32 v24, v3, v20, vcc_lo / v_cndmask_b32 v25, v21, v21, vcc_lo / "
    put = f"{at}{words}global_store_dwordx2 v62, v[20:21], s[2:3] offset:1024 / {some}"
    steps.append((f"{put}global_atomic_cmpswap_x2 v[10:11], v62, v[22:25], s[2:3] offset:1024 glc", seen))
    put = f"{at}{DOUBLES}global_store_dwordx2 v62, v[20:21], s[2:3] offset:1024 / {some}"
    steps.append((f"{put}global_atomic_fcmpswap_x2 v[10:11], v62, v[22:25], s[2:3] offset:1024 glc", seen))
    for name in DS_WIDE:
        source = DOUBLES if name.endswith("f64") else words
        text = f"{at}{source}ds_write_b64 v62, v[20:21] / {HALF}ds_{name} v[10:11], v62, v[22:23]"
        steps.append((f"{text} / ds_read_b64 v[12:13], v62", [*seen, "v12", "v13"]))
    lds = f"{at}{words}ds_write_b64 v62, v[20:21] / ds_write_b64 v62, v[22:23] offset:512 / {some}"
    text = "ds_cmpst_rtn_b64 v[10:11], v62, v[24:25], v[22:23] / ds_read_b64 v[12:13], v62"
    steps.append((lds + text, [*seen, "v12", "v13"]))
    steps.append((f"{lds}ds_mskor_rtn_b64 v[10:11], v62, v[24:25], v[22:23] / ds_read_b64 v[12:13], v62",
                  [*seen, "v12", "v13"]))  # fmt: skip
    steps.append((f"{lds}ds_wrxchg2_rtn_b64 v[10:13], v62, v[22:23], v[20:21] offset0:1 offset1:64",
                  [*seen, "v12", "v13"]))  # fmt: skip
    steps.append((f"{lds}ds_wrxchg2st64_rtn_b64 v[10:13], v62, v[22:23], v[20:21] offset0:0 offset1:1",
                  [*seen, "v12", "v13"]))  # fmt: skip
    buffer = descriptor(8, 144, 0)
    put = f"{at}{words}global_store_dwordx2 v62, v[20:21], s[2:3] offset:1024 / {buffer}"
    steps.append((f"{put}buffer_atomic_add_x2 v[22:23], v0, s[12:15], 0 idxen offset:1024 glc", ["v22", "v23"]))
    aperture = "v_mov_b32 v63, 0x20000 / v_lshlrev_b32 v62, 3, v0 / "
    text = f"{aperture}{words}ds_write_b64 v62, v[20:21] / flat_atomic_umax_x2 v[10:11], v[62:63], v[22:23] glc"
    steps.append((f"{text} / v_lshlrev_b32 v63, 2, v0", seen))
    return steps


def test_atomics_of_64_bits(device: Device) -> None:
    agree(wide_steps()[::3], 32, device, lds_bytes=1024)


@pytest.mark.deep
def test_every_atomic_of_64_bits(device: Device) -> None:
    agree(wide_steps(), 32, device, lds_bytes=1024)


def test_atomics_of_64_bits_lose_nothing(device: Device) -> None:
    """All lanes of many groups add to one number, whose low half runs over, and count in another in LDS."""
    text = """
        v_mov_b32 v1, 0xf0000001
        v_mov_b32 v2, 3
        v_mov_b32 v3, 0
        v_mov_b32 v4, 0
        ds_write_b64 v3, v[3:4]
        s_waitcnt lgkmcnt(0)
        s_barrier
        global_atomic_add_x2 v3, v[1:2], s[0:1]
        ds_add_rtn_u64 v[5:6], v3, v[1:2]
        s_waitcnt lgkmcnt(0)
        s_barrier
        ds_read_b64 v[5:6], v3
        s_waitcnt lgkmcnt(0)
        global_atomic_umax_x2 v3, v[5:6], s[0:1] offset:8
        s_endpgm
    """
    program = Program(words=assemble(text), vgprs=16, threads=(128,), rsrc2=2 << 1, user_data=(0x1000, 0),
                      rsrc1=0xF0 << 12, lds_bytes=8)  # fmt: skip
    memory = np.zeros(2, np.uint64)
    translation.run(device, program, translation.translate(program), {0x1000: memory}, groups=(8, 1, 1))
    assert memory.tolist() == [1024 * 0x3_F0000001, 128 * 0x3_F0000001]


@pytest.mark.parametrize("lanes", [32, 4, 1])
def test_atomics_of_64_bits_are_valid_in_every_form(lanes: int) -> None:
    """Their operands are read before a lane is asked whether it takes part: they serve what comes after, too."""
    text = """
        global_load_dwordx4 v[4:7], v1, s[0:1]
        ds_add_rtn_u64 v[4:5], v2, v[6:7]
        global_atomic_add_x2 v[4:5], v1, v[6:7], s[0:1] glc
        global_store_dwordx4 v1, v[4:7], s[0:1]
        s_endpgm
    """
    program = Program(words=assemble(text), vgprs=16, threads=(32,), rsrc2=2 << 1, lds_bytes=64)
    validate_spirv(translation.translate(program, translation.Options(lanes, subgroup=32 // lanes)).words)


# ---- scalar memory of gfx1013 ----


def test_scalar_stores_and_atomics(device: Device) -> None:
    text = """
        s_mov_b32 s4, 0x11111111
        s_mov_b32 s5, 0x22222222
        s_mov_b32 s6, 0x33333333
        s_mov_b32 s7, 0x44444444
        s_store_dwordx4 s[4:7], s[0:1], 0x10
        s_store_dword s5, s[0:1], 0x5
        s_mov_b32 s8, s0
        s_and_b32 s9, s1, 0xffff
        s_mov_b32 s10, 0x3a
        s_mov_b32 s11, 0
        s_buffer_store_dwordx2 s[4:5], s[8:11], 0x30
        s_buffer_store_dwordx2 s[6:7], s[8:11], 0x34
        s_buffer_store_dword s6, s[8:11], 0x2e
        s_atomic_add s4, s[0:1], 0x10 glc
        s_atomic_cmpswap_x2 s[4:7], s[0:1], 0x18 glc
        s_buffer_atomic_umax s6, s[8:11], 0x38 glc
        s_buffer_atomic_xor_x2 s[4:5], s[8:11], 0x20 glc
        s_atomic_dec s7, s[0:1], 0x20
        s_waitcnt lgkmcnt(0)
        s_store_dwordx4 s[4:7], s[0:1], 0x40
        s_get_waveid_in_workgroup s12
        s_waitcnt lgkmcnt(0)
        s_store_dword s12, s[0:1], 0x50
        s_endpgm
    """
    words = assemble(text, gpu="gfx1013")
    program = Program(words=words, gpu=Gpu.GFX1013, vgprs=16, threads=(32,), rsrc2=2 << 1, user_data=(0x1000, 0))
    wanted, got = np.arange(32, dtype=np.uint32), np.arange(32, dtype=np.uint32)
    interpret(program, {0x1000: wanted})
    translation.run(device, program, translation.translate(program), {0x1000: got})
    assert (wanted[4], wanted[15]) == (0x22222222, 15)  # what is out of range is not stored
    assert got.tolist() == wanted.tolist()


def test_time_goes_on(device: Device) -> None:
    """One wave's time is the number of its instructions, as the interpreter has it."""
    text = """
        s_memtime s[4:5]
        s_mov_b32 s10, 0
    L0: s_getreg_b32 s6, hwreg(29)
        s_add_u32 s10, s10, 1
        s_cmp_lt_u32 s10, 5
        s_cbranch_scc1 L0
        s_memrealtime s[8:9]
        v_mov_b32 v1, s4
        v_mov_b32 v2, s6
        v_mov_b32 v3, s8
        v_mov_b32 v4, s9
        v_mov_b32 v0, 0
        global_store_dwordx4 v0, v[1:4], s[0:1]
        s_endpgm
    """
    program = Program(words=assemble(text), vgprs=16, threads=(32,), rsrc2=2 << 1, user_data=(0x1000, 0))
    results = []
    for run_it in (interpret, lambda p, w: translation.run(device, p, translation.translate(p), w)):
        memory = np.zeros(4, np.uint32)
        run_it(program, {0x1000: memory})
        results.append(memory.tolist())
    assert results[0] == results[1] == [1, 19, 23, 0]


# ---- images ----


def image(form: int, width: int, height: int, kind: int, last: int = 0, first: int = 0, swizzle: int = 0) -> str:
    """s[12:19]: a T# of the data window, whose address is a multiple of 256 but for 0x1000."""
    w1 = form << 20 | ((width - 1) & 3) << 30
    w2 = (width - 1) >> 2 | (height - 1) << 14
    w3 = kind << 28 | swizzle << 20 | 0xFAC
    return (
        "s_lshr_b64 s[12:13], s[2:3], 8 / s_and_b32 s13, s13, 0xff"
        f" / s_or_b32 s13, s13, 0x{w1:x} / s_mov_b32 s14, 0x{w2:x} / s_mov_b32 s15, 0x{w3:x}"
        f" / s_mov_b32 s16, 0x{last | first << 16:x} / s_mov_b32 s17, 0 / s_mov_b32 s18, 0 / s_mov_b32 s19, 0 / "
    )


T1D, T2D, T3D, T1D_ARRAY, T2D_ARRAY = 8, 9, 10, 12, 13
# In bytes 1024 and up lie coordinates: v5 to v8 are below 200.
COORDINATES = "v_and_b32 v20, 7, v0 / v_lshrrev_b32 v21, 3, v0 / v_and_b32 v22, 1, v5 / "


def image_steps() -> list[Step]:
    steps: list[Step] = []
    four = ["v10", "v11", "v12", "v13"]
    for form, dmask in ((56, 15), (22, 1), (71, 15), (29, 3), (4, 1), (64, 3), (77, 15), (50, 7), (1, 15)):
        data = f"v[10:{9 + dmask.bit_count()}]" if dmask.bit_count() > 1 else "v10"
        t = COORDINATES + image(form, 7, 3, T2D)
        steps.append((f"{t}{HALF}image_load {data}, v[20:21], s[12:19] dmask:0x{dmask:x} dim:SQ_RSRC_IMG_2D unorm",
                      four[: dmask.bit_count()]))  # fmt: skip
        source = data.replace("10", "1").replace("13", "4").replace("12", "3").replace("11", "2")
        steps.append((f"{t}image_store {source}, v[20:21], s[12:19] dmask:0x{dmask:x} dim:SQ_RSRC_IMG_2D unorm", []))
    pitched = COORDINATES + image(22, 7, 4, T2D, last=31)
    steps.append((f"{pitched}image_load v10, v[20:21], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm", ["v10"]))
    volume = COORDINATES + image(62, 3, 2, T3D, last=1)
    steps.append((f"{volume}image_load v[10:11], v[20:22], s[12:19] dmask:0x3 dim:SQ_RSRC_IMG_3D unorm", four[:2]))
    layers = COORDINATES + image(20, 5, 3, T2D_ARRAY, last=1, first=1)
    steps.append((f"{layers}image_load v10, v[20:22], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY unorm", ["v10"]))
    row = COORDINATES + image(20, 6, 1, T1D_ARRAY, last=2)
    steps.append((f"{row}image_load v10, v[20:21], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_1D_ARRAY unorm", ["v10"]))
    mip = COORDINATES + image(20, 6, 4, T2D)
    steps.append((f"{mip}image_load_mip v10, v[20:22], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm", ["v10"]))
    steps.append((f"{mip}image_load v10, [v20, v21], s[12:19] dmask:0x2 dim:SQ_RSRC_IMG_2D unorm", ["v10"]))
    steps.append((f"{mip}image_store_mip v1, v[20:22], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm", []))
    steps.append((f"{mip}v_mov_b32 v10, v5 / image_load v[10:11], v[20:21], s[12:19] dmask:0xf"
                  " dim:SQ_RSRC_IMG_2D unorm d16", ["v10", "v11"]))  # fmt: skip
    packed = "v_lshl_or_b32 v24, v21, 16, v20 / v_mov_b32 v25, v22 / "
    steps.append((f"{mip}{packed}image_load v10, v24, s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm a16", ["v10"]))
    steps.append((f"{volume}{packed}image_load v[10:11], v[24:25], s[12:19] dmask:0x3 dim:SQ_RSRC_IMG_3D unorm a16",
                  four[:2]))  # fmt: skip
    for kind, dim in ((T2D, "2D"), (T3D, "3D"), (T1D_ARRAY, "1D_ARRAY"), (T2D_ARRAY, "2D_ARRAY")):
        size = COORDINATES + image(56, 7, 3, kind, last=4, first=1)
        steps.append((f"{size}image_get_resinfo v[10:13], v22, s[12:19] dmask:0xf dim:SQ_RSRC_IMG_{dim}", four))
    ints = COORDINATES + "v_lshrrev_b32 v21, 2, v0 / v_and_b32 v20, 3, v0 / " + image(20, 4, 8, T2D)
    for name in ("add", "smin", "umax", "inc", "swap"):
        steps.append((f"{ints}v_mov_b32 v10, v5 / {HALF}image_atomic_{name} v10, v[20:21], s[12:19] dmask:0x1"
                      " dim:SQ_RSRC_IMG_2D unorm glc", ["v10"]))  # fmt: skip
    steps.append((f"{ints}v_mov_b32 v10, v5 / v_mov_b32 v11, v1 / image_atomic_cmpswap v[10:11], v[20:21], s[12:19]"
                  " dmask:0x3 dim:SQ_RSRC_IMG_2D unorm glc", ["v10"]))  # fmt: skip
    wide = ints.replace(image(20, 4, 8, T2D), image(62, 4, 8, T2D))
    steps.append((f"{wide}v_mov_b32 v10, v5 / v_mov_b32 v11, v1 / image_atomic_add v[10:11], v[20:21], s[12:19]"
                  " dmask:0x3 dim:SQ_RSRC_IMG_2D unorm glc", ["v10", "v11"]))  # fmt: skip
    return steps


def test_images(device: Device) -> None:
    agree(image_steps()[::3], 32, device, chunk=1)


@pytest.mark.deep
def test_every_image(device: Device) -> None:
    agree(image_steps(), 32, device, chunk=1)


def test_images_of_other_kinds_are_counted(device: Device) -> None:
    """A tiled image shows when the program runs: nothing is read, and each lane counts as a write outside."""
    text = f"s_mov_b64 s[2:3], s[0:1] / {image(22, 8, 4, T2D, swizzle=9)}v_mov_b32 v1, 0 / v_mov_b32 v2, 0"
    text += " / image_load v3, v[1:2], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm / s_waitcnt vmcnt(0)"
    text += " / v_lshlrev_b32 v1, 2, v0 / global_store_dword v1, v3, s[0:1] / s_endpgm"
    program = Program(words=assemble(text), vgprs=16, threads=(32,), rsrc2=2 << 1, user_data=(0x1000, 0))
    memory = np.full(256, 9, np.uint32)
    counters = translation.run(device, program, translation.translate(program), {0x1000: memory})
    assert (counters.writes_outside, memory[:32].tolist()) == (32, [0] * 32)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("image_sample v[1:4], v[1:2], s[4:11], s[12:15] dmask:0xf dim:SQ_RSRC_IMG_2D", "sampling"),
        ("image_load v[1:5], v[1:2], s[4:11] dmask:0xf dim:SQ_RSRC_IMG_2D unorm tfe", "tfe, lwe"),
        ("tbuffer_load_format_x v1, off, s[4:7], 0 format:90", "a memory format that does not exist"),
        ("ds_gws_barrier v0 gds", "memory that all groups share"),
        ("ds_add_u32 v0, v1 gds", "memory that all groups share"),
        ("exp mrt0 v0, v0, v0, v0", "it is not for compute programs"),
        ("v_interp_p1_f32 v1, v2, attr0.x", "it is not for compute programs"),
    ],
)
def test_what_is_refused_has_a_reason(text: str, why: str) -> None:
    program = Program(words=assemble(f"{text} / s_endpgm"), vgprs=16, threads=(32,), lds_bytes=64)
    with pytest.raises(Unsupported, match=rf"offset 0x0: \w+ is not translated: {why}"):
        translation.translate(program)

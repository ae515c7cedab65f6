# SPDX-License-Identifier: MIT
"""Translated operations on 16-bit, 32-bit and 64-bit values against the interpreter, with special values.

One program executes many operations, since a device compiles for longer than it runs: each lane of a wave has a
row of sources, each operation a slot of results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from assembler import assemble
from numpy.typing import NDArray

from guestgpu import translation
from guestgpu.errors import Unsupported
from guestgpu.interpreter import Program, interpret

pytestmark = pytest.mark.slow  # a device without hardware compiles for long

Words = NDArray[np.uint32]
SOURCES, RESULTS = 0x1000_0000, 0x2000_0000
DENORMALS = 0xF0 << 12
"""Of RSRC1: nothing is flushed."""
LANES = 32

HALVES = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x3C01, 0x3BFF, 0x3800, 0xB801,
    0x4248, 0xC500, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01, 0xFC10, 0x5640, 0xD640, 0x1400, 0x0FFF,
    0x7800, 0x2E66, 0x3555, 0xA4A4,
]  # fmt: skip
SINGLES = [
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F800000,
    0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x3F000000, 0xBF000001, 0x40490FDB, 0xC0A00000, 0x7F7FFFFF, 0xFF7FFFFF,
    0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0xFF812345, 0x47800000, 0xC7800000, 0x33800000,
    0x387FC000, 0x477FE000, 0x4F000000, 0x42C80000, 0x3EAAAAAB,
]  # fmt: skip
DOUBLES = [
    0, 1 << 63, 1, (1 << 63) + 1, (1 << 52) - 1, 1 << 52, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001,
    0x3FEFFFFFFFFFFFFF, 0x3FE0000000000000, 0xBFE0000000000001, 0x400921FB54442D18, 0xC014000000000000,
    0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
    0xFFF8000000000001, 0x7FF0000000000001, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0xC1E0000000200000,
    0x3FD5555555555555, 0x0010000000000001, 0x7FD0000000000000, 0x4330000000000001, 0xC330000000000001,
    0x3810000000000000, 0x36A0000000000000, 0x4059000000000000,
]  # fmt: skip
INTEGERS = [0, 1, 2, 3, 15, 16, 17, 31, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, 0x00010000, 0x7FFFFFFF,
            0x80000000, 0x80000001, 0xFFFF8000, 0xFFFFFFFE, 0xFFFFFFFF, 0x12345678, 0x89ABCDEF]  # fmt: skip


def _pick(rng: np.random.Generator, special: Sequence[int], rows: int, bits: int) -> NDArray[np.uint64]:
    """Special values, and as many random ones."""
    chosen = np.asarray(special, np.uint64)[rng.integers(0, len(special), rows)]
    random = (
        rng.integers(0, 1 << 64, rows, np.uint64, endpoint=False) if bits == 64 else rng.integers(0, 1 << bits, rows)
    )
    return np.where(rng.random(rows) < 0.7, chosen, np.asarray(random, np.uint64))


def dwords(rng: np.random.Generator, kind: str, rows: int) -> Words:
    """`rows` random dwords: pairs of f16, f32 or integers."""
    if kind == "f16":
        low, high = (_pick(rng, HALVES, rows, 16) for _ in range(2))
        return (low | high << np.uint64(16)).astype(np.uint32)
    if kind == "i16":
        low, high = (_pick(rng, [v & 0xFFFF for v in INTEGERS], rows, 16) for _ in range(2))
        return (low | high << np.uint64(16)).astype(np.uint32)
    return _pick(rng, SINGLES if kind == "f32" else INTEGERS, rows, 32).astype(np.uint32)


def table(seed: int, kinds: Sequence[str], rows: int) -> Words:
    """Sources, shape (rows, dwords); "f64" and "i64" make two dwords."""
    rng, columns = np.random.default_rng(seed), []
    for kind in kinds:
        if kind == "f64":
            wide = _pick(rng, DOUBLES, rows, 64)
            columns += [(wide & np.uint64(0xFFFFFFFF)).astype(np.uint32), (wide >> np.uint64(32)).astype(np.uint32)]
        else:
            columns.append(dwords(rng, kind, rows))
    return np.stack(columns, 1)


def program_of(texts: Sequence[str], columns: int, rsrc1: int) -> Program:
    """v[2..] are a lane's sources, v[20:21] the result; s2 is the group.

    Results go to LDS, and a loop copies them: accesses of memory are most of what a device compiles.
    """
    lines = [f"s_mul_i32 s9, {LANES}, s2", "v_add_nc_u32 v1, s9, v0", f"v_mul_u32_u24 v19, {4 * columns}, v1"]
    lines += [f"global_load_dword v{2 + i}, v19, s[0:1] offset:{4 * i}" for i in range(columns)]
    lines += ["s_waitcnt vmcnt(0)", "v_lshlrev_b32 v18, 3, v0", f"v_mul_u32_u24 v19, {8 * len(texts)}, v1"]
    for i, text in enumerate(texts):
        lines += ["v_mov_b32 v20, 0xabcd1234", "v_mov_b32 v21, 0x3c003c00", "s_mov_b32 vcc_lo, 0x5a5a5a5a"]
        lines += [*text.split(";"), f"ds_write_b64 v18, v[20:21] offset:{8 * LANES * i}"]
    lines += [f"s_mov_b32 s4, 0x{RESULTS:x}", "s_mov_b32 s5, 0", "s_mov_b32 s6, 0", "s_waitcnt lgkmcnt(0)", "L0:"]
    lines += ["ds_read_b64 v[20:21], v18", "s_waitcnt lgkmcnt(0)", "global_store_dwordx2 v19, v[20:21], s[4:5]"]
    lines += [f"v_add_nc_u32 v18, {8 * LANES}, v18", "v_add_nc_u32 v19, 8, v19", "s_add_u32 s6, s6, 1"]
    lines += [f"s_cmp_lt_u32 s6, {len(texts)}", "s_cbranch_scc1 L0", "s_endpgm"]
    words = assemble("\n".join(lines))
    lds = 8 * LANES * len(texts)
    return Program(words, user_data=(SOURCES, 0), rsrc1=rsrc1, rsrc2=2 << 1 | 1 << 7, vgprs=32, threads=(LANES, 1, 1),
                   lds_bytes=lds)  # fmt: skip


def both(
    device: Any, texts: Sequence[str], kinds: Sequence[str], seed: int = 1, groups: int = 8, rsrc1: int = DENORMALS
) -> tuple[Words, Words, Words]:
    """Sources, and the results of the interpreter and of the device, shape (rows, operations, 2)."""
    return both_of(device, texts, table(seed, kinds, LANES * groups), rsrc1)


def both_of(device: Any, texts: Sequence[str], sources: Words, rsrc1: int = DENORMALS) -> tuple[Words, Words, Words]:
    rows = len(sources)
    groups = rows // LANES
    program = program_of(texts, sources.shape[1], rsrc1)
    results = [np.zeros((rows, len(texts), 2), np.uint32) for _ in range(2)]
    interpret(program, {SOURCES: sources.copy(), RESULTS: results[0]}, groups=(groups, 1, 1))
    lanes = translation.lane_choices(program, device)[-1]  # wave mode takes a software device longest
    module = translation.translate(program, translation.options_for(device, program.wave, lanes))
    translation.run(device, program, module, {SOURCES: sources.copy(), RESULTS: results[1]}, (groups, 1, 1))
    return sources, results[0], results[1]


def report(texts: Sequence[str], sources: Words, wanted: Words, got: Words, wrong: NDArray[np.bool_]) -> str:
    lines = []
    for i in np.flatnonzero(wrong.any(0)).tolist():
        row = int(np.flatnonzero(wrong[:, i])[0])
        given = " ".join(f"{w:08x}" for w in sources[row])
        lines.append(
            f"{texts[i]}: {wrong[:, i].sum()} rows; of {given}: "
            f"{wanted[row, i, 1]:08x}:{wanted[row, i, 0]:08x}, got {got[row, i, 1]:08x}:{got[row, i, 0]:08x}"
        )
    return "\n".join(lines)


def is_nan(words: Words, kind: str) -> NDArray[np.bool_]:
    """Of results: whose NaNs are equal, since a device may give another payload than the guest. Shape (rows, 2)."""
    low, high = words[:, 0], words[:, 1]
    if kind == "f32":
        return np.stack([(low & 0x7FFFFFFF) > 0x7F800000, np.zeros_like(high, np.bool_)], 1)
    assert kind == "f64"
    nan = ((high & 0x7FFFFFFF) > 0x7FF00000) | (((high & 0x7FFFFFFF) == 0x7FF00000) & (low != 0))
    return np.stack([nan, nan], 1)


def check(device: Any, texts: Sequence[str], kinds: Sequence[str], nan: str = "", **options: Any) -> None:
    """nan: the format of the results, where NaNs count as equal: "f16" (any half), "f32", "f64"."""
    sources, wanted, got = both(device, texts, kinds, **options)
    wrong = np.zeros(wanted.shape[:2], np.bool_)
    for i in range(len(texts)):
        differs = wanted[:, i] != got[:, i]
        if nan == "f16":  # by halves
            w, g = (np.ascontiguousarray(array[:, i]).view(np.uint16) for array in (wanted, got))
            nans = ((w & 0x7FFF) > 0x7C00) & ((g & 0x7FFF) > 0x7C00)
            differs = (w != g) & ~nans
        elif nan:
            differs &= ~(is_nan(wanted[:, i], nan) & is_nan(got[:, i], nan))
        wrong[:, i] = differs.any(1)
    assert not wrong.any(), "\n" + report(texts, sources, wanted, got, wrong)


def compared(kind: str, sources: str) -> list[str]:
    conditions = ["lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"]
    return [f"v_cmp_{c}_{kind} vcc_lo, {sources}; v_cndmask_b32 v20, 1, 2, vcc_lo" for c in conditions]


def test_integers_of_16_bits(device: Any) -> None:
    two = "add_nc_u16 sub_nc_u16 add_nc_i16 sub_nc_i16 mul_lo_u16 lshrrev_b16 ashrrev_i16 lshlrev_b16 max_u16 min_u16"
    three = "min3_u16 max3_u16 med3_u16 min3_i16 max3_i16 med3_i16 sad_u8 sad_hi_u8 msad_u8 sad_u16 lerp_u8"
    clamping_2 = "add_nc_u16 sub_nc_u16 add_nc_i16 sub_nc_i16 add_nc_i32 sub_nc_i32 add_nc_u32_e64 sub_nc_u32_e64"
    clamping_3 = (
        "mad_u16 mad_i16 mad_u32_u16 mad_i32_i16 mad_i32_i24 mad_u32_u24 sad_u8 sad_hi_u8 msad_u8 sad_u16 sad_u32"
    )
    texts = [f"v_{op} v20, v2, v3" for op in [*two.split(), "max_i16", "min_i16", "cvt_pk_u16_u32", "cvt_pk_i16_i32"]]
    texts += [f"v_{op} v20, v2, v3 clamp" for op in [*clamping_2.split(), "subrev_nc_u32_e64"]]
    texts += [f"v_{op} v20, v2, v3, v4" for op in [*three.split(), "mad_u16", "mad_i16", "mad_u32_u16", "mad_i32_i16"]]
    texts += [f"v_{op} v20, v2, v3, v4 clamp" for op in clamping_3.split()]
    texts += [
        "v_add_nc_u16 v20, v2, v3 op_sel:[1,0,1]",
        "v_mad_i16 v20, v2, v3, v4 op_sel:[0,1,1,0]",
        "v_mad_u32_u16 v20, v2, v3, v4 op_sel:[1,1,0,0]",
        "v_pack_b32_f16 v20, v2, v3 op_sel:[1,0,0]",
        "v_pack_b32_f16 v20, -v2, |v3|",
        "v_sat_pk_u8_i16 v20, v2",
        "v_cmp_lt_i16 vcc_lo, v2, v3; v_cndmask_b32 v20, 1, 2, vcc_lo",
        "v_cmp_ge_u16 vcc_lo, v2, v3; v_cndmask_b32 v20, 1, 2, vcc_lo",
    ]
    check(device, texts, ["i16", "i16", "i32"])


def test_packed_integers(device: Any) -> None:
    packed = "add_i16 add_u16 sub_i16 sub_u16 mul_lo_u16 lshlrev_b16 lshrrev_b16 ashrrev_i16 max_i16 min_i16 max_u16"
    dots = "dot2_i32_i16 dot2_u32_u16 dot4_i32_i8 dot4_u32_u8 dot8_i32_i4 dot8_u32_u4"
    texts = [f"v_pk_{op} v20, v2, v3" for op in [*packed.split(), "min_u16"]]
    texts += [f"v_pk_{op} v20, v2, v3 op_sel:[1,0] clamp" for op in ["add_i16", "add_u16", "sub_i16", "sub_u16"]]
    texts += [f"v_{op} v20, v2, v3, v4{c}" for op in ["pk_mad_i16", "pk_mad_u16"] for c in ("", " clamp")]
    texts += [f"v_{op} v20, v2, v3, v4{c}" for op in dots.split() for c in ("", " clamp")]
    check(device, [*texts, "v_dot4c_i32_i8 v20, v2, v3"], ["i16", "i16", "i32"])


HALF = (
    [f"v_{op}_f16 v20, v2, v3" for op in ["add", "sub", "subrev", "mul", "max", "min", "fmac", "ldexp"]]
    + [f"v_{op}_f16 v20, v2, v3, v4" for op in ["fma", "min3", "max3", "med3", "div_fixup"]]
    + [
        f"v_{op}_f16 v20, v2"
        for op in ["floor", "ceil", "trunc", "rndne", "fract", "rcp", "sqrt", "frexp_mant", "frexp_exp_i16"]
    ]
    + [f"v_{op}_f16 v20, v2" for op in ["cvt_u16", "cvt_i16", "cvt_norm_i16", "cvt_norm_u16"]]
    + [f"v_cvt_pknorm_{t}_f16 v20, v2, v3" for t in ("i16", "u16")]
    + [
        "v_cvt_f16_u16 v20, v2",
        "v_cvt_f16_i16 v20, v2",
        "v_fma_f16 v20, -v2, |v3|, v4 op_sel:[1,0,1,1]",
        "v_add_f16_e64 v20, v2, v3 clamp",
        "v_mul_f16_e64 v20, v2, v3 mul:2",
        "v_add_f16_e64 v20, -v2, |v3|",
        "v_mul_f16 v20, 0, v3",
        "v_fmaak_f16 v20, v2, v3, 0x3c01",
        "v_fmamk_f16 v20, v2, 0x3c01, v3",
        "v_add_f16_sdwa v20, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
        "v_mul_f16_sdwa v20, -v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1",
        "v_cmp_class_f16 vcc_lo, v2, v3; v_cndmask_b32 v20, 1, 2, vcc_lo",
        "v_pk_fma_f16 v20, v2, v3, v4",
        "v_pk_fma_f16 v20, v2, v3, v4 op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,1,1] clamp",
        "v_pk_fmac_f16 v20, v2, v3",
        "v_pk_add_f16 v20, v2, 1.0 op_sel_hi:[1,0]",
        "v_pk_mul_f16 v20, 0.5, v3",
        "v_fma_mixlo_f16 v20, v2, -v3, |v4| op_sel:[0,1,0] op_sel_hi:[1,1,0]",
        "v_fma_mixhi_f16 v20, v2, v3, v4 op_sel:[0,1,0] op_sel_hi:[1,1,1] clamp",
    ]
    + [f"v_pk_{op}_f16 v20, v2, v3" for op in ["add", "mul", "min", "max"]]
)

FLUSHES, IEEE, DX10_CLAMP = 0x00 << 12, 1 << 23, 1 << 21
MODES = pytest.mark.parametrize(
    "rsrc1", [DENORMALS, FLUSHES | DX10_CLAMP, DENORMALS | IEEE], ids=["keep", "flush", "ieee"]
)


@MODES
def test_halves(device: Any, rsrc1: int) -> None:
    check(device, HALF + compared("f16", "v2, v3"), ["f16"] * 3, nan="f16", rsrc1=rsrc1)


SINGLE = (
    [
        f"v_{op}_f32 v20, v2, v3"
        for op in ["add", "sub", "subrev", "mul", "max", "min", "mul_legacy", "fmac", "fmac_legacy"]
    ]
    + [f"v_{op}_f32 v20, v2, v3, v4" for op in ["fma", "med3", "min3", "max3", "div_fixup", "div_fmas", "fma_legacy"]]
    + [
        f"v_{op}_f32 v20, v2"
        for op in ["fract", "rcp", "sqrt", "frexp_mant", "floor", "ceil", "trunc", "rndne", "frexp_exp_i32"]
    ]
    + [
        "v_ldexp_f32 v20, v2, v5",
        "v_ldexp_f32 v20, v2, -24",
        "v_cvt_rpi_i32_f32 v20, v2",
        "v_cvt_off_f32_i4 v20, v5",
        "v_cvt_pk_u8_f32 v20, v2, v5, v3",
        "v_add_f32_e64 v20, v2, v3 clamp",
        "v_mul_f32_e64 v20, v2, v3 div:2",
        "v_add_f32 v20, 0, v2",
        "v_mul_f32 v20, 0, v2",
        "v_div_scale_f32 v20, vcc_lo, v2, v2, v3; v_cndmask_b32 v21, 1, 2, vcc_lo",
        "v_div_scale_f32 v20, vcc_lo, v3, v2, v3; v_cndmask_b32 v21, 1, 2, vcc_lo",
        "v_cmp_class_f32 vcc_lo, v2, v5; v_cndmask_b32 v20, 1, 2, vcc_lo",
        "v_cmp_class_f32 vcc_lo, -|v2|, v5; v_cndmask_b32 v20, 1, 2, vcc_lo",
        "v_cvt_f32_f16 v20, v2",
        "v_dot2c_f32_f16 v20, v2, v3",
        "v_dot2_f32_f16 v20, v2, v3, v4",
        "v_fma_mix_f32 v20, v2, v3, v4 op_sel:[0,1,0] op_sel_hi:[1,1,0]",
        "v_fma_mix_f32 v20, v2, -v3, |v4|",
    ]
)


@MODES
def test_singles(device: Any, rsrc1: int) -> None:
    check(device, SINGLE + compared("f32", "v2, v3"), ["f32", "f32", "f32", "i32"], nan="f32", rsrc1=rsrc1)


@pytest.mark.parametrize("rsrc1", [DENORMALS, 0])
def test_cubes_and_floors(device: Any, rsrc1: int) -> None:
    cubes = [f"v_cube{part}_f32 v20, v2, v3, v4" for part in ("id", "sc", "tc", "ma")]
    check(device, [*cubes, "v_cvt_flr_i32_f32 v20, v2"], ["f32"] * 3, nan="f32", rsrc1=rsrc1)


def test_output_modifiers_of_divisions(device: Any) -> None:
    sources = ("v2, v3, v2 mul:2", "v3, v3, v2 clamp")
    texts = [f"v_div_{part}, {more}" for part in ("scale_f32 v20, s9", "fixup_f32 v20") for more in sources]
    texts.append("v_div_fixup_f32 v20, v2, 1.0, 1.0 mul:2")  # of a denormal quotient, which is passed on
    check(device, texts, ["f32"] * 3, nan="f32", rsrc1=1 << 21)
    check(device, ["v_div_fixup_f16 v20, v2, 1.0, 1.0 mul:2"], ["f16"], nan="f16", rsrc1=1 << 21)
    texts = [f"v_div_fixup_f64 v[20:21], {A}, 1.0, 1.0 mul:2", f"v_div_scale_f64 v[20:21], s9, {A}, {B}, {A} mul:2"]
    check(device, texts, ["f64", "f64"], nan="f64", rsrc1=1 << 21)


def test_singles_to_small(device: Any) -> None:
    texts = ["v_cvt_pkrtz_f16_f32 v20, v2, v3", "v_cvt_f16_f32 v20, v2"]
    texts += [f"v_cvt_pknorm_{t}_f32 v20, v2, v3" for t in ("i16", "u16")]
    check(device, texts, ["f32"] * 3, nan="f16", groups=32)


A, B, C = "v[2:3]", "v[4:5]", "v[6:7]"
ZEROS = [
    "v_fma_f32 v20, 0, v2, v3", "v_fma_f32 v20, v2, 0x80000000, v3", "v_fma_f32 v20, v2, v3, 0",
    "v_fma_f32 v20, v2, v3, 0x80000000", "v_fma_f32 v20, 0, 0, v2", "v_fmamk_f32 v20, 0, 0x0, v3",
]  # fmt: skip
"""A device takes x * 0 for 0 and x + 0 for x, whatever x is, where it sees the 0."""


@MODES
def test_constant_zeros(device: Any, rsrc1: int) -> None:
    check(device, ZEROS, ["f32", "f32"], nan="f32", rsrc1=rsrc1)
    a, b = "v[2:3]", "v[4:5]"
    texts = [f"v_{op}_f64 v[20:21], {zero}, {a}" for op in ("add", "mul") for zero in ("0", "0x80000000")]
    texts += [f"v_fma_f64 v[20:21], {zero}, {a}, {b}" for zero in ("0", "0x80000000")]
    texts += [f"v_fma_f64 v[20:21], {a}, {b}, {zero}" for zero in ("0", "0x80000000")]
    check(device, texts, ["f64", "f64"], nan="f64", rsrc1=rsrc1)


DOUBLE = (
    [f"v_{op}_f64 v[20:21], {A}, {B}" for op in ["add", "mul", "min", "max"]]
    + [f"v_{op}_f64 v[20:21], {A}, {B}, {C}" for op in ["fma", "div_fixup", "div_fmas"]]
    + [
        f"v_{op}_f64 v[20:21], {A}"
        for op in ["floor", "ceil", "trunc", "rndne", "fract", "rcp", "rsq", "sqrt", "frexp_mant"]
    ]
    + [f"v_{op}_f64 v20, {A}" for op in ["frexp_exp_i32", "cvt_i32", "cvt_u32"]]
    + [f"v_cvt_f64_{kind} v[20:21], v2" for kind in ("f32", "i32", "u32")]
    + [
        f"v_ldexp_f64 v[20:21], {A}, v8",
        f"v_ldexp_f64 v[20:21], {A}, -60",
        f"v_add_f64 v[20:21], -{A}, |{B}| clamp",
        f"v_mul_f64 v[20:21], {A}, {B} mul:4",
        f"v_mul_f64 v[20:21], 0.5, {A}",
        f"v_div_scale_f64 v[20:21], vcc_lo, {A}, {A}, {B}; v_cndmask_b32 v21, v21, v20, vcc_lo",
        f"v_div_scale_f64 v[20:21], vcc_lo, {B}, {A}, {B}; v_cndmask_b32 v21, v21, v20, vcc_lo",
        f"v_cmp_class_f64 vcc_lo, {A}, v8; v_cndmask_b32 v20, 1, 2, vcc_lo",
    ]
)


@MODES
def test_doubles(device: Any, rsrc1: int) -> None:
    check(device, DOUBLE + compared("f64", f"{A}, {B}"), ["f64", "f64", "f64", "i32"], nan="f64", rsrc1=rsrc1)


def triples(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    """Factors and addends of every exponent: those far apart, those that nearly cancel, and those near both ends."""
    a, b = (
        np.ldexp(rng.uniform(1, 2, rows) * rng.choice([-1, 1], rows), rng.integers(-1074, 1024, rows)) for _ in "ab"
    )
    low = rng.random(rows) < 0.4  # a denormal product, or one just above
    b = np.where(low, np.ldexp(np.copysign(1.0, b), rng.integers(-1085, -1010, rows) - np.frexp(a)[1]) * a, b)
    with np.errstate(over="ignore", under="ignore"):
        c = np.ldexp(rng.uniform(-2, 2, rows), np.clip(np.frexp(a)[1] + np.frexp(b)[1] + rng.integers(-130, 130, rows),
                                                       -1074, 1023))  # fmt: skip
        near = -a * b * (1 + rng.integers(-3, 4, rows) * 2.0**-52)
    c = np.where(rng.random(rows) < 0.3, near, c)
    special = np.array([0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 2.2250738585072014e-308])
    c = np.where(rng.random(rows) < 0.2, rng.choice(special, rows), c)
    return np.stack([a, b, c], 1)


def test_fma_of_doubles_rounds_once_at_every_exponent(device: Any) -> None:
    sources = triples(np.random.default_rng(1), 1 << 15).view(np.uint32)
    texts = [f"v_fma_f64 v[20:21], {A}, {B}, {C}"]
    _, wanted, got = both_of(device, texts, sources)
    wrong = (wanted != got).any(2) & ~(is_nan(wanted[:, 0], "f64") & is_nan(got[:, 0], "f64")).any(1)[:, None]
    assert not wrong.any(), "\n" + report(texts, sources, wanted, got, wrong)


def test_double_to_single(device: Any) -> None:
    check(device, [f"v_cvt_f32_f64 v20, {A}"], ["f64"], nan="f32", groups=32)


def test_approximations_of_halves(device: Any) -> None:
    """Rounded twice: one unit in the last place."""
    texts = [f"v_{op}_f16 v20, v2" for op in ("rsq", "log", "exp")]
    _, wanted, got = both(device, texts, ["f16"])
    w, g = ((array[:, :, 0] & 0xFFFF).astype(np.int64) for array in (wanted, got))
    nan = ((w & 0x7FFF) > 0x7C00) & ((g & 0x7FFF) > 0x7C00)
    assert (nan | (np.abs(w - g) <= 1)).all()


def test_other_roundings_are_refused() -> None:
    program = Program(assemble("v_add_f32 v0, v0, v0\ns_endpgm"), rsrc1=1 << 12 | DENORMALS, vgprs=8)
    with pytest.raises(Unsupported, match="offset 0x0: v_add_f32"):
        translation.translate(program)

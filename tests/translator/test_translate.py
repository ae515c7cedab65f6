# SPDX-License-Identifier: MIT
"""Translated programs on the device against the interpreter, and against the values that the cases say are right."""

from __future__ import annotations

import random

import numpy as np
import pytest
from assembler import BARRIER_LOOP, assemble
from observe import Case, case, check

from guestgpu import translation
from guestgpu.device import Device, validate_spirv
from guestgpu.errors import ArgumentError, FormatError, LimitExceeded, Unsupported
from guestgpu.hsa import launch
from guestgpu.interpreter import Program, interpret
from guestgpu.opencl_corpus import CASES, copied, guest, run_host
from guestgpu.translation import Options, lane_choices

IDENTITY = np.arange(16, dtype=np.uint32) * 0x01010101


def agree(made: Case, device: Device) -> None:
    """Device and interpreter leave the same registers, by every number of lanes an invocation that applies."""
    wanted = made.interpreted()
    for lanes in lane_choices(made.program, device):
        got = made.translated(device, lanes)
        for kind in ("scalar", "vector"):
            for number, values in getattr(wanted, kind).items():
                found = getattr(got, kind)[number]
                assert np.array_equal(found, values), f"k {lanes}, {kind} {number}: device {found}, not {values}"


# ---- faults met in public: cases/translator.md ----

RIGHT = {
    "t1_cmpx_revives_no_lanes": (
        "v_mov_b32 v1, 2 / s_mov_b32 vcc_lo, 0x55 / s_mov_b32 exec_lo, 6 / v_cmpx_gt_u32 v1, v0 / s_mov_b32 s4, exec_lo"
        " / s_mov_b32 s5, vcc_lo / v_mov_b32 v2, 7 / s_mov_b32 exec_lo, -1",
        32,
        {"s4": 2, "s5": 0x55, "v2": [0, 7, 0, 0]},
    ),
    "t4_carry_out_with_carry_in": (
        "v_mov_b32 v1, -1 / v_mov_b32 v3, 0 / s_mov_b32 vcc_lo, -1 / v_add_co_ci_u32 v2, vcc_lo, v1, v1, vcc_lo"
        " / s_mov_b32 s4, vcc_lo / v_sub_co_ci_u32 v4, vcc_lo, v3, v1, vcc_lo / s_mov_b32 s5, vcc_lo",
        32,
        {"s4": -1, "s5": -1, "v2": -1, "v4": 0},
    ),
    "t5_mad_u64_u32_keeps_the_upper_product": (
        "v_mov_b32 v1, -1 / v_mov_b32 v2, -1 / v_mov_b32 v8, -1 / v_mov_b32 v9, -1"
        " / v_mad_u64_u32 v[4:5], s6, v1, v2, v[8:9] / v_mov_b32 v8, 0 / v_mov_b32 v9, 0"
        " / v_mad_u64_u32 v[10:11], s7, v1, v2, v[8:9]",
        32,
        {"v4": 0, "v5": 0xFFFFFFFE, "s6": -1, "v10": 1, "v11": 0xFFFFFFFE, "s7": 0},
    ),
    "t8_masks_in_a_pair": (
        "s_mov_b64 s[10:11], 0 / s_mov_b32 s11, 0x1234 / v_cmp_lt_u32_e64 s[10:11], 31, v0 / v_mov_b32 v1, -1"
        " / v_cndmask_b32_e64 v2, 1, 2, s[10:11] / v_add_co_ci_u32_e64 v3, s[12:13], v1, 0, s[10:11]",
        64,
        {"s10": 0, "s11": -1, "v2": [1] * 32 + [2] * 32, "v3": [-1] * 32 + [0] * 32, "s12": 0, "s13": -1},
    ),
    "t10_vcc_as_two_scalars": (
        "s_mov_b32 vcc_lo, 0x3f800000 / s_mov_b32 vcc_hi, 0x40000000 / s_mov_b64 s[4:5], vcc / v_mov_b32 v2, 0x3fc00000"
        " / v_mul_f32 v1, vcc_hi, v2 / s_mov_b64 vcc, 0 / s_mov_b64 vcc, s[4:5] / v_mul_f32 v3, vcc_lo, v2",
        32,
        {
            "s4": 0x3F800000,
            "s5": 0x40000000,
            "v1": 0x40400000,
            "v3": 0x3FC00000,
            "vcc_lo": 0x3F800000,
            "vcc_hi": 0x40000000,
        },
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_case(name: str, device: Device) -> None:
    text, wave, right = RIGHT[name]
    numbers = {
        106 if n == "vcc_lo" else 107 if n == "vcc_hi" else int(n[1:]) for n in right if n[0] == "s" or n[1] == "c"
    }
    vectors = [int(n[1:]) for n in right if n[0] == "v" and n[1] != "c"]
    made = case(text, wave=wave, scalars=sorted(numbers), vectors=vectors)
    check(made, right, made.interpreted)
    for lanes in lane_choices(made.program, device):
        check(made, right, lambda k=lanes: made.translated(device, k))


def test_t6_barrier_used_more_than_once(device: Device) -> None:
    made = case(BARRIER_LOOP, waves=2, vectors=[3], lds_bytes=512)
    assert made.interpreted().vector[3][:, 0].tolist() == [40, 41]
    for lanes in lane_choices(made.program, device):
        assert made.translated(device, lanes).vector[3][:, 0].tolist() == [40, 41]


@pytest.mark.parametrize("offset", ["0x0", "s2"])
def test_t13_load_over_its_own_base(offset: str, device: Device) -> None:
    data = np.array([0x10, 0, 0x33333333, 0x44444444], np.uint32)
    made = case(
        f"s_load_dwordx4 s[0:3], s[0:1], {offset} / s_waitcnt lgkmcnt(0)",
        setup="s_mov_b64 s[0:1], s[92:93]\ns_mov_b32 s2, 0", scalars=[0, 1, 2, 3], data=data,
    )  # fmt: skip
    for seen in (made.interpreted(), *(made.translated(device, k) for k in lane_choices(made.program, device))):
        assert [int(seen.scalar[n][0]) for n in range(4)] == data.tolist()


def test_two_waves_exchange_through_lds(device: Device) -> None:
    """Each thread writes its id, waits, and reads the word of thread id ^ 64: every word is the other wave's."""
    text = """
        v_lshl_add_u32 v1, s2, 6, v0
        v_lshlrev_b32 v2, 2, v1
        ds_write_b32 v2, v1
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_xor_b32 v3, 0x100, v2
        ds_read_b32 v4, v3
        s_waitcnt lgkmcnt(0)
    """
    made = case(text, wave=64, waves=2, vectors=[4], lds_bytes=512)
    wanted = np.arange(128).reshape(2, 64) ^ 64
    assert np.array_equal(made.interpreted().vector[4], wanted)
    for lanes in lane_choices(made.program, device):
        assert np.array_equal(made.translated(device, lanes).vector[4], wanted)


# ---- operations ----

SCALAR2 = [
    "s_add_u32",
    "s_sub_u32",
    "s_add_i32",
    "s_sub_i32",
    "s_addc_u32",
    "s_subb_u32",
    "s_min_i32",
    "s_min_u32",
    "s_max_i32",
    "s_max_u32",
    "s_cselect_b32",
    "s_and_b32",
    "s_or_b32",
    "s_xor_b32",
    "s_andn2_b32",
    "s_orn2_b32",
    "s_nand_b32",
    "s_nor_b32",
    "s_xnor_b32",
    "s_lshl_b32",
    "s_lshr_b32",
    "s_ashr_i32",
    "s_bfm_b32",
    "s_mul_i32",
    "s_bfe_u32",
    "s_bfe_i32",
    "s_absdiff_i32",
    "s_lshl1_add_u32",
    "s_lshl2_add_u32",
    "s_lshl3_add_u32",
    "s_lshl4_add_u32",
    "s_pack_ll_b32_b16",
    "s_pack_lh_b32_b16",
    "s_pack_hh_b32_b16",
    "s_mul_hi_u32",
    "s_mul_hi_i32",
]
SCALAR2_WIDE = [
    "s_cselect_b64",
    "s_and_b64",
    "s_or_b64",
    "s_xor_b64",
    "s_andn2_b64",
    "s_orn2_b64",
    "s_nand_b64",
    "s_nor_b64",
    "s_xnor_b64",
]
SHIFTS_WIDE = ["s_lshl_b64", "s_lshr_b64", "s_ashr_i64"]
SCALAR1 = [
    "s_mov_b32",
    "s_cmov_b32",
    "s_not_b32",
    "s_brev_b32",
    "s_bcnt0_i32_b32",
    "s_bcnt1_i32_b32",
    "s_ff0_i32_b32",
    "s_ff1_i32_b32",
    "s_flbit_i32_b32",
    "s_flbit_i32",
    "s_sext_i32_i8",
    "s_sext_i32_i16",
    "s_bitset0_b32",
    "s_bitset1_b32",
    "s_abs_i32",
]
SCALAR1_FROM_PAIR = ["s_bcnt0_i32_b64", "s_bcnt1_i32_b64", "s_ff0_i32_b64", "s_ff1_i32_b64", "s_flbit_i32_b64"]
SCALAR1_WIDE = ["s_mov_b64", "s_cmov_b64", "s_not_b64", "s_brev_b64"]
COMPARES = [f"s_cmp_{c}_{t}" for c in ("eq", "lg", "gt", "ge", "lt", "le") for t in ("i32", "u32")]
COMPARES += ["s_bitcmp0_b32", "s_bitcmp1_b32"]
VECTOR1 = ["v_mov_b32", "v_not_b32", "v_bfrev_b32", "v_ffbh_u32", "v_ffbh_i32", "v_ffbl_b32"]
VECTOR2 = [
    "v_and_b32",
    "v_or_b32",
    "v_xor_b32",
    "v_xnor_b32",
    "v_lshlrev_b32",
    "v_lshrrev_b32",
    "v_ashrrev_i32",
    "v_min_i32",
    "v_max_i32",
    "v_min_u32",
    "v_max_u32",
    "v_add_nc_u32",
    "v_sub_nc_u32",
    "v_subrev_nc_u32",
    "v_mul_u32_u24",
    "v_mul_i32_i24",
    "v_mul_hi_u32_u24",
    "v_mul_hi_i32_i24",
]
VECTOR2_LONG = ["v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_bfm_b32", "v_bcnt_u32_b32"]
VECTOR3 = [
    "v_mad_u32_u24",
    "v_mad_i32_i24",
    "v_add3_u32",
    "v_lshl_add_u32",
    "v_add_lshl_u32",
    "v_xad_u32",
    "v_lshl_or_b32",
    "v_and_or_b32",
    "v_or3_b32",
    "v_xor3_b32",
    "v_bfi_b32",
    "v_bfe_u32",
    "v_bfe_i32",
    "v_alignbit_b32",
    "v_alignbyte_b32",
    "v_min3_i32",
    "v_min3_u32",
    "v_max3_i32",
    "v_max3_u32",
    "v_med3_i32",
    "v_med3_u32",
    "v_perm_b32",
    "v_sad_u32",
]
SPECIAL = [0, 1, -1, 0x80000000, 0x7FFFFFFF, 0xFFFF, 0x10000, 31, 32, 63, 0x3F800000, 0x7FC00000, 0x00000001]


class Generator:
    """Random straight-line code over s4-s15 (pairs even) and v1-v12, all that the lists above name."""

    def __init__(self, seed: int, wave: int) -> None:
        self.random, self.wave = random.Random(seed), wave

    def scalar(self) -> str:
        return f"s{self.random.randrange(4, 16)}"

    def pair(self) -> str:
        n = 2 * self.random.randrange(2, 8)
        return f"s[{n}:{n + 1}]"

    def vector(self) -> str:
        return f"v{self.random.randrange(1, 13)}"

    def mask(self) -> str:
        if self.wave == 64:
            return self.random.choice(["vcc", self.pair()])
        return self.random.choice(["vcc_lo", self.scalar()])

    def constant(self) -> str:
        return str(self.random.choice([0, 1, 5, 31, 64, -1, -16]))

    def scalar_source(self) -> str:
        return self.scalar() if self.random.random() < 0.8 else self.constant()

    def vector_source(self) -> str:
        return self.vector() if self.random.random() < 0.8 else self.scalar_source()

    def line(self) -> str:
        r, s, v = self.random, self.scalar_source, self.vector_source
        kind = r.randrange(17)
        choices = {
            0: lambda: f"{r.choice(SCALAR2)} {self.scalar()}, {s()}, {s()}",
            1: lambda: f"{r.choice(SCALAR2_WIDE)} {self.pair()}, {self.pair()}, {self.pair()}",
            2: lambda: f"{r.choice(SHIFTS_WIDE)} {self.pair()}, {self.pair()}, {s()}",
            3: lambda: f"{r.choice(SCALAR1)} {self.scalar()}, {s()}",
            4: lambda: f"{r.choice(SCALAR1_FROM_PAIR)} {self.scalar()}, {self.pair()}",
            5: lambda: f"{r.choice(SCALAR1_WIDE)} {self.pair()}, {self.pair()}",
            6: lambda: f"{r.choice(COMPARES)} {s()}, {self.scalar()}",
            7: lambda: f"{r.choice(VECTOR1)} {self.vector()}, {v()}",
            8: lambda: f"{r.choice(VECTOR2)} {self.vector()}, {v()}, {self.vector()}",
            9: lambda: f"{r.choice(VECTOR2_LONG)} {self.vector()}, {self.vector()}, {v()}",
            10: lambda: f"{r.choice(VECTOR3)} {self.vector()}, {self.vector()}, {self.vector()}, {v()}",
            11: self.compare,
            12: self.carry,
            13: lambda: f"v_cndmask_b32_e64 {self.vector()}, {self.vector()}, {self.vector()}, {self.mask()}",
            14: self.lanes,
            15: self.execute,
            16: self.modified,
        }
        return choices[kind]()

    def compare(self) -> str:
        operation = self.random.choice(["lt", "eq", "le", "gt", "ne", "ge"])
        kind = self.random.choice(["u32", "i32"])
        return f"v_cmp_{operation}_{kind}_e64 {self.mask()}, {self.vector()}, {self.vector_source()}"

    def carry(self) -> str:
        operation = self.random.choice(["v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32"])
        if self.random.random() < 0.5:
            return f"{operation} {self.vector()}, {self.mask()}, {self.vector()}, {self.vector()}"
        operation = operation.replace("_co_", "_co_ci_") + "_e64"
        return f"{operation} {self.vector()}, {self.mask()}, {self.vector()}, {self.vector()}, {self.mask()}"

    def lanes(self) -> str:
        return self.random.choice(
            [
                f"v_readfirstlane_b32 {self.scalar()}, {self.vector()}",
                f"v_readlane_b32 {self.scalar()}, {self.vector()}, {self.scalar_source()}",
                f"v_writelane_b32 {self.vector()}, {self.scalar()}, {self.constant()}",
                f"v_mbcnt_lo_u32_b32 {self.vector()}, {self.scalar()}, {self.vector()}",
                f"v_mbcnt_hi_u32_b32 {self.vector()}, {self.scalar()}, {self.vector()}",
            ]
        )

    def execute(self) -> str:
        """EXEC, but never left empty for long."""
        operation = self.random.choice(["and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor"])
        if self.wave == 64:
            return f"s_{operation}_saveexec_b64 {self.pair()}, {self.pair()}"
        return f"s_{operation}_saveexec_b32 {self.scalar()}, {self.scalar()}"

    def modified(self) -> str:
        a, b, c = self.vector(), self.vector(), self.vector()
        part = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"]
        one, two, dst = (self.random.choice(part) for _ in range(3))
        unused = self.random.choice(["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"])
        n = self.random.randrange(1, 16)
        ctrl = self.random.choice(
            [
                f"quad_perm:[{n & 3},{n >> 2},1,2]",
                f"row_shl:{n}",
                f"row_shr:{n}",
                f"row_ror:{n}",
                "row_mirror",
                "row_half_mirror",
                f"row_share:{n}",
                f"row_xmask:{n}",
            ]
        )
        masks = f"row_mask:0x{self.random.randrange(1, 16):x} bank_mask:0x{self.random.randrange(1, 16):x}"
        bound = self.random.choice(["", " bound_ctrl:0"])
        return self.random.choice(
            [
                f"v_add_nc_u32_sdwa {a}, {b}, {c} dst_sel:{dst} dst_unused:{unused} src0_sel:{one} src1_sel:{two}",
                f"v_add_nc_u32_dpp {a}, {b}, {c} {ctrl} {masks}{bound}",
                f"v_mov_b32_dpp {a}, {b} {ctrl} {masks}{bound}",
                f"v_xor_b32_dpp {a}, {b}, {c} dpp8:[7,6,5,{n & 7},3,2,1,0]",
            ]
        )

    def program(self, length: int) -> str:
        lines = [
            f"s_mov_b32 s{n}, 0x{self.random.choice([*SPECIAL, self.random.getrandbits(32)]) & 0xFFFFFFFF:x}"
            for n in range(4, 16)
        ]
        for n in range(1, 13):
            factor = self.random.choice([*SPECIAL, self.random.getrandbits(32)]) & 0xFFFFFFFF
            lines += [
                f"v_mul_lo_u32 v{n}, v0, 0x{factor:x}",
                f"v_xor_b32 v{n}, 0x{self.random.getrandbits(32):x}, v{n}",
            ]
        return "\n".join([*lines, *(self.line() for _ in range(length))])


def random_case(seed: int, wave: int, length: int = 60, waves: int = 1) -> Case:
    made = Generator(seed, wave).program(length)
    return case(made, wave=wave, waves=waves, scalars=[*range(4, 16), 106, 107], vectors=range(1, 13))


def test_scalar_comparisons(device: Device) -> None:
    """Each comparison of pairs that order differently with and without a sign; SCC shifts into a word of its own."""
    pairs = [(1, 2), (2, 1), (5, 5), (0x80000000, 1), (1, 0x80000000), (0xFFFFFFFF, 31), (0, 31)]
    lines = []
    for i, name in enumerate(COMPARES):
        lines.append(f"s_mov_b32 s{20 + i}, 1")
        for a, b in pairs:
            lines += [f"s_mov_b32 s4, 0x{a:x}", f"s_mov_b32 s5, 0x{b:x}", f"{name} s4, s5"]
            lines.append(f"s_addc_u32 s{20 + i}, s{20 + i}, s{20 + i}")
    made = case("\n".join(lines), scalars=range(20, 20 + len(COMPARES)))
    words = {name: int(made.interpreted().scalar[20 + i][0]) for i, name in enumerate(COMPARES)}
    assert (words["s_cmp_gt_u32"], words["s_cmp_gt_i32"]) == (0b10101010, 0b10100100)
    agree(made, device)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wave", [32, 64])
def test_random_operations(seed: int, wave: int, device: Device) -> None:
    agree(random_case(seed, wave), device)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_random_operations(seed: int, device: Device) -> None:
    agree(random_case(seed, 64 if seed % 2 else 32, 120), device)


# ---- kernels ----

QUICK = ["saxpy", "collatz", "pair64", "hist_lds", "early_exit", "wave_special", "wcompact"]
ROUNDED = {"nbody": 2e-3, "mandelbrot": 0.0, "spheres": 2e-3}
"""Kernels with operations that a device may round in its own way, and the relative difference that is allowed."""


def kernel_agrees(name: str, wave: int, opt: int, device: Device) -> None:
    """The host's memory, by the translated program in wave mode."""
    code, made = guest(name, wave, opt), CASES[name]
    given = made.make(np.random.default_rng(sum(name.encode())))
    wanted, got = copied(given), copied(given)
    run_host(name, wave, code.kernels[name].threads, wanted)
    program, windows = launch(code, code.kernels[name], made.groups, got)
    module = translation.translate(program)
    validate_spirv(module.words)
    counters = translation.run(device, program, module, windows, (*made.groups, 1))
    assert (counters.reads_outside, counters.writes_outside) == (0, 0)
    for want, have in zip(made.canonical(wanted), made.canonical(got), strict=True):
        if np.asarray(want).dtype.kind == "f" and name in ROUNDED:
            np.testing.assert_allclose(have, want, rtol=ROUNDED[name], atol=1e-6)
        else:
            np.testing.assert_array_equal(np.asarray(have), np.asarray(want))


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("name", QUICK)
def test_kernel_agrees_with_the_host(name: str, wave: int, device: Device) -> None:
    kernel_agrees(name, wave, 2, device)


@pytest.mark.deep
@pytest.mark.parametrize("opt", [1, 2, 3])
@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("name", CASES)
def test_every_kernel_agrees_or_is_refused_by_name(name: str, wave: int, opt: int, device: Device) -> None:
    refused = ""
    try:
        kernel_agrees(name, wave, opt, device)
    except Unsupported as error:
        refused = str(error)
    assert not refused or "offset 0x" in refused


# ---- the IR, and what is refused ----


def program_of(text: str, wave: int = 32, **members: object) -> Program:
    return Program(words=assemble(text, wave), wave=wave, vgprs=16, threads=(wave,), **members)  # type: ignore[arg-type]


def test_masks_meet_their_words() -> None:
    """A comparison that feeds a select stays a mask: no word is made of it, for a pair of scalars as for VCC."""
    text = "v_cmp_lt_u32_e64 s[4:5], 5, v0 / v_cndmask_b32_e64 v1, 1, 2, s[4:5]"
    text += " / global_store_dword v0, v1, s[0:1] / s_endpgm"
    text = translation.ir(program_of(text, 64))
    assert "mask_lo" not in text
    assert " lt_u " in text


def test_accesses_of_lds_are_seen_to_be_aligned() -> None:
    """Kind 4: an aligned dword, 2: such a half, 12 and 10 those at any byte; a loop's address stays a multiple of 4."""
    loop = """v_lshlrev_b32 v1, 2, v0
              L0: ds_read_b32 v2, v1
              v_add_nc_u32 v1, 0x100, v1
              v_cmp_gt_u32 vcc_lo, 0x400, v1
              s_cbranch_vccnz L0
              ds_write_b32 v1, v2 offset:OFFSET
              s_endpgm"""
    aligned, odd = (translation.ir(program_of(loop.replace("OFFSET", n), lds_bytes=4096)) for n in ("8", "6"))
    assert ("lds_load.4 " in aligned, "lds_store.4 " in aligned) == (True, True)
    assert ("lds_load.4 " in odd, "lds_store.12 " in odd) == (True, True)
    halves = (
        "v_lshlrev_b32 v1, 1, v0 / ds_read_u16 v2, v1 / ds_read_b32 v3, v1 / ds_write_b16 v0, v2 / ds_write_b32 v0, v3"
    )
    text = translation.ir(program_of(halves.replace(" / ", "\n") + "\ns_endpgm", lds_bytes=4096))
    assert [
        kind for kind in ("lds_load.2 ", "lds_load.12 ", "lds_store.10 ", "lds_store.12 ") if kind not in text
    ] == []


def test_and_of_masks_is_a_mask() -> None:
    """s_and_b64 of two comparisons, a branch on its result: still no word, and SCC is `any`."""
    text = translation.ir(
        program_of(
            """v_cmp_lt_u32_e64 s[4:5], 5, v0
               v_cmp_gt_u32_e64 s[6:7], 9, v0
               s_and_b64 s[4:5], s[4:5], s[6:7]
               s_cbranch_scc0 L0
               v_cndmask_b32_e64 v1, 1, 2, s[4:5]
               global_store_dword v0, v1, s[0:1]
               L0: s_endpgm""",
            64,
        )
    )
    assert "mask_lo" not in text
    assert " any " in text


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        ([0xBF820005], FormatError, "offset 0x0: s_branch: branches outside the program"),
        ([0x7E020280], FormatError, "control runs past the program's last word"),
        ([0xBF840000, 0x7E0202FF], FormatError, "offset 0x4"),
        ([0xBF900009, 0xBF810000], Unsupported, "offset 0x0: s_sendmsg is not translated: a message"),
    ],
)
def test_refusals_name_offset_and_instruction(words: list[int], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        translation.translate(Program(words=np.array(words, np.uint32), vgprs=8, threads=(32,)))


def test_limits_are_named() -> None:
    words = assemble("s_endpgm")
    with pytest.raises(LimitExceeded, match="2048 threads"):
        translation.translate(Program(words=words, threads=(2048,)))
    with pytest.raises(ArgumentError, match="7 lanes"):
        translation.translate(Program(words=words, threads=(32,)), Options(7))


def test_output_is_deterministic() -> None:
    first, again = (translation.translate(random_case(1, 64).program).words for _ in range(2))
    assert np.array_equal(first, again)


def test_accesses_outside_the_windows_are_counted(device: Device) -> None:
    """They read 0 and store nothing, as in the interpreter."""
    text = """v_mov_b32 v1, 0x1000
              v_mov_b32 v2, 7
              global_load_dword v3, v1, s[0:1]
              global_store_dword v1, v2, s[0:1]
              v_mov_b32 v1, 0
              global_store_dword v1, v3, s[0:1]
              s_endpgm"""
    program = Program(
        words=assemble(text), vgprs=16, threads=(32,), rsrc2=2 << 1, user_data=(0x1000, 0), rsrc1=0xF0 << 12
    )
    results = []
    for run_it in (
        lambda windows: interpret(program, windows),
        lambda windows: translation.run(device, program, translation.translate(program), windows),
    ):
        windows = {0x1000: np.full(4, 9, np.uint32)}
        report = run_it(windows)
        results.append((windows[0x1000].tolist(), report.reads_outside, report.writes_outside))
    assert results == [([0, 9, 9, 9], 32, 32)] * 2

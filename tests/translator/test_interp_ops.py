# SPDX-License-Identifier: MIT
"""Operations with answers known from the ISA's description, one instruction or a few at a time."""

from __future__ import annotations

import numpy as np
import pytest
from assembler import f16, f32, f64, run

from guestgpu.interpreter import EXEC, VCC

ALL = 0xFFFFFFFF
NAN, INF, NEG_ZERO, DENORM = 0x7FC00000, 0x7F800000, 0x80000000, 0x00000001
SNAN = 0x7F800001


def one(text: str, *sources: int, old: int = 0, **options: object) -> int:
    """v1, v2, v3 are the sources; v4 the destination, whose lane 0 is returned."""
    vector = {i + 1: value for i, value in enumerate(sources)}
    report = run(text, vector=vector | {4: old}, **options)  # type: ignore[arg-type]
    return int(report.registers.vector()[4][0])


def pair(text: str, *sources: int, **options: object) -> tuple[int, int]:
    """64-bit sources in v[10:11], v[12:13], v[14:15]; the destination v[4:5]."""
    vector = {10 + i: value for i, value in enumerate(sources)}
    v = run(text, vector=vector, **options).registers.vector()  # type: ignore[arg-type]
    return int(v[4][0]), int(v[5][0])


INTEGER = [
    ("v_add_nc_u32 v4, v1, v2", (ALL, 2), 1),
    ("v_add_nc_u32_e64 v4, v1, v2 clamp", (ALL, 2), ALL),
    ("v_sub_nc_u32_e64 v4, v1, v2 clamp", (1, 2), 0),
    ("v_subrev_nc_u32 v4, v1, v2", (1, 5), 4),
    ("v_add_nc_i32 v4, v1, v2 clamp", (0x7FFFFFFF, 2), 0x7FFFFFFF),
    ("v_sub_nc_i32 v4, v1, v2 clamp", (0x80000000, 2), 0x80000000),
    ("v_add3_u32 v4, v1, v2, v3", (ALL, ALL, 3), 1),
    ("v_lshl_add_u32 v4, v1, v2, v3", (3, 36, 5), 3 * 16 + 5),
    ("v_add_lshl_u32 v4, v1, v2, v3", (3, 4, 33), 14),
    ("v_lshl_or_b32 v4, v1, v2, v3", (1, 8, 1), 0x101),
    ("v_xad_u32 v4, v1, v2, v3", (0b1100, 0b1010, 1), 7),
    ("v_and_or_b32 v4, v1, v2, v3", (0xFF, 0x0F, 0xF00), 0xF0F),
    ("v_xor3_b32 v4, v1, v2, v3", (1, 2, 4), 7),
    ("v_xnor_b32 v4, v1, v2", (5, 5), ALL),
    ("v_bfe_u32 v4, v1, v2, v3", (0xABCD1234, 8, 8), 0x12),
    ("v_bfe_u32 v4, v1, v2, v3", (0xABCD1234, 28, 8), 0xA),
    ("v_bfe_u32 v4, v1, v2, v3", (0xABCD1234, 28, 32), 0),
    ("v_bfe_i32 v4, v1, v2, v3", (0x0000F000, 8, 8), 0xFFFFFFF0),
    ("v_bfe_i32 v4, v1, v2, v3", (0x80000000, 28, 8), 0xFFFFFFF8),
    ("v_bfi_b32 v4, v1, v2, v3", (0xFF00FF00, 0x12345678, 0x9ABCDEF0), 0x12BC56F0),
    ("v_bfm_b32 v4, v1, v2", (4, 8), 0xF00),
    ("v_bfrev_b32 v4, v1", (1,), 0x80000000),
    ("v_ffbh_u32 v4, v1", (1,), 31),
    ("v_ffbh_u32 v4, v1", (0,), ALL),
    ("v_ffbh_i32 v4, v1", (0xFFFFFF00,), 24),
    ("v_ffbh_i32 v4, v1", (ALL,), ALL),
    ("v_ffbl_b32 v4, v1", (0x80,), 7),
    ("v_bcnt_u32_b32 v4, v1, v2", (0xF0F, 100), 108),
    ("v_alignbit_b32 v4, v1, v2, v3", (0x12345678, 0x9ABCDEF0, 8), 0x789ABCDE),
    ("v_alignbyte_b32 v4, v1, v2, v3", (0x12345678, 0x9ABCDEF0, 3), 0x3456789A),
    ("v_perm_b32 v4, v1, v2, v3", (0x11223344, 0x55667788, 0x0C0D0700), 0x00FF1188),
    ("v_perm_b32 v4, v1, v2, v3", (0x80000000, 0x00008000, 0x0B0A0908), 0xFF0000FF),
    ("v_lerp_u8 v4, v1, v2, v3", (0x01FF0002, 0x02FF0001, 0x00010000), 0x01FF0001),
    ("v_sad_u8 v4, v1, v2, v3", (0x01020304, 0x04030201, 10), 18),
    ("v_sad_hi_u8 v4, v1, v2, v3", (0x01020304, 0x04030201, 10), (8 << 16) + 10),
    ("v_sad_u16 v4, v1, v2, v3", (0x00050001, 0x00010005, 1), 9),
    ("v_sad_u32 v4, v1, v2, v3", (1, ALL, 1), ALL),
    ("v_sad_u32 v4, v1, v2, v3 clamp", (0, ALL, 1), ALL),
    ("v_msad_u8 v4, v1, v2, v3", (0x01020304, 0x00030001, 0), 4),
    ("v_mul_i32_i24 v4, v1, v2", (0x00FFFFFF, 5), 0xFFFFFFFB),
    ("v_mul_hi_i32_i24 v4, v1, v2", (0x00FFFFFF, 5), ALL),
    ("v_mul_u32_u24 v4, v1, v2", (0xFF000010, 0x00001000), 0x10000),
    ("v_mul_hi_u32_u24 v4, v1, v2", (0xFFFFFF, 0xFFFFFF), 0xFFFF),
    ("v_mad_i32_i24 v4, v1, v2, v3", (0x00FFFFFF, 5, 7), 2),
    ("v_mad_u32_u24 v4, v1, v2, v3", (0xFF000002, 3, 1), 7),
    ("v_mul_lo_u32 v4, v1, v2", (0x10001, 0x10001), 0x20001),
    ("v_mul_hi_u32 v4, v1, v2", (ALL, ALL), 0xFFFFFFFE),
    ("v_mul_hi_i32 v4, v1, v2", (ALL, 2), ALL),
    ("v_min_i32 v4, v1, v2", (ALL, 1), ALL),
    ("v_max_u32 v4, v1, v2", (ALL, 1), ALL),
    ("v_min3_i32 v4, v1, v2, v3", (3, ALL, 2), ALL),
    ("v_max3_u32 v4, v1, v2, v3", (3, ALL, 2), ALL),
    ("v_med3_i32 v4, v1, v2, v3", (3, ALL, 2), 2),
    ("v_med3_u32 v4, v1, v2, v3", (3, ALL, 2), 3),
    ("v_ashrrev_i32 v4, v1, v2", (33, 0x80000000), 0xC0000000),
    ("v_lshrrev_b32 v4, v1, v2", (31, 0x80000000), 1),
    ("v_cvt_pk_u16_u32 v4, v1, v2", (70000, 5), 0x0005FFFF),
    ("v_cvt_pk_i16_i32 v4, v1, v2", (0x80000000, 70000), 0x7FFF8000),
    ("v_sat_pk_u8_i16 v4, v1", (0x0123FFFF,), 0xFF00),
    ("v_cvt_f32_ubyte2 v4, v1", (0x00C80000,), f32(200)),
    ("v_cvt_off_f32_i4 v4, v1", (0x8,), f32(-0.5)),
]


@pytest.mark.parametrize(("text", "sources", "wanted"), INTEGER)
def test_integer(text: str, sources: tuple[int, ...], wanted: int) -> None:
    assert one(text, *sources) == wanted


HALF = [
    ("v_add_nc_u16 v4, v1, v2", (0xFFFF, 2), 1),
    ("v_add_nc_u16 v4, v1, v2 clamp", (0xFFFF, 2), 0xFFFF),
    ("v_sub_nc_i16 v4, v1, v2 clamp", (0x8000, 1), 0x8000),
    ("v_mul_lo_u16 v4, v1, v2", (0x101, 0x101), 0x0201),
    ("v_mad_u16 v4, v1, v2, v3 clamp", (0x1000, 0x10, 5), 0xFFFF),
    ("v_ashrrev_i16 v4, v1, v2", (1, 0x8000), 0xC000),
    ("v_med3_i16 v4, v1, v2, v3", (1, 0xFFFF, 5), 1),
    ("v_add_f16 v4, v1, v2", (f16(1.5), f16(2.25)), f16(3.75)),
    ("v_fma_f16 v4, v1, v2, v3", (f16(2), f16(3), f16(0.5)), f16(6.5)),
    ("v_max_f16 v4, v1, v2", (f16(-1), 0x7E00), f16(-1)),
    ("v_cvt_f16_f32 v4, v1", (f32(65520),), 0x7C00),
    ("v_cvt_f16_f32 v4, v1", (f32(2.0**-24),), 1),
    ("v_cvt_u16_f16 v4, v1", (f16(-3),), 0),
    ("v_cvt_i16_f16 v4, v1", (f16(-3.9),), 0xFFFD),
    ("v_cvt_norm_i16_f16 v4, v1", (f16(-1),), 0x8001),
    ("v_ldexp_f16 v4, v1, v2", (f16(1.5), 0xFFFF), f16(0.75)),
    ("v_rcp_f16 v4, v1", (f16(4),), f16(0.25)),
    ("v_frexp_exp_i16_f16 v4, v1", (f16(0.25),), 0xFFFF),
]


@pytest.mark.parametrize(("text", "sources", "wanted"), HALF)
def test_16_bits_keep_the_other_half(text: str, sources: tuple[int, ...], wanted: int) -> None:
    assert one(text, *sources, old=0xABCD1234) == 0xABCD0000 | wanted


def test_op_sel_of_vop3() -> None:
    assert one("v_add_nc_u16 v4, v1, v2 op_sel:[1,0,1]", 0x00050001, 0x00070002, old=0x1234) == 0x00071234
    assert one("v_fma_f16 v4, v1, v2, v3 op_sel:[0,1,0,0]", f16(2), f16(3) << 16, f16(1), old=0) == f16(7)


FLOAT = [
    ("v_add_f32 v4, v1, v2", (f32(1), f32(2.0**-24)), f32(1)),
    ("v_add_f32 v4, v1, v2", (f32(1), f32(-1)), 0),
    ("v_sub_f32 v4, v1, v2", (INF, INF), NAN),
    ("v_subrev_f32 v4, v1, v2", (f32(1), f32(3)), f32(2)),
    ("v_mul_f32 v4, v1, v2", (INF, 0), NAN),
    ("v_mul_legacy_f32 v4, v1, v2", (INF, 0), 0),
    ("v_add_f32 v4, v1, v2", (SNAN, 0), SNAN | 0x400000),
    ("v_mul_f32_e64 v4, -|v1|, v2", (f32(-2), f32(3)), f32(-6)),
    ("v_fma_f32 v4, v1, v2, v3", (f32(1 + 2.0**-12), f32(1 + 2.0**-12), f32(-1 - 2.0**-11)), f32(2.0**-24)),
    ("v_min_f32 v4, v1, v2", (0, NEG_ZERO), NEG_ZERO),
    ("v_max_f32 v4, v1, v2", (NEG_ZERO, 0), 0),
    ("v_min_f32 v4, v1, v2", (NAN, f32(3)), f32(3)),
    ("v_med3_f32 v4, v1, v2, v3", (f32(3), f32(-1), f32(2)), f32(2)),
    ("v_med3_f32 v4, v1, v2, v3", (f32(3), NAN, f32(2)), f32(2)),
    ("v_min3_f32 v4, v1, v2, v3", (f32(3), f32(-1), f32(2)), f32(-1)),
    ("v_fract_f32 v4, v1", (f32(-0.25),), f32(0.75)),
    ("v_fract_f32 v4, v1", (f32(-1e-20),), 0x3F7FFFFF),
    ("v_trunc_f32 v4, v1", (f32(-0.5),), NEG_ZERO),
    ("v_ceil_f32 v4, v1", (f32(0.1),), f32(1)),
    ("v_floor_f32 v4, v1", (f32(-0.1),), f32(-1)),
    ("v_rndne_f32 v4, v1", (f32(2.5),), f32(2)),
    ("v_rcp_f32 v4, v1", (f32(-4),), f32(-0.25)),
    ("v_rcp_f32 v4, v1", (0,), INF),
    ("v_rsq_f32 v4, v1", (f32(16),), f32(0.25)),
    ("v_rsq_f32 v4, v1", (f32(-1),), NAN),
    ("v_sqrt_f32 v4, v1", (f32(2),), f32(np.sqrt(np.float32(2)))),
    ("v_log_f32 v4, v1", (f32(8),), f32(3)),
    ("v_exp_f32 v4, v1", (f32(-3),), f32(0.125)),
    ("v_sin_f32 v4, v1", (f32(0.25),), f32(1)),
    ("v_cos_f32 v4, v1", (f32(0.5),), f32(-1)),
    ("v_ldexp_f32 v4, v1, v2", (f32(1.5), 4), f32(24)),
    ("v_ldexp_f32 v4, v1, v2", (f32(1), 0x80000000), 0),
    ("v_frexp_exp_i32_f32 v4, v1", (f32(8),), 4),
    ("v_frexp_mant_f32 v4, v1", (f32(-12),), f32(-0.75)),
    ("v_frexp_exp_i32_f32 v4, v1", (DENORM,), (-148) & ALL),
    ("v_cvt_i32_f32 v4, v1", (f32(-1.9),), ALL),
    ("v_cvt_i32_f32 v4, v1", (f32(3e9),), 0x7FFFFFFF),
    ("v_cvt_i32_f32 v4, v1", (NAN,), 0),
    ("v_cvt_u32_f32 v4, v1", (f32(-1),), 0),
    ("v_cvt_u32_f32 v4, v1", (f32(5e9),), ALL),
    ("v_cvt_flr_i32_f32 v4, v1", (f32(-1.1),), (-2) & ALL),
    ("v_cvt_rpi_i32_f32 v4, v1", (f32(2.5),), 3),
    ("v_cvt_rpi_i32_f32 v4, v1", (f32(-2.5),), (-2) & ALL),
    ("v_cvt_f32_u32 v4, v1", (0xFFFFFFFF,), f32(2.0**32)),
    ("v_cvt_f32_i32 v4, v1", (0x80000000,), f32(-(2.0**31))),
    ("v_cvt_f32_f16 v4, v1", (0x0001,), f32(2.0**-24)),
    ("v_cvt_pkrtz_f16_f32 v4, v1, v2", (f32(1.9999999), f32(65535)), 0x7BFF3FFF),
    ("v_cvt_pknorm_i16_f32 v4, v1, v2", (f32(1), f32(-2)), 0x80017FFF),
    ("v_cvt_pknorm_u16_f32 v4, v1, v2", (f32(0.5), NAN), 0x8000),
    ("v_cvt_pk_u8_f32 v4, v1, v2, v3", (f32(300), 1, 0x11223344), 0x1122FF44),
    ("v_cubeid_f32 v4, v1, v2, v3", (f32(1), f32(-5), f32(2)), f32(3)),
    ("v_cubema_f32 v4, v1, v2, v3", (f32(1), f32(-5), f32(2)), f32(-10)),
    ("v_cubesc_f32 v4, v1, v2, v3", (f32(1), f32(-5), f32(2)), f32(1)),
    ("v_cubetc_f32 v4, v1, v2, v3", (f32(1), f32(-5), f32(2)), f32(-2)),
    ("v_pack_b32_f16 v4, v1, v2", (f16(1), f16(2)), f16(2) << 16 | f16(1)),
]


@pytest.mark.parametrize(("text", "sources", "wanted"), FLOAT)
def test_float(text: str, sources: tuple[int, ...], wanted: int) -> None:
    assert one(text, *sources) == wanted


def test_madak_and_fmac() -> None:
    assert one("v_fmaak_f32 v4, v1, v2, 0x41200000", f32(2), f32(3)) == f32(16)
    assert one("v_fmamk_f32 v4, v1, 0x41200000, v2", f32(2), f32(3)) == f32(23)
    assert one("v_fmac_f32 v4, v1, v2", f32(2), f32(3), old=f32(1)) == f32(7)
    # Unfused and without denormals: the square rounds to the subtrahend.
    squares = (f32(1 + 2.0**-12), f32(1 + 2.0**-12), f32(-1 - 2.0**-11))
    assert one("v_mad_f32 v4, v1, v2, v3", *squares, gpu="gfx1013") == 0
    assert one("v_mac_f32 v4, v1, v2", DENORM, f32(1), old=f32(1), gpu="gfx1013") == f32(1)


@pytest.mark.parametrize(
    ("round_mode", "wanted"),
    [(0, f32(1)), (1, f32(1) + 1), (2, f32(1)), (3, f32(1))],
    ids=["even", "up", "down", "zero"],
)
def test_rounding_modes(round_mode: int, wanted: int) -> None:
    assert one("v_add_f32 v4, v1, v2", f32(1), f32(2.0**-30), mode=0xF0 | round_mode) == wanted
    negative = {0: f32(-1), 1: f32(-1), 2: f32(-1) + 1, 3: f32(-1)}[round_mode]
    assert one("v_add_f32 v4, v1, v2", f32(-1), f32(-(2.0**-30)), mode=0xF0 | round_mode) == negative
    # f16 and f64 have a mode of their own.
    assert one("v_add_f16 v4, v1, v2", f16(1), f16(2.0**-14), mode=0xF0 | round_mode << 2) == f16(1) + (round_mode == 1)
    assert one("v_add_f16 v4, v1, v2", f16(1), f16(2.0**-14), mode=0xF0 | round_mode) == f16(1)


def test_overflow_follows_the_rounding_mode() -> None:
    most = 0x7F7FFFFF
    assert one("v_add_f32 v4, v1, v2", most, most, mode=0xF0) == INF
    assert one("v_add_f32 v4, v1, v2", most, most, mode=0xF3) == most
    assert one("v_add_f32 v4, v1, v2", most, most, mode=0xF2) == most


@pytest.mark.parametrize(("denorm", "wanted"), [(0, 0), (1, 0), (2, 0), (3, 2)])
def test_denormal_modes_of_f32(denorm: int, wanted: int) -> None:
    """Bit 0 lets them in, bit 1 lets them out."""
    assert one("v_add_f32 v4, v1, v2", DENORM, DENORM, mode=denorm << 4) == wanted
    least = 0x00800000  # normal; half of it is not
    assert one("v_mul_f32 v4, v1, v2", least, f32(0.5), mode=denorm << 4) == (0x00400000 if denorm & 2 else 0)
    assert one("v_mul_f32 v4, v1, v2", 0x00400000, f32(2), mode=denorm << 4) == (least if denorm & 1 else 0)
    # f16 has its own bits; moves and integers do not care.
    assert one("v_add_f16 v4, v1, v2", 1, 1, mode=denorm << 6) == wanted
    assert one("v_mov_b32 v4, v1", DENORM, mode=0) == DENORM
    assert one("v_max_f32 v4, v1, v1", DENORM, mode=denorm << 4) == (1 if denorm == 3 else 0)
    assert one("v_rcp_f32 v4, v1", DENORM, mode=denorm << 4) == INF
    below = DENORM | 1 << 31
    assert one("v_cvt_flr_i32_f32 v4, v1", below, mode=denorm << 4) == (ALL if denorm & 1 else 0)
    assert one("v_cubetc_f32 v4, v1, v2, v3", 0, DENORM, f32(1), mode=denorm << 4) == (
        below if denorm == 3 else NEG_ZERO
    )


def test_modes_are_set_by_instructions() -> None:
    assert one("s_denorm_mode 0 / v_add_f32 v4, v1, v2", DENORM, DENORM) == 0
    assert one("s_round_mode 1 / v_add_f32 v4, v1, v2", f32(1), DENORM) == f32(1) + 1
    s = run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1 / s_getreg_b32 s4, hwreg(HW_REG_MODE)").registers.scalar()
    assert s[4] == 0xD0
    s = run("s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)", mode=0x3F0).registers.scalar()
    assert s[4] == 0xF


def test_clamp_and_omod() -> None:
    assert one("v_add_f32_e64 v4, v1, v2 clamp", f32(3), f32(1)) == f32(1)
    assert one("v_add_f32_e64 v4, v1, v2 clamp", f32(-3), f32(1)) == 0
    assert one("v_add_f32_e64 v4, v1, v2 clamp", NAN, 0, mode=0xF0) == NAN
    assert one("v_add_f32_e64 v4, v1, v2 clamp", NAN, 0, mode=0x1F0) == 0  # dx10_clamp
    # Output modifiers need flushed denormals and no IEEE mode.
    assert one("v_add_f32_e64 v4, v1, v2 mul:4", f32(3), f32(1), mode=0) == f32(16)
    assert one("v_add_f32_e64 v4, v1, v2 div:2", f32(3), f32(1), mode=0) == f32(2)
    assert one("v_add_f32_e64 v4, v1, v2 mul:2", f32(3), f32(1), mode=0xF0) == f32(4)
    assert one("v_add_f32_e64 v4, v1, v2 mul:2", f32(3), f32(1), mode=0x200) == f32(4)
    assert one("v_mul_f32_e64 v4, v1, v2 mul:2", NEG_ZERO, f32(1), mode=0) == 0
    # They take zero for a denormal, as which v_div_fixup passes a quotient on.
    assert one("v_div_fixup_f32 v4, v1, v2, v3", 0x7FFFFF, f32(1), f32(1), mode=0) == 0x7FFFFF
    assert one("v_div_fixup_f32 v4, v1, v2, v3 mul:2", 0x7FFFFF, f32(1), f32(1), mode=0) == 0
    assert one("v_div_fixup_f32 v4, v1, v2, v3 mul:2", 0x7FFFFF, f32(1), f32(1), mode=0x10) == 0
    assert one("v_div_scale_f32 v4, s4, v1, v1, v2 mul:2", f32(3), f32(1), mode=0) == f32(6)


def test_ieee_mode_quiets_in_min() -> None:
    assert one("v_min_f32 v4, v1, v2", SNAN, f32(1), mode=0xF0) == f32(1)
    assert one("v_min_f32 v4, v1, v2", SNAN, f32(1), mode=0x2F0) == SNAN | 0x400000


CLASSES = [
    (SNAN, 1), (NAN, 2), (INF | 1 << 31, 4), (f32(-1), 8), (DENORM | 1 << 31, 16), (NEG_ZERO, 32), (0, 64),
    (DENORM, 128), (f32(1), 256), (INF, 512),
]  # fmt: skip


@pytest.mark.parametrize(("value", "bit"), CLASSES)
def test_class(value: int, bit: int) -> None:
    text = "v_cmp_class_f32 s4, v1, v2 / v_cmp_class_f32 s5, v1, v3"
    s = run(text, vector={1: value, 2: bit, 3: 0x3FF ^ bit}, mode=0).registers.scalar()
    assert s[4] == ALL
    assert s[5] == 0


def test_comparisons_of_floats() -> None:
    pairs = {"lt": (1, 2), "eq": (1, 1), "gt": (2, 1), "un": (1, np.nan)}
    wanted = {
        "f": "", "lt": "lt", "eq": "eq", "le": "lt eq", "gt": "gt", "lg": "lt gt", "ge": "gt eq", "o": "lt eq gt",
        "u": "un", "nge": "lt un", "nlg": "eq un", "ngt": "lt eq un", "nle": "gt un", "neq": "lt gt un",
        "nlt": "eq gt un", "tru": "lt eq gt un",
    }  # fmt: skip
    for kind, bits in (("f32", f32), ("f16", f16)):
        left = [bits(a) for a, _ in pairs.values()] * 8
        right = [bits(b) for _, b in pairs.values()] * 8
        for condition, holds in wanted.items():
            s = run(f"v_cmp_{condition}_{kind} vcc_lo, v1, v2", vector={1: left, 2: right}).registers.scalar()
            mask = sum(1 << i for i, name in enumerate(pairs) if name in holds.split())
            assert s[VCC] == mask * 0x11111111, (kind, condition)


def test_comparisons_of_integers() -> None:
    wanted = {"lt": 1, "eq": 2, "le": 3, "gt": 4, "ne": 5, "ge": 6}
    for kind, order in (("i32", [ALL, 0, 1]), ("u32", [0, 1, ALL]), ("i16", [0xFFFF, 0, 1]), ("u16", [0, 1, 0xFFFF])):
        for condition, code in wanted.items():
            vector = {1: order * 10 + [0, 0], 2: [order[1]] * 32}
            mask = int(run(f"v_cmp_{condition}_{kind} vcc_lo, v1, v2", vector=vector).registers.scalar()[VCC])
            got = mask & 1, mask >> 1 & 1, mask >> 2 & 1  # less, equal, greater
            assert got == (code & 1, code >> 1 & 1, code >> 2 & 1), (kind, condition)


def test_compare_writes_zero_for_inactive_lanes() -> None:
    s = run("v_cmp_eq_u32 vcc_lo, v0, v0", execute=0xF0, scalar={VCC: ALL}).registers.scalar()
    assert s[VCC] == 0xF0


def test_doubles() -> None:
    assert pair("v_add_f64 v[4:5], v[10:11], v[12:13]", *f64(1.5), *f64(1e-300)) == f64(1.5)
    assert pair("v_mul_f64 v[4:5], v[10:11], v[12:13]", *f64(1e200), *f64(1e200)) == f64(np.inf)
    assert pair("v_fma_f64 v[4:5], v[10:11], v[12:13], v[14:15]", *f64(3), *f64(5), *f64(-15)) == f64(0)
    assert pair("v_rcp_f64 v[4:5], v[10:11]", *f64(3)) == f64(1 / 3)
    assert pair("v_ldexp_f64 v[4:5], v[10:11], v12", *f64(1), (-1074) & ALL) == (1, 0)
    assert pair("v_fract_f64 v[4:5], v[10:11]", *f64(2.75)) == f64(0.75)
    assert pair("v_cvt_f64_i32 v[4:5], v10", ALL) == f64(-1)
    assert pair("v_min_f64 v[4:5], v[10:11], v[12:13]", *f64(-0.0), *f64(0)) == f64(-0.0)
    # 2/pi begins 0.101000101...
    assert pair("v_trig_preop_f64 v[4:5], v[10:11], 0", *f64(1)) == f64(float.fromhex("0x1.45f306dc9c882p-1"))
    v = run("v_cvt_f32_f64 v4, v[10:11]", vector={10: f64(1e300)[0], 11: f64(1e300)[1]}).registers.vector()
    assert v[4][0] == INF


def test_64_bit_shifts_and_products() -> None:
    assert pair("v_lshlrev_b64 v[4:5], v10, v[12:13]", 33, 0, 3, 0) == (0, 6)
    assert pair("v_ashrrev_i64 v[4:5], v10, v[12:13]", 65, 0, 0, 0x80000000) == (0, 0xC0000000)
    report = run("v_mad_i64_i32 v[4:5], s4, v10, v11, v[12:13]", vector={10: ALL, 11: 2, 12: 1, 13: 0})
    assert [report.registers.vector()[i][0] for i in (4, 5)] == [ALL, ALL]
    assert report.registers.scalar()[4] == ALL
    sums = pair("v_qsad_pk_u16_u8 v[4:5], v[10:11], v12, v[14:15]", 0x04030201, 0x08070605, 0x01010101, 0, 1, 0)
    assert sums == ((6 + 1) | 10 << 16, 14 | 18 << 16)


@pytest.mark.parametrize("seed", range(4))
def test_division_sequence_rounds_correctly(seed: int) -> None:
    """div_scale, Newton, div_fmas, div_fixup as compilers emit it, against the host's division."""
    rng = np.random.default_rng(seed)
    exponents = rng.integers(1, 255, (2, 32)) if seed else np.array([[1] * 16 + [254] * 16, [254] * 8 + [1] * 24])
    bits = (exponents << 23 | rng.integers(0, 1 << 23, (2, 32)) | rng.integers(0, 2, (2, 32)) << 31).astype(np.uint32)
    bits[0, :4] = 0, INF, NAN, f32(1)
    bits[1, :4] = f32(3), f32(2), f32(1), 0x7F000000  # 1 / 2^127 is a denormal
    program = """
        v_div_scale_f32 v10, s4, v2, v2, v1
        v_div_scale_f32 v11, vcc_lo, v1, v2, v1
        v_rcp_f32 v12, v10
        v_fma_f32 v13, -v10, v12, 1.0
        v_fma_f32 v12, v13, v12, v12
        v_mul_f32 v13, v11, v12
        v_fma_f32 v14, -v10, v13, v11
        v_fma_f32 v13, v14, v12, v13
        v_fma_f32 v14, -v10, v13, v11
        v_div_fmas_f32 v12, v14, v12, v13
        v_div_fixup_f32 v4, v12, v2, v1
    """
    got = run(program, vector={1: bits[0], 2: bits[1]}).registers.vector()[4].copy()
    with np.errstate(all="ignore"):
        wanted = bits[0].view(np.float32) / bits[1].view(np.float32)
    same = (got.view(np.float32) == wanted) | (np.isnan(wanted) & np.isnan(got.view(np.float32)))
    normal = np.isnan(wanted) | (np.abs(wanted) >= 2.0**-126) | (wanted == 0)
    assert same[normal].all()
    assert same[3]
    # The scaling back of denormal quotients rounds a second time: one bit at most.
    assert (np.abs(got.astype(np.int64) - wanted.view(np.uint32).astype(np.int64))[~normal] <= 1).all()


def test_carries_in_both_wave_sizes() -> None:
    for wave in (32, 64):
        vcc = "vcc_lo" if wave == 32 else "vcc"
        program = f"v_add_co_u32 v4, {vcc}, v1, v2 / v_add_co_ci_u32 v5, {vcc}, v3, v3, {vcc}"
        values = [ALL, 0] * (wave // 2)
        v = run(program, wave=wave, vector={1: values, 2: 1, 3: 5}).registers.vector()
        assert list(v[4]) == [0, 1] * (wave // 2)
        assert list(v[5]) == [11, 10] * (wave // 2)
    report = run("v_subrev_co_u32 v4, vcc_lo, v1, v2", vector={1: 3, 2: 2})
    assert report.registers.vector()[4][0] == ALL
    assert report.registers.scalar()[VCC] == ALL


PACKED = [
    ("v_pk_add_u16 v4, v1, v2", (0x0001FFFF, 0x00010001), 0x00020000),
    ("v_pk_add_u16 v4, v1, v2 clamp", (0x0001FFFF, 0x00010001), 0x0002FFFF),
    ("v_pk_sub_i16 v4, v1, v2 clamp", (0x00018000, 0x00020001), 0xFFFF8000),
    ("v_pk_add_u16 v4, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]", (0x00010002, 0x00300040), 0x00320041),
    ("v_pk_mul_lo_u16 v4, v1, v2", (0x00030002, 0x00050004), 0x000F0008),
    ("v_pk_mad_i16 v4, v1, v2, v3", (0x00030002, 0x00050004, 0x00010001), 0x00100009),
    ("v_pk_lshlrev_b16 v4, v1, v2", (0x00010004, 0x80010001), 0x00020010),
    ("v_pk_ashrrev_i16 v4, v1, v2", (0x00010001, 0x80000002), 0xC0000001),
    ("v_pk_max_i16 v4, v1, v2", (0xFFFF0001, 0x00000000), 0x00000001),
    ("v_pk_min_u16 v4, v1, v2", (0xFFFF0001, 0x00010002), 0x00010001),
    ("v_pk_fma_f16 v4, v1, v2, v3", (f16(2) << 16 | f16(3), f16(4) << 16 | f16(5), f16(1) << 16 | f16(-1)),
     f16(9) << 16 | f16(14)),
    ("v_pk_mul_f16 v4, v1, v2 neg_lo:[1,0] neg_hi:[0,1]", (f16(2) << 16 | f16(3), f16(4) << 16 | f16(5)),
     f16(-8) << 16 | f16(-15)),
    ("v_pk_add_f16 v4, v1, v2 clamp", (f16(2) << 16 | f16(0.25), f16(4) << 16 | f16(0.5)), f16(1) << 16 | f16(0.75)),
    ("v_dot2_f32_f16 v4, v1, v2, v3", (f16(2) << 16 | f16(3), f16(4) << 16 | f16(5), f32(0.5)), f32(23.5)),
    ("v_dot2_i32_i16 v4, v1, v2, v3", (0xFFFF0002, 0x00030004, 1), 6),
    ("v_dot2_u32_u16 v4, v1, v2, v3 clamp", (0xFFFFFFFF, 0xFFFFFFFF, ALL), ALL),
    ("v_dot4_i32_i8 v4, v1, v2, v3", (0xFF020304, 0x01010101, 10), 18),
    ("v_dot4_u32_u8 v4, v1, v2, v3", (0xFF020304, 0x01010101, 10), 274),
    ("v_dot8_i32_i4 v4, v1, v2, v3", (0xF0000001, 0x20000003, 0), 1),
    ("v_dot8_u32_u4 v4, v1, v2, v3", (0xF0000001, 0x20000003, 0), 33),
    ("v_fma_mix_f32 v4, v1, v2, v3 op_sel_hi:[1,0,0]", (f16(2), f32(3), f32(1)), f32(7)),
    ("v_fma_mix_f32 v4, -v1, |v2|, v3 op_sel:[1,0,0] op_sel_hi:[1,0,0]", (f16(2) << 16, f32(-3), f32(1)), f32(-5)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sources", "wanted"), PACKED)
def test_packed(text: str, sources: tuple[int, ...], wanted: int) -> None:
    assert one(text, *sources) == wanted


def test_packed_with_the_destination() -> None:
    assert one("v_fma_mixlo_f16 v4, v1, v2, v3", f32(2), f32(3), f32(1), old=0x12345678) == 0x12340000 | f16(7)
    assert one("v_fma_mixhi_f16 v4, v1, v2, v3", f32(2), f32(3), f32(1), old=0x12345678) == f16(7) << 16 | 0x5678
    assert one("v_dot2c_f32_f16 v4, v1, v2", f16(2) << 16 | f16(3), f16(4) << 16 | f16(5), old=f32(1)) == f32(24)
    assert one("v_dot4c_i32_i8 v4, v1, v2", 0xFF020304, 0x01010101, old=2) == 10
    halves = f16(2) << 16 | f16(3), f16(4) << 16 | f16(5)
    assert one("v_pk_fmac_f16 v4, v1, v2", *halves, old=f16(1) << 16 | f16(2)) == f16(9) << 16 | f16(17)


SCALAR = [
    ("s_add_u32 s4, s5, s6", (ALL, 1), 0, 1),
    ("s_add_i32 s4, s5, s6", (0x7FFFFFFF, 1), 0x80000000, 1),
    ("s_sub_u32 s4, s5, s6", (1, 2), ALL, 1),
    ("s_sub_i32 s4, s5, s6", (0x80000000, 1), 0x7FFFFFFF, 1),
    ("s_min_i32 s4, s5, s6", (ALL, 1), ALL, 1),
    ("s_max_u32 s4, s5, s6", (1, ALL), ALL, 0),
    ("s_and_b32 s4, s5, s6", (1, 2), 0, 0),
    ("s_orn2_b32 s4, s5, s6", (1, ALL), 1, 1),
    ("s_nand_b32 s4, s5, s6", (ALL, ALL), 0, 0),
    ("s_lshl_b32 s4, s5, s6", (1, 33), 2, 1),
    ("s_ashr_i32 s4, s5, s6", (0x80000000, 31), ALL, 1),
    ("s_bfe_u32 s4, s5, s6", (0xABCD1234, 8 | 8 << 16), 0x12, 1),
    ("s_bfe_i32 s4, s5, s6", (0x0000F000, 8 | 8 << 16), 0xFFFFFFF0, 1),
    ("s_bfe_i32 s4, s5, s6", (0x80000000, 31 | 5 << 16), ALL, 1),
    ("s_bfe_u32 s4, s5, s6", (0xABCD1234, 8), 0, 0),
    ("s_absdiff_i32 s4, s5, s6", (3, 5), 2, 1),
    ("s_absdiff_i32 s4, s5, s6", (0x80000000, 1), 0x7FFFFFFF, 1),
    ("s_absdiff_i32 s4, s5, s6", (0x80000000, ALL), 0x7FFFFFFF, 1),
    ("s_absdiff_i32 s4, s5, s6", (0x80000000, 0), 0x80000000, 1),
    ("s_lshl2_add_u32 s4, s5, s6", (0x40000000, 1), 1, 1),
    ("s_abs_i32 s4, s5", (0x80000000,), 0x80000000, 1),
    ("s_not_b32 s4, s5", (ALL,), 0, 0),
    ("s_bcnt0_i32_b32 s4, s5", (ALL,), 0, 0),
    ("s_bcnt1_i32_b32 s4, s5", (0xF0,), 4, 1),
    ("s_wqm_b32 s4, s5", (0x01000010,), 0x0F0000F0, 1),
    ("s_quadmask_b32 s4, s5", (0x01000010,), 0x42, 1),
]
PLAIN_SCALAR = [
    ("s_brev_b32 s4, s5", (1,), 0x80000000),
    ("s_ff1_i32_b32 s4, s5", (0x80,), 7),
    ("s_ff1_i32_b32 s4, s5", (0,), ALL),
    ("s_ff0_i32_b32 s4, s5", (0x7F,), 7),
    ("s_ff0_i32_b32 s4, s5", (ALL,), ALL),
    ("s_flbit_i32_b32 s4, s5", (1,), 31),
    ("s_flbit_i32_b32 s4, s5", (0,), ALL),
    ("s_flbit_i32 s4, s5", (0xFFFFFF00,), 24),
    ("s_flbit_i32 s4, s5", (ALL,), ALL),
    ("s_sext_i32_i8 s4, s5", (0x180,), 0xFFFFFF80),
    ("s_sext_i32_i16 s4, s5", (0x18000,), 0xFFFF8000),
    ("s_bitset1_b32 s4, s5", (36,), 16),
    ("s_bfm_b32 s4, s5, s6", (4, 8), 0xF00),
    ("s_mul_i32 s4, s5, s6", (ALL, 3), (-3) & ALL),
    ("s_mul_hi_u32 s4, s5, s6", (ALL, ALL), 0xFFFFFFFE),
    ("s_mul_hi_i32 s4, s5, s6", (ALL, 3), ALL),
    ("s_pack_ll_b32_b16 s4, s5, s6", (0x12345678, 0x9ABCDEF0), 0xDEF05678),
    ("s_pack_lh_b32_b16 s4, s5, s6", (0x12345678, 0x9ABCDEF0), 0x9ABC5678),
    ("s_pack_hh_b32_b16 s4, s5, s6", (0x12345678, 0x9ABCDEF0), 0x9ABC1234),
    ("s_movk_i32 s4, 0x8000", (), 0xFFFF8000),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sources", "wanted", "scc"), SCALAR)
def test_scalar_with_scc(text: str, sources: tuple[int, ...], wanted: int, scc: int) -> None:
    registers = run(text, scalar={5 + i: value for i, value in enumerate(sources)}).registers
    assert (registers.scalar()[4], registers.state()[0]) == (wanted, scc)


@pytest.mark.parametrize(("text", "sources", "wanted"), PLAIN_SCALAR)
def test_scalar_without_scc(text: str, sources: tuple[int, ...], wanted: int) -> None:
    for before in (0, 1):
        prepared = f"s_cmp_eq_u32 {before}, 1 / {text}"
        registers = run(prepared, scalar={5 + i: value for i, value in enumerate(sources)}).registers
        assert (registers.scalar()[4], registers.state()[0]) == (wanted, before)


SCALAR_64 = [
    ("s_lshl_b64 s[4:5], s[6:7], s8", (1, 0, 36), (0, 16)),
    ("s_ashr_i64 s[4:5], s[6:7], s8", (0, 0x80000000, 32), (0x80000000, ALL)),
    ("s_bfe_u64 s[4:5], s[6:7], s8", (0, 0xAB, 32 | 8 << 16), (0xAB, 0)),
    ("s_bfe_i64 s[4:5], s[6:7], s8", (0, 0x80, 32 | 8 << 16), (0xFFFFFF80, ALL)),
    ("s_bfm_b64 s[4:5], s6, s7", (8, 28), (0xF0000000, 0xF)),
    ("s_brev_b64 s[4:5], s[6:7]", (1, 0), (0, 0x80000000)),
    ("s_not_b64 s[4:5], s[6:7]", (ALL, 0), (0, ALL)),
    ("s_bitreplicate_b64_b32 s[4:5], s6", (0x80000005,), (0x33, 0xC0000000)),
    ("s_cselect_b64 s[4:5], s[6:7], 5", (7, 7), (5, 0)),
    ("s_mov_b64 s[4:5], -2", (), (0xFFFFFFFE, ALL)),
    ("s_wqm_b64 s[4:5], s[6:7]", (0, 1), (0, 15)),
]


@pytest.mark.parametrize(("text", "sources", "wanted"), SCALAR_64)
def test_scalar_64(text: str, sources: tuple[int, ...], wanted: tuple[int, int]) -> None:
    s = run(text, scalar={6 + i: value for i, value in enumerate(sources)}).registers.scalar()
    assert (s[4], s[5]) == wanted


def test_find_first_of_64_bits() -> None:
    text = "s_ff1_i32_b64 s4, s[8:9] / s_flbit_i32_b64 s5, s[8:9] / s_bcnt1_i32_b64 s6, s[8:9] / s_flbit_i32_i64 s7, -1"
    s = run(text, scalar={8: 0, 9: 0x10}).registers.scalar()
    assert list(s[4:8]) == [36, 27, 1, ALL]


EXEC_FORMS = [
    ("and", 0b1000, 0b1100), ("or", 0b1110, 0b1100), ("xor", 0b0110, 0b1100), ("andn2", 0b0010, 0b1100),
    ("orn2", ~0b1100 & ALL | 0b1010, 0b1100), ("nand", ~0b1000 & ALL, 0b1100), ("nor", ~0b1110 & ALL, 0b1100),
    ("xnor", ~0b0110 & ALL, 0b1100), ("andn1", 0b0100, 0b1100), ("orn1", ~0b1010 & ALL | 0b1100, 0b1100),
]  # fmt: skip


@pytest.mark.parametrize(("form", "after", "before"), EXEC_FORMS)
def test_saveexec(form: str, after: int, before: int) -> None:
    """s5 = 0b1010, EXEC = 0b1100: EXEC = s5 op EXEC, the destination the old EXEC."""
    registers = run(f"s_{form}_saveexec_b32 s4, s5", scalar={5: 0b1010}, execute=before).registers
    assert (registers.scalar()[4], registers.scalar()[EXEC], registers.state()[0]) == (before, after, 1)


def test_wrexec_gives_the_new_exec() -> None:
    registers = run("s_andn2_wrexec_b32 s4, s5", scalar={5: 0b1010}, execute=0b1100).registers
    assert registers.scalar()[4] == registers.scalar()[EXEC] == 0b0010
    registers = run("s_andn1_wrexec_b64 s[4:5], s[6:7]", scalar={6: ALL, 7: ALL}, wave=64).registers
    assert registers.scalar()[EXEC] == registers.scalar()[EXEC + 1] == 0
    assert registers.state()[0] == 0


def test_branches_calls_and_null() -> None:
    s = run(
        """
        s_getpc_b64 s[4:5]
        s_call_b64 s[6:7], L0
        s_mov_b32 s8, 1
        s_branch L0_end
    L0:
        s_mov_b32 s9, 2
        s_setpc_b64 s[6:7]
    L0_end:
        s_mov_b32 null, 5
        s_mov_b32 s10, null
        s_cbranch_execz L0_end
        """
    ).registers.scalar()
    assert list(s[4:11]) == [4, 0, 8, 0, 1, 2, 0]


def test_sopk_and_scc() -> None:
    s = run("s_cmpk_lt_i32 s5, -3 / s_cselect_b32 s4, 1, 0 / s_cmpk_gt_u32 s5, 0xfff0 / s_cselect_b32 s6, 1, 0"
            " / s_addk_i32 s7, -1 / s_mulk_i32 s8, -2 / s_cmovk_i32 s9, 5",
            scalar={5: (-4) & ALL, 7: 0x80000000, 8: 3, 9: 1}).registers.scalar()  # fmt: skip
    assert (s[4], s[6], s[7], s[8], s[9]) == (1, 1, 0x7FFFFFFF, (-6) & ALL, 5)

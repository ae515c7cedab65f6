# SPDX-License-Identifier: MIT
"""Faults met in public by people who do this job (../shared/cases/translator.md), with the right values."""

from __future__ import annotations

import numpy as np
import pytest
from assembler import BARRIER_LOOP, run

from guestgpu.interpreter import VCC


def test_cmpx_does_not_revive_lanes() -> None:
    registers = run(
        "v_mov_b32 v1, 2 / s_mov_b32 vcc_lo, 0x55 / s_mov_b32 exec_lo, 6 / v_cmpx_gt_u32 v1, v0 / s_mov_b32 s4, exec_lo"
        " / s_mov_b32 s5, vcc_lo / v_mov_b32 v2, 7 / s_mov_b32 exec_lo, -1"
    ).registers
    assert registers.scalar()[4] == 2
    assert registers.scalar()[5] == 0x55
    assert list(registers.vector()[2][:4]) == [0, 7, 0, 0]


def test_carry_out_with_carry_in() -> None:
    registers = run(
        "v_mov_b32 v1, -1 / v_mov_b32 v3, 0 / s_mov_b32 vcc_lo, -1 / v_add_co_ci_u32 v2, vcc_lo, v1, v1, vcc_lo"
        " / s_mov_b32 s4, vcc_lo / v_sub_co_ci_u32 v4, vcc_lo, v3, v1, vcc_lo / s_mov_b32 s5, vcc_lo"
    ).registers
    assert registers.scalar()[4] == registers.scalar()[5] == 0xFFFFFFFF
    assert (registers.vector()[2] == 0xFFFFFFFF).all()
    assert (registers.vector()[4] == 0).all()


def test_mad_u64_u32_keeps_the_upper_product() -> None:
    registers = run(
        "v_mov_b32 v1, -1 / v_mov_b32 v2, -1 / v_mov_b32 v8, -1 / v_mov_b32 v9, -1"
        " / v_mad_u64_u32 v[4:5], s6, v1, v2, v[8:9] / v_mov_b32 v8, 0 / v_mov_b32 v9, 0"
        " / v_mad_u64_u32 v[10:11], s7, v1, v2, v[8:9]"
    ).registers
    v = registers.vector()
    assert (v[4] == 0).all()
    assert (v[5] == 0xFFFFFFFE).all()
    assert registers.scalar()[6] == 0xFFFFFFFF
    assert (v[10] == 1).all()
    assert (v[11] == 0xFFFFFFFE).all()
    assert registers.scalar()[7] == 0


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 12345])
def test_barrier_in_a_loop(seed: int) -> None:
    report = run(BARRIER_LOOP, waves=2, lds_bytes=8, schedule_seed=seed)
    assert report.registers.vector(0)[3][0] == 40
    assert report.registers.vector(1)[3][0] == 41
    assert report.barriers == 6
    assert report.waves == 2


def test_masks_in_an_sgpr_pair() -> None:
    registers = run(
        "s_mov_b64 s[10:11], 0 / s_mov_b32 s11, 0x1234 / v_cmp_lt_u32_e64 s[10:11], 31, v0 / v_mov_b32 v1, -1"
        " / v_cndmask_b32_e64 v2, 1, 2, s[10:11] / v_add_co_ci_u32_e64 v3, s[12:13], v1, 0, s[10:11]",
        wave=64,
    ).registers
    s, v = registers.scalar(), registers.vector()
    assert s[10] == 0
    assert s[11] == 0xFFFFFFFF
    assert s[12] == 0
    assert s[13] == 0xFFFFFFFF
    assert (v[2][:32] == 1).all()
    assert (v[2][32:] == 2).all()
    assert (v[3][:32] == 0xFFFFFFFF).all()
    assert (v[3][32:] == 0).all()


def test_vcc_as_two_scalars() -> None:
    registers = run(
        "s_mov_b32 vcc_lo, 0x3f800000 / s_mov_b32 vcc_hi, 0x40000000 / s_mov_b64 s[4:5], vcc / v_mov_b32 v2, 0x3fc00000"
        " / v_mul_f32 v1, vcc_hi, v2 / s_mov_b64 vcc, 0 / s_mov_b64 vcc, s[4:5] / v_mul_f32 v3, vcc_lo, v2"
    ).registers
    assert list(registers.scalar()[4:6]) == [0x3F800000, 0x40000000] == list(registers.scalar()[VCC : VCC + 2])
    assert (registers.vector()[1] == 0x40400000).all()
    assert (registers.vector()[3] == 0x3FC00000).all()


def test_wide_scalar_load_over_its_own_base() -> None:
    memory = np.array([0x10, 0, 0x33333333, 0x44444444], np.uint32)
    base = 0x100000
    registers = run(
        "s_load_dwordx4 s[0:3], s[0:1], 0x0 / s_waitcnt lgkmcnt(0)", scalar={0: base}, windows={base: memory}
    ).registers
    assert list(registers.scalar()[:4]) == list(memory)
    registers = run(
        "s_load_dwordx4 s[4:7], s[8:9], s6 / s_waitcnt lgkmcnt(0)", scalar={8: base - 8, 6: 8}, windows={base: memory}
    ).registers
    assert list(registers.scalar()[4:8]) == list(memory)

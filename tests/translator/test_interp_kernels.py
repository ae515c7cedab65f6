# SPDX-License-Identifier: MIT
"""Real guest programs in the interpreter against the same source compiled for the host: memory must be equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from guestgpu.opencl_corpus import CASES, copied, guest, run_guest, run_host


def _check(name: str, wave: int, opt: int, *, fast: bool = False, clang: tuple[str, ...] = (), **options: Any) -> None:
    code, case = guest(name, wave, opt, fast, clang), CASES[name]
    given = case.make(np.random.default_rng(sum(name.encode())))
    wanted, got = copied(given), copied(given)
    run_host(name, wave, code.kernels[name].threads, wanted)
    report = run_guest(code, name, got, **options)
    assert report.reads_outside == report.writes_outside == report.lds_outside == 0
    for want, have in zip(case.canonical(wanted), case.canonical(got), strict=True):
        if fast and want.dtype.kind == "f":
            np.testing.assert_allclose(have, want, rtol=2e-3, atol=2e-4)
        else:
            np.testing.assert_array_equal(np.asarray(have).view(), np.asarray(want))
    before = case.canonical(given)
    assert any(not np.array_equal(a, b) for a, b in zip(before, case.canonical(got), strict=True)), (
        "nothing was written"
    )


@pytest.mark.parametrize("wave", [32, pytest.param(64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_kernel_agrees_with_the_host(name: str, wave: int) -> None:
    _check(name, wave, 2)


@pytest.mark.deep
@pytest.mark.parametrize("opt", [1, 3])
@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("name", CASES)
def test_kernel_agrees_at_other_levels(name: str, wave: int, opt: int) -> None:
    _check(name, wave, opt)


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(set(CASES) - {"mandelbrot", "spheres", "meshlet"}))  # rounding decides there
def test_kernel_agrees_with_fast_math(name: str) -> None:
    _check(name, 32, 3, fast=True)


@pytest.mark.parametrize("flat", [False, True], ids=["buffer", "flat"])
@pytest.mark.parametrize("wave", [32, 64])
def test_private_arrays_in_scratch(wave: int, flat: bool) -> None:
    """By buffer instructions through the private segment's V#, or by scratch instructions."""
    clang = ("-mllvm", "-disable-promote-alloca-to-lds", "-mllvm", "-disable-promote-alloca-to-vector")
    clang += ("-Xclang", "-target-feature", "-Xclang", "+enable-flat-scratch") if flat else ()
    assert guest("calls", wave, 2, False, clang).kernels["calls"].scratch_bytes >= 64
    _check("calls", wave, 2, clang=clang)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["wave_special", "early_exit", "bitonic", "compact", "meshlet", "scan_blelloch"])
def test_any_schedule_gives_the_same_memory(name: str, seed: int) -> None:
    _check(name, 32, 2, schedule_seed=seed)

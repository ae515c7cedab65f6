# SPDX-License-Identifier: MIT
"""Modules are the same bytes whichever compiler the translator was built with."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_translate import random_case

from guestgpu import translation
from guestgpu.errors import Unsupported
from guestgpu.interpreter import Program
from guestgpu.native import ffi
from guestgpu.opencl_corpus import CASES, copied, guest, launch

CSRC = Path(__file__).resolve().parents[2] / "csrc"
Translate = Callable[[Program], bytes]


def built_with(compiler: str) -> Translate:
    """The translator of a library of its own, without Python's extension."""
    library = f"build/debug-{compiler}/libguestgpu_core.so"
    command = ["make", "-s", "-C", str(CSRC), "config=debug", f"CC={compiler}", "GG_GPU=0", library]
    made = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert made.returncode == 0, made.stderr
    loaded = ctypes.CDLL(str(CSRC / library))
    loaded.gg_free.argtypes = [ctypes.c_void_p]

    def translate(program: Program) -> bytes:
        guest_program = program.c()
        options, report = ffi.new("struct gg_translate_options *"), ffi.new("struct gg_translate_report *")
        words, count, message = ffi.new("uint32_t **"), ffi.new("uint64_t *"), ffi.new("char **")
        arguments = [guest_program, options, words, count, report, message]
        result = loaded.gg_translator_translate(*(ctypes.c_void_p(int(ffi.cast("uintptr_t", a))) for a in arguments))
        assert result == 0, ffi.string(message[0])
        code = bytes(ffi.buffer(words[0], 4 * count[0]))
        loaded.gg_free(int(ffi.cast("uintptr_t", words[0])))
        return code

    return translate


@pytest.fixture(scope="module")
def compilers() -> dict[str, Translate]:
    return {compiler: built_with(compiler) for compiler in ("gcc", "clang")}


def same(program: Program, compilers: dict[str, Translate]) -> bool:
    first, second = (translate(program) for translate in compilers.values())
    return first == second


@pytest.mark.slow
def test_random_programs_do_not_depend_on_the_compiler(compilers: dict[str, Translate]) -> None:
    different = [seed for seed in range(200) if not same(random_case(seed, 32 << seed % 2).program, compilers)]
    assert not different


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("opt", [1, 2, 3])
def test_kernels_do_not_depend_on_the_compiler(wave: int, opt: int, compilers: dict[str, Translate]) -> None:
    different = []
    for name, made in CASES.items():
        code = guest(name, wave, opt)
        program, _ = launch(code, code.kernels[name], made.groups, copied(made.make(np.random.default_rng(1))))
        try:
            translation.translate(program)
        except Unsupported as refused:
            pytest.fail(f"{name}: {refused}")
        if not same(program, compilers):
            different.append(name)
    assert not different

# SPDX-License-Identifier: MIT
"""What a capture holds is enough and right: its programs on the interpreter do what their GLSL does on the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings import KERNELS, need_guest_driver

from guestgpu import corpus, errors, guest, interpreter
from guestgpu.corpus import Entry, Tolerance
from guestgpu.device import Device, Stage, compile_glsl_text
from guestgpu.original import run_original

ENTRIES = corpus.load(KERNELS)

"""What the interpreter does not do yet, by program and wave."""


def cases() -> list[Any]:
    """Every program in both wave sizes; `make check` takes one of four, with wave32."""
    found = []
    for number, entry in enumerate(ENTRIES):
        for wave in (32, 64):
            marks: list[Any] = [pytest.mark.slow] if wave == 64 or number % 4 else []
            found.append(pytest.param(entry, wave, marks=marks, id=f"{entry.name}-{wave}"))
    return found


@pytest.mark.parametrize(("entry", "wave"), cases())
def test_interpreter_agrees_with_the_device(entry: Entry, wave: int, device: Device) -> None:
    need_guest_driver()
    module = compile_glsl_text(entry.path.read_text(), entry.name, Stage.COMPUTE)
    program = guest.compile_spirv(module, entry.name, entry.options(module, wave))
    memory = program.memory()
    report = interpreter.interpret(program.program(), memory, groups=program.dispatch.groups)
    assert report.reads_outside == report.writes_outside == report.lds_outside == 0
    wanted = run_original(device, module, program)
    assert any((a != b).any() for a, b in zip(program.results(), wanted, strict=True)), "it does something"
    assert corpus.compare(entry, program, program.results(memory), wanted) == []


def test_there_are_enough_programs_and_each_says_what_it_is_for() -> None:
    assert len(ENTRIES) >= 52
    for entry in ENTRIES:
        first, second = entry.path.read_text().splitlines()[:2]
        assert first == "// SPDX-License-Identifier: MIT", entry.name
        assert second.startswith("// "), entry.name
        assert second.endswith("."), entry.name


# ---- manifests and comparison ----


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a", "manifest.toml"),
        ("[b]", r"manifest.toml: b: no b\.comp is there"),
        ("[a]\ngroup = [1]", "a: group is none of buffer_bytes"),
        ("[a]\ngroups = [1]", "a: not enough values"),
        ('[a.floats]\n"0" = { type = "f32" }', "a: not enough values"),
        ('[a.floats]\n"0.0" = { type = "f31" }', "a: f31 is none of f16"),
        ('[a.floats]\n"0.0" = { relatively = 1.0 }', "relatively"),
    ],
)
def test_manifests_that_make_no_sense(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.comp").write_text("")
    (tmp_path / "manifest.toml").write_text(text)
    with pytest.raises(errors.FormatError, match=message):
        corpus.load(tmp_path)


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "a.comp").write_text("")
    assert corpus.load(tmp_path) == [Entry(tmp_path / "a.comp")]


def test_how_near_is_near() -> None:
    wanted = np.array([1.0, 0.0, np.inf, np.nan, -2.0], np.float32)
    near = Tolerance("f32", relative=1e-3, absolute=1e-6)
    for index, value, differs in [
        (0, 1.0009, False), (0, 1.002, True), (1, 5e-7, False), (1, 2e-6, True), (1, -0.0, False),
        (2, 3e38, True), (2, np.nan, True), (3, -np.nan, False), (3, 0.0, True), (4, -2.0019, False), (4, 2.0, True),
    ]:  # fmt: skip
        got = wanted.copy()
        got[index] = value
        found = near.differs(got.view(np.uint32), wanted.view(np.uint32))
        assert found.tolist() == [differs and i == index for i in range(5)], (index, value)


def test_a_difference_says_where(device: Device) -> None:
    need_guest_driver()
    (entry,) = (e for e in ENTRIES if e.name == "float_divide")
    module = compile_glsl_text(entry.path.read_text(), entry.name, Stage.COMPUTE)
    program = guest.compile_spirv(module, entry.name, entry.options(module))
    wanted = run_original(device, module, program)
    got = [words.copy() for words in wanted]
    got[0][5] ^= 1
    got[1][7:9] = np.array([2.0, 3.0], np.float32).view(np.uint32)
    first, second = map(str, corpus.compare(entry, program, got, wanted))
    assert first == f"set 0 binding 0: 1 of 16384 differ, first 5: {got[0][5]:#x}, not {wanted[0][5]:#x}"
    assert second.startswith("set 0 binding 1: 2 of 16384 differ, first 7: 2.0, not ")

# SPDX-License-Identifier: MIT
"""Guest compilers: every kernel for both wave sizes, and inputs that are refused."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from recordings import KERNELS, need_guest_driver

from guestgpu import capture, device, errors, guest, reflect, translator
from guestgpu.guest import GuestCompileError, GuestObject, GuestProgram, Options
from guestgpu.reflect import Block, Interface

Words = NDArray[np.uint32]
S_ENDPGM = 0xBF810000
NAMES = """affine barrier_loop collatz exchange_lds histogram nested_exits push_offset reduce_lds subgroup_compact
subgroup_shuffle subgroup_sum uniform_table"""
SOURCES = [KERNELS / f"{name}.comp" for name in NAMES.split()]  # test_agreement.py has them all
TABLE = """#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
const uint table[8] = uint[](0x1a2b3c4du, 77001u, 77002u, 77003u, 77004u, 77005u, 77006u, 77007u);
void main() { uint i = gl_GlobalInvocationID.x; data[i] = table[data[i] & 7u] + table[(data[i] >> 3) & 7u]; }
"""


def local_size(source: str) -> int:
    found = re.search(r"local_size_x = (\d+)", source)
    assert found
    return int(found[1])


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_kernels(source: Path, wave: int, tmp_path: Path) -> None:
    need_guest_driver()
    program = guest.compile_file(source, Options(wave=wave, groups=(2, 1, 1)))
    assert isinstance(program, GuestProgram)
    d = program.dispatch
    assert d.known
    assert (d.wave, d.groups, d.threads) == (wave, (2, 1, 1), (local_size(source.read_text()), 1, 1))
    assert S_ENDPGM in program.words
    assert translator.count_instructions(program.words, wave=wave) > 5
    assert "s_endpgm" in translator.disassemble(program.words, wave=wave)
    assert bool(d.lds_bytes) == ("shared " in source.read_text())
    windows = dict(program.windows)
    for binding in program.bindings:
        content = windows[binding.address][: binding.size]
        assert len(content) == binding.size
        assert any(content), "inputs are random words"
    code = next(w for a, w in program.windows if a <= d.program < a + len(w))
    offset = d.program - next(a for a, w in program.windows if w is code)
    assert code[offset : offset + 4 * len(program.words)] == program.words.tobytes()

    program.save(tmp_path)
    again = guest.load_program(tmp_path)
    assert again.words.tolist() == program.words.tolist()
    assert again.windows == program.windows
    assert again.dispatch == dataclasses.replace(d, address=0)
    assert (again.name, again.bindings, again.push) == (program.name, program.bindings, program.push)


def test_the_same_program_twice() -> None:
    need_guest_driver()
    first, second = (guest.compile_file(KERNELS / "subgroup_compact.comp", Options(seed=5)) for _ in range(2))
    assert isinstance(first, GuestProgram)
    assert isinstance(second, GuestProgram)
    assert first.state() == second.state()
    assert first.words.tolist() == second.words.tolist()
    inputs = [[dict(p.windows)[b.address] for b in p.bindings] for p in (first, second)]
    assert inputs[0] == inputs[1]


def test_given_inputs_are_what_the_guest_sees() -> None:
    need_guest_driver()
    data = np.arange(100, dtype=np.uint32).tobytes()
    options = Options(buffers={(0, 0, 0): data}, push=bytes(range(16)))
    program = guest.compile_file(KERNELS / "push_offset.comp", options)
    assert isinstance(program, GuestProgram)
    (binding,) = program.bindings
    assert (binding.size, binding.storage) == (400, True)
    assert dict(program.windows)[binding.address][:400] == data
    assert program.push == bytes(range(16))
    assert program.dispatch.user_data[3:7] == (0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (Options(buffers={(0, 1, 0): bytes(8)}), "set 0 binding 1 element 0: no such buffer"),
        (Options(buffers={(0, 0, 0): bytes(2)}), "set 0 binding 0: 2 bytes where the shader declares 4"),
        (Options(push=bytes(4)), "push constants: 4 bytes where the shader has 16"),
    ],
)
def test_inputs_that_do_not_fit(options: Options, text: str) -> None:
    with pytest.raises(errors.ArgumentError, match=text):
        guest.compile_file(KERNELS / "push_offset.comp", options)


def test_a_constant_table_is_in_memory_behind_the_program() -> None:
    need_guest_driver()
    program = guest.compile_glsl(TABLE, "table")
    assert program.words[-1] == S_ENDPGM
    (code,) = (w for a, w in program.windows if a <= program.dispatch.program < a + len(w))
    assert np.array([0x1A2B3C4D, 77001, 77002, 77003], np.uint32).tobytes() in code


def test_a_module_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "x.spv"
    file.write_bytes(b"abc")
    with pytest.raises(errors.FormatError, match="3 bytes are no SPIR-V"):
        guest.compile_file(file)
    file.write_bytes(bytes(40))
    with pytest.raises((errors.ValidationError, errors.FormatError)):
        guest.compile_file(file)


def test_a_driver_that_crashes_or_hangs_loses_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client is replaced by what a crash, a hang and a refusal look like from here."""
    need_guest_driver()
    client = tmp_path / "client"
    monkeypatch.setattr(capture, "built_file", lambda name, package: client)
    for body, text in [
        ("kill -SEGV $$", "affine.comp: RADV crashed: signal 11"),
        ("exec sleep 60", "affine.comp: RADV took longer than 0.5 s"),
        (
            "echo chatter >&2; echo 'guestgpu-guest: vkCreateDevice: VkResult -3' >&2; exit 1",
            "vkCreateDevice: VkResult -3",
        ),
        ("exit 0", "nothing was recorded"),
    ]:
        client.write_text(f"#!/bin/sh\n{body}\n")
        client.chmod(0o755)
        with monkeypatch.context() as patch:
            patch.setattr(capture, "environment", lambda *_: {"GUESTGPU_CAPTURE": ""})
            with pytest.raises(GuestCompileError, match=text):
                guest.compile_file(KERNELS / "affine.comp", Options(timeout_s=0.5))


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed")
@pytest.mark.parametrize("wave", [32, 64])
def test_opencl(wave: int, tmp_path: Path) -> None:
    source = tmp_path / "k.cl"
    source.write_text("kernel void k(global int *a) { a[__builtin_amdgcn_workitem_id_x()] = WAVE; }\n")
    made = guest.compile_file(source, Options(wave=wave, opt=3))
    assert isinstance(made, GuestObject)
    assert made.elf[:4] == b"\x7fELF"
    assert made.elf[18:20] == (224).to_bytes(2, "little"), "EM_AMDGPU"
    made.save(tmp_path / "out")
    assert (tmp_path / "out" / "program.elf").read_bytes() == made.elf
    state = json.loads((tmp_path / "out" / "state.json").read_text())
    assert (state["abi"], state["wave"], state["opt"]) == ("hsa", wave, 3)
    (kernel,) = state["kernels"]
    assert (kernel["name"], kernel["wave"]) == ("k", wave)
    words = np.frombuffer((tmp_path / "out" / "program.bin").read_bytes(), np.uint32)
    assert translator.count_instructions(words, wave=wave) > 3
    assert f"0x{wave:x}" in guest.disassemble(made) or f", {wave}" in guest.disassemble(made)


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed")
def test_a_linker_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "clang"
    fake.write_text(
        "#!/bin/sh\necho 'clang: error: unable to execute command: Executable \"ld.lld\" does not exist' >&2; exit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("GUESTGPU_CLANG", str(fake))
    (tmp_path / "k.cl").write_text("kernel void k() {}\n")
    with pytest.raises(capture.NoGuestDriver, match="needs lld-19"):
        guest.compile_file(tmp_path / "k.cl")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda s: s.update(version=9), "version 9"),
        (lambda s: s.pop("wave"), "KeyError"),
        (lambda s: s.update(user_data=["zero"]), "ValueError"),
        (lambda s: s["windows"][0].update(size=0), "longer than its window"),
    ],
)
def test_a_state_that_lies(change, text: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    need_guest_driver()
    program = guest.compile_file(KERNELS / "affine.comp")
    program.save(tmp_path)
    state = json.loads((tmp_path / "state.json").read_text())
    full = next(w for w in state["windows"] if (tmp_path / w["file"]).stat().st_size)
    state["windows"].sort(key=lambda w: w is not full)
    change(state)
    (tmp_path / "state.json").write_text(json.dumps(state))
    with pytest.raises(errors.FormatError, match=text):
        guest.load_program(tmp_path)


# ---- reflection ----


@cache
def module(name: str) -> Words:
    return device.compile_glsl_text((KERNELS / f"{name}.comp").read_text(), name, device.Stage.COMPUTE)


def test_reflection() -> None:
    assert reflect.reflect(module("affine")) == Interface((Block(0, 0, True, 1, 0, 4), Block(0, 1, True, 1, 0, 4)), 0)
    assert reflect.reflect(module("push_offset")).push_bytes == 16
    table = reflect.reflect(module("uniform_table"))
    assert table.blocks == (Block(0, 0, True, 1, 0, 16), Block(1, 3, False, 1, 64 + 128 + 4, 0))
    assert reflect.reflect(module("histogram")).blocks[1] == Block(0, 1, True, 1, 256, 0)


def test_reflection_of_arrays_and_matrices() -> None:
    source = """#version 460
    layout(local_size_x = 1) in;
    struct Pair { mat3 a; float b; };
    layout(std430, set = 3, binding = 7) buffer Data { Pair pairs[5]; layout(row_major) mat4x3 m; vec3 o[]; } data[3];
    void main() { data[gl_WorkGroupID.x].o[0] = data[1].m[0] + data[2].pairs[1].a[0]; }
    """
    words = device.compile_glsl_text(source, "arrays", device.Stage.COMPUTE)
    (block,) = reflect.reflect(words).blocks
    assert (block.set, block.binding, block.elements, block.stride) == (3, 7, 3, 16)
    assert block.size == 5 * 64 + 3 * 16


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 2**32 - 1)), max_size=8), st.integers(0, 10_000))
def test_reflection_of_damaged_modules(changes: list[tuple[int, int]], cut: int) -> None:
    words = module("uniform_table").copy()
    for at, value in changes:
        words[at % len(words)] = value
    try:
        found = reflect.reflect(words[: cut % len(words)] if cut % 2 else words)
    except (errors.FormatError, errors.Unsupported):
        return
    assert all(block.size >= 0 for block in found.blocks)

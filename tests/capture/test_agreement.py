# SPDX-License-Identifier: MIT
"""What a capture holds is enough and right: its programs on the interpreter do what their GLSL does on the device."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from recordings import KERNELS, need_guest_driver

from guestgpu import guest, interpreter
from guestgpu.device import Device, Stage, Work, compile_glsl_text
from guestgpu.guest import GuestProgram, Options

Words = NDArray[np.uint32]
NAMES = sorted(path.stem for path in KERNELS.glob("*.comp"))
NAMES.remove("uniform_table")  # the runner of the device binds set 0 only
CASES = [(name, wave) for name in NAMES for wave in (32, 64)]


def on_interpreter(program: GuestProgram) -> list[Words]:
    """The buffers after the dispatch."""
    memory = program.memory()
    report = interpreter.interpret(program.program(), memory, groups=program.dispatch.groups)
    assert report.reads_outside == report.writes_outside == report.lds_outside == 0
    return [memory[b.address][: b.size].view(np.uint32) for b in program.bindings]


def on_device(gpu: Device, module: Words, program: GuestProgram) -> list[Words]:
    before = program.memory()
    buffers = [gpu.buffer_of(before[b.address][: b.size].view(np.uint32)) for b in program.bindings]
    work = Work().bind(gpu.compute(module, len(buffers), len(program.push) // 4), buffers)
    if program.push:
        work.push(*np.frombuffer(program.push, np.uint32).tolist())
    gpu.submit(work.dispatch(*program.dispatch.groups))
    return [buffer.read() for buffer in buffers]


@pytest.mark.parametrize(("name", "wave"), CASES)
def test_interpreter_agrees_with_the_device(name: str, wave: int, device: Device) -> None:
    need_guest_driver()
    module = compile_glsl_text((KERNELS / f"{name}.comp").read_text(), name, Stage.COMPUTE)
    program = guest.compile_spirv(module, name, Options(wave=wave))
    for binding, got, wanted in zip(
        program.bindings, on_interpreter(program), on_device(device, module, program), strict=True
    ):
        assert np.flatnonzero(got != wanted).tolist() == [], f"binding {binding.binding}"

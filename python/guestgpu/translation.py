# SPDX-License-Identifier: MIT
"""Guest programs to SPIR-V, and onto a device (include/guestgpu/translator.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.interpreter import Program
from guestgpu.native import ffi, lib

if TYPE_CHECKING:  # translating needs no device
    from guestgpu.device import Device

Words = NDArray[np.uint32]

USER_DATA_WORDS = 16
FIRST_GROUP, WINDOW_COUNT, WINDOW_TABLE, WINDOW_WORDS = 16, 19, 20, 6
"""Words of the launch buffer; see gg_translator_translate()."""
COUNTER_WORDS = 66
"""Two counters, and the locks of atomics of 64 bits."""


@dataclass(frozen=True)
class Report:
    """See struct gg_translate_report."""

    instructions: int
    blocks: int
    loops: int
    irreducible_loops: int
    barriers: int
    phases: int
    values: int
    lanes: int
    invocations: int
    lds_words: int


@dataclass(frozen=True)
class Module:
    """SPIR-V words, and what the module needs."""

    words: Words
    report: Report


def translate(program: Program, lanes: int = 0) -> Module:
    """A compute module of the program. lanes: guest lanes an invocation carries; 0: the wave.

    Raises Unsupported or FormatError naming offset and instruction.
    """
    options = ffi.new("struct gg_translate_options *", {"lanes": lanes})
    report, message = ffi.new("struct gg_translate_report *"), ffi.new("char **")
    words, count = ffi.new("uint32_t **"), ffi.new("uint64_t *")
    native.check(lib.gg_translator_translate(program.c(), options, words, count, report, message), message)
    owner = ffi.gc(words[0], lib.gg_free, 4 * count[0])
    module = np.frombuffer(ffi.buffer(owner, 4 * count[0]), np.uint32)
    return Module(module, Report(**{f.name: int(getattr(report, f.name)) for f in fields(Report)}))


def ir(program: Program) -> str:
    """The program's IR as text."""
    text = ffi.new("char **")
    native.call(lib.gg_translator_ir, program.c(), text)
    return native.take_string(text[0])


@dataclass(frozen=True)
class Counters:
    """Accesses outside the windows."""

    reads_outside: int
    writes_outside: int


def launch_words(
    program: Program, windows: Mapping[int, NDArray[Any]], first_group: Sequence[int] = (0, 0, 0)
) -> tuple[Words, Words]:
    """The launch buffer and the memory buffer of a dispatch: windows one after the other, each from a whole word on."""
    launch = np.zeros(WINDOW_TABLE + WINDOW_WORDS * len(windows), np.uint32)
    launch[: len(program.user_data)] = program.user_data
    launch[FIRST_GROUP : FIRST_GROUP + 3] = first_group
    launch[WINDOW_COUNT] = len(windows)
    parts, word = [np.zeros(0, np.uint32)], 0
    for i, (address, array) in enumerate(windows.items()):
        data = np.zeros(-(-array.nbytes // 4), np.uint32)
        data.view(np.uint8)[: array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        at = WINDOW_TABLE + WINDOW_WORDS * i
        size = array.nbytes
        launch[at : at + 5] = [address & 0xFFFFFFFF, address >> 32, size & 0xFFFFFFFF, size >> 32, word]
        parts.append(data)
        word += len(data)
    return launch, np.concatenate(parts)


def run(
    device: Device,
    program: Program,
    module: Module,
    windows: Mapping[int, NDArray[Any]],
    groups: Sequence[int] = (1, 1, 1),
    timeout_s: float = 60.0,
) -> Counters:
    """Runs a dispatch on a device; the windows' arrays are written in place, as interpret() writes them."""
    from guestgpu.device import Work

    for address, array in windows.items():
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise ArgumentError(f"window at 0x{address:x}: an array that is read-only or not C-contiguous")
    launch, memory = launch_words(program, windows)
    pipeline = device.compute(module.words, 3)
    buffers = [device.buffer_of(memory), device.buffer_of(launch), device.buffer_of(np.zeros(COUNTER_WORDS, np.uint32))]
    try:
        x, y, z = (int(n) or 1 for n in groups)
        device.submit(Work().bind(pipeline, buffers).dispatch(x, y, z), timeout_s)
        back, counters = buffers[0].read(np.uint32, len(memory)), buffers[2].read(np.uint32, 2)
    finally:
        device.release([pipeline, *buffers])
    word = 0
    for array in windows.values():
        count = -(-array.nbytes // 4)
        array.reshape(-1).view(np.uint8)[:] = back[word : word + count].view(np.uint8)[: array.nbytes]
        word += count
    return Counters(int(counters[0]), int(counters[1]))

# SPDX-License-Identifier: MIT
"""Guest programs to SPIR-V, and onto a device (include/guestgpu/translator.h)."""

from __future__ import annotations

import enum
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError, GuestGpuError
from guestgpu.interpreter import Program
from guestgpu.native import ffi, lib

if TYPE_CHECKING:  # translating needs no device
    from guestgpu.device import Buffer, Device, Pipeline

Words = NDArray[np.uint32]

USER_DATA_WORDS = 16
FIRST_GROUP, WINDOW_COUNT, WINDOW_TABLE, WINDOW_WORDS = 16, 19, 20, 6
"""Words of the launch buffer; see gg_translator_translate()."""
SUBMIT_S = 300.0
"""Of a submission: a software device compiles within the first one."""
_REGISTER_BYTES = 1 << 28  # of wave mode, a dispatch
COUNTER_WORDS = 66
"""Two counters, and the locks of atomics of 64 bits."""


_DENORMS_32 = 1  # GG_FLOAT_DENORMS_32
_OBEYED = {"NVIDIA": _DENORMS_32}
"""By driver: float controls that it does not report and yet obeys. Without this one NVIDIA's flushes denormals of f32;
with it, random sequences on an H200 (driver 580.159) are as the interpreter's."""

FLOWS = ("auto", "dispatch")
BARRIERS = ("auto", "strict", "phase")
"""See enum gg_translate_flow and gg_translate_barriers."""


class Reconverge(enum.IntEnum):
    """See enum gg_translate_reconverge."""

    STRUCTURE = 0
    UNIFORM = 1
    MAXIMAL = 2


class Feature(enum.IntFlag):
    """What a module needs of a device; see enum gg_translate_feature."""

    FLOAT64 = 1
    SUBGROUP_VOTE = 2
    SUBGROUP_BALLOT = 4
    SUBGROUP_SHUFFLE = 8
    INT64 = 16
    INT64_ATOMICS = 32


@dataclass(frozen=True)
class Options:
    """See struct gg_translate_options."""

    lanes: int = 0
    """Guest lanes an invocation: the wave, wave / subgroup, or 1; 0: wave / subgroup if given, else the wave."""
    flow: str = "auto"
    barriers: str = "auto"
    subgroup: int = 0
    """Size of the device's subgroups, which the pipeline then requires; 0: none is relied on."""
    reconverge: Reconverge = Reconverge.STRUCTURE
    lockstep: bool = False
    """The device runs a subgroup's invocations in lockstep."""
    shared_code: bool = False
    """Memory operations share code: smaller modules, which run more slowly."""
    local_registers: bool = False
    """Wave mode keeps lane values in arrays, not in a buffer: sooner compiled by llvmpipe, refused by others."""
    float_controls: int = 0
    """What the device has of enum gg_float_control: the module asks for it."""


@dataclass(frozen=True)
class Decision:
    """See struct gg_translate_decision."""

    subject: str
    offset: int
    choice: str
    reason: str


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
    subgroup: int
    invocations: int
    lds_words: int
    register_words: int
    groups_at_once: int
    features: Feature
    reconverge: Reconverge
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Module:
    """SPIR-V words, and what the module needs."""

    words: Words
    report: Report


_DEFAULTS = Options()
_SUBJECTS = {1: "lanes", 2: "loop", 3: "barrier"}


def _report(c: Any) -> Report:
    owner = ffi.gc(c.decisions, lib.gg_free)
    decisions = tuple(
        Decision(_SUBJECTS[d.subject], int(d.offset), ffi.string(d.choice).decode(), ffi.string(d.reason).decode())
        for d in owner[0 : c.decision_count]
    )
    typed: dict[str, Any] = {
        "features": Feature(c.features),
        "reconverge": Reconverge(c.reconverge),
        "decisions": decisions,
    }
    numbers: dict[str, Any] = {f.name: int(getattr(c, f.name)) for f in fields(Report) if f.name not in typed}
    return Report(**numbers, **typed)


def translate(program: Program, options: Options = _DEFAULTS) -> Module:
    """A compute module of the program.

    Raises Unsupported or FormatError naming offset and instruction, ArgumentError where the lanes do not fit.
    """
    for name, value, known in (("flow", options.flow, FLOWS), ("barriers", options.barriers, BARRIERS)):
        if value not in known:
            raise ArgumentError(f"{name} {value!r} is none of {', '.join(known)}")
    given = {
        "lanes": options.lanes,
        "subgroup": options.subgroup,
        "flow": FLOWS.index(options.flow),
        "barriers": BARRIERS.index(options.barriers),
        "reconverge": int(options.reconverge),
        "lockstep": int(options.lockstep),
        "shared_code": int(options.shared_code),
        "local_registers": int(options.local_registers),
        "float_controls": options.float_controls,
    }
    c = ffi.new("struct gg_translate_options *", given)
    report, message = ffi.new("struct gg_translate_report *"), ffi.new("char **")
    words, count = ffi.new("uint32_t **"), ffi.new("uint64_t *")
    native.check(lib.gg_translator_translate(program.c(), c, words, count, report, message), message)
    owner = ffi.gc(words[0], lib.gg_free, 4 * count[0])
    module = np.frombuffer(ffi.buffer(owner, 4 * count[0]), np.uint32)
    return Module(module, _report(report))


def options_for(device: Device, wave: int, lanes: int = 0, flow: str = "auto", barriers: str = "auto") -> Options:
    """Options for a device: its subgroup, if pipelines can require one that fits, and what it promises of them."""
    info, subgroup = device.info, 0
    if info.required_subgroup_min <= info.subgroup_size <= info.required_subgroup_max and info.subgroup_size <= wave:
        subgroup = int(info.subgroup_size)
    reconverge = Reconverge.STRUCTURE
    if info.uniform_control_flow:
        reconverge = Reconverge.UNIFORM
    elif info.maximal_reconvergence and knows_maximal_reconvergence():
        reconverge = Reconverge.MAXIMAL
    llvmpipe = info.driver == "llvmpipe"  # it compiles slowly, too
    controls = int(info.float_controls) | _OBEYED.get(info.driver, 0)
    return Options(lanes, flow, barriers, subgroup, reconverge, llvmpipe, llvmpipe, llvmpipe, controls)


@cache
def knows_maximal_reconvergence() -> bool:
    """Whether SPIRV-Tools here, which see every module before a driver does, know SPV_KHR_maximal_reconvergence."""
    from guestgpu.device import validate_spirv

    end = np.array([0xBF810000], np.uint32)  # s_endpgm
    module = translate(Program(words=end, threads=(32,)), Options(1, subgroup=32, reconverge=Reconverge.MAXIMAL))
    try:
        validate_spirv(module.words)
    except GuestGpuError:
        return False
    return True


def lane_choices(program: Program, device: Device) -> tuple[int, ...]:
    """The numbers of lanes an invocation that apply to the program on the device, the wave's first."""
    choices = [program.wave]
    subgroup = options_for(device, program.wave).subgroup
    for lanes in sorted({program.wave // subgroup if subgroup else 1, 1}, reverse=True):
        try:
            translate(program, options_for(device, program.wave, lanes))
        except ArgumentError:
            continue
        if lanes not in choices:
            choices.append(lanes)
    return tuple(choices)


def ir(program: Program) -> str:
    """The program's IR as text."""
    text = ffi.new("char **")
    native.call(lib.gg_translator_ir, program.c(), text)
    return native.take_string(text[0])


@dataclass(frozen=True)
class Ran:
    """A dispatch that ran: accesses outside the windows, and ms of the pipeline's creation and of the submission."""

    reads_outside: int
    writes_outside: int
    pipeline_ms: float
    submit_ms: float


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


def create_pipeline(device: Device, module: Module) -> Pipeline:
    """The module's pipeline, with the subgroup that it needs."""
    report = module.report
    return device.compute(module.words, 4 if report.register_words else 3, subgroup=report.subgroup)


def _parts(module: Module, groups: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """First group and size of parts of a dispatch that may run at once, with registers of _REGISTER_BYTES."""
    size, part = [int(n) or 1 for n in groups], []
    each = 4 * module.report.register_words * module.report.invocations
    most = max(1, _REGISTER_BYTES // each) if each else 1 << 62
    most = min(most, module.report.groups_at_once or most)
    for count in size:
        part.append(min(count, max(1, most)))
        most //= part[-1]
    for z, y, x in itertools.product(*(range(0, size[axis], part[axis]) for axis in (2, 1, 0))):
        yield [x, y, z], [min(part[axis], size[axis] - at) for axis, at in enumerate((x, y, z))]


def dispatch(
    device: Device,
    module: Module,
    pipeline: Pipeline,
    memory: Buffer,
    launch: Words,
    counters: Buffer,
    groups: Sequence[int],
    timeout_s: float = SUBMIT_S,
) -> None:
    """Runs a module on buffers 0 and 2, with the words of buffer 1; in parts where wave mode needs many registers."""
    from guestgpu.device import Work

    for first, part in _parts(module, groups):
        own = launch.copy()
        own[FIRST_GROUP : FIRST_GROUP + 3] += np.array(first, np.uint32)
        bound = [memory, device.buffer_of(own), counters]
        if module.report.register_words:
            words = module.report.register_words * module.report.invocations * math.prod(part)
            bound.append(device.buffer(4 * words))
        try:
            device.submit(Work().bind(pipeline, bound).dispatch(*part), timeout_s)
        finally:
            device.release([bound[1], *bound[3:]])


def run(
    device: Device,
    program: Program,
    module: Module,
    windows: Mapping[int, NDArray[Any]],
    groups: Sequence[int] = (1, 1, 1),
    timeout_s: float = SUBMIT_S,
) -> Ran:
    """Runs a dispatch on a device; the windows' arrays are written in place, as interpret() writes them."""
    for address, array in windows.items():
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise ArgumentError(f"window at 0x{address:x}: an array that is read-only or not C-contiguous")
    launch, memory = launch_words(program, windows)
    begun = time.perf_counter()
    pipeline = create_pipeline(device, module)
    created = time.perf_counter()
    buffers = [device.buffer_of(memory), device.buffer_of(np.zeros(COUNTER_WORDS, np.uint32))]
    try:
        submitted = time.perf_counter()
        dispatch(device, module, pipeline, buffers[0], launch, buffers[1], groups, timeout_s)
        done = time.perf_counter()
        back, counters = buffers[0].read(np.uint32, len(memory)), buffers[1].read(np.uint32, 2)
    finally:
        device.release([pipeline, *buffers])
    word = 0
    for array in windows.values():
        count = -(-array.nbytes // 4)
        array.reshape(-1).view(np.uint8)[:] = back[word : word + count].view(np.uint8)[: array.nbytes]
        word += count
    return Ran(int(counters[0]), int(counters[1]), 1e3 * (created - begun), 1e3 * (done - submitted))

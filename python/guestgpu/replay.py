# SPDX-License-Identifier: MIT
"""Captures carried out: what an application submitted, its dispatches on a device through the translator, or on the
interpreter, and what stands in memory then.

    machine = replay.Interpreter()
    for event in replay.run(Capture("app.capture"), machine):
        print(event.dispatch, event.memory.words(address, 4))

Dispatches run one after the other, in the order of submission, so that barriers and semaphores hold by themselves.
Memory is that of the capture; what the host changed between submissions comes from the capture as well, where the
application saw a GPU that did nothing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from guestgpu import errors, guest, interpreter, replay_packets, translation
from guestgpu.capture import Capture, Ib, Memory, Range, Submission
from guestgpu.interpreter import Program
from guestgpu.stream import Dispatch, Packet, Stream

if TYPE_CHECKING:  # the interpreter needs no device
    from guestgpu.device import Buffer, Device, Pipeline

Three = tuple[int, int, int]


@dataclass(frozen=True)
class Part:
    """A box of workgroups of one size: all of a dispatch, or its edge where the last groups are partial."""

    first: Three
    groups: Three
    threads: Three


@dataclass(frozen=True)
class Counters:
    """Accesses outside of recorded memory."""

    reads_outside: int = 0
    writes_outside: int = 0


@dataclass(frozen=True)
class Event:
    """A dispatch that was carried out, or with None the end of a submission. `memory` is live, and current."""

    submission: int
    number: int
    dispatch: Dispatch | None
    memory: Memory
    counters: Counters = Counters()
    seconds: float = 0.0


class Machine(Protocol):
    """What carries out dispatches."""

    name: str

    def run(self, program: Program, parts: Sequence[Part], memory: Memory) -> Counters:
        """The dispatch's parts."""

    def flush(self, memory: Memory) -> None:
        """Brings what dispatches wrote into `memory`."""

    def refresh(self, memory: Memory, address: int, size: int) -> None:
        """The same of a range only; one that is not mapped is left alone."""

    def write(self, memory: Memory, address: int, data: bytes) -> None:
        """Bytes that a packet writes."""


class Interpreter:
    """The reference; it works in the capture's memory itself."""

    name = "interpreter"

    def __init__(self, step_limit: int = 0) -> None:
        self._step_limit = step_limit

    def run(self, program: Program, parts: Sequence[Part], memory: Memory) -> Counters:
        windows: dict[int, NDArray[Any]] = {w.address: w.bytes for w in memory.windows()}
        reads = writes = 0
        for part in parts:
            report = interpreter.interpret(
                replace(program, threads=part.threads), windows, groups=part.groups, first_group=part.first,
                step_limit=self._step_limit,
            )  # fmt: skip
            reads, writes = reads + report.reads_outside, writes + report.writes_outside
        return Counters(reads, writes)

    def flush(self, memory: Memory) -> None:
        pass

    def refresh(self, memory: Memory, address: int, size: int) -> None:
        pass

    def write(self, memory: Memory, address: int, data: bytes) -> None:
        memory.write(address, data)


class _Copy:
    """A guest's memory on the device: its buffers one after the other, so that two mappings of one stay one."""

    def __init__(self, device: Device, mappings: list[Range], memory: Memory) -> None:
        self.mappings, self.newer = mappings, False
        self.offsets: dict[int, int] = {}
        size = 0
        for mapping in mappings:
            if mapping.buffer not in self.offsets:
                self.offsets[mapping.buffer] = size
                size += len(memory.content(mapping.buffer))
        if size > device.info.max_storage_range:
            raise errors.LimitExceeded(
                f"memory: {size} bytes are mapped, a storage buffer of {device.info.name} has at most "
                f"{device.info.max_storage_range}"
            )
        self.buffer: Buffer = device.buffer(max(size, 4))
        for buffer, offset in self.offsets.items():
            self.buffer.write(memory.content(buffer), offset)

    def place(self, address: int, size: int) -> int | None:
        """Where a range begins on the device; None unless one mapping has it all."""
        for m in self.mappings:
            if m.address <= address and address + size <= m.address + m.size:
                return self.offsets[m.buffer] + m.offset + address - m.address
        return None

    def launch(self, program: Program, first: Three) -> NDArray[np.uint32]:
        """The launch buffer; see gg_translator_translate()."""
        words = np.zeros(translation.WINDOW_TABLE + translation.WINDOW_WORDS * len(self.mappings), np.uint32)
        words[: len(program.user_data)] = program.user_data
        words[translation.FIRST_GROUP : translation.FIRST_GROUP + 3] = first
        words[translation.WINDOW_COUNT] = len(self.mappings)
        table = words[translation.WINDOW_TABLE :].reshape(-1, translation.WINDOW_WORDS)
        for row, m in zip(table, self.mappings, strict=True):
            word = (self.offsets[m.buffer] + m.offset) // 4
            row[:5] = [m.address & 0xFFFFFFFF, m.address >> 32, m.size & 0xFFFFFFFF, m.size >> 32, word]
        return words


class OnDevice:
    """A Vulkan device. Memory stays there from dispatch to dispatch; what changes goes over, and no more."""

    def __init__(self, device: Device, options: translation.Options | None = None, timeout_s: float = 60.0) -> None:
        self.name = device.info.name
        self._device, self._options, self._timeout_s = device, options, timeout_s
        self._copies: dict[int, _Copy] = {}
        self._memories: list[Memory] = []  # keeps the keys above
        self._pipelines: dict[tuple[Any, ...], Pipeline] = {}

    def run(self, program: Program, parts: Sequence[Part], memory: Memory) -> Counters:
        from guestgpu.device import Work

        copy = self._current(memory)
        counters = self._device.buffer_of(np.zeros(translation.COUNTER_WORDS, np.uint32))
        try:
            for part in parts:
                pipeline = self._pipeline(replace(program, threads=part.threads))
                launch = self._device.buffer_of(copy.launch(program, part.first))
                work = Work().bind(pipeline, [copy.buffer, launch, counters]).dispatch(*part.groups)
                copy.newer = True
                try:
                    self._device.submit(work, self._timeout_s)
                finally:
                    self._device.release([launch])
            found = counters.read(np.uint32, 2).tolist()
        finally:
            self._device.release([counters])
        return Counters(*found)

    def flush(self, memory: Memory) -> None:
        copy = self._copies.get(id(memory))
        if copy is None or not copy.newer:
            return
        for buffer, offset in copy.offsets.items():
            if memory.knows(buffer):
                content = memory.content(buffer)
                content[:] = copy.buffer.read(np.uint8, len(content), offset)
        copy.newer = False

    def refresh(self, memory: Memory, address: int, size: int) -> None:
        copy = self._copies.get(id(memory))
        place = copy.place(address, size) if copy is not None and copy.newer else None
        if copy is not None and place is not None:
            memory.put(address, copy.buffer.read(np.uint8, size, place))

    def write(self, memory: Memory, address: int, data: bytes) -> None:
        copy = self._copies.get(id(memory))
        place = copy.place(address, len(data)) if copy is not None and copy.newer else None
        if copy is None or place is None:
            memory.write(address, data)  # it goes over before the next dispatch
            return
        content = np.frombuffer(data, np.uint8)
        memory.put(address, content)
        copy.buffer.write(content, place)

    def _current(self, memory: Memory) -> _Copy:
        """The device's copy of memory, as new as that."""
        mappings, copy = memory.recorded_mappings(), self._copies.get(id(memory))
        if copy is None or copy.mappings != mappings:
            self.flush(memory)
            if copy is not None:
                self._device.release([copy.buffer])
            else:
                self._memories.append(memory)
            copy = self._copies[id(memory)] = _Copy(self._device, mappings, memory)
        else:
            for buffer in memory.changed & copy.offsets.keys():
                copy.buffer.write(memory.content(buffer), copy.offsets[buffer])
        memory.changed.clear()
        return copy

    def _pipeline(self, program: Program) -> Pipeline:
        key = (program.words.tobytes(), *(v for name, v in vars(program).items() if name not in ("words", "user_data")))
        if key not in self._pipelines:
            self._pipelines[key] = self._compile(program)
        return self._pipelines[key]

    def _compile(self, program: Program) -> Pipeline:
        options = self._options or translation.options_for(self._device, program.wave)
        module = translation.translate(program, options)
        return self._device.compute(module.words, 3, subgroup=module.report.subgroup)


# ---- the stream ----


class _Guest:
    """Memory as packets see it, over a machine."""

    def __init__(self, machine: Machine, memory: Memory) -> None:
        self._machine, self._memory = machine, memory

    def read(self, address: int, size: int) -> bytes:
        self._machine.refresh(self._memory, address, size)
        return self._memory.read(address, size)

    def write(self, address: int, data: bytes) -> None:
        self._machine.write(self._memory, address, data)


def run(recording: Capture, machine: Machine) -> Iterator[Event]:
    """Carries out all submissions; one event a dispatch, and one at the end of each submission.

    Raises Unsupported where a packet or a program is refused, FormatError where the stream is wrong; each names it.
    """
    ahead: dict[tuple[int, ...], Stream] = {}
    number = 0
    for submission in recording.submissions():
        guest_memory = _Guest(machine, submission.memory)
        for ib in submission.ibs:
            if not ib.is_pm4:
                raise errors.Unsupported(f"submission {submission.number}: a buffer for {ib.ip.name}: not replayed")
            for packet in _packets(submission, ib, machine, ahead):
                where = f"submission {submission.number}"
                try:
                    replay_packets.carry_out(packet, guest_memory)
                    if packet.dispatch is None:
                        continue
                    where += f", dispatch {number} at {packet.address:#x}"
                    yield _dispatch(submission, number, packet.dispatch, machine)
                except errors.GuestGpuError as error:
                    raise type(error)(f"{where}: {error}", error.code) from None
                number += 1
        machine.flush(submission.memory)
        yield Event(submission.number, number, None, submission.memory)


def _dispatch(submission: Submission, number: int, dispatch: Dispatch, machine: Machine) -> Event:
    begun = time.perf_counter()
    counters = Counters()
    if all(dispatch.groups):
        program = program_of(dispatch, submission.memory)
        counters = machine.run(program, parts_of(dispatch), submission.memory)
    return Event(submission.number, number, dispatch, submission.memory, counters, time.perf_counter() - begun)


def _packets(
    submission: Submission, ib: Ib, machine: Machine, ahead: dict[tuple[int, ...], Stream]
) -> Iterator[Packet]:
    """The packets of a buffer. Before one for which the stream itself reads memory, that is brought up to date.

    Which those are is known from a look ahead, over memory as it stands before.
    """
    queue = (submission.device, submission.context, ib.ip, ib.instance, ib.ring)
    stream = ahead.setdefault(queue, Stream())
    seen = list(stream.read(submission.memory.windows(), ib.address, ib.words))
    taken = submission.packets(ib)
    for expected in seen:
        read = replay_packets.taken_from_memory(expected)
        if read is not None:
            machine.refresh(submission.memory, *read)
        packet = next(taken, None)
        if packet is None or (packet.address, packet.words) != (expected.address, expected.words):
            raise replay_packets.refused(expected, "was written by an earlier one: not replayed")
        yield packet
    if next(taken, None) is not None:
        raise errors.Unsupported(f"buffer {ib.address:#x}: grew while it was carried out: not replayed")


def program_of(dispatch: Dispatch, memory: Memory) -> Program:
    """The program that a dispatch starts, with its launch state."""
    if not dispatch.known:
        raise errors.FormatError("its program or its registers were set by nothing that was recorded")
    made = guest.GuestProgram("", guest.program_words(memory, dispatch.program), dispatch, (), b"", ())
    return made.program()


def parts_of(dispatch: Dispatch) -> list[Part]:
    """The boxes of whole and of partial workgroups, none empty, none with more groups a side than devices take."""
    axes = []
    for first, groups, threads, partial in zip(
        dispatch.first_group, dispatch.groups, dispatch.threads, dispatch.partial, strict=True
    ):
        whole = groups - 1 if partial and partial != threads else groups
        axis = [(first + at, min(_MOST_GROUPS, whole - at), threads) for at in range(0, whole, _MOST_GROUPS)]
        axes.append(axis + ([(first + whole, 1, partial)] if whole < groups else []))
    return [
        Part((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])) for z, y, x in itertools.product(*axes[::-1])
    ]


_MOST_GROUPS = 65535


def difference(one: Memory, other: Memory) -> str:
    """ "" or where two memories differ first."""
    if one.recorded_mappings() != other.recorded_mappings():
        return "other mappings"
    for a, b in zip(one.windows(), other.windows(), strict=True):
        found = np.flatnonzero(a.bytes != b.bytes)
        if len(found):
            at = int(found[0]) & ~3
            words = [int(w.bytes[at : at + 4].view(np.uint32)[0]) for w in (a, b)]
            count = len(np.unique(found // 4))
            return f"{a.address + at:#x}: {words[0]:08x} and {words[1]:08x} ({count} words of the window differ)"
    return ""

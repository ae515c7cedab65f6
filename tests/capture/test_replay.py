# SPDX-License-Identifier: MIT
"""Captures carried out: on the device, on the interpreter, and what the application itself does on lavapipe."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from recordings import (
    CHAIN,
    KERNELS,
    SEVERAL,
    application,
    buffer,
    end,
    file_of,
    memory,
    module,
    recorded,
    submit,
    va,
)

from guestgpu import cli, replay, replay_packets
from guestgpu.capture import Capture, Memory, Operation
from guestgpu.device import Device
from guestgpu.errors import FormatError, GuestGpuError, Unsupported
from guestgpu.replay import Event, Interpreter, Machine, OnDevice, Part
from guestgpu.stream import Dispatch

BASE = 0x100000000
SET_HIGH = 0xFFFF8000
SIZE = 65536


def lavapipe() -> dict[str, str]:
    """Variables under which a Vulkan program runs on lavapipe."""
    for folder in ("/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"):
        for manifest in sorted(Path(folder).glob("lvp_icd*.json")):
            return {**os.environ, "VK_DRIVER_FILES": str(manifest), "VK_ICD_FILENAMES": str(manifest)}
    pytest.skip("no lavapipe")


def buffers(memory: Memory, dispatch: Dispatch, count: int) -> list[int]:
    """Addresses of the buffers in the set of user data 2."""
    words = memory.words(SET_HIGH << 32 | dispatch.user_data[2], 4 * count).tolist()
    return [0xFFFF << 48 | (high & 0xFFFF) << 32 | low for low, high, _, _ in zip(*[iter(words)] * 4, strict=True)]


def replayed(recording: Capture, machine: Machine) -> tuple[list[Event], list[bytes]]:
    """All events, and the buffers of the last dispatch's set after each submission."""
    events, contents, found = [], [], None
    for event in replay.run(recording, machine):
        events.append(event)
        if event.dispatch is not None:
            found = found or {}
            found |= dict.fromkeys(buffers(event.memory, event.dispatch, 2))
        else:
            contents.append(b"".join(event.memory.read(address, SIZE) for address in found or ()))
            found = None
    return events, contents


def machines(device: Device) -> list[Machine]:
    return [OnDevice(device), Interpreter()]


def test_an_application_with_all_between_its_dispatches(tmp_path: Path, device: Device) -> None:
    """Memory is the interpreter's, and what the application itself reads back on lavapipe."""
    wanted = tmp_path / "wanted"
    command = [str(application("several")), str(module(SEVERAL)), str(wanted)]
    subprocess.run(command, env=lavapipe(), check=True, capture_output=True, timeout=60)
    recording = recorded(tmp_path / "c", "several", SEVERAL, str(tmp_path / "nothing"))
    assert (tmp_path / "nothing").read_bytes() != wanted.read_bytes(), "a fake GPU does nothing"
    runs = [replayed(recording, machine) for machine in machines(device)]
    for events, contents in runs:
        dispatches = [event for event in events if event.dispatch]
        assert len(dispatches) == 10
        assert [e.dispatch.groups for e in dispatches[3::5] if e.dispatch] == [(3, 1, 1)] * 2, "written by dispatch 2"
        assert [e.dispatch.first_group for e in dispatches[1::5] if e.dispatch] == [(2, 1, 0)] * 2
        assert not any(e.counters.reads_outside or e.counters.writes_outside for e in dispatches)
        assert np.array_equal(np.frombuffer(contents[1], np.uint32), np.fromfile(wanted, np.uint32))
    assert runs[0][1][0] == runs[1][1][0] != runs[0][1][1]


def test_one_dispatch(tmp_path: Path, device: Device) -> None:
    """The specification's application: memory after it is what the application prints on lavapipe."""
    source = (KERNELS / "affine.comp").read_text()
    command = [str(application("one_dispatch")), str(module(source))]
    ran = subprocess.run(command, env=lavapipe(), check=True, capture_output=True, text=True, timeout=60)
    wanted = [int(word) for word in ran.stdout.splitlines()[-1].split()]
    recording = recorded(tmp_path / "c", "one_dispatch", source)
    for machine in machines(device):
        events, _ = replayed(recording, machine)
        assert len(events) == 2
        assert events[0].dispatch
        target = buffers(events[1].memory, events[0].dispatch, 2)[1]
        assert events[1].memory.words(target, 4).tolist() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("app", ["chain", "threads"])
def test_memory_that_changes_between_submissions(app: str, tmp_path: Path, device: Device) -> None:
    """The host writes, frees and maps anew; two queues take turns: both machines go the same way."""
    recording = recorded(tmp_path / "c", app, CHAIN)
    on_device, reference = machines(device)
    for one, other in zip(replay.run(recording, on_device), replay.run(recording, reference), strict=True):
        on_device.flush(one.memory)
        assert replay.difference(one.memory, other.memory) == ""
        assert one.counters == other.counters


def test_memory_goes_over_once(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the dispatches of a submission no more than the words that packets take and write is copied."""
    from guestgpu import device as gpu

    recording = recorded(tmp_path / "c", "several", SEVERAL, str(tmp_path / "nothing"))
    copied: list[int] = []
    real_read, real_write = gpu.Buffer.read, gpu.Buffer.write
    monkeypatch.setattr(gpu.Buffer, "read", lambda *a, **k: copied.append((r := real_read(*a, **k)).nbytes) or r)
    monkeypatch.setattr(gpu.Buffer, "write", lambda b, d, *a: copied.append(d.nbytes) or real_write(b, d, *a))
    sums = []
    for event in replay.run(recording, OnDevice(device)):
        sums.append(sum(copied))
        copied.clear()
        whole = sum(m.size for m in event.memory.recorded_mappings())
    assert sums[0] > whole > 500_000  # all goes over
    fills_and_copies = 2 * (2048 + 8 + 24576 + 4096) + 32768 + 256 + 16
    assert sums[2] < fills_and_copies + 8192
    assert all(total < 8192 for total in (sums[1], *sums[3:5])), sums
    assert sums[5] > whole  # the end of the submission brings it back


def test_the_command(tmp_path: Path) -> None:
    recorded(tmp_path / "c", "several", SEVERAL, str(tmp_path / "nothing"))

    def command(*arguments: str) -> str:
        given = ["stream", "replay", str(tmp_path / "c"), *arguments]
        done = CliRunner().invoke(cli.cli, given, catch_exceptions=False, standalone_mode=False)
        return str(done.stdout)

    text = command("--on", "interpreter", "-o", str(tmp_path / "out"))
    lines = text.splitlines()
    assert len(lines) == 11
    assert "submission 0, dispatch 3: program 0xffff800000000000, wave64, indirect groups (3, 1, 1)" in lines[3]
    assert "groups (3, 2, 1) from (2, 1, 0) of (64, 1, 1) threads, interpreter" in lines[1]
    assert lines[-1] == "10 dispatches of 2 submissions"
    assert list((tmp_path / "out" / "interpreter").glob("memory_*.bin"))


@pytest.mark.slow
def test_the_command_compares(tmp_path: Path, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path / "c", "several", SEVERAL, str(tmp_path / "nothing"))
    given = ["stream", "replay", str(tmp_path / "c"), "--device", "lavapipe"]
    done = CliRunner().invoke(cli.cli, given, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "10 dispatches of 2 submissions: all equal" in done.stdout
    monkeypatch.setattr(replay, "difference", lambda *_: "0x10: 00000001 and 00000002")
    done = CliRunner().invoke(cli.cli, given, catch_exceptions=False)
    assert done.exit_code == 1
    assert "submission 0, dispatch 0: device and interpreter: 0x10: 00000001 and 00000002" in done.output


# ---- packets ----


def header(opcode: int, words: int) -> int:
    return 3 << 30 | (words - 1) << 16 | opcode << 8


def stream_of(path: Path, *packets: Sequence[int], data: Sequence[int] = ()) -> Capture:
    """A capture of one submission: opcode and body of each packet; `data` stands at BASE + 4096."""
    words = [word for opcode, *body in packets for word in (header(opcode, len(body)), *body)]
    records = [
        buffer(1, 8192),
        va(Operation.MAP, 1, BASE, 0, 8192),
        memory(1, (0, words), *([(1024, list(data))] if data else [])),
        submit((BASE, len(words), 0)),
    ]
    path.write_bytes(file_of(*records, end(1, len(records))))
    return Capture(path)


LOW, HIGH = 0x1000, BASE >> 32  # of BASE + 4096
WRITE, COPY, DMA, RELEASE, WAIT, EVENT = 0x37, 0x40, 0x50, 0x49, 0x3C, 0x46


@pytest.mark.parametrize(
    ("packet", "wanted"),
    [
        ((WRITE, 5 << 8, LOW, HIGH, 7, 8), [7, 8, 3, 4]),
        ((WRITE, 5 << 8 | 1 << 16, LOW, HIGH, 7, 8), [8, 2, 3, 4]),
        ((COPY, 5 | 5 << 8, 9, 10, LOW + 4, HIGH), [1, 9, 3, 4]),
        ((COPY, 5 | 5 << 8 | 1 << 16, 9, 10, LOW + 4, HIGH), [1, 9, 10, 4]),
        ((COPY, 1 | 5 << 8 | 1 << 16, LOW, HIGH, LOW + 8, HIGH), [1, 2, 1, 2]),
        ((DMA, 2 << 29, 6, 0, LOW + 4, HIGH, 8), [1, 6, 6, 4]),
        ((DMA, 3 << 29 | 3 << 20, LOW, HIGH, LOW + 12, HIGH, 4), [1, 2, 3, 1]),
        ((DMA, 3 << 29 | 2 << 20, LOW, HIGH, LOW + 12, HIGH, 4), [1, 2, 3, 4]),
        ((RELEASE, 0, 1 << 29, LOW, HIGH, 5, 6, 0), [5, 2, 3, 4]),
        ((RELEASE, 0, 2 << 29, LOW, HIGH, 5, 6, 0), [5, 6, 3, 4]),
        ((RELEASE, 0, 0, LOW, HIGH, 5, 6, 0), [1, 2, 3, 4]),
        ((WAIT, 0x13, LOW, HIGH, 1, 0xFFFFFFFF, 4), [1, 2, 3, 4]),
        ((EVENT, 7), [1, 2, 3, 4]),
    ],
)
def test_packets_that_write_memory(packet: Sequence[int], wanted: list[int], tmp_path: Path) -> None:
    recording = stream_of(tmp_path / "c", packet, data=[1, 2, 3, 4])
    (event,) = replay.run(recording, Interpreter())
    assert event.memory.words(BASE + 4096, 4).tolist() == wanted


@pytest.mark.parametrize(
    ("packet", "error", "text"),
    [
        ((0x2D, 3, 0), Unsupported, "DRAW_INDEX_AUTO at 0x100000000: draws"),
        ((0x1E, 0, 0, 0, 0, 0, 0, 0, 0), Unsupported, "ATOMIC_MEM at 0x100000000: is not replayed"),
        ((0x22, LOW, HIGH, 0, 2), Unsupported, "COND_EXEC at 0x100000000: is not replayed"),
        ((0x20, 3 << 16, LOW, HIGH), Unsupported, "SET_PREDICATION at 0x100000000: turns predication on"),
        ((WRITE, 0, LOW, HIGH, 7), Unsupported, "WRITE_DATA at 0x100000000: writes to destination 0"),
        ((COPY, 9 | 5 << 8, 0, 0, LOW, HIGH), Unsupported, "COPY_DATA at 0x100000000: copies from source 9"),
        ((RELEASE, 0, 3 << 29, LOW, HIGH, 5, 6, 0), Unsupported, "RELEASE_MEM at 0x100000000: writes data of kind 3"),
        ((DMA, 0, LOW, HIGH, LOW, HIGH, 4 | 1 << 26), Unsupported, "DMA_DATA at 0x100000000: moves registers"),
        ((DMA, 2 << 29, 6, 0, LOW, HIGH, 6), Unsupported, "DMA_DATA at 0x100000000: fills 6 bytes"),
        ((EVENT, 0x1F, LOW, HIGH), Unsupported, "EVENT_WRITE at 0x100000000: writes counters of event 31"),
        ((WAIT, 0x13, LOW, HIGH, 2, 0xFFFFFFFF, 4), Unsupported, "waits for memory that holds 0x1"),
        ((WRITE, 5 << 8, 0x4000, HIGH, 7), FormatError, r"WRITE_DATA at 0x100000000: 4 bytes at 0x100004000 are not"),
        ((DMA, 0, 0x4000, HIGH, LOW, HIGH, 4), FormatError, "DMA_DATA at 0x100000000: 4 bytes at 0x100004000 are not"),
        ((WRITE, 5 << 8), FormatError, "WRITE_DATA at 0x100000000: has too few words"),
        ((0x15, 1, 1, 1, 1), FormatError, "dispatch 0 at 0x100000000: its program or its registers"),
        ((0xEE, 0), Unsupported, "0xEE at 0x100000000: is not replayed"),
    ],
)
def test_what_is_not_replayed_is_named(
    packet: Sequence[int], error: type[GuestGpuError], text: str, tmp_path: Path
) -> None:
    recording = stream_of(tmp_path / "c", packet, data=[1, 2, 3, 4])
    with pytest.raises(error, match=f"submission 0.*{text}"):
        list(replay.run(recording, Interpreter()))


def test_a_predicated_packet_and_another_ring(tmp_path: Path) -> None:
    recording = stream_of(tmp_path / "c", (WRITE, 5 << 8, LOW, HIGH, 7))
    (submission,) = recording.submissions()
    (packet,) = submission.packets(submission.ibs[0])
    words = (packet.words[0] | 1, *packet.words[1:])
    with pytest.raises(Unsupported, match="is predicated"):
        replay_packets.carry_out(type(packet)(**{**vars(packet), "words": words}), submission.memory)
    (tmp_path / "d").write_bytes(file_of(submit((BASE, 2, 2)), end(1, 1)))
    with pytest.raises(Unsupported, match="submission 0: a buffer for DMA: not replayed"):
        list(replay.run(Capture(tmp_path / "d"), Interpreter()))


def test_a_packet_that_an_earlier_one_writes(tmp_path: Path) -> None:
    """The second WRITE_DATA is changed by the first: carried out as written, or refused, never as it was."""
    recording = stream_of(tmp_path / "c", (WRITE, 5 << 8, 5 * 4 + 16, HIGH, 99), (WRITE, 5 << 8, LOW, HIGH, 7))
    with pytest.raises(Unsupported, match="was written by an earlier one"):
        list(replay.run(recording, Interpreter()))


def dispatch_of(groups: tuple[int, int, int], partial: tuple[int, int, int], first: tuple[int, int, int]) -> Dispatch:
    members = dict.fromkeys(Dispatch.__dataclass_fields__, 0)
    return Dispatch(**members | {"groups": groups, "partial": partial, "first_group": first, "threads": (64, 2, 1)})  # type: ignore[arg-type]


def test_partial_workgroups_are_dispatches_of_their_own() -> None:
    assert replay.parts_of(dispatch_of((5, 1, 1), (0, 0, 0), (0, 0, 0))) == [Part((0, 0, 0), (5, 1, 1), (64, 2, 1))]
    assert replay.parts_of(dispatch_of((5, 2, 1), (3, 2, 1), (1, 0, 7))) == [
        Part((1, 0, 7), (4, 2, 1), (64, 2, 1)),
        Part((5, 0, 7), (1, 2, 1), (3, 2, 1)),
    ]
    edges = replay.parts_of(dispatch_of((1, 2, 1), (3, 1, 0), (0, 0, 0)))
    assert edges == [Part((0, 0, 0), (1, 1, 1), (3, 2, 1)), Part((0, 1, 0), (1, 1, 1), (3, 1, 1))]
    assert [p.groups[0] for p in replay.parts_of(dispatch_of((100000, 1, 1), (0, 0, 0), (0, 0, 0)))] == [65535, 34465]

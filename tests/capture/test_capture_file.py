# SPDX-License-Identifier: MIT
"""The reader of capture files: what it takes, and that nothing damaged passes or brings it down."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import buffer, end, file_of, free, memory, submit, va

from guestgpu import capture, errors
from guestgpu.capture import Capture, CaptureError, Ip, Kind, Memory, Operation, Range

BASE = 0xFFFF800100000000
NOP = 2 << 30  # type 2: one word


def small_records() -> list[tuple[int, bytes]]:
    """Two submissions; between them one word changes, and another buffer takes an address."""
    records = [
        (Kind.INFO, b"gpu=navi21\nprogram=test\n"),
        buffer(1, 8192),
        va(Operation.MAP, 1, BASE, 0, 8192),
        memory(1, (0, [NOP, NOP]), (1024, [7, 8, 9])),
        submit((BASE, 2, Ip.GFX)),
        memory(1, (1025, [80])),
        buffer(2, 100),
        va(Operation.REPLACE, 2, BASE + 4096, 0, 4096),
        free(2),
        submit((BASE, 1, Ip.COMPUTE), (BASE, 1, Ip.DMA)),
        (Kind.NOTE, b"something\0\0\0\0\0\0\0"),
    ]
    return [*records, end(2, len(records))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "test.capture"


def read(path: Path, *records: tuple[int, bytes]) -> Capture:
    path.write_bytes(file_of(*records))
    return Capture(path)


def test_reads_what_was_written(path: Path) -> None:
    found = read(path, *small_records())
    assert found.info == {"gpu": "navi21", "program": "test"}
    assert found.notes == ["something"]
    assert found.complete
    assert found.submission_count == 2
    submissions = found.submissions()
    first = next(submissions)
    assert (first.number, first.device, first.ibs[0].words, first.ibs[0].ip) == (0, 1, 2, Ip.GFX)
    assert [packet.type for packet in first.packets(first.ibs[0])] == [2, 2]
    assert first.memory.words(BASE + 4096, 4).tolist() == [7, 8, 9, 0]
    second = next(submissions)
    assert [ib.is_pm4 for ib in second.ibs] == [True, False]
    assert second.memory.mappings() == [Range(BASE, 4096, 1, 0)]
    with pytest.raises(errors.ArgumentError, match="not mapped"):
        second.memory.read(BASE + 4096, 4)
    assert list(submissions) == []


def test_a_killed_application_leaves_a_file_without_its_end(path: Path) -> None:
    found = read(path, *small_records()[:-1])
    assert not found.complete
    assert found.submission_count == 2


def test_cut_anywhere(path: Path) -> None:
    """A cut is an error that says where, or falls between two records: then the end is missing."""
    data = file_of(*small_records())
    boundaries = {record.offset for record in capture.read_records(data, "test")}
    for size in range(len(data)):
        path.write_bytes(data[:size])
        if size in boundaries:
            assert not Capture(path).complete
        else:
            with pytest.raises(CaptureError, match=r"cut off|no capture") as caught:
                Capture(path)
            assert str(path) in str(caught.value)


def test_any_changed_byte_is_found(path: Path) -> None:
    data = file_of(*small_records())
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(CaptureError):
            Capture(path)


def test_other_files_and_versions(path: Path) -> None:
    path.write_bytes(b"hello")
    with pytest.raises(CaptureError, match="no capture"):
        Capture(path)
    path.write_bytes(struct.pack("<8sII", capture.MAGIC, 2, 0))
    with pytest.raises(CaptureError, match="version 2"):
        Capture(path)
    with pytest.raises(FileNotFoundError):
        Capture(path.parent / "none")


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("kind 9", [(9, b"")]),
        ("kind 1 of 3 bytes", [(1, b"abc")]),
        ("no buffer 1", [va(Operation.MAP, 1, BASE, 0, 4096)]),
        ("no buffer 1 on device 2", [buffer(1, 8), va(Operation.MAP, 1, BASE, 0, 4096, device_number=2)]),
        ("no buffer 1", [buffer(1, 8), free(1), memory(1, (0, [1]))]),
        ("buffer 1 of 8 bytes", [buffer(1, 8), buffer(1, 8)]),
        ("buffer 0", [buffer(0, 8)]),
        ("buffer 1 of 0 bytes", [buffer(1, 0)]),
        ("of 72057594037927936 bytes", [buffer(1, 1 << 56)]),
        ("operation 7", [buffer(1, 8), va(7, 1, BASE, 0, 4096)]),
        ("beyond the address space", [buffer(1, 8), va(1, 1, (1 << 64) - 4096, 0, 8192)]),
        ("runs beyond buffer 1", [buffer(1, 4096), memory(1, (1023, [1, 2]))]),
        ("1 runs of 1 words", [buffer(1, 4096), (Kind.MEMORY, memory(1, (0, [1]))[1][:16])]),
        ("1 command buffers", [(Kind.SUBMIT, submit((BASE, 1, 0))[1][:16])]),
        ("for IP 77", [submit((BASE, 1, 77))]),
        ("otherwise", [end(1, 0)]),
        ("unpack", [(Kind.BUFFER, b"")]),
        ("END", [(Kind.END, b"12345678")]),
    ],
)
def test_records_that_make_no_sense(path: Path, text: str, records: list[tuple[int, bytes]]) -> None:
    with pytest.raises(CaptureError, match=text) as caught:
        read(path, *records)
    assert f"{path}: record" in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(list(Kind)), st.binary(max_size=80)), max_size=6), st.data())
def test_any_payload_with_a_right_checksum(tmp_path_factory: pytest.TempPathFactory, records, data) -> None:  # type: ignore[no-untyped-def]
    """Rubbish among right records is taken, or refused as CaptureError; reading its streams may find it wrong too."""
    records = [(kind, payload[: len(payload) // 8 * 8]) for kind, payload in records]
    whole = small_records()[:-1]
    for record in records:
        whole.insert(data.draw(st.integers(0, len(whole))), record)
    path = tmp_path_factory.mktemp("any") / "capture"
    try:
        found = read(path, *whole)
    except CaptureError:
        return
    for submission in found.submissions():
        try:
            list(submission.dispatches())
        except (errors.FormatError, errors.LimitExceeded):
            continue


def test_page_table() -> None:
    memory_ = Memory()
    memory_.create(1, 16 * 4096)
    memory_.create(2, 4096)
    memory_.content(1).view(np.uint32)[::1024] = range(16)
    memory_.map(BASE, 16 * 4096, 1, 0)
    memory_.map(BASE + 4 * 4096, 4096, 2, 0)  # in the place of the middle
    assert memory_.mappings() == [
        Range(BASE, 4 * 4096, 1, 0),
        Range(BASE + 4 * 4096, 4096, 2, 0),
        Range(BASE + 5 * 4096, 11 * 4096, 1, 5 * 4096),
    ]
    assert memory_.words(BASE + 5 * 4096, 1).tolist() == [5]
    memory_.clear(BASE + 3 * 4096, 3 * 4096)
    assert [(r.address - BASE, r.size) for r in memory_.mappings()] == [(0, 3 * 4096), (6 * 4096, 10 * 4096)]
    assert memory_.words(BASE + 6 * 4096, 1).tolist() == [6]
    for address, size in [(BASE - 4, 4), (BASE + 3 * 4096 - 4, 8), (BASE + 16 * 4096, 1)]:
        with pytest.raises(errors.ArgumentError, match=f"{address:#x} are not mapped"):
            memory_.read(address, size)
    memory_.map(BASE, 4096, 0, 0)  # memory that was not recorded
    assert [window.address for window in memory_.windows()] == [BASE + 4096, BASE + 6 * 4096]
    with pytest.raises(errors.ArgumentError, match="not mapped"):
        memory_.read(BASE, 4)
    memory_.free(1)
    assert memory_.mappings() == [Range(BASE, 4096, 0, 0)]


def test_a_range_may_go_beyond_its_buffer() -> None:
    memory_ = Memory()
    memory_.create(1, 48)
    memory_.map(BASE, 4096, 1, 0)
    assert memory_.read(BASE + 48, 4048) == bytes(4048)

# SPDX-License-Identifier: MIT
"""Unmodified Vulkan programs, recorded on a fake RX 6800: what they did is what is in the file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from recordings import CHAIN, KERNELS, application, module, need_guest_driver, recorded

from guestgpu import capture, errors, translator
from guestgpu.capture import Capture, Ip, Kind, Memory
from guestgpu.stream import Dispatch

SET_HIGH = 0xFFFF8000  # the upper half of descriptor set pointers, which programs supply
S_ENDPGM = 0xBF810000


def descriptors(memory: Memory, dispatch: Dispatch, count: int) -> list[tuple[int, int, int]]:
    """Address, bytes and last word of the buffer descriptors of the set in user data 2."""
    words = memory.words(SET_HIGH << 32 | dispatch.user_data[2], 4 * count).tolist()
    found = []
    for low, high, records, last in (words[i : i + 4] for i in range(0, 4 * count, 4)):
        assert high >> 16 == 0, "a raw buffer has no stride"
        found.append((0xFFFF << 48 | (high & 0xFFFF) << 32 | low, records, last))
    return found


def test_one_dispatch(tmp_path: Path) -> None:
    """Registers, program, descriptors and memory, as the specification saw them."""
    found = recorded(tmp_path / "one", "one_dispatch", (KERNELS / "affine.comp").read_text())
    assert found.complete
    assert found.info == {"gpu": "navi21", "program": "one_dispatch"}
    (submission,) = found.submissions()
    packets = [packet for ib in submission.ibs for packet in submission.packets(ib)]
    registers = {r.name: r.value for packet in packets for r in packet.registers}
    (dispatch,) = [packet.dispatch for packet in packets if packet.dispatch]
    assert {packet.name for packet in packets} >= {"DISPATCH_DIRECT", "SET_SH_REG", "ACQUIRE_MEM", "INDIRECT_BUFFER"}
    assert [registers[f"COMPUTE_NUM_THREAD_{axis}"] for axis in "XYZ"] == [256, 1, 1]
    assert registers["COMPUTE_USER_DATA_2"] == dispatch.user_data[2]
    assert registers["COMPUTE_PGM_RSRC1"] == dispatch.rsrc1
    assert registers["COMPUTE_PGM_RSRC1"] & 0xFFF00000 == 0x60200000  # WGP mode and ordered memory, DX10 clamp
    assert dispatch.known
    assert (dispatch.groups, dispatch.threads, dispatch.wave) == ((64, 1, 1), (256, 1, 1), 64)
    assert (dispatch.user_sgprs, dispatch.lds_bytes, dispatch.scratch_bytes) == (3, 0, 0)
    assert dispatch.rsrc2 >> 7 & 1, "the workgroup id x is given"
    words = submission.memory.words(dispatch.program, 64)
    length = int(np.flatnonzero(words == S_ENDPGM)[0]) + 1
    assert translator.count_instructions(words[:length], wave=64) > 5
    (source, source_bytes, source_last), (target, target_bytes, target_last) = descriptors(
        submission.memory, dispatch, 2
    )
    assert source_bytes == target_bytes == 65536
    assert source_last == target_last == 0x31016FAC
    assert submission.memory.words(source, 16384).tolist() == list(range(16384))
    assert not submission.memory.words(target, 16384).any(), "nothing is carried out"


def test_a_chain_of_dispatches(tmp_path: Path) -> None:
    found = recorded(tmp_path / "chain", "chain", CHAIN)
    seen, data = [], []
    for submission in found.submissions():
        dispatches = list(submission.dispatches())
        seen.append([(d.groups, d.user_data[3:8]) for d in dispatches])
        assert [d.indirect != 0 for d in dispatches] == [False, False, True]
        assert len({d.program for d in dispatches}) == 1
        (address, size, _), _ = descriptors(submission.memory, dispatches[0], 2)
        assert size == 16384
        data.append(submission.memory.words(address, 4096))
    first = [((2, 1, 1), (1, 3, 2, 1, 1)), ((3, 2, 1), (5, 7, 3, 2, 1))]  # add, multiply, workgroups x, y, z
    assert seen[0] == [*first, ((4, 1, 1), (2, 9, 4, 1, 1))]
    assert seen[1] == seen[2] == [*first, ((5, 2, 1), (2, 9, 5, 2, 1))]
    assert data[0].tolist() == list(range(1000, 5096))
    assert np.flatnonzero(data[1] != data[0]).tolist() == [7]
    assert data[1][7] == 4321
    assert data[2].tolist() == list(range(2000, 6096))
    assert Kind.FREE in {record.kind for record in found.records}


def test_between_submissions_only_changed_words_are_recorded(tmp_path: Path) -> None:
    found = recorded(tmp_path / "chain", "chain", CHAIN)
    submits = [record.number for record in found.records if record.kind == Kind.SUBMIT]
    between = found.records[submits[0] + 1 : submits[1]]
    words = sorted(
        int(word)
        for record in between
        if record.kind == Kind.MEMORY
        for word in np.frombuffer(record.payload, np.uint32)[4 + 2 * int.from_bytes(record.payload[8:12], "little") :]
        if word
    )
    # The host's one word and its two counts; the driver writes no more than a little of its own.
    assert 4321 in words
    assert {5, 2} <= set(words)
    assert sum(len(record.payload) for record in between if record.kind == Kind.MEMORY) < 2048


def test_two_threads_with_a_queue_each(tmp_path: Path) -> None:
    """Submissions of a queue are in order, and each sees the memory of its own time."""
    found = recorded(tmp_path / "threads", "threads", CHAIN)
    counted: dict[int, list[int]] = {}
    for submission in found.submissions():
        (dispatch,) = submission.dispatches()
        ring = {ib.ring for ib in submission.ibs}
        assert {ib.ip for ib in submission.ibs} == {Ip.COMPUTE}
        (address, _, _), _ = descriptors(submission.memory, dispatch, 2)
        counted.setdefault(ring.pop(), []).append(int(submission.memory.words(address, 1)[0]))
    assert sorted(counted.values()) == [list(range(100, 108)), list(range(200, 208))]


def test_a_child_process_writes_a_file_of_its_own(tmp_path: Path) -> None:
    recorded(tmp_path / "fork", "threads", CHAIN, "fork")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    assert files[1].suffix[1:].isdecimal()
    for file in files:
        assert Capture(file).complete
        assert Capture(file).submission_count == 16


def test_an_application_does_the_same_when_it_is_watched(tmp_path: Path) -> None:
    need_guest_driver()
    command = [str(application("chain")), str(module(CHAIN))]
    variables = capture.environment(tmp_path / "watched")
    unwatched = {**variables, "LD_PRELOAD": str(capture.drm_shim())}
    ran = [
        subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True)
        for env in (variables, unwatched, {key: value for key, value in variables.items() if key != "GUESTGPU_CAPTURE"})
    ]
    assert ran[0].stdout == ran[1].stdout == ran[2].stdout
    assert [file.name for file in tmp_path.iterdir()] == ["watched"]


def run_client(tmp_path: Path, file: Path, size: int, **limits: int) -> subprocess.CompletedProcess[str]:
    """The guest client with one buffer of `size` random bytes."""
    need_guest_driver()
    content = tmp_path / "content"
    content.write_bytes(np.random.default_rng(1).bytes(size))
    plan = f"groups 1 1 1\nbuffer storage 0 0 0 {size} {content}\n"
    source = (KERNELS / "collatz.comp").read_text()
    client = str(capture.built_file("guestgpu-guest", "the Vulkan headers"))
    ran: subprocess.CompletedProcess[str] = capture.record(
        file, [client, str(module(source))], input=plan, capture_output=True, text=True, timeout=60, **limits
    )
    assert ran.returncode == 0, ran.stderr
    return ran


def test_a_full_file_is_said_and_is_right_as_far_as_it_goes(tmp_path: Path) -> None:
    ran = run_client(tmp_path, tmp_path / "full", 2 << 20, limit_mib=1)
    assert "guestgpu capture: the file has reached its limit of 1 MiB" in ran.stderr
    found = Capture(tmp_path / "full")
    assert not found.complete
    assert found.submission_count == 0


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    ran = run_client(tmp_path, tmp_path / "none" / "file", 4096)
    assert "none/file: No such file or directory: not recording" in ran.stderr


def test_a_limit_that_is_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUESTGPU_CAPTURE_LIMIT", "much")
    ran = run_client(tmp_path, tmp_path / "file", 4096)
    assert "GUESTGPU_CAPTURE_LIMIT=much is no number" in ran.stderr
    assert Capture(tmp_path / "file").complete


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUESTGPU_DRM_SHIM", str(tmp_path / "no.so"))
    monkeypatch.setattr(capture, "capture_library", lambda: Path("library.so"))
    with pytest.raises(
        capture.NoGuestDriver, match=r"fake AMD kernel driver: GUESTGPU_DRM_SHIM names .*no\.so"
    ) as caught:
        capture.environment(tmp_path / "file")
    assert isinstance(caught.value, errors.NoDevice)
    monkeypatch.delenv("GUESTGPU_DRM_SHIM")
    monkeypatch.setattr(capture, "_LIBRARY_FOLDERS", (str(tmp_path),))
    with pytest.raises(capture.NoGuestDriver, match="install mesa-drm-shim"):
        capture.drm_shim()
    monkeypatch.setattr(capture, "_ICD_FOLDERS", (str(tmp_path),))
    with pytest.raises(capture.NoGuestDriver, match="install mesa-vulkan-drivers"):
        capture.radv_manifest()
    with pytest.raises(capture.NoGuestDriver, match=r"built without none\.so"):
        capture.built_file("none.so", "libdrm-dev")

# SPDX-License-Identifier: MIT
"""Rows: what is accepted, what survives a crash, and what is refused."""

from __future__ import annotations

import getpass
import json
import os
import re
import resource
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestgpu import results
from guestgpu.results import ResultsError, Writer, load, merge, read, validate_row

DEVICE = {"uuid": "6d657361", "name": "llvmpipe", "driver": "Mesa 25.0.7", "type": "cpu", "api": "1.4.305"}


def common(**changes: Any) -> dict[str, Any]:
    row = {
        "schema": results.SCHEMA,
        "status": "ok",
        "run": "r1",
        "experiment": "demo",
        "point": {"meshlets": 64},
        "arms": ["aos", "soa"],
        "launch": 0,
        "device": DEVICE,
        "host": "0123456789abcdef",
        "cpu": "a processor",
        "load": [0.5, 0.25, 0.0],
        "git": {"revision": "1a2b3c4", "dirty": False},
        "argv": ["guestgpu", "run", "demo"],
        "seed": 0,
        "versions": {"python": "3.11.2", "scipy": None},
        "utc": "2026-11-30T13:06:12.123Z",
    }
    return row | changes


def block(**changes: Any) -> dict[str, Any]:
    own = {
        "kind": "block",
        "block": 0,
        "schedule": ["aos", "soa", "soa", "aos"],
        "samples": {"dispatch": [4, 3, 3, 4], "draw": [1, 1, 1, 1]},
        "clock": results.CLOCK_DEVICE,
        "correctness": results.CHECKED,
    }
    return common(**own) | changes


def cell(**changes: Any) -> dict[str, Any]:
    own = {
        "kind": "cell",
        "reason": None,
        "clock": results.CLOCK_DEVICE,
        "correctness": results.CHECKED,
        "figures": {"aos": {"first_dispatch_ns": 14_000_000, "compile_ns": None}},
    }
    return common(**own) | changes


def env(**changes: Any) -> dict[str, Any]:
    return common(kind="env", details={"limits": {"max_mesh_vertices": 256}}) | changes


def write(path: Path, *rows: dict[str, Any]) -> Path:
    with Writer(path) as out:
        for row in rows:
            out.write(row)
    return path


# ---- validation ----


@pytest.mark.parametrize(
    "row", [env(), block(), cell(), block(git=None), cell(status="crash", reason="SIGSEGV", device=None)]
)
def test_valid_rows(row: dict[str, Any]) -> None:
    validate_row(row)


@pytest.mark.parametrize("kind", [env, block, cell])
def test_every_field_is_needed_and_no_other_is_let_in(kind: Any) -> None:
    for name in kind():
        row = kind()
        del row[name]
        with pytest.raises(ResultsError, match=name):
            validate_row(row)
    with pytest.raises(ResultsError, match="unknown field 'extra'"):
        validate_row(kind(extra=1))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"samples": {"dispatch": [4, 3, 3, 4.5]}}, "positive integers"),
        ({"samples": {"dispatch": [4, 3, 3, 0]}}, "positive integers"),
        ({"samples": {"dispatch": [4, 3, 3, True]}}, "positive integers"),
        ({"samples": {"dispatch": [4, 3, 3]}}, "3 samples of 'dispatch' for a schedule of 4"),
        ({"samples": {}}, "samples"),
        ({"schedule": ["aos", "aos", "soa", "soa"]}, "no mirrored order"),
        ({"schedule": ["aos", "aos"]}, "no mirrored order"),
        ({"arms": ["aos", "aos"]}, "distinct"),
        ({"launch": -1}, "launch is -1"),
        ({"launch": True}, "launch is True"),
        ({"status": "fine"}, "one of ok"),
        ({"point": {"a": [1]}}, "object of scalars"),
        ({"device": None}, "device is None"),
        ({"device": {"uuid": "1"}}, "object of uuid, name"),
        ({"load": [1, 2, 3]}, "three numbers"),
        ({"git": {"revision": "1"}}, "revision and dirty"),
        ({"utc": "yesterday"}, "UTC"),
        ({"correctness": ""}, "correctness"),
        ({"kind": "rumour"}, "kind is 'rumour'"),
        ({"kind": ["block"]}, "kind is"),
        ({"schema": "guestgpu-row-9"}, "schema 'guestgpu-row-9' is not known here"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ResultsError, match=re.escape(text)):
        validate_row(block(**changes))


def test_a_failed_cell_has_a_reason() -> None:
    with pytest.raises(ResultsError, match="needs a reason"):
        validate_row(cell(status="timeout"))


# ---- writing and reading ----


def test_rows_come_back_as_written(tmp_path: Path) -> None:
    rows = [env(), block(argv=["ü", ""]), cell()]
    found = read(write(tmp_path / "new" / "rows.jsonl", *rows))
    assert found.rows == rows
    assert (found.torn, found.duplicates) == (0, 0)
    assert [row["kind"] for row in found.kind("cell")] == ["cell"]


def test_one_write_a_line_and_a_sync_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real_write, real_sync = os.write, os.fsync

    def count_write(file: int, data: bytes) -> int:
        calls.append("write")
        return real_write(file, data)

    def count_sync(file: int) -> None:
        calls.append("sync")
        real_sync(file)

    monkeypatch.setattr(os, "write", count_write)
    monkeypatch.setattr(os, "fsync", count_sync)
    write(tmp_path / "rows.jsonl", env(), block(), block(block=1), cell())
    assert calls == ["write", "write", "write", "write", "sync"]


def test_an_invalid_row_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with Writer(path) as out:
        out.write(env())
        with pytest.raises(ResultsError, match="launch"):
            out.write(block(launch=None))
        with pytest.raises(ResultsError, match=r"rows\.jsonl: a row cannot be written as JSON"):
            out.write(env(details={"nan": float("nan")}))
    assert len(read(path).rows) == 1


def test_a_full_disk_is_one_line_and_keeps_what_was_written(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the kernel cuts the write short, then refuses."""
    path = tmp_path / "rows.jsonl"
    line = len(write(path, block()).read_bytes())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * line + 10, before[1]))
        with Writer(path) as out:
            out.write(block(block=1))
            with pytest.raises(ResultsError, match=r"rows\.jsonl: no space for a whole line"):
                out.write(block(block=2))
            with pytest.raises(ResultsError, match=r"rows\.jsonl: File too large"):
                out.write(block(block=3))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    found = read(path)
    assert [row["block"] for row in found.rows] == [0, 1]
    assert found.torn == 1
    with pytest.raises(ResultsError, match=r"rows\.jsonl: its last line is torn; write to a new file"):
        Writer(path)


def test_the_device_that_is_always_full() -> None:
    with Writer("/dev/full", run="r") as out, pytest.raises(ResultsError, match="/dev/full: No space left on device"):
        out.write(cell())


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "rows.jsonl", tmp_path, Path("/proc/nothing/rows.jsonl")):
        with pytest.raises(ResultsError, match=re.escape(str(path))):
            Writer(path)
    with pytest.raises(ResultsError, match=re.escape(str(tmp_path / "file"))):
        results.new_run_folder("demo", tmp_path / "file")


def test_run_folders_are_never_reused(tmp_path: Path) -> None:
    folders = {results.new_run_folder("demo", tmp_path) for _ in range(5)}
    assert len(folders) == 5
    assert all(folder.name.startswith("demo-20") and folder.is_dir() for folder in folders)


@given(cut=st.integers(1, 10_000))
def test_a_torn_last_line_is_skipped_and_counted(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = write(tmp_path_factory.mktemp("torn") / "rows.jsonl", env(), block(), cell())
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    kept = len(whole) - 1 - cut % (len(lines[-1]) - 1)
    path.write_bytes(whole[:kept])
    found = read(path)
    if kept == len(whole) - 1:  # only the line's end is missing: the row is whole
        assert (len(found.rows), found.torn) == (3, 0)
    else:
        assert len(found.rows) == 2
        assert found.torn == (kept > len(whole) - len(lines[-1]))


@pytest.mark.parametrize("line", [b"{\n", b"\xff\xfe\n", b"[1]\n", b"null\n", b"[" * 100_000 + b"\n"])
def test_broken_lines_are_named(tmp_path: Path, line: bytes) -> None:
    path = write(tmp_path / "rows.jsonl", env())
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(ResultsError, match=r"rows\.jsonl:2: "):
        read(path)


def test_an_unknown_schema_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(block(schema="guestgpu-row-2")) + "\n")
    with pytest.raises(ResultsError, match=r"rows\.jsonl:1: schema 'guestgpu-row-2' is not known here"):
        read(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"none\.jsonl: No such file"):
        read(tmp_path / "none.jsonl")


# ---- merging ----


def test_shards_merge_without_duplicates(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", env(), block(), cell())
    second = write(tmp_path / "b.jsonl", block(), block(launch=1), cell(launch=1))
    found = merge([first, second])
    assert len(found.rows) == 5
    assert found.duplicates == 1
    assert str(first) in found.source


def test_contradicting_rows_name_both_places(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", env(), block())
    second = write(tmp_path / "b.jsonl", block(seed=7))
    with pytest.raises(ResultsError, match=r"b\.jsonl:1: contradicts .*a\.jsonl:2"):
        merge([first, second])


@given(st.permutations(range(12)), st.integers(1, 4))
def test_any_split_into_shards_merges_to_the_whole(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], shards: int
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    rows = [block(launch=i // 4, block=i % 4) for i in order]
    paths = [write(folder / f"{i}.jsonl", *rows[i::shards]) for i in range(shards)]
    assert sorted(map(repr, merge(paths).rows)) == sorted(map(repr, rows))


def test_only_launches_that_ended_well_are_timed() -> None:
    rows = [block(), cell(), block(launch=1), cell(launch=1, status="mismatch", reason="record 3"), block(launch=2)]
    assert [row["launch"] for row in results.timed_blocks(rows)] == [0]
    assert [row["status"] for row in results.failed_cells(rows)] == ["mismatch"]


# ---- loading ----


def test_own_results_newest_first_then_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiments, runs = tmp_path / "experiments", tmp_path / "runs"
    monkeypatch.setenv("GUESTGPU_EXPERIMENTS", str(experiments))
    with pytest.raises(ResultsError, match="no results of 'demo'"):
        load("demo", runs)

    write(experiments / "demo" / "reference" / "h200.jsonl", block(), cell())
    assert load("demo", runs).source.startswith("reference: ")

    def run(name: str, utc: str, *rows: dict[str, Any]) -> None:
        write(runs / name / "rows.jsonl", *(row | {"run": name, "utc": utc} for row in rows))

    run("demo-a", "2026-11-30T10:00:00.000Z", block(), cell())
    run("demo-b", "2026-11-29T10:00:00.000Z", block(), cell())
    run("demo-failed", "2026-11-30T11:00:00.000Z", block(), cell(status="crash", reason="SIGSEGV"))
    run("demo-other", "2026-11-30T12:00:00.000Z", block(experiment="demo-other"), cell(experiment="demo-other"))
    found = load("demo", runs)
    assert found.source == f"own run: {runs / 'demo-a' / 'rows.jsonl'}"
    assert {row["run"] for row in found.rows} == {"demo-a"}


# ---- provenance ----


def test_provenance_names_neither_host_nor_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home" / "somebody"
    monkeypatch.setenv("HOME", str(home))
    found = results.provenance([f"{home}/bin/guestgpu", f"--out={home}/runs"], 3)
    assert found["argv"] == ["~/bin/guestgpu", "--out=~/runs"]
    text = json.dumps({key: found[key] for key in ("host", "cpu", "argv", "versions")})
    assert socket.gethostname() not in text
    assert "somebody" not in text
    if getpass.getuser() != "root":
        assert getpass.getuser() not in text
    validate_row(cell() | found)


def test_host_id_is_stable_and_hides_the_machine_id() -> None:
    assert results.host_id() == results.host_id()
    assert re.fullmatch(r"[0-9a-f]{16}|unknown", results.host_id())


def test_git_state_follows_the_checkout(tmp_path: Path) -> None:
    assert results.git_state(tmp_path) is None  # no checkout

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    git("init", "-q")
    assert results.git_state(tmp_path) is None  # no commit
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    clean = results.git_state(tmp_path)
    assert clean is not None
    assert re.fullmatch(r"[0-9a-f]{40}", clean["revision"])
    assert clean["dirty"] is False
    (tmp_path / "file").write_text("2")
    assert results.git_state(tmp_path) == clean | {"dirty": True}


def test_utc_and_load_fit_the_schema() -> None:
    validate_row(block(utc=results.utc_now(), load=results.load_average()))

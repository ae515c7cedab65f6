# SPDX-License-Identifier: MIT
"""The harness: launches that end in every way, the registry, warm-up and blocks."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestgpu import results
from guestgpu.experiment import (
    TIMED_ENVIRONMENT,
    Arm,
    Blocks,
    Exit,
    ExperimentError,
    Launch,
    Outcome,
    Spec,
    known_experiments,
    load_experiment,
    points,
    run_launches,
    shard,
)
from guestgpu.results import ResultsError, Writer, read, timed_blocks
from guestgpu.stats import compare

DEVICE = {"uuid": "00", "name": "sleeper", "driver": "none", "type": "cpu", "api": "1.3.0"}

# An experiment on a device that only counts: arm "b" takes a tenth longer than "a".
RUN_PY = f"""
import ctypes, os, signal, sys, time
from guestgpu import errors
from guestgpu.experiment import Blocks, MismatchError
DEVICE = {DEVICE!r}

def measure(request, emit):
    fate = request["point"]["fate"] if request["launch"] == request["fate_launch"] else "ok"
    if fate == "no_device":
        raise errors.NoDevice("no device fits")
    emit("env", device=DEVICE, versions={{"counter": "1"}}, details={{"malloc": os.environ.get("MALLOC_TOP_PAD_")}})
    print("a driver that talks on stdout")
    os.system("echo and so does its compiler")
    if fate == "mismatch":
        raise MismatchError("record 3 is wrong")
    if fate == "lost":
        raise errors.DeviceLost("vkQueueSubmit: VK_ERROR_DEVICE_LOST", "GG_ERR_DEVICE_LOST")
    if fate == "raise":
        raise KeyError("what")
    blocks = Blocks({{"a": lambda: {{"gpu": 1000}}, "b": lambda: {{"gpu": 1100}}}}, request["launch"])
    figures = blocks.warm_up()
    for row in blocks.run(request["blocks"]):
        if fate == "bad row":
            row["block"] = -1
        emit("block", clock="host clock, one submit", correctness="checked", **row)
        if fate == "segfault":
            ctypes.string_at(0)
        if fate == "hang":
            if os.fork() == 0:
                time.sleep(600)
            time.sleep(600)
        if fate == "exit 7":
            print("the last words", file=sys.stderr)
            sys.stderr.flush()
            os._exit(7)
        if fate == "silent":
            os._exit(0)
    emit("cell", status="ok", reason=None, clock="host clock, one submit", correctness="checked", figures=figures)
    if fate == "late crash":
        os.kill(os.getpid(), signal.SIGABRT)
"""


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "experiments"
    (folder / "counting").mkdir(parents=True)
    (folder / "counting" / "run.py").write_text(RUN_PY)
    monkeypatch.setenv("GUESTGPU_EXPERIMENTS", str(folder))
    return tmp_path


def spec(fate: str = "ok", fate_launch: int = 1, blocks: int = 4) -> Spec:
    return Spec("counting", {"fate": fate}, ["a", "b"], 7, {"blocks": blocks, "fate_launch": fate_launch})


def measure(folder: Path, fate: str, launches: int = 3, timeout_s: float = 20.0) -> tuple[Outcome, results.Rows]:
    path = folder / "counting-1" / "rows.jsonl"
    with Writer(path) as out:
        outcome = run_launches(spec(fate), launches, timeout_s, out)
    return outcome, read(path)


# ---- launches ----


def test_rows_of_good_launches_are_complete(counting: Path) -> None:
    seen: list[Launch] = []
    path = counting / "counting-1" / "rows.jsonl"
    with Writer(path) as out:
        outcome = run_launches(spec(), 2, 20.0, out, progress=seen.append, argv=["guestgpu", "run"])
    assert outcome.launches == seen == [Launch(0, "ok", None, 4), Launch(1, "ok", None, 4)]
    assert outcome.exit_code is Exit.OK
    rows = read(path)
    assert [row["kind"] for row in rows.rows] == ["env", *["block"] * 4, "cell"] * 2
    for row in rows.rows:
        assert (row["run"], row["experiment"], row["seed"]) == ("counting-1", "counting", 7)
        assert row["argv"] == ["guestgpu", "run"]
        assert row["device"] == DEVICE
        assert row["versions"]["counter"] == "1"
    assert rows.kind("block")[0]["schedule"] == ["a", "b", "b", "a"]
    assert rows.kind("block")[4]["schedule"] == ["b", "a", "a", "b"]
    assert rows.kind("cell")[0]["figures"]["b"]["first_gpu_ns"] == 1100
    assert compare(timed_blocks(rows.rows), "a")[0].ratio.centre == pytest.approx(1.1)


def test_timed_processes_keep_their_memory(counting: Path) -> None:
    _, rows = measure(counting, "ok", launches=1)
    assert rows.kind("env")[0]["details"]["malloc"] == TIMED_ENVIRONMENT["MALLOC_TOP_PAD_"] == "536870912"


@pytest.mark.parametrize(
    ("fate", "status", "reason"),
    [
        ("segfault", "crash", "ended by SIGSEGV"),
        ("exit 7", "crash", "exit status 7: the last words"),
        ("late crash", "crash", "ended by SIGABRT"),
        ("silent", "error", "the worker ended without a result"),
        ("raise", "error", "KeyError: 'what'"),
        ("mismatch", "mismatch", "record 3 is wrong"),
        ("lost", "device_lost", "vkQueueSubmit: VK_ERROR_DEVICE_LOST"),
        ("bad row", "error", "the worker's output cannot be used: block row: block is -1, not a count"),
    ],
)
def test_a_bad_launch_is_recorded_and_the_others_go_on(counting: Path, fate: str, status: str, reason: str) -> None:
    outcome, rows = measure(counting, fate)
    assert [launch.status for launch in outcome.launches] == ["ok", status, "ok"]
    assert outcome.launches[1].reason is not None
    assert outcome.launches[1].reason.startswith(reason)
    assert outcome.exit_code is Exit.FAILED
    failed = results.failed_cells(rows.rows)
    assert [(row["launch"], row["status"], row["reason"]) for row in failed] == [
        (1, status, outcome.launches[1].reason)
    ]
    assert {row["launch"] for row in timed_blocks(rows.rows)} == {0, 2}


def test_blocks_measured_before_a_crash_are_kept(counting: Path) -> None:
    _, rows = measure(counting, "segfault")
    assert [row["launch"] for row in rows.kind("block")] == [0] * 4 + [1] + [2] * 4


def test_a_hanging_launch_and_its_children_are_ended(counting: Path) -> None:
    begin = time.monotonic()
    outcome, rows = measure(counting, "hang", timeout_s=4.0)
    assert time.monotonic() - begin < 30.0
    assert [launch.status for launch in outcome.launches] == ["ok", "timeout", "ok"]
    assert outcome.launches[1].reason == "not done after 4 s"
    assert len([row for row in rows.kind("block") if row["launch"] == 1]) == 1


def test_without_a_device_there_is_one_attempt(counting: Path) -> None:
    path = counting / "rows.jsonl"
    with Writer(path) as out:
        outcome = run_launches(spec("no_device", fate_launch=0), 6, 20.0, out)
    assert [launch.status for launch in outcome.launches] == ["no_device"]
    assert outcome.exit_code is Exit.NO_DEVICE
    assert read(path).rows[0]["device"] is None


def test_a_worker_that_is_no_module(counting: Path) -> None:
    with Writer(counting / "rows.jsonl") as out:
        outcome = run_launches(Spec("counting", {}, ["a"], worker="guestgpu_nothing"), 1, 20.0, out)
    assert outcome.launches[0].status == "crash"
    assert "No module named guestgpu_nothing" in str(outcome.launches[0].reason)


def test_rows_that_cannot_be_written_end_the_series(counting: Path) -> None:
    with Writer("/dev/full", run="r") as out, pytest.raises(ResultsError, match="/dev/full: No space left"):
        run_launches(spec(), 3, 20.0, out)


@pytest.mark.parametrize(("launches", "timeout_s"), [(0, 1.0), (1, 0.0), (1, float("nan"))])
def test_senseless_series_are_refused(counting: Path, launches: int, timeout_s: float) -> None:
    with Writer(counting / "rows.jsonl") as out, pytest.raises(ExperimentError, match="must be positive"):
        run_launches(spec(), launches, timeout_s, out)


def test_an_interrupt_keeps_the_rows_and_returns_130(counting: Path) -> None:
    path = counting / "rows.jsonl"
    script = f"""
import sys
from guestgpu.experiment import Spec, run_launches
from guestgpu.results import Writer
spec = Spec("counting", {{"fate": "hang"}}, ["a", "b"], 7, {{"blocks": 4, "fate_launch": 1}})
with Writer({str(path)!r}) as out:
    sys.exit(run_launches(spec, 3, 60.0, out).exit_code)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    try:
        _wait(lambda: path.exists() and path.read_bytes().count(b"\n") >= 6)
        time.sleep(1.0)  # until the second launch hangs
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert stderr == b""
    assert process.returncode == 130
    rows = read(path)
    assert [row["status"] for row in rows.kind("cell")] == ["ok", "interrupted"]
    assert len(timed_blocks(rows.rows)) == 4


def _wait(condition: Callable[[], bool], limit_s: float = 20.0) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.05)


def test_an_interrupt_between_launches_ends_the_series(counting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("guestgpu.experiment._run_worker", interrupted)
    with Writer(counting / "rows.jsonl") as out:
        assert run_launches(spec(), 3, 20.0, out).exit_code is Exit.INTERRUPTED


def test_a_worker_ends_itself_when_its_parent_is_gone() -> None:
    """The alarm is what ends a hanging worker after kill -9 of its parent; 10 s is its grace."""
    script = (
        "import signal, sys\nfrom guestgpu.experiment import serve\n"
        "def measure(request, emit): emit('env', left=signal.alarm(0))\nsys.exit(serve(measure))"
    )
    request = json.dumps({"timeout_s": 2.5}).encode()
    done = subprocess.run([sys.executable, "-c", script], input=request, capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout)["left"] in (12, 13)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["ok", "ok"], Exit.OK),
        (["ok", "timeout"], Exit.FAILED),
        (["no_device"], Exit.NO_DEVICE),
        (["ok", "no_device"], Exit.FAILED),
        (["crash", "interrupted"], Exit.INTERRUPTED),
    ],
)
def test_exit_codes(statuses: list[str], code: Exit) -> None:
    assert Outcome([Launch(i, status, None, 0) for i, status in enumerate(statuses)]).exit_code is code


def test_exit_codes_are_those_of_the_documents() -> None:
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 4, 5, 130]


# ---- registry, axes, shards ----


def test_experiments_are_found_by_name(counting: Path) -> None:
    (counting / "experiments" / "no-experiment").mkdir()
    assert known_experiments() == ["counting"]
    assert callable(load_experiment("counting").measure)
    for name in ("count", "../experiments/counting", ""):
        with pytest.raises(ExperimentError, match=rf"no experiment '{re.escape(name)}'; known: counting"):
            load_experiment(name)


@pytest.mark.parametrize(
    ("text", "error"),
    [("import nothing_here", "does not load: ModuleNotFoundError"), ("x = 1", r"no function measure\(request, emit\)")],
)
def test_broken_experiments_are_named(counting: Path, text: str, error: str) -> None:
    (counting / "experiments" / "counting" / "run.py").write_text(text)
    with pytest.raises(ExperimentError, match=rf"counting/run\.py .*{error}"):
        load_experiment("counting")


def test_no_experiments_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUESTGPU_EXPERIMENTS", str(tmp_path))
    with pytest.raises(ExperimentError, match=f"known: none in {re.escape(str(tmp_path))}"):
        load_experiment("demo")


def test_points_are_the_product_of_the_axes() -> None:
    assert points({"a": [1, 2], "b": ["x", "y"]}) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]


@given(st.lists(st.integers(), max_size=40), st.integers(1, 9))
def test_shards_are_disjoint_and_everything(items: list[int], count: int) -> None:
    numbered = list(enumerate(items))
    shares = [shard(numbered, f"{i}/{count}") for i in range(1, count + 1)]
    assert sorted(item for share in shares for item in share) == numbered


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2", " 1/2"])
def test_senseless_shards(text: str) -> None:
    with pytest.raises(ExperimentError, match="is not I/N"):
        shard([1], text)


# ---- warm-up and blocks ----


def test_warm_up_stops_when_two_medians_agree() -> None:
    series = iter([9000, 500, 500, 500, 200, 200, 200, 101, 101, 101, 100, 100, 100])
    figures = Blocks({"a": lambda: {"gpu": next(series)}}, 0).warm_up()
    assert figures == {"a": {"first_gpu_ns": 9000, "warm_up_samples": 13}}


def test_warm_up_ends_though_medians_never_agree() -> None:
    value = 1
    limits = Blocks.WARM_UP_ROUNDS * Blocks.WARM_UP_SAMPLES + 1

    def grow() -> dict[str, int]:
        nonlocal value
        value *= 2
        return {"gpu": value}

    assert Blocks({"a": grow}, 0).warm_up()["a"]["warm_up_samples"] == limits


def test_warm_up_ends_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Blocks, "WARM_UP_S", 0.05)
    value = 1

    def slow() -> dict[str, int]:
        nonlocal value
        value *= 2
        time.sleep(0.03)
        return {"gpu": value}

    assert Blocks({"a": slow}, 0).warm_up()["a"]["warm_up_samples"] == 1 + Blocks.WARM_UP_SAMPLES


def test_blocks_keep_raw_samples_in_schedule_order() -> None:
    taken: list[str] = []

    def arm(name: str) -> Callable[[], dict[str, int]]:
        def sample() -> dict[str, int]:
            taken.append(name)
            return {"dispatch": len(taken), "draw": 100 + len(taken)}

        return sample

    rows = list(Blocks({name: arm(name) for name in "abc"}, launch=1).run(3))
    assert [row["block"] for row in rows] == [0, 1, 2]
    assert [arm for row in rows for arm in row["schedule"]] == taken
    assert rows[0]["samples"] == {"dispatch": [1, 2, 3, 4, 5, 6], "draw": [101, 102, 103, 104, 105, 106]}
    assert rows[0]["schedule"] == list("cbaabc")


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ({"gpu": 0}, "arm 'a' measured gpu = 0 ns: the clock does not resolve it"),
        ({"gpu": -5}, "gpu = -5 ns"),
        ({}, r"arm 'a' measured \[\]"),
    ],
)
def test_samples_that_are_none(sample: dict[str, int], text: str) -> None:
    with pytest.raises(ExperimentError, match=text):
        list(Blocks({"a": lambda: sample}, 0).run(1))


def test_a_metric_that_an_arm_does_not_have() -> None:
    arms: dict[str, Arm] = {"aos": lambda: {"dispatch": 5, "draw": 2}, "native": lambda: {"dispatch": None, "draw": 3}}
    blocks = Blocks(arms, 0)
    figures = blocks.warm_up()
    assert set(figures["native"]) == {"first_draw_ns", "warm_up_samples"}
    (row,) = blocks.run(1)
    assert row["samples"] == {"dispatch": [5, None, None, 5], "draw": [2, 3, 3, 2]}


def test_arms_measure_the_same_metrics() -> None:
    arms = {"a": lambda: {"gpu": 1}, "b": lambda: {"draw": 1}}
    with pytest.raises(ExperimentError, match=r"arm 'b' measured \['draw'\], the arms before it \['gpu'\]"):
        list(Blocks(arms, 0).run(1))
    with pytest.raises(ExperimentError, match="no arms"):
        Blocks({}, 0)


def test_import_needs_no_extension() -> None:
    """The harness must load where nothing was built."""
    script = (
        "import sys; sys.modules['guestgpu._core'] = sys.modules['guestgpu._gpu'] = None\n"
        "from guestgpu import cell, experiment, meshes, minimise, report, results, stats\n"
        "assert not {'matplotlib', 'scipy', 'trimesh'} & set(sys.modules), 'loads slowly'"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | {"MPLBACKEND": "none"}, timeout=60)

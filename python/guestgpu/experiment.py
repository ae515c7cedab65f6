# SPDX-License-Identifier: MIT
"""Experiments and the harness that times them.

An experiment is a folder experiments/NAME with a run.py that declares its axes and a function
`measure(request, emit)`. One point of the axes is measured in several process launches, each a
subprocess with a hard timeout, so that a driver that crashes or hangs loses one launch and nothing else.

    parent  run_launches()  ->  python -m guestgpu.cell   request: one JSON object on stdin
            rows on disk    <-  serve(measure)            rows: JSON lines on stdout
"""

from __future__ import annotations

import contextlib
import enum
import importlib.util
import itertools
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from guestgpu import errors, results
from guestgpu.results import ResultsError, Row, Writer
from guestgpu.stats import schedule


class Exit(enum.IntEnum):
    """Exit codes of the command. A speed-up is never a failure."""

    OK = 0
    FAILED = 1  # a regression, a lost or a failed cell
    USAGE = 2
    AMBIGUOUS = 3  # only under --strict
    INCOMPARABLE = 4
    NO_DEVICE = 5
    INTERRUPTED = 130


# glibc otherwise returns memory to the kernel between lavapipe's draws, which makes them about six times slower.
TIMED_ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": "4294967296",
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TOP_PAD_": "536870912",
}

# A process that a driver holds in the kernel cannot be killed; it is left behind after this long.
_KILL_GRACE_S = 5.0

_INTERRUPTED = ("interrupted", "interrupted from the keyboard")


class ExperimentError(errors.GuestGpuError):
    """An experiment that is not known, does not load, or measures what cannot be used."""


class MismatchError(ExperimentError):
    """An arm's output is wrong; raised by an experiment before it times anything."""


# ---- experiments by name ----


def known_experiments() -> list[str]:
    """Names of the folders that hold a run.py, sorted."""
    return sorted(path.parent.name for path in results.experiments_folder().glob("*/run.py"))


def load_experiment(name: str) -> ModuleType:
    """The module experiments/NAME/run.py. An unknown name is an error that lists the known ones."""
    known = known_experiments()
    if name not in known:
        listed = ", ".join(known) or f"none in {results.experiments_folder()}"
        raise ExperimentError(f"no experiment {name!r}; known: {listed}")
    path = results.experiments_folder() / name / "run.py"
    spec = importlib.util.spec_from_file_location(f"guestgpu_experiment_{name}", path)
    if spec is None or spec.loader is None:
        raise ExperimentError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except errors.NoDevice:  # no fault of the experiment's: this machine lacks the GPU part
        raise
    except Exception as error:
        raise ExperimentError(f"{path} does not load: {_one_line(error)}") from error
    if not callable(getattr(module, "measure", None)):
        raise ExperimentError(f"{path} has no function measure(request, emit)")
    return module


def points(axes: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of the axes, the last axis fastest."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def shard(items: Sequence[Any], text: str) -> list[Any]:
    """The share "I/N" (I from 1 to N) of items; the shares are disjoint and together everything."""
    match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise ExperimentError(f"shard {text!r} is not I/N with 1 <= I <= N")
    return list(items[int(match[1]) - 1 :: int(match[2])])


# ---- the parent's side ----


@dataclass(frozen=True)
class Spec:
    """One point of an experiment, all arms on one device."""

    experiment: str
    point: Mapping[str, Any]
    arms: Sequence[str]
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)  # what else the worker needs: device, blocks, ...
    worker: str = "guestgpu.cell"  # a module, run with -m


@dataclass(frozen=True)
class Launch:
    """How one launch ended."""

    launch: int
    status: str  # one of results.STATUSES
    reason: str | None
    blocks: int  # rows written


@dataclass
class Outcome:
    """How the launches of one spec ended."""

    launches: list[Launch] = field(default_factory=list)

    @property
    def exit_code(self) -> Exit:
        statuses = {launch.status for launch in self.launches}
        if "interrupted" in statuses:
            return Exit.INTERRUPTED
        if statuses == {"no_device"}:
            return Exit.NO_DEVICE
        return Exit.OK if statuses <= {"ok"} else Exit.FAILED


def run_launches(
    spec: Spec,
    launches: int,
    timeout_s: float,
    out: Writer,
    progress: Callable[[Launch], None] | None = None,
    argv: Sequence[str] | None = None,
) -> Outcome:
    """Measures a spec in `launches` processes, one after the other, and writes their rows.

    A launch that crashes, hangs past timeout_s or talks nonsense becomes a cell row with status and
    reason, and the others go on. Ctrl-C ends the launch and the series; what was measured is kept.
    argv: the command line that goes into the rows; default: this process's own.
    Raises ResultsError when rows cannot be written.
    """
    if launches < 1 or not timeout_s > 0.0:
        raise ExperimentError(f"{launches} launches with a timeout of {timeout_s} s: both must be positive")
    common = results.provenance(sys.argv if argv is None else argv, spec.seed) | {
        "run": out.run,
        "experiment": spec.experiment,
        "point": dict(spec.point),
        "arms": list(spec.arms),
    }
    outcome = Outcome()
    for number in range(launches):
        try:
            launch = _run_launch(spec, number, timeout_s, common, out)
        except KeyboardInterrupt:  # while no worker ran
            launch = Launch(number, *_INTERRUPTED, 0)
        outcome.launches.append(launch)
        if progress is not None:
            progress(launch)
        if launch.status in ("interrupted", "no_device"):
            break
    return outcome


def _run_launch(spec: Spec, number: int, timeout_s: float, common: Row, out: Writer) -> Launch:
    request = {
        **spec.options,
        "experiment": spec.experiment,
        "point": dict(spec.point),
        "arms": list(spec.arms),
        "seed": spec.seed,
        "launch": number,
        "timeout_s": timeout_s,
    }
    text, stderr, died = _run_worker(spec.worker, json.dumps(request).encode(), timeout_s)
    rows, nonsense = _parse_messages(text)
    context = _Context(common | {"launch": number, "device": None})
    blocks = 0
    end: Row | None = None
    for row in rows:
        complete = context.complete(row)
        try:
            results.validate_row(complete)
        except ResultsError as error:
            nonsense = nonsense or str(error)
            break
        if row["kind"] == "cell":
            end = complete
            break
        out.write(complete)
        blocks += row["kind"] == "block"

    failure = died
    if failure is None and nonsense is not None:
        failure = ("error", f"the worker's output cannot be used: {nonsense}")
    if failure is None and end is None:
        failure = ("error", "the worker ended without a result" + _last_line(stderr))
    if failure is not None and failure[0] == "crash":
        failure = ("crash", failure[1] + _last_line(stderr))
    if end is None:
        end = context.complete({"kind": "cell", "clock": None, "correctness": "the launch failed", "figures": {}})
    # A worker that reported its own failure knows more than its exit status.
    if failure is not None and end.get("status", "ok") == "ok":
        end |= {"status": failure[0], "reason": failure[1]}
    out.write(end)
    return Launch(number, end["status"], end["reason"], blocks)


def _run_worker(worker: str, request: bytes, timeout_s: float) -> tuple[bytes, bytes, tuple[str, str] | None]:
    """stdout, stderr, and (status, reason) when the process did not end by itself with 0."""
    process = subprocess.Popen(
        [sys.executable, "-m", worker],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | TIMED_ENVIRONMENT,
        start_new_session=True,  # a group of its own, so that the timeout ends its children as well
    )
    died: tuple[str, str] | None = None
    try:
        stdout, stderr = process.communicate(request, timeout=timeout_s)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt):
            died = _INTERRUPTED
        else:
            died = ("timeout", f"not done after {timeout_s:g} s")
        stdout, stderr = _kill(process)
    except BaseException:
        _kill(process)
        raise
    if died is None and process.returncode < 0:
        died = ("crash", f"ended by {_signal_name(-process.returncode)}")
    elif died is None and process.returncode > 0:
        died = ("crash", f"exit status {process.returncode}")
    return stdout, stderr, died


def _kill(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Ends the process and its children; returns what they have written."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        return process.communicate(timeout=_KILL_GRACE_S)
    except subprocess.TimeoutExpired as error:
        return error.output or b"", error.stderr or b""


def _parse_messages(text: bytes) -> tuple[list[Row], str | None]:
    """Rows, and what was wrong with the first line that is none. A last line without its end is dropped."""
    rows: list[Row] = []
    for line in text.split(b"\n")[:-1]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or row.get("kind") not in results.KINDS:
            return rows, f"a line that is no row: {line[:80]!r}"
        rows.append(row)
    return rows, None


class _Context:
    """Completes the worker's rows; device and versions come from its env row and hold for those after it."""

    def __init__(self, fields: Row) -> None:
        self._fields = fields

    def complete(self, row: Row) -> Row:
        if row["kind"] == "env":
            versions = row.get("versions", {})
            self._fields = self._fields | {
                "device": row.get("device"),
                "versions": self._fields["versions"] | (versions if isinstance(versions, dict) else {}),
            }
            row = {key: value for key, value in row.items() if key != "versions"}
        stamp = {"utc": results.utc_now(), "load": results.load_average()}
        return self._fields | stamp | ({} if row["kind"] == "cell" else {"status": "ok"}) | row


def _last_line(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, errors.GuestGpuError) and text else f"{type(error).__name__}: {text}"


# ---- the worker's side ----

Emit = Callable[..., None]
"""emit(kind, **fields): sends one row. env: device, details, versions; block: what Blocks.run() yields, clock,
correctness; cell: status, reason, clock, correctness, figures. The parent fills in the rest."""


def serve(measure: Callable[[dict[str, Any], Emit], None]) -> int:
    """Runs measure(request, emit) for the request on stdin. An exception becomes the cell row.

    request: experiment, point, arms, seed, launch, timeout_s and the options of the spec.
    Drivers print to stdout, so the rows keep the real one to themselves and it becomes stderr.
    """
    channel = os.dup(1)
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    # Should the parent be killed, nobody else would end a hanging driver.
    signal.alarm(math.ceil(request["timeout_s"]) + 10)

    def emit(kind: str, **fields: Any) -> None:
        line = memoryview(json.dumps({"kind": kind, **fields}).encode() + b"\n")
        while line:
            line = line[os.write(channel, line) :]

    try:
        measure(request, emit)
    except Exception as error:
        traceback.print_exc()
        emit(
            "cell",
            status=_status_of(error),
            reason=_one_line(error),
            clock=None,
            correctness="the launch failed",
            figures={},
        )
    return 0


def _status_of(error: Exception) -> str:
    match error:
        case MismatchError():
            return "mismatch"
        case errors.DeviceTimeout():
            return "timeout"
        case errors.DeviceLost():
            return "device_lost"
        case errors.ValidationError():
            return "validation"
        case errors.NoDevice():
            return "no_device"
        case _:
            return "error"


Arm = Callable[[], Mapping[str, int | None]]
"""Runs one sample and returns positive ns by metric ({"dispatch": 12, "draw": 34}), always of the same metrics.

None stands for a metric that the arm does not have, such as the dispatch of an arm that only draws."""


class Blocks:
    """Times arms in mirrored blocks (see stats.schedule) within one launch."""

    WARM_UP_ROUNDS = 10
    WARM_UP_S = 2.0
    WARM_UP_SAMPLES = 3  # of a round; their median is compared with the last round's
    WARM_UP_AGREEMENT = 0.05

    def __init__(self, arms: Mapping[str, Arm], launch: int) -> None:
        if not arms:
            raise ExperimentError("no arms to time")
        self._arms = dict(arms)
        self._launch = launch
        self._metrics: list[str] | None = None

    def warm_up(self) -> dict[str, dict[str, int]]:
        """Runs each arm until two consecutive medians agree within 5 %, for ten rounds or 2 s at most.

        Returns figures of each arm: "first_<metric>_ns", its very first call (which may include compilation), and
        "warm_up_samples".
        """
        return {name: self._warm_up_arm(name) for name in self._arms}

    def _warm_up_arm(self, name: str) -> dict[str, int]:
        end = time.monotonic() + self.WARM_UP_S
        first = self._sample(name)
        samples, last = 1, 0.0
        for _ in range(self.WARM_UP_ROUNDS):
            taken = [self._sample(name) for _ in range(self.WARM_UP_SAMPLES)]
            median = statistics.median(sum(filter(None, sample.values())) for sample in taken)
            samples += self.WARM_UP_SAMPLES
            if abs(median - last) <= self.WARM_UP_AGREEMENT * last or time.monotonic() > end:
                break
            last = median
        calls = {f"first_{metric}_ns": value for metric, value in first.items() if value is not None}
        return calls | {"warm_up_samples": samples}

    def run(self, count: int) -> Iterator[dict[str, Any]]:
        """Yields `count` blocks: block, schedule, samples {metric: [ns or None in schedule order]}, utc, load."""
        for block in range(count):
            order = schedule(list(self._arms), block, self._launch)
            taken = [self._sample(name) for name in order]
            yield {
                "block": block,
                "schedule": order,
                "samples": {metric: [sample[metric] for sample in taken] for metric in taken[0]},
                "utc": results.utc_now(),
                "load": results.load_average(),
            }

    def _sample(self, name: str) -> dict[str, int | None]:
        sample = {metric: None if value is None else int(value) for metric, value in self._arms[name]().items()}
        if self._metrics is None:
            self._metrics = list(sample)
        if not sample or list(sample) != self._metrics:
            raise ExperimentError(f"arm {name!r} measured {list(sample)}, the arms before it {self._metrics}")
        for metric, value in sample.items():
            if value is not None and value <= 0:
                raise ExperimentError(f"arm {name!r} measured {metric} = {value} ns: the clock does not resolve it")
        return sample

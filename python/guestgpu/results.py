# SPDX-License-Identifier: MIT
"""Rows of measurements: what they hold, how they are written, read and merged.

A shard is a file of JSON lines with one writer. There are three kinds of row:

env    the device and software of one launch, once, with free-form details
block  raw samples of one block, in schedule order, in ns
cell   how one launch ended, with the figures that are no samples (first call, compile time, counters)

Every row stands alone: it carries experiment, point, device, host, revision and versions. What is
not known is null, never 0. No host or user name is stored.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from guestgpu.errors import GuestGpuError

SCHEMA = "guestgpu-row-1"

KINDS = ("env", "block", "cell")
STATUSES = (
    "ok",
    "mismatch",  # the outputs were wrong; timings of this launch are not used
    "crash",  # the process died
    "timeout",
    "device_lost",
    "validation",  # the validation layer or spirv-val objected
    "no_device",
    "error",  # the worker gave up and said why
    "interrupted",
)

CLOCK_DEVICE = "device timestamps"
CLOCK_HOST = "host clock, one submit"
CHECKED = "checked"  # any other text in `correctness` is the reason why the outputs were not checked

Row = dict[str, Any]


class ResultsError(GuestGpuError):
    """A file that cannot be written, read or merged; one line that names it."""


# ---- where things are ----


def source_root() -> Path | None:
    """The source tree this package runs from, or None when it is installed elsewhere."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "include" / "guestgpu" / "guestgpu.h").is_file() else None


def experiments_folder() -> Path:
    """$GUESTGPU_EXPERIMENTS, or the folder of the installed package or source tree, or ./experiments."""
    named = os.environ.get("GUESTGPU_EXPERIMENTS")
    installed = Path(__file__).resolve().parent / "experiments"
    if named or installed.is_dir():
        return Path(named) if named else installed
    return (source_root() or Path()) / "experiments"


# ---- what a row holds ----


@dataclass(frozen=True)
class _Field:
    what: str
    holds: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _is_map(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(_is_text(key) and of(entry) for key, entry in value.items())


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_text(entry) for entry in value)


def _is_samples(value: Any) -> bool:
    return (
        _is_map(value, lambda v: isinstance(v, list) and all(s is None or (_is_count(s) and s > 0) for s in v))
        and len(value) > 0
    )


def _is_record(names: Sequence[str]) -> Callable[[Any], bool]:
    return lambda value: _is_map(value, _is_scalar) and set(value) == set(names)


def _optional(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


DEVICE_FIELDS = ("uuid", "name", "driver", "type", "api")

_TEXT = _Field("a text", _is_text)
_OPTIONAL_TEXT = _Field("a text or null", _optional(_is_text))
_DEVICE = _Field(f"an object of {', '.join(DEVICE_FIELDS)}", _is_record(DEVICE_FIELDS))
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

_COMMON = {
    "schema": _Field(repr(SCHEMA), lambda value: value == SCHEMA),
    "kind": _Field(f"one of {', '.join(KINDS)}", lambda value: value in KINDS),
    "status": _Field(f"one of {', '.join(STATUSES)}", lambda value: value in STATUSES),
    "run": _TEXT,
    "experiment": _TEXT,
    "point": _Field("an object of scalars", lambda value: _is_map(value, _is_scalar)),
    "arms": _Field("a list of distinct texts", lambda value: _is_texts(value) and len(set(value)) == len(value)),
    "launch": _Field("a count", _is_count),
    "device": _DEVICE,
    "host": _TEXT,
    "cpu": _TEXT,
    "load": _Field("three numbers", lambda value: isinstance(value, list) and [type(v) for v in value] == [float] * 3),
    "git": _Field("null, or revision and dirty", _optional(_is_record(("revision", "dirty")))),
    "argv": _Field("a list of texts", lambda value: isinstance(value, list) and all(isinstance(v, str) for v in value)),
    "seed": _Field("a count", _is_count),
    "versions": _Field("an object of texts", lambda value: _is_map(value, _optional(_is_text))),
    "utc": _Field("a UTC time", lambda value: isinstance(value, str) and _UTC.fullmatch(value) is not None),
}
_OWN: dict[str, dict[str, _Field]] = {
    "env": {"details": _Field("an object", lambda value: isinstance(value, dict))},
    "block": {
        "block": _Field("a count", _is_count),
        "schedule": _Field("a list of texts", _is_texts),
        "samples": _Field("an object of lists of positive integers (ns) or nulls", _is_samples),
        "clock": _TEXT,
        "correctness": _TEXT,
    },
    "cell": {
        "device": _Field(f"null, or {_DEVICE.what}", _optional(_DEVICE.holds)),  # the launch may die before it knows
        "reason": _OPTIONAL_TEXT,
        "clock": _OPTIONAL_TEXT,
        "correctness": _TEXT,
        "figures": _Field("an object of objects of numbers", lambda value: _is_map(value, _is_figures)),
    },
}


def _is_figures(value: Any) -> bool:
    return _is_map(value, lambda v: v is None or (isinstance(v, int | float) and not isinstance(v, bool)))


def validate_row(row: Mapping[str, Any]) -> None:
    """Raises ResultsError naming the field that is missing, unknown or of the wrong kind."""
    if not isinstance(row, dict):
        raise ResultsError(f"a row is an object, not {type(row).__name__}")
    if row.get("schema") != SCHEMA:
        raise ResultsError(f"schema {row.get('schema')!r} is not known here ({SCHEMA!r} is)")
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in _OWN:
        raise ResultsError(f"kind is {kind!r}, not {_COMMON['kind'].what}")
    fields = _COMMON | _OWN[kind]
    for name in fields.keys() - row.keys():
        raise ResultsError(f"{kind} row lacks {name!r}")
    for name in row.keys() - fields.keys():
        raise ResultsError(f"{kind} row has an unknown field {name!r}")
    for name, entry in fields.items():
        if not entry.holds(row[name]):
            raise ResultsError(f"{kind} row: {name} is {_short(row[name])}, not {entry.what}")
    if kind == "cell" and row["status"] != "ok" and row["reason"] is None:
        raise ResultsError(f"cell row: status {row['status']!r} needs a reason")
    if kind == "block":
        _validate_schedule(row)


def _validate_schedule(row: Mapping[str, Any]) -> None:
    order = row["schedule"]
    if sorted(order) != sorted(row["arms"] * 2) or order != order[::-1]:
        raise ResultsError(f"block row: schedule {order} is no mirrored order of {row['arms']}")
    for metric, samples in row["samples"].items():
        if len(samples) != len(order):
            raise ResultsError(f"block row: {len(samples)} samples of {metric!r} for a schedule of {len(order)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# ---- provenance ----


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def load_average() -> list[float]:
    return [round(value, 2) for value in os.getloadavg()]


def host_id() -> str:
    """Tells hosts apart without naming them: a salted hash of the machine id."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id"):
        try:
            machine = Path(path).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if machine:
            return hashlib.sha256(f"guestgpu host {machine}".encode()).hexdigest()[:16]
    return "unknown"


def cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip() or "unknown"
    except OSError:
        pass
    return platform.machine() or "unknown"


def gpu_clocks(uuid: str) -> dict[str, float | None]:
    """Clocks of an NVIDIA device in MHz, by its UUID in hex; read, never set. {} where nvidia-smi does not know it."""
    query = ["nvidia-smi", "--query-gpu=uuid,clocks.sm,clocks.mem", "--format=csv,noheader,nounits"]
    try:
        text = subprocess.run(query, check=True, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 3 and fields[0].removeprefix("GPU-").replace("-", "") == uuid:
            numbers = [float(field) if field.replace(".", "").isdigit() else None for field in fields[1:]]
            return {"sm_mhz": numbers[0], "memory_mhz": numbers[1]}
    return {}


def git_state(folder: Path | None = None) -> dict[str, Any] | None:
    """Revision of the source tree and whether it has uncommitted changes; None outside a checkout.

    A copy of a clean tree without its .git may name the revision in $GUESTGPU_REVISION.
    """
    named = os.environ.get("GUESTGPU_REVISION")
    if named:
        return {"revision": named.removesuffix("-dirty"), "dirty": named.endswith("-dirty")}
    folder = folder or source_root()
    if folder is None:
        return None
    try:
        revision = _git(folder, "rev-parse", "--verify", "HEAD")
        return {"revision": revision, "dirty": bool(_git(folder, "status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    # Without optional locks a status never disturbs a git command that runs beside it.
    return subprocess.run(
        ["git", "-C", str(folder), "--no-optional-locks", *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout.strip()


def versions() -> dict[str, str | None]:
    """Versions of what takes part on the Python side; None for what is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version(), "kernel": platform.release()}
    for name in ("guestgpu", "numpy", "scipy"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def provenance(argv: Sequence[str], seed: int) -> Row:
    """The fields of a row that are the same for all rows of one invocation."""
    home = str(Path.home())
    return {
        "schema": SCHEMA,
        "host": host_id(),
        "cpu": cpu_model(),
        "git": git_state(),
        "argv": [text.replace(home, "~") if home != "/" else text for text in argv],
        "seed": seed,
        "versions": versions(),
    }


# ---- writing ----


def new_run_folder(experiment: str, folder: str | os.PathLike[str] = "runs") -> Path:
    """Creates and returns FOLDER/EXPERIMENT-UTC; never an existing folder."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for attempt in range(100):
        path = Path(folder) / (f"{experiment}-{stamp}" + (f"-{attempt + 1}" if attempt else ""))
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError as error:
            if not path.is_dir():
                raise ResultsError(f"{path}: {error.strerror}") from None
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}") from None
    raise ResultsError(f"{folder}: a hundred runs of {experiment} began in one second")


class Writer:
    """Appends rows to one shard: one write a line, and a sync after every cell row.

    A full disk or a folder that cannot be written is a ResultsError naming the path; lines written
    before it stay. `run` names the invocation and is stored in every row; default: the folder's name.
    """

    def __init__(self, path: str | os.PathLike[str], run: str | None = None) -> None:
        self.path = Path(path)
        self.run = run or self.path.absolute().parent.name or "run"
        self._file = -1
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            size = os.fstat(self._file).st_size
            torn = size > 0 and os.pread(self._file, 1, size - 1) != b"\n"
        except OSError as error:
            self.close()
            raise ResultsError(f"{self.path}: {error.strerror}") from None
        if torn:
            self.close()
            raise ResultsError(f"{self.path}: its last line is torn; write to a new file")

    def write(self, row: Row) -> None:
        validate_row(row)
        try:
            line = json.dumps(row, allow_nan=False, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        except (TypeError, ValueError) as error:
            raise ResultsError(f"{self.path}: a row cannot be written as JSON: {error}") from None
        try:
            written = os.write(self._file, line)
            if written == len(line) and row["kind"] == "cell":
                os.fsync(self._file)
        except OSError as error:
            raise ResultsError(f"{self.path}: {error.strerror}") from None
        if written != len(line):
            raise ResultsError(f"{self.path}: no space for a whole line")

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


# ---- reading ----


@dataclass
class Rows:
    """Rows of one or more shards."""

    rows: list[Row] = field(default_factory=list)
    torn: int = 0  # last lines that were cut off, and skipped
    duplicates: int = 0  # rows that another shard held as well, and skipped
    source: str = ""  # where they come from, in words

    def kind(self, kind: str) -> list[Row]:
        return [row for row in self.rows if row["kind"] == kind]


def read(path: str | os.PathLike[str]) -> Rows:
    """Reads one shard. Raises ResultsError naming file and line; only a torn last line is let pass."""
    return merge([path])


def merge(paths: Iterable[str | os.PathLike[str]]) -> Rows:
    """Reads several shards as one. A row that occurs twice with different content is a ResultsError."""
    shards = [Path(path) for path in paths]
    merged = Rows(source=", ".join(str(path) for path in shards))
    seen: dict[str, tuple[Row, str]] = {}
    for path in shards:
        for place, row in _parse(path, merged):
            key = _identity(row)
            if key not in seen:
                seen[key] = (row, place)
                merged.rows.append(row)
            elif seen[key][0] == row:
                merged.duplicates += 1
            else:
                raise ResultsError(f"{place}: contradicts {seen[key][1]}: the same {row['kind']} row, other content")
    return merged


def _parse(path: Path, rows: Rows) -> Iterable[tuple[str, Row]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines):
                rows.torn += 1
                continue
            raise ResultsError(f"{place}: not JSON") from None
        try:
            validate_row(row)
        except ResultsError as error:
            raise ResultsError(f"{place}: {error}") from None
        yield place, row


def _identity(row: Row) -> str:
    """What must be unique: one row of a kind for a launch, or for a block of it."""
    device = row["device"]["uuid"] if row["device"] else None
    names = ("run", "experiment", "kind", "point", "host", "launch")
    return json.dumps([*(row[name] for name in names), device, row.get("block")], sort_keys=True)


def timed_blocks(rows: Iterable[Row]) -> list[Row]:
    """Block rows of the launches that ended well: the only ones that summaries may use."""
    rows = list(rows)
    good = {_launch(row) for row in rows if row["kind"] == "cell" and row["status"] == "ok"}
    bad = {_launch(row) for row in rows if row["kind"] == "cell" and row["status"] != "ok"}
    return [row for row in rows if row["kind"] == "block" and _launch(row) in good - bad]


def failed_cells(rows: Iterable[Row]) -> list[Row]:
    """Cell rows that must be listed by name next to every summary."""
    return [row for row in rows if row["kind"] == "cell" and row["status"] != "ok"]


def _launch(row: Row) -> str:
    return json.dumps([row["run"], row["experiment"], row["point"], row["host"], row["launch"]], sort_keys=True)


def load(experiment: str, folder: str | os.PathLike[str] | None = None) -> Rows:
    """The newest own run of an experiment under `folder` (default ./runs), else its committed reference.

    Rows.source says which it is. A run without a usable block is passed over, unless it has launches that ended well
    and times nothing.
    """
    runs = Path("runs" if folder is None else folder)
    own = [merge(sorted(run.glob("rows*.jsonl"))) for run in runs.glob(f"{_literal(experiment)}-*") if run.is_dir()]
    own = [rows for rows in own if any(row["experiment"] == experiment for row in _usable(rows.rows))]
    if own:
        newest = max(own, key=lambda rows: max(str(row["utc"]) for row in rows.rows))
        newest.source = f"own run: {newest.source}"
        return newest
    reference = experiments_folder() / experiment / "reference"
    shards = sorted(reference.glob("*.jsonl"))
    if not shards:
        raise ResultsError(f"no results of {experiment!r}: neither {runs}/{experiment}-*/ nor {reference}/ holds any")
    rows = merge(shards)
    rows.source = f"reference: {rows.source}"
    return rows


def _usable(rows: Sequence[Row]) -> list[Row]:
    if any(row["kind"] == "block" for row in rows):
        return timed_blocks(rows)
    return [row for row in rows if row["kind"] == "cell" and row["status"] == "ok"]


def _literal(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)

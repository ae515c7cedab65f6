# SPDX-License-Identifier: MIT
"""A user's own trace of allocations and frees, run through the pool."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guestgpu.errors import ArgumentError, FormatError, LimitExceeded
from guestgpu.pool import Kind, Place, Pool
from guestgpu.pool_dump import Dump, Label, take

KINDS = {"buffer": Kind.BUFFER, "linear": Kind.LINEAR_IMAGE, "optimal": Kind.OPTIMAL_IMAGE, "msaa": Kind.MSAA}
MEMBERS = ("op", "id", "size", "alignment", "kind", "name")
_MOST_BYTES = 1 << 36


@dataclass(frozen=True)
class Operation:
    """An allocation, or, of size 0, a free. `where` names the line."""

    where: str
    id: str
    size: int = 0
    alignment: int = 16
    kind: int = Kind.BUFFER
    name: str = ""


@dataclass(frozen=True)
class Replay:
    """Statistics with most bytes live and after the last operation, and what lay where at the peak."""

    operations: int
    peak: dict[str, int]
    end: dict[str, int]
    dump: Dump
    failures: list[str]


def read(path: Path) -> list[Operation]:
    """A trace from .csv or .json. Raises FormatError, which names line or entry, also for frees of what is not live."""
    rows = _json_rows(path) if path.suffix == ".json" else _csv_rows(path)
    live: set[str] = set()
    found = []
    for where, row in rows:
        operation = _operation(where, row)
        if operation.size and operation.id in live:
            raise FormatError(f"{where}: {operation.id!r:.60} is live already")
        if not operation.size and operation.id not in live:
            raise FormatError(f"{where}: {operation.id!r:.60} is not live")
        (live.add if operation.size else live.discard)(operation.id)
        found.append(operation)
    if not found:
        raise FormatError(f"{path}: no operations")
    return found


def _csv_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader((line for line in file if not line.startswith("#")), strict=True)
            missing = {"op", "id", "size"} - set(reader.fieldnames or ())
            if missing:
                raise FormatError(f"{path}: no column {', '.join(sorted(missing))}")
            for number, row in enumerate(reader, 1):
                if None in row:
                    raise FormatError(f"{path}: row {number}: more fields than columns")
                yield f"{path}: row {number}", {name: value for name, value in row.items() if value not in ("", None)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path}: {error}") from None


def _json_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FormatError(f"{path}: no JSON: {error}") from None
    if not isinstance(content, list):
        raise FormatError(f"{path}: a list of operations was expected, not {type(content).__name__}")
    for number, row in enumerate(content):
        if not isinstance(row, dict):
            raise FormatError(f"{path}: entry {number}: an object was expected, not {type(row).__name__}")
        yield f"{path}: entry {number}", row


def _operation(where: str, row: Mapping[str, Any]) -> Operation:
    unknown = [name for name in row if name not in MEMBERS]
    if unknown:
        raise FormatError(f"{where}: no member {unknown[0]!r:.60}")
    op, name = row.get("op"), row.get("id")
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise FormatError(f"{where}: id: {name!r:.60} is no name")
    if op == "free":
        return Operation(where, str(name))
    if op != "allocate":
        raise FormatError(f"{where}: op: {op!r:.60} is neither allocate nor free")
    kind = row.get("kind", "buffer")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(f"{where}: kind: {kind!r:.60} is none of {', '.join(KINDS)}")
    size, alignment = _number(where, row, "size", None), _number(where, row, "alignment", 16)
    if alignment & (alignment - 1):
        raise FormatError(f"{where}: alignment: {alignment} is no power of two")
    return Operation(where, str(name), size, alignment, KINDS[kind], str(row.get("name", "")))


def _number(where: str, row: Mapping[str, Any], name: str, default: int | None) -> int:
    value = row.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _MOST_BYTES:
        raise FormatError(f"{where}: {name}: {value!r:.60} is no integer of 1 to 2^36")
    return value


def run(operations: list[Operation], block_size: int = 0, granularity: int = 1) -> Replay:
    """Runs a trace. What finds no room is a failure, and the trace goes on without it."""
    peak_at = _peak(operations)
    live: dict[str, tuple[Place, Operation]] = {}
    failures: list[str] = []
    peak: dict[str, int] = {}
    dump = Dump("")
    with Pool(block_size=block_size, granularity=granularity) as pool:
        for i, operation in enumerate(operations):
            if operation.size:
                try:
                    place = pool.allocate(operation.size, operation.alignment, operation.kind)
                    live[operation.id] = place, operation
                except (LimitExceeded, ArgumentError) as error:
                    failures.append(f"{operation.where}: {operation.size} bytes at {operation.alignment}: {error}")
            elif operation.id in live:
                pool.free(live.pop(operation.id)[0])
            if i == peak_at:
                peak, dump = pool.stats(), take(pool, _labels(live))
        pool.check()
        return Replay(len(operations), peak, pool.stats(), dump, failures)


def _labels(live: Mapping[str, tuple[Place, Operation]]) -> dict[tuple[int, int], Label]:
    return {
        (place.block, place.offset): Label(operation.size, operation.kind, operation.name or operation.id)
        for place, operation in live.values()
    }


def _peak(operations: list[Operation]) -> int:
    """The operation after which most bytes are live."""
    sizes: dict[str, int] = {}
    total, most, at = 0, -1, 0
    for i, operation in enumerate(operations):
        total += operation.size - sizes.pop(operation.id, 0)
        if operation.size:
            sizes[operation.id] = operation.size
        if total > most:
            most, at = total, i
    return at

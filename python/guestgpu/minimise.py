# SPDX-License-Identifier: MIT
"""Makes a failing batch of meshlets small, and stores it so that it can be tried again."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from guestgpu.errors import GuestGpuError
from guestgpu.meshes import Batch, MeshError, Meshlet

SCHEMA = "guestgpu-reproducer-1"

_DTYPES = {
    "u1": np.uint8,
    "u2": np.uint16,
    "u4": np.uint32,
    "u8": np.uint64,
    "i4": np.int32,
    "f4": np.float32,
    "f8": np.float64,
}
_ARRAY, _BATCH = "$array", "$batch"

T = TypeVar("T")
Predicate = Callable[[Batch], bool]


class MinimiseError(GuestGpuError):
    """A batch that does not fail, or a reproducer that cannot be written or read."""


@dataclass(frozen=True)
class Minimised:
    """The smallest failing batch found. complete: nothing more can go; else the budget ran out."""

    batch: Batch
    tries: int
    complete: bool


def minimise(batch: Batch, still_fails: Predicate, budget: int = 2000) -> Minimised:
    """Drops meshlets, then primitives, then vertices, for as long as still_fails(batch) holds.

    Index bytes follow their vertices; those past the vertices stay as they are, and so do reported
    counts above the most where the failure needs them. The same input gives the same result.
    budget: how often still_fails may be called. Raises MinimiseError when the batch does not fail at first.
    """
    search = _Search(batch, still_fails, budget)
    if not search.keeps(batch):
        raise MinimiseError("the batch does not fail, so there is nothing to minimise")
    with contextlib.suppress(_BudgetSpentError):
        before = None
        while before != search.best:
            before = search.best
            search.drop_meshlets()
            for i in range(len(search.best.meshlets)):
                search.drop_excess_counts(i)
                search.drop_primitives(i)
                search.drop_vertices(i)
        return Minimised(search.best, search.tries, True)
    return Minimised(search.best, search.tries, False)


class _BudgetSpentError(Exception):
    pass


class _Search:
    def __init__(self, batch: Batch, still_fails: Predicate, budget: int) -> None:
        self.best = batch
        self.tries = 0
        self._still_fails = still_fails
        self._budget = budget

    def keeps(self, batch: Batch) -> bool:
        """Whether the batch still fails; if so it is the best one."""
        if self.tries >= self._budget:
            raise _BudgetSpentError
        self.tries += 1
        if not self._still_fails(batch):
            return False
        self.best = batch
        return True

    def _keeps_meshlet(self, i: int, meshlet: Meshlet) -> bool:
        meshlets = list(self.best.meshlets)
        meshlets[i] = meshlet
        return self.keeps(self.best.replace(meshlets))

    def drop_meshlets(self) -> None:
        _reduce(self.best.meshlets, lambda kept: self.keeps(self.best.replace(kept)))

    def drop_excess_counts(self, i: int) -> None:
        m = self.best.meshlets[i]
        if m.vertex_count > len(m.vertices):
            self._keeps_meshlet(i, replace(m, vertex_count=len(m.vertices)))
        m = self.best.meshlets[i]
        if m.primitive_count > len(m.indices):
            self._keeps_meshlet(i, replace(m, primitive_count=len(m.indices)))

    def drop_primitives(self, i: int) -> None:
        m = self.best.meshlets[i]
        if m.primitive_count > len(m.indices):  # the most must be stored, as long as more is reported
            return

        def keeps(kept: Sequence[int]) -> bool:
            rows = list(kept)
            fewer = replace(m, indices=m.indices[rows], primitives=m.primitives[rows], primitive_count=len(rows))
            return self._keeps_meshlet(i, fewer)

        _reduce(range(len(m.indices)), keeps)

    def drop_vertices(self, i: int) -> None:
        """Drops vertices that no primitive names."""
        m = self.best.meshlets[i]
        if m.vertex_count > len(m.vertices):
            return
        used = set(m.indices.reshape(-1).tolist())
        unused = [v for v in range(len(m.vertices)) if v not in used]

        def keeps(kept: Sequence[int]) -> bool:
            gone = set(unused) - set(kept)
            rows = [v for v in range(len(m.vertices)) if v not in gone]
            moved = np.arange(256, dtype=np.uint8)
            moved[rows] = np.arange(len(rows), dtype=np.uint8)
            fewer = replace(m, vertices=m.vertices[rows], indices=moved[m.indices], vertex_count=len(rows))
            return self._keeps_meshlet(i, fewer)

        _reduce(unused, keeps)


def _reduce(items: Sequence[T], keeps: Callable[[Sequence[T]], bool]) -> None:
    """Removes runs of items while keeps(rest) holds: half of them at first, single ones at last."""
    kept = list(items)
    size = math.ceil(len(kept) / 2)
    # All at once first: what does not matter is mostly the whole.
    if kept and keeps([]):
        return
    while size and kept:
        start, dropped = 0, False
        while start < len(kept):
            rest = kept[:start] + kept[start + size :]
            if rest and keeps(rest):
                kept, dropped = rest, True
            else:
                start += size
        if size == 1 and not dropped:
            return
        size = max(1, size // 2)


# ---- reproducers ----


def save_reproducer(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Stores what a JSON object can hold, numpy arrays and batches included. Never leaves half a file at `path`."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        text = json.dumps({"schema": SCHEMA, "content": _encode(content)}, allow_nan=False, indent=1)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text + "\n", encoding="utf-8")
        os.replace(part, target)
    except (TypeError, ValueError) as error:
        raise MinimiseError(f"{path}: cannot be stored: {error}") from None
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise MinimiseError(f"{path}: {error.strerror}") from None


def load_reproducer(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What save_reproducer() has stored. Raises MinimiseError naming the file and what is wrong with it."""
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise MinimiseError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise MinimiseError(f"{path}: not a reproducer: not JSON") from None
    if not isinstance(found, dict) or "schema" not in found:
        raise MinimiseError(f"{path}: not a reproducer: no schema")
    if found["schema"] != SCHEMA:
        raise MinimiseError(f"{path}: schema {found['schema']!r} is not known here ({SCHEMA!r} is)")
    try:
        content = _decode(found.get("content"))
    except (MinimiseError, MeshError) as error:
        raise MinimiseError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise MinimiseError(f"{path}: not a reproducer: no content")
    return content


def _encode(value: Any) -> Any:
    match value:
        case np.ndarray():
            name = value.dtype.str[1:]
            if name not in _DTYPES:
                raise TypeError(f"an array of {value.dtype}")
            little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
            data = base64.b64encode(little.tobytes()).decode()
            return {_ARRAY: {"dtype": name, "shape": list(value.shape), "base64": data}}
        case np.integer() | np.floating() | np.bool_():
            return value.item()
        case Batch():
            fields = {
                "corners": value.corners,
                "vertex_words": value.vertex_words,
                "primitive_words": value.primitive_words,
            }
            return {_BATCH: fields | {"meshlets": [_encode(vars(meshlet)) for meshlet in value.meshlets]}}
        case dict():
            for key in value:
                if not isinstance(key, str) or key.startswith("$"):
                    raise TypeError(f"the key {key!r}")
            return {key: _encode(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_encode(entry) for entry in value]
    return value


def _decode(value: Any) -> Any:
    match value:
        case {"$array": entry}:
            return _decode_array(entry)
        case {"$batch": entry}:
            return _decode_batch(entry)
        case dict():
            return {key: _decode(entry) for key, entry in value.items()}
        case list():
            return [_decode(entry) for entry in value]
    return value


def _decode_array(entry: Any) -> NDArray[Any]:
    match entry:
        case {"dtype": str(name), "shape": list(shape), "base64": str(text)} if name in _DTYPES:
            pass
        case _:
            raise MinimiseError("an array needs dtype, shape and base64")
    if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in shape):
        raise MinimiseError(f"an array of shape {shape}")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise MinimiseError("an array whose base64 is broken") from None
    dtype = np.dtype(_DTYPES[name]).newbyteorder("<")
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise MinimiseError(f"an array of {len(data)} bytes for shape {shape} of {name}")
    return np.frombuffer(data, dtype).astype(_DTYPES[name]).reshape(shape)


def _decode_batch(entry: Any) -> Batch:
    match entry:
        case {
            "corners": 1 | 2 | 3 as corners,
            "vertex_words": int(vertex_words),
            "primitive_words": int(primitive_words),
            "meshlets": list(meshlets),
        }:
            return Batch(tuple(_decode_meshlet(m) for m in meshlets), corners, vertex_words, primitive_words)
    raise MinimiseError("a batch needs corners, vertex_words, primitive_words and meshlets")


def _decode_meshlet(entry: Any) -> Meshlet:
    match _decode(entry):
        case {
            "vertices": np.ndarray(dtype=np.uint32, ndim=2) as vertices,
            "indices": np.ndarray(dtype=np.uint8, ndim=2) as indices,
            "primitives": np.ndarray(dtype=np.uint32, ndim=2) as primitives,
            "vertex_count": int(vertex_count),
            "primitive_count": int(primitive_count),
        }:
            return Meshlet(vertices, indices, primitives, vertex_count, primitive_count)
    raise MinimiseError("a meshlet needs vertices, indices, primitives, vertex_count and primitive_count")

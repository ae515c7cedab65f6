# SPDX-License-Identifier: MIT
"""Folders of guest programs, and what may be said of one: in manifest.toml, which the folder shares (guestgpu.corpus
reads it too), under the program's name; or in NAME.toml beside it, which wins.

    groups = [4, 1, 1]          # workgroups
    buffer_bytes = 65536        # of buffers that end in an open array
    image_extent = [33, 18, 5]  # width, height, and depth or layers of images
    constants = { 0 = 7 }       # specialisation constants by id: bits as whole numbers, or floats with a point
    floats = { "0.1" = { type = "f32", relative = 1e-6, absolute = 0.0 } }  # by set.binding: how near is near
    seed = 3                    # of all that is not given; default: that of the run
    push = [1, 2.5]             # words of push constants: integers, or floats as f32
    threads = [64, 1, 1]        # of an OpenCL kernel that does not say
    tolerance = 1e-5            # relative, of everything, as floats of `type`; 0: bit for bit
    [[buffer]]                  # of a shader: set (0), binding, element (0); of a kernel: argument, from 0
    binding = 1
    file = "data.bin"           # or values = [1, 2, 3], or generator = "zeros", "range", "random", "uniform"
    count = 1024                # of a generator; low, high bound it
    compare = "sorted"          # "exact", "sorted" (its order is free) or "ignore"; tolerance, absolute, type
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import corpus, native
from guestgpu.errors import ArgumentError

SUFFIXES = (".comp", ".cl", ".spv")
TYPES = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "i32": "i4", "f16": "f2", "f32": "f4", "f64": "f8"}
COMPARISONS = ("exact", "sorted", "ignore")
GENERATORS = ("zeros", "range", "random", "uniform")

Key = tuple[int, ...]
"""(set, binding, element) of a shader's buffer, (argument,) of a kernel's."""


@dataclass(frozen=True)
class Rule:
    """How a buffer's results are compared: |got - wanted| <= absolute + relative * |wanted| of floats of a type."""

    compare: str = "exact"
    relative: float = 0.0
    absolute: float = 0.0
    type: str = "f32"

    def difference(self, wanted: NDArray[Any], got: NDArray[Any]) -> str:
        """ "" or the first item that differs."""
        if wanted.dtype != got.dtype or wanted.shape != got.shape:
            return f"{got.shape} of {got.dtype} where {wanted.shape} of {wanted.dtype} are wanted"
        if self.compare == "ignore":
            return ""
        a, b = (np.ascontiguousarray(x).reshape(-1) for x in (wanted, got))
        if a.dtype.kind != "f":
            a, b = (np.sort(x) if self.compare == "sorted" else x for x in (a, b))
        equal = a.view(f"u{a.dtype.itemsize}") == b.view(f"u{a.dtype.itemsize}")
        if (self.relative or self.absolute) and not equal.all():
            if a.dtype.kind != "f" and a.nbytes % np.dtype(TYPES[self.type]).itemsize == 0:
                a, b = a.view(TYPES[self.type]), b.view(TYPES[self.type])
            equal = self._near(a, b)
        places = np.flatnonzero(~equal)
        if not len(places):
            return ""
        at = int(places[0])
        shown = (f"{x[at]:#x}" if x.dtype.kind == "u" else f"{x[at]}" for x in (b, a))
        return f"item {at}: {' where '.join(shown)} is wanted ({len(places)} of {len(a)} differ{_distance(a, b)})"

    def _near(self, wanted: NDArray[Any], got: NDArray[Any]) -> NDArray[np.bool_]:
        """NaN is near NaN, and an infinity near itself only."""
        with np.errstate(all="ignore"):
            a, b = (x.astype(np.float64) for x in (wanted, got))
            near: NDArray[np.bool_] = (a == b) | (np.isnan(a) & np.isnan(b))
            near |= np.isfinite(a) & (np.abs(b - a) <= self.absolute + self.relative * np.abs(a))
        return near


def _distance(a: NDArray[Any], b: NDArray[Any]) -> str:
    """How far two arrays are apart if they hold floats: says whether a tolerance would do."""
    if a.dtype.itemsize != 4:
        return ""
    other = a.view(np.uint32) != b.view(np.uint32)
    x, y = (v[other].view(np.float32).astype(np.float64) for v in (a, b))
    if not len(x) or not np.isfinite(x).all() or not np.isfinite(y).all() or np.abs(x).min() < 1e-20:
        return ""
    worst = float((np.abs(x - y) / np.abs(x)).max())
    return f"; as f32 by at most {worst:.2g}" if worst < 1e-2 else ""


@dataclass(frozen=True)
class Given:
    """A buffer of the file."""

    content: bytes | None = None
    rule: Rule = field(default_factory=Rule)


@dataclass(frozen=True)
class Settings:
    """What is said of a program, with the defaults of what is not."""

    groups: tuple[int, int, int] = (4, 1, 1)
    buffer_bytes: int = 65536
    image_extent: tuple[int, int, int] = (33, 18, 5)
    constants: Mapping[int, int | float] = field(default_factory=dict)
    floats: Mapping[Key, Rule] = field(default_factory=dict)
    threads: tuple[int, int, int] | None = None
    seed: int | None = None
    push: bytes | None = None
    rule: Rule = field(default_factory=Rule)
    buffers: Mapping[Key, Given] = field(default_factory=dict)

    def rule_of(self, key: Key) -> Rule:
        if key in self.buffers and self.buffers[key].rule != self.rule:
            return self.buffers[key].rule
        return self.floats.get(key[:2], self.rule)

    def contents(self) -> dict[Key, bytes]:
        """Those of the buffers that have one."""
        return {key: given.content for key, given in self.buffers.items() if given.content is not None}


def default_folder() -> Path:
    """The corpus that comes with guestgpu."""
    return native.kernels_folder() / "translator"


def programs(folder: Path) -> list[Path]:
    """The programs of a folder and of those below it, sorted."""
    if folder.is_file() and folder.suffix in SUFFIXES:
        return [folder]
    if not folder.is_dir():
        raise ArgumentError(f"{folder}: no folder of {', '.join(SUFFIXES)} files")
    found = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if not found:
        raise ArgumentError(f"{folder}: no {', '.join(SUFFIXES)} file in it")
    return found


def settings_of(path: Path) -> Settings:
    """What is said of a program. Raises ArgumentError naming file and entry."""
    shared, own = path.parent / corpus.MANIFEST, path.with_suffix(".toml")
    said = _read(shared).get(path.stem, {}) if own != shared else {}
    file = shared if said else own
    if own.is_file():
        said, file = {**said, **_read(own)}, own
    try:
        return _settings(said, file, path.stem)
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{file}: {path.stem}: {error}") from None


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text()) if file.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError(f"{file}: {error}") from None


def _settings(found: dict[str, Any], file: Path, name: str) -> Settings:
    where = f"{file}: {name}"
    _only(found, {"groups", "buffer_bytes", "image_extent", "constants", "floats", "threads", "seed", "push",
                  "tolerance", "absolute", "type", "compare", "buffer"}, where)  # fmt: skip
    rule = _rule(found, Rule(), where)
    made: dict[str, Any] = {"rule": rule}
    for member in ("groups", "threads", "image_extent"):
        if member in found:
            made[member] = _three(found[member], f"{where}: {member}")
    for member in ("seed", "buffer_bytes"):
        if member in found:
            made[member] = _count(found[member], f"{where}: {member}")
    if "push" in found:
        made["push"] = b"".join(_word(value, f"{where}: push") for value in found["push"])
    if "constants" in found:
        made["constants"] = {int(key): value for key, value in found["constants"].items()}
    made["floats"] = {
        tuple(int(part) for part in place.split(".")): _floats(said, f"{where}: floats {place}")
        for place, said in found.get("floats", {}).items()
    }
    made["buffers"] = dict(_buffer(entry, rule, file, i) for i, entry in enumerate(found.get("buffer", [])))
    return Settings(**made)


def _floats(said: dict[str, Any], where: str) -> Rule:
    _only(said, {"type", "relative", "absolute"}, where)
    kind = _one_of(said.get("type", "f32"), ("f16", "f32", "f64"), f"{where}: type")
    return Rule("exact", _positive(said, "relative", 0.0, where), _positive(said, "absolute", 0.0, where), kind)


def _buffer(entry: dict[str, Any], rule: Rule, file: Path, number: int) -> tuple[Key, Given]:
    where = f"{file}: buffer {number}"
    _only(entry, {"set", "binding", "element", "argument", "file", "values", "generator", "count", "low", "high",
                  "compare", "tolerance", "absolute", "type"}, where)  # fmt: skip
    if ("argument" in entry) == ("binding" in entry):
        raise ArgumentError(f"{where}: needs either binding (and set, element) or argument")
    names = ("argument",) if "argument" in entry else ("set", "binding", "element")
    key = tuple(_count(entry.get(name, 0), f"{where}: {name}") for name in names)
    return key, Given(_content(entry, number, file, where), _rule(entry, rule, where))


def _content(entry: dict[str, Any], number: int, file: Path, where: str) -> bytes | None:
    sources = [name for name in ("file", "values", "generator") if name in entry]
    if len(sources) > 1:
        raise ArgumentError(f"{where}: {' and '.join(sources)}: one of them")
    dtype = np.dtype(TYPES[_one_of(entry.get("type", "u32"), tuple(TYPES), f"{where}: type")])
    match sources:
        case ["file"]:
            return (file.parent / str(entry["file"])).read_bytes()
        case ["values"]:
            try:
                return bytes(np.array(entry["values"]).astype(dtype).tobytes())
            except (ValueError, TypeError, OverflowError) as error:
                raise ArgumentError(f"{where}: values: {error}") from None
        case ["generator"]:
            return _generated(entry, dtype, number, where)
    return None


def _generated(entry: dict[str, Any], dtype: np.dtype[Any], number: int, where: str) -> bytes:
    count = _count(entry.get("count", 1024), f"{where}: count")
    random = np.random.default_rng((number, count))
    low, high = entry.get("low", 0), entry.get("high", 1)
    match _one_of(entry["generator"], GENERATORS, f"{where}: generator"):
        case "zeros":
            return bytes(count * dtype.itemsize)
        case "range":
            return bytes((np.arange(count) + low).astype(dtype).tobytes())
        case "uniform":
            return bytes(random.uniform(low, high, count).astype(dtype).tobytes())
    if "high" in entry:
        return bytes(random.integers(low, high, count).astype(dtype).tobytes())
    return random.bytes(count * dtype.itemsize)


def _rule(entry: dict[str, Any], default: Rule, where: str) -> Rule:
    return Rule(
        _one_of(entry.get("compare", default.compare), COMPARISONS, f"{where}: compare"),
        _positive(entry, "tolerance", default.relative, where),
        _positive(entry, "absolute", default.absolute, where),
        _one_of(entry.get("type", default.type), tuple(TYPES), f"{where}: type"),
    )


def _positive(entry: dict[str, Any], name: str, default: float, where: str) -> float:
    value = entry.get(name, default)
    if not isinstance(value, int | float) or value < 0:
        raise ArgumentError(f"{where}: {name} {value!r} is no positive number")
    return float(value)


def _word(value: Any, where: str) -> bytes:
    if isinstance(value, float):
        return np.float32(value).tobytes()
    if not isinstance(value, int) or not -(1 << 31) <= value < 1 << 32:
        raise ArgumentError(f"{where}: {value!r} is no word")
    return (value & 0xFFFFFFFF).to_bytes(4, "little")


def _three(value: Any, where: str) -> tuple[int, int, int]:
    good = isinstance(value, list) and 1 <= len(value) <= 3
    if not good or not all(isinstance(n, int) and 1 <= n <= 65535 for n in value):
        raise ArgumentError(f"{where}: {value!r} is not one to three numbers from 1 to 65535")
    x, y, z = (*value, 1, 1)[:3]
    return x, y, z


def _count(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ArgumentError(f"{where}: {value!r} is no count")
    return value


def _one_of(value: Any, known: Sequence[str], where: str) -> str:
    if value not in known:
        raise ArgumentError(f"{where}: {value!r} is none of {', '.join(known)}")
    return str(value)


def _only(found: Mapping[str, Any], known: set[str], where: str) -> None:
    for name in found:
        if name not in known:
            raise ArgumentError(f"{where}: unknown entry {name!r}; there are {', '.join(sorted(known))}")

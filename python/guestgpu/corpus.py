# SPDX-License-Identifier: MIT
"""Folders of compute shaders that are compared with their originals, and what their manifest says about them.

    for entry in corpus.load("kernels/translator"):
        words = device.compile_glsl_text(entry.path.read_text(), entry.name, device.Stage.COMPUTE)
        program = guest.compile_spirv(words, entry.name, entry.options(words, wave=32))
        wanted = original.run_original(gpu, words, program)
        for difference in corpus.compare(entry, program, got, wanted): ...

A folder without a manifest takes the defaults.
"""

from __future__ import annotations

import struct
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import errors, guest, reflect

MANIFEST = "manifest.toml"
_FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_KEYS = {"groups", "buffer_bytes", "image_extent", "constants", "floats"}


@dataclass(frozen=True)
class Tolerance:
    """What a buffer holds, and how far two results may lie apart: `absolute + relative * abs(wanted)`."""

    type: str
    relative: float = 0.0
    absolute: float = 0.0

    def differs(self, got: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.bool_]:
        """Of each float; NaN is near NaN, and an infinity near itself only."""
        with np.errstate(invalid="ignore"):
            a, b = (words.reshape(-1).view(_FLOATS[self.type]).astype(np.float64) for words in (got, wanted))
            near = (a == b) | (np.isnan(a) & np.isnan(b))
            near |= np.isfinite(b) & (np.abs(a - b) <= self.absolute + self.relative * np.abs(b))
        found: NDArray[np.bool_] = ~near
        return found


@dataclass(frozen=True)
class Entry:
    """A shader, and how it is dispatched and compared. floats: (set, binding) -> tolerance; others must be equal."""

    path: Path
    groups: tuple[int, int, int] = (4, 1, 1)
    buffer_bytes: int = 65536
    image_extent: tuple[int, int, int] = (33, 18, 5)
    constants: Mapping[int, int | float] = field(default_factory=dict)
    floats: Mapping[tuple[int, int], Tolerance] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.stem

    def options(self, words: NDArray[np.uint32], wave: int | None = None, seed: int = 0) -> guest.Options:
        """How the guest's compiler is called; `words` is the shader's module, which knows its constants' sizes."""
        return guest.Options(
            wave=wave,
            seed=seed,
            groups=self.groups,
            buffer_bytes=self.buffer_bytes,
            image_extent=self.image_extent,
            constants=_bits(self, words),
        )


@dataclass(frozen=True)
class Difference:
    """Where results differ: the binding, how many of its words or floats do, and the first of them."""

    binding: guest.Binding
    count: int
    of: int
    index: int
    got: str
    wanted: str

    def __str__(self) -> str:
        b = self.binding
        where = f"set {b.set} binding {b.binding}" + (f" element {b.element}" if b.element else "")
        return f"{where}: {self.count} of {self.of} differ, first {self.index}: {self.got}, not {self.wanted}"


def load(folder: Path | str) -> list[Entry]:
    """The .comp files of a folder, by name. Raises FormatError for a manifest that says what makes no sense."""
    folder = Path(folder)
    manifest: dict[str, Any] = {}
    if (folder / MANIFEST).is_file():
        try:
            manifest = tomllib.loads((folder / MANIFEST).read_text())
        except ValueError as error:
            raise errors.FormatError(f"{folder / MANIFEST}: {error}") from None
    paths = sorted(folder.glob("*.comp"))
    for name in manifest.keys() - {path.stem for path in paths}:
        raise errors.FormatError(f"{folder / MANIFEST}: {name}: no {name}.comp is there")
    return [_entry(path, manifest.get(path.stem, {})) for path in paths]


def _entry(path: Path, said: dict[str, Any]) -> Entry:
    try:
        if said.keys() - _KEYS:
            raise ValueError(f"{', '.join(sorted(said.keys() - _KEYS))} is none of {', '.join(sorted(_KEYS))}")
        members: dict[str, Any] = {name: _three(said[name]) for name in ("groups", "image_extent") if name in said}
        if "buffer_bytes" in said:
            members["buffer_bytes"] = int(said["buffer_bytes"])
        members["constants"] = {int(number): value for number, value in said.get("constants", {}).items()}
        members["floats"] = {_place(name): _tolerance(value) for name, value in said.get("floats", {}).items()}
        return Entry(path, **members)
    except (ValueError, TypeError, AttributeError) as error:
        raise errors.FormatError(f"{path.parent / MANIFEST}: {path.stem}: {error}") from None


def _three(value: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (int(n) for n in value)
    return x, y, z


def _place(name: str) -> tuple[int, int]:
    set_number, binding = name.split(".")
    return int(set_number), int(binding)


def _tolerance(value: dict[str, Any]) -> Tolerance:
    tolerance = Tolerance(**value)
    if tolerance.type not in _FLOATS:
        raise ValueError(f"{tolerance.type} is none of {', '.join(_FLOATS)}")
    return tolerance


def _bits(entry: Entry, words: NDArray[np.uint32]) -> dict[int, int]:
    """Floats become the bits of a float as long as the shader's constant."""
    sizes = {constant.id: constant.bytes for constant in reflect.reflect(words).constants}
    found = {}
    for number, value in entry.constants.items():
        if isinstance(value, float):
            code = {2: "<e", 8: "<d"}.get(sizes.get(number, 4), "<f")
            value = int.from_bytes(struct.pack(code, value), "little")
        found[number] = value
    return found


def compare(
    entry: Entry, program: guest.GuestProgram, got: Sequence[NDArray[Any]], wanted: Sequence[NDArray[Any]]
) -> list[Difference]:
    """Where results, as GuestProgram.results() and run_original() give them, differ; one a binding."""
    found = []
    for binding, a, b in zip(program.bindings, got, wanted, strict=True):
        tolerance = entry.floats.get((binding.set, binding.binding))
        kind = a.dtype if tolerance is None else _FLOATS[tolerance.type]
        differs = (a != b).reshape(-1) if tolerance is None else tolerance.differs(a, b)
        where = np.flatnonzero(differs)
        if len(where):
            first = int(where[0])
            shown = [_text(words.reshape(-1).view(kind)[first]) for words in (a, b)]
            found.append(Difference(binding, len(where), len(differs), first, *shown))
    return found


def _text(value: Any) -> str:
    return hex(value) if isinstance(value, np.integer) else repr(float(value))

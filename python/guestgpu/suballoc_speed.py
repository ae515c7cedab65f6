# SPDX-License-Identifier: MIT
"""Allocators on the same traces, timed by loops in C (include/guestgpu/suballoc_speed.h)."""

from __future__ import annotations

import ctypes
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guestgpu import native
from guestgpu.errors import ArgumentError, FormatError, LimitExceeded
from guestgpu.native import ffi, lib

Trace = native.enum_of("gg_trace_kind")
PEERS = "GUESTGPU_PEERS"
"""The environment variable with paths of shared libraries that export peers, separated by colons."""


class Allocator:
    """An allocator at work. `functions` is a struct gg_allocator, which its library keeps alive."""

    def __init__(self, functions: Any, capacity: int, most_live: int) -> None:
        self.functions = functions
        self.name = name_of(functions)
        state = functions.create(capacity, most_live)
        if state == ffi.NULL:
            raise LimitExceeded(f"{self.name}: not made for {capacity} bytes and {most_live} resources")
        self.state: Any = ffi.gc(state, functions.destroy)

    def close(self) -> None:
        """Destroys it; it must not be used after that."""
        ffi.release(self.state)


class Workload:
    """A trace of operations; the same for the same arguments. A scene takes sizes and alignments."""

    def __init__(
        self,
        kind: int,
        *,
        live: int = 0,
        pairs: int = 0,
        seed: int = 1,
        sizes: ArrayLike | None = None,
        alignments: ArrayLike | None = None,
    ) -> None:
        arrays = [None if a is None else np.ascontiguousarray(a, np.uint64) for a in (sizes, alignments)]
        if any(a is not None and b is not None and a.shape != b.shape for a, b in [arrays]):
            raise ArgumentError("trace: sizes and alignments are not of the same length")
        if arrays[0] is not None:
            live = arrays[0].size
        pointers = [native.pointer(array, "uint64_t") for array in arrays]
        members = {"kind": kind, "live": live, "pairs": pairs, "seed": seed}
        try:
            params = ffi.new("struct gg_trace_params *", members)
        except OverflowError as error:
            raise ArgumentError(f"trace: {error}") from None
        params.sizes, params.alignments = pointers
        made = ffi.new("struct gg_trace **")
        native.call(lib.gg_trace_create, params, made)
        self._trace: Any = ffi.gc(made[0], lib.gg_trace_destroy)

    def allocator(self, functions: Any) -> Allocator:
        """An allocator with the room that this trace needs. Raises LimitExceeded."""
        capacity, most_live = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        native.check(lib.gg_trace_needs(self._trace, capacity, most_live))
        return Allocator(functions, capacity[0], most_live[0])

    def run(self, allocator: Allocator | None) -> dict[str, float]:
        """One round, see struct gg_trace_round; None: the loop alone. Raises LimitExceeded, Unsupported."""
        return self._call(lib.gg_trace_run, allocator, "struct gg_trace_round *")

    def run_worst(self, allocator: Allocator) -> dict[str, float]:
        """Each operation by the clock, see struct gg_trace_worst."""
        return self._call(lib.gg_trace_run_worst, allocator, "struct gg_trace_worst *")

    def prove(self, allocator: Allocator) -> None:
        """Raises FormatError where an alignment is not met or live ranges overlap."""
        native.call(lib.gg_trace_prove, self._trace, allocator.functions, allocator.state)

    def _call(self, function: Any, allocator: Allocator | None, ctype: str) -> dict[str, float]:
        made = ffi.new(ctype)
        subject = (ffi.NULL, ffi.NULL) if allocator is None else (allocator.functions, allocator.state)
        native.call(function, self._trace, *subject, made)
        return {name: getattr(made, name) for name, _ in ffi.typeof(made).item.fields}


def name_of(functions: Any) -> str:
    """The allocator's name."""
    return str(ffi.string(functions.name).decode())


def own() -> dict[str, Any]:
    """The allocators that come along, by name."""
    found = (lib.gg_own_allocator(i) for i in itertools.count())
    return {name_of(functions): functions for functions in itertools.takewhile(lambda f: f != ffi.NULL, found)}


def open_peers(path: Path) -> Iterator[Any]:
    """The allocators that a shared library exports. Raises FormatError for what is no library of peers."""
    try:
        export = ctypes.CDLL(str(path.absolute())).gg_peer
    except (OSError, AttributeError) as error:
        raise FormatError(f"{path}: no library of peers: {error}") from None
    export.restype, export.argtypes = ctypes.c_void_p, [ctypes.c_uint32]
    for i in itertools.count():
        address = export(i)
        if not address:
            return
        functions = ffi.cast("struct gg_allocator *", address)
        if functions.version != lib.GG_ALLOCATOR_VERSION:
            raise FormatError(f"{path}: peer {i}: version {functions.version}, not {lib.GG_ALLOCATOR_VERSION}")
        for name in ("name", "create", "destroy", "allocate"):
            if getattr(functions, name) == ffi.NULL:
                raise FormatError(f"{path}: peer {i} has no {name}")
        yield functions


def peer_paths() -> list[Path]:
    """The libraries that the environment variable PEERS names."""
    return [Path(path) for path in os.environ.get(PEERS, "").split(":") if path]


def peers(paths: Sequence[Path]) -> dict[str, Any]:
    """The peers of libraries, by name."""
    return {name_of(functions): functions for path in paths for functions in open_peers(path)}

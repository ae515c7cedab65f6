# SPDX-License-Identifier: MIT
"""Placing resources in blocks of memory, by numbers alone (include/guestgpu/suballoc_pool.h)."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.native import ffi, lib

Kind = native.enum_of("gg_pool_kind")
Tier = native.enum_of("gg_pool_tier")
Trace = native.enum_of("gg_pool_trace")
RANGE = native.dtype_of("struct gg_pool_range")


@dataclass(frozen=True)
class Place:
    """Where a resource lies; the handle frees it."""

    handle: int
    block: int
    offset: int
    tier: int


class Pool:
    """A pool, destroyed at the end of its `with` block or with the object."""

    def __init__(
        self,
        block_size: int = 0,
        granularity: int = 1,
        max_blocks: int = 0,
        dedicated: bool = True,
        locked: bool = False,
    ) -> None:
        config = _new(
            "struct gg_pool_config *",
            block_size=block_size,
            granularity=granularity,
            max_blocks=max_blocks,
            no_dedicated=int(not dedicated),
            locked=int(locked),
        )
        created = ffi.new("struct gg_pool **")
        native.call(lib.gg_pool_create, config, created)
        self._pool: Any = ffi.gc(created[0], lib.gg_pool_destroy)

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Destroys the pool; calls after that raise ArgumentError."""
        if self._pool != ffi.NULL:
            ffi.release(self._pool)
            self._pool = ffi.NULL

    def allocate(self, size: int, alignment: int = 16, kind: int = Kind.BUFFER) -> Place:
        """Raises ArgumentError for what no pool can place, LimitExceeded where there is no room."""
        place = ffi.new("struct gg_pool_place *")
        try:
            result = lib.gg_pool_allocate(self._pool, size, alignment, kind, place)
        except OverflowError as error:
            raise ArgumentError(f"pool: size {size}, alignment {alignment}, kind {kind}: {error}") from None
        native.check(result)
        return Place(place.handle, place.block, place.offset, place.tier)

    def free(self, place: Place | int) -> None:
        """Raises ArgumentError for a handle that is not live."""
        native.check(lib.gg_pool_free(self._pool, place.handle if isinstance(place, Place) else place))

    def query(self, handle: int) -> dict[str, int]:
        """Block, offset, size asked for and tier of a live handle."""
        found = ffi.new("struct gg_pool_range *")
        native.check(lib.gg_pool_query(self._pool, handle, found))
        return _members(found)

    def stats(self) -> dict[str, int]:
        """See struct gg_pool_statistics."""
        statistics = ffi.new("struct gg_pool_statistics *")
        native.check(lib.gg_pool_statistics(self._pool, statistics))
        return _members(statistics)

    def walk(self) -> NDArray[Any]:
        """All live ranges by block and offset, dtype RANGE."""
        ranges, count = np.zeros(self.stats()["live"], RANGE), ffi.new("uint64_t *")
        pointer = native.pointer(ranges, "struct gg_pool_range", writable=True)
        native.check(lib.gg_pool_walk(self._pool, pointer, len(ranges), count))
        return ranges

    def trim(self) -> None:
        """Gives back slabs and blocks that are kept though empty."""
        native.check(lib.gg_pool_trim(self._pool))

    def check(self) -> None:
        """Raises FormatError, which says what is broken, unless every record is as it must be."""
        native.call(lib.gg_pool_check, self._pool)


def time_trace(
    trace: int,
    *,
    rounds: int = 0,
    live: int = 0,
    pairs: int = 0,
    seed: int = 1,
    sizes: ArrayLike | None = None,
    alignments: ArrayLike | None = None,
) -> dict[str, float]:
    """Runs a trace by loops in C; see struct gg_pool_time_report. A scene takes sizes and alignments."""
    arrays = [None if a is None else np.ascontiguousarray(a, np.uint64) for a in (sizes, alignments)]
    if any(a is not None and b is not None and a.shape != b.shape for a, b in [arrays]):
        raise ArgumentError("pool trace: sizes and alignments are not of the same length")
    pointers = [native.pointer(array, "uint64_t") for array in arrays]
    if arrays[0] is not None:
        live = arrays[0].size
    params = _new(
        "struct gg_pool_time_params *",
        trace=trace,
        rounds=rounds,
        live=live,
        pairs=pairs,
        seed=seed,
        sizes=pointers[0],
        alignments=pointers[1],
    )
    report = ffi.new("struct gg_pool_time_report *")
    native.call(lib.gg_pool_time, params, report)
    return _members(report)


def _new(ctype: str, **members: Any) -> Any:
    try:
        return ffi.new(ctype, members)
    except OverflowError as error:
        raise ArgumentError(f"{ctype.removesuffix(' *')}: {error}") from None


def _members(struct: Any) -> dict[str, Any]:
    return {name: getattr(struct, name) for name, _ in ffi.typeof(struct).item.fields}

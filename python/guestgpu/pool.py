# SPDX-License-Identifier: MIT
"""Placing resources in blocks of memory, by numbers alone (include/guestgpu/suballoc_pool.h)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.native import ffi, lib

Kind = native.enum_of("gg_pool_kind")
Tier = native.enum_of("gg_pool_tier")
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
        hooks: Mapping[str, Any] | None = None,
    ) -> None:
        """hooks: `user`, `block_create` and `block_destroy` of struct gg_pool_config, as cdata."""
        config = _new(
            "struct gg_pool_config *",
            block_size=block_size,
            granularity=granularity,
            max_blocks=max_blocks,
            no_dedicated=int(not dedicated),
            locked=int(locked),
            **(hooks or {}),
        )
        created = ffi.new("struct gg_pool **")
        native.call(lib.gg_pool_create, config, created)
        self._pool: Any = ffi.gc(created[0], lib.gg_pool_destroy)

    def __enter__(self) -> Self:
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

    def blocks(self) -> dict[int, int]:
        """Bytes of each block by its number."""
        count = ffi.new("uint64_t *")
        native.check(lib.gg_pool_blocks(self._pool, ffi.NULL, 0, count))
        sizes = np.zeros(count[0], np.uint64)
        native.check(
            lib.gg_pool_blocks(self._pool, native.pointer(sizes, "uint64_t", writable=True), len(sizes), count)
        )
        return {number: int(size) for number, size in enumerate(sizes) if size}

    def trim(self) -> None:
        """Gives back slabs and blocks that are kept though empty."""
        native.check(lib.gg_pool_trim(self._pool))

    def check(self) -> None:
        """Raises FormatError, which says what is broken, unless every record is as it must be."""
        native.call(lib.gg_pool_check, self._pool)


def _new(ctype: str, **members: Any) -> Any:
    try:
        return ffi.new(ctype, members)
    except OverflowError as error:
        raise ArgumentError(f"{ctype.removesuffix(' *')}: {error}") from None


def _members(struct: Any) -> dict[str, Any]:
    return {name: getattr(struct, name) for name, _ in ffi.typeof(struct).item.fields}

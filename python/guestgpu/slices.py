# SPDX-License-Identifier: MIT
"""Slices: small read-only inputs copied once an epoch into chunks (include/guestgpu/suballoc_slices.h)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from guestgpu import native
from guestgpu.errors import ArgumentError, LimitExceeded
from guestgpu.native import ffi, lib

INPUT_BYTES: int = lib.GG_SLICES_INPUT_BYTES
CHUNK_BYTES: int = lib.GG_SLICES_CHUNK_BYTES


@dataclass(frozen=True)
class Slice:
    """See struct gg_slice."""

    memory: int
    offset: int
    reused: bool
    charged: int


@dataclass(frozen=True)
class Stats:
    """See struct gg_slices_stats."""

    chunks: int
    chunks_made: int
    copies: int
    reuses: int
    useful: int
    padding: int
    tail: int
    noted: int
    open_batches: int
    books: int


class Slices:
    """Slices of plain host memory. Closed by close(), or at the end of `with`."""

    def __init__(self, chunk_bytes: int = 0, epoch: int = 0) -> None:
        out, message = ffi.new("struct gg_slices **"), ffi.new("char **")
        config = ffi.new("struct gg_slices_config *", {"chunk_bytes": chunk_bytes})
        native.check(lib.gg_slices_create(config, out, message), message)
        self._c = out[0]
        if epoch:
            self.set_epoch(epoch)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees all chunks; a second call does nothing."""
        lib.gg_slices_destroy(self._c)
        self._c = ffi.NULL

    def _open(self) -> Any:
        if self._c == ffi.NULL:
            raise ArgumentError("slices: closed")
        return self._c

    def set_epoch(self, epoch: int) -> None:
        """Ends the reuse of what was copied; 0: all inputs are copied. Raises ArgumentError for the current one."""
        if lib.gg_slices_set_epoch(self._open(), epoch):
            raise ArgumentError(f"slices: epoch {epoch} is the current one")

    def open_batch(self) -> int:
        """The number of the next batch; binds are its own until the next one."""
        batch = ffi.new("uint64_t *")
        native.check(lib.gg_slices_open_batch(self._open(), batch))
        return int(batch[0])

    def complete_batch(self, batch: int) -> None:
        """The device is done with it: chunks that nobody else has end. Raises ArgumentError if there is none."""
        if lib.gg_slices_complete_batch(self._open(), batch):
            raise ArgumentError(f"slices: no batch {batch}")

    def batch_bytes(self, batch: int) -> int:
        """What the batch was charged so far."""
        out = ffi.new("uint64_t *")
        if lib.gg_slices_batch_bytes(self._open(), batch, out):
            raise ArgumentError(f"slices: no batch {batch}")
        return int(out[0])

    def bind(self, data: bytes, alignment: int = 1, generation: int = 0) -> Slice:
        """A slice with the bytes, for a draw of the open batch.

        Raises LimitExceeded above INPUT_BYTES, ArgumentError without bytes, without an open batch, or for an alignment
        that is no power of two up to INPUT_BYTES.
        """
        if len(data) > INPUT_BYTES:
            raise LimitExceeded(f"slices: an input of {len(data)} bytes, the most is {INPUT_BYTES}")
        held = ffi.from_buffer(data)
        given = {"bytes": held, "size": len(data), "alignment": alignment, "generation": generation}
        slice_ = ffi.new("struct gg_slice *")
        result = lib.gg_slices_bind(self._open(), ffi.new("struct gg_slice_input *", given), slice_)
        if result == lib.GG_ERR_ARGUMENT:
            raise ArgumentError(f"slices: {len(data)} bytes at alignment {alignment}, or no open batch")
        native.check(result)
        return Slice(int(slice_.memory), int(slice_.offset), bool(slice_.reused), int(slice_.charged))

    def reserve(self, size: int, alignment: int = 1) -> tuple[Slice, memoryview]:
        """Room that the caller fills: placed and charged as a slice, never found again. Raises as bind() does."""
        if size > INPUT_BYTES:
            raise LimitExceeded(f"slices: {size} bytes, the most is {INPUT_BYTES}")
        slice_, host = ffi.new("struct gg_slice *"), ffi.new("void **")
        try:
            result = lib.gg_slices_reserve(self._open(), size, alignment, slice_, host)
        except OverflowError:
            result = lib.GG_ERR_ARGUMENT
        if result == lib.GG_ERR_ARGUMENT:
            raise ArgumentError(f"slices: {size} bytes at alignment {alignment}, or no open batch")
        native.check(result)
        made = Slice(int(slice_.memory), int(slice_.offset), False, int(slice_.charged))
        return made, memoryview(ffi.buffer(host[0], size))

    def read(self, slice_: Slice, size: int) -> bytes:
        """Bytes of a slice whose chunk is alive."""
        self._open()
        return bytes(ffi.buffer(ffi.cast("char *", slice_.memory) + slice_.offset, size))

    @property
    def stats(self) -> Stats:
        c = ffi.new("struct gg_slices_stats *")
        lib.gg_slices_stats(self._open(), c)
        return Stats(**{f.name: int(getattr(c, f.name)) for f in fields(Stats)})

    def check(self) -> None:
        """Walks every invariant. Raises FormatError naming the one that is broken."""
        message = ffi.new("char **")
        native.check(lib.gg_slices_check(self._open(), message), message)

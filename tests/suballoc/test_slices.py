# SPDX-License-Identifier: MIT
"""Slices through Python; tests/c/test_alloc_slices.c has every rule, a model, and failures."""

from __future__ import annotations

import struct

import pytest

from guestgpu.errors import ArgumentError, LimitExceeded
from guestgpu.slices import CHUNK_BYTES, INPUT_BYTES, Slices


def test_constants() -> None:
    assert INPUT_BYTES == 4096
    assert CHUNK_BYTES == 4 << 20


def test_a_chunk_of_four_byte_slices_is_charged_whole() -> None:
    """The chunk's own size: 4 MiB, a million slices and one more."""
    with Slices(epoch=1) as slices:
        batch = slices.open_batch()
        charged = 0
        for i in range(CHUNK_BYTES // 4):
            charged += slices.bind(struct.pack("<I", i), 4).charged
        assert charged == CHUNK_BYTES == slices.batch_bytes(batch)
        assert slices.stats.chunks == 1
        assert slices.bind(b"more").charged == 4  # the tail was 0
        assert slices.stats.chunks_made == 2
        slices.check()


def test_reuse_stores_and_epochs() -> None:
    with Slices(epoch=1) as slices:
        slices.open_batch()
        first = slices.bind(b"constants", 256, generation=3)
        again = slices.bind(b"constants", 256, generation=3)
        assert (again.memory, again.offset, again.reused, again.charged) == (first.memory, first.offset, True, 0)
        assert slices.read(again, 9) == b"constants"
        stored = slices.bind(b"constants", 256, generation=4)
        assert not stored.reused
        assert stored.offset == 256
        slices.set_epoch(2)
        assert not slices.bind(b"constants", 256, generation=4).reused
        slices.set_epoch(0)
        assert not any(slices.bind(b"constants", 4).reused for _ in range(3))
        assert slices.stats.noted == 0
        slices.check()


def test_chunks_live_as_long_as_their_batches() -> None:
    with Slices(4096, epoch=1) as slices:
        first = slices.open_batch()
        kept = slices.bind(b"kept")
        slices.open_batch()
        slices.bind(bytes(4096))
        assert slices.stats.chunks == 2
        assert slices.read(kept, 4) == b"kept"
        slices.complete_batch(first)
        assert slices.stats.chunks == 1
        with pytest.raises(ArgumentError, match=f"no batch {first}"):
            slices.complete_batch(first)


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match="power of two"):
        Slices(5000)
    slices = Slices(epoch=1)
    with pytest.raises(ArgumentError, match="no open batch"):
        slices.bind(b"x")
    slices.open_batch()
    with pytest.raises(LimitExceeded, match="4097 bytes, the most is 4096"):
        slices.bind(bytes(4097))
    for data, alignment in ((b"", 1), (b"x", 3), (b"x", 8192)):
        with pytest.raises(ArgumentError, match=f"{len(data)} bytes at alignment {alignment}"):
            slices.bind(data, alignment)
    with pytest.raises(ArgumentError, match="epoch 1 is the current one"):
        slices.set_epoch(1)
    slices.close()
    slices.close()
    with pytest.raises(ArgumentError, match="closed"):
        slices.open_batch()


def test_room_that_the_caller_fills() -> None:
    with Slices(4096, epoch=1) as slices:
        with pytest.raises(ArgumentError, match="no open batch"):
            slices.reserve(16)
        batch = slices.open_batch()
        first, room = slices.reserve(10, 4)
        room[:] = b"0123456789"
        second, _ = slices.reserve(20, 64)
        assert (first.offset, second.offset, second.charged) == (0, 64, 74)
        assert slices.read(first, 10) == b"0123456789"
        assert not slices.bind(b"0123456789").reused
        assert slices.bind(b"0123456789").reused
        assert slices.batch_bytes(batch) == 94
        third, _ = slices.reserve(4096)
        assert (third.offset, third.charged) == (0, 4096 - 94 + 4096)
        assert slices.batch_bytes(batch) == 2 * 4096
        stats = slices.stats
        assert (stats.useful, stats.padding, stats.tail) == (10 + 20 + 10 + 4096, 54, 4096 - 94)
        for size, alignment in ((0, 1), (-1, 1), (16, 3), (16, 8192)):
            with pytest.raises(ArgumentError):
                slices.reserve(size, alignment)
        with pytest.raises(LimitExceeded):
            slices.reserve(4097)
        slices.check()


def test_a_batch_is_charged_for_its_own_slices() -> None:
    with Slices(4096, epoch=1) as slices:
        first = slices.open_batch()
        slices.bind(bytes(100))
        second = slices.open_batch()
        slices.bind(bytes(50))
        slices.complete_batch(second)
        third = slices.open_batch()
        assert slices.bind(bytes(50)).charged == 50
        assert (slices.batch_bytes(first), slices.batch_bytes(third)) == (100, 50)
        slices.check()

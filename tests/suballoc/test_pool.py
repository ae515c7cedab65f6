# SPDX-License-Identifier: MIT
"""The pool from Python; its oracle is in tests/c/test_pool.c."""

from __future__ import annotations

import itertools
import random
import subprocess
from pathlib import Path

import pytest

from guestgpu.errors import ArgumentError, LimitExceeded
from guestgpu.pool import Kind, Place, Pool, Tier

ROOT = Path(__file__).resolve().parents[2]


def test_random_operations_against_a_set_of_ranges() -> None:
    rng = random.Random(1)
    with Pool(block_size=1 << 20, granularity=1024) as pool:
        live: list[tuple[Place, int]] = []
        for _ in range(3000):
            if live and rng.random() < 0.45:
                pool.free(live.pop(rng.randrange(len(live)))[0])
                continue
            size, alignment = int(2 ** rng.uniform(0, 17)), 1 << rng.randrange(9)
            place = pool.allocate(size, alignment, rng.choice([Kind.BUFFER, Kind.OPTIMAL_IMAGE]))
            assert place.offset % alignment == 0
            live.append((place, size))
        pool.check()
        ranges = sorted((p.block, p.offset, p.offset + size) for p, size in live)
        assert all(a[0] != b[0] or a[2] <= b[1] for a, b in itertools.pairwise(ranges))
        assert [(int(r["block"]), int(r["offset"])) for r in pool.walk()] == [r[:2] for r in ranges]
        stats = pool.stats()
        assert stats["requested"] == sum(size for _, size in live)
        assert stats["requested"] + stats["rounding"] + stats["padding"] + stats["free"] == stats["capacity"]
        for place, size in live:
            assert pool.query(place.handle)["size"] == size
            pool.free(place)
        assert pool.stats()["free_ranges"] == pool.stats()["blocks"] == 1
        pool.trim()
        assert pool.stats()["capacity"] == 0
        pool.check()


def test_what_is_refused() -> None:
    with Pool(block_size=65536, max_blocks=1, dedicated=False) as pool:
        for size, alignment in ((0, 16), (16, 0), (16, 24), (-1, 16), (2**64, 16)):
            with pytest.raises(ArgumentError):
                pool.allocate(size, alignment)
        with pytest.raises(LimitExceeded):
            pool.allocate(2**64 - 1)
        place = pool.allocate(65536)
        assert (place.offset, place.tier) == (0, Tier.LARGE)
        with pytest.raises(LimitExceeded):
            pool.allocate(1)
        pool.free(place)
        with pytest.raises(ArgumentError):
            pool.free(place)
    with pytest.raises(ArgumentError):
        pool.allocate(16)
    with pytest.raises(ArgumentError, match="block_size 1024"):
        Pool(block_size=1024)


@pytest.mark.deep
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_ten_million_operations_against_the_oracle(compiler: str) -> None:
    """On nine seeds, under ASan and UBSan."""
    command = ["make", "-s", "-C", ROOT / "csrc", "config=sanitize", f"CC={compiler}", "GG_GPU=0", "test-programs"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    subprocess.run([ROOT / "csrc" / "build" / f"sanitize-{compiler}" / "tests" / "test_pool", "10000000"], check=True)

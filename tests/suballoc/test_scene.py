# SPDX-License-Identifier: MIT
"""A real scene's 8,931 buffers (data/scene_buffers.csv): what they take by each set of rules, and in a pool."""

from __future__ import annotations

from pathlib import Path

from guestgpu.pool import Pool
from guestgpu.suballoc import Options, Placement, Profile, Resource, Usage, allocation_info

SCENE = Path(__file__).parent / "data" / "scene_buffers.csv"
FLOORS = {"vb": 16, "ib": 16, "cbv": 256}


def scene() -> list[tuple[int, int]]:
    """Bytes and the floor of each, in creation order."""
    lines = [line for line in SCENE.read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "kind,bytes"
    return [(int(size), FLOORS[kind]) for kind, size in (line.split(",") for line in lines[1:])]


def mebibytes(placement: int, usage: int, profile: str = "tight-8") -> float:
    """Of all buffers, each rounded up to its own alignment, which nothing else shares."""
    resources = [
        Resource(0, size, usage=usage, placement=placement, alignment=floor if usage else 0) for size, floor in scene()
    ]
    infos = allocation_info(resources, Options(Profile.named(profile))).infos
    return sum(-(-int(info["size"]) // int(info["alignment"])) * int(info["alignment"]) for info in infos) / (1 << 20)


def test_what_the_scene_takes() -> None:
    assert len(scene()) == 8931
    classic = mebibytes(Placement.PLACED, 0)
    committed, tight = (mebibytes(placement, Usage.TIGHT) for placement in (Placement.COMMITTED, Placement.PLACED))
    assert (round(classic, 1), round(committed, 1), round(tight, 1)) == (560.2, 75.6, 53.5)
    assert round(classic / tight, 2) == 10.47


def test_the_scene_in_a_pool() -> None:
    """Loaded, all of it checked, unloaded."""
    with Pool() as pool:
        places = [pool.allocate(size, floor) for size, floor in scene()]
        pool.check()
        assert all(place.offset % floor == 0 for place, (_, floor) in zip(places, scene(), strict=True))
        for place in places:
            pool.free(place.handle)
        pool.check()

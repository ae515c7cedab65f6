# SPDX-License-Identifier: MIT
"""What lists of resources take by each set of placement rules, and in a pool."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from guestgpu import scene_list
from guestgpu.cli_alloc import read_resources
from guestgpu.errors import ArgumentError
from guestgpu.pool import Kind as PoolKind
from guestgpu.pool import Pool
from guestgpu.suballoc import Kind, Options, Placement, Profile, Resource, Usage, allocation_info

MIB = 1 << 20
PROFILE = "tight-8"
"""A device whose driver gives each resource the least that the rules allow."""


@dataclass(frozen=True)
class Need:
    """MiB by each set of rules; in the pool: up to the highest end, and the share of that which was asked for."""

    resources: int
    classic: float
    committed: float
    tight: float
    pool: float
    utilisation: float

    @property
    def ratio(self) -> float:
        """How many times less the tight rules take."""
        return self.classic / self.tight


def need(resources: Sequence[Resource]) -> Need:
    """What a list takes. `alignment` of a resource is its use's floor, which classic rules do not ask about.

    Raises ArgumentError for a list without resources, or with one that a set of rules refuses.
    """
    if not resources:
        raise ArgumentError("a list without resources")
    plain = [replace(r, usage=r.usage & ~Usage.TIGHT, alignment=0, placement=Placement.PLACED) for r in resources]
    tight = [replace(r, usage=r.usage | Usage.TIGHT, placement=Placement.PLACED) for r in resources]
    committed = [replace(r, placement=Placement.COMMITTED) for r in tight]
    classic_mib, committed_mib = (float(_bytes(rows)[0].sum()) / MIB for rows in (plain, committed))
    sizes, alignments = _bytes(tight)
    pool_mib, utilisation = _pooled(resources, sizes, alignments)
    return Need(len(resources), classic_mib, committed_mib, float(sizes.sum()) / MIB, pool_mib, utilisation)


def _bytes(resources: Sequence[Resource]) -> tuple[np.ndarray, np.ndarray]:
    """Sizes, each rounded up to its own alignment, which nothing else shares; and alignments."""
    found = allocation_info(resources, Options(Profile.named(PROFILE)))
    refused = np.flatnonzero(found.infos["verdict"])
    if refused.size:
        notes = [str(note) for note in found.notes if note.index == refused[0]]
        raise ArgumentError(notes[-1] if notes else f"resource {refused[0]}: refused")
    sizes, alignments = found.infos["size"].astype(np.uint64), found.infos["alignment"].astype(np.uint64)
    return (sizes + alignments - np.uint64(1)) // alignments * alignments, alignments


def _pooled(resources: Sequence[Resource], sizes: np.ndarray, alignments: np.ndarray) -> tuple[float, float]:
    kinds = {Kind.BUFFER: PoolKind.BUFFER, Kind.MSAA: PoolKind.MSAA}
    end = 0
    with Pool(block_size=1 << 36, max_blocks=1) as pool:
        for resource, size, alignment in zip(resources, sizes.tolist(), alignments.tolist(), strict=True):
            kind = kinds.get(resource.kind, PoolKind.OPTIMAL_IMAGE)
            end = max(end, pool.allocate(size, alignment, kind).offset + size)
        pool.check()
    return end / MIB, float(sizes.sum()) / end


def scene(path: Path | None = None) -> list[Resource]:
    """A list of buffers by kind and bytes; without a path the real scene's."""
    buffers = scene_list.read(path) if path else scene_list.default()
    return [Resource(Kind.BUFFER, size, alignment=floor) for size, floor in buffers]


def from_file(path: Path) -> list[Resource]:
    """A user's list: .json as `guestgpu alloc rules` takes it, else kind,bytes."""
    return read_resources(path) if path.suffix == ".json" else scene(path)


def families(seed: int) -> dict[str, list[Resource]]:
    """Synthetic lists, each for one kind of load; the same for the same seed."""
    rng = random.Random(seed)
    floors = [8] * 20 + [16] * 35 + [64] * 7 + [128] * 3 + [256] * 35
    tiny = [Resource(Kind.BUFFER, rng.randint(32, 512), alignment=rng.choice(floors)) for _ in range(50_000)]
    constants = [Resource(Kind.BUFFER, 256 * rng.randint(1, 4), alignment=256) for _ in range(10_000)]
    meshes = [Resource(Kind.BUFFER, int(16 * 2 ** rng.uniform(0, 12)), alignment=16) for _ in range(20_000)]
    textures = [_texture(rng) for _ in range(2_000)]
    targets = [
        Resource(
            Kind.MSAA, rng.choice([640, 1280, 1920]), rng.choice([360, 720, 1080]), samples=4, block_bytes=4,
            usage=Usage.RENDER_TARGET,
        )
        for _ in range(20)
    ]  # fmt: skip
    return {
        "tiny": tiny,
        "constants": constants,
        "meshes": meshes,
        "textures": textures,
        "mixed": tiny[:9_000] + textures[:900] + targets,
    }


def _texture(rng: random.Random) -> Resource:
    """Square, of 8 to 512 texels of four bytes, with all its mips."""
    log = rng.randint(3, 9)
    return Resource(Kind.TEXTURE, 1 << log, 1 << log, mips=log + 1, block_bytes=4)

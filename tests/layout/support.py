# SPDX-License-Identifier: MIT
"""Batches for the shapes of these tests."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import layout, meshes
from guestgpu.layout import Packed, Shape
from guestgpu.meshes import Batch, Meshlet


def random_batch(rng: np.random.Generator, shape: Shape, count: int, bad: Collection[str] = meshes.BAD_KINDS) -> Batch:
    return meshes.random_meshlets(
        rng, count, shape.max_vertices, shape.max_primitives, shape.topology.name.lower(),
        vertex_words=shape.vertex_words, primitive_words=shape.primitive_words, bad=bad,
    )  # fmt: skip


def random_tasks(rng: np.random.Generator, count: int) -> NDArray[Any]:
    """Tasks that emit `count` workgroups in all, some of them none, in one to three dimensions."""
    groups = []
    while count:
        x = int(rng.integers(0, min(count, 5) + 1))
        y = int(rng.integers(1, 3)) if 2 * x <= count else 1
        groups.append((x, y, 1) if rng.random() < 0.5 else (x, 1, y))
        count -= x * y
    return layout.tasks_of(groups or [(0, 1, 1)], [int(p) for p in rng.integers(0, 1000, len(groups) or 1)])


def pack(rng: np.random.Generator, shape: Shape, batch: Batch) -> Packed:
    tasks = random_tasks(rng, len(batch.meshlets)) if shape.task else None
    return layout.pack(shape, batch, tasks)


def visible(rng: np.random.Generator, shape: Shape, batch: Batch) -> Batch:
    """The batch with positions on the screen and tame numbers, so that images show it: small triangles, own depths."""
    made = []
    for m in batch.meshlets:
        n = len(m.vertices)
        words = rng.random((n, shape.vertex_words), dtype=np.float32).view(np.uint32)
        for output in shape.outputs:
            if output.kind == layout.OutputKind.FLAT and output.word < shape.vertex_words:
                words[:, output.word : output.word + output.words] = rng.integers(0, 1 << 20, (n, output.words))
        # Some triangles cross the border of the screen. Lines stay inside: lavapipe 25.0's mesh path clips them
        # wrongly (see test_device.test_clipped_lines), so it is no oracle there.
        reach = 0.8 if shape.topology == layout.Topology.TRIANGLES else 0.6
        centre, w = rng.uniform(-reach, reach, 2), rng.uniform(0.8, 1.25, (n, 1))
        xy = (centre + rng.uniform(-0.35, 0.35, (n, 2))) * w
        z = rng.uniform(0.05, 0.95, (n, 1)) * w
        position = np.hstack([xy, z, w]).astype(np.float32).view(np.uint32)
        end = min(shape.position_word + 4, shape.vertex_words)
        words[:, shape.position_word : end] = position[:, : end - shape.position_word]
        primitives = rng.integers(0, 1 << 20, m.primitives.shape, dtype=np.uint32)
        made.append(Meshlet(words, m.indices, primitives, m.vertex_count, m.primitive_count))
    return batch.replace(made)


def quad_batch(
    shape: Shape, indices: list[list[int]], numbers: list[int], primitives: list[list[int]] | None = None
) -> Meshlet:
    """The four corners of the screen (case M1), with flat numbers in word 4."""
    corners = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
    words = np.zeros((4, shape.vertex_words), np.float32)
    words[:, :4] = [(x, y, 0, 1) for x, y in corners]
    bits = words.view(np.uint32)
    if shape.vertex_words > 4:
        bits[:, 4] = numbers
    side = np.array(primitives if primitives is not None else [[]] * len(indices), np.uint32)
    side = side.reshape(len(indices), shape.primitive_words)
    return Meshlet(bits, np.array(indices, np.uint8).reshape(len(indices), 3), side, 4, len(indices))

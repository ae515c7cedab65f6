# SPDX-License-Identifier: MIT
"""Meshes as input of a mesh program: records of any width, positions on the screen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from guestgpu.meshes import Batch, Mesh, build_meshlets, mesh_batch, vertex_normals

NUMBER_WORD = 4
"""The word of a record that numbers the vertices of a batch, where there is one: see layout.standard_shape()."""


def clip_positions(mesh: Mesh) -> NDArray[np.float32]:
    """Positions in clip space, turned a little and with some perspective, filling the screen. float32, shape (n, 4)."""
    centred = mesh.positions.astype(np.float64) - (mesh.positions.max(0) + mesh.positions.min(0)) / 2.0
    centred /= max(float(np.abs(centred).max()), 1e-30)
    a, b = np.cos(0.5), np.sin(0.5)
    turned = centred @ np.array([[a, 0, b], [0, 1, 0], [-b, 0, a]]) @ np.array([[1, 0, 0], [0, a, -b], [0, b, a]])
    w = 1.0 + 0.2 * turned[:, 2:]
    xy = turned[:, :2] * (0.95 / max(float(np.abs(turned[:, :2] / w).max()), 1e-30))
    z = (0.5 + 0.25 * turned[:, 2:]) * w
    return np.hstack([xy, z, w]).astype(np.float32)


def vertex_words(mesh: Mesh, words: int, seed: int = 0) -> NDArray[np.uint32]:
    """Records of a mesh's vertices: position, number, normal, then random floats.

    Returns: uint32, shape (n, words).
    """
    n = len(mesh.positions)
    made = np.random.default_rng(seed).random((n, max(words, 8)), dtype=np.float32)
    made[:, 0:4] = clip_positions(mesh)
    made[:, 5:8] = vertex_normals(mesh)
    bits = made.view(np.uint32)
    bits[:, NUMBER_WORD] = np.arange(n, dtype=np.uint32)
    return np.ascontiguousarray(bits[:, :words])


def mesh_scene(mesh: Mesh, words: int, max_vertices: int, max_primitives: int, seed: int = 0) -> Batch:
    """The mesh as meshlets with records of `words` words. Every vertex of every meshlet has a number of its own."""
    batch = mesh_batch(build_meshlets(mesh, max_vertices, max_primitives), vertex_words(mesh, words, seed))
    first = 0
    if words > NUMBER_WORD:
        for meshlet in batch.meshlets:
            meshlet.vertices[:, NUMBER_WORD] = np.arange(first, first + len(meshlet.vertices), dtype=np.uint32)
            first += len(meshlet.vertices)
    return batch


def sample(batch: Batch, count: int) -> Batch:
    """At most `count` meshlets, evenly spaced."""
    if len(batch.meshlets) <= count:
        return batch
    chosen = np.linspace(0, len(batch.meshlets) - 1, count).astype(int)
    return batch.replace(batch.meshlets[i] for i in chosen)

# SPDX-License-Identifier: MIT
"""Hypothesis strategies; imported only by tests, where hypothesis is there."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from guestgpu.meshes import CORNERS, Batch, Meshlet


def _array(
    draw: st.DrawFn, dtype: type[np.unsignedinteger[Any]], shape: tuple[int, int], values: st.SearchStrategy[int]
) -> NDArray[Any]:
    size = shape[0] * shape[1]
    return np.array(draw(st.lists(values, min_size=size, max_size=size)), dtype=dtype).reshape(shape)


@st.composite
def meshlets(
    draw: st.DrawFn,
    corners: int = 3,
    max_vertices: int = 8,
    max_primitives: int = 8,
    vertex_words: int = 4,
    primitive_words: int = 0,
    bad: bool = True,
) -> Meshlet:
    """One meshlet. bad: counts above the most and index bytes past the vertices may occur."""
    past = st.integers(1, 2**32 - 1 - max(max_vertices, max_primitives))
    excess = st.one_of(st.just(0), past) if bad else st.just(0)
    stored_vertices = draw(st.integers(1, max_vertices))
    stored_primitives = draw(st.integers(0, max_primitives))
    # More is reported only where the most is stored.
    more_vertices = draw(excess) if stored_vertices == max_vertices else 0
    more_primitives = draw(excess) if stored_primitives == max_primitives else 0
    index = st.integers(0, stored_vertices - 1)
    words = st.integers(0, 2**32 - 1)
    return Meshlet(
        vertices=_array(draw, np.uint32, (stored_vertices, vertex_words), words),
        indices=_array(
            draw, np.uint8, (stored_primitives, corners), st.one_of(index, st.integers(0, 255)) if bad else index
        ),
        primitives=_array(draw, np.uint32, (stored_primitives, primitive_words), words),
        vertex_count=stored_vertices + more_vertices,
        primitive_count=stored_primitives + more_primitives,
    )


@st.composite
def batches(
    draw: st.DrawFn,
    topology: str = "triangles",
    max_meshlets: int = 4,
    max_vertices: int = 8,
    max_primitives: int = 8,
    vertex_words: int = 4,
    primitive_words: int = 0,
    bad: bool = True,
) -> Batch:
    """A small batch of meshlets of one shape, shrinking towards few, small meshlets."""
    corners = CORNERS[topology]
    one = meshlets(corners, max_vertices, max_primitives, vertex_words, primitive_words, bad)
    return Batch(tuple(draw(st.lists(one, max_size=max_meshlets))), corners, vertex_words, primitive_words)

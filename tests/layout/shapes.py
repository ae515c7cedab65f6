# SPDX-License-Identifier: MIT
"""The shapes of the fixture program that every layout must take: the list of spec/mesh_layouts.md."""

from __future__ import annotations

from guestgpu.layout import Output, OutputKind, Shape, Topology

SMOOTH, FLAT, POINT_SIZE = OutputKind.SMOOTH, OutputKind.FLAT, OutputKind.POINT_SIZE

SHAPES: dict[str, Shape] = {
    "position_first": Shape(24, 20, 7, outputs=(Output(FLAT, 0, 4, 1), Output(SMOOTH, 1, 5, 2))),
    "position_last": Shape(24, 20, 7, position_word=3, outputs=(Output(FLAT, 1, 0, 1), Output(SMOOTH, 0, 1, 2))),
    "per_primitive": Shape(24, 20, 6, primitive_words=1, outputs=(Output(SMOOTH, 0, 4, 2), Output(FLAT, 1, 6, 1))),
    "two_primitive_words": Shape(16, 12, 5, primitive_words=2, outputs=(Output(FLAT, 0, 4, 1), Output(FLAT, 1, 5, 2))),
    "words_22": Shape(64, 124, 22, outputs=(Output(FLAT, 0, 4, 1), Output(SMOOTH, 1, 5, 4), Output(SMOOTH, 2, 18, 4))),
    "words_27": Shape(64, 124, 27, outputs=(Output(FLAT, 0, 4, 1), Output(SMOOTH, 1, 5, 4), Output(SMOOTH, 2, 23, 4))),
    "full_256": Shape(256, 256, 9, threads=256, outputs=(Output(FLAT, 0, 4, 1), Output(SMOOTH, 1, 5, 4))),
    "one_word": Shape(8, 8, 1, threads=8),
    "words_128": Shape(12, 6, 128, threads=8, outputs=(Output(SMOOTH, 0, 124, 4),)),
    "one_thread": Shape(7, 5, 6, threads=1, outputs=(Output(SMOOTH, 0, 4, 2),)),
    "task": Shape(24, 20, 7, task=True, outputs=(Output(FLAT, 0, 6, 1), Output(SMOOTH, 1, 4, 2))),
    "task_per_primitive": Shape(
        24, 20, 6, primitive_words=1, task=True, outputs=(Output(FLAT, 0, 5, 1), Output(FLAT, 1, 6, 1))
    ),
    "lines": Shape(24, 20, 7, topology=Topology.LINES, outputs=(Output(FLAT, 0, 4, 1), Output(SMOOTH, 1, 5, 2))),
    "lines_per_primitive": Shape(
        24, 20, 5, primitive_words=1, topology=Topology.LINES, outputs=(Output(FLAT, 0, 5, 1),)
    ),
    "points": Shape(24, 20, 7, topology=Topology.POINTS, outputs=(Output(FLAT, 0, 4, 1), Output(SMOOTH, 1, 5, 2))),
    "points_sized": Shape(
        24, 20, 6, topology=Topology.POINTS, outputs=(Output(FLAT, 0, 4, 1), Output(POINT_SIZE, 0, 5, 1))
    ),
}

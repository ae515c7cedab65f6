# SPDX-License-Identifier: MIT
"""Every emitted module passes spirv-val (SPIR-V 1.6, Vulkan 1.3) and is the same each time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from shapes import SHAPES

from guestgpu import layout
from guestgpu.errors import ArgumentError, LimitExceeded, ValidationError
from guestgpu.layout import Layout, Mutation, Options, Output, OutputKind, Shape
from guestgpu.pytest_plugin import Spirv

SPIRV_1_6 = 0x00010600


@pytest.mark.parametrize("name", SHAPES)
def test_modules_are_valid(name: str, layouts: int, spirv: Spirv) -> None:
    flags = itertools.product([False, True], repeat=3)
    for (long_header, runtime_fit, census), mutation in itertools.product(flags, Mutation):
        options = Options(layouts, 0, long_header, runtime_fit, census, mutation)
        for emit in (layout.emit_mesh, layout.emit_vertex):
            words = spirv.validate(emit(SHAPES[name], options))
            assert words[1] == SPIRV_1_6
            assert np.array_equal(words, emit(SHAPES[name], options))


def test_task_modules_are_valid(spirv: Spirv) -> None:
    for emit in (layout.emit_task, layout.emit_scan):
        assert spirv.validate(emit())[1] == SPIRV_1_6


def test_the_validator_is_awake(spirv: Spirv) -> None:
    words = layout.emit_scan().copy()
    words[3] = 5  # the bound
    with pytest.raises(ValidationError):
        spirv.validate(words)


def test_debug_names(spirv: Spirv) -> None:
    text = spirv.disassemble(layout.emit_mesh(SHAPES["per_primitive"], Options(Layout.SOA)))
    for name in ("%area", "%meshlets", "%stage_vertices", "%stage_indices", "%stage_primitives", "%push"):
        assert name in text


def test_published_fit() -> None:
    """64 MiB, H = 8, 27-word records."""
    plan = layout.plan(layout.standard_shape(27), Options(Layout.AOS, 64 << 20))
    assert (plan.header_words, plan.record_words, plan.fit) == (8, 27, 621_378)


def test_indexed_falls_back_to_soa() -> None:
    expected = {"lines": Layout.SOA, "points": Layout.SOA, "per_primitive": Layout.SOA, "task": Layout.INDEXED}
    for name, chosen in expected.items():
        plan = layout.plan(SHAPES[name], Options(Layout.INDEXED))
        assert (plan.layout, plan.indexed, plan.header_words) == (chosen, chosen == Layout.INDEXED, 16)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (Shape(0, 1, 1), "max_vertices is 0"),
        (Shape(257, 1, 1), "max_vertices is 257"),
        (Shape(1, 257, 1), "max_primitives is 257"),
        (Shape(1, 1, 0), "vertex_words is 0"),
        (Shape(1, 1, 129), "vertex_words is 129"),
        (Shape(1, 1, 100, primitive_words=29), "primitive_words is 29"),
        (Shape(1, 1, 4, position_word=4), "position_word is 4"),
        (Shape(1, 1, 4, threads=1025), "threads is 1025"),
        (Shape(1, 1, 4, topology=3), "topology is 3"),
        (Shape(1, 1, 4, outputs=(Output(OutputKind.SMOOTH, 0, 3, 2),)), "words 3 to 4 are not in a record of 4"),
        (Shape(1, 1, 4, outputs=(Output(OutputKind.SMOOTH, 0, 0, 5),)), "words 0 to 4"),
        (Shape(1, 1, 4, 1, outputs=(Output(OutputKind.SMOOTH, 0, 4, 1),)), "per-primitive words can only be flat"),
        (Shape(1, 1, 4, outputs=(Output(OutputKind.FLAT, 3, 0, 1),) * 2), "both at location 3"),
        (Shape(1, 1, 4, outputs=(Output(9, 3, 0, 1),)), "unknown kind 9"),
        (Shape(1, 1, 4, outputs=(Output(0, 0, 0, 1),) * 33), "33 outputs"),
        (Shape(-1, 1, 4), "max_vertices"),
    ],
)
def test_bad_shapes_are_named(shape: Shape, text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        layout.plan(shape)


def test_bad_options_are_named() -> None:
    shape = layout.standard_shape(22)
    with pytest.raises(ArgumentError, match="unknown layout 4"):
        layout.plan(shape, Options(4))
    with pytest.raises(ArgumentError, match="area of 66 bytes"):
        layout.plan(shape, Options(area_bytes=66))
    with pytest.raises(LimitExceeded, match="one workgroup can take 372"):
        layout.plan(shape, Options(area_bytes=372 * 88 + 28))
    assert layout.plan(shape, Options(area_bytes=372 * 88 + 32)).fit == 372

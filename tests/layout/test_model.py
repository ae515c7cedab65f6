# SPDX-License-Identifier: MIT
"""The host model against the rules in a few lines of Python: it draws the meshlets' own primitives, in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guestgpu import layout
from guestgpu.errors import ArgumentError, LimitExceeded
from guestgpu.layout import Layout, Options, Shape, Topology
from guestgpu.meshes import Batch, Meshlet
from guestgpu.strategies import batches

MOST = 6


def primitives_of(meshlet: Meshlet) -> list[list[list[int]]]:
    """The primitives of a meshlet as lists of records: rules 1 and 3, read from the spec."""
    vertices = min(meshlet.vertex_count, MOST)
    count = min(meshlet.primitive_count, MOST)
    if vertices == 0 or count == 0:
        return []
    found = []
    for p in range(count):
        corners = [min(int(index), vertices - 1) for index in meshlet.indices[p]]
        found.append([[*meshlet.vertices[v].tolist(), *meshlet.primitives[p].tolist()] for v in corners])
    return found


def slots_of(meshlet: Meshlet, corners: int, indexed: bool) -> int:
    """Slots that the workgroup takes."""
    drawn = primitives_of(meshlet)
    taken = len(drawn) * corners
    if indexed and drawn:
        used = 1 + max(min(int(i), min(meshlet.vertex_count, MOST) - 1) for i in meshlet.indices[: len(drawn)].flat)
        taken = max(taken, -(-used // 3) * 3)
    return taken


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_draws_the_primitives_of_those_that_fit(data: st.DataObject) -> None:
    topology = data.draw(st.sampled_from([Topology.TRIANGLES, Topology.LINES, Topology.POINTS]))
    words, side = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 2))
    batch: Batch = data.draw(batches(topology.name.lower(), 4, MOST, MOST, vertex_words=words, primitive_words=side))
    shape = Shape(MOST, MOST, words, side, topology=topology)
    chosen = data.draw(st.sampled_from([Layout.AOS, Layout.SOA, Layout.INDEXED]))
    plan = layout.plan(shape, Options(chosen, 1 << 20))
    slots = data.draw(st.integers(plan.max_slots, 4 * plan.max_slots))
    options = Options(chosen, layout.area_bytes_for(shape, plan.layout, slots), long_header=True, census=True)
    order = np.array(data.draw(st.permutations(range(len(batch.meshlets)))), np.uint32)

    area = layout.model_mesh(shape, options, layout.pack(shape, batch), layout.reset_area(shape, options), order)
    drawn = layout.model_draw(shape, options, area).tolist()

    expected, taken, cut = [], 0, 0
    for number in order.tolist():
        meshlet = batch.meshlets[number]
        need = slots_of(meshlet, shape.corners, plan.indexed)
        if taken + need <= slots:
            records = [record for primitive in primitives_of(meshlet) for record in primitive]
            # Indexed pads with its first slot, the workgroup's vertex 0: triangles of no area.
            padding = [meshlet.vertices[0].tolist()] * (need - len(records)) if need > len(records) else []
            expected += records + padding
        else:
            cut += need
        taken += need
    assert drawn == expected
    assert (int(area[4]), int(area[8]), int(area[10])) == (taken, taken, cut)
    assert int(area[11 if plan.indexed else 0]) == len(expected)


def test_bad_batches_are_named() -> None:
    shape = Shape(4, 4, 2)
    good = Meshlet(np.zeros((3, 2), np.uint32), np.zeros((1, 3), np.uint8), np.zeros((1, 0), np.uint32), 3, 1)
    packed = layout.pack(shape, Batch((good, good), 3, 2, 0))
    options = Options(Layout.SOA)
    area = layout.reset_area(shape, options)
    for member, value, text in (
        ("vertex_first", 4, "meshlet 1: vertices 4 to 7 of 6"),
        ("index_first", 2, "meshlet 1: 1 primitives from index word 2"),
        ("vertex_count", 4, "meshlet 1: vertices 3 to 7 of 6"),
    ):
        packed.meshlets[member][1], kept = value, packed.meshlets[member][1].copy()
        with pytest.raises(ArgumentError, match=text):
            layout.model_mesh(shape, options, packed, area)
        packed.meshlets[member][1] = kept
    with pytest.raises(ArgumentError, match="entry 1 names workgroup 2 of 2"):
        layout.model_mesh(shape, options, packed, area, np.array([0, 2], np.uint32))
    with pytest.raises(LimitExceeded, match="the options say"):
        layout.model_mesh(shape, options, packed, area[:100].copy())
    with pytest.raises(ArgumentError, match="for a shape of"):
        layout.pack(Shape(4, 4, 3), Batch((good,), 3, 2, 0))
    with pytest.raises(ArgumentError, match="no task stage"):
        layout.model_mesh(
            shape, options, layout.pack(shape, Batch((good,), 3, 2, 0), layout.tasks_of([(1, 1, 1)])), area
        )


@pytest.mark.parametrize(
    ("groups", "text"),
    [((1 << 23, 1, 1), "emits 8388608 x 1 x 1"), ((4096, 4096, 1), "the most is"), ((3, 1, 1), "meshlets 0 to 3 of 1")],
)
def test_absurd_tasks_are_named(groups: tuple[int, int, int], text: str) -> None:
    shape = Shape(4, 4, 2, task=True)
    good = Meshlet(np.zeros((3, 2), np.uint32), np.zeros((1, 3), np.uint8), np.zeros((1, 0), np.uint32), 3, 1)
    packed = layout.pack(shape, Batch((good,), 3, 2, 0), layout.tasks_of([groups]))
    with pytest.raises((ArgumentError, LimitExceeded), match=text):
        layout.workgroups(shape, packed)

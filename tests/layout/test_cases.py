# SPDX-License-Identifier: MIT
"""Faults met in public, as small inputs with right values; M numbers are those of the collection of cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import quad_batch

from guestgpu import layout, layout_check
from guestgpu.device import Cull, Device, Work
from guestgpu.fallback import Arm, FallbackArm, NativeArm, Scene, Surface
from guestgpu.layout import Options, Output, OutputKind, Shape, Topology
from guestgpu.meshes import Batch, Meshlet

NUMBERED = Shape(4, 3, 5, outputs=(Output(OutputKind.FLAT, 0, 4, 1),))
"""Position and a flat number a vertex."""

IDENTIFIED = Shape(4, 3, 4, primitive_words=1, outputs=(Output(OutputKind.FLAT, 0, 4, 1),))
"""Position, and a number a primitive (pid)."""

QUAD = [[0, 1, 2], [2, 1, 3]]


def flat_image(arm: Arm) -> NDArray[Any]:
    """The flat input's image, shape (height, width); 0 where nothing was drawn."""
    image: NDArray[Any] = layout_check.render(arm, serially=True)[1].view(np.float32)[:, :, 0].astype(int)
    return image


def arms(scene: Scene, chosen: int) -> list[Arm]:
    return [FallbackArm(scene, Options(chosen)), NativeArm(scene)]


def scene_of(device: Device, shape: Shape, meshlets: list[Meshlet], surface: Surface) -> Scene:
    batch = Batch(tuple(meshlets), shape.corners, shape.vertex_words, shape.primitive_words)
    return Scene(device, shape, layout.pack(shape, batch), surface)


@pytest.mark.parametrize(("last", "upper", "lower"), [(False, 10, 12), (True, 12, 13)], ids=["first", "last"])
def test_m1_provoking_vertex(last: bool, upper: int, lower: int, layouts: int, device: Device) -> None:
    """The provoking vertex is the first (last) index of the primitive as written."""
    quad = quad_batch(NUMBERED, QUAD, [10, 11, 12, 13])
    scene = scene_of(device, NUMBERED, [quad], Surface(4, 4, depth=False, provoking_last=last))
    for arm in arms(scene, layouts):
        image = flat_image(arm)
        assert image[0, 0] == upper
        assert image[3, 3] == lower
        assert set(image.flat) == {upper, lower}


@pytest.mark.parametrize("cull", [Cull.FRONT, Cull.BACK])
def test_m1_winding(cull: int, layouts: int, device: Device) -> None:
    """Both triangles keep their winding: culling takes both or none."""
    quad = quad_batch(NUMBERED, QUAD, [10, 11, 12, 13])
    scene = scene_of(device, NUMBERED, [quad], Surface(4, 4, depth=False, cull=cull))
    for arm in arms(scene, layouts):
        assert set(flat_image(arm).flat) == ({0} if cull == Cull.BACK else {10, 12})


@pytest.mark.parametrize("first", [(4, 0), (0, 2)], ids=["no_primitives", "no_vertices"])
def test_m2_one_count_is_zero(first: tuple[int, int], layouts: int, device: Device) -> None:
    """A workgroup without vertices or without primitives draws nothing and takes no slots."""
    quad = quad_batch(IDENTIFIED, QUAD, [], [[70], [71]])
    vertices, primitives = first
    strange = Meshlet(quad.vertices[:vertices], quad.indices[:primitives], quad.primitives[:primitives], *first)
    nothing = Meshlet(quad.vertices[:0], quad.indices[:0], quad.primitives[:0], 0, 0)
    scene = scene_of(device, IDENTIFIED, [strange, nothing, quad], Surface(4, 4, depth=False))
    for arm in arms(scene, layouts):
        assert set(flat_image(arm).flat) == {70, 71}
        if isinstance(arm, FallbackArm):
            assert layout_check.check_serial(arm).equal
            assert arm.slots == (6, 6)
    plain = scene_of(device, NUMBERED, [
        Meshlet(m.vertices, m.indices, np.zeros((len(m.indices), 0), np.uint32), m.vertex_count, m.primitive_count)
        for m in (quad_batch(NUMBERED, [], [1, 2, 3, 4]), quad_batch(NUMBERED, QUAD, [1, 2, 3, 4]))
    ], Surface(4, 4, depth=False))  # fmt: skip
    arm = FallbackArm(plain, Options(layouts))
    assert layout_check.check_serial(arm).equal
    assert arm.slots == (6, 6)


@pytest.mark.parametrize("groups", [65535, 65536, 68734, 131070, 131071])
def test_m6_more_workgroups_than_a_row(groups: int, layouts: int, device: Device) -> None:
    """Each workgroup runs exactly once and sees its unsplit number; the surplus of the last row does nothing."""
    shape = Shape(1, 1, 5, topology=Topology.POINTS, threads=1, outputs=(Output(OutputKind.FLAT, 0, 4, 1),))
    words = np.zeros((groups, 5), np.float32)
    words[:, 3] = 1
    bits = words.view(np.uint32)
    bits[:, 4] = np.arange(groups)
    meshlets = np.zeros(groups, layout.MESHLET)
    meshlets["vertex_first"] = meshlets["index_first"] = np.arange(groups)
    meshlets["vertex_count"] = meshlets["primitive_count"] = 1
    packed = layout.Packed(meshlets, bits, np.zeros(groups, np.uint32), np.zeros((groups, 0), np.uint32))
    scene = Scene(device, shape, packed, Surface(16, 16, depth=False), row=65535)
    assert scene.rows == (65535, -(-groups // 65535))
    arm = FallbackArm(scene, Options(layouts))
    assert layout_check.check_parallel(arm).equal
    drawn = layout.model_draw(shape, arm.options, arm.read_area())
    assert np.array_equal(np.sort(drawn[:, 4]), np.arange(groups))
    assert arm.slots == (groups, groups)


def test_m6_rows_under_a_task(layouts: int, device: Device) -> None:
    """The scan splits the dispatch in the same way: 11 workgroups in rows of 4."""
    shape = Shape(3, 1, 5, task=True, outputs=(Output(OutputKind.FLAT, 0, 4, 1),))
    one = quad_batch(NUMBERED, [[0, 1, 2]], [1, 2, 3, 4])
    three = Meshlet(one.vertices[:3], one.indices, one.primitives, 3, 1)
    packed = layout.pack(shape, Batch((three,) * 11, 3, 5, 0), layout.tasks_of([(5, 1, 1), (0, 3, 1), (3, 2, 1)]))
    scene = Scene(device, shape, packed, Surface(8, 8, depth=False), row=4)
    arm = FallbackArm(scene, Options(layouts))
    assert layout_check.check_parallel(arm).equal
    assert arm.read_header()[5:8].tolist() == [4, 3, 1]
    assert arm.slots == (33, 33)


@pytest.mark.parametrize("restart", [False, True], ids=["plain", "restart_enabled"])
def test_m8_vertex_number_equal_to_the_restart_value(restart: bool, device: Device) -> None:
    """Index 0x0000ffff is an ordinary index; none of the fallback's is 0xffffffff, so restart changes nothing."""
    last = 65535 // 3  # the workgroup whose first vertex is number 65535
    groups = last + 2
    shape = Shape(3, 1, 5, threads=1, outputs=(Output(OutputKind.FLAT, 0, 4, 1),))
    words = np.zeros((groups, 3, 5), np.uint32)
    corners = quad_batch(NUMBERED, QUAD, [0, 0, 0, 0]).vertices
    words[last], words[last + 1] = corners[QUAD[0]], corners[QUAD[1]]
    words[:, :, 4] = np.arange(groups)[:, None]
    meshlets = np.zeros(groups, layout.MESHLET)
    meshlets["vertex_first"], meshlets["index_first"] = 3 * np.arange(groups), np.arange(groups)
    meshlets["vertex_count"], meshlets["primitive_count"] = 3, 1
    packed = layout.Packed(
        meshlets, words.reshape(-1, 5), np.full(groups, 0x020100, np.uint32), np.zeros((groups, 0), np.uint32)
    )
    scene = Scene(device, shape, packed, Surface(4, 4, depth=False, restart=restart))
    arm = FallbackArm(scene, Options(layout.Layout.INDEXED))
    work = arm.reset(Work()).bind(arm.mesh, arm.bindings)
    for first, count in ((0, last), (last, 1), (last + 1, 1)):  # in an order that gives workgroup `last` slot 65535
        work.push(first, first + count, scene.row, 0).dispatch(count).barrier()
    device.submit(arm.draw(work))
    area = arm.read_area()
    indices = area[arm.plan.index_word : arm.plan.index_word + 3 * groups]
    assert indices[3 * last : 3 * last + 3].tolist() == [0xFFFF, 0x10000, 0x10001]
    assert 0xFFFFFFFF not in indices
    assert set(scene.images()[1].view(np.float32)[:, :, 0].flat) == {last, last + 1.0}


def test_m9_degenerate_triangle(layouts: int, device: Device) -> None:
    """A triangle with two equal indices covers nothing, keeps its slot, and those after it keep their words."""
    shape = Shape(
        4, 3, 4, primitive_words=2, outputs=(Output(OutputKind.FLAT, 0, 4, 1), Output(OutputKind.FLAT, 1, 5, 1))
    )
    quad = quad_batch(shape, [[0, 1, 2], [1, 1, 2], [2, 1, 3]], [], [[70, 0], [71, 0], [72, 0]])
    scene = scene_of(device, shape, [quad], Surface(4, 4, depth=False))
    for arm in arms(scene, layouts):
        assert set(flat_image(arm).flat) == {70, 72}
    numbered = scene_of(device, shape, [
        quad_batch(shape, [[0, 1, 2], [1, 1, 2], [2, 1, 3]], [], [[0, 500], [0, 501], [0, 502]])
    ], Surface(4, 4, depth=False))  # fmt: skip
    for arm in arms(numbered, layouts):
        assert set(flat_image(arm).flat) == {500, 502}
        if isinstance(arm, FallbackArm):
            assert arm.slots == (9, 9)


def test_m9_indexed_counts_unique_vertices(device: Device) -> None:
    """A degenerate triangle adds no vertex: 4 vertices, 9 slots."""
    quad = quad_batch(NUMBERED, [[0, 1, 2], [1, 1, 2], [2, 1, 3]], [10, 11, 12, 13])
    scene = scene_of(device, NUMBERED, [quad], Surface(4, 4, depth=False))
    arm = FallbackArm(scene, Options(layout.Layout.INDEXED))
    assert layout_check.check_serial(arm).equal
    assert arm.slots == (9, 9)
    assert layout_check.corners_and_vertices(NUMBERED, scene.batch) == (9, 4)


def test_m11_payload_reaches_the_right_children(layouts: int, device: Device) -> None:
    """Three tasks with payload 10, 20, 30 emit 2, 0 and 3 workgroups; the last one of the last task is in front."""
    shape = Shape(3, 1, 5, task=True, outputs=(Output(OutputKind.FLAT, 0, 4, 1),))
    words = np.array([(-1, -1, 0, 1, 0), (3, -1, 0, 1, 0), (-1, 3, 0, 1, 0)], np.float32).view(np.uint32)
    screen = Meshlet(words, np.array([[0, 1, 2]], np.uint8), np.zeros((1, 0), np.uint32), 3, 1)
    tasks = layout.tasks_of([(2, 1, 1), (0, 1, 1), (3, 1, 1)], [10, 20, 30])
    scene = Scene(device, shape, layout.pack(shape, Batch((screen,) * 5, 3, 5, 0), tasks), Surface(4, 4, depth=False))
    for arm in arms(scene, layouts):
        assert set(flat_image(arm).flat) == {3023}
        if isinstance(arm, FallbackArm):
            seen = layout.model_draw(shape, arm.options, arm.read_area())[::3, 4].tolist()
            assert seen == [1002, 1012, 3003, 3013, 3023]


def test_stale_slots_are_never_drawn(layouts: int, device: Device) -> None:
    """A workgroup that straddles the limit by one slot leaves nothing behind that is drawn (niagara #36)."""
    quad = quad_batch(NUMBERED, QUAD, [10, 11, 12, 13])
    scene = scene_of(device, NUMBERED, [quad] * 3, Surface(4, 4, depth=False))
    plan = layout.plan(NUMBERED, Options(layouts, 1 << 20))
    for slots, drawn in ((17, 12), (18, 18)):
        area_bytes = layout.area_bytes_for(NUMBERED, plan.layout, slots)
        arm = FallbackArm(scene, Options(layouts, area_bytes, long_header=True))
        assert layout_check.check_serial(arm).equal
        assert layout_check.check_parallel(arm).equal
        assert arm.slots == (18, drawn)


def test_two_frames_the_second_emits_fewer(layouts: int, device: Device) -> None:
    """Nothing of the last frame is drawn again: the header is reset before each dispatch."""
    quad = quad_batch(NUMBERED, QUAD, [10, 11, 12, 13])
    many, few = (scene_of(device, NUMBERED, [quad] * n, Surface(4, 4, depth=False)) for n in (5, 1))
    arm = FallbackArm(many, Options(layouts))
    layout_check.render(arm)
    assert arm.slots == (30, 30)
    arm.use(few)
    layout_check.render(arm)
    assert arm.slots == (6, 6)

# SPDX-License-Identifier: MIT
"""The host model against the device: 2,000 random batches, all shapes, all layouts, with and without room."""

from __future__ import annotations

import numpy as np
import pytest
from shapes import SHAPES
from support import pack, random_batch, visible

from guestgpu import layout, layout_check
from guestgpu.device import Cull, Device
from guestgpu.fallback import FallbackArm, NativeArm, Scene, Surface, native_refusal
from guestgpu.layout import Layout, Options, Output, OutputKind, Shape, Topology
from guestgpu.meshes import Batch, Meshlet

BATCHES = 2000
PER_SHAPE = -(-BATCHES // len(SHAPES))


def tight_area(name: str, chosen: int) -> int:
    """Bytes that hold about what six workgroups need: half of the batches overflow it."""
    shape = SHAPES[name]
    plan = layout.plan(shape, Options(chosen, 1 << 28))
    return layout.area_bytes_for(shape, plan.layout, max(plan.max_slots, 2 * plan.max_slots + 5))


@pytest.mark.parametrize("name", SHAPES)
def test_model_equals_device(name: str, device: Device) -> None:
    """Areas word for word, one workgroup at a time, in random order; soa and indexed with counters and run-time fit."""
    run_batches(name, device, PER_SHAPE, list(SHAPES).index(name))


@pytest.mark.deep
@pytest.mark.parametrize("name", SHAPES)
def test_model_equals_device_many_times(name: str, device: Device) -> None:
    """20,000 more batches."""
    run_batches(name, device, 10 * PER_SHAPE, 1000 + list(SHAPES).index(name))


def run_batches(name: str, device: Device, count: int, seed: int) -> None:
    shape, rng = SHAPES[name], np.random.default_rng(seed)
    arms: list[FallbackArm] = []
    fits = cuts = 0
    for number in range(count):
        batch = random_batch(rng, shape, int(rng.integers(1, 9)))
        scene = Scene(device, shape, pack(rng, shape, batch), Surface(16, 16))
        if not arms:
            for chosen in (Layout.AOS, Layout.SOA, Layout.INDEXED):
                grown = chosen != Layout.AOS
                options = Options(chosen, tight_area(name, chosen), runtime_fit=grown, census=grown)
                arms.append(FallbackArm(scene, options))
        order = rng.permutation(scene.workgroups).astype(np.uint32)
        for arm in arms:
            arm.use(scene)
            check = layout_check.check_serial(arm, order)
            assert check.equal, f"batch {number}: {check}"
            taken, drawn = arm.slots
            fits, cuts = fits + (taken == drawn), cuts + (taken > drawn)
        scene.close()
    assert fits > count // 10
    assert cuts > count // 10


@pytest.mark.parametrize("name", SHAPES)
def test_parallel_dispatch(name: str, layouts: int, device: Device) -> None:
    """All workgroups at once, with room and cut to half: whole workgroups, and nothing else written (rules 1 and 2)."""
    shape, rng = SHAPES[name], np.random.default_rng(7)
    batch = random_batch(rng, shape, 40)
    scene = Scene(device, shape, pack(rng, shape, batch), Surface(16, 16))
    plan = layout.plan(shape, Options(layouts, 1 << 28))
    slots = max(int(layout_check.slots_of(shape, plan, scene.batch).sum()), plan.max_slots)
    for room in (slots, max(slots // 2, plan.max_slots)):
        arm = FallbackArm(scene, Options(layouts, layout.area_bytes_for(shape, plan.layout, room)))
        for _ in range(5):
            check = layout_check.check_parallel(arm)
            assert check.equal, check
        taken, drawn = arm.slots
        assert (taken > drawn) == (room < slots)


@pytest.mark.parametrize("name", [n for n in SHAPES if n != "one_word"])
def test_images(name: str, device: Device) -> None:
    """A smooth and a flat input, bit for bit the same in every layout and natively, one workgroup at a time."""
    shape, rng = SHAPES[name], np.random.default_rng(11)
    batch = visible(rng, shape, random_batch(rng, shape, 12, bad=("degenerate", "indices", "empty")))
    packed = pack(rng, shape, batch)
    for surface in (
        Surface(64, 64),
        Surface(128, 64, depth=False, cull=Cull.BACK),
        Surface(64, 64, provoking_last=True),
    ):
        scene = Scene(device, shape, packed, surface)
        images = {}
        for chosen in (Layout.AOS, Layout.SOA, Layout.INDEXED):
            arm = FallbackArm(scene, Options(chosen))
            images[arm.name] = layout_check.render(arm, serially=True)
        if not native_refusal(device.info, shape, tasks=len(packed.tasks)):
            images["native"] = layout_check.render(NativeArm(scene))
        else:
            assert name in ("words_128", "full_256"), native_refusal(device.info, shape)
        assert np.any(images["aos"]), "the image is empty"
        for other, image in images.items():
            check = layout_check.check_images(other, images["aos"], image)
            assert check.equal, (surface, check)


def test_clipped_lines(layouts: int, device: Device) -> None:
    """A line that leaves the screen keeps its course: y = -0.55 all along. (lavapipe 25.0's own mesh path bends it.)"""
    shape = Shape(2, 1, 5, topology=Topology.LINES, outputs=(Output(OutputKind.FLAT, 0, 4, 1),))
    words = np.array([(-1.4, -0.55, 0, 1, 0), (0.9, -0.55, 0, 1, 0)], np.float32).view(np.uint32)
    words[:, 4] = 7
    line = Meshlet(words, np.array([[0, 1]], np.uint8), np.zeros((1, 0), np.uint32), 2, 1)
    scene = Scene(device, shape, layout.pack(shape, Batch((line,), 2, 5, 0)), Surface(8, 8))
    image = layout_check.render(FallbackArm(scene, Options(layouts)))[1].view(np.float32)[:, :, 0]
    expected = np.zeros((8, 8), np.float32)
    expected[1, :] = 7  # the last pixel's diamond is left at x = 0.9
    assert np.array_equal(image, expected), image


def test_heavy_programs_cut_whole_workgroups(layouts: int, device: Device) -> None:
    """Slots are taken in any order: what is drawn differs from run to run, but always obeys rule 2."""
    shape, rng = SHAPES["words_22"], np.random.default_rng(5)
    batch = random_batch(rng, shape, 400, bad=())
    scene = Scene(device, shape, layout.pack(shape, batch), Surface(16, 16))
    plan = layout.plan(shape, Options(layouts, 1 << 28))
    slots = int(layout_check.slots_of(shape, plan, scene.batch).sum())
    arm = FallbackArm(scene, Options(layouts, layout.area_bytes_for(shape, plan.layout, slots // 2)))
    for _ in range(20):
        check = layout_check.check_parallel(arm)
        assert check.equal, check
        taken, drawn = arm.slots
        assert drawn < taken == slots

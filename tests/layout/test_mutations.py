# SPDX-License-Identifier: MIT
"""Each deliberate fault is caught, by name, by the oracle that should catch it; without it the oracle is content."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import random_batch, visible

from guestgpu import layout, layout_check
from guestgpu.device import Device
from guestgpu.fallback import FallbackArm, Scene, Surface
from guestgpu.layout import Layout, Mutation, Options, Output, OutputKind, Shape

SHAPE = Shape(24, 20, 7, outputs=(Output(OutputKind.FLAT, 0, 4, 1), Output(OutputKind.SMOOTH, 1, 5, 2)))

AREA, DRAW, IMAGE = "area = host model", "drawn = whole workgroups", "image"

# Mutation -> layouts that it touches, oracles that must see it, what they say.
CAUGHT = {
    Mutation.ROTATED_INDICES: ((Layout.AOS, Layout.SOA, Layout.INDEXED), (AREA, DRAW, IMAGE)),
    Mutation.LOCAL_INDICES: ((Layout.INDEXED,), (AREA, DRAW, IMAGE)),
    Mutation.COUNT_CUT_SLOTS: ((Layout.AOS, Layout.SOA, Layout.INDEXED), (AREA, DRAW)),
    Mutation.CORNER_SLOTS_ONLY: ((Layout.INDEXED,), (AREA, DRAW, IMAGE)),
    Mutation.VERTEX_STRIDE: ((Layout.AOS, Layout.SOA, Layout.INDEXED), (IMAGE,)),
}


def test_all_are_here() -> None:
    assert set(CAUGHT) == set(Mutation) - {Mutation.NONE}


def objections(device: Device, options: Options) -> set[str]:
    """The oracles that object to a layout; areas and draws with too little room, images with enough."""
    rng = np.random.default_rng(3)
    batch = visible(rng, SHAPE, random_batch(rng, SHAPE, 20, bad=("degenerate", "empty", "indices")))
    scene = Scene(device, SHAPE, layout.pack(SHAPE, batch), Surface(32, 32))
    plan = layout.plan(SHAPE, options)
    tight = replace(options, area_bytes=layout.area_bytes_for(SHAPE, plan.layout, 250))
    arm = FallbackArm(scene, tight)
    checks = [layout_check.check_serial(arm), layout_check.check_parallel(arm)]
    if options.mutation != Mutation.COUNT_CUT_SLOTS:  # drawing it with enough room is drawing nothing wrong
        expected = layout_check.render(FallbackArm(scene, Options(Layout.AOS)), serially=True)
        got = layout_check.render(FallbackArm(scene, options), serially=True)
        checks.append(layout_check.check_images("x: image", expected, got))
    return {check.name.split(": ")[1] for check in checks if not check.equal}


@pytest.mark.parametrize("mutation", CAUGHT, ids=lambda m: m.name.lower())
def test_mutation_is_caught(mutation: int, device: Device) -> None:
    touched, oracles = CAUGHT[mutation]
    for chosen in touched:
        assert objections(device, Options(chosen, mutation=mutation)) == set(oracles), chosen


def test_nothing_is_caught_without_one(device: Device) -> None:
    for chosen in (Layout.AOS, Layout.SOA, Layout.INDEXED):
        assert objections(device, Options(chosen)) == set()

# SPDX-License-Identifier: MIT
"""Proof that a layout on a device does what the host model does: areas, draws and images.

Two ways to run a batch are checked. Workgroups one at a time: then the whole area must be the host
model's, word for word, what nobody wrote included. All at once: then slots are taken in any order, and the
area must be a sequence of whole workgroups, each with its own primitives in their own order (rules 1 and 2).
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import layout, minimise
from guestgpu.device import Device, Work
from guestgpu.errors import GuestGpuError
from guestgpu.fallback import Arm, FallbackArm, Scene
from guestgpu.layout import Options, Output, Packed, Plan, Shape, Words
from guestgpu.meshes import Batch

CASE = "layout"
"""Marks a reproducer as one of this module's."""

POISON = 0xA5A5A5A5
"""Fills an area before a checked dispatch, so that what nobody wrote is seen."""

_DISPATCH_WORDS = slice(5, 8)


@dataclass(frozen=True)
class Check:
    """One comparison; `difference` says where it failed first, "" when equal."""

    name: str
    difference: str

    @property
    def equal(self) -> bool:
        return not self.difference


def difference_of_areas(plan: Plan, expected: Words, got: Words, fit: int | None = None) -> str:
    """ "" or the first word that differs, by record and word, with the expected and the got value."""
    if len(expected) != len(got):
        return f"an area of {len(got)} words, expected {len(expected)}"
    different = np.nonzero(expected != got)[0]
    if not len(different):
        return ""
    at = int(different[0])
    where = place_of(plan, at, plan.fit if fit is None else fit)
    return f"{where}: expected 0x{expected[at]:08x}, got 0x{got[at]:08x} ({len(different)} words differ)"


def place_of(plan: Plan, word: int, fit: int) -> str:
    """What stands at a word of the area."""
    if word < plan.header_words:
        return f"header word {word}"
    at = word - plan.header_words
    if plan.layout == layout.Layout.AOS:
        record, part = divmod(at, plan.record_words)
    else:
        part, record = divmod(at, fit) if fit else (plan.slot_words, at)
    if record >= fit or part >= plan.slot_words:
        return f"word {word}, past the last slot"
    return f"index {record}" if part == plan.record_words else f"record {record}, word {part}"


def model_area(scene: Scene, options: Options, order: NDArray[np.uint32] | None = None) -> Words:
    """The area that the host model leaves for a scene, from a poisoned and reset one."""
    area = layout.reset_area(scene.shape, options, POISON)
    if scene.shape.task:
        area[_DISPATCH_WORDS] = [*(scene.rows if scene.workgroups else (0, 0)), 1]
    return layout.model_mesh(scene.shape, options, scene.batch, area, order)


def check_serial(arm: FallbackArm, order: NDArray[np.uint32] | None = None) -> Check:
    """Workgroups one at a time: the area must be the host model's."""
    scene = arm.scene
    work = arm.dispatch_serially(arm.reset(Work(), POISON), order)
    scene.device.submit(work)
    expected, got = model_area(scene, arm.options, order), arm.read_area()
    return Check(f"{arm.name}: area = host model", difference_of_areas(arm.plan, expected, got))


def check_parallel(arm: FallbackArm) -> Check:
    """All workgroups at once: whole workgroups, in any order, as many as fit; nothing else is written."""
    scene = arm.scene
    work = arm.dispatch(arm.reset(Work(), POISON))
    scene.device.submit(work)
    difference = difference_of_draw(scene.shape, arm.options, scene.batch, arm.read_area())
    return Check(f"{arm.name}: drawn = whole workgroups", difference)


def serial_difference(device: Device, shape: Shape, options: Options, batch: Batch) -> str:
    """Runs a batch without tasks one workgroup at a time; "" or how its area differs from the host model's."""
    scene = Scene(device, shape, layout.pack(shape, batch))
    arm = FallbackArm(scene, options)
    try:
        return check_serial(arm).difference
    finally:
        arm.close()
        scene.close()


def save_case(folder: Path, shape: Shape, options: Options, batch: Batch, difference: str) -> Path:
    """Stores a failing case as a reproducer that `guestgpu repro` runs again."""
    content = {
        "case": CASE,
        "shape": {**asdict(shape), "topology": int(shape.topology)},
        "options": {name: int(value) for name, value in asdict(options).items()},
        "batch": batch,
        "difference": difference,
    }
    path = folder / f"repro-{hashlib.sha256(repr(content).encode()).hexdigest()[:8]}.json"
    minimise.save_reproducer(path, content)
    return path


def load_case(path: Path) -> tuple[Shape, Options, Batch]:
    """What save_case() has stored. Raises MinimiseError naming the file."""
    content = minimise.load_reproducer(path)
    try:
        if content["case"] != CASE:
            raise minimise.MinimiseError(f"{path}: a case of {content['case']!r}, not of {CASE!r}")
        shape, options, batch = dict(content["shape"]), content["options"], content["batch"]
        shape["outputs"] = tuple(Output(**output) for output in shape["outputs"])
        if not isinstance(batch, Batch):
            raise TypeError("batch")
        return Shape(**shape), Options(**options), batch
    except (KeyError, TypeError, AttributeError) as error:
        raise minimise.MinimiseError(f"{path}: not a case of {CASE}: {error}") from None


def difference_of_draw(shape: Shape, options: Options, batch: Packed, area: Words) -> str:
    """ "" or what is wrong with an area that the workgroups of a batch filled in an unknown order."""
    plan = layout.plan(shape, options)
    try:
        drawn = layout.model_draw(shape, options, area)
    except GuestGpuError as error:
        return str(error)
    expected, starts = _expected_draw(shape, options, batch)
    slots = np.diff(starts)
    taken = int(area[4])
    if taken != int(slots.sum()) % 2**32:
        return f"the allocator took {taken} slots, the workgroups need {int(slots.sum())}"
    seen, difference = _parse(plan, expected, starts, drawn)
    if difference:
        return difference
    cut = np.nonzero(~seen & (slots > 0))[0]
    room = plan.fit - len(drawn)
    if len(cut) and not (slots[cut] > room).any():
        return f"{len(cut)} workgroups were cut although each fits into the {room} slots left (rule 2)"
    return _difference_past_the_draw(plan, area, len(drawn))


def _expected_draw(shape: Shape, options: Options, batch: Packed) -> tuple[Words, NDArray[np.int64]]:
    """What a draw fetches when everything fits, in workgroup order, padding included; and where each begins."""
    roomy = replace(options, runtime_fit=False, mutation=layout.Mutation.NONE)
    plan = layout.plan(shape, options)
    corners = slots_of(shape, plan, batch)
    starts = np.concatenate([[0], np.cumsum(corners)])
    bytes_needed = 4 * (plan.header_words + max(int(starts[-1]), plan.max_slots) * plan.slot_words)
    roomy = replace(roomy, area_bytes=bytes_needed)
    area = layout.model_mesh(shape, roomy, batch, layout.reset_area(shape, roomy))
    return layout.model_draw(shape, roomy, area), starts


def slots_of(shape: Shape, plan: Plan, batch: Packed) -> NDArray[np.int64]:
    """Slots that each workgroup takes, counted from the batch. int64, shape (workgroups,)."""
    corners, used = _counts(shape, batch)
    return np.maximum(corners, (used + 2) // 3 * 3) if plan.indexed else corners


def corners_and_vertices(shape: Shape, batch: Packed) -> tuple[int, int]:
    """Corners of all workgroups, and vertices that they use: 1 + the largest index of each."""
    corners, used = _counts(shape, batch)
    return int(corners.sum()), int(used.sum())


def _counts(shape: Shape, batch: Packed) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per workgroup: corners, and vertices used."""
    meshlets = batch.meshlets[_meshlet_of(shape, batch)]
    vertices = np.minimum(meshlets["vertex_count"], shape.max_vertices).astype(np.int64)
    primitives = np.minimum(meshlets["primitive_count"], shape.max_primitives).astype(np.int64)
    primitives[vertices == 0] = 0
    corners = primitives * shape.corners
    used = np.zeros(len(corners), np.int64)
    index_bytes = batch.indices.view(np.uint8)
    for i in np.nonzero(corners)[0]:
        first = 4 * int(meshlets["index_first"][i])
        used[i] = min(int(np.max(index_bytes[first : first + int(corners[i])])), int(vertices[i]) - 1) + 1
    return corners, used


def _meshlet_of(shape: Shape, batch: Packed) -> NDArray[np.int64]:
    """The meshlet of each workgroup."""
    if not shape.task:
        return np.arange(len(batch.meshlets))
    first, count = batch.tasks["first_meshlet"].astype(np.int64), batch.tasks["groups"].astype(np.int64).prod(axis=1)
    parts = [np.arange(f, f + n) for f, n in zip(first.tolist(), count.tolist(), strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _parse(plan: Plan, expected: Words, starts: NDArray[np.int64], drawn: Words) -> tuple[NDArray[np.bool_], str]:
    """Reads the drawn corners as whole workgroups; which were seen, and what could not be read."""
    n = plan.corners
    own, got = _hashes(expected.reshape(-1, n * plan.record_words)), _hashes(drawn.reshape(-1, n * plan.record_words))
    bounds = starts // n
    by_first: dict[int, list[int]] = {}
    for group in np.argsort(np.diff(bounds), kind="stable").tolist():  # the longest is tried first: it is popped
        if bounds[group] < bounds[group + 1]:
            by_first.setdefault(int(own[bounds[group]]), []).append(group)
    seen = np.zeros(len(starts) - 1, bool)
    at = 0
    while at < len(got):
        candidates = by_first.get(int(got[at]), [])
        for position in range(len(candidates) - 1, -1, -1):
            group = candidates[position]
            length = int(bounds[group + 1] - bounds[group])
            if np.array_equal(own[bounds[group] : bounds[group + 1]], got[at : at + length]):
                seen[candidates.pop(position)] = True
                at += length
                break
        else:
            return seen, f"primitive {at} begins no workgroup that is still to come (rule 1)"
    return seen, ""


def _hashes(rows: Words) -> NDArray[np.uint64]:
    """One 64-bit hash a row: a universal hash with fixed random odd multipliers."""
    factors = np.random.default_rng(0x6767).integers(1, 2**63, rows.shape[1], dtype=np.uint64) * 2 + 1
    step = max(1, (1 << 24) // max(1, rows.shape[1]))
    parts = [rows[i : i + step].astype(np.uint64) @ factors for i in range(0, len(rows), step)]
    return np.concatenate([np.zeros(0, np.uint64), *parts])


def _difference_past_the_draw(plan: Plan, area: Words, drawn: int) -> str:
    """The slots past the drawn ones, and the words past the last slot, must still hold the poison."""
    body = area[plan.header_words :]
    if plan.layout == layout.Layout.AOS:
        untouched = body[drawn * plan.record_words :]
        first = plan.header_words + drawn * plan.record_words
        wrong = np.nonzero(untouched != POISON)[0]
        return f"{place_of(plan, first + int(wrong[0]), plan.fit)} was written, past the draw" if len(wrong) else ""
    lines = body[: plan.fit * plan.slot_words].reshape(plan.slot_words, plan.fit)
    wrong_lines, wrong_slots = np.nonzero(lines[:, drawn:] != POISON)
    if len(wrong_lines):
        return f"record {drawn + int(wrong_slots[0])}, word {int(wrong_lines[0])} was written, past the draw"
    tail = np.nonzero(body[plan.fit * plan.slot_words :] != POISON)[0]
    return (
        f"word {plan.header_words + plan.fit * plan.slot_words + int(tail[0])} was written, past the last slot"
        if len(tail)
        else ""
    )


def render(arm: Arm, serially: bool = False) -> NDArray[np.uint32]:
    """A frame of the arm. Both images as bits, uint32, shape (2, height, width, 4)."""
    scene: Scene = arm.scene  # type: ignore[attr-defined]
    work = arm.reset(Work())
    work = arm.dispatch_serially(work) if serially and isinstance(arm, FallbackArm) else arm.dispatch(work)
    scene.device.submit(arm.draw(work))
    return scene.images()


def check_images(name: str, expected: NDArray[np.uint32], got: NDArray[np.uint32]) -> Check:
    """Bit for bit; the difference names the first pixel."""
    different = np.argwhere((expected != got).any(axis=-1))
    if not len(different):
        return Check(name, "")
    image, y, x = different[0].tolist()
    values: list[Any] = [images[image, y, x].view(np.float32).tolist() for images in (expected, got)]
    return Check(
        name, f"image {image}, pixel ({x}, {y}): expected {values[0]}, got {values[1]} ({len(different)} pixels differ)"
    )

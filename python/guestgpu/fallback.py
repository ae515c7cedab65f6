# SPDX-License-Identifier: MIT
"""A batch of meshlets on a device: through a layout of the fallback, or natively by VK_EXT_mesh_shader.

A `Scene` holds the batch's buffers and the target; `FallbackArm` and `NativeArm` record their part of
a frame into a `Work`, in three steps that can be timed apart: reset, dispatch, draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from guestgpu import layout
from guestgpu.device import (
    Buffer,
    Cull,
    Device,
    DeviceInfo,
    Pipeline,
    PipelineParams,
    Stage,
    Work,
    compile_glsl,
)
from guestgpu.errors import ArgumentError, LimitExceeded, Unsupported
from guestgpu.layout import BufferBinding, Layout, Options, OutputKind, Packed, Plan, Shape, Words

PUSH_WORDS = 4
MESH_DISPATCH_OFFSET = 4 * 5
"""Bytes of header word 5, the VkDispatchIndirectCommand that the scan writes."""

NATIVE_THREADS = 32
"""Invocations of a native mesh workgroup: what the H200 is fastest with (and prefers, by its limits)."""


@dataclass(frozen=True)
class Surface:
    """Fixed-function state of the draws, the same for every arm."""

    width: int = 64
    height: int = 64
    depth: bool = True
    cull: int = Cull.NONE
    provoking_last: bool = False
    restart: bool = False


class Scene:
    """A batch on a device: the fixture's input buffers and a target. Read by every arm."""

    def __init__(
        self, device: Device, shape: Shape, batch: Packed, surface: Surface = Surface(), row: int | None = None
    ) -> None:
        """row: workgroups a dispatch has at most in x; None: the device's limit."""
        self.device, self.shape, self.batch, self.surface = device, shape, batch, surface
        self.workgroups = layout.workgroups(shape, batch)
        limit = int(device.info.max_workgroup_count[0])
        self.row = min(limit, row or limit)
        records = np.zeros(len(batch.tasks) + 1, layout.TASK_RECORD)
        self.buffers = [
            device.buffer_of(data)
            for data in (batch.meshlets, batch.vertices, batch.indices, batch.primitives, batch.tasks, records)
        ]
        self.target = device.target(surface.width, surface.height, 2, surface.depth)

    def close(self) -> None:
        self.device.release([*self.buffers, self.target])

    @property
    def rows(self) -> tuple[int, int]:
        """Workgroups of a dispatch as (x, y): rows of at most `row`; the surplus of the last does nothing."""
        return min(self.workgroups, self.row), -(-self.workgroups // self.row)

    def fragment(self, native: bool) -> Words:
        """The fragment stage; per-primitive inputs are flat ones in the fallback."""
        return compile_glsl("layout/surface.frag.glsl", Stage.FRAGMENT, _inputs(self.shape, native))

    def pipeline_params(
        self, modules: tuple[tuple[int, Words], ...], storage_buffers: int, push_words: int
    ) -> PipelineParams:
        s = self.surface
        return PipelineParams(
            modules,
            storage_buffers,
            push_words,
            int(self.shape.topology),
            2,
            s.depth,
            s.cull,
            s.provoking_last,
            s.restart,
        )

    def images(self) -> NDArray[np.uint32]:
        """Both colour images as bits. uint32, shape (2, height, width, 4)."""
        return np.stack([self.target.read(0), self.target.read(1)]).view(np.uint32)


class Arm(Protocol):
    """One way to draw a scene."""

    name: str

    def reset(self, work: Work) -> Work: ...
    def dispatch(self, work: Work) -> Work: ...
    def draw(self, work: Work) -> Work: ...


class FallbackArm:
    """A scene through one layout: records area, mesh stage, vertex stage."""

    def __init__(self, scene: Scene, options: Options, name: str | None = None) -> None:
        self.scene, self.options = scene, options
        self.plan: Plan = layout.plan(scene.shape, options)
        self.name = name or Layout(options.layout or Layout.AOS).name.lower()
        _check_fallback_limits(scene, self.plan)
        device, shape = scene.device, scene.shape
        self.area = device.buffer(self.plan.area_bytes)
        self.mesh = device.compute(layout.emit_mesh(shape, options), BufferBinding.BUFFERS, PUSH_WORDS)
        self.task = self.scan = None
        if shape.task:
            self.task = device.compute(layout.emit_task(), BufferBinding.BUFFERS, PUSH_WORDS)
            self.scan = device.compute(layout.emit_scan(), BufferBinding.BUFFERS, PUSH_WORDS)
        modules = ((Stage.VERTEX, layout.emit_vertex(shape, options)), (Stage.FRAGMENT, scene.fragment(native=False)))
        self.graphics = device.pipeline(scene.pipeline_params(modules, 1, 0))

    def use(self, scene: Scene) -> None:
        """Another scene of the same shape and surface from here on: pipelines and area stay."""
        if (scene.shape, scene.surface, scene.device) != (self.scene.shape, self.scene.surface, self.scene.device):
            raise ArgumentError("a scene of another shape, surface or device needs an arm of its own")
        self.scene = scene

    @property
    def bindings(self) -> list[Buffer]:
        return [self.area, *self.scene.buffers]

    def close(self) -> None:
        things = [self.area, self.mesh, self.graphics, *(p for p in (self.task, self.scan) if p)]
        self.scene.device.release(things)

    def reset(self, work: Work, poison: int | None = None) -> Work:
        """The header's fills; `poison` first fills the whole area, so that a test sees what nobody wrote."""
        if poison is not None:
            work.fill(self.area, poison).barrier()
        return work.extend(layout.record_fills(self.plan, self.options, work.number(self.area))).barrier()

    def dispatch(self, work: Work) -> Work:
        """Task stage and scan where there are any, then the mesh stage, as wide as the device takes it."""
        scene = self.scene
        self._tasks(work)
        work.bind(self.mesh, self.bindings).push(*self._push(0, scene.workgroups))
        if scene.shape.task:
            work.dispatch_indirect(self.area, MESH_DISPATCH_OFFSET)
        elif scene.workgroups:
            work.dispatch(*scene.rows)
        return work

    def dispatch_serially(self, work: Work, order: NDArray[np.uint32] | None = None) -> Work:
        """The same workgroups one at a time, in `order` (None: by number), so that the area is the host model's."""
        self._tasks(work)
        work.bind(self.mesh, self.bindings)
        numbers = range(self.scene.workgroups) if order is None else order.tolist()
        for number in numbers:
            work.push(*self._push(number, self.scene.workgroups)).dispatch(1).barrier()
        return work

    def draw(self, work: Work) -> Work:
        """Barrier, clear, and the draw of the records."""
        work.barrier().begin_render(self.scene.target).bind(self.graphics, [self.area])
        work.extend(layout.Recorder().draw_records(self.plan, work.number(self.area)))
        return work.end_render()

    def read_area(self) -> Words:
        return self.area.read(np.uint32)

    def read_header(self) -> Words:
        return self.area.read(np.uint32, self.plan.header_words)

    @property
    def slots(self) -> tuple[int, int]:
        """Slots taken, and slots drawn, after a frame; the difference was cut."""
        header = self.read_header()
        return int(header[4]), int(header[11 if self.plan.indexed else 0])

    def _push(self, first: int, count: int) -> tuple[int, int, int, int]:
        return first, count, self.scene.row, len(self.scene.batch.tasks)

    def _tasks(self, work: Work) -> None:
        if self.task is None or self.scan is None:
            return
        tasks = len(self.scene.batch.tasks)
        work.bind(self.task, self.bindings)
        for first in range(0, tasks, self.scene.row):
            work.push(*self._push(first, 0)).dispatch(min(tasks - first, self.scene.row))
        work.barrier().bind(self.scan, self.bindings).push(*self._push(0, 0)).dispatch(1).barrier()


def _check_fallback_limits(scene: Scene, plan: Plan) -> None:
    info, shape = scene.device.info, scene.shape
    checks: tuple[tuple[str, int, int], ...] = (
        ("bytes of workgroup memory for the stage buffer", plan.stage_bytes, int(info.max_workgroup_memory)),
        ("invocations of a mesh workgroup", shape.threads, int(info.max_workgroup_invocations)),
        ("bytes of the records area", plan.area_bytes, int(info.max_storage_range)),
        ("workgroups (their slots must stay below 2^32)", scene.workgroups, plan.max_workgroups),
        ("rows of workgroups", scene.rows[1], int(info.max_workgroup_count[1])),
    )
    for what, needed, limit in checks:
        if needed > limit:
            raise LimitExceeded(f"{info.name}: {needed} {what}, the limit is {limit}")


def most_vertices(info: DeviceInfo, words: int, max_primitives: int, wanted: int) -> int:
    """The most vertices, up to `wanted`, with which records of `words` words fit the device's workgroup memory."""
    fixed = (
        layout.plan(layout.standard_shape(words, 1, max_primitives), Options(area_bytes=1 << 30)).stage_bytes
        - 4 * words
    )
    return max(0, min(wanted, (int(info.max_workgroup_memory) - fixed) // (4 * words)))


class NativeArm:
    """The same scene by the device's own mesh shaders."""

    name = "native"

    def __init__(self, scene: Scene, threads: int = NATIVE_THREADS) -> None:
        """Raises Unsupported, with the reason, where the device cannot draw the scene natively."""
        device, shape = scene.device, scene.shape
        self.scene = scene
        reason = native_refusal(device.info, shape, threads, len(scene.batch.tasks))
        if reason:
            raise Unsupported(f"{device.info.name}: {reason}")
        preamble = _shape_preamble(shape, threads)
        modules = [(Stage.MESH, compile_glsl("layout/native.mesh.glsl", Stage.MESH, preamble))]
        if shape.task:
            modules.insert(0, (Stage.TASK, compile_glsl("layout/native.task.glsl", Stage.TASK)))
        modules.append((Stage.FRAGMENT, scene.fragment(native=True)))
        push_words = 0 if shape.task else PUSH_WORDS
        self.graphics: Pipeline = device.pipeline(
            scene.pipeline_params(tuple(modules), BufferBinding.BUFFERS, push_words)
        )
        self._area = device.buffer(4)  # binding 0 must name a buffer; nothing reads it

    def close(self) -> None:
        self.scene.device.release([self.graphics, self._area])

    def reset(self, work: Work) -> Work:
        return work

    def dispatch(self, work: Work) -> Work:
        return work

    def draw(self, work: Work) -> Work:
        scene = self.scene
        work.barrier().begin_render(scene.target).bind(self.graphics, [self._area, *scene.buffers])
        if scene.shape.task:
            work.draw_mesh(len(scene.batch.tasks))
        elif scene.workgroups:
            # Mesh workgroup counts have limits of their own; 65535 is in every device's.
            row = min(scene.row, 65535)
            work.push(0, scene.workgroups, row, 0)
            work.draw_mesh(min(scene.workgroups, row), -(-scene.workgroups // row))
        return work.end_render()


def native_refusal(info: DeviceInfo, shape: Shape, threads: int = NATIVE_THREADS, tasks: int = 0) -> str:
    """Why the device cannot draw the shape natively, or ""."""
    if not info.mesh_shader or (shape.task and not info.task_shader):
        return "no VK_EXT_mesh_shader" if not info.mesh_shader else "no task shaders"
    varyings = [o for o in shape.outputs if o.kind != OutputKind.POINT_SIZE]
    per_vertex = 1 + sum(o.word < shape.vertex_words for o in varyings)
    memory = 16 * (shape.max_vertices * per_vertex + shape.max_primitives * (len(varyings) + 1 - per_vertex))
    checks = [
        (threads, info.max_mesh_invocations, "invocations a mesh workgroup"),
        (shape.max_vertices, info.max_mesh_vertices, "vertices a mesh workgroup"),
        (shape.max_primitives, info.max_mesh_primitives, "primitives a mesh workgroup"),
        (4 * (1 + len(varyings)), info.max_mesh_components, "mesh output components"),
        (memory, info.max_mesh_memory, "bytes of mesh output"),
        (tasks, 65535, "task workgroups in one dimension"),
    ]
    for needed, limit, what in checks:
        if needed > int(limit):
            return f"{needed} {what}, the limit is {int(limit)}"
    return ""


def _type(output: layout.Output) -> str:
    scalar, vector = ("uint", "uvec") if output.kind == OutputKind.FLAT else ("float", "vec")
    return scalar if output.words == 1 else f"{vector}{output.words}"


def _varyings(shape: Shape, item: Callable[[layout.Output, bool], str]) -> str:
    """item(output, per_primitive) of every varying, one after the other."""
    varyings = (o for o in shape.outputs if o.kind != OutputKind.POINT_SIZE)
    return " ".join(item(o, o.word >= shape.vertex_words) for o in varyings)


def _inputs(shape: Shape, native: bool) -> str:
    def item(o: layout.Output, per_primitive: bool) -> str:
        qualifier = "smooth" if o.kind == OutputKind.SMOOTH else "flat"
        if per_primitive and native:
            qualifier = "flat perprimitiveEXT"
        add = "add_smooth" if o.kind == OutputKind.SMOOTH else "add_flat"
        return f"X({o.location}, {qualifier}, {_type(o)}, v{o.location}, {add})"

    return f"#define INPUTS(X) {_varyings(shape, item)}\n"


def _shape_preamble(shape: Shape, threads: int) -> str:
    def vertex(o: layout.Output, per_primitive: bool) -> str:
        if per_primitive:
            return ""
        kind = "smooth" if o.kind == OutputKind.SMOOTH else "flat"
        return f"X({o.location}, {kind}, {_type(o)}, v{o.location}, {kind}{o.words}, {o.word})"

    def primitive(o: layout.Output, per_primitive: bool) -> str:
        word = o.word - shape.vertex_words
        return (
            f"X({o.location}, perprimitiveEXT, {_type(o)}, v{o.location}, primitive{o.words}, {word})"
            if per_primitive
            else ""
        )

    defines = {
        "THREADS": threads,
        "MAX_VERTICES": shape.max_vertices,
        "MAX_PRIMITIVES": shape.max_primitives,
        "VERTEX_WORDS": shape.vertex_words,
        "PRIMITIVE_WORDS": shape.primitive_words,
        "POSITION_WORD": shape.position_word,
        "CORNERS": shape.corners,
        "VERTEX_OUTPUTS(X)": _varyings(shape, vertex),
        "PRIMITIVE_OUTPUTS(X)": _varyings(shape, primitive),
    }
    if shape.task:
        defines["TASK"] = 1
    return "".join(f"#define {name} {value}\n" for name, value in defines.items())


class CopyCeiling:
    """A compute copy between two buffers: the bandwidth that shares are quoted of."""

    THREADS = 256

    def __init__(self, device: Device, size: int) -> None:
        """size: bytes of each buffer, a multiple of 16."""
        self.device, self.size = device, size
        words = compile_glsl("common/copy.comp.glsl", Stage.COMPUTE)
        self.pipeline = device.compute(words, 2, 2)
        self.source, self.to = device.buffer(size), device.buffer(size)
        device.submit(Work().fill(self.source, 0x9E3779B9))

    @property
    def bytes_moved(self) -> int:
        """Read and written by one copy."""
        return 2 * self.size

    def record(self, work: Work) -> Work:
        items = self.size // 16
        groups, row = -(-items // self.THREADS), int(self.device.info.max_workgroup_count[0])
        work.bind(self.pipeline, [self.source, self.to]).push(items, min(groups, row))
        return work.dispatch(min(groups, row), -(-groups // row))

    def close(self) -> None:
        self.device.release([self.pipeline, self.source, self.to])

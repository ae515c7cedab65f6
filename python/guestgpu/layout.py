# SPDX-License-Identifier: MIT
"""The compute fallback of mesh shaders: shapes, layouts, generated modules, the host model (include/guestgpu/layout.h).

Words are 32-bit and cross as uint32 arrays. Nothing here needs a device: `guestgpu.fallback` runs it on one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.meshes import Batch
from guestgpu.native import ffi, lib

Layout = native.enum_of("gg_layout")
Topology = native.enum_of("gg_topology")
OutputKind = native.enum_of("gg_output_kind")
Mutation = native.enum_of("gg_layout_mutation")
BufferBinding = native.enum_of("gg_layout_buffer")

Words = NDArray[np.uint32]

MESHLET = native.dtype_of("struct gg_meshlet")
TASK = native.dtype_of("struct gg_mesh_task")
TASK_RECORD = native.dtype_of("struct gg_task_record")
COMMAND = native.dtype_of("struct gg_command")

CORNERS = {Topology.TRIANGLES: 3, Topology.LINES: 2, Topology.POINTS: 1}
"""Corners of a primitive."""


@dataclass(frozen=True)
class Output:
    """One output of the vertex stage: `words` (1-4) words of the record from `word` on, at `location`."""

    kind: int
    location: int
    word: int
    words: int


@dataclass(frozen=True)
class Shape:
    """What a mesh program declares; see struct gg_mesh_shape."""

    max_vertices: int
    max_primitives: int
    vertex_words: int
    primitive_words: int = 0
    topology: int = Topology.TRIANGLES
    threads: int = 128
    position_word: int = 0
    task: bool = False
    outputs: tuple[Output, ...] = ()

    @property
    def record_words(self) -> int:
        return self.vertex_words + self.primitive_words

    @property
    def corners(self) -> int:
        """Corners of a primitive: 3, 2 or 1."""
        return CORNERS[Topology(self.topology)]

    def c(self) -> Any:
        """A `struct gg_mesh_shape *`."""
        if len(self.outputs) > lib.GG_LAYOUT_MAX_OUTPUTS:
            raise ArgumentError(f"mesh shape: {len(self.outputs)} outputs, the most is {lib.GG_LAYOUT_MAX_OUTPUTS}")
        outputs = [(o.kind, o.location, o.word, o.words) for o in self.outputs]
        return _struct(
            "struct gg_mesh_shape *",
            topology=self.topology,
            threads=self.threads,
            max_vertices=self.max_vertices,
            max_primitives=self.max_primitives,
            vertex_words=self.vertex_words,
            primitive_words=self.primitive_words,
            position_word=self.position_word,
            task=int(self.task),
            output_count=len(outputs),
            outputs=outputs,
        )


@dataclass(frozen=True)
class Options:
    """How its records are stored; see struct gg_layout_options. area_bytes 0 means 64 MiB."""

    layout: int = Layout.UNSET
    area_bytes: int = 0
    long_header: bool = False
    runtime_fit: bool = False
    census: bool = False
    mutation: int = Mutation.NONE

    def c(self) -> Any:
        """A `struct gg_layout_options *`."""
        return _struct(
            "struct gg_layout_options *",
            layout=self.layout,
            area_bytes=self.area_bytes,
            long_header=int(self.long_header),
            runtime_fit=int(self.runtime_fit),
            census=int(self.census),
            mutation=self.mutation,
        )


def _struct(ctype: str, **members: Any) -> Any:
    """A C struct of ours; a value that its members cannot hold is an ArgumentError naming the member."""
    struct = ffi.new(ctype)
    for name, value in members.items():
        try:
            setattr(struct, name, value)
        except (OverflowError, TypeError) as error:
            raise ArgumentError(f"{ctype.removesuffix(' *')}: {name}: {error}") from None
    return struct


@dataclass(frozen=True)
class Plan:
    """What follows from shape and options: the fit maths; see struct gg_layout_plan."""

    layout: int
    indexed: bool
    header_words: int
    corners: int
    record_words: int
    slot_words: int
    fit: int
    stage_bytes: int
    area_words: int
    index_word: int
    max_slots: int
    max_workgroups: int
    c: Any = field(compare=False, repr=False)

    @property
    def area_bytes(self) -> int:
        return 4 * self.area_words


def plan(shape: Shape, options: Options = Options()) -> Plan:
    """The plan. Raises ArgumentError (a member out of range) or LimitExceeded (area too small for a workgroup)."""
    c = ffi.new("struct gg_layout_plan *")
    native.call(lib.gg_layout_plan, shape.c(), options.c(), c)
    values = {name: int(getattr(c, name)) for name in Plan.__dataclass_fields__ if name != "c"}
    return Plan(**{**values, "layout": Layout(values["layout"]), "indexed": bool(values["indexed"])}, c=c)


def area_bytes_for(shape: Shape, layout: int, slots: int) -> int:
    """Bytes of an area with the long header that holds `slots` slots in any of the layouts up to `layout`'s width."""
    words = shape.record_words + int(layout == Layout.INDEXED)
    return 4 * (int(lib.GG_LAYOUT_HEADER_LONG) + slots * words)


def emit_mesh(shape: Shape, options: Options = Options()) -> Words:
    """SPIR-V of the mesh stage: fixture program and the layout's epilogue. uint32, shape (n,)."""
    return native.words(lib.gg_layout_emit_mesh, shape.c(), options.c())


def emit_vertex(shape: Shape, options: Options = Options()) -> Words:
    """SPIR-V of the generated vertex stage."""
    return native.words(lib.gg_layout_emit_vertex, shape.c(), options.c())


def emit_task() -> Words:
    """SPIR-V of the fixture's task program; one workgroup a task."""
    return native.words(lib.gg_layout_emit_task)


def emit_scan() -> Words:
    """SPIR-V of the scan that orders the tasks' workgroups; one workgroup."""
    return native.words(lib.gg_layout_emit_scan)


@dataclass(frozen=True)
class Packed:
    """Input of the fixture program, the contents of buffers 1 to 5; see pack().

    meshlets    MESHLET, shape (m,)
    vertices    uint32, shape (v, vertex_words)
    indices     uint32, shape (n,): four index bytes a word, corner 0 in the lowest byte
    primitives  uint32, shape (p, primitive_words)
    tasks       TASK, shape (t,); empty without a task stage
    """

    meshlets: NDArray[Any]
    vertices: Words
    indices: Words
    primitives: Words
    tasks: NDArray[Any] = field(default_factory=lambda: np.zeros(0, TASK))

    def c(self) -> Any:
        """A `struct gg_mesh_batch *`, and what must stay alive with it."""
        pointers = {
            "meshlets": native.pointer(self.meshlets, "struct gg_meshlet"),
            "vertices": native.pointer(self.vertices.reshape(-1), "uint32_t"),
            "indices": native.pointer(self.indices, "uint32_t"),
            "primitives": native.pointer(self.primitives.reshape(-1), "uint32_t"),
            "tasks": native.pointer(self.tasks, "struct gg_mesh_task"),
        }
        counts = {
            "meshlet_count": len(self.meshlets),
            "vertex_count": len(self.vertices),
            "index_words": len(self.indices),
            "primitive_count": len(self.primitives),
            "task_count": len(self.tasks),
        }
        return _struct("struct gg_mesh_batch *", **pointers, **counts), pointers


def pack(shape: Shape, batch: Batch, tasks: NDArray[Any] | None = None) -> Packed:
    """A batch of meshlets as the fixture's buffers hold it. tasks: see tasks_of(); None without a task stage."""
    if (batch.corners, batch.vertex_words, batch.primitive_words) != (
        shape.corners, shape.vertex_words, shape.primitive_words,
    ):  # fmt: skip
        raise ArgumentError(
            f"a batch of {batch.corners} corners, {batch.vertex_words} + {batch.primitive_words} words "
            f"for a shape of {shape.corners}, {shape.vertex_words} + {shape.primitive_words}"
        )
    meshlets = np.zeros(len(batch.meshlets), MESHLET)
    indices, vertex, index, primitive = [np.zeros(0, np.uint32)], 0, 0, 0
    for i, m in enumerate(batch.meshlets):
        words = np.zeros(-(-m.indices.size // 4), np.uint32)
        words.view(np.uint8)[: m.indices.size] = m.indices.reshape(-1)
        indices.append(words)
        meshlets[i] = (vertex, m.vertex_count, index, m.primitive_count, primitive, [0, 0, 0])
        vertex, index, primitive = vertex + len(m.vertices), index + len(words), primitive + len(m.indices)
    return Packed(
        meshlets,
        np.concatenate([np.zeros((0, shape.vertex_words), np.uint32), *(m.vertices for m in batch.meshlets)]),
        np.concatenate(indices),
        np.concatenate([np.zeros((0, shape.primitive_words), np.uint32), *(m.primitives for m in batch.meshlets)]),
        np.zeros(0, TASK) if tasks is None else tasks,
    )


def tasks_of(groups: list[tuple[int, int, int]], payloads: list[int] | None = None) -> NDArray[Any]:
    """Tasks that emit groups[t] = (x, y, z) workgroups of consecutive meshlets. TASK, shape (t,)."""
    tasks, first = np.zeros(len(groups), TASK), 0
    for t, (x, y, z) in enumerate(groups):
        tasks[t] = ([x, y, z], first, payloads[t] if payloads else t, [0, 0, 0])
        first += x * y * z
    return tasks


def workgroups(shape: Shape, batch: Packed) -> int:
    """Mesh workgroups of a batch: its meshlets, or what its tasks emit."""
    c, _alive = batch.c()
    count = ffi.new("uint64_t *")
    native.call(lib.gg_layout_model_workgroups, shape.c(), c, count)
    return int(count[0])


def reset_area(shape: Shape, options: Options, poison: int = 0) -> Words:
    """An area as the fills leave it; the rest holds `poison`. uint32, shape (area_words,)."""
    p = plan(shape, options)
    area = np.full(p.area_words, poison, np.uint32)
    for command in record_fills(p, options):
        first = int(command["offset"]) // 4
        area[first : first + int(command["size"]) // 4] = command["value"][0]
    return area


def model_mesh(
    shape: Shape, options: Options, batch: Packed, area: Words, order: NDArray[np.uint32] | None = None
) -> Words:
    """Runs the host model of the mesh stage on `area` (see reset_area), in place; returns it.

    order: workgroup numbers in the order in which they take their slots; None: 0, 1, ...
    """
    c, _alive = batch.c()
    count = 0 if order is None else len(order)
    memory = native.pointer(area, "uint32_t", writable=True)
    native.call(
        lib.gg_layout_model_mesh, shape.c(), options.c(), c, native.pointer(order, "uint32_t"), count, memory, len(area)
    )
    return area


def model_draw(shape: Shape, options: Options, area: Words) -> Words:
    """What the draw of an area fetches. uint32, shape (corners drawn, record_words), in draw order."""
    p = plan(shape, options)
    drawn = int(area[11 if p.indexed else 0])
    records = np.empty((min(drawn, p.fit), p.record_words), np.uint32)
    count = ffi.new("uint64_t *")
    memory = native.pointer(records.reshape(-1), "uint32_t", writable=True)
    native.call(
        lib.gg_layout_model_draw, shape.c(), options.c(), native.pointer(area, "uint32_t"), len(area), memory,
        max(drawn, len(records)), count,
    )  # fmt: skip
    return records[: int(count[0])]


def model_primitives(
    shape: Shape, batch: Packed, order: NDArray[np.uint32] | None = None
) -> tuple[Words, NDArray[np.uint32]]:
    """The meshlets' own corners, workgroup after workgroup, without any layout.

    Returns: records, uint32, shape (corners, record_words); the workgroup of each corner, uint32, shape (corners,).
    """
    c, _alive = batch.c()
    numbers = np.arange(workgroups(shape, batch)) if order is None else np.asarray(order)
    capacity = len(numbers) * shape.max_primitives * shape.corners
    if not shape.task:  # the real counts, known here, keep the arrays small
        meshlets = batch.meshlets[numbers]
        capacity = int(np.minimum(meshlets["primitive_count"], shape.max_primitives).sum()) * shape.corners
    records = np.empty((capacity, shape.record_words), np.uint32)
    groups = np.empty(capacity, np.uint32)
    count = ffi.new("uint64_t *")
    native.call(
        lib.gg_layout_model_primitives, shape.c(), c, native.pointer(order, "uint32_t"), len(numbers),
        native.pointer(records.reshape(-1), "uint32_t", writable=True),
        native.pointer(groups, "uint32_t", writable=True), capacity, count,
    )  # fmt: skip
    return records[: int(count[0])], groups[: int(count[0])]


def record_fills(p: Plan, options: Options, area: int = 0) -> NDArray[Any]:
    """The fills that reset the header. COMMAND, shape (n,)."""
    commands = np.zeros(lib.GG_LAYOUT_MAX_FILLS, COMMAND)
    count = ffi.new("uint32_t *")
    memory = native.pointer(commands, "struct gg_command", writable=True)
    native.call(lib.gg_layout_record_fills, p.c, options.c(), area, memory, count)
    return commands[: int(count[0])]


class Recorder:
    """What a recording thread tracks between draws: the index binding; see struct gg_layout_recorder."""

    def __init__(self) -> None:
        self._c = ffi.new("struct gg_layout_recorder *")

    def bind_index(self, buffer: int, offset: int, index_size: int) -> None:
        """The guest binds its index buffer; recorded when it draws."""
        native.call(lib.gg_layout_recorder_bind_index, self._c, buffer, offset, index_size)

    def draw_indexed(self, draw: tuple[int, int, int, int, int]) -> NDArray[Any]:
        """The guest's own indexed draw: indices, instances, first index, vertex offset, first instance."""
        return self._two(lib.gg_layout_recorder_draw_indexed, self._c, ffi.new("uint32_t[5]", draw))

    def draw_records(self, p: Plan, area: int = 0) -> NDArray[Any]:
        """The draw of the records in the area. COMMAND, shape (1 or 2,)."""
        return self._two(lib.gg_layout_recorder_draw_records, self._c, p.c, area)

    @staticmethod
    def _two(function: Any, *args: Any) -> NDArray[Any]:
        commands, count = np.zeros(2, COMMAND), ffi.new("uint32_t *")
        native.call(function, *args, native.pointer(commands, "struct gg_command", writable=True), count)
        return commands[: int(count[0])]


@dataclass(frozen=True)
class Head:
    """The record head of a stored translated program; see struct gg_layout_head."""

    layout: int
    indexed: bool
    header_words: int
    record_words: int
    stamp: int = Layout.UNSET

    @classmethod
    def of(cls, p: Plan, stamp: int = Layout.UNSET) -> Head:
        return cls(p.layout, p.indexed, p.header_words, p.record_words, stamp)

    def _c(self) -> Any:
        return _struct(
            "struct gg_layout_head *",
            layout=self.layout,
            indexed=int(self.indexed),
            header_words=self.header_words,
            record_words=self.record_words,
            stamp=self.stamp,
        )

    def to_bytes(self) -> bytes:
        data = ffi.new("uint8_t[]", lib.GG_LAYOUT_HEAD_BYTES)
        native.call(lib.gg_layout_head_write, self._c(), data)
        return bytes(ffi.buffer(data))

    @classmethod
    def from_bytes(cls, data: bytes) -> Head:
        """Raises FormatError naming what is wrong with the bytes."""
        c = ffi.new("struct gg_layout_head *")
        native.call(lib.gg_layout_head_read, ffi.from_buffer(data), len(data), c)
        return cls(Layout(c.layout), bool(c.indexed), c.header_words, c.record_words, Layout(c.stamp))

    def serves(self, layout_switch: int) -> bool:
        """Whether the stored program serves under the switch; otherwise it is translated again."""
        return bool(lib.gg_layout_head_serves(self._c(), layout_switch))


def standard_shape(words: int, max_vertices: int = 64, max_primitives: int = 124, **changes: Any) -> Shape:
    """The shape of the experiments for records of `words` words (1 to 128).

    Position first (4 words, or what there is), then one flat word (the vertex's own number), the rest smooth.
    """
    outputs = []
    if words > 4:
        outputs.append(Output(OutputKind.FLAT, 0, 4, 1))
    for location, word in enumerate(range(5, words, 4), start=1):
        outputs.append(Output(OutputKind.SMOOTH, location, word, min(4, words - word)))
    return replace(Shape(max_vertices, max_primitives, words, outputs=tuple(outputs)), **changes)

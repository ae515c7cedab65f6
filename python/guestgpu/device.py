# SPDX-License-Identifier: MIT
"""Vulkan devices: buffers, targets, pipelines and work (include/guestgpu/gpu.h).

    with Device.open("lavapipe", validation=True) as device:
        buffer = device.buffer(1024)
        pipeline = device.compute(words, storage_buffers=1)
        work = Work().bind(pipeline, [buffer]).dispatch(4)
        device.submit(work)
        data = buffer.read(np.uint32)

A device owns what was created on it and destroys it all when it closes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.native import ffi

native.gpu()  # without it this module says so at once, in one line, instead of failing piece by piece

COMMAND = native.dtype_of("struct gg_command")
Command = native.enum_of("gg_command_kind")
Stage = native.enum_of("gg_stage")
Cull = native.enum_of("gg_cull")
DeviceType = native.enum_of("gg_device_type")

Words = NDArray[np.uint32]


@dataclass(frozen=True)
class DeviceInfo:
    """One device of the loader's list; `raw` is its struct gg_device_info."""

    index: int
    name: str
    driver: str
    driver_info: str
    uuid: str
    type: str
    api: str
    raw: Any

    @property
    def software(self) -> bool:
        return self.type == "cpu"

    def __getattr__(self, name: str) -> Any:
        """Features and limits by the names of struct gg_device_info."""
        if name == "raw":
            raise AttributeError(name)
        try:
            return getattr(self.raw, name)
        except AttributeError:
            raise AttributeError(f"DeviceInfo has no {name!r}") from None

    @property
    def provenance(self) -> dict[str, str]:
        """What a result row carries about the device."""
        return {
            "uuid": self.uuid,
            "name": self.name,
            "driver": f"{self.driver} {self.driver_info}".strip(),
            "type": self.type,
            "api": self.api,
        }


def _info(c: Any) -> DeviceInfo:
    version = int(c.api_version)
    return DeviceInfo(
        index=int(c.index),
        name=ffi.string(c.name).decode(errors="replace"),
        driver=ffi.string(c.driver_name).decode(errors="replace"),
        driver_info=ffi.string(c.driver_info).decode(errors="replace"),
        uuid=bytes(c.uuid).hex(),
        type=DeviceType(c.type).name.lower(),
        api=f"{version >> 22 & 0x7F}.{version >> 12 & 0x3FF}.{version & 0xFFF}",
        raw=c,
    )


def _list() -> Any:
    count = ffi.new("uint32_t *")
    native.call(native.gpu().gg_device_list, ffi.NULL, 0, count)
    infos = ffi.new("struct gg_device_info[]", max(int(count[0]), 1))
    native.call(native.gpu().gg_device_list, infos, int(count[0]), count)
    return infos, int(count[0])


def devices() -> list[DeviceInfo]:
    """The devices there are, in the loader's order. Raises NoDevice with advice when there is no loader or driver."""
    infos, count = _list()
    return [_info(_keep(infos[i], infos)) for i in range(count)]


def _keep(item: Any, _owner: Any) -> Any:
    """A copy of an element, so that it does not depend on the array's life."""
    copy = ffi.new("struct gg_device_info *")
    copy[0] = item
    return copy


def select(selector: str | None = None) -> DeviceInfo:
    """The device that the selector names: lavapipe, hw, an index, a UUID, or part of a name. Raises NoDevice."""
    infos, count = _list()
    index = ffi.new("uint32_t *")
    text = ffi.NULL if selector is None else ffi.new("char[]", selector.encode())
    native.call(native.gpu().gg_device_select, infos, count, text, index)
    return _info(_keep(infos[int(index[0])], infos))


class Buffer:
    """A storage, index, indirect and copy buffer of `size` bytes."""

    def __init__(self, device: Device, size: int, host: bool) -> None:
        out = ffi.new("struct gg_buffer **")
        native.call(native.gpu().gg_buffer_create, device.c, size, int(host), out)
        self.c, self.size = out[0], size
        device.own(self, native.gpu().gg_buffer_destroy)

    def write(self, data: NDArray[Any], offset: int = 0) -> Self:
        """Writes the bytes of `data` at byte `offset`."""
        flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        if len(flat):
            native.call(native.gpu().gg_buffer_write, self.c, offset, ffi.from_buffer(flat), len(flat))
        return self

    def read(self, dtype: Any = np.uint32, count: int | None = None, offset: int = 0) -> NDArray[Any]:
        """`count` items of `dtype` (None: to the end) from byte `offset` on."""
        size = (self.size - offset) // np.dtype(dtype).itemsize if count is None else count
        data = np.empty(size, dtype)
        if data.nbytes:
            flat = data.view(np.uint8).reshape(-1)
            native.call(
                native.gpu().gg_buffer_read, self.c, offset, ffi.from_buffer(flat, require_writable=True), data.nbytes
            )
        return data


class Target:
    """RGBA32F colour images, and a depth image when asked for."""

    def __init__(self, device: Device, width: int, height: int, colors: int, depth: bool) -> None:
        out = ffi.new("struct gg_target **")
        native.call(native.gpu().gg_target_create, device.c, width, height, colors, int(depth), out)
        self.c, self.width, self.height, self.colors, self.depth = out[0], width, height, colors, depth
        device.own(self, native.gpu().gg_target_destroy)

    def read(self, color: int = 0) -> NDArray[np.float32]:
        """One colour image. float32, shape (height, width, 4), rows from the top."""
        pixels = np.empty((self.height, self.width, 4), np.float32)
        memory = native.pointer(pixels.reshape(-1), "float", writable=True)
        native.call(native.gpu().gg_target_read, self.c, color, memory)
        return pixels


class PipelineParams(NamedTuple):
    """See struct gg_pipeline_params."""

    modules: tuple[tuple[int, Words], ...]
    storage_buffers: int = 0
    push_words: int = 0
    topology: int = 0
    colors: int = 0
    depth: bool = False
    cull: int = 0
    provoking_last: bool = False
    restart: bool = False
    subgroup: int = 0

    def to_c(self) -> tuple[Any, Any]:
        """A `struct gg_pipeline_params *`, and what must stay alive with it."""
        arrays = [np.ascontiguousarray(words, np.uint32) for _, words in self.modules]
        pointers = [native.pointer(a, "uint32_t") for a in arrays]
        modules = ffi.new("struct gg_module[]", len(arrays))
        for i, (stage, _) in enumerate(self.modules):
            modules[i].stage, modules[i].words, modules[i].word_count = stage, pointers[i], len(arrays[i])
        c = ffi.new("struct gg_pipeline_params *")
        c.modules, c.module_count = modules, len(arrays)
        for name in self._fields[1:]:
            setattr(c, name, int(getattr(self, name)))
        return c, (arrays, pointers, modules)


class Pipeline:
    """Compute, vertex + fragment, or [task +] mesh + fragment, by its modules."""

    def __init__(self, device: Device, params: PipelineParams) -> None:
        out, (c, _alive) = ffi.new("struct gg_pipeline **"), params.to_c()
        native.call(native.gpu().gg_pipeline_create, device.c, c, out)
        self.c, self.params = out[0], params
        device.own(self, native.gpu().gg_pipeline_destroy)


class Work:
    """Commands as data, with the tables that they number. Methods append and return the work itself."""

    def __init__(self) -> None:
        self._commands: list[NDArray[Any]] = []
        self._tables: dict[type, list[Any]] = {Buffer: [], Pipeline: [], Target: []}
        self._numbers: dict[int, int] = {}
        self.timestamps = 0
        self.statistics = 0

    def number(self, thing: Buffer | Pipeline | Target) -> int:
        """The object's number in its table; it enters the table when it is new."""
        if id(thing) not in self._numbers:
            table = self._tables[type(thing)]
            self._numbers[id(thing)] = len(table)
            table.append(thing)
        return self._numbers[id(thing)]

    def table(self, kind: type) -> list[Any]:
        return self._tables[kind]

    def array(self) -> NDArray[Any]:
        """COMMAND, shape (n,)."""
        return np.concatenate([np.zeros(0, COMMAND), *self._commands])

    def extend(self, commands: NDArray[Any]) -> Self:
        """Appends recorded commands whose numbers are this work's."""
        self._commands.append(commands)
        return self

    def _add(self, kind: int, value: Sequence[int] = (), **members: int) -> Self:
        command = np.zeros(1, COMMAND)
        command["kind"] = kind
        if len(value) > command["value"].shape[1]:
            raise ArgumentError(f"{Command(kind).name}: {len(value)} values, the most is {command['value'].shape[1]}")
        command["value"][0, : len(value)] = value
        command["bindings"] = len(value)
        for name, member in members.items():
            command[name] = member
        return self.extend(command)

    def fill(self, buffer: Buffer, value: int = 0, offset: int = 0, size: int | None = None) -> Self:
        size = buffer.size - offset if size is None else size
        return self._add(Command.FILL, [value], buffer=self.number(buffer), offset=offset, size=size)

    def copy(self, source: Buffer, to: Buffer, size: int, offset: int = 0, to_offset: int = 0) -> Self:
        return self._add(
            Command.COPY,
            buffer=self.number(source),
            other=self.number(to),
            offset=offset,
            other_offset=to_offset,
            size=size,
        )

    def barrier(self) -> Self:
        return self._add(Command.BARRIER)

    def bind(self, pipeline: Pipeline, buffers: Iterable[Buffer] = ()) -> Self:
        command = np.zeros(1, COMMAND)
        numbers = [self.number(b) for b in buffers]
        command["kind"], command["pipeline"], command["bindings"] = Command.BIND, self.number(pipeline), len(numbers)
        command["binding"][0, : len(numbers)] = numbers
        return self.extend(command)

    def push(self, *values: int) -> Self:
        return self._add(Command.PUSH, values)

    def dispatch(self, x: int, y: int = 1, z: int = 1) -> Self:
        return self._add(Command.DISPATCH, [x, y, z])

    def dispatch_indirect(self, buffer: Buffer, offset: int) -> Self:
        return self._add(Command.DISPATCH_INDIRECT, buffer=self.number(buffer), offset=offset)

    def begin_render(self, target: Target, clear: tuple[float, float, float, float] = (0, 0, 0, 0)) -> Self:
        bits = np.array(clear, np.float32).view(np.uint32).tolist()
        return self._add(Command.BEGIN_RENDER, bits, pipeline=self.number(target))

    def end_render(self) -> Self:
        return self._add(Command.END_RENDER)

    def draw(self, vertices: int, instances: int = 1) -> Self:
        return self._add(Command.DRAW, [vertices, instances, 0, 0])

    def draw_mesh(self, x: int, y: int = 1, z: int = 1) -> Self:
        return self._add(Command.DRAW_MESH, [x, y, z])

    def timestamp(self) -> Self:
        """Writes the next slot once all earlier commands are done."""
        self.timestamps += 1
        return self._add(Command.TIMESTAMP, [self.timestamps - 1])

    def begin_statistics(self) -> Self:
        self.statistics += 1
        return self._add(Command.BEGIN_STATISTICS, [self.statistics - 1])

    def end_statistics(self) -> Self:
        return self._add(Command.END_STATISTICS, [self.statistics - 1])


@dataclass(frozen=True)
class Done:
    """What a submission brings back.

    timestamps  uint64 ticks, shape (slots,), already masked to the device's valid bits
    statistics  struct gg_statistics, shape (slots,)
    host_ns     submission to signalled fence, by the host's clock
    """

    timestamps: NDArray[np.uint64]
    statistics: NDArray[Any]
    host_ns: int


class Device:
    """An opened device. Close it, or use it as a context manager."""

    def __init__(self, info: DeviceInfo, validation: bool = False) -> None:
        params = ffi.new("struct gg_device_params *", {"index": info.index, "validation": int(validation)})
        out = ffi.new("struct gg_device **")
        native.call(native.gpu().gg_device_create, params, out)
        self.c, self.info, self.validation = out[0], info, validation
        self._owned: list[tuple[Any, Any]] = []

    @classmethod
    def open(cls, selector: str | None = None, validation: bool = False) -> Device:
        """Opens the device that the selector names; see select()."""
        return cls(select(selector), validation)

    def own(self, thing: Any, destroy: Any) -> None:
        self._owned.append((thing, destroy))

    def owned(self) -> list[Any]:
        """What was created on the device and still lives, oldest first."""
        return [thing for thing, _ in self._owned]

    def release(self, things: Iterable[Any]) -> None:
        """Destroys objects before the device closes."""
        gone = {id(t) for t in things}
        kept = []
        for thing, destroy in self._owned:
            if id(thing) in gone:
                destroy(thing.c)
                thing.c = ffi.NULL
            else:
                kept.append((thing, destroy))
        self._owned = kept

    def close(self) -> None:
        """Destroys everything on the device, and it; a second call does nothing."""
        if self.c == ffi.NULL:
            return
        for thing, destroy in reversed(self._owned):
            destroy(thing.c)
            thing.c = ffi.NULL
        self._owned.clear()
        native.gpu().gg_device_destroy(self.c)
        self.c = ffi.NULL

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def buffer(self, size: int, host: bool = False) -> Buffer:
        return Buffer(self, size, host)

    def buffer_of(self, data: NDArray[Any], host: bool = False) -> Buffer:
        """A buffer with the bytes of `data`; of 4 bytes when there are none, since Vulkan has no empty buffers."""
        return Buffer(self, max(data.nbytes, 4), host).write(data)

    def target(self, width: int, height: int, colors: int = 1, depth: bool = False) -> Target:
        return Target(self, width, height, colors, depth)

    def pipeline(self, params: PipelineParams) -> Pipeline:
        return Pipeline(self, params)

    def compute(self, words: Words, storage_buffers: int, push_words: int = 0, subgroup: int = 0) -> Pipeline:
        """subgroup: the size of the pipeline's subgroups, all of them full; 0 leaves it to the driver."""
        return Pipeline(self, PipelineParams(((Stage.COMPUTE, words),), storage_buffers, push_words, subgroup=subgroup))

    def executables(self, params: PipelineParams) -> str:
        """Lines "executable<TAB>statistic<TAB>value" of a pipeline. Raises Unsupported where the device has none."""
        c, _alive = params.to_c()
        text = ffi.new("char **")
        native.call(native.gpu().gg_pipeline_executables, self.c, c, text)
        return native.take_string(text[0])

    def validation_control(self) -> str:
        """Provokes the validation layer; returns what it said. Raises when it said nothing: it is asleep."""
        message = ffi.new("char **")
        result = native.gpu().gg_device_validation_control(self.c, message)
        if result != native.lib.GG_OK:
            native.check(result, message)
        return "" if message[0] == ffi.NULL else native.take_string(message[0])

    def submit(self, work: Work, timeout_s: float = 60.0) -> Done:
        """Runs the commands and waits. Raises ArgumentError naming the command, DeviceLost, DeviceTimeout, …"""
        commands = work.array()
        tables = {}
        for kind, ctype in (
            (Buffer, "struct gg_buffer *[]"),
            (Pipeline, "struct gg_pipeline *[]"),
            (Target, "struct gg_target *[]"),
        ):
            tables[kind] = ffi.new(ctype, [thing.c for thing in work.table(kind)])
        pointer = native.pointer(commands, "struct gg_command")
        c = ffi.new("struct gg_work *")
        c.commands, c.command_count = pointer, len(commands)
        c.buffers, c.buffer_count = tables[Buffer], len(tables[Buffer])
        c.pipelines, c.pipeline_count = tables[Pipeline], len(tables[Pipeline])
        c.targets, c.target_count = tables[Target], len(tables[Target])
        c.timestamp_count, c.statistics_count = work.timestamps, work.statistics
        c.timeout_ns = int(timeout_s * 1e9)
        timestamps = np.zeros(work.timestamps, np.uint64)
        statistics = np.zeros(work.statistics, native.dtype_of("struct gg_statistics"))
        host = ffi.new("uint64_t *")
        native.call(
            native.gpu().gg_device_submit, self.c, c,
            native.pointer(timestamps, "uint64_t", writable=True) if len(timestamps) else ffi.NULL,
            native.pointer(statistics, "struct gg_statistics", writable=True) if len(statistics) else ffi.NULL,
            host,
        )  # fmt: skip
        return Done(timestamps, statistics, int(host[0]))

    def nanoseconds(self, ticks_from: int, ticks_to: int) -> int:
        """The time between two timestamps, across a wrap of the counter."""
        bits = int(self.info.timestamp_bits)
        return round(((int(ticks_to) - int(ticks_from)) & ((1 << bits) - 1)) * float(self.info.timestamp_period))


def compile_glsl(path: str, stage: int, preamble: str = "") -> Words:
    """SPIR-V of a kernel, by its path below kernels/. `preamble` is inserted after its #version line.

    Raises CompileError with shaderc's message.
    """
    folder = native.kernels_folder()
    file = folder / path
    if not file.is_file():
        raise ArgumentError(f"no kernel {path} in {folder}")
    return compile_glsl_text(file.read_text(), path, stage, preamble)


def compile_glsl_text(source: str, name: str, stage: int, preamble: str = "") -> Words:
    """Like compile_glsl, of source text; `name` stands in messages."""
    include = str(native.kernels_folder() / "include")
    args = [ffi.new("char[]", text.encode()) for text in (source, name)]
    return native.words(
        native.gpu().gg_glsl_compile,
        *args,
        stage,
        ffi.new("char[]", include.encode()),
        ffi.new("char[]", preamble.encode()),
    )


def validate_spirv(words: Words) -> None:
    """Raises ValidationError with spirv-val's message."""
    data = np.ascontiguousarray(words, np.uint32)
    native.call(native.gpu().gg_spirv_validate, native.pointer(data, "uint32_t"), len(data))


def disassemble_spirv(words: Words) -> str:
    """The module as text."""
    data, text = np.ascontiguousarray(words, np.uint32), ffi.new("char **")
    native.call(native.gpu().gg_spirv_disassemble, native.pointer(data, "uint32_t"), len(data), text)
    return native.take_string(text[0])


def versions() -> str:
    """Versions of what is built in or was found."""
    text = ffi.new("char **")
    native.check(native.gpu().gg_gpu_versions(text))
    return native.take_string(text[0])

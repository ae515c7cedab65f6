# SPDX-License-Identifier: MIT
"""A pool in a device's memory, a pattern in every resource of it, and what the device asks for (gpu_memory.h)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.device import Buffer, Device, Stage, Work, compile_glsl
from guestgpu.errors import GuestGpuError, LimitExceeded
from guestgpu.native import ffi
from guestgpu.pool import Kind, Place, Pool
from guestgpu.suballoc import Kind as ResourceKind
from guestgpu.suballoc import Options, Profile, Resource, Usage, allocation_info

QUERY = native.dtype_of("struct gg_memory_query")
NEED = native.dtype_of("struct gg_memory_need")
FILL = 0xA5A5A5A5
"""What every word of a block holds before a pattern is written."""
GROUPS_X = 4096


class DevicePool(Pool):
    """A pool whose blocks are device memory, each with a buffer over all of it. Close it before its device."""

    def __init__(self, device: Device, block_size: int = 0, max_blocks: int = 0, host: bool = False) -> None:
        out = ffi.new("struct gg_backing **")
        native.call(native.gpu().gg_backing_create, device.c, int(host), out)
        self._backing, self.device = out[0], device
        hooks = [ffi.addressof(native.gpu(), name) for name in ("gg_backing_block_create", "gg_backing_block_destroy")]
        granularity = limits(device)["buffer_image_granularity"]
        given = {"user": self._backing, "block_create": hooks[0], "block_destroy": hooks[1]}
        try:
            super().__init__(block_size, granularity, max_blocks, hooks=given)
        except GuestGpuError:
            native.gpu().gg_backing_destroy(self._backing)
            raise

    def close(self) -> None:
        """Destroys pool and memory."""
        super().close()
        native.gpu().gg_backing_destroy(self._backing)
        self._backing = ffi.NULL

    def allocate(self, size: int, alignment: int = 16, kind: int = Kind.BUFFER) -> Place:
        """Raises as Pool.allocate() does, and says why where the device had no memory."""
        try:
            return super().allocate(size, alignment, kind)
        except GuestGpuError as error:
            text = native.gpu().gg_backing_take_failure(self._backing)
            if text == ffi.NULL:
                raise
            raise type(error)(f"{error}: {native.take_string(text)}") from None

    def buffer(self, block: int) -> Buffer:
        """The buffer over a block; it lives as long as the block."""
        made = Buffer.__new__(Buffer)
        made.c, made.size = native.gpu().gg_backing_buffer(self._backing, block), self.blocks().get(block, 0)
        if made.c == ffi.NULL:
            raise LimitExceeded(f"device pool: there is no block {block}")
        return made


def limits(device: Device) -> dict[str, int]:
    """See struct gg_memory_limits."""
    found = ffi.new("struct gg_memory_limits *")
    native.check(native.gpu().gg_device_memory_limits(device.c, found))
    return {name: int(getattr(found, name)) for name, _ in ffi.typeof(found).item.fields}


def needs(device: Device, queries: NDArray[Any]) -> NDArray[Any]:
    """What the device asks for, NEED, for queries of dtype QUERY. Raises ArgumentError for what cannot be."""
    found = np.zeros(len(queries), NEED)
    native.call(
        native.gpu().gg_device_memory_needs, device.c, native.pointer(queries, "struct gg_memory_query"), len(queries),
        native.pointer(found, "struct gg_memory_need", writable=True),
    )  # fmt: skip
    return found


@dataclass(frozen=True)
class Pattern:
    """What patterns() saw: words that differ on the device, and on the host, inside and outside of the ranges."""

    resources: int
    blocks: int
    words: int
    wrong_on_device: int
    wrong_on_host: int
    wrong_outside: int
    first: str

    @property
    def intact(self) -> bool:
        return not (self.wrong_on_device or self.wrong_on_host or self.wrong_outside)


def pattern(seed: NDArray[np.uint32], word: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The words that kernels/suballoc/pattern.comp.glsl writes."""
    with np.errstate(over="ignore"):
        h = seed * np.uint32(0x9E3779B1) + word
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))


def patterns(pool: DevicePool, places: dict[Place, int]) -> Pattern:
    """Writes a pattern into each resource {place: bytes, a multiple of 4} on the device, and looks at all of it.

    All blocks are filled before; a resource that shares bytes with another, or lies elsewhere, leaves wrong words.
    Raises LimitExceeded where a block is larger than the device lets a shader see at once.
    """
    device = pool.device
    largest, most = max(pool.blocks().values(), default=0), int(device.info.max_storage_range)
    if largest > most:
        raise LimitExceeded(f"pattern: a block of {largest} bytes, the device's storage buffers end at {most}")
    pipeline = device.compute(compile_glsl("suballoc/pattern.comp.glsl", Stage.COMPUTE), 3, push_words=3)
    words_seen = on_device = on_host = outside = 0
    first = ""
    by_block: dict[int, list[tuple[int, int, int]]] = {block: [] for block in pool.blocks()}
    for seed, (place, size) in enumerate(places.items(), 1):
        by_block[place.block].append((place.offset // 4, size // 4, seed))
    made: list[Any] = [pipeline]
    for block, rows in by_block.items():
        table = np.zeros((len(rows), 4), np.uint32)
        table[:, :3] = np.array(rows, np.uint32).reshape(-1, 3)
        buffer = pool.buffer(block)
        ranges, wrong = device.buffer_of(table), device.buffer(max(4 * len(rows), 4))
        work = Work().fill(buffer, FILL).fill(wrong, 0).barrier().bind(pipeline, [buffer, ranges, wrong])
        grid = (min(len(rows), GROUPS_X), -(-len(rows) // GROUPS_X))
        if rows:
            work.push(len(rows), GROUPS_X, 0).dispatch(*grid).barrier()
            work.push(len(rows), GROUPS_X, 1).dispatch(*grid)
        device.submit(work)
        counts = wrong.read(np.uint32, len(rows)) if rows else np.zeros(0, np.uint32)
        words = buffer.read(np.uint32)
        wanted, inside = np.full(len(words), FILL, np.uint32), np.zeros(len(words), bool)
        starts, lengths, seeds = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]
        ordinal = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = np.repeat(starts, lengths) + ordinal
        wanted[at] = pattern(np.repeat(seeds, lengths), ordinal.astype(np.uint32))
        inside[at] = True
        differ = words != wanted
        words_seen += len(at)
        on_device += int(counts.sum())
        # Of words that two have, the last one's pattern is wanted: they are wrong whatever they hold.
        on_host += int((differ & inside).sum()) + int(len(at) - inside.sum())
        outside += int((differ & ~inside).sum())
        if not first and differ.any():
            word = int(np.flatnonzero(differ)[0])
            first = f"block {block}, offset {4 * word}: {words[word]:08x}, not {wanted[word]:08x}"
        elif not first and counts.any():
            row = rows[int(np.flatnonzero(counts)[0])]
            first = f"block {block}, offset {4 * row[0]}: words of resource {row[2]} differ on the device"
        made += [ranges, wrong]
    device.release(made)
    return Pattern(len(places), len(by_block), words_seen, on_device, on_host, outside, first)


def tiny_load(pool: DevicePool, count: int, seed: int) -> dict[Place, int]:
    """`count` resources as an application has after a while: tiny by far the most, with floors by use, some freed."""
    rng = np.random.default_rng(seed)
    live: dict[Place, int] = {}
    floors = np.array([8] * 20 + [16] * 35 + [64] * 7 + [128] * 3 + [256] * 35)
    while len(live) < count:
        batch = min(count - len(live) + count // 10, 20_000)
        sizes = np.where(rng.random(batch) < 0.97, rng.integers(8, 129, batch), rng.integers(129, 8192, batch)) * 4
        for size, floor in zip(sizes.tolist(), rng.choice(floors, batch).tolist(), strict=True):
            live[pool.allocate(size, floor)] = size
        gone = rng.permutation(len(live))[: max(len(live) - count, batch // 10)]
        places = list(live)
        for i in gone.tolist():
            pool.free(places[i])
            del live[places[i]]
    return live


# Vulkan's numbers: usages of buffers and images, formats.
_BUFFER = {"uniform": 0x10, "storage": 0x20, "index": 0x40, "vertex": 0x80, "any": 0x1FF}
_SAMPLED, _COLOR, _DEPTH = 0x6, 0x10, 0x20
_RGBA8, _BC1, _RGBA16F, _D32 = 37, 131, 97, 126


@dataclass(frozen=True)
class Asked:
    """A buffer or image to ask about: `query`, a tuple of dtype QUERY, and the same for the rules."""

    name: str
    query: tuple[int, ...]
    resource: Resource


def _buffer(usage: str, size: int) -> Asked:
    query = (size, 0, 0, 0, 0, 0, 0, _BUFFER[usage], 0)
    return Asked(f"{usage} buffer of {size}", query, Resource(ResourceKind.BUFFER, size))


def _texture(name: str, format_: int, size: tuple[int, int], mips: int = 1, samples: int = 1, usage: int = _SAMPLED,
             linear: int = 0, block: tuple[int, int] = (1, 4)) -> Asked:  # fmt: skip
    flags = Usage.RENDER_TARGET if usage == _COLOR else Usage.DEPTH_STENCIL if usage == _DEPTH else 0
    kind = ResourceKind.MSAA if samples > 1 else ResourceKind.TEXTURE
    resource = Resource(
        kind, *size, mips=mips, samples=samples, usage=flags, block_width=block[0], block_height=block[0],
        block_bytes=block[1],
    )  # fmt: skip
    text = f"{name} {size[0]}x{size[1]}"
    text += (f", {mips} mips" if mips > 1 else "") + (f", {samples}x" if samples > 1 else "")
    return Asked(text, (size[0], size[1], 1, 1, mips, samples, format_, usage, linear), resource)


ASKED = [
    *(_buffer(usage, size) for usage in _BUFFER for size in (4, 100, 4096, 65540)),
    _texture("RGBA8", _RGBA8, (16, 16)),
    _texture("RGBA8", _RGBA8, (64, 64), mips=7),
    _texture("RGBA8", _RGBA8, (512, 512), mips=10),
    _texture("RGBA8 linear", _RGBA8, (64, 64), linear=1),
    _texture("BC1", _BC1, (256, 256), mips=9, block=(4, 8)),
    _texture("RGBA16F target", _RGBA16F, (1920, 1080), usage=_COLOR, block=(1, 8)),
    _texture("D32 target", _D32, (1920, 1080), usage=_DEPTH),
    _texture("RGBA8 target", _RGBA8, (128, 128), samples=4, usage=_COLOR),
    _texture("RGBA8 target", _RGBA8, (1920, 1080), samples=4, usage=_COLOR),
]
"""What compare() asks a device."""


def compare(device: Device) -> list[dict[str, Any]]:
    """For each of ASKED what the device needs and what the rules say: size and alignment, None where it has no such."""
    found = needs(device, np.array([asked.query for asked in ASKED], QUERY))
    rules = {}
    for name, usage in (("classic", 0), ("tight", Usage.TIGHT)):
        resources = [_with(asked.resource, usage) for asked in ASKED]
        rules[name] = allocation_info(resources, Options(Profile.named("tight-8"))).infos
    rows = []
    for i, asked in enumerate(ASKED):
        row: dict[str, Any] = {"resource": asked.name}
        exists = int(found[i]["size"]) > 0
        row |= {f"device {key}": int(found[i][key]) if exists else None for key in ("size", "alignment")}
        for name, infos in rules.items():
            row |= {f"{name} {key}": int(infos[i][key]) for key in ("size", "alignment")}
        rows.append(row)
    return rows


def _with(resource: Resource, usage: int) -> Resource:
    return replace(resource, usage=resource.usage | usage)


def profile(device: Device, apart: bool = False) -> Profile:
    """The device as a Vulkan profile, whose answer is the largest of rule, driver and granularity.

    Its alignments are the largest that the device asks for among ASKED of each kind. `apart`: buffers and linear images
    share no granule with others, as in a pool, so that granularity binds nobody.
    """
    found = needs(device, np.array([asked.query for asked in ASKED], QUERY))
    largest = dict.fromkeys((ResourceKind.BUFFER, ResourceKind.TEXTURE, ResourceKind.MSAA), 1)
    for asked, need in zip(ASKED, found, strict=True):
        largest[asked.resource.kind] = max(largest[asked.resource.kind], int(need["alignment"]))
    return Profile(
        tier=1,
        msaa_64k=1,
        buffer_alignment=largest[ResourceKind.BUFFER],
        texture_alignment=largest[ResourceKind.TEXTURE],
        msaa_alignment=largest[ResourceKind.MSAA],
        granularity=1 if apart else limits(device)["buffer_image_granularity"],
    )

# SPDX-License-Identifier: MIT
"""The placement rules: which size and alignment a resource gets (include/guestgpu/suballoc_rules.h).

A refusal is an answer: look at `Allocation.verdict`. What is raised is misuse: options or profiles that make no sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.native import ffi, lib

Kind = native.enum_of("gg_suballoc_kind")
TextureLayout = native.enum_of("gg_suballoc_layout")
Placement = native.enum_of("gg_suballoc_placement")
Usage = native.enum_of("gg_suballoc_usage")
Use = native.enum_of("gg_suballoc_use")
Verdict = native.enum_of("gg_suballoc_verdict")
Severity = native.enum_of("gg_suballoc_severity")
Mode = native.enum_of("gg_suballoc_mode")
Sdk = native.enum_of("gg_suballoc_sdk")
ViolationKind = native.enum_of("gg_suballoc_violation_kind")

RESOURCE = native.dtype_of("struct gg_suballoc_resource")
INFO = native.dtype_of("struct gg_suballoc_info")
NOTE = native.dtype_of("struct gg_suballoc_note")
ITEM = native.dtype_of("struct gg_suballoc_answer")
_VIOLATION = native.dtype_of("struct gg_suballoc_violation")

FAILED_SIZE = int(lib.GG_SUBALLOC_FAILED_SIZE)
"""What a refused query reports as its size."""

SDKS = {"1.619.4": Sdk.V619, "1.618": Sdk.V618}
"""Versions of the rules by name."""


@dataclass(frozen=True)
class Resource:
    """A description; see struct gg_suballoc_resource. `volume`: depth_or_layers is the depth of a 3D texture."""

    kind: int
    width: int
    height: int = 1
    depth_or_layers: int = 1
    volume: bool = False
    mips: int = 1
    samples: int = 1
    layout: int = TextureLayout.UNKNOWN
    usage: int = 0
    placement: int = Placement.PLACED
    block_width: int = 1
    block_height: int = 1
    block_bytes: int = 1
    alignment: int = 0


@dataclass(frozen=True)
class Profile:
    """A device whose driver is a few numbers; see struct gg_suballoc_profile."""

    tier: int = 0
    interface_version: int = 0
    msaa_64k: int = 0
    buffer_alignment: int = 0
    texture_alignment: int = 0
    msaa_alignment: int = 0
    granularity: int = 0
    large_page: int = 0

    @classmethod
    def named(cls, name: str) -> Profile:
        """A profile that C knows by name; ArgumentError lists them."""
        if name not in profile_names():
            raise ArgumentError(f"no profile {name!r}: there are {', '.join(profile_names())}")
        c = ffi.new("struct gg_suballoc_profile *")
        native.call(lib.gg_suballoc_profile, name.encode(), c)
        return cls(**{f.name: int(getattr(c, f.name)) for f in fields(cls)})


def profile_names() -> list[str]:
    """The profiles that C knows."""
    names: list[str] = []
    while (name := lib.gg_suballoc_profile_name(len(names))) != ffi.NULL:
        names.append(ffi.string(name).decode())
    return names


@dataclass(frozen=True)
class Options:
    """Which rules, on which device; see struct gg_suballoc_options. `profile` None: "tight"."""

    profile: Profile | None = None
    sdk: int = Sdk.V619
    mode: int = Mode.SPEC
    small_msaa: bool = False
    reserved_buffers: bool = False

    def c(self) -> tuple[Any, Any]:
        """A `struct gg_suballoc_options *`, and what must stay alive with it."""
        profile = ffi.NULL
        if self.profile is not None:
            profile = _struct("struct gg_suballoc_profile *", self.profile)
        options = ffi.new("struct gg_suballoc_options *", {"profile": profile})
        _fill(options, {f.name: getattr(self, f.name) for f in fields(self) if f.name != "profile"})
        return options, profile


def _struct(ctype: str, source: Any) -> Any:
    struct = ffi.new(ctype)
    _fill(struct, {f.name: getattr(source, f.name) for f in fields(source)})
    return struct


def _fill(struct: Any, members: dict[str, Any]) -> None:
    for name, value in members.items():
        try:
            setattr(struct, name, int(value))
        except (OverflowError, TypeError, ValueError) as error:
            raise ArgumentError(f"{name}: {error}") from None


@dataclass(frozen=True)
class Note:
    """Information, a warning or an error about resource `index`."""

    severity: int
    verdict: int
    index: int

    def __str__(self) -> str:
        return f"resource {self.index}: {Severity(self.severity).name.lower()}: {verdict_text(self.verdict)}"


def verdict_text(verdict: int) -> str:
    """A verdict in words."""
    return str(ffi.string(lib.gg_suballoc_verdict_string(verdict)).decode())


@dataclass(frozen=True)
class Allocation:
    """Where a list of resources goes. infos: INFO, shape (n,); refused: size 2^64 - 1, and index says which first."""

    size: int
    alignment: int
    verdict: int
    index: int
    best_size: int
    saved: int
    infos: NDArray[Any] = field(compare=False)
    notes: tuple[Note, ...]


def pack(resources: Sequence[Resource]) -> NDArray[Any]:
    """Descriptions as C reads them. RESOURCE, shape (n,); ArgumentError names the member that does not fit."""
    packed = np.zeros(len(resources), RESOURCE)
    assert RESOURCE.names is not None
    for i, resource in enumerate(resources):
        for name in RESOURCE.names:
            try:
                packed[i][name] = int(getattr(resource, name))
            except (OverflowError, TypeError, ValueError) as error:
                raise ArgumentError(f"resource {i}: {name}: {error}") from None
    return packed


def allocation_info(resources: Sequence[Resource] | NDArray[Any], options: Options = Options()) -> Allocation:
    """Sizes, alignments and offsets of a list: Resources, or an array of RESOURCE for many."""
    packed = resources if isinstance(resources, np.ndarray) else pack(resources)
    infos, notes = np.zeros(len(packed), INFO), np.zeros(2 * len(packed) + 1, NOTE)
    total, count = ffi.new("struct gg_suballoc_total *"), ffi.new("uint32_t *")
    c, _alive = options.c()
    native.call(
        lib.gg_suballoc_allocation_info, native.pointer(packed, "struct gg_suballoc_resource"), len(packed), c,
        native.pointer(infos, "struct gg_suballoc_info", writable=True), total,
        native.pointer(notes, "struct gg_suballoc_note", writable=True), len(notes), count,
    )  # fmt: skip
    said = tuple(Note(int(n["severity"]), int(n["verdict"]), int(n["index"])) for n in notes[: count[0]])
    info = total.info
    return Allocation(
        info.size, info.alignment, info.verdict, info.index, total.best_size, total.saved, infos, said
    )  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """The first step of the question: what the driver is asked; see struct gg_suballoc_limits."""

    verdict: int
    restriction: int
    minimum: int
    maximum: int
    tiles: int
    small: bool
    tight: bool
    overrides: bool
    resource_flags: int
    heap_flags: int


def limits(resource: Resource, options: Options = Options()) -> Limits:
    """What the runtime makes of a description, before the driver answers."""
    c, _alive = options.c()
    found = ffi.new("struct gg_suballoc_limits *")
    packed = pack([resource])
    native.call(lib.gg_suballoc_limits, native.pointer(packed, "struct gg_suballoc_resource"), c, found)
    query = found.query
    return Limits(
        found.verdict, query.restriction, found.minimum, query.maximum, found.tiles, bool(found.small),
        bool(found.tight), bool(found.overrides), query.resource_flags, query.heap_flags,
    )  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Items laid out as a C struct; order: the indices with the largest alignment first, which takes best_size."""

    size: int
    alignment: int
    offsets: NDArray[np.uint64]
    order: NDArray[np.uint32]
    best_size: int
    saved: int


def lay_out(items: Sequence[tuple[int, int]]) -> Layout:
    """Lays out items of (size, alignment) in the order given. Errors name the item."""
    packed = np.zeros(len(items), ITEM)
    for i, item in enumerate(items):
        try:
            packed[i] = item
        except (OverflowError, TypeError, ValueError) as error:
            raise ArgumentError(f"lay out: item {i}: {error}") from None
    offsets, order = np.zeros(len(items), np.uint64), np.zeros(len(items), np.uint32)
    total = ffi.new("struct gg_suballoc_total *")
    native.call(
        lib.gg_suballoc_lay_out, native.pointer(packed, "struct gg_suballoc_answer"), len(items),
        native.pointer(offsets, "uint64_t", writable=True), native.pointer(order, "uint32_t", writable=True), total,
    )  # fmt: skip
    return Layout(total.info.size, total.info.alignment, offsets, order, total.best_size, total.saved)


def floor(uses: int) -> int:
    """The alignment to request for a buffer with these uses (bits of Use)."""
    found = ffi.new("uint32_t *")
    native.call(lib.gg_suballoc_floor, uses, found)
    return int(found[0])


def heap_alignment(*, msaa: bool = False, implicit: bool = False) -> int:
    """Of a heap that may hold MSAA textures, or of a committed resource's implicit one."""
    return int(lib.gg_suballoc_heap_alignment(int(msaa), int(implicit)))


@dataclass(frozen=True)
class Violation:
    """What a driver did wrong: its answer to `resource`, and what it should have been, or the most of it."""

    kind: int
    resource: Resource
    size: int
    alignment: int
    wanted: int

    def __str__(self) -> str:
        name = ViolationKind(self.kind).name.lower().replace("_", " ")
        r = self.resource
        what = f"{Placement(r.placement).name.lower()} {Kind(r.kind).name.lower()} {r.width}"
        if r.kind != Kind.BUFFER:
            what += f" x {r.height} x {r.depth_or_layers}, {r.block_bytes} bytes, {max(r.samples, 1)} samples"
        return (
            f"{name}: {what}, usage {r.usage:#x}, requested {r.alignment}: "
            f"size {self.size}, alignment {self.alignment}, wanted {self.wanted}"
        )


@dataclass(frozen=True)
class Conformance:
    """cases: resources asked about; violations: how many; first: the first of them."""

    cases: int
    violations: int
    first: tuple[Violation, ...]


def conform(options: Options = Options(), capacity: int = 100) -> Conformance:
    """Runs the conformance suite against the driver of the options' profile."""
    c, _alive = options.c()
    return conform_c(c, capacity)


def conform_c(options: Any, capacity: int = 100) -> Conformance:
    """The same for a `struct gg_suballoc_options *`, whose profile may have a callback."""
    found, room = ffi.new("struct gg_suballoc_conformance *"), np.zeros(capacity, _VIOLATION)
    memory = native.pointer(room, "struct gg_suballoc_violation", writable=True)
    native.call(lib.gg_suballoc_conform, options, memory, capacity, found)
    first = tuple(
        Violation(
            int(v["kind"]), unpack(v["resource"]), int(v["answer"]["size"]), int(v["answer"]["alignment"]),
            int(v["wanted"]),
        )
        for v in room[: found.violations]
    )  # fmt: skip
    return Conformance(found.cases, found.violations, first)


def unpack(record: Any) -> Resource:
    """The description in one record of a RESOURCE array."""
    members = {f.name: int(record[f.name]) for f in fields(Resource) if f.name != "volume"}
    return Resource(volume=bool(record["volume"]), **members)

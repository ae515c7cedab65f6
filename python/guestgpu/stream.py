# SPDX-License-Identifier: MIT
"""PM4 command streams through csrc/drawcache/pm4.c: packets with the names of what they set, and dispatches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.native import ffi, lib


class Window(NamedTuple):
    """A piece of guest memory: `bytes` starts at `address`."""

    address: int
    bytes: NDArray[np.uint8]


class Register(NamedTuple):
    """A register that a packet has set; `number` is its byte address / 4."""

    number: int
    name: str
    value: int


@dataclass(frozen=True)
class Dispatch:
    """struct gg_pm4_dispatch of drawcache.h, right after the packet that starts it."""

    address: int
    """Guest address of the packet."""
    program: int
    indirect: int
    scratch: int
    groups: tuple[int, int, int]
    first_group: tuple[int, int, int]
    threads: tuple[int, int, int]
    partial: tuple[int, int, int]
    initiator: int
    rsrc1: int
    rsrc2: int
    rsrc3: int
    resource_limits: int
    tmpring_size: int
    user_data: tuple[int, ...]
    user_sgprs: int
    wave: int
    vgprs: int
    lds_bytes: int
    scratch_bytes: int
    known: bool


@dataclass(frozen=True)
class Packet:
    """One packet; `words` has its header."""

    address: int
    depth: int
    type: int
    opcode: int
    name: str
    words: tuple[int, ...]
    effect: Any
    registers: tuple[Register, ...]
    target: int
    """Guest address of the buffer in which reading goes on, or 0."""
    dispatch: Dispatch | None


@cache
def register_name(index: int) -> str:
    """ "COMPUTE_PGM_RSRC1" for 0x2E12; hex where it has none."""
    name = ffi.new("char[]", lib.GG_PM4_NAME_BYTES)
    lib.gg_pm4_register_name(index, name)
    return str(ffi.string(name).decode())


@cache
def opcode_name(opcode: int) -> str:
    """ "SET_SH_REG" for 0x76; hex where it has none."""
    name = lib.gg_pm4_opcode_name(opcode)
    return f"0x{opcode:02X}" if name == ffi.NULL else str(ffi.string(name).decode())


class Stream:
    """One queue: its registers stay from one buffer to the next."""

    def __init__(self) -> None:
        out = ffi.new("struct gg_pm4_stream **")
        native.call(lib.gg_pm4_create, out)
        self._c = ffi.gc(out[0], lib.gg_pm4_destroy, lib.GG_PM4_REGISTERS * 5)
        self._effects = native.enum_of("gg_pm4_effect")

    def register(self, index: int) -> int | None:
        """The value of a register, or None while nothing has written it."""
        value, written = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        native.call(lib.gg_pm4_register, self._c, index, value, written)
        return int(value[0]) if written[0] else None

    def read(self, windows: Sequence[Window], address: int, word_count: int) -> Iterator[Packet]:
        """The packets of word_count words at a guest address, indirect buffers followed.

        Raises FormatError where a packet is cut off, or leads out of the windows; LimitExceeded where buffers are
        nested too deep or chained in a ring.
        """
        c_windows = ffi.new("struct gg_guest_window[]", len(windows))
        kept = [ffi.from_buffer(window.bytes) for window in windows]
        for c, window, memory in zip(c_windows, windows, kept, strict=True):
            c.address, c.size, c.host = window.address, len(window.bytes), memory
        native.call(lib.gg_pm4_begin, self._c, c_windows, len(windows), address, word_count)
        packet = ffi.new("struct gg_pm4_packet *")
        while True:
            native.call(lib.gg_pm4_next, self._c, packet)
            if packet.effect == self._effects.END:
                return
            yield self._packet(packet)

    def _packet(self, c: Any) -> Packet:
        effect = self._effects(c.effect)
        words = tuple(ffi.unpack(c.words, c.word_count))
        registers = []
        for i in range(c.first_register, c.first_register + c.register_count):
            registers.append(Register(i, register_name(i), self.register(i) or 0))
        return Packet(
            address=c.address,
            depth=c.depth,
            type=c.type,
            opcode=c.opcode,
            name=opcode_name(c.opcode) if c.type == 3 else f"TYPE{c.type}",
            words=words,
            effect=effect,
            registers=tuple(registers),
            target=c.target,
            dispatch=self._dispatch(c.address) if effect == self._effects.DISPATCH else None,
        )

    def _dispatch(self, address: int) -> Dispatch:
        c = ffi.new("struct gg_pm4_dispatch *")
        native.call(lib.gg_pm4_dispatch, self._c, c)
        members: dict[str, Any] = {}
        for name, member in ffi.typeof("struct gg_pm4_dispatch").fields:
            members[name] = tuple(getattr(c, name)) if member.type.kind == "array" else getattr(c, name)
        members["known"] = bool(members["known"])
        return Dispatch(address=address, **members)

# SPDX-License-Identifier: MIT
"""What the packets between dispatches do to memory: carried out on guest memory, or refused by name.

The formats are those of gfx10.3. Registers are kept by the stream itself (csrc/drawcache/pm4.c).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Protocol

from guestgpu import errors
from guestgpu.stream import Packet


class Guest(Protocol):
    """Guest memory as packets see it."""

    def read(self, address: int, size: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...


HARMLESS = frozenset({
    "NOP", "TYPE0", "TYPE2", "SET_BASE", "CLEAR_STATE", "CONTEXT_CONTROL", "ACQUIRE_MEM", "SURFACE_SYNC", "PFP_SYNC_ME",
    "PRIME_UTCL2", "INDIRECT_BUFFER", "INDIRECT_BUFFER_CONST", "INDEX_BUFFER_SIZE", "INDEX_BASE", "INDEX_TYPE",
    "NUM_INSTANCES", "CONTEXT_REG_RMW", "SET_CONFIG_REG", "SET_CONTEXT_REG", "SET_SH_REG", "SET_SH_REG_INDEX",
    "SET_UCONFIG_REG", "SET_UCONFIG_REG_INDEX", "LOAD_SH_REG_INDEX", "LOAD_CONTEXT_REG_INDEX",
    "DISPATCH_DIRECT", "DISPATCH_INDIRECT",
})  # fmt: skip
"""Packets that do nothing to memory; what they do to registers the stream does."""


def taken_from_memory(packet: Packet) -> tuple[int, int] | None:
    """Address and size of what the stream's reader itself takes out of memory for a packet."""
    match packet.name:
        case "DISPATCH_INDIRECT" if packet.dispatch is not None:
            return packet.dispatch.indirect, 12
        case "COPY_DATA":
            return _address(packet.words[2], packet.words[3]), 8 if packet.words[1] >> 16 & 1 else 4
        case "LOAD_SH_REG_INDEX" | "LOAD_CONTEXT_REG_INDEX":
            return _address(packet.words[1] & ~3, packet.words[2]), 4 * (packet.words[4] & 0x3FFF)
        case "INDIRECT_BUFFER" | "INDIRECT_BUFFER_CONST":
            return packet.target, 4 * (packet.words[3] & 0xFFFFF)
    return None


def carry_out(packet: Packet, memory: Guest) -> None:
    """The packet's effect on memory. Raises Unsupported, naming the packet and what it does, for what is not done."""
    if packet.words[0] & 1 and packet.type == 3:
        raise refused(packet, "is predicated")
    if packet.effect.name == "DRAW":
        raise refused(packet, "draws")
    if packet.name in HARMLESS:
        return
    action = _ACTIONS.get(packet.name)
    if action is None:
        raise refused(packet, "is not replayed")
    try:
        action(packet, packet.words[1:], memory)
    except IndexError:
        raise errors.FormatError(_text(packet, "has too few words")) from None
    except errors.ArgumentError as error:  # from memory
        raise errors.FormatError(_text(packet, str(error))) from None


def refused(packet: Packet, why: str) -> errors.Unsupported:
    return errors.Unsupported(_text(packet, why))


def _text(packet: Packet, why: str) -> str:
    return f"packet {packet.name} at {packet.address:#x}: {why}"


def _address(low: int, high: int) -> int:
    """The upper 16 bits of an address are copies of bit 47, whatever the packet has there."""
    address = (high << 32 | low) & (1 << 48) - 1
    return address | 0xFFFF << 48 if address >> 47 else address


_TO_REGISTER, _TO_MEMORY = (0,), (1, 2, 5)


def _write_data(packet: Packet, body: Sequence[int], memory: Guest) -> None:
    control, target = body[0], _address(body[1], body[2])
    data = struct.pack(f"<{len(body) - 3}I", *body[3:])
    to = control >> 8 & 0xF
    if to not in _TO_MEMORY:
        raise refused(packet, f"writes to destination {to}, not to memory")
    if control >> 16 & 1:
        data = data[-4:]  # all words to one address: the last stays
    memory.write(target, data)


def _copy_data(packet: Packet, body: Sequence[int], memory: Guest) -> None:
    control, source, target = body[0], _address(body[1], body[2]), _address(body[3], body[4])
    size, take, to = 8 if control >> 16 & 1 else 4, control & 0xF, control >> 8 & 0xF
    if to in _TO_REGISTER and take in (1, 2, 5):
        return  # by the stream
    if to not in _TO_MEMORY:
        raise refused(packet, f"copies from source {take} to destination {to}")
    if take == 5:
        memory.write(target, struct.pack("<II", body[1], body[2])[:size])
    elif take in (1, 2):
        memory.write(target, memory.read(source, size))
    else:  # registers, counters, clocks
        raise refused(packet, f"copies from source {take}, which nothing here has, to memory")


def _dma_data(packet: Packet, body: Sequence[int], memory: Guest) -> None:
    control, command = body[0], body[5]
    source, target, size = _address(body[1], body[2]), _address(body[3], body[4]), command & 0x3FFFFFF
    take, to = control >> 29 & 3, control >> 20 & 3
    if to == 2:
        return  # into the cache only
    if command >> 26 & 0xF or to == 1 or take == 1:
        raise refused(packet, "moves registers or GDS, or stays at one address")
    if not size:
        return
    if take == 2:
        if size % 4:
            raise refused(packet, f"fills {size} bytes")
        memory.write(target, struct.pack("<I", body[1]) * (size // 4))
    else:
        memory.write(target, memory.read(source, size))


def _event_write(packet: Packet, body: Sequence[int], _: Guest) -> None:
    if len(body) > 1:
        raise refused(packet, f"writes counters of event {body[0] & 0x3F} to memory")


def _release_mem(packet: Packet, body: Sequence[int], memory: Guest) -> None:
    kind = body[1] >> 29 & 7
    if kind in (1, 2):
        memory.write(_address(body[2], body[3]), struct.pack("<II", body[4], body[5])[: 4 * kind])
    elif kind:
        raise refused(packet, f"writes data of kind {kind}, a clock or counter, to memory")


_COMPARISONS: tuple[Callable[[int, int], bool], ...] = (
    lambda a, b: True, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a == b,
    lambda a, b: a != b, lambda a, b: a >= b, lambda a, b: a > b, lambda a, b: False,
)  # fmt: skip


def _wait(packet: Packet, body: Sequence[int], memory: Guest) -> None:
    if body[0] >> 4 & 3 != 1:
        raise refused(packet, "waits for a register")
    (value,) = struct.unpack("<I", memory.read(_address(body[1] & ~3, body[2]), 4))
    if not _COMPARISONS[body[0] & 7](value & body[4], body[3]):
        raise refused(packet, f"waits for memory that holds {value:#x}, which nothing would change")


def _predication(packet: Packet, body: Sequence[int], _: Guest) -> None:
    if body[0] >> 16 & 7:
        raise refused(packet, "turns predication on")


_ACTIONS: dict[str, Callable[[Packet, Sequence[int], Guest], None]] = {
    "WRITE_DATA": _write_data,
    "COPY_DATA": _copy_data,
    "DMA_DATA": _dma_data,
    "EVENT_WRITE": _event_write,
    "RELEASE_MEM": _release_mem,
    "WAIT_REG_MEM": _wait,
    "SET_PREDICATION": _predication,
}

# SPDX-License-Identifier: MIT
"""The placement rules a second time, from the text and not from the C: slow, plain, with Python's endless integers.

Everything is spelled out case by case, and no table or formula is shared with csrc/suballoc.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
NOTHING = 2**64 - 1

RENDER_TARGET, DEPTH_STENCIL, CROSS_ADAPTER, TIGHT = 1, 2, 16, 0x400

# Standard swizzle's tiles, as the documentation of tiled resources lists them: element bytes -> texels.
TILE_2D = {1: (64, 64), 2: (64, 32), 4: (32, 32), 8: (32, 16), 16: (16, 16)}  # 4 KiB
TILE_3D = {1: (16, 16, 16), 2: (8, 16, 16), 4: (8, 16, 8), 8: (8, 8, 8), 16: (4, 8, 8)}  # 4 KiB
TILE_MSAA = {  # 64 KiB: samples -> element bytes -> texels
    2: {1: (128, 256), 2: (128, 128), 4: (64, 128), 8: (64, 64), 16: (32, 64)},
    4: {1: (128, 128), 2: (128, 64), 4: (64, 64), 8: (64, 32), 16: (32, 32)},
    8: {1: (64, 128), 2: (64, 64), 4: (32, 64), 8: (32, 32), 16: (16, 32)},
    16: {1: (64, 64), 2: (64, 32), 4: (32, 32), 8: (32, 16), 16: (16, 16)},
}


@dataclass(frozen=True)
class Device:
    tier: int = 0
    interface_version: int = 0
    msaa_64k: int = 0
    buffer_alignment: int = 0
    texture_alignment: int = 0
    msaa_alignment: int = 0
    granularity: int = 0
    large_page: int = 0


@dataclass(frozen=True)
class Rules:
    device: Device
    old_sdk: bool = False
    native: bool = False
    small_msaa: bool = False
    reserved_buffers: bool = False


@dataclass(frozen=True)
class Described:
    width: int
    alignment: int
    kind: int
    height: int
    depth_or_layers: int
    volume: int
    mips: int
    samples: int
    layout: int
    usage: int
    placement: int
    block_width: int
    block_height: int
    block_bytes: int


@dataclass(frozen=True)
class Result:
    verdict: str
    size: int
    alignment: int
    raised: bool = False


def power_of_two(n: int) -> bool:
    return n > 0 and bin(n).count("1") == 1


def up(n: int, unit: int) -> int:
    return (n + unit - 1) // unit * unit


def blocks(extent: int, block: int) -> int:
    return -(-extent // (block or 1))


def full_chain(d: Described) -> int:
    extents = [d.width, d.height] + ([d.depth_or_layers] if d.volume else [])
    count = 1
    while any(extent > 1 for extent in extents):
        extents = [max(1, extent // 2) for extent in extents]
        count += 1
    return count


def texels(d: Described) -> int:
    """Bytes of all mips and layers."""
    if d.kind == 0:
        return d.width
    width, height, depth, total = d.width, d.height, d.depth_or_layers, 0
    for _ in range(d.mips or (1 if d.kind == 2 else full_chain(d))):
        total += (
            blocks(width, d.block_width) * blocks(height, d.block_height) * depth * d.block_bytes * (d.samples or 1)
        )
        width, height = max(1, width // 2), max(1, height // 2)
        if d.volume:
            depth = max(1, depth // 2)
    return total


def shape_fault(d: Described) -> str:
    if (
        d.kind not in (0, 1, 2)
        or d.layout not in (0, 1, 2, 3)
        or d.placement not in (0, 1, 2)
        or d.volume not in (0, 1)
    ):
        return "DESCRIPTION"
    if d.usage - (d.usage & RENDER_TARGET) - (d.usage & DEPTH_STENCIL) - (d.usage & CROSS_ADAPTER) - (d.usage & TIGHT):
        return "DESCRIPTION"
    if d.width == 0 or (d.kind and (d.height == 0 or d.depth_or_layers == 0)):
        return "ZERO_DIMENSION"
    if d.kind == 0:
        others = (d.height, d.depth_or_layers, d.mips, d.samples, d.block_width, d.block_height, d.block_bytes)
        if d.volume or any(other not in (0, 1) for other in others):
            return "BUFFER_SHAPE"
    else:
        if not 1 <= d.block_bytes <= 16 or d.block_width > 16 or d.block_height > 16:
            return "FORMAT"
        if d.kind == 2 and (d.block_width not in (0, 1) or d.block_height not in (0, 1)):
            return "FORMAT"
        if d.kind == 2 and (d.samples not in (2, 4, 8, 16) or d.volume):
            return "SAMPLES"
        if d.kind == 1 and d.samples not in (0, 1):
            return "SAMPLES"
        if d.mips > (1 if d.kind == 2 else full_chain(d)):
            return "MIPS"
    return "SIZE_OVERFLOW" if texels(d) >= NOTHING else ""


def is_small(d: Described, rules: Rules) -> bool:
    if d.kind == 0 or d.layout != 0:
        return False
    element = next(size for size in (1, 2, 4, 8, 16) if size >= d.block_bytes)
    attachment = bool(d.usage & RENDER_TARGET) or bool(d.usage & DEPTH_STENCIL)
    if d.kind == 2:
        if not rules.device.msaa_64k or attachment != rules.small_msaa:
            return False
        width, height = TILE_MSAA[d.samples][element]
        return -(-d.width // width) * -(-d.height // height) * d.depth_or_layers * 64 * KIB <= 4 * MIB
    if attachment:
        return False
    if d.volume:
        width, height, depth = TILE_3D[element]
    else:
        (width, height), depth = TILE_2D[element], 1
    columns = -(-blocks(d.width, d.block_width) // width)
    rows = -(-blocks(d.height, d.block_height) // height)
    return columns * rows * -(-d.depth_or_layers // depth) * 4 * KIB <= 64 * KIB


def largest(kind: int) -> int:
    return 4 * MIB if kind == 2 else 64 * KIB


def answer(d: Described, rules: Rules) -> Result:
    """Verdict, size and alignment of one resource."""

    def refuse(verdict: str) -> Result:
        return Result(verdict, NOTHING, largest(d.kind))

    device = rules.device
    if fault := shape_fault(d):
        return refuse(fault)
    flag, committed, reserved = bool(d.usage & TIGHT), d.placement == 1, d.placement == 2
    shared, small, asked = bool(d.usage & CROSS_ADAPTER), is_small(d, rules), d.alignment
    if flag:
        if device.tier == 0 or 0 < device.interface_version < 111:
            return refuse("TIGHT_UNSUPPORTED")
        if d.layout in (2, 3):
            return refuse("TIGHT_SWIZZLE")
        if reserved and not (d.kind == 0 and rules.reserved_buffers):
            return refuse("TIGHT_RESERVED")

    # The table: the least and the most that there can be.
    effective = flag and not shared and not reserved
    if effective and d.kind == 0:
        low, high = (4 * KIB, 4 * KIB) if committed else (8, 256)
    elif effective and d.kind == 1:
        low, high = (4 * KIB if committed else 8), (4 * KIB if small else 64 * KIB)
    elif effective:
        low, high = (4 * KIB if committed else 8), (64 * KIB if small else 4 * MIB)
    else:
        low = high = largest(d.kind)

    # The requested alignment.
    own_only, raised, least = False, False, low
    if asked:
        if flag and rules.old_sdk:
            return refuse("FLOOR_UNSUPPORTED")
        if not power_of_two(asked):
            return refuse("NOT_POWER_OF_TWO")
        if asked > high:
            page = effective and committed and asked == device.large_page
            if not page and not device.granularity:
                return refuse("ABOVE_MAXIMUM")
            own_only = True
        elif flag:
            raised = asked < low
            if not raised and not rules.native:
                least = asked
        elif asked < high:
            if d.kind == 0 or asked != (4 * KIB if d.kind == 1 else 64 * KIB):
                return refuse("NOT_QUALIFIED")
            if small:
                least = asked
            elif d.kind == 1:
                raised = True
            else:
                return refuse("NOT_QUALIFIED")

    # The device.
    wish = (device.buffer_alignment, device.texture_alignment, device.msaa_alignment)[d.kind]
    given = least
    if device.granularity:
        wish = max(wish, device.granularity)
        if not flag and wish > least:
            wish = max(wish, largest(d.kind))
        given = max(least, wish)
    elif flag:
        if wish == 0 or (small and effective):
            wish = min(wish or high, high)
        given = max(least, wish)
    size = texels(d)
    sees_implicit = committed and (device.interface_version == 0 or device.interface_version >= 115)
    if flag and not shared and sees_implicit and device.large_page and size % device.large_page == 0:
        given = max(given, device.large_page)

    if d.kind or not flag:
        size = up(size, given)
        if size > NOTHING:
            return refuse("SIZE_OVERFLOW")

    # The check.
    page = effective and committed and given == device.large_page and size % given == 0
    if given > high and not device.granularity and not page:
        return refuse("DRIVER_ALIGNMENT")
    if own_only and given != asked:
        return refuse("ABOVE_MAXIMUM")
    if d.kind == 0 and not effective:
        size = up(size, 64 * KIB)
        if size > NOTHING:
            return refuse("SIZE_OVERFLOW")
    return Result("OK", size, given, raised)


def lay_out(items: list[tuple[int, int]]) -> tuple[int, int, list[int]]:
    """Size, alignment and offsets of (size, alignment) members of a C struct."""
    at, offsets = 0, []
    for size, alignment in items:
        at = up(at, alignment)
        offsets.append(at)
        at += up(size, alignment)
    widest = max((alignment for _, alignment in items), default=1)
    return up(at, widest), widest, offsets

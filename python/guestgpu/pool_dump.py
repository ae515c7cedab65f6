# SPDX-License-Identifier: MIT
"""What lies where in the blocks of a pool, as JSON that can be read again.

The format is the public GpuMemDump of Vulkan Memory Allocator and D3D12 Memory Allocator, so that dumps of applications
that use those can be read, and their tools read ours. Two things are ours: padding is a free range by the name of
"padding", and an MSAA image has the custom data "msaa".
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guestgpu.errors import FormatError
from guestgpu.pool import Kind, Pool

FREE, PADDING = "free", "padding"
KINDS = ("buffer", "linear image", "optimal image", "msaa image", "unknown", PADDING, FREE)
"""What a range can be."""

_TYPES = {"BUFFER": "buffer", "IMAGE_LINEAR": "linear image", "IMAGE_OPTIMAL": "optimal image", "FREE": FREE}
_NAMES = {kind: type_ for type_, kind in _TYPES.items()} | {"msaa image": "IMAGE_OPTIMAL", PADDING: "FREE"}
_MOST_BYTES = 1 << 50


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes [offset, offset + size) of a block."""

    offset: int
    size: int
    kind: str
    name: str = ""


@dataclass(frozen=True)
class Block:
    """A block, all of it in ranges by offset."""

    name: str
    size: int
    ranges: list[Range]


@dataclass(frozen=True)
class Label:
    """What the owner of a resource knows of it, and the pool does not."""

    size: int
    kind: int = Kind.BUFFER
    name: str = ""


@dataclass(frozen=True)
class Dump:
    """Blocks, and who they are of."""

    source: str
    blocks: list[Block] = field(default_factory=list)

    def stats(self) -> dict[str, float]:
        """Bytes by kind, `capacity`, `live` ranges, `largest_free`, and `fragmentation`: 1 - largest_free / free."""
        sizes: Counter[str] = Counter()
        live, largest = 0, 0
        for _, range_ in self:
            sizes[range_.kind] += range_.size
            live += range_.kind not in (FREE, PADDING)
            largest = max(largest, range_.size if range_.kind == FREE else 0)
        found: dict[str, float] = {kind: sizes[kind] for kind in KINDS}
        found |= {"capacity": sizes.total(), "live": live, "largest_free": largest}
        found["fragmentation"] = 1 - largest / sizes[FREE] if sizes[FREE] else 0.0
        return found

    def __iter__(self) -> Iterator[tuple[Block, Range]]:
        return ((block, range_) for block in self.blocks for range_ in block.ranges)


def take(pool: Pool, labels: Mapping[tuple[int, int], Label], source: str = "guestgpu pool") -> Dump:
    """What lies in a pool now. `labels` of resources by block and offset, as far as they are known."""
    blocks = []
    live: dict[int, list[Range]] = {}
    for row in pool.walk().tolist():
        offset, size, block = row[:3]
        label = labels.get((block, offset), Label(size, -1))
        kind = KINDS[label.kind] if label.kind >= 0 else "unknown"
        live.setdefault(block, []).append(Range(offset, label.size, kind, label.name))
        if label.size < size:  # the rest of a slot
            live[block].append(Range(offset + label.size, size - label.size, PADDING, PADDING))
    for number, size in pool.blocks().items():
        blocks.append(Block(str(number), size, _with_free(live.get(number, []), size)))
    return Dump(source, blocks)


def _with_free(ranges: list[Range], size: int) -> list[Range]:
    """The ranges, and between them what nobody has."""
    found, at = [], 0
    for range_ in ranges:
        if range_.offset > at:
            found.append(Range(at, range_.offset - at, FREE))
        found.append(range_)
        at = range_.offset + range_.size
    if at < size:
        found.append(Range(at, size - at, FREE))
    return found


def to_json(dump: Dump) -> dict[str, Any]:
    """The dump as GpuMemDump has it."""
    blocks = {block.name: _block_json(block.size, block.ranges) for block in dump.blocks}
    return {
        "General": {"API": "Vulkan", "GPU": dump.source},
        "Total": _stats_json(dump.blocks),
        "MemoryInfo": {},
        "DefaultPools": {
            "pool": {
                "PreferredBlockSize": max((block.size for block in dump.blocks), default=0),
                "Blocks": blocks,
                "DedicatedAllocations": [],
            }
        },
    }


def _stats_json(blocks: list[Block]) -> dict[str, int]:
    live = [r.size for block in blocks for r in block.ranges if _NAMES.get(r.kind) != "FREE"]
    unused = [r.size for block in blocks for r in block.ranges if _NAMES.get(r.kind) == "FREE"]
    stats = {
        "BlockCount": len(blocks),
        "BlockBytes": sum(block.size for block in blocks),
        "AllocationCount": len(live),
        "AllocationBytes": sum(live),
        "UnusedRangeCount": len(unused),
    }
    for name, sizes in (("AllocationSize", live), ("UnusedRangeSize", unused)):
        if sizes:
            stats |= {f"{name}Min": min(sizes), f"{name}Max": max(sizes)}
    return stats


def _block_json(size: int, ranges: list[Range]) -> dict[str, Any]:
    stats = _stats_json([Block("", size, ranges)])
    rows = []
    for range_ in ranges:
        row: dict[str, Any] = {
            "Offset": range_.offset,
            "Type": _NAMES.get(range_.kind, "UNKNOWN"),
            "Size": range_.size,
        }
        if range_.kind == "msaa image":
            row["CustomData"] = "msaa"
        if range_.name:
            row["Name"] = range_.name
        rows.append(row)
    return {
        "TotalBytes": size,
        "UnusedBytes": size - stats["AllocationBytes"],
        "Allocations": stats["AllocationCount"],
        "UnusedRanges": stats["UnusedRangeCount"],
        "Suballocations": rows,
    }


def save(dump: Dump, path: Path) -> None:
    """Writes it as JSON."""
    path.write_text(json.dumps(to_json(dump)) + "\n", encoding="utf-8")


def load(path: Path) -> Dump:
    """Reads a dump of ours, or of an application. Raises FormatError, which names the block and what is wrong."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:  # ValueError: also integers of 5,000 digits
        raise FormatError(f"{path}: no JSON: {error}") from None
    return from_json(content, str(path))


def from_json(content: Any, where: str) -> Dump:
    """The dump that a JSON value is; `where` begins the messages. Raises FormatError."""
    top = _object(content, where)
    general = _object(top.get("General", {}), f"{where}: General")
    blocks: list[Block] = []
    for name, pool in _object(top.get("DefaultPools", {}), f"{where}: DefaultPools").items():
        blocks += _pool(_object(pool, f"{where}: {name}"), f"{where}: {name}", _prefix(name))
    for name, pools in _object(top.get("CustomPools", {}), f"{where}: CustomPools").items():
        for i, pool in enumerate(_list(pools, f"{where}: {name}")):
            at = f"{where}: {name}: pool {i}"
            blocks += _pool(_object(pool, at), at, f"{name} {_text(pool.get('Name', i), at)}: ")
    if not blocks and "DefaultPools" not in top and "CustomPools" not in top:
        raise FormatError(f"{where}: neither DefaultPools nor CustomPools: a dump without its detailed map?")
    return Dump(_text(general.get("GPU", "?"), f"{where}: GPU"), blocks)


def _prefix(name: str) -> str:
    return "" if name == "pool" else f"{name}: "


def _pool(pool: dict[str, Any], where: str, prefix: str) -> Iterator[Block]:
    for name, block in _object(pool.get("Blocks", {}), f"{where}: Blocks").items():
        yield _block(_object(block, f"{where}: block {name}"), f"{where}: block {name}", prefix + name)
    for i, alone in enumerate(_list(pool.get("DedicatedAllocations", []), f"{where}: DedicatedAllocations")):
        at = f"{where}: dedicated allocation {i}"
        row = _object(alone, at)
        size = _number(row, "Size", at, 1)
        yield Block(f"{prefix}dedicated {i}", size, [_range(row, at, 0, size)])


def _block(block: dict[str, Any], where: str, name: str) -> Block:
    size, ranges = _number(block, "TotalBytes", where, 1), []
    if "Suballocations" not in block:
        raise FormatError(f"{where}: no Suballocations: a dump without its detailed map?")
    for i, entry in enumerate(_list(block["Suballocations"], f"{where}: Suballocations")):
        at = f"{where}: range {i}"
        row = _object(entry, at)
        range_ = _range(row, at, _number(row, "Offset", at, 0), _number(row, "Size", at, 1))
        if range_.offset + range_.size > size:
            raise FormatError(f"{at}: [{range_.offset}, +{range_.size}) reaches beyond the block's {size} bytes")
        ranges.append(range_)
    ranges.sort(key=lambda r: r.offset)
    for before, after in itertools.pairwise(ranges):
        if before.offset + before.size > after.offset:
            raise FormatError(f"{where}: ranges at {before.offset} and {after.offset} overlap")
    return Block(name, size, _with_free(ranges, size))


def _range(row: dict[str, Any], where: str, offset: int, size: int) -> Range:
    kind = _TYPES.get(_text(row.get("Type", ""), f"{where}: Type"), "unknown")
    name = _text(row.get("Name", ""), f"{where}: Name")
    if kind == FREE and name == PADDING:
        kind = PADDING
    if kind == "optimal image" and row.get("CustomData") == "msaa":
        kind = "msaa image"
    return Range(offset, size, kind, name)


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{where}: an object was expected, not {type(value).__name__}")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{where}: a list was expected, not {type(value).__name__}")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str | int):
        raise FormatError(f"{where}: a text was expected, not {type(value).__name__}")
    return str(value)[:200]


def _number(row: dict[str, Any], name: str, where: str, least: int) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST_BYTES:
        raise FormatError(f"{where}: {name}: {value!s:.40} is no integer of {least} to 2^50")
    return value

# SPDX-License-Identifier: MIT
"""Captures: what an unmodified Vulkan application submits to a fake AMD GPU, recorded by csrc/capture, and read here.

A capture file holds buffers, page-table changes, memory that the CPU changed, and submissions, in order; `Capture`
replays it, so that at each submission its memory stands as the hardware would see it. What the GPU itself would
have written is not there: nothing is executed while recording. The format is described in csrc/capture/capture.h.
"""

from __future__ import annotations

import os
import struct
import subprocess
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import errors
from guestgpu.stream import Dispatch, Packet, Stream, Window

MAGIC = b"GGCAPTUR"
VERSION = 1
MAX_BUFFER_BYTES = 4 << 32  # as csrc/capture/recorder.c
_PAGE = 4096


class CaptureError(errors.FormatError):
    """A capture file that is damaged, or of another version; the text names file, record and offset."""


class NoGuestDriver(errors.NoDevice):
    """The machine lacks what stands in for an AMD GPU, or a guest compiler; the text names it."""


class Kind(IntEnum):
    """enum record_kind of csrc/capture/capture.h."""

    INFO = 1
    BUFFER = 2
    FREE = 3
    VA = 4
    MEMORY = 5
    SUBMIT = 6
    NOTE = 7
    END = 8


class Operation(IntEnum):
    """AMDGPU_VA_OP_*."""

    MAP = 1
    UNMAP = 2
    CLEAR = 3
    REPLACE = 4


class Ip(IntEnum):
    """AMDGPU_HW_IP_*: the hardware blocks whose rings read PM4, and those that do not."""

    GFX = 0
    COMPUTE = 1
    DMA = 2
    UVD = 3
    VCE = 4
    UVD_ENC = 5
    VCN_DEC = 6
    VCN_ENC = 7
    VCN_JPEG = 8
    VPE = 9


# ---- the file ----

_HEADER = struct.Struct("<8sII")
_RECORD = struct.Struct("<IIQ")
_BUFFER = struct.Struct("<IIQQQ")
_VA = struct.Struct("<IIIIQQQ")
_MEMORY = struct.Struct("<IIII")
_SUBMIT = struct.Struct("<IIII")
_IB = struct.Struct("<QIIIIII")
_END = struct.Struct("<QQ")


@dataclass(frozen=True)
class Record:
    """One record of a file: `offset` is that of its head."""

    number: int
    offset: int
    kind: Kind
    payload: memoryview


def checksum(kind: int, payload: bytes | memoryview) -> int:
    """zlib's CRC-32 of kind, size and payload."""
    return zlib.crc32(payload, zlib.crc32(struct.pack("<IQ", kind, len(payload))))


def read_records(data: bytes, name: str) -> list[Record]:
    """All records of a file's bytes, every checksum compared. `name` stands in messages."""
    if len(data) < _HEADER.size or data[:8] != MAGIC:
        raise CaptureError(f"{name}: no capture: it does not begin with {MAGIC.decode()}")
    _, version, reserved = _HEADER.unpack_from(data)
    if version != VERSION or reserved:
        raise CaptureError(f"{name}: version {version} of the format, and this is guestgpu for version {VERSION}")
    records: list[Record] = []
    offset, view = _HEADER.size, memoryview(data)
    while offset < len(data):
        where = f"{name}: record {len(records)} at offset {offset}"
        if len(data) - offset < _RECORD.size:
            raise CaptureError(f"{where} is cut off: {len(data) - offset} bytes of its head of {_RECORD.size}")
        kind, stored, size = _RECORD.unpack_from(data, offset)
        begin = offset + _RECORD.size
        if size > len(data) - begin:
            raise CaptureError(f"{where} is cut off: {len(data) - begin} bytes of its {size}")
        payload = view[begin : begin + size]
        if checksum(kind, payload) != stored:
            raise CaptureError(f"{where} is damaged: its checksum is {checksum(kind, payload):#x}, not {stored:#x}")
        if kind not in Kind.__members__.values() or size % 8:
            raise CaptureError(f"{where}: kind {kind} of {size} bytes is none of this version")
        records.append(Record(len(records), offset, Kind(kind), payload))
        offset = begin + size
    return records


# ---- memory ----


@dataclass(frozen=True, order=True)
class Range:
    """A range of guest addresses, and where it lies in which buffer (0: memory that was not recorded)."""

    address: int
    size: int
    buffer: int
    offset: int


class Memory:
    """A device's address space as its page table has it, over buffers."""

    def __init__(self) -> None:
        self._mappings: list[Range] = []
        self._sizes: dict[int, int] = {}
        self._contents: dict[int, NDArray[np.uint8]] = {}
        self.changed: set[int] = set()
        """Buffers into which something was written; whoever keeps a copy of them takes them out."""

    def mappings(self) -> list[Range]:
        """In the order of addresses; they do not overlap."""
        return list(self._mappings)

    def windows(self) -> list[Window]:
        """The mapped memory that was recorded, each range whole, without a copy."""
        return [Window(m.address, part) for m in self._mappings if (part := self._part(m)) is not None]

    def _find(self, address: int, size: int) -> tuple[Range, NDArray[np.uint8]]:
        i = bisect_right(self._mappings, address, key=lambda m: m.address) - 1
        part = self._part(self._mappings[i]) if i >= 0 else None
        start = address - self._mappings[i].address if i >= 0 else 0
        if part is None or start + size > len(part):
            raise errors.ArgumentError(f"{size} bytes at {address:#x} are not mapped, or not in one piece")
        return self._mappings[i], part[start : start + size]

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes, which must lie in one mapping."""
        return self._find(address, size)[1].tobytes()

    def write(self, address: int, data: bytes) -> None:
        """Puts bytes there, as a packet of the stream does."""
        self.changed.add(self.put(address, np.frombuffer(data, np.uint8)))

    def put(self, address: int, data: NDArray[np.uint8]) -> int:
        """Likewise, of what is no change: it comes from a copy. Returns the buffer's number."""
        mapping, part = self._find(address, len(data))
        part[:] = data
        return mapping.buffer

    def words(self, address: int, count: int) -> NDArray[np.uint32]:
        """`count` words, which must lie in one mapping."""
        return np.frombuffer(self.read(address, 4 * count), np.uint32)

    def _part(self, mapping: Range) -> NDArray[np.uint8] | None:
        if mapping.buffer not in self._sizes:
            return None
        content = self.content(mapping.buffer)
        part = content[mapping.offset : mapping.offset + mapping.size]
        return part if len(part) else None

    def recorded_mappings(self) -> list[Range]:
        """Those whose memory was recorded, their sizes without what goes beyond the buffer's end."""
        return [replace(m, size=len(part)) for m in self._mappings if (part := self._part(m)) is not None]

    def content(self, buffer: int) -> NDArray[np.uint8]:
        """The bytes of a buffer, to whole pages."""
        if buffer not in self._contents:
            size = -(-self._sizes[buffer] // _PAGE) * _PAGE
            self._contents[buffer] = np.zeros(size, np.uint8)
        return self._contents[buffer]

    def create(self, buffer: int, size: int) -> None:
        self._sizes[buffer] = size

    def knows(self, buffer: int) -> bool:
        return buffer in self._sizes

    def free(self, buffer: int) -> None:
        del self._sizes[buffer]
        self._contents.pop(buffer, None)
        self.changed.discard(buffer)
        self._mappings = [m for m in self._mappings if m.buffer != buffer]

    def map(self, address: int, size: int, buffer: int, offset: int) -> None:
        """Puts a range in the place of whatever was there."""
        self.clear(address, size)
        self._mappings.insert(
            bisect_right(self._mappings, address, key=lambda m: m.address), Range(address, size, buffer, offset)
        )

    def clear(self, address: int, size: int) -> None:
        """Takes a range out; what lies partly in it is cut."""
        end, kept = address + size, []
        for m in self._mappings:
            if m.address + m.size <= address or m.address >= end:
                kept.append(m)
                continue
            if m.address < address:
                kept.append(Range(m.address, address - m.address, m.buffer, m.offset))
            if m.address + m.size > end:
                kept.append(Range(end, m.address + m.size - end, m.buffer, m.offset + end - m.address))
        self._mappings = kept


# ---- submissions ----


@dataclass(frozen=True)
class Ib:
    """A command buffer of a submission."""

    address: int
    words: int
    flags: int
    ip: Ip
    instance: int
    ring: int

    @property
    def is_pm4(self) -> bool:
        return self.ip in (Ip.GFX, Ip.COMPUTE)


@dataclass(frozen=True)
class Submission:
    """One submission; `memory` is live, and stands as it was then until the next one is taken."""

    number: int
    device: int
    context: int
    ibs: tuple[Ib, ...]
    memory: Memory
    _streams: dict[tuple[int, ...], Stream] = field(repr=False)

    def packets(self, ib: Ib) -> Iterator[Packet]:
        """Of a PM4 command buffer, indirect buffers followed. A queue's registers go on from submission to submission.

        Raises FormatError where the stream is wrong. Take the buffers in order, each once.
        """
        yield from self._stream(ib).read(self.memory.windows(), ib.address, ib.words)

    def dispatches(self) -> Iterator[Dispatch]:
        """The compute dispatches of all its command buffers."""
        for ib in self.ibs:
            if ib.is_pm4:
                for packet in self.packets(ib):
                    if packet.dispatch is not None:
                        yield packet.dispatch

    def _stream(self, ib: Ib) -> Stream:
        queue = (self.device, self.context, ib.ip, ib.instance, ib.ring)
        return self._streams.setdefault(queue, Stream())


class Capture:
    """A capture file, checked as a whole when it is read."""

    def __init__(self, path: Path | str) -> None:
        self.name = str(path)
        self.records = read_records(Path(path).read_bytes(), self.name)
        self.info: dict[str, str] = {}
        self.notes: list[str] = []
        for record in self.records:
            if record.kind in (Kind.INFO, Kind.NOTE):
                text = bytes(record.payload).rstrip(b"\0").decode("utf-8", "replace")
                if record.kind == Kind.NOTE:
                    self.notes.append(text)
                else:
                    self.info |= dict(line.partition("=")[::2] for line in text.splitlines())
        self.complete = bool(self.records) and self.records[-1].kind == Kind.END
        """False when the application was killed, or recording stopped: what is there is right."""
        self.submission_count = sum(record.kind == Kind.SUBMIT for record in self.records)
        for _ in self.submissions():  # what is wrong in a file is said before anything is made of it
            pass

    def submissions(self) -> Iterator[Submission]:
        """In the order of the application's calls."""
        memories: dict[int, Memory] = {}
        streams: dict[tuple[int, ...], Stream] = {}
        number = 0
        for record in self.records:
            try:
                if record.kind == Kind.SUBMIT:
                    yield _submission(number, record.payload, memories, streams)
                    number += 1
                elif record.kind == Kind.END:
                    self._check_end(record, number)
                else:
                    _apply(record, memories)
            except (struct.error, CaptureError, MemoryError) as error:
                text = "no memory for its buffer" if isinstance(error, MemoryError) else str(error)
                raise CaptureError(
                    f"{self.name}: record {record.number} ({record.kind.name}) at offset {record.offset}: {text}"
                ) from None

    def _check_end(self, record: Record, submissions: int) -> None:
        if _END.unpack(record.payload) != (submissions, record.number):
            raise CaptureError(f"counts {submissions} submissions and {record.number} records otherwise: some are lost")


def _apply(record: Record, memories: dict[int, Memory]) -> None:
    """What a record other than a submission does to the memories."""
    match record.kind:
        case Kind.BUFFER:
            device, buffer, size, _, _ = _BUFFER.unpack(record.payload)
            if not 0 < size <= MAX_BUFFER_BYTES or buffer == 0 or _memory(memories, device).knows(buffer):
                raise CaptureError(f"buffer {buffer} of {size} bytes")
            _memory(memories, device).create(buffer, size)
        case Kind.FREE:
            device, buffer, *_ = _BUFFER.unpack(record.payload)
            _known(memories, device, buffer).free(buffer)
        case Kind.VA:
            _change_page_table(memories, *_VA.unpack(record.payload))
        case Kind.MEMORY:
            _write_memory(record.payload, memories)


def _memory(memories: dict[int, Memory], device: int) -> Memory:
    return memories.setdefault(device, Memory())


def _known(memories: dict[int, Memory], device: int, buffer: int) -> Memory:
    memory = _memory(memories, device)
    if not memory.knows(buffer):
        raise CaptureError(f"there is no buffer {buffer} on device {device}")
    return memory


def _change_page_table(
    memories: dict[int, Memory], device: int, operation: int, buffer: int, _: int, address: int, offset: int, size: int
) -> None:
    memory = _known(memories, device, buffer) if buffer else _memory(memories, device)
    if address + size > 1 << 64 or offset + size > 1 << 64:
        raise CaptureError(f"{size} bytes at {address:#x} go beyond the address space")
    if operation in (Operation.MAP, Operation.REPLACE):
        memory.map(address, size, buffer, offset)
    elif operation in (Operation.UNMAP, Operation.CLEAR):
        memory.clear(address, size)
    else:
        raise CaptureError(f"page-table operation {operation}")


def _write_memory(payload: memoryview, memories: dict[int, Memory]) -> None:
    device, buffer, run_count, word_count = _MEMORY.unpack_from(payload)
    memory = _known(memories, device, buffer)
    begin = _MEMORY.size + 8 * run_count
    if len(payload) != begin + (word_count + word_count % 2) * 4:
        raise CaptureError(f"{run_count} runs of {word_count} words in {len(payload)} bytes")
    runs = np.frombuffer(payload[_MEMORY.size : begin], np.uint32).reshape(-1, 2).astype(np.int64)
    words = np.frombuffer(payload[begin:], np.uint32)
    content = memory.content(buffer).view(np.uint32)
    if runs[:, 1].sum() != word_count or np.any(runs.sum(axis=1) > len(content)):
        raise CaptureError(f"runs beyond buffer {buffer}, or not of {word_count} words")
    memory.changed.add(buffer)
    at = 0
    for first, count in runs.tolist():
        content[first : first + count] = words[at : at + count]
        at += count


def _submission(
    number: int, payload: memoryview, memories: dict[int, Memory], streams: dict[tuple[int, ...], Stream]
) -> Submission:
    device, context, ib_count, _ = _SUBMIT.unpack_from(payload)
    if len(payload) != _SUBMIT.size + ib_count * _IB.size:
        raise CaptureError(f"{ib_count} command buffers in {len(payload)} bytes")
    ibs = []
    for address, size, flags, ip, instance, ring, _ in _IB.iter_unpack(payload[_SUBMIT.size :]):
        if ip not in Ip.__members__.values() or size % 4:
            raise CaptureError(f"a command buffer of {size} bytes for IP {ip}")
        ibs.append(Ib(address, size // 4, flags, Ip(ip), instance, ring))
    return Submission(number, device, context, tuple(ibs), _memory(memories, device), streams)


# ---- recording ----

_LIBRARY_FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib/*-linux-gnu", "/usr/local/lib64",
                    "/usr/local/lib")  # fmt: skip
_ICD_FOLDERS = ("/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d")


def _found(what: str, variable: str, folders: Sequence[str], names: Sequence[str], advice: str) -> Path:
    """The file that the environment names, or the first of `names` in `folders` (patterns)."""
    named = os.environ.get(variable)
    if named is not None:
        if Path(named).is_file():
            return Path(named)
        raise NoGuestDriver(f"{what}: {variable} names {named or 'nothing'}, which is no file")
    for folder in folders:
        for name in names:
            for path in sorted(Path("/").glob(f"{folder}/{name}".removeprefix("/"))):
                return path
    raise NoGuestDriver(f"{what} is missing: no {names[0]} in {', '.join(folders)}; {advice}")


def capture_library() -> Path:
    """libguestgpu_capture.so, beside the extensions."""
    return built_file("libguestgpu_capture.so", "libdrm-dev")


def built_file(name: str, package: str) -> Path:
    """A file that `make setup` puts beside the extensions, if its headers were there."""
    path = Path(__file__).resolve().parent / name
    if not path.is_file():
        raise NoGuestDriver(
            f"guestgpu was built without {name} (it needs {package}): run scripts/setup-system.sh, then `make setup`"
        )
    return path


def drm_shim() -> Path:
    """Mesa's fake kernel driver; GUESTGPU_DRM_SHIM names another."""
    return _found(
        "Mesa's fake AMD kernel driver", "GUESTGPU_DRM_SHIM", _LIBRARY_FOLDERS, ["libamdgpu_noop_drm_shim.so"],
        "install mesa-drm-shim (scripts/setup-system.sh does)",
    )  # fmt: skip


def radv_manifest() -> Path:
    """The Vulkan loader's manifest of RADV; GUESTGPU_RADV_ICD names another."""
    return _found(
        "Mesa's RADV", "GUESTGPU_RADV_ICD", _ICD_FOLDERS, ["radeon_icd*.json"],
        "install mesa-vulkan-drivers (scripts/setup-system.sh does)",
    )  # fmt: skip


def environment(file: Path, gpu: str = "navi21", limit_mib: int | None = None) -> dict[str, str]:
    """Variables under which a Vulkan program runs on a fake AMD GPU and records its submissions in `file`.

    Raises NoGuestDriver when something is missing.
    """
    preload = [str(capture_library()), str(drm_shim())]
    manifest = str(radv_manifest())
    if os.environ.get("LD_PRELOAD"):
        preload.append(os.environ["LD_PRELOAD"])
    variables = {
        "LD_PRELOAD": ":".join(preload),
        "AMDGPU_GPU_ID": gpu,
        "VK_DRIVER_FILES": manifest,
        "VK_ICD_FILENAMES": manifest,  # loaders before 1.3.207
        "GUESTGPU_CAPTURE": str(file.absolute()),
    }
    return variables if limit_mib is None else variables | {"GUESTGPU_CAPTURE_LIMIT": str(limit_mib)}


def record(
    file: Path, command: Sequence[str], gpu: str = "navi21", limit_mib: int | None = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Runs `command` under a recording that replaces `file`; `options` go to subprocess.run.

    Memory of the application goes into the file. Raises NoGuestDriver, OSError, subprocess.TimeoutExpired.
    """
    variables = environment(file, gpu, limit_mib)
    extra: Mapping[str, str] = options.pop("env", {})
    file.unlink(missing_ok=True)
    return subprocess.run(command, env={**os.environ, **extra, **variables}, check=False, **options)

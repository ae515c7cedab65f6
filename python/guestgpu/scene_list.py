# SPDX-License-Identifier: MIT
"""Lists of a scene's buffers: `kind,bytes` lines, each kind with the floor that its use needs."""

from __future__ import annotations

from pathlib import Path

from guestgpu import results
from guestgpu.errors import FormatError

FLOORS = {"vb": 16, "ib": 16, "cbv": 256}
"""Bytes that offsets of vertex, index and constant buffers are multiples of (spec, use-case floors)."""


def default() -> list[tuple[int, int]]:
    """The 8,931 buffers of a real scene, in creation order: bytes and floor."""
    return read(results.experiments_folder() / "data" / "scene_buffers.csv")


def read(path: Path) -> list[tuple[int, int]]:
    """A list from a file. Raises FormatError, which names the line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not rows or rows[0][1] != "kind,bytes":
        raise FormatError(f"{path}: the first line is not kind,bytes")
    return [_buffer(f"{path}:{number}", line) for number, line in rows[1:]]


def _buffer(where: str, line: str) -> tuple[int, int]:
    kind, _, size = line.partition(",")
    if kind not in FLOORS:
        raise FormatError(f"{where}: {kind!r:.40} is none of {', '.join(FLOORS)}")
    if not size.isdecimal() or not 0 < int(size) < 1 << 36:
        raise FormatError(f"{where}: {size!r:.40} is no number of bytes")
    return int(size), FLOORS[kind]

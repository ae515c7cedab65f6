# SPDX-License-Identifier: MIT
"""Pictures of dumps (guestgpu.pool_dump): memory in rows, each pixel coloured by what its bytes are."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu.errors import GuestGpuError
from guestgpu.pool_dump import FREE, KINDS, PADDING, Block, Dump

COLOURS = {
    "buffer": "#3b6ea8",
    "linear image": "#5a9e6f",
    "optimal image": "#e0923d",
    "msaa image": "#9b6fb0",
    "unknown": "#8c8c8c",
    PADDING: "#d65f5f",
    FREE: "#f2f2f2",
}
WIDTH = 1024
"""Pixels of a row."""
ROWS = 384
"""Rows of all blocks together, about."""


@dataclass(frozen=True)
class Scale:
    """Bytes of a pixel."""

    bytes: int

    def rows(self, block: Block) -> int:
        """Rows that a block takes."""
        return -(-block.size // (self.bytes * WIDTH))


def scale_of(dump: Dump) -> Scale:
    """The power of two that lets all blocks have ROWS rows or fewer, as far as blocks have a row at least."""
    total, size = sum(block.size for block in dump.blocks), 1
    while total > size * WIDTH * ROWS:
        size *= 2
    return Scale(size)


def shares(block: Block, scale: Scale) -> NDArray[np.float64]:
    """For each pixel of the block's rows, the share of its bytes that each of KINDS has: (rows * WIDTH, kinds).

    Pixels beyond the block's end have none.
    """
    pixels = scale.rows(block) * WIDTH
    found = np.zeros((pixels + 1, len(KINDS)))
    for index, kind in enumerate(KINDS):
        of_kind = [(r.offset, r.size) for r in block.ranges if r.kind == kind]
        if not of_kind:
            continue
        begin, size = np.array(of_kind, np.float64).T / scale.bytes
        # Coverage is an integral of steps: each end of a range adds a ramp that begins within its pixel.
        for at, sign in ((begin, 1.0), (begin + size, -1.0)):
            pixel = np.floor(at).astype(np.int64)
            np.add.at(found[:, index], pixel, sign * (1 - (at - pixel)))
            np.add.at(found[:, index], np.minimum(pixel + 1, pixels), sign * (at - pixel) * (pixel < pixels))
    covered: NDArray[np.float64] = np.clip(np.cumsum(found[:-1], axis=0), 0, 1)
    return covered


def raster(block: Block, scale: Scale) -> NDArray[np.uint8]:
    """The block's pixels, (rows, WIDTH, 3). What is mixed within a pixel is mixed in colour."""
    parts = shares(block, scale)
    colours = np.array([[int(COLOURS[kind][i : i + 2], 16) for i in (1, 3, 5)] for kind in KINDS], np.float64)
    pixels = parts @ colours + (1 - parts.sum(axis=1, keepdims=True)) * 255
    image: NDArray[np.uint8] = np.clip(np.rint(pixels), 0, 255).astype(np.uint8).reshape(-1, WIDTH, 3)
    return image


def title_of(dump: Dump) -> str:
    """One line of figures."""
    stats = dump.stats()
    used = stats["capacity"] - stats[FREE] - stats[PADDING]
    return (
        f"{dump.source}: {stats['live']:,} resources, {used / 2**20:.1f} MiB of {stats['capacity'] / 2**20:.1f}, "
        f"padding {stats[PADDING] / 2**20:.2f}, largest free range {stats['largest_free'] / 2**20:.2f} MiB"
    )


def draw(dump: Dump, path: Path) -> None:
    """Draws a dump as .png or .html, by the path's suffix. Raises GuestGpuError for another, or without blocks."""
    if not dump.blocks:
        raise GuestGpuError("a dump without blocks: nothing to draw")
    if path.suffix == ".png":
        _draw_png(dump, path)
    elif path.suffix == ".html":
        path.write_text(_html(dump), encoding="utf-8")
    else:
        raise GuestGpuError(f"{path}: .png or .html was expected")


def _draw_png(dump: Dump, path: Path) -> None:
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError:
        raise GuestGpuError("a picture needs matplotlib: pip install 'guestgpu[plot]'; .html needs nothing") from None
    scale = scale_of(dump)
    rows = [max(scale.rows(block), 8) for block in dump.blocks]
    figure = Figure(figsize=(11, 1.3 + (sum(rows) + 24 * len(rows)) / 100), dpi=100, layout="constrained")
    axes = figure.subplots(len(rows), 1, squeeze=False, gridspec_kw={"height_ratios": rows})[:, 0]
    for axis, block in zip(axes, dump.blocks, strict=True):
        axis.imshow(raster(block, scale), aspect="auto", interpolation="nearest")
        axis.set_ylabel(f"{block.name}\n{block.size / 2**20:.4g} MiB", rotation=0, ha="right", va="center", fontsize=8)
        axis.set_xticks([])
        axis.set_yticks([])
    present = [kind for kind in KINDS if dump.stats()[kind]]
    patches = [Patch(facecolor=COLOURS[kind], edgecolor="#666666", label=kind) for kind in present]
    figure.legend(handles=patches, loc="outside lower center", ncols=len(patches), fontsize=8, frameon=False)
    figure.suptitle(f"{title_of(dump)}\na row is {scale.bytes * WIDTH / 1024:,.4g} KiB", fontsize=9)
    figure.savefig(path)


def _html(dump: Dump) -> str:
    scale = scale_of(dump)
    data: dict[str, Any] = {
        "width": WIDTH,
        "bytes": scale.bytes,
        "kinds": [[kind, COLOURS[kind]] for kind in KINDS],
        "rgb": [[int(COLOURS[kind][i : i + 2], 16) for i in (1, 3, 5)] for kind in KINDS],
        "blocks": [
            {
                "name": block.name,
                "size": block.size,
                "ranges": [[r.offset, r.size, KINDS.index(r.kind), r.name] for r in block.ranges],
            }
            for block in dump.blocks
        ],
    }
    # Names are anybody's text: they must not end the script.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = (Path(__file__).parent / "pool_map.html").read_text(encoding="utf-8")
    page = page.replace("@ROW@", f"{scale.bytes * WIDTH / 1024:,.4g}").replace("@TITLE@", html.escape(title_of(dump)))
    return page.replace("@DATA@", text)

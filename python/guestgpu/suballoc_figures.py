# SPDX-License-Identifier: MIT
"""What rows of suballoc_speed say: figures by trace and allocator, and which targets are reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from guestgpu import results, stats

LOOP, OWN, MARK = "loop", ("pool", "pool-locked", "slices"), "malloc"
"""Arms that are no peers: the trace alone, ours, and the C library's."""

TARGETS: list[tuple[str, str, float, float]] = [
    ("tiny", "fastest", 0.6, 0.96),
    ("tiny", "offset-allocator", 0.12, 0.96),
    ("tiny_floors", "fastest", 0.6, 0.90),
    ("tiny_floors", "offset-allocator", 0.12, 0.90),
    ("steady", "fastest", 1.0, 0.89),
    ("steady", "offset-allocator", 1.0, 0.94),
    ("mixed", "fastest", 0.8, 0.85),
    ("scene", "fastest", 1.0, 0.95),
    ("slices", "vma-linear", 0.15, 0.976),
]
"""Trace, peer, time of ours by the peer's at most, utilisation at least. Of the two of `steady` one is enough."""
WORST_US = 1.0
"""A request beside a million holes that do not serve it, at most."""

Figures = dict[str, float | None]


def figures(rows: Iterable[results.Row]) -> Figures:
    """`<trace>.<allocator>.ns`, `.utilisation`, `.books_bytes`, `.worst_us`, of the launches that ended well.

    ns: an operation, the median of launches. Utilisation: the lowest. Books and the worst operation: the least, since
    one interrupt makes a launch's worst.
    """
    rows = list(rows)
    found: Figures = {}
    cells = [row for row in rows if row["kind"] == "cell" and row["status"] == "ok"]
    for trace in dict.fromkeys(cell["point"]["trace"] for cell in cells):
        of = [cell["figures"] for cell in cells if cell["point"]["trace"] == trace]
        times = stats.times([row for row in results.timed_blocks(rows) if row["point"]["trace"] == trace])
        for arm in of[0]:
            if arm in times:
                found[f"{trace}.{arm}.ns"] = times[arm]["round"].centre / of[0][arm]["operations"]
            for metric in ("utilisation", "books_bytes", "worst_us"):
                values = [cell[arm][metric] for cell in of if cell[arm].get(metric) is not None]
                if values:
                    found[f"{trace}.{arm}.{metric}"] = min(values)
    return found


def by_trace(found: Mapping[str, float | None]) -> dict[str, dict[str, dict[str, float]]]:
    """The same as {trace: {allocator: {metric: value}}}."""
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for name, value in found.items():
        trace, arm, metric = name.split(".")
        if value is not None:
            nested.setdefault(trace, {}).setdefault(arm, {})[metric] = value
    return nested


def targets(found: Mapping[str, float | None]) -> list[dict[str, Any]]:
    """A line a target: what it is against, ratio of times, the same without the loop's own, utilisation, reached.

    `reached` is None where no such peer took part.
    """
    nested, lines = by_trace(found), []
    for trace, against, most, least in TARGETS:
        arms = nested.get(trace, {})
        ours = arms.get("slices" if trace == "slices" else "pool")
        if ours is None or "ns" not in ours:
            continue
        peers = {arm: of["ns"] for arm, of in arms.items() if "ns" in of and arm not in (*OWN, LOOP, MARK)}
        peer = min(peers, key=lambda arm: peers[arm], default=None) if against == "fastest" else against
        shown = f"fastest: {peer}" if against == "fastest" and peer else against
        line: dict[str, Any] = {
            "trace": trace,
            "against": shown,
            "ratio": None,
            "net": None,
            "most": most,
            "utilisation": ours["utilisation"],
            "least": least,
            "reached": None,
        }
        if peer in peers:
            loop = arms[LOOP]["ns"]
            line["ratio"] = ours["ns"] / peers[peer]
            line["net"] = (ours["ns"] - loop) / max(peers[peer] - loop, 0.1)
            line["reached"] = line["ratio"] <= most and ours["utilisation"] >= least
        lines.append(line)
    return lines

# SPDX-License-Identifier: MIT
"""Tables of the committed reference rows, as Markdown for the results page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from guestgpu import experiment, report, results, runner, stats
from guestgpu.results import Row
from guestgpu.stats import Comparison, Interval

COLUMNS = (
    "layout", "dispatch ms", "draw ms", "total ms", "dispatch / aos", "draw / aos", "total / aos",
    "verdict on the total", "total / native", "of copy",
)  # fmt: skip


def layout_compare(reference: Path) -> str:
    """One table for each device, host and point of the rows in `reference`; says so where there are none."""
    shards = sorted(reference.glob("*.jsonl"))
    if not shards:
        return "No reference rows are committed yet. `guestgpu run layout_compare` measures your own device."
    rows = results.merge(shards).rows
    failed = [
        f"- {runner.point_name(row['point'])}, launch {row['launch']}: {row['status']}: {row['reason']}"
        for row in results.failed_cells(rows)
    ]
    parts = [_device(rows, blocks) for blocks in _grouped(results.timed_blocks(rows), _machine)]
    if failed:
        parts.append("\n".join(["Launches that failed, and are left out:\n", *failed]))
    return "\n\n".join(parts)


def translator_agree(reference: Path) -> str:
    """One table for each device and host of the rows in `reference`: what agreed, by the lanes of an invocation."""
    shards = sorted(reference.glob("*.jsonl"))
    if not shards:
        return "No reference rows are committed yet. `guestgpu run translator_agree` tries your own device."
    cells = [row for row in results.merge(shards).rows if row["kind"] == "cell" and row["device"] is not None]
    return "\n\n".join(_agreement(of_machine) for of_machine in _grouped(cells, _machine))


def _agreement(cells: list[Row]) -> str:
    statuses = ("equal", "differs", "refused", "failed")
    columns = ("an invocation carries", "programs", "ways", *statuses)
    ways: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for row in cells:
        for name, found in row["figures"].items():
            ways.setdefault(name.rpartition(" ")[2], []).append((row["point"]["program"], found))
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)]]
    for way in sorted(ways, key=lambda way: int(way[1:]) if way[1:].isdecimal() else 0):
        found = ways[way]
        counts = [sum(int(figures.get(status) or 0) for _, figures in found) for status in statuses]
        name = f"{way[1:]} lanes" if way[1:].isdecimal() else "(interpreter)"
        lines.append([name, str(len({program for program, _ in found})), str(len(found)), *map(str, counts)])
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    title = f"{cells[0]['device']['name']}: {len(cells)} programs"
    table = "\n".join([f":::{{table}} {title}", "", *rows, ":::"])
    failed = [
        f"- {row['point']['program']}: {row['status']}: {row['reason'].partition('; guestgpu repro')[0]}"
        for row in results.failed_cells(cells)
    ]
    return "\n\n".join([table, *(["\n".join(failed)] if failed else []), f"<small>{report.caption(cells[0])}</small>"])


def _machine(row: Row) -> Any:
    """A software device has the same UUID everywhere, and hosts are never pooled."""
    return row["device"], row["host"]


def _grouped(rows: Sequence[Row], key: Any) -> list[list[Row]]:
    keys = [key(row) for row in rows]
    distinct = [k for i, k in enumerate(keys) if k not in keys[:i]]
    return [[row for row, k in zip(rows, keys, strict=True) if k == wanted] for wanted in distinct]


def _device(rows: Sequence[Row], blocks: list[Row]) -> str:
    arms = experiment.load_experiment("layout_compare")
    to_base = stats.compare(blocks, arms.BASE, arms.TWIN)
    native = [row for row in blocks if "native" in row["arms"]]
    to_native = stats.compare(native, "native") if native else []
    machine = _machine(blocks[0])
    cells = [row for row in rows if (row["kind"], row["status"]) == ("cell", "ok") and _machine(row) == machine]
    parts = []
    for of_point in _grouped(blocks, lambda row: row["point"]):
        point, times = of_point[0]["point"], stats.times(of_point)
        figures: dict[str, Any] = {}
        for row in cells:
            if row["point"] == point:
                figures |= row["figures"]
        lines = []
        for arm in times:
            if arm not in (arms.TWIN, arms.COPY):
                share = arms.copy_share(times, figures, arm)
                lines.append(_line(arm, times, _of(to_base, point, arm), _of(to_native, point, arm), share))
        launches = len({(row["run"], row["launch"]) for row in of_point})
        title = f"{blocks[0]['device']['name']}: {runner.point_name(point)}"
        parts.append(_table(f"{title}; {launches} launches, {len(of_point)} blocks", lines))
    return "\n\n".join([*parts, f"<small>{report.caption(blocks[0])}</small>"])


def _of(found: Sequence[Comparison], point: Mapping[str, Any], arm: str) -> dict[str, Comparison]:
    return {c.metric: c for c in found if c.point == point and c.arm == arm}


def _line(
    arm: str,
    times: Mapping[str, Mapping[str, Interval]],
    to_base: Mapping[str, Comparison],
    to_native: Mapping[str, Comparison],
    share: float | None,
) -> list[str]:
    metrics, total = ("dispatch", "draw", "total"), to_base.get("total")
    verdict = "" if total is None else f"{total.verdict}{'' if total.gating else ' (not gating)'}"
    return [
        arm,
        *(f"{times[arm][m].centre / 1e6:.3f}" if m in times[arm] else "–" for m in metrics),
        *(_ratio(to_base.get(m)) for m in metrics),
        verdict,
        _ratio(to_native.get("total")),
        "–" if share is None else f"{share:.0%}",
    ]


def _ratio(comparison: Comparison | None) -> str:
    if comparison is None:
        return "–"
    ratio = comparison.ratio
    bounds = f" [{ratio.low:.3f}, {ratio.high:.3f}]" if math.isfinite(ratio.high) else ""
    return f"{ratio.centre:.3f}{bounds}"


def _table(title: str, lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["--:"] * (len(COLUMNS) - 1)]
    rows = ["| " + " | ".join(line) + " |" for line in (COLUMNS, rule, *lines)]
    return "\n".join([f":::{{table}} {title}", "", *rows, ":::"])

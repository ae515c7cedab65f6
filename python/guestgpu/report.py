# SPDX-License-Identifier: MIT
"""Tables for the terminal and bar charts as PNG."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from guestgpu.errors import GuestGpuError
from guestgpu.stats import Comparison, Interval, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = ("#3b6ea8", "#e0923d", "#5a9e6f", "#9b6fb0", "#8c8c8c")
_VERDICT_STYLES = {
    Verdict.FASTER: "green",
    Verdict.SLOWER: "red",
    Verdict.SAME: "default",
    Verdict.AMBIGUOUS: "yellow",
}
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


class ReportError(GuestGpuError):
    """A report that cannot be made; one line that says why."""


def duration(ns: float) -> str:
    """A time in the unit that reads best, three digits: "1.23 ms"."""
    scale, unit = _unit(ns)
    return f"{_three_digits(ns / scale)} {unit}"


def table(rows: Sequence[Mapping[str, Any]], title: str | None = None, columns: Sequence[str] | None = None) -> Table:
    """A table of dicts. columns: which keys, in order; default: all keys in order of appearance.

    Numbers are set to the right, None is shown as a dash; a rich Text keeps its style.
    """
    names = list(columns) if columns is not None else list(dict.fromkeys(key for row in rows for key in row))
    made = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for name in names:
        numeric = any(_is_number(row.get(name)) for row in rows)
        made.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        made.add_row(*(_cell(row.get(name)) for name in names))
    return made


def show(rows: Sequence[Mapping[str, Any]], title: str | None = None, columns: Sequence[str] | None = None) -> None:
    """Prints a table to stdout; in colour only on a terminal."""
    Console().print(table(rows, title, columns))


def comparison_rows(comparisons: Sequence[Comparison], with_point: bool = True) -> list[dict[str, Any]]:
    """Comparisons as rows for table(). A verdict that does not gate has a star: see gating_note()."""
    rows = []
    for c in comparisons:
        rows.append(
            {
                **(c.point if with_point else {}),
                "metric": c.metric,
                "arm / base": f"{c.arm} / {c.base}",
                "ratio [95 %]": ratio(c.ratio),
                "floor": None if c.floor is None else f"{c.floor * 100:.1f} %",
                "launches": c.ratio.launches,
                "blocks": c.ratio.samples,
                "verdict": Text(str(c.verdict) + ("" if c.gating else "*"), style=_VERDICT_STYLES[c.verdict]),
            }
        )
    return rows


def gating_note(comparisons: Sequence[Comparison]) -> str:
    """What the stars of comparison_rows() stand for, or "" when there are none."""
    reasons = list(dict.fromkeys(c.note for c in comparisons if not c.gating))
    return f"* does not gate: {'; '.join(reasons)}" if reasons else ""


def ratio(interval: Interval) -> str:
    """A ratio with its interval: "0.489 [0.470, 0.500]"."""
    return f"{interval.centre:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def caption(row: Mapping[str, Any]) -> str:
    """Where the numbers come from, for the foot of a chart, from any row that has a device."""
    device, git = row["device"], row["git"]
    revision = "no revision" if git is None else git["revision"][:12] + (" with changes" if git["dirty"] else "")
    software = device["type"] == "cpu"
    note = "software device: ratios say nothing about a GPU" if software else "hardware device"
    return f"{device['name']} · {device['driver']} · {row['clock']} · {revision} · {note}"


def bar_chart(
    path: str | os.PathLike[str],
    times: Mapping[str, Mapping[str, Interval]],
    title: str,
    caption: str,
    stacked: bool = False,
) -> None:
    """Writes a PNG with one group of bars an arm and one bar a metric, whiskers at the interval.

    times: {arm: {metric: interval in ns}}, as stats.times() returns them. stacked: the metrics of an
    arm on top of each other. Raises ReportError without matplotlib, without data, or when path cannot be written.
    """
    if not times or not all(times.values()):
        raise ReportError(f"{path}: no times to draw")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ReportError("a chart needs matplotlib: pip install 'guestgpu[plot]'") from None

    metrics = list(dict.fromkeys(metric for arm in times.values() for metric in arm))
    tops = [
        sum(i.centre for i in arm.values()) if stacked else max(i.centre for i in arm.values())
        for arm in times.values()
    ]
    scale, unit = _unit(max(tops))
    width = 0.56 if stacked else 0.8 / len(metrics)

    figure = Figure(figsize=(max(5.0, 2.2 + 1.1 * len(times) * (1 if stacked else len(metrics) ** 0.5)), 4.4), dpi=160)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    base = dict.fromkeys(times, 0.0)
    highest = 0.0
    for number, metric in enumerate(metrics):
        color = _COLORS[number % len(_COLORS)]
        shift = 0.0 if stacked else (number - (len(metrics) - 1) / 2) * width
        first = True
        for position, (arm, intervals) in enumerate(times.items()):
            if metric not in intervals:
                continue
            entry = intervals[metric].map(lambda ns: ns / scale)
            x, bottom = position + shift, base[arm]
            axes.bar(
                x,
                entry.centre,
                width * 0.94,
                bottom,
                color=color,
                label=metric if first else None,
                zorder=2,
                linewidth=0,
            )
            top = bottom + entry.centre
            reach = 0.0
            if math.isfinite(entry.low) and math.isfinite(entry.high):
                whiskers = [[entry.centre - entry.low], [entry.high - entry.centre]]
                axes.errorbar(x, top, whiskers, fmt="none", ecolor="#222222", elinewidth=1.1, capsize=3.5, zorder=4)
                reach = entry.high - entry.centre
            highest = max(highest, top + reach)
            label = _three_digits(entry.centre)
            if not stacked:
                axes.annotate(
                    label,
                    (x, top + reach),
                    (0, 3),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8.5,
                    color="#333333",
                )
            elif entry.centre * scale > 0.08 * max(tops):  # a thinner part has no room for its number
                middle = bottom + entry.centre / 2
                axes.annotate(label, (x, middle), ha="center", va="center", color="white", fontsize=8.5, zorder=3)
            base[arm] = top if stacked else 0.0
            first = False

    axes.set_xticks(range(len(times)), list(times))
    axes.set_xlim(-0.6, len(times) - 0.4)
    axes.set_ylim(0.0, highest * 1.2)
    axes.set_ylabel(f"median time [{unit}]")
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", pad=10)
    _quieten(axes)
    if len(metrics) > 1:
        axes.legend(
            ncols=len(metrics), loc="upper right", fontsize=9, borderaxespad=0.2, edgecolor="white", framealpha=1.0
        )
    _set_foot(figure, caption)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="png")
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from None


def _quieten(axes: Axes) -> None:
    """Leaves only what is read: a baseline and faint lines behind the bars."""
    axes.grid(axis="y", color="#e3e3e3", linewidth=0.8, zorder=0)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#888888")


def _set_foot(figure: Figure, text: str) -> None:
    width, height = figure.get_figwidth(), figure.get_figheight()
    foot = textwrap.wrap(text, int(width * 19))
    figure.subplots_adjust(left=0.75 / width, right=0.985, top=0.89, bottom=(0.5 + 0.15 * len(foot)) / height)
    figure.text(0.15 / width, 0.1 / height, "\n".join(foot), fontsize=7, color="#666666", va="bottom")


def _unit(ns: float) -> tuple[float, str]:
    return next(((scale, unit) for scale, unit in _UNITS if ns >= scale), _UNITS[-1])


def _three_digits(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{min(digits, 3)}f}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> Text:
    if isinstance(value, Text):
        return value
    if value is None:
        return Text("–")
    return Text(f"{value:.4g}" if isinstance(value, float) else str(value))

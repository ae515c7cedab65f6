# SPDX-License-Identifier: MIT
"""Tables and charts."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from rich.console import Console

from guestgpu import report
from guestgpu.report import ReportError, bar_chart, caption, comparison_rows, duration, gating_note, table
from guestgpu.stats import Comparison, Interval, Verdict

ROW: dict[str, Any] = {
    "device": {"uuid": "00", "name": "llvmpipe", "driver": "Mesa 25.0.7", "type": "cpu", "api": "1.4.305"},
    "git": {"revision": "1a2b3c4d5e6f7081", "dirty": True},
    "clock": "host clock, one submit",
}


def interval(centre: float, spread: float = 0.05) -> Interval:
    return Interval(centre, centre * (1 - spread), centre * (1 + spread), 6, 120)


TIMES = {
    "aos": {"dispatch": interval(17e6), "draw": interval(4.5e6)},
    "soa": {"dispatch": interval(8.3e6), "draw": interval(4.7e6)},
    "indexed": {"dispatch": interval(8.5e6), "draw": interval(4.6e6)},
}


def text_of(rows: list[dict[str, Any]], **options: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(table(rows, **options))
    return out.getvalue()


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0.0, "0 ns"), (5.0, "5.00 ns"), (999.0, "999 ns"), (1500.0, "1.50 µs"), (3.68e6, "3.68 ms"), (12.34e9, "12.3 s")],
)
def test_durations(ns: float, text: str) -> None:
    assert duration(ns) == text


def test_tables_hold_all_columns() -> None:
    text = text_of([{"arm": "aos", "ns": 12}, {"arm": "[soa]", "ratio": 0.4891234, "ok": None}], title="layouts")
    lines = [line.split() for line in text.splitlines()]
    assert lines == [["layouts"], ["arm", "ns", "ratio", "ok"], ["aos", "12", "–", "–"], ["[soa]", "–", "0.4891", "–"]]


def test_tables_of_chosen_columns() -> None:
    assert text_of([{"a": 1, "b": 2, "c": 3}], columns=["c", "a"]).split() == ["c", "a", "3", "1"]
    assert text_of([], columns=["a"]).split() == ["a"]


def test_show_is_plain_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    report.show([{"arm": "aos"}], title="t")
    assert capsys.readouterr().out.split() == ["t", "arm", "aos"]


def test_comparisons_say_what_they_rest_on() -> None:
    def comparison(**changes: Any) -> Comparison:
        fields: dict[str, Any] = {
            "experiment": "e",
            "point": {"n": 64},
            "device": "llvmpipe",
            "metric": "dispatch",
            "base": "aos",
            "arm": "soa",
            "ratio": Interval(0.489, 0.47, 0.5, 6, 120),
            "floor": 0.008,
            "min_effect": 0.02,
            "p": 0.001,
            "q": 0.002,
            "verdict": Verdict.FASTER,
            "gating": True,
            "note": "",
        }
        return Comparison(**(fields | changes))

    both = [comparison(), comparison(gating=False, note="3 of 6 launches", floor=None)]
    rows = comparison_rows(both)
    text = text_of(rows)
    assert "soa / aos" in text
    assert "0.489 [0.470, 0.500]" in text
    assert "0.8 %" in text
    assert rows[0]["n"] == 64
    assert str(rows[0]["verdict"]) == "FASTER"
    assert str(rows[1]["verdict"]) == "FASTER*"
    assert gating_note(both) == "* does not gate: 3 of 6 launches"
    assert gating_note(both[:1]) == ""
    assert "n" not in comparison_rows(both, with_point=False)[0]


def test_captions_name_device_revision_and_software() -> None:
    text = caption(ROW)
    for part in ("llvmpipe", "Mesa 25.0.7", "1a2b3c4d5e6f with changes", "software device", "host clock"):
        assert part in text
    hardware = caption(ROW | {"device": ROW["device"] | {"type": "discrete"}, "git": None})
    assert "hardware device" in hardware
    assert "no revision" in hardware


@pytest.mark.parametrize("stacked", [False, True])
def test_charts_are_drawn(tmp_path: Path, stacked: bool) -> None:
    path = tmp_path / "new" / "chart.png"
    bar_chart(path, TIMES, "Layouts", caption(ROW), stacked=stacked)
    image = matplotlib.image.imread(path)
    assert image.shape[0] > 500
    assert image.shape[1] > 700
    # Both bar colours fill a good part of the picture; in the corner there is nothing.
    for color in ("#3b6ea8", "#e0923d"):
        rgb = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        assert np.isclose(image[:, :, :3], rgb, atol=0.01).all(axis=2).mean() > 0.02
    assert (image[0, 0, :3] == 1.0).all()


def test_bars_are_as_high_as_their_times(tmp_path: Path) -> None:
    path = tmp_path / "chart.png"
    bar_chart(path, {"a": {"gpu": interval(1000.0, 0.0)}, "b": {"gpu": interval(500.0, 0.0)}}, "t", "c")
    image = matplotlib.image.imread(path)
    blue = np.isclose(image[:, :, :3], [0x3B / 255, 0x6E / 255, 0xA8 / 255], atol=0.01).all(axis=2)
    heights = blue.sum(axis=0)
    columns = np.nonzero(heights > 0)[0]
    assert heights[columns[5]] / heights[columns[-5]] == pytest.approx(2.0, rel=0.02)


def test_unknown_intervals_and_missing_metrics_are_drawn_without(tmp_path: Path) -> None:
    lone = Interval(100.0, -math.inf, math.inf, 1, 1)
    for stacked in (False, True):
        bar_chart(tmp_path / "c.png", {"a": {"gpu": lone}, "b": {"draw": interval(90.0)}}, "t", "c", stacked=stacked)
        assert (tmp_path / "c.png").stat().st_size > 1000


@pytest.mark.parametrize("times", [{}, {"a": {}}])
def test_nothing_to_draw(tmp_path: Path, times: dict[str, dict[str, Interval]]) -> None:
    with pytest.raises(ReportError, match=r"c\.png: no times to draw"):
        bar_chart(tmp_path / "c.png", times, "t", "c")


def test_a_chart_that_cannot_be_written() -> None:
    with pytest.raises(ReportError, match=r"/proc/nothing/c\.png: "):
        bar_chart("/proc/nothing/c.png", TIMES, "t", "c")


def test_without_matplotlib_there_is_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ReportError, match=r"a chart needs matplotlib: pip install 'guestgpu\[plot\]'"):
        bar_chart(tmp_path / "c.png", TIMES, "t", "c")

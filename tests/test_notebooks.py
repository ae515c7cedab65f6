# SPDX-License-Identifier: MIT
"""Notebooks: committed without outputs, and they run without a device, on the reference and on rows of any extent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from guestgpu import results, stats
from guestgpu.results import Writer

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TIMEOUT_S = 300

TIMES = {  # ns: dispatch, draw; None where an arm has no such phase
    "aos": (8_000_000, 4_000_000),
    "aos again": (8_000_000, 4_000_000),
    "soa": (4_000_000, 4_000_000),
    "indexed": (1_000_000, 4_000_000),
    "native": (None, 6_000_000),
    "copy": (2_000_000, None),
}
FIGURES = {
    "meshlets": 10,
    "primitives": 1000,
    "corners_per_vertex": 3.0,
    "bytes_written": 600,
    "bytes_read": 200,
    "slots_cut": 0,
}


def made_rows(launches: int, device: str, native: bool) -> Iterator[dict[str, Any]]:
    """Rows of layout_compare with the times of TIMES: two points, three blocks a launch."""
    arms = [arm for arm in TIMES if native or arm != "native"]
    common = results.provenance(["guestgpu"], 0) | {
        "status": "ok",
        "experiment": "layout_compare",
        "arms": arms,
        "device": {"uuid": device, "name": device, "driver": "a driver", "type": "discrete", "api": "1.3.0"},
        "load": [0.0, 0.0, 0.0],
        "utc": results.utc_now(),
        "clock": results.CLOCK_DEVICE,
        "correctness": results.CHECKED,
    }
    figures = {arm: dict(FIGURES) for arm in arms if arm not in ("native", "copy")} | {"copy": {"bytes_moved": 1600}}
    for words in (22, 27):
        for launch in range(launches):
            row = common | {"run": device, "point": {"mesh": "icosphere:5", "words": words}, "launch": launch}
            for number in range(3):
                order = stats.schedule(arms, number, launch)
                phases = [TIMES[arm] for arm in order]
                samples = {
                    "dispatch": [dispatch for dispatch, _ in phases],
                    "draw": [draw for _, draw in phases],
                    "total": [None if draw is None else draw + (dispatch or 0) for dispatch, draw in phases],
                }
                yield row | {"kind": "block", "block": number, "schedule": order, "samples": samples}
            yield row | {"kind": "cell", "reason": None, "figures": figures}


def write_rows(path: Path, *series: Iterator[dict[str, Any]]) -> None:
    for number, rows in enumerate(series):
        with Writer(path / f"rows-{number}.jsonl", run=f"run {number}") as out:
            for row in rows:
                out.write(row)


def executed(path: Path, folder: Path) -> str:
    """Runs a notebook in `folder`; all that it printed or displayed as text. Raises with the cell that fails."""
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=TIMEOUT_S, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"] == []
    shown = [output.get("data", {}) for output in outputs]
    assert any("image/png" in data for data in shown)
    texts = [output.get("text", "") for output in outputs]
    return "\n".join(texts + [data.get("text/markdown", data.get("text/plain", "")) for data in shown])


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_outputs_are_committed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None), f"{path.name}: cell {cell.id} has outputs"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_on_the_committed_reference(path: Path, tmp_path: Path) -> None:
    assert "reference: " in executed(path, tmp_path)


def agree_rows(device: str) -> Iterator[dict[str, Any]]:
    """Rows of translator_agree: of three programs one agrees in four ways, one disagrees, one crashed."""
    way = {"equal": 1, "differs": 0, "refused": 0, "failed": 0, "original": 1}
    way |= {"instructions": 10, "words": 500, "pipeline_ms": 1.5, "submit_ms": 2.0}
    other = way | {"equal": 0, "differs": 1}
    ways = {f"wave{wave} {name}": way for wave in (32, 64) for name in ("interpreter", f"k{wave}")}
    common = results.provenance(["guestgpu"], 0) | {
        "run": device, "experiment": "translator_agree", "arms": ["original", "interpreter", "device"], "launch": 0,
        "device": {"uuid": device, "name": device, "driver": "a driver", "type": "discrete", "api": "1.3.0"},
        "load": [0.0, 0.0, 0.0], "utc": results.utc_now(), "clock": None, "kind": "cell", "correctness": "checked",
    }  # fmt: skip
    for program, status, figures in (
        ("good.comp", "ok", ways),
        ("bad.cl", "mismatch", {"wave32 O2 interpreter": way, "wave32 O2 k1": other}),
        ("lost.comp", "crash", {}),
    ):
        reason = None if status == "ok" else "why"
        yield common | {"point": {"program": program}, "status": status, "reason": reason, "figures": figures}


@pytest.mark.slow
def test_the_translator_notebook_concludes_what_its_rows_say(tmp_path: Path) -> None:
    write_rows(tmp_path / "runs" / "translator_agree-made", agree_rows("first"), agree_rows("second"))
    text = executed(ROOT / "notebooks" / "translator.ipynb", tmp_path)
    assert "own run: " in text
    assert "12 ways on 2 machines" in text
    for device in ("first", "second"):
        assert f"**{device}.** 3 programs in 6 ways: 1 disagree, 0 are refused, 1 failed otherwise." in text
    assert text.count("- Disagree: bad.cl") == text.count("- Failed: lost.comp") == 2
    assert text.count("The median module has 50 words an instruction.") == 2


def speed_rows(host: str) -> Iterator[dict[str, Any]]:
    """Rows of suballoc_speed: the pool takes 2 ns an operation of the tiny trace, the loop 1, a peer 6."""
    arms = {"loop": 1000, "pool": 2000, "dxvk": 6000}
    common = results.provenance(["guestgpu"], 0) | {
        "run": "made", "experiment": "suballoc_speed", "arms": list(arms), "status": "ok", "host": host,
        "device": {"uuid": "host", "name": "host", "driver": "none", "type": "host", "api": "none"},
        "load": [0.0, 0.0, 0.0], "utc": results.utc_now(), "clock": "thread CPU clock", "correctness": "checked",
    }  # fmt: skip
    for launch in range(2):
        row = common | {"point": {"trace": "tiny"}, "launch": launch}
        order = stats.schedule(list(arms), 0, launch)
        yield row | {"kind": "block", "block": 0, "schedule": order, "samples": {"round": [arms[a] for a in order]}}
        figures = {arm: {"operations": 1000, "utilisation": 0.97 - launch / 100, "worst_us": 5.0} for arm in arms}
        yield row | {"kind": "cell", "reason": None, "figures": figures}
    holes = {"pool": {"worst_us": 0.5, "median_us": 0.1}}
    yield common | {
        "point": {"trace": "holes"}, "launch": 0, "kind": "cell", "arms": ["pool"], "reason": None, "figures": holes,
    }  # fmt: skip


@pytest.mark.slow
def test_the_suballoc_notebook_concludes_what_its_rows_say(tmp_path: Path) -> None:
    write_rows(tmp_path / "runs" / "suballoc_speed-made", speed_rows("one"), speed_rows("two"))
    text = executed(ROOT / "notebooks" / "suballoc.ipynb", tmp_path)
    assert "own run: " in text
    assert "**10.47 times less**" in text
    for host in ("one", "two"):
        assert f"**Host {host}.**" in text
    reached = (
        "tiny against fastest: dxvk: 0.33x (net 0.20x) of at most 0.6x, utilisation 0.960 of at least 0.96: **reached**"
    )
    assert text.count(reached) == 2
    assert text.count("tiny against offset-allocator: no such peer") == 2
    assert text.count("the worst request beside the holes: 0.50 us of at most 1") == 2


@pytest.mark.slow
@pytest.mark.parametrize("launches", [1, 6])
def test_the_layout_notebook_concludes_what_its_rows_say(launches: int, tmp_path: Path) -> None:
    """Two devices, one of them without mesh shaders; a single launch gives no intervals."""
    write_rows(
        tmp_path / "runs" / "layout_compare-made",
        made_rows(launches, "first", native=True),
        made_rows(launches, "second", native=False),
    )
    text = executed(ROOT / "notebooks" / "layout.ipynb", tmp_path)
    assert "own run: " in text
    assert "4 cases on 2 machines" in text
    assert text.count("The lowest total among the layouts is that of **indexed**") == 4
    assert text.count("total 0.417") == 4  # 5 ms of 12 ms
    assert text.count("Its total is 0.833 of that of native mesh shaders.") == 2  # 5 ms of 6 ms
    assert text.count("Its dispatch moves 100% of what the compute copy moves") == 4  # 800 B/ms, both
    assert ("not gating" in text) == (launches < stats.GATING_LAUNCHES)

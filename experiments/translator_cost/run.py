# SPDX-License-Identifier: MIT
"""translator_cost: what do decoding and translating cost a guest instruction? See README.md."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import click

from guestgpu import report, runner, stats, translator_cost
from guestgpu.experiment import Blocks, Emit, Exit, Spec
from guestgpu.runner import Output, Report
from guestgpu.translator_cost import Sample

ARMS = ["decode", "translate"]
POINTS = ["median", "large"]
AIMS = {"decode": 30.0, "translate": 2000.0}
"""Nanoseconds an instruction, at most."""
SAMPLE_NS = 20_000_000
HOST = {"uuid": "host", "name": "host", "driver": "none", "type": "host", "api": "none"}


def save_samples(folder: Path) -> None:
    """The programs of all points, compiled once."""
    programs = translator_cost.corpus()
    translator_cost.save(translator_cost.median(programs), folder / "median.json")
    translator_cost.save(translator_cost.large(programs), folder / "large.json")


def measure(request: dict[str, Any], emit: Emit) -> None:
    sample = translator_cost.load(Path(request["samples"]) / f"{request['point']['program']}.json")
    emit("env", device=HOST, details={"program": sample.name}, versions={})
    arms, rounds = {}, {}
    for arm in ARMS:
        translate = arm == "translate"
        once = max(1, translator_cost.time_ns(sample.program, 1, translate))
        rounds[arm] = max(1, min(100_000, SAMPLE_NS // once))
        arms[arm] = partial(_timed, sample, rounds[arm], translate)
    blocks = Blocks(arms, request["launch"])
    figures: dict[str, dict[str, float | None]] = {arm: {**found} for arm, found in blocks.warm_up().items()}
    for block in blocks.run(request["blocks"]):
        emit("block", clock="thread CPU clock", correctness="nothing to check: tests do", **block)
    figures |= {"program": {"instructions": sample.instructions, "words": len(sample.program.words)}}
    emit("cell", status="ok", reason=None, clock="thread CPU clock", correctness="nothing to check: tests do",
         figures=figures)  # fmt: skip


def _timed(sample: Sample, rounds: int, translate: bool) -> dict[str, int | None]:
    """Picoseconds would be lost in whole nanoseconds an instruction: the time of the whole program is the sample."""
    return {"program": max(1, translator_cost.time_ns(sample.program, rounds, translate) // rounds)}


@click.command("translator_cost", help="Time the decoder and the whole translation, a guest instruction, on one core: "
               "a program of median size, and all of the corpus in a row.")  # fmt: skip
@runner.timing_options
def command(
    device: str | None, launches: int | None, blocks: int | None, seed: int, out: Path, timeout: float, quick: bool,
    strict: bool, as_json: bool,
) -> None:  # fmt: skip
    output = Output(as_json)
    if device is not None:
        raise click.UsageError("--device: the translator runs on the host")
    with tempfile.TemporaryDirectory(prefix="guestgpu-") as temporary:
        save_samples(Path(temporary))
        request = {"blocks": blocks or (2 if quick else 10), "samples": temporary}
        specs = [Spec("translator_cost", {"program": point}, ARMS, seed, request) for point in POINTS]
        series = runner.run_series(specs, launches or (1 if quick else stats.GATING_LAUNCHES), timeout, out, output)
    summary = Report(rows=series.path, failures=series.failures, exit_code=series.exit_code)
    table = []
    for point in POINTS:
        rows = [row for row in series.rows if row["point"] == {"program": point}]
        cells = [row for row in rows if row["kind"] == "cell" and row["status"] == "ok"]
        if not cells:
            continue
        instructions = cells[0]["figures"]["program"]["instructions"]
        times = stats.times([row for row in rows if row["kind"] == "block"])
        line: dict[str, Any] = {"program": point, "instructions": int(instructions)}
        for arm in ARMS:
            whole = times[arm]["program"].centre
            each = whole / instructions
            summary.figures[f"{arm}_ns.{point}"] = each
            line[f"{arm} ns an instruction"] = f"{each:.1f} (aim {AIMS[arm]:.0f})"
            if each > AIMS[arm]:
                output.say(f"note: {arm} of {point}: {each:.0f} ns an instruction, the aim is {AIMS[arm]:.0f}")
        line["translate ms"] = f"{times['translate']['program'].centre / 1e6:.3f}"
        table.append(line)
    output.console.print(report.table(table))
    output.say(f"rows: {series.path}")
    if (
        strict
        and summary.exit_code == Exit.OK
        and any((summary.figures.get(f"{arm}_ns.{point}") or 0) > AIMS[arm] for arm in ARMS for point in POINTS)
    ):
        summary.exit_code = Exit.FAILED
    output.finish(summary)

# SPDX-License-Identifier: MIT
"""What the commands of all experiments share: options, launches with a progress bar, output for people and scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from guestgpu import results
from guestgpu.experiment import Exit, Launch, Spec, run_launches
from guestgpu.results import Row, Writer

_FILE_WIDTH = 110  # columns of tables that no terminal bounds

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Report:
    """What a command has to say; printed as one JSON object under --json."""

    figures: dict[str, float | None] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    rows: Path | None = None
    exit_code: int = Exit.OK

    def as_json(self) -> str:
        """ok, figures (flat: name -> number), failures (list of texts), rows (path or null)."""
        content = {
            "ok": self.exit_code == Exit.OK,
            "figures": self.figures,
            "failures": self.failures,
            "rows": str(self.rows) if self.rows else None,
        }
        return json.dumps(content)


class Output:
    """Tables and notes go to stdout, or to stderr when stdout belongs to a JSON object."""

    def __init__(self, as_json: bool) -> None:
        self.json = as_json
        self.console = Console(stderr=as_json, highlight=False)
        if not self.console.is_terminal:
            self.console.width = _FILE_WIDTH

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)

    def finish(self, report: Report) -> None:
        """Ends the command: prints the object under --json, else the failures, and exits with the report's code."""
        if self.json:
            click.echo(report.as_json())
        else:
            for failure in report.failures:
                click.echo(f"failed: {failure}", err=True)
        sys.exit(report.exit_code)


def timing_options(function: F) -> F:
    """The options of every timed experiment."""
    for option in reversed(
        [
            click.option("--device", help="lavapipe, hw, an index, a UUID or part of a name."),
            click.option("--launches", type=click.IntRange(1), help="Process launches; 6 give verdicts that gate."),
            click.option("--blocks", type=click.IntRange(1), help="Mirrored blocks (A B B A) a launch."),
            click.option("--seed", type=click.IntRange(0), default=0, show_default=True),
            click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True,
                         help="Folder in which the run's own folder is made."),
            click.option("--timeout", type=click.FloatRange(1), default=600.0, show_default=True,
                         help="Seconds a launch may take."),
            click.option("--quick", is_flag=True, help="Few launches and blocks: proves and shows, does not gate."),
            click.option("--strict", is_flag=True, help="Exit code 3 when a verdict is AMBIGUOUS."),
            click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout."),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


@dataclass(frozen=True)
class Series:
    """The rows of all points of a run, and what failed."""

    folder: Path
    path: Path
    rows: list[Row]
    failures: list[str]
    exit_code: Exit


def run_series(specs: Sequence[Spec], launches: int, timeout_s: float, out: Path, output: Output) -> Series:
    """Runs every spec in `launches` processes, with a progress bar; rows go to OUT/EXPERIMENT-UTC/rows.jsonl.

    A spec may ask for the run's folder: the option "out" is filled in.
    """
    folder = results.new_run_folder(specs[0].experiment, out)
    path = folder / "rows.jsonl"
    codes, failures = [], []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Writer(path) as writer,
        Progress(*columns, console=output.console, transient=True, disable=not output.console.is_terminal) as bar,
    ):
        task = bar.add_task("launches", total=launches * len(specs))
        for spec in specs:
            name = point_name(spec.point)
            bar.update(task, description=name)
            if not output.console.is_terminal:
                output.say(f"{spec.experiment} {name}: {launches} launches of {', '.join(spec.arms)}")
            full = Spec(
                spec.experiment, spec.point, spec.arms, spec.seed, {**spec.options, "out": str(folder)}, spec.worker
            )

            def ended(launch: Launch, name: str = name) -> None:
                bar.advance(task)
                if launch.status != "ok":
                    failures.append(f"{name}, launch {launch.launch}: {launch.status}: {launch.reason}")

            outcome = run_launches(full, launches, timeout_s, writer, ended)
            codes.append(outcome.exit_code)
            if outcome.exit_code in (Exit.INTERRUPTED, Exit.NO_DEVICE):
                break
    worst = max(codes, key=lambda code: (code == Exit.INTERRUPTED, code == Exit.NO_DEVICE, code))
    return Series(folder, path, results.read(path).rows, failures, worst)


def point_name(point: Mapping[str, Any]) -> str:
    """A point in a few words: "mesh icosphere:5, words 22"."""
    return ", ".join(f"{key} {value}" for key, value in point.items())

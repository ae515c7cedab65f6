# SPDX-License-Identifier: MIT
"""suballoc_memory: what do lists of resources take by each set of placement rules? See README.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from guestgpu import memory_lists, report, runner
from guestgpu.experiment import Emit, Spec
from guestgpu.runner import Output, Report

ARMS = ["classic", "committed", "tight", "pool"]
HOST = {"uuid": "host", "name": "host", "driver": "none", "type": "host", "api": "none"}
SCENE = "scene"


def measure(request: dict[str, Any], emit: Emit) -> None:
    """Nothing is timed: one launch counts."""
    name, seed = request["point"]["list"], request["seed"]
    if request["file"]:
        resources = memory_lists.from_file(Path(request["file"]))
    else:
        resources = memory_lists.scene() if name == SCENE else memory_lists.families(seed)[name]
    found = memory_lists.need(resources)
    emit("env", device=HOST, details={"resources": found.resources, "profile": memory_lists.PROFILE}, versions={})
    figures = {arm: {"mib": getattr(found, arm)} for arm in ARMS}
    figures["tight"]["ratio"] = found.ratio
    figures["pool"]["utilisation"] = found.utilisation
    emit("cell", status="ok", reason=None, clock=None, correctness="the pool's check", figures=figures)


@click.command("suballoc_memory", help="Count what lists of resources take: 64 KiB placement, committed, tight, and in "
               "the pool. A real scene, synthetic families, and lists of your own.")  # fmt: skip
@click.option("--list", "files", type=click.Path(path_type=Path, exists=True, dir_okay=False), multiple=True,
              help="kind,bytes as experiments/data/scene_buffers.csv, or .json as `alloc rules` takes it.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the synthetic families.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True,
              help="Folder in which the run's own folder is made.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(files: tuple[Path, ...], seed: int, out: Path, as_json: bool) -> None:
    output = Output(as_json)
    for path in files:
        memory_lists.from_file(path)  # a file that makes no sense ends the command before anything runs
    lists: dict[str, Path | None] = {SCENE: None, **dict.fromkeys(memory_lists.families(seed))}
    lists |= {str(path): path for path in files}
    specs = [
        Spec("suballoc_memory", {"list": name}, ARMS, seed, {"file": str(path.absolute()) if path else None})
        for name, path in lists.items()
    ]
    series = runner.run_series(specs, 1, 600, out, output)
    summary = Report(rows=series.path, failures=series.failures, exit_code=series.exit_code)
    table = []
    for row in series.rows:
        if row["kind"] != "cell" or row["status"] != "ok":
            continue
        name, figures = row["point"]["list"], row["figures"]
        found = {f"{arm}_mib": figures[arm]["mib"] for arm in ARMS}
        found |= {"ratio": figures["tight"]["ratio"], "utilisation": figures["pool"]["utilisation"]}
        summary.figures |= {f"{name}.{metric}": value for metric, value in found.items()}
        table.append(
            {
                "list": name,
                **{f"{arm} MiB": f"{figures[arm]['mib']:.1f}" for arm in ARMS},
                "64 KiB : tight": f"{found['ratio']:.2f}x",
                "pool utilisation": f"{found['utilisation']:.3f}",
            }
        )
    output.console.print(report.table(table))
    output.say(f"rows: {series.path}")
    output.finish(summary)

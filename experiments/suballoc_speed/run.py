# SPDX-License-Identifier: MIT
"""suballoc_speed: what does an allocation cost, and how full are the blocks? See README.md."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from guestgpu import report, runner, scene_list, stats, suballoc_figures, suballoc_speed
from guestgpu.errors import FormatError
from guestgpu.experiment import Blocks, Emit, Exit, Spec
from guestgpu.runner import Output, Report
from guestgpu.suballoc_figures import LOOP, MARK
from guestgpu.suballoc_speed import Trace, Workload

TRACES = ["steady", "tiny", "tiny_floors", "mixed", "scene", "slices", "holes"]
ROUNDS = {"tiny": 1_000_000, "tiny_floors": 1_000_000, "steady": 100_000, "mixed": 100_000, "slices": 100_000,
          "holes": 1_000_000}  # fmt: skip
"""Resources of each trace; a tenth of them with --quick. Slices: as many as keep the trace itself in the cache."""
HOST = {"uuid": "host", "name": "host", "driver": "none", "type": "host", "api": "none"}
PEERS = Path(__file__).parent / "peers"


def packaged_peers(folder: Path) -> list[Path]:
    """Vulkan Memory Allocator where the system has its header (libvulkan-memory-allocator-dev), compiled now."""
    header = Path("/usr/include/vk_mem_alloc.h")
    if not header.exists() or not shutil.which("make"):
        return []
    command = ["make", "-s", "-C", PEERS, f"VMA={header.parent}", f"OUT={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FormatError(f"{header}: {done.stderr.strip().splitlines()[-1] if done.stderr else 'make failed'}")
    return [folder / "vma.so"]


def workload(trace: str, seed: int, quick: bool) -> Workload:
    kind = getattr(Trace, trace.upper())
    if trace == "scene":
        buffers = scene_list.default()
        return Workload(kind, sizes=[size for size, _ in buffers], alignments=[floor for _, floor in buffers])
    return Workload(kind, live=ROUNDS[trace] // (10 if quick else 1), seed=seed + 1)


def measure(request: dict[str, Any], emit: Emit) -> None:
    trace, quick = request["point"]["trace"], request["quick"]
    work = workload(trace, request["seed"], quick)
    functions = suballoc_speed.own() | suballoc_speed.peers([Path(path) for path in request["peers"]])
    allocators = {name: work.allocator(functions[name]) for name in request["arms"] if name != LOOP}
    emit("env", device=HOST, details={"peers": request["peers"]}, versions={})
    figures: dict[str, dict[str, float | None]] = {}
    if trace == "holes":
        for name, allocator in allocators.items():
            worst = work.run_worst(allocator)
            figures[name] = {"worst_us": worst["worst_ns"] / 1e3, "median_us": worst["median_ns"] / 1e3}
    else:
        for allocator in allocators.values():
            work.prove(allocator)
        arms = {name: partial(_timed, work, allocators.get(name)) for name in request["arms"]}
        blocks = Blocks(arms, request["launch"])
        figures = {name: {**found} for name, found in blocks.warm_up().items()}
        for block in blocks.run(request["blocks"]):
            emit("block", clock="thread CPU clock", correctness="alignment and overlap of each arm", **block)
        for name in request["arms"]:
            last = work.run(allocators.get(name))
            known = name != LOOP
            figures[name] |= {
                "operations": last["operations"],
                "utilisation": last["utilisation"] if known and last["utilisation"] else None,
                "books_bytes": last["books"] if known and last["books"] >= 0 else None,
            }
            if known:
                figures[name]["worst_us"] = work.run_worst(allocators[name])["worst_ns"] / 1e3
    emit("cell", status="ok", reason=None, clock="thread CPU clock", correctness="alignment and overlap of each arm",
         figures=figures)  # fmt: skip


def _timed(work: Workload, allocator: Any) -> dict[str, int | None]:
    """A whole round, as an operation takes too few nanoseconds for an integer."""
    round_ = work.run(allocator)
    return {"round": max(1, round(round_["ns"] * round_["operations"]))}


def arms_of(trace: str, peers: Mapping[str, Any]) -> list[str]:
    """Who takes part in a trace: only what clears at once takes slices; malloc would write 4 GiB of holes."""
    if trace == "slices":
        return [LOOP, "slices", *(name for name in peers if name.endswith("linear"))]
    others = [name for name in peers if not name.endswith("linear")]
    return ["pool", *others] if trace == "holes" else [LOOP, "pool", "pool-locked", MARK, *others]


@click.command("suballoc_speed", help="Time the pool, slices, and peers on the same traces of allocations and frees: "
               "ns an operation, utilisation, bytes of books a live object, the worst operation.")  # fmt: skip
@click.option("--trace", "traces", type=click.Choice(TRACES), multiple=True, help="Only these; again for more.")
@runner.timing_options
def command(
    traces: tuple[str, ...], device: str | None, launches: int | None, blocks: int | None, seed: int, out: Path,
    timeout: float, quick: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    output = Output(as_json)
    if device is not None:
        raise click.UsageError("--device: allocators run on the host")
    with tempfile.TemporaryDirectory(prefix="guestgpu-") as temporary:
        libraries = [*packaged_peers(Path(temporary)), *suballoc_speed.peer_paths()]
        peers = suballoc_speed.peers(libraries)
        output.say(f"peers: {', '.join(peers) or 'none; README.md says how to add some'}")
        request = {"blocks": blocks or (2 if quick else 5), "quick": quick, "peers": [str(path) for path in libraries]}
        specs = [
            Spec("suballoc_speed", {"trace": trace}, arms_of(trace, peers), seed, request)
            for trace in (traces or TRACES)
        ]
        series = runner.run_series(specs, launches or (1 if quick else stats.GATING_LAUNCHES), timeout, out, output)
    summary = Report(rows=series.path, failures=series.failures, exit_code=series.exit_code)
    summary.figures = suballoc_figures.figures(series.rows)
    for trace, arms in suballoc_figures.by_trace(summary.figures).items():
        output.console.print(report.table([_line(arm, of) for arm, of in arms.items()], title=trace))
    missed = _targets(summary.figures, output)
    output.say(f"rows: {series.path}")
    if strict and missed and summary.exit_code == Exit.OK:
        summary.exit_code = Exit.FAILED
    output.finish(summary)


def _line(arm: str, of: dict[str, float]) -> dict[str, Any]:
    line: dict[str, Any] = {"allocator": arm}
    for metric, name, shown in (
        ("ns", "ns an operation", ".1f"),
        ("utilisation", "utilisation", ".3f"),
        ("books_bytes", "books, bytes", ".1f"),
        ("worst_us", "worst, us", ".1f"),
    ):
        if metric in of:
            line[name] = f"{of[metric]:{shown}}"
    return line


def _targets(figures: suballoc_figures.Figures, output: Output) -> int:
    """Says of each target whether it was reached; how many were not."""
    table = []
    lines = suballoc_figures.targets(figures)
    for line in lines:
        row = {"trace": line["trace"], "against": line["against"]}
        if line["reached"] is not None:
            row["time"] = f"{line['ratio']:.2f}x (at most {line['most']})"
            row["without the loop"] = f"{line['net']:.2f}x"
        row["utilisation"] = f"{line['utilisation']:.3f} (at least {line['least']})"
        row["reached"] = {None: "no such peer", True: "yes", False: "no"}[line["reached"]]
        table.append(row)
    missed = sum(line["reached"] is False for line in lines)
    worst = figures.get("holes.pool.worst_us")
    if worst is not None:
        bar = suballoc_figures.WORST_US
        reached = worst <= bar
        missed += not reached
        table.append({"trace": "holes", "against": f"{bar:g} us", "time": f"{worst:.2f} us",
                      "reached": "yes" if reached else "no"})  # fmt: skip
    output.console.print(report.table(table, title="targets"))
    return missed

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

from guestgpu import report, runner, scene_list, stats, suballoc_speed
from guestgpu.errors import FormatError
from guestgpu.experiment import Blocks, Emit, Exit, Spec
from guestgpu.runner import Output, Report
from guestgpu.suballoc_speed import Trace, Workload

TRACES = ["steady", "tiny", "tiny_floors", "mixed", "scene", "slices", "holes"]
ROUNDS = {"tiny": 1_000_000, "tiny_floors": 1_000_000, "steady": 100_000, "mixed": 100_000, "slices": 100_000,
          "holes": 1_000_000}  # fmt: skip
"""Resources of each trace; a tenth of them with --quick. Slices: as many as keep the trace itself in the cache."""
LOOP, OWN, MARK = "loop", ("pool", "pool-locked", "slices"), "malloc"
HOST = {"uuid": "host", "name": "host", "driver": "none", "type": "host", "api": "none"}
PEERS = Path(__file__).parent / "peers"
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
"""Trace, peer, time of ours by the peer's at most, utilisation at least: shared/spec/suballocator.md."""


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
    for spec in specs:
        rows = [row for row in series.rows if row["point"] == spec.point]
        cells = [row["figures"] for row in rows if row["kind"] == "cell" and row["status"] == "ok"]
        if cells:
            _summarise(spec, rows, cells, summary, output)
    missed = _targets(summary.figures, output)
    output.say(f"rows: {series.path}")
    if strict and missed and summary.exit_code == Exit.OK:
        summary.exit_code = Exit.FAILED
    output.finish(summary)


def _summarise(spec: Spec, rows: list[Any], cells: list[Any], summary: Report, output: Output) -> None:
    trace = spec.point["trace"]
    times = stats.times([row for row in rows if row["kind"] == "block"])
    table = []
    for name in spec.arms:
        line: dict[str, Any] = {"allocator": name}
        if name in times:
            operations = cells[0][name]["operations"]
            ns = times[name]["round"].centre / operations
            summary.figures[f"{trace}.{name}.ns"] = ns
            line["ns an operation"] = f"{ns:.1f}"
        for metric, shown in (("utilisation", ".3f"), ("books_bytes", ".1f"), ("worst_us", ".1f")):
            # The worst of a launch is often what interrupted it: the best launch shows the allocator.
            found = [cell[name][metric] for cell in cells if cell[name].get(metric) is not None]
            if found:
                summary.figures[f"{trace}.{name}.{metric}"] = min(found)
                line[metric] = f"{min(found):{shown}}"
        table.append(line)
    output.console.print(report.table(table, title=trace))


def _targets(figures: Mapping[str, float | None], output: Output) -> int:
    """Says of each target whether it was reached; how many were not."""
    missed, table = 0, []
    for trace, against, most, least in TARGETS:
        own = "slices" if trace == "slices" else "pool"
        ours, use = figures.get(f"{trace}.{own}.ns"), figures.get(f"{trace}.{own}.utilisation")
        if ours is None or use is None:
            continue
        times = {
            name.split(".")[1]: ns
            for name, ns in figures.items()
            if ns is not None and name.startswith(f"{trace}.") and name.endswith(".ns")
        }
        peers = {name: ns for name, ns in times.items() if name not in (*OWN, LOOP, MARK)}
        named = min(peers, key=lambda name: peers[name], default=None) if against == "fastest" else against
        row = {"trace": trace, "against": f"{against}: {named}" if against == "fastest" and named else against,
               "utilisation": f"{use:.3f} (at least {least})"}  # fmt: skip
        if named in peers:
            ratio = ours / peers[named]
            row["time"] = f"{ratio:.2f}x (at most {most})"
            row["net"] = f"{(ours - times[LOOP]) / max(peers[named] - times[LOOP], 0.1):.2f}x"
            row["reached"] = "yes" if ratio <= most and use >= least else "no"
            missed += row["reached"] == "no"
        table.append(row)
    worst = figures.get("holes.pool.worst_us")
    if worst is not None:
        row = {"trace": "holes", "against": "1 us", "time": f"{worst:.2f} us", "reached": "yes" if worst <= 1 else "no"}
        missed += worst > 1
        table.append(row)
    output.console.print(report.table(table, title="targets (net: without the loop's own time)"))
    return missed

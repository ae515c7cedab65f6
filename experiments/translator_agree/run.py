# SPDX-License-Identifier: MIT
"""translator_agree: do translated guest programs do what their originals do? See README.md.

One point is a program; its launch compiles it in every variant, and runs each on the interpreter and, for every k that
applies, translated on the device.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from guestgpu import agree, agree_inputs, experiment, results
from guestgpu import device as gpu
from guestgpu.errors import GuestGpuError
from guestgpu.experiment import Exit, Spec
from guestgpu.results import Row, Writer
from guestgpu.runner import Output, Report

ARMS = ["original", "interpreter", "device"]
measure = agree.measure


@click.command("translator_agree", help="Translate each program of a folder in every variant and for every k, run it "
               "on the device, and compare it with the interpreter and with what it was made from.")  # fmt: skip
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    help="Folder of .comp, .cl and .spv files, NAME.toml beside them.  [default: the corpus that comes along]",
)
@click.option("--program", "chosen", multiple=True, help="Only programs whose name has this in it; repeat it.")
@click.option(
    "--compiled",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder that --save wrote, in the corpus's place: no guest compiler is needed.",
)
@click.option(
    "--save",
    "save_folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Only compile, into this folder; no device is needed.",
)
@click.option("--barriers", type=click.Choice(["auto", "strict", "phase"]), default="auto", show_default=True)
@click.option("--device", help="lavapipe, hw, an index, a UUID or part of a name.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of inputs that nothing gives.")
@click.option("--shard", help="I/N: only that share of the programs.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Folder in which the run's own folder is made.",
)
@click.option("--timeout", type=click.FloatRange(1), default=600.0, show_default=True, help="Seconds of a program.")
@click.option("--quick", is_flag=True, help="OpenCL C at -O2 only; the least and the most k only.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    corpus: Path | None, chosen: tuple[str, ...], compiled: Path | None, save_folder: Path | None, barriers: str,
    device: str | None, seed: int, shard: str | None, out: Path, timeout: float, quick: bool, as_json: bool,
) -> None:  # fmt: skip
    output = Output(as_json)
    if compiled and (corpus or save_folder):
        raise click.UsageError("--compiled goes without --corpus and --save")
    programs = _programs(compiled, corpus or agree_inputs.default_folder())
    programs = {name: path for name, path in programs.items() if not chosen or any(part in name for part in chosen)}
    if not programs:
        raise click.UsageError(f"no program with {' or '.join(chosen)} in its name")
    if shard:
        programs = {name: programs[name] for name in experiment.shard(list(programs), shard)}
    if save_folder:
        _save(programs, save_folder, quick, seed, output)
        return
    info = gpu.select(device)
    output.say(f"device: {info.name} ({info.driver_info or info.driver}), Vulkan {info.api}")
    request = {"device": info.uuid if device is None else device, "quick": quick, "barriers": barriers}
    folder = results.new_run_folder("translator_agree", out)
    summary = Report(rows=folder / "rows.jsonl")
    counts = dict.fromkeys(("programs", "refused", "disagree", "failed", "ways", "equal"), 0)
    with Writer(folder / "rows.jsonl") as writer:
        for name, path in programs.items():
            options = {**request, "path": str(path.resolve()), "out": str(folder)}
            spec = Spec("translator_agree", {"program": name}, ARMS, seed, options)
            outcome = experiment.run_launches(spec, 1, timeout, writer)
            if outcome.exit_code in (Exit.INTERRUPTED, Exit.NO_DEVICE):
                summary.failures += [f"{name}: {launch.reason}" for launch in outcome.launches]
                summary.exit_code = outcome.exit_code
                break
            _count(_last_cell(folder / "rows.jsonl"), counts, summary, output)
    summary.figures = dict(counts)
    if summary.failures and summary.exit_code == Exit.OK:
        summary.exit_code = Exit.FAILED
    output.say(", ".join(f"{value} {name}" for name, value in counts.items()))
    output.say(f"rows: {summary.rows}")
    output.finish(summary)


def _programs(compiled: Path | None, corpus: Path) -> dict[str, Path]:
    if compiled:
        return {path.name: path for path in sorted(compiled.iterdir()) if path.is_dir()}
    root = corpus if corpus.is_dir() else corpus.parent
    return {path.relative_to(root).as_posix(): path for path in agree_inputs.programs(corpus)}


def _save(programs: dict[str, Path], folder: Path, quick: bool, seed: int, output: Output) -> None:
    report = Report(figures={"programs": len(programs), "cases": 0})
    for name, path in programs.items():
        try:
            report.figures["cases"] = (report.figures["cases"] or 0) + agree.save_cases(path, name, quick, seed, folder)
        except GuestGpuError as error:
            report.failures.append(f"{name}: {error}")
    output.say(f"{folder}: {report.figures['cases']} cases of {len(programs)} programs")
    report.exit_code = Exit.FAILED if report.failures else Exit.OK
    output.finish(report)


def _last_cell(path: Path) -> Row:
    return [row for row in results.read(path).rows if row["kind"] == "cell"][-1]


def _count(row: Row, counts: dict[str, int], summary: Report, output: Output) -> None:
    """Adds a program's row, and prints its line."""
    name, figures = row["point"]["program"], row["figures"]
    counts["programs"] += 1
    counts["ways"] += len(figures)
    counts["equal"] += sum(int(way[agree.EQUAL]) for way in figures.values())
    differ, refused = (any(way[kind] for way in figures.values()) for kind in (agree.DIFFERS, agree.REFUSED))
    counts["disagree"] += differ
    counts["refused"] += refused
    counts["failed"] += row["status"] != "ok" and not (differ or refused)
    if row["status"] != "ok":
        word = "DISAGREES" if differ else "REFUSED" if refused else row["status"].upper()
        output.say(f"{name}: {word}: {first_of(row['reason'], figures)}")
        summary.failures.append(f"{name}: {word.lower()}: {row['reason']}")
        return
    output.say(f"{name}: {describe(figures)}")


def first_of(reason: str, figures: dict[str, Any]) -> str:
    """The first failure, and how many there are: one line stays one line."""
    failed = sum(not way[agree.EQUAL] for way in figures.values())
    way = next((name for name, found in figures.items() if not found[agree.EQUAL]), "")
    following = [name for name, found in figures.items() if not found[agree.EQUAL]][1:2]
    end = reason.find(f"; {following[0]}: ") if following else -1
    return (reason if end < 0 else reason[:end]) + (f" ({failed} of {len(figures)} ways)" if way else "")


def describe(figures: dict[str, Any]) -> str:
    """What was equal to what, in a few words."""
    variants = dict.fromkeys(way.rpartition(" ")[0] for way in figures)
    ks = sorted({int(way.rpartition(" k")[2]) for way in figures if " k" in way})
    translated = [way for name, way in figures.items() if " k" in name]
    to = "interpreter and original" if all(way["original"] for way in figures.values()) else "interpreter (no original)"
    sizes = [way["words"] / way["instructions"] for way in translated if way.get("instructions")]
    size = f", {min(sizes):.0f} to {max(sizes):.0f} words an instruction" if sizes else ""
    return f"{len(variants)} variants, k {' '.join(map(str, ks))}: {len(translated)} equal to {to}{size}"

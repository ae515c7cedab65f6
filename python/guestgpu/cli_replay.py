# SPDX-License-Identifier: MIT
"""`guestgpu stream replay`: a capture, carried out."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from guestgpu import replay
from guestgpu.capture import Capture, Memory
from guestgpu.experiment import Exit
from guestgpu.replay import Event, Machine
from guestgpu.runner import Output, Report


@click.command("replay")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--on",
    "where",
    type=click.Choice(["device", "interpreter", "both"]),
    default="both",
    show_default=True,
    help="What carries out the dispatches; both: memory is compared after each.",
)
@click.option("--device", "selector", help="lavapipe, hw, an index, a UUID or part of a name.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write memory after the last submission: device/ and interpreter/memory_ADDRESS.bin.",
)
@click.option(
    "--steps",
    "step_limit",
    type=click.IntRange(1),
    default=1 << 28,
    show_default="2^28",
    help="Instructions of a dispatch on the interpreter.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=60.0,
    show_default=True,
    help="Seconds of a dispatch on the device.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def replay_command(
    file: Path, where: str, selector: str | None, folder: Path | None, step_limit: int, timeout: float, as_json: bool
) -> None:
    """Carry out a capture: its dispatches through the translator on a device, on the interpreter, or on both.

    What stands between dispatches (fills, copies, updates, counts of indirect dispatches) is carried out too; what
    cannot be, such as a draw, ends the replay by name. Exit code 1 where device and interpreter differ.
    """
    recording, output = Capture(file), Output(as_json)
    with contextlib.ExitStack() as stack:
        machines: dict[str, Machine] = {}
        if where in ("device", "both"):
            from guestgpu.device import Device

            device = stack.enter_context(Device.open(selector))
            output.say(f"device: {device.info.name}")
            machines["device"] = replay.OnDevice(device, timeout_s=timeout)
        if where in ("interpreter", "both"):
            machines["interpreter"] = replay.Interpreter(step_limit)
        report = _replay(recording, machines, folder, output)
    output.finish(report)


def _replay(recording: Capture, machines: dict[str, Machine], folder: Path | None, output: Output) -> Report:
    counts = dict.fromkeys(("submissions", "dispatches", "unequal", "reads_outside", "writes_outside"), 0)
    failures = []
    for events in zip(*(replay.run(recording, machine) for machine in machines.values()), strict=True):
        event, difference = events[0], _difference(events, machines)
        if event.dispatch is None:
            counts["submissions"] += 1
        else:
            counts["dispatches"] += 1
            counts["reads_outside"] += event.counters.reads_outside
            counts["writes_outside"] += event.counters.writes_outside
            output.say(_line(event, dict(zip(machines, events, strict=True)), difference))
        if difference:
            counts["unequal"] += 1
            what = "its end" if event.dispatch is None else f"dispatch {event.number}"
            failures.append(f"submission {event.submission}, {what}: {' and '.join(machines)}: {difference}")
        if event.dispatch is None and event.submission == recording.submission_count - 1 and folder:
            for name, other in zip(machines, events, strict=True):
                _save_memory(folder / name, other.memory)
    verdict = "" if len(machines) < 2 else f": {counts['unequal']} not equal" if failures else ": all equal"
    output.say(f"{counts['dispatches']} dispatches of {counts['submissions']} submissions{verdict}")
    return Report(dict(counts), failures, exit_code=Exit.FAILED if failures else Exit.OK)


def _difference(events: tuple[Event, ...], machines: dict[str, Machine]) -> str:
    """ "" or where two machines' memories differ, and what else does."""
    if len(events) < 2:
        return ""
    for event, machine in zip(events, machines.values(), strict=True):
        machine.flush(event.memory)
    one, other = events
    if one.counters != other.counters:
        return f"{one.counters} and {other.counters}"
    return replay.difference(one.memory, other.memory)


def _line(event: Event, by_machine: dict[str, Event], difference: str) -> str:
    d = event.dispatch
    assert d is not None
    start = f" from {d.first_group}" if any(d.first_group) else ""
    outside = event.counters.reads_outside + event.counters.writes_outside
    parts = [
        f"submission {event.submission}, dispatch {event.number}: program {d.program:#x}, wave{d.wave}",
        f"{'indirect ' if d.indirect else ''}groups {d.groups}{start} of {d.threads} threads",
        *(f"{name} {1e3 * e.seconds:.1f} ms" for name, e in by_machine.items()),
        *([f"{outside} accesses outside of recorded memory"] if outside else []),
        *([] if len(by_machine) < 2 else ["NOT EQUAL" if difference else "equal"]),
    ]
    return ", ".join(parts)


def _save_memory(folder: Path, memory: Memory) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for window in memory.windows():
        (folder / f"memory_{window.address:x}.bin").write_bytes(window.bytes.tobytes())

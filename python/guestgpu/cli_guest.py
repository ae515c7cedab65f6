# SPDX-License-Identifier: MIT
"""The commands about guests: recording what applications submit, looking at it, and compiling guest programs."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import click

from guestgpu import capture, cli_replay, errors, guest
from guestgpu.experiment import Exit
from guestgpu.runner import Output, Report
from guestgpu.stream import Packet

_SHOWN_WORDS = 8


@click.command("capture")
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write; one that is there is replaced.",
)
@click.option("--gpu", default="navi21", show_default=True, help="The GPU that Mesa's shim pretends, by Mesa's name.")
@click.option(
    "--limit",
    "limit_mib",
    type=click.IntRange(1),
    default=4096,
    show_default=True,
    help="MiB after which recording stops; the application goes on.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout; the application's goes to stderr.")
@click.argument("application", nargs=-1, required=True, type=click.UNPROCESSED)
def capture_command(file: Path, gpu: str, limit_mib: int, as_json: bool, application: tuple[str, ...]) -> None:
    """Run APPLICATION, a Vulkan program, on a fake AMD GPU, and record what it submits.

    Write `--` before it: guestgpu capture -o FILE -- APPLICATION ARGUMENTS. No AMD hardware is needed. Nothing is
    carried out: what the GPU would have written stays as it was.

    Personal data: all memory that the application shares with the GPU goes into FILE: images, texts, models and keys
    that it had there, and its program's name. Look at who may see the file before you hand it on.

    A child process of the application that submits too writes FILE.PID.
    """
    output, started = Output(as_json), time.time()
    try:
        ran = capture.record(file, application, gpu, limit_mib, stdout=sys.stderr if as_json else None)
    except OSError as error:
        raise click.UsageError(f"{application[0]}: {error.strerror or error}") from None
    if not file.exists():
        ending = f"{application[0]} ended with {_ending(ran.returncode)}"
        raise capture.CaptureError(f"{ending}, and used no Vulkan device: {file} was not written")
    recording = capture.Capture(file)
    others = [path for path in file.parent.glob(f"{file.name}.*") if path.stat().st_mtime >= started]
    output.say(f"{file}: {recording.submission_count} submissions, {file.stat().st_size / 2**20:.1f} MiB")
    for text in [*recording.notes, *(f"a child process wrote {path}" for path in others)]:
        output.say(f"note: {text}")
    failures = []
    if ran.returncode:
        failures.append(f"{application[0]} ended with {_ending(ran.returncode)}")
    if not recording.complete:
        failures.append(f"{file}: the application was killed or recording stopped: the end is missing")
    figures: dict[str, float | None] = {
        "submissions": recording.submission_count,
        "bytes": file.stat().st_size,
        "complete": int(recording.complete),
    }
    output.finish(Report(figures, failures, exit_code=Exit.FAILED if failures else Exit.OK))


def _ending(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


# ---- stream ----


@click.group("stream")
def stream_group() -> None:
    """Look at recorded command streams, and carry them out."""


@stream_group.command("dump")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, with all packets.")
def dump(file: Path, as_json: bool) -> None:
    """Print the packets of a capture with the names of the registers that they set."""
    recording, output = capture.Capture(file), Output(as_json)
    counts = dict.fromkeys(("submissions", "packets", "dispatches", "draws"), 0)
    listed = []
    for submission in recording.submissions():
        counts["submissions"] += 1
        if not as_json:
            click.echo(f"submission {submission.number}: device {submission.device}, context {submission.context}")
        buffers: list[dict[str, Any]] = []
        for ib in submission.ibs:
            where = {"address": hex(ib.address), "words": ib.words, "ip": ib.ip.name, "ring": ib.ring}
            if not as_json:
                unread = "" if ib.is_pm4 else ": not PM4, not read"
                click.echo(f" buffer {ib.address:#x}, {ib.words} words, {ib.ip.name} ring {ib.ring}{unread}")
            packets = []
            for packet in submission.packets(ib) if ib.is_pm4 else ():
                counts["packets"] += 1
                counts["dispatches"] += packet.dispatch is not None
                counts["draws"] += packet.effect.name == "DRAW"
                if as_json:
                    packets.append(_packet_object(packet))
                else:
                    click.echo("\n".join(_packet_lines(packet)))
            buffers.append({**where, "packets": packets})
        listed.append({"number": submission.number, "device": submission.device, "buffers": buffers})
    if as_json:
        report = json.loads(Report(dict(counts)).as_json())
        about = {"info": recording.info, "notes": recording.notes, "complete": recording.complete}
        click.echo(json.dumps({**report, "capture": about, "submissions": listed}))
        return
    for note in recording.notes:
        output.say(f"note: {note}")
    if not recording.complete:
        output.say("note: the end is missing: the application was killed, or recording stopped")
    output.say(", ".join(f"{count} {name}" for name, count in counts.items()))


def _packet_lines(packet: Packet) -> list[str]:
    indent = "  " * (packet.depth + 1)
    head = f"{indent}{packet.address:012x} {packet.name}"
    if packet.registers:
        width = max(len(register.name) for register in packet.registers)
        return [head, *(f"{indent}  {register.name:{width}} = {register.value:#010x}" for register in packet.registers)]
    if packet.dispatch is not None:
        d = packet.dispatch
        counts = f"groups {d.groups} of {d.threads} threads"
        return [f"{head}: {counts}, wave{d.wave}, program {d.program:#x}, {d.lds_bytes} bytes of LDS"]
    if packet.target:
        return [f"{head}: {packet.target:#x}"]
    body = packet.words[1:]
    shown = " ".join(f"{word:08x}" for word in body[:_SHOWN_WORDS])
    more = f" and {len(body) - _SHOWN_WORDS} words" if len(body) > _SHOWN_WORDS else ""
    return [f"{head}: {shown}{more}" if body else head]


def _packet_object(packet: Packet) -> dict[str, Any]:
    found: dict[str, Any] = {
        "address": hex(packet.address),
        "depth": packet.depth,
        "name": packet.name,
        "words": [f"{word:08x}" for word in packet.words],
    }
    if packet.registers:
        found["registers"] = {register.name: f"{register.value:#010x}" for register in packet.registers}
    if packet.dispatch is not None:
        found["dispatch"] = {"program": hex(packet.dispatch.program)} | {
            name: getattr(packet.dispatch, name) for name in ("groups", "threads", "wave", "vgprs", "lds_bytes")
        }
    return found


# ---- guest ----


@click.group("guest")
def guest_group() -> None:
    """Make guest programs: AMD machine code and its launch state, without AMD hardware."""


def _groups(_: click.Context, __: click.Parameter, value: str) -> tuple[int, ...]:
    found = [int(part) if part.isdecimal() else 0 for part in value.split(",")]
    if len(found) > 3 or not all(1 <= number <= 65535 for number in found):
        raise click.BadParameter(f"{value!r} is not one to three numbers from 1 to 65535")
    return (*found, 1, 1)[:3]


@guest_group.command("compile")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder to write into; made where it is missing.",
)
@click.option(
    "--wave", type=click.Choice(["32", "64"]), help="Lanes of a wave; default: the compiler's choice, for OpenCL C 32."
)
@click.option(
    "--opt", type=click.Choice(["O1", "O2", "O3"]), default="O2", show_default=True, help="Of clang; for .cl only."
)
@click.option("--fast-math", is_flag=True, help="For .cl only; else every float operation rounds once.")
@click.option(
    "--groups",
    metavar="X,Y,Z",
    callback=_groups,
    default="4,1,1",
    show_default=True,
    help="Workgroups of the dispatch.",
)
@click.option(
    "--bytes",
    "buffer_bytes",
    type=click.IntRange(4, 1 << 28),
    default=65536,
    show_default=True,
    help="Size of buffers that end in an open array.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the buffers' random words.")
@click.option(
    "--timeout", type=click.FloatRange(0.1), default=60.0, show_default=True, help="Seconds for the compiler."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def compile_command(
    file: Path,
    folder: Path,
    wave: str | None,
    opt: str,
    fast_math: bool,
    groups: tuple[int, int, int],
    buffer_bytes: int,
    seed: int,
    timeout: float,
    as_json: bool,
) -> None:
    """Compile FILE for gfx1030 (RDNA 2): .comp or .glsl and .spv through Mesa's RADV, .cl through clang-19.

    RADV's programs are dispatched once, on a fake GPU, so that the folder holds all that the hardware would see:
    program.bin (words), state.json (launch state, registers, buffers, memory map), memory_ADDRESS.bin (memory before
    the dispatch), disassembly.txt and the source. clang's have program.elf, with the descriptors of its kernels.
    """
    output = Output(as_json)
    options = guest.Options(
        wave=int(wave) if wave else None,
        groups=groups,
        buffer_bytes=buffer_bytes,
        seed=seed,
        opt=int(opt.removeprefix("O")),
        fast_math=fast_math,
        timeout_s=timeout,
    )
    made = guest.compile_file(file, options)
    made.save(folder)
    shutil.copyfile(file, folder / f"source{file.suffix}")
    try:
        (folder / "disassembly.txt").write_text(guest.disassemble(made))
    except (errors.FormatError, errors.Unsupported) as error:  # data among the code, say
        (folder / "disassembly.txt").unlink(missing_ok=True)
        output.say(f"note: no disassembly: {error}")
    figures: dict[str, float | None] = {"wave": made.state()["wave"]}
    if isinstance(made, guest.GuestProgram):
        d = made.dispatch
        figures |= {"words": len(made.words), "vgprs": d.vgprs, "lds_bytes": d.lds_bytes, "buffers": len(made.bindings)}
        output.say(
            f"{folder}: {len(made.words)} words, wave{d.wave}, {d.threads} threads, {d.vgprs} VGPRs, "
            f"{d.lds_bytes} bytes of LDS, {len(made.bindings)} buffers"
        )
    else:
        figures["bytes"] = len(made.elf)
        output.say(f"{folder}: an object of {len(made.elf)} bytes, wave{made.wave}, -O{made.opt}")
    output.finish(Report(figures))


def register(cli: click.Group) -> None:
    """Adds the commands of this module."""
    stream_group.add_command(cli_replay.replay_command)
    for command in (capture_command, stream_group, guest_group):
        cli.add_command(command)

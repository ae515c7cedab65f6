# SPDX-License-Identifier: MIT
"""The commands that look at one guest program: `guestgpu translate` and `guestgpu interp`."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from numpy.typing import NDArray

from guestgpu import errors, interpreter, program_file, translation, translator
from guestgpu.program_file import Loaded, Options
from guestgpu.runner import Output, Report

K_CHOICES = ("auto", "1", "2", "4", "8", "16", "32", "64")
DUMPS = ("ir", "disassembly", "spirv")
_REFUSED = (errors.Unsupported, errors.FormatError, errors.LimitExceeded, errors.ArgumentError)

F = TypeVar("F", bound=Callable[..., Any])


def _three(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    found = [int(part) if part.isdecimal() else 0 for part in value.split(",")]
    if len(found) > 3 or not all(1 <= number <= 65535 for number in found):
        raise click.BadParameter(f"{value!r} is not one to three numbers from 1 to 65535")
    return (*found, 1, 1)[:3]


def _file_options(function: F) -> F:
    """How FILE becomes a program."""
    for option in reversed(
        [
            click.option("--wave", type=click.Choice(["32", "64"]), help="Lanes of a wave; default: FILE's, or the "
                         "compiler's choice."),
            click.option("--kernel", help="Of OpenCL C and code objects with several."),
            click.option("--opt", type=click.Choice(["O1", "O2", "O3"]), default="O2", show_default=True,
                         help="Of clang; for .cl only."),
            click.option("--groups", metavar="X,Y,Z", callback=_three, help="Workgroups of the dispatch."),
            click.option("--threads", metavar="X,Y,Z", callback=_three,
                         help="Of a workgroup, for .s and .bin and kernels that do not say.  [default: one wave]"),
            click.option("--lds", "lds_bytes", type=click.IntRange(0, 65536), default=0, show_default=True,
                         help="Bytes of LDS of .s and .bin."),
            click.option("--gpu", type=click.Choice(list(translator.GPUS)), default="gfx1030", show_default=True,
                         help="Of .s and .bin."),
            click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                         help="Of the random words in buffers."),
            click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout."),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def _options(chosen: Mapping[str, Any]) -> Options:
    return Options(
        wave=int(chosen["wave"]) if chosen["wave"] else None,
        gpu=chosen["gpu"],
        kernel=chosen["kernel"],
        groups=chosen["groups"],
        threads=chosen["threads"],
        lds_bytes=chosen["lds_bytes"],
        opt=int(chosen["opt"].removeprefix("O")),
        seed=chosen["seed"],
    )


# ---- translate ----


@click.command("translate")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", type=click.Path(path_type=Path, dir_okay=False), help="The SPIR-V module.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON: what was found, what the module needs; for a refusal its name, offset and instruction.",
)
@click.option(
    "--k",
    type=click.Choice(K_CHOICES),
    default="auto",
    show_default=True,
    help="Guest lanes that an invocation carries: the wave, 1, or wave / subgroup.",
)
@click.option(
    "--flow",
    type=click.Choice(["auto", "dispatch"]),
    default="auto",
    show_default=True,
    help="Control flow: a dispatch loop, or the best that is there.",
)
@click.option(
    "--barriers",
    type=click.Choice(["auto", "strict", "phase"]),
    default="auto",
    show_default=True,
    help="How waves meet: strict cuts at barriers and refuses what that cannot do, auto refuses nothing.",
)
@click.option(
    "--subgroup",
    type=click.IntRange(1, 128),
    help="Lanes of the host's subgroup.  [default: wave / k, of a k between]",
)
@click.option("--dump", type=click.Choice(DUMPS), help="Print this form of the program as well.")
@_file_options
def translate_command(
    file: Path, out: Path | None, report_file: Path | None, k: str, flow: str, barriers: str, subgroup: int | None,
    dump: str | None, as_json: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Translate a guest program to a SPIR-V module.

    FILE is a compute shader (.comp, .glsl, .spv; compiled by RADV), OpenCL C (.cl; by clang-19), a folder that
    `guestgpu guest compile` wrote, a linked ELF code object, assembly text (.s) or raw words (.bin).
    """
    output = Output(as_json)
    loaded = program_file.load(file, _options(chosen))
    if dump in ("ir", "disassembly"):
        _dump(loaded, dump, output)
    options: dict[str, Any] = {
        "lanes": 0 if k == "auto" else int(k),
        "flow": flow,
        "barriers": barriers,
        "subgroup": subgroup or _subgroup(k, loaded.program.wave),
    }
    try:
        module = translation.translate(loaded.program, translation.Options(**options))
    except _REFUSED as error:
        if report_file:
            _write_json(report_file, {"ok": False, "program": loaded.name, "refusal": refusal(error), **options})
        raise
    found = {"ok": True, "program": loaded.name, "refusal": None, **options, "report": report_of(module)}
    found["needs"] = needs(module.words)
    if out:
        out.write_bytes(module.words.tobytes())
    if report_file:
        _write_json(report_file, found)
    if dump == "spirv":
        from guestgpu import device

        output.say(device.disassemble_spirv(module.words))
    figures: dict[str, float | None] = {
        name: value for name, value in found["report"].items() if isinstance(value, int | float)
    }
    figures["words"] = len(module.words)
    shown = ("instructions", "blocks", "loops", "barriers", "lanes", "invocations", "lds_words")
    listed = ", ".join(f"{figures[name]} {name.replace('_', ' ')}" for name in shown if name in figures)
    output.say(f"{loaded.name}: {len(module.words)} words of SPIR-V; {listed}")
    output.finish(Report(figures))


def _subgroup(k: str, wave: int) -> int:
    """Of a k between one lane and the wave, what makes it the wave's share; else none is relied on."""
    return 0 if k == "auto" or int(k) in (1, wave) else wave // int(k)


def _dump(loaded: Loaded, dump: str, output: Output) -> None:
    if dump == "ir":
        output.say(translation.ir(loaded.program))
    else:
        gpu = next(name for name, number in translator.GPUS.items() if number == loaded.program.gpu)
        output.say(translator.disassemble(loaded.program.words, gpu, loaded.program.wave))


def report_of(module: translation.Module) -> dict[str, Any]:
    """The translator's report as JSON has it."""
    return {name: _plain(value) for name, value in vars(module.report).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, enum.Flag):
        return [str(member.name).lower() for member in type(value) if member in value]
    if isinstance(value, enum.Enum):
        return str(value.name).lower()
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(item) for name, item in vars(value).items()}
    return value if isinstance(value, str | bool | float) or value is None else int(value)


def refusal(error: errors.GuestGpuError) -> dict[str, Any]:
    """Name, offset and instruction of a refusal, from its one line; `barrier`: the offset of the one in the way."""
    text = str(error)
    offset = re.search(r"offset 0x([0-9a-f]+)", text)
    rule = next((rule for rule in _STRICT_RULES if f"{rule}:" in text), None)
    named = re.search(r"offset 0x[0-9a-f]+: (?:branch_between_runs: )?(?!word )([a-z]\w*)[: ](?!branch)", text)
    barrier = re.search(r"s_barrier at 0x([0-9a-f]+)", text)
    return {
        "name": rule or _REFUSAL_NAMES.get(error.code or "", "refused"),
        "text": text,
        "offset": int(offset[1], 16) if offset else None,
        "instruction": named[1] if named else None,
        "barrier": int(barrier[1], 16) if barrier else None,
    }


_STRICT_RULES = ("branch_between_runs", "group_meets", "run cut")
_REFUSAL_NAMES = {
    "GG_ERR_UNSUPPORTED": "unsupported",
    "GG_ERR_FORMAT": "format",
    "GG_ERR_LIMIT": "limit",
    "GG_ERR_ARGUMENT": "lanes",
}


def needs(words: NDArray[np.uint32]) -> dict[str, Any]:
    """What a module needs of a device, as it says itself."""
    found: dict[str, Any] = {
        "version": f"{int(words[1]) >> 16 & 0xFF}.{int(words[1]) >> 8 & 0xFF}",
        "capabilities": [],
        "extensions": [],
        "workgroup": None,
        "storage_buffers": 3,
        "buffers": ["guest memory", "launch", "counters"],
    }
    at = 5
    while at < len(words):
        opcode, count = int(words[at]) & 0xFFFF, int(words[at]) >> 16
        if opcode == 17:
            found["capabilities"].append(_CAPABILITIES.get(int(words[at + 1]), int(words[at + 1])))
        elif opcode == 10:
            found["extensions"].append(words[at + 1 : at + count].tobytes().split(b"\0")[0].decode())
        elif opcode == 16 and words[at + 2] == 17:
            found["workgroup"] = words[at + 3 : at + 6].tolist()
        elif opcode == 54 or not count:  # OpFunction: declarations are over
            break
        at += count
    return found


_CAPABILITIES = {
    1: "Shader", 9: "Float16", 10: "Float64", 11: "Int64", 12: "Int64Atomics", 22: "Int16", 39: "Int8",
    61: "GroupNonUniform", 62: "GroupNonUniformVote", 63: "GroupNonUniformArithmetic", 64: "GroupNonUniformBallot",
    65: "GroupNonUniformShuffle", 66: "GroupNonUniformShuffleRelative", 4464: "DenormPreserve",
    4465: "DenormFlushToZero", 4466: "SignedZeroInfNanPreserve", 4467: "RoundingModeRTE", 4468: "RoundingModeRTZ",
    5345: "VulkanMemoryModel", 5347: "PhysicalStorageBufferAddresses",
}  # fmt: skip


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")


# ---- interp ----

INTERP_DUMPS = ("registers", "memory", "outputs", "counters", "all")


@click.command("interp")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--set",
    "sets",
    metavar="REG=VALUE",
    multiple=True,
    help="s4=0x10, vcc_lo=5, v3=7 (all lanes), v3[5]=7 (one), wave1.s4=2 (one wave), scc, mode. Repeat it.",
)
@click.option(
    "--memory",
    "memories",
    metavar="ADDRESS=FILE",
    multiple=True,
    help="A window of guest memory: a file's bytes, or a number of zero bytes (0x1000=4096). Repeat it.",
)
@click.option(
    "--dump",
    "dumps",
    type=click.Choice(INTERP_DUMPS),
    multiple=True,
    help="What to print; repeat it.  [default: registers and counters]",
)
@click.option(
    "--steps",
    "step_limit",
    type=click.IntRange(1),
    default=1 << 28,
    show_default="2^28",
    help="Instructions of all waves together.",
)
@click.option(
    "--schedule",
    "schedule_seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="0: waves take turns of 64 instructions; else random turns of this seed.",
)
@click.option(
    "--lines", type=click.IntRange(1), default=64, show_default=True, help="Lines of memory and outputs to print."
)
@_file_options
def interp_command(
    file: Path, sets: tuple[str, ...], memories: tuple[str, ...], dumps: tuple[str, ...], step_limit: int,
    schedule_seed: int, lines: int, as_json: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Run a guest program on the interpreter, the translator's reference, and print what it did: for bug reports.

    FILE is what `guestgpu translate` takes. Buffers that nothing fills hold random words of --seed. Registers are the
    last workgroup's; --set starts from the first workgroup's launch state, and so needs a dispatch of one.
    """
    output = Output(as_json)
    options = _options(chosen)
    if sets and options.groups is None:
        options = Options(**{**vars(options), "groups": (1, 1, 1)})
    loaded = program_file.load(file, options)
    groups = options.groups or loaded.groups
    registers = None
    if sets:
        if groups != (1, 1, 1):
            raise click.UsageError(f"--set replaces the launch state of one workgroup, not of {groups}")
        registers = interpreter.launch_registers(loaded.program)
        for text in sets:
            program_file.set_register(registers, text)
    windows = loaded.memory() | dict(_window(text) for text in memories)
    before = {address: array.copy() for address, array in windows.items()}
    ran = interpreter.interpret(
        loaded.program, windows, groups=groups, first_group=loaded.first_group, registers=registers,
        step_limit=step_limit, schedule_seed=schedule_seed,
    )  # fmt: skip
    wanted = set(dumps or ("registers", "counters"))
    wanted = set(INTERP_DUMPS) if "all" in wanted else wanted
    counters = {
        name: int(getattr(ran, name))
        for name in ("instructions", "barriers", "waves", "reads_outside", "writes_outside", "lds_outside")
    }
    changes = {address: _changes(before[address], array) for address, array in windows.items()}
    if as_json:
        report = json.loads(Report({**counters, "words_changed": sum(map(len, changes.values()))}).as_json())
        click.echo(json.dumps({**report, "program": loaded.name, **_objects(ran, changes, wanted)}))
        return
    if "registers" in wanted:
        output.say("\n".join(_register_lines(ran.registers)))
    if "memory" in wanted:
        output.say("\n".join(_memory_lines(changes, loaded.names, lines) or ["no memory"]))
    if "outputs" in wanted:
        output.say("\n".join(_output_lines(ran.outputs, lines)))
    if "counters" in wanted:
        output.say(", ".join(f"{value} {name.replace('_', ' ')}" for name, value in counters.items()))


def _window(text: str) -> tuple[int, NDArray[Any]]:
    address, separator, content = text.partition("=")
    try:
        at = int(address, 0)
    except ValueError:
        at = -1
    if not separator or not 0 <= at < 1 << 64:
        raise click.UsageError(f"--memory {text!r} is not ADDRESS=FILE or ADDRESS=BYTES")
    if content.isdecimal() and not Path(content).exists():
        return at, np.zeros(int(content), np.uint8)
    return at, np.frombuffer(Path(content).read_bytes(), np.uint8).copy()


def _changes(before: NDArray[Any], after: NDArray[Any]) -> list[tuple[int, int, int]]:
    """(byte offset, word before, word after) of each word that differs."""
    size = -(-before.nbytes // 4) * 4
    a, b = (
        np.frombuffer(x.reshape(-1).view(np.uint8).tobytes().ljust(size, b"\0"), np.uint32) for x in (before, after)
    )
    return [(4 * int(i), int(a[i]), int(b[i])) for i in np.flatnonzero(a != b)]


def _register_lines(registers: interpreter.Registers) -> list[str]:
    lines = []
    for wave in range(registers.waves):
        scc, mode = registers.state(wave).tolist()
        lines.append(f"wave {wave}: scc {scc}, mode {mode:#x}; registers that are not 0:")
        scalars = registers.scalar(wave)
        words = [f"{program_file.scalar_name(int(i))}={scalars[i]:#x}" for i in np.flatnonzero(scalars)]
        lines += ["  " + " ".join(words[i : i + 8]) for i in range(0, len(words), 8)]
        for number, lanes in enumerate(registers.vector(wave)):
            if lanes.any():
                alike = bool((lanes == lanes[0]).all())
                text = f"{lanes[0]:08x} in all lanes" if alike else " ".join(f"{word:08x}" for word in lanes)
                lines.append(f"  v{number}: {text}")
    return lines


def _memory_lines(changes: Mapping[int, list[tuple[int, int, int]]], names: Mapping[int, str], limit: int) -> list[str]:
    lines, left = [], limit
    for address, words in changes.items():
        name = f" ({names[address]})" if address in names else ""
        if words or name:
            lines.append(f"window {address:#x}{name}: {len(words)} words changed")
        lines += [f"  {address + offset:#x}: {old:08x} -> {new:08x}" for offset, old, new in words[: max(left, 0)]]
        left -= len(words)
    return [*lines, f"  and {-left} words more"] if left < 0 else lines


def _output_lines(outputs: NDArray[Any], limit: int) -> list[str]:
    lines = []
    for o in outputs[:limit]:
        kind = "message" if o["kind"] == interpreter.OutputKind.MESSAGE else "export"
        values = " ".join(f"{word:08x}" for word in o["value"])
        lines.append(f"{kind} {o['number']} of group {o['group']}, wave {o['wave']}, lane {o['lane']}: {values}")
    more = [f"and {len(outputs) - limit} more"] if len(outputs) > limit else []
    return [*lines, *more] or ["no outputs"]


def _objects(
    ran: interpreter.Report, changes: Mapping[int, list[tuple[int, int, int]]], wanted: set[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "registers" in wanted:
        found["waves"] = [
            {
                "scalar": [f"{word:#x}" for word in ran.registers.scalar(wave).tolist()],
                "scc": int(ran.registers.state(wave)[0]),
                "mode": int(ran.registers.state(wave)[1]),
                "vector": {
                    f"v{number}": [f"{word:#x}" for word in lanes.tolist()]
                    for number, lanes in enumerate(ran.registers.vector(wave))
                    if lanes.any()
                },
            }
            for wave in range(ran.registers.waves)
        ]
    if "memory" in wanted:
        found["memory"] = {
            hex(address): [[offset, f"{old:#x}", f"{new:#x}"] for offset, old, new in words]
            for address, words in changes.items()
        }
    if "outputs" in wanted:
        found["outputs"] = [
            {name: o[name].tolist() for name in o.dtype.names if name != "reserved"} for o in ran.outputs
        ]
    return found


def register(cli: click.Group) -> None:
    """Adds the commands of this module."""
    for command in (translate_command, interp_command):
        cli.add_command(command)

# SPDX-License-Identifier: MIT
"""`guestgpu alloc`: placement rules and their conformance suite, traces through the pool, pictures of dumps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from guestgpu import pool_dump, pool_map, pool_replay, report, suballoc
from guestgpu.errors import FormatError
from guestgpu.experiment import Exit
from guestgpu.runner import Output, Report
from guestgpu.suballoc import Kind, Mode, Options, Placement, Profile, Resource, Severity, TextureLayout, Usage, Use

_ENUMS = {"kind": Kind, "layout": TextureLayout, "placement": Placement}
_FLAGS = {"usage": Usage, "uses": Use}
_NUMBERS = tuple(
    name for name in Resource.__dataclass_fields__ if name not in (*_ENUMS, *_FLAGS, "volume")
)  # fmt: skip
_MODES = {"spec": Mode.SPEC, "native-619": Mode.NATIVE_619}


@click.group("alloc")
def alloc_group() -> None:
    """Placement rules of resources, and pools of them."""


def register(cli: click.Group) -> None:
    """Adds the commands."""
    cli.add_command(alloc_group)


_profile_option = click.option(
    "--profile",
    type=click.Choice(suballoc.profile_names()),
    default="tight",
    show_default=True,
    help="The device, whose driver answers.",
)
_mode_option = click.option(
    "--mode",
    type=click.Choice(list(_MODES)),
    default="spec",
    show_default=True,
    help="native-619: floors are accepted, and the answer is the smallest alignment all the same.",
)
_sdk_option = click.option(
    "--sdk",
    type=click.Choice(list(suballoc.SDKS)),
    default="1.619.4",
    show_default=True,
    help="1.618 refuses any requested alignment with the tight flag.",
)
_small_msaa_option = click.option(
    "--small-msaa", is_flag=True, help="Small MSAA textures are attachments, as in the field, not the opposite."
)


@alloc_group.command("rules")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_profile_option
@_mode_option
@_sdk_option
@_small_msaa_option
@click.option("--reserved-buffers", is_flag=True, help="Reserved buffers may have the tight flag, to no effect.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def rules(
    file: Path, profile: str, mode: str, sdk: str, small_msaa: bool, reserved_buffers: bool, as_json: bool
) -> None:
    """Say where the resources of FILE go, in the order given: size, alignment, offset, messages.

    FILE holds a list of objects: {"kind": "buffer", "width": 1000, "usage": ["tight"], "uses": ["constant"]}. Members
    are those of struct gg_suballoc_resource; `uses` raise the alignment that is requested. Exit code 1 where a
    resource is refused.
    """
    options = Options(Profile.named(profile), suballoc.SDKS[sdk], _MODES[mode], small_msaa, reserved_buffers)
    resources, output = read_resources(file), Output(as_json)
    found = suballoc.allocation_info(resources, options)
    rows = []
    for i, (resource, info) in enumerate(zip(resources, found.infos, strict=True)):
        offset = int(info["offset"])
        rows.append(
            {
                "resource": i,
                "kind": Kind(resource.kind).name.lower(),
                "size": "refused" if info["verdict"] else int(info["size"]),
                "alignment": int(info["alignment"]),
                "offset": "" if offset == suballoc.FAILED_SIZE else offset,
            }
        )
    if rows:
        output.console.print(report.table(rows))
    for note in found.notes:
        if note.severity != Severity.ERROR:
            output.say(str(note))
    failures = [str(note) for note in found.notes if note.severity == Severity.ERROR]
    if not failures:
        output.say(
            f"all: size {found.size}, alignment {found.alignment}; "
            f"largest alignment first: {found.best_size}, saves {found.saved}"
        )
    figures: dict[str, float | None] = {
        "size": found.size,
        "alignment": found.alignment,
        "best_size": found.best_size,
        "saved": found.saved,
        "refused": len(failures),
    }
    for i, info in enumerate(found.infos):
        figures |= {f"{i}.{name}": int(info[name]) for name in ("size", "alignment", "offset", "verdict")}
    output.finish(Report(figures, failures, exit_code=Exit.FAILED if failures else Exit.OK))


@alloc_group.command("conform")
@_profile_option
@_mode_option
@_sdk_option
@_small_msaa_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def conform(profile: str, mode: str, sdk: str, small_msaa: bool, as_json: bool) -> None:
    """Run the conformance suite against a profile's driver: exit code 1 where it breaks a rule, each named."""
    output = Output(as_json)
    found = suballoc.conform(Options(Profile.named(profile), suballoc.SDKS[sdk], _MODES[mode], small_msaa), 20)
    failures = [str(violation) for violation in found.first]
    if found.violations > len(failures):
        failures.append(f"and {found.violations - len(failures)} more")
    output.say(f"{profile}: {found.cases} cases, {found.violations} violations")
    figures: dict[str, float | None] = {"cases": found.cases, "violations": found.violations}
    output.finish(Report(figures, failures, exit_code=Exit.FAILED if failures else Exit.OK))


@alloc_group.command("replay")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--block-size", type=click.IntRange(0), default=0, help="A multiple of 65536.  [default: 64 MiB]")
@click.option("--granularity", type=click.IntRange(1), default=1, show_default=True, help="bufferImageGranularity.")
@click.option(
    "--dump", "dump_file", type=click.Path(path_type=Path, dir_okay=False), help="What lies where at the peak."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def replay(file: Path, block_size: int, granularity: int, dump_file: Path | None, as_json: bool) -> None:
    """Run a trace of allocations and frees through the pool, and say what it took at its peak and at its end.

    FILE is .csv with the columns op, id, size, and as you like alignment, kind, name; or .json, a list of objects with
    these members. op is allocate or free, kind is buffer, linear, optimal or msaa. Exit code 1 where something found no
    room.
    """
    output = Output(as_json)
    found = pool_replay.run(pool_replay.read(file), block_size, granularity)
    rows, figures = [], dict[str, float | None](operations=found.operations, failures=len(found.failures))
    for when, stats in (("peak", found.peak), ("end", found.end)):
        used = stats["capacity"] - stats["free"]
        rows.append({"at": when, "utilisation": f"{stats['requested'] / used:.3f}" if used else None, **stats})
        figures |= {f"{when}.{name}": value for name, value in stats.items()}
    output.console.print(report.table(rows))
    if dump_file:
        pool_dump.save(found.dump, dump_file)
        output.say(f"dump: {dump_file}")
    output.finish(Report(figures, found.failures, exit_code=Exit.FAILED if found.failures else Exit.OK))


@alloc_group.command("draw")
@click.argument("dump", type=click.Path(path_type=Path, dir_okay=False))
@click.option("-o", "--output", "picture", type=click.Path(path_type=Path, dir_okay=False), required=True,
              help=".png (with matplotlib) or .html (no other file, no network).")  # fmt: skip
def draw(dump: Path, picture: Path) -> None:
    """Draw what lies where: blocks in rows, by kind, with padding and what is free.

    DUMP is what `alloc replay --dump` writes, or a GpuMemDump of Vulkan or D3D12 Memory Allocator.
    """
    found = pool_dump.load(dump)
    pool_map.draw(found, picture)
    click.echo(f"{pool_map.title_of(found)}\n{picture}")


_device_option = click.option("--device", help="lavapipe, hw, an index, a UUID or part of a name.")


@alloc_group.command("device")
@_device_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def ask_device(device: str | None, as_json: bool) -> None:
    """What a Vulkan device asks of buffers and images, beside the classic and tight rules; and its limits.

    Last, the conformance suite on the device as a profile: each answer is the largest of rule, device and granularity;
    and the same with buffers and images kept apart, as the pool does, so that granularity binds nobody.
    """
    from guestgpu import device_pool
    from guestgpu.device import Device

    output = Output(as_json)
    with Device.open(device) as opened:
        rows, limits = device_pool.compare(opened), device_pool.limits(opened)
        profiles = {
            f"granularity {limits['buffer_image_granularity']}": device_pool.profile(opened),
            "buffers and images apart": device_pool.profile(opened, apart=True),
        }
        name = opened.info.name
    found = {how: suballoc.conform(Options(profile), 1) for how, profile in profiles.items()}
    output.console.print(report.table(rows, title=name))
    output.console.print(report.table([{"limit": limit, "value": value} for limit, value in limits.items()]))
    figures: dict[str, float | None] = dict(limits)
    for (how, conformance), key in zip(found.items(), ("violations", "violations_apart"), strict=True):
        figures[key] = conformance.violations
        first = f", such as {conformance.first[0]}" if conformance.violations else ""
        output.say(f"as a profile, {how}: {conformance.cases} cases, {conformance.violations} violations{first}")
    for row in rows:
        figures |= {f"{row['resource']}.{key}": value for key, value in row.items() if key != "resource"}
    output.finish(Report(figures))


@alloc_group.command("pattern")
@_device_option
@click.option("--count", type=click.IntRange(1), default=100_000, show_default=True, help="Resources.")
@click.option("--block-size", type=click.IntRange(0), default=0, help="A multiple of 65536.  [default: 64 MiB]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--validation", is_flag=True, help="With the validation layer.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def pattern(device: str | None, count: int, block_size: int, seed: int, validation: bool, as_json: bool) -> None:
    """Place resources in a device's memory, write a pattern into each there, and read all of it back.

    Words are compared on the device and on the host, and what lies outside of every resource must be untouched. Exit
    code 1 where a word is wrong.
    """
    from guestgpu import device_pool
    from guestgpu.device import Device

    output = Output(as_json)
    with Device.open(device, validation) as opened, device_pool.DevicePool(opened, block_size) as pool:
        found = device_pool.patterns(pool, device_pool.tiny_load(pool, count, seed))
        pool.check()
        output.say(
            f"{opened.info.name}: {found.resources} resources in {found.blocks} blocks, {found.words} words, "
            f"{found.wrong_on_device} wrong on the device, {found.wrong_on_host} on the host, "
            f"{found.wrong_outside} outside"
        )
    figures: dict[str, float | None] = {k: v for k, v in vars(found).items() if k != "first"}
    failures = [] if found.intact else [found.first]
    output.finish(Report(figures, failures, exit_code=Exit.OK if found.intact else Exit.FAILED))


def read_resources(file: Path) -> list[Resource]:
    """The descriptions of a JSON file. Raises FormatError, one line that names resource and member."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"{file}: no JSON: {error}") from None
    if not isinstance(content, list):
        raise FormatError(f"{file}: a list of resources was expected, not {type(content).__name__}")
    return [_resource(f"{file}: resource {i}", entry) for i, entry in enumerate(content)]


def _resource(where: str, entry: Any) -> Resource:
    if not isinstance(entry, dict):
        raise FormatError(f"{where}: an object was expected, not {type(entry).__name__}")
    members: dict[str, Any] = {}
    for name, value in entry.items():
        if name in _ENUMS:
            members[name] = _named(f"{where}: {name}", _ENUMS[name], value)
        elif name in _FLAGS:
            if not isinstance(value, list):
                raise FormatError(f"{where}: {name}: a list of names was expected")
            members[name] = 0
            for flag in value:
                members[name] |= _named(f"{where}: {name}", _FLAGS[name], flag)
        elif name == "volume":
            if not isinstance(value, bool):
                raise FormatError(f"{where}: volume: true or false was expected")
            members[name] = value
        elif name in _NUMBERS:
            members[name] = _number(f"{where}: {name}", value, 64 if name in ("width", "alignment") else 32)
        else:
            raise FormatError(f"{where}: no member {name!r}")
    for name in ("kind", "width"):
        if name not in members:
            raise FormatError(f"{where}: no {name}")
    uses = members.pop("uses", 0)
    if uses and members["kind"] != Kind.BUFFER:
        raise FormatError(f"{where}: uses: only buffers have them")
    members["alignment"] = max(members.get("alignment", 0), suballoc.floor(uses))
    return Resource(**members)


def _named(where: str, enum: Any, value: Any) -> int:
    names = {member.name.lower(): int(member) for member in enum}
    if not isinstance(value, str) or value not in names:
        raise FormatError(f"{where}: {value!r:.40} is none of {', '.join(names)}")
    return names[value]


def _number(where: str, value: Any, bits: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << bits:
        raise FormatError(f"{where}: {value!r:.40} is no integer of 0 to 2^{bits} - 1")
    return value

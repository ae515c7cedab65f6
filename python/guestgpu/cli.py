# SPDX-License-Identifier: MIT
"""The command `guestgpu`. Errors are one line on stderr; exit codes are those of guestgpu.experiment.Exit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import guestgpu
from guestgpu import cli_alloc, cli_guest, cli_translate, errors, experiment, report, results
from guestgpu.experiment import Exit
from guestgpu.runner import Output, Report


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(guestgpu.__version__, prog_name="guestgpu")
def cli() -> None:
    """A research testbed for the hot paths of GPU emulators and translation layers."""


cli_alloc.register(cli)
cli_guest.register(cli)
cli_translate.register(cli)


class _Experiments(click.Group):
    """The experiments as subcommands; each run.py brings its own command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return experiment.known_experiments()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        command: click.Command = experiment.load_experiment(cmd_name).command
        return command


@cli.group(cls=_Experiments)
def run() -> None:
    """Run an experiment: correctness first, then interleaved timings."""


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def devices(as_json: bool) -> None:
    """List the Vulkan devices there are."""
    from guestgpu import device

    output, found = Output(as_json), device.devices()
    output.console.print(
        report.table(
            [
                {
                    "index": d.index,
                    "name": d.name,
                    "type": d.type,
                    "driver": f"{d.driver} {d.driver_info}".strip(),
                    "Vulkan": d.api,
                    "mesh shaders": "yes" if d.mesh_shader else "no",
                    "UUID": d.uuid,
                }
                for d in found
            ]
        )
    )
    figures: dict[str, float | None] = {"devices": len(found)}
    for d in found:
        figures |= {f"{d.index}.{name}": int(getattr(d, name)) for name in ("usable", "mesh_shader", "task_shader")}
    output.finish(Report(figures=figures))


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--device", "selector", help="lavapipe, hw, an index, a UUID or part of a name.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def repro(file: Path, selector: str | None, as_json: bool) -> None:
    """Run a saved failing case again: exit code 1 while it still fails."""
    from guestgpu import agree, agree_case, layout_check, minimise
    from guestgpu.device import Device

    output = Output(as_json)
    content = minimise.load_reproducer(file)
    with Device.open(selector) as device:
        if content.get("case") == agree_case.CASE:
            difference, to = agree.rerun(device, file, content), "the interpreter and the original"
        else:
            shape, options, batch = layout_check.load_case(file)
            difference, to = layout_check.serial_difference(device, shape, options, batch), "the host model"
        name = device.info.name
    if difference:
        output.finish(Report({"equal": 0, "unequal": 1}, [f"{file} on {name}: {difference}"], exit_code=Exit.FAILED))
    output.say(f"{file} on {name}: equal to {to}")
    output.finish(Report({"equal": 1, "unequal": 0}))


@cli.command()
@click.option("--device", "selector", help="The device to look at; default: the one that experiments would take.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def doctor(selector: str | None, as_json: bool) -> None:
    """Check what guestgpu needs on this machine, and say how to mend what is missing."""
    output, rows, failures = Output(as_json), [], []
    for name, check in _CHECKS.items():
        try:
            state, text = "ok", check(selector)
        except _Warning as warning:
            state, text = "warn", str(warning)
        except (errors.GuestGpuError, OSError) as error:
            state, text = "FAIL", str(error)
            failures.append(f"{name}: {text}")
        rows.append({"check": name, "state": state, "what": text})
    output.console.print(report.table(rows))
    figures: dict[str, float | None] = {r["check"]: float(r["state"] == "ok") for r in rows}
    output.finish(Report(figures, failures, exit_code=Exit.FAILED if failures else Exit.OK))


class _Warning(Exception):
    """A check of the doctor that is not as it should be, but does no harm."""


def _check_library(_: str | None) -> str:
    from guestgpu import native

    native.gpu()
    return f"guestgpu {guestgpu.__version__}, ABI {native.ABI_VERSION}, with the GPU part"


def _check_tools(_: str | None) -> str:
    from guestgpu import device

    return device.versions()


def _check_devices(selector: str | None) -> str:
    from guestgpu import device

    names = ", ".join(f"{d.index}: {d.name}" for d in device.devices())
    return f"{device.select(selector).name} (of {names})"


def _check_mesh(selector: str | None) -> str:
    from guestgpu import device

    info = device.select(selector)
    if not info.mesh_shader:
        raise _Warning(f"{info.name} has no VK_EXT_mesh_shader: the native arm is left out of comparisons")
    return f"up to {info.max_mesh_vertices} vertices, {info.max_mesh_primitives} primitives a workgroup"


def _check_compiler(_: str | None) -> str:
    from guestgpu import device

    device.validate_spirv(device.compile_glsl("layout/native.task.glsl", device.Stage.TASK))
    return "shaderc compiles a task shader, spirv-val accepts it"


def _check_validation(selector: str | None) -> str:
    from guestgpu.device import Device

    try:
        with Device.open(selector, validation=True) as device:
            device.validation_control()
    except errors.Unsupported as error:
        raise _Warning(str(error)) from None
    return "the validation layer is awake: it objected to a deliberate fault"


def _check_meshes(_: str | None) -> str:
    from guestgpu import meshes

    try:
        meshes.resolve("elephant")
    except meshes.MeshError as error:
        raise _Warning(str(error)) from None
    return f"real meshes in {meshes.meshes_folder()}"


def _check_capture(_: str | None) -> str:
    from guestgpu import capture

    try:
        found = [capture.radv_manifest(), capture.drm_shim(), capture.capture_library()]
        found.append(capture.built_file("guestgpu-guest", "libvulkan-dev and libvulkan-volk-dev"))
    except capture.NoGuestDriver as error:
        raise _Warning(f"{error}: no capture, no shaders as guest programs") from None
    return ", ".join(path.name for path in found)


_COMPILERS = {"clang-19": "clang-19", "ld.lld-19": "lld-19", "llvm-mc-19": "llvm-19"}


def _check_compilers(_: str | None) -> str:
    lacking = [package for name, package in _COMPILERS.items() if not shutil.which(name)]
    if lacking:
        raise _Warning(f"no OpenCL C or assembly as guest programs: apt install {' '.join(lacking)}")
    return ", ".join(_COMPILERS)


def _check_disk(_: str | None) -> str:
    free = shutil.disk_usage(".").free
    if free < 1 << 30:
        raise _Warning(f"{free >> 20} MiB free here; results are small, but a build is not")
    return f"{free >> 30} GiB free here"


def _check_load(_: str | None) -> str:
    load, cores = results.load_average()[0], os.cpu_count() or 1
    if load > cores / 2:
        raise _Warning(f"load {load} on {cores} cores: expect wide intervals")
    return f"load {load} on {cores} cores"


_CHECKS: dict[str, Callable[[str | None], str]] = {
    "library": _check_library,
    "tools": _check_tools,
    "devices": _check_devices,
    "mesh shaders": _check_mesh,
    "shader compiler": _check_compiler,
    "validation layer": _check_validation,
    "real meshes": _check_meshes,
    "capture": _check_capture,
    "guest compilers": _check_compilers,
    "disk": _check_disk,
    "load": _check_load,
}


def _exit_code(error: Exception) -> int:
    """Bad input is usage; a device that is not there, or a result that cannot be kept, is not."""
    if isinstance(error, errors.NoDevice):
        return Exit.NO_DEVICE
    failed = (results.ResultsError, errors.DeviceError, errors.ValidationError, errors.OutOfMemory)
    return Exit.FAILED if isinstance(error, failed) else Exit.USAGE


def main(argv: list[str] | None = None) -> None:
    """The console script."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        cli.main(args=arguments, prog_name="guestgpu", standalone_mode=False)
    except click.exceptions.Abort:
        _fail("interrupted", Exit.INTERRUPTED, arguments)
    except click.ClickException as error:
        _fail(error.format_message(), Exit.USAGE, arguments)
    except (errors.GuestGpuError, OSError) as error:
        _fail(str(error), _exit_code(error), arguments)
    except KeyboardInterrupt:
        _fail("interrupted", Exit.INTERRUPTED, arguments)


def _fail(text: str, code: int, arguments: list[str]) -> Any:
    """One line on stderr; under --json the object as well, so that a script always finds one."""
    line = " ".join(text.split())
    click.echo(f"guestgpu: {line}", err=True)
    if "--json" in arguments:
        click.echo(Report(failures=[line], exit_code=code).as_json())
    sys.exit(code)

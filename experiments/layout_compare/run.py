# SPDX-License-Identifier: MIT
"""layout_compare: which layout should a mesh-shader fallback store its records in? See README.md.

One point is a mesh and a record width. Its arms draw the same meshlets on the same device: one arm a
layout, "aos again" (the base once more: the noise floor), "native" where the device has mesh shaders,
and "copy", the compute copy whose bandwidth is the ceiling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from guestgpu import device as gpu
from guestgpu import layout, layout_check, meshes, minimise, report, results, runner, scenes, stats
from guestgpu.device import Device, DeviceInfo, Work
from guestgpu.errors import GuestGpuError, LimitExceeded
from guestgpu.experiment import Blocks, Emit, Exit, Spec, points
from guestgpu.fallback import (
    Arm,
    CopyCeiling,
    FallbackArm,
    NativeArm,
    Scene,
    Surface,
    most_vertices,
    native_refusal,
)
from guestgpu.layout import Layout, Options, Shape
from guestgpu.layout_check import Check
from guestgpu.runner import Output, Report
from guestgpu.stats import Comparison, Interval

AXES = {"mesh": ["icosphere:5"], "words": [22]}
LAYOUTS = ("aos", "soa", "indexed", "native")
BASE, TWIN, COPY = "aos", "aos again", "copy"
MESHLET = (64, 124)  # the most vertices and triangles: what the published programs declare
SAMPLE = 48  # meshlets that also run one at a time
COPY_BYTES = {True: 32 << 20, False: 1 << 30}  # software, hardware: well past the caches

Sample = Mapping[str, int | None]


def arms_of(layouts: list[str]) -> list[str]:
    """The arms of a list of layouts: the base and its twin are always there, and the ceiling."""
    chosen = [name for name in LAYOUTS if name in layouts and name != BASE]
    return [BASE, TWIN, *chosen, COPY]


def shape_of(info: DeviceInfo, words: int) -> Shape:
    """Meshlets as large as the published programs', or as the device's workgroup memory holds at this width."""
    vertices = most_vertices(info, words, MESHLET[1], MESHLET[0])
    if vertices < 3:
        raise LimitExceeded(f"{info.name}: {words} words a record: workgroup memory holds {vertices} vertices")
    return layout.standard_shape(words, vertices, MESHLET[1])


def make_scene(device: Device, point: Mapping[str, Any], seed: int, size: int) -> tuple[Scene, meshes.Batch]:
    """The point's mesh as meshlets on the device, with a target of size x size pixels."""
    shape = shape_of(device.info, int(point["words"]))
    mesh = meshes.resolve(str(point["mesh"]))
    batch = scenes.mesh_scene(mesh, shape.vertex_words, shape.max_vertices, MESHLET[1], seed)
    return Scene(device, shape, layout.pack(shape, batch), Surface(size, size)), batch


def options_of(name: str, area_bytes: int) -> Options:
    return Options(Layout.AOS if name == TWIN else Layout[name.upper()], area_bytes)


def area_bytes(scene: Scene, requested: int | None) -> int:
    """The records area: as asked for, else what every layout needs for the whole scene, 64 MiB at least."""
    if requested is not None:
        return requested
    indexed = layout.plan(scene.shape, Options(Layout.INDEXED, 1 << 31))
    slots = int(layout_check.slots_of(scene.shape, indexed, scene.batch).sum())
    needed = layout.area_bytes_for(scene.shape, Layout.INDEXED, max(slots, indexed.max_slots))
    return max(needed, 64 << 20)


def check_sample(device: Device, batch: meshes.Batch, scene: Scene, names: list[str], out: Path) -> list[Check]:
    """A few meshlets one at a time: areas equal to the host model's, with room and cut to half; images all equal."""
    shape, few = scene.shape, scenes.sample(batch, SAMPLE)
    packed = layout.pack(shape, few)
    part = Scene(device, shape, packed, scene.surface)
    checks, images = [], {}
    for name in names:
        if name == "native":
            continue
        plan = layout.plan(shape, options_of(name, 1 << 31))
        slots = max(int(layout_check.slots_of(shape, plan, packed).sum()), plan.max_slots)
        for half in (False, True):
            room = max(slots // 2, plan.max_slots) if half else slots
            options = options_of(name, layout.area_bytes_for(shape, plan.layout, room))
            arm = FallbackArm(part, options, f"{name}, half the area" if half else name)
            check = layout_check.check_serial(arm)
            if not check.equal:
                saved = save_failing(device, scene, few, options, out)
                check = Check(check.name, f"{check.difference}; guestgpu repro {saved}")
            checks += [check, layout_check.check_parallel(arm)]
            if not half:
                images[name] = layout_check.render(arm, serially=True)
            arm.close()
    if "native" in names:
        arm = NativeArm(part)
        images["native"] = layout_check.render(arm)
        arm.close()
    first, *others = images
    checks += [
        layout_check.check_images(f"{n}: image of {SAMPLE} = {first}'s", images[first], images[n]) for n in others
    ]
    return checks


def save_failing(device: Device, scene: Scene, batch: meshes.Batch, options: Options, out: Path) -> Path:
    """Minimises a batch whose area is not the host model's, and stores it for guestgpu repro."""
    case = partial(layout_check.serial_difference, device, scene.shape, options)
    small = minimise.minimise(batch, lambda candidate: bool(case(candidate)), budget=300).batch
    return layout_check.save_case(out, scene.shape, options, small, case(small))


def check_scene(arms: Mapping[str, Arm]) -> list[Check]:
    """The timed scene itself: whole workgroups drawn, and images equal to the base's unless records were cut."""
    checks, images = [], {}
    for name, arm in arms.items():
        if isinstance(arm, FallbackArm) and name != TWIN:
            checks.append(layout_check.check_parallel(arm))
        images[name] = layout_check.render(arm)
        if isinstance(arm, FallbackArm) and arm.slots[0] > arm.slots[1]:
            del images[name]  # what was cut depends on the order in which slots were taken
    if len(images) > 1:
        first, *others = images
        checks += [layout_check.check_images(f"{n}: image = {first}'s", images[first], images[n]) for n in others]
    return checks


def frame(device: Device, arm: Arm) -> Callable[[], Sample]:
    """A function that draws one frame and returns its times in ns; see clock_of() for how they are taken."""
    native = isinstance(arm, NativeArm)
    if device.info.software:
        reset, dispatch, draw = arm.reset(Work()), arm.dispatch(Work()), arm.draw(Work())

        def by_host() -> Sample:
            device.submit(reset)
            first = None if native else device.submit(dispatch).host_ns
            last = device.submit(draw).host_ns
            return {"dispatch": first, "draw": last, "total": last + (first or 0)}

        return by_host
    work = arm.reset(Work()).timestamp()
    work = arm.draw(arm.dispatch(work).timestamp()).timestamp()

    def by_timestamps() -> Sample:
        start, middle, end = device.submit(work).timestamps.tolist()
        dispatch = None if native else device.nanoseconds(start, middle)
        return {"dispatch": dispatch, "draw": device.nanoseconds(middle, end), "total": device.nanoseconds(start, end)}

    return by_timestamps


def copying(device: Device, ceiling: CopyCeiling) -> Callable[[], Sample]:
    work = ceiling.record(Work().timestamp()).timestamp() if not device.info.software else ceiling.record(Work())

    def copy() -> Sample:
        done = device.submit(work)
        ns = done.host_ns if device.info.software else device.nanoseconds(*done.timestamps.tolist())
        return {"dispatch": ns, "draw": None, "total": None}

    return copy


def clock_of(device: Device) -> str:
    return "host clock, one submit a phase" if device.info.software else "device timestamps"


def figures_of(scene: Scene, arm: Arm) -> dict[str, float | None]:
    """What one frame moved: bytes of the dispatch, slots; None where it is not known."""
    corners, used = layout_check.corners_and_vertices(scene.shape, scene.batch)
    figures: dict[str, float | None] = {
        "meshlets": scene.workgroups,
        "primitives": corners // scene.shape.corners,
        "corners_per_vertex": corners / used if used else None,
    }
    if not isinstance(arm, FallbackArm):
        return figures
    taken, drawn = arm.slots
    record = 4 * scene.shape.record_words
    written = record * drawn
    if arm.plan.indexed:
        written = record * used + 4 * drawn if taken == drawn else None
    packed = scene.batch
    read = packed.meshlets.nbytes + packed.vertices.nbytes + packed.indices.nbytes + packed.primitives.nbytes
    return figures | {
        "bytes_written": written,
        "bytes_read": read,
        "slots_taken": taken,
        "slots_cut": taken - drawn,
        "area_bytes": arm.plan.area_bytes,
    }


def measure(request: dict[str, Any], emit: Emit) -> None:
    """One launch: correctness first, then the blocks."""
    names, launch = list(request["arms"]), int(request["launch"])
    with Device.open(request["device"]) as device:
        emit("env", device=device.info.provenance, details={}, versions={"gpu": gpu.versions()})
        scene, batch = make_scene(device, request["point"], request["seed"], request["size"])
        size = area_bytes(scene, request["record_area"])
        arms: dict[str, Arm] = {}
        for name in names:
            if name != COPY:
                arms[name] = NativeArm(scene) if name == "native" else FallbackArm(scene, options_of(name, size), name)
        checks = check_scene(arms)
        if launch == 0:  # areas do not change from launch to launch; images and draws are checked in each
            sampled = [name for name in arms if name != TWIN]
            checks = check_sample(device, batch, scene, sampled, Path(request["out"])) + checks
        unequal = [check for check in checks if not check.equal]
        counts: dict[str, float | None] = {"equal": len(checks) - len(unequal), "unequal": len(unequal)}
        if unequal:
            emit(
                "cell", status="mismatch", reason="; ".join(f"{c.name}: {c.difference}" for c in unequal[:4]),
                clock=None, correctness="unequal", figures={"checks": counts},
            )  # fmt: skip
            return
        correctness = f"checked: {len(checks)} comparisons equal"

        ceiling = CopyCeiling(device, COPY_BYTES[device.info.software])
        timed = {name: frame(device, arm) for name, arm in arms.items()}
        if COPY in names:
            timed[COPY] = copying(device, ceiling)
        blocks = Blocks(timed, launch)
        figures = {name: dict(values) for name, values in blocks.warm_up().items()}
        for block in blocks.run(request["blocks"]):
            emit("block", clock=clock_of(device), correctness=correctness, **block)
        figures["clocks"] = dict(results.gpu_clocks(device.info.uuid))
        for name, arm in arms.items():
            figures[name] |= figures_of(scene, arm)
        figures.setdefault(COPY, {})["bytes_moved"] = ceiling.bytes_moved
        emit(
            "cell", status="ok", reason=None, clock=clock_of(device), correctness=correctness,
            figures=figures | {"checks": counts},
        )  # fmt: skip


# ---- the command ----


@click.command(
    "layout_compare", help="Compare the layouts of mesh-fallback records on real meshes, against native mesh shaders."
)
@runner.timing_options
@click.option(
    "--mesh",
    "mesh",
    multiple=True,
    help="icosphere:N, torus:NxM, terrain:N, elephant, bunny, armadillo, or a "
    "file; repeat it for several.  [default: icosphere:5]",
)
@click.option(
    "--layouts", default=",".join(LAYOUTS), show_default=True, help="Comma-separated; aos is always measured."
)
@click.option(
    "--words", "words", multiple=True, type=int, help="Words of a record, 1 to 128; repeat it.  [default: 22]"
)
@click.option(
    "--record-area", type=click.IntRange(1), help="Bytes of the records area.  [default: what the scene needs]"
)
@click.option(
    "--size", type=click.IntRange(16, 4096), default=256, show_default=True, help="Pixels of the target's side."
)
def command(
    device: str | None, launches: int | None, blocks: int | None, seed: int, out: Path, timeout: float, quick: bool,
    strict: bool, as_json: bool, mesh: tuple[str, ...], layouts: str, words: tuple[int, ...], record_area: int | None,
    size: int,
) -> None:  # fmt: skip
    output = Output(as_json)
    axes = {"mesh": list(mesh or AXES["mesh"]), "words": list(words or AXES["words"])}
    chosen = _checked_layouts(layouts)
    info = gpu.select(device)
    for spec in axes["mesh"]:
        meshes.resolve(spec)
    for width in axes["words"]:
        _check_words(info, width, record_area)
    refusal = native_refusal(info, shape_of(info, min(axes["words"])))
    if "native" in chosen and refusal:
        output.say(f"note: the native arm is left out: {info.name}: {refusal}")
        chosen.remove("native")
    output.say(f"device: {info.name} ({info.driver_info or info.driver}), Vulkan {info.api}")
    if info.software:
        output.say("note: a software device proves correctness; its times say nothing about a GPU")

    request = {
        "device": info.uuid if device is None else device,
        "blocks": blocks or (4 if quick else 20),
        "record_area": record_area,
        "size": size,
    }
    count = launches or (2 if quick else stats.GATING_LAUNCHES)
    specs = [Spec("layout_compare", point, arms_of(chosen), seed, request) for point in points(axes)]
    series = runner.run_series(specs, count, timeout, out, output)
    summary = Report(rows=series.path, failures=series.failures, exit_code=series.exit_code)
    comparisons = summarise(series, summary, output)
    if strict and summary.exit_code == Exit.OK and any(c.verdict == stats.Verdict.AMBIGUOUS for c in comparisons):
        summary.exit_code = Exit.AMBIGUOUS
    output.say(f"rows: {series.path}")
    output.finish(summary)


def _checked_layouts(text: str) -> list[str]:
    chosen = [name.strip() for name in text.split(",") if name.strip()]
    for name in chosen:
        if name not in LAYOUTS:
            raise click.UsageError(f"--layouts: no layout {name!r}; there are {', '.join(LAYOUTS)}")
    if not chosen:
        raise click.UsageError(f"--layouts: none given; there are {', '.join(LAYOUTS)}")
    return chosen


def _check_words(info: DeviceInfo, words: int, record_area: int | None) -> None:
    if not 1 <= words <= 128:
        raise click.UsageError(f"--words {words}: records have 1 to 128 words")
    shape = shape_of(info, words)
    if record_area is not None:
        for name in (Layout.AOS, Layout.INDEXED):
            try:
                layout.plan(shape, Options(name, record_area))
            except GuestGpuError as error:
                raise click.UsageError(f"--record-area {record_area}: {error}") from None


def summarise(series: runner.Series, summary: Report, output: Output) -> list[Comparison]:
    """Tables and charts of every point, and the figures; returns the comparisons."""
    cells = [row for row in series.rows if row["kind"] == "cell"]
    for name in ("equal", "unequal"):
        summary.figures[name] = sum(row["figures"].get("checks", {}).get(name) or 0 for row in cells)
    timed = results.timed_blocks(series.rows)
    if not timed:
        return []
    to_base = stats.compare(timed, BASE, TWIN)
    to_native = stats.compare(timed, "native", None) if any("native" in row["arms"] for row in timed) else []
    to_base = [c for c in to_base if c.arm != COPY]
    for point in {runner.point_name(row["point"]): row["point"] for row in timed}.values():
        rows = [row for row in timed if row["point"] == point]
        _show_point(point, rows, cells, to_base, to_native, output)
        _draw_point(point, rows, series.folder, output)
    _add_figures(summary, to_base, to_native, timed, cells)
    return to_base


def _ratio(found: list[Comparison], point: Mapping[str, Any], metric: str, arm: str) -> Interval | None:
    return next((c.ratio for c in found if (c.point, c.metric, c.arm) == (point, metric, arm)), None)


def _text(ratio: Interval | None) -> str | None:
    return None if ratio is None else report.ratio(ratio)


def _cell_figures(cells: list[results.Row], point: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What the launches of a point counted; the same in each but for the slots cut, where the last counts."""
    figures: dict[str, dict[str, Any]] = {}
    for row in cells:
        if row["point"] == point and row["status"] == "ok":
            figures |= row["figures"]
    return figures


def copy_share(
    times: Mapping[str, Mapping[str, Interval]], figures: Mapping[str, Mapping[str, Any]], arm: str
) -> float | None:
    """Bytes a second of an arm's dispatch over those of the copy of the same run."""
    counted, ceiling = figures.get(arm, {}), times.get(COPY, {}).get("dispatch")
    if counted.get("bytes_written") is None or ceiling is None or "dispatch" not in times[arm]:
        return None
    moved = counted["bytes_written"] + counted["bytes_read"]
    return float(moved / times[arm]["dispatch"].centre * ceiling.centre / figures[COPY]["bytes_moved"])


def _show_point(
    point: Mapping[str, Any], timed: list[results.Row], cells: list[results.Row], to_base: list[Comparison],
    to_native: list[Comparison], output: Output,
) -> None:  # fmt: skip
    times, figures = stats.times(timed), _cell_figures(cells, point)
    base, copy = figures.get(BASE, {}), times.get(COPY, {}).get("dispatch")
    title = f"{runner.point_name(point)}: {base.get('meshlets')} meshlets, {base.get('primitives')} triangles, "
    title += f"{base.get('corners_per_vertex') or 0:.2f} corners a vertex"
    times_table, traffic_table = [], []
    for arm, metrics in times.items():
        if arm == COPY:
            continue
        times_table.append(
            {
                "layout": arm,
                "dispatch ms": f"{metrics['dispatch'].centre / 1e6:.3f}" if "dispatch" in metrics else None,
                "draw ms": f"{metrics['draw'].centre / 1e6:.3f}",
                "total ms": f"{metrics['total'].centre / 1e6:.3f}",
                "total / aos [95 %]": _text(_ratio(to_base, point, "total", arm)),
                "total / native [95 %]": _text(_ratio(to_native, point, "total", arm)),
            }
        )
        counted, share = figures.get(arm, {}), copy_share(times, figures, arm)
        if arm in (TWIN, "native"):
            continue
        written, read = counted.get("bytes_written"), counted.get("bytes_read")
        traffic_table.append(
            {
                "dispatch of": arm,
                "written MB": None if written is None else f"{written / 1e6:.1f}",
                "read MB": None if read is None else f"{read / 1e6:.1f}",
                "share of copy": None if share is None else f"{share:.0%}",
                "slots taken": counted.get("slots_taken"),
                "slots cut": counted.get("slots_cut"),
            }
        )
    output.console.print(report.table(times_table, title))
    rate = f"; the compute copy of this run moves {figures[COPY]['bytes_moved'] / copy.centre:.1f} GB/s" if copy else ""
    output.console.print(report.table(traffic_table, f"traffic{rate}"))
    own = [c for c in to_base if c.point == point]
    floor = next((c.floor for c in own if c.metric == "total"), None)
    noise = "" if floor is None else f"; A/A noise floor of the total {floor:.1%}"
    output.console.print(report.table(report.comparison_rows(own, with_point=False), f"verdicts{noise}"))
    note = report.gating_note(own)
    if note:
        output.say(note)


def _draw_point(point: Mapping[str, Any], timed: list[results.Row], folder: Path, output: Output) -> None:
    times = {
        arm: {m: i for m, i in metrics.items() if m != "total"}
        for arm, metrics in stats.times(timed).items()
        if arm not in (TWIN, COPY)
    }
    name = "-".join(str(value) for value in point.values())
    path = folder / f"{''.join(c if c.isalnum() or c in '-.' else '_' for c in name)}.png"
    title = f"Mesh fallback: {runner.point_name(point)}"
    try:
        report.bar_chart(path, times, title, report.caption(timed[0]), stacked=True)
    except report.ReportError as error:
        output.say(f"note: no chart: {error}")
    else:
        output.say(f"chart: {path}")


def _add_figures(
    summary: Report, to_base: list[Comparison], to_native: list[Comparison], timed: list[results.Row],
    cells: list[results.Row],
) -> None:  # fmt: skip
    """Figures of every layout: the geometric mean over the points, and with several points each point's own."""
    gathered: dict[str, dict[str, float]] = {}
    every = {runner.point_name(row["point"]): row["point"] for row in timed}
    for name, point in every.items():
        rows = [row for row in timed if row["point"] == point]
        times, figures = stats.times(rows), _cell_figures(cells, point)
        for arm in times:
            if arm in (TWIN, COPY):
                continue
            values = {
                f"dispatch_ratio.{arm}": _centre(_ratio(to_base, point, "dispatch", arm)),
                f"total_ratio.{arm}": _centre(_ratio(to_base, point, "total", arm)),
                f"total_ratio_native.{arm}": _centre(_ratio(to_native, point, "total", arm)),
                f"copy_share.{arm}": copy_share(times, figures, arm),
                f"slots_cut.{arm}": figures.get(arm, {}).get("slots_cut"),
            }
            for key, value in values.items():
                if value is not None:
                    gathered.setdefault(key, {})[name] = value
        floor = next((c.floor for c in to_base if c.point == point and c.metric == "total"), None)
        if floor is not None:
            gathered.setdefault("noise_floor", {})[name] = floor
    for key, by_point in gathered.items():
        values_ = list(by_point.values())
        if key.startswith("slots_cut"):
            summary.figures[key] = sum(values_)
        else:
            summary.figures[key] = max(values_) if key == "noise_floor" else stats.geomean(values_)
        if len(every) > 1:
            summary.figures |= {f"{key} @ {name}": value for name, value in by_point.items()}


def _centre(ratio: Interval | None) -> float | None:
    return None if ratio is None else ratio.centre

# SPDX-License-Identifier: MIT
"""The command, as a person and as a script meet it: output, figures, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guestgpu import layout, layout_check, meshes, results
from guestgpu.experiment import Exit
from guestgpu.layout import Layout, Mutation, Options, Shape

COMMAND = [sys.executable, "-c", "from guestgpu.cli import main; main()"]
QUICK = ["run", "layout_compare", "--quick", "--device", "lavapipe", "--mesh", "icosphere:2", "--blocks", "1"]
LAYOUTS = ("aos", "soa", "indexed", "native")
SMALLEST_AREA = layout.area_bytes_for(layout.standard_shape(22), Layout.INDEXED, 372)  # one workgroup of 124 triangles


def guestgpu(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=300, env=os.environ | environment, check=False
    )


def figures_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON object of stdout."""
    found: dict[str, Any] = json.loads(done.stdout)
    assert set(found) == {"ok", "figures", "failures", "rows"}
    return found


def assert_one_line(done: subprocess.CompletedProcess[str], code: int, *texts: str) -> None:
    assert done.returncode == code, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for text in texts:
        assert text in done.stderr


@pytest.mark.slow
def test_the_main_job(tmp_path: Path, device: object) -> None:
    """A generated and a real mesh, 22 and 27 words: every comparison equal, a table, a chart, rows with provenance."""
    done = guestgpu(
        *QUICK, "--mesh", "elephant", "--words", "22", "--words", "27", "--layouts", ",".join(LAYOUTS),
        "--launches", "1", "--json", "--out", str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = figures_of(done)
    assert found["ok"]
    assert found["failures"] == []
    figures = found["figures"]
    assert figures["unequal"] == 0
    # Of each of 4 points: area and draw of 3 layouts with room and with half, 3 images of the sample,
    # 3 draws and 4 images of the scene.
    assert figures["equal"] == 4 * (3 * 2 * 2 + 3 + 3 + 4)
    for name in LAYOUTS:
        assert name == "native" or figures[f"total_ratio_native.{name}"] > 0
    for name in ("soa", "indexed"):
        assert figures[f"dispatch_ratio.{name}"] > 0
        assert figures[f"copy_share.{name}"] > 0
        assert figures[f"slots_cut.{name}"] == 0
    assert figures["noise_floor"] >= 0
    rows = results.read(found["rows"])
    assert {row["kind"] for row in rows.rows} == {"env", "block", "cell"}
    for row in rows.kind("block"):
        assert row["clock"] == "host clock, one submit a phase"
        assert row["correctness"].startswith("checked")
        assert row["device"]["type"] == "cpu"
    charts = sorted(path.name for path in Path(found["rows"]).parent.glob("*.png"))
    assert charts == ["elephant-22.png", "elephant-27.png", "icosphere_2-22.png", "icosphere_2-27.png"]


def test_tables_for_people(tmp_path: Path, device: object) -> None:
    done = guestgpu(*QUICK, "--launches", "1", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for text in ("dispatch ms", "draw ms", "total / native [95 %]", "share of copy", "slots cut", "A/A noise floor",
                 "software device", "does not gate", "rows: ", "chart: "):  # fmt: skip
        assert text in done.stdout, text


@pytest.mark.slow
def test_records_cut_by_the_area_are_said(tmp_path: Path, device: object) -> None:
    """A records area for half of the scene: the draw obeys rule 2, and the cut slots are counted."""
    done = guestgpu(*QUICK, "--record-area", str(SMALLEST_AREA), "--launches", "1", "--json", "--out", str(tmp_path))
    found = figures_of(done)
    assert done.returncode == 0, found
    assert found["figures"]["slots_cut.aos"] > 0
    assert found["figures"]["slots_cut.indexed"] > 0


def test_devices_and_doctor(device: object) -> None:
    assert figures_of(guestgpu("devices", "--json"))["figures"]["devices"] >= 1
    done = guestgpu("doctor", "--device", "lavapipe", "--json")
    figures = figures_of(done)["figures"]
    assert done.returncode == 0
    assert figures["validation layer"] == 1
    assert figures["shader compiler"] == 1
    missing = guestgpu("doctor", "--device", "lavapipe", GUESTGPU_DRM_SHIM="/none", PATH="/none")
    assert missing.returncode == 0, "what guest programs need is not needed for the rest"
    rows = [" ".join(line.split()) for line in missing.stdout.splitlines()]
    assert any(row.startswith("capture warn Mesa's fake AMD kernel driver: GUESTGPU_DRM_SHIM names") for row in rows)
    assert any("apt install clang-19 lld-19 llvm-19" in row for row in rows), rows


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["run", "layout_compare", "--words", "0"], ["--words 0", "1 to 128"]),
        (["run", "layout_compare", "--words", "129"], ["--words 129", "1 to 128"]),
        (["run", "layout_compare", "--layouts", "aos,rows"], ["'rows'", "aos, soa, indexed, native"]),
        (["run", "layout_compare", "--layouts", ","], ["--layouts"]),
        (["run", "layout_compare", "--record-area", "1000"], ["--record-area 1000", "one workgroup can take 372"]),
        (["run", "layout_compare", "--record-area", "9999999"], ["--record-area 9999999", "multiple of 4"]),
        (["run", "layout_compare", "--mesh", "nothing.obj"], ["nothing.obj"]),
        (["run", "layout_compare", "--mesh", "icosphere:99"], ["icosphere"]),
        (["run", "layout_compare", "--launches", "0"], ["--launches"]),
        (["run", "layout_compare", "--no-such-option"], ["--no-such-option"]),
        (["run", "no_such_experiment"], ["no_such_experiment", "layout_compare"]),
        (["no_such_command"], ["no_such_command"]),
        (["repro", "no_such_file.json"], ["no_such_file.json"]),
    ],
)
def test_bad_input(arguments: list[str], texts: list[str], device: object) -> None:
    extra = ["--device", "lavapipe"] if arguments[:2] == ["run", "layout_compare"] else []
    assert_one_line(guestgpu(*arguments, *extra), Exit.USAGE, *texts)


BAD_MESHES = {
    "empty.off": ("OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", "triangle"),
    "nan.off": ("OFF\n3 1 0\n0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n", "finite"),
    "past.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "outside the range of its vertices"),
    "past.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "past.obj"),
}


@pytest.mark.parametrize("name", BAD_MESHES)
def test_bad_meshes(name: str, tmp_path: Path, device: object) -> None:
    text, said = BAD_MESHES[name]
    path = tmp_path / name
    path.write_text(text)
    assert_one_line(
        guestgpu("run", "layout_compare", "--device", "lavapipe", "--mesh", str(path)), Exit.USAGE, said, name
    )


def test_unknown_device(device: object) -> None:
    done = guestgpu("run", "layout_compare", "--device", "no such device", "--json")
    assert_one_line(done, Exit.NO_DEVICE, "no such device", "llvmpipe")
    assert figures_of(done)["ok"] is False


def test_no_driver_says_what_to_install() -> None:
    done = guestgpu("devices", VK_DRIVER_FILES="/nonexistent.json", VK_ICD_FILENAMES="/nonexistent.json")
    assert_one_line(done, Exit.NO_DEVICE, "install", "driver")


def test_no_vulkan_library_says_what_to_do(tmp_path: Path) -> None:
    """A machine without the GPU part: the core works, everything that needs a device says how to get it."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['guestgpu._gpu'] = None\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    for arguments in (["devices"], ["run", "layout_compare"], ["repro", "file"]):
        assert_one_line(guestgpu(*arguments, PYTHONPATH=path), Exit.NO_DEVICE, "GPU extension", "setup-system.sh")
    code = "from guestgpu import layout; print(layout.plan(layout.standard_shape(27), layout.Options(1)).fit)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, check=True
    )
    assert done.stdout == "621378\n"


@pytest.mark.slow
def test_a_driver_without_mesh_shaders_is_said_once(tmp_path: Path, device: object) -> None:
    """The native arm is left out with a note, and the run goes on."""
    hook = "import guestgpu.fallback as f\nf.native_refusal = lambda *a, **k: 'no VK_EXT_mesh_shader'\n"
    code = hook + "from guestgpu.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *QUICK, "--launches", "1", "--out", str(tmp_path)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the native arm is left out") == 1
    assert "no VK_EXT_mesh_shader" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_folder_that_cannot_be_written(tmp_path: Path, device: object) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert_one_line(guestgpu(*QUICK, "--out", str(file / "runs")), Exit.FAILED, str(file))


@pytest.mark.slow
def test_interrupting_keeps_the_rows(tmp_path: Path, device: object) -> None:
    process = subprocess.Popen(
        [*COMMAND, *QUICK, "--launches", "50", "--json", "--out", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 120
    while time.monotonic() < end:
        found = [path for path in tmp_path.glob("*/rows.jsonl") if '"kind":"cell"' in path.read_text().replace(" ", "")]
        if found:
            break
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED, stderr
    assert "Traceback" not in stderr
    content = json.loads(stdout)
    assert content["ok"] is False
    rows = results.read(content["rows"])
    assert results.timed_blocks(rows.rows), "the finished launches are gone"


def test_repro_of_a_saved_case(tmp_path: Path, device: object) -> None:
    """A failing batch is minimised, stored, and fails again; without its fault it does not."""
    from guestgpu import minimise
    from guestgpu.device import Device

    assert isinstance(device, Device)
    shape = Shape(12, 12, 5)
    batch = meshes.random_meshlets(np.random.default_rng(2), 6, 12, 12, vertex_words=5, bad=("degenerate",))
    options = Options(Layout.INDEXED, 65536, mutation=Mutation.CORNER_SLOTS_ONLY)

    def fails(candidate: meshes.Batch) -> bool:
        return bool(layout_check.serial_difference(device, shape, options, candidate))

    small = minimise.minimise(batch, fails, budget=200).batch
    assert len(small.meshlets) == 1
    path = layout_check.save_case(tmp_path, shape, options, small, "seen")
    assert layout_check.load_case(path)[:2] == (shape, options)
    done = guestgpu("repro", str(path), "--device", "lavapipe", "--json")
    assert done.returncode == Exit.FAILED
    assert "expected" in figures_of(done)["failures"][0]
    sound = layout_check.save_case(tmp_path, shape, Options(Layout.INDEXED, 65536), small, "")
    assert guestgpu("repro", str(sound), "--device", "lavapipe").returncode == Exit.OK
    path.write_text("{}")
    assert_one_line(guestgpu("repro", str(path)), Exit.USAGE, path.name)


@pytest.mark.slow
def test_a_mismatch_fails_the_run(tmp_path: Path, device: object) -> None:
    """A layout that is wrong: exit code 1, the failure named, a reproducer saved."""
    hook = (
        "from guestgpu import layout\n"
        "emit = layout.emit_mesh\n"
        "def wrong(shape, options=layout.Options()):\n"
        "    faulty = options.layout == layout.Layout.SOA\n"
        "    mutation = layout.Mutation.ROTATED_INDICES if faulty else layout.Mutation.NONE\n"
        "    return emit(shape, layout.replace(options, mutation=mutation))\n"
        "layout.emit_mesh = wrong\n"
    )
    (tmp_path / "sitecustomize.py").write_text(hook)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = guestgpu(*QUICK, "--launches", "1", "--json", "--out", str(tmp_path), PYTHONPATH=path)
    found = figures_of(done)
    assert done.returncode == Exit.FAILED
    assert found["figures"]["unequal"] > 0
    assert "soa: area = host model: record" in found["failures"][0]
    saved = list(tmp_path.glob("*/repro-*.json"))
    assert len(saved) == 2  # with room for all, and with half of it
    for case in saved:
        assert layout_check.load_case(case)[1].layout == layout.Layout.SOA

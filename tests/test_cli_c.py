# SPDX-License-Identifier: MIT
"""The C program guestgpu-c: its output, its one-line errors and its exit status; built with the sanitizers."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHAPE = ["--vertices", "64", "--primitives", "124", "--words", "27"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run() -> Run:
    """Runs the program with some arguments."""
    target = "build/sanitize-gcc/guestgpu-c"
    command = ["make", "-s", "-C", ROOT / "csrc", "config=sanitize", "CC=gcc", "-j2", target]
    made = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert made.returncode == 0, made.stderr

    def program(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
        # Loader and drivers keep memory until exit; the C tests look for leaks of ours.
        options = {"ASAN_OPTIONS": "detect_leaks=0"} if arguments[:1] == ("devices",) else {}
        return subprocess.run(
            [ROOT / "csrc" / target, *map(str, arguments)],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=os.environ | options | env,
        )  # fmt: skip

    return program


@pytest.fixture(scope="module")
def run_gpu(run: Run) -> Run:
    """The same, where the GPU part is built in."""
    if "without the GPU part" in run("version").stdout:
        assert not os.environ.get("GUESTGPU_REQUIRE_DEVICE"), "guestgpu-c was built without the GPU part"
        pytest.skip("guestgpu-c was built without the GPU part")
    return run


def test_help_and_version(run: Run) -> None:
    told = run("--help")
    assert told.returncode == 0
    assert told.stdout.startswith("usage: guestgpu-c VERB")
    assert max(map(len, told.stdout.splitlines())) <= 110
    version = run("version")
    assert version.returncode == 0
    assert version.stdout.startswith("guestgpu ABI 1\n")


def test_plan(run: Run) -> None:
    published = run("layout", "plan", *SHAPE)
    assert published.returncode == 0
    assert published.stdout == (
        "layout aos\nindexed 0\nheader_words 8\ncorners 3\nrecord_words 27\nslot_words 27\nfit 621378\n"
        "stage_bytes 7300\narea_words 16777216\nindex_word 0\nmax_slots 372\nmax_workgroups 11545611\n"
    )
    indexed = run("layout", "plan", *SHAPE, "--layout", "indexed", "--area", "0x100000", "--census")
    lines = dict(line.split() for line in indexed.stdout.splitlines())
    assert lines["indexed"] == "1"
    assert lines["fit"] == "9361"  # (262144 - 16) / 28
    assert lines["index_word"] == str(16 + 27 * 9361)
    points = run("layout", "plan", *SHAPE, "--topology", "points", "--task", "--output", "flat:3:4:2")
    assert "corners 1\n" in points.stdout


@pytest.mark.parametrize("stage", ["mesh", "vertex", "task", "scan"])
def test_emit(run: Run, tmp_path: Path, stage: str) -> None:
    file = tmp_path / "module.spv"
    outputs = ["--output", "smooth:0:4:4", "--output", "flat:1:8:1"]
    shaped = [*SHAPE, *outputs, "--layout", "soa"] if stage in ("mesh", "vertex") else []
    emitted = run("layout", "emit", stage, *shaped, "-o", file)
    assert (emitted.returncode, emitted.stdout, emitted.stderr) == (0, "", "")
    assert file.read_bytes()[:8] == bytes.fromhex("0302230700060100")


def test_module_verbs(run_gpu: Run, tmp_path: Path) -> None:
    file = tmp_path / "module.spv"
    assert run_gpu("layout", "emit", "mesh", *SHAPE, "--layout", "indexed", "-o", file).returncode == 0
    valid = run_gpu("validate", file)
    assert (valid.returncode, valid.stderr) == (0, "")
    text = run_gpu("disassemble", file)
    assert text.returncode == 0
    assert "OpEntryPoint GLCompute %main" in text.stdout
    words = bytearray(file.read_bytes())
    words[12:16] = bytes([3, 0, 0, 0])  # a bound below the ids
    file.write_bytes(words)
    refused = run_gpu("validate", file)
    assert refused.returncode == 1
    assert refused.stderr.startswith("guestgpu-c validate: ")
    assert refused.stderr.count("\n") == 1
    for wrong in (b"", b"abc", words[:18]):
        file.write_bytes(wrong)
        for verb in ("validate", "disassemble"):
            refused = run_gpu(verb, file)
            assert refused.returncode == 1
            assert "not a SPIR-V module" in refused.stderr
    missing = run_gpu("validate", tmp_path / "nothing.spv")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "No such file" in missing.stderr


def test_devices(run_gpu: Run) -> None:
    none = run_gpu("devices", VK_DRIVER_FILES="/nonexistent", VK_ICD_FILENAMES="/nonexistent")
    assert (none.returncode, none.stdout) == (5, "")
    assert none.stderr.startswith("guestgpu-c devices: ")
    there = run_gpu("devices")
    assert there.returncode in (0, 5), there.stderr
    if there.returncode == 5:
        assert not os.environ.get("GUESTGPU_REQUIRE_DEVICE"), there.stderr
        pytest.skip("no Vulkan device")
    assert there.stdout.startswith("0: ")
    assert "; Vulkan 1." in there.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ([], 2, "no verb"),
        (["nonsense"], 2, "unknown verb: nonsense"),
        (["layout"], 2, "unknown verb: layout"),
        (["layout", "nonsense"], 2, "unknown verb: layout nonsense"),
        (["layout", "plan"], 2, "--vertices is missing"),
        (["layout", "plan", *SHAPE[:4]], 2, "--words is missing"),
        (["layout", "plan", *SHAPE, "--area"], 2, "--area: its value is missing"),
        (["layout", "plan", *SHAPE, "--colour", "red"], 2, "unknown argument: --colour"),
        (["layout", "plan", *SHAPE, "-o", "file"], 2, "writes no file"),
        (["layout", "plan", *SHAPE, "--threads", "-1"], 2, "--threads: not a value for it: -1"),
        (["layout", "plan", *SHAPE, "--threads", " 1"], 2, "not a value"),
        (["layout", "plan", *SHAPE, "--threads", "1x"], 2, "not a value"),
        (["layout", "plan", *SHAPE, "--threads", "0x"], 2, "not a value"),
        (["layout", "plan", *SHAPE, "--threads", ""], 2, "not a value"),
        (["layout", "plan", *SHAPE, "--threads", "4294967296"], 2, "not a value"),
        (["layout", "plan", *SHAPE, "--area", "99999999999999999999"], 2, "not a value"),
        (["layout", "plan", *SHAPE, "--layout", "best"], 2, "--layout: not a value for it: best"),
        (["layout", "plan", *SHAPE, "--output", "smooth:0:4"], 2, "--output: not a value"),
        (["layout", "plan", *SHAPE, "--output", "smooth:0:4:4:4"], 2, "--output: not a value"),
        (["layout", "plan", *SHAPE, *["--output", "flat:0:0:1"] * 33], 2, "more than 32"),
        (["layout", "plan", *SHAPE, *["--output", "flat:0:0:1"] * 2], 1, "both at location 0"),
        (["layout", "plan", *SHAPE, "--threads", "1025"], 1, "threads is 1025, must be 1 to 1024"),
        (["layout", "plan", *SHAPE, "--area", "4096"], 1, "one workgroup can take 372"),
        (["layout", "emit"], 2, "the stage is missing"),
        (["layout", "emit", "fragment"], 2, "the stage is missing"),
        (["layout", "emit", "mesh", *SHAPE], 2, "-o FILE is missing"),
        (["layout", "emit", "task", *SHAPE, "-o", "file"], 2, "unknown argument: --vertices"),
        (["layout", "emit", "scan", "-o", "/nonexistent/file"], 1, "/nonexistent/file: No such file"),
        (["version", "now"], 2, "unknown argument: now"),
    ],
)
def test_errors(run: Run, arguments: list[str], status: int, text: str) -> None:
    failed = run(*arguments)
    assert failed.returncode == status, failed.stderr
    assert failed.stdout == ""
    assert failed.stderr.startswith("guestgpu-c")
    assert failed.stderr.count("\n") == 1
    assert text in failed.stderr


def test_full_disk(run: Run) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    failed = run("layout", "emit", "scan", "-o", full)
    assert failed.returncode == 1
    assert "No space left" in failed.stderr

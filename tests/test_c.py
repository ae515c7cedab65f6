# SPDX-License-Identifier: MIT
"""The C test programs under the address and undefined-behaviour sanitizers, each as a test of its own."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = sorted(file.stem for file in (ROOT / "tests" / "c").glob("test_*.c"))


@pytest.fixture(scope="module")
def build() -> Path:
    """The folder of the built programs."""
    command = ["make", "-s", "-C", ROOT / "csrc", "config=sanitize", "CC=gcc", "-j2", "test-programs"]
    made = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert made.returncode == 0, made.stderr
    return ROOT / "csrc" / "build" / "sanitize-gcc" / "tests"


@pytest.mark.slow  # `make check` has run them already, without sanitizers
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(build: Path, name: str) -> None:
    program = build / name
    if not program.exists():
        assert name.startswith("test_gpu"), f"make did not build {name}"
        assert not os.environ.get("GUESTGPU_REQUIRE_DEVICE"), f"{name} needs the GPU part, which was not built"
        pytest.skip("the GPU part was not built")
    command = [ROOT / "tests" / "c" / "run.sh", "sanitize gcc", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    if ran.stdout.startswith("SKIP"):
        pytest.skip(ran.stdout.partition("C tests")[0])

# SPDX-License-Identifier: MIT
"""The wheel: built from a copy of the sources, unpacked beside nothing else, and used."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = (
    "LICENSE",
    "MANIFEST.in",
    "README.md",
    "csrc",
    "experiments",
    "include",
    "kernels",
    "pyproject.toml",
    "python",
    "setup.py",
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of a wheel without the GPU extension, which links for long."""
    source, wheels, site = (tmp_path_factory.mktemp(name) for name in ("source", "wheels", "site"))
    leave = shutil.ignore_patterns("build", "*.so", "*.egg-info", "__pycache__")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, source / part, ignore=leave)
        else:
            shutil.copy(ROOT / part, source)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, source],
        check=True,
        env=os.environ | {"GG_GPU": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
    )
    (wheel,) = wheels.iterdir()
    assert "-cp311-abi3-linux_" in wheel.name
    zipfile.ZipFile(wheel).extractall(site)
    return site


@pytest.mark.slow
def test_wheel_carries_every_kernel(unpacked: Path) -> None:
    def kernels(folder: Path) -> dict[str, bytes]:
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    packed = kernels(unpacked / "guestgpu" / "kernels")
    assert packed == kernels(ROOT / "kernels")
    assert any(name.endswith(".glsl") for name in packed)
    assert any(name.endswith(".cl") for name in packed)
    for name in ("layout_compare", "translator_agree"):
        assert (unpacked / "guestgpu" / "experiments" / name / "run.py").is_file()
    assert (unpacked / "guestgpu" / "py.typed").is_file()


@pytest.mark.slow
def test_wheel_without_gpu_part_imports_and_says_what_is_missing(unpacked: Path, tmp_path: Path) -> None:
    program = (
        "from guestgpu import errors, native\n"
        "print(native.kernels_folder())\n"
        "try:\n    native.gpu()\nexcept errors.NoGpuLibrary as error:\n    print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=True,
    )
    folder, advice = ran.stdout.splitlines()
    assert Path(folder) == unpacked / "guestgpu" / "kernels"
    assert advice.startswith("guestgpu's GPU extension does not load (No module named 'guestgpu._gpu')")

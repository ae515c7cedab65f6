# SPDX-License-Identifier: MIT
"""Builds guestgpu's extensions and carries kernels and experiments along; everything else stands in pyproject.toml."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).parent / "python"))
import ffi_build


class BuildWithKernels(build_py):
    """Copies kernels/ and experiments/ into a wheel's package; an editable install reads them in place."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for name in ("kernels", "experiments"):
                folder = Path(self.build_lib, "guestgpu", name)
                shutil.rmtree(folder, ignore_errors=True)  # build/ may hold some that are gone since
                shutil.copytree(name, folder, ignore=shutil.ignore_patterns("__pycache__"))


class BuildWithCapture(build_ext):
    """Puts what csrc's target `capture` makes beside the extensions: no module of Python, so make builds it."""

    def run(self) -> None:
        super().run()
        compiler = os.environ.get("CC", "cc")
        made = Path("csrc", "build", f"release-{Path(compiler).name}")
        command = ["make", "-s", "-C", "csrc", "config=release", f"CC={compiler}", "WERROR=", "capture"]
        package = Path(self.get_ext_fullpath("guestgpu._core")).parent
        if subprocess.run(command, check=False).returncode:
            print("guestgpu: going on without the capture library", file=sys.stderr)
        for name in ("libguestgpu_capture.so", "guestgpu-guest"):
            (package / name).unlink(missing_ok=True)
            if (made / name).is_file():
                shutil.copy2(made / name, package / name)


setup(
    cmdclass={"build_ext": BuildWithCapture, "build_py": BuildWithKernels},
    ext_modules=ffi_build.extensions(),
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)

# SPDX-License-Identifier: MIT
"""Builds guestgpu's extensions and carries the kernels along; everything else stands in pyproject.toml."""

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).parent / "python"))
import ffi_build


class BuildWithKernels(build_py):
    """Copies kernels/ into a wheel's package; a source tree or an editable install reads it in place."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            kernels = Path(self.build_lib, "guestgpu", "kernels")
            shutil.rmtree(kernels, ignore_errors=True)  # build/ may hold some that are gone since
            shutil.copytree("kernels", kernels)


setup(
    cmdclass={"build_py": BuildWithKernels},
    ext_modules=ffi_build.extensions(),
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)

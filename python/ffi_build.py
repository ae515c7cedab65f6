# SPDX-License-Identifier: MIT
"""The two CFFI extensions, guestgpu._core and guestgpu._gpu, in API mode for the stable ABI of Python 3.11.

What Python sees of a header is the text between its cdef marks, word for word; the header is included in
the generated source, so that the compiler checks the text again. GG_GPU=0 leaves _gpu out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from cffi import FFI
from setuptools import Extension

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "guestgpu"
CORE_HEADERS = (
    "guestgpu.h",
    "layout.h",
    "suballoc_pool.h",
    "suballoc_rules.h",
    "suballoc_slices.h",
    "suballoc_speed.h",
    "drawcache.h",
    "translator.h",
)
CORE_FOLDERS = ("common", "spirv", "layout", "suballoc", "drawcache", "translator")
GPU_HEADERS = ("gpu.h", "gpu_memory.h")
GPU_FOLDERS = ("common", "gpu")  # csrc/common in both: no extension needs another's symbols

COMPILE_ARGS = ["-std=c17", "-O2", "-fvisibility=hidden", "-ffp-contract=off", "-pthread"]


def cdef_of(header: str) -> str:
    """The text between the cdef marks of include/guestgpu/<header>."""
    blocks = re.findall(r"/\* cdef: begin \*/(.*?)/\* cdef: end \*/", (INCLUDE / header).read_text(), re.DOTALL)
    if len(blocks) != 1:
        raise SystemExit(f"include/guestgpu/{header}: {len(blocks)} blocks between cdef marks, not 1")
    return str(blocks[0])


def extension(ffi: FFI, name: str, headers: tuple[str, ...], folders: tuple[str, ...], *link_args: str) -> Extension:
    """guestgpu.<name>: what `headers` declare, made of the C files in csrc's `folders`."""
    for header in headers:
        ffi.cdef(cdef_of(header))
    # Python asks each extension for its version: _gpu inherits the name gg_abi_version from _core.
    ffi.cdef(f"uint32_t {name}_abi_version(void);")
    # Every header: _gpu's source repeats the enums that it takes over by include().
    source = "".join(f"#include <guestgpu/{header}>\n" for header in (*CORE_HEADERS, *GPU_HEADERS))
    source += f"static uint32_t {name}_abi_version(void) {{ return gg_abi_version(); }}\n"
    ffi.set_source(f"guestgpu.{name}", source, compiler_verbose=False)
    generated = ROOT / "build" / "cffi" / f"{name}.c"
    generated.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_c_code(str(generated))  # leaves the file alone when nothing has changed
    inputs = (*INCLUDE.glob("*.h"), *ROOT.glob("csrc/**/*.h"), *ROOT.glob("csrc/**/*.def"))
    files = sorted(file for folder in folders for file in (ROOT / "csrc" / folder).glob("*.c"))
    return Extension(
        f"guestgpu.{name}",
        sources=[_relative(file) for file in (generated, *files)],
        depends=[_relative(file) for file in inputs],
        include_dirs=["include", "csrc", "csrc/common"],
        define_macros=[("Py_LIMITED_API", "0x030B0000"), ("_POSIX_C_SOURCE", "200809L")],
        extra_compile_args=COMPILE_ARGS,
        extra_link_args=["-pthread", *link_args, "-lm"],
        py_limited_api=True,
    )


def gpu_libraries() -> list[str] | None:
    """What _gpu links with; None, said on stderr, where it is not wanted or cannot be built."""
    if os.environ.get("GG_GPU") == "0":
        reason = "GG_GPU=0"
    else:
        found = subprocess.run([ROOT / "csrc" / "gpu_libs.sh"], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split()
        reason = found.stderr.strip()
    print(f"guestgpu: building without the GPU extension: {reason}", file=sys.stderr)
    return None


def extensions() -> list[Extension]:
    """For setup(ext_modules=...)."""
    core = FFI()
    built = [extension(core, "_core", CORE_HEADERS, CORE_FOLDERS)]
    libraries = gpu_libraries()
    if libraries is not None:
        gpu = FFI()
        gpu.include(core)
        built.append(extension(gpu, "_gpu", GPU_HEADERS, GPU_FOLDERS, "-Wl,--exclude-libs,ALL", *libraries))
    return built


def _relative(file: Path) -> str:
    # setuptools wants paths relative to setup.py.
    return str(file.relative_to(ROOT))

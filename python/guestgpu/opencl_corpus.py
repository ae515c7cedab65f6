# SPDX-License-Identifier: MIT
"""The OpenCL kernels of kernels/translator/opencl: inputs of a small dispatch each, compiled for guest and host.

The host build of the same source (hostrun.h) is the oracle: its memory is what the guest's must be.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.capture import NoGuestDriver
from guestgpu.errors import CompileError
from guestgpu.hsa import launch
from guestgpu.interpreter import CodeObject, Report, interpret, read_code_object

CORPUS = native.kernels_folder() / "translator" / "opencl"
CLANG = shutil.which("clang-19")

Arguments = dict[str, Any]
"""Name to array (a global buffer) or numpy scalar."""


@dataclass(frozen=True)
class Case:
    groups: tuple[int, int]
    make: Callable[[np.random.Generator], Arguments]
    canonical: Callable[[Arguments], Any] = field(default=lambda arguments: list(arguments.values()))
    """What must be equal: by itself everything; of kernels whose order is free, what does not depend on it."""


def _u32(rng: np.random.Generator, count: int, high: int = 1 << 32) -> NDArray[np.uint32]:
    return rng.integers(0, high, count, np.uint32) if high < 1 << 32 else rng.integers(0, 1 << 32, count).astype("u4")


def _f32(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return rng.uniform(-1, 1, shape).astype(np.float32)


def _zeros(count: int, dtype: Any = np.uint32) -> NDArray[Any]:
    return np.zeros(count, dtype)


def _bfs(rng: np.random.Generator) -> Arguments:
    nodes, degree = 200, rng.integers(0, 6, 200)
    row = np.concatenate([[0], np.cumsum(degree)]).astype(np.uint32)
    dist = np.full(nodes, 99, np.uint32)
    current = rng.permutation(nodes)[:70].astype(np.uint32)
    dist[current] = 3
    column = _u32(rng, int(row[-1]), nodes)
    return {
        "dist": dist, "next": _zeros(nodes), "nnext": _zeros(1), "row": row, "col": column, "cur": current,
        "ncur": np.uint32(70), "level": np.uint32(4),
    }  # fmt: skip


def _bfs_result(a: Arguments) -> Any:
    return [a["dist"], a["nnext"], np.sort(a["next"][: a["nnext"][0]])]


def _bytes_half(rng: np.random.Generator) -> Arguments:
    n = 512
    return {
        "o": _zeros(n), "a": _u32(rng, n), "b": _u32(rng, n), "h": _zeros(2 * n, np.float16),
        "g": rng.uniform(-30, 30, 2 * n).astype(np.float16), "us": _u32(rng, n, 65536).astype(np.uint16),
        "sc": rng.integers(-128, 128, n).astype(np.int8),
    }  # fmt: skip


def _compact(rng: np.random.Generator) -> Arguments:
    return {"out": _zeros(600), "count": _zeros(1), "in": _u32(rng, 600), "n": np.uint32(600), "th": np.uint32(2**31)}


def _compact_result(a: Arguments) -> Any:
    return [a["count"], np.sort(a["out"])]


def _meshlet(rng: np.random.Generator) -> Arguments:
    groups = 2
    corners = rng.integers(0, 128, (groups * 128, 3)).astype(np.uint32)
    triangles = corners[:, 0] | corners[:, 1] << 8 | corners[:, 2] << 16
    triangles[rng.integers(0, groups * 128, 20)] = 0xFFFFFFFF
    position = np.concatenate([_f32(rng, groups * 128, 3), np.ones((groups * 128, 1), np.float32)], 1)
    matrix = (np.eye(4, dtype=np.float32) + 0.1 * _f32(rng, 4, 4)).astype(np.float32)
    return {
        "vtx": _zeros(groups * 512, np.float32), "idx": _zeros(groups * 128), "counts": _zeros(2 * groups),
        "pos": position.copy(), "tri": triangles.astype(np.uint32), "mvp": matrix,
    }  # fmt: skip


def _meshlet_result(a: Arguments) -> Any:
    """Triangles as the bytes of their corners; slots are handed out in any order."""
    vertices, results = a["vtx"].reshape(-1, 128, 4), [a["counts"]]
    for group, (_, count) in enumerate(a["counts"].reshape(-1, 2)):
        words = a["idx"][group * 128 : group * 128 + count]
        corners = [vertices[group][words >> shift & 255].view(np.uint32) for shift in (0, 8, 16)]
        results.append(np.array(sorted(np.concatenate(corners, 1).tolist()), np.uint32))
    return results


def _spheres(rng: np.random.Generator) -> Arguments:
    spheres = np.concatenate([2 * _f32(rng, 6, 3), rng.uniform(0.3, 0.9, (6, 1)).astype(np.float32)], 1)
    return {
        "img": _zeros(256), "sp": spheres.astype(np.float32), "n": np.uint32(6), "w": np.uint32(16),
        "inv": np.float32(2 / 16),
    }  # fmt: skip


def _matrices(rng: np.random.Generator, n: int) -> Arguments:
    return {"c": _zeros(n * n, np.float32), "a": _f32(rng, n * n), "b": _f32(rng, n * n), "n": np.uint32(n)}


CASES: dict[str, Case] = {
    "bfs_level": Case((2, 1), _bfs, _bfs_result),
    "bitonic": Case((2, 1), lambda r: {"d": _u32(r, 1024)}),
    "bytes_half": Case((2, 1), _bytes_half),
    "calls": Case(
        (2, 1), lambda r: {"o": _zeros(128, np.float32), "in": _f32(r, 128), "perm": r.permutation(16).astype("u4")}
    ),
    "collatz": Case((1, 1), lambda r: {"o": _zeros(256), "base": np.uint32(1000)}),
    "compact": Case((3, 1), _compact, _compact_result),
    "early_exit": Case((2, 1), lambda r: {"o": _zeros(512), "in": _u32(r, 512), "n": np.uint32(390)}),
    "hist_lds": Case((2, 1), lambda r: {"hist": _zeros(256), "px": _u32(r, 700), "n": np.uint32(700)}),
    "i64_f64": Case(
        (2, 1),
        lambda r: {
            "o": _zeros(128, np.uint64),
            "d": _zeros(128, np.float64),
            "a": r.integers(0, 2**63, 129).astype(np.uint64),
            "b": r.uniform(-10, 10, 129),
        },
    ),
    "mandelbrot": Case(
        (1, 8),
        lambda r: {
            "img": _zeros(480),
            "w": np.uint32(60),
            "h": np.uint32(8),
            "scale": np.float32(0.05),
            "maxit": np.uint32(64),
        },
    ),
    "matmul_reg": Case((1, 1), lambda r: _matrices(r, 64)),
    "matmul_tiled": Case((2, 2), lambda r: _matrices(r, 32)),
    "meshlet": Case((2, 1), _meshlet, _meshlet_result),
    "nbody": Case(
        (1, 1),
        lambda r: {
            "vel": _f32(r, 1024),
            "np": _zeros(1024, np.float32),
            "pos": _f32(r, 1024),
            "n": np.uint32(256),
            "dt": np.float32(0.01),
        },
    ),
    "pair64": Case((2, 1), lambda r: {"out": _zeros(256)}),
    "reduce_lds": Case((2, 1), lambda r: {"out": _zeros(2, np.float32), "in": _f32(r, 2048), "n": np.uint32(1900)}),
    "reduce_unrolled": Case((2, 1), lambda r: {"out": _zeros(2), "in": _u32(r, 512)}),
    "saxpy": Case((2, 1), lambda r: {"y": _f32(r, 512), "x": _f32(r, 512), "a": np.float32(1.7), "n": np.uint32(500)}),
    "scan_blelloch": Case((2, 1), lambda r: {"out": _zeros(1024), "sums": _zeros(2), "in": _u32(r, 1024)}),
    "sha256": Case((1, 1), lambda r: {"out": _zeros(512), "msg": _u32(r, 1024)}),
    "spheres": Case((2, 2), _spheres),
    "stencil9": Case(
        (2, 2),
        lambda r: {"o": _zeros(30 * 29, np.float32), "in": _f32(r, 30 * 29), "w": np.uint32(30), "h": np.uint32(29)},
    ),
    "transpose": Case(
        (2, 2),
        lambda r: {"o": _zeros(50 * 40, np.float32), "in": _f32(r, 50 * 40), "w": np.uint32(50), "h": np.uint32(40)},
    ),
    "wave_special": Case((2, 1), lambda r: {"o": _zeros(128), "in": _u32(r, 2 * 5 * 64), "rounds": np.uint32(5)}),
    "wcompact": Case(
        (2, 1),
        lambda r: {"out": _zeros(512), "count": _zeros(1), "in": _u32(r, 512), "th": np.uint32(2**31)},
        _compact_result,
    ),
    "wreduce": Case((2, 1), lambda r: {"out": _zeros(16), "in": _u32(r, 4096)}),
    "wscan": Case((2, 1), lambda r: {"out": _zeros(512), "in": _u32(r, 512)}),
    "wswz": Case((2, 1), lambda r: {"out": _zeros(512), "in": _u32(r, 512)}),
}


def _run(command: list[str]) -> None:
    """Like subprocess.run; without clang that says so."""
    if CLANG is None:
        raise NoGuestDriver("OpenCL C needs clang-19: apt install clang-19")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")


@cache
def guest(name: str, wave: int, opt: int, fast: bool = False, options: tuple[str, ...] = ()) -> CodeObject:
    """Compiled and linked; unless fast, floats are IEEE, one rounding an operation, as the host's."""
    floats = ["-ffast-math"] if fast else ["-ffp-contract=off", "-cl-fp32-correctly-rounded-divide-sqrt"]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernel.co"
        _run(
            [
                str(CLANG),
                "-x",
                "cl",
                "-cl-std=CL2.0",
                "-Xclang",
                "-cl-ext=+cl_khr_fp64,+__cl_clang_bitfields",
                "-nogpulib",
                "-target",
                "amdgcn-amd-amdhsa",
                "-mcpu=gfx1030",
                "-mwavefrontsize64" if wave == 64 else "-mno-wavefrontsize64",
                f"-DWAVE={wave}",
                f"-O{opt}",
                *options,
                *floats,
                "-w",
                str(CORPUS / f"{name}.cl"),
                "-o",
                str(target),
            ]
        )
        return read_code_object(target.read_bytes())


def _parameters(name: str) -> list[str]:
    """The C types of a kernel's parameters, from its source."""
    source = (CORPUS / f"{name}.cl").read_text()
    found = re.search(rf"void {name}\(([^)]*)\)", source)
    if not found:
        raise CompileError(f"{name}.cl: no kernel {name} in it")
    return [re.sub(r"\w+$", "", parameter.strip()) for parameter in found[1].split(",")]


@cache
def _host(name: str, wave: int) -> Any:
    values = ", ".join(f"*({type_name} *)arguments[{i}]" for i, type_name in enumerate(_parameters(name)))
    source = f'#include "{name}.cl"\nstatic void hostrun_call(void **arguments) {{ {name}({values}); }}\n'
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "host.c").write_text(source)
        _run(
            [
                str(CLANG),
                "-x",
                "c",
                "-std=gnu17",
                "-DHOST_ORACLE",
                f"-DWAVE={wave}",
                "-O1",
                "-ffp-contract=off",
                "-Xclang",
                "-ffloat16-excess-precision=none",
                "-fPIC",
                "-shared",
                "-w",
                f"-I{CORPUS}",
                str(folder / "host.c"),
                "-lm",
                "-o",
                str(folder / "host.so"),
            ]
        )
        return ctypes.CDLL(str(folder / "host.so"))
    finally:
        shutil.rmtree(folder)


def run_host(name: str, wave: int, threads: tuple[int, int, int], arguments: Arguments) -> None:
    """Runs the kernel as C on `arguments`, whose arrays it changes."""
    places: list[Any] = []
    for value in arguments.values():
        if isinstance(value, np.ndarray):
            places.append(ctypes.c_void_p(value.ctypes.data))
        else:
            places.append(ctypes.create_string_buffer(value.tobytes()))
    table = (ctypes.c_void_p * len(places))(*(ctypes.addressof(place) for place in places))
    sizes = (ctypes.c_uint * 4)(threads[0], threads[1], *CASES[name].groups)
    _host(name, wave).hostrun_dispatch(sizes, table)


def run_guest(code: CodeObject, name: str, arguments: Arguments, **options: Any) -> Report:
    """Runs the kernel in the interpreter on `arguments`, whose arrays it changes."""
    program, windows = launch(code, code.kernels[name], CASES[name].groups, arguments)
    return interpret(program, windows, groups=(*CASES[name].groups, 1), **options)


def copied(arguments: Arguments) -> Arguments:
    return {name: value.copy() for name, value in arguments.items()}

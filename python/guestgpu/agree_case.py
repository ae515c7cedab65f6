# SPDX-License-Identifier: MIT
"""One compiled program with its dispatch, and what its results should be: made from a source, kept in a file.

A case is enough to run a program anywhere: neither a guest compiler nor the source is needed again. Failing ones are
reproducers for `guestgpu repro`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import corpus, guest, hsa, minimise, opencl_corpus
from guestgpu.agree_inputs import Key, Rule, Settings, settings_of
from guestgpu.errors import ArgumentError, GuestGpuError
from guestgpu.interpreter import CodeObject, Kernel, Program

if TYPE_CHECKING:
    from guestgpu.device import Device

CASE = "translator"
ROUNDED = {"nbody": 2e-3, "spheres": 2e-3}
"""Kernels of the corpus with operations that a device may round in its own way, and what that may change."""

Windows = dict[int, NDArray[Any]]


@dataclass(frozen=True)
class Variant:
    """How a source is compiled."""

    wave: int
    opt: int | None = None
    """Of OpenCL C."""

    @property
    def name(self) -> str:
        return f"wave{self.wave}" + (f" O{self.opt}" if self.opt else "")


def variants(path: Path, quick: bool) -> list[Variant]:
    """RADV has one level; clang three."""
    levels: list[int | None] = [None] if path.suffix != ".cl" else [2] if quick else [1, 2, 3]
    return [Variant(wave, opt) for opt in levels for wave in (32, 64)]


@dataclass(frozen=True)
class Area:
    """A piece of memory that holds results."""

    name: str
    address: int
    rule: Rule


@dataclass(frozen=True)
class Case:
    name: str
    variant: str
    program: Program
    windows: Mapping[int, NDArray[Any]]
    groups: tuple[int, int, int]
    areas: tuple[Area, ...] = ()
    """Where the results lie; of shaders, the bindings, in order."""
    first_group: tuple[int, int, int] = (0, 0, 0)
    shader: guest.GuestProgram | None = None
    module: NDArray[np.uint32] | None = None
    """The shader as it came, to run on the device itself."""
    kernel: str = ""
    """One of opencl_corpus.CASES."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The kernel's arguments that are no buffers; None for those that are."""
    host: tuple[NDArray[Any], ...] | None = None
    """What the kernel leaves on the host; None where there is no host build."""

    def memory(self) -> Windows:
        return {address: array.copy() for address, array in self.windows.items()}

    def results(self, windows: Mapping[int, NDArray[Any]]) -> list[NDArray[Any]]:
        """What is compared, out of memory after a dispatch."""
        if self.kernel:
            return _canonical(self.kernel, self.values, windows)
        if self.shader is not None:
            return self.shader.results(windows)
        return [_words(windows[area.address]) for area in self.areas]

    def rules(self, count: int) -> list[Rule]:
        """One for each of `count` results."""
        if self.kernel:
            near = ROUNDED.get(self.kernel, 0.0)
            return [Rule(relative=near, absolute=near * 1e-3)] * count
        return [area.rule for area in self.areas]

    def names(self, count: int) -> list[str]:
        return [f"result {i}" for i in range(count)] if self.kernel else [area.name for area in self.areas]

    def difference(self, wanted: list[NDArray[Any]], got: list[NDArray[Any]]) -> str:
        """ "" or the first result that differs."""
        if len(wanted) != len(got):
            return f"{len(got)} results of {len(wanted)}"
        rows = zip(self.names(len(got)), self.rules(len(got)), wanted, got, strict=True)
        return next((f"{name}: {text}" for name, rule, a, b in rows if (text := rule.difference(a, b))), "")

    def original(self, device: Device) -> list[NDArray[Any]] | None:
        """The results of what the program was made from: on the device, or kept from the host; None: nothing has it."""
        if self.host is not None:
            return list(self.host)
        if self.module is None or self.shader is None:
            return None
        from guestgpu.original import run_original

        return run_original(device, self.module, self.shader)


def _words(array: NDArray[Any]) -> NDArray[np.uint32]:
    data = array.tobytes()
    return np.frombuffer(data.ljust(-(-len(data) // 4) * 4, b"\0"), np.uint32)


# ---- from sources ----


def compile_cases(path: Path, name: str, variant: Variant, seed: int) -> list[Case]:
    """The cases of a file: one, or one a kernel. Raises what the compilers raise."""
    settings = settings_of(path)
    seed = seed if settings.seed is None else settings.seed
    if path.suffix != ".cl":
        return [_shader(path, name, variant, settings, seed)]
    options = guest.Options(wave=variant.wave, opt=variant.opt or 2)
    code = guest.compile_opencl(path, options).code_object()
    known = opencl_corpus.CASES.get(path.stem) if path.parent == opencl_corpus.CORPUS else None
    if known is not None:
        return [_corpus_kernel(code, path.stem, name, variant, known)]
    return [_kernel(code, kernel, name, variant, settings, seed) for kernel in code.kernels.values()]


def _shader(path: Path, name: str, variant: Variant, settings: Settings, seed: int) -> Case:
    from guestgpu import device

    if path.suffix == ".spv":
        module = np.fromfile(path, np.uint32)
    else:
        module = device.compile_glsl_text(path.read_text(), path.name, device.Stage.COMPUTE)
    entry = corpus.Entry(path, settings.groups, settings.buffer_bytes, settings.image_extent, settings.constants)
    options = replace(
        entry.options(module, variant.wave, seed),
        push=settings.push,
        buffers={(key[0], key[1], key[2]): data for key, data in settings.contents().items() if len(key) == 3},
    )
    shader = guest.compile_spirv(module, path.name, options)
    return _shader_case(name, variant.name, shader, module, settings.rule_of)


def _shader_case(
    name: str, variant: str, shader: guest.GuestProgram, module: NDArray[np.uint32], rule_of: Callable[[Key], Rule]
) -> Case:
    areas = [
        Area(f"set {b.set} binding {b.binding}" + f" element {b.element}" * (b.element > 0), b.address,
             rule_of((b.set, b.binding, b.element)))
        for b in shader.bindings
    ]  # fmt: skip
    d = shader.dispatch
    return Case(name, variant, shader.program(), shader.memory(), d.groups, tuple(areas), d.first_group, shader, module)


def _corpus_kernel(code: CodeObject, kernel_name: str, name: str, variant: Variant, known: opencl_corpus.Case) -> Case:
    kernel = code.kernels[kernel_name]
    arguments = known.make(np.random.default_rng(sum(kernel_name.encode())))
    on_host = opencl_corpus.copied(arguments)
    opencl_corpus.run_host(kernel_name, variant.wave, kernel.threads, on_host)
    program, windows = hsa.launch(code, kernel, known.groups, arguments)
    values = {key: None if isinstance(value, np.ndarray) else value for key, value in arguments.items()}
    host = tuple(np.asarray(result) for result in known.canonical(on_host))
    x, y = known.groups
    return Case(name, variant.name, program, windows, (x, y, 1), kernel=kernel_name, values=values, host=host)


def _canonical(kernel: str, values: Mapping[str, Any], windows: Mapping[int, NDArray[Any]]) -> list[NDArray[Any]]:
    arguments = {
        name: windows[hsa.DATA + (slot << hsa.DATA_BITS)] if value is None else value
        for slot, (name, value) in enumerate(values.items())
    }
    return [np.asarray(result) for result in opencl_corpus.CASES[kernel].canonical(arguments)]


def _kernel(code: CodeObject, kernel: Kernel, name: str, variant: Variant, settings: Settings, seed: int) -> Case:
    kernel = hsa.with_threads(kernel, settings.threads or (kernel.wave, 1, 1))
    arguments = hsa.default_arguments(kernel, settings.groups, seed, settings.buffer_bytes)
    names = list(arguments)
    for key, data in settings.contents().items():
        if len(key) != 1 or key[0] >= len(names):
            raise ArgumentError(f"{name}: kernel {kernel.name} has no argument {key}")
        given = np.frombuffer(data, np.uint8)
        is_buffer = arguments[names[key[0]]].flags.writeable
        arguments[names[key[0]]] = given.copy() if is_buffer else given
    program, windows = hsa.launch(code, kernel, settings.groups, arguments)
    areas = [
        Area(f"argument {i}", hsa.DATA + (i << hsa.DATA_BITS), settings.rule_of((i,)))
        for i, value in enumerate(arguments.values())
        if value.flags.writeable
    ]
    called = name if len(code.kernels) == 1 else f"{name}:{kernel.name}"
    return Case(called, variant.name, program, windows, settings.groups, tuple(areas))


# ---- files ----


def save(path: Path, case: Case, **more: Any) -> None:
    """A case as a file, with what `more` says of how it failed."""
    members = {name: value for name, value in vars(case.program).items() if name != "words"}
    content: dict[str, Any] = {
        "case": CASE,
        "name": case.name,
        "variant": case.variant,
        "words": np.array(case.program.words),
        "program": {name: list(value) if isinstance(value, tuple) else value for name, value in members.items()},
        "windows": {hex(address): _packed(array) for address, array in case.windows.items()},
        "groups": list(case.groups),
        "first_group": list(case.first_group),
        "areas": [{"name": a.name, "address": hex(a.address), "rule": vars(a.rule)} for a in case.areas],
        "kernel": case.kernel,
        "values": {name: None if value is None else _packed(np.array([value])) for name, value in case.values.items()},
        "host": None if case.host is None else [_packed(array) for array in case.host],
        "module": None if case.module is None else np.array(case.module),
        "state": None if case.shader is None else json.dumps(case.shader.state()),
    }
    minimise.save_reproducer(path, content | more)


def _packed(array: NDArray[Any]) -> dict[str, Any]:
    """Any array; zeros at its end are left out."""
    data = array.tobytes().rstrip(b"\0")
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": np.frombuffer(data, np.uint8)}


def _unpacked(found: Mapping[str, Any]) -> NDArray[Any]:
    dtype, shape = np.dtype(found["dtype"]), tuple(int(n) for n in found["shape"])
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    data = found["data"].tobytes()
    if dtype.hasobject or len(data) > size or size > 1 << 32:
        raise ValueError(f"{len(data)} bytes of {shape} {dtype}")
    return np.frombuffer(data.ljust(size, b"\0"), dtype).reshape(shape).copy()


def of_content(path: Path, content: Mapping[str, Any]) -> Case:
    """What save() has stored. Raises MinimiseError naming the file."""
    try:
        program = Program(words=np.asarray(content["words"], np.uint32), **content["program"])
        windows = {int(address, 0): _unpacked(array) for address, array in content["windows"].items()}
        areas = [Area(a["name"], int(a["address"], 0), Rule(**a["rule"])) for a in content["areas"]]
        case = Case(
            content["name"], content["variant"], program, windows, _three(content["groups"]), tuple(areas),
            _three(content["first_group"]),
            module=None if content["module"] is None else np.asarray(content["module"], np.uint32),
            kernel=content["kernel"],
            values={name: None if v is None else _unpacked(v)[0] for name, v in content["values"].items()},
            host=None if content["host"] is None else tuple(_unpacked(array) for array in content["host"]),
        )  # fmt: skip
        if case.kernel and case.kernel not in opencl_corpus.CASES:
            raise ValueError(f"kernel {case.kernel}")
        if content["state"] is not None:
            case = replace(case, shader=_shader_of(content["state"], program, windows))
        return case
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, GuestGpuError):
            raise
        raise minimise.MinimiseError(f"{path}: not a case of {CASE}: {type(error).__name__}: {error}") from None


def _three(value: Any) -> tuple[int, int, int]:
    x, y, z = value
    return int(x), int(y), int(z)


def _shader_of(state: str, program: Program, windows: Windows) -> guest.GuestProgram:
    """By way of the folder that guest.load_program() reads."""
    with tempfile.TemporaryDirectory(prefix="guestgpu-") as temporary:
        folder = Path(temporary)
        (folder / "state.json").write_text(state)
        (folder / "program.bin").write_bytes(program.words.tobytes())
        for address, array in windows.items():
            (folder / f"memory_{address:x}.bin").write_bytes(array.tobytes())
        return guest.load_program(folder)


def load(path: Path) -> Case:
    """A case out of a file."""
    content = minimise.load_reproducer(path)
    if content.get("case") != CASE:
        raise minimise.MinimiseError(f"{path}: a case of {content.get('case')!r}, not of {CASE!r}")
    return of_content(path, content)

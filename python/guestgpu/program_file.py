# SPDX-License-Identifier: MIT
"""Guest programs out of files of any kind, ready to be translated or interpreted: sources, folders that
`guestgpu guest compile` wrote, code objects, assembly text and raw words."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import errors, guest, hsa
from guestgpu.capture import NoGuestDriver
from guestgpu.interpreter import CodeObject, Program, read_code_object
from guestgpu.translator import GPUS

ASSEMBLER = "llvm-mc-19"
KEEP_DENORMALS = 0xF0 << 12
"""RSRC1 of programs that bring none: FLOAT_MODE keeps denormals of all sizes and rounds to nearest."""
SUFFIXES = (".comp", ".glsl", ".spv", ".cl", ".s", ".bin")


@dataclass(frozen=True)
class Options:
    """What the file does not say. Inputs not given are random words of `seed`."""

    wave: int | None = None
    gpu: str = "gfx1030"
    """Of .s and .bin."""
    kernel: str | None = None
    """Of OpenCL C and code objects."""
    groups: tuple[int, int, int] | None = None
    """None: what the file says, else one."""
    threads: tuple[int, int, int] | None = None
    """Of .s, .bin, and kernels without a required size; None: one wave."""
    lds_bytes: int = 0
    """Of .s and .bin."""
    opt: int = 2
    seed: int = 0
    buffer_bytes: int = 65536
    push: bytes | None = None
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Loaded:
    """A program, its memory before the dispatch, and the dispatch."""

    name: str
    program: Program
    windows: Mapping[int, NDArray[Any]]
    groups: tuple[int, int, int] = (1, 1, 1)
    first_group: tuple[int, int, int] = (0, 0, 0)
    names: Mapping[int, str] = field(default_factory=dict)
    """Of windows, where they have one: "set 0 binding 1"."""

    def memory(self) -> dict[int, NDArray[Any]]:
        """A copy of all windows, to run on."""
        return {address: array.copy() for address, array in self.windows.items()}


def load(path: Path | str, options: Options | None = None) -> Loaded:
    """By what the path is. Raises what guest.compile_file does, and FormatError, ArgumentError, OSError."""
    path, options = Path(path), options or Options()
    if path.is_dir():
        return _load_folder(path, options)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    if path.suffix == ".s":
        return _raw(path.name, assemble(path.read_text(), options.wave or 32, options.gpu, path.name), options)
    if path.suffix == ".bin":
        data = path.read_bytes()
        if not data or len(data) % 4:
            raise errors.FormatError(f"{path}: {len(data)} bytes are no words")
        return _raw(path.name, np.frombuffer(data, np.uint32), options)
    with path.open("rb") as file:
        magic = file.read(4)
    if magic == b"\x7fELF":
        return of_object(path.name, read_code_object(path.read_bytes()), options)
    if path.suffix not in SUFFIXES:
        raise errors.ArgumentError(f"{path}: no {', '.join(SUFFIXES)} file, ELF object or folder of guest compile")
    made = guest.compile_file(path, _compile_options(options))
    if isinstance(made, guest.GuestProgram):
        return of_program(made)
    return of_object(path.name, made.code_object(), options)


def _compile_options(options: Options) -> guest.Options:
    return guest.Options(
        wave=options.wave,
        groups=options.groups or guest.Options().groups,
        buffer_bytes=options.buffer_bytes,
        seed=options.seed,
        push=options.push,
        opt=options.opt,
        timeout_s=options.timeout_s,
    )


def _load_folder(path: Path, options: Options) -> Loaded:
    state = path / "state.json"
    if not state.is_file():
        raise errors.FormatError(f"{path}: a folder without state.json: `guestgpu guest compile` writes one")
    try:
        abi = json.loads(state.read_text())["abi"]
    except (ValueError, KeyError, TypeError) as error:
        raise errors.FormatError(f"{state}: no guest program: {type(error).__name__}: {error}") from None
    if abi == "hsa":
        return of_object(path.name, read_code_object((path / "program.elf").read_bytes()), options)
    return of_program(guest.load_program(path))


def of_program(made: guest.GuestProgram) -> Loaded:
    """What RADV compiled."""
    names = {b.address: f"set {b.set} binding {b.binding}" + f" [{b.element}]" * (b.element > 0) for b in made.bindings}
    d = made.dispatch
    return Loaded(made.name, made.program(), made.memory(), d.groups, d.first_group, names)


def of_object(name: str, code: CodeObject, options: Options) -> Loaded:
    """A kernel of a code object, its arguments made up."""
    kernel = hsa.select_kernel(code, options.kernel)
    if options.wave and options.wave != kernel.wave:
        raise errors.ArgumentError(f"{name}: kernel {kernel.name} was compiled for wave{kernel.wave}")
    kernel = hsa.with_threads(kernel, options.threads or (kernel.wave, 1, 1))
    groups = options.groups or (1, 1, 1)
    arguments = hsa.default_arguments(kernel, groups, options.seed, options.buffer_bytes)
    program, windows = hsa.launch(code, kernel, groups, arguments)
    names = {hsa.KERNARG: "arguments", hsa.PACKET: "dispatch packet", hsa.SCRATCH: "scratch"}
    for argument, array in arguments.items():
        names |= {address: argument for address, window in windows.items() if window is array}
    return Loaded(f"{name}: {kernel.name}", program, windows, groups, names=names)


def _raw(name: str, words: NDArray[np.uint32], options: Options) -> Loaded:
    wave = options.wave or 32
    program = Program(
        words=words,
        wave=wave,
        gpu=GPUS[options.gpu],
        rsrc1=KEEP_DENORMALS,
        vgprs=256,
        threads=options.threads or (wave, 1, 1),
        lds_bytes=options.lds_bytes,
    )
    return Loaded(name, program, {}, options.groups or (1, 1, 1))


def assemble(source: str, wave: int, gpu: str, name: str) -> NDArray[np.uint32]:
    """The words of a program in LLVM's syntax; `s_endpgm` is added where it does not end with one."""
    if not shutil.which(ASSEMBLER):
        raise NoGuestDriver(f"assembly text needs {ASSEMBLER}: apt install llvm-19")
    if not re.search(r"\bs_endpgm\b[^\n]*\s*$", source):
        source += "\ns_endpgm\n"
    features = f"{'+' if wave == 64 else '-'}wavefrontsize64,{'-' if wave == 64 else '+'}wavefrontsize32"
    with tempfile.TemporaryDirectory(prefix="guestgpu-") as temporary:
        made = Path(temporary) / "program.o"
        command = [ASSEMBLER, "-triple=amdgcn", f"-mcpu={gpu}", f"-mattr={features}", "-filetype=obj", "-o", str(made)]
        ran = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        if ran.returncode:
            found = [line for line in ran.stderr.splitlines() if "error:" in line] or [f"exit code {ran.returncode}"]
            raise errors.FormatError(f"{name}: {found[0].removeprefix('<stdin>:')}")
        return _executable_section(made.read_bytes(), name)


def _executable_section(elf: bytes, name: str) -> NDArray[np.uint32]:
    sections, count = int.from_bytes(elf[40:48], "little"), int.from_bytes(elf[60:62], "little")
    for i in range(count):
        header = elf[sections + 64 * i : sections + 64 * (i + 1)]
        if int.from_bytes(header[8:16], "little") & 4:  # SHF_EXECINSTR
            offset, size = (int.from_bytes(header[at : at + 8], "little") for at in (24, 32))
            return np.frombuffer(elf[offset : offset + size], np.uint32)
    raise errors.FormatError(f"{name}: no code in it")


# ---- registers by name ----

_SCALARS = {"vcc_lo": 106, "vcc_hi": 107, "m0": 124, "exec_lo": 126, "exec_hi": 127}
_SCC, _MODE = 128, 129
_REGISTER = re.compile(r"(?:wave(\d+)\.)?(?:s(\d+)|v(\d+)(?:\[(\d+)\])?|(\w+))")


def set_register(registers: Any, text: str) -> None:
    """ "s4=0x10", "vcc_lo=5", "v3=7" (all lanes), "v3[5]=7", "wave1.s4=2" into guestgpu.interpreter.Registers."""
    name, separator, value = text.partition("=")
    match = _REGISTER.fullmatch(name.strip())
    try:
        number = int(value, 0)
    except ValueError:
        number = -(1 << 63)
    if not separator or match is None or not -(1 << 31) <= number < 1 << 32:
        raise errors.ArgumentError(f"{text!r} is not REGISTER=VALUE with 32 bits, as in s4=0x10, v3=7 or wave1.v3[5]=7")
    wave, scalar, vector, lane, other = match.groups()
    waves: Sequence[int] = range(registers.waves) if wave is None else [int(wave)]
    if wave is not None and int(wave) >= registers.waves:
        raise errors.ArgumentError(f"{text!r}: the workgroup has {registers.waves} waves")
    for index in waves:
        if vector is not None:
            file = registers.vector(index)
            if int(vector) >= len(file) or (lane is not None and int(lane) >= registers.lanes):
                raise errors.ArgumentError(f"{text!r}: there are {len(file)} VGPRs of {registers.lanes} lanes")
            file[int(vector), slice(None) if lane is None else int(lane)] = number & 0xFFFFFFFF
        elif other in ("scc", "mode"):
            registers.state(index)[other == "mode"] = number & 0xFFFFFFFF
        else:
            at = min(int(scalar), 106) if scalar is not None else _SCALARS.get(str(other), -1)
            if at < 0 or (scalar is not None and at == 106):
                raise errors.ArgumentError(
                    f"{text!r}: no register {name}: there are s0 to s105, {', '.join(_SCALARS)}, scc, mode and v0 up"
                )
            registers.scalar(index)[at] = number & 0xFFFFFFFF


def scalar_name(number: int) -> str:
    """The name of a dword of the scalar file."""
    return next((name for name, at in _SCALARS.items() if at == number), f"s{number}" if number < 106 else f"#{number}")

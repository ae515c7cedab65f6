# SPDX-License-Identifier: MIT
"""Guest compilers: AMD machine code with its launch state, out of GLSL, SPIR-V or OpenCL C, without AMD hardware.

GLSL and SPIR-V go through Mesa's RADV on a fake RX 6800: csrc/capture/guest_client.c dispatches the pipeline once in a
process of its own, and the capture of that is the program: words, registers, descriptors and memory as the hardware
would see them. OpenCL C goes through clang-19, which makes an ELF object for the flat-address HSA ABI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import capture, errors, reflect, translator
from guestgpu.capture import NoGuestDriver
from guestgpu.interpreter import CodeObject, Program, read_code_object
from guestgpu.stream import Dispatch

STATE_VERSION = 1
CODE_END = 0xBF9F0000  # s_code_end; ACO writes at least _CODE_END_RUN of them after a program
_CODE_END_RUN = 5
_CLANG = ("clang-19", "clang-20", "clang-21")
_REGISTERS = {
    "COMPUTE_DISPATCH_INITIATOR": "initiator",
    "COMPUTE_PGM_RSRC1": "rsrc1",
    "COMPUTE_PGM_RSRC2": "rsrc2",
    "COMPUTE_PGM_RSRC3": "rsrc3",
    "COMPUTE_RESOURCE_LIMITS": "resource_limits",
    "COMPUTE_TMPRING_SIZE": "tmpring_size",
}


class GuestCompileError(errors.CompileError):
    """A guest compiler or driver did not take the program, crashed, or ran out of time; the text says where."""


@dataclass(frozen=True)
class Options:
    """How a program is compiled and dispatched. Inputs not given are random words of `seed`."""

    wave: int | None = None
    """32 or 64; None leaves it to the compiler."""
    groups: tuple[int, int, int] = (4, 1, 1)
    buffer_bytes: int = 65536
    """Of a block with an open array; others are as long as they are declared."""
    seed: int = 0
    buffers: Mapping[tuple[int, int, int], bytes] = field(default_factory=dict)
    """(set, binding, element) -> content, which also gives an open array its length."""
    push: bytes | None = None
    opt: int = 2
    """Of clang: 1 to 3."""
    fast_math: bool = False
    """Of clang; else every float operation rounds once, as on the host."""
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Binding:
    """A buffer of the dispatch, where the guest sees it."""

    set: int
    binding: int
    element: int
    storage: bool
    address: int
    size: int


@dataclass(frozen=True)
class GuestProgram:
    """A program that RADV compiled, and all that its dispatch could read."""

    name: str
    words: NDArray[np.uint32]
    dispatch: Dispatch
    bindings: tuple[Binding, ...]
    push: bytes
    windows: tuple[tuple[int, bytes], ...]
    """(address, content) of all mapped memory before the dispatch."""

    def program(self) -> Program:
        """The program with its launch state, for interpreter and translator."""
        d = self.dispatch
        return Program(
            self.words,
            wave=d.wave,
            address=d.program,
            rsrc1=d.rsrc1,
            rsrc2=d.rsrc2,
            rsrc3=d.rsrc3,
            vgprs=d.vgprs,
            threads=d.threads,
            lds_bytes=d.lds_bytes,
            user_data=d.user_data,
            scratch_address=d.scratch,
            scratch_bytes=d.scratch_bytes,
        )

    def memory(self) -> dict[int, NDArray[np.uint8]]:
        """Fresh copies of all windows, to run on: address -> bytes."""
        return {address: np.frombuffer(content, np.uint8).copy() for address, content in self.windows}

    def state(self) -> dict[str, Any]:
        """Launch state in the hardware's terms, as state.json has it: addresses and registers in hex."""
        d = self.dispatch
        return {
            "version": STATE_VERSION,
            "abi": "vulkan",
            "gpu": "gfx1030",
            "source": self.name,
            "address": hex(d.program),
            "wave": d.wave,
            "groups": d.groups,
            "first_group": d.first_group,
            "threads": d.threads,
            "partial": d.partial,
            "vgprs": d.vgprs,
            "user_sgprs": d.user_sgprs,
            "lds_bytes": d.lds_bytes,
            "scratch_bytes": d.scratch_bytes,
            "scratch_address": hex(d.scratch),
            "registers": {name: hex(getattr(d, member)) for name, member in _REGISTERS.items()},
            "user_data": [hex(word) for word in d.user_data],
            "push": self.push.hex(),
            "bindings": [asdict(b) | {"address": hex(b.address)} for b in self.bindings],
            "windows": [
                {"address": hex(address), "size": len(content), "file": f"memory_{address:x}.bin"}
                for address, content in self.windows
            ],
        }

    def save(self, folder: Path) -> None:
        """program.bin, state.json and memory_ADDRESS.bin (zeros at the end left out) into a folder that may exist."""
        folder.mkdir(parents=True, exist_ok=True)
        state = self.state()
        (folder / "program.bin").write_bytes(self.words.tobytes())
        for window, (_, content) in zip(state["windows"], self.windows, strict=True):
            (folder / window["file"]).write_bytes(content.rstrip(b"\0"))
        (folder / "state.json").write_text(json.dumps(state, indent=1) + "\n")


@dataclass(frozen=True)
class GuestObject:
    """What clang made: a linked ELF file with one or more kernels, whose descriptors and metadata are in it."""

    name: str
    elf: bytes
    wave: int
    opt: int

    def code_object(self) -> CodeObject:
        """The file as read: code, kernels, what is loaded where."""
        return read_code_object(self.elf)

    def state(self) -> dict[str, Any]:
        """What state.json has: of each kernel the registers and sizes that its descriptor and metadata give."""
        read = self.code_object()
        return {
            "version": STATE_VERSION,
            "abi": "hsa",
            "gpu": "gfx1030",
            "source": self.name,
            "wave": self.wave,
            "opt": self.opt,
            "object": "program.elf",
            "code_address": hex(read.code_address),
            "kernels": [
                asdict(kernel) | {name: hex(getattr(kernel, name)) for name in ("entry", "rsrc1", "rsrc2", "rsrc3")}
                for kernel in read.kernels.values()
            ],
        }

    def save(self, folder: Path) -> None:
        """program.elf, program.bin (its code) and state.json into a folder that may exist."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "program.elf").write_bytes(self.elf)
        (folder / "program.bin").write_bytes(self.code_object().code.tobytes())
        (folder / "state.json").write_text(json.dumps(self.state(), indent=1) + "\n")


def load_program(folder: Path | str) -> GuestProgram:
    """What GuestProgram.save wrote. Raises FormatError, which names the file, where something is wrong with it."""
    path = Path(folder) / "state.json"
    try:
        state = json.loads(path.read_text())
        if state["version"] != STATE_VERSION or state["abi"] != "vulkan":
            raise errors.FormatError(
                f"{path}: version {state['version']}, ABI {state['abi']}: not one of RADV's programs"
            )
        members: dict[str, Any] = {member: int(state["registers"][name], 0) for name, member in _REGISTERS.items()}
        members |= {name: tuple(state[name]) for name in ("groups", "first_group", "threads", "partial")}
        members |= {name: state[name] for name in ("wave", "vgprs", "user_sgprs", "lds_bytes", "scratch_bytes")}
        windows = []
        for window in state["windows"]:
            content = (path.parent / Path(window["file"]).name).read_bytes()
            if len(content) > window["size"]:
                raise errors.FormatError(f"{path.parent / window['file']}: longer than its window")
            windows.append((int(window["address"], 0), content.ljust(window["size"], b"\0")))
        return GuestProgram(
            name=state["source"],
            words=np.frombuffer((path.parent / "program.bin").read_bytes(), np.uint32),
            dispatch=Dispatch(
                address=0,
                program=int(state["address"], 0),
                indirect=0,
                scratch=int(state["scratch_address"], 0),
                user_data=tuple(int(word, 0) for word in state["user_data"]),
                known=True,
                **members,
            ),
            bindings=tuple(Binding(**b | {"address": int(b["address"], 0)}) for b in state["bindings"]),
            push=bytes.fromhex(state["push"]),
            windows=tuple(windows),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, errors.GuestGpuError):
            raise
        raise errors.FormatError(f"{path}: no guest program: {type(error).__name__}: {error}") from None


# ---- compiling ----


def compile_file(path: Path | str, options: Options | None = None) -> GuestProgram | GuestObject:
    """By the file's suffix: .comp or .glsl, .spv, .cl. Raises CompileError, NoGuestDriver, Unsupported, OSError."""
    path, options = Path(path), options or Options()
    match path.suffix:
        case ".comp" | ".glsl":
            return compile_glsl(path.read_text(), path.name, options)
        case ".spv":
            data = path.read_bytes()
            if len(data) % 4:
                raise errors.FormatError(f"{path}: {len(data)} bytes are no SPIR-V")
            return compile_spirv(np.frombuffer(data, np.uint32), path.name, options)
        case ".cl":
            return compile_opencl(path, options)
    raise errors.ArgumentError(f"{path}: no .comp, .glsl, .spv or .cl file")


def compile_glsl(source: str, name: str, options: Options | None = None) -> GuestProgram:
    """A compute shader in GLSL, through shaderc and RADV."""
    from guestgpu import device

    return compile_spirv(device.compile_glsl_text(source, name, device.Stage.COMPUTE), name, options)


def compile_spirv(words: NDArray[np.uint32], name: str, options: Options | None = None) -> GuestProgram:
    """A compute module with the entry point "main", through RADV."""
    from guestgpu import device

    options = options or Options()
    device.validate_spirv(words)  # RADV takes any module, and may crash on a wrong one
    interface = reflect.reflect(words)
    contents = _contents(interface, options)
    push = _push_constants(interface, options)
    with tempfile.TemporaryDirectory(prefix="guestgpu-") as temporary:
        folder = Path(temporary)
        module, file = folder / "module.spv", folder / "capture"
        module.write_bytes(np.ascontiguousarray(words, np.uint32).tobytes())
        plan = [f"wave {options.wave or 0}", "groups {} {} {}".format(*options.groups)]
        if push:
            plan.append(f"push {push.hex()}")
        for i, ((block, element), content) in enumerate(contents.items()):
            (folder / str(i)).write_bytes(content)
            kind = "storage" if block.storage else "uniform"
            plan.append(f"buffer {kind} {block.set} {block.binding} {element} {len(content)} {folder / str(i)}")
        output = _run_client(file, module, "\n".join(plan) + "\n", name, options.timeout_s)
        return _program(name, file, contents, push, output)


def _contents(interface: reflect.Interface, options: Options) -> dict[tuple[reflect.Block, int], bytes]:
    """What each buffer holds before the dispatch."""
    given, contents = dict(options.buffers), {}
    for block in interface.blocks:
        for element in range(block.elements):
            content = given.pop((block.set, block.binding, element), None)
            least = max(4, block.size + block.stride)
            if content is None:
                size = max(least, options.buffer_bytes) if block.stride else least
                random = np.random.default_rng((options.seed, block.set, block.binding, element))
                content = random.bytes(-(-size // 4) * 4)
            if len(content) < least:
                raise errors.ArgumentError(
                    f"set {block.set} binding {block.binding}: {len(content)} bytes where the shader declares {least}"
                )
            contents[block, element] = content
    if given:
        raise errors.ArgumentError(
            "set {} binding {} element {}: no such buffer in the shader".format(*next(iter(given)))
        )
    return contents


def _push_constants(interface: reflect.Interface, options: Options) -> bytes:
    if options.push is None:
        return np.random.default_rng((options.seed, 0xFFFF)).bytes(interface.push_bytes)
    if len(options.push) != interface.push_bytes:
        raise errors.ArgumentError(
            f"push constants: {len(options.push)} bytes where the shader has {interface.push_bytes}"
        )
    return options.push


def _run_client(file: Path, module: Path, plan: str, name: str, timeout_s: float) -> str:
    """Runs the client under a recording; returns its output."""
    client = capture.built_file("guestgpu-guest", "libvulkan-dev and libvulkan-volk-dev")
    try:
        ran = capture.record(
            file, [str(client), str(module)], input=plan, timeout=timeout_s, capture_output=True, text=True,
            env={"MESA_SHADER_CACHE_DISABLE": "true"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise GuestCompileError(f"{name}: RADV took longer than {timeout_s:g} s") from None
    if ran.returncode < 0:
        raise GuestCompileError(f"{name}: RADV crashed: signal {-ran.returncode}")
    if ran.returncode:
        raise GuestCompileError(f"{name}: {_complaint(ran.stderr)}")
    return str(ran.stdout)


def _complaint(stderr: str) -> str:
    """The client's line among what drivers print, else the last one."""
    lines = stderr.strip().splitlines() or ["no reason given"]
    own = [line for line in lines if line.startswith("guestgpu-guest: ")]
    return (own or lines)[-1].removeprefix("guestgpu-guest: ")


def _program(
    name: str, file: Path, contents: Mapping[tuple[reflect.Block, int], bytes], push: bytes, output: str
) -> GuestProgram:
    """The one dispatch of the client's capture."""
    if not file.exists():
        raise GuestCompileError(f"{name}: nothing was recorded: the preloaded library did not load")
    recording = capture.Capture(file)
    found: list[tuple[Dispatch, capture.Memory, tuple[tuple[int, bytes], ...]]] = []
    for submission in recording.submissions():
        for dispatch in submission.dispatches():
            memory = submission.memory
            found.append((dispatch, memory, tuple((w.address, w.bytes.tobytes()) for w in memory.windows())))
    if len(found) != 1:
        raise GuestCompileError(f"{name}: {len(found)} dispatches were recorded where one was made")
    dispatch, memory, windows = found[0]
    addresses = [int(line.split()[4], 0) for line in output.splitlines() if line.startswith("buffer ")]
    bindings = tuple(
        Binding(block.set, block.binding, element, block.storage, address, len(content))
        for ((block, element), content), address in zip(contents.items(), addresses, strict=True)
    )
    return GuestProgram(name, program_words(memory, dispatch.program), dispatch, bindings, push, windows)


def program_words(memory: capture.Memory, address: int) -> NDArray[np.uint32]:
    """The words from `address` up to the end marker that ACO leaves; without one, to the end of the mapping."""
    for window in memory.windows():
        if window.address <= address < window.address + len(window.bytes):
            words = window.bytes[address - window.address :].view(np.uint32)
            ends = np.flatnonzero(words == CODE_END)
            runs = ends[: len(ends) - _CODE_END_RUN + 1]
            whole = runs[ends[_CODE_END_RUN - 1 :] - runs == _CODE_END_RUN - 1]
            return words[: whole[0] if len(whole) else len(words)].copy()
    raise errors.FormatError(f"the program at {address:#x} is not in recorded memory")


def compile_opencl(path: Path, options: Options | None = None) -> GuestObject:
    """OpenCL C through clang-19; the macro WAVE is the wave size (32 unless asked otherwise)."""
    options = options or Options()
    wave = options.wave or 32
    compiler = _clang()
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    with tempfile.TemporaryDirectory(prefix="guestgpu-") as temporary:
        made = Path(temporary) / "program.elf"
        floats = (
            ["-ffast-math"] if options.fast_math else ["-ffp-contract=off", "-cl-fp32-correctly-rounded-divide-sqrt"]
        )
        command = [
            compiler, "-x", "cl", "-cl-std=CL2.0", "-Xclang", "-cl-ext=+cl_khr_fp64,+__cl_clang_bitfields", "-nogpulib",
            "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", f"-m{'' if wave == 64 else 'no-'}wavefrontsize64",
            f"-DWAVE={wave}", f"-O{options.opt}", *floats, str(path), "-o", str(made),
        ]  # fmt: skip
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout_s, check=False)
        except subprocess.TimeoutExpired:
            raise GuestCompileError(f"{path.name}: {compiler} took longer than {options.timeout_s:g} s") from None
        if ran.returncode:
            raise _clang_error(f"{path.name}: {compiler} ended with {ran.returncode}", ran.stderr)
        return GuestObject(path.name, made.read_bytes(), wave, options.opt)


def _clang_error(what: str, stderr: str) -> errors.GuestGpuError:
    found = [line for line in stderr.splitlines() if "error:" in line]
    if any("ld.lld" in line and "execut" in line for line in found):
        return NoGuestDriver(f"OpenCL C needs lld-19 beside clang: {found[0]}; apt install lld-19")
    return GuestCompileError(found[0] if found else what)


def _clang() -> str:
    """GUESTGPU_CLANG, or the newest known name on the PATH: only 19 and later know all of gfx10's options."""
    named = os.environ.get("GUESTGPU_CLANG")
    for name in [named] if named is not None else _CLANG:
        if name and shutil.which(name):
            return name
    raise NoGuestDriver(f"OpenCL C needs clang-19: no {named or _CLANG[0]} on the PATH; apt install clang-19")


def disassemble(made: GuestProgram | GuestObject) -> str:
    """The program as text. Raises FormatError and Unsupported where it holds what is no instruction."""
    if isinstance(made, GuestProgram):
        return translator.disassemble(made.words, wave=made.dispatch.wave)
    return translator.disassemble(made.code_object().code, wave=made.wave)

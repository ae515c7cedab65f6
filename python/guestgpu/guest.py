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

STATE_VERSION = 2
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
    images: Mapping[tuple[int, int, int], bytes] = field(default_factory=dict)
    """(set, binding, element) -> texels of a storage image, row by row, slice by slice."""
    image_extent: tuple[int, int, int] = (33, 18, 5)
    """Width, height, and depth or layers of images, as far as they have them."""
    constants: Mapping[int, int] = field(default_factory=dict)
    """Specialisation constants: id -> the bits of its value. Others keep the shader's."""
    push: bytes | None = None
    opt: int = 2
    """Of clang: 1 to 3."""
    fast_math: bool = False
    """Of clang; else every float operation rounds once, as on the host."""
    timeout_s: float = 60.0


@dataclass(frozen=True)
class ImageLayout:
    """How a linear image lies in memory. slices: the depth of a 3D image, else layers; pitches are bytes."""

    format: int
    """VkFormat."""
    view: int
    """VkImageViewType."""
    width: int
    height: int
    slices: int
    texel_bytes: int
    row_pitch: int
    slice_pitch: int

    def texels(self, memory: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The texels without the gaps: bytes of shape (slices, height, width, texel_bytes)."""
        shape = (self.slices, self.height, self.width, self.texel_bytes)
        steps = (self.slice_pitch, self.row_pitch, self.texel_bytes, 1)
        last = sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
        if last >= len(memory):
            raise errors.FormatError(f"an image of {shape} with steps {steps} in {len(memory)} bytes")
        return np.lib.stride_tricks.as_strided(np.ascontiguousarray(memory), shape, steps).copy()


@dataclass(frozen=True)
class Binding:
    """A buffer or storage image of the dispatch, where the guest sees it: `size` bytes of memory."""

    set: int
    binding: int
    element: int
    storage: bool
    address: int
    size: int
    image: ImageLayout | None = None

    def content(self, memory: NDArray[np.uint8]) -> NDArray[Any]:
        """A buffer's words, or an image's texels of shape (slices, height, width, words), out of its memory.

        Bytes in place of words where they do not come in fours.
        """
        found = memory[: self.size] if self.image is None else self.image.texels(memory[: self.size])
        return found.view(np.uint32) if found.shape[-1] % 4 == 0 else found


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
    constants: tuple[reflect.Constant, ...] = ()
    """What the shader was specialised with."""

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

    def results(self, windows: Mapping[int, NDArray[np.uint8]] | None = None) -> list[NDArray[Any]]:
        """What each binding holds in these windows, or before the dispatch; see Binding.content()."""
        windows = self.memory() if windows is None else windows
        found = []
        for b in self.bindings:
            base = max((address for address in windows if address <= b.address), default=0)
            if base not in windows or b.address + b.size > base + windows[base].nbytes:
                raise errors.ArgumentError(f"set {b.set} binding {b.binding}: its memory is in no window")
            found.append(b.content(windows[base].reshape(-1).view(np.uint8)[b.address - base :]))
        return found

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
            "constants": [asdict(constant) for constant in self.constants],
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
            bindings=tuple(map(_loaded_binding, state["bindings"])),
            push=bytes.fromhex(state["push"]),
            windows=tuple(windows),
            constants=tuple(reflect.Constant(**constant) for constant in state["constants"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, errors.GuestGpuError):
            raise
        raise errors.FormatError(f"{path}: no guest program: {type(error).__name__}: {error}") from None


def _loaded_binding(state: dict[str, Any]) -> Binding:
    image = state["image"] and ImageLayout(**state["image"])
    return Binding(**state | {"address": int(state["address"], 0), "image": image})


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
    interface = reflect.reflect(words, options.constants)
    contents = _contents(interface, options)
    push = _push_constants(interface, options)
    with tempfile.TemporaryDirectory(prefix="guestgpu-") as temporary:
        folder = Path(temporary)
        module, file = folder / "module.spv", folder / "capture"
        module.write_bytes(np.ascontiguousarray(words, np.uint32).tobytes())
        plan = [f"wave {options.wave or 0}", "groups {} {} {}".format(*options.groups)]
        plan += [f"constant {c.id} {c.bytes} {c.value}" for c in interface.constants]
        if push:
            plan.append(f"push {push.hex()}")
        for i, ((bound, element), content) in enumerate(contents.items()):
            (folder / str(i)).write_bytes(content)
            plan.append(_plan_line(bound, element, len(content), options, folder / str(i)))
        output = _run_client(file, module, "\n".join(plan) + "\n", name, options.timeout_s)
        bindings = _bindings(contents, options, output)
        return _program(name, file, bindings, push, interface.constants)


_Contents = dict[tuple[reflect.Block | reflect.Image, int], bytes]


def _plan_line(bound: reflect.Block | reflect.Image, element: int, size: int, options: Options, path: Path) -> str:
    where = f"{bound.set} {bound.binding} {element}"
    if isinstance(bound, reflect.Block):
        return f"buffer {'storage' if bound.storage else 'uniform'} {where} {size} {path}"
    extent = "{} {} {}".format(*_image_extent(bound, options))
    return f"image {bound.format.vulkan} {bound.view} {extent} {bound.format.bytes} {where} {path}"


def _image_extent(image: reflect.Image, options: Options) -> tuple[int, int, int]:
    if min(options.image_extent) < 1:
        raise errors.ArgumentError("images of {} x {} x {}".format(*options.image_extent))
    width, height, slices = (n if used else 1 for n, used in zip(options.image_extent, image.axes, strict=True))
    return width, height, slices


def _contents(interface: reflect.Interface, options: Options) -> _Contents:
    """What each buffer and image holds before the dispatch, in the order of set and binding."""
    buffers, images = dict(options.buffers), dict(options.images)
    contents: _Contents = {}
    bounds: list[reflect.Block | reflect.Image] = [*interface.blocks, *interface.images]
    for bound in sorted(bounds, key=lambda b: (b.set, b.binding)):
        for element in range(bound.elements):
            key = (bound.set, bound.binding, element)
            if isinstance(bound, reflect.Block):
                contents[bound, element] = _buffer_content(bound, key, buffers.pop(key, None), options)
            else:
                contents[bound, element] = _image_content(bound, key, images.pop(key, None), options)
    for kind, left in ("buffer", buffers), ("image", images):
        for key in left:
            raise errors.ArgumentError("set {} binding {} element {}: no such {} in the shader".format(*key, kind))
    return contents


def _buffer_content(block: reflect.Block, key: tuple[int, int, int], content: bytes | None, options: Options) -> bytes:
    least = max(4, block.size + block.stride)
    if content is None:
        size = max(least, options.buffer_bytes) if block.stride else least
        content = np.random.default_rng((options.seed, *key)).bytes(-(-size // 4) * 4)
    if len(content) < least:
        raise errors.ArgumentError(
            f"set {block.set} binding {block.binding}: {len(content)} bytes where the shader declares {least}"
        )
    return content


def _image_content(image: reflect.Image, key: tuple[int, int, int], content: bytes | None, options: Options) -> bytes:
    """Random texels: floats from -1000 to 1000 rounded to what f16 can hold, so that no format meets NaN."""
    width, height, slices = _image_extent(image, options)
    size = width * height * slices * image.format.bytes
    if content is None:
        random = np.random.default_rng((options.seed, *key))
        if image.format.name == "r11f_g11f_b10f":
            raise errors.Unsupported(
                f"set {image.set} binding {image.binding}: {image.format.name} has no random texels"
            )
        if image.format.floats:
            floats = random.uniform(-1000, 1000, size // 2).astype(np.float16)
            wide = image.format.name.endswith("32f")
            return floats.astype(np.float32).tobytes()[:size] if wide else floats.tobytes()
        return random.bytes(size)
    if len(content) != size:
        raise errors.ArgumentError(
            f"set {image.set} binding {image.binding}: {len(content)} bytes for an image of {size}"
        )
    return content


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
    if not file.exists():
        raise GuestCompileError(f"{name}: nothing was recorded: the preloaded library did not load")
    return str(ran.stdout)


def _complaint(stderr: str) -> str:
    """The client's line among what drivers print, else the last one."""
    lines = stderr.strip().splitlines() or ["no reason given"]
    own = [line for line in lines if line.startswith("guestgpu-guest: ")]
    return (own or lines)[-1].removeprefix("guestgpu-guest: ")


def _bindings(contents: _Contents, options: Options, output: str) -> tuple[Binding, ...]:
    """What the client printed of where its buffers and images lie."""
    lines = [line.split() for line in output.splitlines() if line.startswith(("buffer ", "image "))]
    found = []
    for ((bound, element), content), line in zip(contents.items(), lines, strict=True):
        address, *more = (int(word, 0) for word in line[4:])
        if isinstance(bound, reflect.Block):
            found.append(Binding(bound.set, bound.binding, element, bound.storage, address, len(content)))
            continue
        size, row_pitch, slice_pitch = more
        extent = _image_extent(bound, options)
        layout = ImageLayout(bound.format.vulkan, bound.view, *extent, bound.format.bytes, row_pitch, slice_pitch)
        found.append(Binding(bound.set, bound.binding, element, True, address, size, layout))
    return tuple(found)


def _program(
    name: str, file: Path, bindings: tuple[Binding, ...], push: bytes, constants: tuple[reflect.Constant, ...]
) -> GuestProgram:
    """The one dispatch of the client's capture."""
    recording = capture.Capture(file)
    found: list[tuple[Dispatch, capture.Memory, tuple[tuple[int, bytes], ...]]] = []
    for submission in recording.submissions():
        for dispatch in submission.dispatches():
            memory = submission.memory
            found.append((dispatch, memory, tuple((w.address, w.bytes.tobytes()) for w in memory.windows())))
    if len(found) != 1:
        raise GuestCompileError(f"{name}: {len(found)} dispatches were recorded where one was made")
    dispatch, memory, windows = found[0]
    return GuestProgram(name, program_words(memory, dispatch.program), dispatch, bindings, push, windows, constants)


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

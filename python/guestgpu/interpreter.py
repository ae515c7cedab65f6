# SPDX-License-Identifier: MIT
"""Guest programs on the interpreter, the reference of the translator, and code objects (include/guestgpu/translator.h).

Memory is windows: numpy arrays at addresses of the guest, written in place. Registers cross as arrays of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.native import ffi, lib

Words = NDArray[np.uint32]

Gpu = native.enum_of("gg_guest_gpu")
UserSgprs = native.enum_of("gg_guest_user_sgprs")
OutputKind = native.enum_of("gg_interp_output_kind")
OUTPUT = native.dtype_of("struct gg_interp_output")

SCALARS = 128
"""Dwords of the scalar file; the first of `Registers.scalar`."""
VCC, M0, EXEC = 106, 124, 126
"""Numbers in the scalar file."""
_STATE = SCALARS + 4
_S_ENDPGM = 0xBF810000


@dataclass(frozen=True)
class Program:
    """A program and its launch state; see struct gg_guest_program."""

    words: Words
    wave: int = 32
    gpu: int = Gpu.GFX1030
    address: int = 0
    entry: int = 0
    rsrc1: int = 0
    rsrc2: int = 0
    rsrc3: int = 0
    vgprs: int = 0
    threads: Sequence[int] = (1, 1, 1)
    lds_bytes: int = 0
    user_data: Sequence[int] = ()
    scratch_address: int = 0
    scratch_bytes: int = 0

    def c(self) -> Any:
        """A `struct gg_guest_program *`; it keeps nothing alive."""
        if len(self.threads) > 3 or len(self.user_data) > lib.GG_GUEST_USER_DATA:
            raise ArgumentError(f"program: {len(self.threads)} thread counts, {len(self.user_data)} user data words")
        members: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("address", "entry", "rsrc1", "rsrc2", "rsrc3", "vgprs", "lds_bytes", "scratch_address")
        }
        members |= {"scratch_bytes": self.scratch_bytes, "target": {"gpu": int(self.gpu), "wave": self.wave}}
        members |= {"words": native.pointer(self.words, "uint32_t"), "word_count": len(self.words)}
        members |= {"threads": [int(n) for n in self.threads], "user_data": [int(w) for w in self.user_data]}
        try:
            return ffi.new("struct gg_guest_program *", members)
        except (OverflowError, TypeError) as error:
            raise ArgumentError(f"program: {error}") from None

    @property
    def waves(self) -> int:
        """Of a workgroup."""
        return -(-int(np.prod([n or 1 for n in self.threads])) // self.wave)

    def registers(self) -> Registers:
        """All of a workgroup's registers, 0: a place to begin from."""
        count = lib.gg_interp_register_words(self.c())
        if not count:
            raise ArgumentError("program: its launch state is wrong")
        return Registers(np.zeros(count, np.uint32), self.waves, self.wave)


@dataclass(frozen=True)
class Registers:
    """The registers of a group's waves; the arrays are views of `words`."""

    words: Words
    waves: int
    lanes: int

    def _of(self, wave: int) -> Words:
        size = len(self.words) // self.waves
        return self.words[wave * size : (wave + 1) * size]

    def scalar(self, wave: int = 0) -> Words:
        """128 dwords: s0-s105, VCC, … EXEC at 126."""
        return self._of(wave)[:SCALARS]

    def state(self, wave: int = 0) -> Words:
        """SCC and MODE."""
        return self._of(wave)[SCALARS : SCALARS + 2]

    def vector(self, wave: int = 0) -> Words:
        """Shape (VGPRs, lanes)."""
        return self._of(wave)[_STATE:].reshape(-1, self.lanes)


@dataclass(frozen=True)
class Report:
    """See struct gg_interp_report; `registers` are the last group's, `outputs` a structured array."""

    instructions: int
    reads_outside: int
    writes_outside: int
    lds_outside: int
    barriers: int
    waves: int
    registers: Registers
    outputs: NDArray[Any] = field(repr=False)


def interpret(
    program: Program,
    windows: Mapping[int, NDArray[Any]] | None = None,
    *,
    groups: Sequence[int] = (1, 1, 1),
    first_group: Sequence[int] = (0, 0, 0),
    registers: Registers | None = None,
    step_limit: int = 0,
    schedule_seed: int = 0,
    output_capacity: int = 4096,
) -> Report:
    """Runs a dispatch. windows: address of the guest to array, written in place.

    registers replace the launch state. Raises Unsupported, FormatError or LimitExceeded with offset and instruction.
    """
    struct = program.c()
    count = lib.gg_interp_register_words(struct)  # 0 of a wrong program, which C says better
    out = Registers(np.zeros(count, np.uint32), program.waves, program.wave)
    outputs = np.zeros(output_capacity, OUTPUT)
    arrays = [(address, _bytes(array)) for address, array in (windows or {}).items()]
    held = [ffi.from_buffer("uint8_t[]", array, require_writable=True) for _, array in arrays]
    table = ffi.new("struct gg_guest_window[]", max(len(arrays), 1))
    for i, (address, array) in enumerate(arrays):
        table[i] = {"address": address, "size": array.nbytes, "host": held[i]}
    params = ffi.new("struct gg_interp_params *")
    params.program, params.windows, params.window_count = struct, table, len(arrays)
    params.groups = [int(n) for n in groups]
    params.first_group = [int(n) for n in first_group]
    params.step_limit, params.schedule_seed = step_limit, schedule_seed
    params.registers_out = words = native.pointer(out.words, "uint32_t", writable=True)
    params.register_words = len(out.words)
    if registers is not None:
        if len(registers.words) != len(out.words):
            raise ArgumentError(f"registers: {len(registers.words)} words, the program has {len(out.words)}")
        given = native.pointer(registers.words, "uint32_t")
        params.registers_in = given
    params.outputs = kept = native.pointer(outputs, "struct gg_interp_output", writable=True)
    params.output_capacity = output_capacity
    report = ffi.new("struct gg_interp_report *")
    native.call(lib.gg_translator_interpret, params, report)
    del words, kept
    return Report(
        report.instructions,
        report.reads_outside,
        report.writes_outside,
        report.lds_outside,
        report.barriers,
        report.waves,
        out,
        outputs[: min(report.outputs, output_capacity)],
    )


def launch_registers(program: Program) -> Registers:
    """What the registers of the first workgroup's waves hold before the first instruction."""
    only_the_end = replace(program, words=np.array([_S_ENDPGM], np.uint32), entry=0)
    return interpret(only_the_end).registers


def interprets(index: int) -> bool:
    """Whether the opcode of this row of the table is executed."""
    return bool(lib.gg_translator_interprets(index))


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise ArgumentError(f"window: an array of shape {array.shape} that is read-only or not C-contiguous")
    return array.reshape(-1).view(np.uint8)


@dataclass(frozen=True)
class Argument:
    name: str
    kind: str
    offset: int
    size: int


@dataclass(frozen=True)
class Kernel:
    """See struct gg_guest_kernel."""

    name: str
    entry: int
    rsrc1: int
    rsrc2: int
    rsrc3: int
    wave: int
    user_sgprs: int
    lds_bytes: int
    scratch_bytes: int
    kernarg_bytes: int
    threads: tuple[int, int, int]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class CodeObject:
    """A linked ELF file: its code as words, and what is loaded where (relative to the load address)."""

    gpu: int
    code: Words
    code_address: int
    kernels: dict[str, Kernel]
    segments: dict[int, NDArray[np.uint8]]

    def program(self, kernel: Kernel, base: int, user_data: Sequence[int], scratch_address: int = 0) -> Program:
        """The kernel as loaded at `base`."""
        return Program(
            words=self.code,
            wave=kernel.wave,
            gpu=self.gpu,
            address=base + self.code_address,
            entry=kernel.entry,
            rsrc1=kernel.rsrc1,
            rsrc2=kernel.rsrc2,
            rsrc3=kernel.rsrc3,
            threads=kernel.threads,
            lds_bytes=kernel.lds_bytes,
            user_data=user_data,
            scratch_address=scratch_address,
            scratch_bytes=-(-kernel.scratch_bytes // 4) * 4,
        )


def read_code_object(data: bytes) -> CodeObject:
    """Raises FormatError or Unsupported for what is no linked code object of gfx1030 or gfx1013."""
    pointer = ffi.new("struct gg_guest_elf **")
    native.call(lib.gg_guest_elf_read, ffi.from_buffer("uint8_t[]", data), len(data), pointer)
    elf = ffi.gc(pointer[0], lib.gg_guest_elf_destroy)
    kernels = [_kernel(elf, elf.kernels[i]) for i in range(elf.kernel_count)]
    segments = {}
    for i in range(elf.segment_count):
        segment = elf.segments[i]
        memory = np.zeros(segment.memory_size, np.uint8)
        contents = data[segment.offset : segment.offset + segment.file_size]
        memory[: len(contents)] = np.frombuffer(contents, np.uint8)
        segments[int(segment.address)] = memory
    code = np.frombuffer(data, np.uint32, elf.code_size // 4, elf.code_offset)
    return CodeObject(elf.gpu, code, elf.code_address, {kernel.name: kernel for kernel in kernels}, segments)


def _kernel(elf: Any, kernel: Any) -> Kernel:
    arguments = [elf.arguments[kernel.first_argument + i] for i in range(kernel.argument_count)]
    return Kernel(
        name=_text(kernel.name),
        entry=kernel.entry,
        rsrc1=kernel.rsrc1,
        rsrc2=kernel.rsrc2,
        rsrc3=kernel.rsrc3,
        wave=kernel.wave,
        user_sgprs=kernel.user_sgprs,
        lds_bytes=kernel.lds_bytes,
        scratch_bytes=kernel.scratch_bytes,
        kernarg_bytes=kernel.kernarg_bytes,
        threads=tuple(kernel.threads),
        arguments=tuple(Argument(_text(a.name), _text(a.kind), a.offset, a.size) for a in arguments),
    )


def _text(text: Any) -> str:
    return str(ffi.string(text).decode("utf-8", "replace"))

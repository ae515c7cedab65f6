# SPDX-License-Identifier: MIT
"""AMD RDNA 2 machine code: its opcodes and its text (include/guestgpu/translator.h).

Programs are arrays of 32-bit words; offsets are in bytes from the first word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.errors import ArgumentError
from guestgpu.native import ffi, lib

Words = NDArray[np.uint32]

GPUS = {f"gfx{gpu.name.removeprefix('GFX')}": int(gpu) for gpu in native.enum_of("gg_guest_gpu")}
"""Names of the guest GPUs, as LLVM has them: gfx1030, gfx1013."""


@dataclass(frozen=True)
class Opcode:
    """One row of the opcode table; see struct gg_opcode."""

    name: str
    format: str
    code: int
    only: str
    """The one GPU that has it; "" where both have."""
    interpreted: bool


def _arguments(words: Sequence[int] | Words, gpu: str, wave: int) -> tuple[Any, Any, int]:
    """Target, words and their number for C; hold on to all of them during the call."""
    if gpu not in GPUS:
        raise ArgumentError(f"no guest GPU {gpu!r}: there are {', '.join(GPUS)}")
    target = ffi.new("struct gg_guest_target *", {"gpu": GPUS[gpu], "wave": wave})
    array = np.ascontiguousarray(words, np.uint32)
    return target, native.pointer(array, "uint32_t"), array.size


def disassemble(words: Sequence[int] | Words, gpu: str = "gfx1030", wave: int = 32) -> str:
    """One line an instruction: byte offset, words, and the text as LLVM writes it.

    wave: 32 or 64 lanes; it decides how wide masks are. Raises FormatError and Unsupported naming the offset.
    """
    text = ffi.new("char **")
    native.call(lib.gg_translator_disassemble, *_arguments(words, gpu, wave), text)
    return native.take_string(text[0])


def count_instructions(words: Sequence[int] | Words, gpu: str = "gfx1030", wave: int = 32) -> int:
    """Decodes all words; raises as disassemble() does."""
    count = ffi.new("uint64_t *")
    native.call(lib.gg_translator_decode, *_arguments(words, gpu, wave), count)
    return int(count[0])


def opcodes() -> list[Opcode]:
    """Every row of the table, by format."""
    row = ffi.new("struct gg_opcode *")
    rows = []
    for index in range(lib.gg_translator_opcode_count()):
        native.call(lib.gg_translator_opcode, index, row)
        name, form = (ffi.string(text).decode() for text in (row.name, row.format))
        only = f"gfx{row.only}" if row.only else ""
        rows.append(Opcode(name, form, row.code, only, bool(lib.gg_translator_interprets(index))))
    return rows


def coverage(emitted: Mapping[str, tuple[bool, str]]) -> str:
    """The ISA coverage as Markdown: a summary by format, then every opcode.

    emitted: of each opcode, whether some encoding of it is translated, and what the refusal of others says.
    """
    rows = opcodes()
    formats = dict.fromkeys(row.format for row in rows)
    lines = [*_table_head("format", "opcodes", "decoded", "interpreted", "emitted", "refused by name")]
    for form in (*formats, "all"):
        of_format = [row for row in rows if form in (row.format, "all")]
        done = sum(emitted[row.name][0] for row in of_format)
        interpreted = sum(row.interpreted for row in of_format)
        lines.append(_table_row([form, len(of_format), len(of_format), interpreted, done, len(of_format) - done]))
    lines += ["", *_table_head("format", "number", "opcode", "only in", "interpreted", "emitted", "refused")]
    for row in rows:
        done, refused = emitted[row.name]
        cells = [row.format, f"0x{row.code:02x}", f"`{row.name}`", row.only, _yes(row.interpreted), _yes(done)]
        lines.append(_table_row([*cells, refused]))
    return "\n".join(lines) + "\n"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _table_head(*names: str) -> tuple[str, str]:
    return _table_row(names), "|" + " --- |" * len(names)


def _table_row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"

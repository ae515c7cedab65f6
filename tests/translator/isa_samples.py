# SPDX-License-Identifier: MIT
"""Every encoding of RDNA 2 with random fields, found by asking LLVM: it is the oracle of what exists.

For each format and opcode number a word that LLVM decodes is searched, then each field is tried: those that
may not change stay as they are, the others take random values. Nothing here knows our opcode table.
"""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LIBRARY = "libLLVM.so.19.1"


class Llvm:
    """LLVM's disassembler for one target: words -> (words used, text), or None."""

    def __init__(self, cpu: str, wave: int) -> None:
        try:
            library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise RuntimeError(f"{LIBRARY}: {error}; scripts/setup-system.sh installs llvm-19") from None
        for part in ("TargetInfo", "TargetMC", "Disassembler"):
            getattr(library, f"LLVMInitializeAMDGPU{part}")()
        create = library.LLVMCreateDisasmCPUFeatures
        create.restype = ctypes.c_void_p
        create.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        features = b"+wavefrontsize64" if wave == 64 else b""
        self.context = create(b"amdgcn-amd-amdhsa", cpu.encode(), features, None, 0, None, None)
        self.decode = library.LLVMDisasmInstruction
        self.decode.restype = ctypes.c_size_t
        self.decode.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p]
        self.decode.argtypes += [ctypes.c_size_t]
        self.text = ctypes.create_string_buffer(512)

    def __call__(self, words: tuple[int, ...]) -> tuple[int, str] | None:
        data = b"".join(word.to_bytes(4, "little") for word in words)
        used = self.decode(self.context, data, len(data), 0, self.text, len(self.text))
        return (used // 4, self.text.value.decode().strip()) if used else None

    def clean(self, words: tuple[int, ...]) -> tuple[int, str] | None:
        """Likewise, but None also where LLVM complains within the text."""
        found = self(words)
        return found if found and not any(mark in found[1] for mark in ("/*", "Warning", "invalid_")) else None


Pick = Callable[[random.Random], int]


@dataclass(frozen=True)
class Field:
    """`width` bits of word `word` from `low` on. `usual`: values tried while a first word is searched."""

    word: int
    low: int
    width: int
    usual: tuple[int, ...]
    pick: Pick

    def put(self, words: list[int], value: int) -> None:
        mask = ((1 << self.width) - 1) << self.low
        words[self.word] = words[self.word] & ~mask | value << self.low


def bits(word: int, low: int, width: int = 1, *usual: int) -> Field:
    return Field(word, low, width, usual or (0,), lambda r: r.getrandbits(width) if r.random() < 0.7 else 0)


def below(word: int, low: int, width: int, limit: int) -> Field:
    return Field(word, low, width, (0,), lambda r: r.randrange(limit))


def vgpr(word: int, low: int) -> Field:
    return Field(word, low, 8, (4, 0), lambda r: r.choice((r.randrange(256), r.randrange(240), 0, 255)))


def sgpr(word: int, low: int, *usual: int) -> Field:
    def pick(r: random.Random) -> int:
        return r.choice((r.randrange(128), 4 * r.randrange(26), 4 * r.randrange(24), 106, 124, 125, 126))

    return Field(word, low, 7, usual or (4,), pick)


def scalar(r: random.Random) -> int:
    """A source of 8 bits: registers, constants, specials, sometimes a literal."""
    return r.choice(
        (
            r.randrange(128),
            4 * r.randrange(26),
            106,
            124,
            125,
            126,
            r.randrange(128, 209),
            r.randrange(240, 249),
            r.randrange(235, 256),
            255,
        )
    )


def ssrc(word: int, low: int) -> Field:
    return Field(word, low, 8, (4, 0), scalar)


def source(word: int, low: int) -> Field:
    return Field(word, low, 9, (260, 4, 0), lambda r: 256 + r.randrange(256) if r.random() < 0.5 else scalar(r))


@dataclass(frozen=True)
class Form:
    """A format, or a form of one: the fixed words, where the opcode number goes, and the fields."""

    name: str
    fixed: tuple[int, ...]
    opcodes: int
    opcode: Callable[[list[int], int], None]
    fields: tuple[Field, ...]


def at(low: int, word: int = 0) -> Callable[[list[int], int], None]:
    def put(words: list[int], code: int) -> None:
        words[word] |= code << low

    return put


def split(low: int, width: int, high_word: int, high: int) -> Callable[[list[int], int], None]:
    """The number's lowest `width` bits at `low` of word 0, the bit above them elsewhere."""

    def put(words: list[int], code: int) -> None:
        words[0] |= (code & ((1 << width) - 1)) << low
        words[high_word] |= code >> width << high

    return put


# SDWA selections of 7 and 3 crash LLVM: only what there is is asked for.
def _select(low: int) -> Field:
    return Field(1, low, 3, (6,), lambda r: r.randrange(7))


SDWA_0 = (_select(16), bits(1, 19), bits(1, 20), bits(1, 21), bits(1, 23))
SDWA_1 = (_select(24), bits(1, 27), bits(1, 28), bits(1, 29), bits(1, 31))
SDWA_DST = (_select(8), below(1, 11, 2, 3), bits(1, 13), bits(1, 14, 2))
DPP16 = (
    vgpr(1, 0),
    Field(1, 8, 9, (0x1B,), lambda r: r.choice((r.randrange(256), r.randrange(512), 0x140, 0x141))),
    *(bits(1, low) for low in (18, 19, 20, 21, 22, 23)),
    bits(1, 24, 4, 15),
    bits(1, 28, 4, 15),
)
BUFFER = (
    vgpr(1, 0),
    vgpr(1, 8),
    Field(1, 16, 5, (1,), lambda r: r.randrange(26)),
    bits(1, 22),
    bits(1, 23),
    Field(1, 24, 8, (4,), scalar),
    bits(0, 0, 12),
    bits(0, 12),
    bits(0, 13),
    bits(0, 14),
    bits(0, 15),
)
NO_OFFSET = 125


def _vector(name: str, base: int, opcodes: int, low: int, dst: tuple[Field, ...], two: bool) -> Iterator[Form]:
    """VOP1, VOP2 or VOPC: the plain form, SDWA, DPP16 and DPP8."""
    second = (vgpr(0, 9),) if two else ()
    yield Form(name, (base,), opcodes, at(low), (source(0, 0), *second, *dst))
    sdwa = (*SDWA_0, *(SDWA_1 if two else ()), vgpr(1, 0), *second, *dst)
    if name == "VOPC":
        yield Form("VOPC SDWA", (base | 249, 0), opcodes, at(low), (*sdwa, sgpr(1, 8, 0), bits(1, 15)))
    else:
        yield Form(f"{name} SDWA", (base | 249, 0), opcodes, at(low), (*sdwa, *SDWA_DST))
        yield Form(f"{name} DPP16", (base | 250, 0), opcodes, at(low), (*DPP16, *second, *dst))
        for code in (233, 234):
            dpp8 = (vgpr(1, 0), bits(1, 8, 24))
            yield Form(f"{name} DPP8 {code}", (base | code, 0), opcodes, at(low), (*dpp8, *second, *dst))


def _image(nsa: int) -> Form:
    fields = (
        vgpr(1, 0),
        vgpr(1, 8),
        Field(1, 16, 5, (1,), lambda r: r.randrange(25)),
        Field(1, 21, 5, (0, 1), lambda r: r.randrange(26)),
        bits(1, 30),
        bits(1, 31, 1),
        bits(0, 3, 3),
        bits(0, 7),
        Field(0, 8, 4, (15, 1), lambda r: r.choice((1, 3, 15, r.randrange(16)))),
        bits(0, 12, 1, 0, 1),
        bits(0, 13),
        bits(0, 15, 1, 0, 1),
        bits(0, 16),
        bits(0, 17),
        bits(0, 25),
        *(bits(2 + word, 8 * byte, 8) for word in range(nsa) for byte in range(4)),
    )
    return Form(f"MIMG NSA {nsa}", (0xF0000000 | nsa << 1, 0) + (0,) * nsa, 256, split(18, 7, 0, 0), fields)


def _flat(segment: int) -> Form:
    fields = (
        vgpr(1, 0),
        vgpr(1, 8),
        vgpr(1, 24),
        sgpr(1, 16, NO_OFFSET, NO_OFFSET),
        bits(0, 0, 12),
        bits(0, 12),
        bits(0, 13),
        bits(0, 16),
        bits(0, 17),
    )
    return Form(("FLAT", "SCRATCH", "GLOBAL")[segment], (0xDC000000 | segment << 14, 0), 128, at(18), fields)


FORMS: tuple[Form, ...] = (
    Form("SOP1", (0xBE800000,), 256, at(8), (sgpr(0, 16), ssrc(0, 0))),
    # From 0x60 on the numbers are SOPK's and, at the end, SOP1's, SOPC's and SOPP's.
    Form("SOP2", (0x80000000,), 0x60, at(23), (sgpr(0, 16), ssrc(0, 0), ssrc(0, 8))),
    Form("SOPC", (0xBF000000,), 128, at(16), (ssrc(0, 0), ssrc(0, 8))),
    Form("SOPK", (0xB0000000,), 0x1D, at(23), (sgpr(0, 16), bits(0, 0, 16))),
    Form("SOPP", (0xBF800000,), 128, at(16), (bits(0, 0, 16),)),
    Form(
        "SMEM",
        (0xF4000000, 0),
        256,
        at(18),
        (
            Field(0, 0, 6, (2,), lambda r: r.choice((r.randrange(64), 2 * r.randrange(26), 53))),
            sgpr(0, 6),
            bits(0, 14),
            bits(0, 16),
            bits(1, 0, 21),
            sgpr(1, 25, NO_OFFSET),
        ),
    ),
    *_vector("VOP1", 0x7E000000, 256, 9, (vgpr(0, 17),), two=False),
    *_vector("VOP2", 0x00000000, 0x3E, 25, (vgpr(0, 17),), two=True),
    *_vector("VOPC", 0x7C000000, 256, 17, (), two=True),
    Form(
        "VOP3",
        (0xD4000000, 0),
        1024,
        at(16),
        (
            vgpr(0, 0),
            *(bits(0, low) for low in range(8, 16)),
            source(1, 0),
            source(1, 9),
            source(1, 18),
            bits(1, 27, 2),
            bits(1, 29),
            bits(1, 30),
            bits(1, 31),
        ),
    ),
    # The other class of VOP3: a scalar destination in the place of abs and op_sel.
    Form(
        "VOP3B",
        (0xD4000000, 0),
        1024,
        at(16),
        (
            vgpr(0, 0),
            sgpr(0, 8, 0),
            bits(0, 15),
            source(1, 0),
            source(1, 9),
            source(1, 18),
            bits(1, 27, 2),
            bits(1, 29),
            bits(1, 30),
            bits(1, 31),
        ),
    ),
    Form(
        "VOP3P",
        (0xCC000000, 0),
        128,
        at(16),
        (
            vgpr(0, 0),
            *(bits(0, low) for low in range(8, 16)),
            source(1, 0),
            source(1, 9),
            source(1, 18),
            bits(1, 27, 2),
            bits(1, 29),
            bits(1, 30),
            bits(1, 31),
        ),
    ),
    Form(
        "VINTRP",
        (0xC8000000,),
        4,
        at(16),
        (
            Field(0, 0, 8, (0,), lambda r: r.choice((r.randrange(256), 0, 1, 2))),
            vgpr(0, 18),
            bits(0, 8, 2),
            bits(0, 10, 6),
        ),
    ),
    Form(
        "DS",
        (0xD8000000, 0),
        256,
        at(18),
        (vgpr(1, 0), vgpr(1, 8), vgpr(1, 16), vgpr(1, 24), bits(0, 17, 1, 0, 1), bits(0, 0, 16)),
    ),
    Form("MUBUF", (0xE0000000, 0), 256, split(18, 7, 0, 25), (*BUFFER, bits(0, 16))),
    Form("MTBUF", (0xE8000000, 0), 16, split(16, 3, 1, 21), (*BUFFER, bits(0, 19, 7, 1))),
    *(_image(nsa) for nsa in range(4)),
    *(_flat(segment) for segment in range(3)),
    Form(
        "EXP",
        (0xF8000000, 0),
        64,
        at(4),
        (bits(0, 0, 4, 15), bits(0, 10), bits(0, 11), bits(0, 12), *(vgpr(1, low) for low in (0, 8, 16, 24))),
    ),
)

LITERAL = 0x12345678


def _first(llvm: Llvm, form: Form, code: int) -> list[int] | None:
    """Words of this opcode that LLVM decodes without complaint."""
    for values in itertools.product(*(field.usual for field in form.fields)):
        words = [*form.fixed, LITERAL]
        form.opcode(words, code)
        for field, value in zip(form.fields, values, strict=True):
            field.put(words, value)
        if llvm.clean(tuple(words)):
            return words
    return None


def samples(llvm: Llvm, form: Form, code: int, count: int, seed: int) -> list[tuple[tuple[int, ...], str]]:
    """Up to `count` encodings of the opcode, with LLVM's text; none: there is no such opcode."""
    first = _first(llvm, form, code)
    if first is None:
        return []
    r = random.Random(f"{form.name} {code} {seed}")
    usual = llvm.clean(tuple(first))
    assert usual
    free = []
    for field in form.fields:
        for _ in range(6):
            words = first.copy()
            field.put(words, field.pick(r))
            found = llvm.clean(tuple(words))
            if found and found[1] != usual[1]:
                free.append(field)
                break
    found_all = [(tuple(first[: usual[0]]), usual[1])]
    tries = 40 * count
    while len(found_all) < count and tries > 0:
        tries -= 1
        words = first.copy()
        words[-1] = r.choice((r.getrandbits(32), 0, 1, 0x3F800000, 0x80000000, 0xFFFFFFFF, r.getrandbits(16)))
        for field in free:
            if r.random() < 0.6:
                field.put(words, field.pick(r))
        found = llvm.clean(tuple(words))
        if found:
            found_all.append((tuple(words[: found[0]]), found[1]))
    return found_all

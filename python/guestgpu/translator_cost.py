# SPDX-License-Identifier: MIT
"""What decoding and translating a program cost on the host, by loops in C (gg_translator_time)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from guestgpu import agree_case, agree_inputs, errors, native, translation, translator
from guestgpu.interpreter import Program
from guestgpu.native import ffi, lib
from guestgpu.translator import GPUS

S_ENDPGM, S_NOP, S_CODE_END = 0xBF810000, 0xBF800000, 0xBF9F0000
_ENDS = np.array([S_ENDPGM, S_CODE_END], np.uint32)
LARGE = 8000
"""Instructions of the large program, at least."""


@dataclass(frozen=True)
class Sample:
    """A program to time."""

    name: str
    program: Program
    instructions: int


def time_ns(program: Program, rounds: int, translate: bool) -> int:
    """Nanoseconds that decoding or translating the program took, `rounds` times over."""
    options = ffi.new("struct gg_translate_options *") if translate else ffi.NULL
    spent = ffi.new("uint64_t *")
    native.call(lib.gg_translator_time, program.c(), options, rounds, spent)
    return int(spent[0])


def count(program: Program) -> int:
    """Instructions of the program's words."""
    gpu = next(name for name, number in GPUS.items() if number == program.gpu)
    return translator.count_instructions(program.words, gpu, program.wave)


def corpus(names: Sequence[str] = ()) -> list[Sample]:
    """The programs of the corpus that come along, wave64, as far as they translate: alone, and in a row with others."""
    found = []
    for path in agree_inputs.programs(agree_inputs.default_folder()):
        if names and path.stem not in names:
            continue
        try:
            for case in agree_case.compile_cases(path, path.name, agree_case.Variant(64, 2), 0):
                translation.translate(case.program)
                translation.translate(replace(case.program, words=_run_on(case.program), entry=0))
                found.append(Sample(case.name, case.program, count(case.program)))
        except (errors.Unsupported, errors.FormatError):  # what is refused is for translator_agree to say
            continue
    return found


def _run_on(program: Program) -> NDArray[np.uint32]:
    """The words from the entry, without an end but at their own."""
    words = np.array(program.words[program.entry // 4 :])
    words[np.isin(words, _ENDS)] = S_NOP
    return np.append(words, np.uint32(S_ENDPGM))


def save(sample: Sample, path: Path) -> None:
    """A sample as a file, so that launches need no compiler."""
    agree_case.save(path, agree_case.Case(sample.name, "", sample.program, {}, (1, 1, 1)))


def load(path: Path) -> Sample:
    """What save() has stored."""
    case = agree_case.load(path)
    return Sample(case.name, case.program, count(case.program))


def median(samples: Sequence[Sample]) -> Sample:
    """The program in the middle, by its size."""
    return sorted(samples, key=lambda s: (s.instructions, s.name))[len(samples) // 2]


def large(samples: Sequence[Sample], least: int = LARGE) -> Sample:
    """All programs one after the other, as often as it takes: where one ends, the next goes on."""
    parts, total, i = [], 0, 0
    while total < least:
        sample = samples[i % len(samples)]
        parts.append(_run_on(sample.program)[:-1])
        total, i = total + sample.instructions, i + 1
    whole = np.concatenate([*parts, np.array([S_ENDPGM], np.uint32)])
    programs = [sample.program for sample in samples]
    program = replace(
        programs[0],
        words=whole,
        entry=0,
        vgprs=256,
        threads=(64, 1, 1),
        lds_bytes=max(p.lds_bytes for p in programs),
        scratch_bytes=max(p.scratch_bytes for p in programs),
    )
    return Sample(f"{i} programs in a row", program, count(program))

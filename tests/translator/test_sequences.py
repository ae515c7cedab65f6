# SPDX-License-Identifier: MIT
"""Random straight-line sequences of nearly every opcode, with special values: the device is as the interpreter."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sequences import (
    AREA,
    AREA_WORDS,
    BANKS,
    BASE,
    OUT,
    opcodes,
    program_of,
    registers_of,
    sequence,
)  # fmt: skip

from guestgpu import translation
from guestgpu.interpreter import interpret

pytestmark = pytest.mark.slow

Words = NDArray[np.uint32]
MODES = [0xF0 << 12, 0, 0xF0 << 12 | 1 << 23, 0xC0 << 12 | 1 << 21, 0x90 << 12, 0x60 << 12 | 1 << 21]
"""Of RSRC1: denormals kept; flushed; kept, in IEEE mode; flushed of f32 only, with DX10_CLAMP; kept in sources of f32
and in results of the others; the other way round."""


def nan_like(words: Words) -> NDArray[np.bool_]:
    """Of the registers (axis 1), by bank: what is a NaN, whose bits a device chooses."""
    nan = np.zeros(words.shape, np.bool_)
    first, count = BANKS["f"]
    at = slice(first, first + count)
    nan[:, at] = (words[:, at] & 0x7FFFFFFF) > 0x7F800000
    first, count = BANKS["d"]
    low, high = words[:, first : first + count : 2], words[:, first + 1 : first + count : 2]
    wide = ((high & 0x7FFFFFFF) > 0x7FF00000) | (((high & 0x7FFFFFFF) == 0x7FF00000) & (low != 0))
    nan[:, first : first + count : 2] = wide
    nan[:, first + 1 : first + count : 2] = wide
    return nan


def differences(wanted: Words, got: Words) -> NDArray[np.bool_]:
    """Of the registers of all groups: shape (groups, LOADED + 1, lanes)."""
    different = (wanted != got) & ~(nan_like(wanted) & nan_like(got))
    first, count = BANKS["h"]
    at = slice(first, first + count)
    halves = [np.ascontiguousarray(words[:, at]).view(np.uint16) for words in (wanted, got)]
    nans = [(half & 0x7FFF) > 0x7C00 for half in halves]
    wrong = (halves[0] != halves[1]) & ~(nans[0] & nans[1])
    different[:, at] = wrong.reshape(*wrong.shape[:2], -1, 2).any(-1)
    return different


def run_both(sequences: Sequence[Sequence[str]], wave: int, seed: int, rsrc1: int, device: Any) -> list[str]:
    """The sequences whose registers or memory differ, with what differs first."""
    groups, rng = len(sequences), np.random.default_rng(seed)
    registers = registers_of(rng, groups, wave)
    area = rng.integers(0, 1 << 32, groups * AREA_WORDS, np.uint32, endpoint=False)
    program, results = program_of(sequences, wave, rsrc1), []
    choices = translation.lane_choices(program, device)
    lanes = choices[-1] if seed % 8 == 7 else choices[0]  # a software device takes longest for few lanes
    options = translation.options_for(device, wave, lanes)
    module = translation.translate(program, options)
    for run_it in (interpret, lambda p, w, groups: translation.run(device, p, module, w, groups)):
        windows = {BASE: registers.copy(), OUT: np.zeros_like(registers), AREA: area.copy()}
        run_it(program, windows, groups=(groups, 1, 1))
        results.append((windows[OUT], windows[AREA].reshape(groups, AREA_WORDS)))
    (wanted, wanted_area), (got, got_area) = results
    wrong, failures = differences(wanted, got), []
    for n in range(groups):
        text = "\n    ".join(sequences[n])
        if wrong[n].any():
            row, lane = (int(i[0]) for i in np.nonzero(wrong[n]))
            was = f"{wanted[n, row, lane]:08x}, got {got[n, row, lane]:08x}"
            failures.append(f"v{row} lane {lane}: {was}\n    {text}")
        elif not np.array_equal(wanted_area[n], got_area[n]):
            at = int(np.flatnonzero(wanted_area[n] != got_area[n])[0])
            failures.append(f"word {at}: {wanted_area[n, at]:08x}, got {got_area[n, at]:08x}\n    {text}")
    return failures


def random_sequences(seed: int, wave: int, count: int, length: int) -> list[list[str]]:
    """Of opcodes in turn, so that none is left out for long."""
    r, names = random.Random(seed), sorted(opcodes(wave))
    random.Random(wave).shuffle(names)
    start = seed * count * length
    chosen = [names[(start + i) % len(names)] for i in range(count * length)]
    return [sequence(chosen[length * n : length * (n + 1)], wave, r) for n in range(count)]


COUNT, LENGTH = 8, 4


def agree(seed: int, wave: int, device: Any) -> None:
    made = random_sequences(seed, wave, COUNT, LENGTH)
    failures = run_both(made, wave, seed, MODES[seed % len(MODES)], device)
    assert not failures, f"{len(failures)} sequences differ:\n" + "\n".join(failures[:6])


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("seed", range(2))
def test_random_sequences(seed: int, wave: int, device: Any) -> None:
    agree(seed, wave, device)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2500))
def test_many_random_sequences(seed: int, device: Any) -> None:
    """20,000 in all."""
    agree(100 + seed, 64 if seed % 4 == 3 else 32, device)

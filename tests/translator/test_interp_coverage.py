# SPDX-License-Identifier: MIT
"""Every opcode with random operands: what the table says is interpreted runs, what it says is not is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from assembler import assemble
from isa_samples import FORMS, Llvm, samples

from guestgpu import translator
from guestgpu.errors import FormatError, LimitExceeded, Unsupported
from guestgpu.interpreter import EXEC, Gpu, Program, interpret

NOT_BY_CHANCE = {"s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32", "s_setpc_b64", "s_swappc_b64"}
"""They need a register or address that exists. So do images: no random T# is a linear image."""
TARGETS = [("gfx1030", 32), ("gfx1030", 64), ("gfx1013", 64)]


def row_name(text: str) -> str:
    """The table's name of an instruction that was disassembled."""
    mnemonic = re.sub(r"(_e32|_e64|_sdwa|_dpp8|_dpp)+$", "", text.split()[0])
    segment = re.sub(r"^(global|scratch)_", "flat_", mnemonic)
    return segment if segment in INTERPRETED else mnemonic


INTERPRETED = {opcode.name: opcode.interpreted for opcode in translator.opcodes()}


def attempt(words: tuple[int, ...], gpu: str, wave: int, seed: int) -> str:
    """Why the instruction was refused, "" if it ran: on random registers, in a small window and LDS."""
    rng = np.random.default_rng(seed)
    program = Program(
        words=np.array([*words, *assemble("s_endpgm")], np.uint32),
        wave=wave,
        gpu=int(gpu == "gfx1013") and Gpu.GFX1013,
        vgprs=256,
        threads=(wave,),
        lds_bytes=1024,
    )
    registers = program.registers()
    registers.scalar()[:106] = rng.integers(0, 1 << 32, 106, np.uint64)
    registers.scalar()[EXEC : EXEC + 2] = rng.integers(0, 1 << 32, 2, np.uint64)
    registers.vector()[:] = rng.integers(0, 1 << 11, registers.vector().shape)
    memory = np.zeros(4096, np.uint8)
    try:
        interpret(program, {0: memory}, registers=registers, step_limit=100)
    except (Unsupported, FormatError, LimitExceeded) as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("gpu", "wave"), [TARGETS[0], *(pytest.param(*target, marks=pytest.mark.slow) for target in TARGETS[1:])]
)
def test_the_coverage_table_is_true(gpu: str, wave: int) -> None:
    llvm = Llvm(gpu, wave)
    ran: set[str] = set()
    for form in FORMS:
        for code in range(form.opcodes):
            for seed, (words, text) in enumerate(samples(llvm, form, code, 3, seed=2)):
                try:
                    translator.disassemble(words, gpu, wave)
                except (FormatError, Unsupported):
                    continue  # stricter than LLVM: test_decode.py knows why
                name = row_name(text)
                reason = attempt(words, gpu, wave, seed)
                if reason:
                    assert not (INTERPRETED[name] and reason.endswith("it is not interpreted")), (text, reason)
                else:
                    assert INTERPRETED[name], f"{text}: ran, and the table says no"
                    ran.add(name)
    only = {opcode.name for opcode in translator.opcodes() if opcode.only not in ("", gpu)}
    lacking = {name for name, known in INTERPRETED.items() if known} - ran - only
    assert sorted(name for name in lacking - NOT_BY_CHANCE if not name.startswith("image_")) == []

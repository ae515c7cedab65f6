# SPDX-License-Identifier: MIT
"""Guest programs from text, by llvm-mc, and one-group runs on the interpreter: for tests by hand-computed values."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu.interpreter import EXEC, Program, Registers, Report, Words, interpret

LLVM_MC = shutil.which("llvm-mc-19")

BARRIER_LOOP = """
    s_mov_b32 exec_lo, 1
    s_lshl_b32 s3, s2, 2
    s_sub_u32 s4, 4, s3
    v_mov_b32 v1, s3
    v_mov_b32 v2, s4
    s_add_u32 s5, s2, 1
    v_mov_b32 v3, s5
    s_mov_b32 s6, 3
    L0:
    ds_write_b32 v1, v3
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v4, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_lshl_add_u32 v3, v3, 1, v4
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 L0
"""
"""Case T6: two waves pass words through LDS three times; v3 of lane 0 ends as 40 and 41."""


@cache
def assemble(text: str, wave: int = 32, gpu: str = "gfx1030") -> Words:
    """The words of a program in LLVM's syntax; lines, or instructions separated by ` / `."""
    assert LLVM_MC, "llvm-mc-19 is not installed (scripts/setup-system.sh)"
    source = text.replace(" / ", "\n") + "\n"
    features = "+wavefrontsize64,-wavefrontsize32" if wave == 64 else "+wavefrontsize32,-wavefrontsize64"
    command = [LLVM_MC, "-triple=amdgcn", f"-mcpu={gpu}", f"-mattr={features}", "-show-encoding"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if "L0" in text:  # branches to labels are fixups there: let the object file have them resolved
        return _assemble_object(source, features, gpu)
    data = bytes(int(byte, 16) for line in re.findall(r"encoding: \[(.*?)\]", done.stdout) for byte in line.split(","))
    return np.frombuffer(data, np.uint32)


def _assemble_object(source: str, features: str, gpu: str) -> Words:
    command = [str(LLVM_MC), "-triple=amdgcn", f"-mcpu={gpu}", f"-mattr={features}", "-filetype=obj"]
    done = subprocess.run(command, input=source.encode(), capture_output=True, check=True)
    elf = done.stdout
    sections, count = int.from_bytes(elf[40:48], "little"), int.from_bytes(elf[60:62], "little")
    for i in range(count):  # .text is the one that is executable (SHF_EXECINSTR)
        header = elf[sections + 64 * i : sections + 64 * (i + 1)]
        if int.from_bytes(header[8:16], "little") & 4:
            offset, size = int.from_bytes(header[24:32], "little"), int.from_bytes(header[32:40], "little")
            return np.frombuffer(elf[offset : offset + size], np.uint32)
    raise AssertionError("no code in the object")


def f32(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def f16(value: float) -> int:
    return int(np.float16(value).view(np.uint16))


def f64(value: float) -> tuple[int, int]:
    """Low and high dword."""
    bits = int(np.float64(value).view(np.uint64))
    return bits & 0xFFFFFFFF, bits >> 32


def run(
    text: str,
    *,
    wave: int = 32,
    waves: int = 1,
    gpu: str = "gfx1030",
    scalar: Mapping[int, int] | None = None,
    vector: Mapping[int, Any] | None = None,
    execute: int | None = None,
    mode: int = 0xF0,
    windows: Mapping[int, NDArray[Any]] | None = None,
    lds_bytes: int = 0,
    **options: Any,
) -> Report:
    """Runs a program as cases/translator.md has it: v0 = lane, s2 = wave, EXEC all, others 0 but for what is given.

    vector: number to one value, or one a lane. mode: all denormals kept unless given. `s_endpgm` is added.
    """
    words = assemble(text.strip() + "\ns_endpgm", wave, gpu)
    program = Program(
        words=words, wave=wave, gpu=int(gpu == "gfx1013"), vgprs=64, threads=(wave * waves,), lds_bytes=lds_bytes
    )
    registers = program.registers()
    for index in range(waves):
        _fill(registers, index, scalar or {}, vector or {}, execute, mode)
    return interpret(program, windows, registers=registers, **options)


def _fill(
    registers: Registers,
    wave: int,
    scalar: Mapping[int, int],
    vector: Mapping[int, Any],
    execute: int | None,
    mode: int,
) -> None:
    lanes = registers.lanes
    scalars, vectors = registers.scalar(wave), registers.vector(wave)
    active = (1 << lanes) - 1 if execute is None else execute
    scalars[EXEC], scalars[EXEC + 1] = active & 0xFFFFFFFF, active >> 32
    scalars[2] = wave
    vectors[0] = np.arange(lanes)
    registers.state(wave)[1] = mode
    for number, value in scalar.items():
        scalars[number] = value & 0xFFFFFFFF
    for number, values in vector.items():
        vectors[number] = np.asarray(values, np.int64) & 0xFFFFFFFF

# SPDX-License-Identifier: MIT
"""Programs whose registers are looked at: stored at their end, so that any ways of running them can be compared.

The launch state is that of cases/translator.md: v0 is the lane, s2 the wave, all others 0; EXEC the lanes that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from assembler import assemble

from guestgpu import translation
from guestgpu.device import Device
from guestgpu.interpreter import Program, interpret
from guestgpu.translation import Module, Words

OUT, DATA = 0x1_2345_0000, 0x7_0000_1000
_BASE, _DATA = 90, 92  # pairs of scalars that hold the addresses of the results and of the data
_SCRATCH = 250  # VGPRs from here on are the epilogue's
USER_SGPRS = 4


@dataclass(frozen=True)
class Observed:
    """Registers at the end: scalar[n] of each wave; vector[n] of each wave and lane."""

    scalar: dict[int, Words]
    vector: dict[int, Words]


@dataclass(frozen=True)
class Case:
    """An assembled program with its prologue and epilogue."""

    program: Program
    waves: int
    scalars: tuple[int, ...]
    vectors: tuple[int, ...]
    data: Words

    def windows(self) -> dict[int, Words]:
        size = self.waves * self.program.wave * (len(self.scalars) + len(self.vectors))
        return {OUT: np.zeros(max(size, 1), np.uint32), DATA: self.data.copy()}

    def observed(self, out: Words) -> Observed:
        lanes = self.program.wave
        table = out.reshape(-1, self.waves, lanes)
        scalar = {n: table[i, :, 0] for i, n in enumerate(self.scalars)}
        vector = {n: table[len(self.scalars) + i] for i, n in enumerate(self.vectors)}
        return Observed(scalar, vector)

    def interpreted(self) -> Observed:
        windows = self.windows()
        report = interpret(self.program, windows)
        assert report.reads_outside == report.writes_outside == 0
        return self.observed(windows[OUT])

    def translated(self, device: Device, lanes: int = 0, **options: str) -> Observed:
        """lanes: guest lanes an invocation; 0: the wave's."""
        windows = self.windows()
        wave = self.program.wave
        made = translation.options_for(device, wave, lanes or wave, **options)
        module: Module = translation.translate(self.program, made)
        assert module.report.lanes == made.lanes
        counters = translation.run(device, self.program, module, windows)
        assert (counters.reads_outside, counters.writes_outside) == (0, 0)
        return self.observed(windows[OUT])


def case(
    text: str,
    *,
    scalars: Sequence[int] = (),
    vectors: Sequence[int] = (),
    wave: int = 32,
    waves: int = 1,
    data: Words | None = None,
    lds_bytes: int = 0,
    setup: str = "",
) -> Case:
    """The program of `text`; s[0:1] may be the address of `data` (setup: "s_mov_b64 s[0:1], s[92:93]")."""
    shift = int(np.log2(wave))
    prologue = [
        f"s_mov_b64 s[{_BASE}:{_BASE + 1}], s[0:1]",
        f"s_mov_b64 s[{_DATA}:{_DATA + 1}], s[2:3]",
        "s_bfe_u32 s2, s4, 0x50014",
        f"s_lshl_b32 s89, s2, {shift + 2}",  # bytes before this wave's lanes in a row
        "s_mov_b64 s[0:1], 0", "s_mov_b32 s3, 0", "s_mov_b32 s4, 0",
        f"v_and_b32 v0, {wave - 1}, v0",
    ]  # fmt: skip
    lane, address, value = _SCRATCH, _SCRATCH + 1, _SCRATCH + 2
    epilogue = [
        "s_mov_b64 exec, -1" if wave == 64 else "s_mov_b32 exec_lo, -1",
        f"v_mbcnt_lo_u32_b32 v{lane}, -1, 0",
        *([f"v_mbcnt_hi_u32_b32 v{lane}, -1, v{lane}"] if wave == 64 else []),
        f"v_lshlrev_b32 v{lane}, 2, v{lane}",
        f"v_add_nc_u32 v{lane}, s89, v{lane}",
    ]
    row = 4 * wave * waves
    for i, register in enumerate([f"s{n}" if n < 106 else {106: "vcc_lo", 107: "vcc_hi"}[n] for n in scalars]):
        epilogue += [
            f"v_mov_b32 v{value}, {register}",
            f"v_add_nc_u32 v{address}, 0x{i * row:x}, v{lane}",
            f"global_store_dword v{address}, v{value}, s[{_BASE}:{_BASE + 1}]",
        ]
    for i, n in enumerate(vectors):
        epilogue += [
            f"v_add_nc_u32 v{address}, 0x{(len(scalars) + i) * row:x}, v{lane}",
            f"global_store_dword v{address}, v{n}, s[{_BASE}:{_BASE + 1}]",
        ]
    body = [line for line in text.replace(" / ", "\n").splitlines() if line.strip() and line.strip() != "s_endpgm"]
    lines = [*prologue, *setup.splitlines(), *body, *epilogue, "s_endpgm"]
    words = assemble("\n".join(lines), wave)
    memory = np.zeros(16, np.uint32) if data is None else data
    program = Program(
        words=words, wave=wave, vgprs=256, threads=(wave * waves,), lds_bytes=lds_bytes,
        rsrc1=0xF0 << 12, rsrc2=USER_SGPRS << 1 | 1 << 10,
        user_data=(OUT & 0xFFFFFFFF, OUT >> 32, DATA & 0xFFFFFFFF, DATA >> 32),
    )  # fmt: skip
    return Case(program, waves, tuple(scalars), tuple(vectors), memory)


def check(made: Case, right: Mapping[str, object], run: Callable[[], Observed]) -> None:
    """right: "s4" or "v2" to a value, or to one a lane (of wave 0), or to one a wave for scalars."""
    seen = run()
    for name, value in right.items():
        number = {"vcc_lo": 106, "vcc_hi": 107}.get(name, int(name[1:]) if name[1:].isdigit() else -1)
        found = seen.vector[number] if name[0] == "v" and name[1:].isdigit() else seen.scalar[number]
        wanted = np.asarray(value, np.int64) & 0xFFFFFFFF
        got = found[:, : wanted.shape[-1]][0] if found.ndim == 2 and wanted.ndim == 1 else found
        assert np.array_equal(got, np.broadcast_to(wanted, got.shape)), f"{name}: {got} is not {wanted}"

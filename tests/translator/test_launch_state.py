# SPDX-License-Identifier: MIT
"""Launch state that compilers count on: the thread-group size word, and VGPRs that the halves of a wave64 share."""

from __future__ import annotations

import numpy as np
import pytest
from assembler import assemble

from guestgpu import translation
from guestgpu.device import Device
from guestgpu.interpreter import Gpu, Program, interpret
from guestgpu.translation import lane_choices, options_for

OUT = 0x10000


def everywhere(program: Program, words: int, device: Device) -> list[np.ndarray]:
    """What the program stores, by the interpreter and by every k that applies."""
    results = []
    for lanes in (0, *lane_choices(program, device)):
        windows = {OUT: np.zeros(words, np.uint32)}
        if lanes:
            module = translation.translate(program, options_for(device, program.wave, lanes))
            translation.run(device, program, module, windows)
        else:
            interpret(program, windows)
        results.append(windows[OUT])
    return results


@pytest.mark.parametrize(("gpu", "high"), [(Gpu.GFX1030, True), (Gpu.GFX1013, False)])
def test_thread_group_size(gpu: Gpu, high: bool, device: Device) -> None:
    """Waves in bits 0-5, this wave's number in 6-11 (ACO) and of gfx1030 in 20-24 (LLVM), the first wave in bit 31."""
    text = "v_mov_b32 v1, s2 / v_lshlrev_b32 v2, 2, v0 / global_store_dword v2, v1, s[0:1] / s_endpgm"
    program = Program(
        words=assemble(text, 64, "gfx1013" if gpu == Gpu.GFX1013 else "gfx1030"), wave=64, gpu=int(gpu), vgprs=8,
        threads=(192,), rsrc2=2 << 1 | 1 << 10, user_data=(OUT, 0),
    )  # fmt: skip
    wanted = [3 | n << 6 | (n << 20 if high else 0) | (0 if n else 1 << 31) for n in range(3)]
    for got in everywhere(program, 192, device):
        assert got.reshape(3, 64).tolist() == [[word] * 64 for word in wanted]


SHARED = """
    s_mov_b32 exec_lo, -1
    s_mov_b32 exec_hi, 0
    v_add_nc_u32 v8, 100, v0
    s_mov_b32 exec_lo, 0
    s_mov_b32 exec_hi, 0xffff
    v_add_nc_u32 v9, 200, v0
    s_mov_b64 exec, -1
    v_mov_b32 v1, v8
    v_mov_b32 v2, v9
    v_mov_b32 v8, v0
    v_mov_b32 v3, v8
    v_writelane_b32 v9, 7, 35
    v_mov_b32 v4, v9
    v_lshlrev_b32 v5, 4, v0
    global_store_dwordx4 v5, v[1:4], s[0:1]
    s_endpgm
"""


def test_vgprs_that_halves_share(device: Device) -> None:
    """v8 and v9 stand beyond the program's own eight: lanes n and n + 32 have one dword; the upper half comes last."""
    program = Program(
        words=assemble(SHARED, 64), wave=64, vgprs=8, threads=(64,), rsrc2=2 << 1, rsrc3=1, user_data=(OUT, 0)
    )
    low = np.arange(32)
    v9 = np.where(low < 16, 232 + low, 0)
    for got in everywhere(program, 256, device):
        columns = got.reshape(64, 4).T
        assert columns[0].tolist() == np.tile(100 + low, 2).tolist()
        assert columns[1].tolist() == np.tile(v9, 2).tolist()
        assert columns[2].tolist() == np.tile(32 + low, 2).tolist()
        assert columns[3].tolist() == np.tile(np.where(low == 3, 7, v9), 2).tolist()


def test_without_shared_vgprs_lanes_have_their_own(device: Device) -> None:
    text = "v_mov_b32 v8, v0 / v_lshlrev_b32 v5, 2, v0 / global_store_dword v5, v8, s[0:1] / s_endpgm"
    program = Program(words=assemble(text, 64), wave=64, vgprs=16, threads=(64,), rsrc2=2 << 1, user_data=(OUT, 0))
    for got in everywhere(program, 64, device):
        assert got.tolist() == list(range(64))

# SPDX-License-Identifier: MIT
"""The programs of docs/barriers.md: what they store, on the interpreter and translated, in each way that takes them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from guestgpu import program_file, translation
from guestgpu.device import Device
from guestgpu.errors import Unsupported
from guestgpu.interpreter import Program, interpret

PAGE = Path(__file__).resolve().parents[2] / "docs" / "barriers.md"
BUFFER = 0x10000
ID = np.arange(64, dtype=np.uint32)
WANTED = [
    np.where(ID < 32, ID ^ 1, 0),
    ID ^ 32,
    np.where(ID < 2, ID + 40, 0),
    np.where(ID < 32, 0, 3 * (ID ^ 32)),
]
RUN_CUT = [True, True, False, False]
"""Which of them the published rule allows."""

pytestmark = pytest.mark.skipif(not shutil.which(program_file.ASSEMBLER), reason="no llvm-mc-19")


def programs() -> list[Program]:
    """Those of the page, in order."""
    found = []
    for text in re.findall(r"^```text\n(; threads .*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        threads = re.match(r"; threads (\d+):", text)
        assert threads, text
        found.append(
            Program(
                words=program_file.assemble(text, 32, "gfx1030", PAGE.name),
                vgprs=8,
                threads=(int(threads[1]),),
                rsrc1=program_file.KEEP_DENORMALS,
                rsrc2=2 << 1,
                lds_bytes=256,
                user_data=(BUFFER, 0),
            )
        )
    return found


def test_the_page_has_the_programs() -> None:
    assert len(programs()) == len(WANTED)


@pytest.mark.parametrize("index", range(len(WANTED)))
def test_on_the_interpreter(index: int) -> None:
    for seed in range(4):
        windows = {BUFFER: np.zeros(64, np.uint32)}
        interpret(programs()[index], windows, schedule_seed=seed)
        assert windows[BUFFER].tolist() == WANTED[index].tolist()


@pytest.mark.parametrize("index", range(len(WANTED)))
def test_the_rule_allows_what_the_page_says(index: int) -> None:
    program, strict = programs()[index], translation.Options(barriers="strict")
    if RUN_CUT[index]:
        assert translation.translate(program, strict).report.phases == 0
    else:
        with pytest.raises(Unsupported, match="branch_between_runs"):
            translation.translate(program, strict)


@pytest.mark.slow
@pytest.mark.parametrize("barriers", ["auto", "strict", "phase"])
@pytest.mark.parametrize("index", range(len(WANTED)))
def test_on_the_device(index: int, barriers: str, device: Device) -> None:
    program = programs()[index]
    if barriers == "strict" and not RUN_CUT[index]:
        return
    module = translation.translate(program, translation.options_for(device, 32, barriers=barriers))
    assert module.report.barriers > 0
    for _ in range(10):
        windows = {BUFFER: np.zeros(64, np.uint32)}
        translation.run(device, program, module, windows)
        assert windows[BUFFER].tolist() == WANTED[index].tolist()

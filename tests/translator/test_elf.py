# SPDX-License-Identifier: MIT
"""The reader of code objects, on what clang makes, and on bytes that lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guestgpu.errors import FormatError, GuestGpuError, Unsupported
from guestgpu.interpreter import Gpu, UserSgprs, read_code_object

SEEDS = Path(__file__).parents[1] / "fuzz" / "corpus" / "elf"


def test_a_linked_kernel() -> None:
    code = read_code_object((SEEDS / "saxpy_wave32").read_bytes())
    kernel = code.kernels["saxpy"]
    assert (code.gpu, kernel.wave, kernel.threads) == (Gpu.GFX1030, 32, (256, 1, 1))
    assert [(a.name, a.kind, a.offset, a.size) for a in kernel.arguments[:4]] == [  # named only with -g
        ("", "global_buffer", 0, 8),
        ("", "global_buffer", 8, 8),
        ("", "by_value", 16, 4),
        ("", "by_value", 20, 4),
    ]
    assert kernel.user_sgprs & UserSgprs.KERNARG_SEGMENT_PTR
    assert kernel.lds_bytes == kernel.scratch_bytes == 0
    assert code.code[kernel.entry // 4 :].tolist().count(0xBF810000) >= 1  # s_endpgm
    address = code.code_address
    start, memory = max((s, m) for s, m in code.segments.items() if s <= address)
    assert np.array_equal(memory[address - start :][: code.code.nbytes].view(np.uint32), code.code)


def test_wave_size_and_user_sgprs() -> None:
    assert read_code_object((SEEDS / "saxpy_wave64").read_bytes()).kernels["saxpy"].wave == 64
    kernel = read_code_object((SEEDS / "calls").read_bytes()).kernels["calls"]
    assert kernel.user_sgprs & UserSgprs.PRIVATE_SEGMENT_BUFFER
    assert kernel.lds_bytes == 4096  # clang moved the private array there
    assert kernel.entry > 0  # poly comes first


def test_an_object_that_was_not_linked() -> None:
    code = read_code_object((SEEDS / "object").read_bytes())
    assert code.gpu == Gpu.GFX1013
    assert code.kernels["pair64"].threads == (128, 1, 1)
    assert code.kernels["pair64"].lds_bytes == 512
    assert code.segments == {}


def test_wrong_bytes() -> None:
    data = (SEEDS / "saxpy_wave32").read_bytes()
    for wrong, error, match in (
        (b"", FormatError, "0 bytes"),
        (b"\x7fELF" + bytes(80), FormatError, "no 64-bit little-endian"),
        (data[:18] + b"\x3e\x00" + data[20:], Unsupported, "machine 62"),
        (data[:48] + b"\x2c\x00" + data[50:], Unsupported, "processor 0x2c"),
        (data[:40] + b"\xff" * 8 + data[48:], FormatError, "section headers"),
        (data.replace(b"saxpy.kd", b"saxpx.kd", 1), FormatError, "no descriptor|no code"),
        (data.replace(b"\xaeamdhsa.kernels", b"\xc1amdhsa.kernels"), FormatError, "metadata"),
    ):
        with pytest.raises(error, match=match):
            read_code_object(wrong)


def test_every_truncation_is_refused_or_harmless() -> None:
    """The section headers stand at the end: without them nothing is found."""
    data = (SEEDS / "saxpy_wave32").read_bytes()
    for size in range(0, len(data), 7):
        with pytest.raises(GuestGpuError):
            read_code_object(data[:size])

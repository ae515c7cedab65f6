# SPDX-License-Identifier: MIT
"""Rule 4: with aos chosen, or nothing chosen, the emitted SPIR-V is byte for byte the same release after release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from shapes import SHAPES

from guestgpu import layout
from guestgpu.layout import Layout, Options


def digest(words: layout.Words) -> str:
    return hashlib.sha256(words.astype("<u4").tobytes()).hexdigest()


def test_aos_modules_are_frozen(golden: Callable[[str, str], None]) -> None:
    lines = []
    for name, shape in SHAPES.items():
        lines.append(f"{digest(layout.emit_mesh(shape, Options(Layout.AOS)))}  {name} mesh")
        lines.append(f"{digest(layout.emit_vertex(shape, Options(Layout.AOS)))}  {name} vertex")
    lines += [f"{digest(layout.emit_task())}  task", f"{digest(layout.emit_scan())}  scan"]
    golden("aos.sha256", "\n".join(lines) + "\n")


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_chosen_is_aos(name: str) -> None:
    for emit in (layout.emit_mesh, layout.emit_vertex):
        assert digest(emit(SHAPES[name], Options())) == digest(emit(SHAPES[name], Options(Layout.AOS)))
        assert digest(emit(SHAPES[name], Options(Layout.AOS))) != digest(emit(SHAPES[name], Options(Layout.SOA)))

# SPDX-License-Identifier: MIT
"""docs/isa_coverage.md is what the translator does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from isa_emitted import FITTING, document, reason, refusal

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "isa_coverage.md"


@pytest.mark.slow
def test_the_document_is_current() -> None:
    """Each row's opcode was tried just now; every refusal named its offset and instruction."""
    assert DOCUMENT.read_text() == document(), "scripts/isa-coverage.py > docs/isa_coverage.md"


def test_enough_is_emitted() -> None:
    found = re.search(r"(\d+) emitted", DOCUMENT.read_text())
    assert found
    print(f"{found[1]} base opcodes are emitted")
    assert int(found[1]) >= 370


def test_a_refusal_without_a_name_is_found() -> None:
    assert reason("s_trap", "offset 0x0: s_trap is not translated") == "as a whole"
    with pytest.raises(AssertionError):
        reason("s_trap", "offset 0x0: s_nop is not translated: it sleeps")
    with pytest.raises(AssertionError):
        reason("s_trap", "something went wrong")
    assert refusal((0xBF920001,), "gfx1030", 32).startswith("offset 0x0: s_trap is not translated")
    assert "s_getreg_b32" in FITTING

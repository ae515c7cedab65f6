#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the ISA coverage table: which opcodes are decoded, interpreted, emitted, and refused by name.

usage: scripts/isa-coverage.py > docs/isa_coverage.md

Every opcode is tried, with the tests' encodings of it, which come from LLVM: two minutes.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "translator"))

if __name__ == "__main__":
    from isa_emitted import document

    print(document(), end="")

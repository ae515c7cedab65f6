# SPDX-License-Identifier: MIT
"""The benchmark of decoder and translation: its programs, its loops in C, and the command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from guestgpu import results, translator_cost
from guestgpu.errors import ArgumentError, FormatError, Unsupported
from guestgpu.experiment import load_experiment
from guestgpu.interpreter import Program
from guestgpu.native import ffi, lib
from guestgpu.translator_cost import S_ENDPGM, S_NOP, Sample

NOPS = Program(np.array([S_NOP] * 999 + [S_ENDPGM], np.uint32), threads=(64,), wave=64)


def test_time_grows_with_the_rounds() -> None:
    """Loosely: the machine is shared."""
    for translate in (False, True):
        few, many = (translator_cost.time_ns(NOPS, rounds, translate) for rounds in (3, 300))
        assert many > 10 * few > 0


def test_what_fails_is_said() -> None:
    with pytest.raises(ArgumentError, match="no rounds"):
        translator_cost.time_ns(NOPS, 0, True)
    with pytest.raises(FormatError, match="offset 0x0"):
        translator_cost.time_ns(Program(np.array([0x7E0202FF], np.uint32), threads=(64,)), 1, False)
    with pytest.raises(Unsupported, match="offset 0x0: exp"):
        translator_cost.time_ns(Program(np.array([0xF800000F, 0, S_ENDPGM], np.uint32), threads=(64,)), 1, True)
    assert lib.gg_translator_time(ffi.NULL, ffi.NULL, 1, ffi.new("uint64_t *"), ffi.NULL) != 0


def sample(count: int) -> Sample:
    words = np.array([S_NOP] * (count - 1) + [S_ENDPGM], np.uint32)
    return Sample(str(count), Program(words, threads=(64,), wave=64), count)


def test_programs_of_median_and_large_size(tmp_path: Path) -> None:
    samples = [sample(n) for n in (7, 3, 5)]
    assert translator_cost.median(samples).name == "5"
    large = translator_cost.large(samples, 20)
    assert large.instructions == 7 + 3 + 5 + 7 + 1
    assert large.program.words.tolist() == [S_NOP] * 22 + [S_ENDPGM]
    translator_cost.save(large, tmp_path / "large.json")
    back = translator_cost.load(tmp_path / "large.json")
    assert back.program.words.tolist() == large.program.words.tolist()
    assert (back.name, back.instructions) == (large.name, large.instructions)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("clang-19"), reason="no clang-19")
def test_programs_of_the_corpus_run_on() -> None:
    samples = translator_cost.corpus(["saxpy", "affine"])
    assert [s.name for s in samples] == ["affine.comp", "saxpy.cl"]
    large = translator_cost.large(samples, 500)
    assert 500 <= large.instructions < 700
    assert translator_cost.time_ns(large.program, 1, True) > 0


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = load_experiment("translator_cost")
    monkeypatch.setattr(translator_cost, "corpus", lambda: [sample(40), sample(50)])
    arguments = ["--quick", "--json", "--out", str(tmp_path)]
    done = CliRunner().invoke(experiment.command, arguments, catch_exceptions=False)
    found = json.loads(done.stdout)
    assert done.exit_code == 0, done.output
    for point in ("median", "large"):
        assert 0 < found["figures"][f"decode_ns.{point}"] < found["figures"][f"translate_ns.{point}"]
    rows = results.read(found["rows"])
    assert {row["kind"] for row in rows.rows} == {"env", "block", "cell"}

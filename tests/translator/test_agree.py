# SPDX-License-Identifier: MIT
"""The experiment translator_agree: inputs beside a program, comparisons, cases in files, and the command itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guestgpu import agree, agree_case, agree_inputs, minimise, results
from guestgpu.agree_case import Area, Case, Variant
from guestgpu.agree_inputs import Rule
from guestgpu.device import Device
from guestgpu.errors import ArgumentError
from guestgpu.experiment import Exit
from guestgpu.interpreter import Program

KERNELS = Path(__file__).resolve().parents[2] / "kernels" / "translator"
OWN = """kernel void twice(global uint *out, global const uint *in, uint n)
{ uint i = __builtin_amdgcn_workitem_id_x(); if (i < n) out[i] = 2 * in[i]; }
"""
needs_clang = pytest.mark.skipif(not shutil.which("clang-19"), reason="no clang-19")


def guestgpu(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from guestgpu.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ, check=False)


def run(folder: Path, corpus: Path, *arguments: object) -> tuple[int, dict[str, Any]]:
    """Exit code and object of the command on lavapipe."""
    done = guestgpu(
        "run", "translator_agree", "--device", "lavapipe", "--out", folder, "--json", *arguments,
        *(["--corpus", corpus] if corpus.is_dir() else []),
    )  # fmt: skip
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


# ---- comparisons ----


def f32(*values: float) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.array(values, np.float32).view(np.uint32)


@pytest.mark.parametrize(
    ("rule", "wanted", "got", "text"),
    [
        (Rule(), f32(1, 2), f32(1, 2), ""),
        (Rule(), f32(1, 2), f32(1, 2.000001), "item 1: 0x40000004 where 0x40000000 is wanted (1 of 2 differ; as f32"),
        (Rule(), f32(0.0), f32(-0.0), "item 0: 0x80000000"),
        (Rule(relative=1e-5), f32(1, 2), f32(1, 2.000001), ""),
        (Rule(relative=1e-5), f32(1, 2), f32(1, 2.001), "item 1: 2.00"),
        (Rule(relative=1e-5), f32(np.nan, np.inf), f32(np.nan, np.inf), ""),
        (Rule(relative=1e-5), f32(np.inf), f32(-np.inf), "item 0: -inf where inf"),
        (Rule("sorted"), f32(1, 2), f32(2, 1), ""),
        (Rule("sorted"), f32(1, 2), f32(2, 2), "item 0"),
        (Rule("ignore"), f32(1, 2), f32(3, 4), ""),
        (Rule("ignore"), f32(1, 2), f32(3), "(1,) of uint32 where (2,)"),
        (Rule(relative=1e-2, type="f16"), np.array([0x3C003C00], "u4"), np.array([0x3C013C00], "u4"), ""),
        (Rule(relative=1e-9, type="f64"), np.array([1.0]).view("u4"), np.array([1.0 + 1e-12]).view("u4"), ""),
        (Rule(), np.array([1.0, np.nan]), np.array([1.0, np.nan]), ""),
        (Rule(), np.array([1.0]), np.array([1.5]), "item 0: 1.5 where 1.0"),
    ],
)
def test_rules(rule: Rule, wanted: Any, got: Any, text: str) -> None:
    found = rule.difference(wanted, got)
    assert found.startswith(text) if text else found == "", found


# ---- NAME.toml ----


def settings(folder: Path, text: str) -> agree_inputs.Settings:
    (folder / "x.toml").write_text(text)
    return agree_inputs.settings_of(folder / "x.comp")


def test_inputs_beside_a_program(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"12345678")
    found = settings(tmp_path, """
        groups = [2, 3]
        buffer_bytes = 64
        constants = { 1 = 2.5 }
        floats = { "1.3" = { type = "f64", absolute = 1.0 } }
        push = [1, -1, 2.5]
        tolerance = 1e-3
        [[buffer]]
        binding = 0
        file = "data.bin"
        [[buffer]]
        set = 1
        binding = 2
        values = [1.5, 2]
        type = "f32"
        compare = "sorted"
        [[buffer]]
        argument = 1
        generator = "range"
        count = 3
        low = 5
        """)  # fmt: skip
    assert (found.groups, found.buffer_bytes, found.seed) == ((2, 3, 1), 64, None)
    assert np.frombuffer(found.push or b"", "u4").tolist() == [1, 0xFFFFFFFF, 0x40200000]
    contents = found.contents()
    assert contents[0, 0, 0] == b"12345678"
    assert np.frombuffer(contents[1, 2, 0], "f4").tolist() == [1.5, 2]
    assert np.frombuffer(contents[(1,)], "u4").tolist() == [5, 6, 7]
    assert found.rule_of((1, 2, 0)) == Rule("sorted", 1e-3, 0.0, "f32")
    assert found.rule_of((9, 9, 9)) == Rule("exact", 1e-3, 0.0, "f32")
    assert found.rule_of((1, 3, 0)) == Rule("exact", 0.0, 1.0, "f64")
    assert found.constants == {1: 2.5}
    (tmp_path / "manifest.toml").write_text("[x]\nseed = 9\ngroups = [7, 7, 7]\n[y]\ngroups = [1, 1, 1]\n")
    both = agree_inputs.settings_of(tmp_path / "x.comp")
    assert (both.seed, both.groups) == (9, (2, 3, 1)), "the program's own file wins"
    assert agree_inputs.settings_of(tmp_path / "y.comp").groups == (1, 1, 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("group = [1]", "unknown entry 'group'"),
        ("groups = [0]", "groups: .0. is not one to three"),
        ("buffer_bytes = -1", "buffer_bytes: -1 is no count"),
        ("constants = [1]", "x: "),
        ('floats = { "0" = 1 }', "x: "),
        ('floats = { "0.1" = { type = "u8" } }', "floats 0.1: type: .u8. is none"),
        ('push = ["x"]', "push: 'x' is no word"),
        ("tolerance = -1", "tolerance -1"),
        ("[[buffer]]\nvalues = [1]", "buffer 0: needs either binding"),
        ('[[buffer]]\nbinding = 0\nfile = "a"\nvalues = [1]', "file and values: one of them"),
        ('[[buffer]]\nbinding = 0\ncompare = "no"', "compare: 'no' is none of exact, sorted, ignore"),
        ('[[buffer]]\nbinding = 0\ngenerator = "no"', "generator: 'no' is none of zeros"),
        ("[[buffer]\n", "x.toml: "),
    ],
)
def test_wrong_inputs_are_named(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=why):
        settings(tmp_path, text)


def test_programs_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"no \.comp, \.cl, \.spv file in it"):
        agree_inputs.programs(tmp_path)
    with pytest.raises(ArgumentError, match="no folder"):
        agree_inputs.programs(tmp_path / "none")
    assert KERNELS / "affine.comp" in agree_inputs.programs(agree_inputs.default_folder())
    assert KERNELS / "opencl" / "saxpy.cl" in agree_inputs.programs(KERNELS)


# ---- cases ----


def case_of(words: list[int], wanted: list[int] | None = None) -> Case:
    """Words with one buffer at 0x1000, whose address is in s[0:1]."""
    program = Program(np.array(words, np.uint32), vgprs=8, threads=(32,), rsrc2=2 << 1, user_data=(0x1000, 0))
    windows = {0x1000: np.zeros(32, np.uint32)}
    return Case("hand", "wave32", program, windows, (1, 1, 1), (Area("buffer", 0x1000, Rule()),))


STORE = [0x34020082, 0xDC708000, 0x00000001 | 0x00 << 16]  # v_lshlrev_b32 v1, 2, v0; global_store_dword v1, v0, s[0:1]
ENDPGM, EXPORT = 0xBF810000, [0xF800000F, 0]  # exp mrt0: what a compute program has no use for


def test_a_case_comes_back_from_its_file(tmp_path: Path) -> None:
    made = case_of([*STORE, ENDPGM])
    agree_case.save(tmp_path / "case.json", made, k=32)
    back = agree_case.load(tmp_path / "case.json")
    assert back.program.words.tolist() == made.program.words.tolist()
    assert vars(back.program) | {"words": 0} == vars(made.program) | {
        "words": 0,
        "threads": [32],
        "user_data": [0x1000, 0],
    }
    assert back.windows[0x1000].tolist() == [0] * 32
    assert back.areas == made.areas
    content = minimise.load_reproducer(tmp_path / "case.json")
    for name, value in (("groups", [1]), ("kernel", "no"), ("words", None), ("areas", [{}])):
        with pytest.raises(minimise.MinimiseError, match=r"case\.json: not a case of translator"):
            agree_case.of_content(tmp_path / "case.json", content | {name: value})


@needs_clang
def test_a_corpus_kernel_comes_back_from_its_file(tmp_path: Path) -> None:
    (made,) = agree_case.compile_cases(KERNELS / "opencl" / "compact.cl", "compact", Variant(64, 2), 0)
    agree_case.save(tmp_path / "case.json", made)
    back = agree_case.load(tmp_path / "case.json")
    assert made.host is not None
    assert back.host is not None
    for a, b in zip(made.host, back.host, strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(made.results(made.memory()), back.results(back.memory()), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.slow
def test_outcomes(device: Device) -> None:
    (reference, on_device) = agree.check(device, case_of([*STORE, ENDPGM]), [32])
    assert (reference.way, reference.status) == ("interpreter", agree.EQUAL)
    assert (on_device.way, on_device.status) == ("k32", agree.EQUAL)
    assert on_device.figures["instructions"] == 3
    wrong = case_of([*STORE, ENDPGM])
    object.__setattr__(wrong, "kernel", "")
    object.__setattr__(wrong, "host", (np.arange(1, 33, dtype=np.uint32),))
    outcomes = list(agree.check(device, wrong, [32]))
    assert [o.status for o in outcomes] == [agree.DIFFERS] * 2
    assert outcomes[1].text == "from the original: buffer: item 0: 0x0 where 0x1 is wanted (32 of 32 differ)"
    refused = list(agree.check(device, case_of([*EXPORT, ENDPGM]), [32]))
    assert (refused[-1].status, refused[0].status) == (agree.REFUSED, agree.EQUAL)
    assert "offset 0x0: exp" in refused[-1].text


# ---- the command ----


@pytest.mark.slow
@needs_clang
def test_a_folder_of_ones_own(tmp_path: Path, device: Device) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    shutil.copy(KERNELS / "affine.comp", corpus)
    (corpus / "twice.cl").write_text(OWN)
    (corpus / "twice.toml").write_text("groups = [1]\nthreads = [64]\nbuffer_bytes = 256\n")
    code, found = run(tmp_path / "runs", corpus, "--quick")
    assert code == 0, found
    assert found["figures"] == {"programs": 2, "refused": 0, "disagree": 0, "failed": 0, "ways": 12, "equal": 12}
    cells = [row for row in results.read(found["rows"]).rows if row["kind"] == "cell"]
    assert [row["point"]["program"] for row in cells] == ["affine.comp", "twice.cl"]
    assert {way["original"] for way in cells[0]["figures"].values()} == {1}
    assert {way["original"] for way in cells[1]["figures"].values()} == {0}, "nothing to compare with"


@pytest.mark.slow
def test_what_disagrees_or_is_refused_fails_and_can_be_run_again(tmp_path: Path, device: Device) -> None:
    compiled = tmp_path / "compiled"
    wrong = case_of([*STORE, ENDPGM])
    object.__setattr__(wrong, "host", (np.arange(1, 33, dtype=np.uint32),))
    agree_case.save(compiled / "wrong" / "wave32.json", wrong)
    agree_case.save(compiled / "refused" / "wave32.json", case_of([*EXPORT, ENDPGM]))
    agree_case.save(compiled / "right" / "wave32.json", case_of([*STORE, ENDPGM]))
    (compiled / "broken").mkdir()
    (compiled / "broken" / "wave32.json").write_text("{}")
    code, found = run(tmp_path / "runs", tmp_path / "none", "--compiled", compiled)
    assert code == Exit.FAILED
    counts = found["figures"]
    assert [counts[name] for name in ("programs", "refused", "disagree", "failed")] == [4, 1, 1, 1]
    texts = "\n".join(found["failures"])
    for text in ("broken: error", "refused: refused", "offset 0x0: exp", "wrong: disagrees", "guestgpu repro "):
        assert text in texts
    again = sorted(Path(found["rows"]).parent.glob("repro-*.json"))
    assert [path.stem.rpartition("_")[2] for path in again] == ["k32", "interpreter", "k1", "k32", "k4"]
    for file in again:
        done = guestgpu("repro", file, "--device", "lavapipe")
        assert done.returncode == Exit.FAILED, done.stderr
        assert "hand wave32" in done.stderr
    agree_case.save(again[0], case_of([*STORE, ENDPGM]), k=32)
    assert guestgpu("repro", again[0], "--device", "lavapipe").returncode == 0


@pytest.mark.slow
@needs_clang
def test_compiled_once_and_run_elsewhere(tmp_path: Path, device: Device) -> None:
    done = guestgpu("run", "translator_agree", "--save", tmp_path / "c", "--quick", "--program", "affine",
                    "--program", "wcompact", "--json")  # fmt: skip
    assert json.loads(done.stdout)["figures"] == {"programs": 2, "cases": 4}, done.stderr
    code, found = run(tmp_path / "runs", tmp_path / "none", "--compiled", tmp_path / "c")
    assert (code, found["figures"]["equal"]) == (0, found["figures"]["ways"]), found
    assert found["figures"]["ways"] == 2 * (3 + 4)  # interpreter, wave, wave / subgroup, and of affine one lane


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--corpus", "/none"], "/none: no folder"),
        (["--program", "no such"], "no program with no such"),
        (["--shard", "3/2"], "shard '3/2'"),
    ],
)
def test_bad_arguments(arguments: list[str], text: str) -> None:
    done = guestgpu("run", "translator_agree", "--device", "lavapipe", *arguments)
    assert done.returncode == Exit.USAGE
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1

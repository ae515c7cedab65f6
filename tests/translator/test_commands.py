# SPDX-License-Identifier: MIT
"""`guestgpu translate` and `guestgpu interp` as commands: files of each kind, reports, exit codes, one-line errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from guestgpu import cli, program_file
from guestgpu.errors import ArgumentError, FormatError, GuestGpuError, Unsupported
from guestgpu.experiment import Exit
from guestgpu.interpreter import Program

CORPUS = Path(__file__).resolve().parents[2] / "kernels" / "translator" / "opencl"
REFUSED = "s_nop 0\nexp mrt0 v0, v0, v0, v0\n"
ADD = """v_mov_b32 v1, s4
v_add_nc_u32 v2, v1, v0
s_mov_b32 s5, exec_lo
"""

needs_assembler = pytest.mark.skipif(not shutil.which(program_file.ASSEMBLER), reason="no llvm-mc-19")
needs_clang = pytest.mark.skipif(not shutil.which("clang-19"), reason="no clang-19")


def command(*arguments: object) -> str:
    """What the command prints; exceptions come through."""
    done = CliRunner().invoke(cli.cli, [str(a) for a in arguments], catch_exceptions=False, standalone_mode=False)
    return str(done.stdout)


def file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@needs_assembler
def test_translate_writes_a_module_and_a_report(tmp_path: Path) -> None:
    out, report = tmp_path / "out.spv", tmp_path / "r.json"
    source = file(tmp_path, "add.s", ADD)
    text = command("translate", source, "--wave", 64, "-o", out, "--report", report, "--dump", "disassembly")
    assert "v_add_nc_u32" in text
    assert "64 lanes" in text
    assert np.fromfile(out, np.uint32)[0] == 0x07230203
    found = json.loads(report.read_text())
    assert found["ok"]
    assert found["refusal"] is None
    assert found["report"]["instructions"] == 4
    assert found["report"]["lanes"] == 64
    assert found["needs"]["workgroup"] == [1, 1, 1]
    assert "Shader" in found["needs"]["capabilities"]
    assert "block 0" in command("translate", source, "--dump", "ir")


@needs_assembler
def test_a_refusal_is_one_line_and_data(tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    with pytest.raises(Unsupported, match=r"offset 0x4: exp"):
        command("translate", file(tmp_path, "refused.s", REFUSED), "--report", report)
    found = json.loads(report.read_text())
    assert not found["ok"]
    assert (found["refusal"]["name"], found["refusal"]["offset"]) == ("unsupported", 4)
    assert found["refusal"]["instruction"] == "exp"
    assert cli._exit_code(Unsupported("x")) == Exit.USAGE


@needs_assembler
def test_what_strict_refuses_is_named_by_its_rule(tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    source = file(tmp_path, "loop.s", "L0:\ns_nop 0\ns_barrier\ns_sub_u32 s4, s4, 1\ns_cbranch_scc1 L0\n")
    arguments = ("translate", source, "--threads", 64, "--report", report, "--barriers")
    with pytest.raises(Unsupported, match="branch_between_runs"):
        command(*arguments, "strict")
    found = json.loads(report.read_text())
    assert found["barriers"] == "strict"
    assert found["refusal"] | {"text": ""} == {
        "name": "branch_between_runs", "text": "", "offset": 12, "instruction": "s_cbranch_scc1", "barrier": 4,
    }  # fmt: skip
    command(*arguments, "auto")
    decisions = json.loads(report.read_text())["report"]["decisions"]
    assert [(d["subject"], d["offset"], d["choice"]) for d in decisions if d["subject"] == "barrier"] == [
        ("barrier", 4, "phase")
    ]
    command(*arguments, "auto", "--k", 8)
    found = json.loads(report.read_text())
    assert found["report"]["lanes"] == 8
    assert (found["subgroup"], found["report"]["subgroup"]) == (4, 4)
    with pytest.raises(ArgumentError, match="8 lanes"):
        command(*arguments, "auto", "--k", 8, "--subgroup", 16)
    assert json.loads(report.read_text())["refusal"]["name"] == "lanes"


@needs_clang
def test_kernels_of_sources_and_objects(tmp_path: Path) -> None:
    found = json.loads(command("translate", CORPUS / "saxpy.cl", "--wave", 64, "--json"))
    assert found["figures"]["lanes"] == 64
    folder = tmp_path / "saxpy"
    command("guest", "compile", CORPUS / "saxpy.cl", "-o", folder)
    for path in (folder, folder / "program.elf"):
        assert json.loads(command("translate", path, "--json"))["figures"]["lanes"] == 32
        ran = json.loads(command("interp", path, "--json", "--dump", "memory", "--groups", 2))
        assert ran["figures"]["reads_outside"] == 0
        assert ran["figures"]["words_changed"] > 0
    with pytest.raises(ArgumentError, match="no kernel no: there are saxpy"):
        command("translate", folder, "--kernel", "no")
    with pytest.raises(ArgumentError, match="compiled for wave32"):
        command("translate", folder, "--wave", 64)


@needs_assembler
def test_interp_prints_what_is_asked_for(tmp_path: Path) -> None:
    source = file(tmp_path, "add.s", ADD)
    text = command("interp", source, "--set", "s4=0x10", "--set", "v0[3]=7", "--dump", "registers")
    assert "s4=0x10 s5=0xffffffff exec_lo=0xffffffff" in text
    assert "v1: 00000010 in all lanes" in text
    assert "v2: 00000010 00000011 00000012 00000017" in text
    assert "instructions" not in text
    assert "4 instructions, 0 barriers, 1 waves" in command("interp", source, "--dump", "counters")
    ran = json.loads(command("interp", source, "--threads", 64, "--set", "wave1.s4=-1", "--json"))
    assert [wave["scalar"][4] for wave in ran["waves"]] == ["0x0", "0xffffffff"]
    assert ran["figures"]["instructions"] == 8


@needs_assembler
def test_interp_reads_and_writes_given_memory(tmp_path: Path) -> None:
    data = tmp_path / "data.bin"
    data.write_bytes(np.arange(4, dtype=np.uint32).tobytes())
    source = file(tmp_path, "copy.s", """
        v_lshlrev_b32 v1, 2, v0
        global_load_dword v2, v1, s[0:1]
        s_waitcnt vmcnt(0)
        global_store_dword v1, v2, s[2:3]""")  # fmt: skip
    found = json.loads(command(
        "interp", source, "--threads", 4, "--set", "s0=0x1000", "--set", "s2=0x2000", "--memory", f"0x1000={data}",
        "--memory", "0x2000=16", "--json", "--dump", "memory",
    ))  # fmt: skip
    assert found["memory"]["0x2000"] == [[4, "0x0", "0x1"], [8, "0x0", "0x2"], [12, "0x0", "0x3"]]
    assert found["memory"]["0x1000"] == []
    assert found["figures"]["reads_outside"] == 0


@needs_assembler
def test_interp_stops_at_the_step_limit(tmp_path: Path) -> None:
    with pytest.raises(GuestGpuError, match="100"):
        command("interp", file(tmp_path, "forever.s", "L0:\ns_branch L0\n"), "--steps", 100)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("s4", "is not REGISTER=VALUE"),
        ("s4=0x100000000", "is not REGISTER=VALUE"),
        ("s106=1", "no register s106"),
        ("xyz=1", "no register xyz"),
        ("v300=1", "there are 8 VGPRs of 32 lanes"),
        ("v1[32]=1", "there are 8 VGPRs of 32 lanes"),
        ("wave2.s1=1", "has 2 waves"),
    ],
)
def test_wrong_registers_are_named(text: str, why: str) -> None:
    registers = Program(np.zeros(1, np.uint32), vgprs=8, threads=(64,)).registers()
    with pytest.raises(ArgumentError, match=why):
        program_file.set_register(registers, text)
    assert not registers.words.any()


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.comp: no such file"):
        command("translate", tmp_path / "none.comp")
    with pytest.raises(FormatError, match=r"a folder without state\.json"):
        command("translate", tmp_path)
    with pytest.raises(ArgumentError, match=r"x\.txt: no \.comp"):
        command("interp", file(tmp_path, "x.txt", "hello"))
    with pytest.raises(FormatError, match="5 bytes are no words"):
        command("interp", file(tmp_path, "x.bin", "hello"))


@needs_assembler
def test_wrong_assembly_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"bad\.s: 2:1: error"):
        command("interp", file(tmp_path, "bad.s", "s_nop 0\nnonsense v1\n"))

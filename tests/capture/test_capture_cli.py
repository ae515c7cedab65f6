# SPDX-License-Identifier: MIT
"""`guestgpu capture`, `stream dump` and `guest compile` as commands: output, figures, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from recordings import (
    CHAIN,
    KERNELS,
    application,
    buffer,
    end,
    file_of,
    memory,
    module,
    need_guest_driver,
    recorded,
    submit,
    va,
)

from guestgpu.capture import Capture, Operation
from guestgpu.experiment import Exit

BASE = 0x100000000


def guestgpu(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from guestgpu.cli import main; main()", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | environment, check=False
    )


def assert_one_line(done: subprocess.CompletedProcess[str], code: int, *texts: str) -> None:
    assert done.returncode == code, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("DRM_IOCTL")]  # Mesa's own chatter
    assert len(lines) == 1, done.stderr
    for text in texts:
        assert text in lines[0]


def test_capture_and_dump(tmp_path: Path) -> None:
    need_guest_driver()
    file = tmp_path / "chain.capture"
    file.write_text("an older file is replaced")
    done = guestgpu("capture", "-o", file, "--", application("chain"), module(CHAIN))
    assert done.returncode == 0, done.stderr
    assert "AMD Radeon RX 6800" in done.stdout
    assert f"{file}: 3 submissions" in done.stdout.replace("\n", "")

    text = guestgpu("stream", "dump", file)
    assert text.returncode == 0, text.stderr
    for wanted in ("SET_SH_REG", "COMPUTE_PGM_RSRC1", "COMPUTE_USER_DATA_3", "DISPATCH_INDIRECT: groups (5, 2, 1)"):
        assert wanted in text.stdout
    assert text.stdout.endswith(" 9 dispatches, 0 draws\n")

    found = json.loads(guestgpu("stream", "dump", file, "--json").stdout)
    assert found["ok"]
    assert found["figures"]["dispatches"] == 9
    assert found["capture"]["complete"]
    packets = [p for s in found["submissions"] for b in s["buffers"] for p in b["packets"]]
    assert len(packets) == found["figures"]["packets"]
    assert [p["dispatch"]["groups"] for p in packets if "dispatch" in p][:3] == [[2, 1, 1], [3, 2, 1], [4, 1, 1]]
    assert any(p.get("registers", {}).get("COMPUTE_USER_DATA_4") == "0x00000009" for p in packets)


def test_capture_as_json_keeps_stdout_for_the_object(tmp_path: Path) -> None:
    need_guest_driver()
    file = tmp_path / "c"
    done = guestgpu("capture", "--json", "-o", file, "--", application("one_dispatch"), module(CHAIN))
    found = json.loads(done.stdout)
    assert found["figures"] == {"submissions": 1, "bytes": file.stat().st_size, "complete": 1}
    assert "AMD Radeon RX 6800" in done.stderr


def test_capture_says_what_went_wrong(tmp_path: Path) -> None:
    need_guest_driver()
    file = tmp_path / "c"
    assert_one_line(guestgpu("capture", "-o", file, "--", "true"), Exit.USAGE, "used no Vulkan device")
    missing = guestgpu("capture", "-o", file, "--", tmp_path / "none")
    assert_one_line(missing, Exit.USAGE, "none: No such file")
    bad = guestgpu("capture", "-o", file, "--", "sh", "-c", f"{application('chain')} {module(CHAIN)}; exit 3")
    assert bad.returncode == Exit.FAILED
    assert "failed: sh ended with exit code 3" in bad.stderr
    assert Capture(file).submission_count == 3
    shimless = guestgpu("capture", "-o", file, "--", "true", GUESTGPU_DRM_SHIM="/none")
    assert_one_line(shimless, Exit.NO_DEVICE, "fake AMD kernel driver")


def test_help_speaks_of_personal_data() -> None:
    assert "Personal data" in guestgpu("capture", "--help").stdout


def test_dump_of_bad_files_and_streams(tmp_path: Path) -> None:
    file = tmp_path / "c"
    assert_one_line(guestgpu("stream", "dump", file), Exit.USAGE, "No such file", str(file))
    file.write_bytes(b"rubbish")
    assert_one_line(guestgpu("stream", "dump", file), Exit.USAGE, "no capture")
    cut = 3 << 30 | 5 << 16 | 0x76 << 8  # SET_SH_REG of six words, where there is one
    records = [buffer(1, 4096), va(Operation.MAP, 1, BASE, 0, 4096), memory(1, (0, [cut, 0])), submit((BASE, 2, 0))]
    file.write_bytes(file_of(*records, end(1, 4)))
    assert_one_line(guestgpu("stream", "dump", file), Exit.USAGE, "SET_SH_REG at 0x100000000", "cut off")
    file.write_bytes(file_of(submit((BASE, 2, 1))))
    assert_one_line(guestgpu("stream", "dump", file), Exit.USAGE, "2 words at 0x100000000 are not mapped")
    file.write_bytes(file_of(submit((BASE, 2, 2))))
    done = guestgpu("stream", "dump", file)
    assert done.returncode == 0
    assert "DMA ring 0: not PM4" in done.stdout
    assert "the end is missing" in done.stdout


def test_compile(tmp_path: Path) -> None:
    need_guest_driver()
    out = tmp_path / "out"
    done = guestgpu(
        "guest", "compile", KERNELS / "reduce_lds.comp", "--wave", 32, "--groups", "3,2", "-o", out, "--json"
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["figures"]
    state = json.loads((out / "state.json").read_text())
    assert figures["wave"] == state["wave"] == 32
    assert state["groups"] == [3, 2, 1]
    assert figures["lds_bytes"] == 1024
    assert (out / "program.bin").stat().st_size == 4 * figures["words"]
    assert "s_barrier" in (out / "disassembly.txt").read_text()
    assert (out / "source.comp").read_text() == (KERNELS / "reduce_lds.comp").read_text()
    assert {window["file"] for window in state["windows"]} == {file.name for file in out.glob("memory_*.bin")}


@pytest.mark.slow
def test_compile_says_what_went_wrong(tmp_path: Path) -> None:
    need_guest_driver()
    out = tmp_path / "out"
    bad = tmp_path / "bad.comp"
    bad.write_text("#version 460\nvoid main() { x = 1; }\n")
    assert_one_line(guestgpu("guest", "compile", bad, "-o", out), Exit.USAGE, "bad.comp", "undeclared identifier")
    assert_one_line(guestgpu("guest", "compile", tmp_path / "x.comp", "-o", out), Exit.USAGE, "x.comp")
    assert_one_line(
        guestgpu("guest", "compile", tmp_path / "x.hlsl", "-o", out), Exit.USAGE, "no .comp, .glsl, .spv or .cl"
    )
    cl = tmp_path / "bad.cl"
    cl.write_text("kernel void k(global int *a) { a[0] = b; }\n")
    assert_one_line(guestgpu("guest", "compile", cl, "-o", out), Exit.USAGE, "bad.cl:1", "undeclared identifier 'b'")
    affine = KERNELS / "affine.comp"
    missing = {
        "GUESTGPU_DRM_SHIM": ("fake AMD kernel driver", affine),
        "GUESTGPU_RADV_ICD": ("Mesa's RADV", affine),
        "GUESTGPU_CLANG": ("clang-19", cl),
    }
    for variable, (text, file) in missing.items():
        assert_one_line(guestgpu("guest", "compile", file, "-o", out, **{variable: "/none"}), Exit.NO_DEVICE, text)
    slow = guestgpu("guest", "compile", affine, "-o", out, "--timeout", "0.1", GUESTGPU_CLANG="")
    assert slow.returncode in (Exit.OK, Exit.USAGE)
    assert guestgpu("guest", "compile", affine, "-o", out, "--groups", "1,0").returncode == Exit.USAGE
    assert not (out / "program.elf").exists()


def test_a_compiled_folder_is_translated_and_interpreted(tmp_path: Path) -> None:
    need_guest_driver()
    folder = tmp_path / "collatz"
    done = guestgpu("guest", "compile", KERNELS / "collatz.comp", "--wave", 32, "-o", folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(guestgpu("translate", folder, "--json").stdout)
    assert found["figures"]["lanes"] == 32
    text = guestgpu("interp", folder, "--dump", "memory", "--lines", 3).stdout
    assert "(set 0 binding 0): " in text
    assert "words more" in text


@pytest.mark.slow
def test_dump_of_a_whole_recording_names_every_register(tmp_path: Path) -> None:
    """RADV's preamble sets registers of all kinds: none is without a name."""
    found = recorded(tmp_path / "c", "one_dispatch", CHAIN)
    for submission in found.submissions():
        for ib in submission.ibs:
            for packet in submission.packets(ib):
                assert not packet.name.startswith("0x"), packet
                assert not [r for r in packet.registers if r.name.startswith("0x")]


def test_an_empty_capture(tmp_path: Path) -> None:
    file = tmp_path / "c"
    file.write_bytes(file_of(end(0, 0)))
    done = guestgpu("stream", "dump", file, "--json")
    assert json.loads(done.stdout)["figures"] == {"submissions": 0, "packets": 0, "dispatches": 0, "draws": 0}
    assert struct.calcsize("<QQ") == 16

# SPDX-License-Identifier: MIT
"""`guestgpu alloc`: output, figures, exit codes, and one line for bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from guestgpu import cli

TIGHT = {"kind": "buffer", "width": 1000, "usage": ["tight"]}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["alloc", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def written(folder: Path, content: Any) -> str:
    file = folder / "list.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(file)


def test_rules_of_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    large = {"kind": "texture", "width": 1024, "height": 512, "block_bytes": 4}
    file = written(tmp_path, [TIGHT | {"uses": ["raw_view"]}, large, TIGHT | {"alignment": 4}])
    code, out, err = run(capsys, "rules", file, "--profile", "tight-8", "--json")
    assert code == 0
    figures = json.loads(out)["figures"]
    assert [figures[f"{i}.{name}"] for i in range(3) for name in ("size", "alignment", "offset")] == [
        1000, 16, 0, 2097152, 65536, 65536, 1000, 8, 2162688,
    ]  # fmt: skip
    assert (figures["size"], figures["alignment"], figures["refused"]) == (2228224, 65536, 0)
    assert "resource 2: info: the requested alignment was raised" in err
    code, out, _ = run(capsys, "rules", file, "--profile", "tight-8")
    assert code == 0
    assert "all: size 2228224, alignment 65536; largest alignment first: 2162688, saves 65536" in out


def test_modes_and_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, [TIGHT | {"uses": ["constant"]}])
    for options, alignment in (((), 256), (("--mode", "native-619"), 8)):
        _, out, _ = run(capsys, "rules", file, "--profile", "tight-8", "--json", *options)
        assert json.loads(out)["figures"]["0.alignment"] == alignment
    code, _, err = run(capsys, "rules", file, "--sdk", "1.618")
    assert code == 1
    assert err == "failed: resource 0: error: before 1.619.4 tight alignment takes no requested alignment\n"
    code, _, err = run(capsys, "rules", file, "--profile", "none")
    assert (code, err) == (1, "failed: resource 0: error: tight alignment on a device without it\n")


def test_an_empty_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "rules", written(tmp_path, []))
    assert (code, out) == (0, "all: size 0, alignment 1; largest alignment first: 0, saves 0\n")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("{}", "a list of resources was expected, not dict"),
        ([TIGHT, 3], "resource 1: an object was expected, not int"),
        ([{"width": 1}], "resource 0: no kind"),
        ([{"kind": "buffer"}], "resource 0: no width"),
        ([TIGHT | {"kind": "heap"}], "resource 0: kind: 'heap' is none of buffer, texture, msaa"),
        ([TIGHT | {"usage": "tight"}], "resource 0: usage: a list of names was expected"),
        ([TIGHT | {"usage": ["loose"]}], "resource 0: usage: 'loose' is none of render_target"),
        ([TIGHT | {"width": -1}], "resource 0: width: -1 is no integer of 0 to 2^64 - 1"),
        ([TIGHT | {"height": 1 << 32}], "resource 0: height: 4294967296 is no integer of 0 to 2^32 - 1"),
        ([TIGHT | {"width": True}], "resource 0: width: True is no integer"),
        ([TIGHT | {"volume": 1}], "resource 0: volume: true or false was expected"),
        ([TIGHT | {"colour": 1}], "resource 0: no member 'colour'"),
        ([{"kind": "texture", "width": 1, "uses": ["clas"]}], "resource 0: uses: only buffers have them"),
    ],
)
def test_bad_files_get_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Any, text: str) -> None:
    code, _, err = run(capsys, "rules", written(tmp_path, content))
    assert code == 2
    assert len(err.splitlines()) == 1
    assert text in err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "rules", str(tmp_path / "none.json"))
    assert code == 2
    assert "none.json" in err


def test_conform(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "conform", "--profile", "large-pages", "--json")
    assert code == 0
    assert json.loads(out)["figures"]["violations"] == 0
    code, _, err = run(capsys, "conform", "--profile", "vulkan")
    assert code == 1
    assert "failed: buffer alignment: placed buffer 1, usage 0x400, requested 0:" in err
    assert "more" in err.splitlines()[-1]
    assert run(capsys, "conform", "--profile", "best")[0] == 2

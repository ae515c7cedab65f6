# SPDX-License-Identifier: MIT
"""Documentation: links lead somewhere, commands are taken, examples run, pages build without a warning."""

from __future__ import annotations

import contextlib
import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from guestgpu.cli import cli
from test_notebooks import agree_rows, made_rows, write_rows

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in FENCE.findall(page.read_text()) if found == language]


def commands() -> list[str]:
    """Every `guestgpu ...` of the pages: lines of shell blocks, and inline code."""
    found = []
    for page in PAGES:
        lines = [line.removeprefix("$ ") for block in blocks(page, "sh") for line in block.splitlines()]
        found += [line for line in lines if line.startswith("guestgpu ")]
        found += re.findall(r"`(guestgpu [^`]+)`", FENCE.sub("", page.read_text()))
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text()))
    files = [target.partition("#")[0] for target in targets if not re.match(r"[a-z]+:", target)]
    assert [file for file in files if file and not (page.parent / file).exists()] == []


def test_the_pages_show_commands() -> None:
    assert "guestgpu run layout_compare --quick" in commands()


@pytest.mark.parametrize("text", commands())
def test_commands_are_taken(text: str) -> None:
    words = shlex.split(text, comments=True)[1:]
    end = next((i for i, word in enumerate(words) if word in ("|", ">", "&&", ";")), len(words))
    command, words = cli, words[:end]
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"no command {words[0]!r}"
        command, words = found, words[1:]
    with contextlib.suppress(click.exceptions.Exit):  # --help and --version end where they stand
        assert command.make_context("guestgpu", words).command is command


def test_python_examples_run() -> None:
    examples = blocks(ROOT / "docs" / "python.md", "python")
    assert examples
    for example in examples:
        exec(compile(example, "docs/python.md", "exec"), {})


def test_the_results_page_takes_any_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    module = importlib.import_module("reference_results")
    assert "No reference rows are committed yet" in module.layout_compare(tmp_path)

    write_rows(tmp_path, made_rows(6, "first", native=True), made_rows(1, "second", native=False))
    text = module.layout_compare(tmp_path)
    assert text.count(":::{table} first: ") == text.count(":::{table} second: ") == 2
    assert text.count("| native | – | 6.000 | 6.000 |") == 2
    ratios = [f"{ratio} [{ratio}, {ratio}]" for ratio in ("0.125", "1.000", "0.417", "0.833")]
    cells = ["indexed", "1.000", "4.000", "5.000", *ratios[:3], "FASTER", ratios[3], "100%"]
    assert text.count(f"| {' | '.join(cells)} |") == 2


def test_the_results_page_takes_any_rows_of_the_translator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    module = importlib.import_module("reference_results")
    assert "No reference rows are committed yet" in module.translator_agree(tmp_path)
    write_rows(tmp_path, agree_rows("first"), agree_rows("second"))
    text = module.translator_agree(tmp_path)
    assert text.count(":::{table} first: 3 programs") == text.count(":::{table} second: 3 programs") == 1
    for line in (
        "(interpreter) | 2 | 3 | 3 | 0 | 0 | 0",
        "1 lanes | 1 | 1 | 0 | 1 | 0 | 0",
        "32 lanes | 1 | 1 | 1 | 0",
    ):
        assert text.count(f"| {line}") == 2, text
    assert text.count("- bad.cl: mismatch: why\n- lost.comp: crash: why") == 2


@pytest.mark.slow
def test_pages_build_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", tmp_path / "trees",
         ROOT / "docs", tmp_path / "html"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert {page.stem for page in PAGES} - {"README"} <= {page.stem for page in (tmp_path / "html").glob("*.html")}

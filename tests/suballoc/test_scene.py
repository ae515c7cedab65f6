# SPDX-License-Identifier: MIT
"""A real scene's 8,931 buffers: what they take by each set of rules, and in a pool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guestgpu import scene_list
from guestgpu.errors import FormatError
from guestgpu.experiment import load_experiment
from guestgpu.pool import Pool
from guestgpu.suballoc import Options, Placement, Profile, Resource, Usage, allocation_info


def mebibytes(placement: int, usage: int, profile: str = "tight-8") -> float:
    """Of all buffers, each rounded up to its own alignment, which nothing else shares."""
    resources = [
        Resource(0, size, usage=usage, placement=placement, alignment=floor if usage else 0)
        for size, floor in scene_list.default()
    ]
    infos = allocation_info(resources, Options(Profile.named(profile))).infos
    return sum(-(-int(info["size"]) // int(info["alignment"])) * int(info["alignment"]) for info in infos) / (1 << 20)


def test_what_the_scene_takes() -> None:
    assert len(scene_list.default()) == 8931
    classic = mebibytes(Placement.PLACED, 0)
    committed, tight = (mebibytes(placement, Usage.TIGHT) for placement in (Placement.COMMITTED, Placement.PLACED))
    assert (round(classic, 1), round(committed, 1), round(tight, 1)) == (560.2, 75.6, 53.5)
    assert round(classic / tight, 2) == 10.47


def test_the_scene_in_a_pool() -> None:
    """Loaded, all of it checked, unloaded."""
    with Pool() as pool:
        places = [pool.allocate(size, floor) for size, floor in scene_list.default()]
        pool.check()
        assert all(place.offset % floor == 0 for place, (_, floor) in zip(places, scene_list.default(), strict=True))
        for place in places:
            pool.free(place.handle)
        pool.check()


def test_bad_lists(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    for text, message in (
        ("", "kind,bytes"),
        ("vb,1", "kind,bytes"),
        ("# a list\n\nkind,bytes\nvb,100\nuav,5\n", "list.csv:5: 'uav'"),
        ("kind,bytes\nvb,-4\n", "list.csv:2: '-4'"),
        ("kind,bytes\nvb,0\n", "'0' is no number"),
        ("kind,bytes\nvb\n", "'' is no number"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=message):
            scene_list.read(path)


def test_the_experiment(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text('[{"kind": "buffer", "width": 100, "uses": ["constant"]}, {"kind": "buffer", "width": 70000}]')
    command = load_experiment("suballoc_memory").command
    done = CliRunner().invoke(command, ["--list", str(own), "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)["figures"]
    names = ("classic_mib", "committed_mib", "tight_mib", "ratio")
    assert [round(figures[f"scene.{name}"], 2) for name in names] == [560.19, 75.57, 53.5, 10.47]
    assert figures["scene.utilisation"] > 0.95
    assert figures[f"{own}.classic_mib"] == 3 / 16
    assert figures[f"{own}.tight_mib"] == (256 + 70000) / (1 << 20)
    own.write_text('[{"kind": "texture", "width": 0}]')
    done = CliRunner().invoke(command, ["--list", str(own), "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "resource 0: error" in done.output
    own.write_text("kind,bytes")
    with pytest.raises(FormatError, match="no JSON"):
        CliRunner().invoke(command, ["--list", str(own), "--out", str(tmp_path)], catch_exceptions=False)

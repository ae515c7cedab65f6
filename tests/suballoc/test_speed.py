# SPDX-License-Identifier: MIT
"""Traces, allocators and peers (guestgpu.suballoc_speed), and the experiment suballoc_speed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guestgpu import suballoc_speed
from guestgpu.errors import ArgumentError, FormatError, LimitExceeded, Unsupported
from guestgpu.experiment import load_experiment
from guestgpu.suballoc_speed import Trace, Workload

ROOT = Path(__file__).resolve().parents[2]
ROUND_TRACES = [Trace.STEADY, Trace.TINY, Trace.TINY_FLOORS, Trace.MIXED]

# A bump allocator with whatever faults its flags give it; it frees nothing.
PEER = r"""
#include <guestgpu/suballoc_speed.h>
#include <stdlib.h>
struct bump { uint64_t capacity, used; };
static void *create(uint64_t capacity, uint64_t live) {
    struct bump *b = calloc(1, sizeof *b);
    (void)live;
    b->capacity = capacity;
    return b;
}
static int32_t allocate(void *s, uint64_t size, uint64_t alignment, uint32_t kind, uint64_t *handle, uint64_t *offset) {
    struct bump *b = s;
    (void)kind;
    uint64_t mask = MISALIGN ? 0 : alignment - 1, at = (b->used + mask) & ~mask;
    if (size > b->capacity - at) return 1;
    b->used = at + size - OVERLAP;
    *handle = *offset = at;
    return 0;
}
static void release(void *s, uint64_t handle) { (void)s; (void)handle; }
static void clear(void *s) { ((struct bump *)s)->used = 0; }
static const struct gg_allocator peer = {.version = VERSION, .name = "bump", .create = create, .destroy = free,
                                         .allocate = allocate, .free = release, .clear = clear};
__attribute__((visibility("default"))) const struct gg_allocator *gg_peer(uint32_t i) { return i ? NULL : &peer; }
"""


def build(folder: Path, **flags: int) -> Path:
    """The library of a peer with these faults."""
    source, library = folder / "peer.c", folder / f"peer{len(list(folder.iterdir()))}.so"
    source.write_text(PEER)
    defines = [f"-D{name}={value}" for name, value in {"MISALIGN": 0, "OVERLAP": 0, "VERSION": 1, **flags}.items()]
    subprocess.run(
        ["gcc", "-std=c17", "-shared", "-fPIC", f"-I{ROOT / 'include'}", *defines, source, "-o", library], check=True
    )
    return library


@pytest.mark.parametrize("kind", ROUND_TRACES)
def test_rounds_of_the_pool(kind: int) -> None:
    work = Workload(kind, live=500, seed=3)
    for name in ("pool", "pool-locked"):
        pool = work.allocator(suballoc_speed.own()[name])
        work.prove(pool)
        first, again = work.run(pool), work.run(pool)
        assert first["highest_end"] == again["highest_end"]
        assert 0 < first["utilisation"] <= 1
        assert first["ns"] > 0
        assert first["operations"] == (1000 if kind in (Trace.TINY, Trace.TINY_FLOORS) else 5000)
        worst = work.run_worst(pool)
        assert worst["median_ns"] <= worst["p999_ns"] <= worst["worst_ns"]
        pool.close()
    assert work.run(None)["utilisation"] == 0


def test_utilisation_of_tiny_resources() -> None:
    for kind, least in ((Trace.TINY, 0.96), (Trace.TINY_FLOORS, 0.90)):
        work = Workload(kind)
        assert work.run(work.allocator(suballoc_speed.own()["pool"]))["utilisation"] >= least


def test_utilisation_of_a_steady_state() -> None:
    work = Workload(Trace.STEADY)
    assert work.run(work.allocator(suballoc_speed.own()["pool"]))["utilisation"] >= 0.94


def test_holes_cost_the_pool_no_search() -> None:
    work = Workload(Trace.HOLES, live=20000)
    worst = work.run_worst(work.allocator(suballoc_speed.own()["pool"]))
    assert worst["operations"] == 1000
    assert worst["median_ns"] < 5000  # VMA searches 20000 holes for 200 us
    with pytest.raises(Unsupported, match="no rounds"):
        work.run(work.allocator(suballoc_speed.own()["pool"]))


def test_slices_and_what_they_use() -> None:
    work = Workload(Trace.SLICES, live=20000)
    slices = work.allocator(suballoc_speed.own()["slices"])
    work.prove(slices)
    first, again = work.run(slices), work.run(slices)
    assert first["operations"] == 20000
    assert first["utilisation"] == again["utilisation"] > 0.97
    with pytest.raises(Unsupported, match="pool cannot free all at once"):
        work.run(work.allocator(suballoc_speed.own()["pool"]))


def test_a_scene_takes_the_callers_sizes() -> None:
    work = Workload(Trace.SCENE, sizes=[100, 5000, 70000], alignments=[16, 16, 256])
    assert work.run(work.allocator(suballoc_speed.own()["malloc"]))["operations"] == 6
    for arguments, message in (
        ({}, "sizes and alignments"),
        ({"sizes": [1, 2], "alignments": [1]}, "length"),
        ({"sizes": [0], "alignments": [1]}, "resource 0: size 0"),
        ({"sizes": [1, 1], "alignments": [1, 24]}, "resource 1.*alignment 24"),
    ):
        with pytest.raises(ArgumentError, match=message):
            Workload(Trace.SCENE, **arguments)  # type: ignore[arg-type]
    for kind, live in ((99, 0), (Trace.TINY, 1 << 40), (-1, 0)):
        with pytest.raises(ArgumentError):
            Workload(kind, live=live)


def run_often(work: Workload, allocator: suballoc_speed.Allocator) -> None:
    for _ in range(10_000):
        work.run(allocator)


def test_a_peer(tmp_path: Path) -> None:
    library = build(tmp_path)
    peers = suballoc_speed.peers([library])
    assert list(peers) == ["bump"]
    work = Workload(Trace.TINY, live=100)
    bump = work.allocator(peers["bump"])
    work.prove(bump)
    assert work.run(bump)["operations"] == 200
    with pytest.raises(LimitExceeded, match="bump has no room"):
        run_often(work, bump)


@pytest.mark.parametrize(("flags", "message"), [({"MISALIGN": 1}, "no multiple of"), ({"OVERLAP": 8}, "overlap")])
def test_a_wrong_peer_is_caught(tmp_path: Path, flags: dict[str, int], message: str) -> None:
    work = Workload(Trace.SLICES, live=100)
    with pytest.raises(FormatError, match=f"bump: .*{message}"):
        work.prove(work.allocator(suballoc_speed.peers([build(tmp_path, **flags)])["bump"]))


def test_what_is_no_peer(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(FormatError, match=r"text\.so: no library of peers"):
        suballoc_speed.peers([text])
    with pytest.raises(FormatError, match="version 2, not 1"):
        suballoc_speed.peers([build(tmp_path, VERSION=2)])


def test_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a peer of the environment; on the traces that take least time."""
    monkeypatch.setenv(suballoc_speed.PEERS, str(build(tmp_path)))
    experiment: Any = load_experiment("suballoc_speed")
    arguments = ["--quick", "--blocks", "1", "--trace", "scene", "--trace", "slices", "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(experiment.command, arguments)
    assert done.exit_code == 1, done.output  # bump frees nothing: no room for a scene again and again
    figures = json.loads(done.stdout)["figures"]
    assert figures["slices.slices.utilisation"] > 0.97
    assert figures["slices.slices.ns"] > 0
    assert "bump has no room" in done.output

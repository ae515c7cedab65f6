# SPDX-License-Identifier: MIT
"""The minimiser finds the small batch that is in the large one; reproducers come back exactly or are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guestgpu.meshes import BAD_KINDS, Batch, Meshlet, random_meshlets
from guestgpu.minimise import MinimiseError, load_reproducer, minimise, save_reproducer
from guestgpu.strategies import batches


def large(**changes: Any) -> Batch:
    arguments = {
        "count": 24,
        "max_vertices": 32,
        "max_primitives": 40,
        "vertex_words": 3,
        "primitive_words": 1,
    } | changes
    return random_meshlets(np.random.default_rng(2), **arguments)


def past(batch: Batch) -> bool:
    """A fault that index bytes past the vertices cause."""
    return any(bool((m.indices >= len(m.vertices)).any()) for m in batch.meshlets if len(m.vertices) < 256)


def test_one_bad_byte_is_found() -> None:
    batch = large(bad=["indices"])
    found = minimise(batch, past)
    assert found.complete
    (m,) = found.batch.meshlets
    assert m.indices.shape == (1, 3)
    assert m.primitive_count == 1
    assert m.vertex_count == len(m.vertices) == len({int(v) for v in m.indices[0] if v < len(m.vertices)})
    # The bad byte is one that was there.
    kept = int(m.indices.max())
    assert any((old.indices.astype(int) >= len(old.vertices)).any() and kept in old.indices for old in batch.meshlets)


def test_vertices_move_together_with_their_indices() -> None:
    batch = large()
    wanted = batch.meshlets[7].vertices[int(batch.meshlets[7].indices[5, 1])].copy()

    def fails(candidate: Batch) -> bool:
        return any(
            bool((m.vertices[m.indices[:, 1]] == wanted).all(axis=1).any())
            for m in candidate.meshlets
            if len(m.indices)
        )

    found = minimise(batch, fails)
    (m,) = found.batch.meshlets
    assert len(m.indices) == len(m.primitives) == 1
    assert m.vertices[m.indices[0, 1]].tolist() == wanted.tolist()
    assert int(m.indices.max()) < len(m.vertices) <= 3
    # The primitive's own words are still the ones of that primitive.
    rows = [i for i, p in enumerate(batch.meshlets[7].primitives) if (p == m.primitives[0]).all()]
    old = batch.meshlets[7]
    assert any((old.vertices[old.indices[i]] == m.vertices[m.indices[0]]).all() for i in rows)


def test_two_meshlets_that_fail_only_together() -> None:
    batch = large()
    first, second = batch.meshlets[3].vertices[0, 0], batch.meshlets[20].vertices[0, 0]

    def fails(candidate: Batch) -> bool:
        words = {int(m.vertices[0, 0]) for m in candidate.meshlets if len(m.vertices)}
        return {int(first), int(second)} <= words

    found = minimise(batch, fails)
    assert found.complete
    assert [(len(m.vertices), len(m.indices)) for m in found.batch.meshlets] == [(1, 0), (1, 0)]


def test_a_count_above_the_most_stays_where_the_failure_needs_it() -> None:
    batch = large(bad=["counts"])

    def fails(candidate: Batch) -> bool:
        return any(m.primitive_count > 40 for m in candidate.meshlets)

    (m,) = minimise(batch, fails).batch.meshlets
    assert m.primitive_count > 40
    assert len(m.indices) == 40  # of what is reported, the most must be there
    assert m.vertex_count == len(m.vertices)


def test_a_count_above_the_most_goes_where_it_does_not_matter() -> None:
    (m,) = minimise(large(bad=["counts"]), lambda batch: bool(batch.meshlets)).batch.meshlets
    assert (m.vertex_count, m.primitive_count) == (0, 0)


def test_every_candidate_honours_the_contract() -> None:
    seen = 0

    def fails(candidate: Batch) -> bool:
        nonlocal seen
        seen += 1
        for m in candidate.meshlets:
            assert len(m.vertices) == min(m.vertex_count, 32)
            assert len(m.indices) == len(m.primitives) == min(m.primitive_count, 40)
        return sum(len(m.indices) for m in candidate.meshlets) >= 30

    found = minimise(large(bad=BAD_KINDS), fails)
    assert found.tries == seen
    assert sum(len(m.indices) for m in found.batch.meshlets) == 30


@given(batches(max_meshlets=3, max_vertices=4, max_primitives=4, vertex_words=1), st.integers(0, 255))
def test_the_result_fails_and_nothing_more_can_go(batch: Batch, byte: int) -> None:
    def fails(candidate: Batch) -> bool:
        return any(byte in m.indices for m in candidate.meshlets)

    if not fails(batch):
        with pytest.raises(MinimiseError, match="does not fail"):
            minimise(batch, fails)
        return
    found = minimise(batch, fails)
    assert fails(found.batch)
    assert len(found.batch.meshlets) == 1
    assert minimise(found.batch, fails).batch == found.batch


def test_the_same_input_gives_the_same_result() -> None:
    results = [minimise(large(bad=BAD_KINDS), past) for _ in range(2)]
    assert results[0] == results[1]


def test_a_spent_budget_gives_the_best_so_far() -> None:
    calls = 0

    def fails(candidate: Batch) -> bool:
        nonlocal calls
        calls += 1
        return past(candidate)

    found = minimise(large(bad=["indices"]), fails, budget=10)
    assert not found.complete
    assert calls == found.tries == 10
    assert past(found.batch)
    assert len(found.batch.meshlets) < 24


def test_256_vertices() -> None:
    vertices = np.arange(256, dtype=np.uint32)[:, None]
    indices = np.stack([np.arange(0, 250), np.arange(1, 251), np.arange(6, 256)], axis=1).astype(np.uint8)
    batch = Batch((Meshlet(vertices, indices, np.zeros((250, 0), np.uint32), 256, 250),), 3, 1, 0)

    def fails(candidate: Batch) -> bool:
        return any(bool((m.vertices[m.indices] == 255).any()) for m in candidate.meshlets)

    (m,) = minimise(batch, fails).batch.meshlets
    assert m.vertices[m.indices].reshape(-1).tolist() == [249, 250, 255]
    assert len(m.vertices) == 3


# ---- reproducers ----


def test_reproducers_come_back_exactly(tmp_path: Path) -> None:
    content = {
        "layout": "indexed",
        "seed": 3,
        "share": 0.5,
        "nothing": None,
        "yes": True,
        "batch": large(bad=BAD_KINDS),
        "empty": Batch((), 2, 4, 0),
        "arrays": [np.arange(6, dtype=np.uint32).reshape(2, 3), np.zeros((0, 4), np.uint8), np.array([[0.1]])],
        "number": np.uint32(7),
    }
    path = tmp_path / "new" / "repro.json"
    save_reproducer(path, content)
    found = load_reproducer(path)
    assert found["batch"] == content["batch"]
    assert found["empty"] == content["empty"]
    for array, wanted in zip(found.pop("arrays"), content.pop("arrays"), strict=True):  # type: ignore[call-overload]
        assert array.dtype == wanted.dtype
        assert np.array_equal(array, wanted)
        array[...] = 0  # what was loaded can be changed
    assert found == content
    assert [entry.name for entry in path.parent.iterdir()] == ["repro.json"]


def test_bytes_do_not_depend_on_this_machine(tmp_path: Path) -> None:
    save_reproducer(tmp_path / "r.json", {"a": np.array([1, 256], ">u4")})
    stored = json.loads((tmp_path / "r.json").read_text())
    assert stored["content"]["a"]["$array"] == {"dtype": "u4", "shape": [2], "base64": "AQAAAAABAAA="}
    assert load_reproducer(tmp_path / "r.json")["a"].tolist() == [1, 256]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"a": object()}, "cannot be stored"),
        ({"a": float("nan")}, "cannot be stored"),
        ({"a": np.array(["text"])}, "cannot be stored: an array of <U4"),
        ({"$array": 1}, "cannot be stored: the key '$array'"),
        ({1: 2}, "cannot be stored: the key 1"),
    ],
)
def test_what_cannot_be_stored(tmp_path: Path, content: dict[str, Any], text: str) -> None:
    with pytest.raises(MinimiseError, match=rf"r\.json: {re.escape(text)}"):
        save_reproducer(tmp_path / "r.json", content)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written() -> None:
    with pytest.raises(MinimiseError, match=r"/proc/nothing/r\.json: "):
        save_reproducer("/proc/nothing/r.json", {})


def test_a_broken_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.json"
    save_reproducer(path, {"a": 1})

    def full(self: Path, *_: Any, **__: Any) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(MinimiseError, match=r"r\.json: No space left on device"):
        save_reproducer(path, {"a": 2})
    assert load_reproducer(path) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.json"]


ARRAY = {"dtype": "u4", "shape": [1], "base64": "AQAAAA=="}
BATCH = {"corners": 3, "vertex_words": 1, "primitive_words": 0, "meshlets": []}
U32 = {"$array": {"dtype": "u4", "shape": [0, 1], "base64": ""}}
U8 = {"$array": {"dtype": "u1", "shape": [0, 3], "base64": ""}}
NONE = {"$array": {"dtype": "u4", "shape": [0, 0], "base64": ""}}
MESHLET = {"vertices": U32, "indices": U8, "primitives": NONE, "vertex_count": 0, "primitive_count": 0}


def stored(value: Any) -> str:
    return json.dumps({"schema": "guestgpu-reproducer-1", "content": {"x": value}})


def test_the_parts_of_the_bad_ones_are_good(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(stored([{"$array": ARRAY}, {"$batch": BATCH | {"meshlets": [MESHLET]}}]))
    array, batch = load_reproducer(path)["x"]
    assert array.tolist() == [1]
    none = np.zeros((0, 0), np.uint32)
    assert batch.meshlets == (Meshlet(np.zeros((0, 1), np.uint32), np.zeros((0, 3), np.uint8), none, 0, 0),)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no schema"),
        ("{}", "no schema"),
        ('{"schema": "guestgpu-reproducer-2"}', "schema 'guestgpu-reproducer-2' is not known here"),
        ('{"schema": "guestgpu-reproducer-1"}', "no content"),
        ('{"schema": "guestgpu-reproducer-1", "content": 1}', "no content"),
        (stored({"$array": 1}), "an array needs"),
        (stored({"$array": ARRAY | {"dtype": "O"}}), "an array needs"),
        (stored({"$array": ARRAY | {"shape": [-1]}}), "an array of shape [-1]"),
        (stored({"$array": ARRAY | {"shape": [2]}}), "an array of 4 bytes for shape [2] of u4"),
        (stored({"$array": ARRAY | {"shape": [10**30]}}), "an array of 4 bytes"),
        (stored({"$array": ARRAY | {"base64": "A"}}), "base64 is broken"),
        (stored({"$array": ARRAY | {"base64": "ä"}}), "base64 is broken"),
        (stored({"$batch": BATCH | {"corners": 4}}), "a batch needs"),
        (stored({"$batch": BATCH | {"meshlets": [1]}}), "a meshlet needs"),
        (stored({"$batch": BATCH | {"meshlets": [MESHLET | {"indices": U32}]}}), "a meshlet needs"),
        (stored({"$batch": BATCH | {"corners": 2, "meshlets": [MESHLET]}}), "meshlet 0: arrays of shape"),
        (stored({"$batch": BATCH | {"meshlets": [MESHLET | {"vertex_count": -1}]}}), "meshlet 0: stores more"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, error: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(MinimiseError, match=rf"r\.json: .*{re.escape(error)}"):
        load_reproducer(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MinimiseError, match=r"none\.json: No such file"):
        load_reproducer(tmp_path / "none.json")

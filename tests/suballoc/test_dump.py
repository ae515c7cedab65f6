# SPDX-License-Identifier: MIT
"""Dumps of pools, pictures of them, and users' traces."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from guestgpu import pool_dump, pool_map, pool_replay
from guestgpu.cli import cli
from guestgpu.errors import FormatError, GuestGpuError
from guestgpu.pool import Kind, Pool
from guestgpu.pool_dump import FREE, PADDING, Block, Dump, Label, Range

MIB = 1 << 20


def sample() -> Dump:
    """Of a pool with a resource of each kind, and some freed."""
    with Pool(block_size=8 * MIB) as pool:
        labels, gone = {}, []
        for i in range(40):
            kind = i % 4
            size, alignment = (5 * MIB, 1 << 20) if i == 3 else (100 + 700 * i, 64)
            place = pool.allocate(size, alignment, kind)
            labels[place.block, place.offset] = Label(size, kind, f"r{i}")
            if i % 5 == 4:
                gone.append(place)
        for place in gone:
            pool.free(place)
        return pool_dump.take(pool, labels)


def test_a_dump_has_every_byte_once() -> None:
    dump = sample()
    for block in dump.blocks:
        at = 0
        for range_ in block.ranges:
            assert range_.offset == at
            at += range_.size
        assert at == block.size
    stats = dump.stats()
    assert stats["live"] == 32
    assert stats["capacity"] == sum(block.size for block in dump.blocks)
    assert stats["buffer"] == sum(100 + 700 * i for i in range(0, 40, 4) if i % 5 != 4)
    assert stats["msaa image"] >= 5 * MIB
    assert stats[PADDING] > 0
    assert 0 < stats["fragmentation"] < 1


def test_a_dump_read_again_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    pool_dump.save(sample(), path)
    assert pool_dump.load(path) == sample()
    total = json.loads(path.read_text())["Total"]
    assert total["AllocationCount"] == 32
    assert total["BlockBytes"] == sample().stats()["capacity"]


def test_what_nobody_labelled_is_unknown() -> None:
    with Pool() as pool:
        pool.allocate(1000, 256)
        dump = pool_dump.take(pool, {})
    assert (dump.blocks[0].ranges[0].kind, dump.blocks[0].ranges[0].size) == ("unknown", 1008)


def test_a_dump_of_an_application() -> None:
    """As Vulkan Memory Allocator writes it: ranges in any order, custom pools, dedicated allocations."""
    dump = pool_dump.from_json(
        {
            "General": {"API": "Vulkan", "GPU": "a GPU"},
            "DefaultPools": {
                "Type 0": {
                    "Blocks": {
                        "7": {
                            "TotalBytes": 1000,
                            "Suballocations": [
                                {"Offset": 600, "Type": "IMAGE_OPTIMAL", "Size": 100, "Usage": 7},
                                {"Offset": 0, "Type": "BUFFER", "Size": 512, "Name": "b", "CustomData": "0000A1"},
                            ],
                        }
                    },
                    "DedicatedAllocations": [{"Type": "IMAGE_UNKNOWN", "Size": 300}],
                }
            },
            "CustomPools": {"Type 1": [{"Name": "own", "Blocks": {"0": {"TotalBytes": 64, "Suballocations": []}}}]},
        },
        "x",
    )
    assert dump.source == "a GPU"
    assert [block.name for block in dump.blocks] == ["Type 0: 7", "Type 0: dedicated 0", "Type 1 own: 0"]
    assert dump.blocks[0].ranges == [
        Range(0, 512, "buffer", "b"),
        Range(512, 88, FREE),
        Range(600, 100, "optimal image"),
        Range(700, 300, FREE),
    ]
    assert dump.blocks[1].ranges == [Range(0, 300, "unknown")]
    assert dump.blocks[2].ranges == [Range(0, 64, FREE)]


def test_bad_dumps(tmp_path: Path) -> None:
    def block(*rows: Any, size: Any = 100) -> Any:
        return {"DefaultPools": {"pool": {"Blocks": {"0": {"TotalBytes": size, "Suballocations": list(rows)}}}}}

    def row(offset: Any, size: Any) -> Any:
        return {"Offset": offset, "Size": size, "Type": "BUFFER"}

    for content, message in (
        ([], "an object was expected, not list"),
        ({}, "neither DefaultPools nor CustomPools"),
        (block(size=0), "block 0: TotalBytes: 0 is no integer"),
        (block(size=True), "TotalBytes: True"),
        (block(size=1 << 60), "TotalBytes"),
        (block(row(0, 101)), r"range 0: \[0, \+101\) reaches beyond the block's 100 bytes"),
        (block(row(-1, 5)), "range 0: Offset: -1"),
        (block(row(1, 0)), "range 0: Size: 0"),
        (block(row(1, 1.5)), "range 0: Size: 1.5"),
        (block(row(10, 10), row(0, 11)), "block 0: ranges at 0 and 10 overlap"),
        (block("text"), "range 0: an object was expected, not str"),
        (block(row(0, 5) | {"Type": []}), "range 0: Type: a text was expected"),
        ({"DefaultPools": {"pool": {"Blocks": {"0": {"TotalBytes": 5}}}}}, "no Suballocations"),
    ):
        with pytest.raises(FormatError, match=message):
            pool_dump.from_json(content, "x")
    path = tmp_path / "x.json"
    for data in (b"\xff", b"{", b"[" * 100_000, b"1" * 10_000):
        path.write_bytes(data)
        with pytest.raises(FormatError):
            pool_dump.load(path)


def mutated(value: Any, rng: random.Random) -> Any:
    """A JSON value with one place changed, by chance."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        changed = dict(value)
        if rng.random() < 0.1:
            del changed[key]
        else:
            changed[key] = mutated(value[key], rng)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        return [*value[:at], mutated(value[at], rng), *value[at + 1 :]]
    return rng.choice([None, -1, 0, 1, 2**63, 1.5, "", "FREE", [], {}, True, value, [value], copy.deepcopy(value)])


def test_a_changed_dump_is_read_or_refused(tmp_path: Path) -> None:
    rng, whole, path = random.Random(5), pool_dump.to_json(sample()), tmp_path / "x.json"
    refused = 0
    for _ in range(3000):
        try:
            dump = pool_dump.from_json(mutated(whole, rng), "x")
        except FormatError:
            refused += 1
            continue
        if rng.random() < 0.05:
            for block in dump.blocks:
                pool_map.shares(block, pool_map.scale_of(dump))
    text = json.dumps(whole).encode()
    for _ in range(1000):
        at = rng.randrange(len(text))
        path.write_bytes(text[:at] + bytes([rng.randrange(256)]) + text[at + rng.randrange(3) :])
        try:
            pool_dump.load(path)
        except FormatError:
            refused += 1
    assert 500 < refused < 4000


def test_pixels_are_covered_by_their_bytes() -> None:
    block = Block("0", 3000, [Range(0, 150, "buffer"), Range(150, 850, FREE), Range(1000, 2000, "msaa image")])
    parts = pool_map.shares(block, pool_map.Scale(100))
    names = list(pool_dump.KINDS)
    assert parts[:3, names.index("buffer")] == pytest.approx([1, 0.5, 0])
    assert parts[:3, names.index(FREE)] == pytest.approx([0, 0.5, 1])
    assert parts[9:31, names.index("msaa image")] == pytest.approx([0] + [1] * 20 + [0])
    assert parts.sum() == pytest.approx(30)
    image = pool_map.raster(block, pool_map.Scale(100))
    assert image.shape == (1, pool_map.WIDTH, 3)
    assert tuple(image[0, 0]) == (0x3B, 0x6E, 0xA8)
    assert np.all(image[0, 30:] == 255)


def test_pictures(tmp_path: Path) -> None:
    dump = sample()
    dump.blocks[0].ranges[0] = Range(0, dump.blocks[0].ranges[0].size, "buffer", "</script><b>")
    source = tmp_path / "dump.json"
    pool_dump.save(dump, source)
    for name, begin in (("map.png", b"\x89PNG"), ("map.html", b"<!doctype html>")):
        done = CliRunner().invoke(cli, ["alloc", "draw", str(source), "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        assert "32 resources" in done.output
        assert (tmp_path / name).read_bytes().startswith(begin)
    page = (tmp_path / "map.html").read_text()
    assert "</script><b>" not in page
    assert '"r1"' in page
    assert "http" not in page
    with pytest.raises(GuestGpuError, match=r"\.png or \.html"):
        pool_map.draw(dump, tmp_path / "map.gif")
    with pytest.raises(GuestGpuError, match="without blocks"):
        pool_map.draw(Dump("x"), tmp_path / "map.png")


TRACE = """# a comment
op,id,size,alignment,kind,name
allocate,a,1000,256,buffer,constants
allocate,b,5000,4096,optimal,
allocate,c,70000,,msaa,
free,a,,,,
allocate,a,16,16,linear,
free,c,,,,
"""


def test_a_trace(tmp_path: Path) -> None:
    path, dump_file = tmp_path / "trace.csv", tmp_path / "dump.json"
    path.write_text(TRACE)
    done = CliRunner().invoke(cli, ["alloc", "replay", str(path), "--dump", str(dump_file), "--json"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)["figures"]
    assert (figures["operations"], figures["failures"]) == (6, 0)
    assert (figures["peak.requested"], figures["peak.live"]) == (76000, 3)
    assert (figures["end.requested"], figures["end.live"]) == (5016, 2)
    live = {r.name: (r.size, r.kind) for _, r in pool_dump.load(dump_file) if r.name not in ("", PADDING)}
    assert live == {"constants": (1000, "buffer"), "b": (5000, "optimal image"), "c": (70000, "msaa image")}
    same = tmp_path / "trace.json"
    rows = [{"op": (o.size and "allocate") or "free", "id": o.id} for o in pool_replay.read(path)]
    for row, operation in zip(rows, pool_replay.read(path), strict=True):
        if operation.size:
            kind = next(name for name, kind in pool_replay.KINDS.items() if kind == operation.kind)
            row |= {"size": operation.size, "alignment": operation.alignment, "kind": kind}
    same.write_text(json.dumps(rows))
    assert pool_replay.run(pool_replay.read(same)).end == pool_replay.run(pool_replay.read(path)).end


def test_what_finds_no_room_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("op,id,size,alignment\nallocate,a,1000,131072\nallocate,b,100,16\nfree,a,,\n")
    done = CliRunner().invoke(cli, ["alloc", "replay", str(path), "--block-size", "65536"])
    assert done.exit_code == 1
    assert "row 1: 1000 bytes at 131072" in done.output
    assert pool_replay.run(pool_replay.read(path), 65536).end["live"] == 1


def test_bad_traces(tmp_path: Path) -> None:
    head = "op,id,size,alignment,kind\n"
    for name, text, message in (
        ("t.csv", "", "no column id, op, size"),
        ("t.csv", "op,id\n", "no column size"),
        ("t.csv", head, "no operations"),
        ("t.csv", head + "free,a,,,\n", "row 1: 'a' is not live"),
        ("t.csv", head + "allocate,a,5,,\nallocate,a,5,,\n", "row 2: 'a' is live already"),
        ("t.csv", head + "allocate,a,5,,\nfree,a,,,\nfree,a,,,\n", "row 3: 'a' is not live"),
        ("t.csv", head + "allocate,a,0,,\n", "row 1: size: 0 is no integer"),
        ("t.csv", head + "allocate,a,-5,,\n", "size: '-5'"),
        ("t.csv", head + "allocate,a,99999999999999999999,,\n", "size"),
        ("t.csv", head + "allocate,a,5,24,\n", "alignment: 24 is no power of two"),
        ("t.csv", head + "allocate,a,5,,texture\n", "kind: 'texture' is none of buffer"),
        ("t.csv", head + "grow,a,5,,\n", "op: 'grow' is neither allocate nor free"),
        ("t.csv", head + "allocate,a,5,,,,\n", "more fields than columns"),
        ("t.csv", 'op,id,size\nallocate,"a\n', "t.csv"),
        ("t.json", "{}", "a list of operations"),
        ("t.json", "[1]", "entry 0: an object"),
        ("t.json", '[{"op": "allocate", "id": "a", "bytes": 5}]', "no member 'bytes'"),
        ("t.json", '[{"op": "allocate", "size": 5}]', "id: None is no name"),
        ("t.json", '[{"op": "allocate", "id": 1, "size": 5.0}]', "size: 5.0"),
        ("t.json", "[" * 100_000, "no JSON"),
    ):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(FormatError, match=message):
            pool_replay.read(path)


def test_a_trace_of_bytes_is_read_or_refused(tmp_path: Path) -> None:
    rng, path = random.Random(7), tmp_path / "trace.csv"
    text, refused = TRACE.encode(), 0
    for _ in range(1500):
        at = rng.randrange(len(text))
        path.write_bytes(text[:at] + bytes([rng.randrange(256)]) + text[at + rng.randrange(4) :])
        try:
            pool_replay.run(pool_replay.read(path))
        except FormatError:
            refused += 1
    assert 300 < refused < 1500


def test_kinds_are_those_of_the_pool() -> None:
    assert [pool_dump.KINDS[kind] for kind in (Kind.BUFFER, Kind.LINEAR_IMAGE, Kind.OPTIMAL_IMAGE, Kind.MSAA)] == [
        "buffer",
        "linear image",
        "optimal image",
        "msaa image",
    ]

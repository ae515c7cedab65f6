# SPDX-License-Identifier: MIT
"""Generated meshes are what they claim, files are read exactly or refused in one line, meshlets cover the mesh."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from guestgpu import meshes
from guestgpu.errors import NoGpuLibrary
from guestgpu.meshes import (
    BAD_KINDS,
    CORNERS,
    Batch,
    Mesh,
    MeshError,
    Meshlet,
    build_meshlets,
    icosphere,
    load,
    mesh_batch,
    random_meshlets,
    resolve,
    terrain,
    torus,
    vertex_normals,
)
from guestgpu.strategies import batches

ROOT = Path(__file__).resolve().parents[1]

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def edges_of(mesh: Mesh) -> NDArray[np.int64]:
    """Directed edges, triangle by triangle."""
    return mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)


def is_closed(mesh: Mesh) -> bool:
    """Every directed edge once, and its reverse once: closed, and wound one way."""
    directed = {(int(a), int(b)) for a, b in edges_of(mesh)}
    return len(directed) == len(edges_of(mesh)) and all((b, a) in directed for a, b in directed)


def volume(mesh: Mesh) -> float:
    p = mesh.positions.astype(np.float64)[mesh.triangles]
    return float(np.einsum("ij,ij->i", p[:, 0], np.cross(p[:, 1], p[:, 2])).sum() / 6)


# ---- generated ----


@pytest.mark.parametrize("subdivisions", [0, 1, 3, 5])
def test_icosphere(subdivisions: int) -> None:
    mesh = icosphere(subdivisions)
    assert len(mesh.triangles) == 20 * 4**subdivisions
    assert len(mesh.positions) == 10 * 4**subdivisions + 2
    assert np.allclose(np.linalg.norm(mesh.positions, axis=1), 1.0, atol=1e-6)
    assert is_closed(mesh)
    assert volume(mesh) > 0
    if subdivisions == 5:
        assert volume(mesh) == pytest.approx(4 / 3 * np.pi, rel=0.002)
        assert np.allclose(vertex_normals(mesh), mesh.positions, atol=0.01)


def test_torus() -> None:
    mesh = torus(64, 32)
    assert (len(mesh.positions), len(mesh.triangles)) == (64 * 32, 2 * 64 * 32)
    assert is_closed(mesh)
    assert volume(mesh) == pytest.approx(2 * np.pi**2 * 0.4**2, rel=0.02)


def test_terrain() -> None:
    mesh = terrain(16, seed=3)
    assert (len(mesh.positions), len(mesh.triangles)) == (17 * 17, 2 * 16 * 16)
    assert (vertex_normals(mesh)[:, 2] > 0).all()
    assert np.ptp(mesh.positions[:, 2]) > 0.1
    assert np.array_equal(mesh.positions, terrain(16, seed=3).positions)
    assert not np.array_equal(mesh.positions, terrain(16, seed=4).positions)


def test_normals_are_weighted_by_area_and_defined_everywhere() -> None:
    positions = [[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 1], [9, 9, 9]]
    mesh = Mesh("two", np.array(positions, np.float32), np.array([[0, 1, 2], [0, 2, 3], [1, 1, 2]], np.uint32))
    normals = vertex_normals(mesh)
    expected = np.array([4.0, 0.0, 16.0])  # twice the areas, along x and z
    assert np.allclose(normals[0], expected / np.linalg.norm(expected))
    assert normals[4].tolist() == [0, 0, 1]
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)


# ---- by name ----


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("icosphere", "icosphere:5"),
        ("icosphere:2", "icosphere:2"),
        ("torus:12x6", "torus:12x6"),
        ("terrain:8", "terrain:8:0"),
        ("terrain:8:9", "terrain:8:9"),
    ],
)
def test_generated_by_name(spec: str, name: str) -> None:
    assert resolve(spec).name == name


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("icosphere:", "is not icosphere:SUBDIVISIONS"),
        ("icosphere:x", "is not icosphere:SUBDIVISIONS"),
        ("icosphere:99", "icosphere: 99 is not in 0 to 8"),
        ("torus:5", "is not torus:AROUNDxACROSS"),
        ("torus:2x8", "torus: 2 is not in 3 to 4096"),
        ("terrain:0", "terrain: 0 is not in 1 to 2048"),
        ("teapot", "no mesh 'teapot'; known: icosphere:SUBDIVISIONS"),
        ("", "no mesh ''"),
        ("./nowhere.obj", "nowhere.obj: no such file"),
        ("folder/nowhere.xyz", "unknown kind of file '.xyz'"),
    ],
)
def test_names_that_are_none(spec: str, text: str) -> None:
    with pytest.raises(MeshError, match=re.escape(text)):
        resolve(spec)


def test_real_meshes_come_from_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUESTGPU_MESHES", str(tmp_path))
    with pytest.raises(MeshError, match=r"mesh 'bunny' is not in .*: run scripts/fetch-meshes\.sh"):
        resolve("bunny")
    (tmp_path / "bunny.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    assert resolve("bunny").name == "bunny"


@pytest.mark.parametrize("data", ["packed", "in a folder"])
def test_fetch_script(tmp_path: Path, data: str) -> None:
    """The script against a package of the same shape, made here; apt-get and dpkg are stand-ins."""
    package = tmp_path / "package" / "usr" / "share" / "doc" / "libcgal-dev"
    (package / "data" / "meshes").mkdir(parents=True)
    for name in ("refined_elephant", "bunny00", "armadillo"):
        (package / "data" / "meshes" / f"{name}.off").write_text(name)
    if data == "packed":
        subprocess.run(["tar", "-C", str(package), "-czf", str(package / "data.tar.gz"), "data"], check=True)
        subprocess.run(["rm", "-r", str(package / "data")], check=True)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "apt-get").write_text(f"#!/bin/sh\necho called >>{tmp_path}/calls\n: >libcgal-demo_1_all.deb\n")
    (tools / "dpkg").write_text(f'#!/bin/sh\ncp -r {tmp_path}/package "$3"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    meshes_folder = tmp_path / "meshes"
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "GUESTGPU_MESHES": str(meshes_folder)}

    def fetch() -> subprocess.CompletedProcess[str]:
        script = str(ROOT / "scripts" / "fetch-meshes.sh")
        return subprocess.run(["sh", script], env=environment, capture_output=True, text=True, timeout=60)

    assert fetch().returncode == 0
    assert {path.name: path.read_text() for path in meshes_folder.iterdir()} == {
        "elephant.off": "refined_elephant",
        "bunny.off": "bunny00",
        "armadillo.off": "armadillo",
    }
    assert fetch().stdout.startswith("fetch-meshes: all there")
    assert (tmp_path / "calls").read_text() == "called\n"

    (meshes_folder / "bunny.off").unlink()
    (tools / "apt-get").write_text("#!/bin/sh\necho E: no network >&2\nexit 100\n")
    failed = fetch()
    assert failed.returncode == 1
    assert "apt-get could not download libcgal-demo" in failed.stderr
    assert "E: no network" in failed.stderr


# ---- files ----


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def save(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def off(body: str) -> str:
    return f"OFF\n# a comment\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n{body}\n"


def ply(face: str, x: str = "1") -> str:
    header = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    header += "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    return f"ply\nformat ascii 1.0\n{header}0 0 0\n{x} 0 0\n0 1 0\n3 {face}\n"


def glb(primitives: list[list[int]], matrix: list[float] | None = None) -> bytes:
    """A GLB of one mesh; each primitive has the same three vertices and indices of its own."""
    body = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32).tobytes()
    views = [{"buffer": 0, "byteOffset": 0, "byteLength": len(body)}]
    accessors = [
        {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}
    ]
    parts = []
    for indices in primitives:
        views.append({"buffer": 0, "byteOffset": len(body), "byteLength": 4 * len(indices)})
        accessors.append({"bufferView": len(views) - 1, "componentType": 5125, "count": len(indices), "type": "SCALAR"})
        parts.append({"attributes": {"POSITION": 0}, "indices": len(accessors) - 1})
        body += np.array(indices, np.uint32).tobytes()
    node = {"mesh": 0} | ({"matrix": matrix} if matrix else {})
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [node],
        "meshes": [{"primitives": parts}],
        "buffers": [{"byteLength": len(body)}],
        "bufferViews": views,
        "accessors": accessors,
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


@pytest.mark.parametrize(
    ("name", "content", "triangles"),
    [
        ("a.obj", TRIANGLE + "f 1 2 3\n", [[0, 1, 2]]),
        ("a.obj", TRIANGLE + "f -3 -2 -1  # relative\n", [[0, 1, 2]]),
        ("a.obj", TRIANGLE + "vt 0 0\nvt 1 1\nvn 0 0 1\nf 3/1/1 2//1 1/2\n", [[2, 1, 0]]),
        ("a.obj", TRIANGLE + "v 1 1 0\nf 1 2 4 3\n", [[0, 1, 3], [0, 3, 2]]),
        ("A.OBJ", TRIANGLE + "o a\nf 1 2 3\no b\nf 3 2 1\n", [[0, 1, 2], [2, 1, 0]]),
        ("a.off", off("3 0 1 2"), [[0, 1, 2]]),
        ("a.ply", ply("0 1 2"), [[0, 1, 2]]),
        ("a.glb", glb([[0, 1, 2]]), [[0, 1, 2]]),
        ("a.glb", glb([[0, 1, 2], [2, 1, 0]]), [[0, 1, 2], [5, 4, 3]]),
    ],
)
def test_files_are_read_exactly(folder: Path, name: str, content: str | bytes, triangles: list[list[int]]) -> None:
    mesh = load(save(folder, name, content))
    assert mesh.triangles.tolist() == triangles
    assert mesh.triangles.dtype == np.uint32
    assert mesh.positions.dtype == np.float32
    assert mesh.positions[:3].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert mesh.name == name


@pytest.mark.parametrize("suffix", ["off", "ply", "glb", "gltf", "stl"])
def test_what_trimesh_writes_comes_back(folder: Path, suffix: str) -> None:
    sphere = icosphere(2)
    exported = trimesh.Trimesh(sphere.positions, sphere.triangles, process=False).export(file_type=suffix)
    if isinstance(exported, dict):  # glTF is several files
        for name, data in exported.items():
            save(folder, name, data)
        path = folder / "model.gltf"
    else:
        path = save(folder, f"sphere.{suffix}", exported)
    mesh = load(path)
    assert len(mesh.positions) == len(sphere.positions)
    assert len(mesh.triangles) == len(sphere.triangles)
    assert np.allclose(mesh.positions[mesh.triangles], sphere.positions[sphere.triangles], atol=1e-6)


def test_mirrored_nodes_keep_their_outside(folder: Path) -> None:
    mirror = [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]
    mesh = load(save(folder, "a.glb", glb([[0, 1, 2]], [float(v) for v in mirror])))
    assert mesh.positions.tolist() == [[5, 0, 0], [4, 0, 0], [5, 1, 0]]
    assert mesh.triangles.tolist() == [[2, 1, 0]]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.obj", TRIANGLE + "f 1 2 9\n", "triangle 0 is [0, 1, 8] of 3 vertices"),
        ("a.obj", TRIANGLE + "f 0 1 2\n", "a.obj:4: no valid face: 'f 0 1 2'"),
        ("a.obj", TRIANGLE + "f -9 1 2\n", "a.obj:4: no valid face"),
        ("a.obj", TRIANGLE + "f 1 2\n", "a.obj:4: no valid face"),
        ("a.obj", TRIANGLE + "f 1 x 2\n", "a.obj:4: cannot be read"),
        ("a.obj", "v 0 0\n", "a.obj:1: cannot be read"),
        ("a.obj", TRIANGLE, "no triangles"),
        ("a.obj", "hello\n", "no triangles"),
        ("a.obj", b"\xff\xfe\x00", "no triangles"),
        ("a.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "position of vertex 0 is not finite"),
        ("a.obj", "v 0 0 0\nv 1e39 0 0\nv 0 1 0\nf 1 2 3\n", "position of vertex 1 is not finite (as float32)"),
        ("a.off", off("3 0 1 7"), "a.off: "),
        ("a.off", off("3 0 1 -1"), "a.off: "),
        ("a.off", off("3 0 1 2").replace("3 1 0", "3 2 0"), "cut off: 2 faces declared, 1 triangles found"),
        ("a.off", "", "a.off: cannot be read"),
        ("a.ply", ply("0 1 7"), "triangle 0 is [0, 1, 7] of 3 vertices"),
        ("a.ply", ply("0 1 -1"), "triangle 0 is [0, 1, -1] of 3 vertices"),
        ("a.ply", ply("0 1 2", x="inf"), "position of vertex 1 is not finite"),
        ("a.ply", ply("0 1 2").split("end_header")[0], "a.ply: "),
        ("a.glb", glb([[0, 1, 9]]), "triangle 0 is [0, 1, 9] of 3 vertices"),
        ("a.glb", glb([[0, 1, 3], [0, 1, 2]]), "triangle 0 is [0, 1, 3] of 3 vertices"),
        ("a.glb", glb([[0, 1, 2]])[:-8], "a.glb: "),
        ("a.glb", b"garbage!", "a.glb: cannot be read"),
        ("a.gltf", "{}", "no triangles"),
        ("a.gltf", "{", "a.gltf: cannot be read"),
        ("a.stl", "garbage", "a.stl: "),
        ("a.xyz", "0 0 0", "unknown kind of file '.xyz'"),
        ("none", "", "unknown kind of file ''"),
    ],
)
def test_bad_files_are_one_line_that_names_them(folder: Path, name: str, content: str | bytes, text: str) -> None:
    path = save(folder, name, content)
    with pytest.raises(MeshError, match=re.escape(text)) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders(folder: Path) -> None:
    (folder / "folder.obj").mkdir()
    for name in ("none.obj", "folder.obj"):
        with pytest.raises(MeshError, match=rf"{name}: no such file"):
            load(folder / name)


def test_a_mesh_checks_itself() -> None:
    points = np.zeros((3, 3), np.float32)
    for positions, triangles, text in (
        (np.zeros((3, 2), np.float32), [[0, 1, 2]], "positions have shape"),
        (points, np.zeros((0, 3), np.uint32), "no triangles"),
        (points, [[0, 1, 3]], r"triangle 0 is \[0, 1, 3\] of 3 vertices"),
        (points, [[0, 1, -1]], "triangle 0"),
    ):
        with pytest.raises(MeshError, match=f"thing: {text}"):
            Mesh("thing", positions, np.array(triangles))


# ---- meshlets of a mesh ----


def greedy(
    indices: NDArray[np.uint32], positions: NDArray[np.float32], max_vertices: int, max_triangles: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
    """A builder for tests, in the form of gg_meshlets_build(): triangles in order, gaps between the meshlets."""
    groups: list[tuple[list[int], list[int]]] = [([], [])]
    for triangle in indices.reshape(-1, 3).tolist():
        vertices, local = groups[-1]
        if len(set(vertices) | set(triangle)) > max_vertices or len(local) == 3 * max_triangles:
            vertices, local = [], []
            groups.append((vertices, local))
        for vertex in triangle:
            if vertex not in vertices:
                vertices.append(vertex)
            local.append(vertices.index(vertex))
    found = np.zeros((len(groups), 4), np.uint32)
    all_vertices = np.full(len(groups) * max_vertices, 0xFFFFFFFF, np.uint32)
    all_triangles = np.full(len(groups) * max_triangles * 3, 0xFF, np.uint8)
    for i, (vertices, local) in enumerate(groups):
        found[i] = i * max_vertices, i * max_triangles * 3, len(vertices), len(local) // 3
        all_vertices[i * max_vertices :][: len(vertices)] = vertices
        all_triangles[i * max_triangles * 3 :][: len(local)] = local
    return found, all_vertices, all_triangles


def canonical(triangles: NDArray[np.uint32]) -> list[tuple[int, ...]]:
    """Triangles without regard to which corner is first, but to winding."""
    return sorted(min(tuple(np.roll(t, turn).tolist()) for turn in range(3)) for t in triangles)


def covers(mesh: Mesh, max_vertices: int, max_triangles: int, builder: meshes.Builder | None) -> int:
    built = build_meshlets(mesh, max_vertices, max_triangles, builder)
    parts = []
    for i in range(len(built)):
        vertices, local = built[i]
        assert 0 < len(vertices) <= max_vertices
        assert 0 < len(local) <= max_triangles
        assert len(set(vertices.tolist())) == len(vertices)
        assert int(local.max()) < len(vertices)
        parts.append(vertices[local])
    assert canonical(np.concatenate(parts)) == canonical(mesh.triangles)
    return len(built)


@pytest.mark.parametrize(("max_vertices", "max_triangles"), [(3, 4), (64, 124), (255, 512)])
def test_meshlets_cover_the_mesh(max_vertices: int, max_triangles: int) -> None:
    assert covers(icosphere(2), max_vertices, max_triangles, greedy) >= 1


@pytest.mark.parametrize(("max_vertices", "max_triangles"), [(3, 4), (64, 124), (255, 512)])
@pytest.mark.parametrize("spec", ["icosphere:3", "torus:24x12", "terrain:16"])
def test_meshoptimizer_covers_the_mesh(spec: str, max_vertices: int, max_triangles: int) -> None:
    try:
        from guestgpu import native

        native.gpu()
    except (ImportError, NoGpuLibrary) as error:
        pytest.skip(str(error))
    count = covers(resolve(spec), max_vertices, max_triangles, None)
    assert count >= len(resolve(spec).triangles) / max_triangles


@pytest.mark.parametrize(
    ("max_vertices", "max_triangles", "text"),
    [
        (256, 124, "256 vertices a meshlet: meshoptimizer 0.18 builds at most 255"),
        (2, 124, "2 vertices a meshlet: 3 to 255"),
        (300, 124, "300 vertices a meshlet: 3 to 255"),
        (64, 126, "126 triangles a meshlet: a multiple of 4 up to 512"),
        (64, 0, "0 triangles a meshlet"),
        (64, 516, "516 triangles a meshlet"),
    ],
)
def test_meshlet_limits(max_vertices: int, max_triangles: int, text: str) -> None:
    with pytest.raises(MeshError, match=text):
        build_meshlets(icosphere(0), max_vertices, max_triangles, greedy)


def test_a_mesh_as_a_batch() -> None:
    mesh = icosphere(1)
    built = build_meshlets(mesh, 16, 16, greedy)
    batch = mesh_batch(built, mesh.positions.view(np.uint32), np.arange(len(mesh.triangles))[:, None])
    assert (batch.corners, batch.vertex_words, batch.primitive_words) == (3, 3, 1)
    assert sum(m.primitive_count for m in batch.meshlets) == 80
    corners = np.concatenate([m.vertices[m.indices] for m in batch.meshlets]).view(np.float32)
    assert np.array_equal(corners, mesh.positions[mesh.triangles])  # greedy keeps the order
    assert np.concatenate([m.primitives for m in batch.meshlets]).reshape(-1).tolist() == list(range(80))
    with pytest.raises(IndexError):
        built[len(built)]


# ---- random meshlets ----


@pytest.mark.parametrize("topology", CORNERS)
@pytest.mark.parametrize(("max_vertices", "max_primitives"), [(1, 1), (64, 124), (256, 256)])
def test_random_meshlets_are_valid(topology: str, max_vertices: int, max_primitives: int) -> None:
    rng = np.random.default_rng(1)
    batch = random_meshlets(rng, 40, max_vertices, max_primitives, topology, vertex_words=5, primitive_words=2)
    assert len(batch.meshlets) == 40
    assert (batch.corners, batch.vertex_words, batch.primitive_words) == (CORNERS[topology], 5, 2)
    for m in batch.meshlets:
        assert 1 <= m.vertex_count == len(m.vertices) <= max_vertices
        assert m.primitive_count == len(m.indices) == len(m.primitives) <= max_primitives
        assert m.indices.dtype == np.uint8
        assert not m.indices.size or int(m.indices.max()) < m.vertex_count
    if max_vertices > 1:
        assert len({m.vertex_count for m in batch.meshlets}) > 10


def is_bad(m: Meshlet, kind: str, max_vertices: int, max_primitives: int) -> bool:
    return {
        "empty": m.primitive_count == 0,
        "degenerate": bool((m.indices == m.indices[:, :1]).all(axis=1).any()),
        "counts": m.vertex_count > max_vertices or m.primitive_count > max_primitives,
        "indices": bool((m.indices.astype(int) >= m.vertex_count).any()),
    }[kind]


@pytest.mark.parametrize("kind", BAD_KINDS)
@pytest.mark.parametrize(("max_vertices", "max_primitives"), [(1, 1), (64, 124), (256, 256)])
def test_each_kind_of_bad_meshlet(kind: str, max_vertices: int, max_primitives: int) -> None:
    for seed in range(10):
        batch = random_meshlets(np.random.default_rng(seed), 12, max_vertices, max_primitives, bad=[kind])
        assert is_bad(batch.meshlets[0], kind, max_vertices, max_primitives)
        for m in batch.meshlets:
            assert len(m.vertices) == min(m.vertex_count, max_vertices)
            assert len(m.indices) == min(m.primitive_count, max_primitives)
            assert max(m.vertex_count, m.primitive_count) < 2**32


def test_all_kinds_at_once_and_again() -> None:
    first = random_meshlets(np.random.default_rng(5), 30, 64, 124, bad=BAD_KINDS)
    assert first == random_meshlets(np.random.default_rng(5), 30, 64, 124, bad=BAD_KINDS)
    assert first != random_meshlets(np.random.default_rng(6), 30, 64, 124, bad=BAD_KINDS)
    for kind, m in zip(BAD_KINDS, first.meshlets, strict=False):
        assert is_bad(m, kind, 64, 124)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 1, "triangles"), "vertices of a meshlet: 0 is not in 1 to 256"),
        ((1, 257, "triangles"), "primitives of a meshlet: 257 is not in 1 to 256"),
        ((1, 1, "quads"), "topology 'quads' is not one of triangles, lines, points"),
    ],
)
def test_senseless_random_meshlets(arguments: tuple[int, int, str], text: str) -> None:
    with pytest.raises(MeshError, match=text):
        random_meshlets(np.random.default_rng(0), 1, *arguments)
    with pytest.raises(MeshError, match="kind 'odd'"):
        random_meshlets(np.random.default_rng(0), 1, 8, 8, bad=["odd"])


def test_a_batch_checks_its_shapes() -> None:
    m = random_meshlets(np.random.default_rng(0), 1, 8, 8).meshlets[0]
    with pytest.raises(MeshError, match="meshlet 0: arrays of shape"):
        Batch((m,), corners=2, vertex_words=8, primitive_words=0)
    with pytest.raises(MeshError, match="meshlet 0: stores more than it reports"):
        Batch((Meshlet(m.vertices, m.indices, m.primitives, 0, m.primitive_count),), 3, 8, 0)


@given(st.sampled_from(list(CORNERS)).flatmap(lambda t: st.tuples(st.just(t), batches(t, primitive_words=1))))
def test_strategy_gives_batches_of_the_contract(drawn: tuple[str, Batch]) -> None:
    topology, batch = drawn
    assert batch.corners == CORNERS[topology]
    for m in batch.meshlets:
        assert len(m.vertices) == min(m.vertex_count, 8)
        assert len(m.indices) == min(m.primitive_count, 8)


@given(batches(bad=False))
def test_strategy_of_good_batches(batch: Batch) -> None:
    for m in batch.meshlets:
        assert (m.vertex_count, m.primitive_count) == (len(m.vertices), len(m.indices))
        assert not m.indices.size or int(m.indices.max()) < m.vertex_count

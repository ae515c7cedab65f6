# SPDX-License-Identifier: MIT
"""Triangle meshes (generated, real, from files), their meshlets, and random meshlets for tests."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guestgpu.errors import GuestGpuError

Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

CORNERS = {"triangles": 3, "lines": 2, "points": 1}
MAX_OUTPUT = 256  # vertices, and primitives, of one meshlet: what a mesh program may declare
BAD_KINDS = ("empty", "degenerate", "counts", "indices")

REAL_MESHES = ("elephant", "bunny", "armadillo")
FILE_SUFFIXES = (".obj", ".off", ".ply", ".gltf", ".glb", ".stl")


class MeshError(GuestGpuError):
    """A mesh, a file or a request that cannot be used; one line that names it."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh. positions: float32 [n, 3], finite; triangles: uint32 [m, 3], m >= 1, all below n."""

    name: str
    positions: NDArray[np.float32]
    triangles: Words

    def __post_init__(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            positions = np.ascontiguousarray(self.positions, dtype=np.float32)
        triangles = np.asarray(self.triangles)
        if positions.ndim != 2 or positions.shape[1] != 3:
            raise MeshError(f"{self.name}: positions have shape {positions.shape}, not [n, 3]")
        if triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) == 0:
            raise MeshError(f"{self.name}: no triangles")
        if not np.isfinite(positions).all():
            vertex = int(np.nonzero(~np.isfinite(positions).all(axis=1))[0][0])
            raise MeshError(f"{self.name}: position of vertex {vertex} is not finite (as float32)")
        bad = np.nonzero((triangles < 0) | (triangles >= len(positions)))[0]
        if len(bad):
            first = int(bad[0])
            raise MeshError(
                f"{self.name}: triangle {first} is {triangles[first].tolist()} of {len(positions)} vertices"
            )
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "triangles", np.ascontiguousarray(triangles, dtype=np.uint32))


# ---- generated ----


def icosphere(subdivisions: int = 5) -> Mesh:
    """The unit sphere: an icosahedron whose triangles are split in four, `subdivisions` times (0 to 8)."""
    _check_range("icosphere", subdivisions, 0, 8)
    g = (1 + 5**0.5) / 2
    corners = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0)]
    positions = np.array([np.roll(c, turn) for turn in range(3) for c in corners], dtype=np.float64)
    # The faces of the icosahedron are its triples of vertices at the edge length, 2.
    near = np.isclose(np.linalg.norm(positions[:, None] - positions[None], axis=2), 2.0)
    faces = [
        (a, b, c) for a in range(12) for b in range(a) for c in range(b) if near[a, b] and near[b, c] and near[a, c]
    ]
    triangles = np.array(faces)
    p = positions[triangles]
    inward = np.einsum("ij,ij->i", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 0]) < 0
    triangles[inward] = triangles[inward, ::-1]
    for _ in range(subdivisions):
        edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        unique, inverse = np.unique(edges, axis=0, return_inverse=True)
        middle = len(positions) + inverse.reshape(-1, 3)
        positions = np.vstack([positions, positions[unique].mean(axis=1)])
        (a, b, c), (ab, bc, ca) = triangles.T, middle.T
        # The four children stay together, so that neighbours in the list are neighbours on the sphere.
        triangles = np.stack([a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca], axis=1).reshape(-1, 3)
    positions /= np.linalg.norm(positions, axis=1, keepdims=True)
    return Mesh(f"icosphere:{subdivisions}", positions.astype(np.float32), triangles.astype(np.uint32))


def torus(nu: int = 128, nv: int = 64) -> Mesh:
    """Radii 1 and 0.4 around the z axis: nu quads around, nv quads across (3 to 4096 each), two triangles a quad."""
    _check_range("torus", nu, 3, 4096)
    _check_range("torus", nv, 3, 4096)
    u, v = np.meshgrid(np.arange(nu) * 2 * np.pi / nu, np.arange(nv) * 2 * np.pi / nv, indexing="ij")
    radius = 1.0 + 0.4 * np.cos(v)
    positions = np.stack([radius * np.cos(u), radius * np.sin(u), 0.4 * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(nu), np.arange(nv), indexing="ij")
    i1, j1 = (i + 1) % nu, (j + 1) % nv
    triangles = _quads(i * nv + j, i1 * nv + j, i1 * nv + j1, i * nv + j1)
    return Mesh(f"torus:{nu}x{nv}", positions.astype(np.float32), triangles)


def terrain(n: int = 128, seed: int = 0) -> Mesh:
    """A height field of value noise over [-1, 1] x [-1, 1]: n x n quads (1 to 2048), two triangles a quad."""
    _check_range("terrain", n, 1, 2048)
    rng = np.random.default_rng(seed)
    axis = np.arange(n + 1) / n
    height = np.zeros((n + 1, n + 1))
    for octave in range(5):
        cells = 4 << octave
        lattice = rng.uniform(-1.0, 1.0, (cells + 1, cells + 1))
        cell = np.minimum((axis * cells).astype(np.int64), cells - 1)
        t = axis * cells - cell
        t = t * t * (3 - 2 * t)
        rows = lattice[cell] * (1 - t)[:, None] + lattice[cell + 1] * t[:, None]
        height += 0.25 / (1 << octave) * (rows[:, cell] * (1 - t) + rows[:, cell + 1] * t)
    x, y = np.meshgrid(axis * 2 - 1, axis * 2 - 1, indexing="ij")
    positions = np.stack([x, y, height], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    corner = i * (n + 1) + j
    triangles = _quads(corner, corner + n + 1, corner + n + 2, corner + 1)
    return Mesh(f"terrain:{n}:{seed}", positions.astype(np.float32), triangles)


def _quads(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], d: NDArray[Any]) -> Words:
    return np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3).astype(np.uint32)


def _check_range(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise MeshError(f"{what}: {value} is not in {low} to {high}")


# ---- by name ----

_GENERATED: dict[str, tuple[Callable[..., Mesh], str, str]] = {
    "icosphere": (icosphere, r"(\d+)", "icosphere:SUBDIVISIONS"),
    "torus": (torus, r"(\d+)x(\d+)", "torus:AROUNDxACROSS"),
    "terrain": (terrain, r"(\d+)(?::(\d+))?", "terrain:QUADS[:SEED]"),
}


def resolve(spec: str) -> Mesh:
    """A mesh by what a user writes: "icosphere:5", "torus:128x64", "terrain:128:0" (details may be left out), a
    real mesh that scripts/fetch-meshes.sh has fetched ("bunny"), or a file.
    """
    name, colon, details = spec.partition(":")
    if name in _GENERATED:
        function, pattern, usage = _GENERATED[name]
        match = re.fullmatch(pattern, details, re.ASCII)
        if colon and match is None:
            raise MeshError(f"mesh {spec!r} is not {usage}")
        return function(*(int(number) for number in match.groups() if number)) if match else function()
    if spec in REAL_MESHES:
        path = meshes_folder() / f"{spec}.off"
        if not path.is_file():
            raise MeshError(f"mesh {spec!r} is not in {path.parent}: run scripts/fetch-meshes.sh")
        return load(path, spec)
    if Path(spec).suffix.lower() in FILE_SUFFIXES or os.sep in spec:
        return load(spec)
    usages = ", ".join(usage for _, _, usage in _GENERATED.values())
    raise MeshError(f"no mesh {spec!r}; known: {usages}, {', '.join(REAL_MESHES)}, a file ({' '.join(FILE_SUFFIXES)})")


def meshes_folder() -> Path:
    """Where scripts/fetch-meshes.sh puts the real meshes: $GUESTGPU_MESHES, or ~/.cache/guestgpu/meshes."""
    named = os.environ.get("GUESTGPU_MESHES")
    return Path(named) if named else Path.home() / ".cache" / "guestgpu" / "meshes"


# ---- from files ----


def load(path: str | os.PathLike[str], name: str | None = None) -> Mesh:
    """Reads OBJ, OFF, PLY, glTF, GLB or STL: positions and triangles only, a scene as one mesh.

    Vertices keep their order, except that STL, which shares none, has equal positions joined. Polygons are split.
    Raises MeshError naming the file: missing, broken, no triangles, positions that are not finite, indices
    past the vertices.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FILE_SUFFIXES:
        raise MeshError(f"{path}: unknown kind of file {suffix!r} ({' '.join(FILE_SUFFIXES)} are known)")
    if not path.is_file():
        raise MeshError(f"{path}: no such file")
    try:
        parts = [_read_obj(path)] if suffix == ".obj" else _read_scene(path)
    except MeshError:
        raise
    except Exception as error:  # readers of foreign bytes fail in any way they like
        raise MeshError(
            f"{path}: cannot be read: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        ) from error
    # Checked one by one: past the vertices of a part may lie those of the next.
    meshes = [Mesh(str(path), positions, triangles) for positions, triangles in parts if len(triangles)]
    if not meshes:
        raise MeshError(f"{path}: no triangles")
    starts = np.cumsum([0, *(len(mesh.positions) for mesh in meshes)])
    positions = np.concatenate([mesh.positions for mesh in meshes])
    triangles = np.concatenate([mesh.triangles + np.uint32(s) for mesh, s in zip(meshes, starts, strict=False)])
    if suffix == ".off" and len(triangles) < _declared_faces(path):
        raise MeshError(f"{path}: cut off: {_declared_faces(path)} faces declared, {len(triangles)} triangles found")
    if suffix == ".stl":
        positions, inverse = np.unique(positions, axis=0, return_inverse=True)
        triangles = inverse.reshape(-1)[triangles].astype(np.uint32)
    return Mesh(name or path.name, positions, triangles)


def _read_scene(path: Path) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Positions in the scene's space and triangles of each placed geometry."""
    try:
        import trimesh
    except ImportError:
        raise MeshError(f"{path}: reading it needs trimesh: pip install 'guestgpu[mesh]'") from None
    scene = trimesh.load_scene(path, process=False)
    parts = []
    for node in scene.graph.nodes_geometry:
        transform, geometry = scene.graph[node]
        shape = scene.geometry[geometry]
        if not isinstance(shape, trimesh.Trimesh):  # points and curves
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            positions = shape.vertices @ transform[:3, :3].T + transform[:3, 3]
        mirrored = np.linalg.det(transform[:3, :3]) < 0
        triangles = np.asarray(shape.faces)
        parts.append((positions, triangles[:, ::-1] if mirrored else triangles))
    return parts


def _read_obj(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Our own reader: trimesh takes the invalid index 0 for the last vertex, and splits vertices at texture seams."""
    positions: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        fields = line.split("#", 1)[0].split()
        if not fields or fields[0] not in ("v", "f"):
            continue
        try:
            if fields[0] == "v":
                x, y, z = (float(value) for value in fields[1:4])
                positions.append([x, y, z])
                continue
            face = [int(value.split("/", 1)[0]) for value in fields[1:]]
        except ValueError:
            raise MeshError(f"{path}:{number}: cannot be read: {line.strip()[:80]!r}") from None
        corners = [index - 1 if index > 0 else len(positions) + index for index in face]
        if len(face) < 3 or 0 in face or min(corners) < 0:
            raise MeshError(f"{path}:{number}: no valid face: {line.strip()[:80]!r}")
        triangles += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    return np.array(positions).reshape(-1, 3), np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _declared_faces(path: Path) -> int:
    text = re.sub(r"#.*", "", path.read_text(encoding="utf-8", errors="replace"))
    match = re.search(r"OFF\s+\d+\s+(\d+)", text)
    return int(match[1]) if match else 0


# ---- normals and meshlets ----


def vertex_normals(mesh: Mesh) -> NDArray[np.float32]:
    """Unit normals, float32 [n, 3], weighted by area; (0, 0, 1) where a vertex has none."""
    p = mesh.positions.astype(np.float64)[mesh.triangles]
    face = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    corners, weights = mesh.triangles.reshape(-1), np.repeat(face, 3, axis=0)
    sums = np.stack([np.bincount(corners, weights[:, k], len(mesh.positions)) for k in range(3)], axis=1)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    unit = np.tile([0.0, 0.0, 1.0], (len(sums), 1))
    np.divide(sums, length, out=unit, where=length > 0)
    return unit.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Meshlets:
    """A mesh cut into meshlets.

    Meshlet i has the mesh's vertices vertices[vertex_offsets[i]:vertex_offsets[i + 1]] (uint32) and
    the triangles triangles[triangle_offsets[i]:triangle_offsets[i + 1]] (uint8 [k, 3]), whose corners count from its
    own first vertex. Both offset arrays have one entry more than there are meshlets.
    """

    vertices: Words
    triangles: Bytes
    vertex_offsets: NDArray[np.int64]
    triangle_offsets: NDArray[np.int64]
    max_vertices: int
    max_triangles: int

    def __len__(self) -> int:
        return len(self.vertex_offsets) - 1

    def __getitem__(self, i: int) -> tuple[Words, Bytes]:
        """Mesh vertices and local triangles of meshlet i."""
        if not 0 <= i < len(self):
            raise IndexError(i)
        v, t = self.vertex_offsets, self.triangle_offsets
        return self.vertices[v[i] : v[i + 1]], self.triangles[t[i] : t[i + 1]]


Builder = Callable[[Words, NDArray[np.float32], int, int], tuple[Words, Words, Bytes]]
"""(indices, positions, max_vertices, max_triangles) -> meshlets [k, 4], vertices, triangles of gg_meshlets_build()."""


def build_meshlets(mesh: Mesh, max_vertices: int, max_triangles: int, builder: Builder | None = None) -> Meshlets:
    """Cuts a mesh into meshlets of at most so many vertices (3 to 255) and triangles (4 to 512, a multiple of 4).

    builder: what does it; default: meshoptimizer through gg_meshlets_build().
    """
    if max_vertices == 256:
        raise MeshError("256 vertices a meshlet: meshoptimizer 0.18 builds at most 255")
    if not 3 <= max_vertices <= 255:
        raise MeshError(f"{max_vertices} vertices a meshlet: 3 to 255 are possible")
    if not 4 <= max_triangles <= 512 or max_triangles % 4:
        raise MeshError(f"{max_triangles} triangles a meshlet: a multiple of 4 up to 512 is possible")
    found, vertices, triangles = (builder or _build_native)(
        mesh.triangles.reshape(-1), mesh.positions, max_vertices, max_triangles
    )
    first_vertex, first_byte, vertex_count, triangle_count = found.astype(np.int64).T
    corners = triangles[_runs(first_byte, 3 * triangle_count)]
    return Meshlets(
        vertices=vertices[_runs(first_vertex, vertex_count)],
        triangles=corners.reshape(-1, 3),
        vertex_offsets=np.concatenate([[0], np.cumsum(vertex_count)]),
        triangle_offsets=np.concatenate([[0], np.cumsum(triangle_count)]),
        max_vertices=max_vertices,
        max_triangles=max_triangles,
    )


def _runs(first: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """first[0], first[0] + 1, ... (count[0] of them), first[1], ..."""
    return np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())


def _build_native(
    indices: Words, positions: NDArray[np.float32], max_vertices: int, max_triangles: int
) -> tuple[Words, Words, Bytes]:
    from guestgpu import native

    gpu = native.gpu()
    number = native.ffi.new("uint64_t *")
    native.call(gpu.gg_meshlets_bound, indices.size, max_vertices, max_triangles, number)
    bound = int(number[0])
    meshlets = np.empty((bound, 4), np.uint32)
    vertices = np.empty(bound * max_vertices, np.uint32)
    triangles = np.empty(bound * max_triangles * 3, np.uint8)
    native.call(
        gpu.gg_meshlets_build,
        native.pointer(indices, "uint32_t"),
        indices.size,
        native.pointer(positions, "float"),
        len(positions),
        max_vertices,
        max_triangles,
        native.pointer(meshlets, "uint32_t", writable=True),
        native.pointer(vertices, "uint32_t", writable=True),
        native.pointer(triangles, "uint8_t", writable=True),
        number,
    )
    return meshlets[: int(number[0])], vertices, triangles


# ---- batches: what a mesh program is fed with ----


@dataclass(frozen=True, eq=False)
class Meshlet:
    """One meshlet as data. What the program reports may be more than there is: min(reported, most) are stored.

    vertices: uint32 [n, vertex words]; indices: uint8 [p, corners]; primitives: uint32 [p, primitive words].
    """

    vertices: Words
    indices: Bytes
    primitives: Words
    vertex_count: int  # as reported
    primitive_count: int  # as reported

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Meshlet) and (
            (self.vertex_count, self.primitive_count) == (other.vertex_count, other.primitive_count)
            and np.array_equal(self.vertices, other.vertices)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.primitives, other.primitives)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Batch:
    """Meshlets of one shape; the words are kept here so that a batch without meshlets has a shape as well."""

    meshlets: tuple[Meshlet, ...]
    corners: int
    vertex_words: int
    primitive_words: int

    def __post_init__(self) -> None:
        for i, m in enumerate(self.meshlets):
            kept = len(m.indices)
            shapes = (m.vertices.shape[1:], m.indices.shape[1:], m.primitives.shape)
            if shapes != ((self.vertex_words,), (self.corners,), (kept, self.primitive_words)):
                raise MeshError(
                    f"meshlet {i}: arrays of shape {m.vertices.shape}, {m.indices.shape}, {m.primitives.shape}"
                )
            if m.vertex_count < len(m.vertices) or m.primitive_count < kept:
                raise MeshError(f"meshlet {i}: stores more than it reports")

    def replace(self, meshlets: Iterable[Meshlet]) -> Batch:
        return Batch(tuple(meshlets), self.corners, self.vertex_words, self.primitive_words)


def mesh_batch(meshlets: Meshlets, vertex_words: ArrayLike, primitive_words: ArrayLike | None = None) -> Batch:
    """The meshlets of a mesh as a batch. vertex_words: uint32 [vertices of the mesh, words]; primitive_words: uint32
    [all triangles in the order of the meshlets, words], default: none."""
    words = np.asarray(vertex_words, dtype=np.uint32)
    side = (
        np.empty((len(meshlets.triangles), 0), np.uint32)
        if primitive_words is None
        else np.asarray(primitive_words, np.uint32)
    )
    t = meshlets.triangle_offsets
    made = [
        Meshlet(words[vertices], triangles, side[t[i] : t[i + 1]], len(vertices), len(triangles))
        for i, (vertices, triangles) in enumerate(meshlets[i] for i in range(len(meshlets)))
    ]
    return Batch(tuple(made), 3, words.shape[1], side.shape[1])


def random_meshlets(
    rng: np.random.Generator,
    count: int,
    max_vertices: int,
    max_primitives: int,
    topology: str = "triangles",
    *,
    vertex_words: int = 8,
    primitive_words: int = 0,
    bad: Collection[str] = (),
) -> Batch:
    """Random meshlets of 1 to max_vertices vertices and 0 to max_primitives primitives, all words random.

    topology: of CORNERS. bad: kinds of BAD_KINDS to mix in; the first meshlets have one kind each, of the
    others about half are bad.
      empty       no primitives, and perhaps no vertices
      degenerate  all corners of a primitive the same
      counts      reports more vertices or primitives than the most
      indices     index bytes past the vertices
    """
    _check_range("vertices of a meshlet", max_vertices, 1, MAX_OUTPUT)
    _check_range("primitives of a meshlet", max_primitives, 1, MAX_OUTPUT)
    if topology not in CORNERS:
        raise MeshError(f"topology {topology!r} is not one of {', '.join(CORNERS)}")
    kinds = list(bad)
    for kind in kinds:
        if kind not in BAD_KINDS:
            raise MeshError(f"bad meshlets of kind {kind!r}; known: {', '.join(BAD_KINDS)}")
    shape = (max_vertices, max_primitives, CORNERS[topology], vertex_words, primitive_words)
    meshlets = []
    for i in range(count):
        kind = kinds[i] if i < len(kinds) else ""
        if kinds and i >= len(kinds) and rng.random() < 0.5:
            kind = kinds[int(rng.integers(len(kinds)))]
        meshlets.append(_random_meshlet(rng, kind, *shape))
    return Batch(tuple(meshlets), CORNERS[topology], vertex_words, primitive_words)


def _random_meshlet(
    rng: np.random.Generator, kind: str, most_v: int, most_p: int, corners: int, vertex_words: int, primitive_words: int
) -> Meshlet:
    reported_v = int(rng.integers(1, most_v + 1))
    reported_p = int(rng.integers(0, most_p + 1))
    if kind == "empty":
        reported_v, reported_p = int(rng.choice([0, reported_v])), 0
    elif kind == "degenerate":
        reported_p = max(1, reported_p)
    elif kind == "counts":
        which = int(rng.integers(1, 4))
        excess: Sequence[int] = (1, 2, 1000, 2**31, 2**32 - 1)
        if which & 1:
            reported_v = min(2**32 - 1, most_v + excess[int(rng.integers(5))])
        if which & 2:
            reported_p = min(2**32 - 1, most_p + excess[int(rng.integers(5))])
    elif kind == "indices":
        # With 256 vertices no byte is past them.
        reported_v, reported_p = min(reported_v, 255), max(1, reported_p)
    n, p = min(reported_v, most_v), min(reported_p, most_p)
    indices = rng.integers(0, max(n, 1), (p, corners), dtype=np.uint8)
    if kind == "degenerate":
        some = rng.random(p) < 0.5
        some[int(rng.integers(p))] = True
        indices[some] = indices[some, :1]
    elif kind == "indices":
        some = rng.random((p, corners)) < 0.25
        some[int(rng.integers(p)), int(rng.integers(corners))] = True
        indices[some] = rng.integers(n, 256, int(some.sum()), dtype=np.uint8)
    return Meshlet(
        vertices=rng.integers(0, 2**32, (n, vertex_words), dtype=np.uint32),
        indices=indices,
        primitives=rng.integers(0, 2**32, (p, primitive_words), dtype=np.uint32),
        vertex_count=reported_v,
        primitive_count=reported_p,
    )

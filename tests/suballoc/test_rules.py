# SPDX-License-Identifier: MIT
"""Every constant and rule of the text by name, on its own small case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from guestgpu import suballoc
from guestgpu.errors import ArgumentError, LimitExceeded
from guestgpu.native import lib
from guestgpu.suballoc import (
    FAILED_SIZE,
    Kind,
    Mode,
    Options,
    Placement,
    Profile,
    Resource,
    Sdk,
    Severity,
    TextureLayout,
    Usage,
    Use,
    Verdict,
)  # fmt: skip

KIB, MIB = 1 << 10, 1 << 20
BUFFER = Resource(Kind.BUFFER, 1000, usage=Usage.TIGHT)
TEXTURE = Resource(Kind.TEXTURE, 256, 256, block_bytes=4, usage=Usage.TIGHT)  # 256 KiB
SMALL = replace(TEXTURE, width=128, height=128)  # 64 KiB, 16 tiles of 32 x 32
MSAA = Resource(Kind.MSAA, 2048, 1024, samples=4, block_bytes=4, usage=Usage.TIGHT)  # 32 MiB
SMALL_MSAA = replace(MSAA, width=512, height=512)  # 4 MiB, 64 tiles of 64 x 64
DEFAULT = Options()
EIGHT = Options(Profile.named("tight-8"))
TIGHTEST = Options(Profile(tier=1, msaa_64k=1))  # answers the tables' maxima
LARGE = Options(Profile.named("large-pages"))


def ask(resource: Resource, options: Options = DEFAULT, **changes: Any) -> tuple[str, int, int]:
    """Verdict, size and alignment of one resource with some members changed."""
    found = suballoc.allocation_info([replace(resource, **changes)], options)
    return Verdict(found.verdict).name, int(found.infos["size"][0]), int(found.infos["alignment"][0])


def notes(resource: Resource, options: Options = DEFAULT, **changes: Any) -> list[tuple[str, str]]:
    found = suballoc.allocation_info([replace(resource, **changes)], options)
    return [(Severity(n.severity).name, Verdict(n.verdict).name) for n in found.notes]


def alignment(resource: Resource, options: Options = DEFAULT, **changes: Any) -> int:
    verdict, _, found = ask(resource, options, **changes)
    assert verdict == "OK"
    return found


def refused(resource: Resource, options: Options = DEFAULT, **changes: Any) -> str:
    verdict, size, found = ask(resource, options, **changes)
    assert verdict != "OK"
    kind = replace(resource, **changes).kind
    assert (size, found) == (FAILED_SIZE, 4 * MIB if kind == Kind.MSAA else 64 * KIB)
    assert notes(resource, options, **changes) == [("ERROR", verdict)]
    return verdict


# ---- constants ----


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FEATURE_TIGHT_ALIGNMENT", 54),
        ("RESOURCE_FLAG_TIGHT", 0x400),
        ("DRIVER_RESOURCE_FLAG_TIGHT", 0x8000),
        ("DRIVER_CAPS_TIGHT_TIER", 1089),
        ("DRIVER_HEAP_FLAG_IMPLICIT", 0x80),
        ("DRIVER_INTERFACE_TIGHT", 111),
        ("DRIVER_INTERFACE_IMPLICIT", 115),
        ("TIGHT_PLACED_MIN", 8),
        ("TIGHT_BUFFER_MAX", 256),
        ("TIGHT_COMMITTED_MIN", 4 * KIB),
        ("SMALL_ALIGNMENT", 4 * KIB),
        ("DEFAULT_ALIGNMENT", 64 * KIB),
        ("SMALL_MSAA_ALIGNMENT", 64 * KIB),
        ("DEFAULT_MSAA_ALIGNMENT", 4 * MIB),
        ("HEAP_ALIGNMENT", 64 * KIB),
        ("HEAP_MSAA_ALIGNMENT", 4 * MIB),
        ("HEAP_IMPLICIT_ALIGNMENT", 4 * KIB),
        ("FAILED_SIZE", 2**64 - 1),
        ("RAW_VIEW_ALIGNMENT", 16),
        ("AABB_ALIGNMENT", 8),
        ("INSTANCE_DESCS_ALIGNMENT", 16),
        ("TRANSFORM_3X4_ALIGNMENT", 16),
        ("SHADER_RECORD_ALIGNMENT", 32),
        ("SHADER_TABLE_ALIGNMENT", 64),
        ("CLUSTER_TEMPLATE_ALIGNMENT", 32),
        ("CLAS_ALIGNMENT", 128),
        ("OPACITY_MICROMAP_ARRAY_ALIGNMENT", 128),
        ("CONSTANT_UPDATE_ALIGNMENT", 16),
        ("CONSTANT_PLACEMENT_ALIGNMENT", 256),
        ("VIDEO_BITSTREAM_ALIGNMENT", 256),
        ("VIDEO_HISTOGRAM_ALIGNMENT", 256),
        ("USAGE_RENDER_TARGET", 0x1),
        ("USAGE_DEPTH_STENCIL", 0x2),
        ("USAGE_CROSS_ADAPTER", 0x10),
        ("USAGE_TIGHT", 0x400),
    ],
)
def test_constant(name: str, value: int) -> None:
    assert getattr(lib, f"GG_SUBALLOC_{name}") == value


@pytest.mark.parametrize(
    ("uses", "wanted"),
    [
        (0, 0),
        (Use.RAW_VIEW, 16),
        (Use.BUILD_INPUT, 16),
        (Use.SHADER_TABLE, 64),
        (Use.CLAS, 128),
        (Use.CONSTANT, 256),
        (Use.VIDEO_DECODE, 256),
        (Use.RAW_VIEW | Use.SHADER_TABLE, 64),
        (Use.CLAS | Use.BUILD_INPUT | Use.RAW_VIEW, 128),
        (0x3F, 256),
    ],
)
def test_the_largest_floor_of_all_uses_applies(uses: int, wanted: int) -> None:
    assert suballoc.floor(uses) == wanted
    assert alignment(BUFFER, EIGHT, alignment=wanted) == max(wanted, 8)


def test_unknown_uses_are_refused() -> None:
    with pytest.raises(ArgumentError, match="unknown uses 0x40"):
        suballoc.floor(0x41)


def test_heaps() -> None:
    assert suballoc.heap_alignment() == 64 * KIB
    assert suballoc.heap_alignment(msaa=True) == 4 * MIB
    assert suballoc.heap_alignment(implicit=True) == suballoc.heap_alignment(implicit=True, msaa=True) == 4 * KIB


def test_every_verdict_has_words() -> None:
    texts = {suballoc.verdict_text(v) for v in Verdict}
    assert len(texts) == len(Verdict)
    assert "unknown verdict" not in texts
    assert suballoc.verdict_text(63) == "unknown verdict"


# ---- classic ----


def test_classic_buffers_have_64_kib_in_size_and_alignment() -> None:
    for width, size in ((1, 64 * KIB), (65536, 64 * KIB), (65537, 128 * KIB)):
        assert ask(BUFFER, usage=0, width=width) == ("OK", size, 64 * KIB)
        assert ask(BUFFER, usage=0, width=width, alignment=64 * KIB) == ("OK", size, 64 * KIB)
    assert refused(BUFFER, usage=0, alignment=256) == "NOT_QUALIFIED"
    assert refused(BUFFER, usage=0, alignment=4 * KIB) == "NOT_QUALIFIED"
    assert refused(BUFFER, usage=0, alignment=128 * KIB) == "ABOVE_MAXIMUM"
    assert refused(BUFFER, usage=0, alignment=65535) == "NOT_POWER_OF_TWO"


def test_classic_textures_have_64_kib_and_4_only_when_small() -> None:
    assert ask(SMALL, usage=0) == ("OK", 64 * KIB, 64 * KIB)
    assert ask(SMALL, usage=0, alignment=4 * KIB) == ("OK", 64 * KIB, 4 * KIB)
    assert ask(SMALL, usage=0, width=1, height=1, alignment=4 * KIB) == ("OK", 4 * KIB, 4 * KIB)
    assert ask(TEXTURE, usage=0, alignment=4 * KIB) == ("OK", 256 * KIB, 64 * KIB)
    assert notes(TEXTURE, usage=0, alignment=4 * KIB) == [("INFO", "ALIGNMENT_OVERRIDDEN")]
    assert refused(SMALL, usage=0, alignment=8 * KIB) == "NOT_QUALIFIED"
    assert refused(SMALL, usage=0, alignment=4 * MIB) == "ABOVE_MAXIMUM"


def test_classic_msaa_has_4_mib_and_64_kib_only_when_small() -> None:
    assert ask(SMALL_MSAA, usage=0) == ("OK", 4 * MIB, 4 * MIB)
    assert ask(SMALL_MSAA, usage=0, width=64, height=64, alignment=64 * KIB) == ("OK", 64 * KIB, 64 * KIB)
    assert refused(MSAA, usage=0, alignment=64 * KIB) == "NOT_QUALIFIED"
    assert refused(SMALL_MSAA, usage=0, alignment=4 * KIB) == "NOT_QUALIFIED"
    assert refused(SMALL_MSAA, usage=0, alignment=8 * MIB) == "ABOVE_MAXIMUM"
    without = Options(Profile())
    assert refused(SMALL_MSAA, without, usage=0, alignment=64 * KIB) == "NOT_QUALIFIED"


@pytest.mark.parametrize("kind", ["2D", "volume", "MSAA"])
@pytest.mark.parametrize("element", [1, 2, 4, 8, 16])
def test_tiles_are_shaped_as_standard_swizzle_shapes_them(kind: str, element: int) -> None:
    """A resource of one tile, and one texel more in each direction."""
    two = {1: (64, 64), 2: (64, 32), 4: (32, 32), 8: (32, 16), 16: (16, 16)}
    three = {1: (16, 16, 16), 2: (8, 16, 16), 4: (8, 16, 8), 8: (8, 8, 8), 16: (4, 8, 8)}
    four_samples = {1: (128, 128), 2: (128, 64), 4: (64, 64), 8: (64, 32), 16: (32, 32)}
    if kind == "volume":
        one = replace(SMALL, volume=True, block_bytes=element)
        extents = dict(zip(("width", "height", "depth_or_layers"), three[element], strict=True))
    else:
        one = replace(SMALL if kind == "2D" else SMALL_MSAA, block_bytes=element)
        shape = two[element] if kind == "2D" else four_samples[element]
        extents = dict(zip(("width", "height"), shape, strict=True))
    one = replace(one, **extents)
    assert suballoc.limits(one).tiles == 1
    for name, extent in extents.items():
        assert suballoc.limits(replace(one, **{name: extent + 1})).tiles == 2, name
    volume = one.width * one.height * (one.depth_or_layers if one.volume else 1) * element * one.samples
    assert volume == (64 * KIB if kind == "MSAA" else 4 * KIB)


@pytest.mark.parametrize(("samples", "width", "height"), [(2, 64, 128), (4, 64, 64), (8, 32, 64), (16, 32, 32)])
def test_tiles_of_every_sample_count(samples: int, width: int, height: int) -> None:
    one = replace(MSAA, samples=samples, width=width, height=height)
    assert suballoc.limits(one).tiles == 1
    assert suballoc.limits(replace(one, width=width + 1, height=height + 1)).tiles == 4


def test_small_is_estimated_on_the_most_detailed_mip() -> None:
    assert suballoc.limits(SMALL).small
    assert suballoc.limits(SMALL).tiles == 16
    assert suballoc.limits(replace(SMALL, mips=0)).small, "lower mips are not counted"
    assert not suballoc.limits(replace(SMALL, width=129)).small
    assert suballoc.limits(replace(SMALL, width=64, height=64, depth_or_layers=4)).small
    assert not suballoc.limits(replace(SMALL, width=64, height=64, depth_or_layers=5)).small, "all layers are counted"
    assert suballoc.limits(replace(SMALL, width=512, height=512, block_width=4, block_height=4)).small
    assert not suballoc.limits(BUFFER).small
    assert suballoc.limits(SMALL_MSAA).small
    assert suballoc.limits(SMALL_MSAA).tiles == 64
    assert not suballoc.limits(replace(SMALL_MSAA, width=513)).small


@pytest.mark.parametrize("usage", [Usage.RENDER_TARGET, Usage.DEPTH_STENCIL])
def test_attachments_and_known_layouts_are_not_small(usage: int) -> None:
    assert not suballoc.limits(replace(SMALL, usage=usage)).small
    for layout in (TextureLayout.ROW_MAJOR, TextureLayout.UNDEFINED_SWIZZLE, TextureLayout.STANDARD_SWIZZLE):
        assert not suballoc.limits(replace(SMALL, usage=0, layout=layout)).small


@pytest.mark.parametrize("usage", [Usage.RENDER_TARGET, Usage.DEPTH_STENCIL])
def test_small_msaa_by_the_text_and_as_in_the_field(usage: int) -> None:
    attachment = replace(SMALL_MSAA, usage=Usage.TIGHT | usage)
    field = replace(TIGHTEST, small_msaa=True)
    assert alignment(SMALL_MSAA, TIGHTEST) == 64 * KIB
    assert alignment(attachment, TIGHTEST) == 4 * MIB
    assert alignment(SMALL_MSAA, field) == 4 * MIB
    assert alignment(attachment, field) == 64 * KIB
    assert refused(attachment, usage=usage, alignment=64 * KIB) == "NOT_QUALIFIED"
    assert alignment(attachment, field, usage=usage, alignment=64 * KIB) == 64 * KIB
    assert alignment(SMALL, field) == 4 * KIB, "other textures do not mind the switch"


# ---- tight ----


@pytest.mark.parametrize(
    ("resource", "placed", "committed"),
    [
        (BUFFER, (8, 256), (4 * KIB, 4 * KIB)),
        (TEXTURE, (8, 64 * KIB), (4 * KIB, 64 * KIB)),
        (SMALL, (8, 4 * KIB), (4 * KIB, 4 * KIB)),
        (MSAA, (8, 4 * MIB), (4 * KIB, 4 * MIB)),
        (SMALL_MSAA, (8, 64 * KIB), (4 * KIB, 64 * KIB)),
    ],
    ids=["buffer", "texture", "small", "MSAA", "small MSAA"],
)
def test_tight_table(resource: Resource, placed: tuple[int, int], committed: tuple[int, int]) -> None:
    for placement, (low, high) in ((Placement.PLACED, placed), (Placement.COMMITTED, committed)):
        r = replace(resource, placement=placement)
        found = suballoc.limits(r)
        assert (found.minimum, found.maximum, found.restriction, found.tight) == (low, high, low, True)
        assert alignment(r, EIGHT) == low
        assert alignment(r, TIGHTEST) == high
        assert alignment(r, EIGHT, alignment=high) == high
        assert refused(r, alignment=2 * high) == "ABOVE_MAXIMUM"
        for below in (1, 2, 4):
            assert alignment(r, EIGHT, alignment=below) == low
            assert notes(r, EIGHT, alignment=below) == [("INFO", "ALIGNMENT_OVERRIDDEN")]


def test_a_tight_buffer_is_as_large_as_it_is_wide() -> None:
    for width in (1, 255, 256, 257, 65537, 2**64 - 257):
        assert ask(BUFFER, width=width) == ("OK", width, 256)
    assert ask(BUFFER, placement=Placement.COMMITTED) == ("OK", 1000, 4096)
    assert refused(BUFFER, width=2**64 - 1) == "SIZE_OVERFLOW"


@pytest.mark.parametrize("floor", [8, 16, 32, 64, 128, 256])
def test_placed_floors_are_honoured(floor: int) -> None:
    assert ask(BUFFER, EIGHT, alignment=floor) == ("OK", 1000, floor)
    assert notes(BUFFER, EIGHT, alignment=floor) == []


@pytest.mark.parametrize("floor", [8, 256, 2048])
def test_committed_floors_are_raised_to_4096(floor: int) -> None:
    committed = replace(BUFFER, placement=Placement.COMMITTED)
    assert ask(committed, alignment=floor) == ("OK", 1000, 4096)
    assert notes(committed, alignment=floor) == [("INFO", "ALIGNMENT_OVERRIDDEN")]
    assert notes(committed, alignment=4096) == []
    assert refused(committed, alignment=8192) == "ABOVE_MAXIMUM"


def test_placed_floor_512_and_odd_floors_are_refused() -> None:
    assert refused(BUFFER, alignment=512) == "ABOVE_MAXIMUM"
    for odd in (3, 24, 255, 2**64 - 1):
        assert refused(BUFFER, alignment=odd) == "NOT_POWER_OF_TWO"


def test_mode_native_takes_a_floor_and_answers_the_smallest() -> None:
    native = replace(EIGHT, mode=Mode.NATIVE_619)
    assert alignment(BUFFER, EIGHT, alignment=256) == 256
    assert alignment(BUFFER, native, alignment=256) == 8
    assert refused(BUFFER, native, alignment=512) == "ABOVE_MAXIMUM"
    assert notes(BUFFER, native, alignment=4) == [("INFO", "ALIGNMENT_OVERRIDDEN")]


def test_sdk_1618_refuses_any_floor() -> None:
    old = replace(EIGHT, sdk=Sdk.V618)
    assert alignment(BUFFER, old) == 8
    for floor in (3, 8, 256, 64 * KIB):
        assert refused(BUFFER, old, alignment=floor) == "FLOOR_UNSUPPORTED"
    assert alignment(BUFFER, old, usage=0, alignment=64 * KIB) == 64 * KIB, "without the flag nothing changes"


def test_the_flag_needs_a_tier_and_its_interface() -> None:
    assert refused(BUFFER, Options(Profile())) == "TIGHT_UNSUPPORTED"
    assert refused(BUFFER, Options(Profile(tier=1, interface_version=110))) == "TIGHT_UNSUPPORTED"
    assert alignment(BUFFER, Options(Profile(tier=1, interface_version=111))) == 256
    assert alignment(BUFFER, Options(Profile()), usage=0) == 64 * KIB


def test_s4_layouts_and_flags_that_exclude_tight_alignment() -> None:
    for layout in (TextureLayout.UNDEFINED_SWIZZLE, TextureLayout.STANDARD_SWIZZLE):
        assert refused(TEXTURE, layout=layout) == "TIGHT_SWIZZLE"
        assert alignment(TEXTURE, layout=layout, usage=0) == 64 * KIB
    shared = Usage.TIGHT | Usage.CROSS_ADAPTER
    assert ask(BUFFER, usage=shared) == ("OK", 64 * KIB, 64 * KIB)
    assert ask(MSAA, usage=shared)[::2] == ("OK", 4 * MIB)
    assert ask(SMALL_MSAA, usage=shared)[::2] == ("OK", 4 * MIB)
    for resource in (BUFFER, MSAA):
        assert notes(resource, usage=shared) == [("WARNING", "CROSS_ADAPTER")]
        assert notes(resource, usage=Usage.CROSS_ADAPTER) == []
    raised = notes(BUFFER, usage=shared, alignment=256)
    assert raised == [("INFO", "ALIGNMENT_OVERRIDDEN"), ("WARNING", "CROSS_ADAPTER")]


def test_reserved_resources_are_refused_and_reserved_buffers_a_mode() -> None:
    reserved = replace(BUFFER, placement=Placement.RESERVED)
    mode = Options(reserved_buffers=True)
    assert refused(reserved) == "TIGHT_RESERVED"
    assert ask(reserved, mode) == ("OK", 64 * KIB, 64 * KIB)
    assert refused(TEXTURE, mode, placement=Placement.RESERVED) == "TIGHT_RESERVED"
    assert alignment(reserved, usage=0) == 64 * KIB


def test_large_pages() -> None:
    page, committed = 2 * MIB, replace(BUFFER, placement=Placement.COMMITTED)
    assert ask(committed, LARGE, width=page) == ("OK", page, page)
    assert ask(committed, LARGE, width=page, alignment=page) == ("OK", page, page), "read back"
    assert alignment(committed, LARGE, width=page + 1) == 4096
    assert refused(committed, LARGE, width=page + 1, alignment=page) == "ABOVE_MAXIMUM"
    assert alignment(BUFFER, LARGE, width=page) == 256, "placed"
    assert alignment(committed, Options(), width=page) == 4096
    blind = replace(Profile.named("large-pages"), interface_version=114)
    assert alignment(committed, Options(blind), width=page) == 4096, "it cannot know that the heap is implicit"


def test_a_vulkan_device_answers_the_largest_of_text_driver_and_granularity() -> None:
    def device(driver: int, granularity: int) -> Options:
        return Options(Profile(tier=1, buffer_alignment=driver, granularity=granularity))

    assert alignment(BUFFER, device(4, 1)) == 8
    assert alignment(BUFFER, device(64, 16)) == 64
    assert alignment(BUFFER, device(64, 1024)) == 1024
    assert alignment(BUFFER, device(64, 1024), alignment=1024) == 1024
    assert refused(BUFFER, device(64, 1024), alignment=512 * KIB) == "ABOVE_MAXIMUM"
    assert alignment(BUFFER, device(64, 1), alignment=128) == 128


@pytest.mark.parametrize(
    ("verdict", "resource", "changes"),
    [
        ("DESCRIPTION", BUFFER, {"kind": 3}),
        ("DESCRIPTION", BUFFER, {"usage": 0x4}),
        ("DESCRIPTION", TEXTURE, {"layout": 4}),
        ("DESCRIPTION", TEXTURE, {"placement": 3}),
        ("ZERO_DIMENSION", BUFFER, {"width": 0}),
        ("ZERO_DIMENSION", TEXTURE, {"height": 0}),
        ("ZERO_DIMENSION", MSAA, {"depth_or_layers": 0}),
        ("BUFFER_SHAPE", BUFFER, {"height": 2}),
        ("FORMAT", TEXTURE, {"block_bytes": 0}),
        ("FORMAT", TEXTURE, {"block_bytes": 17}),
        ("FORMAT", MSAA, {"block_width": 4}),
        ("SAMPLES", TEXTURE, {"samples": 2}),
        ("SAMPLES", MSAA, {"samples": 1}),
        ("SAMPLES", MSAA, {"samples": 32}),
        ("SAMPLES", MSAA, {"volume": True}),
        ("MIPS", TEXTURE, {"mips": 10}),
        ("MIPS", MSAA, {"mips": 2}),
        ("SIZE_OVERFLOW", BUFFER, {"width": 2**64 - 1, "usage": 0}),
        ("SIZE_OVERFLOW", BUFFER, {"width": 2**64 - 65535, "usage": 0}),
        ("SIZE_OVERFLOW", TEXTURE, {"width": 2**63, "height": 2}),
        ("SIZE_OVERFLOW", TEXTURE, {"width": 2**32, "height": 7 << 29, "block_bytes": 1, "mips": 0}),
        ("SIZE_OVERFLOW", MSAA, {"width": 2**60}),
    ],
)
def test_refused_descriptions(verdict: str, resource: Resource, changes: dict[str, Any]) -> None:
    assert (ask(resource, **changes)[0], ask(resource, **changes)[1]) == (verdict, FAILED_SIZE)


# ---- lists ----


def test_6_and_4_mib() -> None:
    """The text's example; the sizes of members count rounded up to their alignment."""
    tiny, large = (256, 256), (2 * MIB, 2 * MIB)
    for items, size in (([tiny, large, tiny], 6), ([tiny, tiny, large], 4), ([large, tiny, tiny], 4)):
        found = suballoc.lay_out(items)
        assert (found.size, found.alignment, found.best_size) == (size * MIB, 2 * MIB, 4 * MIB)
        assert found.saved == size * MIB - 4 * MIB
    assert suballoc.lay_out([tiny, (1, 2 * MIB), tiny]).size == 6 * MIB
    many = suballoc.lay_out([tiny] * 8192 + [large])
    assert (many.size, many.alignment, many.saved) == (4 * MIB, 2 * MIB, 0)
    assert many.order[0] == 8192


def test_s1_lists() -> None:
    first = suballoc.lay_out([(64 * KIB, 64 * KIB), (8, 8)])
    assert (first.size, first.alignment) == (131072, 65536)
    last = suballoc.lay_out([(8, 8), (4096, 4096), (512, 256), (64 * KIB, 64 * KIB), (8, 8)])
    assert (last.size, last.offsets.tolist()) == (196608, [0, 4096, 8192, 65536, 131072])
    assert last.order.tolist() == [3, 1, 2, 0, 4]


def test_s2_an_empty_list() -> None:
    empty = suballoc.lay_out([])
    assert (empty.size, empty.alignment, empty.saved) == (0, 1, 0)
    found = suballoc.allocation_info([])
    assert (found.verdict, found.size, found.alignment, found.notes) == (Verdict.OK, 0, 1, ())


def test_a_list_of_resources() -> None:
    found = suballoc.allocation_info([BUFFER, replace(BUFFER, usage=0), BUFFER, TEXTURE])
    assert found.infos["size"].tolist() == [1000, 64 * KIB, 1000, 256 * KIB]
    assert found.infos["offset"].tolist() == [0, 64 * KIB, 128 * KIB, 192 * KIB]
    assert (found.size, found.alignment, found.saved) == (448 * KIB, 64 * KIB, 64 * KIB)


def test_one_bad_member_fails_the_whole_list() -> None:
    bad = replace(BUFFER, alignment=3)
    found = suballoc.allocation_info([BUFFER, bad, replace(bad, width=0)])
    assert (found.size, found.alignment, found.verdict, found.index) == (
        FAILED_SIZE, 64 * KIB, Verdict.NOT_POWER_OF_TWO, 1,
    )  # fmt: skip
    assert found.infos["verdict"].tolist() == [Verdict.OK, Verdict.NOT_POWER_OF_TWO, Verdict.ZERO_DIMENSION]
    assert found.infos["offset"].tolist() == [FAILED_SIZE] * 3
    assert [str(note) for note in found.notes] == [
        "resource 1: error: the requested alignment is no power of two",
        "resource 2: error: a dimension is zero",
    ]
    assert suballoc.allocation_info([bad, MSAA]).alignment == 4 * MIB, "any MSAA member"


def test_a_list_that_overflows_is_refused() -> None:
    half = replace(BUFFER, width=2**63)
    found = suballoc.allocation_info([half, half])
    assert (found.verdict, found.index, found.size) == (Verdict.SIZE_OVERFLOW, 1, FAILED_SIZE)
    with pytest.raises(LimitExceeded, match="item 1: the size overflows"):
        suballoc.lay_out([(2**63, 1), (2**63, 1)])
    with pytest.raises(LimitExceeded, match="overflows"):
        suballoc.lay_out([(2**63, 1), (2**63 - 1, 1)])  # 2^64 - 1


@pytest.mark.parametrize(("item", "text"), [((0, 1), "size 0"), ((1, 0), "no power of two"), ((1, 3), "alignment 3")])
def test_bad_items_are_named(item: tuple[int, int], text: str) -> None:
    with pytest.raises(ArgumentError, match=f"item 1: .*{text}"):
        suballoc.lay_out([(1, 1), item])
    with pytest.raises(ArgumentError, match="item 0"):
        suballoc.lay_out([(-1, 1)])

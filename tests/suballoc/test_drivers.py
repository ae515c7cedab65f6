# SPDX-License-Identifier: MIT
"""What a driver is asked, how its answers are checked, and the conformance suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from test_rules import BUFFER, KIB

from guestgpu import suballoc
from guestgpu.errors import ArgumentError
from guestgpu.native import ffi, lib
from guestgpu.suballoc import (
    FAILED_SIZE,
    Kind,
    Mode,
    Options,
    Placement,
    Profile,
    Resource,
    Sdk,
    Usage,
    Verdict,
    ViolationKind,
)  # fmt: skip

Driver = Callable[[Any, Any], None]


@contextmanager
def driven(driver: Driver, fails: int = 0, **members: int) -> Iterator[Any]:
    """C options whose profile is `driver`, which changes the answer of a right one."""
    right = ffi.new("struct gg_suballoc_profile *", {"tier": 1, "msaa_64k": 1, "buffer_alignment": 16, **members})

    @ffi.callback("int32_t(void *, const struct gg_suballoc_query *, struct gg_suballoc_answer *)")  # type: ignore[untyped-decorator]
    def callback(_user: Any, query: Any, answer: Any) -> int:
        assert lib.gg_suballoc_profile_answer(right, query, answer, ffi.NULL) == 0
        driver(query, answer)
        return fails

    profile = ffi.new("struct gg_suballoc_profile *", {"tier": 1, "msaa_64k": 1, **members, "driver": callback})
    yield ffi.new("struct gg_suballoc_options *", {"profile": profile})


def ask_c(options: Any, resource: Resource) -> tuple[str, int, int]:
    total, packed = ffi.new("struct gg_suballoc_total *"), suballoc.pack([resource])
    memory = ffi.from_buffer("struct gg_suballoc_resource[]", packed)
    nothing = ffi.NULL
    assert lib.gg_suballoc_allocation_info(memory, 1, options, nothing, total, nothing, 0, nothing, nothing) == 0
    return Verdict(total.info.verdict).name, total.info.size, total.info.alignment


def test_what_the_driver_is_asked() -> None:
    seen = []

    def record(query: Any, _answer: Any) -> None:
        seen.append((query.restriction, query.resource_flags, query.heap_flags, query.resource.usage))

    committed = replace(BUFFER, placement=Placement.COMMITTED)
    for interface in (0, 111, 114, 115):
        with driven(record, interface_version=interface) as options:
            for resource in (BUFFER, replace(BUFFER, alignment=64), committed, replace(committed, usage=0)):
                assert ask_c(options, resource)[0] == "OK"
        implicit = 0x80 if interface in (0, 115) else 0
        assert seen == [(8, 0x8000, 0, 0), (64, 0x8000, 0, 0), (4096, 0x8000, implicit, 0), (65536, 0, implicit, 0)]
        seen.clear()
    with driven(record, interface_version=110) as options:
        assert ask_c(options, BUFFER)[0] == "TIGHT_UNSUPPORTED"
    assert seen == [], "an old driver never sees the flag"


@pytest.mark.parametrize(
    ("alignment", "verdict"),
    [(4, "DRIVER_ALIGNMENT"), (8, "OK"), (256, "OK"), (512, "DRIVER_ALIGNMENT"), (24, "DRIVER_ALIGNMENT")],
)
def test_the_answer_lies_between_restriction_and_maximum(alignment: int, verdict: str) -> None:
    with driven(lambda _query, answer: setattr(answer, "alignment", alignment)) as options:
        assert ask_c(options, BUFFER)[0] == verdict


def test_sizes_and_refusals_of_drivers() -> None:
    for size, verdict in ((0, "DRIVER_SIZE"), (999, "DRIVER_SIZE"), (FAILED_SIZE, "DRIVER_SIZE"), (1000, "OK")):
        with driven(lambda _query, answer, size=size: setattr(answer, "size", size)) as options:
            assert ask_c(options, BUFFER)[0] == verdict
    with driven(lambda _query, _answer: None, fails=-1) as options:
        assert ask_c(options, BUFFER) == ("DRIVER_REFUSED", FAILED_SIZE, 64 * KIB)


def violations(driver: Driver, fails: int = 0) -> set[str]:
    with driven(driver, fails) as options:
        found = suballoc.conform_c(options, 200_000)
    assert len(found.first) == found.violations
    assert all("\n" not in str(violation) for violation in found.first)
    return {ViolationKind(violation.kind).name for violation in found.first}


def test_conformance_names_each_violation() -> None:
    state = {"calls": 0}

    def shared(query: Any) -> bool:
        return bool(query.resource.usage & Usage.CROSS_ADAPTER)

    def tight(query: Any) -> bool:
        return query.resource_flags == 0x8000 and not shared(query)

    def drop_cross_adapter(query: Any, answer: Any) -> None:
        if shared(query):
            answer.alignment = 4096

    def wide_buffers(query: Any, answer: Any) -> None:
        if tight(query) and query.resource.kind == Kind.BUFFER and not query.heap_flags:
            answer.alignment = 512

    def round_buffers(query: Any, answer: Any) -> None:
        if tight(query) and query.resource.kind == Kind.BUFFER:
            answer.size = (answer.size + 15) & ~15

    def larger_textures(query: Any, answer: Any) -> None:
        if tight(query) and query.resource.kind == Kind.TEXTURE:
            answer.size += 1 << 20

    def drift(query: Any, answer: Any) -> None:
        state["calls"] += 1
        if tight(query) and query.resource.kind == Kind.TEXTURE:
            answer.alignment = query.maximum if state["calls"] % 2 else query.restriction

    def below(query: Any, answer: Any) -> None:
        if tight(query):
            answer.alignment = query.restriction // 2

    assert violations(lambda _query, _answer: None) == set()
    assert violations(drop_cross_adapter) == {"CROSS_ADAPTER"}
    assert violations(wide_buffers) == {"BUFFER_ALIGNMENT"}
    assert violations(round_buffers) == {"BUFFER_SIZE"}
    assert violations(larger_textures) == {"WORSE"}
    assert violations(drift) == {"NOT_IDEMPOTENT"}
    assert violations(below) == {"OUTSIDE"}
    assert violations(lambda _query, _answer: None, fails=-1) == {"REFUSED"}


@pytest.mark.parametrize("name", ["tight", "tight-8", "none", "large-pages"])
def test_profiles_conform(name: str) -> None:
    for switches in (Options(), Options(small_msaa=True), Options(mode=Mode.NATIVE_619), Options(sdk=Sdk.V618)):
        found = suballoc.conform(replace(switches, profile=Profile.named(name)))
        assert found.cases > 5_000
        assert found.first == ()
        assert found.violations == 0


def test_a_vulkan_device_is_judged_by_the_tables() -> None:
    found = suballoc.conform(Options(Profile.named("vulkan")), capacity=3)
    assert found.violations > len(found.first) == 3
    assert "buffer alignment: placed buffer 1, " in str(found.first[0])


def test_options_and_profiles_that_make_no_sense() -> None:
    for options, text in (
        (Options(sdk=2), "sdk is 2"),
        (Options(mode=2), "mode is 2"),
        (Options(Profile(tier=2)), "tier is 2"),
        (Options(Profile(buffer_alignment=3)), "buffer_alignment is 3"),
        (Options(Profile(granularity=3)), "granularity is 3"),
        (Options(Profile(large_page=4096)), "large_page is 4096"),
        (Options(Profile(tier=-1)), "tier"),
    ):
        with pytest.raises(ArgumentError, match=text):
            suballoc.allocation_info([BUFFER], options)
    with pytest.raises(ArgumentError, match="no profile 'best': there are tight, tight-8, none"):
        Profile.named("best")
    with pytest.raises(ArgumentError, match="resource 0: width"):
        suballoc.allocation_info([replace(BUFFER, width=-1)])

# SPDX-License-Identifier: MIT
"""C's rules against the naive ones, and what must hold for all descriptions, on random ones in batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import naive_rules as naive
import numpy as np
import pytest
from numpy.typing import NDArray

from guestgpu import suballoc
from guestgpu.suballoc import INFO, RESOURCE, Allocation, Mode, Options, Placement, Profile, Sdk, Usage, Verdict

PROFILES = [
    *(Profile.named(name) for name in suballoc.profile_names()),
    Profile(tier=1),  # answers the tables' maxima, has no small MSAA
    Profile(tier=1, interface_version=110, msaa_64k=1),
    Profile(tier=1, interface_version=111, msaa_64k=1, large_page=1 << 21),
    Profile(tier=1, msaa_64k=1, texture_alignment=512, msaa_alignment=1 << 20, large_page=1 << 16),
    Profile(tier=1, msaa_64k=1, buffer_alignment=4096, texture_alignment=1 << 17),  # outside of the tables
    Profile(tier=1, msaa_64k=1, granularity=1 << 17, large_page=1 << 21),
    Profile(msaa_64k=1, granularity=1 << 23),
]


def rules_sets() -> list[Options]:
    """Every profile in every mode that matters."""
    return [
        Options(profile, sdk, mode, bool(switch & 1), bool(switch & 2))
        for profile in PROFILES
        for sdk, mode in ((Sdk.V619, Mode.SPEC), (Sdk.V619, Mode.NATIVE_619), (Sdk.V618, Mode.SPEC))
        for switch in range(4)
    ]


def random_resources(rng: np.random.Generator, count: int) -> NDArray[Any]:
    """Descriptions: most make sense, a member in sixty does not. RESOURCE, shape (count,)."""
    r = np.zeros(count, RESOURCE)

    def pick(values: list[int], wrong: list[int]) -> NDArray[np.uint64]:
        odd = rng.random(count) < 1 / 60
        right = np.array(values, np.uint64)[rng.integers(0, len(values), count)]
        return np.where(odd, np.array(wrong, np.uint64)[rng.integers(0, len(wrong), count)], right)

    kind = pick([0, 1, 1, 2], [3, 2**32 - 1])
    texture = (kind == 1) | (kind == 2)
    near = 1 << rng.integers(0, 24, count).astype(np.uint64)
    width = (near + rng.integers(0, 3, count).astype(np.uint64)).astype(np.uint64) - np.uint64(1)
    odd = [0, 2**63, 2**64 - 1, 2**64 - 65536, 2**64 - 65537, 2**40]
    r["width"] = np.where(texture, width % np.uint64(600), width)
    r["width"] = np.where(rng.random(count) < 1 / 30, pick(odd, odd), r["width"])
    r["kind"] = kind
    ones = pick([0, 1], [2, 2**32 - 1])
    r["height"] = np.where(texture, pick([1, 3, 16, 64, 65, 128, 256, 300], [0, 2**32 - 1]), ones)
    r["depth_or_layers"] = np.where(texture, pick([1, 1, 1, 2, 4, 6, 17], [0, 2**32 - 1]), ones)
    r["volume"] = np.where(kind == 1, pick([0, 0, 1], [2]), pick([0], [1]))
    r["mips"] = np.where(texture, pick([0, 1, 1], [2, 5, 9, 64, 2**32 - 1]), ones)
    r["samples"] = np.where(kind == 2, pick([2, 4, 8, 16], [0, 1, 3, 32]), pick([0, 1], [2, 4]))
    r["layout"] = pick([0, 0, 0, 0, 1, 2, 3], [4])
    usage = pick([0], [1 << 11, 4])
    for bit, chance in ((1, 0.15), (2, 0.1), (16, 0.1), (0x400, 0.7)):
        usage |= np.where(rng.random(count) < chance, bit, 0).astype(np.uint64)
    r["usage"] = usage
    r["placement"] = pick([0, 0, 1, 1, 2], [3])
    block = np.where(kind == 1, pick([0, 1, 4], [5, 16, 17]), ones)
    r["block_width"], r["block_height"] = block, np.where(kind == 1, pick([0, 1, 4], [12, 17]), block)
    r["block_bytes"] = np.where(texture, pick([1, 2, 4, 8, 16, 3, 12], [0, 17, 2**32 - 1]), ones)
    asked = [0, 0, 0, 0, 1, 8, 16, 256, 512, 4096, 8192, 65536, 1 << 17, 1 << 20, 1 << 21, 1 << 22, 1 << 23]
    r["alignment"] = pick(asked, [3, 12, 65537, 2**63, 2**64 - 1])
    return r


def naive_rules(options: Options) -> naive.Rules:
    assert options.profile is not None
    device = naive.Device(**vars(options.profile))
    return naive.Rules(
        device, options.sdk == Sdk.V618, options.mode == Mode.NATIVE_619, options.small_msaa, options.reserved_buffers
    )


def info_of(infos: NDArray[Any], i: int) -> tuple[str, int, int]:
    return Verdict(infos["verdict"][i]).name, int(infos["size"][i]), int(infos["alignment"][i])


def check_against_naive(resources: NDArray[Any], options: Options, found: Allocation) -> None:
    rules, raised, first_bad = naive_rules(options), [], None
    verdicts = [Verdict(v).name for v in found.infos["verdict"].tolist()]
    rows = zip(
        resources.tolist(), verdicts, found.infos["size"].tolist(), found.infos["alignment"].tolist(), strict=True
    )
    for i, (members, *got) in enumerate(rows):
        described = naive.Described(*members)
        wanted = naive.answer(described, rules)
        assert got == [wanted.verdict, wanted.size, wanted.alignment], f"{described}\n{rules}: C {got}, naive {wanted}"
        if wanted.raised:
            raised.append(i)
        if wanted.verdict != "OK" and first_bad is None:
            first_bad = (wanted.verdict, i)
    overridden = [note.index for note in found.notes if note.verdict == Verdict.ALIGNMENT_OVERRIDDEN]
    assert overridden == raised
    if first_bad:
        assert (Verdict(found.verdict).name, found.index, found.size) == (*first_bad, naive.NOTHING)


def check_holds(resources: NDArray[Any], options: Options, found: Allocation) -> None:
    """Asking twice, reading back, and never worse than classic."""
    again = suballoc.allocation_info(resources, options)
    assert np.array_equal(again.infos, found.infos)
    assert again == replace(found, infos=again.infos)
    ok = found.infos["verdict"] == Verdict.OK
    tight = (resources["usage"] & Usage.TIGHT) != 0

    back = resources[ok].copy()
    back["alignment"] = found.infos["alignment"][ok]
    read = suballoc.allocation_info(back, options).infos
    floors_taken = np.ones(len(back), bool) if options.sdk == Sdk.V619 else ~tight[ok]
    for member in ("verdict", "size", "alignment"):
        same = read[member] == found.infos[member][ok]
        assert same[floors_taken].all(), (back[floors_taken & ~same][0], options, member)
    assert (read["verdict"][~floors_taken] == Verdict.FLOOR_UNSUPPORTED).all()

    plain = resources.copy()
    plain["usage"] &= ~np.uint32(Usage.TIGHT)
    classic = suballoc.allocation_info(plain, options).infos
    shared = (resources["usage"] & Usage.CROSS_ADAPTER) != 0  # keeps 64 KiB, even where small classic ones do not
    both = ok & tight & ~shared & (classic["verdict"] == Verdict.OK)
    page = options.profile.large_page if options.profile else 0
    paged = (resources["placement"] == Placement.COMMITTED) & (found.infos["alignment"] == page)
    no_worse = (found.infos["alignment"] <= classic["alignment"]) | paged
    assert no_worse[both].all(), (resources[both & ~no_worse][0], options)
    assert (found.infos["size"] <= classic["size"])[both].all()


def check(seed: int, count: int) -> dict[str, int]:
    """`count` descriptions, shared out among all rules; how often each verdict was met."""
    sets, met = rules_sets(), dict.fromkeys((v.name for v in Verdict), 0)
    for number, options in enumerate(sets):
        resources = random_resources(np.random.default_rng((seed, number)), -(-count // len(sets)))
        found = suballoc.allocation_info(resources, options)
        check_against_naive(resources, options, found)
        check_holds(resources, options, found)
        for verdict, times in zip(*np.unique(found.infos["verdict"], return_counts=True), strict=True):
            met[Verdict(verdict).name] += int(times)
        for note in found.notes:
            met[Verdict(note.verdict).name] += note.verdict >= Verdict.ALIGNMENT_OVERRIDDEN
    return met


def test_c_agrees_with_the_naive_rules_on_20000_descriptions() -> None:
    met = check(1, 20_000)
    # Numbers never refuse, and never answer too small a size: test_rules.py has callbacks that do.
    assert [name for name, times in met.items() if not times] == ["DRIVER_REFUSED", "DRIVER_SIZE"], met
    assert met["OK"] > 4_000


@pytest.mark.deep
def test_c_agrees_with_the_naive_rules_on_a_million_descriptions() -> None:
    check(2, 1_000_000)


def test_lists_are_laid_out_as_the_naive_rules_do() -> None:
    rng = np.random.default_rng(3)
    for _ in range(500):
        items = [(int(rng.integers(1, 100_000)), 1 << int(rng.integers(0, 23))) for _ in range(rng.integers(0, 12))]
        size, alignment, offsets = naive.lay_out(items)
        got = suballoc.lay_out(items)
        assert (got.size, got.alignment, got.offsets.tolist()) == (size, alignment, offsets)
        best = sorted(range(len(items)), key=lambda i: -items[i][1])
        assert got.order.tolist() == best
        best_size = naive.lay_out([items[i] for i in best])[0]
        assert (got.best_size, got.saved) == (best_size, size - best_size)
        shuffled = [items[i] for i in rng.permutation(len(items))]
        assert naive.lay_out(shuffled)[0] >= got.best_size


def test_a_list_of_good_resources_is_laid_out_by_its_answers() -> None:
    resources = random_resources(np.random.default_rng(4), 2_000)
    options = Options(Profile.named("tight"))
    good = resources[suballoc.allocation_info(resources, options).infos["verdict"] == Verdict.OK]
    good = good[good["width"] < 1 << 30]
    found = suballoc.allocation_info(good, options)
    items = list(zip(found.infos["size"].tolist(), found.infos["alignment"].tolist(), strict=True))
    size, alignment, offsets = naive.lay_out(items)
    assert found.infos.dtype == INFO
    assert (found.verdict, found.size, found.alignment) == (Verdict.OK, size, alignment)
    assert found.infos["offset"].tolist() == offsets
    assert found.infos["index"].tolist() == list(range(len(good)))
    assert found.saved == size - naive.lay_out(sorted(items, key=lambda item: -item[1]))[0]

# SPDX-License-Identifier: MIT
"""The estimator on simulated timings: what it must find, and what it must not."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from guestgpu.stats import (
    Comparison,
    Interval,
    StatsError,
    Verdict,
    block_means,
    compare,
    correct,
    decide,
    geomean,
    interval,
    p_value,
    schedule,
    times,
)

DEVICE = {"uuid": "00", "name": "simulated", "driver": "none", "type": "cpu", "api": "1.3.0"}
COMMON = {"experiment": "e", "point": {"n": 1}, "device": DEVICE, "host": "h", "run": "r"}


def simulate(
    effects: dict[str, float],
    seed: int,
    launches: int = 6,
    blocks: int = 20,
    noise: float = 0.03,
    launch_noise: float = 0.01,
) -> list[dict[str, Any]]:
    """Block rows of arms whose true time is 1 ms * (1 + effect): drift, spikes, and a bias an arm has in a launch."""
    rng = np.random.default_rng(seed)
    rows = []
    for launch in range(launches):
        bias = {arm: rng.normal(0, launch_noise) for arm in effects}
        drift = np.cumsum(rng.normal(0, noise, blocks * 2 * len(effects)))
        for block in range(blocks):
            order = schedule(list(effects), block, launch)
            samples = []
            for place, arm in enumerate(order):
                spike = 1.0 + (rng.random() < 0.03) * rng.exponential(1.0)
                wander = drift[block * len(order) + place] + rng.normal(0, noise)
                samples.append(round(1e6 * (1 + effects[arm]) * spike * math.exp(bias[arm] + wander)))
            measured = {"schedule": order, "samples": {"gpu": samples}}
            rows.append({**COMMON, "launch": launch, "block": block, **measured})
    return rows


def verdict_of(rows: list[dict[str, Any]], arm: str = "new") -> Comparison:
    return next(c for c in compare(rows, "base", twin="again") if c.arm == arm)


# ---- schedule ----


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_schedule_is_mirrored_and_fair(count: int) -> None:
    arms = [chr(ord("a") + i) for i in range(count)]
    first_places = Counter(schedule(arms, block, 0)[0] for block in range(2 * count))
    assert first_places == dict.fromkeys(arms, 2)
    for launch in range(3):
        for block in range(2 * count):
            order = schedule(arms, block, launch)
            assert order == order[::-1]
            assert Counter(order) == dict.fromkeys(arms, 2)


def test_schedule_turns_with_the_block_and_reverses_with_the_launch() -> None:
    assert "".join(schedule("abc", 0, 0)) == "abccba"
    assert "".join(schedule("abc", 1, 0)) == "bcaacb"
    assert "".join(schedule("abc", 0, 1)) == "cbaabc"
    assert schedule("abc", 0, 2) == schedule("abc", 0, 0)


@pytest.mark.parametrize("arms", [[], ["a", "a"]])
def test_schedule_refuses_arms_it_cannot_tell_apart(arms: list[str]) -> None:
    with pytest.raises(StatsError, match="distinct"):
        schedule(arms, 0, 0)


# ---- the estimator ----


def test_identical_arms_are_almost_never_called_different() -> None:
    alarms = sum(
        verdict_of(simulate({"base": 0, "again": 0, "new": 0}, seed)).verdict in (Verdict.FASTER, Verdict.SLOWER)
        for seed in range(100)
    )
    assert alarms <= 5


def test_identical_arms_without_floor_and_minimum_effect() -> None:
    """The interval and the correction alone already keep false alarms near 5 %."""
    alarms = 0
    for seed in range(100):
        found = compare(simulate({"base": 0, "new": 0}, 1000 + seed), "base", min_effect=0.0)
        alarms += found[0].verdict in (Verdict.FASTER, Verdict.SLOWER)
    assert alarms <= 8


def test_planted_ten_percent_is_found_on_a_busy_machine() -> None:
    found = [verdict_of(simulate({"base": 0, "again": 0, "new": 0.10}, seed, launches=8)) for seed in range(50)]
    assert sum(c.verdict is Verdict.SLOWER for c in found) >= 48
    assert all(c.gating for c in found)
    assert np.median([c.ratio.centre for c in found]) == pytest.approx(1.10, abs=0.005)


@pytest.mark.parametrize(("effect", "verdict"), [(0.05, Verdict.SLOWER), (-0.05, Verdict.FASTER)])
def test_planted_five_percent_is_found_in_six_quiet_launches(effect: float, verdict: Verdict) -> None:
    for seed in range(20):
        rows = simulate({"base": 0, "again": 0, "new": effect}, seed, noise=0.004, launch_noise=0.002)
        found = verdict_of(rows)
        assert found.verdict is verdict
        assert found.gating
        assert found.ratio.low <= 1 + effect + 0.01
        assert found.ratio.high >= 1 + effect - 0.01


def test_quiet_identical_arms_are_the_same() -> None:
    for seed in range(20):
        rows = simulate({"base": 0, "again": 0, "new": 0}, seed, noise=0.004, launch_noise=0.002)
        assert verdict_of(rows).verdict is Verdict.SAME


def test_drift_does_not_bias_the_ratio() -> None:
    """A machine that slows down steadily: measuring one arm after the other would see a difference."""
    rows = simulate({"base": 0, "new": 0}, 0, noise=1e-9, launch_noise=1e-9)
    clock = 0
    for row in rows:
        row["samples"]["gpu"] = [1_000_000 + 10_000 * (clock := clock + 1) for _ in row["schedule"]]
    assert compare(rows, "base")[0].ratio.centre == pytest.approx(1.0, abs=0.001)


def test_few_launches_never_gate() -> None:
    for launches in range(1, 6):
        found = verdict_of(simulate({"base": 0, "again": 0, "new": 0.5}, 3, launches=launches))
        assert not found.gating
        assert f"{launches} of 6 launches" in found.note


def test_an_unknown_noise_floor_never_gates() -> None:
    found = compare(simulate({"base": 0, "new": 0.5}, 3), "base")[0]
    assert found.floor is None
    assert found.verdict is Verdict.SLOWER
    assert not found.gating
    assert "noise floor" in found.note


def test_a_difference_below_the_noise_floor_is_ambiguous() -> None:
    rows = simulate({"base": 0, "again": 0.10, "new": 0.05}, 1, noise=0.002, launch_noise=0.001)
    found = verdict_of(rows)
    assert found.floor is not None
    assert found.floor > 0.09
    assert found.ratio.low > 1.03
    assert found.verdict is Verdict.AMBIGUOUS


def test_single_launch_bootstraps_over_its_blocks() -> None:
    found = verdict_of(simulate({"base": 0, "again": 0, "new": 0.10}, 5, launches=1, noise=0.004))
    assert found.ratio.launches == 1
    assert found.ratio.samples == 20
    assert found.ratio.low < found.ratio.centre < found.ratio.high


def test_a_single_block_says_nothing() -> None:
    found = verdict_of(simulate({"base": 0, "again": 0, "new": 0.5}, 5, launches=1, blocks=1))
    assert found.verdict is Verdict.AMBIGUOUS
    assert math.isinf(found.ratio.high)


@pytest.mark.parametrize(("new", "verdict"), [(1000, Verdict.SAME), (1100, Verdict.SLOWER), (900, Verdict.FASTER)])
def test_samples_without_variance(new: int, verdict: Verdict) -> None:
    """Warnings are errors in this suite: none may come from a spread of 0."""
    rows = simulate({"base": 0, "again": 0, "new": 0}, 0)
    for row in rows:
        row["samples"]["gpu"] = [new if arm == "new" else 1000 for arm in row["schedule"]]
    found = verdict_of(rows)
    assert found.verdict is verdict
    assert found.ratio.low == found.ratio.high == pytest.approx(new / 1000)
    assert found.floor == 0.0


def test_hosts_devices_points_and_metrics_are_not_pooled() -> None:
    rows = simulate({"base": 0, "new": 0}, 0, launches=2)
    for row in rows:
        row["samples"]["draw"] = list(row["samples"]["gpu"])
    other_host = [row | {"host": "other"} for row in rows]
    other_point = [row | {"point": {"n": 2}} for row in rows]
    found = compare(rows + other_host + other_point, "base")
    assert len(found) == 6
    assert {c.ratio.launches for c in found} == {2}


def test_arms_without_a_metric_are_left_out_of_it() -> None:
    """A native arm has no dispatch: its samples of that metric are null."""
    rows = simulate({"base": 0, "new": 0.5, "native": 0}, 0, launches=2)
    for row in rows:
        order = row["schedule"]
        row["samples"]["dispatch"] = [None if arm == "native" else 100 for arm in order]
    found = {(c.metric, c.arm) for c in compare(rows, "base")}
    assert found == {("gpu", "new"), ("gpu", "native"), ("dispatch", "new")}
    assert {c.metric for c in compare(rows, "native")} == {"gpu"}
    assert set(times(rows)["native"]) == {"gpu"}


def test_runs_of_one_host_are_launches_of_their_own() -> None:
    rows = simulate({"base": 0, "new": 0}, 0, launches=3)
    again = [row | {"run": "later"} for row in simulate({"base": 0, "new": 0}, 1, launches=3)]
    assert compare(rows + again, "base")[0].ratio.launches == 6


def test_many_comparisons_are_corrected() -> None:
    p = [0.001, 0.04, 0.04, 0.5]
    assert correct(p) == pytest.approx([0.004, 0.16 / 3, 0.16 / 3, 0.5])
    assert correct([]) == []
    lone = Interval(0.05, 0.04, 0.06, 6, 120)
    assert decide(lone, 0.01, q=0.04) is Verdict.SLOWER
    assert decide(lone, 0.01, q=0.06) is Verdict.AMBIGUOUS


@pytest.mark.parametrize(
    ("low", "centre", "high", "floor", "verdict"),
    [
        (0.03, 0.05, 0.07, 0.01, Verdict.SLOWER),
        (-0.07, -0.05, -0.03, 0.01, Verdict.FASTER),
        (-0.01, 0.05, 0.11, 0.01, Verdict.AMBIGUOUS),
        (-0.004, 0.0, 0.004, 0.005, Verdict.SAME),
        (0.005, 0.010, 0.015, 0.001, Verdict.SAME),  # real, but below the minimum effect
        (-0.04, 0.0, 0.04, 0.05, Verdict.SAME),  # inside the floor
        (0.03, 0.035, 0.04, 0.05, Verdict.AMBIGUOUS),  # a difference, below the floor
        (-0.06, 0.0, 0.06, 0.05, Verdict.AMBIGUOUS),
        (-math.inf, 0.0, math.inf, math.inf, Verdict.AMBIGUOUS),
    ],
)
def test_verdicts(low: float, centre: float, high: float, floor: float, verdict: Verdict) -> None:
    assert decide(Interval(centre, low, high, 6, 120), floor, min_effect=0.02) is verdict


def test_p_values() -> None:
    assert p_value([[0.0], [0.0], [0.0]]) == 1.0
    assert p_value([[0.5], [0.5], [0.5]]) == 0.0
    assert p_value([[0.1], [0.1], [0.1]]) < 1e-9  # their mean is rounded
    assert p_value([[0.1]]) == 1.0
    # Student's t of (1, 2, 3): t = 2 / (1 / sqrt 3), two degrees of freedom.
    assert p_value([[1.0], [2.0], [3.0]]) == pytest.approx(0.0741799, rel=1e-5)


def test_intervals_are_reproducible() -> None:
    groups = [[float(v) for v in np.random.default_rng(i).normal(5, 1, 20)] for i in range(6)]
    assert interval(groups, seed=1) == interval(groups, seed=1)
    assert interval(groups).low <= interval(groups).centre <= interval(groups).high


def test_times_are_medians_in_ns() -> None:
    rows = simulate({"base": 0, "new": 1.0}, 2, noise=0.001, launch_noise=0.001)
    found = times(rows)
    assert found["base"]["gpu"].centre == pytest.approx(1e6, rel=0.02)
    assert found["new"]["gpu"].centre == pytest.approx(2e6, rel=0.02)
    assert found["new"]["gpu"].samples == 6 * 20 * 2


def test_block_means_are_logarithmic() -> None:
    assert block_means(["a", "b", "b", "a"], [100, 50, 200, 400]) == pytest.approx(
        {"a": math.log(200), "b": math.log(100)}
    )


def test_bad_samples_are_named() -> None:
    with pytest.raises(StatsError, match=r"arm 'b' has a sample of 0 ns"):
        block_means(["a", "b", "b", "a"], [1, 2, 0, 3])
    with pytest.raises(StatsError, match="3 samples for a schedule of 4"):
        block_means(["a", "b", "b", "a"], [1, 2, 3])
    with pytest.raises(StatsError, match="no samples"):
        interval([[]])
    with pytest.raises(StatsError, match=r"has no arm 'gone' \(it has"):
        compare(simulate({"base": 0, "new": 0}, 0, launches=1), "gone")
    with pytest.raises(StatsError, match="minimum effect"):
        compare([], "base", min_effect=-0.1)


def test_geomean() -> None:
    assert geomean([2.0, 8.0]) == pytest.approx(4.0)
    for bad in ([], [1.0, 0.0], [1.0, math.inf]):
        with pytest.raises(StatsError, match="positive"):
            geomean(bad)

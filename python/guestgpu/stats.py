# SPDX-License-Identifier: MIT
"""Statistics of interleaved timings.

The unit of measurement is a block, in which every arm runs twice in mirrored order; the unit of
inference is the process launch. A ratio is formed inside a block, the median over the blocks of a
launch stands for that launch, and intervals are bootstrapped over launches.
"""

from __future__ import annotations

import enum
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guestgpu.errors import GuestGpuError

# The sign test over five launches cannot reach p < 0.05; with six it can.
GATING_LAUNCHES = 6
CONFIDENCE = 0.95
FALSE_DISCOVERY_RATE = 0.05
MIN_EFFECT = 0.02

_RESAMPLES = 4999


class StatsError(GuestGpuError, ValueError):
    """Samples that no statement can be made from; the message says which."""


class Verdict(enum.StrEnum):
    FASTER = "FASTER"
    SLOWER = "SLOWER"
    SAME = "SAME"
    AMBIGUOUS = "AMBIGUOUS"


@dataclass(frozen=True)
class Interval:
    """A centre with its confidence interval; infinite bounds when there is a single value."""

    centre: float
    low: float
    high: float
    launches: int
    samples: int

    def map(self, function: Callable[[float], float]) -> Interval:
        """The interval of an increasing function of the quantity."""
        return replace(self, centre=function(self.centre), low=function(self.low), high=function(self.high))


@dataclass(frozen=True)
class Comparison:
    """One arm against the base arm in one metric at one point: time(arm) / time(base)."""

    experiment: str
    point: Mapping[str, Any]
    device: str
    metric: str
    base: str
    arm: str
    ratio: Interval
    floor: float | None  # noise of an A/A pair as a relative difference: 0.01 is 1 %
    min_effect: float
    p: float
    q: float  # p after Benjamini-Hochberg over all comparisons of the call
    verdict: Verdict
    gating: bool
    note: str  # why the verdict does not gate, else ""


def schedule(arms: Sequence[str], block: int, launch: int) -> list[str]:
    """The mirrored order of one block: A B C C B A.

    The first half is rotated by the block's number, so that no arm keeps the outer places, and
    reversed in odd launches.
    """
    if not arms or len(set(arms)) != len(arms):
        raise StatsError(f"arms must be distinct and at least one: {list(arms)}")
    turn = block % len(arms)
    half = [*arms[turn:], *arms[:turn]]
    if launch % 2:
        half.reverse()
    return half + half[::-1]


def block_means(order: Sequence[str], samples: Sequence[int | None]) -> dict[str, float]:
    """Per arm the mean of the logarithms of its samples (ns) in one block; arms without the metric are absent."""
    if len(order) != len(samples):
        raise StatsError(f"{len(samples)} samples for a schedule of {len(order)}")
    logs: dict[str, list[float]] = {}
    for arm, sample in zip(order, samples, strict=True):
        if sample is None:
            continue
        if sample <= 0:
            raise StatsError(f"arm {arm!r} has a sample of {sample} ns: the clock did not resolve it")
        logs.setdefault(arm, []).append(math.log(sample))
    return {arm: sum(values) / len(values) for arm, values in logs.items()}


def interval(groups: Sequence[Sequence[float]], confidence: float = CONFIDENCE, seed: int = 0) -> Interval:
    """Median over launches with a percentile bootstrap interval; groups[i] are the values of launch i.

    With one launch the bootstrap is over its values, which says nothing about other launches.
    """
    groups = [group for group in groups if len(group)]
    if not groups:
        raise StatsError("no samples")
    values = _launch_values(groups)
    centre = float(np.median(values))
    count = sum(len(group) for group in groups)
    if len(values) < 2:
        return Interval(centre, -math.inf, math.inf, len(groups), count)
    low, high = _bootstrap_median(values, confidence, seed)
    return Interval(centre, low, high, len(groups), count)


def p_value(groups: Sequence[Sequence[float]]) -> float:
    """Two-sided p of "the launches centre on 0", by Student's t.

    The bootstrap of a handful of launches cannot resolve the small p that a correction for many
    comparisons needs.
    """
    values = _launch_values([group for group in groups if len(group)])
    if len(values) < 2:
        return 1.0
    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    from scipy.stats import t

    return float(2.0 * t.sf(abs(mean) / spread * math.sqrt(len(values)), len(values) - 1))


def correct(p_values: Sequence[float]) -> list[float]:
    """Benjamini-Hochberg adjusted p-values, in the order given."""
    if not p_values:
        return []
    from scipy.stats import false_discovery_control

    return [float(q) for q in false_discovery_control(np.asarray(p_values, dtype=np.float64), method="bh")]


def decide(log_ratio: Interval, floor: float | None, min_effect: float = MIN_EFFECT, q: float = 0.0) -> Verdict:
    """The verdict on an interval of log(time / base time).

    floor and min_effect are relative differences. A difference counts when the interval excludes 0, it
    is at least as large as both, and it survives the correction (q). The times are the same when the
    whole interval is too small to matter, or includes 0 and lies inside the noise floor.
    """
    least = math.log1p(max(min_effect, floor or 0.0))
    if q <= FALSE_DISCOVERY_RATE and abs(log_ratio.centre) >= least:
        if log_ratio.high < 0.0:
            return Verdict.FASTER
        if log_ratio.low > 0.0:
            return Verdict.SLOWER
    widest = max(abs(log_ratio.low), abs(log_ratio.high))
    inside_floor = log_ratio.low <= 0.0 <= log_ratio.high and widest <= least
    if math.isfinite(widest) and (widest <= math.log1p(min_effect) or inside_floor):
        return Verdict.SAME
    return Verdict.AMBIGUOUS


def compare(
    blocks: Iterable[Mapping[str, Any]],
    base: str,
    twin: str | None = None,
    min_effect: float = MIN_EFFECT,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> list[Comparison]:
    """Compares every arm with the base arm, for each experiment, point, device and metric among the block rows.

    blocks: rows as results.timed_blocks() returns them. twin: the arm that is the base once more; its
    difference from the base is the noise floor of its group and is not reported as a comparison.
    Raises StatsError where a group has no base arm.
    """
    if not min_effect >= 0.0:
        raise StatsError(f"the minimum effect is a relative difference of at least 0, not {min_effect}")
    groups: dict[tuple[str, ...], dict[str, dict[tuple[str, int], list[float]]]] = {}
    example: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for row in blocks:
        point = json.dumps(row["point"], sort_keys=True)
        device = row["device"]
        for metric, samples in row["samples"].items():
            means = block_means(row["schedule"], samples)
            if base not in row["schedule"]:
                raise StatsError(f"{row['experiment']} {point} has no arm {base!r} (it has {', '.join(means)})")
            if base not in means:  # the base does not have this metric: nothing to compare with
                continue
            # A software device has the same UUID everywhere, and hosts are never pooled.
            identity = (device["uuid"], device["name"], device["driver"], row["host"])
            group = (metric, row["experiment"], point, *identity)
            example.setdefault(group, row)
            arms = groups.setdefault(group, {})
            for arm, mean in means.items():
                launches = arms.setdefault(arm, {})
                launches.setdefault((row["run"], row["launch"]), []).append(mean - means[base])

    found: list[Comparison] = []
    for key, arms in groups.items():
        row = example[key]
        floor = None
        if twin is not None and twin in arms:
            noise = interval(list(arms[twin].values()), confidence, seed)
            floor = _difference(max(abs(noise.low), abs(noise.high)))
        for arm, launches in arms.items():
            if arm in (base, twin):
                continue
            ratios = list(launches.values())
            found.append(
                Comparison(
                    experiment=row["experiment"],
                    point=row["point"],
                    device=row["device"]["name"],
                    metric=key[0],
                    base=base,
                    arm=arm,
                    ratio=interval(ratios, confidence, seed),
                    floor=floor,
                    min_effect=min_effect,
                    p=p_value(ratios),
                    q=1.0,
                    verdict=Verdict.AMBIGUOUS,
                    gating=False,
                    note="",
                )
            )
    return [_judge(c, q) for c, q in zip(found, correct([c.p for c in found]), strict=True)]


def times(blocks: Iterable[Mapping[str, Any]], confidence: float = CONFIDENCE) -> dict[str, dict[str, Interval]]:
    """Median time in ns of each arm and metric, {arm: {metric: interval}}; for the rows of one point."""
    samples: dict[str, dict[str, dict[tuple[str, int], list[float]]]] = {}
    for row in blocks:
        for metric, values in row["samples"].items():
            for arm, value in zip(row["schedule"], values, strict=True):
                if value is None:
                    continue
                launches = samples.setdefault(arm, {}).setdefault(metric, {})
                launches.setdefault((row["run"], row["launch"]), []).append(float(value))
    return {
        arm: {metric: interval(list(launches.values()), confidence) for metric, launches in metrics.items()}
        for arm, metrics in samples.items()
    }


def geomean(ratios: Sequence[float]) -> float:
    """Geometric mean of positive numbers."""
    if not ratios or not all(ratio > 0.0 and math.isfinite(ratio) for ratio in ratios):
        raise StatsError(f"a geometric mean needs positive, finite numbers: {list(ratios)}")
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def _launch_values(groups: Sequence[Sequence[float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    if len(groups) == 1:
        return np.asarray(groups[0], dtype=np.float64)
    return np.array([np.median(group) for group in groups], dtype=np.float64)


def _bootstrap_median(
    values: np.ndarray[Any, np.dtype[np.float64]], confidence: float, seed: int
) -> tuple[float, float]:
    # SciPy takes half a second to load; the timed processes, which need schedule() only, are spared it.
    from scipy.stats import bootstrap

    # SciPy 1.15 renamed the argument.
    rng = "rng" if "rng" in inspect.signature(bootstrap).parameters else "random_state"
    result = bootstrap(
        (values,),
        np.median,
        confidence_level=confidence,
        n_resamples=_RESAMPLES,
        method="percentile",
        vectorized=True,
        **{rng: np.random.default_rng(seed)},
    )
    low, high = result.confidence_interval
    return float(low), float(high)


def _difference(log_ratio: float) -> float:
    return math.expm1(log_ratio) if log_ratio < 700.0 else math.inf


def _ratio(log_ratio: float) -> float:
    return math.exp(log_ratio) if log_ratio < 700.0 else math.inf


def _judge(comparison: Comparison, q: float) -> Comparison:
    """Turns a comparison that still holds log ratios into the finished one."""
    notes = []
    if comparison.ratio.launches < GATING_LAUNCHES:
        notes.append(f"{comparison.ratio.launches} of {GATING_LAUNCHES} launches")
    if comparison.floor is None:
        notes.append("no A/A pair, so the noise floor is unknown")
    return replace(
        comparison,
        ratio=comparison.ratio.map(_ratio),
        q=q,
        verdict=decide(comparison.ratio, comparison.floor, comparison.min_effect, q),
        gating=not notes,
        note="; ".join(notes),
    )

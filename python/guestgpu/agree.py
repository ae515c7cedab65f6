# SPDX-License-Identifier: MIT
"""Whether translated programs do what they should: on a device, against the interpreter and against what they came
from. The experiment translator_agree runs this over folders; `guestgpu repro` runs one case again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from guestgpu import agree_case, errors, interpreter, translation
from guestgpu.agree_case import Case
from guestgpu.device import Device, validate_spirv, versions
from guestgpu.experiment import Emit

EQUAL, DIFFERS, REFUSED, FAILED = "equal", "differs", "refused", "failed"
INTERPRETER = 0
"""Stands for k where an outcome is the interpreter's."""
_REFUSALS = (errors.Unsupported, errors.FormatError, errors.LimitExceeded, errors.ValidationError)
_DEVICE_S = 300.0  # lavapipe compiles within the first submission


@dataclass(frozen=True)
class Outcome:
    """What came of a case in one way: on the interpreter, or translated with k lanes an invocation."""

    k: int
    status: str
    text: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def way(self) -> str:
        return f"k{self.k}" if self.k else "interpreter"


def lane_choices(device: Device, case: Case, quick: bool = False) -> tuple[int, ...]:
    """Every k that applies; quick: the least and the most."""
    try:
        found = translation.lane_choices(case.program, device)
    except _REFUSALS:  # by any k: check() says how
        found = (case.program.wave,)
    return tuple(dict.fromkeys((min(found), max(found)))) if quick else found


def translate(device: Device, case: Case, k: int, barriers: str = "auto") -> translation.Module:
    """The case's module for a device, as spirv-val accepts it."""
    options = translation.options_for(device, case.program.wave, k, barriers=barriers)
    module = translation.translate(case.program, options)
    validate_spirv(module.words)
    return module


def check(device: Device, case: Case, ks: Sequence[int], barriers: str = "auto") -> Iterator[Outcome]:
    """The interpreter's outcome, then that of each k. Device errors come through."""
    original = case.original(device)
    windows = case.memory()
    begun = time.perf_counter()
    reference: list[NDArray[Any]] | None = None
    counters: tuple[int, int] | None = None
    try:
        ran = interpreter.interpret(case.program, windows, groups=case.groups, first_group=case.first_group)
        reference, counters = case.results(windows), (ran.reads_outside, ran.writes_outside)
        yield _compared(
            INTERPRETER, [("original", original)], case, reference,
            {"instructions": ran.instructions, "ms": 1e3 * (time.perf_counter() - begun)},
        )  # fmt: skip
    except _REFUSALS as error:
        yield Outcome(INTERPRETER, REFUSED, str(error))
    for k in ks:
        yield _translated(device, case, k, barriers, original, reference, counters)


def _translated(
    device: Device, case: Case, k: int, barriers: str, original: list[NDArray[Any]] | None,
    reference: list[NDArray[Any]] | None, counters: tuple[int, int] | None,
) -> Outcome:  # fmt: skip
    try:
        begun = time.perf_counter()
        module = translate(device, case, k, barriers)
        spent = time.perf_counter() - begun
    except _REFUSALS as error:
        return Outcome(k, REFUSED, str(error))
    figures = {name: float(v) for name, v in vars(module.report).items() if isinstance(v, int) and name in _REPORTED}
    figures |= {"words": len(module.words), "translate_us": 1e6 * spent}
    windows = case.memory()
    try:
        found = translation.run(device, case.program, module, windows, case.groups, timeout_s=_DEVICE_S)
    except errors.DeviceLost:
        raise
    except errors.DeviceError as error:  # a driver that cannot make one pipeline may make the next
        return Outcome(k, FAILED, str(error), figures)
    figures |= {"pipeline_ms": found.pipeline_ms, "submit_ms": found.submit_ms}
    if counters is not None and (found.reads_outside, found.writes_outside) != counters:
        got = (found.reads_outside, found.writes_outside)
        return Outcome(k, DIFFERS, f"from the interpreter: {got} accesses outside, not {counters}", figures)
    return _compared(k, [("interpreter", reference), ("original", original)], case, case.results(windows), figures)


_REPORTED = ("instructions", "blocks", "loops", "irreducible_loops", "barriers", "phases", "values", "invocations")


def _compared(
    k: int, references: Sequence[tuple[str, list[NDArray[Any]] | None]], case: Case, got: list[NDArray[Any]],
    figures: Mapping[str, float],
) -> Outcome:  # fmt: skip
    for name, wanted in references:
        difference = "" if wanted is None else case.difference(wanted, got)
        if difference:
            return Outcome(k, DIFFERS, f"from the {name}: {difference}", figures)
    return Outcome(k, EQUAL, figures=figures)


# ---- a program's cell of the experiment ----


def measure(request: dict[str, Any], emit: Emit) -> None:
    """All variants of one program, each in every way; one row that says what came of them."""
    with Device.open(request["device"]) as device:
        emit("env", device=device.info.provenance, details={}, versions={"gpu": versions()})
        figures: dict[str, dict[str, float | None]] = {}
        failed: list[tuple[str, str]] = []
        for case in _cases(request):
            ks = lane_choices(device, case, request["quick"])
            for outcome in check(device, case, ks, request["barriers"]):
                key = f"{case.name if ':' in case.name else ''} {case.variant} {outcome.way}".strip()
                statuses = {status: float(outcome.status == status) for status in (EQUAL, DIFFERS, REFUSED, FAILED)}
                figures[key] = {**statuses, "original": float(_has_original(case)), **outcome.figures}
                if outcome.status != EQUAL:
                    text = f"{key}: {outcome.status} {outcome.text}{_kept(case, outcome, request)}"
                    failed.append((outcome.status, text))
        status = "ok" if not failed else "mismatch" if any(kind == DIFFERS for kind, _ in failed) else "error"
        emit(
            "cell", status=status, reason="; ".join(text for _, text in failed) or None, clock=None,
            correctness="checked" if not failed else "not equal", figures=figures,
        )  # fmt: skip


def _cases(request: Mapping[str, Any]) -> Iterator[Case]:
    path, name = Path(request["path"]), str(request["point"]["program"])
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            yield agree_case.load(file)
        return
    for variant in agree_case.variants(path, request["quick"]):
        yield from agree_case.compile_cases(path, name, variant, request["seed"])


def _has_original(case: Case) -> bool:
    return case.host is not None or case.module is not None


def _kept(case: Case, outcome: Outcome, request: Mapping[str, Any]) -> str:
    """Saves a failing case; says where."""
    kernel = case.name.rpartition(":")[2] if ":" in case.name else ""
    name = re.sub(r"\W+", "_", f"{request['point']['program']} {kernel} {case.variant} {outcome.way}")
    path = Path(request["out"]) / f"repro-{name}.json"
    agree_case.save(path, case, k=outcome.k, barriers=request["barriers"], difference=outcome.text)
    return f"; guestgpu repro {path}"


def save_cases(path: Path, name: str, quick: bool, seed: int, folder: Path) -> int:
    """Compiles a program in all variants into FOLDER/NAME/VARIANT.json; returns how many cases there are."""
    into = folder / re.sub(r"[^\w.]+", "__", name)
    count = 0
    for variant in agree_case.variants(path, quick):
        for case in agree_case.compile_cases(path, name, variant, seed):
            called = re.sub(r"[^A-Za-z0-9.]+", "_", f"{case.variant}{case.name.removeprefix(name)}")
            agree_case.save(into / f"{called}.json", case)
            count += 1
    return count


def rerun(device: Device, path: Path, content: Mapping[str, Any]) -> str:
    """Runs a saved case again as it failed: "" or what is wrong with it still."""
    case = agree_case.of_content(path, content)
    k, barriers = int(content.get("k", INTERPRETER)), str(content.get("barriers", "auto"))
    for outcome in check(device, case, [k] if k else [], barriers):
        if outcome.status != EQUAL:
            return f"{case.name} {case.variant} {outcome.way}: {outcome.status} {outcome.text}"
    return ""

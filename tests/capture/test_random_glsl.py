# SPDX-License-Identifier: MIT
"""Random shaders: the same text everywhere, made of all that they promise, and the same results on every path."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from recordings import need_guest_driver

from guestgpu import device as gpu
from guestgpu import guest, interpreter, translation
from guestgpu.guest import GuestProgram
from guestgpu.original import run_original
from guestgpu.random_glsl import Options, generate

MANY = 300
Path = Callable[[GuestProgram], list[gpu.Words]]


@pytest.fixture(scope="module")
def sources() -> list[str]:
    return [generate(seed) for seed in range(MANY)]


def test_a_seed_is_a_text(sources: list[str]) -> None:
    assert len(set(sources)) == MANY
    code = f"from guestgpu.random_glsl import generate; print(*map(generate, range({MANY})), sep='', end='')"
    for salt in "1", "2":
        ran = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": salt, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert hashlib.sha256(ran.stdout.encode()).digest() == hashlib.sha256("".join(sources).encode()).digest()


def structures(source: str) -> Iterator[str]:
    """Each line of main with the heads of the structures that it is in: "for if barrier();"."""
    heads: list[str] = []
    head = ""
    for line in source[source.index("void main") :].splitlines()[2:]:
        text = line.strip()
        if text.endswith("{"):
            word = text.split(" ")[0].rstrip("{")
            heads.append(word or head)
        elif text == "}":
            if heads:
                heads.pop()
        else:
            head = text.split(" ")[0]
            yield " ".join([*heads, text])


def test_programs_have_what_they_promise(sources: list[str]) -> None:
    """How often, so that a change that loses something is seen."""
    seen: Counter[str] = Counter()
    patterns = {
        "a barrier in a loop": r"\b(for|do)\b.*barrier\(\);$",
        "a barrier in a branch": r"\b(if|else)\b.*barrier\(\);$",
        "a barrier in a switch": r"\b(case|default:|switch).*barrier\(\);$",
        "a barrier in a loop in a loop": r"\b(for|do) .*\b(for|do)\b.*barrier\(\);$",
        "a loop in a loop": r"\b(for|do) (\w+ )*(for|do) ",
        "a switch in a loop": r"\b(for|do)\b.* switch ",
        "a break": r"break;$",
        "a continue": r"continue;$",
        "an early return": r"if return;$|if .*return;$",
        "an atomic in LDS": r"atomic\w+\(totals",
        "an atomic in a buffer": r"atomic\w+\(sums",
        "a store in a branch": r"\bif .*data\[i",
        "a word of another thread": r"words\[[^l]",
        "a clustered operation": r"subgroupClustered",
        "a shuffle": r"subgroupShuffleXor",
        "a quad": r"subgroupQuad",
        "a ballot of those that are there": r"subgroupBallot\(true\)",
        "a sum of those that are there": r"subgroupAdd",
        "a division": r" / \(",
        "a call": r"\bf[01]\(",
    }
    for source in sources:
        lines = list(structures(source))
        seen.update(name for name, pattern in patterns.items() if any(re.search(pattern, line) for line in lines))
    missing = {name: seen[name] for name in patterns if seen[name] < MANY // 20}
    assert not missing, f"in fewer than a twentieth of the programs: {missing}"


def test_options() -> None:
    for seed in range(40):
        plain = generate(seed, Options(barriers=False, subgroups=False, size=40))
        assert plain.count("barrier()") == 1, "after LDS is filled"
        assert "local_size_x = 40" in plain
        assert "subgroup" not in re.sub("#extension.*", "", plain)
        assert not re.search(r"\bwords\[[^l]", plain.partition("void main")[2]), "words of others need a barrier"
    sizes = [len(generate(seed, Options(statements=n))) for n in (5, 40) for seed in range(20)]
    assert sum(sizes[:20]) * 2 < sum(sizes[20:])


def balanced(source: str) -> bool:
    """Between two barriers of a straight line LDS is either written or read by others; the generator's main rule."""
    written = read = False
    for line in structures(source):
        if line.endswith("barrier();"):
            written = read = False
        written = written or bool(re.search(r"words\[lane [^=]*\] = |atomic\w+\(totals", line))
        read = read or bool(re.search(r"words\[(?!lane \+ )|[^(]totals\[", line))
        if written and read:
            return False
    return True


def test_no_phase_both_writes_and_reads_lds(sources: list[str]) -> None:
    assert all(map(balanced, sources))
    assert not balanced("void main()\n{\n    words[lane + 0u] = 1u;\n    v0 = words[v1 % 64u];\n}\n")


def compiled(seed: int) -> tuple[gpu.Words, GuestProgram]:
    """Wave32 and wave64 by turns."""
    need_guest_driver()
    module = gpu.compile_glsl_text(generate(seed), f"seed {seed}", gpu.Stage.COMPUTE)
    options = guest.Options(wave=(64, 32)[seed % 2], groups=(3, 1, 1), seed=seed)
    return module, guest.compile_spirv(module, f"seed {seed}", options)


def on_interpreter(program: GuestProgram, schedule_seed: int = 0) -> list[gpu.Words]:
    memory = program.memory()
    report = interpreter.interpret(
        program.program(), memory, groups=program.dispatch.groups, schedule_seed=schedule_seed
    )
    assert report.reads_outside == report.writes_outside == report.lds_outside == 0
    return program.results(memory)


def on_translator(device: gpu.Device, program: GuestProgram) -> list[gpu.Words]:
    """By turns in each form that applies."""
    guest_program, memory = program.program(), program.memory()
    choices = translation.lane_choices(guest_program, device)
    lanes = choices[sum(program.push) % len(choices)]
    module = translation.translate(guest_program, translation.options_for(device, guest_program.wave, lanes))
    translation.run(device, guest_program, module, memory, program.dispatch.groups)
    return program.results(memory)


def differences(program: GuestProgram, got: list[gpu.Words], wanted: list[gpu.Words]) -> list[str]:
    return [
        f"binding {b.binding}, word {np.flatnonzero(x != y)[0]}"
        for b, x, y in zip(program.bindings, got, wanted, strict=True)
        if (x != y).any()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_interpreter_agrees_with_the_device(seed: int, device: gpu.Device) -> None:
    module, program = compiled(seed)
    got = on_interpreter(program)
    assert differences(program, got, run_original(device, module, program)) == []
    assert differences(program, got, on_interpreter(program, schedule_seed=seed + 1)) == [], "in another order of waves"


def on_device(first: int, device: gpu.Device, path: Path) -> list[str]:
    """What differs from the originals of twenty seeds."""
    found = []
    for seed in range(first, first + 20):
        module, program = compiled(seed)
        wanted = run_original(device, module, program)
        found += [f"seed {seed}: {text}" for text in differences(program, path(program), wanted)]
    return found


@pytest.mark.deep
@pytest.mark.parametrize("first", range(0, 2000, 20))
def test_many_programs_agree_on_the_interpreter(first: int, device: gpu.Device) -> None:
    assert on_device(first, device, on_interpreter) == []


@pytest.mark.deep
@pytest.mark.parametrize("first", range(0, 2000, 20))
def test_many_programs_agree_translated(first: int, device: gpu.Device) -> None:
    assert on_device(first, device, lambda program: on_translator(device, program)) == []

# SPDX-License-Identifier: MIT
"""The forms a module takes: lanes an invocation, run cut and phase loop; which apply, which are refused, and why."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from assembler import BARRIER_LOOP, assemble
from observe import Case, case
from test_translate import agree, random_case

from guestgpu import translation
from guestgpu.device import Device, validate_spirv
from guestgpu.errors import ArgumentError, Unsupported
from guestgpu.interpreter import Program
from guestgpu.translation import Options, lane_choices, options_for

EXCHANGE = """
    v_lshl_add_u32 v1, s2, 6, v0
    v_lshlrev_b32 v2, 2, v1
    ds_write_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_xor_b32 v3, 0x100, v2
    ds_read_b32 v4, v3
    s_waitcnt lgkmcnt(0)
"""
"""Two waves of 64: each thread writes its id, waits, and reads the word of thread id ^ 64."""


def reduction() -> str:
    """256 threads in four waves add their squares in LDS; eight barriers, no branch across one."""
    lines = [
        "v_lshl_add_u32 v1, s2, 6, v0",
        "v_lshlrev_b32 v2, 2, v1",
        "v_mul_lo_u32 v3, v1, v1",
        "ds_write_b32 v2, v3",
    ]
    for half in (128, 64, 32, 16, 8, 4, 2, 1):
        lines += [
            "s_waitcnt lgkmcnt(0)", "s_barrier", f"v_cmp_gt_u32_e64 s[4:5], 0x{half:x}, v1" if half <= 64 else
            f"s_movk_i32 s6, 0x{half:x}\nv_cmp_gt_u32_e64 s[4:5], s6, v1", "s_and_saveexec_b64 s[8:9], s[4:5]",
            f"ds_read_b32 v4, v2 offset:{4 * half}", "ds_read_b32 v5, v2", "s_waitcnt lgkmcnt(0)",
            "v_add_nc_u32 v5, v5, v4", "ds_write_b32 v2, v5", "s_mov_b64 exec, s[8:9]",
        ]  # fmt: skip
    return "\n".join([*lines, "ds_read_b32 v6, v2", "s_waitcnt lgkmcnt(0)"])


SUM_OF_SQUARES = sum(n * n for n in range(256))


# ---- run cut and phases ----


def lanes_for(made: Case, device: Device, barriers: str) -> list[int]:
    """`strict` never lets lanes that are apart meet."""
    apart = translation.translate(made.program, options_for(device, made.program.wave, 1)).report.subgroup == 0
    choices = lane_choices(made.program, device)
    return [k for k in choices if not (k == 1 and apart and barriers == "strict")]


@pytest.mark.parametrize("barriers", ["strict", "phase", "auto"])
def test_two_waves_exchange(barriers: str, device: Device) -> None:
    made = case(EXCHANGE, wave=64, waves=2, vectors=[4], lds_bytes=512)
    for lanes in lanes_for(made, device, barriers):
        seen = made.translated(device, lanes, barriers=barriers)
        assert np.array_equal(seen.vector[4], np.arange(128).reshape(2, 64) ^ 64)


@pytest.mark.parametrize("barriers", ["strict", "auto"])
def test_reduction_with_eight_barriers(barriers: str, device: Device) -> None:
    made = case(reduction(), wave=64, waves=4, vectors=[6], lds_bytes=1024)
    assert made.interpreted().vector[6][0, 0] == SUM_OF_SQUARES
    for lanes in lanes_for(made, device, barriers):
        assert made.translated(device, lanes, barriers=barriers).vector[6][0, 0] == SUM_OF_SQUARES


def test_the_report_says_how_each_barrier_is_met(device: Device) -> None:
    program = case(EXCHANGE, wave=64, waves=2, vectors=[4], lds_bytes=512).program
    choices = {}
    for barriers in ("strict", "phase", "auto"):
        report = translation.translate(program, Options(barriers=barriers)).report
        (barrier,) = [d for d in report.decisions if d.subject == "barrier"]
        choices[barriers] = barrier.choice
        assert barrier.reason
        assert program.words[barrier.offset // 4] == 0xBF8A0000
    assert choices == {"strict": "run cut", "phase": "phase", "auto": "phase"}
    alone = case("s_barrier", vectors=[0]).program
    report = translation.translate(alone).report
    assert [d.choice for d in report.decisions if d.subject == "barrier"] == ["one wave"]
    forced = translation.translate(alone, Options(barriers="phase")).report
    assert (forced.phases, report.phases) == (1, 0)


def test_strict_refuses_a_loop_around_a_barrier(device: Device) -> None:
    """By the rule's name, with the offsets of the branch and of the barrier."""
    made = case(BARRIER_LOOP, waves=2, vectors=[3], lds_bytes=512)
    words = made.program.words.tolist()
    branch = next(i for i, word in enumerate(words) if word >> 16 == 0xBF85)
    barrier = words.index(0xBF8A0000)
    pattern = (
        rf"offset 0x{4 * branch:x}: branch_between_runs: s_cbranch_scc1 leads back .* s_barrier at 0x{4 * barrier:x}"
    )
    with pytest.raises(Unsupported, match=pattern):
        translation.translate(made.program, Options(barriers="strict"))


def test_strict_refuses_a_way_around_a_barrier() -> None:
    text = "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 L0\ns_barrier\nL0: s_endpgm"
    program = Program(words=assemble(text), vgprs=8, threads=(64,))
    with pytest.raises(
        Unsupported, match=r"offset 0x4: branch_between_runs: s_cbranch_scc1 leads on to 0xc, over the s_b"
    ):
        translation.translate(program, Options(barriers="strict"))
    assert translation.translate(program).report.phases == 1


def test_strict_lets_one_wave_branch_over_its_barrier() -> None:
    text = "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 L0\ns_barrier\nL0: s_endpgm"
    program = Program(words=assemble(text), vgprs=8, threads=(32,))
    translation.translate(program, Options(barriers="strict"))


def test_an_ended_wave_passes_the_other_runs_barriers(device: Device) -> None:
    """Wave 0 ends before the barrier, by an s_endpgm of its own run; the others meet without it."""
    text = """
        s_mov_b32 s10, 0
        s_cmp_eq_u32 s2, 0
        s_cbranch_scc0 L0
        s_endpgm ; case() takes a bare one away
        L0: v_lshlrev_b32 v2, 2, v0
        s_cmp_eq_u32 s2, 1
        s_cselect_b32 s4, 0x80, 0
        v_mov_b32 v3, s2
        v_add_nc_u32 v4, s4, v2
        ds_write_b32 v4, v3
        s_waitcnt lgkmcnt(0)
        s_barrier
        s_xor_b32 s5, s4, 0x80
        v_add_nc_u32 v5, s5, v2
        ds_read_b32 v6, v5
        s_waitcnt lgkmcnt(0)
    """
    made = case(text, waves=3, vectors=[6], lds_bytes=512)
    for barriers in ("strict", "phase"):
        for lanes in lanes_for(made, device, barriers):
            seen = made.translated(device, lanes, barriers=barriers).vector[6]
            assert [set(row) for row in seen.tolist()] == [{0}, {2}, {1}]


# ---- lanes ----


def test_lanes_that_do_not_fit_are_named() -> None:
    program = random_case(3, 64).program
    with pytest.raises(ArgumentError, match="3 lanes an invocation; with waves of 64 and subgroups of 8, 64, 8"):
        translation.translate(program, Options(3, subgroup=8))
    with pytest.raises(ArgumentError, match="subgroups of 12, must be a power of two"):
        translation.translate(program, Options(subgroup=12))
    with pytest.raises(ArgumentError, match="flow 'tree' is none of"):
        translation.translate(program, Options(flow="tree"))


@pytest.mark.parametrize(
    ("text", "threads", "why"),
    [
        ("v_cmp_lt_u32 vcc_lo, 5, v0\ns_cbranch_vccz L0\nL0: s_endpgm", 64, "0x4: 1 lane an invocation: any needs"),
        ("v_readfirstlane_b32 s4, v0\nglobal_store_dword v0, v0, s[4:5]\ns_endpgm", 64, "0x0: 1 lane"),
        ("ds_write_b32 v0, v0\nds_read_b32 v1, v0\nglobal_store_dword v0, v1, s[0:1]\ns_endpgm", 32, "one wave loads"),
    ],
)
def test_lanes_apart_are_refused_where_they_meet(text: str, threads: int, why: str) -> None:
    program = Program(words=assemble(text), vgprs=8, threads=(threads,), rsrc2=2 << 1, lds_bytes=512)
    with pytest.raises(ArgumentError, match=why):
        translation.translate(program, Options(1, subgroup=8))


def test_lanes_apart(device: Device) -> None:
    """Lanes that never meet run one an invocation on a device of any subgroup size; waves still meet at barriers."""
    made = case(EXCHANGE, wave=64, waves=2, vectors=[4], lds_bytes=512)
    assert 1 in lane_choices(made.program, device)
    report = translation.translate(made.program, options_for(device, 64, 1)).report
    assert (report.subgroup, report.invocations) == (0, 128)
    with pytest.raises(Unsupported, match="group_meets"):
        translation.translate(made.program, options_for(device, 64, 1, barriers="strict"))


@pytest.mark.parametrize("threads", [1, 31, 33, 70, 100])
def test_partial_last_waves(threads: int, device: Device) -> None:
    """Lanes beyond the group's threads exist in no form: not in EXEC, not in ballots, and they store nothing."""
    words = assemble(
        """s_mov_b32 s6, exec_lo
           v_mov_b32 v1, 1
           v_lshlrev_b32 v2, 2, v0
           v_mov_b32 v3, s6
           global_atomic_add v2, v1, s[0:1]
           global_atomic_add v2, v3, s[0:1] offset:1024
           s_endpgm"""
    )
    program = Program(words=words, vgprs=8, threads=(threads,), rsrc2=2 << 1, user_data=(0x10000, 0))
    results = []
    for lanes in lane_choices(program, device):
        memory = np.zeros(512, np.uint32)
        module = translation.translate(program, options_for(device, 32, lanes))
        translation.run(device, program, module, {0x10000: memory})
        results.append(memory)
    assert results[0][:256].tolist() == [1] * threads + [0] * (256 - threads)
    masks = [(1 << min(32, threads - 32 * (n // 32))) - 1 for n in range(threads)]
    assert results[0][256 : 256 + threads].tolist() == masks
    assert all(np.array_equal(results[0], other) for other in results)


def test_every_subgroup_size_gives_valid_modules() -> None:
    """Also those that no device here has; k from 1 to 16, with what each needs in the report."""
    for wave in (32, 64):
        program = random_case(5, wave).program
        for subgroup in (4, 8, 16, 32, 64):
            if subgroup > wave:
                continue
            for reconverge in (translation.Reconverge.STRUCTURE, translation.Reconverge.UNIFORM):
                module = translation.translate(program, Options(subgroup=subgroup, reconverge=reconverge))
                validate_spirv(module.words)
                assert (module.report.lanes, module.report.subgroup) == (wave // subgroup, subgroup)
                assert module.report.reconverge == reconverge
                assert module.report.features & translation.Feature.SUBGROUP_SHUFFLE


# ---- golden hashes ----

GOLDEN = Path(__file__).parent / "golden" / "one_wave.json"


def golden_programs() -> dict[str, Case]:
    made = {f"random_{seed}_w{wave}": random_case(seed, wave, 40) for seed in range(4) for wave in (32, 64)}
    made["barrier_loop"] = case(BARRIER_LOOP, vectors=[3], lds_bytes=512)
    made["exchange"] = case(EXCHANGE, wave=64, vectors=[4], lds_bytes=512)
    return made


def test_modules_of_one_wave_are_what_they_were(request: pytest.FixtureRequest) -> None:
    """Wave mode, one loop: byte for byte. Update with --update-golden, on purpose only."""
    hashes = {}
    for name, made in golden_programs().items():
        module = translation.translate(made.program)
        assert module.report.phases == 0
        hashes[name] = hashlib.sha256(module.words.tobytes()).hexdigest()
    if request.config.getoption("--update-golden"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(json.dumps(hashes, indent=1) + "\n")
    assert hashes == json.loads(GOLDEN.read_text())


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(3))
def test_random_operations_in_several_waves(seed: int, device: Device) -> None:
    for wave in (32, 64):
        agree(random_case(40 + seed, wave, 40, waves=2), device)

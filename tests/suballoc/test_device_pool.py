# SPDX-License-Identifier: MIT
"""A pool in a device's memory, and what the device asks of resources."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from guestgpu import device_pool, suballoc
from guestgpu.cli import cli
from guestgpu.device import Device
from guestgpu.device_pool import QUERY, DevicePool
from guestgpu.errors import ArgumentError, GuestGpuError, LimitExceeded
from guestgpu.pool import Place
from guestgpu.suballoc import Options, Profile

MIB = 1 << 20


def test_a_hundred_thousand_patterns(device: Device) -> None:
    with DevicePool(device, 16 * MIB) as pool:
        places = device_pool.tiny_load(pool, 100_000, 1)
        pool.check()
        found = device_pool.patterns(pool, places)
        assert (found.resources, found.words) == (100_000, sum(places.values()) // 4)
        assert found.blocks >= 2
        assert found.intact, found.first


def test_ranges_that_overlap_are_seen(device: Device) -> None:
    """On the device and on the host: the test of the test above."""
    with DevicePool(device, MIB) as pool:
        places = device_pool.tiny_load(pool, 500, 2)
        first = next(iter(places))
        wrong = Place(0, first.block, first.offset + 4, first.tier)
        found = device_pool.patterns(pool, {**places, wrong: 8})
        assert found.wrong_on_device >= 2
        assert found.wrong_on_host == 2
        assert not found.intact
        assert f"offset {first.offset}: words of resource 1 differ" in found.first


def test_words_outside_are_seen(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that is not what its words should be outside of all ranges."""
    with DevicePool(device, MIB) as pool:
        places = device_pool.tiny_load(pool, 100, 3)
        monkeypatch.setattr(device_pool, "FILL", 0)
        wanted = device_pool.patterns(pool, places)
        assert wanted.intact
        buffer_of = pool.buffer

        def spoilt(block: int) -> device_pool.Buffer:
            buffer = buffer_of(block)
            read = buffer.read

            def read_spoilt(*arguments: object) -> np.ndarray:
                words = read(*arguments)  # type: ignore[arg-type]
                words[-1] ^= 1
                return words

            buffer.read = read_spoilt  # type: ignore[method-assign, assignment]
            return buffer

        monkeypatch.setattr(pool, "buffer", spoilt)
        found = device_pool.patterns(pool, places)
        assert (found.wrong_outside, found.wrong_on_host, found.wrong_on_device) == (1, 0, 0)


def test_blocks_that_cannot_be_had(device: Device) -> None:
    """Nothing changes, and the error says what the device said."""
    most = device_pool.limits(device)["largest_allocation"]
    with DevicePool(device, MIB) as pool:
        place = pool.allocate(1000)
        before = pool.stats()
        if most + 65536 > 1 << 36:
            pytest.skip(f"the pool's own limit comes before this device's {most} bytes")
        with pytest.raises(GuestGpuError, match="more than the device's"):
            pool.allocate(most + 65536)
        assert pool.stats() == before
        with pytest.raises(ArgumentError) as unrelated:
            pool.allocate(16, 3)
        assert "device's" not in str(unrelated.value)
        pool.free(pool.allocate(2 * MIB))
        with pytest.raises(LimitExceeded, match="no block 7"):
            pool.buffer(7)
        pool.check()
        pool.free(place)
        pool.trim()
        assert pool.blocks() == {}
        with pytest.raises(LimitExceeded):
            pool.buffer(0)
    with DevicePool(device, MIB, max_blocks=1) as pool:
        pool.allocate(MIB)
        with pytest.raises(LimitExceeded):
            pool.allocate(16)


def test_granularity_is_the_device_s(device: Device) -> None:
    limits = device_pool.limits(device)
    assert limits["buffer_image_granularity"] >= 1
    assert limits["allocations"] >= 4096  # what Vulkan promises
    assert limits["non_coherent_atom"] <= 256
    assert limits["uniform_offset_alignment"] <= 256
    assert limits["scratch_alignment"] in {0, *(1 << i for i in range(12))}


def test_a_block_too_large_for_a_shader(device: Device) -> None:
    most = int(device.info.max_storage_range)
    if most + 65536 > min(1 << 36, device_pool.limits(device)["largest_allocation"]):
        pytest.skip("every block of this device can be seen at once")
    with (
        DevicePool(device, MIB) as pool,
        pytest.raises(LimitExceeded, match="storage buffers end at"),
    ):
        device_pool.patterns(pool, {pool.allocate(most + 65536): 16})


def test_what_the_device_asks_for(device: Device) -> None:
    rows = {row["resource"]: row for row in device_pool.compare(device)}
    for row in rows.values():
        if row["device size"] is None:
            continue
        assert row["device alignment"] & (row["device alignment"] - 1) == 0
        assert row["tight alignment"] <= row["classic alignment"]
    assert rows["storage buffer of 4096"]["device size"] >= 4096
    assert rows["RGBA8 512x512, 10 mips"]["device size"] < 2 * 4 * 512 * 512
    if device.info.software:  # lavapipe packs: Mesa 25 asks 64 bytes of everything
        assert {row["device alignment"] for row in rows.values()} == {64, None} - {None}
        assert rows["storage buffer of 100"]["device size"] == 100
    assert rows["storage buffer of 100"]["classic size"] == 65536
    assert (rows["storage buffer of 100"]["tight size"], rows["storage buffer of 100"]["tight alignment"]) == (100, 8)
    assert rows["RGBA8 512x512, 10 mips"]["device size"] >= 4 * 512 * 512 * 4 // 3
    assert rows["RGBA8 target 1920x1080, 4x"]["classic alignment"] == 4 * MIB


def test_bad_queries(device: Device) -> None:
    for query in (
        (0, 0, 0, 0, 0, 0, 0, 0x20, 0),
        (16, 0, 0, 0, 0, 0, 0, 0, 0),
        (1 << 62, 0, 0, 0, 0, 0, 0, 0x20, 0),
        (16, 0, 1, 1, 1, 1, 37, 6, 0),
        (16, 16, 1, 1, 1, 3, 37, 6, 0),
        (1 << 40, 16, 1, 1, 1, 1, 37, 6, 0),
    ):
        with pytest.raises(ArgumentError, match="query 1"):
            device_pool.needs(device, np.array([(16, 0, 0, 0, 0, 0, 0, 0x20, 0), query], QUERY))
    no_such = device_pool.needs(device, np.array([(1 << 20, 1 << 20, 1, 1, 1, 1, 37, 6, 0)], QUERY))
    assert no_such[0]["size"] == 0


def test_the_device_as_a_profile_conforms(device: Device) -> None:
    """max(rule, device, granularity). Granularity above 256 breaks the rule of buffers, unless they are kept apart."""
    profile, apart = device_pool.profile(device), device_pool.profile(device, apart=True)
    assert profile.granularity == device_pool.limits(device)["buffer_image_granularity"]
    assert suballoc.conform(Options(apart), 5).violations == 0
    assert (suballoc.conform(Options(profile), 5).violations > 0) == (profile.granularity > 256)
    coarse = Profile(**{**vars(profile), "granularity": 1024})  # as on an H200
    assert "alignment 1024, wanted 256" in str(suballoc.conform(Options(coarse), 1).first[0])
    none = suballoc.conform(Options(Profile(**{**vars(profile), "granularity": 0, "buffer_alignment": 4096})), 5)
    assert none.violations > 0


def test_the_commands() -> None:
    done = CliRunner().invoke(cli, ["alloc", "pattern", "--device", "lavapipe", "--count", "2000", "--json"])
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)["figures"]
    assert (figures["resources"], figures["wrong_on_host"]) == (2000, 0)
    done = CliRunner().invoke(cli, ["alloc", "device", "--device", "lavapipe", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["figures"]["storage buffer of 100.tight size"] == 100

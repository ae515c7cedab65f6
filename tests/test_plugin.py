# SPDX-License-Identifier: MIT
"""The pytest plugin, as a user's test suite meets it."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

DEVICE_TEST = "def test_it(device):\n    assert device.info.name\n"


@pytest.fixture(autouse=True)
def _outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GUESTGPU_REQUIRE_DEVICE", raising=False)


def test_null_device_skips(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(DEVICE_TEST)
    pytester.runpytest_subprocess("--guestgpu-device=null").assert_outcomes(skipped=1)


def test_required_device_fails_instead(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(DEVICE_TEST)
    monkeypatch.setenv("GUESTGPU_REQUIRE_DEVICE", "lavapipe")
    result = pytester.runpytest_subprocess("--guestgpu-device=null")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*GUESTGPU_REQUIRE_DEVICE is set, but the device is null*"])


def test_unknown_device_is_said(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(DEVICE_TEST)
    monkeypatch.setenv("GUESTGPU_REQUIRE_DEVICE", "a device that nobody has")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*a device that nobody has*"])


def test_device_layouts_meshlets(pytester: pytest.Pytester, device: object) -> None:
    """A test of one's own: random meshlets through each layout on the device."""
    pytester.makepyfile(
        """
        from guestgpu import layout, layout_check
        from guestgpu.fallback import FallbackArm, Scene

        def test_it(device, layouts, meshlets, assert_records_equal, spirv):
            shape = layout.Shape(8, 8, 5)
            spirv.validate(layout.emit_mesh(shape, layout.Options(layouts)))
            batch = meshlets(1, 3, 8, 8, vertex_words=5)
            arm = FallbackArm(Scene(device, shape, layout.pack(shape, batch)), layout.Options(layouts, 65536))
            device.submit(arm.dispatch_serially(arm.reset(layout_check.Work(), layout_check.POISON)))
            assert_records_equal(arm.plan, layout_check.model_area(arm.scene, arm.options), arm.read_area())

        def test_nothing_is_left(device):
            assert device.owned() == []
        """
    )
    pytester.runpytest_subprocess("--guestgpu-device=lavapipe").assert_outcomes(passed=4)


def test_records_that_differ_are_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import numpy as np
        from guestgpu import layout

        def test_it(assert_records_equal):
            plan = layout.plan(layout.Shape(3, 1, 4), layout.Options(layout.Layout.SOA, 4 * (8 + 4 * 10)))
            expected = np.zeros(plan.area_words, np.uint32)
            got = expected.copy()
            got[8 + 2 * plan.fit + 7] = 5
            assert_records_equal(plan, expected, got)
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*record 7, word 2: expected 0x00000000, got 0x00000005*"])


def test_golden_files(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(golden):\n    golden('x.txt', 'one')\n")
    missing = pytester.runpytest_subprocess()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*x.txt is missing*"])
    pytester.runpytest_subprocess("--update-golden").assert_outcomes(passed=1)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    pytester.makepyfile("def test_it(golden):\n    golden('x.txt', 'two')\n")
    pytester.runpytest_subprocess().assert_outcomes(failed=1)


def test_validation_messages_fail_the_call(pytester: pytest.Pytester, device: object) -> None:
    """The layer is awake in the fixture: a deliberate fault is an error of the call that provoked it."""
    pytester.makepyfile("def test_it(device):\n    assert 'vkCmdFillBuffer' in device.validation_control()\n")
    pytester.runpytest_subprocess("--guestgpu-device=lavapipe").assert_outcomes(passed=1)

# SPDX-License-Identifier: MIT
"""pytest plugin: devices, layouts, meshlets, SPIR-V and golden files for tests of one's own.

    def test_my_batch(device, layouts, meshlets, assert_records_equal): ...

Options: --guestgpu-device (null, lavapipe, hw, an index, a UUID, part of a name; default lavapipe), --update-golden.
Environment: GUESTGPU_REQUIRE_DEVICE names the device like the option does, and turns the skips of tests that
lack it into failures, so that a green run cannot hide that nothing ran.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from guestgpu import errors, layout, meshes

if TYPE_CHECKING:  # the GPU part may be missing; then only what needs it fails
    from guestgpu import device as gpu

Words = NDArray[np.uint32]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("guestgpu")
    group.addoption(
        "--guestgpu-device",
        default=os.environ.get("GUESTGPU_REQUIRE_DEVICE") or "lavapipe",
        help="device of the fixture `device`: null (none), lavapipe, hw, an index, a UUID, part of a name",
    )
    group.addoption("--update-golden", action="store_true", help="write golden files instead of comparing with them")


def _lacking(reason: str) -> Any:
    """Ends a test that has no device."""
    if os.environ.get("GUESTGPU_REQUIRE_DEVICE"):
        pytest.fail(f"GUESTGPU_REQUIRE_DEVICE is set, but {reason}", pytrace=False)
    pytest.skip(reason)


class _Session:
    """The device of a session, opened when the first test asks for it, again after it was lost."""

    def __init__(self, selector: str) -> None:
        self.selector = selector
        self._open: gpu.Device | None = None

    def get(self) -> gpu.Device:
        if self.selector == "null":
            _lacking("the device is null")
        if self._open is None:
            try:
                from guestgpu import device as gpu

                self._open = gpu.Device.open(self.selector, validation=True)
            except (errors.NoDevice, errors.Unsupported) as error:  # unsupported: no validation layer
                _lacking(str(error))
        assert self._open is not None
        return self._open

    def drop(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None


@pytest.fixture(scope="session")
def _guestgpu_session(request: pytest.FixtureRequest) -> Iterator[_Session]:
    session = _Session(request.config.getoption("--guestgpu-device"))
    yield session
    session.drop()


@pytest.fixture
def device(_guestgpu_session: _Session) -> Iterator[gpu.Device]:
    """An open device with the validation layer on: what it says fails the call that provoked it.

    What a test creates on it is destroyed after the test.
    """
    opened = _guestgpu_session.get()
    before = opened.owned()
    yield opened
    try:
        opened.release([thing for thing in opened.owned() if thing not in before])
        opened.release([opened.buffer(4)])  # a lost device is the next test's no longer
    except errors.GuestGpuError:
        _guestgpu_session.drop()
        raise


@pytest.fixture(params=["aos", "soa", "indexed"])
def layouts(request: pytest.FixtureRequest) -> int:
    """Each layout in turn, as guestgpu.layout.Layout."""
    chosen: int = layout.Layout[request.param.upper()]
    return chosen


@pytest.fixture
def meshlets() -> Callable[..., meshes.Batch]:
    """meshlets(seed, count, max_vertices, max_primitives, topology, ...): guestgpu.meshes.random_meshlets, seeded."""

    def make(seed: int, *args: Any, **kwargs: Any) -> meshes.Batch:
        return meshes.random_meshlets(np.random.default_rng(seed), *args, **kwargs)

    return make


@dataclass(frozen=True)
class Spirv:
    """Compiles kernels and validates modules; needs the GPU library, but no device."""

    def compile(self, path: str, stage: int, preamble: str = "") -> Words:
        """A kernel by its path below kernels/, validated."""
        from guestgpu import device as gpu

        return self.validate(gpu.compile_glsl(path, stage, preamble))

    def validate(self, words: Words) -> Words:
        """The words again; raises ValidationError with spirv-val's message."""
        from guestgpu import device as gpu

        gpu.validate_spirv(words)
        return words

    def disassemble(self, words: Words) -> str:
        """The module as text."""
        from guestgpu import device as gpu

        return gpu.disassemble_spirv(words)


@pytest.fixture
def spirv() -> Spirv:
    return Spirv()


@pytest.fixture
def assert_records_equal() -> Callable[[layout.Plan, Words, Words], None]:
    """assert_records_equal(plan, expected, got): two areas; fails with the first differing record, word and values."""

    def check(plan: layout.Plan, expected: Words, got: Words) -> None:
        __tracebackhide__ = True
        from guestgpu import layout_check

        difference = layout_check.difference_of_areas(plan, expected, got)
        if difference:
            pytest.fail(difference)

    return check


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden(name, text): compares with the file golden/NAME beside the test, or writes it under --update-golden."""
    folder = Path(request.path).parent / "golden"

    def check(name: str, text: str) -> None:
        __tracebackhide__ = True
        path = folder / name
        if request.config.getoption("--update-golden"):
            folder.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.is_file():
            pytest.fail(f"{path} is missing: run pytest --update-golden, look at it, commit it")
        else:
            assert text == path.read_text(), f"{path} differs"

    return check

# SPDX-License-Identifier: MIT
"""What the capture tests share: applications built and recorded, and capture files written by hand."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from guestgpu import capture, device
from guestgpu.capture import Capture, Kind, checksum

APPS = Path(__file__).parent / "apps"
KERNELS = Path(__file__).resolve().parents[2] / "kernels" / "translator"
CHAIN = """#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer From { uint from[]; };
layout(std430, binding = 1) buffer To { uint to[]; };
layout(push_constant) uniform Push { uint add, multiply; };
void main()
{
    uint i = gl_GlobalInvocationID.x + gl_NumWorkGroups.x * 64u * gl_GlobalInvocationID.y;
    if (i < from.length())
        to[i] = from[i] * multiply + add + gl_NumWorkGroups.x;
}
"""
SEVERAL = """#version 460
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer From { uint from[]; };
layout(std430, binding = 1) buffer To { uint to[]; };
layout(push_constant) uniform Push { uint add, multiply; };
shared uint words[64];
void main()
{
    uint local = gl_LocalInvocationID.x, i = (gl_WorkGroupID.x + 8u * gl_WorkGroupID.y) * 64u + local;
    if (multiply == 0u) {
        if (i >= 16u && i < 19u)
            to[i] = i == 16u ? add : 1u;
        return;
    }
    words[local] = from[i];
    barrier();
    to[i] = words[local] * multiply + words[63u - local] + add + gl_NumWorkGroups.x;
}
"""


def need_guest_driver() -> None:
    """Ends a test on a machine without RADV, its fake kernel driver, or our preloaded library."""
    try:
        capture.environment(Path("unused"))
        capture.built_file("guestgpu-guest", "the Vulkan headers")
    except capture.NoGuestDriver as error:
        if os.environ.get("GUESTGPU_REQUIRE_DEVICE"):
            pytest.fail(f"GUESTGPU_REQUIRE_DEVICE is set, but {error}", pytrace=False)
        pytest.skip(str(error))


_FOLDER = TemporaryDirectory(prefix="guestgpu-apps-")  # goes when the process ends


@cache
def application(name: str) -> Path:
    """tests/capture/apps/NAME.c, built."""
    compiler = shutil.which("cc") or "gcc"
    program = Path(_FOLDER.name, name)
    command = [compiler, "-std=c17", "-O1", "-Wall", "-Wextra", "-Werror", str(APPS / f"{name}.c"), "-o", str(program)]
    subprocess.run([*command, "-lvulkan", "-lpthread"], check=True)
    return program


@cache
def module(source: str) -> Path:
    """GLSL of a compute shader as a file of SPIR-V."""
    file = Path(_FOLDER.name, f"{zlib.crc32(source.encode())}.spv")
    file.write_bytes(device.compile_glsl_text(source, "test", device.Stage.COMPUTE).tobytes())
    return file


def recorded(file: Path, name: str, source: str, *arguments: str) -> Capture:
    """A recording of an application with the kernel `source`, which must have gone well."""
    need_guest_driver()
    ran = capture.record(
        file, [str(application(name)), str(module(source)), *arguments], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert "guestgpu capture:" not in ran.stderr
    assert ran.stdout.startswith("AMD Radeon RX 6800")
    return Capture(file)


def file_of(*records: tuple[int, bytes]) -> bytes:
    """The bytes of a capture file; checksums are made right."""
    made = [struct.pack("<8sII", capture.MAGIC, capture.VERSION, 0)]
    for kind, payload in records:
        made.append(struct.pack("<IIQ", kind, checksum(kind, payload), len(payload)) + payload)
    return b"".join(made)


def buffer(number: int, size: int, device_number: int = 1) -> tuple[int, bytes]:
    return Kind.BUFFER, struct.pack("<IIQQQ", device_number, number, size, 2, 0)


def free(number: int, device_number: int = 1) -> tuple[int, bytes]:
    return Kind.FREE, struct.pack("<IIQQQ", device_number, number, 0, 0, 0)


def va(operation: int, number: int, address: int, offset: int, size: int, device_number: int = 1) -> tuple[int, bytes]:
    return Kind.VA, struct.pack("<IIIIQQQ", device_number, operation, number, 0, address, offset, size)


def memory(number: int, *runs: tuple[int, list[int]], device_number: int = 1) -> tuple[int, bytes]:
    words = [word for _, run in runs for word in run]
    heads = [part for first, run in runs for part in (first, len(run))]
    payload = struct.pack(f"<IIII{len(heads)}I", device_number, number, len(runs), len(words), *heads)
    return Kind.MEMORY, payload + struct.pack(f"<{len(words) + len(words) % 2}I", *words, *[0] * (len(words) % 2))


def submit(*ibs: tuple[int, int, int], device_number: int = 1) -> tuple[int, bytes]:
    """ibs: (address, words, IP)."""
    parts = [struct.pack("<QIIIIII", address, 4 * words, 0, ip, 0, 0, 0) for address, words, ip in ibs]
    return Kind.SUBMIT, struct.pack("<IIII", device_number, 1, len(ibs), 0) + b"".join(parts)


def end(submissions: int, records: int) -> tuple[int, bytes]:
    return Kind.END, struct.pack("<QQ", submissions, records)

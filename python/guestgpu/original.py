# SPDX-License-Identifier: MIT
"""The original of a guest program on a device: the SPIR-V that RADV compiled, with the inputs that the guest had.

What it leaves is compared with GuestProgram.results() of the guest's memory after interpreter or translator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import native
from guestgpu.device import Buffer, Device, Stage
from guestgpu.guest import Binding, GuestProgram
from guestgpu.native import ffi

Kind = native.enum_of("gg_resource_kind")
Words = NDArray[np.uint32]


def run_original(device: Device, module: Words, program: GuestProgram, timeout_s: float = 60.0) -> list[NDArray[Any]]:
    """Runs the module as the program's dispatch was made; returns what each binding holds then.

    Raises Unsupported where the device lacks an image format, ArgumentError for a module that the program is not of.
    """
    before = program.results()
    buffers = [device.buffer_of(content) for content in before]
    try:
        _dispatch(device, module, program, buffers, timeout_s)
        return [
            buffer.read(content.dtype, content.size).reshape(content.shape)
            for buffer, content in zip(buffers, before, strict=True)
        ]
    finally:
        device.release(buffers)


def _dispatch(device: Device, words: Words, program: GuestProgram, buffers: list[Buffer], timeout_s: float) -> None:
    words = np.ascontiguousarray(words, np.uint32)
    held = native.pointer(words, "uint32_t")
    module = ffi.new("struct gg_module *", {"stage": int(Stage.COMPUTE), "words": held, "word_count": len(words)})
    resources = ffi.new("struct gg_resource[]", max(len(buffers), 1))
    for resource, binding, buffer in zip(resources, program.bindings, buffers, strict=False):
        _describe(resource, binding, buffer)
    constants = ffi.new(
        "struct gg_constant[]", [{"id": c.id, "size": c.bytes, "value": c.value} for c in program.constants]
    )
    push = ffi.new("uint32_t[]", np.frombuffer(program.push, np.uint32).tolist())
    params = ffi.new("struct gg_once_params *")
    params.module, params.resources, params.constants, params.push = module, resources, constants, push
    params.resource_count, params.constant_count, params.push_words = len(buffers), len(constants), len(push)
    params.groups, params.timeout_ns = program.dispatch.groups, int(timeout_s * 1e9)
    native.call(native.gpu().gg_device_once, device.c, params)


def _describe(resource: Any, binding: Binding, buffer: Buffer) -> None:
    resource.set, resource.binding, resource.element = binding.set, binding.binding, binding.element
    resource.buffer = buffer.c
    image = binding.image
    if image is None:
        resource.kind = Kind.STORAGE_BUFFER if binding.storage else Kind.UNIFORM_BUFFER
        return
    resource.kind = Kind.STORAGE_IMAGE
    for name in ("format", "view", "width", "height", "slices", "texel_bytes"):
        setattr(resource, name, getattr(image, name))

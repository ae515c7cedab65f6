# SPDX-License-Identifier: MIT
"""Kernels of clang's code objects as the HSA runtime would launch them: arguments, dispatch packet, scratch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu.errors import ArgumentError
from guestgpu.interpreter import CodeObject, Kernel, Program, UserSgprs

Arguments = Mapping[str, Any]
"""Name to array (a global buffer) or numpy scalar, in the order of the kernel's parameters."""

CODE, KERNARG, PACKET, SCRATCH, DATA = 0x10_0000_0000, 0x20_0000_0000, 0x28_0000_0000, 0x30_0000_0000, 0x40_0000_0000
"""Guest addresses."""
DATA_BITS = 28
"""Of the room that each buffer has from DATA on."""


def select_kernel(code: CodeObject, name: str | None) -> Kernel:
    """The kernel of that name, or the only one."""
    there = ", ".join(code.kernels) or "none"
    if name is None:
        if len(code.kernels) != 1:
            raise ArgumentError(f"{len(code.kernels)} kernels: name one of {there}")
        return next(iter(code.kernels.values()))
    if name not in code.kernels:
        raise ArgumentError(f"no kernel {name}: there are {there}")
    return code.kernels[name]


def with_threads(kernel: Kernel, threads: Sequence[int] | None) -> Kernel:
    """The kernel with a workgroup size: its own, which wins, or the given one."""
    if all(kernel.threads):
        return kernel
    if threads is None:
        raise ArgumentError(f"kernel {kernel.name} has no required workgroup size: say how many threads")
    x, y, z = (*(int(n) for n in threads), 1, 1)[:3]
    return replace(kernel, threads=(x, y, z))


def explicit_arguments(kernel: Kernel) -> list[Any]:
    """What its source declares; the compiler adds hidden ones."""
    return [a for a in kernel.arguments if not a.kind.startswith("hidden_")]


def default_arguments(kernel: Kernel, groups: Sequence[int], seed: int, buffer_bytes: int) -> dict[str, Any]:
    """Random words of a seed in each buffer; values are the number of threads of the dispatch, in as many bytes."""
    total = int(np.prod([int(n) or 1 for n in (*kernel.threads, *groups)]))
    made: dict[str, Any] = {}
    for i, argument in enumerate(explicit_arguments(kernel)):
        name = argument.name or f"argument{i}"
        if argument.kind == "global_buffer":
            made[name] = np.frombuffer(np.random.default_rng((seed, i)).bytes(buffer_bytes), np.uint32).copy()
        elif argument.kind == "by_value":
            made[name] = np.frombuffer(
                (total % (1 << 8 * min(argument.size, 8))).to_bytes(argument.size, "little"), "u1"
            )
            made[name].flags.writeable = False
        else:
            raise ArgumentError(f"kernel {kernel.name}: argument {name} is a {argument.kind}: not known here")
    return made


def launch(
    code: CodeObject, kernel: Kernel, groups: Sequence[int], arguments: Arguments
) -> tuple[Program, dict[int, NDArray[Any]]]:
    """The program, and its memory; the arrays are the arguments' own. A read-only array is a value."""
    windows: dict[int, NDArray[Any]] = {CODE + address: memory.copy() for address, memory in code.segments.items()}
    kernarg = np.zeros(kernel.kernarg_bytes // 64 * 64 + 64, np.uint8)  # clang may load beyond the last argument
    explicit = explicit_arguments(kernel)
    if len(explicit) != len(arguments):
        raise ArgumentError(f"kernel {kernel.name}: {len(arguments)} arguments where it has {len(explicit)}")
    for slot, (argument, value) in enumerate(zip(explicit, arguments.values(), strict=True)):
        data = value.tobytes()
        if isinstance(value, np.ndarray) and value.flags.writeable:
            if value.nbytes > 1 << DATA_BITS:
                raise ArgumentError(f"kernel {kernel.name}: argument {argument.name} of {value.nbytes} bytes")
            windows[DATA + (slot << DATA_BITS)] = value
            data = np.uint64(DATA + (slot << DATA_BITS)).tobytes()
        if len(data) != argument.size:
            raise ArgumentError(f"kernel {kernel.name}: argument {argument.name}: {len(data)} bytes of {argument.size}")
        kernarg[argument.offset : argument.offset + argument.size] = np.frombuffer(data, np.uint8)
    waves = -(-int(np.prod(kernel.threads)) // kernel.wave)
    windows[KERNARG] = kernarg
    packet = np.zeros(16, np.uint32)  # hsa_kernel_dispatch_packet_t: sizes of workgroup (16 bits each) and grid
    packet[1:3] = kernel.threads[0] | kernel.threads[1] << 16, kernel.threads[2]
    packet[3:6] = np.multiply(kernel.threads, (*groups, 1, 1)[:3])
    windows[PACKET] = packet
    windows[SCRATCH] = np.zeros(max(waves * kernel.wave * (kernel.scratch_bytes + 3), 1), np.uint8)
    return code.program(kernel, CODE, user_data(kernel), SCRATCH), windows


def user_data(kernel: Kernel) -> list[int]:
    """What the kernel expects in its user SGPRs."""
    index_stride = 3 if kernel.wave == 64 else 2
    low, high = SCRATCH & 0xFFFFFFFF, SCRATCH >> 32
    words = {
        UserSgprs.PRIVATE_SEGMENT_BUFFER: [
            low, high | 1 << 31, 0xFFFFFFFF, 22 << 12 | index_stride << 21 | 1 << 23 | 3 << 28
        ],
        UserSgprs.DISPATCH_PTR: [PACKET & 0xFFFFFFFF, PACKET >> 32],
        UserSgprs.QUEUE_PTR: [0, 0],
        UserSgprs.KERNARG_SEGMENT_PTR: [KERNARG & 0xFFFFFFFF, KERNARG >> 32],
        UserSgprs.DISPATCH_ID: [0, 0],
        UserSgprs.FLAT_SCRATCH_INIT: [low, high],
        UserSgprs.PRIVATE_SEGMENT_SIZE: [kernel.scratch_bytes],
    }  # fmt: skip
    return [word for flag, part in words.items() if kernel.user_sgprs & flag for word in part]

# SPDX-License-Identifier: MIT
"""What a compute module in SPIR-V wants bound: buffers with their sizes, and push constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from guestgpu import errors

MAGIC = 0x07230203

_TYPES = range(21, 33)  # OpTypeInt to OpTypePointer
_ARRAY, _RUNTIME_ARRAY, _STRUCT = 28, 29, 30
_UNIFORM_CONSTANT, _UNIFORM, _PUSH_CONSTANT, _STORAGE_BUFFER = 0, 2, 9, 12
_BUFFER_BLOCK, _ROW_MAJOR, _ARRAY_STRIDE, _MATRIX_STRIDE, _BINDING, _SET, _OFFSET = 3, 4, 6, 7, 33, 34, 35
_GL_COMPUTE = 5
_PHYSICAL_STORAGE_BUFFER = 5347


@dataclass(frozen=True, order=True)
class Block:
    """A binding: `elements` buffers of at least `size` bytes, and `stride` more for each element of an open array."""

    set: int
    binding: int
    storage: bool
    elements: int
    size: int
    stride: int


@dataclass(frozen=True)
class Interface:
    """Blocks in the order of set and binding; bytes of push constants, a multiple of 4."""

    blocks: tuple[Block, ...]
    push_bytes: int


@dataclass
class _Module:
    types: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    variables: list[tuple[int, int, int]] = field(default_factory=list)  # pointer type, id, storage class
    decorations: dict[tuple[int, int], int] = field(default_factory=dict)  # (id, decoration) -> operand
    members: dict[tuple[int, int, int], int] = field(default_factory=dict)  # (struct, member, decoration) -> operand
    capabilities: set[int] = field(default_factory=set)
    entries: list[tuple[int, str]] = field(default_factory=list)


def reflect(words: NDArray[np.uint32]) -> Interface:
    """The interface of the compute entry point "main".

    Raises FormatError for what is no module; Unsupported, by name, for images, samplers and buffer addresses.
    """
    module = _parse(np.asarray(words, np.uint32).tolist())
    try:
        return _interface(module)
    except (KeyError, IndexError, RecursionError) as error:
        raise errors.FormatError(f"SPIR-V: types that make no sense ({type(error).__name__}: {error})") from None


def _interface(module: _Module) -> Interface:
    if (_GL_COMPUTE, "main") not in module.entries:
        names = ", ".join(name for _, name in module.entries) or "none"
        raise errors.Unsupported(f'SPIR-V: no compute entry point "main" (there are: {names})')
    if _PHYSICAL_STORAGE_BUFFER in module.capabilities:
        raise errors.Unsupported("SPIR-V: buffer references: no input could hold an address yet")
    blocks, push_bytes = [], 0
    for pointer, name, storage_class in module.variables:
        pointee = module.types[pointer][1][1] if pointer in module.types else pointer
        if storage_class == _PUSH_CONSTANT:
            push_bytes = -(-_extent(module, pointee)[0] // 4) * 4
        elif storage_class in (_UNIFORM_CONSTANT, _UNIFORM, _STORAGE_BUFFER):
            blocks.append(_block(module, pointee, name, storage_class))
    blocks.sort()
    for before, block in pairwise(blocks):
        if (before.set, before.binding) == (block.set, block.binding):
            raise errors.Unsupported(f"SPIR-V: two variables share set {block.set} binding {block.binding}")
    return Interface(tuple(blocks), push_bytes)


def _parse(words: list[int]) -> _Module:
    if len(words) < 5 or words[0] != MAGIC:
        raise errors.FormatError("SPIR-V: no module: it does not begin with the magic number")
    module, at = _Module(), 5
    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        if count == 0 or count > len(words) - at:
            raise errors.FormatError(f"SPIR-V: the instruction at word {at} is cut off")
        try:
            _note(module, opcode, words[at + 1 : at + count])
        except IndexError:
            raise errors.FormatError(f"SPIR-V: the instruction at word {at} has too few operands") from None
        at += count
    return module


def _note(module: _Module, opcode: int, operands: list[int]) -> None:
    match opcode:
        case 17:  # OpCapability
            module.capabilities.add(operands[0])
        case 15:  # OpEntryPoint
            text = b"".join(word.to_bytes(4, "little") for word in operands[2:]).partition(b"\0")[0]
            module.entries.append((operands[0], text.decode("utf-8", "replace")))
        case 71:  # OpDecorate
            module.decorations[operands[0], operands[1]] = operands[2] if len(operands) > 2 else 1
        case 72:  # OpMemberDecorate
            module.members[operands[0], operands[1], operands[2]] = operands[3] if len(operands) > 3 else 1
        case 43 | 50:  # OpConstant, OpSpecConstant
            module.constants[operands[1]] = operands[2]
        case 59:  # OpVariable
            module.variables.append((operands[0], operands[1], operands[2]))
        case _ if opcode in _TYPES:
            module.types[operands[0]] = (opcode, operands[1:])


def _block(module: _Module, pointee: int, name: int, storage_class: int) -> Block:
    set_number, binding = (module.decorations.get((name, decoration), 0) for decoration in (_SET, _BINDING))
    elements, (opcode, operands) = 1, module.types.get(pointee, (0, []))
    if opcode == _ARRAY:
        elements, pointee = module.constants.get(operands[1], 0), operands[0]
        opcode = module.types.get(pointee, (0, []))[0]
    text = f"SPIR-V: set {set_number} binding {binding}"
    if opcode == _RUNTIME_ARRAY:
        raise errors.Unsupported(f"{text} is an open array of descriptors, which is not supported")
    if storage_class == _UNIFORM_CONSTANT or opcode != _STRUCT:
        raise errors.Unsupported(f"{text} is an image or sampler: only storage and uniform buffers are supported yet")
    storage = storage_class == _STORAGE_BUFFER or (pointee, _BUFFER_BLOCK) in module.decorations
    size, stride = _extent(module, pointee)
    return Block(set_number, binding, storage, elements, size, stride)


def _extent(module: _Module, type_id: int, matrix_stride: int = 0, row_major: bool = False) -> tuple[int, int]:
    """Bytes of a type with explicit layout, and the stride of the open array at its end (0: none)."""
    opcode, operands = module.types.get(type_id, (0, []))
    match opcode:
        case 21 | 22:  # OpTypeInt, OpTypeFloat
            return operands[0] // 8, 0
        case 23:  # OpTypeVector
            return _extent(module, operands[0])[0] * operands[1], 0
        case 24:  # OpTypeMatrix
            rows = module.types[operands[0]][1][1]
            return matrix_stride * (rows if row_major else operands[1]), 0
        case 28:  # OpTypeArray
            stride = module.decorations.get((type_id, _ARRAY_STRIDE), 0)
            return stride * module.constants.get(operands[1], 0), 0
        case 29:  # OpTypeRuntimeArray
            return 0, module.decorations.get((type_id, _ARRAY_STRIDE), 0)
        case 30:  # OpTypeStruct
            return _struct_extent(module, type_id, operands)
        case _:
            raise errors.Unsupported(f"SPIR-V: a member of type id {type_id} (opcode {opcode}) in a buffer block")


def _struct_extent(module: _Module, type_id: int, members: list[int]) -> tuple[int, int]:
    end, open_stride = 0, 0
    for i, member in enumerate(members):
        offset = module.members.get((type_id, i, _OFFSET), 0)
        size, stride = _extent(
            module,
            member,
            module.members.get((type_id, i, _MATRIX_STRIDE), 0),
            (type_id, i, _ROW_MAJOR) in module.members,
        )
        end, open_stride = max(end, offset + size), stride or open_stride
    return end, open_stride

# SPDX-License-Identifier: MIT
"""What a compute module in SPIR-V wants bound: buffers with their sizes, images, push and specialisation constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from guestgpu import errors

MAGIC = 0x07230203

_TYPES = range(20, 33)  # OpTypeBool to OpTypePointer
_BOOL, _IMAGE, _ARRAY, _RUNTIME_ARRAY, _STRUCT = 20, 25, 28, 29, 30
_CONSTANTS = {43, 48, 49, 50}  # OpConstant, OpSpecConstantTrue, OpSpecConstantFalse, OpSpecConstant
_UNIFORM_CONSTANT, _UNIFORM, _PUSH_CONSTANT, _STORAGE_BUFFER = 0, 2, 9, 12
_SPEC_ID, _BUFFER_BLOCK, _ROW_MAJOR, _ARRAY_STRIDE, _MATRIX_STRIDE, _BINDING, _SET, _OFFSET = 1, 3, 4, 6, 7, 33, 34, 35
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


class Format(NamedTuple):
    """An image format of GLSL, the VkFormat that it is, bytes of a texel, and whether they hold floats."""

    name: str
    vulkan: int
    bytes: int
    floats: bool = False


def _formats() -> dict[int, Format]:
    """By SPIR-V's numbers."""
    rows = """1 rgba32f 109 16 f, 2 rgba16f 97 8 f, 3 r32f 100 4 f, 4 rgba8 37 4, 5 rgba8_snorm 38 4, 6 rg32f 103 8 f,
        7 rg16f 83 4 f, 8 r11f_g11f_b10f 122 4 f, 9 r16f 76 2 f, 10 rgba16 91 8, 11 rgb10_a2 64 4, 12 rg16 77 4,
        13 rg8 16 2, 14 r16 70 2, 15 r8 9 1, 16 rgba16_snorm 92 8, 17 rg16_snorm 78 4, 18 rg8_snorm 17 2,
        19 r16_snorm 71 2, 20 r8_snorm 10 1, 21 rgba32i 108 16, 22 rgba16i 96 8, 23 rgba8i 42 4, 24 r32i 99 4,
        25 rg32i 102 8, 26 rg16i 82 4, 27 rg8i 21 2, 28 r16i 75 2, 29 r8i 14 1, 30 rgba32ui 107 16, 31 rgba16ui 95 8,
        32 rgba8ui 41 4, 33 r32ui 98 4, 34 rgb10_a2ui 68 4, 35 rg32ui 101 8, 36 rg16ui 81 4, 37 rg8ui 20 2,
        38 r16ui 74 2, 39 r8ui 13 1"""
    found = {}
    for row in rows.split(","):
        number, name, vulkan, size, *floats = row.split()
        found[int(number)] = Format(name, int(vulkan), int(size), bool(floats))
    return found


FORMATS = _formats()
_VIEWS = {(0, 0): 0, (1, 0): 1, (2, 0): 2, (0, 1): 4, (1, 1): 5}  # (Dim, arrayed) -> VkImageViewType


@dataclass(frozen=True, order=True)
class Image:
    """A binding of `elements` storage images. view: VkImageViewType; axes: width, height, depth or layers."""

    set: int
    binding: int
    elements: int
    format: Format
    view: int

    @property
    def axes(self) -> tuple[bool, bool, bool]:
        """Which of width, height, and depth or layers can be other than 1."""
        return True, self.view not in (0, 4), self.view in (2, 4, 5)


@dataclass(frozen=True, order=True)
class Constant:
    """A specialisation constant, and the bits of its value."""

    id: int
    bytes: int
    value: int


@dataclass(frozen=True)
class Interface:
    """Blocks and images in the order of set and binding; bytes of push constants, a multiple of 4."""

    blocks: tuple[Block, ...]
    push_bytes: int
    images: tuple[Image, ...] = ()
    constants: tuple[Constant, ...] = ()


@dataclass
class _Module:
    types: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    constant_types: dict[int, int] = field(default_factory=dict)
    variables: list[tuple[int, int, int]] = field(default_factory=list)  # pointer type, id, storage class
    decorations: dict[tuple[int, int], int] = field(default_factory=dict)  # (id, decoration) -> operand
    members: dict[tuple[int, int, int], int] = field(default_factory=dict)  # (struct, member, decoration) -> operand
    capabilities: set[int] = field(default_factory=set)
    entries: list[tuple[int, str]] = field(default_factory=list)


def reflect(words: NDArray[np.uint32], constants: Mapping[int, int] | None = None) -> Interface:
    """The interface of the compute entry point "main", where specialisation constants of these ids have these values.

    Raises FormatError for what is no module; Unsupported, by name, for samplers, sampled images and buffer addresses.
    """
    module = _parse(np.asarray(words, np.uint32).tolist())
    try:
        return _interface(module, constants or {})
    except (KeyError, IndexError, RecursionError) as error:
        raise errors.FormatError(f"SPIR-V: types that make no sense ({type(error).__name__}: {error})") from None


def _interface(module: _Module, given: Mapping[int, int]) -> Interface:
    if (_GL_COMPUTE, "main") not in module.entries:
        names = ", ".join(name for _, name in module.entries) or "none"
        raise errors.Unsupported(f'SPIR-V: no compute entry point "main" (there are: {names})')
    if _PHYSICAL_STORAGE_BUFFER in module.capabilities:
        raise errors.Unsupported("SPIR-V: buffer references: no input could hold an address yet")
    constants = _specialised(module, given)
    blocks: list[Block] = []
    images: list[Image] = []
    push_bytes = 0
    for pointer, name, storage_class in module.variables:
        pointee = module.types[pointer][1][1] if pointer in module.types else pointer
        if storage_class == _PUSH_CONSTANT:
            push_bytes = -(-_extent(module, pointee)[0] // 4) * 4
        elif storage_class in (_UNIFORM_CONSTANT, _UNIFORM, _STORAGE_BUFFER):
            found = _binding(module, pointee, name, storage_class)
            if isinstance(found, Block):
                blocks.append(found)
            else:
                images.append(found)
    bound = sorted([(b.set, b.binding) for b in blocks] + [(b.set, b.binding) for b in images])
    for before, after in pairwise(bound):
        if before == after:
            raise errors.Unsupported("SPIR-V: two variables share set {} binding {}".format(*after))
    return Interface(tuple(sorted(blocks)), push_bytes, tuple(sorted(images)), constants)


def _specialised(module: _Module, given: Mapping[int, int]) -> tuple[Constant, ...]:
    """Puts the given values into the module's constants; returns those that can be specialised, by id."""
    found = {}
    for name, value in module.constants.items():
        number = module.decorations.get((name, _SPEC_ID))
        if number is None:
            continue
        opcode, operands = module.types[module.constant_types[name]]
        bits = 32 if opcode == _BOOL else operands[0]
        module.constants[name] = given.get(number, value) & ((1 << bits) - 1)
        found[number] = Constant(number, bits // 8, module.constants[name])
    for number in given:
        if number not in found:
            raise errors.ArgumentError(f"SPIR-V: no specialisation constant {number}")
    return tuple(sorted(found.values()))


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
        case _ if opcode in _CONSTANTS:
            low, high = (*operands[2:4], 0, 0)[:2]
            module.constants[operands[1]] = int(opcode == 48) if opcode in (48, 49) else high << 32 | low
            module.constant_types[operands[1]] = operands[0]
        case 59:  # OpVariable
            module.variables.append((operands[0], operands[1], operands[2]))
        case _ if opcode in _TYPES:
            module.types[operands[0]] = (opcode, operands[1:])


def _binding(module: _Module, pointee: int, name: int, storage_class: int) -> Block | Image:
    set_number, binding = (module.decorations.get((name, decoration), 0) for decoration in (_SET, _BINDING))
    elements, (opcode, operands) = 1, module.types.get(pointee, (0, []))
    if opcode == _ARRAY:
        elements, pointee = module.constants.get(operands[1], 0), operands[0]
        opcode, operands = module.types.get(pointee, (0, []))
    text = f"SPIR-V: set {set_number} binding {binding}"
    if opcode == _RUNTIME_ARRAY:
        raise errors.Unsupported(f"{text} is an open array of descriptors, which is not supported")
    if storage_class == _UNIFORM_CONSTANT and opcode == _IMAGE:
        return _image(text, set_number, binding, elements, operands)
    if storage_class == _UNIFORM_CONSTANT or opcode != _STRUCT:
        raise errors.Unsupported(f"{text} is a sampler or sampled: only buffers and storage images are supported yet")
    storage = storage_class == _STORAGE_BUFFER or (pointee, _BUFFER_BLOCK) in module.decorations
    size, stride = _extent(module, pointee)
    return Block(set_number, binding, storage, elements, size, stride)


def _image(text: str, set_number: int, binding: int, elements: int, operands: list[int]) -> Image:
    _, dim, _, arrayed, multisampled, sampled, number = operands[:7]
    if sampled != 2:
        raise errors.Unsupported(f"{text} is a sampled image: only buffers and storage images are supported yet")
    if multisampled or (dim, arrayed) not in _VIEWS:
        raise errors.Unsupported(
            f"{text} is an image of SPIR-V's dimension {dim}: only 1D, 2D and 3D are supported yet"
        )
    if number not in FORMATS:
        raise errors.Unsupported(f"{text} is an image of SPIR-V's format {number}, which is not supported")
    return Image(set_number, binding, elements, FORMATS[number], _VIEWS[dim, arrayed])


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

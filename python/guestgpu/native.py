# SPDX-License-Identifier: MIT
"""The only module that touches the C extensions `_core` and `_gpu`.

Functions of the core are called as `native.call(native.lib.gg_x, ...)`, those of the GPU part as
`native.call(native.gpu().gg_y, ...)`; a failure becomes an exception of `guestgpu.errors`. Arrays cross by
buffer, without copies: `pointer()` lends an array to C, `words()` takes over what C has allocated.
Enums and numpy dtypes are derived from the headers, never typed a second time.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guestgpu import errors

ABI_VERSION = 1
"""The GG_ABI_VERSION that the Python files are written for."""

_REBUILD = "rebuild it with `make setup`, or `pip install -e .`"

try:
    _core: Any = import_module("guestgpu._core")
except ImportError as error:
    raise ImportError(f"guestgpu's C extension does not load ({error}): {_REBUILD}") from error

_gpu: Any = None
_gpu_missing = ""
try:
    _gpu = import_module("guestgpu._gpu")
except ImportError as error:
    _gpu_missing = str(error)


def _check_version(extension: str, version: int) -> None:
    if version != ABI_VERSION:
        raise errors.WrongVersion(
            f"guestgpu.{extension} has ABI version {version}, the Python files have {ABI_VERSION}: {_REBUILD}"
        )


_check_version("_core", _core.lib._core_abi_version())
if _gpu is not None:
    _check_version("_gpu", _gpu.lib._gpu_abi_version())

ffi: Any = _core.ffi if _gpu is None else _gpu.ffi
"""Knows every type there is: `_gpu`'s includes `_core`'s."""

lib: Any = _core.lib
"""The functions of guestgpu.h and layout.h."""


def gpu() -> Any:
    """The functions of gpu.h. Raises NoGpuLibrary where that extension was left out or does not load."""
    if _gpu is None:
        raise errors.NoGpuLibrary(
            f"guestgpu's GPU extension does not load ({_gpu_missing}): run scripts/setup-system.sh, then {_REBUILD}"
        )
    return _gpu.lib


def check(result: int, message: Any = None) -> None:
    """Raises what stands for `result` unless it is GG_OK. message: a `char **` cdata; its text is freed."""
    if result == lib.GG_OK:
        return
    code = ffi.string(lib.gg_result_string(result)).decode()
    text = code
    if message is not None and message[0] != ffi.NULL:
        text = take_string(message[0])
        message[0] = ffi.NULL
    raise errors.BY_CODE.get(code, errors.GuestGpuError)(text, code)


def call(function: Callable[..., int], *args: Any) -> None:
    """function(*args, message), checked: for every C function whose last parameter is `char **message`."""
    message = ffi.new("char **")
    check(function(*args, message), message)


def words(function: Callable[..., int], *args: Any) -> NDArray[np.uint32]:
    """What function(*args, uint32_t **words, uint64_t *count, char **message) allocates, without a copy.

    Returns: uint32, shape (count,); the memory is freed when the last view of it goes.
    """
    pointer_out, count = ffi.new("uint32_t **"), ffi.new("uint64_t *")
    call(function, *args, pointer_out, count)
    if pointer_out[0] == ffi.NULL or count[0] == 0:
        lib.gg_free(pointer_out[0])
        return np.empty(0, np.uint32)
    size = count[0] * 4
    owner = ffi.gc(pointer_out[0], lib.gg_free, size)
    return np.frombuffer(ffi.buffer(owner, size), np.uint32)


def take_string(text: Any) -> str:
    """The text of a `char *` that C has allocated, which is freed."""
    try:
        return str(ffi.string(text).decode("utf-8", "replace"))
    finally:
        lib.gg_free(text)


def pointer(array: NDArray[Any] | None, ctype: str, *, writable: bool = False) -> Any:
    """The memory of `array` as a C array of `ctype` ("uint32_t", "struct gg_command"), without a copy; None: NULL.

    The cdata keeps the array alive; a pointer stored in a C struct does not, so hold on to the cdata there.
    Raises ArgumentError when the dtype is another, or the array is not C-contiguous or, where asked for, not writable.
    """
    if array is None:
        return ffi.NULL
    wanted = dtype_of(ctype)
    if array.dtype != wanted:
        raise errors.ArgumentError(f"array of {array.dtype} where C wants {ctype} ({wanted})")
    if not array.flags.c_contiguous:
        raise errors.ArgumentError(f"array of {ctype} with shape {array.shape} is not C-contiguous")
    if writable and not array.flags.writeable:
        raise errors.ArgumentError(f"array of {ctype} with shape {array.shape} is read-only, and C writes it")
    return ffi.from_buffer(f"{ctype}[]", array)


@cache
def dtype_of(ctype: str) -> np.dtype[Any]:
    """The numpy dtype of a C type as the headers declare it: same offsets, padding, size; nested arrays and structs."""
    return _dtype(ffi.typeof(ctype))


def _dtype(ctype: Any) -> np.dtype[Any]:
    match ctype.kind:
        case "struct":
            fields = [(name, _dtype(field.type), field.offset) for name, field in ctype.fields]
            names, formats, offsets = zip(*fields, strict=True)
            layout = {"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(ctype)}
            return np.dtype(layout)  # type: ignore[call-overload,no-any-return]
        case "array" if ctype.item.cname == "char":
            return np.dtype(f"S{ctype.length}")
        case "array":
            return np.dtype((_dtype(ctype.item), (ctype.length,)))
        case "pointer" | "function":
            return np.dtype(np.uintp)
        case "primitive" if ctype.cname in ("float", "double"):
            return np.dtype(f"f{ffi.sizeof(ctype)}")
        case "primitive" if ctype.cname == "char":
            return np.dtype("S1")
        case "primitive" | "enum":
            signed = int(ffi.cast(ctype, -1)) < 0
            return np.dtype(f"{'i' if signed else 'u'}{ffi.sizeof(ctype)}")
    raise TypeError(f"{ctype.cname}: no numpy dtype for a C {ctype.kind}")


@cache
def enum_of(name: str) -> Any:
    """enum `name` ("gg_layout") as an IntEnum ("Layout"), members without their common prefix (AOS, SOA, ...).

    Returns type[IntEnum]; said to be Any, since its members are known only at run time.
    """
    relements = ffi.typeof(f"enum {name}").relements
    members = {m: relements[m] for m in sorted(relements, key=relements.get) if not m.endswith("_FORCE_32")}
    prefix = _common_prefix(list(members))
    title = "".join(part.capitalize() for part in name.removeprefix("gg_").split("_"))
    return IntEnum(title, {m.removeprefix(prefix): value for m, value in members.items()}, module=__name__)


def _common_prefix(names: list[str]) -> str:
    """The words that all begin with: ["GG_A_X", "GG_A_Y"] -> "GG_A_"; at least the last word stays."""
    columns = zip(*(name.split("_")[:-1] for name in names), strict=False)
    return "".join(f"{column[0]}_" for column in takewhile(lambda column: len(set(column)) == 1, columns))


def kernels_folder() -> Path:
    """Where the GLSL lies: in the installed package, or at the root of the source tree."""
    here = Path(__file__).resolve().parent
    for folder in (here / "kernels", here.parents[1] / "kernels"):
        if folder.is_dir():
            return folder
    raise errors.GuestGpuError(f"no kernels folder in {here} nor in {here.parents[1]}: the installation is broken")

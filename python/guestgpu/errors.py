# SPDX-License-Identifier: MIT
"""What guestgpu raises. Every class says in one line what went wrong and where."""

from __future__ import annotations


class GuestGpuError(Exception):
    """Base of all; `code` is the C result it came from, "GG_ERR_LIMIT" say, or None."""

    def __init__(self, text: str, code: str | None = None) -> None:
        super().__init__(text)
        self.code = code


class ArgumentError(GuestGpuError, ValueError):
    """A value outside what the function takes (GG_ERR_ARGUMENT)."""


class OutOfMemory(GuestGpuError, MemoryError):
    """Host or device memory could not be had (GG_ERR_MEMORY)."""


class Unsupported(GuestGpuError):
    """Well-formed, but this version or device cannot do it (GG_ERR_UNSUPPORTED)."""


class FormatError(GuestGpuError, ValueError):
    """Bytes that are not what they should be (GG_ERR_FORMAT)."""


class LimitExceeded(GuestGpuError):
    """Beyond a limit of the device or of the format, which the text names (GG_ERR_LIMIT)."""


class NoDevice(GuestGpuError):
    """No loader, no driver, or no device that fits the selector (GG_ERR_NO_DEVICE)."""


class NoGpuLibrary(NoDevice):
    """guestgpu was built without its GPU extension, or that does not load here."""


class DeviceError(GuestGpuError):
    """A Vulkan call failed; the text names the call and its VkResult (GG_ERR_DEVICE)."""


class DeviceLost(DeviceError):
    """The device is gone, or did not answer in time (GG_ERR_DEVICE_LOST)."""


class DeviceTimeout(DeviceLost, TimeoutError):
    """A fence did not signal in time; the device counts as lost (GG_ERR_TIMEOUT)."""


class ValidationError(GuestGpuError):
    """The validation layer or spirv-val objected (GG_ERR_VALIDATION)."""


class CompileError(GuestGpuError):
    """GLSL that does not compile (GG_ERR_COMPILE)."""


class WrongVersion(GuestGpuError, ImportError):
    """An extension and the Python files beside it are of different versions."""


BY_CODE: dict[str, type[GuestGpuError]] = {
    "GG_ERR_ARGUMENT": ArgumentError,
    "GG_ERR_MEMORY": OutOfMemory,
    "GG_ERR_UNSUPPORTED": Unsupported,
    "GG_ERR_FORMAT": FormatError,
    "GG_ERR_LIMIT": LimitExceeded,
    "GG_ERR_NO_DEVICE": NoDevice,
    "GG_ERR_DEVICE": DeviceError,
    "GG_ERR_DEVICE_LOST": DeviceLost,
    "GG_ERR_TIMEOUT": DeviceTimeout,
    "GG_ERR_VALIDATION": ValidationError,
    "GG_ERR_COMPILE": CompileError,
}

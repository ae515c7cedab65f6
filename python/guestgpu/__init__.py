# SPDX-License-Identifier: MIT
"""guestgpu: a research testbed for the hot paths of GPU emulators and translation layers.

The parts are modules of their own (`guestgpu.layout`, `guestgpu.device`, ...): importing one loads only
what it needs. Errors derive from `guestgpu.GuestGpuError`.
"""

from importlib.metadata import PackageNotFoundError, version

from guestgpu.errors import GuestGpuError

try:
    __version__ = version("guestgpu")
except PackageNotFoundError:  # run from a source tree that was not installed
    __version__ = "0+source"

__all__ = ["GuestGpuError", "__version__"]

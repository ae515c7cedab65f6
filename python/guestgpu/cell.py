# SPDX-License-Identifier: MIT
"""python -m guestgpu.cell: one launch of an experiment; run by experiment.run_launches()."""

from __future__ import annotations

from typing import Any

from guestgpu.experiment import Emit, load_experiment, serve


def measure(request: dict[str, Any], emit: Emit) -> None:
    load_experiment(request["experiment"]).measure(request, emit)


if __name__ == "__main__":
    raise SystemExit(serve(measure))

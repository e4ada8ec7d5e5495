"""The compiled core (`native/`), where it was built, and how many threads it may use.

Everything the core does has a counterpart in NumPy and SciPy, used where there is no core and
tested against it.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from isotherm.errors import ParameterError


def _load() -> Any:
    """The compiled module; None if isotherm was installed without a compiler."""
    try:
        return importlib.import_module("isotherm._core")
    except ImportError:
        return None


core = _load()
MOST_NODES = 2**31 - 2  # the core numbers nodes by 32 bits


def n_threads(threads: int | None = None) -> int:
    """How many threads to use: as asked, else ``OMP_NUM_THREADS``, else one per processor.

    Processors this process may not use (affinity, the quota of a container) do not count.

    Raises
    ------
    ParameterError
        If `threads` is not a whole number ≥ 1.
    """
    if threads is not None:
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise ParameterError(f"threads must be a whole number ≥ 1 or None, got {threads!r}")
        return threads
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    usable = getattr(os, "sched_getaffinity", None)
    found = len(usable(0)) if usable else os.cpu_count() or 1
    return max(1, min(found, _quota()))


def _quota() -> int:
    """Processors that a container's quota amounts to; many if there is none."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return -(-int(quota) // int(period))
    except (OSError, ValueError):  # no such file, or "max"
        return os.cpu_count() or 1

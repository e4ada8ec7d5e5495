"""The compiled core (`native/`), where it was built, and how many threads it may use.

Everything the core does has a counterpart in NumPy and SciPy, used where there is no core and
tested against it.
"""

from __future__ import annotations

import importlib
import os
from contextvars import ContextVar, copy_context
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from isotherm.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from isotherm import _core as core  # as if it were always there; _core.pyi is generated
else:
    try:
        core = importlib.import_module("isotherm._core")
    except ImportError:  # installed without a compiler
        core = None

__all__ = ["MOST_NODES", "MOST_THREADS", "core", "n_threads", "on_threads", "threads_of"]

Found = TypeVar("Found")

_environment = os.environ.get if core is None else core.environment  # the latter is the quicker

MOST_NODES = 2**31 - 2  # the core numbers nodes by 32 bits
MOST_THREADS = 1024

_asked: ContextVar[int | None] = ContextVar(
    "threads", default=None
)  # of the call that is under way


def n_threads(threads: int | None = None) -> int:
    """How many threads to use: as asked, else ``OMP_NUM_THREADS``, else one per processor.

    Where nothing is asked, what `on_threads` was asked counts. Processors this process may not
    use (affinity, the quota of a container) do not count. A variable that is no number ≥ 1 is not
    looked at; one above 1024 counts as 1024.

    Raises
    ------
    ParameterError
        If `threads` is not a whole number from 1 to 1024.
    """
    threads = _asked.get() if threads is None else threads
    if threads is not None:
        whole = isinstance(threads, int) and not isinstance(threads, bool)
        if not whole or not 1 <= threads <= MOST_THREADS:
            raise ParameterError(
                f"threads must be a whole number from 1 to {MOST_THREADS} or None, got {threads!r}"
            )
        return threads
    asked = _environment("OMP_NUM_THREADS")
    if asked and (asked := asked.split(",")[0].strip()).isdecimal():
        digits = len(str(MOST_THREADS))
        wanted = MOST_THREADS if len(asked.lstrip("0")) > digits else int(asked[-digits:])
        if wanted > 0:
            return min(wanted, MOST_THREADS)
    found, quota = _processors(), _quota()
    return found if found < quota else quota


def on_threads(threads: Any, work: Callable[..., Found], *args: Any, **kwargs: Any) -> Found:
    """What a function finds, each part of it on so many threads; None: on as many as before.

    Examples
    --------
    >>> on_threads(2, n_threads)
    2
    """
    if threads is None:
        return work(*args, **kwargs)
    context = copy_context()  # which ends with the work, however that ends
    context.run(_asked.set, n_threads(threads))
    return context.run(work, *args, **kwargs)


def threads_of(asking: Any) -> Any:
    """The threads that a model asks for, or its engine; None if neither does."""
    threads = getattr(asking, "threads", None)
    return getattr(getattr(asking, "engine", None), "threads", None) if threads is None else threads


def _count_processors() -> int:
    """Processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return max(1, len(usable(0)) if usable else os.cpu_count() or 1)


_processors = _count_processors if core is None else core.processors  # likewise


@cache
def _quota() -> int:
    """Processors that a container's quota amounts to, read once; many if there is none."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError):  # no such file, or "max"
        return os.cpu_count() or 1

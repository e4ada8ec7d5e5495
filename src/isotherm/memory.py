"""How much memory there is, how much a solve takes, and a refusal before it is too much."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path

from isotherm.errors import NotEnoughMemory

SMALL = 1 << 26  # bytes: below this nobody asks whether they are free
LANES = 16  # columns that are solved at once
FEWEST_LANES = 2
COPY = 24  # bytes per entry of a matrix that is copied, or factorised
BYTES_PER_NODE = 40  # of a solve, whatever the number of columns
BYTES_PER_SEED = 160  # likewise
_ADVICE = {
    "classes": "Merge rare classes; use DirichletRegressor if the labels are really numbers",
    "labels": "Leave out rare labels, or fit some of them at a time",
    "columns": "Solve for some of them at a time",
}
_CGROUPS = Path("/sys/fs/cgroup")
# Of a container: its limit, what it uses, and the part of that which is a cache of files.
_CGROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def check_room(
    n_nodes: int,
    n_columns: int,
    n_seeds: int = 0,
    *,
    what: str = "classes",
    memory: int | None = None,
) -> None:
    """Refuse a solve that does not fit into the memory that is free, or allowed.

    Parameters
    ----------
    n_nodes, n_columns : int
    n_seeds : int
        Those whose values are yet to be made.
    what : {"classes", "labels", "columns"}
        What they are called.
    memory : int, optional
        The most bytes allowed; columns are then solved as few at a time as need be.

    Raises
    ------
    NotEnoughMemory
        Saying what is needed, what is free and what would fit.
    """
    if memory is not None:
        least = memory_of_solve(n_nodes, n_columns, n_seeds, FEWEST_LANES)
        if least > memory:
            raise NotEnoughMemory(
                f"{n_columns:,} {what} on {n_nodes:,} nodes need at least {size_text(least)} of "
                f"memory, and {size_text(memory)} is allowed: use --memory "
                f"{-(-least // (1 << 20))}M (memory={least}). {_ADVICE[what]}"
            )
    lanes = lanes_within(memory, n_nodes, n_columns)
    needed = memory_of_solve(n_nodes, n_columns, n_seeds, lanes)
    free = free_memory() if needed > SMALL else None
    if free is None or needed <= free:
        return
    fit = max(0, int(n_columns * free / needed))
    raise NotEnoughMemory(
        f"{n_columns:,} {what} on {n_nodes:,} nodes need about {size_text(needed)} of memory, and "
        f"{size_text(free)} is free; about {fit:,} {what} would fit. {_ADVICE[what]}"
    )


def memory_of_solve(n_nodes: int, n_columns: int, n_seeds: int = 0, lanes: int = LANES) -> int:
    """Bytes of the vectors of a solve, and of the values of its seeds; rather too few.

    Parameters
    ----------
    n_nodes, n_columns, n_seeds : int
    lanes : int
        Columns that are solved at once, at the most.
    """
    lanes = min(n_columns + 1, lanes)
    per_node = 8 * n_columns + 4 + 6 * lanes + 2 * LANES * (lanes > LANES // 2)
    return n_nodes * (per_node + BYTES_PER_NODE) + n_seeds * (9 * n_columns + BYTES_PER_SEED)


def lanes_within(memory: int | None, n_nodes: int, n_columns: int) -> int:
    """How many columns may be solved at once if no more memory is allowed than that.

    Examples
    --------
    >>> lanes_within(None, 10**6, 100), lanes_within(900 * 10**6, 10**6, 100)
    (16, 8)
    """
    if memory is None:
        return LANES
    for lanes in (LANES, LANES // 2, LANES // 4):
        if memory_of_solve(n_nodes, n_columns, 0, lanes) <= memory:
            return lanes
    return FEWEST_LANES


def fits_copy(n_entries: int, n_nodes: int, n_columns: int, memory: int | None) -> bool:
    """Whether there is room for a copy of the edges, and for what solvers make of them."""
    free = free_memory() if memory is None else memory
    needed = memory_of_solve(n_nodes, n_columns, 0, FEWEST_LANES) + COPY * n_entries
    return free is None or needed <= free


def size_text(count: int) -> str:
    """A number of bytes, for a message.

    Examples
    --------
    >>> size_text(5 << 30), size_text(3 << 20), size_text(999)
    ('5.0 GiB', '3 MiB', '999 bytes')
    """
    if count >= 1 << 30:
        return f"{count / (1 << 30):,.1f} GiB"
    return f"{count / (1 << 20):.0f} MiB" if count >= 1 << 20 else f"{count} bytes"


def free_memory() -> int | None:
    """The bytes that are still to be had; None where the system does not tell.

    The least of what the machine has, what a container may use and what the address space
    (``ulimit -v``) has room for.
    """
    known = [of() for of in (_of_machine, _of_container, _of_address_space)]
    return min((count for count in known if count is not None), default=None)


def peak_memory() -> int:
    """The most bytes that this process has had; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def current_memory() -> int:
    """The bytes that this process has now; at its peak, where the system tells no more."""
    pages = _pages()
    return peak_memory() if pages is None else pages[1] * mmap.PAGESIZE


def release_unused() -> None:
    """Give back the memory that Arrow and the C library keep for later use."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:  # glibc
        trim(0)


def _pages() -> list[int] | None:
    """Pages of this process: of its address space, and in memory."""
    try:
        text = Path("/proc/self/statm").read_text(encoding="ascii")
        return [int(field) for field in text.split()[:2]]
    except (OSError, ValueError):
        return None


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024 * int(s.split()[1]) for s in lines if s.startswith("MemAvailable"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _of_container() -> int | None:
    found = []
    for folder in _groups():
        for limit, used, cache in _CGROUP_FILES:
            try:
                most, now = (
                    int((folder / name).read_text(encoding="ascii")) for name in (limit, used)
                )
                stat = (folder / "memory.stat").read_text(encoding="ascii").split()
                now -= int(stat[stat.index(cache) + 1])
            except (OSError, ValueError, IndexError):  # no such file, or "max"
                continue
            found.append(max(0, most - now))
    return min(found, default=None)


def _groups() -> list[Path]:
    """The control groups that this process is in, as far as they can be seen."""
    found = {_CGROUPS, _CGROUPS / "memory"}
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, kind, name = line.split(":", 2)
        if kind in ("", "memory"):
            own = _CGROUPS / kind / name.lstrip("/")
            found.update(group for group in (own, *own.parents) if _CGROUPS in group.parents)
    return sorted(found)


def _of_address_space() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _pages()
    if most == resource.RLIM_INFINITY or pages is None:
        return None
    return max(0, most - pages[0] * mmap.PAGESIZE)

"""What a build takes, before it is done: disk and memory."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isotherm.errors import FileError, NotEnoughMemory
from isotherm.estimate import count_edges
from isotherm.graph.saved.lookup import n_slots
from isotherm.job_memory import memory_of_building
from isotherm.memory import free_memory, size_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from isotherm.job_memory import Counts
    from isotherm.read.options import TextOptions
    from isotherm.read.table import Columns

PROGRAM = 320 << 20  # bytes of the program, its libraries and the blocks that are read
LEAST_RANGE = 32 << 20  # bytes of the rows that are sorted at once, at the least
PER_NODE = 40  # bytes of arrays over nodes while rows are sorted
DEFAULT = 8 << 30  # bytes allowed, where the system does not tell how many are free


@dataclass(frozen=True)
class Plan:
    """How a graph is built.

    Attributes
    ----------
    memory : int
        The most bytes to use.
    words : str
        What it will take, for the user; empty where that is not known beforehand.
    """

    memory: int
    words: str = ""

    def room_for_rows(self, n_nodes: int) -> int:
        """Bytes of rows that may be sorted at once."""
        return max(LEAST_RANGE, self.memory - PROGRAM - PER_NODE * n_nodes)

    def check_names(self, held: int, done: int, total: int | None) -> None:
        """Raise NotEnoughMemory if the names that were read so far are too many.

        Parameters
        ----------
        held : int
            Bytes of the names, and the table by which they are numbered.
        done, total : int
            How much was read, and how much there is, if that is known.
        """
        needed = PROGRAM + 3 * held // 2  # the table is there half again while it grows
        if needed <= self.memory:
            return
        if total and 0 < done < total:
            needed = PROGRAM + 3 * held // 2 * total // done
        raise too_little(self.memory, needed, "to number the nodes by their names")

    def too_long(self, n_entries: int, size: int) -> NotEnoughMemory:
        """What to say of rows that cannot be taken apart and take so many bytes too many."""
        return too_little(
            self.memory, self.memory + size, f"because a few nodes alone have {n_entries:,} edges"
        )


def plan_build(
    edges: Sequence[str] | None,
    columns: Columns,
    options: TextOptions,
    memory: int | None,
    out: Path,
) -> Plan:
    """Look at files and say what a graph of them takes; nothing is known of a stream.

    Raises
    ------
    NotEnoughMemory
        If more memory is needed than is allowed.
    FileError
        If there is too little room on the disk.
    """
    if memory is None:
        free = free_memory()
        memory = DEFAULT if free is None else free // 2
    if edges is None:
        if memory < PROGRAM + LEAST_RANGE:
            raise too_little(memory, PROGRAM + LEAST_RANGE, "for the program itself")
        return Plan(memory)
    counts = count_edges(edges, columns, options)
    least = memory_of_build(counts)
    if memory < least:
        raise too_little(memory, least, f"for about {counts.nodes:,} nodes")
    disk = disk_of_build(counts, memory)
    folder = next(place for place in out.absolute().parents if place.exists())
    free_disk = shutil.disk_usage(folder).free
    about = "" if counts.exact else "about "
    words = (
        f"{about}{counts.rows:,} edges of {about}{counts.nodes:,} nodes: building takes up to "
        f"{size_text(disk)} of disk beside {out.name}, where {size_text(free_disk)} is free, and "
        f"up to {size_text(memory)} of memory"
    )
    if disk > free_disk:
        raise FileError(
            f"not enough room on the disk: building a graph of {about}{counts.rows:,} edges takes "
            f"up to {size_text(disk)} beside {out}, and {size_text(free_disk)} is free. Free some "
            "space, or name a file on another disk"
        )
    return Plan(memory, words)


def memory_of_build(counts: Counts) -> int:
    """The least bytes in which a graph can be built."""
    n = counts.nodes
    names = 16 * n_slots(n) + 8 * n_slots(n) + 12 * n + 2 * counts.name_bytes
    rows = PER_NODE * n + LEAST_RANGE
    return PROGRAM + max(names, rows)


def disk_of_build(counts: Counts, memory: int) -> int:
    """Bytes of disk while a graph is built, at the most; those of the graph included."""
    n, weight = counts.nodes, 8 if counts.weighted else 0
    names = counts.name_bytes + 8 * n + 4 * n_slots(n)
    spilled = (8 + weight) * counts.rows
    rows = (8 + 2 * weight) * counts.rows
    many = 2 * (4 + weight) * counts.rows > Plan(memory).room_for_rows(n)
    working = 3 * spilled if many else spilled
    return names + 16 * n + rows + max(working, 2 * weight * counts.rows)


def check_in_memory(
    edges: Sequence[str], columns: Columns, options: TextOptions, memory: int
) -> None:
    """Raise NotEnoughMemory if a graph that is read as a whole takes more than is allowed."""
    needed = PROGRAM + memory_of_building(count_edges(edges, columns, options))
    if needed > memory:
        raise too_little(memory, needed, "because such a file is read as a whole")


def too_little(memory: int, needed: int, why: str) -> NotEnoughMemory:
    """What to say where the memory that is allowed does not do."""
    mebibytes = -(-needed // (1 << 20))
    return NotEnoughMemory(
        f"{size_text(memory)} of memory is too little to build the graph, {why}: "
        f"use --memory {mebibytes}M (memory={mebibytes << 20})"
    )

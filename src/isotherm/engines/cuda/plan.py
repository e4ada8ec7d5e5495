"""What fits on the device: how many columns at a time, and whether the matrix stays there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isotherm.engines.cuda.rows import bytes_per_entry
from isotherm.engines.cuda.vectors import BYTES_OF_NODE, WIDTHS, bytes_per_node, width_for
from isotherm.errors import NotEnoughMemory
from isotherm.memory import size_text

if TYPE_CHECKING:
    from isotherm.graph.rows import Rows

RESERVE = 1 << 28  # bytes that are left alone: kernels, sums, and what others take
LEAST_CHUNK = 1 << 22  # bytes of a chunk below which copies are all that is done
CHUNK = 1 << 28  # the usual size
NUMBER = 8  # bytes of a temperature, where float32 does not do


class Plan(NamedTuple):
    """How a problem is put on the device.

    Attributes
    ----------
    lanes : int
        Columns at a time, with that of the exit times.
    chunk_bytes : int or None
        None: the matrix is there as a whole; else it is streamed in chunks of that size.
    needed : int
        Bytes on the device.
    """

    lanes: int
    chunk_bytes: int | None
    needed: int


class Sizes(NamedTuple):
    """Of a matrix: nodes, entries, the bytes of each, and the entries of the longest row."""

    nodes: int
    entries: int
    entry_bytes: int
    longest: int = 0


def plan(rows: Rows, n_columns: int, free: int) -> Plan:
    """How a matrix is put on a device; see `plan_sizes`."""
    sizes = Sizes(rows.n_nodes, rows.n_entries, bytes_per_entry(rows), rows.longest)
    return plan_sizes(sizes, n_columns, free)


def plan_sizes(sizes: Sizes, n_columns: int, free: int) -> Plan:
    """The fastest way that fits: all columns at once, then fewer, then with the matrix streamed.

    Raises
    ------
    NotEnoughMemory
        Not even two columns fit; the message says what would do.
    """
    n, _, entry, longest = sizes
    matrix = sizes.entries * entry
    widest = width_for(min(n_columns + 1, WIDTHS[-1]))
    widths = [width for width in reversed(WIDTHS) if width <= widest]
    room = free - RESERVE - n * BYTES_OF_NODE
    for width in widths:
        vectors = n * bytes_per_node(width, NUMBER)
        if matrix + vectors <= room:
            return Plan(width, None, free - room + matrix + vectors)
    least = 2 * max(LEAST_CHUNK, longest * entry)
    for width in widths:
        left = room - n * bytes_per_node(width, NUMBER)
        if left >= least:
            chunk = max(min(CHUNK, left // 2), longest * entry)
            return Plan(width, chunk, free - left + 2 * chunk)
    needed = RESERVE + n * (BYTES_OF_NODE + bytes_per_node(widths[-1], NUMBER)) + least
    raise NotEnoughMemory(
        f"the GPU has {size_text(max(free, 0))} of free memory, and a graph of {n:,} nodes needs "
        f"at least {size_text(needed)}, even if its edges are streamed. Use engine='native'"
    )

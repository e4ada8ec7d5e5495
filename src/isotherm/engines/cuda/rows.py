"""The adjacency matrix on the device: whole, or streamed through it in chunks.

Rows are worked on by more threads the longer they are. A chunk has its rows sorted into bins by
length, and each bin is one launch of a kernel.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isotherm.engines.cuda.device import Device
    from isotherm.graph.rows import Rows

# Threads that work on a row together, and the length up to which they do.
BINS = ((4, 48), (16, 512), (32, 4096), (256, np.iinfo(np.int64).max))


@dataclass(frozen=True)
class Bin:
    """Rows of like lengths.

    Attributes
    ----------
    group : int
        Threads for each.
    nodes : int32 array on the device, or None
        Which they are; None: all of the chunk.
    count : int
    """

    group: int
    nodes: Any
    count: int


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows, whose entries are on the device.

    Attributes
    ----------
    first, count : int
        The first row and how many.
    base : int
        The place of the first entry among all entries.
    ends, weights : arrays on the device, or None for weights of 1
    bins : tuple of Bin
    """

    first: int
    count: int
    base: int
    ends: Any
    weights: Any
    bins: tuple[Bin, ...]


class DeviceRows:
    """All of the matrix on the device.

    Parameters
    ----------
    device : Device
    rows : Rows
        In the memory of the host, or mapped from a file.
    """

    def __init__(self, device: Device, rows: Rows) -> None:
        self.device = device
        self.n_nodes = rows.n_nodes
        self.n_entries = len(rows.ends)
        self.weighted = rows.weights is not None
        self.start = device.upload(rows.start)
        self.degrees = self._degrees(rows)
        self._chunks = self._prepare(rows)
        device.wait()  # others may use it from other threads

    @property
    def is_resident(self) -> bool:
        """Whether all of it stays on the device."""
        return True

    def _degrees(self, rows: Rows) -> Any:
        if self.weighted:
            return self.device.upload(rows.sums())
        return (self.start[1:] - self.start[:-1]).astype(np.float64)

    def _prepare(self, rows: Rows) -> list[Chunk]:
        ends = self.device.upload(rows.ends)
        weights = None if rows.weights is None else self.device.upload(rows.weights)
        bins = bins_of(self.device, self.start, 0, self.n_nodes)
        return [Chunk(0, self.n_nodes, 0, ends, weights, bins)]

    @property
    def n_launches(self) -> int:
        """Launches of a kernel that goes through all rows."""
        return sum(len(chunk.bins) for chunk in self._chunks)

    def chunks(self) -> Iterator[Chunk]:
        """Rows to work on, one chunk after the other; each only until the next is asked for."""
        yield from self._chunks


class StreamedRows(DeviceRows):
    """The matrix in the memory of the host, sent to the device whenever it is gone through.

    Two chunks have room there: one is worked on while the other is on its way.

    Parameters
    ----------
    device, rows : see `DeviceRows`
    chunk_bytes : int
        Of the entries of a chunk; a row is never cut.
    """

    def __init__(self, device: Device, rows: Rows, chunk_bytes: int) -> None:
        self._rows = rows
        self._entries = max(1, chunk_bytes // bytes_per_entry(rows))
        super().__init__(device, rows)

    @property
    def is_resident(self) -> bool:
        """Whether all of it stays on the device."""
        return False

    def _prepare(self, rows: Rows) -> list[Chunk]:
        planned, first = [], 0
        while first < self.n_nodes:
            base = int(rows.start[first])
            last = int(np.searchsorted(rows.start, base + self._entries, side="right")) - 1
            last = min(max(last, first + 1), self.n_nodes)
            bins = bins_of(self.device, self.start, first, last)
            planned.append(Chunk(first, last - first, base, None, None, bins))
            first = last
        longest = max((self._n_entries(chunk) for chunk in planned), default=0)
        self._room = [self._buffers(rows, longest) for _ in range(2)]
        return planned

    def _buffers(self, rows: Rows, entries: int) -> tuple[Any, Any]:
        weights = None if rows.weights is None else self.device.empty(entries, rows.weights.dtype)
        return self.device.empty(entries, rows.ends.dtype), weights

    def _n_entries(self, chunk: Chunk) -> int:
        return int(self._rows.start[chunk.first + chunk.count]) - chunk.base

    def chunks(self) -> Iterator[Chunk]:
        """See `DeviceRows.chunks`."""
        with self.device.overlapping() as lanes:
            for k, plan in enumerate(self._chunks):
                ends, weights = self._room[k % 2]
                part = slice(plan.base, plan.base + self._n_entries(plan))
                size = part.stop - part.start
                with lanes.arrival(k % 2):
                    self.device.copy_in(self._rows.ends[part], ends[:size])
                    if self._rows.weights is not None:
                        self.device.copy_in(self._rows.weights[part], weights[:size])
                yield Chunk(plan.first, plan.count, plan.base, ends, weights, plan.bins)
                lanes.departed(k % 2)


def bins_of(device: Device, start: Any, first: int, last: int) -> tuple[Bin, ...]:
    """Sort rows into bins by length; few of a kind go with the next longer ones."""
    xp = device.xp
    lengths = start[first + 1 : last + 1] - start[first:last]
    count, found, least = last - first, [], -1
    for group, most in BINS:
        inside = (lengths > least) & (lengths <= most)
        size = int(inside.sum())
        if size == count:
            return (Bin(group, None, count),)
        if size:
            nodes = (xp.flatnonzero(inside) + first).astype(np.int32)
            found.append(Bin(group, nodes, size))
        least = most
    return tuple(found)


def bytes_per_entry(rows: Rows) -> int:
    """Bytes of an entry on the device."""
    return int(rows.ends.itemsize) + (0 if rows.weights is None else rows.weights.itemsize)


_known: weakref.WeakKeyDictionary[Rows, weakref.ref[DeviceRows]] = weakref.WeakKeyDictionary()


def rows_on(device: Device, rows: Rows, chunk_bytes: int | None) -> DeviceRows:
    """The matrix on the device; the one that is there, if some session has it.

    Parameters
    ----------
    chunk_bytes : int or None
        None: all at once; else streamed, in chunks of that size.
    """
    reference = _known.get(rows)
    found = None if reference is None else reference()
    if found is None or found.device is not device:
        if chunk_bytes is None:
            found = DeviceRows(device, rows)
        else:
            found = StreamedRows(device, rows, chunk_bytes)
        _known[rows] = weakref.ref(found)
    return found

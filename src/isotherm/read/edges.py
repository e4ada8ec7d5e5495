"""Batches of edges → Graph, with room for little more than the graph itself."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from isotherm.errors import GraphError
from isotherm.graph import Graph
from isotherm.graph.nodes import NodeIndex
from isotherm.graph.rows import rows_from_edges
from isotherm.graph.texts import TextNumbers
from isotherm.read.bipartite import note_two_kinds, on_side

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from isotherm.read.report import ReadReport
    from isotherm.read.table import Batch

Number = TypeVar("Number", np.int32, np.int64, np.float64)


class Numbering:
    """Numbers the ends of edges as they come."""

    def __init__(self, sides: tuple[str, str] | None = None) -> None:
        self.sides = sides
        self.names = TextNumbers()
        self.n_rows = self.n_kept = 0  # edges so far, and those of a weight above 0

    def number(
        self, batch: Batch
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None]:
        """The two ends and the weights of some edges."""
        ids = [batch.first, batch.second]
        if self.sides is not None:
            ids = [on_side(side, column) for side, column in zip(self.sides, ids, strict=True)]
        first, second = (self.names.encode(column) for column in ids)
        weights = batch.numbers
        self.n_rows += len(first)
        if weights is not None:
            kept = weights > 0  # an edge of weight 0 is none, but its ends are nodes
            first, second, weights = first[kept], second[kept], weights[kept]
        self.n_kept += len(first)
        return first, second, weights

    def take_texts(self, report: ReadReport) -> pa.Array:
        """The names of all nodes, by number, which are then not kept here any longer."""
        if self.n_rows == 0:
            why = f" left: {report.skipped_words()}" if report.n_skipped else ""
            raise GraphError(f"{report.name} has no edges{why}")
        return self.names.take_texts()


class EdgeList(Numbering):
    """Edges whose ends are numbered as they come, in memory; see `Numbering`."""

    def __init__(self, sides: tuple[str, str] | None = None) -> None:
        super().__init__(sides)
        self._ends = Growing(np.int32), Growing(np.int32)
        self._weights: Growing[np.float64] | None = None

    def add(self, batch: Batch) -> None:
        """Take in some edges."""
        *ends, weights = self.number(batch)
        if weights is not None:
            self._weights = self._weights or Growing(np.float64)
            self._weights.extend(weights)
        for column, end in zip(self._ends, ends, strict=True):
            column.extend(end)

    def graph(self, report: ReadReport) -> Graph:
        """The graph; what is odd about the two ends of its edges is noted."""
        texts = self.take_texts(report)
        source, target = (column.array() for column in self._ends)
        if self.sides is None:
            note_two_kinds((source, target), texts, report)
        weights = None if self._weights is None else self._weights.array()
        rows = rows_from_edges(len(texts), source, target, weights)
        return Graph(rows, NodeIndex(texts), self.sides)


class Growing(Generic[Number]):
    """Numbers of one type that become more and more, in one piece and without copies.

    Memory is asked for in advance but used only where something was written to it.

    Examples
    --------
    >>> numbers = Growing(np.int32)
    >>> for part in ([1, 2], [], [3]):
    ...     numbers.extend(np.array(part, dtype=np.int32))
    >>> numbers.array().tolist()
    [1, 2, 3]
    """

    def __init__(self, dtype: type[Number]) -> None:
        self._dtype: np.dtype[Number] = np.dtype(dtype)
        self._map = _memory(mmap.PAGESIZE)
        self._count = 0

    def extend(self, values: NDArray[Number]) -> None:
        """Put these behind the others."""
        needed = (self._count + len(values)) * self._dtype.itemsize
        if needed > len(self._map):
            self._make_room(max(needed, 2 * len(self._map)))
        whole = np.frombuffer(self._map, dtype=self._dtype)
        whole[self._count : self._count + len(values)] = values
        self._count += len(values)

    def array(self) -> NDArray[Number]:
        """All of them."""
        return np.frombuffer(self._map, dtype=self._dtype, count=self._count)

    def _make_room(self, size: int) -> None:
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        try:
            self._map.resize(size)
        except (SystemError, OSError):  # a system that cannot
            larger = _memory(size)
            larger[: len(self._map)] = self._map[:]
            self._map = larger


def _memory(size: int) -> mmap.mmap:
    """Memory of our own: what is shared with other processes cannot grow."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)

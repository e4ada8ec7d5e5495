"""Edges of part files → the rows that each rank owns, exchanged in rounds of bounded size."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from isotherm.distributed.names import HALF, PLACE, Names
from isotherm.distributed.ownership import balanced_bounds, owner_of, share_of
from isotherm.distributed.texts import joined, send_texts
from isotherm.errors import GraphError, IsothermError
from isotherm.graph.texts import buffers_of, texts_of
from isotherm.memory import release_unused
from isotherm.read.edges import Growing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from isotherm.engines.mpi.ranks import Ranks
    from isotherm.engines.mpi.share import Share
    from isotherm.read.table import Batch

ROWS = 1 << 16  # edges that a rank reads in one round: their names are texts, several times over


class SharedGraph(NamedTuple):
    """A graph of which this rank has a share.

    Attributes
    ----------
    share : Share
    names : Names
        Those that are hashed to this rank, to find numbers by.
    texts : pyarrow.Array
        The names of own nodes.
    """

    share: Share
    names: Names
    texts: pa.Array


class Entries:
    """Entries of the matrix, at the rank that their row's name is hashed to."""

    def __init__(self, ranks: Ranks, *, weighted: bool) -> None:
        self.ranks = ranks
        self.names = Names(ranks)
        self._row = Growing(np.int32)
        self._column = Growing(np.int64)
        self._weights = Growing(np.float64) if weighted else None
        self.n_rows = 0

    def read(self, batches: Iterable[Batch]) -> None:
        """Take in all edges, all ranks theirs at the same time.

        Raises
        ------
        IsothermError
            On all ranks, what one has found.
        """
        for chunk in in_step(self.ranks, _chunks(batches), _nothing(self._weights is not None)):
            self._add(chunk)
            release_unused()  # what texts took: it would add up to more than the entries

    def _add(self, chunk: Batch) -> None:
        self.n_rows += len(chunk.first)
        keys = self.names.keys(joined([chunk.first, chunk.second]))
        ends = [keys[: len(chunk.first)], keys[len(chunk.first) :]]
        weights = chunk.numbers
        if weights is not None:
            kept = weights > 0  # an edge of weight 0 is none, but its ends are nodes
            ends, weights = [end[kept] for end in ends], weights[kept]
        other = ends[0] != ends[1]  # a self loop has one entry
        row = np.concatenate([ends[0], ends[1][other]])
        column = np.concatenate([ends[1], ends[0][other]])
        owner = (row >> HALF).astype(np.int32)
        order = np.argsort(owner, kind="stable")
        cuts = np.searchsorted(owner[order], np.arange(1, self.ranks.size))
        self._take(self._row, (row & PLACE).astype(np.int32), order, cuts)
        self._take(self._column, column, order, cuts)
        if self._weights is not None and weights is not None:
            self._take(self._weights, np.concatenate([weights, weights[other]]), order, cuts)

    def _take(
        self,
        into: Growing[Any],
        rows: NDArray[Any],
        order: NDArray[np.intp],
        cuts: NDArray[np.intp],
    ) -> None:
        for part in self.ranks.exchange(np.split(rows[order], cuts), "edges"):
            into.extend(part)

    def graph(self) -> SharedGraph:
        """The graph, its rows shared out in balance; nothing is left here.

        Raises
        ------
        GraphError
            If there are no edges.
        """
        ranks, names = self.ranks, self.names
        if ranks.total(self.n_rows) == 0:
            ranks.refuse(GraphError("the files have no edges"))
        keys = self._column.array()
        for some in _pieces(len(keys)):
            keys[some] = names.numbers(keys[some])
        del keys
        n_names = len(names.own())
        bounds = balanced_bounds(ranks, np.bincount(self._row.array(), minlength=n_names))
        numbers = names.first + np.arange(n_names)
        cuts = np.searchsorted(owner_of(numbers, bounds), np.arange(ranks.size + 1)).tolist()
        parts = [names.own().slice(first, last - first) for first, last in pairwise(cuts)]
        texts = _on_its_own(joined(send_texts(ranks, parts)))
        self._move(bounds)
        row, column, weights = self._row, self._column, self._weights
        self._row, self._column, self._weights = Growing(np.int32), Growing(np.int64), None
        return SharedGraph(share_of(ranks, bounds, row, column, weights), names, texts)

    def _move(self, bounds: NDArray[np.int64]) -> None:
        """Send entries to the owners of their rows; most of them are there already."""
        ranks, first = self.ranks, self.names.first
        row = self._row.array()
        low, high = bounds[ranks.rank] - first, bounds[ranks.rank + 1] - first
        stays = (row >= low) & (row < high)
        goes = np.flatnonzero(~stays)
        numbers = row[goes] + np.int64(first)
        owner = owner_of(numbers, bounds)
        order = np.argsort(owner, kind="stable")
        cuts = np.searchsorted(owner[order], np.arange(1, ranks.size))
        places = (numbers - bounds[owner])[order].astype(np.int32)
        for some in _pieces(len(row)):
            row[some] -= low
        del row, numbers, owner
        goes = goes[order]
        sent: list[tuple[Growing[Any], NDArray[Any]]] = [
            (self._row, places),
            (self._column, self._column.array()[goes]),
        ]
        if self._weights is not None:
            sent.append((self._weights, self._weights.array()[goes]))
        for kept, rows in sent:
            kept.keep(stays)
            for part in ranks.exchange(np.split(rows, cuts), "rows"):
                kept.extend(part)


def _on_its_own(texts: pa.Array) -> pa.Array:
    """A copy that is not in Arrow's memory, which goes back to the system less readily."""
    start, data = buffers_of(texts)
    return texts_of(start - start[0], data[start[0] : start[-1]].copy())


def in_step(ranks: Ranks, own: Iterator[Any], nothing: Any) -> Iterator[Any]:
    """What this rank has, one after the other, as long as any rank has something.

    A rank that has no more gets `nothing`. What goes wrong on one is raised on all.
    """
    while True:
        one = error = None
        try:
            one = next(own, None)
        except (IsothermError, OSError, MemoryError) as found:
            error = found
        ranks.agree(error)
        if not ranks.any(one is not None):
            return
        yield nothing if one is None else one


def _chunks(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same rows, so many at a time at the most, and small batches together."""
    waiting: list[Batch] = []
    count = 0
    for batch in batches:
        for part in _parts(batch):
            if count + len(part.first) > ROWS:
                yield _together(waiting)
                waiting, count = [], 0
            waiting.append(part)
            count += len(part.first)
    if count:
        yield _together(waiting)


def _parts(batch: Batch) -> Iterator[Batch]:
    for first in range(0, len(batch.first), ROWS):
        one, other = (column.slice(first, ROWS) for column in (batch.first, batch.second))
        numbers = None if batch.numbers is None else batch.numbers[first : first + ROWS]
        yield type(batch)(one, other, numbers)


def _together(batches: list[Batch]) -> Batch:
    numbers = None
    if batches[0].numbers is not None:
        numbers = np.concatenate([batch.numbers for batch in batches])
    first, second = (joined([batch[k] for batch in batches]) for k in (0, 1))
    return type(batches[0])(first, second, numbers)


def _nothing(weighted: bool) -> Batch:
    from isotherm.read.table import Batch

    none = pa.array([], pa.large_string())
    return Batch(none, none, np.empty(0) if weighted else None)


def _pieces(count: int, at_once: int = 1 << 22) -> Iterator[slice]:
    return (slice(first, first + at_once) for first in range(0, count, at_once))

"""The rows of a saved graph that one rank has, and the nodes of other ranks that they lead to.

Rank r owns the nodes from ``cuts[r]`` to ``cuts[r + 1]``. In its arrays of *all* nodes its own ones
come first, then the ghosts: nodes of others that own rows lead to, sorted.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy

from isotherm.compiled import core, n_threads
from isotherm.errors import FileError
from isotherm.graph.rows import Rows
from isotherm.graph.saved.file import SavedFile, open_file

if TYPE_CHECKING:
    from isotherm_petsc.ranks import Array, Ranks

ROW_COST = 8  # a row costs about as much as so many entries even if it has none
BUFFER = 1 << 20  # bytes of rows on their way
PIECE = 1 << 24  # entries looked at at once
NONE = np.iinfo(np.int64).max


def cuts_of(file: SavedFile, size: int) -> Array:
    """Where the nodes of each rank begin, and end: all have about as many entries.

    Each rank has at least one node as long as there are enough.
    """
    starts, n = file.part("starts"), file.header.n_nodes
    total = file.header.n_entries + ROW_COST * n
    cuts = np.zeros(size + 1, dtype=np.int64)
    for r in range(1, size + 1):
        cost = total * r // size
        cuts[r] = bisect_left(range(n), cost, key=lambda i: int(starts[i]) + ROW_COST * i)
    if n >= size:  # hubs may fill ranks
        floor = np.arange(size + 1)
        cuts = np.minimum(np.maximum(cuts, floor), n - floor[::-1])
    cuts[-1] = n
    return np.maximum.accumulate(cuts)


def same_file(path: str, folder: str, header: bytes) -> SavedFile:
    """The file that the first rank has open, or a copy of it on a disk of this machine.

    It is in the same place, or in the same place as seen from the folder in which the process was
    started; that of the first rank is `folder`. The header has the checksums of all parts.
    """
    places = dict.fromkeys([str(Path.cwd() / os.path.relpath(path, folder)), path])
    there = [place for place in places if Path(place).is_file()]
    for place in there:
        file = open_file(place)
        if file.header.pack() == header:
            return file
    if there:
        raise FileError(f"{there[0]} is another graph than the first rank's: copy that one here")
    raise FileError(f"{path} is not there on every machine: copy it to the same place on each")


class OwnRows:
    """What a rank knows of a graph: rows of all nodes, of which those of ghosts are empty."""

    def __init__(self, ranks: Ranks, file: SavedFile, cuts: Array) -> None:
        self.ranks, self.file, self.cuts = ranks, file, cuts
        self.first, last = int(cuts[ranks.rank]), int(cuts[ranks.rank + 1])
        self.n_own, self.n_nodes = last - self.first, file.header.n_nodes
        ghosts = ranks.agreed(self._read)
        self.n_all = self.n_own + len(ghosts)
        # The number of each node in the whole graph.
        self.numbers = np.append(np.arange(self.first, last), ghosts)
        self.halo = Halo(ranks, cuts, ghosts)
        self.longest = int(ranks.gathered(np.int64(self.rows.longest)).max())
        self._parts: Array | None = None

    def _read(self) -> Array:
        """Look at own rows and number their ends anew; the ghosts."""
        first, last = self.first, self.first + self.n_own
        mine, ghosts = self.file.rows(first, last), np.empty(0, dtype=np.int32)
        if self.n_own == self.n_nodes:
            self.rows = mine
            return ghosts.astype(np.int64)
        for k in range(0, len(mine.ends), PIECE):
            given = mine.ends[k : k + PIECE]
            ghosts = np.union1d(ghosts, given[(given < first) | (given >= last)])
        ends = np.empty(len(mine.ends), dtype=np.int32)
        weights = None if mine.weights is None else np.empty(len(ends))
        for top, bottom in mine.blocks():
            begin = mine.start[top : bottom + 1]
            given = mine.ends[begin[0] : begin[-1]]
            at = begin[0] + _own_first(begin - begin[0], given < first, given < last)
            place = self.n_own + np.searchsorted(ghosts, given)
            ends[at] = np.where((given >= first) & (given < last), given - first, place)
            if weights is not None and mine.weights is not None:
                weights[at] = mine.weights[begin[0] : begin[-1]]
        start = np.full(self.n_own + len(ghosts) + 1, mine.start[-1], dtype=np.int64)
        start[: self.n_own + 1] = mine.start
        self.rows = Rows(start, ends, weights)
        return ghosts.astype(np.int64)

    def lowest_seeds(self, seeds: Array) -> Array:
        """The least number of a seed in the component of each own node; −1 without one.

        Each rank finds the components of its own rows once. What is known at one node of such a
        part holds at all of them; ranks tell each other what they know of the nodes that they share
        until nothing changes.
        """
        if self._parts is None:
            self._parts = self.ranks.agreed(self._found_parts)
        known, part = np.full(self.n_all, NONE), self._parts
        known[seeds] = self.first + seeds
        order = np.argsort(part, kind="stable")
        begin = np.flatnonzero(np.diff(part[order], prepend=-1))
        while True:
            lowest = np.minimum.reduceat(known[order], begin) if len(begin) else known
            found = lowest[part]
            found = np.minimum(found, self.halo.fill(found.copy()))
            changed = not np.array_equal(found, known)
            known = found
            if not self.ranks.any(changed):
                own = known[: self.n_own]
                return np.where(own == NONE, -1, own)

    def _found_parts(self) -> Array:
        """The component of each node by own rows alone, numbered from 0."""
        rows = self.rows
        part = np.zeros(self.n_all, dtype=np.int32)
        if rows.compiled and self.n_all:
            core.components(rows.start, rows.ends, part, n_threads(), self.n_own)
        elif self.n_all:
            ones = np.ones(len(rows.ends), dtype=np.int8)
            matrix = scipy.sparse.csr_array((ones, rows.ends, rows.start), shape=(self.n_all,) * 2)
            _, part = scipy.sparse.csgraph.connected_components(matrix, directed=False)
        return part


class Halo:
    """Who sends which rows to whom, so that those of ghosts are what their owners have."""

    def __init__(self, ranks: Ranks, cuts: Array, ghosts: Array) -> None:
        self.ranks = ranks
        first, end = cuts[ranks.rank : ranks.rank + 2]
        at = np.searchsorted(ghosts, cuts)
        asked = ranks.exchange(np.split(ghosts, at[1:-1]))
        self._sent = {r: nodes - first for r, nodes in enumerate(asked) if r != ranks.rank}
        places = (at + end - first).tolist()  # of the ghosts of rank r, among all nodes
        self._got = {
            r: slice(places[r], places[r + 1]) for r in range(ranks.size) if r != ranks.rank
        }

    def fill(self, rows: Array) -> Array:
        """Put the rows of ghosts, behind the own ones, to what their owners have; in place.

        So many rows at a time that what is on its way takes little room. Both sides of a pair
        know how many times that is.
        """
        a_row = int(np.prod(rows.shape[1:], dtype=np.int64)) * rows.itemsize
        at_once = max(BUFFER // max(a_row, 1), 256)
        got = {rank: rows[where] for rank, where in self._got.items()}
        most = max(map(len, [*got.values(), *self._sent.values()]), default=0)
        for first in range(0, most, at_once):
            some = slice(first, first + at_once)
            sent = {rank: rows[nodes[some]] for rank, nodes in self._sent.items()}
            self.ranks.swap(sent, {rank: into[some] for rank, into in got.items()})
        return rows


def _own_first(start: Array, is_before: Array, is_not_after: Array) -> Array:
    """Where entries go so that rows, sorted before, are sorted by the numbers that a rank gives.

    Entries before own nodes, which come first in a row, then stand behind them.
    """
    masks = (is_before, is_not_after)
    before, not_after = (np.diff(np.append(0, np.cumsum(mask))[start]) for mask in masks)
    counts, own = np.diff(start), not_after - before
    shift = np.where(is_before, np.repeat(own, counts), np.repeat(-before, counts))
    return np.arange(len(is_before)) + np.where(is_not_after, shift, 0)

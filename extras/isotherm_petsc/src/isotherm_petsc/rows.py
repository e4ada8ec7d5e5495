"""The rows of a saved graph that one rank has, and the nodes of other ranks that they lead to.

Rank r owns the nodes from ``cuts[r]`` to ``cuts[r + 1]``. Its arrays of *all* nodes have these and
the ghosts, nodes of others that own rows lead to, in the order of the graph.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isotherm import FileError
from isotherm.engines.api import Rows, SavedFile, open_file

if TYPE_CHECKING:
    from isotherm_petsc.part import Part
    from isotherm_petsc.ranks import Array, Ranks

ROW_COST = 8  # a row costs about as much as so many entries even if it has none
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
    """What a rank knows of a graph: rows of all its nodes, of which those of ghosts are empty.

    Arrays of own nodes have an entry for each of these; `around` makes those of all nodes of them.
    """

    def __init__(self, ranks: Ranks, file: SavedFile, cuts: Array) -> None:
        self.ranks, self.file, self.cuts = ranks, file, cuts
        rank, others = ranks.rank, [r for r in range(ranks.size) if r != ranks.rank]
        self.first, last = cuts[rank : rank + 2].tolist()
        self.n_own, self.n_nodes = last - self.first, file.header.n_nodes
        self.rows, self.numbers = ranks.agreed(
            lambda: with_ghosts(file.rows(self.first, last), self.first, last)
        )
        self.longest = max(ranks.gathered(self.rows.longest))
        # Which of all nodes are those of each rank, and which own ones each of them asks for.
        places = np.searchsorted(self.numbers, cuts).tolist()
        of_ranks = [slice(*places[r : r + 2]) for r in range(ranks.size)]
        self.own, self._got = of_ranks[rank], {r: of_ranks[r] for r in others}
        wanted = {r: self.numbers[of_ranks[r]] for r in others}
        counts = ranks.gathered({r: len(nodes) for r, nodes in wanted.items()})
        asked = {r: np.empty(counts[r][rank], dtype=np.int64) for r in others}
        ranks.swap(wanted, asked)
        self._sent = {r: nodes - self.first for r, nodes in asked.items()}
        self.solved_last: Part | None = None
        # The component of each node by own rows alone.
        self._parts = ranks.agreed(lambda: self.rows.components(first_ghost=self.own.stop))

    def around(self, own: Array) -> Array:
        """Numbers of all nodes, from those of own ones: ghosts have what their owners have."""
        whole = np.empty(len(self.numbers), own.dtype)
        whole[self.own] = own
        sent = {rank: own[nodes] for rank, nodes in self._sent.items()}
        self.ranks.swap(sent, {rank: whole[ghosts] for rank, ghosts in self._got.items()})
        return whole

    def lowest_seeds(self, seeds: Array) -> Array:
        """The least number of a seed in the component of each own node; −1 without one.

        What is known at one node of a part of a component holds at all of them; ranks tell each
        other what they know of the nodes that they share until nothing changes.
        """
        known, is_new = np.full(self.n_own, NONE), True
        known[seeds] = self.first + seeds
        while any(self.ranks.gathered(is_new)):
            lowest = np.full(len(self.numbers), NONE)  # of parts, which are no more than nodes
            np.minimum.at(lowest, self._parts, self.around(known))
            found = lowest[self._parts][self.own]
            known, is_new = found, not np.array_equal(found, known)
        return np.where(known == NONE, -1, known)


def with_ghosts(mine: Rows, first: int, last: int) -> tuple[Rows, Array]:
    """Rows of some nodes, and empty ones of their ghosts; and the number of each in the graph."""
    pieces = [slice(k, k + PIECE) for k in range(0, len(mine.ends), PIECE)]
    ends, ghosts = mine.ends, mine.ends[:0]
    for piece in pieces:
        given = ends[piece]
        ghosts = np.union1d(ghosts, given[(given < first) | (given >= last)])
    before = int(np.searchsorted(ghosts, first))
    numbers = np.concatenate([ghosts[:before], np.arange(first, last), ghosts[before:]])
    if len(numbers) and len(numbers) <= numbers[-1]:  # else they are numbered so already
        ends = np.empty_like(ends)
        for piece in pieces:  # ghosts before each end, and own nodes
            given = mine.ends[piece]
            ends[piece] = np.searchsorted(ghosts, given) + np.clip(given - first, 0, last - first)
    start = np.pad(mine.start, (before, len(ghosts) - before), mode="edge")
    return Rows(start, ends, mine.weights), numbers

"""The halo: rows of ghosts, nodes of other ranks that own rows lead to, kept up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.mpi.ranks import Ranks

BUFFER = 1 << 20  # bytes of rows on their way
LEAST = 256  # rows sent at once


class Halo:
    """Who sends which rows to whom.

    Parameters
    ----------
    ranks : Ranks
    bounds : int array of shape (size + 1,)
        Rank r owns the nodes from ``bounds[r]`` to ``bounds[r + 1]``.
    ghosts : int array
        The nodes of others whose rows are wanted, sorted.
    """

    def __init__(self, ranks: Ranks, bounds: NDArray[np.int64], ghosts: NDArray[np.int64]) -> None:
        self.ranks = ranks
        first = bounds[ranks.rank]
        self.n_own = int(bounds[ranks.rank + 1] - first)
        cuts = np.searchsorted(ghosts, bounds)
        self._cuts = self.n_own + cuts  # the ghosts of rank r, among all nodes
        asked = ranks.exchange(np.split(ghosts, cuts[1:-1]), "the rows that others need")
        # They are as many as ghosts: half the bytes will do, as a rule.
        small = np.int32 if self.n_own < 2**31 else np.int64
        self._sent = {
            rank: (nodes - first).astype(small)
            for rank, nodes in enumerate(asked)
            if len(nodes) and rank != ranks.rank
        }
        self._room: dict[int, NDArray[np.uint8]] = {}

    @property
    def n_sent(self) -> int:
        """Rows sent at each exchange."""
        return sum(map(len, self._sent.values()))

    def fill(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Put the rows of ghosts, behind the own ones, to what their owners have; in place.

        So many rows at a time that what is on its way takes little room. Both sides of a pair
        know how many times that is.
        """
        if self.ranks.size == 1:
            return rows
        got = {
            rank: rows[self._cuts[rank] : self._cuts[rank + 1]]
            for rank in range(self.ranks.size)
            if self._cuts[rank] < self._cuts[rank + 1]
        }
        row = max(rows[:1].nbytes, 1)
        at_once = max(BUFFER // row // max(self.ranks.size - 1, 1), LEAST)
        most = max(map(len, [*got.values(), *self._sent.values()]), default=0)
        for first in range(0, most, at_once):
            some = slice(first, first + at_once)
            sent = {
                rank: self._taken(rows, nodes[some], rank, at_once)
                for rank, nodes in self._sent.items()
                if first < len(nodes)
            }
            wanted = {rank: into[some] for rank, into in got.items() if first < len(into)}
            self.ranks.swap(sent, wanted)
        return rows

    def _taken(
        self, rows: NDArray[Any], nodes: NDArray[Any], rank: int, at_once: int
    ) -> NDArray[Any]:
        """Some rows, in room that is used again: fresh memory would cost more than the copy."""
        most = min(at_once, len(self._sent[rank])) * rows[:1].nbytes
        if rank not in self._room or len(self._room[rank]) < most:
            self._room[rank] = np.empty(most, np.uint8)
        room = self._room[rank][: len(nodes) * rows[:1].nbytes].view(rows.dtype)
        into = room.reshape(len(nodes), *rows.shape[1:])
        return np.take(rows, nodes, axis=0, out=into, mode="clip")

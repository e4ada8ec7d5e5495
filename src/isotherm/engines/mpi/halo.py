"""The halo: rows of ghosts, nodes of other ranks that own rows lead to, kept up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.mpi.ranks import Ranks


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
        self.ranks, self.ghosts = ranks, ghosts
        self.n_own = int(bounds[ranks.rank + 1] - bounds[ranks.rank])
        cuts = np.searchsorted(ghosts, bounds)
        self._cuts = self.n_own + cuts  # the ghosts of rank r, among all nodes
        asked = ranks.exchange(np.split(ghosts, cuts[1:-1]), "which rows are wanted")
        first = bounds[ranks.rank]
        self._sent = {
            rank: (nodes - first).astype(np.intp)
            for rank, nodes in enumerate(asked)
            if len(nodes) and rank != ranks.rank
        }
        self._room: dict[tuple[Any, ...], dict[int, NDArray[Any]]] = {}

    @property
    def n_sent(self) -> int:
        """Rows sent at each exchange."""
        return sum(map(len, self._sent.values()))

    def fill(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Put the rows of ghosts, behind the own ones, to what their owners have; in place."""
        if self.ranks.size == 1:
            return rows
        key = (rows.dtype, *rows.shape[1:])
        if key not in self._room:
            self._room[key] = {
                rank: np.empty((len(nodes), *rows.shape[1:]), rows.dtype)
                for rank, nodes in self._sent.items()
            }
        sent = self._room[key]
        for rank, nodes in self._sent.items():
            np.take(rows, nodes, axis=0, out=sent[rank], mode="clip")
        got = {
            rank: rows[self._cuts[rank] : self._cuts[rank + 1]]
            for rank in range(self.ranks.size)
            if self._cuts[rank] < self._cuts[rank + 1]
        }
        self.ranks.swap(sent, got)
        return rows

    def rest(self) -> None:
        """Give back the room for what is sent."""
        self._room.clear()

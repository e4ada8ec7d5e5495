"""Own seeds and the nodes around them: a problem so small that its ghosts take no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.graph.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isotherm.engines.mpi.share import SharedProblem

AT_ONCE = 2  # columns whose ghosts are asked for at once


class Around:
    """What `isotherm.trust.freed.free_each` looks at of a problem, on some own seeds alone.

    Parameters
    ----------
    problem : SharedProblem
    places : int array of shape (m,)
        Of the seeds, among all own ones.

    Attributes
    ----------
    seeds, boundary : int arrays of shape (m,)
        The seeds, among the nodes here.
    values : array of shape (m, K)
    leak : float
    n_columns : int
    rows : Rows
        Of the seeds; those of the nodes around them are empty.
    """

    def __init__(self, problem: SharedProblem, places: NDArray[np.intp]) -> None:
        rows, nodes = problem.graph.rows, problem.boundary[places]
        entries, counts = rows.entries(nodes)
        ends = rows.ends[entries]
        around = np.setdiff1d(ends, nodes)
        self._nodes = np.concatenate([nodes, around])
        order = np.argsort(self._nodes)
        start = np.full(len(self._nodes) + 1, len(ends), dtype=np.int64)
        start[: len(nodes) + 1] = np.concatenate([[0], np.cumsum(counts)])
        weights = None if rows.weights is None else rows.weights[entries]
        found = order[np.searchsorted(self._nodes[order], ends)]
        self.rows = Rows(start, found.astype(np.int32), weights)
        self.seeds = self.boundary = np.arange(len(nodes))
        self.values, self.leak = problem.values[places], problem.leak
        self.n_columns = problem.n_columns
        self._share = problem.graph

    @property
    def graph(self) -> Around:
        """Where the rows are."""
        return self

    def of(self, numbers: NDArray[np.floating]) -> NDArray[np.float64]:
        """What own nodes and ghosts have, at the nodes here; all ranks ask at once.

        Parameters
        ----------
        numbers : array of shape (n_own,) or (n_own, c)
        """
        columns = numbers.reshape(len(numbers), -1)
        found = np.empty((len(self._nodes), columns.shape[1]))
        for first in range(0, columns.shape[1], AT_ONCE):
            some = columns[:, first : first + AT_ONCE]
            whole = np.empty((self._share.n_all, some.shape[1]))
            whole[: len(some)] = some
            found[:, first : first + AT_ONCE] = self._share.halo.fill(whole)[self._nodes]
        return found.reshape(len(found), *numbers.shape[1:])

"""Columns of one matrix, found when first asked for and kept: what changes are made of.

`isotherm.engines.changes` says what they mean: g_s of a seed s, v_i of a free node i.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.session import HostSession
    from isotherm.solvers.options import Progress

COLUMN_TOL = 0.1  # of the tolerance, for a column
MOST_COLUMNS = 48  # that are kept
ROOM = 1 << 26  # numbers that they may have


class KeptColumns:
    """The columns of some nodes.

    Parameters
    ----------
    session : HostSession
        Which finds them.
    problem : DirichletProblem
        As it is prepared there.
    dtype : type
        Of the numbers that are kept.

    Attributes
    ----------
    is_seed : bool array of shape (n,)
        Nodes that the problem holds.
    most : int
        So many columns there can be.
    """

    def __init__(self, session: HostSession, problem: DirichletProblem, dtype: DTypeLike) -> None:
        self._session = session
        self._problem = problem
        self.is_seed = np.zeros(problem.graph.n_nodes, dtype=bool)
        self.is_seed[problem.boundary] = True
        self.most = min(MOST_COLUMNS, ROOM // problem.graph.n_nodes)
        self._rows = np.empty((self.most, problem.graph.n_nodes), dtype)  # not all in use
        self._places: dict[int, int] = {}  # the row of each that is

    def find(self, wanted: list[int], progress: Progress | None) -> int:
        """Find the columns of nodes that have none yet, all together; how many steps it took."""
        nodes = [i for i in wanted if i not in self._places]
        if not nodes:
            return 0
        if len(self._places) + len(nodes) > self.most:  # of nodes no longer changed
            kept = [i for i in self._places if i in wanted]
            self._rows[: len(kept)] = self._rows[[self._places[i] for i in kept]]
            self._places = {i: k for k, i in enumerate(kept)}
        at = np.array(sorted(nodes), dtype=np.intp)
        columns = np.arange(len(at))
        seeds = self.is_seed[at]
        base = self._problem
        values = np.zeros((base.n_seeds, len(at)))
        values[np.searchsorted(base.boundary, at[seeds]), columns[seeds]] = 1.0
        heat = np.zeros((np.count_nonzero(~seeds), len(at)))
        heat[np.arange(len(heat)), columns[~seeds]] = base.capacities[at[~seeds]]
        asked = base.with_heat(at[~seeds], heat, values)
        V, steps = self._session.columns(asked, COLUMN_TOL * self._session.options.tol, progress)
        for i, column in zip(at.tolist(), V.T, strict=True):
            self._rows[len(self._places)] = column
            self._places[i] = len(self._places)
        return steps

    def of(self, nodes: list[int]) -> NDArray[np.float64]:
        """Columns of some nodes side by side, shape (n, number of these nodes)."""
        return self._rows[[self._places[i] for i in nodes]].astype(np.float64).T

    def units(
        self, problem: DirichletProblem, held: list[int], moved: list[int]
    ) -> NDArray[np.floating] | None:
        """A row for each node moved: temperatures with it at 1 and all other seeds at 0.

        `held` are the nodes that `problem` holds and this one does not. None if columns do not say.
        """
        place = self._places
        V = self._rows[: len(place)]
        system = V[np.ix_([place[i] for i in held], held)].astype(np.float64)  # v_i at node j
        asked = np.zeros((len(moved), len(held)))
        shares = np.zeros((len(moved), len(place)))
        for k, j in enumerate(moved):
            if self.is_seed[j]:
                asked[k], shares[k, place[j]] = -V[place[j]][held], 1.0
            else:
                asked[k, held.index(j)] = 1.0
        try:
            shares[:, [place[i] for i in held]] += np.linalg.solve(system.T, asked.T).T
        except np.linalg.LinAlgError:
            return None
        # Not by BLAS, whose threads would keep on spinning beside those of the core.
        W = np.empty((len(moved), V.shape[1]), V.dtype)
        for row, own in zip(W, shares.astype(V.dtype), strict=True):
            first, *others = np.flatnonzero(own).tolist() or [0]
            np.multiply(V[first], own[first], out=row)
            for at in others:
                row += own[at] * V[at]
            row[problem.boundary] = 0.0
        W[np.arange(len(moved)), moved] = 1.0
        return W

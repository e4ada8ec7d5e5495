"""Conjugate gradients across ranks: some columns at once, with the exit times of their proof.

What would take the most steps is that all nodes are too cold, or too warm, together: steps are
deflated by the vector of ones (A-DEF2 of Tang, Nabben, Vuik and Erlangga, Journal of Scientific
Computing 39, 2009), as those of the core are.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from isotherm.engines.mpi.arithmetic import Arithmetic, Sums
    from isotherm.engines.mpi.share import SharedProblem

PIECE = 1 << 16  # rows looked at at once
SMALL_PIECE = 1 << 12  # the same where copies of them are made


class Descent:
    """The vectors of some columns, and the steps made on them.

    Parameters
    ----------
    problem : SharedProblem
    arithmetic : Arithmetic
    T : array of shape (n_own, c)
        Where the temperatures are to be found; it may be a part of the columns of a larger one.
    exits : array of shape (n_own,) or None
        Where the exit times are to be found along with the columns; None: they are not.
    started : bool
        Whether T and the exit times are somewhere to start from; else T is 0 at free nodes.

    Attributes
    ----------
    levels : array of shape (c + 1,) or (c,)
        The greatest residual of each column, in units of the gauge; the last that of the exit
        times, if these are found, too.
    steps : int
    """

    def __init__(
        self,
        problem: SharedProblem,
        arithmetic: Arithmetic,
        T: NDArray[np.float64],
        exits: NDArray[np.float64] | None,
        *,
        started: bool = False,
    ) -> None:
        self._problem, self._arithmetic = problem, arithmetic
        self._n_own, self.columns = problem.graph.n_own, problem.n_columns
        self.lanes = self.columns + (exits is not None)
        self._heated = self.columns if exits is not None else -1
        width = arithmetic.width(self.lanes)
        self._T, self._exits = T, exits
        if started:
            for first in range(0, len(T), PIECE):
                some = T[first : first + PIECE]
                some[np.isnan(some)] = 0.0
                np.clip(some, *problem.bounds, out=some)
        T[problem.boundary] = problem.values
        T[problem.is_unreached] = 0.0
        n_all = problem.graph.n_all
        self._P = arithmetic.vector(n_all, arithmetic.stride_of_P(width))
        self._V, self._D, self._R = (arithmetic.vector(self._n_own, width) for _ in range(3))
        self.steps = 0
        self._moving = np.zeros(width, dtype=bool)
        self._rz: NDArray[np.float64]
        self._levels: NDArray[np.float64]
        self._staying: NDArray[np.float64]
        self._previous = np.full(width, np.inf)
        if started:
            self.refresh()
        else:
            self._begin()
        if arithmetic.all_exits > 0:
            self._lift()

    @property
    def levels(self) -> NDArray[np.float64]:
        return np.asarray(self._levels[: self.lanes])

    def run(
        self,
        goals: NDArray[np.float64],
        most: int,
        each_step: Callable[[Descent], None] | None = None,
        *,
        leader: int | None = None,
    ) -> None:
        """Steps until every column is at its goal, or one of them, or so many have been made.

        The levels are those of the recurrence at the end, which a proof has to confirm; where it
        does not, `refresh` finds them afresh.

        Parameters
        ----------
        goals : array of shape (lanes,)
        most : int
        each_step : callable, optional
            Called after each step, on all ranks.
        leader : int, optional
            The column whose goal ends the run.
        """
        wanted = np.full(len(self._levels), np.inf)
        wanted[: self.lanes] = goals
        while True:
            moving = self._levels > wanted
            going = moving.any() if leader is None else moving[leader]
            if not going or self.steps >= most:
                return
            self._step(moving)
            if each_step is not None:
                each_step(self)
            if (self._levels[moving] <= self._arithmetic.digits * self._weighed[moving]).any():
                self.refresh()

    def _step(self, moving: NDArray[np.bool_]) -> None:
        # Saad, Iterative Methods for Sparse Linear Systems (2nd ed.), Algorithm 9.1, with the new
        # direction (lines 7 and 8) made when it is needed: from a residual that may be found
        # afresh meanwhile. A column at its goal is frozen by α = β = 0.
        ranks, arithmetic = self._problem.graph.ranks, self._arithmetic
        beta = _ratio(self._rz, self._previous, moving & self._moving)
        # As much comes back by the shift as would leave by the rest of a direction.
        shift = self._staying / (arithmetic.all_exits or np.inf)
        arithmetic.turn(beta, shift, self._R, self._P)
        along = ranks.sums(arithmetic.multiply(self._P, self._V))
        alpha = _ratio(self._rz, along, moving)
        self._previous, self._moving = self._rz, moving
        self._descend(alpha)
        self.steps += 1

    def _descend(self, alpha: NDArray[np.float64]) -> None:
        own = self._arithmetic.descend(alpha, self._P, self._V, self._D, self._R)
        self._rz, self._levels, self._staying = self._over_ranks(own)

    def _lift(self) -> None:
        """Let all free nodes rise by as much as leaves the residual a sum of 0."""
        arithmetic, free = self._arithmetic, self._problem.is_free[: self._n_own, np.newaxis]
        heat = self._problem.graph.ranks.sums(self._R.sum(axis=0, dtype=np.float64))
        rise = (heat / arithmetic.all_exits).astype(self._R.dtype)
        for first in range(0, self._n_own, SMALL_PIECE):
            rows = slice(first, min(first + SMALL_PIECE, self._n_own))
            self._R[rows] -= arithmetic.exits(rows)[:, np.newaxis] * rise
            self._D[rows] += free[rows] * rise
        self._descend(np.zeros(len(rise)))
        self._weighed = self._levels

    def _begin(self) -> None:
        """Find residuals where only the boundary is warm: with the digits of a step, for its price.

        The temperatures take the place of a direction, which a step of length 1 goes along.
        """
        free, arithmetic = self._problem.is_free[: self._n_own], self._arithmetic
        held = self._problem.boundary
        self._P[held, : self.columns] = self._problem.values
        if self._heated >= 0:  # still empty: it finds what leaves for the boundary, sign turned
            self._P[held, self._heated] = 1.0
        arithmetic.begin(self._P, self._V)
        if self._heated >= 0:
            out = arithmetic.loss - self._V[:, self._heated]
            out[~free] = 0.0
            all_out = self._problem.graph.ranks.sums(np.array([out.sum()]))
            arithmetic.know_exits(out, float(all_out[0]))
            self._V[:, self._heated] = 0.0
            self._R[:, self._heated] = np.where(free, arithmetic.gauge, 0.0)
        self._descend(np.ones(len(self._moving)))
        self._P[held] = self._D[held] = 0.0  # elsewhere they are; ghosts are filled in anew
        self._weighed = self._levels

    def refresh(self) -> None:
        """Find residuals afresh; the next step goes on in its direction."""
        self._settle()
        own = np.zeros((3, len(self._moving)))
        for lot, X in self.lots():
            own[:, lot] = self._arithmetic.weigh(X, self._heated, self._R, lot)
        self._rz, self._levels, self._staying = self._over_ranks((own[0], own[1], own[2]))
        self._weighed = self._levels

    def _settle(self) -> None:
        """Add to T, in float64, what the steps have changed."""
        self._T += self._D[:, : self.columns]
        if self._exits is not None:
            self._exits += self._D[:, self.columns]
        self._D[:] = 0.0

    def lots(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """X of all nodes, some columns at a time, in the memory of P, which is given back after.

        What the steps have changed must have been added to it.
        """
        with self._lent() as room:
            for lot in self._arithmetic.lots(len(self._moving)):
                if lot.start >= self.lanes:
                    break
                X = self._filled(room, lot)
                if lot.start <= self._heated < lot.stop:
                    X[: self._n_own, self._heated - lot.start] = self._exits
                yield lot, self._problem.graph.halo.fill(X)

    def lots_of_temperatures(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """The same without exit times, or a place for them."""
        if len(self._P) == self._n_own and self._T.flags.c_contiguous:  # there are no ghosts
            yield slice(0, self.columns), self._T
            return
        with self._lent() as room:
            for lot in self._arithmetic.lots(len(self._moving)):
                if lot.start >= self.columns:
                    break
                some = slice(lot.start, min(lot.stop, self.columns))
                yield some, self._problem.graph.halo.fill(self._filled(room, some))

    @contextmanager
    def _lent(self) -> Iterator[NDArray[np.float64]]:
        """The memory of P, while V, which the next step makes anew, has its own rows."""
        own = self._P[: self._n_own, : len(self._moving)]
        self._V[:] = own
        yield self._P.ravel(order="K").view(np.float64)
        own[:] = self._V

    def _filled(self, room: NDArray[np.float64], lot: slice) -> NDArray[np.float64]:
        """Some columns of all nodes, those of T filled in at own ones."""
        n_all, at_once = len(self._P), lot.stop - lot.start
        X, some = room[: n_all * at_once].reshape(n_all, at_once), self._T[:, lot]
        X[: self._n_own, : some.shape[1]] = some
        X[: self._n_own, some.shape[1] :] = 0.0
        return X

    def _over_ranks(self, own: Sums) -> Sums:
        found = self._problem.graph.ranks.gathered(np.array(own))
        return found[:, 0].sum(axis=0), found[:, 1].max(axis=0), found[:, 2].sum(axis=0)

    def settle(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Put into T what was found, within its bounds; `refresh` goes on from there."""
        self._settle()
        np.clip(self._T, low, high, out=self._T)

    def temperatures(self) -> NDArray[np.float64]:
        """X of own nodes, as it is."""
        return np.asarray(self._T + self._D[:, : self.columns])

    def exits(self) -> NDArray[np.float64]:
        """The exit times of own nodes, as they are."""
        assert self._exits is not None  # noqa: S101  # as the caller knows
        return np.asarray(self._exits + self._D[:, self.columns])


def _ratio(
    above: NDArray[np.float64], below: NDArray[np.float64], where: NDArray[np.bool_]
) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros_like(above), where=where & (below > 0))

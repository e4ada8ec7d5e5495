"""The arithmetic of one rank without the core: slow, obvious, and what the fast one is held to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isotherm.engines.blocks import LANES
from isotherm.engines.mpi.vectors import zeros
from isotherm.solvers.imbalance import imbalance

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from scipy import sparse

    from isotherm.engines.mpi.arithmetic import Sums
    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers.imbalance import Imbalance


class ReferenceArithmetic:
    """See `isotherm.engines.mpi.arithmetic.Arithmetic`; in float64, by NumPy and SciPy."""

    digits = 1e-12

    def __init__(self, problem: SharedProblem, gauge: NDArray[np.float64]) -> None:
        share, n = problem.graph, problem.graph.n_own
        self.n_own, self.halo = n, share.halo
        self.free = problem.is_free[:n]
        degrees = share.degrees
        self.loss = problem.leak * degrees
        self.diagonal = np.where(self.free, degrees + self.loss, 1.0)
        self.gauge = gauge
        self.rows = share.rows.matrix()[:n]
        self._is_held = ~problem.is_free
        self._room = np.empty((0, 0))  # for one vector
        self.all_exits = 0.0
        self._staying: NDArray[np.float64] | None = None

    def know_exits(self, exits: NDArray[np.float64], all_exits: float) -> None:
        self._staying, self.all_exits = 1.0 - exits / self.diagonal, all_exits

    def exits(self, rows: slice) -> NDArray[np.float64]:
        assert self._staying is not None  # noqa: S101  # as the caller knows
        return np.asarray((1.0 - self._staying[rows]) * self.diagonal[rows])

    def width(self, lanes: int) -> int:
        return lanes

    def lanes(self, n_columns: int, n_beside: int) -> int:  # noqa: ARG002
        return LANES  # no bound is promised for float64 and the copies that libraries make

    def vector(self, n_rows: int, width: int) -> NDArray[np.float64]:
        return zeros((n_rows, width))

    def lots(self, width: int) -> list[slice]:
        return [slice(0, width)]  # P is of float64

    def stride_of_P(self, width: int) -> int:  # noqa: N802
        return width

    def multiply(self, P: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float64]:
        self.halo.fill(P)
        own = P[: self.n_own]
        V[:] = self.diagonal[:, np.newaxis] * own - self.rows @ P
        V[~self.free] = 0.0
        return np.asarray(np.einsum("ik,ik->k", own, V))

    def begin(self, P: NDArray[Any], V: NDArray[Any]) -> None:
        warm = self.halo.fill(np.ascontiguousarray(P))
        V[:] = -(with_entries(self.rows, self._is_held[self.rows.indices]) @ warm)
        V[~self.free] = 0.0

    def descend(
        self,
        alpha: NDArray[np.float64],
        P: NDArray[Any],
        V: NDArray[Any],
        D: NDArray[Any],
        R: NDArray[Any],
    ) -> Sums:
        room = self._room_of(R)
        D += np.multiply(alpha, P[: self.n_own], out=room)
        R -= np.multiply(alpha, V, out=room)
        return self._sums(R)

    def turn(
        self,
        beta: NDArray[np.float64],
        shift: NDArray[np.float64],
        R: NDArray[Any],
        P: NDArray[Any],
    ) -> None:
        own = P[: self.n_own]
        own *= beta
        own += np.divide(R, self.diagonal[:, np.newaxis], out=self._room_of(R))
        if shift.any():
            own += np.multiply(shift, self.free[:, np.newaxis], out=self._room_of(R))

    def weigh(self, X: NDArray[np.float64], heated: int, R: NDArray[Any], lot: slice) -> Sums:
        own, some = X[: self.n_own], R[:, lot]
        some[:] = self.rows @ X - self.diagonal[:, np.newaxis] * own
        if lot.start <= heated < lot.stop:
            R[:, heated] += self.gauge
        some[~self.free] = 0.0
        return self._sums(some)

    def _sums(self, R: NDArray[Any]) -> Sums:
        room = self._room_of(R)
        np.divide(R, self.diagonal[:, np.newaxis], out=room)
        dots = np.einsum("ik,ik->k", R, room)
        np.divide(R, self.gauge[:, np.newaxis], out=room)
        staying = np.zeros(R.shape[1]) if self._staying is None else self._staying @ R
        return dots, np.abs(room, out=room).max(axis=0, initial=0.0), np.asarray(staying)

    def _room_of(self, R: NDArray[Any]) -> NDArray[np.float64]:
        """Room for a vector like R: to have it anew each time would take as long as to fill it."""
        if self._room.shape != R.shape:
            self._room = np.empty_like(R)
        return self._room

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        return imbalance(problem, X, h)  # type: ignore[arg-type]  # it has what is looked at


def with_entries(matrix: sparse.csr_array, kept: NDArray[np.bool_]) -> sparse.csr_array:
    """The same matrix with some of its entries only."""
    import scipy

    before = np.concatenate([[0], np.cumsum(kept)])
    rows = (matrix.data[kept], matrix.indices[kept], before[matrix.indptr])
    return scipy.sparse.csr_array(rows, shape=matrix.shape)

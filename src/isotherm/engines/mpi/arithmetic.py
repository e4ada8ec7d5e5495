"""The arithmetic of one rank: its part of each step of conjugate gradients on some columns.

Vectors are rows of numbers, one per column; the core's rows have 4, 8, 12 or 16 of them. P and X
have a row for all nodes, those of ghosts filled in by the halo; V, D and R for own nodes only. Sums
and maxima are a rank's part of those over all ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.engines.mpi.vectors import zeros
from isotherm.engines.native.proof import native_imbalance
from isotherm.solvers.imbalance import imbalance

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray
    from scipy import sparse

    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers.imbalance import Imbalance

    Sums = tuple[NDArray[np.float64], NDArray[np.float64]]  # Σ R² / diagonal, max |R| / gauge

WIDTHS = (4, 8, 12, 16)
LINE = 16  # float32 of a cache line: rows gathered at random should not lie in two
SINGLE = (1e-15, 1e15)  # degrees for which float32 has room enough


class Arithmetic(Protocol):
    """What a step is made of.

    Attributes
    ----------
    digits : float
        By how much a residual may shrink before it is found afresh: rounding adds up.
    gauge : array of shape (n_own,)
        The unit of residuals.
    """

    digits: float
    gauge: NDArray[np.float64]

    def width(self, lanes: int) -> int:
        """Numbers of a row in which so many columns lie side by side."""
        ...

    def vector(self, n_rows: int, width: int) -> NDArray[Any]:
        """So many rows of zeros, for any vector but X, which is of float64."""
        ...

    def stride_of_P(self, width: int) -> int:  # noqa: N802
        """Numbers from one row of P to the next, where rows of other vectors have `width`."""
        ...

    def multiply(self, P: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float64]:
        """V = M P at own free nodes, 0 at others; returns Σ P · V. It sees to the ghosts of P."""
        ...

    def begin(self, P: NDArray[Any], V: NDArray[Any]) -> None:
        """The same V where P is what nodes are held at, and 0 at free ones."""
        ...

    def descend(
        self,
        alpha: NDArray[np.float64],
        P: NDArray[Any],
        V: NDArray[Any],
        D: NDArray[Any],
        R: NDArray[Any],
    ) -> Sums:
        """D += α P and R −= α V."""
        ...

    def turn(self, beta: NDArray[np.float64], R: NDArray[Any], P: NDArray[Any]) -> None:
        """P = R / diagonal + β P."""
        ...

    def weigh(self, X: NDArray[np.float64], heated: int, R: NDArray[Any]) -> Sums:
        """R = the residual of X; in column `heated`, if not negative, the gauge is put in."""
        ...

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        """What proves X; see `isotherm.solvers.imbalance`."""
        ...


class ReferenceArithmetic:
    """See `Arithmetic`; in float64, by NumPy and SciPy."""

    digits = 1e-12

    def __init__(self, problem: SharedProblem, gauge: NDArray[np.float64]) -> None:
        share, n = problem.graph, problem.graph.n_own
        self.n_own, self.halo = n, share.halo
        self.free = problem.is_free[:n]
        degrees = share.degrees[:n]
        self.loss = problem.leak * degrees
        self.diagonal = np.where(self.free, degrees + self.loss, 1.0)
        self.gauge = gauge
        self.rows = share.rows.matrix()[:n]
        self._is_held = ~problem.is_free
        self._room = np.empty((0, 0))  # for one vector

    def width(self, lanes: int) -> int:
        return lanes

    def vector(self, n_rows: int, width: int) -> NDArray[np.float64]:
        return zeros((n_rows, width))

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

    def turn(self, beta: NDArray[np.float64], R: NDArray[Any], P: NDArray[Any]) -> None:
        own = P[: self.n_own]
        own *= beta
        own += np.divide(R, self.diagonal[:, np.newaxis], out=self._room_of(R))

    def weigh(self, X: NDArray[np.float64], heated: int, R: NDArray[Any]) -> Sums:
        own = X[: self.n_own]
        R[:] = self.rows @ X - self.diagonal[:, np.newaxis] * own
        if heated >= 0:
            R[:, heated] += self.gauge
        R[~self.free] = 0.0
        return self._sums(R)

    def _sums(self, R: NDArray[Any]) -> Sums:
        room = self._room_of(R)
        np.divide(R, self.diagonal[:, np.newaxis], out=room)
        dots = np.einsum("ik,ik->k", R, room)
        np.divide(R, self.gauge[:, np.newaxis], out=room)
        return dots, np.abs(room, out=room).max(axis=0, initial=0.0)

    def _room_of(self, R: NDArray[Any]) -> NDArray[np.float64]:
        """Room for a vector like R: to have it anew each time would take as long as to fill it."""
        if self._room.shape != R.shape:
            self._room = np.empty_like(R)
        return self._room

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        return imbalance(problem, X, h)  # type: ignore[arg-type]  # it has what is looked at


class NativeArithmetic:
    """See `Arithmetic`; in float32 but for `weigh`, by the core."""

    digits = 1e-5

    def __init__(
        self, problem: SharedProblem, gauge: NDArray[np.float64], threads: int | None
    ) -> None:
        share, n = problem.graph, problem.graph.n_own
        self.threads = n_threads(threads)
        self.gauge, self.halo = gauge, share.halo
        degrees = share.degrees[:n]
        # Zeros that are never written take no memory.
        self.loss = problem.leak * degrees if problem.leak > 0 else np.zeros(n)
        free = problem.is_free[:n]
        diagonal = np.where(free, degrees + self.loss, 1.0)
        inverse_gauge = np.where(free, 1.0 / gauge, 0.0)
        self._share = core.Share(
            share.rows.start,
            share.rows.ends,
            share.rows.weights,
            free.view(np.uint8),
            diagonal.astype(np.float32),
            (1.0 / diagonal).astype(np.float32),
            inverse_gauge.astype(np.float32),
            self.threads,
        )

    def width(self, lanes: int) -> int:
        return width_for(lanes)

    def vector(self, n_rows: int, width: int) -> NDArray[np.float32]:
        return zeros((n_rows, width), np.float32)

    def stride_of_P(self, width: int) -> int:  # noqa: N802
        return stride_within_lines(width)

    def multiply(self, P: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float64]:
        return np.array(self._share.multiply(self.halo.fill(P), V))

    def begin(self, P: NDArray[Any], V: NDArray[Any]) -> None:
        self.multiply(P, V)

    def descend(
        self,
        alpha: NDArray[np.float64],
        P: NDArray[Any],
        V: NDArray[Any],
        D: NDArray[Any],
        R: NDArray[Any],
    ) -> Sums:
        dots, levels = self._share.descend(alpha.tolist(), P, V, D, R)
        return np.array(dots), np.array(levels)

    def turn(self, beta: NDArray[np.float64], R: NDArray[Any], P: NDArray[Any]) -> None:
        self._share.turn(beta.tolist(), R, P)

    def weigh(self, X: NDArray[np.float64], heated: int, R: NDArray[Any]) -> Sums:
        dots, levels = self._share.weigh(X, self.loss, self.gauge, heated, R)
        return np.array(dots), np.array(levels)

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        return native_imbalance(problem, X, h, threads=self.threads)  # type: ignore[arg-type]


def with_entries(matrix: sparse.csr_array, kept: NDArray[np.bool_]) -> sparse.csr_array:
    """The same matrix with some of its entries only."""
    import scipy

    before = np.concatenate([[0], np.cumsum(kept)])
    rows = (matrix.data[kept], matrix.indices[kept], before[matrix.indptr])
    return scipy.sparse.csr_array(rows, shape=matrix.shape)


def width_for(lanes: int) -> int:
    """Numbers of a row of the core's that so many columns take."""
    return next(width for width in WIDTHS if width >= lanes)


def stride_within_lines(width: int) -> int:
    """The distance of rows of so many float32, none of which lies in two cache lines."""
    return width if LINE % width == 0 else LINE


def arithmetic_of(
    problem: SharedProblem, gauge: NDArray[np.float64], threads: int | None
) -> Arithmetic:
    """The fastest that can work on a share; the same on all ranks."""
    least, most = problem.degree_range
    fits = core is not None and SINGLE[0] <= least and most <= SINGLE[1]
    if problem.graph.ranks.any(not (fits and problem.graph.rows.compiled)):
        return ReferenceArithmetic(problem, gauge)
    return NativeArithmetic(problem, gauge, threads)

"""The arithmetic of one rank: its part of each step of conjugate gradients on some columns.

Vectors are rows of 4, 8, 12 or 16 numbers, one per column. P and X have a row for all nodes, those
of ghosts filled in by the halo; V, D and R for own nodes only. Sums and maxima are a rank's part of
those over all ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.engines.native.proof import native_imbalance
from isotherm.solvers.imbalance import imbalance

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

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
    dtype : type
        Of all vectors but X, which is float64.
    gauge : array of shape (n_own,)
        The unit of residuals.
    """

    dtype: type[np.floating]
    gauge: NDArray[np.float64]

    def stride_of_P(self, width: int) -> int:  # noqa: N802
        """Numbers from one row of P to the next, where rows of other vectors have `width`."""
        ...

    def multiply(self, P: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float64]:
        """V = M P at own free nodes, 0 at others; returns Σ P · V. It sees to the ghosts of P."""
        ...

    def begin(self, P: NDArray[Any], V: NDArray[Any]) -> None:
        """The same V where P is not 0 at nodes that are held, but what they are held at."""
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

    dtype: type[np.floating] = np.float64

    def __init__(self, problem: SharedProblem, gauge: NDArray[np.float64]) -> None:
        share, n = problem.graph, problem.graph.n_own
        self.n_own, self.halo = n, share.halo
        self.free = problem.is_free[:n]
        degrees = share.degrees[:n]
        self.loss = problem.leak * degrees
        self.diagonal = np.where(self.free, degrees + self.loss, 1.0)
        self.gauge = gauge
        self.rows = share.rows.matrix()[:n]

    def stride_of_P(self, width: int) -> int:  # noqa: N802
        return width

    def multiply(self, P: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float64]:
        self.halo.fill(P)
        own = P[: self.n_own]
        V[:] = self.diagonal[:, np.newaxis] * own - self.rows @ P
        V[~self.free] = 0.0
        return np.asarray(np.einsum("ik,ik->k", own, V))

    def begin(self, P: NDArray[Any], V: NDArray[Any]) -> None:
        ReferenceArithmetic.multiply(self, P, V)  # others may leave out what is held

    def descend(
        self,
        alpha: NDArray[np.float64],
        P: NDArray[Any],
        V: NDArray[Any],
        D: NDArray[Any],
        R: NDArray[Any],
    ) -> Sums:
        D += alpha * P[: self.n_own]
        R -= alpha * V
        return self._sums(R)

    def turn(self, beta: NDArray[np.float64], R: NDArray[Any], P: NDArray[Any]) -> None:
        own = P[: self.n_own]
        own *= beta
        own += R / self.diagonal[:, np.newaxis]

    def weigh(self, X: NDArray[np.float64], heated: int, R: NDArray[Any]) -> Sums:
        own = X[: self.n_own]
        R[:] = self.rows @ X - self.diagonal[:, np.newaxis] * own
        if heated >= 0:
            R[:, heated] += self.gauge
        R[~self.free] = 0.0
        return self._sums(R)

    def _sums(self, R: NDArray[Any]) -> Sums:
        dots = np.einsum("ik,ik->k", R, R / self.diagonal[:, np.newaxis])
        return dots, (np.abs(R) / self.gauge[:, np.newaxis]).max(axis=0, initial=0.0)

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        return imbalance(problem, X, h)  # type: ignore[arg-type]  # it has what is looked at


class NativeArithmetic:
    """See `Arithmetic`; in float32 but for `weigh`, by the core."""

    dtype: type[np.floating] = np.float32

    def __init__(
        self, problem: SharedProblem, gauge: NDArray[np.float64], threads: int | None
    ) -> None:
        share, n = problem.graph, problem.graph.n_own
        self.threads = n_threads(threads)
        self.gauge, self.halo = gauge, share.halo
        degrees = share.degrees[:n]
        self.loss = np.ascontiguousarray(problem.leak * degrees)
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

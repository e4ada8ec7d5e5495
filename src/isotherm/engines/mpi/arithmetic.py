"""The arithmetic of one rank: its part of each step of conjugate gradients on some columns.

Vectors are rows of numbers, one per column; the core's rows have 4, 8, 12 or 16 of them. P has a
row for all nodes, those of ghosts filled in by the halo; V, D and R for own nodes only. X has rows
of all nodes only while a residual is found afresh, a lot of columns at a time and in the memory of
P: ghosts are many, and in float64 they would be the most that a rank holds. Sums and maxima are a
rank's part of those over all ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from isotherm.compiled import core, n_threads
from isotherm.engines.mpi.lanes import lanes_within, stride_within_lines, width_for
from isotherm.engines.mpi.reference import ReferenceArithmetic
from isotherm.engines.mpi.vectors import zeros
from isotherm.engines.native.proof import native_imbalance

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from isotherm.dirichlet import DirichletProblem
    from isotherm.engines.mpi.share import SharedProblem
    from isotherm.solvers.imbalance import Imbalance

    # Σ R² / diagonal, max |R| / gauge, and Σ staying R, or 0 if that is not known
    Sums = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

SINGLE = (1e-15, 1e15)  # degrees for which float32 has room enough


class Arithmetic(Protocol):
    """What a step is made of.

    Attributes
    ----------
    digits : float
        By how much a residual may shrink before it is found afresh: rounding adds up.
    gauge : array of shape (n_own,)
        The unit of residuals.
    loss : array of shape (n_own,)
        What leaks away of a temperature of 1.
    all_exits : float
        What leaves the free nodes of all ranks if all are at 1; 0: not known.
    """

    digits: float
    gauge: NDArray[np.float64]
    loss: NDArray[np.float64]
    all_exits: float

    def know_exits(self, exits: NDArray[np.float64], all_exits: float) -> None:
        """Take note of what leaves own nodes, M 1; 0 at those that are not free.

        What of the diagonal does not leave is `staying` with free nodes.
        """
        ...

    def exits(self, rows: slice) -> NDArray[np.floating]:
        """What leaves some of the own nodes, once that is known."""
        ...

    def width(self, lanes: int) -> int:
        """Numbers of a row in which so many columns lie side by side."""
        ...

    def lanes(self, n_columns: int, n_beside: int) -> int:
        """How many of so many columns there is room for at once, where some are kept besides."""
        ...

    def vector(self, n_rows: int, width: int) -> NDArray[Any]:
        """So many rows of zeros."""
        ...

    def lots(self, width: int) -> list[slice]:
        """The columns of which P has room for float64 at a time."""
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

    def turn(
        self,
        beta: NDArray[np.float64],
        shift: NDArray[np.float64],
        R: NDArray[Any],
        P: NDArray[Any],
    ) -> None:
        """P = R / diagonal + shift + β P at free nodes."""
        ...

    def weigh(self, X: NDArray[np.float64], heated: int, R: NDArray[Any], lot: slice) -> Sums:
        """R = the residual of a lot X of columns, in their places; sums are of these alone.

        In column `heated`, if that is one of them, the gauge is put in.
        """
        ...

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        """What proves a lot X of columns; see `isotherm.solvers.imbalance`."""
        ...


class NativeArithmetic:
    """See `Arithmetic`; in float32 but for `weigh`, by the core."""

    digits = 1e-5

    def __init__(
        self, problem: SharedProblem, gauge: NDArray[np.float64], threads: int | None
    ) -> None:
        share, n = problem.graph, problem.graph.n_own
        self.threads = n_threads(threads)
        self._sizes = n, share.n_all, problem.n_columns
        self.gauge, self.halo = gauge, share.halo
        degrees = share.degrees
        # Zeros that are never written take no memory.
        self.loss = problem.leak * degrees if problem.leak > 0 else np.zeros(n)
        free = problem.is_free[:n]
        diagonal = np.where(free, degrees + self.loss, 1.0)
        inverse_gauge = np.where(free, 1.0 / gauge, 0.0)
        self._diagonal = diagonal.astype(np.float32)
        self._staying = np.empty(0, np.float32)
        self.all_exits = 0.0
        self._share = core.Share(
            share.rows.start,
            share.rows.ends,
            share.rows.weights,
            free.view(np.uint8),
            self._diagonal,
            (1.0 / diagonal).astype(np.float32),
            inverse_gauge.astype(np.float32),
            self.threads,
        )

    def know_exits(self, exits: NDArray[np.float64], all_exits: float) -> None:
        leaving = np.empty(len(exits), np.float32)
        np.divide(exits, self._diagonal, out=leaving, casting="same_kind")
        self._staying, self.all_exits = np.subtract(1.0, leaving, out=leaving), all_exits
        self._share.know_staying(self._staying)

    def exits(self, rows: slice) -> NDArray[np.floating]:
        return np.asarray((1.0 - self._staying[rows]) * self._diagonal[rows])

    def width(self, lanes: int) -> int:
        return width_for(lanes)

    def lanes(self, n_columns: int, n_beside: int) -> int:
        n_own, n_all, n_classes = self._sizes
        return lanes_within(
            n_own, n_all, n_classes=n_classes, n_columns=n_columns, n_beside=n_beside
        )

    def vector(self, n_rows: int, width: int) -> NDArray[np.float32]:
        return zeros((n_rows, width), np.float32)

    def lots(self, width: int) -> list[slice]:
        at_once = stride_within_lines(width) // 2
        return [slice(k, min(k + at_once, width)) for k in range(0, width, at_once)]

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
        dots, levels, staying = self._share.descend(alpha.tolist(), P, V, D, R)
        return np.array(dots), np.array(levels), np.array(staying)

    def turn(
        self,
        beta: NDArray[np.float64],
        shift: NDArray[np.float64],
        R: NDArray[Any],
        P: NDArray[Any],
    ) -> None:
        self._share.turn(beta.tolist(), shift.tolist(), R, P)

    def weigh(self, X: NDArray[np.float64], heated: int, R: NDArray[Any], lot: slice) -> Sums:
        within = heated - lot.start if lot.start <= heated < lot.stop else -1
        dots, levels, staying = self._share.weigh(X, self.loss, self.gauge, within, R, lot.start)
        return np.array(dots), np.array(levels), np.array(staying)

    def imbalance(self, problem: SharedProblem, X: NDArray[np.float64], h: Any) -> Imbalance:
        return shared_imbalance(problem, X, h, self.threads)


def shared_imbalance(
    problem: SharedProblem, X: NDArray[np.float64], h: Any, threads: int
) -> Imbalance:
    """What proves X, by the core, without a copy of it."""
    asked = cast("DirichletProblem", problem)  # it has what is looked at
    return native_imbalance(asked, X, h, threads=threads, packed=False)


def arithmetic_of(
    problem: SharedProblem, gauge: NDArray[np.float64], threads: int | None
) -> Arithmetic:
    """The fastest that can work on a share; the same on all ranks."""
    least, most = problem.degree_range
    fits = core is not None and SINGLE[0] <= least and most <= SINGLE[1]
    if problem.graph.ranks.any(not (fits and problem.graph.rows.compiled)):
        return ReferenceArithmetic(problem, gauge)
    return NativeArithmetic(problem, gauge, threads)
